"""Slopes of hazards where log hazards of rows lie off their line."""

import numpy as np
import pytest

from dpstats.estimators.bent_times import Bent
from dpstats.estimators.hazards.checks import attenuated
from dpstats.families import SEV
from dpstats.moments.spread import Z95

BETA = np.array([-1.0, 0.5, -0.8])


def limit(spread: float) -> float:
    """How many times as large the slope of a flag is in Cox's model, of lives that nothing cuts off."""
    draw = np.random.default_rng(0)
    flag, off = draw.random(40_000) < 0.5, np.sqrt(spread) * draw.normal(size=40_000)
    life = draw.exponential(size=40_000) * np.exp(-(0.8 * flag + off))
    flags = flag[np.argsort(-life)]
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        hazards = np.exp(middle * flags)
        score = np.sum(flags - np.cumsum(flags * hazards) / np.cumsum(hazards))
        low, high = (middle, high) if score > 0 else (low, middle)
    return low / 0.8


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_slopes_of_all_rows_are_in_reach_of_what_is_told(spread: float) -> None:
    """From where the fit has heard nothing of it to where it has heard all."""
    bent = attenuated(Bent(np.zeros(3), np.zeros((3, 3)), (1,), spread), BETA, SEV.sd)
    reach = np.sqrt(bent.cov[2, 2])
    assert abs(BETA[2] + bent.shift[2] - limit(spread) * BETA[2]) < Z95 * reach
    assert reach < 0.25 * abs(BETA[2]) and bent.shift[2] == pytest.approx(reach)


def test_a_slope_that_bends_moved_and_a_level_stay() -> None:
    bent = attenuated(Bent(np.zeros(3), np.zeros((3, 3)), (1,), 1.0), BETA, SEV.sd)
    assert not bent.shift[:2].any() and not bent.cov[:2, :2].any()


def test_where_nothing_surely_bends_all_slopes_stay() -> None:
    bent = attenuated(Bent.no(3), BETA, SEV.sd)
    assert not bent.shift.any() and not bent.cov.any()
