"""logit and glm as a user meets them: refusals, scales of predictions, files, and a slice of coverage."""

import zlib

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special

import dpstats as dps
from dpstats.estimators.bends import ReleasedLine
from dpstats.estimators.newton.check import separated
from dpstats.families.glm import BINOMIAL, FAMILIES
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.luck import fewest, most

N = 20_000
SCHEMA = dps.Schema(
    x=dps.bounded(-4, 4),
    rare=dps.flag(),
    days=dps.bounded(1, 366),
    y=dps.flag(),
    claims=dps.count(60),
    amount=dps.bounded(0, 1e4),
    share=dps.bounded(0, 1),
    balance=dps.bounded(-10, 10),
)
BUDGET = dps.gdp(1.0)
TRUTH = {"logit": (-1.0, 0.7, 0.9), "poisson": (0.5, 0.4, 0.5), "gamma": (3.0, 0.3, -0.4)}


def sample(rep: int, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng([3, rep])
    x, rare = np.clip(rng.normal(size=n), -4, 4), (rng.random(n) < 0.03).astype(int)
    days = rng.uniform(100, 366, n)
    eta = {name: b[0] + b[1] * x + b[2] * rare for name, b in TRUTH.items()}
    mean = np.exp(eta["poisson"]) * days / 366
    return pd.DataFrame(
        {
            "x": x,
            "rare": rare,
            "days": days,
            "y": (rng.random(n) < 1 / (1 + np.exp(-eta["logit"]))).astype(int),
            "claims": rng.negative_binomial(2, 2 / (2 + mean)),
            "amount": np.exp(eta["gamma"]) * rng.gamma(2, 0.5, n),
            "share": rng.random(n),
            "balance": x,
        }
    )


def model(name: str, frame: pd.DataFrame) -> dps.models.GlmModel:
    if name == "logit":
        return dps.logit("y ~ x + rare", frame, SCHEMA)
    if name == "poisson":
        return dps.glm("claims ~ x + rare + offset(-np.log(366))", frame, SCHEMA, "poisson", exposure="days")
    return dps.glm("amount ~ x + rare", frame, SCHEMA, "gamma")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return sample(0)


@pytest.mark.parametrize("name", TRUTH)
def test_intervals_cover(name: str) -> None:
    """20 fits of three coefficients: at 95 percent fewer than 48 of 60 are covered once in 1e5 runs."""
    hits, lost = 0, 0
    for rep in range(20):
        with noise(SeededNoise(zlib.crc32(f"{name} {rep}".encode()))):
            fit = model(name, sample(rep, 4000)).fit(dps.gdp(2.0))
        error = np.abs(fit.params.to_numpy() - TRUTH[name])
        se = np.sqrt(np.diag(fit.cov_params()))
        hits += int((error < 1.96 * se).sum())
        lost += int(np.isinf(se).sum())
        assert (error < 5 * 1.96 * se).all()
    assert 48 <= hits
    assert lost <= 1


def test_predictions_are_on_the_scale_of_the_response(frame: pd.DataFrame) -> None:
    with noise(NoNoise()):
        fits = {name: model(name, frame).fit(BUDGET) for name in TRUTH}
    new = {"x": 1.0, "rare": 0, "days": 183.0}
    for name, fit in fits.items():
        linear = fit.predict(new, type="link").item()
        response = fit.predict(new).item()
        expected = 1 / (1 + np.exp(-linear)) if name == "logit" else np.exp(linear)
        assert response == pytest.approx(expected)
        table = fit.get_prediction(new).summary_frame()
        step = 1e-6
        inverse = (lambda v: 1 / (1 + np.exp(-v))) if name == "logit" else np.exp
        slope = (inverse(linear + step) - inverse(linear - step)) / (2 * step)
        se_linear = np.sqrt(np.array([1, 1, 0]) @ fit.cov_params().to_numpy() @ np.array([1, 1, 0]))
        assert table["mean_se"].item() == pytest.approx(slope * se_linear, rel=1e-6)
        low, high = table[["mean_ci_lower", "mean_ci_upper"]].to_numpy()[0]
        assert 0 < low < response < high
        assert name != "logit" or high < 1


def test_exposure_is_the_offset_of_its_logarithm(frame: pd.DataFrame) -> None:
    with noise(SeededNoise(1)):
        first = dps.glm("claims ~ x", frame, SCHEMA, "poisson", exposure="days").fit(BUDGET)
    with noise(SeededNoise(1)):
        second = dps.glm("claims ~ x + offset(np.log(days))", frame, SCHEMA, "poisson").fit(BUDGET)
    pd.testing.assert_series_equal(first.params, second.params)


def test_whole_weights_stand_for_as_many_rows() -> None:
    """Without noise: a row of weight 2 among rows of weight 1 is two rows."""
    few = sample(1, 400).assign(w=np.arange(400) % 2 + 1.0)
    schema = dps.Schema({**dict(SCHEMA), "w": dps.bounded(0, 2)})
    twice = pd.concat([few, few[few.w == 2]])
    huge = dps.gdp(1e9)
    with noise(NoNoise()):
        weighted = dps.logit("y ~ x", few, schema, weights="w").fit(huge)
        repeated = dps.logit("y ~ x", twice, schema).fit(huge)
    np.testing.assert_allclose(weighted.params, repeated.params, atol=1e-3)


@pytest.mark.parametrize("most", [1, 5, 20])
def test_amounts_of_small_weight_scatter_as_much(most: int) -> None:
    """All of weight 1: phi was told to be a fifth where 5 was declared, intercepts were up to 4 sds off."""
    schema = dps.Schema(x=dps.bounded(-4, 4), y=dps.bounded(1e-4, 60), w=dps.bounded(0, most))
    for seed in (11, 12, 13):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=20_000).clip(-4, 4)
        rows = {"x": x, "y": np.exp(0.3 * x) * rng.gamma(2, 0.5, 20_000), "w": np.ones(20_000)}
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ x", rows, schema, "gamma", weights="w").fit(dps.gdp(2))
        assert (np.abs(fit.params - [0.0, 0.3]) < 2 * 1.96 * fit.bse).all()
        assert fit.dispersion.conf_low < 0.5 < fit.dispersion.conf_high


def weighted_amounts(seed: int, n: int, share: float) -> tuple[dict[str, np.ndarray], np.random.Generator]:
    """Amounts of phi .1, a number and a flag that a share of the rows has, and what draws their weights."""
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n).clip(-5, 5), rng.random(n) < share
    return {"x": x, "g": 1 * g, "y": np.exp(1 + 0.3 * x + 0.2 * g) * rng.gamma(10, 0.1, n)}, rng


WEIGHTED = dps.Schema(x=dps.bounded(-6, 6), g=dps.flag(), y=dps.bounded(1e-7, 100), w=dps.bounded(0, 1))


@pytest.mark.parametrize("weights", [None, "ones", "half"])
def test_a_rare_flag_does_not_raise_the_dispersion(weights: str | None) -> None:
    """Its rows are long and count less, which was taken for a small mean weight: phi was .138 of .1."""
    found = []
    for seed in range(4):
        rows, _ = weighted_amounts(seed, 40_000, 0.04)
        rows["w"] = np.full(40_000, 0.5 if weights == "half" else 1.0)
        with noise(SeededNoise(seed)):
            model = dps.glm("y ~ x + g", rows, WEIGHTED, "gamma", weights=None if weights is None else "w")
            phi = model.fit(dps.gdp(3)).dispersion
        found.append((float(phi.conf_low) < 0.1 < float(phi.conf_high), float(phi)))
    assert sum(held for held, _ in found) >= fewest(4, 0.95)
    assert 0.09 < np.median([value for _, value in found]) < 0.11


def test_uneven_weights_leave_the_dispersion_what_it_is() -> None:
    """Squares of weights over the square of their mean made .127 of .1 where they are even from 0 to 1."""
    found = []
    for seed in range(4):
        rows, rng = weighted_amounts(seed, 20_000, 0.3)
        rows["w"] = rng.uniform(0.02, 1, 20_000)
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ x + g", rows, WEIGHTED, "gamma", weights="w").fit(dps.gdp(2))
        found.append(float(fit.dispersion))
    assert 0.09 < np.median(found) < 0.11


def test_a_saved_fit_is_the_fit(frame: pd.DataFrame, tmp_path) -> None:
    with noise(SeededNoise(2)):
        fit = model("gamma", frame).fit(BUDGET)
    fit.save(tmp_path / "fit.json")
    assert dps.load(tmp_path / "fit.json").to_dict() == fit.to_dict()
    phi = fit.record.dispersion
    assert abs(phi.value - 0.5) < 3 * phi.se < 0.3


def test_gaussian_is_ols(frame: pd.DataFrame) -> None:
    assert isinstance(dps.glm("amount ~ x", frame, SCHEMA, "gaussian"), dps.models.LinearModel)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: dps.logit("share ~ x", f, SCHEMA), "declare it as flag"),
        (lambda f: dps.glm("balance ~ x", f, SCHEMA, "poisson"), "at least 0"),
        (lambda f: dps.glm("amount ~ x", f, SCHEMA, "tweedie"), "family must be one of"),
        (lambda f: dps.glm("y ~ x", f, SCHEMA, "binomial", exposure="days"), "exposure= goes with a log"),
        (lambda f: dps.glm("claims ~ x", f, SCHEMA, "poisson", exposure=3), "exposure= is a text"),
    ],
)
def test_mistakes_are_named_before_anything_is_spent(frame, make, words) -> None:
    with pytest.raises(dps.SpecificationError, match=words):
        make(frame)


def test_budgets_that_do_not_fit_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(dps.BudgetError, match="pure epsilon"):
        model("logit", frame).fit(dps.pure(1), method="newton")
    with pytest.raises(dps.SpecificationError, match="method"):
        model("logit", frame).fit(BUDGET, method="sgd")


def test_a_fit_spends_what_it_was_given_and_no_more(frame: pd.DataFrame) -> None:
    recording = Recording(SeededNoise(0))
    with noise(recording):
        model("poisson", frame).fit(dps.gdp(0.7))
    mus = [record.law.cost for record in recording.records]
    assert 0.6999 < np.sqrt(np.sum(np.square(mus))) <= 0.7


def test_hopeless_fits_say_so(frame: pd.DataFrame) -> None:
    with noise(SeededNoise(1)):
        fit = model("poisson", frame.iloc[:150]).fit(dps.gdp(0.1))
    assert np.isinf(np.diag(fit.cov_params())).all()
    assert any(code == "not_estimable" for code, _ in fit.flags)


def test_counts_bounded_by_design_are_not_corrected_for_what_cannot_be():
    """0 to 52 weeks: nothing lies beyond, and the fit is the one without privacy; it was 3 to 16 off.

    Of 30 fits the slope of one was 2 off by noise: they lie .4 above that of all rows in the mean, with an sd
    of .6, and means of four fits are 1.4 off once in 1,000 times.
    """
    rng, n = np.random.default_rng(3), 30_000
    x = np.clip(rng.normal(size=n), -4, 4)
    share = special.expit(-0.5 + 0.4 * x + 1.5 * rng.normal(size=n))
    weeks = np.where(rng.uniform(size=n) < 0.35, 0, rng.binomial(52, share))
    reference = sm.GLM(weeks, sm.add_constant(x), sm.families.Poisson()).fit(cov_type="HC0")
    schema = dps.Schema(x=dps.bounded(-4, 4), weeks=dps.count(52))
    model = dps.glm("weeks ~ x", dict(x=x, weeks=weeks), schema, family="poisson")
    for epsilon in (3, 10):
        off = []
        for seed in range(4):
            with noise(SeededNoise(seed)):
                fit = model.fit(dps.approx(epsilon, 1e-6))
            off.append((fit.params.to_numpy() - reference.params) / reference.bse)
        assert (np.abs(np.mean(off, axis=0)) < 1.4).all()


@pytest.mark.parametrize("budget", [dps.approx(10, 1e-6), dps.pure(3)], ids=["gaussian", "pure"])
def test_an_interval_of_a_level_without_events_has_no_end_that_matters(budget):
    """Where it has some, 1,000 rows in 20,000, it is an interval as others are."""
    rng, n = np.random.default_rng(8), 20_000
    x, level = rng.normal(size=n).clip(-4, 4), rng.uniform(size=n) < 0.05
    y = rng.uniform(size=n) < special.expit(-1 + 0.5 * x)
    schema = dps.Schema(x=dps.bounded(-4, 4), g=dps.flag(), y=dps.flag())
    for events, none in ((y & ~level, True), (y, False)):
        with noise(SeededNoise(2)):
            fit = dps.logit("y ~ x + g", dict(x=x, g=level * 1, y=events * 1), schema).fit(budget)
        low, high = fit.conf_int().loc["g"]
        assert (low < -15 and high > 0) if none else high - low < 2
        assert fit.bse["x"] < (0.6 if budget.pure else 0.1) and not fit.flags  # .12 to .36, and .02


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(3)], ids=["gaussian", "pure"])
@pytest.mark.parametrize("wrong, told", [(0.0, True), (0.2, False)])
def test_a_covariate_that_tells_the_response_is_named_as_one(budget, wrong, told):
    """Without rows that contradict it its effect has no upper limit; one in five is plenty."""
    rng, n = np.random.default_rng(4), 20_000
    x = rng.normal(size=n).clip(-4, 4)
    y = (x > 0) ^ (rng.uniform(size=n) < wrong)
    schema = dps.Schema(x=dps.bounded(-4, 4), y=dps.flag())
    with noise(SeededNoise(3)):
        fit = dps.logit("y ~ x", dict(x=x, y=y * 1), schema).fit(budget)
    assert ("separated" in dict(fit.flags)) == told


@pytest.mark.parametrize("wrong, told", [(0.0, True), (0.2, False)])
def test_weights_far_below_their_bound_do_not_decide_what_is_separated(wrong, told):
    """A log-likelihood of rows that weigh a twentieth is small, and no covariate explains it."""
    rng, n = np.random.default_rng(4), 20_000
    x, weight = rng.normal(size=n).clip(-4, 4), rng.gamma(2, 5, n)
    y = (x > 0) ^ (rng.uniform(size=n) < wrong)
    schema = dps.Schema(x=dps.bounded(-4, 4), y=dps.flag(), w=dps.bounded(0, 200))
    with noise(SeededNoise(3)):
        model = dps.glm("y ~ x", dict(x=x, y=y * 1, w=weight), schema, "binomial", weights="w")
        fit = model.fit(dps.approx(8, 1e-6))
    assert ("separated" in dict(fit.flags)) == told


@pytest.mark.parametrize("link, slope", [("logit", 5.2), ("probit", 3.0), ("cloglog", 3.7)])
def test_a_share_of_rows_that_contradict_decides_what_is_separated_under_any_link(link, slope):
    """The slopes are 1.16 times those at which 12.3 % of the rows contradict."""
    x, u = np.random.default_rng(5).normal(size=(2, 40_000)).clip(-4, 4)
    schema = dps.Schema(x=dps.bounded(-4, 4), y=dps.flag())
    for steep, told in ((slope, True), (slope / 1.35, False)):
        y = special.ndtr(u) < FAMILIES["binomial" if link == "logit" else f"binomial({link})"].mean(steep * x)
        with noise(SeededNoise(3)):
            fit = dps.glm("y ~ x", dict(x=x, y=y * 1), schema, "binomial", link=link).fit(dps.approx(8, 1e-6))
        assert ("separated" in dict(fit.flags)) == told


@pytest.mark.parametrize("error, told", [(0.5, True), (5.0, False), (np.inf, True)])
def test_an_effect_that_noise_may_make_is_not_separated(error, told):
    """An interval that holds 0 says so itself; what is not estimable may be so for its size."""
    axes, cov = np.eye(2), np.diag([0.1, error]) ** 2
    line = ReleasedLine(
        np.zeros(2), np.ones(2), np.array([0.3, 8.0]), axes, cov, cov, None, 1.0, 0.5, np.ones(2)
    )
    assert separated(BINOMIAL, line) == told


@pytest.mark.parametrize("sign, told", [(1, True), (-1, False)])
def test_effects_of_columns_that_go_together_count_together_in_what_is_separated(sign, told):
    """Two columns correlated to .99 whose effects cancel make no large predictor."""
    moments, cov = np.eye(3), np.eye(3) / 100
    moments[1, 2] = moments[2, 1] = 0.99
    beta = np.array([0.0, 4.0, 4.0 * sign])
    line = ReleasedLine(np.zeros(3), np.ones(3), beta, moments, cov, cov, None, 1.0, 0.5, np.ones(3))
    assert separated(BINOMIAL, line) == told


@pytest.mark.parametrize(("rate", "budget"), [(0.07, dps.approx(2, 1e-6)), (3.0, dps.pure(5))])
def test_a_number_that_tells_whether_there_is_any_is_separated(rate, budget):
    """Claims, and whether there was one: 3 of 4 such fits to a real set were confidently wrong.

    Where claims are many, their effect is not large in the few rows without any, but explains these.
    """
    rng = np.random.default_rng(8)
    claims, age = rng.poisson(rate, 60_000).astype(float), rng.normal(size=60_000)
    data = {"any": (claims > 0).astype(float), "claims": claims, "age": age}
    schema = dps.Schema(any=dps.flag(), claims=dps.bounded(0, 20), age=dps.bounded(-5, 5))
    with noise(SeededNoise(2)):
        assert "separated" in dict(dps.logit("any ~ claims + age", data, schema).fit(budget).flags)
        assert not dps.logit("any ~ age", data, schema).fit(budget).flags


@pytest.mark.parametrize("exposed", [False, True])
def test_standard_errors_of_poisson_counts_of_any_size_fall_with_the_budget(exposed: bool) -> None:
    """The start is 4 log units from the root, or all effect is in the slope, and steps do arrive.

    Of 40 fits in which exposure differs errors are 2.5 times the exact ones in the median and 6.5 times in a
    quarter, by what is left of the way, and one slope was 1.96 of its errors off.
    """
    rng, n = np.random.default_rng(20), 20_000
    x, days = rng.uniform(0, 1 if exposed else 7, n), 10 ** rng.uniform(-3, 2, n) if exposed else np.ones(n)
    table = {"x": x, "days": days, "y": rng.poisson(days * np.exp(0.5 + x))}
    schema = dps.Schema(x=dps.bounded(0, 7), days=dps.bounded(0.001, 100), y=dps.count(10_000))
    exact = sm.GLM(table["y"], sm.add_constant(x), sm.families.Poisson(), exposure=days).fit()
    model = dps.glm("y ~ x", table, schema, "poisson", exposure="days")
    errors, held = [], []
    for seed in range(20, 29):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.gdp(3.0))
        errors.append(fit.bse["x"] / exact.bse[1])
        held.append(abs(fit.params["x"] - exact.params[1]) < 2 * fit.bse["x"])
    assert sum(held) >= fewest(9, 0.95)
    # seven in ten are below 5: the second least of nine is not, once in 2,000 times; the others are below 2.2
    assert sorted(errors)[1] < 5 if exposed else sorted(errors)[4] < 2.7


def test_intervals_of_amounts_that_are_mostly_zero_hold() -> None:
    """One cost in twenty is above 0: where these are clipped, slopes of nearly all fits are missed."""
    missed, lengths = 0, []
    schema = dps.Schema(age=dps.bounded(18, 100), y=dps.bounded(0, 20_000))
    for seed in range(24):
        rng, n = np.random.default_rng(seed), 40_000
        age = rng.integers(18, 95, n)
        table = {"age": age, "y": rng.gamma(1.5, np.exp(6 + 0.02 * (age - 56))) * (rng.random(n) > 0.95)}
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ age", table, schema, "gamma").fit(dps.approx(1, 1e-6))
        low, high = fit.conf_int().loc["age"]
        missed += not low <= 0.02 <= high
        lengths.append((high - low) / 2)
    assert missed <= most(24, 0.05)
    assert np.median(lengths) < 0.01


def test_intervals_of_amounts_that_differ_by_little_are_as_short_as_these_differ() -> None:
    """By half a percent about 1,000: a phi of .05 was taken for the least that there is."""
    longer, missed, n, phi = [], 0, 10_000, 2.5e-5
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n).clip(-4, 4)
        y = 1000 * np.exp(0.005 * x) * rng.gamma(1 / phi, phi, n)
        schema = dps.Schema(x=dps.bounded(-4, 4), y=dps.bounded(900, 1500))
        exact = sm.GLM(y, sm.add_constant(x), sm.families.Gamma(sm.families.links.Log())).fit()
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ x", {"x": x, "y": y}, schema, "gamma").fit(dps.approx(3, 1e-6))
        longer.append(fit.bse / exact.bse)
        missed += int((abs(fit.params - exact.params) > 1.96 * fit.bse).sum())
    assert missed <= most(16, 0.05)
    assert (np.median(longer, axis=0) < 4).all()


def test_counts_of_which_none_is_beyond_the_limit_are_in_no_doubt_by_clipping() -> None:
    """Weeks of work, mostly none or all: intervals were 50 times as long, for weeks that no year has."""
    n, schema = 100_000, dps.Schema(g=dps.flag(), h=dps.flag(), y=dps.count(60))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        g, h = rng.integers(0, 2, n), (rng.random(n) < 0.3).astype(int)
        some = np.where(rng.random(n) < 0.7, 52, rng.integers(1, 52, n))
        y = np.where(rng.random(n) < 0.5 + 0.05 * g, 0, some)
        exact = sm.GLM(y, np.column_stack([np.ones(n), g, h]), sm.families.Poisson()).fit(cov_type="HC0")
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ g + h", dict(g=g, h=h, y=y), schema, "poisson").fit(dps.approx(3, 1e-6))
        assert (fit.bse < 2 * exact.bse).all()
        assert (abs(fit.params - exact.params) < 1.96 * fit.bse).all()


def test_amounts_that_few_rows_have_are_not_clipped_where_noise_hides_how_far_beyond_0_they_lie() -> None:
    """One in 33 is above 0, in loose bounds. Of such slopes a third was missed, and one in 15 was far off.

    An amount above 0 is 33 means of all on average, and scores were limited to 50.
    """
    rng, schema, n = (
        np.random.default_rng(97),
        dps.Schema(y=dps.bounded(0, 1e5), z=dps.bounded(-4, 4)),
        20_000,
    )
    limits, held = [], 0
    for seed in range(12):
        z = rng.normal(size=n).clip(-4, 4)
        table = {"z": z, "y": 500 * np.exp(0.4 * z) * rng.exponential(1, n) * (rng.random(n) < 0.03)}
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ z", table, schema, "gamma").fit(dps.approx(1, 1e-6))
        low, high = fit.conf_int().loc["z"]
        held += low <= 0.4 <= high
        limits.append(fit.settings["C"])
    assert held >= fewest(12, 0.9)
    assert np.median(limits) > 2.5 * 33


@pytest.mark.parametrize("model", [dps.logit, dps.ols, dps.svm])
@pytest.mark.parametrize("condition", ["I(score >= 4)", "I(4 <= score)", "I(told in ['4', '5'])"])
def test_a_condition_is_a_yes_or_no_as_a_flag_of_it_is(model, condition: str) -> None:
    rng = np.random.default_rng(2)
    x, score = rng.normal(size=2000), rng.integers(1, 6, 2000).astype(float)
    score[:50] = np.nan  # of whom no answer is known
    frame = pd.DataFrame({"x": x, "score": score, "yes": np.where(np.isnan(score), np.nan, score >= 4)})
    frame["told"] = [None if np.isnan(each) else f"{each:.0f}" for each in score]
    schema = dps.Schema(
        x=dps.bounded(-4, 4), score=dps.bounded(1, 5), yes=dps.flag(), told=dps.levels(*"12345")
    )
    fits = []
    for response in (condition, "yes"):
        with noise(SeededNoise(4)):
            fits.append(model(f"{response} ~ x", frame, schema).fit(BUDGET))
    assert fits[0].params.tolist() == fits[1].params.tolist()


def test_no_values_are_made_up_of_which_a_condition_is_told() -> None:
    schema = dps.Schema(x=dps.bounded(-4, 4), score=dps.bounded(1, 5))
    with pytest.raises(dps.SpecificationError, match="plan with a flag"):
        dps.plan(dps.logit("I(score >= 4) ~ x", None, schema), BUDGET, n=2000)
