"""No error of `rows/` quotes a cell, or a label of an index, which may be a value of a record, too.

Every cell and every label of a table holds a secret, the table is given in each way that is refused, and the
secret is looked for in what is raised, warned and printed. Each place that makes an error is reached.
"""

import ast
import gzip
import io
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import dpstats as dps
import dpstats.rows
from dpstats.errors import DataError
from dpstats.rows import Rows, open_rows, shared, unit_parts
from dpstats.rows.links import Held
from dpstats.rows.rows import _of_relation
from dpstats.rows.sources import Asked
from dpstats.rows.sql import _check_codes, refuse_parsing
from dpstats.rows.template import template

WORD, NUMBER = "HIV" + "+", 8675309.25
SECRETS = (WORD, f"{NUMBER:.0f}")
SCHEMA = dps.Schema(x=dps.bounded(0, 1), g=dps.levels("a", "b"), k=dps.count(9)).unit("who", max_rows=1)
NAMES = ["x", "g", "k"]
ASKED = Asked(SCHEMA, tuple(NAMES))
COLUMNS = dict(
    x=[NUMBER, -NUMBER, NUMBER],
    g=[WORD, f"{WORD} 2", WORD],
    k=[8675309, 1, 8675309],
    who=[WORD, f"{WORD} 2", f"{WORD} 3"],
)
INDEX = [f"{WORD} 4", f"{WORD} 5", "8675309"]
FRAME = pd.DataFrame(COLUMNS, index=INDEX)
TEXT = FRAME.to_csv(index=False)
DATED = pd.DataFrame(COLUMNS | {"x": pd.to_datetime(["2026-01-01"] * 3)}, index=INDEX)

Refused = Callable[[Path], Any]


def opened(data: Any) -> list[Any]:
    """Of a table all blocks, where one is not refused before."""
    return list(open_rows(data, SCHEMA, NAMES).blocks())


def fails(*args: Any, **keywords: Any) -> NoReturn:
    raise ValueError(f"{WORD} {NUMBER}")


def file(name: str, content: str | bytes = TEXT) -> Refused:
    """Open a file of this name, whose content is the records'."""

    def refused(folder: Path) -> Any:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return opened(folder / name)

    return refused


def files(*names: str) -> Refused:
    """Open a folder of such files."""

    def refused(folder: Path) -> Any:
        for name in names:
            (folder / name).write_text(TEXT)
        return opened(folder)

    return refused


def linked(name: str, target: str) -> Refused:
    def refused(folder: Path) -> Any:
        (folder / "a.csv").write_text(TEXT)
        (folder / name).symlink_to(folder / target)
        return opened(folder)

    return refused


def changed(before: Callable[[Rows], Any], read: Callable[[Rows], Any]) -> Refused:
    def refused(folder: Path) -> Any:
        (folder / "d.csv").write_text(TEXT)
        rows = open_rows(folder / "d.csv", SCHEMA, NAMES)
        before(rows)
        (folder / "d.csv").write_text(TEXT * 2)
        return read(rows)

    return refused


def breaking() -> Iterator[Any]:
    yield FRAME
    fails()


def stopped(folder: Path) -> Any:
    rows = open_rows(breaking(), SCHEMA, NAMES)
    with pytest.raises(DataError):
        list(rows.blocks())
    return list(rows.blocks())


class Fails(dict):  # type: ignore[type-arg]
    """A mapping whose columns cannot be opened."""

    __getitem__ = values = fails


class Stream:
    __arrow_c_stream__ = fails


class Iterable:
    __iter__ = fails


def database(**other: Any) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", check_same_thread=False, **other)
    FRAME.to_sql("t", made, index=False)
    return made


def queried(text: str, **more: Any) -> Refused:
    return lambda folder: opened(dps.read_sql(text, database(), **more))


def database_changed(folder: Path) -> Any:
    made = database()
    (part,) = open_rows(dps.read_sql("SELECT * FROM t", made), SCHEMA, NAMES)._source.parts
    assert part.shown
    made.execute("DELETE FROM t")
    part.hold()


def of_vendor(name: str) -> Any:
    """A connection of a driver that is none of Python's own."""

    def info(self: object) -> dict[str, str]:
        return {"vendor_name": name}

    kind = type(
        "Connection", (), dict(__module__="adbc_driver_manager.dbapi", adbc_get_info=info, cursor=fails)
    )
    return kind()


def no_room(folder: Path) -> Any:
    unit_parts.Copy(ASKED)._spool._at_disk(fails)


def other_rows(folder: Path) -> Any:
    """More than those of which it is known which weigh."""
    held = unit_parts.Copy(ASKED)
    held.add({"x": np.full(3, NUMBER), "g": np.zeros(3, np.int16), "k": np.full(3, NUMBER)})
    return list(unit_parts.MarkedRows(ASKED, "they are others", held, bytes(1), 2)._coded())


def by_duckdb(query: str) -> Refused:
    def refused(folder: Path) -> Any:
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        (folder / "d.csv").write_text(TEXT)
        connection = duckdb.connect()
        connection.register("frame", FRAME)
        return opened(connection.sql(query.format(folder / "d.csv")))

    return refused


def duckdb_query(folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    return opened(dps.read_sql("SELECT * FROM nowhere", duckdb.connect()))


def keyed_by_text(folder: Path) -> Any:
    made = pytest.importorskip("duckdb", reason="duckdb is not installed").connect()
    made.execute("CREATE TABLE t AS SELECT 'serial-4711' AS who, .5 AS x, 'a' AS g, 1 AS k")
    return opened(dps.read_sql("SELECT * FROM t", made, key="who", cuts=[1.0]))


def csv(**written: Any) -> Refused:
    def refused(folder: Path) -> Any:
        (folder / "d.csv").write_text(TEXT)
        return dps.read_csv(folder / "d.csv", **written)

    return refused


def of_template(content: str) -> Refused:
    def refused(folder: Path) -> Any:
        (folder / "d.csv").write_text(content)
        return template(folder / "d.csv")

    return refused


def series(index: list[str]) -> pd.Series:
    return pd.Series(COLUMNS["x"], index=index)


REFUSED: dict[str, Refused] = {
    "a column that lacks": lambda folder: opened(FRAME.drop(columns="x")),
    "the unit's column lacks": lambda folder: opened(FRAME.drop(columns="who")),
    "a name that is nearly right": lambda folder: opened(FRAME.rename(columns={"g": "G"})),
    "a record for a header": file("d.csv", TEXT.partition("\n")[2]),
    "a record for a header, of Parquet": lambda folder: opened(pa.table({WORD: [1], f"{NUMBER}": [2]})),
    "two columns of one name": lambda folder: opened(pd.concat([FRAME, FRAME[["x"]]], axis=1)),
    "dates for numbers": lambda folder: opened(DATED),
    "dates for numbers, of Arrow": lambda folder: opened(pa.table(DATED.reset_index(drop=True))),
    "pieces that pandas parses": lambda folder: opened(pd.read_csv(io.StringIO(TEXT), chunksize=1)),
    "floats for units": lambda folder: opened(FRAME.assign(who=FRAME["x"])),
    "names of two levels": lambda folder: opened(pd.concat({WORD: FRAME}, axis=1)),
    "a variable in the index": lambda folder: opened(FRAME.set_index("g")),
    "columns of two lengths": lambda folder: opened(COLUMNS | {"x": [NUMBER]}),
    "series of two indexes": lambda folder: opened(COLUMNS | {"x": series(INDEX), "k": series(INDEX[::-1])}),
    "a column of two dimensions": lambda folder: opened(COLUMNS | {"x": np.full((3, 1), NUMBER)}),
    "a set for a column": lambda folder: opened(COLUMNS | {"g": set(COLUMNS["g"])}),
    "a cell for a column": lambda folder: opened({name: cells[0] for name, cells in COLUMNS.items()}),
    "a column that cannot be opened": lambda folder: opened(Fails(COLUMNS)),
    "an array that cannot be opened": lambda folder: opened(COLUMNS | {"x": Stream()}),
    "reading that was stopped": stopped,
    "reading that fails": lambda folder: opened(breaking()),
    "what Arrow cannot hold": lambda folder: opened(
        polars.DataFrame(COLUMNS).with_columns(x=polars.lit(8675309, polars.Int128))
    ),
    "a stream that fails": lambda folder: opened(Stream()),
    "an iterable that fails": lambda folder: opened(Iterable()),
    "a lazy frame that fails": lambda folder: opened(polars.LazyFrame(COLUMNS).select(WORD)),
    "a lazy frame that fails later": lambda folder: opened(
        polars.LazyFrame(COLUMNS).with_columns(polars.col("g").cast(polars.Float64).alias("x"))
    ),
    "a lazy frame of a text file": lambda folder: opened(polars.scan_csv(io.BytesIO(TEXT.encode()))),
    "no variable": lambda folder: open_rows(FRAME, SCHEMA, []),
    "a cell for a pattern": lambda folder: dps.read_csv(f"*{WORD}"),
    "a table twice": lambda folder: opened([FRAME, FRAME]),
    "an array": lambda folder: opened(FRAME.to_numpy()),
    "a series": lambda folder: opened(FRAME["g"]),
    "a text of bytes": lambda folder: opened(TEXT.encode()),
    "a stream of text": lambda folder: opened(io.StringIO(TEXT)),
    "a list of cells": lambda folder: opened(COLUMNS["g"]),
    "a list of numbers": lambda folder: opened(COLUMNS["x"]),
    "records": lambda folder: opened(FRAME.itertuples(name=None)),
    "numbers here and texts there for units": lambda folder: opened(
        [FRAME, pd.DataFrame(COLUMNS).assign(who=COLUMNS["k"])]
    ),
    "public data that cannot be opened": lambda folder: shared(FRAME, Fails(COLUMNS)),
    "a Parquet file that is none": file("d.parquet"),
    "an Arrow file that is none": file("d.arrow"),
    "a Parquet file that ends early": lambda folder: file("d.parquet", FRAME.to_parquet(index=False)[:-400])(
        folder
    ),
    "a packed file that is none": file("d.csv.gz"),
    "a packed file that ends early": file("d.csv.gz", gzip.compress((TEXT * 999).encode())[:-99]),
    "a file in another encoding": file("d.csv", f"x,g,k,who,{WORD}é\n".encode("latin-1")),
    "a quotation mark that stays open": file("d.csv", f'x,g,k,who,"{WORD}\n{TEXT}'),
    "an empty line for a header": file("d.csv", f"\n{TEXT}"),
    "a file that changed": changed(lambda rows: None, lambda rows: list(rows.blocks())),
    "a file that changed after it was read": changed(lambda rows: list(rows.blocks()), Rows.hold),
    "an address": lambda folder: opened("https://example.org/d.csv"),
    "no such file": lambda folder: opened(folder / "d.csv"),
    "text for a path": lambda folder: opened(TEXT),
    "a line for a path": lambda folder: opened(TEXT.splitlines()[1]),
    "a file of a spreadsheet": file("d.xlsx"),
    "a file of no format": file("d.xyz"),
    "an empty folder": lambda folder: opened(folder),
    "files of two formats": files("a.csv", "b.tsv"),
    "a link that leads nowhere": linked("b.csv", "c.csv"),
    "a file under two names": linked("b.csv", "a.csv"),
    "a folder in itself": linked("more", "."),
    "a separator that is none": csv(sep="ab"),
    "a decimal mark that is none": csv(decimal=";"),
    "an encoding that is none": csv(encoding="utf-16"),
    "a mark of thousands that is none": csv(thousands="x"),
    "one mark for two": csv(decimal=",", sep=";", thousands=","),
    "a query that is none": queried("DELETE FROM t"),
    "a query with its semicolon": queried("SELECT * FROM t;"),
    "a connection that is none": lambda folder: dps.read_sql("SELECT * FROM t", FRAME),
    "a key without cuts": queried("SELECT * FROM t", key="x"),
    "a key that lacks": queried("SELECT x, g, k, who FROM t", key="y", cuts=[1.0]),
    "a query that fails": queried("SELECT * FROM nowhere"),
    "a query that fails at a cell": queried("SELECT x, g, json(g) AS k, who FROM t"),
    "a database that changed": database_changed,
    "a query of DuckDB that fails": duckdb_query,
    "a key that is a text": keyed_by_text,
    "a driver that guesses": lambda folder: opened(dps.read_sql("SELECT 1", of_vendor("SQLite"))),
    "a driver that does not tell": lambda folder: Held(of_vendor("another")).shown(),
    "a column of dates in Postgres": lambda folder: _check_codes({"x": 1082}, ASKED),
    "a plan of DuckDB with an operator that is not known": lambda folder: refuse_parsing(
        '[{"name": "ANOTHER"}]', "query"
    ),
    "a plan of DuckDB that guesses types": lambda folder: refuse_parsing(
        '[{"name": "PANDAS_SCAN"}]', "query"
    ),
    "a plan of DuckDB that parses a text": lambda folder: refuse_parsing('[{"name": "READ_CSV"}]', "query"),
    "a relation of a frame": by_duckdb("SELECT * FROM frame"),
    "a relation of a text file": by_duckdb("SELECT * FROM read_csv('{}')"),
    "a relation of an older version": lambda folder: _of_relation(SimpleNamespace(query=lambda *text: None)),
    "a disk without room": no_room,
    "a table with more rows than it had": other_rows,
    "a type with names of fields": lambda folder: opened(nested(STRUCT)),
    "a template of a number": lambda folder: template([FRAME]),
    "a template of no columns": lambda folder: template({}),
    "a template of one name": of_template(f"x;{WORD}\n1;2\n"),
    "a template of a record": of_template(TEXT.partition("\n")[2]),
    "a template of a name twice": of_template(f"{WORD},{WORD}\n1,2\n"),
    "a template that fails": lambda folder: template(Stream()),
}
"""What is given, by a word or two; none of it has a secret for a name that the user chose."""


STRUCT = pa.struct({WORD: pa.int8()})


def nested(kind: pa.DataType) -> pa.Table:
    """A table with a column of this type, whose names of fields Arrow took from keys in cells."""
    return pa.table(COLUMNS | {"x": pa.nulls(3, kind)})


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (STRUCT, "struct"),
        (pa.list_(STRUCT), "list"),
        (pa.list_(STRUCT, 2), "fixed_size_list"),
        (pa.map_(pa.string(), STRUCT), "map"),
        (pa.dense_union([pa.field(WORD, pa.int8())]), "dense_union"),
        (pa.dictionary(pa.int8(), STRUCT), "struct"),
        (pa.fixed_shape_tensor(pa.int8(), [1], [WORD]), "arrow.fixed_shape_tensor"),
    ],
)
def test_of_a_type_that_is_refused_the_kind_alone_is_told(kind: pa.DataType, named: str) -> None:
    table = nested(kind)
    for data in (table, {name: table[name] for name in COLUMNS}):
        with pytest.raises(DataError, match=f"the column holds values of the type {named}; give numbers$"):
            opened(data)
    assert f"# x holds values of the type {named}: give" in template(table)


def raised(refused: Refused, folder: Path) -> str:
    """All that is said of what is given: the error with those that led to it, notes and warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises((DataError, dps.SpecificationError)) as caught:
            refused(folder)
    lines = traceback.format_exception(caught.value)
    return "".join(lines) + " ".join(str(one.message) for one in said)


@pytest.mark.parametrize("given", REFUSED)
def test_no_error_quotes_a_cell_or_a_label(given: str, tmp_path: Path, capfd: Any) -> None:
    told = raised(REFUSED[given], tmp_path) + "".join(capfd.readouterr())
    assert not [secret for secret in SECRETS if secret in told]


# files whose errors are made of libraries that not all who run this have, and their own tests
ELSEWHERE = {"partitions.py": "test_dask.py", "spark.py": "test_spark.py", "links.py": "test_postgres.py"}
# what errors of these files may show: of a database, in which encoding it is
PUBLIC = {"unit", "_KIND", "HIDDEN", "_BROKEN", "_FIXED", "server", "client"}


def errors() -> dict[tuple[str, int], ast.Call]:
    """Where `rows/` makes an error of data: file, line and the call."""
    return {
        (path.name, node.lineno): node
        for path in sorted(Path(dpstats.rows.__file__).parent.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "DataError"
    }


def test_each_place_that_makes_an_error_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But those of libraries that are tested elsewhere, whose errors show nothing but names."""
    reached = set()

    def made(self: DataError, *words: str) -> None:
        caller = sys._getframe(1)
        reached.add((Path(caller.f_code.co_filename).name, caller.f_lineno))
        super(DataError, self).__init__(*words)

    monkeypatch.setattr(DataError, "__init__", made)
    for number, refused in enumerate(REFUSED.values()):
        (tmp_path / f"{number}").mkdir()
        raised(refused, tmp_path / f"{number}")
    left = {place: call for place, call in errors().items() if place not in reached}
    assert {place for place in left if place[0] not in ELSEWHERE} == set(), "nothing is refused there"
    for call in left.values():
        shown = [node for node in ast.walk(call) if isinstance(node, ast.FormattedValue)]
        assert {name.id for one in shown for name in ast.walk(one) if isinstance(name, ast.Name)} <= PUBLIC
