"""Intervals of linear fits where something other than fresh noise may make them miss."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.luck import most

Columns = dict[str, np.ndarray]


def missed_by(fit: dps.Fit, truth: dict[str, float]) -> np.ndarray:
    """Errors in half-lengths of 95 % intervals."""
    limits = fit.conf_int().loc[list(truth)].to_numpy(float)
    return np.abs(fit.params[list(truth)].to_numpy() - list(truth.values())) / np.diff(limits)[:, 0] * 2


PAIR = dps.Schema(
    y=dps.bounded(-30, 60), x=dps.bounded(0, 20), z=dps.bounded(0, 100), f=dps.flag(true=1, false=0)
)


def pair(seed: int, n: int) -> Columns:
    """Two covariates with a correlation of .9."""
    rng = np.random.default_rng([n, seed])
    a, b, error = rng.normal(size=(3, n))
    x, z, f = 5 + 2 * a, 30 + 8 * (0.9 * a + np.sqrt(0.19) * b), rng.integers(0, 2, n)
    y = 3 + 0.4 * x + 0.1 * z - f + 3 * error
    columns = {"y": y, "x": x, "z": z}
    return {name: np.clip(values, *PAIR[name].bounds) for name, values in columns.items()} | {"f": f}


@pytest.mark.parametrize("fits", [50, pytest.param(300, marks=pytest.mark.long)])
def test_under_pure_epsilon_a_correlated_pair_is_flagged_or_held(fits: int) -> None:
    """One matrix takes all steps, and hides most where columns hang together."""
    truth, missed = {"x": 0.4, "z": 0.1}, []
    for seed in range(fits):
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z + f", pair(seed, 4000), PAIR).fit(dps.pure(1))
        if not fit.flags:
            missed.append(missed_by(fit, truth).max())
    assert len(missed) > fits / 10
    assert np.mean(np.array(missed) <= 1) >= 0.88 and np.mean(np.array(missed) > 2) <= 0.02


@pytest.mark.parametrize("fits", [20, pytest.param(40, marks=pytest.mark.long)])
def test_a_rare_level_beside_many_columns_is_held(fits: int) -> None:
    """Its column is stretched less than others: noise hides most of it, and more was expected of it."""
    names = [f"x{j}" for j in range(16)]
    limits = {name: dps.bounded(-6, 6) for name in names}
    schema = dps.Schema(limits, y=dps.bounded(-30, 30), rare=dps.flag(true=1, false=0))
    missed = []
    for seed in range(fits):
        rng = np.random.default_rng([seed, 11])
        columns = dict(zip(names, rng.normal(size=(16, 15_000)), strict=True))
        columns["rare"] = (rng.random(15_000) < 0.012) * 1
        columns["y"] = columns["x0"] + columns["rare"] + 2 * rng.normal(size=15_000)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ rare + " + " + ".join(names), columns, schema).fit(dps.approx(2, 1e-6))
        if not fit.flags:
            missed.append(missed_by(fit, {"rare": 1.0})[0])
    assert len(missed) > fits / 2
    held, far = np.mean(np.array(missed) <= 1), np.mean(np.array(missed) > 2)
    assert held >= 0.78 and far <= 0.05  # .85, with room for Monte Carlo error; .62 where it was not expected


RIDGE = dps.Schema(y=dps.bounded(-40, 60), x=dps.bounded(-8, 8), z=dps.bounded(-2, 20))


def skewed(seed: int, n: int, error: float) -> Columns:
    """A normal and an exponential covariate, both of variance 1."""
    rng = np.random.default_rng([n, seed])
    x, z = rng.normal(size=n), rng.exponential(size=n)
    return {"x": x, "z": z, "y": 2 + x + 2 * z + error * rng.normal(size=n)}


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(10)], ids=str)
def test_penalised_coefficients_of_the_population_are_held(budget: Budget) -> None:
    """Though long rows count less, and how far a penalty pulls depends on the spread of all rows."""
    alpha = 1.0
    truth, held = {"x": 1 / (1 + alpha), "z": 2 / (1 + alpha)}, []
    for seed in range(25):
        with noise(SeededNoise(seed)):
            fit = dps.ridge("y ~ x + z", skewed(seed, 10_000, 0.5), RIDGE, alpha).fit(budget)
        assert not fit.flags
        held.append(missed_by(fit, truth) <= 1)
    assert np.mean(held) >= 0.85


def test_a_small_budget_that_sees_no_tail_says_so_of_heavily_penalised_coefficients() -> None:
    """They are as far off as the variances of their columns, of which long rows hide less than cells do."""
    limits = {f"z{j}": dps.bounded(-60, 100) for j in range(4)} | {"y": dps.bounded(-200, 300)}
    truth, missed = {f"z{j}": slope / 21 for j, slope in enumerate((1, 2, 1, 1))}, []
    for seed in range(40):
        rng = np.random.default_rng([2500, seed])
        z = rng.exponential(size=(2500, 4))
        columns = {f"z{j}": z[:, j] for j in range(4)}
        columns["y"] = 2 + z @ [1, 2, 1, 1] + 0.5 * rng.normal(size=2500)
        with noise(SeededNoise(seed)):
            model = dps.ridge("y ~ z0 + z1 + z2 + z3", columns, dps.Schema(limits), 20.0)
            missed.append(missed_by(model.fit(dps.approx(1, 1e-6)), truth))
    assert np.mean(np.array(missed) <= 1) >= 0.78 and np.mean(np.max(missed, axis=1) > 2) <= 0.1


def test_which_rows_were_sampled_matters_to_a_penalised_line_without_any_residual() -> None:
    """Standard errors are the scatter of estimates, of which a line without residuals has some."""
    estimates, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, z = rng.normal(size=(2, 400))
        with noise(NoNoise()):
            columns = {"x": x, "z": z, "y": 2 + x + 2 * z}
            fit = dps.ridge("y ~ x + z", columns, RIDGE, 1.0).fit(dps.gdp(1e12))
        estimates.append(fit.params.to_numpy())
        errors.append(fit.bse.to_numpy())
    scatter = np.std(estimates, axis=0)
    assert np.sqrt(np.mean(np.square(errors), axis=0)) == pytest.approx(scatter, rel=0.3)


def square_of_a_share(seed: int, budget: Budget) -> tuple[Any, float, np.ndarray]:
    """A penalised fit to a share, mostly next to 0, and its square; its largest miss, and the shares."""
    rng = np.random.default_rng([8, seed])
    x = rng.beta(0.6, 6.0, 7400)
    y, rows = 2 - 3 * x - 4 * x**2 + 0.4 * rng.normal(size=len(x)), np.column_stack([x, x**2])
    apart, penalty = rows - rows.mean(axis=0), 0.7 * np.eye(2)
    target = np.linalg.solve(apart.T @ apart / len(x) + penalty, apart.T @ y / len(x))
    schema = dps.Schema(x=dps.bounded(0, 3.5), y=dps.bounded(-10, 10))
    with noise(SeededNoise(seed)):
        fit = dps.ridge("y ~ x + I(x**2)", {"x": x, "y": y}, schema, alpha=0.7).fit(budget)
    return fit, missed_by(fit, dict(zip(fit.params.index[1:], target, strict=True))).max(), x


def test_a_penalty_rests_on_squares_that_long_rows_lost() -> None:
    """Of a share that is mostly next to 0 the first stage sees no end, and its square is long in few rows.

    Errors are 1.7 half-lengths on average, where these squares are left out, and else .6: of all fits an
    eighth still miss one of their two slopes.
    """
    off = [square_of_a_share(seed, dps.approx(1, 1e-6))[1] for seed in range(48)]
    assert np.mean(off) < 1.05  # .6 with an error of .09; else 1.7 with one of .19


def test_a_variance_of_which_the_first_stage_missed_the_ends_is_known_up_to_a_factor() -> None:
    """At a small budget that of the square above is told 2 to 12 times too small.

    Half of the fits are within .7 sds of its variance. They are within 1.2 or 1.3 where it may only be
    smaller by as much as larger, or where nothing is said of rows beyond those that were seen. Without either
    21 % of 400 other fits were two half-lengths off, and 3 % are.
    """
    off, missed = [], []
    for seed in range(96):
        fit, miss, x = square_of_a_share(seed, dps.approx(0.75, 1e-6))
        missed.append(miss)
        moments = fit.record.linear
        told = moments.back.T @ moments.all_rows @ moments.back
        told /= told[0, 0]
        off.append(abs(np.var(x**2) - (told[2, 2] - told[0, 2] ** 2)) / moments.untold.whole_error[2, 2])
    assert np.median(off) < 1
    assert np.sum(np.array(missed) > 2) <= most(96, 0.03)


@pytest.mark.parametrize("column", ["flag", "level"])
def test_a_penalty_rests_on_how_many_of_all_rows_have_a_rare_value(column: str) -> None:
    """Its rows are long and were shortened: without noise its slope was 8.6 and 5.2 half-lengths off."""
    rng = np.random.default_rng(3)
    rare, z = rng.random(60_000) < 0.1, rng.normal(size=(5, 60_000))
    if column == "flag":
        declared: Any = dps.flag(true=1, false=0)
        values, columns = rare.astype(int), [rare]
    else:
        common = rng.random(len(rare)) < 0.5
        declared, columns = dps.levels("a", "b", "c"), [~rare & common, rare]
        values = np.where(rare, "c", np.where(common, "b", "a"))
    data = {f"x{j}": z[j] for j in range(4)} | {"f": values}
    data["y"] = 1 + 0.1 * z[:4].sum(axis=0) - 0.7 * rare + 0.1 * z[4]
    limits = {f"x{j}": dps.bounded(-6, 6) for j in range(4)} | {"f": declared, "y": dps.bounded(-4, 4)}
    rows = np.column_stack([*columns, *z[:4]])
    apart = rows - rows.mean(axis=0)
    squares = apart.T @ apart / len(rows) + 0.7 * np.eye(len(apart.T))
    target = np.linalg.solve(squares, apart.T @ data["y"] / len(rows))
    with noise(NoNoise()):
        model = dps.ridge("y ~ f + x0 + x1 + x2 + x3", data, dps.Schema(limits), 0.7)
        fit = model.fit(dps.approx(2, 1e-6))
    assert missed_by(fit, dict(zip(fit.params.index[1:], target, strict=True))).max() < 1


def test_under_pure_epsilon_a_flag_that_explains_nearly_all_is_held_or_unknown() -> None:
    """Its rows are clipped at every step towards its effect, and none is shortened as normal rows are."""
    schema, missed = dps.Schema(y=dps.bounded(-4, 12), x=dps.flag(true=1, false=0)), []
    for seed in range(25):
        rng = np.random.default_rng([seed, 13])
        x = (rng.random(50_000) < 0.04) * 1
        columns = {"x": x, "y": 8.0 * x + 0.2 * rng.normal(size=50_000)}
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", columns, schema).fit(dps.pure(1))
        if not fit.flags:
            missed.append(missed_by(fit, {"x": 8.0})[0])
    assert len(missed) > 10 and np.mean(np.array(missed) > 1) <= 0.1 and np.max(missed) < 2


HOUSES = dps.Schema(y=dps.bounded(-500, 5000), area=dps.bounded(0, 1000), age=dps.bounded(0, 300))


@pytest.mark.parametrize("fits", [20, pytest.param(40, marks=pytest.mark.long)])
def test_slopes_are_held_where_skewed_errors_grow_with_the_mean(fits: int) -> None:
    """Clipping residuals takes most where their spread is largest, which tilts the line."""
    held, n = [], 60_000
    for seed in range(fits):
        rng = np.random.default_rng([seed, 7])
        area, age = rng.lognormal(4.6, 0.45, n), rng.exponential(30, n)
        mean = 50 + 2.2 * area - 0.4 * age
        columns = {"area": area, "age": age, "y": mean * (0.85 + 0.15 * rng.exponential(size=n))}
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ area + age", columns, HOUSES).fit(dps.approx(1, 1e-6))
        held.append(missed_by(fit, {"area": 2.2})[0] <= 1)
    assert np.mean(held) >= 0.9


def test_sigma_and_rsquared_are_held_where_errors_have_heavy_tails() -> None:
    schema, held = dps.Schema(y=dps.bounded(-60, 60), x=dps.bounded(-6, 6)), []
    for seed in range(25):
        rng = np.random.default_rng([seed, 9])
        x, error = rng.normal(size=5000), rng.standard_t(3, size=5000) / np.sqrt(3)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", {"x": x, "y": x + error}, schema).fit(dps.approx(1, 1e-6))
        pairs = ((fit.sigma, 1.0), (fit.rsquared, 0.5))
        held.append([found.conf_low <= true <= found.conf_high for found, true in pairs])
    assert np.mean(held, axis=0).min() >= 0.8


def test_under_pure_epsilon_sigma_is_held_where_tails_are_heavy() -> None:
    """Nobody releases a mean of r^4: of exponential errors a fifth was silently off, of t(3) ones a third."""
    schema = dps.Schema(y=dps.bounded(-60, 60), x=dps.bounded(-6, 6))
    held: dict[str, list[bool]] = {"exponential": [], "t": []}
    for seed in range(16):
        rng = np.random.default_rng([seed, 12])
        x = rng.normal(size=8000)
        laws = {"exponential": rng.exponential(size=8000), "t": rng.standard_t(3, size=8000) / np.sqrt(3)}
        for law, error in laws.items():
            with noise(SeededNoise(seed)):
                fit = dps.ols("y ~ x", {"x": x, "y": x + error}, schema).fit(dps.pure(4))
            held[law].append(fit.sigma.conf_low <= 1 <= fit.sigma.conf_high)
    assert np.mean(held["exponential"]) >= 0.9 and np.mean(held["t"]) >= 0.8


def test_sigma_and_rsquared_are_held_where_errors_have_the_tail_of_a_power() -> None:
    """Of Pareto errors rows that are clipped hold a tenth to a third of the variance."""
    held = []
    for seed in range(16):
        rng = np.random.default_rng([seed, 10])
        x, error = rng.normal(size=10_000), rng.pareto(3.5, size=10_000)
        columns = {"x": x, "y": 0.5 * x + error}
        schema = dps.Schema(y=dps.bounded(-10, 100), x=dps.bounded(-6, 6))
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", columns, schema).fit(dps.approx(2, 1e-6))
        left = np.var(columns["y"] - np.polyval(np.polyfit(x, columns["y"], 1), x))
        pairs = ((fit.sigma, np.sqrt(left)), (fit.rsquared, 1 - left / np.var(columns["y"])))
        held.append([found.conf_low <= true <= found.conf_high for found, true in pairs])
    assert np.mean(held, axis=0).min() >= 0.8


@pytest.mark.parametrize(
    "budget",
    [
        dps.approx(1, 1e-6),
        pytest.param(dps.gdp(5), marks=pytest.mark.long),
        dps.pure(1),
        pytest.param(dps.pure(20), marks=pytest.mark.long),
    ],
    ids=str,
)
@pytest.mark.parametrize("how", ["intercept", "none", "public", "ridge"])
def test_where_no_row_can_be_read_nothing_is_estimable(how: str, budget: Budget) -> None:
    rng = np.random.default_rng(1)
    public = pd.DataFrame(skewed(1, 300, 0.5)) if how == "public" else None
    formula = "y ~ 0 + x + z" if how == "none" else "y ~ x + z"
    for n in (300, 5000):
        columns: dict[str, Any] = {name: np.array(["misspelt"] * n) for name in "xyz"}
        model = dps.ridge(formula, columns, RIDGE, 0.5 * (how == "ridge"), public=public)
        for _ in range(5):
            with noise(SeededNoise(int(rng.integers(1 << 30)))):
                fit = model.fit(budget)
            assert "not_estimable" in dict(fit.flags) and np.isinf(fit.bse).all()
            assert np.isinf(fit.sigma.std_error) and np.isinf(fit.rsquared.std_error)


SKEWED = dps.Schema(y=dps.bounded(-500, 1000), x=dps.bounded(-8, 8))


def test_under_pure_epsilon_an_intercept_is_held_where_errors_are_skewed() -> None:
    """Clipping moves it by more than a half-length, and nobody releases a mean of r^4.

    Of more rows, counts of residuals have said before how far these reach, and little is clipped.
    """
    missed = []
    for seed in range(16):
        rng = np.random.default_rng([seed, 21])
        x, errors = rng.normal(size=4000), np.exp(rng.normal(size=4000)) - np.exp(0.5)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", {"y": 10 + x + errors, "x": x}, SKEWED).fit(dps.pure(4))
        assert fit.flags == ()
        missed.append(missed_by(fit, {"Intercept": 10.0, "x": 1.0}))
    assert (np.mean(np.array(missed) < 1, axis=0) > 0.9).all()


def test_under_pure_epsilon_normal_errors_pay_nothing_for_it() -> None:
    rng = np.random.default_rng(22)
    x, errors = rng.normal(size=(2, 30_000))
    with noise(SeededNoise(1)):
        fit = dps.ols("y ~ x", {"y": 10 + x + errors, "x": x}, SKEWED).fit(dps.pure(4))
    assert fit.bse["Intercept"] < 1.1 * fit.bse["x"]


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)])
def test_a_product_of_a_level_and_a_year_is_known_as_well_whatever_years_count_from(budget: Budget) -> None:
    """A year is two thousand times its level: of the intervals that were finite hardly one held."""
    rng, n = np.random.default_rng(3), 40_000
    region, year = rng.choice([*"abc"], n), rng.integers(1990, 2021, n).astype(float)
    slopes = {"a": 0.02, "b": 0.05, "c": -0.03}
    y = np.array([slopes[one] for one in region]) * (year - 2005) + rng.normal(size=n)
    fits, off = [], []
    for middle in (0, 1000):
        data = dict(region=region, year=year - middle, y=y)
        schema = dps.Schema(
            region=dps.levels(*"abc"), year=dps.bounded(1980 - middle, 2030 - middle), y=dps.bounded(-8, 8)
        )
        model = dps.ols("y ~ region*year", data, schema)
        exact = np.linalg.lstsq(model.design.new_rows(data, clip=True).exog, y, rcond=None)[0]
        for seed in range(12):
            with noise(SeededNoise(seed)):
                fit = model.fit(budget)
            assert fit.flags == ()
            off.append(np.abs(fit.params - exact) / (1.96 * fit.bse))
        fits.append(fit)
    assert np.mean(np.array(off) < 1) >= 0.9 and np.max(off) < 1.5
    slopes_of = [name for name in fits[0].params.index if "year" in name]
    assert fits[0].bse[slopes_of].to_numpy() == pytest.approx(fits[1].bse[slopes_of], rel=1e-6)
    at = {"region": "b", "year": 2010}
    assert fits[0].predict(at)[0] == pytest.approx(
        fits[1].predict({"region": "b", "year": 1010})[0], rel=1e-4
    )


def test_a_slope_holds_least_squares_where_far_responses_become_more_along_its_covariate() -> None:
    """Some 2 % of the rows, all of them above the line and of large x, as amounts are that few have.

    A limit takes most of them, and the slope with them. 17 of the 20 fits were silently off by more than
    two half-lengths; two are on the machine on which this was written, and four of 40 others.
    """
    schema = dps.Schema(y=dps.bounded(-400, 400), x=dps.bounded(-6, 6), z=dps.bounded(-6, 6))
    silent = 0
    for seed in range(20):
        rng = np.random.default_rng([8, seed])
        x, z, error = rng.normal(size=(3, 8000))
        error += (rng.random(8000) < 0.04 * (x > 0)) * 8 * rng.pareto(2, 8000)
        y = np.clip(1 + 0.5 * x + 0.3 * z + error, -400, 400)
        exact = np.linalg.lstsq(np.column_stack([np.ones(8000), x, z]), y, rcond=None)[0]
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z", {"y": y, "x": x, "z": z}, schema).fit(dps.gdp(0.5))
        off = missed_by(fit, dict(zip(["Intercept", "x", "z"], exact, strict=True)))
        silent += not fit.flags and off.max() > 2
    assert silent <= 8


def test_a_line_holds_least_squares_where_few_amounts_far_beyond_its_limit_go_along_with_an_age() -> None:
    """Some 120 of 4000 rows, exponential amounts of 20 sds in the mean, when a limit is 3 sds.

    Where all far rows were taken to lie at 1.75 limits, 25 of 40 fits were silently off by more than two
    half-lengths; 3 are.
    """
    schema, silent = dps.Schema(y=dps.bounded(-20, 500), age=dps.bounded(0, 110)), 0
    for seed in range(30):
        rng = np.random.default_rng([12, seed])
        age = rng.normal(45, 14, 4000).clip(18, 95)
        often = np.exp(age / 14)
        far = rng.random(4000) < 0.03 * often / often.mean()
        y = np.clip(0.02 * age + rng.normal(size=4000) + far * 20 * rng.exponential(size=4000), -20, 500)
        exact = np.linalg.lstsq(np.column_stack([np.ones(4000), age]), y, rcond=None)[0]
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ age", {"y": y, "age": age}, schema).fit(dps.gdp(0.24))
        off = missed_by(fit, dict(zip(["Intercept", "age"], exact, strict=True)))
        silent += not fit.flags and off.max() > 2
    assert silent <= 8


def test_errors_with_a_tail_that_goes_along_with_no_covariate_hardly_lengthen_intervals() -> None:
    """All rows at the limit could go along with any: intervals were 3.4 times those of least squares."""
    schema, longer = dps.Schema(y=dps.bounded(-400, 400), x=dps.bounded(-6, 6)), []
    for seed in range(20):
        rng = np.random.default_rng([10, seed])
        x, error = rng.normal(size=20_000), rng.exponential(size=20_000)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", {"y": x + error, "x": x}, schema).fit(dps.gdp(0.5))
        low, high = fit.conf_int().to_numpy()[1]
        longer.append((high - low) / (2 * 1.96 / np.sqrt(20_000)))
    assert np.median(longer) < 1.5


def test_normal_errors_pay_hardly_anything_for_far_rows_that_there_might_be() -> None:
    """As the number of these is told, up to its noise; beside sampling and noise of a variance 1.3 / n."""
    schema, more = dps.Schema(y=dps.bounded(-400, 400), x=dps.bounded(-6, 6)), []
    for seed in range(30):
        x, error = np.random.default_rng([9, seed]).normal(size=(2, 8000))
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", {"y": x + error, "x": x}, schema).fit(dps.gdp(0.5))
        moments = fit.record.linear
        assert moments is not None
        more.append(0.0 if moments.untold.bend is None else 8000 * moments.untold.bend[1, 1])
    assert np.quantile(more, 0.4) < 0.08  # .089 at least, where noise of their number is taken for such rows


AMOUNTS = dps.Schema(y=dps.bounded(0, 1e5), income=dps.bounded(1000, 1e6), own=dps.flag())


def amounts(seed: int, n: int) -> Columns:
    """A share of an income that a part of the rows spend: most at high incomes, where it also varies most."""
    rng = np.random.default_rng([n, seed])
    income, own = np.exp(rng.normal(10.3, 0.7, n)).clip(1000, 1e6), rng.integers(0, 2, n)
    spent = 0.02 * income * np.exp(0.6 * rng.normal(size=n)) * (rng.random(n) < 0.3 + 0.2 * own)
    return {"income": income, "own": own, "y": spent.clip(0, 1e5)}


@pytest.mark.parametrize("n, epsilon", [(8000, 1), (20_000, 1), (8000, 2), (3000, 4)])
def test_amounts_that_spread_with_their_mean_are_held_under_pure_epsilon(n: int, epsilon: float) -> None:
    """Clipping takes most where the mean is high, and no release tells so: 0 to 3 of 10 slopes were held."""
    many = amounts(0, 1_000_000)
    columns = np.column_stack([np.ones(1_000_000), np.log(many["income"]), many["own"]])
    truth, missed = {"log(income)": float(np.linalg.lstsq(columns, many["y"], rcond=None)[0][1])}, []
    for seed in range(1, 11):
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ log(income) + own", amounts(seed, n), AMOUNTS).fit(dps.pure(epsilon))
        missed.append(missed_by(fit, truth)[0])
    assert np.mean(np.array(missed) <= 1) >= 0.8
