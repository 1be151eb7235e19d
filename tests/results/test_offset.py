"""Predictions add the offset of new data; weights are part of what is saved and shown."""

import json

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.results import Fit
from tests.results.fits import STRESS, USE, capacitor

SCHEMA = dps.Schema({**capacitor().schema, "load": dps.bounded(0.5, 4)})
OFFSET = " + offset(np.log(load))"


def with_offset(**changes: object) -> Fit:
    return capacitor(formula=capacitor().formula + OFFSET, schema=SCHEMA, **changes)


def linear(formula: str, *params: float, **changes: object) -> Fit:
    k = len(params)
    fields = dict(
        model="ols",
        dist="normal",
        formula=formula,
        names=("Intercept", "voltage")[:k],
        params=np.array(params),
        cov=np.eye(k),
        cov_privacy=np.zeros((k, k)),
        settings={},
    )
    return capacitor(schema=SCHEMA, **fields | changes)


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit, new: fit.predict(new),
        lambda fit, new: fit.predict(new, type="quantile", p=0.1),
        lambda fit, new: fit.get_prediction(new).summary_frame().to_numpy(),
        lambda fit, new: fit.augment(new)[[".fitted", ".se_fit", ".lower", ".upper"]].to_numpy(),
        lambda fit, new: fit.life(new).frame[["estimate", "conf_low", "conf_high"]].to_numpy(),
        lambda fit, new: fit.eta(new).frame["estimate"],
        lambda fit, new: fit.mttf(new).frame["estimate"],
    ],
)
def test_an_offset_of_log_2_doubles_all_times(ask) -> None:
    """Loads of up to 4 are declared: of what stands in the offset alone nothing is extrapolated."""
    found = ask(with_offset(), {**USE, "load": [2.0, 4.0, 5.0]})
    wanted = np.asarray(ask(capacitor(), USE))
    parts = np.split(np.asarray(found), 3)
    for part, factor in zip(parts, (2, 4, 5), strict=True):
        assert part == pytest.approx(factor * wanted, rel=1e-12, nan_ok=True)


def test_functions_of_time_see_the_offset() -> None:
    for name in ("reliability", "hazard"):
        one = getattr(with_offset(), name)({**USE, "load": 2.0}, [200, 600]).frame["estimate"]
        other = getattr(capacitor(), name)(USE, [100, 300]).frame["estimate"]
        assert one.to_numpy() == pytest.approx(other / (2 if name == "hazard" else 1), rel=1e-12)
    one = with_offset().conditional_reliability({**USE, "load": 2.0}, 200, [400]).frame["estimate"]
    other = capacitor().conditional_reliability(USE, 100, [200]).frame["estimate"]
    assert one.to_numpy() == pytest.approx(other.to_numpy(), rel=1e-12)


def test_acceleration_compares_offsets_too() -> None:
    one = with_offset().acceleration({**USE, "load": 1.0}, {**STRESS, "load": 0.5})
    other = capacitor().acceleration(USE, STRESS)
    assert (one.estimate, one.conf_low, one.conf_high) == pytest.approx(
        (2 * other.estimate, 2 * other.conf_low, 2 * other.conf_high)
    )


def test_a_linear_fit_adds_its_offset() -> None:
    fit = linear("time ~ voltage + offset(100 * load) + offset(load)", 1.0, 2.0)
    new = pd.DataFrame({"voltage": [200, 300], "load": [1.0, 2.0]})
    assert fit.predict(new).tolist() == [1 + 400 + 101, 1 + 600 + 202]
    assert fit.get_prediction(new).predicted_mean.tolist() == fit.predict(new).tolist()


def test_an_offset_needs_new_data_even_without_covariates() -> None:
    fit = linear("time ~ offset(load)", 1.0)
    assert fit.predict({"load": [1, 2]}, type="lp").tolist() == [2, 3]
    with pytest.raises(NotReleased, match="values of load"):
        fit.predict()
    with pytest.raises(SpecificationError, match="newdata lacks 'load'"):
        fit.predict([{}])


def test_weights_are_saved_and_shown(tmp_path) -> None:
    fit = linear("time ~ voltage", 1.0, 2.0, weights="np.sqrt(load)")
    fit.save(tmp_path / "fit.json")
    again = dps.load(tmp_path / "fit.json")
    assert again.record.weights == "np.sqrt(load)" and again.design == fit.design
    assert again.design.max_weight == 2.0
    text = str(fit.summary())
    assert "Weights    np.sqrt(load)\n" in text
    assert "load [0.5, 4]" in text
    assert fit.predict({"voltage": 200}).tolist() == [401]  # new data need no weights


def test_fits_saved_before_there_were_weights_are_read() -> None:
    content = json.loads(json.dumps(capacitor().to_dict()))
    assert "weights" not in content
    assert Fit.from_dict(content).record.weights is None
