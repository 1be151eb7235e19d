"""Slopes of a number at a level of which no release tells how the number varies in its rows."""

from functools import partial

import numpy as np
import pytest
from scipy import special

import dpstats as dps
from dpstats.estimators.alike import alike
from dpstats.estimators.engine.information import Information
from dpstats.results.record import Record
from dpstats.testing import SeededNoise, noise

SITES, SHARES = ("a", "b", "c", "d"), (0.5, 0.3, 0.16, 0.04)


def at_sites(family: str, alike: str, spread: float, epsilon: float = 4.0) -> Record:
    """A fit whose number is 28 at one site, give or take a spread, and 20 +- 5 at the others."""
    rng, n = np.random.default_rng([3, 7]), 10_000
    site = rng.choice(SITES, n, p=SHARES)
    own = site == alike
    temp = np.where(own, 28 + spread * rng.normal(size=n), 20 + 5 * rng.normal(size=n)).clip(-10, 60)
    line = -1 + np.where(own, 0.5 / spread * (temp - 28), 0.05 * (temp - 20))
    y = rng.poisson(np.exp(line)) if family == "poisson" else 1 * (rng.random(n) < special.expit(line))
    schema = dps.Schema(
        y=dps.count(50) if family == "poisson" else dps.flag(),
        site=dps.levels(*SITES),
        temp=dps.bounded(-10, 60),
    )
    rows = {"y": y, "site": site, "temp": temp}
    with noise(SeededNoise(5)):
        return dps.glm("y ~ site * temp", rows, schema, family=family).fit(dps.approx(epsilon, 1e-6))


@pytest.mark.parametrize("family, alike", [("binomial", "d"), ("poisson", "a")])
def test_a_slope_at_a_site_whose_rows_are_alike_is_lost_and_not_one_of_usual_size(
    family: str, alike: str
) -> None:
    """The slope is 50 there, and its interval was -5 to 5; slopes against that of a reference rest on it."""
    fit = at_sites(family, alike, 0.01)
    lost = np.isinf(fit.cov_params().to_numpy().diagonal())
    rests = [name for name in fit.params.index if f"[T.{alike}]" in name or alike == "a"]
    assert list(fit.params.index[lost]) == rests


def test_a_slope_at_a_rare_site_is_told_where_its_rows_vary() -> None:
    fit = at_sites("binomial", "d", 4.0, 8.0)
    low, high = fit.conf_int().loc["site[T.d]:temp"]
    assert low < 0.125 - 0.05 < high and high - low < 2.0


def beside_a_rare_reference(model: str) -> Record:
    """A fit to 12,000 rows of which 40 are at the reference level, the number 20 +- .01 there."""
    rng, n = np.random.default_rng([3, 8]), 12_000
    site = np.where(np.arange(n) < 40, "a", rng.choice(SITES[1:], n))
    own = site == "a"
    temp = np.where(own, 20 + 0.01 * rng.normal(size=n), 20 + 5 * rng.normal(size=n)).clip(-10, 60)
    other = rng.normal(size=n)
    line = -1 + np.where(own, 50.0, 0.05) * (temp - 20) + 0.3 * other
    numbers = {"temp": dps.bounded(-10, 60), "other": dps.bounded(-5, 5)}
    schema, rows = {"site": dps.levels(*SITES), **numbers}, {"site": site, "temp": temp, "other": other}
    formula, budget = "y ~ site * temp + other", dps.approx(1, 1e-6)
    fitted = {"survreg": dps.survreg, "coxph": dps.coxph}.get(model, dps.logit)
    if model in ("survreg", "coxph"):
        time, formula = rng.exponential(np.exp(-line)).clip(1e-3), "Surv(y, event) ~ site * temp + other"
        rows |= {"y": np.minimum(time, 5.0), "event": 1 * (time < 5)}
        schema |= {"y": dps.bounded(1e-3, 5), "event": dps.event()}
    elif model == "poisson":
        rows["y"], schema["y"] = rng.poisson(np.exp(line)), dps.count(40)
        fitted = partial(dps.glm, family="poisson")
    else:
        rows["y"], schema["y"] = 1 * (rng.random(n) < special.expit(line)), dps.flag()
        budget = dps.pure(2) if model == "pure" else budget
    with noise(SeededNoise(6)):
        return fitted(formula, rows, dps.Schema(**schema)).fit(budget)


@pytest.mark.parametrize("model", ["logit", "pure", "poisson", "survreg", "coxph"])
def test_slopes_against_those_of_a_reference_that_noise_hides_are_lost(model: str) -> None:
    """All had intervals by a slope of usual size, where it is 50, which no release says anything of."""
    fit = beside_a_rare_reference(model)
    told = fit.params.index[np.isfinite(np.diag(fit.cov_params()))]
    assert list(told) == ["other"] + ["Log(scale)"] * (model == "survreg")


@pytest.mark.parametrize("rows, square, lost", [(40.0, 10.0, 0), (40.0, 1.0, 1), (0.5, 10.0, 1)])
def test_a_slope_is_told_where_its_level_and_the_number_there_are_seen(
    rows: float, square: float, lost: int
) -> None:
    """Beside a line that is not seen rows far off the middle show, whether the number varies there or not."""
    information = Information.of(np.array([40.0, rows, square]), np.eye(3), np.ones(3))
    assert alike(information, np.eye(3), np.eye(3)[None, [2, 1]]).shape == (3, lost)
