"""Columns far from 0 against their widths: fits are those of shifted columns, and none is lost to rounding.

Sums of terms that cancel tell no error below their rounding.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.bends import standardised
from dpstats.estimators.engine.finish import to_user
from dpstats.moments.design import DesignMoments
from dpstats.results import Fit, GlmFit
from dpstats.testing import SeededNoise, noise

N = 2_000


def _fit(family: str, far: float, seed: int) -> GlmFit:
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 2**10, N) / 2**10  # which every float near `far` tells apart
    data = {"x": far + u, "y": rng.poisson(np.exp(1 + u)) if family != "gamma" else rng.gamma(2, np.exp(u))}
    response = dps.count(50) if family != "gamma" else dps.bounded(0.01, 30)
    schema = dps.Schema(x=dps.bounded(far, far + 1), y=response)
    with noise(SeededNoise(seed)):
        return dps.glm("y ~ x", data, schema, family).fit(dps.approx(2, 1e-6))


@pytest.mark.parametrize("family", ["poisson", "negativebinomial", "gamma"])
@pytest.mark.parametrize("far", [2.0**27, 2.0**33])
def test_a_generalised_linear_model_of_columns_far_from_0_has_honest_errors(family: str, far: float) -> None:
    for seed in range(4):
        near, fit = _fit(family, 0.0, seed), _fit(family, far, seed)
        assert fit.params["x"] == pytest.approx(near.params["x"], rel=1e-3)
        assert fit.bse["x"] == pytest.approx(near.bse["x"], rel=1e-3)
        assert fit.bse["Intercept"] == pytest.approx(far * fit.bse["x"], rel=1e-3)
        middle = [each.get_prediction({"x": [x]}).se_mean for each, x in ((near, 0.5), (fit, far + 0.5))]
        assert middle[1] >= 0.999 * middle[0]


@pytest.mark.parametrize("far", [1e3, 1e8, 1e12])
def test_variances_on_standardised_columns_are_no_less_than_they_were(far: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        forth = to_user(far * np.array([1.0, -1.0]), np.array([0.3, 1.7]), True)
        cov = forth @ root @ root.T @ forth.T
        found, _ = standardised(np.linalg.inv(forth), cov, cov)
        assert (np.diag(found) >= 0.999 * np.diag(root @ root.T)).all()


def test_moments_of_columns_that_cancel_are_told_by_an_upper_limit() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(3, 3))
        cov = root @ root.T
        sd = np.sqrt(np.diag(cov))
        corr = np.clip(cov / np.outer(sd, sd) + 0.3 * rng.normal(), -1, 1)  # noisy: no positive matrix
        np.fill_diagonal(corr, 1.0)
        size = np.array([1.0, 1e7, 1e39])
        ones = np.ones((3, 3)) - np.eye(3)
        found = DesignMoments(
            "rows", 100.0, np.zeros(3), sd * size, sd * size, np.full(3, 0.05), corr, 0.3 * ones
        )
        back = np.linalg.inv(root.T) @ np.diag(1 / rng.uniform(0.5, 2, 3))
        whole = found.through(back / size[:, None], np.zeros(3))
        assert (whole.sd > 0).all() and (whole.sd_noise <= 0.5).all()
        assert np.array_equal(np.diag(whole.corr), np.ones(3))


def test_a_fit_whose_products_have_no_visible_spread_is_kept() -> None:
    rng, n = np.random.default_rng(0), 4_000
    data = dict(
        q=rng.gamma(1.3, 40, n),
        f=rng.integers(0, 2, n),
        life=300 * rng.weibull(1.4, n),
        dead=rng.integers(0, 2, n),
        g=rng.choice(["a", "b"], n),
        w=rng.integers(0, 7, n),
    )
    numbers = dict(q=dps.bounded(0, 1e10), life=dps.bounded(1, 2000), w=dps.bounded(0, 5))
    schema = dps.Schema(**numbers, f=dps.flag(), dead=dps.event(), g=dps.levels("a", "b"))
    model = dps.survreg("Surv(life, dead) ~ q:f + g + g:f", data, schema, weights="w")
    for seed in range(4):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(5, 1e-6))
        assert str(fit.moments) and np.isfinite(fit.record.columns.sd).all()


ZCDP, APPROX, PURE = dps.zcdp(0.5), dps.approx(2, 1e-6), dps.pure(4)


class _Case(NamedTuple):
    model: Callable[..., Any]
    response: str
    budget: dps.budget.Budget
    given: tuple[Any, ...] = ()
    how: dict[str, Any] = {}
    strata: str = ""


LIFE = "Surv(time, dead)"
CASES = {
    "ols": _Case(dps.ols, "v", APPROX),
    "ols-pure": _Case(dps.ols, "v", PURE),
    "ridge": _Case(dps.ridge, "v", APPROX, ("auto",)),
    "logit": _Case(dps.logit, "y", APPROX),
    "logit-pure": _Case(dps.logit, "y", PURE),
    "logit-objective": _Case(dps.logit, "y", APPROX, (), dict(method="objective")),
    "logit-output": _Case(dps.logit, "y", PURE, (), dict(method="output")),
    "logit-paper": _Case(dps.logit, "y", ZCDP, (), dict(method="objective", compat="paper")),
    "poisson": _Case(dps.glm, "c", APPROX, ("poisson",)),
    "negativebinomial": _Case(dps.glm, "c", APPROX, ("negativebinomial",)),
    "gamma": _Case(dps.glm, "p", APPROX, ("gamma",)),
    "weibull": _Case(dps.survreg, LIFE, APPROX),
    "lognormal": _Case(dps.survreg, LIFE, ZCDP, ("lognormal",)),
    "weibull-strata": _Case(dps.survreg, LIFE, APPROX, strata=" + strata(u)"),
    "coxph": _Case(dps.coxph, LIFE, APPROX),
    "coxph-strata": _Case(dps.coxph, LIFE, APPROX, strata=" + strata(u)"),
    "svm": _Case(dps.svm, "y", APPROX),
    "svm-pure": _Case(dps.svm, "y", PURE),
    "svm-output": _Case(dps.svm, "y", PURE, (), dict(method="output")),
    "svm-paper": _Case(dps.svm, "y", ZCDP, (), dict(compat="paper")),
}


def _shifted(case: _Case, formula: str, far: float, half: float, seed: int) -> Fit:
    rng = np.random.default_rng(seed)
    x = rng.integers(-(2**9), 2**9, N) / 2**9  # which every float near `far` tells apart
    g, u, z = rng.choice(["a", "b"], N), rng.choice(["a", "b"], N), rng.uniform(size=N)
    line = 0.3 + 1.5 * x + 0.5 * (g == "b") - 0.5 * z
    life = np.exp(1 + line / 2) * rng.weibull(1.5, N)
    data = dict(x=far + half * x, g=g, u=u, z=z, v=line + rng.normal(size=N))
    data |= dict(y=1 * (rng.uniform(size=N) < 1 / (1 + np.exp(-line))), c=rng.poisson(np.exp(line / 2)))
    data |= dict(p=np.exp(line / 2) * rng.gamma(3, 1 / 3, N), time=np.minimum(life, 8), dead=1.0 * (life < 8))
    schema = dps.Schema(
        x=dps.bounded(far - half, far + half),
        g=dps.levels("a", "b"),
        u=dps.levels("a", "b"),
        z=dps.bounded(0, 1),
        v=dps.bounded(-6, 8),
        y=dps.flag(),
        c=dps.count(20),
        p=dps.bounded(0.01, 30),
        time=dps.bounded(0.01, 8),
        dead=dps.event(),
    )
    model = case.model(f"{case.response} ~ {formula}{case.strata}", data, schema, *case.given)
    with noise(SeededNoise(seed)):
        return model.fit(case.budget, **case.how)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("formula", ["x", "x + g + z"])
@pytest.mark.parametrize("name", CASES)
def test_a_column_far_from_0_has_the_fit_of_the_shifted_column(name: str, formula: str, seed: int) -> None:
    """Of svm half of such fits ended in an exception after they were paid; others had a caution more."""
    near = _shifted(CASES[name], formula, 0.0, 1.0, seed)
    slopes = [each for each in near.params.index if each != "Intercept"]
    for far, half in ((1e6, 1.0), (1.7e9, 1800.0), (2024.0, 2.0), (-1e12, 1e3)):
        fit = _shifted(CASES[name], formula, far, half, seed)
        unit = np.array([half if each == "x" else 1.0 for each in slopes])
        shift = (fit.params[slopes] * unit - near.params[slopes]) / near.bse[slopes]
        errors = fit.bse[slopes] * unit / near.bse[slopes]
        assert np.abs(shift).max() < 0.03 and errors.min() > 0.95
        if abs(far) < 1e7 * half:  # farther out, errors are long where rounding hides them, and hide bends
            assert errors.min() > 0.97
            assert (
                np.abs(shift).max() < 0.01
                and errors.max() < 1.03
                and [*dict(fit.flags)] == [*dict(near.flags)]
            )
        if "Intercept" in near.params.index:
            at = [each.t_test(_row(each, x)).sd[0] for each, x in ((near, 0.0), (fit, far))]
            assert at[0] * 0.97 < at[1] < np.inf


def _row(fit: Fit, x: float) -> np.ndarray:
    """Of the linear predictor at x, all else being 0."""
    return np.array([[{"Intercept": 1.0, "x": x}.get(name, 0.0) for name in fit.params.index]])
