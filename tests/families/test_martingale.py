"""Taper, scores and compensators against quadrature and finite differences, for every family.

The normal is there with floors, below which its h1* keeps its value; other families ignore it.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from dpstats.families import LOGISTIC, NORMAL, SEV, Family
from dpstats.families.martingale import integrands, taper
from dpstats.families.tapers import Taper, normal_hazard, normal_hazard_integral
from tests.families.laws import EVERY_LAW, LAWS, floor_of

pytestmark = pytest.mark.long

KINDS = [(family, floor_of(family, -1.5)) for family in LAWS]
FAMILIES = pytest.mark.parametrize(
    ("family", "floor"), KINDS, ids=lambda value: getattr(value, "name", f"{value}")
)
CUTS = pytest.mark.parametrize("c", [0.3, 1.34, 2.0, 5.0, 24.0, 64.0])
EVERY = st.sampled_from([*KINDS, (NORMAL, -3.0), (NORMAL, -60.0)])


def residuals(cut: Taper) -> np.ndarray:
    """From far below the taper to beyond its end, its corners included."""
    inner = np.linspace(cut.start - 8, cut.stop + 1, 40)
    return np.sort(np.concatenate([[-30.0, cut.start, cut.stop], inner]))


def quadrature(cut: Taper, family: Family, integrand, z: float, kinks: tuple[float, ...] = ()) -> float:
    """Integral of g(u) integrand(u) dH(u) up to z; dH is below 1e-17 before -40."""

    def density(u: float) -> float:
        at = np.array([u])
        return float((cut.at(at).g * integrand(at) * family.hazard(at)).item())

    end = min(z, cut.stop)
    edges = [-40.0, *sorted(p for p in {cut.start, cut.floor, *kinks} if -40 < p < end), end]
    pieces = zip(edges[:-1], edges[1:], strict=True)
    return sum(integrate.quad(density, *piece, limit=200, epsabs=1e-13, epsrel=1e-12)[0] for piece in pieces)


@FAMILIES
@CUTS
def test_the_taper_falls_from_one_to_zero_without_a_jump(family: Family, floor: float, c: float) -> None:
    cut = taper(family, c, floor)
    hazard_at_the_end = np.exp(family.log_cumulative_hazard(cut.stop))
    assert hazard_at_the_end == pytest.approx(c)
    assert cut.at(np.array([-np.inf, cut.start, cut.stop, np.inf])).g == pytest.approx([1, 1, 0, 0], abs=1e-9)
    fine = np.linspace(cut.start - 1, cut.stop + 1, 20001)
    g = cut.at(fine).g
    assert (np.diff(g) <= 0).all() and ((g >= 0) & (g <= 1)).all()  # roots of g are taken
    assert np.abs(np.diff(g)).max() < 10 * (fine[1] - fine[0])


@FAMILIES
def test_the_slope_of_the_log_hazard_stays_within_what_the_bounds_assume(
    family: Family, floor: float
) -> None:
    z, cut = np.linspace(-70, 50, 1201), taper(family, 2.0, floor)
    slope = cut.at(z).slope
    assert slope == pytest.approx(family.log_hazard_slope(np.clip(z, floor, cut.stop)), rel=1e-11)
    assert ((slope > 0) & (slope <= cut.steepest)).all() and (np.diff(slope) <= 0).all()
    assert cut.steepest == pytest.approx(1 if family.bounded else family.log_hazard_slope(floor))


@FAMILIES
@CUTS
def test_integrals_of_the_taper(family: Family, floor: float, c: float) -> None:
    cut = taper(family, c, floor)
    z = residuals(cut)
    found = cut.integrals(z)
    wanted = (lambda u: np.ones_like(u), lambda u: cut.at(u).slope, lambda u: u * cut.at(u).slope)
    for values, integrand in zip(found, wanted, strict=True):
        exact = [quadrature(cut, family, integrand, point) for point in z]
        assert values == pytest.approx(np.array(exact), rel=1e-9, abs=1e-11)


@settings(max_examples=60, deadline=None)
@given(
    EVERY, st.floats(1.34, 64), st.floats(-60, -1.2), st.floats(0, 40), st.floats(-5, 5), st.floats(-15, 6)
)
def test_compensators(
    kind: tuple[Family, float], c: float, low: float, high: float, pivot: float, above_pivot: float
) -> None:
    family, cut = kind[0], taper(kind[0], c, kind[1])
    z = pivot + above_pivot
    pieces = integrands(cut, np.array([z]), np.array([pivot]), low, high)

    def log_sigma(u: np.ndarray) -> np.ndarray:
        return 1 + np.clip(u - pivot, low, high) * cut.at(u).slope

    kinks = (pivot + low, pivot, pivot + high)
    location = quadrature(cut, family, lambda u: cut.at(u).slope, z)
    assert pieces.location_compensator[0] == pytest.approx(location, rel=1e-9, abs=1e-11)
    compensator = quadrature(cut, family, log_sigma, z, kinks)
    assert pieces.log_sigma_compensator[0] == pytest.approx(compensator, rel=1e-9, abs=1e-10)
    seen = np.array([min(z, cut.stop)])
    assert pieces.taper[0] == pytest.approx(cut.at(seen).g[0])
    assert pieces.location[0] == pytest.approx(cut.at(seen).slope[0])
    assert pieces.log_sigma[0] == pytest.approx(log_sigma(seen)[0])


@FAMILIES
@pytest.mark.parametrize("c", [1.34, 3.0, 24.0])
def test_compensators_have_the_integrands_as_derivatives(family: Family, floor: float, c: float) -> None:
    """d A1 = g h1* dH, d A2 = g (1 + rho h1*) dH; and A2 moves with the pivot by at most A1."""
    cut, pivot, low, high, step = taper(family, c, floor), 0.4, -3.0, 0.8, 1e-5
    kinks = np.array([pivot + low, pivot + high, cut.start, cut.stop, cut.floor])
    z = residuals(cut)
    z = z[np.abs(z[:, None] - kinks).min(axis=1) > 10 * step]

    def at(point: np.ndarray, m: float = pivot):
        return integrands(cut, point, np.full_like(point, m), low, high)

    here, after, before = at(z), at(z + step), at(z - step)
    hazard = family.hazard(z) * here.taper
    slope = (after.location_compensator - before.location_compensator) / (2 * step)
    assert slope == pytest.approx(hazard * here.location, rel=1e-6, abs=1e-8)
    slope = (after.log_sigma_compensator - before.log_sigma_compensator) / (2 * step)
    assert slope == pytest.approx(hazard * here.log_sigma, rel=1e-6, abs=1e-8)
    fall = at(z, pivot - 0.1).log_sigma_compensator - here.log_sigma_compensator
    assert (fall >= -1e-12).all() and (fall <= 0.1 * here.location_compensator + 1e-12).all()


@EVERY_LAW
def test_without_bounds_they_are_the_scores_of_the_likelihood(family: Family) -> None:
    """psi = -d loglik/dz times sigma and chi its log sigma counterpart, where nothing is cut or clipped."""
    z = np.linspace(-12, 2.5, 30)
    pieces = integrands(taper(family, 64.0, -20.0), z, np.zeros_like(z), -100.0, 100.0)
    slope, hazard = family.log_hazard_slope(z), family.hazard(z)
    for event in (0, 1):
        psi = pieces.location_compensator - event * pieces.taper * pieces.location
        chi = pieces.log_sigma_compensator - event * pieces.taper * pieces.log_sigma
        assert psi == pytest.approx(hazard - event * slope, rel=1e-9)
        assert chi == pytest.approx(z * hazard - event * (1 + z * slope), rel=1e-9, abs=1e-9)


@FAMILIES
@pytest.mark.parametrize("censored", [0.0, 0.3, 0.6, 0.95])
@pytest.mark.parametrize(("c", "pivot", "limits"), [(1.34, 1.0, (-2.0, 0.5)), (5.0, -0.5, (-6.0, 3.0))])
def test_scores_are_martingales_and_the_events_give_their_jacobian(
    family: Family, floor: float, censored: float, c: float, pivot: float, limits: tuple[float, float]
) -> None:
    """At the truth E[psi] = E[chi] = 0 and d E[score] = E[event g h h*'], whatever bounds the scores.

    Twenty-four cases with 2 + 4 means each: |z| > 4.5 happens once in a thousand runs of this file.
    """
    n, step = 200_000, 1e-3
    generator = np.random.default_rng(int(1000 * censored + 10 * c))
    life = family.quantile(generator.uniform(size=n))
    limit = np.inf if censored == 0 else family.quantile(1 - censored)
    limits_of_rows = limit + generator.normal(0, 0.5, n)
    z, event = np.minimum(life, limits_of_rows), life <= limits_of_rows
    cut, m = taper(family, c, floor), np.full(n, pivot)

    def scores(location: float, log_sigma: float) -> np.ndarray:
        pieces = integrands(cut, (z - location) / np.exp(log_sigma), m, *limits)
        return np.stack(
            [
                pieces.location_compensator - event * pieces.taper * pieces.location,
                pieces.log_sigma_compensator - event * pieces.taper * pieces.log_sigma,
            ]
        )

    def far(rows: np.ndarray) -> float:
        return abs(rows.mean()) / (rows.std() / np.sqrt(n))

    for score in scores(0, 0):
        assert far(score) < 4.5
    here = integrands(cut, z, m, *limits)
    bounded = np.stack([here.location, here.log_sigma])
    whole = np.stack([family.log_hazard_slope(z), 1 + z * family.log_hazard_slope(z)])
    expected = (event * here.taper) * bounded[:, None] * whole
    for j, direction in enumerate(np.eye(2)):
        change = (scores(*(-step * direction)) - scores(*(step * direction))) / (2 * step)
        for i in range(2):
            assert far(change[i] - expected[i, j]) < 4.5


@FAMILIES
@CUTS
def test_the_integral_of_the_compensator(family: Family, floor: float, c: float) -> None:
    cut = taper(family, c, floor)
    z = residuals(cut)[residuals(cut) <= cut.stop]

    def compensator(u: float) -> float:
        return float(cut.integrals(np.array([u])).location[0])

    kinks = [point for point in (cut.floor, cut.start) if z[0] < point < z[-1]]
    edges = np.sort(np.append(z, kinks))
    pieces = [integrate.quad(compensator, *ends, epsabs=1e-13)[0] for ends in pairwise(edges)]
    exact = np.append(0.0, np.cumsum(pieces))[np.searchsorted(edges, z)]
    assert cut.iterated(z) == pytest.approx(exact, abs=1e-11, rel=1e-11)


def test_the_tabulated_hazard() -> None:
    z = np.random.default_rng(2).uniform(-12, 12, size=100_000)
    assert normal_hazard(z) == pytest.approx(-special.log_ndtr(-z), abs=1e-12, rel=1e-12)


def test_the_tabulated_integral() -> None:
    """int H dz by quadrature, between nodes and beyond them."""
    z = np.array([-60.0, -10.0, -7.123, -3.3337, -1.0019, 0.0, 0.7712, 3.9, 8.1234, 11.9999])
    exact = [integrate.quad(hazard_so_far, -12, max(point, -12), epsabs=1e-14, limit=200)[0] for point in z]
    assert normal_hazard_integral(z) == pytest.approx(np.array(exact), abs=1e-12, rel=1e-12)


def hazard_so_far(u: float) -> float:
    return float(np.exp(NORMAL.log_cumulative_hazard(u)))


def test_the_normal_needs_a_floor() -> None:
    with pytest.raises(ValueError, match="floor"):
        taper(NORMAL, 2.0)


def test_numbers_of_the_specification_for_the_normal() -> None:
    """Values that were derived by hand: ends of cuts, and scores before any cut.

    Its clip of h1* at -2 is our floor; its clip of h2* at -1.75 is our floor and limit of rho at pivot 0.
    """
    ends = [taper(NORMAL, c, -2.0).stop for c in (1, 1.5, 2, 3, 4)]
    assert ends == pytest.approx([0.337474964, 0.761664413, 1.101519628, 1.646921721, 2.089849983], abs=1e-9)
    assert taper(NORMAL, 2.0, -2.0).steepest == pytest.approx(2.055248, abs=5e-7)
    z = np.array([-4.0, -1, 0, 0, 0.5, -1.9, -1.9, -2.5])
    event = np.array([1.0, 1, 1, 0, 1, 1, 0, 0])
    nothing = np.zeros_like(z)
    pieces = integrands(taper(NORMAL, 64.0, -2.0), z, nothing, -60.0, 60.0)
    psi = [-2.055183, -1.007951, -0.007951, 0.789934, 0.492049, -1.907951, 0.059605, 0.012802]
    assert pieces.location_compensator - event * pieces.location == pytest.approx(psi, abs=1e-6)
    pieces = integrands(taper(NORMAL, 64.0, -1.75), z, nothing, -1.75, 60.0)
    chi = [2.219716, 0.066533, -0.933467, 0.066533, -0.683467, 2.155108, -0.064678, -0.013827]
    assert pieces.log_sigma_compensator - event * pieces.log_sigma == pytest.approx(chi, abs=1e-6)


def test_numbers_of_the_specification_for_rows_before_the_cut() -> None:
    """Values of two prototypes: scores of rows before any cut.

    Ours is far above, and tapered, so that rows at the cut itself are not compared. Below the limit of rho
    the page freezes h2, and we rho: the same for SEV, and for a logistic score a constant above the limit.
    """
    z, event = np.array([-4.0, -1, 0, 0, 0.5]), np.array([1.0, 1, 1, 0, 1])
    psi, chi = before_the_cut(SEV, z, event, 0.0, -3.0)
    assert psi == pytest.approx([-0.981684, -0.632121, 0, 1, 0.648721], abs=1e-6)
    assert chi == pytest.approx([1.963369, -0.318092, -0.950213, 0.049787, -0.625852], abs=1e-6)
    psi, chi = before_the_cut(LOGISTIC, z, event, 0.0, -3.0)
    assert psi == pytest.approx([-0.964028, -0.462117, 0, 0.5, 0.244919], abs=1e-6)
    said = np.array([-0.485867, -0.947984, 0.052016, -0.825525])
    assert np.diff(chi[1:]) == pytest.approx(np.diff(said), abs=2e-6)

    z, failed, running = np.array([-5.0, -1, 0]), np.ones(3), np.zeros(3)
    for pivot, least, known in (
        (0.42, -3.0, [2.403694, -0.052602, -0.950213]),
        (0.42, -4.0, [3.396956, -0.084073, -0.981684]),
        (-2.8, -6.0, [1.187655, -2.135338, -0.997521]),
    ):
        psi, chi = before_the_cut(SEV, z, failed, pivot, least - pivot)
        assert psi == pytest.approx([-0.993262, -0.632121, 0], abs=1e-6)
        assert chi == pytest.approx(known, abs=1e-6)
    _, chi = before_the_cut(SEV, z, running, 0.42, -3.42)
    assert chi == pytest.approx([-0.016306, -0.472602, -0.370213], abs=1e-6)


def before_the_cut(
    family: Family, z: np.ndarray, event: np.ndarray, pivot: float, low: float
) -> tuple[np.ndarray, np.ndarray]:
    """psi and chi."""
    pieces = integrands(taper(family, 64.0), z, np.full_like(z, pivot), low, 60.0)
    return (
        pieces.location_compensator - event * pieces.location,
        pieces.log_sigma_compensator - event * pieces.log_sigma,
    )
