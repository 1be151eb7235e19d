"""Every source of rows is known again: in a list, where a record would be two rows, and as public rows."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask.dataframe
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats.errors import DataError
from dpstats.rows import open_rows, shared
from dpstats.rows.rows import TABLES, repeated
from dpstats.rows.sql import refuse_reader

FRAME = pd.DataFrame({"x": [0.1, 0.2, 0.3], "identity": [1.0, 0.0, 1.0]})
SCHEMA = dps.Schema(x=dps.bounded(0, 1))


class OfSpark:
    """What the package takes for a dataframe of Spark, which it asks for nothing before it is opened."""


@pytest.fixture(autouse=True)
def spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(DataFrame=OfSpark))


def _csv(folder: Path) -> tuple[Any, Any]:
    FRAME.to_csv(folder / "a.csv", index=False)
    return dps.read_csv(folder / "a.csv"), dps.read_csv(folder / ".." / folder.name / "a.csv", sep=";")


def _sql(folder: Path) -> tuple[Any, Any]:
    connection = sqlite3.connect(":memory:")
    FRAME.to_sql("t", connection)
    return tuple(dps.read_sql(text, connection) for text in ("select x from t", "select x from t\n"))


def _mapping(folder: Path) -> tuple[Any, Any]:
    columns = FRAME.to_dict("list")
    return columns, {"other name": columns["x"]}


def _same(make: Callable[[], Any]) -> Callable[[Path], tuple[Any, Any]]:
    return lambda folder: (make(),) * 2


PAIRS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "a CSV file": _csv,
    "a frame": lambda folder: (FRAME, FRAME[:]),
    "a query": _sql,
    "a dict": _mapping,
    "an Arrow table": lambda folder: ((table := pa.table(FRAME.to_dict("list"))), table.slice(1)),
    "a polars frame": lambda folder: ((frame := pl.DataFrame(FRAME.to_dict("list"))), frame[1:]),
    "a lazy frame": _same(lambda: pl.LazyFrame({"x": [0.1]})),
    "a relation": _same(lambda: pytest.importorskip("duckdb").sql("select 0.1 as x")),
    "Dask": _same(lambda: dask.dataframe.from_pandas(FRAME, npartitions=1)),
    "Spark": _same(OfSpark),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_one_table_is_known_again(kind: str, tmp_path: Path) -> None:
    one, other = PAIRS[kind](tmp_path)
    assert repeated([one, other]) and repeated((other, one)) and shared(one, other)
    with pytest.raises(DataError, match="data hold a table twice"):
        open_rows([one, other], SCHEMA, ["x"])
    if type(one).__module__.startswith(
        "dpstats."
    ):  # two objects of one file or query have nothing else in common
        assert hasattr(type(one), "identity")


def test_other_queries_and_databases_are_others(tmp_path: Path) -> None:
    connection = _sql(tmp_path)[0].connection
    here = dps.read_sql("select x from t where x < .2", connection)
    rest = dps.read_sql("select x from t where x >= .2", connection)
    assert not repeated([here, rest]) and not repeated(
        [here, dps.read_sql(here.text, _sql(tmp_path)[0].connection)]
    )


@pytest.mark.parametrize(("is_one", "opener"), TABLES)
def test_every_kind_of_table_has_a_pair(is_one: Any, opener: Any, tmp_path: Path) -> None:
    assert opener is refuse_reader or any(is_one(make(tmp_path)[0]) for make in PAIRS.values())
