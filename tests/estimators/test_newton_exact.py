"""Without noise and bounds noisy Newton ends at statsmodels' estimates and standard errors.

A budget that makes noise negligible bounds nothing, and on a grid as fine as floats estimates are
those of statsmodels to 1e-8.
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpstats as dps
from dpstats.estimators.newton import make_plan
from dpstats.families import FAMILIES
from dpstats.families.glm import GAUSSIAN
from dpstats.testing import NoNoise, noise

pytestmark = pytest.mark.usefixtures("floats")

UNLIMITED = dps.gdp(1e9)
SCHEMA = dps.Schema(
    age=dps.bounded(18, 100),
    income=dps.bounded(1e3, 1e6),
    region=dps.levels("a", "b", "c"),
    days=dps.bounded(1, 366),
    bought=dps.flag(),
    claims=dps.count(1000),
    amount=dps.bounded(0, 1e7),
)
FITS = json.loads((Path(__file__).parents[1] / "goldens" / "glm.json").read_text())["fits"]
LINEAR = "age + np.log(income) + region"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 3000
    made = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(10, 0.6, n),
            "region": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "days": rng.integers(30, 366, n).astype(float),
        }
    )
    eta = 0.03 * (made.age - 50) + 0.5 * (made.region == "b") + 0.3 * np.log(made.income / 2e4)
    made["bought"] = (rng.random(n) < 1 / (1 + np.exp(1 - eta))).astype(int)
    made["claims"] = rng.negative_binomial(2, 2 / (2 + made.days / 365 * np.exp(eta)))
    made["amount"] = np.exp(5 + eta) * rng.gamma(2, 0.5, n)
    return made


def log_link(family: type) -> object:
    return family(sm.families.links.Log())


def binary(link: str) -> sm.families.Binomial:
    return sm.families.Binomial(getattr(sm.families.links, link)())


CASES: dict[str, tuple[Callable, Callable]] = {
    "logit": (
        lambda frame: dps.logit(f"bought ~ {LINEAR}", frame, SCHEMA),
        lambda frame: smf.logit(f"bought ~ {LINEAR}", frame).fit(disp=0, method="newton", tol=1e-12),
    ),
    "no-intercept": (
        lambda frame: dps.logit("bought ~ 0 + region + age", frame, SCHEMA),
        lambda frame: smf.logit("bought ~ 0 + region + age", frame).fit(disp=0, method="newton", tol=1e-12),
    ),
    "probit": (
        lambda frame: dps.glm(f"bought ~ {LINEAR}", frame, SCHEMA, "binomial", link="probit"),
        lambda frame: smf.glm(f"bought ~ {LINEAR}", frame, family=binary("Probit")).fit(tol=1e-13),
    ),
    "cloglog": (
        lambda frame: dps.glm(f"bought ~ {LINEAR}", frame, SCHEMA, "binomial", link="cloglog"),
        lambda frame: smf.glm(f"bought ~ {LINEAR}", frame, family=binary("CLogLog")).fit(tol=1e-13),
    ),
    "poisson": (
        lambda frame: dps.glm(f"claims ~ {LINEAR}", frame, SCHEMA, "poisson", exposure="days"),
        lambda frame: smf.glm(
            f"claims ~ {LINEAR}", frame, family=sm.families.Poisson(), exposure=frame.days
        ).fit(tol=1e-12),
    ),
    "negativebinomial": (
        lambda frame: dps.glm(
            f"claims ~ {LINEAR}", frame, SCHEMA, sm.families.NegativeBinomial(alpha=0.4), exposure="days"
        ),
        lambda frame: smf.glm(
            f"claims ~ {LINEAR}", frame, family=sm.families.NegativeBinomial(alpha=0.4), exposure=frame.days
        ).fit(tol=1e-12),
    ),
    "gamma": (
        lambda frame: dps.glm(f"amount ~ {LINEAR}", frame, SCHEMA, "gamma"),
        lambda frame: smf.glm(f"amount ~ {LINEAR}", frame, family=log_link(sm.families.Gamma)).fit(tol=1e-13),
    ),
}


def standard_errors(expected: Any) -> np.ndarray:
    """Of the model for a logit, robust with the expected information for the others."""
    if not hasattr(expected, "family"):
        return expected.bse.to_numpy()
    exog, mean = expected.model.exog, expected.fittedvalues.to_numpy()
    if isinstance(expected.family, sm.families.Binomial):
        slope = expected.family.link.inverse_deriv(expected.predict(which="linear"))
        score = (expected.model.endog - mean) * slope / (mean * (1 - mean))
        bread = np.linalg.inv((exog * (slope**2 / (mean * (1 - mean)))[:, None]).T @ exog)
        return np.sqrt(np.diag(bread @ (exog * (score**2)[:, None]).T @ exog @ bread))
    curvature = mean**2 / expected.family.variance(mean)  # of a log link
    score = (expected.model.endog / mean - 1) * curvature
    bread = np.linalg.inv((exog * curvature[:, None]).T @ exog)
    return np.sqrt(np.diag(bread @ (exog * (score**2)[:, None]).T @ exog @ bread))


def take_many_steps(monkeypatch) -> None:
    """More than a fit has, all by all rows, so that it ends at the root and not near it."""
    monkeypatch.setattr("dpstats.estimators.engine.some._LEAST", 1.0)
    page = importlib.import_module("dpstats.models.glm")
    monkeypatch.setattr(page, "make_plan", lambda mu, *steps, **more: make_plan(mu, 30, 8, **more))


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_those_of_statsmodels(frame, name, monkeypatch) -> None:
    take_many_steps(monkeypatch)
    ours, theirs = CASES[name]
    with noise(NoNoise()):
        fit = ours(frame).fit(UNLIMITED)
    expected = theirs(frame)
    np.testing.assert_allclose(fit.params.to_numpy(), expected.params.to_numpy(), rtol=0, atol=1e-8)
    assert (fit.params.index == expected.params.index).all()
    np.testing.assert_allclose(np.sqrt(np.diag(fit.cov_params())), standard_errors(expected), rtol=2e-4)


def test_every_family_is_among_them(frame) -> None:
    """One whose scores are released as if they were another's ends elsewhere; a Gaussian fit is `ols`."""
    fitted = [ours(frame).family for ours, _ in CASES.values()]
    assert {(family.kind, family.link_name) for family in fitted} == {
        (family.kind, family.link_name) for family in FAMILIES.values() if family is not GAUSSIAN
    }


@pytest.mark.parametrize("golden", FITS, ids=lambda fit: f"{fit['family']}-{fit['link']}")
def test_estimates_are_those_of_r(golden: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """To 1e-6 standard errors; a logit by the default has those of the law, all others those of the rows."""
    take_many_steps(monkeypatch)
    loaded = dps.datasets.load(golden["data"])
    family, link = golden["family"], golden["link"]
    model = dps.glm(golden["formula"], loaded.data, loaded.schema, family, link=link)
    with noise(NoNoise()):
        fit = model.fit(UNLIMITED, release=["loglik"])
    params, bse = (values[golden["names"]].to_numpy() for values in (fit.params, fit.bse))
    assert len(params) == len(fit.params)
    se = np.array(golden["bse" if link == "logit" else "robust"])
    np.testing.assert_allclose((params - golden["params"]) / se, 0, atol=1e-6)
    np.testing.assert_allclose(bse, se, rtol=1e-3)
    assert float(fit.llf) == pytest.approx(golden["loglik"], rel=1e-9)


def test_robust_standard_errors_of_a_wrong_model(frame, monkeypatch) -> None:
    """HC0 of statsmodels where log-odds jump; what the model says of them is 10 percent off, or more."""
    take_many_steps(monkeypatch)
    rng = np.random.default_rng(2)
    chance = np.where(np.abs(frame.age - 50) > 20, 0.5, 0.02)
    bent = frame.assign(bought=(rng.random(len(frame)) < chance).astype(int))
    with noise(NoNoise()):
        usual, robust = (
            dps.logit("bought ~ age", bent, SCHEMA).fit(UNLIMITED, robust=wanted) for wanted in (False, True)
        )
    expected = smf.logit("bought ~ age", bent).fit(disp=0, cov_type="HC0").bse
    found, by_model = (np.sqrt(np.diag(fit.cov_params())) for fit in (robust, usual))
    np.testing.assert_allclose(found, expected, rtol=5e-3)
    assert (np.abs(by_model / expected - 1) > 0.1).any()
    with pytest.raises(dps.NotReleased):
        robust.dispersion  # noqa: B018
