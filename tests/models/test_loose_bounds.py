"""Bounds as people write them: what is declared ten thousand times too wide costs next to nothing."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise
from tests.luck import fewest, most

N = 20_000
LINKS = {"logit": lambda eta: 1 / (1 + np.exp(-eta)), "poisson": np.exp}


def fits(model: str, width: float) -> list[dps.Fit]:
    """Of a column of mean 300 and sd 1, whose bounds are so far from it."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=N)
    mean = LINKS[model](0.2 + 0.5 * x)
    y = rng.poisson(mean) if model == "poisson" else (rng.uniform(size=N) < mean).astype(int)
    bounds = (300 - width, 300 + 2 * width)
    schema = dps.Schema(x=dps.bounded(*bounds), y=dps.count(40) if model == "poisson" else dps.flag())
    data = pd.DataFrame({"x": 300 + x, "y": y})
    made = dps.logit("y ~ x", data, schema) if model == "logit" else dps.glm("y ~ x", data, schema, model)
    found = []
    for seed in range(4):
        with noise(SeededNoise(seed)):
            found.append(made.fit(dps.approx(1, 1e-6)))
    return found


@pytest.mark.parametrize("model", ["logit", "poisson"])
def test_wide_bounds_cost_next_to_nothing(model: str) -> None:
    tight, wide = fits(model, 4.0), fits(model, 6e3)
    for fit in wide:
        assert not fit.flags and abs(fit.params["x"] - 0.5) < 5 * fit.bse["x"]
    assert np.median([fit.bse["x"] for fit in wide]) < 1.15 * np.median([fit.bse["x"] for fit in tight])


@pytest.mark.parametrize("most", [2_000, 1_000_000])
def test_counts_may_be_declared_far_beyond_any(most: int) -> None:
    """Where octaves ended above the largest count, the iteration began at hundreds of times their mean."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=6_000)
    data = {"x": x, "y": rng.poisson(np.exp(-0.5 + 0.5 * x))}
    schema = dps.Schema(x=dps.bounded(-8, 8), y=dps.count(most))
    with noise(SeededNoise(1)):
        fit = dps.glm("y ~ x", data, schema, family="poisson").fit(dps.approx(1, 1e-6))
    assert not fit.flags and abs(fit.params["x"] - 0.5) < 4 * fit.bse["x"] < 0.5


def test_of_counts_that_noise_hides_nothing_is_estimable() -> None:
    """They may all lie in a few rows of a far tail, whose slope is not that of the others."""
    rng = np.random.default_rng(10)
    x = rng.standard_t(3, size=6_000)
    data = {"x": x, "y": np.where(x > np.quantile(x, 0.999), 1_000, 0)}
    schema = dps.Schema(x=dps.bounded(-100, 100), y=dps.count(10_000))
    for seed in range(3):
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ x", data, schema, family="poisson").fit(dps.approx(1, 1e-6))
        assert "not_estimable" in [code for code, _ in fit.flags]


@pytest.mark.parametrize("model", ["logit", "poisson"])
def test_a_column_that_is_too_narrow_to_be_found_has_no_short_interval(model: str) -> None:
    for fit in fits(model, 1e9):
        low, high = fit.conf_int().loc["x"]
        assert not np.isfinite(low) or low <= 0.5 <= high


@pytest.mark.parametrize("seed", [1, 17, 30, 41])
def test_a_number_that_noise_alone_tells_from_a_constant_has_no_interval(seed: int) -> None:
    """Whitening stretches it, and the noise of its square with it: were that as large as of other columns,
    noise would give a number that seems constant a slope of 0 in 7 of 120 fits."""
    rng = np.random.default_rng(seed)
    p, z, errors = 101_325 + 4 * rng.normal(size=4_000), *rng.normal(size=(2, 4_000))
    data = {"p": p, "z": z, "y": 0.3 * (p - 101_325) / 4 + 0.2 * z + errors}
    schema = dps.Schema(p=dps.bounded(0, 5e6), z=dps.bounded(-200, 200), y=dps.bounded(-40, 400))
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ p + z", data, schema).fit(dps.pure(3.3))
    assert "not_estimable" in dict(fit.flags) and np.isinf(fit.conf_int().loc["p"]).all()


@pytest.mark.parametrize("fits", [8, pytest.param(20, marks=pytest.mark.long)])
def test_a_column_off_its_centre_that_noise_hides_is_never_known(fits: int) -> None:
    """Its variance is a square less the square of a noisy mean near an end; none of the slopes is told."""
    rng = np.random.default_rng(8)
    x = -93_000 + 540 * rng.normal(size=1300)
    life = np.exp(0.5 - 0.0002 * (x + 93_000) + 0.6 * rng.normal(size=1300))
    rows = {"x": x, "life": np.clip(life, 0.1, 50), "failed": np.ones(1300)}
    schema = dps.Schema(x=dps.bounded(-690_000, -64_000), life=dps.bounded(0.1, 50), failed=dps.event())
    for seed in range(fits):
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(life, failed) ~ x", rows, schema, dist="lognormal").fit(dps.gdp(0.08))
        assert fit.flags


def amounts(n: int, share: float, budget: Budget) -> list[dps.Fit]:
    """Of y = 10 + x + age / 10 + 3 z, where x is 0 but in a share of the rows, and bounded by 100,000."""
    rng = np.random.default_rng(9)
    x = np.where(rng.uniform(size=n) < share, rng.exponential(5.0, n), 0.0)
    age = rng.uniform(20, 60, n)
    rows = {"x": x, "age": age, "y": 10 + x + age / 10 + rng.normal(0, 3, n)}
    schema = dps.Schema(x=dps.bounded(0, 1e5), age=dps.bounded(18, 100), y=dps.bounded(0, 1000))
    found = []
    for seed in range(6):
        with noise(SeededNoise(seed)):
            found.append(dps.ols("y ~ x + age", rows, schema).fit(budget))
    return found


def test_rare_amounts_have_an_honest_interval() -> None:
    """Of 30 fits 29 hold it, the other has a caution, and 27 tell it."""
    held, told = 0, 0
    for fit in amounts(10_000, 0.1, dps.zcdp(0.5)):
        low, high = fit.conf_int().loc["x"]
        held += low <= 1 <= high
        told += not fit.flags and high - low < 2
    assert held >= fewest(6, 0.95) and told >= fewest(6, 0.9)


def test_amounts_that_noise_hides_have_no_short_interval() -> None:
    """Of which none is known to be there, anything may be the slope."""
    for budget in (dps.approx(0.3, 1e-6), dps.pure(0.5)):
        for fit in amounts(2000, 0.03, budget):
            low, high = fit.conf_int().loc["x"]
            assert not np.isfinite(low) or low <= 1 <= high


def test_columns_that_noise_hides_in_their_bounds_have_no_short_interval() -> None:
    """Of survreg under pure epsilon: guesses of slopes in units of the bounds held a fifth of them.

    With more budget none is hidden.
    """
    names = [f"x{j}" for j in range(5)]
    schema = dps.Schema(
        life=dps.bounded(np.exp(-8), np.exp(8)), **{name: dps.bounded(0, 150) for name in names}
    )
    formula = f"Surv(life) ~ {' + '.join(names)}"
    truth = np.array([0.15, -0.15, 0.15, -0.15, 0.15])
    missed = 0
    for seed in range(5):
        draw = np.random.default_rng(seed)
        x = draw.exponential(size=(10_000, 5)).clip(0, 150)
        life = np.exp(x @ truth + 0.2 * np.log(draw.exponential(size=len(x))))
        model = dps.survreg(formula, {"life": life} | dict(zip(names, x.T, strict=True)), schema)
        for epsilon, hidden in [(0.3, True), (0.5, True), (2.0, False)]:
            with noise(SeededNoise(seed)):
                fit = model.fit(dps.pure(epsilon))
            low, high = fit.conf_int().loc[names].to_numpy().T
            missed += int(np.sum(np.isfinite(low) & ((truth < low) | (high < truth))))
            assert bool(fit.flags) == hidden
    assert missed <= most(25, 0.05)  # of those that are not hidden; of guesses four in five did


@pytest.mark.parametrize("fits", [2, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("budget", [dps.approx(1.2, 1e-6), dps.pure(2)], ids=["approx", "pure"])
def test_the_difference_of_near_duplicates_that_noise_hides_is_weak_or_long(
    budget: Budget, fits: int
) -> None:
    """Guesses in units of each column alone held no slope of such a pair, and nothing was said.

    What noise alone did not make of their information is seen a little, and then intervals are long.
    """
    schema = dps.Schema(a=dps.bounded(-5, 5), b=dps.bounded(-5, 5), life=dps.bounded(1e-3, 100))
    for seed in range(fits):
        draw = np.random.default_rng(seed)
        a, apart, e = draw.normal(size=(3, 5000))
        b = 0.999 * a + np.sqrt(1 - 0.999**2) * apart
        rows = {"a": a, "b": b, "life": np.exp(0.2 * a + 5 * (a - b) + 0.6 * e)}
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(life) ~ a + b", rows, schema, dist="lognormal").fit(budget)
        low, high = fit.conf_int().loc[["a", "b"]].to_numpy().T
        assert np.all(np.abs([5.2, -5.0] - fit.params[["a", "b"]]) < high - low)
        assert {code for code, _ in fit.flags} & {"weak", "not_estimable"} or np.all(high - low > 2 * 5.2)


@pytest.mark.parametrize("term", ["bs(x, df=4)", "ns(x, df=4)"])
@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma"])
def test_a_spline_tells_its_curve_where_rows_are_though_its_ends_are_empty(family: str, term: str) -> None:
    """All of its columns go along there; every coefficient was lost, and the curve with them."""
    schema = {"binomial": dps.flag(), "poisson": dps.count(60), "gamma": dps.bounded(1e-4, 99)}
    at = np.linspace(-1, 3, 5)
    eta, link = 0.5 + np.sin(at), LINKS["logit" if family == "binomial" else "poisson"]
    longer = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        x = np.clip(draw.normal(1, 1, size=N // 2), -5, 5)
        mean = link(0.5 + np.sin(x))
        y = {
            "binomial": draw.uniform(size=len(x)) < mean,
            "poisson": draw.poisson(mean),
            "gamma": np.maximum(draw.gamma(3, mean / 3), 1e-4),
        }[family]
        described = dps.glm(
            f"y ~ {term}", {"x": x, "y": y}, dps.Schema(x=dps.bounded(-5, 5), y=schema[family]), family
        )
        with noise(SeededNoise(seed)):
            fit = described.fit(dps.gdp(0.5))
        assert not {"weak", "not_estimable"} & set(dict(fit.flags))
        low, high = np.asarray(fit.get_prediction({"x": at}).conf_int()).T
        middle = (low + high) / 2
        assert (np.abs(link(eta) - middle) < high - low).all()
        longer.append(np.log(high / low)[1:4])
    assert (np.median(longer, axis=0) < 1.0).all()


def test_a_number_is_found_at_a_thousand_failures_and_an_epsilon_of_one() -> None:
    """Five of these slopes, in bounds of ten sds, were lost, before small budgets left more to the search."""
    schema = dps.Schema(x=dps.bounded(-5, 5), time=dps.bounded(1e-3, 1e3), failed=dps.event())
    lost = []
    for seed in range(8, 16):
        draw = np.random.default_rng(seed)
        x, end = draw.normal(size=1640), draw.uniform(0, 6, 1640)
        life = np.exp(1 + 0.3 * x) * draw.exponential(size=1640) ** 0.6
        rows = {"x": x, "time": np.minimum(life, end), "failed": 1 * (life <= end)}
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(time, failed) ~ x", rows, schema).fit(dps.approx(1, 1e-6))
        lost.append(bool(np.isinf(fit.bse["x"])))
    assert sum(lost) <= 3  # of 24 one is, and of eight four once in 2,000 times


LOOSE = 3e4  # so many times too wide, at which no look finds a square


@pytest.mark.parametrize("model", ["ols", "logit", "weibull", "coxph"])
def test_the_line_of_a_number_whose_square_is_not_seen_is_not_that_of_a_fit_without(model: str) -> None:
    """Its interval was a hundredth as long as it was off, in all models; z has nothing to do with it."""
    draw = np.random.default_rng(3)
    x, z, e = draw.uniform(0, 5, N), draw.normal(size=N), draw.normal(size=N)
    line = 0.5 * x - 0.07 * x**2 + 0.3 * z
    life = np.exp(line) * draw.exponential(size=N) + 1e-3
    rows = {"x": x, "z": z, "y": line + e, "yes": (line + e > 0).astype(int), "life": life, "died": life < 10}
    schema = dps.Schema(
        x=dps.bounded(0, 5 * LOOSE),
        z=dps.bounded(-5, 5),
        y=dps.bounded(-20, 20),
        yes=dps.flag(),
        life=dps.bounded(1e-3, 50),
        died=dps.event(),
    )
    terms = "x + I(x**2) + z"
    made = {
        "ols": lambda: dps.ols(f"y ~ {terms}", rows, schema),
        "logit": lambda: dps.logit(f"yes ~ {terms}", rows, schema),
        "weibull": lambda: dps.survreg(f"Surv(life, died) ~ {terms}", rows, schema),
        "coxph": lambda: dps.coxph(f"Surv(life, died) ~ {terms}", rows, schema),
    }[model]()
    with noise(SeededNoise(1)):
        fit = made.fit(dps.approx(2, 1e-6))
    lost = set(fit.bse.index[np.isinf(fit.bse)])
    assert lost == {"x", "I(x ** 2)", "Intercept"} & {*fit.params.index}
    if model == "ols":
        with pytest.warns(UserWarning, match="not estimable"):
            assert np.isnan(fit.predict({"x": 0.0, "z": 0.0})).all()


def curve(formula: str, budget: Budget, seed: int) -> dps.Fit:
    """Of y = 10 + 5 sin(x / 8) + x / 10, where x is from 20 to 60, and 100 was declared."""
    draw = np.random.default_rng(seed)
    x = draw.uniform(20, 60, N)
    rows = {"x": x, "y": 10 + 5 * np.sin(x / 8) + x / 10 + 1.5 * draw.normal(size=N)}
    with noise(SeededNoise(seed)):
        return dps.ols(
            f"y ~ {formula}", rows, dps.Schema(x=dps.bounded(0, 100), y=dps.bounded(-100, 200))
        ).fit(budget)


INSIDE = np.array([22.0, 30, 40, 50, 58])


@pytest.mark.parametrize(("formula", "epsilon"), [("bs(x, df=6)", 2), ("ns(x, df=5)", 0.7)])
def test_means_of_splines_are_known_where_values_are(formula: str, epsilon: float) -> None:
    """All were NaN: the coefficients are differences from a mean where no values are.

    Of 24 such fits each three and none have no coefficient at all, and the others know all of the five means.
    """
    true, known, hidden = 10 + 5 * np.sin(INSIDE / 8) + INSIDE / 10, 0, 0
    for seed in range(4):
        fit = curve(formula, dps.approx(epsilon, 1e-6), seed)
        lost = np.isinf(fit.bse)
        found = fit.get_prediction(pd.DataFrame({"x": INSIDE}))
        half = np.ptp(found.conf_int(), axis=1) / 2
        assert (np.abs(found.predicted_mean - true) < half + 0.3)[half < 2].all()
        if lost.any():
            with pytest.warns(UserWarning, match="not estimable"):
                assert np.isnan(fit.predict({"x": 99.0})).all()
        if (half < 2).all():
            assert np.isfinite(fit.get_prediction(pd.DataFrame({"x": INSIDE}), average=True).se_mean).all()
            known += 1
        hidden += int(np.sum(half >= 2))
    assert known >= 1 and hidden <= 1


def test_heights_where_no_rows_are_are_lost_and_means_sigma_and_r_squared_are_not() -> None:
    """Of 12 such fits 3 were silently 11 to 17 half-lengths from least squares, and 9 had no means."""
    schema = dps.Schema(x=dps.bounded(0, 10), y=dps.bounded(-20, 40))
    for seed in (3, 7, 8):
        draw = np.random.default_rng(seed)
        x = draw.uniform(3, 10, N)
        rows = {"x": x, "y": x + draw.normal(size=N)}
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ bs(x, df=5)", rows, schema).fit(dps.approx(30, 1e-6))
        assert np.isinf(fit.bse).all() and fit.flags
        inside = np.array([3.5, 5, 8, 9.5])
        limits = fit.get_prediction({"x": inside}).conf_int()
        assert (np.abs(limits.mean(axis=1) - inside) < 0.1).all() and (np.ptp(limits, axis=1) < 0.4).all()
        assert fit.sigma.conf_high < 1.2 and 0.7 < fit.rsquared.conf_low


@pytest.mark.parametrize("model", ["logit", "poisson"])
def test_heights_where_no_rows_are_may_be_any_and_means_elsewhere_are_told(model: str) -> None:
    """They were silently up to 14 half-lengths from maximum likelihood, which lies hundreds away."""
    schema = dps.Schema(x=dps.bounded(0, 10), y=dps.count(40) if model == "poisson" else dps.flag())
    for seed in (0, 1):
        draw = np.random.default_rng(seed)
        x = draw.uniform(3, 10, 12_000)
        mean = LINKS[model](0.2 + 0.2 * x if model == "poisson" else x / 3 - 2)
        y = draw.poisson(mean).clip(0, 40) if model == "poisson" else 1 * (draw.uniform(size=len(x)) < mean)
        made = dps.glm(
            "y ~ bs(x, df=5)", {"x": x, "y": y}, schema, "poisson" if model == "poisson" else "binomial"
        )
        with noise(SeededNoise(seed)):
            fit = made.fit(dps.approx(30, 1e-6))
        assert (fit.bse > 60).all() and np.isfinite(fit.bse).all() and not fit.flags
        inside = np.array([3.5, 5, 8, 9.5])
        low, high = fit.get_prediction({"x": inside}).conf_int().T
        true = LINKS[model](0.2 + 0.2 * inside if model == "poisson" else inside / 3 - 2)
        assert (low < true).all() and (true < high).all() and (high / low < 2).all()


def test_sums_of_many_rows_are_judged_as_each_alone() -> None:
    fits = (curve("ns(x, df=5)", dps.approx(1, 1e-6), seed) for seed in range(8))
    fit = next(fit for fit in fits if np.isinf(fit.bse).any())  # of four fits three have such a coefficient
    points = pd.DataFrame({"x": np.linspace(20, 60, 600)})
    together = fit.get_prediction(points).se_mean
    assert np.isfinite(together).sum() > 500
    for j in (0, 255, 256, 599):
        np.testing.assert_allclose(fit.get_prediction(points.iloc[[j]]).se_mean, together[j], rtol=1e-6)


def test_means_of_a_spline_whose_number_fills_its_bounds_are_nearly_as_sure_as_without_privacy() -> None:
    """Rows near its ends were weighted away, and intervals 1.5 to 2.5 times as long as of least squares."""
    schema = dps.Schema(x=dps.bounded(0, 10), y=dps.bounded(-10, 10))
    points = pd.DataFrame({"x": [1.0, 3, 5, 7, 9]})
    for seed in range(3):
        draw = np.random.default_rng(seed)
        x = draw.uniform(0, 10, N)
        rows = {"x": x, "y": np.sin(x) + draw.normal(size=N)}
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ bs(x, df=5)", rows, schema).fit(dps.approx(10, 1e-6))
        least = smf.ols("y ~ bs(x, df=5)", pd.DataFrame(rows)).fit().get_prediction(points).se_mean
        assert np.median(fit.get_prediction(points).se_mean / least) < 1.2
