"""No private number is in a linear fit, its moments included, nor in what it prints or writes (T8)."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from tests.results.test_record import reachable

ROWS = 1201  # prime, and unlike any number of coefficients
SENTINELS = {"quality": 6.5432109876, "alcohol": 11.123456789, "acidity": 7.8901234567}
NEVER = "Zanzibar-Prototype"  # of no declared level
SCHEMA = dps.Schema(
    quality=dps.bounded(0, 10),
    alcohol=dps.bounded(8, 15),
    acidity=dps.bounded(3, 16),
    colour=dps.levels("w", "r"),
)


@pytest.fixture(scope="module")
def fit() -> dps.Fit:
    """With the noise of users."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"alcohol": rng.uniform(8, 15, ROWS), "acidity": rng.uniform(3, 16, ROWS)})
    data["quality"] = 1 + 0.4 * data["alcohol"] + rng.normal(size=ROWS)
    data["colour"] = rng.choice(["w", "r"], ROWS)
    for place, (column, value) in enumerate(SENTINELS.items()):
        data.loc[100 * place : 100 * place + 60, column] = value
    data.loc[:1, "colour"] = NEVER
    model = dps.ridge("quality ~ alcohol + acidity + colour", data, SCHEMA, alpha=0.1)
    return model.fit(dps.approx(3, 1e-6))


def test_no_array_as_long_as_the_rows_is_reachable(fit: dps.Fit) -> None:
    k = len(fit.names)
    everything = reachable(fit)
    assert any(item is fit.record.linear.gram for item in everything), "the walk must see the moments"
    for item in everything:
        assert not isinstance(item, pd.DataFrame | pd.Series)
        if isinstance(item, np.ndarray):
            assert ROWS not in item.shape and item.size <= k * k
        if isinstance(item, list | tuple | dict | set | str):
            assert len(item) != ROWS


def test_no_private_value_is_in_any_rendering(fit: dps.Fit) -> None:
    new = {"alcohol": 12, "acidity": 7, "colour": "w"}
    texts = [
        repr(fit), fit._repr_html_(), str(fit.summary(unpenalised=True)), json.dumps(fit.to_dict()),
        str(fit.tidy()), str(fit.glance()), str(fit.sigma), str(fit.rsquared), repr(fit.ridge_path()),
        str(fit.at_alpha(0)), str(fit.get_prediction(new).summary_frame()),
    ]  # fmt: skip
    private = [NEVER, *(repr(value)[:-1] for value in SENTINELS.values())]
    assert not [item for text in texts for item in private if item in text]
    pickled = pickle.dumps(fit)
    assert NEVER.encode() not in pickled
    assert not [value for value in SENTINELS.values() if np.float64(value).tobytes() in pickled]


def test_a_fit_survives_its_file_and_every_penalty_with_it(fit: dps.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.json")
    back = dps.load(tmp_path / "fit.json")
    assert back.to_dict() == fit.to_dict()
    assert back.at_alpha(3).to_dict() == fit.at_alpha(3).to_dict() and back.rsquared == fit.rsquared
