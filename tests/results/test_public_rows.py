"""Residuals of public rows, and simulated responses."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import DISTS
from tests.results.every import EVERY, MARGIN_AT, svm
from tests.results.fits import STRESS, USE, capacitor
from tests.results.glms import RESPONSES, glm, rows, statsmodels_fit
from tests.results.linear import linear


def public() -> pd.DataFrame:
    """The rows of the GLMs under their codes."""
    return rows().assign(sex=rows()["sex"].map({1.0: "M", 0.0: "F"}))


@pytest.mark.parametrize("family", RESPONSES)
def test_residuals_are_those_of_statsmodels(family: str) -> None:
    fit, theirs = glm(family), statsmodels_fit(family)
    y = rows()[RESPONSES[family]]
    for kind in ("response", "pearson", "deviance"):
        found = fit.residuals(public(), y, type=kind).to_numpy()
        assert found == pytest.approx(getattr(theirs, f"resid_{kind}").to_numpy(), rel=1e-6, abs=1e-7)


def test_residuals_of_times() -> None:
    fit, times = capacitor(), np.array([500.0, 30.0])
    eta = fit.predict([USE, STRESS], type="lp")
    z = (np.log(times) - eta) / float(fit.sigma)
    found = {
        kind: fit.residuals([USE, STRESS], times, [1, 0], type=kind).to_numpy()
        for kind in ("response", "standardized", "cox-snell", "martingale")
    }
    assert found["response"] == pytest.approx(times - np.exp(eta))
    assert found["standardized"] == pytest.approx(z)
    pairs = zip([USE, STRESS], times, strict=True)
    survival = [fit.reliability(at, time).frame["estimate"][0] for at, time in pairs]
    assert found["cox-snell"] == pytest.approx(-np.log(survival))
    assert found["martingale"] == pytest.approx(np.array([1, 0]) - found["cox-snell"])


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([USE, STRESS], [1.0]), "2 finite numbers"),
        ((USE, [np.nan]), "1 finite"),
        ((USE, [1.0], None, "pearson"), "martingale"),
        ((USE, [1.0], [1, 1]), "event must be 1"),
        ((USE, "time"), r"y is the responses themselves, such as rows\['time'\], and not their name"),
    ],
)
def test_mistakes_are_named(arguments: tuple[object, ...], word: str) -> None:
    with pytest.raises(SpecificationError, match=word):
        capacitor().residuals(*arguments)


def test_residuals_need_public_rows_and_a_model_of_the_mean() -> None:
    for arguments in ((), (USE,)):
        with pytest.raises(NotReleased, match="public rows and their responses"):
            capacitor().residuals(*arguments)
    with pytest.raises(NotReleased, match="decision_function"):
        svm().residuals(MARGIN_AT, [1])


@pytest.mark.parametrize("model", [model for model in EVERY if model not in ("svm", "coxph")])
def test_simulated_responses_have_the_predicted_mean_and_their_law(model: str) -> None:
    fit, at = EVERY[model]
    drawn = fit.simulate(at, nsim=4000, seed=3)
    assert drawn.shape == (1, 4000) and list(drawn)[:2] == ["sim_1", "sim_2"]
    values = drawn.to_numpy().ravel()
    assert np.array_equal(values, fit.simulate(at, nsim=4000, seed=3).to_numpy().ravel())
    if fit.record.is_survival:
        family = DISTS[fit.record.dist].family
        z = fit.residuals([at] * 4000, values, type="standardized").to_numpy()
        assert stats.kstest(family.cdf(z), "uniform").pvalue > 1e-3
        return
    mean = float(fit.predict(at)[0])
    assert values.mean() == pytest.approx(mean, abs=4 * values.std() / np.sqrt(len(values)))
    if fit.record.dist == "binomial":
        assert set(values) <= {0.0, 1.0}
    if fit.record.dist == "gamma":
        assert values.var() == pytest.approx(fit.dispersion.estimate * mean**2, rel=0.2)
    if fit.record.dist == "gaussian":
        assert values.std() == pytest.approx(fit.get_prediction(at).sd_obs, rel=0.05)


def test_what_has_no_law_of_a_response_simulates_none() -> None:
    with pytest.raises(NotReleased, match="margin"):
        svm().simulate(MARGIN_AT)
    weighted = linear(weights="unused")
    with pytest.raises(NotReleased, match="sd of the error"):
        weighted.simulate({"alcohol": 12, "sulphates": 0.5, "acidity": 7})
    with pytest.raises(SpecificationError, match="nsim"):
        capacitor().simulate(USE, nsim=0)
    with pytest.raises(SpecificationError, match="seed must be a whole number from 0, or None, got -1"):
        capacitor().simulate(USE, seed=-1)
