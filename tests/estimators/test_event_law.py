"""Means over a law of events, against simulated failures."""

import numpy as np
import pytest

from dpstats.estimators.location_scale.event_law import EventLaw, watched
from dpstats.families import NORMAL, SEV, Family
from tests.families.laws import EVERY_LAW

FRACTIONS = pytest.mark.parametrize("fraction", [0.9, 0.3])
N, CUT, FLOOR = 1_000_000, 2.0, -1.5


def said(family: Family, z: np.ndarray, about: np.ndarray, offset: float) -> np.ndarray:
    """E[g h1*^2], E[g h1* h2*] and E[g h2*^2] of events at these residuals, by the taper itself."""
    cut = family.taper(CUT, FLOOR)
    g, slope = cut.at(z).g, cut.at(z).slope
    log_sigma = 1 + (about - offset) * slope
    return np.array([np.mean(g * x) for x in (slope**2, slope * log_sigma, log_sigma**2)])


@EVERY_LAW
@FRACTIONS
def test_rows_watched_to_one_hazard_fail_as_the_law_has_it(family: Family, fraction: float) -> None:
    z = family.quantile(fraction * (np.arange(N) + 0.5) / N)
    law = EventLaw.truncated(family, fraction)
    assert [law.centre, law.square] == pytest.approx([z.mean(), z.var()], rel=2e-3)
    h1 = family.log_hazard_slope(z)
    assert law.share == pytest.approx(np.mean(h1**2), rel=1e-3)
    assert np.mean(h1 * (1 + (z - z.mean() - law.offset) * h1)) == pytest.approx(0, abs=2e-3)
    expected = said(family, z, z - z.mean(), law.offset)
    assert law.left(law.cut(CUT, FLOOR)) == pytest.approx(expected, rel=1e-3, abs=1e-3)
    # 400 residuals leave out the earliest of all failures, which say most of log sigma
    few = watched(family, fraction, law.offset)
    assert few.left(few.cut(CUT, FLOOR)) == pytest.approx(expected, rel=0.06, abs=0.01)


@EVERY_LAW
def test_where_all_rows_fail_its_moments_are_those_of_the_family(family: Family) -> None:
    law = EventLaw.whole(family)
    assert [law.centre, law.square] == pytest.approx([family.mean, family.sd**2], abs=1e-8)


@EVERY_LAW
def test_events_along_a_line_are_normal_about_it(family: Family) -> None:
    mean, between, within = -0.4, 0.6, 0.5
    place, about = np.random.default_rng(1).normal(size=(2, N))
    z = mean + between * place + within * about
    law = EventLaw.along(family, mean, between, within)
    assert [law.centre, law.square] == pytest.approx([mean, between**2 + within**2])
    cut = law.cut(CUT, FLOOR)
    expected = said(family, z, within * about, law.offset)
    assert law.left(cut) == pytest.approx(expected, rel=0.03, abs=0.01)  # nine nodes see a floor so far
    by_place = [np.mean(cut.at(z).g * cut.at(z).slope ** 2 * place**power) for power in range(3)]
    assert law.by_place(cut.at(law.z).g * cut.at(law.z).slope ** 2, 2) == pytest.approx(by_place, abs=0.02)


@EVERY_LAW
def test_a_line_that_noise_put_anywhere_gives_numbers(family: Family) -> None:
    for mean in (-1e6, 1e6):
        law = EventLaw.along(family, mean, 30.0, 3.0)
        left = law.left(law.cut(CUT))
        assert np.isfinite([law.offset, law.share, *left, *(floor.z for floor in law.floors[:-1])]).all()


def test_what_a_floor_loses_is_what_frozen_scores_say_less() -> None:
    law = EventLaw.truncated(NORMAL, 0.6)
    for floor in law.floors[:-1]:
        frozen = NORMAL.log_hazard_slope(np.maximum(law.z, floor.z))
        slope, variance = law.slope_and_variance(frozen, law.slope)
        assert floor.lost == pytest.approx(1 - slope**2 / variance)
    assert [floor.z for floor in EventLaw.truncated(SEV, 0.6).floors] == [-np.inf]
