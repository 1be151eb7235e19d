"""No private number is in a fit of a generalised linear model, nor in what it prints or writes (T8)."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from tests.models.visits import HOW, PUBLIC, WAYS, model, visits
from tests.results.test_record import reachable

ROWS = 1201  # prime, and unlike any number of coefficients
SENTINELS = {"age": 43.456789012, "income": 3.4567890123, "cost": 321.98765432}
NEVER = "Zanzibar-Prototype"  # of no declared level


@pytest.fixture(scope="module", params=WAYS, ids=str)
def fit(request: pytest.FixtureRequest) -> dps.Fit:
    """With the noise of users."""
    family, how = request.param
    data = pd.DataFrame(visits(ROWS, 4))
    for place, (column, value) in enumerate(SENTINELS.items()):
        data.loc[100 * place : 100 * place + 60, column] = value
    data.loc[:1, "region"] = NEVER
    return model(family, data, public=PUBLIC).fit(dps.approx(8, 1e-6), **HOW[how])


def test_no_array_as_long_as_the_rows_is_reachable(fit: dps.Fit) -> None:
    k = len(fit.names)
    everything = reachable(fit)
    assert any(item is fit.record.params for item in everything), "the walk must see the arrays of the fit"
    for item in everything:
        assert not isinstance(item, pd.DataFrame | pd.Series)
        if isinstance(item, np.ndarray):
            assert ROWS not in item.shape and item.size <= k * k
        if isinstance(item, list | tuple | dict | set | str):
            assert len(item) != ROWS


def test_no_private_value_is_in_any_rendering(fit: dps.Fit) -> None:
    new = {"age": 50, "income": 4, "region": "south"}
    texts = [
        repr(fit), fit._repr_html_(), str(fit.summary()), json.dumps(fit.to_dict()), str(fit.tidy()),
        str(fit.glance()), str(fit.get_prediction(new).summary_frame()),
    ]  # fmt: skip
    private = [NEVER, *(repr(value)[:-1] for value in SENTINELS.values())]
    assert not [item for text in texts for item in private if item in text]
    pickled = pickle.dumps(fit)
    assert NEVER.encode() not in pickled
    for value in SENTINELS.values():
        assert np.float64(value).tobytes() not in pickled
        assert np.float64(np.log(value)).tobytes() not in pickled


def test_a_fit_survives_its_file(fit: dps.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.json")
    back = dps.load(tmp_path / "fit.json")
    assert back.to_dict() == fit.to_dict() and back.summary().as_html() == fit.summary().as_html()
    assert pickle.loads(pickle.dumps(fit)).to_dict() == fit.to_dict()


def test_it_says_how_private_it_is_and_holds_no_public_moments(fit: dps.Fit) -> None:
    assert "epsilon = 8, delta = 1e-06" in str(fit.summary()) and not fit.not_private
    assert not any(isinstance(item, dps.PublicMoments) for item in reachable(fit))
