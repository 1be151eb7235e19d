"""Rows that failed between two residuals: means of failures there, in scores and information."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.curator.geometry import NEVER
from dpstats.families import Family
from dpstats.families.between import NARROW, between
from dpstats.families.martingale import Scores, scores, taper
from dpstats.families.score_bounds import Truncation, rounding
from dpstats.families.tapers import Taper
from tests.families.laws import EVERY_LAW, LAWS, floor_of
from tests.families.test_score_rounding import CASES, exact, hazard

NOTHING = -12.0  # a floor that freezes nothing
PAIRS = [(-1.0, 0.4), (-0.2, 0.9), (NEVER, 0.3), (NEVER, -2.0), (0.1, math.inf), (0.3, 0.3), (-3.0, 1.2)]


def read(
    family: Family, cut: Taper, lower: object, upper: object, pivot: float, limits: tuple[float, float]
) -> Scores:
    first, last = (np.atleast_1d(np.asarray(end, dtype=float)) for end in (lower, upper))
    with np.errstate(all="ignore"):
        known = between(family, first, last)
        at = np.full(len(first), pivot)
        return scores(cut, known.z, known.seen * 1.0, at, limits, known=known)


def likelihood(family: Family, y: tuple[float, float], location: float, log_sigma: float) -> float:
    sigma = math.exp(log_sigma)
    a, b = ((np.array(end) - location) / sigma for end in y)
    if a == b:
        return float(family.log_hazard(a) + np.log(family.sf(a)) - log_sigma)
    return float(np.log(family.sf(a) - (0.0 if np.isinf(b) else family.sf(b))))


@EVERY_LAW
@pytest.mark.parametrize("ends", PAIRS, ids=str)
def test_without_a_cut_they_are_the_scores_of_the_likelihood(
    family: Family, ends: tuple[float, float]
) -> None:
    cut, step = taper(family, 60.0, floor_of(family, NOTHING)), 1e-5
    found = read(family, cut, *ends, 0.0, (-70.0, 70.0))
    by_location = (likelihood(family, ends, step, 0) - likelihood(family, ends, -step, 0)) / (2 * step)
    by_scale = (likelihood(family, ends, 0, step) - likelihood(family, ends, 0, -step)) / (2 * step)
    assert found.psi[0] == pytest.approx(by_location, rel=1e-6, abs=1e-8)
    assert found.chi[0] == pytest.approx(by_scale, rel=1e-6, abs=1e-8)


def means(
    family: Family, cut: Taper, lower: float, upper: float, pivot: float, limits: tuple[float, float]
) -> tuple[float, float, np.ndarray]:
    """Of the scores of failures between two residuals, and of g v v', by 4,000 of them."""
    first, last = family.cdf(np.array([lower, upper]))
    nodes = (np.polynomial.legendre.leggauss(40)[0] + 1) / 2
    weights = np.polynomial.legendre.leggauss(40)[1] / 2
    starts = np.arange(100)[:, None] / 100
    places, share = (starts + nodes / 100).ravel(), np.tile(weights / 100, 100)
    z = np.clip(family.quantile(first + (last - first) * places), lower, upper)
    each = scores(cut, z, np.ones_like(z), np.full_like(z, pivot), limits)
    v = np.array([each.location, each.log_sigma])
    return float(share @ each.psi), float(share @ each.chi), (v * each.kept * share) @ v.T


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(LAWS),
    st.floats(1.34, 24),
    st.floats(-8, -1.2),
    st.floats(0, 6),
    st.floats(-3, 3),
    st.floats(-6, 2.5),
    st.floats(0.02, 8),
)
def test_scores_are_means_and_the_information_is_no_larger(
    family: Family, c: float, low: float, high: float, pivot: float, lower: float, width: float
) -> None:
    cut = taper(family, c, floor_of(family, -1.3))
    upper = min(lower + width, 3.0)
    if family.cdf(np.array(upper)) - family.cdf(np.array(lower)) < 2 * NARROW:
        return
    found = read(family, cut, lower, upper, pivot, (low, high))
    psi, chi, most = means(family, cut, lower, upper, pivot, (low, high))
    size = 1 + abs(low) + high
    assert found.psi[0] == pytest.approx(psi, rel=1e-5, abs=1e-5)
    assert found.chi[0] == pytest.approx(chi, rel=1e-5, abs=1e-5 * size)
    m = np.sqrt(found.kept[0]) * np.array([found.location[0], found.log_sigma[0]])
    assert np.linalg.eigvalsh(most - np.outer(m, m)).min() >= -1e-5 * size**2


@EVERY_LAW
def test_a_taper_taken_for_a_weight_is_seen(family: Family) -> None:
    """Planted: dV without its share of the hazard, and with twice of it, is not what is proved."""
    cut = taper(family, 1.34, floor_of(family, NOTHING))
    ends = np.array([cut.start + 0.05]), np.array([cut.stop - 0.05])
    known = between(family, *ends)
    found = read(family, cut, *ends, 0.0, (-70.0, 70.0))
    most = means(family, cut, float(ends[0][0]), float(ends[1][0]), 0.0, (-70.0, 70.0))[2]
    kept = cut.integrals(ends[1]).hazard - cut.integrals(ends[0]).hazard
    assert found.location[0] ** 2 <= most[0, 0] < found.location[0] ** 2 * known.hazard[0] / kept[0]


@EVERY_LAW
def test_the_information_is_the_covariance_of_scores_between_inspections(family: Family) -> None:
    """Of rows that are inspected at six residuals, where nothing is cut."""
    cut = taper(family, 60.0, floor_of(family, NOTHING))
    grid = np.array([NEVER, -1.5, -0.7, -0.1, 0.3, 0.8, 1.1, np.inf])
    found = read(family, cut, grid[:-1], grid[1:], 0.2, (-70.0, 70.0))
    sf = np.append(family.sf(grid[:-1]), 0.0)
    chance = sf[:-1] - sf[1:]
    both = np.array([found.psi, found.chi])
    assert both @ chance == pytest.approx([0, 0], abs=1e-10)
    root = np.array([found.location, found.log_sigma])
    assert (root * found.kept * chance) @ root.T == pytest.approx(
        (both * chance) @ both.T, rel=1e-7, abs=1e-9
    )


@EVERY_LAW
@pytest.mark.parametrize("lower", [-2.0, 0.2, NEVER])
def test_a_narrow_interval_is_a_failure_in_it(family: Family, lower: float) -> None:
    """Next to the least hazard for which differences are taken, these are the mean of failures within.

    The row is taken for one where log H has its mean.
    """
    cut = taper(family, 8.0, floor_of(family, -1.3))
    hazard_there = np.exp(family.log_cumulative_hazard(np.array(lower)))
    ends = [family.quantile(-np.expm1(-(hazard_there + NARROW * times))) for times in (0.999, 1.001)]
    seen, wide = (read(family, cut, lower, end, 0.1, (-5.0, 2.0)) for end in ends)
    with np.errstate(all="ignore"):
        sides = [between(family, np.array([lower]), np.array([end])) for end in ends]
    assert [side.seen[0] for side in sides] == [True, False]
    hazards = hazard_there + NARROW * (np.arange(1000) + 0.5) / 1000
    within = family.quantile(-np.expm1(-hazards))
    failures = read(family, cut, within, within, 0.1, (-5.0, 2.0))
    for each, other in zip(failures[:2], wide[:2], strict=True):
        assert each.mean() == pytest.approx(other[0], rel=2e-3, abs=2e-3)
    assert family.log_cumulative_hazard(sides[0].z)[0] == pytest.approx(np.log(hazards).mean(), abs=2e-3)
    assert np.sqrt(seen.kept[0]) * seen.location[0] == pytest.approx(wide.location[0], rel=2e-3)


@EVERY_LAW
def test_ends_of_every_kind(family: Family) -> None:
    """Never read, seen, open, far beyond every cut, and where a hazard overflows."""
    lower = np.array([NEVER, 0.2, 1.0, 5.0, 500.0, NEVER, 300.0])
    upper = np.array([-900.0, 0.2, np.inf, 400.0, np.inf, np.inf, 301.0])
    with np.errstate(all="ignore"):
        known = between(family, lower, upper)
        found = read(family, taper(family, 3.0, -1.3), lower, upper, 0.0, (-4.0, 2.0))
    assert known.seen[[1]].all() and not known.seen[[2, 4, 5]].any()
    assert known.z[1] == 0.2 and (known.z >= lower).all() and (known.z <= upper).all()
    for values in found:
        assert np.isfinite(values).all()
    assert (known.odds[[2, 4, 5]] == 0).all() and (found.location[[2, 4, 5]] == 0).all()


@pytest.mark.parametrize("case", ["sev", "logistic", pytest.param("normal", marks=pytest.mark.long)])
def test_differences_err_by_less_than_the_bounds_allow(case: str) -> None:
    where = CASES[case]
    allowed = rounding(Truncation(**{**vars(where), "intervals": True}))
    draw, cut = np.random.default_rng(2), where.cut
    for width in (2 * NARROW, 0.05, 1.0):
        lower = float(draw.uniform(cut.start - 3, cut.start))
        log_hazard = float(where.family.log_cumulative_hazard(np.array(lower)))
        upper = float(where.family.quantile(-np.expm1(-(math.exp(log_hazard) + np.array(width)))))
        pivot = float(draw.uniform(*where.pivots))
        found = read(where.family, cut, lower, upper, pivot, where.limits)
        first, last = (exact(where, z, pivot) for z in (lower, upper))
        apart = hazard(where.family.name, upper)[1] - hazard(where.family.name, lower)[1]
        odds = 1 / (math.e**apart - 1)
        assert abs(found.psi[0] - (first[0] - (last[0] - first[0]) * odds)) < 0.1 * allowed.psi
        assert abs(found.chi[0] - (first[1] - (last[1] - first[1]) * odds)) < 0.1 * allowed.chi
