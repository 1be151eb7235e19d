"""No private number is in a fit, in what it prints, or in what a failing fit leaves behind (T8)."""

import json
import pickle
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.curator.statistics import REGISTRY
from tests.models.drives import FORMULA, SCHEMA, drives
from tests.results.test_record import reachable

ROWS = 1201  # prime, and unlike any number of coefficients
SENTINELS = {"time": 1234.5678901, "temp": 23.456789012, "load": 0.34567890123}
# names of no declared level; a fit must not tell that they are there
NAMES = ["Zanzibar-Prototype", "Quux-9000"]


def frame() -> pd.DataFrame:
    data = pd.DataFrame(drives(ROWS, 5))
    for place, (column, value) in enumerate(SENTINELS.items()):
        data.loc[100 * place : 100 * place + 60, column] = value
    data.loc[:1, "maker"] = NAMES
    data["serial"] = [f"serial-{number:06d}" for number in range(ROWS)]
    return data


@pytest.fixture(scope="module")
def fit() -> dps.Fit:
    """With the noise of users."""
    return dps.survreg(FORMULA, frame(), SCHEMA).fit(dps.approx(3, 1e-6))


def traces(text: str) -> list[str]:
    private = [*NAMES, "serial-0", *(repr(value)[:-1] for value in SENTINELS.values())]
    return [item for item in private if item in text]


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


def test_no_private_value_is_in_any_rendering(fit: dps.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.json")
    summary = fit.summary()
    texts = [
        repr(fit), fit._repr_html_(), str(summary), summary.as_html(), (tmp_path / "fit.json").read_text(),
        json.dumps(fit.to_dict()), str(fit.tidy()), str(fit.glance()),
        str(fit.life({"temp": 30, "load": 0.5, "maker": "A"}, failed=[0.1])),
    ]  # fmt: skip
    assert not [found for text in texts for found in traces(text)]
    pickled = pickle.dumps(fit)
    for value in SENTINELS.values():
        assert np.float64(value).tobytes() not in pickled
        assert np.float64(np.log(value)).tobytes() not in pickled
    for name in NAMES:
        assert name.encode() not in pickled
    assert traces(f"{SENTINELS['temp']!r} {NAMES[0]}"), "and the search would find them"


def test_the_model_shows_no_row(fit: dps.Fit) -> None:
    model = dps.survreg(FORMULA, frame(), SCHEMA)
    assert not traces(repr(model) + repr(model.design) + repr(model.design.schema))


def held(trace: TracebackType | None) -> list[Any]:
    """Locals of all frames inside the package, but model and curator, whose rows the user holds anyway."""
    items = []
    for frame, _ in traceback.walk_tb(trace):
        if "/dpstats/" in frame.f_code.co_filename:
            items += [item for name, item in frame.f_locals.items() if name not in ("self", "curator")]
    return [item for item in items if not isinstance(item, BaseException)]


GAUSSIAN: dict[str, Any] = dict(budget=dps.approx(3, 1e-6), release=["loglik"])
PURE: dict[str, Any] = dict(budget=dps.pure(3))
PATHS: list[tuple[str, str, dict[str, Any]]] = [
    *((name, FORMULA, GAUSSIAN) for name in ("event_moments", "event_matrix", "location_score")),
    *((name, FORMULA, GAUSSIAN) for name in ("martingale_score", "hazard_zones", "log_likelihood")),
    ("martingale_score", "Surv(temp, time, failed) ~ load", dict(budget=dps.approx(3, 1e-6))),
    *(
        (name, "Surv(time, failed) ~ temp + load", dict(budget=dps.gdp(0.02)))
        for name in ("sign_score", "sign_sizes")
    ),
    *((name, FORMULA, PURE) for name in ("information_sizes", "score_alone")),
    *(
        ("functional_weights", "Surv(time) ~ load", dict(PURE, method="functional", compat=compat))
        for compat in (None, "paper")
    ),
]


@pytest.mark.parametrize(("statistic", "formula", "how"), PATHS)
def test_a_fit_that_fails_among_rows_shows_none(
    statistic: str, formula: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in any statistic: the error has no cause and no frame with a block, and says no value."""
    kind = REGISTRY[statistic]

    def faulty(self: Any, block: Any, scratch: Any) -> Any:
        secret = np.array(block.time)
        raise ValueError(f"time {secret.max()}, {SENTINELS['temp']!r}")

    monkeypatch.setattr(kind, "factors", faulty)
    with pytest.raises(RuntimeError, match="may depend on private values") as caught:
        dps.survreg(formula, frame(), SCHEMA).fit(**how)
    error = caught.value
    assert error.__cause__ is None and error.__context__ is None
    assert not traces("".join(traceback.format_exception(error)))
    for item in held(error.__traceback__):
        arrays = [found for found in reachable(item) if isinstance(found, np.ndarray)]
        assert not [array.shape for array in arrays if ROWS in array.shape]


def test_what_is_printed_says_how_private_it_is(fit: dps.Fit) -> None:
    text = str(fit.summary())
    assert "epsilon = 3, delta = 1e-06" in text and "NOT PRIVATE" not in text
    assert fit.nobs == ROWS and not fit.not_private
