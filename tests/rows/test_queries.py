"""Queries: no text file is parsed by another reader, and every row comes once, at every pass the same."""

import csv
import json
import pickle
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import dataset, parquet
from pyarrow import json as arrow_json
from tqdm import tqdm

import dpstats as dps
from dpstats.curator import Curator
from dpstats.errors import DataError
from dpstats.rows.sql import ranges
from tests.rows.test_parts import DESIGN, PUBLIC, TABLE, Adbc, database, joined, rows_of, stream

X = dps.Schema(x=dps.bounded(0, 9))


@pytest.fixture
def written(tmp_path):
    (tmp_path / "d.csv").write_text("x\n1\n2\n")
    pd.DataFrame({"x": [1, 2]}).to_stata(tmp_path / "d.dta")
    (tmp_path / "d.json").write_text("\n".join(json.dumps({"x": x}) for x in (1, 2)))
    polars.DataFrame({"x": [1, 2]}).write_parquet(tmp_path / "d.parquet")
    return tmp_path


def view(path):
    made = duckdb.connect()
    made.execute(f"CREATE VIEW v AS SELECT x FROM read_csv('{path}/d.csv')")
    return made


def pandas_pieces(path):
    return pd.read_csv(path / "d.csv", chunksize=1)


OPENS_JSON = hasattr(arrow_json, "open_json")  # since version 23 of Arrow
PARSED = {
    "scan_csv": lambda path: polars.scan_csv(path / "d.csv"),
    "scan_csv, filtered and joined": lambda path: (
        polars.scan_parquet(path / "d.parquet")
        .join(polars.scan_csv(path / "d.csv").filter(polars.col("x") > 0), on="x")
        .select(polars.col("x"))
    ),
    "scan_ndjson": lambda path: polars.scan_ndjson(path / "d.json"),
    "read_csv": lambda path: duckdb.read_csv(path / "d.csv"),
    "file in SQL": lambda path: duckdb.connect().sql(f"SELECT * FROM '{path}/d.csv'"),
    "read_json": lambda path: duckdb.connect().sql(f"SELECT * FROM read_json('{path}/d.json')"),
    "view": lambda path: view(path).sql("SELECT * FROM v WHERE x > 0"),
    "read_sql of a view": lambda path: dps.read_sql("SELECT * FROM v", view(path)),
    "read_sql": lambda path: dps.read_sql(f"SELECT * FROM read_csv('{path}/d.csv')", duckdb.connect()),
    "read_sql of a wrapper": lambda path: dps.read_sql(
        f"SELECT * FROM '{path}/d.csv'", Wrapper(duckdb.connect())
    ),
    "pandas in pieces": lambda path: pandas_pieces(path),
    "pandas as it is asked": lambda path: pd.read_csv(path / "d.csv", iterator=True),
    "pandas of a fixed width": lambda path: pd.read_fwf(path / "d.csv", chunksize=1),
    "lines of JSON": lambda path: pd.read_json(path / "d.json", lines=True, chunksize=1),
    "Stata": lambda path: pd.read_stata(path / "d.dta", chunksize=1),
    "a query by pandas": lambda path: pd.read_sql("SELECT 1 AS x", sqlite3.connect(":memory:"), chunksize=1),
    "a query by polars": lambda path: polars.read_database(
        "SELECT 1 AS x", sqlite3.connect(":memory:"), iter_batches=True, batch_size=1
    ),
    "Arrow's CSV": lambda path: arrow_csv.open_csv(path / "d.csv"),
    "batches of a lazy frame": lambda path: polars.scan_csv(path / "d.csv").collect_batches(),
    "rows of texts": lambda path: csv.DictReader((path / "d.csv").open()),
    "a generator over pieces": lambda path: (piece.dropna() for piece in pandas_pieces(path)),
    "a bar of progress over them": lambda path: tqdm(pandas_pieces(path), disable=True),
    "pieces in a list": lambda path: [pandas_pieces(path)],
    **({"Arrow's JSON": lambda path: arrow_json.open_json(path / "d.json")} if OPENS_JSON else {}),
    "beside a file with types": lambda path: duckdb.sql(
        f"SELECT x FROM '{path}/d.parquet' UNION ALL SELECT x FROM '{path}/d.csv'"
    ),
}


class Wrapper:
    """As a pool hands out connections; `named` is how it calls what it wraps."""

    def __init__(self, made, named="_inner"):
        setattr(self, named, made)
        self._made = made

    def cursor(self, *args):
        return self._made.cursor(*args)


@pytest.mark.parametrize("parsed", PARSED)
def test_a_query_that_parses_a_text_file_is_refused_with_the_remedy(parsed, written):
    with pytest.raises(
        DataError, match="one record can change how others are read.*Give dpstats the path of"
    ):
        rows_of(PARSED[parsed](written), X)


GUESSED = {
    "DuckDB's scan of objects": (
        lambda path: duckdb.from_df(pd.DataFrame({"x": pd.Series([1, 2], dtype=object)})),
        "guesses the type from their cells.*Give dpstats the frame itself",
    ),
    "polars' scan of a dataset": (
        lambda path: polars.scan_pyarrow_dataset(dataset.dataset(path / "d.csv", format="csv")),
        "has code of Python scan something.*use polars.scan_parquet",
    ),
    "DuckDB's list of files": (
        lambda path: duckdb.sql(f"SELECT length(file) AS x FROM glob('{path}/*')"),
        "rows that begin with GLOB.*Write them to Parquet",
    ),
    "read_blob": (
        lambda path: duckdb.sql(f"SELECT size AS x FROM read_blob('{path}/*')"),
        "has a text file",
    ),
}


@pytest.mark.parametrize("guessed", GUESSED)
def test_an_operator_that_is_not_known_to_have_types_is_refused(guessed, written):
    make, said = GUESSED[guessed]
    with pytest.raises(DataError, match=said):
        rows_of(make(written), X)


def stored(path):
    made = duckdb.connect()
    made.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}/d.csv')")
    return made


TYPED = {
    "scan_parquet": lambda path: polars.scan_parquet(path / "d.parquet"),
    "collected": lambda path: polars.read_csv(path / "d.csv").lazy(),
    "parquet in SQL": lambda path: duckdb.connect().sql(f"SELECT * FROM '{path}/d.parquet'"),
    "stored": lambda path: stored(path).sql("SELECT * FROM t"),
    "a level of that name": lambda path: stored(path).sql("SELECT * FROM t WHERE 'READ_CSV' <> '\"READ_CSV'"),
    "read_sql": lambda path: dps.read_sql("SELECT * FROM t", stored(path)),
    "a table of Arrow": lambda path: duckdb.from_arrow(pa.table({"x": [1.0, 2.0]})),
    "numbers": lambda path: duckdb.sql("WITH t AS (SELECT unnest([1, 2]) AS x) SELECT * FROM t WHERE x > 0"),
    "a range": lambda path: duckdb.sql("SELECT r.x FROM range(1, 3) AS r(x), (VALUES (1)) AS v(y)"),
    "a generator of frames": lambda path: (pd.DataFrame({"x": [x]}) for x in (1, 2)),
    "a bar of progress over frames": lambda path: tqdm([{"x": [1]}, {"x": [2]}], disable=True),
    "slices of polars": lambda path: polars.DataFrame({"x": [1, 2]}).iter_slices(1),
    "batches of a file with types": lambda path: parquet.ParquetFile(path / "d.parquet").iter_batches(1),
    "a reader of Arrow": lambda path: pa.table({"x": [1, 2]}).to_reader(),
    "joined": lambda path: stored(path).sql(f"SELECT x FROM t JOIN '{path}/d.parquet' USING (x) ORDER BY x"),
}


@pytest.mark.parametrize("typed", TYPED)
def test_other_queries_are_read(typed, written):
    assert joined(rows_of(TYPED[typed](written), X).blocks())["x"].tolist() == [1.0, 2.0]


def test_a_lazy_frame_may_be_the_public_data_and_not_the_private_ones():
    schema = dps.Schema(x=dps.bounded(-1, 1), y=dps.bounded(-3, 3))
    x = np.linspace(-1, 1, 400)
    rows = polars.DataFrame({"x": x, "y": np.sin(9 * x)})
    public = polars.DataFrame({"x": -x, "y": np.cos(9 * x)}).lazy()
    for data in (rows, rows.lazy(), {"x": x, "y": x}):
        assert dps.ols("y ~ x", data, schema, public=public).fit(dps.zcdp(5), force=True).nobs == 400
    with pytest.raises(dps.SpecificationError, match="public= is the private data"):
        dps.ols("y ~ x", public, schema, public=public)


KEYS = st.lists(
    st.none() | st.integers(-5, 30) | st.floats(allow_nan=True) | st.sampled_from(["7", "x"]), max_size=30
)
CUTS = st.lists(st.integers(-6, 31) | st.floats(-6, 31), min_size=1, max_size=5, unique=True).map(sorted)


@settings(deadline=None, max_examples=60)
@given(KEYS, CUTS, st.sampled_from(["ANY", "TEXT", "VARCHAR(9)", "INTEGER", "REAL", "BLOB", ""]))
def test_ranges_of_a_key_have_each_row_once_whatever_the_key_is(keys, cuts, declared):
    """SQLite compares any types, some as the column is declared; DuckDB has NaN."""
    found = {}
    with sqlite3.connect(":memory:") as lite:
        lite.execute(f'CREATE TABLE t (x INT, "a ""key" {declared})')
        lite.executemany("INSERT INTO t VALUES (?, ?)", enumerate(keys))
        found["sqlite"] = _numbers(dps.read_sql("SELECT * FROM t", lite, 'a "key', cuts), lite, "sqlite3")
    duck = duckdb.connect()
    duck.execute('CREATE TABLE t (x INT, "a ""key" DOUBLE)')
    numeric = [None if isinstance(key, str) else key for key in keys]
    duck.executemany("INSERT INTO t VALUES (?, ?)", [*enumerate(numeric), (len(keys), None)])
    found["duckdb"] = _numbers(dps.read_sql("SELECT * FROM t", duck, 'a "key', cuts), duck, "duckdb")
    assert found == {"sqlite": list(range(len(keys))), "duckdb": list(range(len(keys) + 1))}


def _numbers(query, database, vendor):
    found = ranges(query, vendor=vendor)
    assert len(found) == len(query.cuts) + 1
    return sorted(row[0] for text in found for row in database.execute(text).fetchall())


def test_a_database_of_which_nobody_knows_how_it_compares_is_not_cut():
    assert len(ranges(dps.read_sql("SELECT * FROM t", sqlite3.connect(":memory:"), "key", [1, 2]))) == 1


def test_parts_of_a_query_have_its_rows(monkeypatch):
    stream(monkeypatch)
    made = duckdb.connect()
    made.register("t", TABLE)
    query = dps.read_sql("SELECT * FROM t", Adbc(made), key="other", cuts=range(7000, 20_000, 7000))
    rows = rows_of(query)
    assert [piece.rows for piece in rows.parts()] == [7000, 7000, 6000]
    assert joined(rows.blocks())["x"].tobytes() == joined(rows_of(TABLE).blocks())["x"].tobytes()
    with pytest.raises(TypeError, match="holds private rows"):
        pickle.dumps(rows.parts())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict(key="x"), "key and cuts go together"),
        (dict(cuts=[1]), "key and cuts go together"),
        (dict(key=3, cuts=[1]), "key and cuts go together"),
        (dict(key="x", cuts=[2, 1]), "key and cuts go together"),
        (dict(key="x", cuts=[1, 1]), "key and cuts go together"),
        (dict(key="x", cuts=[float("nan")]), "key and cuts go together"),
        (dict(key="x", cuts=3), "key and cuts go together"),
        (dict(key="x", cuts=["1; DROP TABLE t"]), "cuts must be a number or a sequence of numbers"),
    ],
)
def test_what_is_no_cut_is_refused(given, said):
    with pytest.raises(DataError, match=said):
        dps.read_sql("SELECT 1 AS x", sqlite3.connect(":memory:"), **given)


@pytest.mark.parametrize("by_another", [False, True])
def test_a_database_of_sqlite_that_changes_between_passes_is_refused(by_another, tmp_path, monkeypatch):
    """Also where the number of rows stays."""
    stream(monkeypatch)
    made = sqlite3.connect(tmp_path / "d.db")
    TABLE.to_pandas().to_sql("t", made, index=False)
    rows = rows_of(dps.read_sql("SELECT * FROM t", made))
    for _ in range(2):
        assert sum(len(block["x"]) for block in rows.blocks()) == rows.n
    curator = Curator(rows, DESIGN, dps.gdp(1))
    with sqlite3.connect(tmp_path / "d.db") if by_another else made as other:
        other.execute("UPDATE t SET x = 0 WHERE other = 0")
    with pytest.raises(DataError, match="the database has changed.*is spent") as caught:
        curator.release("event_moments", 0.5, **PUBLIC)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("change", ["ATTACHed", "own tables"])
def test_other_files_of_sqlite_and_other_tables_do_not_change_either(change, tmp_path, monkeypatch):
    stream(monkeypatch)
    with sqlite3.connect(tmp_path / "other.db") as other:
        TABLE.to_pandas().to_sql("t", other, index=False)
    made = sqlite3.connect(tmp_path / "d.db")
    made.execute(f'ATTACH \'{tmp_path / "other.db"}\' AS "a ""b"')
    if change == "own tables":
        made.execute("CREATE TABLE main.t AS SELECT * FROM t")
        made.execute("CREATE TABLE main.u AS SELECT * FROM t")
        made.commit()
    rows = rows_of(dps.read_sql("SELECT * FROM t", made))
    assert sum(len(block["x"]) for block in rows.blocks()) == rows.n
    if change == "ATTACHed":
        with sqlite3.connect(tmp_path / "other.db") as other:
            other.execute("UPDATE t SET x = 0 WHERE other = 0")
    else:
        made.execute("DROP TABLE t")
        made.execute("ALTER TABLE u RENAME TO t")
    with pytest.raises(DataError, match="the database has changed"):
        list(rows.blocks())


def test_a_text_of_sqlite_that_is_not_utf_8_is_missing_and_changes_no_connection():
    made = sqlite3.connect(":memory:")
    made.row_factory = lambda cursor, row: {"x": row[0]}
    made.execute("CREATE TABLE t (x)")
    made.executemany("INSERT INTO t VALUES (?)", [(1.0,), ("2",), ("ü",)])
    made.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    schema = dps.Schema(x=dps.levels("1", "2", "ü", other=True))
    for connection in (made, Wrapper(made), Passing(made)):
        rows = rows_of(dps.read_sql("SELECT * FROM t", connection), schema)
        assert joined(rows.blocks())["x"].tolist() == [0, 1, 2, -1]
    assert made.text_factory is str and made.row_factory is not None


@pytest.mark.parametrize("cell", ["1.5", "many"])
def test_no_converter_of_sqlite_is_called_and_no_other_column_is_fetched(cell):
    """Either would have one record end the query."""
    sqlite3.register_converter("dpstats_hours", float)
    made = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
    made.execute('CREATE TABLE t ("the ""x" dpstats_hours, other dpstats_hours)')
    made.executemany("INSERT INTO t VALUES (?, ?)", [("0.5", "0.5"), (cell, cell)])
    schema = dps.Schema({'the "x': dps.bounded(0, 9)})
    found = joined(rows_of(dps.read_sql("SELECT * FROM t", made), schema).blocks())['the "x']
    np.testing.assert_array_equal(found, [0.5, 1.5 if cell == "1.5" else np.nan])


def test_a_name_that_only_the_driver_knows_is_refused():
    """sqlite3 takes what stands in brackets off a name, and SQLite what it does not know for a text."""
    made = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_COLNAMES)
    with pytest.raises(DataError, match="the query cannot be run"):
        rows_of(dps.read_sql('SELECT 1 AS "x [dpstats_hours]"', made), X)


class Subclass(sqlite3.Connection):
    pass


class Passing:
    """A connection whose cursors are wrapped, too, as those of a library that writes down queries."""

    def __init__(self, made):
        self._made = made

    def __getattr__(self, name):
        return getattr(self._made, name)

    def cursor(self):
        return type(self)(self._made.cursor())


WRAPPED = {
    "subclass": lambda path: sqlite3.connect(path, factory=Subclass),
    "cursors": lambda path: Wrapper(sqlite3.connect(path)),
    "wrapped cursors": lambda path: Passing(sqlite3.connect(path)),
    "driver_connection": lambda path: Wrapper(sqlite3.connect(path), "driver_connection"),
    "dbapi_connection": lambda path: Wrapper(sqlite3.connect(path), "dbapi_connection"),
    "a pool": lambda path: (
        pytest.importorskip("sqlalchemy").create_engine(f"sqlite:///{path}").raw_connection()
    ),
}


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_connection_is_known_however_it_is_wrapped(wrapped, tmp_path, monkeypatch):
    stream(monkeypatch)
    with sqlite3.connect(tmp_path / "d.db") as other:
        TABLE.to_pandas().to_sql("t", other, index=False)
    rows = rows_of(dps.read_sql("SELECT * FROM t", WRAPPED[wrapped](tmp_path / "d.db")))
    assert sum(len(block["x"]) for block in rows.blocks()) == rows.n
    with sqlite3.connect(tmp_path / "d.db") as other:
        other.execute("UPDATE t SET x = 0 WHERE other = 0")
    with pytest.raises(DataError, match="the database has changed"):
        list(rows.blocks())


class Unknown(Passing):
    """A connection whose cursors are of no known driver, and know no connection."""

    connection = None


def test_an_unknown_connection_is_read_once_and_refused_where_a_fit_runs_it_again(monkeypatch):
    query = database(None)
    unknown = dps.read_sql(query.text, Unknown(query.connection))
    assert rows_of(unknown).n == TABLE.num_rows
    stream(monkeypatch)
    with pytest.raises(DataError, match="does not know how this connection tells.*write the rows to Parquet"):
        list(rows_of(unknown).blocks())


def test_a_relation_that_tells_no_plan_is_refused(monkeypatch):
    """As those of DuckDB before 2.0."""
    monkeypatch.setattr(duckdb.DuckDBPyRelation, "query", lambda *given: None)
    with pytest.raises(DataError, match=r"version 2\.0 or a later one; upgrade it, or give dps\.read_sql"):
        rows_of(duckdb.sql("SELECT 1 AS x"), X)


def test_what_cursors_of_duckdb_do_not_see_is_said():
    made = duckdb.connect()
    made.register("t", TABLE)
    with pytest.raises(DataError, match=r"con.cursor\(\), where temporary tables.*give con.sql\(query\)"):
        rows_of(dps.read_sql("SELECT * FROM t", made))
    assert rows_of(made.sql("SELECT * FROM t")).n == TABLE.num_rows


def test_a_key_is_a_column_of_the_query():
    with pytest.raises(DataError, match="the query has no column 'id', by which it is to be cut; select it"):
        rows_of(dps.read_sql("SELECT 1 AS x", sqlite3.connect(":memory:"), key="id", cuts=[1]), X)


def test_a_driver_that_guesses_types_from_rows_is_refused():
    class Guessing(Adbc):
        def adbc_get_info(self):
            return {"vendor_name": "SQLite"}

    with pytest.raises(DataError, match=r"guesses the types.*give a connection of Python's own, sqlite3"):
        rows_of(dps.read_sql("SELECT * FROM t", Guessing(duckdb.connect())))


def test_a_query_that_is_kept_may_change_afterwards():
    query = database(None)
    curator = Curator(rows_of(query), DESIGN, dps.gdp(1))
    curator.release("event_moments", 0.5, **PUBLIC)
    query.connection.execute("DELETE FROM t")
    curator.release("event_moments", 0.5, **PUBLIC)
    assert curator.n == TABLE.num_rows


OF_TYPES = {  # of DuckDB: a type, and a cell of which a driver of Python makes no object
    "INTERVAL": "interval '3000000 years'",
    "UNION(a DOUBLE, b INTERVAL)": "interval '3000000 years'",
    "VARIANT": "interval '3000000 years'::VARIANT",
    "TIMESTAMPTZ": "timestamptz '290000-01-01'",
    "DATE": "date '5000000-01-01'",
}


@pytest.mark.parametrize("kind", OF_TYPES)
def test_types_of_duckdb_that_are_no_numbers_are_refused_whatever_the_cells_are(kind):
    made = duckdb.connect()
    made.execute(f"CREATE TABLE t AS SELECT NULL::{kind} AS x")
    query = dps.read_sql("SELECT * FROM t", made)
    said = set()
    for cell in ("NULL", OF_TYPES[kind]):
        made.execute(f"INSERT INTO t VALUES ({cell})")
        with pytest.raises(DataError, match="declared as") as refused:
            rows_of(query, X)
        said.add(str(refused.value))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("kind", "largest"), [("HUGEINT", str(2**127 - 1)), ("DECIMAL(38,0)", "9" * 38), ("DOUBLE", "1e300")]
)
@pytest.mark.parametrize("cut", [500, 500.5, 1e300])
def test_no_key_of_duckdb_ends_a_query_that_is_cut(kind, largest, cut):
    made = duckdb.connect()
    made.execute(f"CREATE TABLE t AS SELECT i::{kind} AS k, i / 1.0 AS x FROM range(999) r(i)")
    made.execute(f"INSERT INTO t VALUES ({largest}, 0.5)")
    assert rows_of(dps.read_sql("SELECT * FROM t", made, key="k", cuts=[cut]), X).n == 1000


def test_a_key_that_is_a_text_is_refused_by_its_type():
    made = duckdb.connect()
    made.execute("CREATE TABLE t AS SELECT '5' AS k, 1.0 AS x")
    with pytest.raises(DataError, match="the key 'k' of the query is no number by its type; cast it there"):
        rows_of(dps.read_sql("SELECT * FROM t", made, key="k", cuts=[1]), X)
