"""A step of intercept and log sigma: the shift and scale of typical rows, as far as noise lets it."""

import numpy as np
import pytest

from dpstats.estimators.location_scale.event_law import watched
from dpstats.estimators.location_scale.intercept_scale import LevelRelease, solved
from dpstats.families import SEV, Family
from dpstats.families.martingale import integrands
from dpstats.families.score_bounds import Truncation
from tests.families.laws import EVERY_LAW, floor_of

FRACTIONS = pytest.mark.parametrize("fraction", [1.0, 0.6, 0.3])
WIDE = np.array([2.0, 1.5])


def level(family: Family, fraction: float, shift: float, log_scale: float, noise: float) -> LevelRelease:
    """Mean scores of a hundred thousand rows off by this much, watched to one hazard; and that noise."""
    where = Truncation(family, 3.0, (-1.0, 1.0), (-6.0, 2.0), floor=floor_of(family, -3.0))
    life = family.quantile((np.arange(100_000) + 0.5) / 100_000)
    limit = family.quantile(fraction)
    event = life <= limit
    z = shift + np.exp(log_scale) * np.minimum(life, limit)
    pieces = integrands(where.cut, z, np.full_like(z, 0.2), *where.limits)
    held = event * pieces.taper
    psi = pieces.location_compensator - held * pieces.location
    chi = pieces.log_sigma_compensator - held * pieces.log_sigma
    information = fraction * watched(family, fraction, 0.0).left(where.cut).matrix
    return LevelRelease(np.array([psi.mean(), chi.mean()]), np.full(2, noise), information, where, 0.2)


@EVERY_LAW
@FRACTIONS
@pytest.mark.parametrize("off", [(0.0, 0.0), (0.6, -0.3), (-1.0, 0.4), (0.3, 0.6)])
def test_a_step_finds_how_far_the_rows_are_off(
    family: Family, fraction: float, off: tuple[float, float]
) -> None:
    assert solved(level(family, fraction, *off, 1e-6), fraction, WIDE) == pytest.approx(off, abs=0.02)


@EVERY_LAW
@FRACTIONS
def test_a_step_stays_where_noise_says_nothing(family: Family, fraction: float) -> None:
    told = level(family, fraction, 0.6, -0.3, 1e3)
    assert solved(told, fraction, WIDE) == pytest.approx((0, 0), abs=1e-4)


@EVERY_LAW
def test_what_the_prior_does_not_expect_is_shrunk(family: Family) -> None:
    """Between the two: the same release moves less the less its prior expects, and the more its noise is."""
    cases = ((0.05, WIDE), (0.2, WIDE), (0.2, 0.3), (0.2, np.array([0.05, 0.3])))
    moves = [solved(level(family, 1.0, 0.6, 0.0, noise), 1.0, prior)[0] for noise, prior in cases]
    assert 0.605 > moves[0] > moves[1] > moves[2] > moves[3] > 0


def test_wild_scores_move_no_farther_than_typical_rows_can() -> None:
    """Noise may ask for what no rows have; the step ends within its range."""
    base = level(SEV, 0.6, 0.0, 0.0, 0.1)
    for scores in (np.array([1e9, -1e9]), np.array([-1e9, 1e9]), np.array([0.0, 1e12])):
        found = solved(LevelRelease(scores, base.noise, base.information, base.where, base.pivot), 0.6, WIDE)
        assert abs(found[0]) <= 2.5 and -1.5 <= found[1] <= 1.0
