"""Coefficients, Wald tests, tidy tables and the covariance they stand on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.iolib.summary2 import summary_col

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.results import Fit
from dpstats.results.table import align_points, figures, p_value, percent, times, z_value
from dpstats.results.units import in_units
from tests.results.fits import CAPACITOR_COV, STRESS, USE, capacitor, wide


def test_the_coefficient_table_has_statsmodels_names() -> None:
    fit = capacitor()
    names = list(fit.names)
    for name in ("params", "bse", "bse_privacy", "privacy_share", "tvalues", "pvalues"):
        assert list(getattr(fit, name).index) == names
    assert fit.bse.to_numpy() == pytest.approx(np.sqrt(np.diag(CAPACITOR_COV)))
    assert (fit.tvalues == fit.params / fit.bse).all()
    assert fit.pvalues.to_numpy() == pytest.approx(2 * stats.norm.sf(np.abs(fit.tvalues)))
    assert fit.privacy_share.to_numpy() == pytest.approx([0.41, 0.38, 0.45, 0.52])
    assert (fit.bse_privacy**2 / fit.bse**2).to_numpy() == pytest.approx(fit.privacy_share.to_numpy())
    limits = fit.conf_int(level=0.9)
    assert limits[1].to_numpy() == pytest.approx(fit.params + 1.6448536269514722 * fit.bse)
    assert (limits[0] + limits[1]).to_numpy() / 2 == pytest.approx(fit.params.to_numpy())


def test_tidy_has_brooms_columns() -> None:
    tidy = capacitor().tidy()
    assert list(tidy) == [
        "term",
        "estimate",
        "std_error",
        "statistic",
        "p_value",
        "privacy_share",
        "component",
    ]
    assert list(tidy["component"]) == ["location"] * 3 + ["scale"]
    ratios = capacitor().tidy(conf_int=True, level=0.8, exponentiate=True)
    limits = capacitor().time_ratios(level=0.8).frame
    assert ratios.loc[1:2, ["estimate", "conf_low", "conf_high"]].to_numpy() == pytest.approx(
        limits[["estimate", "conf_low", "conf_high"]].to_numpy()
    )
    assert (ratios["std_error"] == tidy["std_error"]).all()


def test_glance_is_one_row_in_the_users_units() -> None:
    row = capacitor().glance().iloc[0]
    assert (row["epsilon"], row["delta"], row["nobs"], row["df"]) == (1, 1e-6, 64, 4)
    assert np.isnan(row["rho"]) and row["adjacency"] == "replace one row"
    assert wide().glance()["flags"][0] == "not_estimable, below_budget"


@pytest.mark.parametrize("budget", [dps.gdp(0.541483), dps.zcdp(0.1), dps.approx(1, 1e-6).split(0.5, 0.5)[0]])
def test_what_a_budget_in_mu_or_rho_comes_to_is_told_and_rounded_up(budget: dps.budget.Budget) -> None:
    fit, implied = capacitor(budget=budget), budget.to_approx(1e-6)
    row = fit.glance().iloc[0]
    assert (row["epsilon"], row["delta"]) == (implied.epsilon, 1e-6)
    assert [row[unit] for unit in ("mu", "rho") if unit in vars(budget)] == [budget.amount]
    (line,) = (line for line in str(fit.summary()).splitlines() if line.startswith("Privacy"))
    told = line.partition("epsilon = ")[2].partition(" at delta = 1e-06")[0]
    assert implied.epsilon <= float(told) < 1.01 * implied.epsilon and len(told) <= 5
    assert str(capacitor().summary()).count("epsilon = ") == 1


def test_predictions_with_errors() -> None:
    """predict(fit, newdata, type = "response", se.fit = TRUE) of R's survreg."""
    frame = capacitor().get_prediction([USE, STRESS]).summary_frame()
    assert list(frame) == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    x = np.array([1, 200, 170, 0])
    log_se = np.sqrt(x @ np.array(CAPACITOR_COV) @ x)
    assert frame["mean_se"][0] == pytest.approx(frame["mean"][0] * log_se)
    eta = capacitor().eta([USE, STRESS]).frame
    assert list(eta["conf_low"]) == pytest.approx(list(frame["mean_ci_lower"]))
    augmented = capacitor().augment(pd.DataFrame([{**USE, "serial": "a"}]))
    assert list(augmented) == ["voltage", "temperature", "serial", ".fitted", ".se_fit", ".lower", ".upper"]
    linear = capacitor(dist="sev").get_prediction(USE)
    assert linear.se_mean[0] == pytest.approx(log_se)
    assert capacitor().predict(USE, type="lp")[0] == capacitor().predict(USE, type="link")[0]


def test_a_single_wald_test_is_the_square_of_z() -> None:
    fit = capacitor()
    test = fit.wald_test("voltage = 0")
    assert test.statistic == pytest.approx(fit.tvalues["voltage"] ** 2)
    assert test.pvalue == pytest.approx(fit.pvalues["voltage"])
    single = fit.t_test("temperature = -0.03")
    assert single.effect[0] == pytest.approx(fit.params["temperature"] + 0.03)
    assert single.sd[0] == pytest.approx(fit.bse["temperature"])
    assert "temperature = -0.03" in repr(single)
    assert fit.t_test("2 * voltage").null == ("2 * voltage = 0",)
    assert repr(test) == "Wald test of voltage = 0: chi2(1) = 32.31, p <0.001"


def test_a_joint_wald_test_does_not_depend_on_units_or_wording() -> None:
    fit = capacitor()
    joint = fit.wald_test("voltage = 0, temperature = 0")
    block = np.array(CAPACITOR_COV)[1:3, 1:3]
    b = fit.params.to_numpy()[1:3]
    assert joint.statistic == pytest.approx(b @ np.linalg.solve(block, b))
    assert joint.df == 2 and joint.pvalue == pytest.approx(stats.chi2.sf(joint.statistic, 2))
    for same in ([[0, 1e6, 0, 0], [0, 0, -3, 0]], "1000 * voltage = 0, voltage + temperature = 0"):
        assert fit.wald_test(same).statistic == pytest.approx(joint.statistic)
    assert fit.linear_hypothesis("voltage = 0") == fit.wald_test("voltage = 0")


def test_levels_and_the_scale_can_be_tested_by_name() -> None:
    fit = wide()
    name = fit.names[1]
    assert fit.t_test(f"{name} = 0").tvalue[0] == pytest.approx(fit.tvalues[name])
    assert fit.wald_test("Log(scale) = 0").statistic == pytest.approx(400)
    assert max(map(len, repr(fit.t_test(f"{name} = 0")).splitlines())) <= 100


def test_hypotheses_about_a_lost_coefficient_are_not_estimable() -> None:
    fit = wide()
    lost = fit.names[7]
    assert np.isnan(fit.wald_test(f"{lost} = 0").pvalue)
    assert repr(fit.wald_test(f"{lost} = 0")).endswith(": not estimable")
    assert "not estimable" in repr(fit.t_test(f"{lost} = 0"))


@pytest.mark.parametrize(
    "hypothesis", ["volt = 0", "voltage = ", [[1, 0]], [[0, np.nan, 0, 0]], "voltage = 0, 2 * voltage = 1"]
)
def test_hypotheses_that_make_no_sense_are_refused(hypothesis: object) -> None:
    with pytest.raises(SpecificationError):
        capacitor().wald_test(hypothesis)


def test_alpha_is_one_less_the_level() -> None:
    fit = capacitor()
    for same in (fit.conf_int(0.05), fit.conf_int(alpha=0.05), fit.conf_int(0.95), fit.conf_int(level=0.95)):
        assert same.equals(fit.conf_int())
    assert (fit.conf_int(level=0.05)[1] < fit.conf_int(0.05)[1]).all()
    prediction, test = fit.get_prediction(USE), fit.t_test("voltage = 0")
    for refused in (
        fit.summary,
        prediction.conf_int,
        prediction.summary_frame,
        test.conf_int,
        test.summary_frame,
    ):
        with pytest.raises(SpecificationError, match=r"at least 0.5; got 0.05. An alpha, .* 1 - level"):
            refused(0.05)


def test_statsmodels_summary_col_takes_a_fit() -> None:
    text = str(summary_col([capacitor(), wide()]))
    assert "13.4070" in text and "Log(scale)" in text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=16, max_size=16), st.floats(1e-4, 1e4))
def test_any_covariance_becomes_positive_semi_definite_whatever_the_units(
    values: list[float], unit: float
) -> None:
    cov = np.array(values).reshape(4, 4)
    cov = (cov + cov.T) / 2
    cov[np.diag_indices(4)] = np.abs(np.diagonal(cov)) + 0.1
    scale = np.diag([1, unit, 1, 1])
    fit, other = capacitor(cov=cov), capacitor(cov=scale @ cov @ scale)
    sd = np.sqrt(np.diagonal(fit.record.cov))
    assert np.linalg.eigvalsh(fit.record.cov / np.outer(sd, sd)).min() > -1e-7
    assert other.record.cov == pytest.approx(scale @ fit.record.cov @ scale, rel=1e-6, abs=1e-9)
    indefinite = np.linalg.eigvalsh(cov / np.sqrt(np.outer(np.diagonal(cov), np.diagonal(cov)))).min()
    assert (("cov_projected" in dict(fit.flags)) == (indefinite < -1e-8)) or abs(indefinite + 1e-8) < 1e-9
    assert Fit.from_dict(fit.to_dict()).to_dict() == fit.to_dict()


@pytest.mark.parametrize("bad", [np.inf, np.nan, -1.0])
def test_an_impossible_variance_means_not_estimable(bad: float) -> None:
    cov = np.array(CAPACITOR_COV)
    cov[1, 1], cov[1, 2] = bad, np.nan
    fit = capacitor(cov=cov, cov_privacy=np.zeros((4, 4)))
    assert np.isinf(fit.bse["voltage"]) and np.isnan(fit.pvalues["voltage"])
    assert np.isfinite(fit.bse.drop("voltage")).all() and np.isnan(fit.privacy_share["voltage"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (13.407, "13.41"),
        (-0.0059108, "-0.00591"),
        (0.0289, "0.02890"),
        (1309.9, "1310"),
        (0.0, "0"),
        (1e-9, "1.000e-09"),
        (12345678.0, "1.235e+07"),
        (999949.0, "999949"),
        (0.00059, "0.000590"),
        (np.nan, ""),
        (-np.inf, "-inf"),
        (99995.0, "99995"),
        (0.99999, "1.000"),
        (-1e-300, "-1.00e-300"),
    ],
)
def test_figures(value: float, text: str) -> None:
    assert figures(value) == text


@given(st.floats(-1e300, 1e300))
def test_figures_are_short_and_right_to_three_digits(value: float) -> None:
    assert len(figures(value)) <= 10 and len(times(value)) <= 10
    assert float(figures(value)) == pytest.approx(value, rel=5.1e-3)


def test_small_writings() -> None:
    assert [p_value(p) for p in (0.0, 4.9e-4, 5e-4, 0.0249, 1.0)] == [
        "<0.001",
        "<0.001",
        "0.001",
        "0.025",
        "1.000",
    ]
    assert [z_value(z) for z in (-5.684, 1234.5, 1e7, np.nan)] == ["-5.68", "1234", "1.0e+07", ""]
    assert percent(0.414) == "41 %" and times(1309.91) == "1309.9"
    assert align_points(["13.41", "-0.00591", "7"]) == ["13.41   ", "-0.00591", " 7      "]


def test_a_possible_bias_is_told_of_the_coefficients_that_it_concerns() -> None:
    """Saved and read with the fit, in any units; a fit of an earlier version says nothing of it."""
    share = [0.5, 0.05, 0.25, 0.0]
    fit = capacitor(bias=share * np.diag(capacitor().record.cov))
    assert fit.bias_share.to_numpy() == pytest.approx(share)
    assert "of its square 50 % of Intercept, 25 % of temperature." in " ".join(str(fit.summary()).split())
    assert (type(fit).from_dict(fit.to_dict()).bias_share == fit.bias_share).all()
    many = in_units(fit.record, {"voltage": 50})
    assert many.bias == pytest.approx(fit.record.bias * np.array([1, 50, 1, 1]) ** 2)
    old = {name: value for name, value in fit.to_dict().items() if name != "bias"}
    assert type(fit).from_dict(old).bias_share.isna().all()
    assert "possible" not in str(capacitor().summary())
