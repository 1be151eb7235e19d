"""A law of times with a heavy right tail, Frechet's, is fitted by its record, and settles with any budget.

Its logarithm is the largest extreme value, F = exp(-e^-z), whose h1* rises as e^-z before the median: far
faster than that of a normal law, the only one of the package without a bound.
"""

import math

import numpy as np
import pytest
from scipy import interpolate, optimize, special

import dpstats as dps
from dpstats.families import DISTS, Dist, Family
from dpstats.families.location_scale import CutRates
from dpstats.families.tapers import Integrals, Taper
from dpstats.results import SurvivalFit
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.families.complete import faults_of_family

Array = np.ndarray
SCHEMA = dps.Schema(x=dps.bounded(-4, 4), time=dps.bounded(1e-3, 1e3), dead=dps.event())
NODES = np.arange(-4.2, 70.0, 1 / 128)  # the cumulative hazard is 1e-29 before the first


def power(z: object) -> Array:
    return np.exp(-np.asarray(z, dtype=float))


def log_hazard(z: object) -> Array:
    x = np.clip(power(z), 1e-300, 1e300)
    return np.where(x > 30, np.log(x) - x, np.log(x / np.expm1(np.minimum(x, 30))))


def slope(z: object) -> Array:
    x = power(z)
    return np.where(x < 1e-6, x / 2, x / -np.expm1(-np.maximum(x, 1e-6)) - 1)


def log_cumulative_hazard(z: object) -> Array:
    x = power(z)
    return np.where(x > 30, -x, np.log(-np.log(-np.expm1(-np.minimum(x, 30)))))


def cumulative(z: Array) -> Array:
    return np.exp(log_cumulative_hazard(z))


def _integral() -> interpolate.CubicHermiteSpline:
    """Of the cumulative hazard."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = (NODES[1] - NODES[0]) / 2
    parts = cumulative(NODES[:-1, None] + half * (1 + nodes)) @ weights * half
    return interpolate.CubicHermiteSpline(NODES, np.append(0.0, np.cumsum(parts)), cumulative(NODES))


INTEGRAL = _integral()


def integral(z: Array) -> Array:
    return INTEGRAL(np.clip(z, NODES[0], NODES[-1]))


class FrechetTaper(Taper):
    """g falls linearly in z from H = c/2 to c, as that of a normal law."""

    def _set_ends(self) -> None:
        self.start, self.stop = (-math.log(-math.log1p(-math.exp(-end))) for end in (self.c / 2, self.c))
        self._rate, self.floor = 1 / (self.stop - self.start), min(self.floor, self.start)
        at = np.array([self.floor])
        self.steepest, self._lam, self._frozen, self._first = (
            float(of(at)[0]) for of in (slope, self._rate_of, cumulative, self._moment_of)
        )

    @staticmethod
    def _rate_of(z: Array) -> Array:
        return np.exp(log_hazard(z))

    @staticmethod
    def _moment_of(z: Array) -> Array:
        """int z dH."""
        return z * cumulative(z) - integral(z)

    def _hazard(self, z: Array) -> Array:
        return cumulative(z)

    def _flat(self, z: Array, hazard: Array) -> Integrals:
        late, early = np.maximum(z, self.floor), np.minimum(z, self.floor)
        late_hazard, lam = np.maximum(hazard, self._frozen), self._rate_of(late)
        return Integrals(
            hazard.copy(),
            self.steepest * np.minimum(hazard, self._frozen) + lam - self._lam,
            self.steepest * self._moment_of(early)
            + (late * lam - late_hazard - (self.floor * self._lam - self._frozen)),
        )

    def _falling(self, z: Array, hazard: Array) -> Integrals:
        lam, first = self._rate_of(z), self._moment_of(z)
        moment = z * lam - hazard
        return Integrals(
            self._rate * (self.stop * hazard - first),
            self._rate * (self.stop * lam - moment),
            self._rate * (self.stop * moment - z**2 * lam + 2 * first),
        )

    def _flat_iterated(self, z: Array, hazard: Array) -> Array:
        late, early = np.maximum(z, self.floor), np.minimum(z, self.floor)
        tilt = self.steepest * self._frozen - self._lam
        above = np.maximum(hazard, self._frozen) - self._frozen + tilt * (late - self.floor)
        return self.steepest * integral(early) + above

    def _branch(self, z: Array, hazard: Array) -> Array:
        return (self.stop - z) * self._rate

    def _slope(self, z: Array, hazard: Array) -> Array:
        return slope(np.maximum(z, self.floor))


FRECHET = Family(
    name="lev",
    title="LEV",
    cdf=lambda z: np.exp(-power(z)),
    sf=lambda z: -np.expm1(-power(z)),
    quantile=lambda p: -np.log(-np.log(np.asarray(p, dtype=float))),
    log_hazard=log_hazard,
    log_hazard_slope=slope,
    log_cumulative_hazard=log_cumulative_hazard,
    mean=float(np.euler_gamma),
    sd=math.pi / math.sqrt(6),
    skewness=1.1395470994046486,
    kurtosis=2.4,
    curvature=1.0,
    mean_factor=lambda sigma: special.gamma(1 - np.asarray(sigma, dtype=float)),
    log_mean_factor_slope=lambda sigma: -special.digamma(1 - np.asarray(sigma, dtype=float)),
    interval_scale="log",
    taper=FrechetTaper,
    cut=CutRates(bias=1.2, loss=0.95, size=0.3),
)
TRUTH = np.array([0.5, 0.4, math.log(0.6)])


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DISTS, "frechet", Dist("frechet", "Frechet", FRECHET, log=True, shaped=True))


def data(n: int) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=n).clip(-4, 4)
    time = np.exp(TRUTH[0] + TRUTH[1] * x + np.exp(TRUTH[2]) * FRECHET.quantile(rng.uniform(size=n)))
    limit = np.exp(1.6 + 1.2 * rng.normal(size=n))
    return {"x": x, "time": np.clip(np.minimum(time, limit), 2e-3, 500), "dead": (time <= limit) * 1.0}


def fit(rows: dict[str, Array], mu: float) -> SurvivalFit:
    return dps.survreg("Surv(time, dead) ~ x", rows, SCHEMA, dist="frechet").fit(dps.gdp(mu))


def test_the_record_is_complete() -> None:
    assert faults_of_family(FRECHET) == () and not FRECHET.bounded


def test_without_noise_it_finds_the_maximum_of_the_likelihood() -> None:
    rows = data(5000)

    def loss(params: Array) -> float:
        z = (np.log(rows["time"]) - params[0] - params[1] * rows["x"]) / np.exp(params[2])
        return float(-np.sum(rows["dead"] * (log_hazard(z) - params[2]) - cumulative(z)))

    with noise(NoNoise()):
        found = fit(rows, 1e6)
    assert found.params.to_numpy() == pytest.approx(
        optimize.minimize(loss, [0.0, 0.0, 0.0], tol=1e-9).x, abs=5e-3
    )


@pytest.mark.parametrize("fits", [1, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("mu", [0.2, 5.0])
def test_it_settles_whatever_the_budget_and_its_intervals_hold_the_truth(mu: float, fits: int) -> None:
    rows = data(10_000)
    for seed in range(fits):
        with noise(SeededNoise(seed)):
            found = fit(rows, mu)
        assert found.flags == ()
        assert (np.abs(found.params - TRUTH) < 4.5 * found.bse).all()


def test_a_unit_that_cannot_fail_yet_leaves_a_forecast_known() -> None:
    """Its cumulative hazard is e^-e^800, whose logarithm is no float: that of the fleet was not a number."""
    with noise(NoNoise()):
        found = fit(data(5000), 1e5)
    young, old = 0.0, 1.0
    told, alone = (
        found.forecast({"x": np.zeros(len(ages)), "age": ages}, horizon=1e-220).frame
        for ages in ([young, old], [old])
    )
    assert told["expected"][0] == pytest.approx(alone["expected"][0], abs=1e-300)
    assert not told.isna().any(axis=None)
