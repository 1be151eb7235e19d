"""Marginal effects of generalised linear models, and tables of long names."""

import pickle
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import special

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import IDENTITY
from dpstats.families.links import LINKS, logistic_slope
from dpstats.results import Fit
from dpstats.results.intervals import critical
from tests.results.fits import USE, capacitor
from tests.results.glms import AT, POINTS, RESPONSES, glm, rows


def moved(fit: Fit, j: int, step: float) -> Fit:
    params = np.array(fit.record.params)
    params[j] += step
    content = fit.to_dict()
    return Fit.from_dict({**content, "params": params.tolist()})


def test_a_fit_without_covariates_offers_no_effects() -> None:
    plant = dps.datasets.load("ccpp")
    alone, line = (
        dps.ols(text, plant.data, plant.schema).fit(dps.zcdp(0.5)) for text in ("PE ~ 1", "PE ~ AT")
    )
    assert "marginal_effects" in dir(line) and "marginal_effects" not in dir(alone)
    with pytest.raises(NotReleased, match="this ols fit has none. Fit a formula with terms"):
        alone.marginal_effects({})


@pytest.mark.parametrize("family", list(RESPONSES))
def test_marginal_effects_are_derivatives_of_predictions(family: str) -> None:
    fit, h = glm(family, offset=True), 1e-4
    frame = fit.marginal_effects(POINTS).frame
    assert list(frame["variable"]) == ["age", "hours", "sex", "status", "status", "years"] * 2
    pairs = [
        pair
        for point in POINTS
        for pair in (
            *(({**point, v: point[v] + h}, {**point, v: point[v] - h}) for v in ("age", "hours")),
            ({**point, "sex": "M"}, {**point, "sex": "F"}),
            *(({**point, "status": v}, {**point, "status": "married"}) for v in ("single", "widowed")),
            ({**point, "years": point["years"] + h}, {**point, "years": point["years"] - h}),
        )
    ]
    widths = np.where(frame["contrast"] == "dy/dx", 2 * h, 1)

    def effects(of: Fit) -> np.ndarray:
        there, here = (of.predict([pair[side] for pair in pairs]).to_numpy() for side in (0, 1))
        return (there - here) / widths

    assert frame["estimate"].to_numpy() == pytest.approx(effects(fit), rel=1e-6)
    gradient = [
        (effects(moved(fit, j, s)) - effects(moved(fit, j, -s))) / (2 * s)
        for j, s in enumerate(1e-4 * fit.bse)
    ]
    se = np.sqrt(np.einsum("jm,jk,km->m", gradient, fit.cov_params(), gradient))
    assert frame["std_error"].to_numpy() == pytest.approx(se, rel=1e-4)
    assert (frame["conf_low"] <= frame["estimate"]).all() and (frame["estimate"] <= frame["conf_high"]).all()
    if fit.record.link is IDENTITY:
        half = critical(0.95) * frame["std_error"]
        assert frame["conf_high"].to_numpy() == pytest.approx(frame["estimate"] + half)
        assert frame["conf_low"].to_numpy() == pytest.approx(frame["estimate"] - half)
    for i, point in enumerate(POINTS):
        assert frame[list(AT)].iloc[6 * i].tolist() == list(point.values())


@pytest.mark.parametrize(("family", "response"), [("binomial", "income"), ("poisson", "claims")])
def test_marginal_effects_are_those_of_statsmodels(family: str, response: str) -> None:
    formula = f"{response} ~ age + hours + sex"
    fitted = (smf.logit if family == "binomial" else smf.poisson)(formula, rows()).fit(disp=0)
    at = dict(enumerate((40, 38, 0), start=1))
    theirs = fitted.get_margeff(at="mean", atexog=at, dummy=True)
    fit = glm(
        family,
        formula=formula,
        names=tuple(fitted.params.index),
        params=fitted.params,
        cov=fitted.cov_params(),
        cov_privacy=np.zeros((4, 4)),
    )
    frame = fit.marginal_effects(AT, level=0.9).frame
    assert frame["estimate"].to_numpy() == pytest.approx(theirs.margeff)
    assert frame["std_error"].to_numpy() == pytest.approx(theirs.margeff_se)
    small = {"cov": fit.cov_params() / 1e8, "cov_privacy": np.zeros((4, 4))}  # where no link is curved
    frame = (
        glm(family, formula=formula, names=fit.names, params=fit.params, **small)
        .marginal_effects(AT, level=0.9)
        .frame
    )
    half = (theirs.conf_int(alpha=0.1) - theirs.margeff[:, None]) / 1e4
    limits = frame[["conf_low", "conf_high"]].to_numpy()
    assert limits - frame[["estimate"]].to_numpy() == pytest.approx(half, rel=1e-3)


def line(family: str, params: list[float], sds: list[float], correlation: float = 0.0) -> Fit:
    """y ~ x with coefficients of these errors."""
    cov = np.diag(np.square(sds)) + np.prod(sds) * correlation * (1 - np.eye(2))
    schema = dps.Schema(
        income=dps.flag(), claims=dps.count(50), x=dps.bounded(-10, 60), g=dps.levels("a", "b")
    )
    formula = f"{RESPONSES[family]} ~ x"
    return glm(
        family,
        schema=schema,
        formula=formula,
        names=("Intercept", "x"),
        params=params,
        cov=cov,
        cov_privacy=cov,
    )


@pytest.mark.parametrize(
    ("family", "params", "sds", "x"),
    [("binomial", [0.3, 0.6], [0.9, 0.4], 2.0), ("poisson", [0.8, 0.02], [0.1, 0.03], 60.0)],
)
def test_limits_of_an_effect_are_its_extremes_over_an_ellipse(
    family: str, params: list[float], sds: list[float], x: float
) -> None:
    """Of all coefficients within 1.96 sds in the sense of one sum of them, by brute force."""
    fit, link = line(family, params, sds, -0.4), LINKS[{"binomial": "logit", "poisson": "log"}[family]]
    angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 2001), np.linspace(0, 1, 101))
    turned = np.stack([np.cos(angle), np.sin(angle)]) * radius * critical(0.95)
    b = np.array(params)[:, None, None] + np.tensordot(np.linalg.cholesky(fit.cov_params()), turned, axes=1)
    effects = link.slope(b[0] + b[1] * x) * b[1]
    found = fit.marginal_effects({"x": x}).frame.iloc[0]
    length = np.ptp(effects)
    assert found["conf_low"] == pytest.approx(effects.min(), abs=5e-4 * length)
    assert found["conf_high"] == pytest.approx(effects.max(), abs=5e-4 * length)


@pytest.mark.parametrize(
    ("family", "params", "sds", "x", "average"),
    [
        ("binomial", [2.5, 0.6], [1.0, 0.4], 1.0, False),
        ("poisson", [0.8, -0.05], [0.1, 0.02], 60.0, True),
        pytest.param("binomial", [2.5, 0.6], [1.0, 0.4], 1.0, True, marks=pytest.mark.long),
        pytest.param("poisson", [0.8, -0.05], [0.1, 0.02], 60.0, False, marks=pytest.mark.long),
    ],
)
def test_intervals_of_effects_and_means_hold_where_the_linear_predictor_is_uncertain(
    family: str, params: list[float], sds: list[float], x: float, average: bool
) -> None:
    """Symmetric ones, by the delta method, do not."""
    draw, at = np.random.default_rng(5), [{"x": x}, {"x": x / 2}] if average else [{"x": x}]
    right = line(family, params, sds)
    effect = right.marginal_effects(at, average=average).frame["estimate"][0]
    mean = float(right.get_prediction(at, average=True).predicted_mean[0])
    held = []
    for shift in draw.normal(size=(150, 2)) * sds:
        fit = line(family, list(np.array(params) + shift), sds)
        found = fit.marginal_effects(at, average=average).frame.iloc[0]
        ((low, high),) = fit.get_prediction(at, average=True).conf_int()
        held.append([found["conf_low"] <= effect <= found["conf_high"], low <= mean <= high])
    assert (np.mean(held, axis=0) > 0.92).all()


@pytest.mark.parametrize("family", ["binomial", "poisson", "binomial(cloglog)"])
def test_the_limits_of_a_mean_hold_where_single_rows_are_badly_known(family: str) -> None:
    """Errors of any direction make the mean too large, and along its gradient it falls and rises again."""
    x = np.append(np.linspace(0.0, 4.0, 30), [6.0, 8.0, 10.0])
    shift, square = np.random.default_rng(9), np.column_stack([np.ones_like(x), x, x**2])
    cov = np.linalg.inv((square * np.where(x < 3, 0.4, 0.02)[:, None]).T @ square)
    truth, root = np.array([-2.5, 0.0, 0.0]), np.linalg.cholesky(cov)
    schema = dps.Schema(income=dps.flag(), claims=dps.count(50), x=dps.bounded(-10, 60))
    fields = dict(formula=f"{RESPONSES[family]} ~ x + I(x**2)", names=("Intercept", "x", "I(x ** 2)"))
    right = glm(family, schema=schema, **fields, params=truth, cov=cov, cov_privacy=cov)
    mean, held = float(right.get_prediction({"x": x}, average=True).predicted_mean[0]), []
    for _ in range(300):
        params = truth + root @ shift.normal(size=3)
        fit = glm(family, schema=schema, **fields, params=params, cov=cov, cov_privacy=cov)
        found = fit.get_prediction({"x": x}, average=True)
        ((low, high),), ((narrow_low, narrow_high),) = found.conf_int(), found.conf_int(0.5)
        assert low <= narrow_low <= found.predicted_mean[0] <= narrow_high <= high
        held.append(low <= mean <= high)
    assert np.mean(held) > 0.9


def test_the_limits_of_a_mean_are_its_extremes_on_the_way_along_its_gradient() -> None:
    """It falls and rises again on the way: the least of it is at no end."""
    x, params = np.array([0.0, 0.5, 1.0, 1.5]), np.array([-1.8576, -3.1467, 3.0047])
    cov = np.array([[0.0361, -0.0859, 0.0497], [-0.0859, 40.9506, -40.8128], [0.0497, -40.8128, 40.7703]])
    schema = dps.Schema(income=dps.flag(), x=dps.bounded(-10, 60))
    fit = glm(
        "binomial",
        schema=schema,
        formula="income ~ x + I(x**2)",
        names=("Intercept", "x", "I(x ** 2)"),
        params=params,
        cov=cov,
        cov_privacy=cov,
    )
    found, columns = fit.get_prediction({"x": x}, average=True), np.column_stack([x**0, x, x**2])
    eta = columns @ params
    move = columns @ cov @ columns.T @ logistic_slope(eta) / len(x) / found.se_mean
    way = special.expit(eta[:, None] + np.outer(move, critical(0.95) * np.linspace(-1, 1, 33))).mean(axis=0)
    assert way.min() < min(way[0], way[-1]) - 0.05
    assert found.conf_int()[0, 0] < way.min() + 0.005


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_limits_of_a_mean_are_those_of_its_gradient_where_rows_are_known(family: str) -> None:
    """What curvature adds is of second order there, and limits of single rows are much wider."""
    x, sds = np.linspace(-2, 2, 21), [0.05, 0.04]
    fit = line(family, [-1.0, 0.5], sds)
    found = fit.get_prediction({"x": x}, average=True)
    half = critical(0.95) * float(found.se_mean[0])
    assert np.ptp(found.conf_int()) == pytest.approx(2 * half, rel=0.01)
    assert np.ptp(fit.get_prediction({"x": x}).conf_int(), axis=1).mean() > 2.4 * half


def test_an_average_over_one_point_is_the_prediction_there() -> None:
    for family in ("binomial", "poisson", "binomial(cloglog)"):
        fit = glm(family)
        one, mean = fit.get_prediction(AT), fit.get_prediction(AT, average=True)
        assert mean.conf_int(0.9) == pytest.approx(one.conf_int(0.9))
        assert (mean.se_mean, mean.predicted_mean) == (
            pytest.approx(one.se_mean),
            pytest.approx(one.predicted_mean),
        )
        assert pickle.loads(pickle.dumps(mean)).conf_int() == pytest.approx(mean.conf_int())
    with pytest.raises(NotReleased, match=r"fit.marginal_effects\(newdata, average=True\)"):
        _ = fit.get_margeff


@pytest.mark.parametrize(("family", "response"), [("binomial", "income"), ("poisson", "claims")])
def test_the_mean_of_predictions_is_that_of_statsmodels(family: str, response: str) -> None:
    formula = f"{response} ~ age + hours + sex"
    law = sm.families.Binomial() if family == "binomial" else sm.families.Poisson()
    fitted = smf.glm(formula, rows(), family=law).fit()
    cov = fitted.cov_params()
    fit = glm(family, formula=formula, names=tuple(cov), params=fitted.params, cov=cov, cov_privacy=0 * cov)
    people = rows().iloc[:40][["age", "hours", "sex"]]
    theirs = fitted.get_prediction(people, average=True, which="mean").summary_frame(alpha=0.1)
    ours = fit.get_prediction(people.assign(sex=people["sex"].map({1.0: "M", 0.0: "F"})), average=True)
    found = ours.summary_frame(level=0.9)
    assert list(found) == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"] and len(found) == 1
    assert found["mean"].to_numpy() == pytest.approx(theirs["predicted"].to_numpy())
    assert found["mean_se"].to_numpy() == pytest.approx(theirs["se"].to_numpy())


def test_standardised_means_differ_by_the_average_effect() -> None:
    fit = glm("binomial", offset=True)
    men, women = (fit.get_prediction([{**p, "sex": s} for p in POINTS], average=True) for s in "MF")
    effect = fit.marginal_effects(POINTS, "sex", average=True).frame["estimate"].iloc[0]
    assert men.predicted_mean - women.predicted_mean == pytest.approx(effect)
    assert men.predicted_mean == pytest.approx(fit.predict([{**p, "sex": "M"} for p in POINTS]).mean())


def test_a_mean_over_what_is_not_estimable_is_not_estimable() -> None:
    cov = np.array(glm("binomial").cov_params())
    j = glm("binomial").names.index("status[T.widowed]")
    cov[j, j] = np.inf
    fit = glm("binomial", cov=cov)
    with pytest.warns(UserWarning, match="rest on what is not estimable"):
        found = fit.get_prediction(POINTS, average=True)  # of two points, one is widowed
    assert np.isnan(found.predicted_mean).all() and found.conf_int().tolist() == [[0.0, 1.0]]
    assert np.isfinite(fit.get_prediction(POINTS[:1], average=True).predicted_mean).all()


def test_a_curve_is_followed_up_to_the_bounds() -> None:
    """Any function of a variable, at the ends of its range and beyond, of whatever size its values are."""
    schema = dps.Schema(y=dps.count(50), x=dps.bounded(0, 1e6), z=dps.bounded(-1, 1))
    fit = glm(
        "gaussian",
        schema=schema,
        formula="y ~ np.log1p(x) + bs(z, knots=[0.1], degree=3)",
        names=("Intercept", "np.log1p(x)", *(f"bs(z, knots=[0.1], degree=3)[{j}]" for j in range(4))),
        params=[1, 2, 1, -2, 3, 0.5],
        cov=np.eye(6),
        cov_privacy=np.eye(6),
    )
    x = np.array([0.0, 1, 1e3, 1e6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effects = fit.marginal_effects({"x": x, "z": [0.0] * 4}, "x").frame
        assert effects["estimate"].to_numpy() == pytest.approx(2 / (1 + x), rel=1e-10)
        assert effects["std_error"].to_numpy() == pytest.approx(1 / (1 + x), rel=1e-10)
        effects = fit.marginal_effects([{"x": 1, "z": z} for z in (-1.0, 0.1, 0.4, 1.0)], "z").frame
    h = 1e-6
    here, right, left, rim = fit.predict([{"x": 1, "z": z} for z in (0.4, 0.4 + h, 0.4 - h, 1.0)])
    assert effects["estimate"][2] == pytest.approx((right - left) / (2 * h), rel=1e-7)
    inner, deeper = fit.predict([{"x": 1, "z": z} for z in (1 - 1e-4, 1 - 2e-4)])
    assert effects["estimate"][3] == pytest.approx((3 * rim - 4 * inner + deeper) / 2e-4, rel=1e-5)
    with pytest.warns(UserWarning, match="outside the public bounds"):
        beyond = fit.marginal_effects({"x": 2e6, "z": 0}, "x").frame
    assert beyond["estimate"][0] == pytest.approx(2 / (1 + 1e6))


STEPS = ("I(x > 0)", "cut(x, [1, 2])", "np.floor(x)", "np.sign(x - 2)", "bs(x, degree=0, knots=[1, 2])")
RAMPS = ("np.maximum(x, 1)", "I((x - 1)*(x > 1))", "np.exp(x)", "bs(x, degree=1, knots=[2])", "poly(x, 2)")


def stepped(term: str) -> Fit:
    schema = dps.Schema(y=dps.count(50), x=dps.bounded(0, 4), z=dps.bounded(0, 4))
    names = dps.glm(f"y ~ {term} + z", None, schema, "poisson").design.names
    whole = np.eye(len(names))
    formula = f"y ~ {term} + z"
    params = np.ones(len(names)) / 10
    return glm(
        "poisson", schema=schema, formula=formula, names=names, params=params, cov=whole, cov_privacy=whole
    )


@pytest.mark.parametrize("term", [*STEPS, "I(z * (x > 1))", "x:I(x > 1)", "x + offset(np.floor(x))"])
def test_what_enters_by_steps_has_no_derivative(term: str) -> None:
    fit = stepped(term)
    for x in (0.0, 1.0, 1.7):
        with pytest.raises(SpecificationError, match="no effect of 'x', which enters by steps, .* t_test"):
            fit.marginal_effects([{"x": x, "z": z} for z in (0.0, 1.0)], "x", average=True)
    if "z *" not in term:
        assert fit.marginal_effects({"x": 1.0, "z": 1.0}, "z").frame["estimate"][0] > 0


def test_others_have_effects_beside_what_enters_by_steps() -> None:
    fit = stepped("I(x > 0)")
    with pytest.warns(UserWarning, match="leaves out 'x', which enters by steps, I"):
        found = fit.marginal_effects({"x": 1.0, "z": 1.0}).frame
    assert found["variable"].tolist() == ["z"]
    schema, whole = dps.Schema(y=dps.count(50), x=dps.bounded(0, 4)), np.eye(2)
    alone = glm(
        "poisson",
        schema=schema,
        formula="y ~ I(x > 0)",
        names=("Intercept", "I(x > 0)[T.True]"),
        params=np.ones(2),
        cov=whole,
        cov_privacy=whole,
    )
    with pytest.raises(SpecificationError, match="no effect of 'x'"):
        alone.marginal_effects({"x": 1.0})


@pytest.mark.parametrize("term", RAMPS)
def test_a_bend_is_no_step(term: str) -> None:
    fit, h = stepped(term), 1e-5
    effect = fit.marginal_effects({"x": 1.5, "z": 1.0}, "x").frame["estimate"][0]
    there, here = fit.predict([{"x": x, "z": 1.0} for x in (1.5 + h, 1.5 - h)])
    assert effect == pytest.approx((there - here) / (2 * h), rel=1e-5)
    assert np.isfinite(fit.marginal_effects({"x": 1.0, "z": 1.0}, "x").frame["estimate"][0])


def test_a_slope_without_end_is_refused() -> None:
    fit = stepped("np.sqrt(x)")
    with pytest.raises(SpecificationError, match="no derivative where x = 0; give a point beside it"):
        fit.marginal_effects([{"x": x, "z": 1.0} for x in (1.0, 0.0)], "x")
    assert fit.marginal_effects({"x": 1e-3, "z": 1.0}, "x").frame["estimate"][0] > 0


def test_long_names_do_not_break_the_page() -> None:
    long = {"x" * 90: dps.bounded(0, 1), "g": dps.levels("a" * 100, "b" * 100)}
    names = ("Intercept", f"g[T.{'b' * 100}]", "x" * 90)
    fit = glm(
        "poisson",
        schema=dps.Schema(y=dps.count(9), **long),
        formula=f"y ~ g + {'x' * 90}",
        names=names,
        params=[0, 1, 2],
        cov=np.eye(3),
        cov_privacy=np.eye(3),
    )
    shown = fit.marginal_effects({"x" * 90: 0.5, "g": "a" * 100}), fit.rate_ratios(), fit.summary()
    for text in map(repr, shown):
        assert max(map(len, text.splitlines())) <= 100


def test_marginal_effects_of_chosen_variables_only() -> None:
    fit = glm("poisson", offset=True)
    assert list(fit.marginal_effects(AT, "age").frame["variable"]) == ["age"]
    assert list(fit.marginal_effects(AT, ["sex", "age", "sex"]).frame["variable"]) == ["sex", "age"]
    rate = fit.marginal_effects(AT, "years").frame.iloc[0]
    assert rate["estimate"] == pytest.approx(fit.predict(AT)[0] / AT["years"]), "the mean per year"
    for bad in ("income", "unused", ["age", "nonsense"], [], 0, 0.5, b"age", [0]):
        with pytest.raises(SpecificationError, match="variables must be covariates of the fit"):
            fit.marginal_effects(AT, bad)
    with pytest.raises(NotReleased, match="of a time to failure"):
        capacitor().marginal_effects(USE)


def test_many_points_are_one_after_the_other() -> None:
    fit = glm("binomial")
    ages = np.linspace(20, 80, 700)
    frame = fit.marginal_effects({**AT, "age": ages}, ["age", "sex"]).frame
    assert len(frame) == 1400 and (frame["age"].to_numpy()[::2] == ages).all()
    last = fit.marginal_effects({**AT, "age": 80.0}, ["age", "sex"]).frame
    assert frame["estimate"].to_numpy()[-2:] == pytest.approx(last["estimate"].to_numpy(), rel=1e-9)


@pytest.mark.parametrize("family", ["binomial", "poisson", "gaussian"])
def test_average_effects_are_means_with_errors_by_the_delta_method(family: str) -> None:
    fit = glm(family)
    public = rows().assign(sex=rows()["sex"].map({1.0: "M", 0.0: "F"}))
    each = fit.marginal_effects(public).frame.groupby(["variable", "contrast"], sort=False)["estimate"].mean()
    found = fit.marginal_effects(public, average=True)
    frame = found.frame
    assert list(frame.columns[:2]) == ["variable", "contrast"] and len(frame) == len(each)
    assert frame["estimate"].to_numpy() == pytest.approx(each.to_numpy(), rel=1e-12)
    assert "averaged over 200 points" in str(found)

    def average(of: Fit) -> np.ndarray:
        return of.marginal_effects(public, average=True).frame["estimate"].to_numpy()

    steps = [1e-6 * max(abs(value), 1e-3) for value in fit.params]
    slopes = np.array(
        [(average(moved(fit, j, s)) - average(moved(fit, j, -s))) / (2 * s) for j, s in enumerate(steps)]
    ).T
    wanted = np.sqrt(np.einsum("ij,jk,ik->i", slopes, fit.record.cov, slopes))
    assert frame["std_error"].to_numpy() == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("family", ["binomial", "poisson", "binomial(probit)"])
def test_pairs_are_contrasts_of_marginal_means(family: str) -> None:
    """Means of predictions with each level in turn, less each other; errors by numerical derivatives."""
    fit, levels = glm(family), ("married", "single", "widowed")
    frame = fit.marginal_effects(POINTS, "status", average=True, pairs=True).frame
    assert list(frame["contrast"]) == ["single - married", "widowed - married", "widowed - single"]

    def contrasts(of: Fit) -> np.ndarray:
        means = {v: of.predict([{**point, "status": v} for point in POINTS]).mean() for v in levels}
        return np.array([means[a] - means[b] for a, _, b in (c.split() for c in frame["contrast"])])

    assert frame["estimate"].to_numpy() == pytest.approx(contrasts(fit))
    steps = 1e-4 * fit.bse.to_numpy()
    gradient = [
        (contrasts(moved(fit, j, s)) - contrasts(moved(fit, j, -s))) / (2 * s) for j, s in enumerate(steps)
    ]
    se = np.sqrt(np.einsum("jm,jk,km->m", gradient, fit.cov_params(), gradient))
    assert frame["std_error"].to_numpy() == pytest.approx(se, rel=1e-4)
    first = fit.marginal_effects(POINTS, "status", average=True).frame
    assert first.equals(frame.iloc[:2])
