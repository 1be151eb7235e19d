"""T8 on every fit: no value of a row is in a result, in what it shows or stores, or in an exception."""

import json
import pickle
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.cli import main
from dpstats.curator.blocks import Blocks
from dpstats.errors import SpecificationError
from tests.privacy.catalogue import ROWS, SHORT, Case, made
from tests.results.test_record import reachable

SENTINELS = {
    "time": 12.345678901,
    "temp": 23.456789012,
    "load": 0.34567890123,
    "cost": 321.98765432,
    "months": 7.8901234567,
}
NAMES = ["Zanzibar-Prototype", "serial-0"]  # of no declared level


def frame() -> pd.DataFrame:
    data = pd.DataFrame(made(seed=5)).assign(start=0.0)
    for place, (column, value) in enumerate(SENTINELS.items()):
        data.loc[30 * place : 30 * place + 20, column] = value
    data.loc[:1, "maker"] = NAMES[0]
    data["serial"] = [f"serial-{number:06d}" for number in range(ROWS)]
    return data


def traces(text: str) -> list[str]:
    private = [*NAMES, *(repr(value)[:-1] for value in SENTINELS.values())]
    return [item for item in private if item in text]


FRAME = frame()


@pytest.mark.parametrize("case", SHORT)
def test_a_result_holds_and_shows_no_row(case: Case, tmp_path: Path) -> None:
    """With the noise of users. Nothing it leads to is as long as the rows, or a value of one."""
    fit = case.fit(FRAME)
    everything, params = reachable(fit), getattr(getattr(fit, "record", None), "params", None)
    assert params is None or any(item is params for item in everything), "the walk must see the arrays"
    for item in everything:
        assert not isinstance(item, pd.DataFrame | pd.Series | dps.PublicMoments)
        if isinstance(item, np.ndarray):
            assert ROWS not in item.shape and item.size < 10 * ROWS
        if isinstance(item, list | tuple | dict | set):
            assert len(item) != ROWS
    texts = [repr(fit), str(fit), json.dumps(fit.to_dict()), fit._repr_html_()]
    if hasattr(fit, "summary"):
        texts += [str(fit.summary()), fit.summary().as_html()]
    if hasattr(fit, "tidy"):  # a curve has a summary and no coefficients
        fit.save(tmp_path / "fit.json")
        texts += [(tmp_path / "fit.json").read_text()]
        texts += [str(fit.tidy()), str(fit.glance())]
        assert dps.load(tmp_path / "fit.json").to_dict() == fit.to_dict()
    assert pickle.loads(pickle.dumps(fit)).to_dict() == fit.to_dict()
    texts += [repr(model := case.model_of(FRAME)), repr(model.design), repr(model.design.schema)]
    assert not [found for text in texts for found in traces(text)]
    assert not [value for value in stored(pickle.dumps(fit)) if value]
    assert "NOT PRIVATE" not in "".join(texts)


def stored(pickled: bytes) -> list[bytes]:
    """Values of rows, or logarithms of them, that stand in a pickle."""
    numbers = [function(value) for value in SENTINELS.values() for function in (np.float64, np.log)]
    return [value for value in (*(x.tobytes() for x in numbers), *map(str.encode, NAMES)) if value in pickled]


def test_the_search_would_find_them() -> None:
    assert traces(f"{SENTINELS['temp']!r} {NAMES[0]}") and stored(pickle.dumps(FRAME))


def held(trace: TracebackType | None) -> set[str]:
    """Names of the locals of all frames inside the package."""
    frames = (frame for frame, _ in traceback.walk_tb(trace) if "/dpstats/" in frame.f_code.co_filename)
    return {name for frame in frames for name in frame.f_locals}


@pytest.mark.parametrize("case", SHORT)
def test_a_fit_that_fails_among_rows_shows_none(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that tells of rows leaves as one that tells nothing; an interrupt stays an interrupt."""
    passes = Blocks.__iter__
    for kind, expected in ((ValueError, RuntimeError), (KeyboardInterrupt, KeyboardInterrupt)):

        def faulty(self: Blocks, kind: type[BaseException] = kind) -> Any:
            for block in passes(self):
                secret = np.array(block.exog)
                raise kind(f"{SENTINELS['temp']!r} {secret.max()}")
                yield block

        monkeypatch.setattr(Blocks, "__iter__", faulty)
        shows_none(case, expected)


def shows_none(case: Case, expected: type[BaseException]) -> None:
    with pytest.raises(expected) as caught:
        case.fit(FRAME)
    error = caught.value
    assert error.__cause__ is None and error.__context__ is None
    assert not traces("".join(traceback.format_exception(error)))
    assert held(error.__traceback__) == {"make"}


def test_new_data_whose_texts_are_none_show_no_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrow quotes bytes that are no text where pandas reads or writes them."""
    schema = dps.Schema(x=dps.bounded(0, 1), g=dps.levels("a", "b"), y=dps.bounded(0, 1))
    x = np.arange(900) / 900
    with testing.noise(testing.NoNoise()):
        fit = dps.ols("y ~ x + g", {"x": x, "y": x, "g": ["a", "b", "b"] * 300}, schema).fit(dps.gdp(1))
    fit.save(tmp_path / "line.json")
    wild = pa.array([b"a", b"Jane Doe\xff"], pa.binary()).view(pa.string())
    with pytest.warns(UserWarning, match="lack a value"):
        assert fit.predict(pa.table({"x": [0.1, 0.2], "g": wild})).isna().tolist() == [False, True]
    for columns in ({"g": wild}, {"g": ["a", "b"], "note": wild}):
        pq.write_table(pa.table({"x": [0.1, 0.2]} | columns), tmp_path / "new.parquet")
        assert main(["predict", str(tmp_path / "line.json"), str(tmp_path / "new.parquet")]) == 2
        said = capsys.readouterr()
        assert "texts that are not UTF-8" in said.err and "Jane" not in said.out + said.err

    class Odd:
        def to_pandas(self) -> object:
            raise ValueError("Jane Doe")

    with pytest.raises(SpecificationError, match="newdata cannot be read as a table") as caught:
        fit.predict(Odd())
    assert caught.value.__context__ is caught.value.__cause__ is None
