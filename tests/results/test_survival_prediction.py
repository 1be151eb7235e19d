"""Predictions of times to failure, and their standard errors: R's numbers, derivatives, identities."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpstats.errors import SpecificationError
from dpstats.families import DISTS
from dpstats.results import CurveFit, Fit
from tests.results.every import MARGIN_AT, hazards
from tests.results.fits import STRESS, USE, capacitor, slopes
from tests.results.test_plots import curve

BOTH = [USE, STRESS]
KINDS: list[dict[str, Any]] = [
    {"type": "response"},
    {"type": "lp"},
    {"type": "median"},
    {"type": "quantile", "p": 0.1},
    {"type": "survival", "times": 700.0},
    {"type": "hazard", "times": 700.0},
    {"type": "cumhaz", "times": 700.0},
]


@pytest.mark.parametrize(
    ("asked", "fitted", "errors"),
    [
        ("response", (1496.763400500624, 461.919563229112), (188.5333095522120, 57.4411789833106)),
        ("lp", (7.31106032283077, 6.13539077035891), (0.125960662512962, 0.124353206826228)),
        ("median", (1309.917657524255, 404.256672782969), (161.0056273241247, 49.5692072267697)),
    ],
)
def test_errors_are_those_of_r(asked: str, fitted: tuple[float, ...], errors: tuple[float, ...]) -> None:
    """R: predict(fit, newdata, type = "response", "lp" and "quantile" with p = 0.5, se.fit = TRUE)."""
    found = capacitor().predict(BOTH, type=asked, se_fit=True)
    assert found["predicted"].to_numpy() == pytest.approx(fitted, rel=1e-12)
    assert found["se_fit"].to_numpy() == pytest.approx(errors, rel=1e-9)


@pytest.mark.parametrize("dist", sorted(DISTS))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["type"])
def test_errors_are_derivatives_through_the_covariance(dist: str, kind: dict[str, Any]) -> None:
    changes: dict[str, Any] = {"dist": dist}
    if not DISTS[dist].log:
        changes["params"] = [1500.0, -1, -4, 5.5]
    fit = capacitor(**changes)
    gradient = slopes(
        fit.record.params,
        lambda params: capacitor(**changes | {"params": params}).predict(BOTH, **kind).to_numpy(),
    ).T
    expected = np.sqrt(np.einsum("mi,ij,mj->m", gradient, fit.record.cov, gradient))
    assert fit.predict(BOTH, se_fit=True, **kind)["se_fit"].to_numpy() == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("dist", sorted(DISTS))
def test_predictions_at_times_are_those_of_the_tables(dist: str) -> None:
    fit, times = capacitor(dist=dist), [5.0, 7.0]
    survival = fit.predict(BOTH, type="survival", times=times)
    assert survival.to_numpy().ravel() == pytest.approx(fit.reliability(BOTH, times).frame["estimate"])
    assert fit.predict(BOTH, type="cumhaz", times=times).to_numpy() == pytest.approx(-np.log(survival))
    hazard = fit.predict(BOTH, type="hazard", times=times)
    assert hazard.to_numpy().ravel() == pytest.approx(fit.hazard(BOTH, times).frame["estimate"])
    assert list(survival.columns) == times


def test_nothing_has_failed_at_time_0_and_that_is_certain() -> None:
    for dist in ("weibull", "loglogistic", "lognormal"):
        for kind, value in (("survival", 1.0), ("cumhaz", 0.0)):
            found = capacitor(dist=dist).predict(USE, type=kind, times=0, se_fit=True)
            assert found.to_numpy().tolist() == [[value, 0.0]]


def test_several_times_have_a_column_each_for_values_and_for_errors() -> None:
    found = capacitor().predict(BOTH, type="survival", times=[500, 1000], se_fit=True)
    assert found.columns.tolist() == [(name, t) for name in ("predicted", "se_fit") for t in (500.0, 1000.0)]
    assert found["predicted"].equals(capacitor().predict(BOTH, type="survival", times=[500, 1000]))
    one = capacitor().predict(BOTH, type="survival", times=500)
    assert isinstance(one, pd.Series) and one.tolist() == found["predicted"][500.0].tolist()


def test_what_noise_hides_has_an_infinite_error() -> None:
    cov = np.array(capacitor().cov_params())
    cov[1, 1] = np.inf
    for kind in KINDS:
        with pytest.warns(UserWarning, match="not estimable"):
            found = capacitor(cov=cov).predict(BOTH, se_fit=True, **kind)
        assert np.isinf(found["se_fit"]).all() and np.isnan(found["predicted"]).all()
    assert capacitor(cov=cov).life(USE).frame["estimate"].isna().all()
    with pytest.raises(SpecificationError, match=r"simulate: row 0 of newdata rests on"):
        capacitor(cov=cov).simulate(BOTH)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"type": "survival"}, "type='survival' needs finite times"),
        ({"type": "hazard", "times": 0}, "above 0"),
        ({"type": "median", "se_fit": "yes"}, "se_fit must be True or False"),
        ({"type": "expectation"}, "type must be one of response, lp, link, quantile, median, survival"),
        ({"type": "quantiles"}, "did you mean 'quantile'"),
    ],
)
def test_mistakes_are_named(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecificationError, match=words):
        capacitor().predict(USE, **asked)


def test_means_of_lives_have_the_intervals_of_mttf() -> None:
    for dist in sorted(DISTS):
        fit = capacitor(dist=dist)
        life = fit.life(BOTH).frame.query("quantity == 'mean'")[["estimate", "conf_low", "conf_high"]]
        mttf = fit.mttf(BOTH).frame[["estimate", "conf_low", "conf_high"]]
        assert life.to_numpy() == pytest.approx(mttf.to_numpy())
        assert (life["conf_low"] < life["estimate"]).all() and (life["estimate"] < life["conf_high"]).all()


def test_an_infinite_mean_has_no_limits() -> None:
    fit = capacitor(dist="loglogistic", params=[5.0, 0.0, 0.0, 0.1])
    assert np.isnan(fit.mttf(USE).frame[["conf_low", "conf_high"]].to_numpy()).all()
    table, _ = repr(fit.mttf(USE)).split("No row was watched beyond")
    assert table.split()[-1] == "inf"


@pytest.mark.parametrize(
    "call",
    [
        lambda fit, curve: fit.life(USE, 0.1, 0.05),
        lambda fit, curve: fit.reliability(USE, 500, 0.05),
        lambda fit, curve: fit.mttf(USE, 0.05),
        lambda fit, curve: fit.time_ratios(0.05),
        lambda fit, curve: fit.acceleration(USE, STRESS, 0.05),
        lambda fit, curve: fit.plot_hazard(USE, None, 0.05),
        lambda fit, curve: curve.table(0.05),
    ],
)
def test_an_alpha_in_the_place_of_a_level_is_refused(call: Callable[[Fit, CurveFit], object]) -> None:
    """Else a 5 % interval would be taken for one of 95 %."""
    with pytest.raises(SpecificationError, match="An alpha, such as statsmodels takes, is 1 - level"):
        call(capacitor(), curve())


def test_fractions_alone_ask_for_quantiles_and_times_alone_for_survival() -> None:
    fit, hazard = capacitor(), hazards()
    assert fit.predict(BOTH, p=0.1).equals(fit.predict(BOTH, type="quantile", p=0.1))
    assert fit.predict(BOTH, times=[5, 7]).equals(fit.predict(BOTH, type="survival", times=[5, 7]))
    assert hazard.predict(MARGIN_AT, times=5).equals(hazard.predict(MARGIN_AT, type="survival", times=5))
    assert fit.predict(BOTH).equals(fit.predict(BOTH, type="response"))
    assert list(fit.predict(BOTH, type="quantile")) == [0.1, 0.5, 0.9]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"type": "median", "p": 0.1}, r"^p= is of type='quantile', and what is asked for is type='median'"),
        ({"type": "response", "p": 0.1}, "p= is of type='quantile', and .* type='response'"),
        ({"type": "survival", "times": 500, "p": 0.1}, "p= is of type='quantile', and .* type='survival'"),
        ({"type": "lp", "times": 500}, "times= is of type='survival' or type='hazard' or type='cumhaz', and"),
        ({"p": 0.1, "times": 500}, "times= is of type='survival' or .* type='quantile'"),
    ],
)
def test_fractions_and_times_of_another_type_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecificationError, match=words):
        capacitor().predict(USE, **asked)
    if "p" not in asked:
        with pytest.raises(SpecificationError, match="is of type='survival' or type='cumhaz', and"):
            hazards().predict(MARGIN_AT, **asked)
