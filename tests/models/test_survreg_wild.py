"""A fit of any frame is a fit: no exception, warning, output or changed shape depends on values (T9)."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise
from tests.models.drives import FORMULA, SCHEMA, drives
from tests.silent import silence

LATE = "Surv(temp, time, failed) ~ load + maker"
FORMULAS = {
    FORMULA: 5,
    "Surv(time, failed) ~ 1": 1,
    "Surv(time, failed) ~ temp + load": 3,
    LATE: 4,
    "Surv(time, failed) ~ temp * maker": 6,
    "Surv(time, failed) ~ np.log(temp) + C(maker, Sum) + I(load > 0.9)": 5,
}
# laws of a time as others are of its logarithm, and one near the log-normal
ALIKE = ("sev", "logistic", "gaussian", "loglogistic")
BUDGETS = [dps.zcdp(0.01), dps.zcdp(1.0), dps.approx(3, 1e-6), dps.gdp(1e-5), dps.gdp(1e4)]
PURE = [dps.pure(1e-6), dps.pure(1.0), dps.pure(1e4)]  # not for late entries
WILD = [0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 1e300, 5e-324, "x", "", None, 2**60, 10, 50.0, 4000, True]
CONSTANT = {"time": 100.0, "failed": 1.0, "temp": 30.0, "load": 0.5, "maker": "B"}


def fitted(data: dict[str, Any], formula: str, dist: str, budget: Any, source: Any) -> dps.Fit:
    with silence(), noise(source) if source else contextlib.nullcontext():
        return dps.survreg(formula, data, SCHEMA, dist=dist).fit(budget, force=True)


def check(fit: dps.Fit, formula: str, n: int) -> None:
    """Shapes are those of the design; what is not finite is a variance that says so."""
    k = FORMULAS[formula] + 1
    assert fit.params.shape == (k,) and np.isfinite(fit.params).all() and fit.nobs == n
    bse, settings_ = np.asarray(fit.bse), [at for name, at in fit.settings.items() if not isinstance(at, str)]
    assert bse.shape == (k,) and not np.isnan(bse).any() and np.isfinite(settings_).all()
    if not np.isfinite(bse).all():
        assert "not_estimable" in dict(fit.flags)
    with silence():
        assert fit.to_dict() and str(fit.summary()) and repr(fit)


@st.composite
def frames(draw: st.DrawFn) -> dict[str, Any]:
    """Columns that are each fine, constant, spoilt in places, or wild throughout."""
    n = draw(st.sampled_from([1, 2, 5, 40, 300]))
    seed = draw(st.integers(0, 2**32))
    generator, columns = np.random.default_rng(seed), drives(n, seed, censored=0.4)
    for name in SCHEMA:
        kind = draw(st.sampled_from(["fine", "constant", "spoilt", "wild", "one"]))
        column = columns[name].astype(object)
        if kind == "constant":
            column[:] = CONSTANT[name]
        elif kind == "one":
            column[:] = draw(st.sampled_from(WILD))
        elif kind in ("spoilt", "wild"):
            worse = generator.uniform(size=n) < (0.2 if kind == "spoilt" else 2)
            column[worse] = [WILD[i] for i in generator.integers(0, len(WILD), worse.sum())]
        columns[name] = column if kind != "fine" else columns[name]
    return columns


@settings(max_examples=15, deadline=None)
@given(
    frames(),
    st.sampled_from(sorted(FORMULAS)),
    st.sampled_from(sorted(DISTS)),
    st.sampled_from(BUDGETS + PURE),
    st.integers(0, 2**32),
)
def test_wild_frames_give_fits(data: dict[str, Any], formula: str, dist: str, budget: Any, seed: int) -> None:
    if formula == LATE and budget in PURE:
        budget = BUDGETS[0]
    check(fitted(data, formula, dist, budget, SeededNoise(seed)), formula, len(data["time"]))


@settings(max_examples=15, deadline=None)
@given(frames(), st.sampled_from(["weibull", "loglogistic", "lognormal"]), st.sampled_from(BUDGETS[:4]))
def test_wild_frames_give_fits_with_the_noise_of_users(data: dict[str, Any], dist: str, budget: Any) -> None:
    fit = fitted(data, FORMULA, dist, budget, None)
    check(fit, FORMULA, len(data["time"]))
    assert not fit.not_private


@pytest.mark.parametrize(
    "dist", [pytest.param(d, marks=[pytest.mark.long] * (d in ALIKE)) for d in sorted(DISTS)]
)
@pytest.mark.parametrize(
    "change",
    [
        {"failed": np.zeros(2000)},
        {"failed": np.ones(2000)},
        {"time": np.full(2000, 1.0)},
        {"time": np.full(2000, 1e300)},
        {"maker": ["B"] * 2000},
        {"maker": ["A"] * 1999 + ["B"]},
        {"temp": np.full(2000, 10.0), "load": np.full(2000, 1e300)},
        {"load": np.linspace(0, 1, 2000), "temp": 10 + 40 * np.linspace(0, 1, 2000)},
        {"time": [None] * 2000},
    ],
    ids=["no event", "events", "at once", "never", "one maker", "one drive", "constant", "collinear", "bad"],
)
def test_degenerate_frames_at_a_usual_budget(dist: str, change: dict[str, Any]) -> None:
    data = drives(2000, 3) | change
    check(fitted(data, FORMULA, dist, dps.approx(3, 1e-6), SeededNoise(1)), FORMULA, 2000)


def test_there_must_be_a_row() -> None:
    """n is public, so that this may be said."""
    model = dps.survreg(FORMULA, {name: [] for name in SCHEMA}, SCHEMA)
    with pytest.raises(dps.SpecificationError, match="no rows"):
        model.fit(dps.zcdp(1))
