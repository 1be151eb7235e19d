"""Lives, reliability and ratios: R's numbers, gradients, identities, ranges."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import DISTS
from dpstats.results import Fit
from dpstats.results import survival_quantities as life
from dpstats.results.newdata import Points
from dpstats.testing import SeededNoise, noise
from tests.results.fits import STRESS, USE, capacitor, slopes

DIST_NAMES = sorted(DISTS)


def test_lives_are_those_of_r() -> None:
    """R: predict(fit, data.frame(voltage = 200, temperature = 170), type = "quantile", p, se.fit = TRUE)."""
    quantiles = [280.75539228766291, 507.99724374532582, 660.07669217260423, 1309.91765752425522]
    errors = np.array([72.219293321550623, 92.942531530384343, 102.749241322273534, 161.005627324124703])
    fit = capacitor()
    p = [0.01, 0.05, 0.1, 0.5]
    assert fit.predict(USE, type="quantile", p=p).to_numpy()[0] == pytest.approx(quantiles, rel=1e-12)
    frame = fit.life(USE, failed=p).frame.iloc[:4]
    assert frame["estimate"].to_numpy() == pytest.approx(quantiles, rel=1e-12)
    half = np.log(frame["conf_high"] / frame["conf_low"]).to_numpy() / 2
    assert half == pytest.approx(1.959963984540054 * errors / quantiles, rel=1e-9)


@pytest.mark.parametrize(
    ("low", "estimate", "high", "computed"),
    [
        (1169.3, 1496.8, 1915.9, lambda fit: fit.eta(USE).frame.iloc[0, 2:]),
        (0.969, 0.993, 0.998, lambda fit: fit.reliability(USE, 250).frame.iloc[0, 3:]),
        (0.520, 0.719, 0.847, lambda fit: fit.reliability(USE, 1000).frame.iloc[0, 3:]),
    ],
)
def test_numbers_of_the_specification(
    low: float, estimate: float, high: float, computed: Callable[[Fit], pd.Series]
) -> None:
    """The tables of R's fit without privacy (docs/theory/results.md#survival-tables)."""
    shown = computed(capacitor())
    assert list(shown) == pytest.approx([estimate, low, high], abs=0.06 if estimate > 1 else 0.0006)


def test_the_mean_and_the_acceleration_of_the_specification() -> None:
    fit = capacitor()
    assert round(fit.mttf(USE).frame["estimate"][0], 1) == 1331.9
    factor = fit.acceleration(USE, STRESS)
    assert [round(v, 2) for v in (factor.estimate, factor.conf_low, factor.conf_high)] == [3.24, 2.15, 4.88]


@pytest.mark.parametrize("dist", DIST_NAMES)
@pytest.mark.parametrize(
    "quantity", ["quantile", "standardized", "log_hazard", "conditional", "mean", "ratio"]
)
def test_gradients_are_derivatives(dist: str, quantity: str) -> None:
    """Central differences in every coefficient."""
    fit = capacitor(dist=dist)
    exog = np.array([[1, 200, 170.0], [1, 300, 175], [1, 350, 180]])
    at = Points(
        exog,
        np.array([0.0, 0.1, -0.2]),
        pd.DataFrame(index=range(3)),
        (),
        pd.DataFrame(),
        np.zeros(3, dtype=bool),
        np.zeros(3, dtype=int),
        pd.DataFrame(),
    )
    times = np.array([40.0, 400.0, 1500.0]) if DISTS[dist].log else np.array([6.0, 6.5, 7.5])
    functions = {
        "quantile": lambda r: life.quantile(r, at, np.array([0.01, 0.5, 0.9])),
        "standardized": lambda r: life.standardized(r, at, times),
        "log_hazard": lambda r: life.log_hazard(r, at, times),
        "conditional": lambda r: life.log_conditional_hazard(r, at, 5.0, times),
        "mean": lambda r: life.mean(r, at),
        "ratio": lambda r: life.log_hazard_ratio(r),
    }
    function = functions[quantity]
    centre, gradient = function(fit.record)
    numeric = slopes(
        fit.record.params, lambda params: function(capacitor(dist=dist, params=params).record)[0]
    )
    assert gradient.T == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    assert np.isfinite(centre).all()


coefficients = st.tuples(st.floats(2, 12), st.floats(-0.01, 0.01), st.floats(-0.05, 0.05), st.floats(-2, 1))
roots = st.lists(st.floats(-2, 2), min_size=16, max_size=16)


def fit_of(params: tuple[float, ...], root: list[float], dist: str) -> Fit:
    square = np.array(root).reshape(4, 4) * np.array([1, 0.001, 0.01, 1])
    return capacitor(params=params, cov=square.T @ square, dist=dist)


@settings(max_examples=100, deadline=None)
@given(coefficients, roots, st.sampled_from(DIST_NAMES), st.floats(0, 1e6), st.floats(0.5, 0.999))
def test_intervals_stay_in_range_and_hold_the_estimate(
    params: tuple[float, ...], root: list[float], dist: str, time: float, level: float
) -> None:
    fit = fit_of(params, root, dist)
    chance = fit.reliability(USE, [time, 10.0], level=level).frame
    later = fit.conditional_reliability(USE, 5.0, [time, 10.0], level=level).frame
    rate = fit.hazard(USE, [time + 1e-3, 10.0], level=level).frame
    for frame, top in ((chance, 1), (later, 1), (rate, np.inf)):
        assert (frame["conf_low"] <= frame["estimate"]).all() and (
            frame["estimate"] <= frame["conf_high"]
        ).all()
        assert (frame["conf_low"] >= 0).all() and (frame["conf_high"] <= top).all()
    lives = fit.life(USE, level=level).frame[:-1]
    assert (lives["conf_low"] <= lives["estimate"]).all() and (lives["estimate"] <= lives["conf_high"]).all()
    if DISTS[dist].log:
        assert (lives["conf_low"] >= 0).all()
    assert float(fit.sigma) > 0 and fit.sigma.conf_low >= 0


@settings(max_examples=60, deadline=None)
@given(coefficients, roots, st.sampled_from(DIST_NAMES), st.floats(0.001, 0.999))
def test_identities(params: tuple[float, ...], root: list[float], dist: str, p: float) -> None:
    fit = fit_of(params, root, dist)
    quantile = float(fit.predict(USE, type="quantile", p=p)[0])
    b10 = float(fit.predict(USE, type="quantile", p=0.1)[0])
    if b10 >= 0:
        assert fit.reliability(USE, b10).frame["estimate"][0] == pytest.approx(0.9, rel=1e-9)
    if quantile > 0:
        assert fit.reliability(USE, quantile).frame["estimate"][0] == pytest.approx(1 - p, rel=1e-9)
    if not DISTS[dist].log:
        return
    failed = 1 - np.exp(-1) if DISTS[dist].family.proportional else 0.5
    eta = fit.eta(USE).frame["estimate"][0]
    assert eta == pytest.approx(float(fit.predict(USE, type="quantile", p=failed)[0]), rel=1e-9)
    assert eta == pytest.approx(float(fit.predict(USE)[0]), rel=1e-12)
    up = {**USE, "voltage": 201}
    ratio = fit.time_ratios().frame.set_index("term")["estimate"]["voltage"]
    assert float(fit.predict(up, type="quantile", p=p)[0]) / quantile == pytest.approx(ratio, rel=1e-9)
    assert fit.acceleration(up, USE).estimate == pytest.approx(ratio, rel=1e-9)
    assert float(fit.shape) == pytest.approx(1 / float(fit.sigma))


def test_hazard_ratio_is_the_ratio_of_hazards_and_weibull_with_sigma_1_is_exponential() -> None:
    fit = capacitor(params=[5.0, -0.01, 0.02, 0.0])
    ratio = fit.hazard_ratios().frame.set_index("term")["estimate"]["voltage"]
    one, other = (fit.hazard({**USE, "voltage": v}, [3.0, 300.0]).frame["estimate"] for v in (200, 201))
    assert list(other / one) == pytest.approx([ratio, ratio])
    assert one[0] == pytest.approx(one[1]) == pytest.approx(1 / fit.eta(USE).frame["estimate"][0])
    assert fit.mttf(USE).frame["estimate"][0] == pytest.approx(fit.eta(USE).frame["estimate"][0])


@pytest.mark.parametrize("dist", ["lognormal", "gaussian"])
def test_numbers_of_the_normal_are_scipys(dist: str) -> None:
    changes = {} if dist == "lognormal" else {"params": [900.0, -1.0, -2.0, 5.0]}
    fit = capacitor(dist=dist, **changes)
    location, sigma = float(fit.params[:-1] @ [1, 200, 170]), float(fit.sigma)
    if dist == "lognormal":
        law, times = stats.lognorm(sigma, scale=np.exp(location)), np.array([100.0, 700.0, 5000.0])
    else:
        law, times = stats.norm(location, sigma), np.array([100.0, 300.0, 700.0])
    failed = [0.01, 0.1, 0.5]
    lives = fit.life(USE, failed=failed).frame["estimate"].to_numpy()
    assert lives == pytest.approx([*law.ppf(failed), law.ppf(0.5), law.mean()])
    assert fit.predict(USE, type="quantile", p=failed).to_numpy()[0] == pytest.approx(law.ppf(failed))
    assert fit.mttf(USE).frame["estimate"][0] == pytest.approx(law.mean())
    assert list(fit.reliability(USE, times).frame["estimate"]) == pytest.approx(law.sf(times))
    hazards = law.pdf(times) / law.sf(times)
    assert list(fit.hazard(USE, times).frame["estimate"]) == pytest.approx(hazards)
    later = fit.conditional_reliability(USE, 200.0, times).frame["estimate"]
    assert list(later) == pytest.approx(law.sf(200 + times) / law.sf(200))
    assert "probit scale" in repr(fit.reliability(USE, 300))
    sigmas = fit.parameters("gaussian").frame.set_index("term")["estimate"]
    assert sigmas["sigma"] == sigma and sigmas["Intercept"] == fit.params["Intercept"]


def test_lives_of_a_log_normal_are_those_of_r() -> None:
    """R: predict(fit, data.frame(voltage = 200, temperature = 170), type = "quantile", p, se.fit = TRUE)."""
    fits = json.loads((Path(__file__).parents[1] / "goldens" / "survreg.json").read_text())["fits"]
    golden = next(f for f in fits if (f["model"], f["dist"]) == ("capacitor", "lognormal"))
    quantiles = np.array([390.7730126694315, 677.8614532980408, 1332.1856610769498])
    errors = np.array([75.60178310458218, 104.24332304399977, 196.46583215423826])
    fit = capacitor(dist="lognormal", params=golden["params"], cov=np.array(golden["cov"]))
    frame = fit.life(USE, failed=[0.01, 0.1, 0.5]).frame.iloc[:3]
    assert frame["estimate"].to_numpy() == pytest.approx(quantiles, rel=1e-8)
    half = np.log(frame["conf_high"] / frame["conf_low"]).to_numpy() / 2
    assert half == pytest.approx(1.959963984540054 * errors / quantiles, rel=1e-4)


def test_conditional_reliability_is_a_ratio_of_reliabilities() -> None:
    fit = capacitor(dist="loglogistic")
    young, old = fit.reliability(USE, [500, 700]).frame["estimate"]
    assert fit.conditional_reliability(USE, 500, 200).frame["estimate"][0] == pytest.approx(old / young)
    assert fit.conditional_reliability(USE, 0, 700).frame["estimate"][0] == pytest.approx(old)
    fit = capacitor(dist="gaussian", params=[500.0, -1, -4, 5.5])
    young, old = fit.reliability(USE, [-500, -300]).frame["estimate"]
    assert fit.conditional_reliability(USE, -500, 200).frame["estimate"][0] == pytest.approx(old / young)


def test_both_parametrisations() -> None:
    fit = capacitor()
    sev = fit.parameters("sev").frame.set_index("term")["estimate"]
    weibull = fit.parameters("weibull").frame.set_index("term")["estimate"]
    assert list(sev[:-1]) == list(fit.params[:-1]) and sev["sigma"] == float(fit.sigma)
    assert weibull["eta"] == np.exp(fit.params["Intercept"]) and weibull["shape"] == float(fit.shape)
    assert "logistic" in str(pytest.raises(SpecificationError, fit.parameters, "logistic").value)
    assert list(capacitor(dist="sev").parameters().frame["term"])[-1] == "sigma"


def test_the_scale_of_time_has_its_unit_and_says_of_which_unit_it_is() -> None:
    text = str(capacitor().parameters())
    assert "eta (hours) " in text and "eta is that where all columns are 0" in text
    assert "eta" not in str(capacitor().parameters("sev"))


def test_limits_twenty_decades_apart_are_not_estimable() -> None:
    """A sigma from 1e-24 to 1e22 had four digits and a word on wear."""
    wide = np.array(capacitor().record.cov)
    wide[:, 3] = wide[3] = 0.0
    wide[3, 3] = 27.0**2
    fit = capacitor(cov=wide, cov_privacy=0.5 * wide)
    assert "not estimable" in str(fit.parameters()) and "not estimable" in str(fit.parameters("sev"))
    assert "beta = 1" not in str(fit.summary())
    wide[3, 3] = 5.0**2
    known = capacitor(cov=wide, cov_privacy=0.5 * wide)
    assert "not estimable" not in str(known.parameters()) and "beta = 1" in str(known.summary())


def test_a_method_of_a_frame_or_a_fit_is_said_to_be_elsewhere() -> None:
    with pytest.raises(AttributeError, match=r"its numbers are a frame: \.frame\.to_csv"):
        capacitor().life(USE).to_csv("lives.csv")  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"\.conf_low and \.conf_high, of \.level"):
        capacitor().shape.conf_int(0.9)
    with pytest.raises(AttributeError, match="no attribute 'plots'$"):
        capacitor().life(USE).plots  # type: ignore[attr-defined]  # noqa: B018


def test_a_lost_coefficient_hides_only_what_depends_on_it() -> None:
    cov = np.array(capacitor().cov_params())
    cov[1, 1] = np.inf
    fit = capacitor(cov=cov)
    ratios = fit.time_ratios().frame.set_index("term")
    assert np.isfinite(ratios.loc["temperature", "conf_high"]) and np.isinf(
        ratios.loc["voltage", "conf_high"]
    )
    assert "not estimable" in repr(fit.life(USE)) and "not estimable" in repr(fit.reliability(USE, 100))
    same_voltage = fit.acceleration(USE, {**USE, "temperature": 180})
    assert np.isfinite(same_voltage.std_error)
    assert "not estimable" in repr(fit.acceleration(USE, STRESS))


@pytest.mark.parametrize(("dist", "known"), [("weibull", False), ("lognormal", False), ("gaussian", True)])
def test_where_noise_hides_sigma_so_it_does_a_mean_that_depends_on_it(dist: str, known: bool) -> None:
    cov = np.array(capacitor().cov_params())
    cov[-1, -1] = np.inf
    fit = capacitor(dist=dist, cov=cov)
    frame = fit.life(USE, failed=[0.1]).frame.set_index("quantity")
    assert np.isfinite(frame.iloc[1]["conf_high"]) and not np.isfinite(frame.loc["B10", "conf_high"])
    assert np.isfinite(frame.loc["mean", "estimate"]) == known
    assert ("not estimable" in repr(fit.life(USE)).splitlines()[-1]) != known


def test_infinite_mean_of_a_heavy_tail() -> None:
    fit = capacitor(dist="loglogistic", params=[5.0, 0.0, 0.0, 0.1])
    assert fit.mttf(USE).frame["estimate"][0] == np.inf
    assert "inf" in repr(fit.life(USE))


def test_an_infinite_mean_that_is_not_estimable() -> None:
    cov = np.full((4, 4), 0.0) + np.diag(np.full(4, np.inf))
    fit = capacitor(dist="loglogistic", params=[5.0, 0.0, 0.0, 0.1], cov=cov)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "not estimable" in repr(fit.mttf(USE))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda f: f.life(USE, failed=1.0), "between 0 and 1"),
        (lambda f: f.life(USE, failed=10), "10 % is 0.1, as for B10; got 10"),
        (lambda f: f.life(USE, failed=[0.1, 10]), "a list of 2 items, whose item 2 is none"),
        (lambda f: f.life(USE, level=95), "level"),
        (lambda f: f.reliability(USE, []), "times"),
        (lambda f: f.reliability(USE, -1), "times"),
        (lambda f: f.hazard(USE, 0.0), "above 0"),
        (lambda f: f.acceleration([USE, USE], STRESS), "one"),
        (lambda f: f.predict(USE, type="expectation"), "median"),
        (lambda f: f.predict({"voltage": 200}), "temperature"),
        (lambda f: capacitor(dist="sev").tidy(exponentiate=True), "log time"),
    ],
)
def test_mistakes_are_named(call: Callable[[Fit], object], word: str) -> None:
    with pytest.raises(SpecificationError, match=word):
        call(capacitor())


@pytest.mark.parametrize("name", ["shape", "eta", "time_ratios", "acceleration"])
def test_ratios_are_refused_for_distributions_of_time_itself(name: str) -> None:
    fit = capacitor(dist="logistic")
    arguments = {"eta": (USE,), "acceleration": (USE, STRESS)}.get(name, ())
    with pytest.raises(NotReleased, match="log time"):
        getattr(fit, name)(*arguments)


def test_hazard_ratios_are_refused_where_hazards_are_not_proportional() -> None:
    with pytest.raises(NotReleased, match="proportional"):
        capacitor(dist="loglogistic").hazard_ratios()


BEYOND = [USE, {**USE, "voltage": 900}]  # declared up to 350


def test_new_data_outside_the_bounds_are_extrapolated_to_and_said_so() -> None:
    fit = capacitor()
    with pytest.warns(UserWarning, match="1 row.*where the fit is extrapolated"):
        found = fit.predict(BEYOND)
    assert found[1] / found[0] == pytest.approx(np.exp(fit.params["voltage"] * (900 - USE["voltage"])))
    with pytest.warns(UserWarning, match="extrapolated"):
        life = fit.life(BEYOND, failed=0.1)
    assert "voltage = 900 (550 above its bounds)" in str(life)
    assert life.frame["extrapolated"].tolist() == [False] * 3 + [True] * 3
    with pytest.warns(UserWarning, match="extrapolated"):
        assert fit.augment(BEYOND)["extrapolated"].tolist() == [False, True]
    assert "extrapolated" not in fit.life(USE).frame and "extrapolated" not in fit.augment(USE)


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit, new, **more: fit.predict(new, **more).to_numpy(),
        lambda fit, new, **more: fit.predict(new, type="quantile", p=0.1, **more).to_numpy(),
        lambda fit, new, **more: fit.get_prediction(new, **more).conf_int(),
        lambda fit, new, **more: fit.augment(new, **more).to_numpy(),
        lambda fit, new, **more: str(fit.life(new, **more)),
        lambda fit, new, **more: fit.eta(new, **more).frame.to_numpy(),
        lambda fit, new, **more: fit.mttf(new, **more).frame.to_numpy(),
        lambda fit, new, **more: fit.reliability(new, 100, **more).frame.to_numpy(),
        lambda fit, new, **more: fit.conditional_reliability(new, 50, 100, **more).frame.to_numpy(),
        lambda fit, new, **more: fit.hazard(new, 100, **more).frame.to_numpy(),
        lambda fit, new, **more: repr(fit.acceleration(new[0], new[1], **more)),
        lambda fit, new, **more: fit.plot_life(new, **more).get_lines()[1].get_ydata(),
        lambda fit, new, **more: fit.plot_reliability(new, **more).get_lines()[1].get_ydata(),
        lambda fit, new, **more: fit.plot_hazard(new, **more).get_lines()[1].get_ydata(),
    ],
)
def test_clip_moves_new_data_to_the_bounds_and_labels_show_the_values_used(ask) -> None:
    fit, inside = capacitor(), [USE, {**USE, "voltage": 350}]
    with pytest.warns(UserWarning, match="which were moved to them"):
        np.testing.assert_array_equal(ask(fit, BEYOND, clip=True), ask(fit, inside))
    with pytest.warns(UserWarning, match="extrapolated"), pytest.raises(AssertionError):
        np.testing.assert_array_equal(ask(fit, BEYOND), ask(fit, inside))


def test_each_row_has_the_age_that_it_was_given() -> None:
    fit, fleet = capacitor(), pd.DataFrame([USE, STRESS])
    both = fit.conditional_reliability(fleet, age=[300, 1200], times=[50, 100])
    ones = [
        fit.conditional_reliability(at, age=age, times=[50, 100]) for at, age in ((USE, 300), (STRESS, 1200))
    ]
    pd.testing.assert_frame_equal(both.frame, pd.concat([one.frame for one in ones], ignore_index=True))
    assert both.frame["age"].tolist() == [300, 300, 1200, 1200] and "R(50 more | 1200)" in str(both)
    with pytest.raises(SpecificationError, match=r"age must be one number, or one for each of 2 row\(s\)"):
        fit.conditional_reliability(fleet, age=[1, 2, 3], times=50)


def test_a_model_without_covariates_needs_no_new_data() -> None:
    fit = capacitor(
        formula="Surv(time, failed) ~ 1",
        names=("Intercept", "Log(scale)"),
        params=[7, -1],
        cov=np.eye(2) / 100,
        cov_privacy=np.zeros((2, 2)),
    )
    assert fit.eta().frame["estimate"][0] == pytest.approx(np.exp(7))
    assert repr(fit.life()).startswith("Life  ")
    told = str(fit.summary())
    assert "covariates beyond" not in told and "row norm" not in told
    told = " ".join(str(capacitor().summary()).split())
    assert "covariates beyond 3.5 sds" in told and "row norm" in told


def test_a_response_that_is_no_logarithm_may_be_negative() -> None:
    rng = np.random.default_rng(3)
    data = {"y": rng.normal(-2, 1, 2000), "e": np.ones(2000, dtype=int)}
    schema = dps.Schema(y=dps.bounded(-10, 10), e=dps.event())
    with noise(SeededNoise(1)):
        fit = dps.survreg("Surv(y, e) ~ 1", data, schema, dist="gaussian").fit(dps.gdp(2))
    assert fit.reliability(times=[-2.0]).frame["estimate"].iloc[0] == pytest.approx(0.5, abs=0.1)
    assert fit.hazard(times=[-2.0]).frame["estimate"].iloc[0] > 0
    assert np.asarray(fit.predict(type="survival", times=[-2.0])) == pytest.approx(0.5, abs=0.1)


def test_each_point_has_a_table_of_its_own_lives() -> None:
    """And no row of the next point's."""
    tables = capacitor().life([USE, STRESS], failed=[0.1, 0.5]).document.tables
    assert [[row[0].strip() for row in table.rows] for table in tables] == [["B10", "B50", "eta", "mean"]] * 2
