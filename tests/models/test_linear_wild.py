"""A linear fit of any frame is a fit: no exception, warning, output or shape depends on values (T9)."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise
from tests.models.test_survreg_wild import WILD
from tests.silent import silence

SCHEMA = dps.Schema(
    y=dps.bounded(-5, 30),
    a=dps.bounded(0, 10),
    b=dps.bounded(-1e6, 1e6),
    w=dps.bounded(0, 3),
    f=dps.flag(),
    g=dps.levels("p", "q", other=True),
)
FORMULAS = {
    "y ~ a + b + f + g": 6,
    "y ~ 1": 1,
    "y ~ 0 + a": 1,
    "y ~ a * C(g, Sum) + I(b > 0) + offset(np.minimum(a, 2))": 7,
}
BUDGETS = [dps.gdp(1e-5), dps.approx(1, 1e-6), dps.gdp(1e6), dps.pure(1e-3), dps.pure(3), dps.pure(1e5)]
CONSTANT = {"y": 5.0, "a": 3.0, "b": 0.0, "w": 1.0, "f": 1.0, "g": "q"}
HOW = st.sampled_from(["plain", "weights", "public", "pmt", "paper"])


def columns(n: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    a = generator.uniform(0, 10, n)
    return {
        "y": 2 + a + generator.normal(size=n),
        "a": a,
        "b": generator.normal(0, 3e5, n),
        "w": generator.uniform(0, 3, n),
        "f": (generator.uniform(size=n) < 0.1).astype(float),
        "g": generator.choice(np.array(["p", "q", "zz"], dtype=object), n),
    }


def fitted(data: dict[str, Any], formula: str, budget: Any, how: str, source: Any) -> dps.Fit:
    public = columns(60, 1) if how in ("public", "pmt", "paper") else None
    if isinstance(budget, dps.budget.Pure) and how in ("pmt", "paper"):
        budget = dps.gdp(budget.epsilon)
    method = dict(method="pmt", compat="paper" if how == "paper" else None) if how in ("pmt", "paper") else {}
    with silence(), noise(source) if source else contextlib.nullcontext():
        model = dps.ols(formula, data, SCHEMA, public=public, weights="w" if how == "weights" else None)
        return model.fit(budget, force=True, **method)


def check(fit: dps.Fit, formula: str, n: int) -> None:
    """Shapes are those of the design; what is not finite is a variance that says so."""
    k = FORMULAS[formula]
    assert fit.params.shape == (k,) and np.isfinite(fit.params).all() and fit.nobs == n
    bse = np.asarray(fit.bse)
    assert bse.shape == (k,) and not np.isnan(bse).any() and np.isfinite(list(fit.settings.values())).all()
    if not np.isfinite(bse).all():
        assert "not_estimable" in dict(fit.flags)
    with silence():
        assert fit.to_dict() and str(fit.summary()) and repr(fit)
        if fit.record.linear is not None:
            assert float(fit.sigma) > 0 or "not estimable" in str(fit.sigma)
            assert 0 <= float(fit.rsquared) <= 1 or "not estimable" in str(fit.rsquared)
            assert np.isfinite(fit.at_alpha(1).params).all()


@st.composite
def frames(draw: st.DrawFn) -> dict[str, Any]:
    """Columns that are each fine, constant, spoilt in places, or wild throughout."""
    n, seed = draw(st.sampled_from([1, 2, 5, 40, 300])), draw(st.integers(0, 2**32))
    generator, made = np.random.default_rng(seed), columns(n, seed)
    for name in SCHEMA:
        kind = draw(st.sampled_from(["fine", "constant", "spoilt", "wild", "one"]))
        if kind == "fine":
            continue
        column = made[name].astype(object)
        if kind == "constant":
            column[:] = CONSTANT[name]
        elif kind == "one":
            column[:] = draw(st.sampled_from(WILD))
        else:
            worse = generator.uniform(size=n) < (0.2 if kind == "spoilt" else 2)
            column[worse] = [WILD[i] for i in generator.integers(0, len(WILD), worse.sum())]
        made[name] = column
    return made


ONE_ROW = {"y": 8.2, "a": 6.4, "b": 192126.8, "w": 0.05, "f": 0.0, "g": "q"}


@settings(max_examples=100, deadline=None)
@given(frames(), st.sampled_from(sorted(FORMULAS)), st.sampled_from(BUDGETS), HOW, st.integers(0, 2**32))
@example(  # the kurtosis of clipped residuals fell below 1, and sigma had no root
    {name: np.array([value]) for name, value in ONE_ROW.items()},
    "y ~ a * C(g, Sum) + I(b > 0) + offset(np.minimum(a, 2))",
    dps.pure(0.001),
    "plain",
    0,
)
def test_wild_frames_give_fits(data: dict[str, Any], formula: str, budget: Any, how: str, seed: int) -> None:
    check(fitted(data, formula, budget, how, SeededNoise(seed)), formula, len(data["y"]))


@settings(max_examples=25, deadline=None)
@given(frames(), st.sampled_from([*BUDGETS[:2], *BUDGETS[3:5]]), HOW)
def test_wild_frames_give_fits_with_the_noise_of_users(data: dict[str, Any], budget: Any, how: str) -> None:
    """Of one column: exact noise in many coordinates takes long to draw."""
    fit = fitted(data, "y ~ 0 + a", budget, how, None)
    check(fit, "y ~ 0 + a", len(data["y"]))
    assert not fit.not_private


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(3)], ids=str)
@pytest.mark.parametrize(
    "change",
    [
        {"y": np.full(2000, 4.0)},
        {"y": np.full(2000, 1e300)},
        {"g": ["q"] * 2000},
        {"g": ["p"] * 1999 + ["q"]},
        {"a": np.full(2000, 0.0), "b": np.full(2000, -1e300)},
        {"b": np.linspace(-1e6, 1e6, 2000), "a": 5 + 5 * np.linspace(-1, 1, 2000)},
        {"y": columns(2000, 3)["a"]},
        {"w": np.zeros(2000)},
        {"y": [None] * 2000},
    ],
    ids=[
        "one response",
        "clipped",
        "one level",
        "one row",
        "constant",
        "collinear",
        "no error",
        "no weight",
        "bad",
    ],
)
def test_degenerate_frames_at_a_usual_budget(budget: Any, change: dict[str, Any]) -> None:
    data, formula = columns(2000, 3) | change, "y ~ a + b + f + g"
    for how in ("plain", "weights"):
        check(fitted(data, formula, budget, how, SeededNoise(1)), formula, 2000)


@pytest.mark.parametrize("budget", [dps.approx(5, 1e-6), dps.pure(5)], ids=["mu", "epsilon"])
@pytest.mark.parametrize("formula", ["y ~ x + I(x**2)", "y ~ I(x**2)"])
def test_numbers_so_far_from_0_that_rounding_hides_the_constant_are_no_error(
    formula: str, budget: Budget
) -> None:
    rng = np.random.default_rng(1)
    for low, width in ((1e12, 1.0), (1e12, 0.01), (1e14, 1.0)):
        x = low + width * rng.uniform(size=3000)
        data = {"x": x, "y": (x - low) / width + 0.1 * rng.normal(size=3000)}
        schema = dps.Schema(x=dps.bounded(low, low + width), y=dps.bounded(-1, 2))
        for seed in range(2):
            with noise(SeededNoise(seed)):
                fit = dps.ridge(formula, data, schema, alpha=1.0).fit(budget)
            assert np.isfinite(fit.params).all()
            assert float(fit.sigma) > 0 or "not estimable" in str(fit.sigma)
