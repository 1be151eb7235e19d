"""Without noise and bounds a linear fit is least squares: statsmodels' numbers, and ridge's closed form.

A budget that makes noise negligible bounds nothing. What is left of the machinery is the grid of whitened
rows: with a fine one a fit agrees with statsmodels to 1e-10 standard errors.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.regression.linear_model import RegressionResultsWrapper

import dpstats as dps
from dpstats.formula import build_design
from dpstats.moments.spread import residual_variance
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, noise
from tests.estimators.plain import plain_moments
from tests.made import under

N = 800
UNLIMITED = dps.gdp(1e12)
SCHEMA = dps.Schema(
    y=dps.bounded(-30, 40),
    a=dps.bounded(-4, 5),
    b=dps.bounded(95, 106),
    t=dps.bounded(0, 3),
    w=dps.bounded(0, 5),
    g=dps.levels("p", "q", "r"),
    s=dps.flag(true=1, false=0),
)
CASES: dict[str, dict[str, Any]] = {
    "intercept": dict(formula="y ~ a + b"),
    "no intercept": dict(formula="y ~ 0 + a + b"),
    "intercept alone": dict(formula="y ~ 1"),
    "one column": dict(formula="y ~ 0 + b"),
    "levels": dict(formula="y ~ a + C(g) + s"),
    "levels without intercept": dict(formula="y ~ 0 + C(g) + a"),
    "interaction": dict(formula="y ~ a * C(g) + I(b ** 2)"),
    "offset": dict(formula="y ~ a + b", offset="0.5 * t"),
    "weights": dict(formula="y ~ a + C(g)", weights="w"),
    "weights and offset": dict(formula="y ~ 0 + a + b", weights="w", offset="t"),
}


def frame(seed: int = 3, n: int = N) -> pd.DataFrame:
    """Nearly collinear columns and uniform errors: tails lighter than the normal's are not corrected for."""
    generator = np.random.default_rng(seed)
    a = generator.normal(size=n).clip(-4, 4)
    data = pd.DataFrame(
        {
            "a": a,
            "b": 100 + a + generator.uniform(-0.2, 0.2, n),
            "t": generator.uniform(0, 3, n),
            "w": generator.uniform(0.2, 5, n),
            "g": generator.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1]),
            "s": (generator.uniform(size=n) < 0.2).astype(int),
        }
    )
    data["y"] = 1 + 2 * a - (data["b"] - 100) + 1.5 * (data["g"] == "q") + generator.uniform(-2, 2, n)
    return data


def ours(
    data: pd.DataFrame,
    formula: str,
    weights: str | None = None,
    offset: str | None = None,
    budget: Any = UNLIMITED,
    alpha: float = 0.0,
) -> dps.Fit:
    formula += f" + offset({offset})" if offset else ""
    with noise(NoNoise()):
        return dps.ridge(formula, data, SCHEMA, alpha, weights=weights).fit(budget)


def theirs(
    data: pd.DataFrame, formula: str, weights: str | None = None, offset: str | None = None, **robust: Any
) -> RegressionResultsWrapper:
    data = data.assign(y=data["y"] - data.eval(offset)) if offset else data
    return smf.wls(formula, data, weights=data[weights] if weights else 1.0).fit(**robust)


def in_order(values: pd.Series, names: tuple[str, ...]) -> np.ndarray:
    """Of statsmodels, in the order of our columns; patsy calls a declared factor C(g)."""
    return values[list(names)].to_numpy()


@pytest.mark.parametrize("case", CASES)
def test_coefficients_are_those_of_statsmodels(case: str, floats: None) -> None:
    data, arguments = frame(), CASES[case]
    fit, wanted = ours(data, **arguments), theirs(data, **arguments)
    error = np.abs(fit.params.to_numpy() - in_order(wanted.params, fit.names))
    assert (error / in_order(wanted.bse, fit.names)).max() < 1e-10
    assert fit.settings == {}, "nothing was bounded"


@pytest.mark.parametrize("case", CASES)
def test_sigma_and_rsquared_are_those_of_statsmodels(case: str, floats: None) -> None:
    """R squared sets the unbiased residual variance against the response's own: 1 - RSS/(n-k) / (TSS/n)."""
    data, arguments = frame(), CASES[case]
    fit, wanted = ours(data, **arguments), theirs(data, **arguments)
    assert float(fit.sigma) == pytest.approx(np.sqrt(wanted.scale), rel=1e-10)
    total = wanted.centered_tss if "Intercept" in fit.names else wanted.uncentered_tss
    assert float(fit.rsquared) == pytest.approx(max(1 - wanted.scale / (total / N), 0), abs=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 0.7, 50.0])
@pytest.mark.parametrize("case", ["intercept", "no intercept", "levels", "offset", "weights"])
def test_ridge_is_its_closed_form(case: str, alpha: float, floats: None) -> None:
    """The intercept is not penalised; the mean of squares is over the sum of weights.

    In the closed form's stable version: alpha stands for further rows.
    """
    data, arguments = frame(), CASES[case]
    model = theirs(data, **arguments).model
    root = np.sqrt(model.weights / model.weights.sum())[:, None]
    penalty = np.sqrt(alpha) * np.diag([float(name != "Intercept") for name in model.exog_names])
    x, y = np.vstack([root * model.exog, penalty]), np.append(root[:, 0] * model.endog, 0 * penalty[0])
    wanted = pd.Series(np.linalg.lstsq(x, y, rcond=None)[0], model.exog_names)
    fit = ours(data, **arguments, alpha=alpha)
    size = np.abs(wanted).max()
    assert fit.params.to_numpy() == pytest.approx(in_order(wanted, fit.names), abs=1e-10 * size)
    again = ours(data, **arguments).at_alpha(alpha)
    assert again.params.to_numpy() == pytest.approx(fit.params.to_numpy(), abs=1e-12 * size)


def test_alpha_is_that_of_statsmodels(floats: None) -> None:
    """Which penalises an intercept as well, so that there is none here."""
    data = frame()
    wanted = smf.ols("y ~ 0 + a + b", data).fit_regularized(alpha=0.3, L1_wt=0).params
    assert ours(data, "y ~ 0 + a + b", alpha=0.3).params.to_numpy() == pytest.approx(wanted, rel=1e-8)


SPOILT = {"y": np.nan, "a": np.inf, "g": "nowhere", "b": None}


def spoilt(formula: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Twenty rows that say nothing for each variable of a formula; and the rest."""
    data, spoilt_rows = frame().astype(object), []
    for place, (column, value) in enumerate(SPOILT.items()):
        if column in formula:
            spoilt_rows += range(50 * place, 50 * place + 20)
            data.loc[spoilt_rows[-20:], column] = value
    return data, frame().drop(index=spoilt_rows)


WITH_MISSING = ["y ~ a + b + C(g)", "y ~ 0 + a + b"]


@pytest.mark.parametrize("formula", WITH_MISSING)
def test_rows_with_a_missing_value_are_switched_off(formula: str, floats: None) -> None:
    data, rest = spoilt(formula)
    fit, wanted = ours(data, formula), theirs(rest, formula)
    error = np.abs(fit.params.to_numpy() - in_order(wanted.params, fit.names))
    assert (error / in_order(wanted.bse, fit.names)).max() < 1e-10
    assert fit.nobs == N and len(rest) < 0.95 * N


@pytest.mark.parametrize("formula", WITH_MISSING)
def test_n_of_the_residual_variance_counts_rows_that_can_be_used(formula: str, floats: None) -> None:
    """As the first stage counted them; the rows of the table are what is public."""
    data, rest = spoilt(formula)
    fit, wanted = ours(data, formula), theirs(rest, formula)
    assert float(fit.sigma) == pytest.approx(np.sqrt(wanted.scale), rel=1e-10)
    assert fit.bse.to_numpy() == pytest.approx(in_order(wanted.bse, fit.names), rel=0.1)


HC1 = {"cov_type": "HC1"}


def spread_frame(unequal: bool, seed: int, n: int) -> pd.DataFrame:
    """Errors that are larger where |a| > 1, or not."""
    data, generator = frame(seed, n), np.random.default_rng(seed + 100)
    size = 1 + 1.5 * unequal * (data["a"].abs() > 1)
    return data.assign(y=1 + 2 * data["a"] - data["s"] + size * generator.uniform(-1.7, 1.7, n))


@pytest.mark.parametrize("weights", [None, "w"])
def test_standard_errors_are_robust_where_errors_differ_in_spread(weights: str | None) -> None:
    data = spread_frame(True, 7, 20_000)
    fit = ours(data, "y ~ a + s", weights)
    usual, robust = (in_order(theirs(data, "y ~ a + s", weights, **how).bse, fit.names) for how in ({}, HC1))
    slope = fit.names.index("a")
    assert usual[slope] < 0.75 * robust[slope]
    assert fit.bse.to_numpy() == pytest.approx(robust, rel=0.01)


def test_standard_errors_are_the_usual_ones_where_errors_do_not_differ() -> None:
    """Those of HC1 err by what residuals happen to be; twenty samples of 500 rows."""
    apart = []
    for seed in range(20):
        data = spread_frame(False, seed, 500)
        fit = ours(data, "y ~ a + s")
        usual, robust = (in_order(theirs(data, "y ~ a + s", **how).bse, fit.names) for how in ({}, HC1))
        apart.append([np.log(fit.bse.to_numpy() / usual), np.log(robust / usual)])
    kept, robust = np.sqrt(np.mean(np.square(apart), axis=(0, 2)))
    assert kept < 0.4 * robust and robust < 0.1


# computed by a prototype that shares no code
SPEC = dps.Schema(u=dps.bounded(-3, 3), x=dps.bounded(-3, 3), y=dps.bounded(-10, 10))
SPEC_ROWS = {"u": np.ones(4), "x": np.array([0.0, 1, -1, 2]), "y": np.array([0.5, 2, -1, 9])}
SPEC_PUBLIC = dict(
    center=[0, 0],
    scale=[1, 1],
    y_center=0,
    y_scale=1,
    log=False,
    constant=False,
    whitening=np.eye(2),
    line=np.zeros(2),
    sigma=1,
    radius=np.sqrt(2),
    limit=4,
)


def released(columns: dict[str, np.ndarray], **more: float) -> Any:
    design = build_design("y ~ 0 + u + x", SPEC)
    curator = under(NoNoise(), open_rows(columns, SPEC, design.variables), design, dps.gdp(1))
    return curator.release("residual_moments", 1.0, **SPEC_PUBLIC, **more)


def test_the_example_of_the_spec() -> None:
    """One row is too long, and its residual too large."""
    release = released(SPEC_ROWS)
    matrix, c = release.values[0] / 4, np.sqrt(2) / 4
    assert c == pytest.approx(0.3535533906)
    wanted = [[0.85, 0.2, 0.3561893192], [0.2, 0.9, 0.7123786384], [0.3561893192, 0.7123786384, 0.6640625]]
    assert matrix == pytest.approx(np.array(wanted), abs=1e-5)
    off = ~np.eye(3, dtype=bool)
    assert np.diag(release.sds[0]) / 4 == pytest.approx(1.4142135624, rel=1e-5)
    assert release.sds[0][off] / 4 == pytest.approx(1.0, rel=1e-5)
    moments = plain_moments(4, matrix[:2, :2], matrix[:2, 2] / c, matrix[2, 2] / c**2, constant=[1, 0])
    assert moments.solve().params == pytest.approx([0.6947969186, 2.0843907559], abs=1e-4)
    assert moments.mean_weight == pytest.approx(0.85, abs=1e-5)
    # the spec's is per row, ours per unit of weight and over n - d
    variance = residual_variance(moments, moments.normal_equations())
    assert variance * 0.85 / 2 == pytest.approx(0.4126610047, abs=1e-4)


def test_the_pair_of_the_spec_attains_the_sensitivity() -> None:
    """z = (sqrt2, 0, sqrt2) and (-sqrt2, 0, sqrt2), 2 sqrt2 R_a^2 apart."""
    first, second = (
        released({"u": np.array([side * np.sqrt(2)]), "x": np.zeros(1), "y": np.array([4.0])})
        for side in (1, -1)
    )
    apart = np.linalg.norm(first.values[0] - second.values[0])
    assert apart == pytest.approx(5.6568542495, rel=1e-5) == pytest.approx(first.sensitivity, rel=1e-4)


@pytest.mark.parametrize("meat", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_a_far_row_and_one_that_is_hardly_not_attain_the_sensitivity(kept: float, meat: float) -> None:
    """Of full length, both at the limit but for its last digit, and at the angle that is worst for them."""
    cosine = -kept / (1 + meat**2)
    others = np.sqrt(2) * np.array([1.0, cosine]), np.sqrt(2) * np.array([0.0, np.sqrt(1 - cosine**2)])
    more = dict(meat=meat, meat_limit=1.0, spread=1e-6, kept=kept)
    first, second = (
        released({"u": others[0][[row]], "x": others[1][[row]], "y": np.array([y])}, **more)
        for row, y in enumerate([4.0, 4.0 - 1e-9])
    )
    square = sum(np.sum((one - other) ** 2) for one, other in zip(first.values, second.values, strict=True))
    assert np.sqrt(square) == pytest.approx(first.sensitivity, rel=1e-4)


@pytest.mark.parametrize("code", [((1.0, 0.0), (0.8, 0.8)), ((1.0, 0.0), (-0.6, 0.8))])
def test_a_code_of_distances_that_the_proof_does_not_have_is_refused(code: Any) -> None:
    """Two rows at opposite codes would differ by more than the sensitivity, as would one at a longer one."""
    with pytest.raises(ValueError, match="code"):
        released(SPEC_ROWS, kept=0.5, edges=(5.0,), code=code)


def test_rows_at_two_distances_differ_by_no_more_than_those_at_one() -> None:
    """Of full length, on two sides or one, at any angle; nearly as much where codes are hardly apart."""
    found = []
    for turn in (1e-4, 0.3, 0.5 * np.pi):
        code = np.array([[1.0, 0.0], [np.cos(turn), np.sin(turn)]])
        more = dict(meat=0.7, meat_limit=1.0, spread=1e-6, kept=0.5, edges=(5.0,), code=code)
        squares = []
        for cosine in np.linspace(-1, 1, 81):
            others = (
                np.sqrt(2) * np.array([1.0, cosine]),
                np.sqrt(2) * np.array([0.0, np.sqrt(1 - cosine**2)]),
            )
            first, second = (
                released({"u": others[0][[row]], "x": others[1][[row]], "y": np.array([y])}, **more)
                for row, y in enumerate([4.5, 9.0])
            )
            squares.append(
                sum(np.sum((a - b) ** 2) for a, b in zip(first.values, second.values, strict=True))
            )
        found.append(np.sqrt(max(squares)) / first.sensitivity)
    assert found == sorted(found, reverse=True) and found[0] == pytest.approx(1, rel=1e-3)
