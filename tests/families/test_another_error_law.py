"""A location-scale family is one record and one row of a table: a Burr law that nothing else knows is fitted.

Its survival function is (1 + e^z / 2)^-2, between that of the logistic and that of the smallest extreme
value, so that the taper of the logistic serves it, moved and scaled.
"""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, optimize, special

import dpstats as dps
from dpstats.budget import Budget
from dpstats.families import DISTS, Dist, Family
from dpstats.families.location_scale import CutRates
from dpstats.families.tapers import At, Integrals, LogisticTaper, Taper
from dpstats.results import SurvivalFit
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.families.complete import faults_of_family

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), time=dps.bounded(1e-3, 1e3), dead=dps.event())
MOVED = math.log(2)
# W - log 2 is the logarithm of an exponential variable less that of a gamma variable of shape 2
SD = math.sqrt(special.polygamma(1, 1) + special.polygamma(1, 2))


class BurrTaper(Taper):
    """That of a logistic variable at z - log 2, whose hazard is half of this one's, cut at c / 2."""

    def _set_ends(self) -> None:
        self._logistic = LogisticTaper(self.c / 2)
        self.start, self.stop = (end + MOVED for end in (self._logistic.start, self._logistic.stop))

    def _own(self, parts: Integrals) -> Integrals:
        return Integrals(2 * parts.hazard, 2 * parts.location, 2 * (parts.moment + MOVED * parts.location))

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return 2 * self._logistic._hazard(z - MOVED)

    def _flat(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        return self._own(self._logistic._flat(z - MOVED, hazard / 2))

    def _falling(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        return self._own(self._logistic._falling(z - MOVED, hazard / 2))

    def _branch(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return self._logistic._branch(z - MOVED, hazard / 2)

    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return self._logistic._slope(z - MOVED, hazard / 2)


def survival(z: Any) -> np.ndarray:
    return special.expit(MOVED - np.asarray(z, dtype=float)) ** 2


BURR = Family(
    name="burr",
    title="Burr",
    cdf=lambda z: 1 - survival(z),
    sf=survival,
    quantile=lambda p: MOVED + np.log(np.expm1(-np.log1p(-np.asarray(p, dtype=float)) / 2)),
    log_hazard=lambda z: np.asarray(z, dtype=float) + special.log_expit(MOVED - np.asarray(z, dtype=float)),
    log_hazard_slope=lambda z: special.expit(MOVED - np.asarray(z, dtype=float)),
    log_cumulative_hazard=lambda z: MOVED + np.log(np.logaddexp(0, np.asarray(z, dtype=float) - MOVED)),
    mean=MOVED + float(special.digamma(1) - special.digamma(2)),
    sd=SD,
    skewness=float(special.polygamma(2, 1) - special.polygamma(2, 2)) / SD**3,
    kurtosis=float(special.polygamma(3, 1) + special.polygamma(3, 2)) / SD**4,
    curvature=2 / 3,
    mean_factor=lambda sigma: 2**sigma * special.gamma(1 + sigma) * special.gamma(2 - np.asarray(sigma)),
    log_mean_factor_slope=lambda sigma: MOVED + special.digamma(1 + sigma) - special.digamma(2 - sigma),
    interval_scale="root logit",
    taper=BurrTaper,
    cut=CutRates(bias=1.2, loss=1.5, size=0.8),
)


class RisingTaper:
    """Of H = e^(z/2) + e^z, whose h1* rises from 1/2 to 1; its integrals are right, by quadrature."""

    floor, steepest = -math.inf, 1.0

    def __init__(self, c: float, floor: float) -> None:
        self.c = c
        self.start, self.stop = (2 * math.log((math.sqrt(1 + 4 * h) - 1) / 2) for h in (c / 2, c))
        nodes = np.append(np.linspace(-60.0, self.start, 3001), np.linspace(self.start, self.stop, 301)[1:])
        inner, weights = np.polynomial.legendre.leggauss(6)
        at = (nodes[:-1, None] + nodes[1:, None] + np.diff(nodes)[:, None] * inner) / 2
        parts = self._integrands(at) @ weights * np.diff(nodes) / 2
        sums = np.concatenate([np.zeros((3, 1)), np.cumsum(parts, axis=1)], axis=1)
        self._sums = interpolate.CubicHermiteSpline(nodes, sums, self._integrands(nodes), axis=1)

    def _integrands(self, z: np.ndarray) -> np.ndarray:
        g, slope = self._two(z)
        return g * RISING.hazard(z) * np.array([np.ones_like(z), slope, z * slope])

    def _two(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g = np.clip(2 - 2 / self.c * np.exp(RISING.log_cumulative_hazard(z)), 0, 1)
        return g, RISING.log_hazard_slope(z)

    def at(self, z: np.ndarray) -> At:
        z = np.minimum(z, self.stop)
        return At(*self._two(z), self.integrals(z))

    def integrals(self, z: np.ndarray) -> Integrals:
        return Integrals(*self._sums(np.clip(z, -60.0, self.stop)))


RISING = dataclasses.replace(
    BURR,
    name="rising",
    taper=RisingTaper,
    log_cumulative_hazard=lambda z: np.asarray(z) / 2 + np.log1p(np.exp(np.asarray(z) / 2)),
    log_hazard=lambda z: np.asarray(z) / 2 + np.log(0.5 + np.exp(np.asarray(z) / 2)),
    log_hazard_slope=lambda z: 1 - 0.25 / (0.5 + np.exp(np.asarray(z) / 2)),
)


class SteepTaper(BurrTaper):
    steepest = 0.9


class ReversedTaper(BurrTaper):
    """Its integrals are those of h1*, which it says falls below 0."""

    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return -super()._slope(z, hazard)


UNSOUND = {
    "it rises": RISING,
    "it is larger than it says": dataclasses.replace(BURR, taper=SteepTaper),
    "it is negative": dataclasses.replace(BURR, taper=ReversedTaper),
}


@pytest.mark.parametrize("law", UNSOUND)
def test_a_slope_that_no_bound_was_proven_for_is_refused(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DISTS, "unsound", Dist("unsound", "Unsound", UNSOUND[law], log=True))
    with pytest.raises(dps.SpecificationError, match="no proven bound"):
        dps.survreg("Surv(time, dead) ~ x", data(100), SCHEMA, dist="unsound")


def data(n: int) -> dict[str, np.ndarray]:
    """Of log times 0.5 + 0.4 x + 0.6 W, a third censored at any time."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    time = np.exp(0.5 + 0.4 * x + 0.6 * BURR.quantile(rng.uniform(size=n)))
    limit = np.exp(1.0 + 1.2 * rng.normal(size=n))
    return {"x": x, "time": np.clip(np.minimum(time, limit), 2e-3, 500), "dead": (time <= limit) * 1.0}


def likeliest(rows: dict[str, np.ndarray]) -> np.ndarray:
    """Intercept, slope and log sigma of the largest likelihood."""

    def loss(params: np.ndarray) -> float:
        z = (np.log(rows["time"]) - params[0] - params[1] * rows["x"]) / np.exp(params[2])
        return float(-np.sum(rows["dead"] * (BURR.log_hazard(z) - params[2]) + np.log(BURR.sf(z))))

    return optimize.minimize(loss, [0.0, 0.0, 0.0], tol=1e-9).x


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DISTS, "burr", Dist("burr", "Burr", BURR, log=True, shaped=True))


def fit(rows: dict[str, np.ndarray], budget: Budget, dist: str = "burr") -> SurvivalFit:
    return dps.survreg("Surv(time, dead) ~ x", rows, SCHEMA, dist=dist).fit(budget)


def test_the_record_is_complete() -> None:
    z = BURR.quantile((np.arange(1_000_000) + 0.5) / 1_000_000)
    centred = (z - BURR.mean) / BURR.sd
    assert faults_of_family(BURR) == () and BURR.bounded and not BURR.proportional
    assert [z.mean(), z.std()] == pytest.approx([BURR.mean, BURR.sd], abs=1e-4)
    assert [np.mean(centred**3), np.mean(centred**4) - 3] == pytest.approx(
        [BURR.skewness, BURR.kurtosis], abs=1e-2
    )


@pytest.mark.usefixtures("known")
def test_without_noise_it_finds_the_maximum_of_the_likelihood() -> None:
    rows = data(5000)
    with noise(NoNoise()):
        found = fit(rows, dps.gdp(1e6))
    assert found.params.to_numpy() == pytest.approx(likeliest(rows), abs=2e-3)
    assert "Burr regression" in str(found.summary()) and "Burr shape" in str(found.summary())


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    "budget", [pytest.param(dps.gdp(0.5), marks=pytest.mark.long), dps.gdp(0.05), dps.pure(2.0)], ids=str
)
def test_with_noise_its_intervals_hold_the_truth(budget: Budget) -> None:
    """Of five fits; at 4.5 standard errors a wrong alarm is rare."""
    rows = data(20_000)
    for seed in range(5):
        with noise(SeededNoise(seed)):
            found = fit(rows, budget)
        assert (np.abs(found.params - [0.5, 0.4, math.log(0.6)]) < 4.5 * found.bse).all()
        assert "law" not in [code for code, _ in found.flags]


@pytest.mark.parametrize("dist", DISTS)
@pytest.mark.parametrize(
    "budget", [pytest.param(dps.gdp(0.5), marks=pytest.mark.long), dps.gdp(0.02), dps.pure(2.0)], ids=str
)
def test_nothing_hangs_on_the_name_of_a_family(
    monkeypatch: pytest.MonkeyPatch, dist: str, budget: Budget
) -> None:
    """A copy of each record under another name has the same fit, to the last bit."""
    own, rows = DISTS[dist], data(2000)
    copy = dataclasses.replace(own, name="toy", family=dataclasses.replace(own.family, name="toys"))
    monkeypatch.setitem(DISTS, "toy", copy)
    fits = []
    for name in (dist, "toy"):
        with noise(SeededNoise(5)):
            fits.append(fit(rows, budget, name))
    assert np.array_equal(fits[0].params, fits[1].params) and np.array_equal(fits[0].bse, fits[1].bse)
    assert fits[0].flags == fits[1].flags
    summaries = [str(each.summary()).replace("toy", dist) for each in fits]
    assert summaries[0].split() == summaries[1].split()
