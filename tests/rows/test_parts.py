"""Tables that are read again at every pass: the same rows and sums as when they are kept, in any parts."""

import datetime
import os
import pickle
import sqlite3
import threading
from traceback import walk_tb

import numpy as np
import polars
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.lattice import coordinates, slack
from dpstats.curator.partial import partial, statistic_of
from dpstats.errors import DataError
from dpstats.formula import build_design
from dpstats.rows import open_rows, parts, shared
from dpstats.rows.sizes import SIZES
from dpstats.rows.sources import Asked
from tests.rows.alike import asked, within_slack
from tests.rows.resized import resize

SCHEMA = dps.Schema(
    x=dps.bounded(-1, 1),
    g=dps.levels("a", "b b", "ü", other=True),
    y=dps.bounded(-3, 3),
)
DESIGN = build_design("y ~ x + g", SCHEMA)
N = 20_000
PUBLIC = dict(center=np.zeros(5), half=np.full(5, 3.0), log=False)


def content(n: int = N) -> pa.Table:
    rng = np.random.default_rng(3)
    g = rng.choice(["a", "b b", "ü", "z", None], n).tolist()
    x = np.where(rng.random(n) < 0.05, None, rng.normal(size=n)).tolist()
    return pa.table({"x": pa.array(x, pa.float64()), "g": g, "y": rng.normal(size=n), "other": range(n)})


TABLE = content()
WRITE = {
    "d.parquet": lambda path: parquet.write_table(TABLE, path, row_group_size=777),
    "d.arrow": lambda path: feather.write_feather(TABLE, path, compression="uncompressed", chunksize=500),
    "d.csv": lambda path: TABLE.to_pandas().to_csv(path, index=False),
    "d.csv.gz": lambda path: TABLE.to_pandas().to_csv(path, index=False),
}


@pytest.fixture(params=WRITE)
def path(request, tmp_path):
    WRITE[request.param](tmp_path / request.param)
    return tmp_path / request.param


def stream(monkeypatch, rows=3000, bytes_=100_000):
    """Have small files read at every pass, in parts of about so many rows or bytes."""
    resize(monkeypatch, kept=0, group_rows=rows, part=bytes_, chunk=30_000)


def rows_of(data, schema=SCHEMA):
    return open_rows(data, schema, list(schema))


def joined(blocks):
    blocks = list(blocks)
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


@pytest.mark.parametrize("name", WRITE)
def test_how_long_a_record_is_does_not_decide_whether_rows_are_kept(name, tmp_path, monkeypatch):
    """First looks read a sample of rows that are kept, and the saved fit tells how many rows these are."""
    long = TABLE.set_column(3, "other", [["".join(map(chr, range(33, 127))) * 30_000, *["0"] * (N - 1)]])
    for table, file in [(TABLE, tmp_path / name), (long, tmp_path / f"long.{name}")]:
        monkeypatch.setitem(globals(), "TABLE", table)
        WRITE[name](file)
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert min(sizes) < max(sizes)
    for kept in [8 * 3 * N - 1, 8 * 3 * N, *range(min(sizes) - 1, max(sizes), max(sizes) // 8)]:
        resize(monkeypatch, kept=kept)
        for file in tmp_path.iterdir():
            assert bool(rows_of(file).parts()) == (8 * 3 * N > kept)


def folder(path):
    """Several files in several folders, in the order of their rows, and some that hold none."""
    for place, (start, stop) in enumerate([(0, 7000), (7000, 7001), (7001, N)]):
        (path / f"year={place}").mkdir(parents=True)
        parquet.write_table(TABLE.slice(start, stop - start), path / f"year={place}" / "d.parquet")
    (path / "_SUCCESS").touch()
    (path / ".d.parquet.crc").touch()
    (path / "_old").mkdir()
    parquet.write_table(TABLE, path / "_old" / "d.parquet")
    return path


def relation(path):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(TABLE).filter("other >= 0")


def database(path):
    made = sqlite3.connect(":memory:")
    TABLE.to_pandas().to_sql("t", made, index=False)
    return dps.read_sql("SELECT * FROM t WHERE other >= 0", made)


class Adbc:
    """What of ADBC's connections and cursors is used, over a relation of DuckDB."""

    def __init__(self, made):
        self._made = made

    def adbc_get_info(self):
        return {"vendor_name": "DuckDB"}

    def cursor(self):
        return Adbc(self._made)

    def execute(self, text):
        self._result = self._made.sql(text)

    def fetch_record_batch(self):
        return self._result.to_arrow_reader(999)

    def fetchone(self):
        return self._result.fetchall()[0]

    def close(self):
        pass


def arrow_database(path):
    made = pytest.importorskip("duckdb").connect()
    made.register("t", TABLE)
    return dps.read_sql("SELECT * FROM t", Adbc(made))


OTHERS = {
    "database": database,
    "database of Arrow's": arrow_database,
    "folder": folder,
    "pattern": lambda path: folder(path) / "year=*" / "*.parquet",
    "everything below": lambda path: str(folder(path) / "**" / "d.parquet"),
    "lazy frame": lambda path: polars.from_arrow(TABLE).lazy().filter(polars.col("other") >= 0),
    "lazy file": lambda path: polars.scan_parquet(folder(path) / "year=*" / "*.parquet"),
    "relation": relation,
    "files": lambda path: [written_csv(path, 0, 900), written_csv(path, 900, N)],
}


def written_csv(path, start, stop):
    path.mkdir(exist_ok=True)
    name = path / f"{start}.csv"
    TABLE.slice(start, stop - start).to_pandas().to_csv(name, index=False, sep=";")
    return dps.read_csv(name, sep=";")


@pytest.mark.parametrize("other", OTHERS)
def test_folders_and_queries_hold_the_same_rows(other, tmp_path, monkeypatch):
    expected = {name: values.tobytes() for name, values in joined(rows_of(TABLE).blocks()).items()}
    data = OTHERS[other](tmp_path / "data")
    for _ in range(2):  # kept, and at every pass
        rows = rows_of(data)
        for _ in range(2):
            assert rows.n == N
            assert {name: values.tobytes() for name, values in joined(rows.blocks()).items()} == expected
        stream(monkeypatch)
    assert rows.parts() and shared(data, data)


def test_each_part_of_a_file_is_looked_at_once_before_a_charge(path, monkeypatch):
    stream(monkeypatch)
    rows, seen = rows_of(path), []
    pieces = rows.parts()
    monkeypatch.setattr(parts.Stamp, "check", lambda stamp: seen.append(stamp))
    rows.hold()
    assert len(seen) == len(pieces) > 0


def test_a_query_is_not_sent_to_another_process(monkeypatch):
    stream(monkeypatch)
    (piece,) = rows_of(polars.from_arrow(TABLE).lazy()).parts()
    assert not piece.portable
    with pytest.raises(TypeError, match="holds private rows"):
        pickle.dumps(piece)


def test_a_query_that_fails_says_nothing_of_a_cell():
    failing = polars.LazyFrame({"x": ["serial-4711", "1"], "y": [1.0, 2.0], "g": ["a", "a"]})
    rows = rows_of(failing.with_columns(polars.col("x").cast(polars.Float64)))
    with pytest.raises(DataError, match="this LazyFrame cannot be computed to its end") as caught:
        list(rows.blocks())
    assert "4711" not in str(caught.value) and caught.value.__context__ is None


def _told_by(error):
    """The words of an exception, of those that led to it, and of what their frames in the package hold."""
    left, told = [error], []
    while left:
        one = left.pop()
        left += [inner for inner in (one.__cause__, one.__context__) if inner is not None]
        frames = [
            frame for frame, _ in walk_tb(one.__traceback__) if "dpstats" in frame.f_globals["__name__"]
        ]
        told += [str(one), *(repr(frame.f_locals) for frame in frames)]
    return " ".join(told)


PUBLIC_ROWS = {"x": np.linspace(-1, 1, 50), "y": np.linspace(-3, 3, 50) ** 2}


@pytest.mark.parametrize("kept", [SIZES.kept, 0])
@pytest.mark.parametrize(
    "use",
    [
        lambda data, schema: dps.check(data, schema),
        lambda data, schema: dps.public_moments("y ~ x", data, schema),
        lambda data, schema: dps.ols("y ~ x", PUBLIC_ROWS, schema, public=data),
        lambda data, schema: dps.ols("y ~ x", data, schema).fit(dps.zcdp(5), force=True),
    ],
)
def test_a_relation_that_fails_at_once_says_nothing_of_a_cell(use, kept, monkeypatch):
    """DuckDB computes a relation when its reader is made, before a batch is asked for."""
    made = pytest.importorskip("duckdb").connect()
    made.execute("CREATE TABLE t AS SELECT if(i = 500, 'serial-4711', '1') x, 1.0 y FROM range(999) r(i)")
    resize(monkeypatch, kept=kept)
    schema = dps.Schema(x=dps.bounded(-1, 1), y=dps.bounded(-3, 3))
    with pytest.raises(DataError, match="this DuckDBPyRelation cannot be computed to its end") as caught:
        use(made.sql("SELECT x::DOUBLE x, y::DOUBLE y FROM t"), schema)
    assert "4711" not in _told_by(caught.value) and caught.value.__context__ is None


class FailingPart(parts.TablePart):
    """A part that fails when its batches are asked for, before the first of them."""

    def count(self):
        return 1

    def batches(self):
        raise ValueError("serial-4711")


def test_a_part_that_fails_before_its_first_batch_says_nothing_of_a_cell():
    piece = FailingPart(Asked(SCHEMA, tuple(SCHEMA)), "the part cannot be read to its end")
    with pytest.raises(DataError, match="the part cannot be read to its end") as caught:
        list(piece.blocks(9))
    assert "4711" not in _told_by(caught.value) and caught.value.__context__ is None


def test_the_next_item_is_made_while_the_last_is_used():
    made, second = [], threading.Event()

    def making():
        for number in range(5):
            made.append(number)
            if number == 1:
                second.set()
            yield number

    items = parts.ahead(making())
    assert next(items) == 0 and second.wait(30)
    assert list(items) == [1, 2, 3, 4] == made[1:]
    assert list(parts.ahead(iter(()))) == []


def test_what_fails_in_the_thread_fails_where_it_is_used():
    def failing():
        yield 1
        raise DataError("broken")

    items = parts.ahead(failing())
    assert next(items) == 1
    with pytest.raises(DataError, match="broken"):
        next(items)
    before = set(threading.enumerate())
    stopped = parts.ahead(iter(range(9)))
    next(stopped)
    stopped.close()
    assert set(threading.enumerate()) <= before


def test_queries_have_the_columns_that_are_asked_for():
    with pytest.raises(DataError, match="the data have no column 'g'"):
        rows_of(polars.LazyFrame({"x": [1.0], "y": [1.0]}))
    with pytest.raises(DataError, match="'x' is declared as bounded, a number, and the column holds dates"):
        rows_of(polars.LazyFrame({"x": [datetime.date(2026, 1, 1)], "y": [1.0], "g": ["a"]}))


@pytest.mark.parametrize(
    ("query", "connection", "said"),
    [
        ("DROP TABLE t", sqlite3.connect(":memory:"), "query must be the text of a SELECT"),
        (3, sqlite3.connect(":memory:"), "query must be the text of a SELECT"),
        ("SELECT 1;", sqlite3.connect(":memory:"), "without the semicolon"),
        ("SELECT 1", "mysql://here", "connection must be one of Python's DB-API"),
    ],
)
def test_what_is_no_query_is_refused(query, connection, said):
    with pytest.raises(DataError, match=said):
        dps.read_sql(query, connection)


def test_a_query_that_cannot_be_run_says_nothing_of_a_cell():
    made = sqlite3.connect(":memory:")
    with pytest.raises(DataError, match="the query cannot be run. The cause is not shown") as caught:
        rows_of(dps.read_sql("SELECT * FROM nothing WHERE x = 'serial-4711'", made))
    assert "4711" not in str(caught.value) and caught.value.__context__ is None


def test_a_database_that_changes_is_refused(monkeypatch, tmp_path):
    stream(monkeypatch)
    query = database(None)
    curator = Curator(rows_of(query), DESIGN, dps.gdp(1))
    query.connection.execute("DELETE FROM t WHERE other = 0")
    with pytest.raises(DataError, match="the database has changed"):
        curator.release("event_moments", 0.5, **PUBLIC)


def test_what_a_folder_holds_is_one_table(tmp_path):
    for name in ("a.csv", "b.parquet"):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"files of several formats, .csv, .parquet; give a pattern"):
        rows_of(tmp_path)
    for nothing in (tmp_path / "*.arrow", tmp_path / "c"):
        nothing.suffix or nothing.mkdir()
        with pytest.raises(DataError, match="there is no data file"):
            rows_of(nothing)
    parquet.write_table(TABLE, tmp_path / "c" / "d.parquet")
    (tmp_path / "c" / "e.parquet").hardlink_to(tmp_path / "c" / "d.parquet")
    with pytest.raises(DataError, match="one file under two names"):
        rows_of(tmp_path / "c")


def test_small_files_are_read_once(path):
    assert rows_of(path).parts() == ()


def test_a_file_in_parts_has_the_rows_of_one_that_is_kept(path, monkeypatch):
    kept = joined(rows_of(path).blocks())
    stream(monkeypatch)
    rows = rows_of(path)
    pieces = rows.parts()
    assert len(pieces) > 5 or path.suffix in (".arrow", ".gz")
    assert rows.n == N == sum(piece.rows for piece in pieces)
    for _ in range(2):  # again and again
        found = joined(rows.blocks(1000))
        assert {name: values.tobytes() for name, values in found.items()} == {
            name: values.tobytes() for name, values in kept.items()
        }
    assert all(len(block["x"]) == 1000 for block in list(pieces[0].blocks(1000))[:-1])


def test_parts_are_sent_to_other_processes_without_rows(path, monkeypatch):
    stream(monkeypatch)
    rows = rows_of(path)
    sent = pickle.dumps(rows.parts())
    assert len(sent) < 1000 + 500 * len(rows.parts())
    for again, piece in zip(pickle.loads(sent), rows.parts(), strict=True):
        assert joined(again.blocks(99))["x"].tobytes() == joined(piece.blocks(99))["x"].tobytes()


@pytest.mark.parametrize("lines", [b"1,2\n3,4\n\n5,6\n", b"1,2\n3,4\n5", b"", b'1,2\r\n"3,4\n5,6\r\n'])
@pytest.mark.parametrize("size", range(1, 12))
def test_lines_are_the_same_wherever_a_file_is_cut(lines, size, tmp_path, monkeypatch):
    schema = dps.Schema(x=dps.bounded(0, 9), k=dps.bounded(0, 9))
    (tmp_path / "d.csv").write_bytes(b"x,k\n" + lines)
    kept = rows_of(tmp_path / "d.csv", schema)
    expected = joined(kept.blocks())["k"] if kept.n else np.zeros(0)
    stream(monkeypatch, bytes_=size)
    rows = rows_of(tmp_path / "d.csv", schema)
    found = [block["k"] for block in rows.blocks()]
    assert rows.n == kept.n == sum(map(len, found))
    np.testing.assert_array_equal(np.concatenate([*found, np.zeros(0)]), expected)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_what_is_said_of_a_long_line_is_what_a_fit_does(end, tmp_path, monkeypatch):
    resize(monkeypatch, line=20)
    schema = dps.Schema(x=dps.bounded(0, 9), k=dps.bounded(0, 9))
    written = [b"7," + b"0" * zeros + b"5" for zeros in range(10, 22)]
    (tmp_path / "d.csv").write_bytes(end.join([b"x,k", *written, b""]))
    usable = np.isfinite(joined(rows_of(tmp_path / "d.csv", schema).blocks())["k"])
    file = dps.read_csv(tmp_path / "d.csv")
    assert [isinstance(file.record(line), list) for line in file.lines()] == usable.tolist()
    assert usable.sum() == 20 - 3 - 10 - len(end) + 1


@pytest.mark.parametrize("kept", [SIZES.kept, 0])
def test_a_line_of_any_length_is_one_record_wherever_a_file_is_cut(kept, tmp_path, monkeypatch):
    """A neighbour with a line too long, over one edge of a part or several, differs in one row."""
    rng = np.random.default_rng()
    schema = dps.Schema(x=dps.bounded(0, 9), k=dps.bounded(0, 9))
    longest = 20
    resize(monkeypatch, line=longest, kept=kept)
    for _ in range(30):
        resize(monkeypatch, part=int(rng.integers(5, 90)), chunk=int(rng.integers(1, 60)))
        records = [b"%d,%d" % tuple(rng.integers(0, 10, 2)) for _ in range(30)]
        place, tail = int(rng.integers(30)), b"5,5" * int(rng.integers(1, 9))
        long = b"7" * int(rng.integers(longest, 6 * longest)) + rng.choice([b",", b"\r", b'"']) + tail
        (tmp_path / "d.csv").write_bytes(b"\n".join([b"x,k", *records]))
        before = rows_of(tmp_path / "d.csv", schema)
        expected = np.column_stack([joined(before.blocks())[name] for name in schema])
        (tmp_path / "d.csv").write_bytes(b"\n".join([b"x,k", *records[:place], long, *records[place + 1 :]]))
        after = rows_of(tmp_path / "d.csv", schema)
        expected[place] = np.nan
        found = np.column_stack([joined(after.blocks())[name] for name in schema])
        assert after.n == 30 and bool(after.parts()) == (not kept)
        np.testing.assert_array_equal(found, expected)


def test_a_relative_path_is_that_of_when_the_table_was_opened(path, tmp_path, monkeypatch):
    """Workers of a cluster are in other folders."""
    monkeypatch.chdir(tmp_path)
    kept, expected = rows_of(path.name), joined(rows_of(path).blocks())["x"].tobytes()
    stream(monkeypatch)
    streamed = rows_of(path.name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for rows in (kept, streamed):
        assert joined(rows.blocks())["x"].tobytes() == expected


def changed(path):
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


def test_a_file_that_changes_is_refused(path, monkeypatch):
    stream(monkeypatch)
    rows, ledger = rows_of(path), dps.Ledger(path.parent / "l.ledger", total=dps.zcdp(1))
    model = dps.ols("y ~ x + g", path, SCHEMA)
    next(rows.blocks())
    changed(path)
    with pytest.raises(DataError, match="has changed since the model was made"):
        list(rows.blocks())
    with pytest.raises(DataError, match="has changed"):
        model.fit(dps.zcdp(0.5), ledger=ledger)


def refused_after_a_fit(data, path, folder):
    """As when a broken export is corrected and the cell of the fit runs again."""
    ledger = dps.Ledger(folder / "l.ledger", total=dps.zcdp(9))
    model = dps.ols("y ~ x", data, SCHEMA)
    model.fit(dps.zcdp(2), ledger=ledger)
    changed(path)
    for reuse in (False, True):
        with pytest.raises(DataError, match="has changed since the model was made"):
            model.fit(dps.zcdp(2), ledger=ledger, reuse=reuse)
    assert ledger.spent == dps.zcdp(2)


@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_changed_after_a_fit_is_refused_before_the_next_is_charged(
    path, tmp_path, monkeypatch, kept
):
    if not kept:
        stream(monkeypatch)
    refused_after_a_fit(path, path, tmp_path)


def test_so_is_one_beside_a_frame(tmp_path):
    frame, path = TABLE.to_pandas(), tmp_path / "d.csv"
    frame.to_csv(path, index=False)
    refused_after_a_fit([frame, dps.read_csv(path)], path, tmp_path)


def test_a_file_that_changes_in_a_pass_is_refused_after_it(path, monkeypatch):
    """The error is one of the curator's, which has charged: nothing is released of mixed rows."""
    stream(monkeypatch)
    curator = Curator(rows_of(path), DESIGN, dps.gdp(1))
    read = type(DESIGN).read
    monkeypatch.setattr(type(DESIGN), "read", lambda *given: (changed(path), read(*given))[1])
    with pytest.raises(DataError, match="has a charge of this fit, it is spent") as caught:
        curator.release("event_moments", 0.5, **PUBLIC)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_sums_of_a_fit_are_those_of_kept_rows_within_their_slack(path, monkeypatch):
    def fit():
        return dps.ols("y ~ x + g", path, SCHEMA).fit(dps.zcdp(4))  # too little for a sample of kept rows

    found, kept, questions = asked(fit, monkeypatch)
    stream(monkeypatch)
    again, streamed, _ = asked(fit, monkeypatch, questions)
    assert found.nobs == again.nobs and within_slack(DESIGN, questions, N, kept, streamed)
    np.testing.assert_allclose(found.params, again.params, rtol=1e-9)


def sums(blocks):
    (total,) = partial(DESIGN, [("event_moments", PUBLIC)], map(DESIGN.read, blocks)).totals
    return total


@settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.data(), st.integers(1, 8192))
def test_sums_of_any_partition_agree_within_the_slack(data, size):
    """1 to 64 parts, empty ones among them; the same blocks give the same bits, in any order of parts.

    Of at most about 1,000 blocks: the whole table has 20,000 of one row, and takes a second to sum.
    """
    n = min(N, 1000 * size)
    cuts = data.draw(st.lists(st.integers(0, n), max_size=63))
    ends, whole = [0, *sorted(cuts), n], sums(rows_of(TABLE.slice(0, n)).blocks())
    rows = [rows_of(TABLE.slice(start, stop - start)) for start, stop in zip(ends, ends[1:], strict=False)]
    totals = [sums(each.blocks(size)) for each in rows]
    merged, backwards = totals[0], totals[-1]
    for one, other in zip(totals[1:], totals[-2::-1], strict=True):
        merged, backwards = merged + one, backwards + other
    assert merged.count == n and [total.count for total in totals] == np.diff(ends).tolist()
    assert (merged.high == backwards.high).all() and (merged.low == backwards.low).all()
    statistic = statistic_of(DESIGN, "event_moments", PUBLIC)
    apart = np.abs(coordinates(statistic.parts, merged) - coordinates(statistic.parts, whole))
    assert (apart <= slack(statistic.parts, n)).all()
    again = sums(block for each in rows for block in each.blocks(size))  # in one go
    assert coordinates(statistic.parts, again).tobytes() == coordinates(statistic.parts, merged).tobytes()
