"""Contrasts: car's hypotheses, joint intervals, pairs of levels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.moments.mixture import Tails
from dpstats.results.intervals import half_widths
from dpstats.testing import SeededNoise, noise
from tests.results.fits import capacitor, wide
from tests.results.glms import AT, glm, rows, statsmodels_fit
from tests.results.glms import wide as wide_glm

PAIRS = ["single - married", "widowed - married", "widowed - single"]


def test_hypotheses_are_written_as_in_car_or_in_statsmodels() -> None:
    fit = capacitor()
    assert fit.linear_hypothesis(["voltage = 0", "temperature = 0"]) == fit.wald_test(
        "voltage = 0, temperature = 0"
    )
    assert fit.t_test(["voltage = 0", "temperature = 0"]).null == ("voltage = 0", "temperature = 0")


def test_joint_limits_of_independent_coefficients_are_known() -> None:
    cov = np.diag([1.0, 4, 9, 16])
    alone = np.sqrt(np.diagonal(cov))
    for level in (0.8, 0.95, 0.99):
        wanted = {
            "bonferroni": stats.norm.ppf(1 - (1 - level) / 8),
            True: stats.norm.ppf(1 - (1 - level) / 8),
            "sup-t": stats.norm.ppf((1 + level ** (1 / 4)) / 2),
            None: stats.norm.ppf((1 + level) / 2),
        }
        for joint, factor in wanted.items():
            rel = 5e-3 if joint == "sup-t" else 1e-12
            assert half_widths(level, cov, joint, None) == pytest.approx(factor * alone, rel=rel)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-3, 3), min_size=16, max_size=16),
    st.floats(0.6, 0.99),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_joint_limits_are_ordered(root: list[float], level: float, lost: list[bool]) -> None:
    """Single <= sup-t <= Bonferroni; what is lost widens no other."""
    square = np.array(root).reshape(4, 4)
    cov = square.T @ square + 0.01 * np.eye(4)
    cov[np.diag_indices(4)] = np.where(lost, np.inf, np.diagonal(cov))
    single, sup, bonferroni = (
        half_widths(level, cov, joint, None) for joint in (None, "sup-t", "bonferroni")
    )
    assert (single <= sup * (1 + 1e-12)).all() and (sup <= bonferroni * (1 + 1e-12)).all()
    assert (np.isinf(single) == lost).all() and (np.isinf(sup) == lost).all()


def test_joint_limits_are_the_same_at_every_call() -> None:
    limits = [wide().conf_int(joint="sup-t").to_numpy() for _ in range(2)]
    assert np.array_equal(limits[0], limits[1])


def test_joint_limits_under_noise_that_is_not_normal() -> None:
    tails = Tails("laplace", 4, 0.5 * np.diagonal(capacitor().record.cov))
    fit = capacitor(tails=tails)
    alone, joint = (np.diff(fit.conf_int(joint=j).to_numpy()).ravel() for j in (None, True))
    wider = np.diff(fit.conf_int(level=1 - 0.05 / 4).to_numpy()).ravel()
    assert (joint > alone).all() and joint == pytest.approx(wider)
    with pytest.raises(SpecificationError, match="bonferroni"):
        fit.conf_int(joint="sup-t")
    # one coefficient at a time has its own law, in tests as in the table
    test = fit.t_test("2 * voltage = 0")
    assert test.pvalue[0] == pytest.approx(fit.pvalues["voltage"])
    assert test.conf_int()[0] == pytest.approx(2 * fit.conf_int().loc["voltage"].to_numpy())


def test_several_coefficients_together_have_a_normal_law() -> None:
    """That of their sum is not the law of one, whose tails are longer."""
    fit = capacitor(tails=Tails("laplace", 4, 0.5 * np.diagonal(capacitor().record.cov)))
    test = fit.t_test("voltage + Intercept = 0")
    assert test.pvalue[0] == pytest.approx(2 * stats.norm.sf(abs(test.tvalue[0])))
    assert test.conf_int()[0, 1] == pytest.approx(test.effect[0] + stats.norm.ppf(0.975) * test.sd[0])


@pytest.mark.parametrize("joint", ["scheffe", 3])
def test_unknown_adjustments_are_refused(joint: object) -> None:
    with pytest.raises(SpecificationError, match="bonferroni, sup-t"):
        capacitor().conf_int(joint=joint)


def test_pairs_are_those_of_statsmodels() -> None:
    fit, theirs = glm("gaussian"), statsmodels_fit("gaussian")
    found = fit.t_test_pairwise("status").result_frame
    wanted = theirs.t_test_pairwise("status").result_frame
    assert list(found.index) == PAIRS
    for ours, column in (("coef", "coef"), ("std err", "std err"), ("z", "z"), ("pvalue-hs", "pvalue-hs")):
        assert found[ours].to_numpy() == pytest.approx(wanted[column].to_numpy())
    assert list(found["reject-hs"]) == list(wanted["reject-hs"])
    for written in ("C(status)", "Q('status')", 'C(Q("status"), Sum)'):
        assert fit.t_test_pairwise(written, method="holm").result_frame["pvalue-holm"].notna().all()


def test_pairs_do_not_depend_on_the_coding() -> None:
    """Sum coding: other columns and coefficients, the same differences."""
    formula = "cost ~ age + C(status, Sum)"
    fitted = smf.ols(formula, rows()).fit()
    fit = glm(
        "gaussian",
        formula=formula,
        names=tuple(fitted.params.index),
        params=fitted.params.to_numpy(),
        cov=fitted.cov_params().to_numpy(),
        cov_privacy=np.zeros((4, 4)),
        dispersion=None,
    )
    treated = smf.ols("cost ~ age + status", rows()).fit()
    found = fit.t_test_pairwise("C(status, Sum)").summary_frame()
    assert list(found.index) == PAIRS
    assert found["coef"].to_numpy()[:2] == pytest.approx(treated.params.iloc[1:3].to_numpy())
    assert found["std err"].to_numpy()[:2] == pytest.approx(treated.bse.iloc[1:3].to_numpy())


def test_levels_with_a_dash_in_their_names_are_told_apart_in_pairs() -> None:
    schema = dps.Schema(y=dps.bounded(0, 1), stress=dps.levels("1 - none", "5 - much"))
    rows = {"y": np.tile([0.2, 0.3], 300), "stress": np.tile(["1 - none", "5 - much"], 300)}
    with noise(SeededNoise(1)):
        fit = dps.ols("y ~ stress", rows, schema).fit(dps.zcdp(10.0))
    assert list(fit.t_test_pairwise("stress").null) == ["(5 - much) - (1 - none)"]


def test_pairs_of_a_factor_that_interacts_need_a_point() -> None:
    fit = glm("binomial")
    with pytest.raises(SpecificationError, match=r"interacts with age, .*newdata={'age': \.\.\.}"):
        fit.t_test_pairwise("sex")
    point = {name: value for name, value in AT.items() if name != "sex"}
    (effect,) = fit.t_test_pairwise("sex", newdata=point).effect
    assert effect == pytest.approx(fit.params["sex"] + AT["age"] * fit.params["age:sex"])
    for alone in ({"age": AT["age"]}, pd.DataFrame({"age": [AT["age"]]}), [{"age": AT["age"]}]):
        assert fit.t_test_pairwise("sex", newdata=alone).effect == pytest.approx([effect])
    assert fit.t_test_pairwise("status", newdata=AT).effect == pytest.approx(
        fit.t_test_pairwise("status").effect
    )


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda fit: fit.t_test_pairwise("age"), "status"),
        (lambda fit: fit.t_test_pairwise("maker"), "levels"),
        (lambda fit: fit.t_test_pairwise("status", method="tukey"), "multipletests"),
        (lambda fit: fit.t_test_pairwise("status", newdata=[AT, 3]), "newdata"),
        (lambda fit: capacitor().t_test_pairwise("voltage"), "it has none"),
    ],
)
def test_mistakes_are_named(call: object, word: str) -> None:
    with pytest.raises(SpecificationError, match=word):
        call(glm("poisson"))


def test_pairs_with_a_lost_level_are_not_estimable_and_the_rest_is() -> None:
    test = wide_glm().t_test_pairwise("place")
    frame = test.result_frame
    gone = frame["std err"] == np.inf
    assert gone.sum() == 25 and frame.loc[~gone, "pvalue-hs"].notna().all()
    assert frame.loc[gone, "pvalue-hs"].isna().all() and not frame.loc[gone, "reject-hs"].any()
    text = test.as_text()
    assert max(map(len, text.splitlines())) <= 100 and "not estimable" in text


def test_simultaneous_limits_of_pairs() -> None:
    test = glm("gaussian").t_test_pairwise("status")
    single, joint = (np.diff(test.conf_int(joint=j)).ravel() for j in (None, "sup-t"))
    # Tukey's 95 % quantile for three groups is 3.314 / sqrt 2
    assert joint / single == pytest.approx(3.314 / np.sqrt(2) / 1.96, rel=5e-3)


def test_limits_of_next_to_no_variance_are_numbers() -> None:
    """As a file may hold it that somebody edited."""
    assert Tails("linf", 2, np.array([1.0])).half_widths(0.95, np.array([[5e-324]])) >= 0


@pytest.mark.parametrize("family", ["binomial", "gaussian"])
def test_terms_are_tested_as_statsmodels_does(family: str) -> None:
    fit, theirs = glm(family), statsmodels_fit(family).wald_test_terms(scalar=True).table
    terms = fit.wald_test_terms().frame.set_index("term")
    assert list(terms.index) == list(theirs.index) and len(terms) == 6
    assert terms["df"].tolist() == theirs["df_constraint"].tolist()
    assert terms["statistic"].to_numpy() == pytest.approx(theirs["statistic"].to_numpy(float), rel=1e-6)
    assert terms["p_value"].to_numpy() == pytest.approx(theirs["pvalue"].to_numpy(float), rel=1e-5)
    assert "Wald tests of terms" in str(fit.wald_test_terms())


def test_a_term_with_a_lost_level_is_not_estimable() -> None:
    fit = wide_glm()
    found = fit.wald_test_terms()
    lost = found.frame.set_index("term")["statistic"].isna()
    assert lost["place"] and not lost.all() and "not estimable" in str(found)


def test_pairs_over_several_points_are_contrasts_of_marginal_means() -> None:
    fit = glm("binomial")
    points = rows()[["age", "hours", "status"]].head(7)
    (effect,) = fit.t_test_pairwise("sex", newdata=points).effect
    each = [fit.t_test_pairwise("sex", newdata=dict(row)).effect[0] for _, row in points.iterrows()]
    assert effect == pytest.approx(np.mean(each))
    listed = [{**row, "sex": "M"} for row in points.to_dict("records")]  # the factor itself does not matter
    assert fit.t_test_pairwise("sex", newdata=listed).effect == pytest.approx([effect])
    gradient = np.zeros(len(fit.names))
    gradient[[fit.names.index("sex"), fit.names.index("age:sex")]] = 1, points["age"].mean()
    sd = np.sqrt(gradient @ fit.record.cov @ gradient)
    assert fit.t_test_pairwise("sex", newdata=listed).sd == pytest.approx([sd])


def test_every_test_has_its_numbers_in_a_frame() -> None:
    fit = glm("gaussian")
    single, pairs, joint = fit.t_test("age = 0"), fit.t_test_pairwise("status"), fit.wald_test("age = 0")
    assert single.frame.equals(single.summary_frame())
    assert pairs.frame.equals(pairs.result_frame) and "pvalue-hs" in pairs.frame
    assert joint.frame.to_dict("records") == [
        {"statistic": joint.statistic, "df": 1, "pvalue": joint.pvalue, "null": joint.null}
    ]


def test_contrasts_are_ratios_where_that_is_asked_for() -> None:
    fit = glm("binomial")
    for test, plain, name in (
        (fit.t_test("age = 0", exponentiate=True), fit.t_test("age = 0"), "odds ratio"),
        (fit.t_test_pairwise("status", exponentiate=True), fit.t_test_pairwise("status"), "odds ratio"),
    ):
        told, before = test.frame, plain.frame
        for column in ("coef", "conf_low", "conf_high"):
            assert told[column].to_numpy() == pytest.approx(np.exp(before[column].to_numpy()))
        assert (told["std err"] == before["std err"]).all() and (told["P>|z|"] == before["P>|z|"]).all()
        assert test.conf_int(0.9) == pytest.approx(np.exp(plain.conf_int(0.9)))
        assert name in str(test) and "difference" not in str(test) and "difference" in str(plain)
    with pytest.raises(SpecificationError, match="exponentiate=True needs a link of log"):
        glm("gaussian").t_test("age = 0", exponentiate=True)
