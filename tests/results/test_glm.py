"""Generalised linear models: statsmodels' numbers, ranges, ratios, and what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.cli import main
from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import FAMILIES, LINKS
from dpstats.results import NOT_RELEASED, Fit
from tests.results.every import svm
from tests.results.fits import capacitor
from tests.results.glms import AT, POINTS, RESPONSES, coded, glm, statsmodels_fit, wide
from tests.results.linear import linear

FAMILY_NAMES = list(RESPONSES)
RATIOS = {
    "binomial": "odds_ratios",
    "poisson": "rate_ratios",
    "gamma": "mean_ratios",
    "binomial(cloglog)": "hazard_ratios",
}


@pytest.mark.parametrize("name", LINKS)
def test_derivatives_of_links(name: str) -> None:
    link, eta, h = LINKS[name], np.linspace(-4, 4, 17), 1e-5
    for of, derivative in ((link.inverse, link.slope), (link.slope, link.bend)):
        assert (of(eta + h) - of(eta - h)) / (2 * h) == pytest.approx(derivative(eta), abs=1e-8, rel=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
def test_links_are_those_of_the_families(name: str) -> None:
    family, eta = FAMILIES[name], np.linspace(-30, 5, 15)
    link = LINKS[family.link_name]
    assert link.inverse(eta) == pytest.approx(family.mean(eta), rel=1e-14)
    if family.two_valued:  # where a probability is 0 or 1 to the last bit no link tells anything
        eta = eta[(family.mean(eta) > 1e-100) & (family.mean(eta) < 1 - 1e-9)]
    information = link.slope(eta) ** 2 / family.variance(link.inverse(eta))
    assert information == pytest.approx(family.curvature(eta), rel=1e-4)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_predictions_are_those_of_statsmodels(family: str, offset: bool) -> None:
    fit, theirs, new = glm(family, offset), statsmodels_fit(family, offset), coded(POINTS)
    more = {"offset": np.log(new["years"])} if offset else {}
    wanted = theirs.get_prediction(new, **more).summary_frame().to_numpy()
    found = fit.get_prediction(POINTS).summary_frame()
    assert list(found)[:4] == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    assert found.to_numpy()[:, :4] == pytest.approx(wanted, rel=1e-7)
    assert fit.predict(POINTS).to_numpy() == pytest.approx(wanted[:, 0], rel=1e-7)
    linear = theirs.predict(new, which="linear", **more)
    for kind in ("link", "lp"):
        assert fit.predict(POINTS, type=kind).to_numpy() == pytest.approx(linear.to_numpy(), abs=1e-7)
    augmented = fit.augment(POINTS, level=0.95)[[".fitted", ".se_fit", ".lower", ".upper"]]
    assert augmented.to_numpy() == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_expected_values_are_for_the_exposure_that_is_given(family: str) -> None:
    fit = glm(family, offset=True)
    one, two = (fit.get_prediction({**AT, "years": years}).summary_frame() for years in (1.0, 2.0))
    assert two.to_numpy() == pytest.approx(2 * one.to_numpy())
    without = {name: value for name, value in AT.items() if name != "years"}
    with pytest.raises(SpecificationError, match="newdata lacks 'years'"):
        fit.predict(without)


@pytest.mark.parametrize("family", RATIOS)
def test_ratios_are_exponentials(family: str) -> None:
    fit, theirs = glm(family), statsmodels_fit(family)
    frame = getattr(fit, RATIOS[family])(level=0.9).frame
    assert list(frame["term"]) == list(fit.names[1:])
    assert frame["estimate"].to_numpy() == pytest.approx(np.exp(theirs.params.iloc[1:]).to_numpy())
    wanted = np.exp(theirs.conf_int(alpha=0.1).to_numpy()[1:])
    assert frame[["conf_low", "conf_high"]].to_numpy() == pytest.approx(wanted)
    tidy = fit.tidy(conf_int=True, level=0.9, exponentiate=True).iloc[1:]
    for name in ("estimate", "conf_low", "conf_high"):
        assert tidy[name].to_numpy() == pytest.approx(frame[name].to_numpy())
    assert set(tidy["component"]) == {"location"}


@pytest.mark.parametrize("method", RATIOS.values())
@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_ratios_of_another_family_are_refused(family: str, method: str) -> None:
    own = RATIOS.get(family)
    if method != own:
        with pytest.raises(
            NotReleased, match=rf"'{method}' needs .*{re.escape(family)}.*Use fit.{own or 'params'}"
        ):
            getattr(glm(family), method)()


def test_ratios_need_a_model_that_has_them() -> None:
    with pytest.raises(NotReleased, match="this is survreg. Use fit.params"):
        capacitor().odds_ratios()
    with pytest.raises(SpecificationError, match="'gaussian' models the mean itself"):
        glm("gaussian").tidy(exponentiate=True)
    with pytest.raises(SpecificationError, match="'huber' models the decision function itself"):
        svm().tidy(exponentiate=True)
    assert linear().tidy(exponentiate=True)["estimate"].tolist() == np.exp(linear().params).tolist()
    assert list(glm("binomial", model="glm").odds_ratios().frame) == [
        "term",
        "estimate",
        "conf_low",
        "conf_high",
    ]


@pytest.mark.parametrize(
    "name",
    ["parameters", "eta", "life", "reliability", "hazard", "mttf", "time_ratios", "shape"],
)
def test_words_of_times_to_failure_are_refused(name: str) -> None:
    with pytest.raises(NotReleased, match="needs a time-to-failure model, and this is logit"):
        getattr(glm("binomial"), name)()
    with pytest.raises(NotReleased, match="time-to-failure"):
        glm("poisson").predict(AT, type="quantile")


@pytest.mark.parametrize("name", NOT_RELEASED)
def test_the_rest_stays_refused(name: str) -> None:
    assert not hasattr(glm("gamma"), name)


@pytest.mark.parametrize("name", ["prsquared", "llf", "aic", "deviance", "pearson_chi2", "resid_deviance"])
def test_names_of_statsmodels_glms_say_why_they_are_missing(name: str) -> None:
    with pytest.raises(NotReleased, match=f"'{name}'"):
        getattr(glm("poisson"), name)


def test_training_rows_are_never_predicted() -> None:
    for method in ("predict", "get_prediction", "augment", "marginal_effects"):
        with pytest.raises(NotReleased, match="Pass newdata: values of age, hours, sex, status"):
            getattr(glm("binomial"), method)()


def test_dispersion_is_statsmodels_scale_with_limits_from_the_log_scale() -> None:
    phi = glm("gamma").dispersion
    assert float(phi) == pytest.approx(statsmodels_fit("gamma").scale)
    factor = np.exp(1.959963984540054 * 0.2)
    assert [phi.conf_low, phi.conf_high] == pytest.approx([float(phi) / factor, float(phi) * factor])
    assert (phi.std_error / float(phi), phi.privacy_share) == pytest.approx((0.2, 0.25))
    with pytest.raises(NotReleased, match="not released by this logit fit"):
        _ = glm("binomial").dispersion
    with pytest.raises(NotReleased, match="'sigma' was not released by this glm"):
        _ = glm("gamma").sigma


def test_a_gaussian_fit_has_sigma_and_limits_of_a_response() -> None:
    fit = glm("gaussian")
    assert float(fit.sigma) ** 2 == pytest.approx(float(fit.dispersion))
    assert fit.sigma.conf_low**2 == pytest.approx(fit.dispersion.conf_low)
    frame = fit.get_prediction(AT).summary_frame().iloc[0]
    half = 1.959963984540054 * np.hypot(frame["mean_se"], float(fit.sigma))
    assert frame["obs_ci_upper"] - frame["mean"] == pytest.approx(half)
    assert "obs_ci_upper" not in glm("gamma").get_prediction(AT).summary_frame()
    drowned = glm("gaussian", dispersion=(0.0, 1.0, 1.0))
    assert "sigma: not estimable" in repr(drowned.sigma)


def test_glance_has_family_link_and_dispersion() -> None:
    row = glm("gamma").glance().iloc[0]
    assert (row["model"], row["family"], row["link"]) == ("glm", "gamma", "log")
    assert row["dispersion"] == float(glm("gamma").dispersion)
    row = glm("binomial").glance().iloc[0]
    assert (row["family"], row["link"], np.isnan(row["dispersion"])) == ("binomial", "logit", True)
    row = glm("binomial(cloglog)").glance().iloc[0]
    assert (row["family"], row["link"]) == ("binomial", "cloglog")
    assert "family" not in capacitor().glance()


@pytest.mark.parametrize(
    ("family", "title"),
    [
        ("binomial", "logistic"),
        ("poisson", "Poisson"),
        ("gamma", "gamma"),
        ("gaussian", "Gaussian"),
        ("binomial(probit)", "probit"),
        ("binomial(cloglog)", "complementary log-log"),
    ],
)
def test_headings(family: str, title: str) -> None:
    assert str(glm(family).summary()).split("\n")[0].strip() == f"Private {title} regression"
    clear = glm(family, not_private=True).summary()
    assert clear.title == f"{title[:1].upper()}{title[1:]} regression" and "NOT PRIVATE" in clear.banner


def test_notes_say_what_the_coefficients_add_up_to() -> None:
    def notes(fit: Fit) -> str:
        return " ".join(fit.summary().notes)

    assert "log odds of income being >50K = coef'x." in notes(glm("binomial"))
    failed = dps.Schema({**glm("binomial").schema, "income": dps.event("dead", "alive")})
    assert "log odds of income being dead = " in notes(glm("binomial", schema=failed))
    assert "log mean of claims = coef'x + offset. Intervals of rate ratios are" in notes(glm("poisson", True))
    assert "Intervals of mean ratios and phi are on the log scale." in notes(glm("gamma"))
    assert "log cumulative hazard of income being >50K = coef'x." in notes(glm("binomial(cloglog)"))
    assert "hazard ratios are on the log scale" in notes(glm("binomial(cloglog)"))
    assert "mean of cost = coef'x. Intervals of phi are" in notes(glm("gaussian"))
    alone = glm(
        "poisson", formula="claims ~ 1", names=("Intercept",), params=[1.0], cov=[[1]], cov_privacy=[[0]]
    )
    assert "ratio" not in str(alone.summary()) and alone.predict()[0] == pytest.approx(np.e)


@pytest.mark.parametrize("family", ["gamma", "poisson"])
def test_save_and_load_keep_the_dispersion(family: str, tmp_path: Path) -> None:
    for place, fit in enumerate((glm(family), glm(family, dispersion=(0.1, np.inf, np.inf)))):
        path = tmp_path / f"{place}.json"
        fit.save(path)
        back = dps.load(path)
        assert back.to_dict() == fit.to_dict() and back.record.dispersion == fit.record.dispersion
        assert back.summary().as_html() == fit.summary().as_html()
        assert "Infinity" not in path.read_text()


def test_files_without_dispersion_are_read() -> None:
    content = json.loads(json.dumps(glm("poisson").to_dict()))
    assert "dispersion" not in content and Fit.from_dict(content).record.dispersion is None


@pytest.mark.parametrize("bad", [(1.0, 2.0), (-1.0, 1, 1), (np.nan, 1, 1), (1.0, -1, 0), (np.inf, 1, 1)])
def test_a_dispersion_that_is_none_is_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(SpecificationError, match="dispersion must be"):
        glm("gamma", dispersion=bad)


def test_a_family_that_is_none_is_refused() -> None:
    with pytest.raises(SpecificationError, match="binomial, poisson, gamma, gaussian, .*, got 'weibull'"):
        glm("gamma", dist="weibull")


def test_the_command_line_shows_and_predicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit, path, new = glm("poisson", offset=True), tmp_path / "claims.fit.json", tmp_path / "new.csv"
    fit.save(path)
    pd.DataFrame(POINTS).to_csv(new, index=False)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out == f"{fit.summary()}\n"
    assert main(["predict", str(path), str(new), "--out", str(tmp_path / "out.csv")]) == 0
    table = pd.read_csv(tmp_path / "out.csv")
    wanted = fit.get_prediction(POINTS).summary_frame()[["mean", "mean_ci_lower", "mean_ci_upper"]]
    assert table[["response", "conf_low", "conf_high"]].to_numpy() == pytest.approx(wanted.to_numpy())
    assert main(["predict", str(path), str(new), "--type", "link"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(",link")
    assert main(["predict", str(path), str(new), "--type", "quantile", "--p", "0.1"]) == 2
    assert "time-to-failure" in capsys.readouterr().err


def with_random(family: str, values: list[float], spread: float) -> Fit:
    """The fit with other coefficients, and a covariance of any shape and size."""
    k = len(glm(family).names)
    root = np.sin(np.arange(k * k).reshape(k, k) * values[0] + 1) * spread
    cov = root @ root.T
    if values[1] > 2.5:
        cov[2, 2] = np.inf
    return glm(family, offset=True, params=10 * np.array(values), cov=cov, cov_privacy=0.1 * cov)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(FAMILY_NAMES),
    st.lists(st.floats(-3, 3), min_size=7, max_size=7),
    st.floats(0, 1e3),
    st.floats(0.5, 0.999),
)
def test_no_interval_leaves_its_range(family: str, values: list[float], spread: float, level: float) -> None:
    fit = with_random(family, values, spread)
    low, high = fit.record.link.bounds
    frame = fit.get_prediction(POINTS).summary_frame(level)
    assert (frame["mean_ci_lower"] >= low).all() and (frame["mean_ci_upper"] <= high).all()
    known = frame[frame["mean"].notna()]  # the others rest on what is not estimable
    assert known["mean"].between(known["mean_ci_lower"], known["mean_ci_upper"]).all()
    if family in RATIOS:
        ratios = getattr(fit, RATIOS[family])(level).frame
        assert (ratios["conf_low"] >= 0).all() and (ratios["conf_low"] <= ratios["conf_high"]).all()
    if family == "binomial":
        effects = fit.marginal_effects(POINTS, ["sex", "status"], level).frame
        assert (effects["conf_low"] >= -1).all() and (effects["conf_high"] <= 1).all()
        assert (effects["conf_low"] <= effects["estimate"]).all()
        assert (effects["estimate"] <= effects["conf_high"]).all()
    assert max(map(len, str(fit.summary(level)).splitlines())) <= 100


def test_a_lost_coefficient_spoils_only_what_it_is_part_of() -> None:
    fit = wide()
    place = fit.schema["place"].all
    new = {"age": 40, "hours": 30, "sex": "F"}  # where probabilities are 0 to the last bit
    both = [{**new, "place": place[j]} for j in (5, 6)]
    with pytest.warns(UserWarning, match=r"1 row\(s\) of newdata rest on what is not estimable"):
        lost, found = (row for _, row in fit.get_prediction(both).summary_frame().iterrows())
    assert np.isnan(lost["mean"])
    for kind in ("response", "link"):
        with pytest.warns(UserWarning, match="not estimable"):
            predicted = fit.predict(both, type=kind, se_fit=True)
        assert np.isnan(predicted["predicted"]).tolist() == [True, False]
        assert np.isinf(predicted["se_fit"]).tolist() == [True, False]
    with pytest.raises(SpecificationError, match="row 0 of newdata rests on place"):
        fit.simulate(both)
    assert fit.simulate(both[1:], seed=1).notna().all().all()
    assert (lost["mean_ci_lower"], lost["mean_ci_upper"]) == (0, 1) and np.isinf(lost["mean_se"])
    assert np.isfinite(found.to_numpy()).all()
    effects = fit.marginal_effects({**new, "place": place[0]}, "place").frame.set_index("contrast")
    assert np.isinf(effects["std_error"]).sum() == 1
    text = repr(fit.marginal_effects({**new, "place": place[0]}))
    assert "not estimable" in text and max(map(len, text.splitlines())) <= 100
