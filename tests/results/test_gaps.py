"""Rows of new data that lack a value: NaN beside predictions of the others, as R and statsmodels have it."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.results import Fit, SvmFit
from dpstats.testing import NoNoise, noise
from tests.results.every import EVERY

LACKS = "1 row\\(s\\) of newdata lack a value and have no prediction"


def rows_of(at: dict[str, Any], lost: str) -> pd.DataFrame:
    """The same point three times, with a column of names; the second row lacks one value."""
    rows = pd.DataFrame([at] * 3, index=["x", "y", "z"]).assign(who=["Ann", "Bo", "Cy"])
    rows[lost] = rows[lost].where([True, False, True])
    return rows


@pytest.mark.parametrize("name", EVERY)
def test_a_row_that_lacks_a_value_has_no_prediction_and_the_others_keep_theirs(name: str) -> None:
    fit, at = EVERY[name]
    alone = fit.predict(at, se_fit=True).to_numpy()[0]
    for lost in fit.record.covariates:
        with pytest.warns(UserWarning, match=LACKS):
            found = fit.predict(rows_of(at, lost), se_fit=True)
        np.testing.assert_allclose(found, [alone, [np.nan] * 2, alone])
        assert found.index.equals(pd.RangeIndex(3))


@pytest.mark.parametrize("name", EVERY)
def test_errors_and_limits_of_such_a_row_are_missing_too(name: str) -> None:
    fit, at = EVERY[name]
    if isinstance(fit, SvmFit):
        with pytest.warns(UserWarning, match=LACKS):
            assert fit.decision_function(rows_of(at, "x")).isna().tolist() == [False, True, False]
        return
    rows = rows_of(at, fit.record.covariates[0])
    with pytest.warns(UserWarning, match=LACKS):
        found = fit.get_prediction(rows).summary_frame()
    alone = fit.get_prediction(at).summary_frame().to_numpy()[0]
    np.testing.assert_allclose(found, [alone, np.full(len(alone), np.nan), alone])
    with pytest.warns(UserWarning, match=LACKS):
        beside = fit.augment(rows)
    pd.testing.assert_frame_equal(beside[rows.columns], rows.reset_index(drop=True))
    np.testing.assert_allclose(beside.iloc[:, -4:], found.iloc[:, :4])


@pytest.mark.parametrize("name", ["survreg-weibull", "coxph"])
def test_several_times_have_a_gap_in_each_column(name: str) -> None:
    fit, at = EVERY[name]
    alone = fit.predict(at, times=[200, 400]).to_numpy()[0]
    with pytest.warns(UserWarning, match=LACKS):
        found = fit.predict(rows_of(at, fit.record.covariates[0]), times=[200, 400])
    np.testing.assert_allclose(found, [alone, [np.nan] * 2, alone])


@pytest.mark.parametrize("name", ["ols", "svm", "coxph", "survreg-weibull"])
def test_where_every_row_lacks_a_value_no_prediction_is_left(name: str) -> None:
    fit, at = EVERY[name]
    with pytest.warns(UserWarning, match=LACKS):
        assert fit.predict(dict.fromkeys(fit.record.covariates)).isna().tolist() == [True]


@pytest.mark.parametrize("word", ["n/a", " NA ", "null", "", None])
def test_a_word_for_nothing_is_a_missing_value(word: str | None) -> None:
    """Files had it for one; a frame with it stopped all predictions."""
    fit, at = EVERY["survreg-weibull"]
    lost = fit.record.covariates[0]
    alone = fit.predict(at).to_numpy()[0]
    with pytest.warns(UserWarning, match=LACKS):
        found = fit.predict(pd.DataFrame([at, at | {lost: word}, at]))
    np.testing.assert_allclose(found, [alone, np.nan, alone])
    assert f"row 1 lacks a value of {lost!r}" in refused(
        fit, pd.DataFrame([at, at | {lost: word}]), average=True
    )


def test_the_first_row_that_is_wrong_is_named_whatever_its_column() -> None:
    fit, at = EVERY["ols"]
    first, *_, last = fit.record.covariates
    rows = pd.DataFrame([at, at | {last: None}, at | {first: None}])
    assert f"row 1 lacks a value of {last!r}" in refused(fit, rows, average=True)


def refused(fit: Fit, rows: pd.DataFrame, **options: Any) -> str:
    with pytest.raises(SpecificationError) as error:
        fit.get_prediction(rows, **options)
    return str(error.value)


def test_a_mean_over_all_rows_needs_them_all() -> None:
    fit, at = EVERY["ols"]
    lost = fit.record.covariates[0]
    assert f"row 1 (as .iloc counts) lacks a value of {lost!r}" in refused(
        fit, rows_of(at, lost), average=True
    )


def test_what_else_is_wrong_is_named_by_its_place_among_all_rows() -> None:
    fit, at = EVERY["ols"]
    (lost, *_), number = (
        fit.record.covariates,
        next(name for name, value in at.items() if not isinstance(value, str)),
    )
    rows = rows_of(at, lost).iloc[[1, 0, 2]].astype({number: float})
    rows.loc["z", number] = np.inf
    assert f"row 2 (as .iloc counts): {number} must be a finite number" in refused(fit, rows)


def test_a_declared_level_in_another_spelling_is_told_where_the_catch_all_takes_it() -> None:
    schema = dps.Schema(y=dps.bounded(0, 9), g=dps.levels("Surgery", "ENT", other=True))
    data = {"y": [1.0, 2.0, 3.0] * 400, "g": ["Surgery", "ENT", "Burns"] * 400}
    with noise(NoNoise()):
        fit = dps.ols("y ~ g", data, schema).fit(dps.gdp(1))
    said = r"^2 row\(s\) of newdata have g in another spelling of 'Surgery', and are taken for 'other'$"
    with pytest.warns(UserWarning, match=said):
        found = fit.predict({"g": ["surgery ", "SURGERY", "Surgery", "Burns", "secret"]})
    assert found[0] == found[1] == found[3] != found[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.predict({"g": ["Surgery", " ENT", "Burns", "secret", "other"]})


def test_responses_of_residuals_may_be_codes() -> None:
    schema = dps.Schema(y=dps.flag(true="Y", false="N"), x=dps.bounded(0, 1))
    rng = np.random.default_rng(1)
    data = {"y": np.where(rng.uniform(size=500) < 0.3, "Y", "N"), "x": rng.uniform(size=500)}
    with noise(NoNoise()):
        fit = dps.logit("y ~ x", data, schema).fit(dps.gdp(1))
    at = {"x": [0.1, 0.5, 0.9]}
    codes, numbers = fit.residuals(at, y=["Y", "N", "Y"]), fit.residuals(at, y=[1, 0, 1])
    assert codes.tolist() == numbers.tolist()
    with pytest.raises(SpecificationError, match="y must be 3 finite numbers"):
        fit.residuals(at, y=["Y", "N", "yes"])
