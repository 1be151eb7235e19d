"""What a message holds, and what it never holds."""

import json
import math
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.contributors import contribute_rows, write_messages
from dpstats.contributors.law import RESPONSE
from dpstats.errors import DataError, SpecificationError
from dpstats.formula import Design
from tests.contributors.people import people, plan, seeded, silent

RECORD = {"income": 4.0, "age": 30, "educ": "mid", "urban": 1}


def rows(of: Any) -> np.ndarray:
    """z of each message: its matrix has rank one."""
    size = len(of.design.names) + 1
    i, j = np.triu_indices(size)
    found = []
    for message in silent(people(200), of):
        matrix = np.zeros((size, size))
        matrix[i, j] = matrix[j, i] = message.values / np.where(i == j, 1, math.sqrt(2))
        values, vectors = np.linalg.eigh(matrix)
        assert np.abs(values[:-1]).max() < 1e-12
        found.append(vectors[:, -1] * math.sqrt(values[-1]) * np.sign(vectors[0, -1]))
    return np.array(found)


def test_the_matrix_of_a_message_is_that_of_row_and_response() -> None:
    of, data = plan(), people(200)
    z = rows(of)
    age, income = (data["age"] - 49) / 31, (data["income"] - 5) / 5
    assert np.allclose(z[:, of.design.names.index("age")], age / of.rows.radius)
    assert np.allclose(z[:, 0], 1 / of.rows.radius)
    assert np.allclose(z[:, -1], RESPONSE * income)
    assert (np.linalg.norm(z[:, :-1], axis=1) <= 1 + 1e-12).all()


def test_levels_of_one_category_share_their_length() -> None:
    """Of two dummies only one is 1, so that the longest row is shorter than that of a box."""
    of = plan()
    assert of.rows.radius**2 == pytest.approx(1 + 1 + 1 + (4 / 3) ** 2 + (2 / 3) ** 2)
    corners = [{"income": 10, "age": 80, "educ": level, "urban": 1} for level in ("low", "mid", "high")]
    table = {name: [corner[name] for corner in corners] for name in corners[0]}
    longest = max(m.values[[0, 6, 11, 15, 18]].sum() for m in silent(table, of))
    assert longest == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("method", ["statistics", "input"])
@pytest.mark.parametrize("bad", [{"age": math.nan}, {"educ": "none"}, {"income": "?"}, {"urban": 7}])
def test_a_record_that_is_not_whole_is_noise_and_nothing_else(bad: dict[str, Any], method: str) -> None:
    (message,) = silent({name: [value] for name, value in (RECORD | bad).items()}, plan(method=method))
    assert not message.values.any()


def test_values_beyond_their_bounds_are_moved_to_them() -> None:
    at_bounds, beyond = {"age": 80, "income": 0}, {"age": 1e300, "income": -1e308}
    first, second = (
        silent({k: [v] for k, v in (RECORD | more).items()}, plan())[0].values for more in (at_bounds, beyond)
    )
    assert np.array_equal(first, second)


@pytest.mark.parametrize("method", ["statistics", "input"])
def test_a_message_by_secure_noise(method: str) -> None:
    of = plan(method=method)
    first, second = dps.contribute(RECORD, of), dps.contribute(RECORD, of)
    assert first.plan == of.hash and len(first.id) == 16 and first.id != second.id
    assert len(first.values) == of.size and not (first.values == second.values).any()
    assert json.loads(first.to_json())["values"] == first.values.tolist()


def test_noise_under_test_is_marked() -> None:
    of = plan()
    assert seeded(people(2), of)[0].plan == f"test:{of.hash}"


def test_noise_has_the_sd_of_the_plan() -> None:
    of, data = plan(method="input"), people(2000)
    exact = np.array([message.values for message in silent(data, of)])
    noise = np.array([message.values for message in seeded(data, of)]) - exact
    for sd, part in zip(of.sds, np.hsplit(noise, 2), strict=True):
        assert np.std(part) == pytest.approx(sd, rel=0.03)


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(DataError, match="no column 'educ'"):
        dps.contribute({"income": 4.0, "age": 30, "urban": 1}, plan())
    with pytest.raises(DataError, match="a record maps variables"):
        dps.contribute([4.0], plan())  # type: ignore[arg-type]
    with pytest.raises(SpecificationError, match="plan must be a Plan"):
        dps.contribute(RECORD, plan().to_dict())  # type: ignore[arg-type]


class Telling:
    """A cell, or a record, that says what it holds as soon as anybody asks it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("33.987654321")


class TellingRecord(dict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        raise RuntimeError("33.987654321")


def test_no_code_of_a_cell_is_run_and_no_words_of_a_record_leave() -> None:
    with testing.noise(testing.NoNoise()):
        assert not dps.contribute(RECORD | {"age": Telling()}, plan()).values.any()
    for several in ([[1, 2], [3]], (1.0,), np.array([1.0]), pd.Series([1.0])):
        with pytest.raises(DataError, match="'age' holds several"):
            dps.contribute(RECORD | {"age": several}, plan())
    with pytest.raises(DataError, match="the record cannot be read. The cause is not shown") as caught:
        dps.contribute(TellingRecord(RECORD), plan())
    assert caught.value.__context__ is None


@pytest.mark.parametrize("fault", ["in the noise", "thrown in", "of the data"])
def test_messages_that_end_in_an_error_leave_no_row(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(testing.NoNoise):
        def gaussian(self, *args: Any, **kwargs: Any) -> Any:
            raise KeyboardInterrupt

    def read() -> None:
        of = contribute_rows({name: [value] * 9 for name, value in RECORD.items()}, plan())
        if fault == "of the data":
            monkeypatch.setattr(Design, "read", Broken.gaussian)
        if fault == "thrown in":
            next(of)
            of.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
        with testing.noise(Broken() if fault == "in the noise" else testing.NoNoise()):
            next(of)

    with pytest.raises(KeyboardInterrupt) as caught:
        read()
    frames = (frame for frame, _ in walk_tb(caught.tb) if "/dpstats/" in frame.f_code.co_filename)
    assert not any(frame.f_locals for frame in frames)


def test_files_hold_no_value_of_a_record(tmp_path: Path) -> None:
    record = {"income": [4.123456789], "age": [33.987654321], "educ": ["mid"], "urban": [1]}
    record["name"] = ["Ada L"]
    for name in ("m.jsonl", "m.parquet"):
        assert write_messages(contribute_rows(record, plan()), tmp_path / name) == 1
        content = (tmp_path / name).read_bytes()
        for value in (4.123456789, 33.987654321):
            assert np.float64(value).tobytes() not in content and str(value).encode() not in content
        assert b"Ada" not in content and b"mid" not in content
    with pytest.raises(DataError, match="end in .parquet or .jsonl"):
        write_messages([], tmp_path / "m.csv")
