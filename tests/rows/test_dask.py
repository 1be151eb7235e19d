"""Dataframes of Dask: the rows and the releases of the same table, on a cluster and without one."""

import os
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.cli import main
from dpstats.curator import Curator
from dpstats.curator.engines import Cluster, chosen, gathered
from dpstats.curator.partial import WorkError
from dpstats.errors import DataError
from dpstats.rows.cells import of_arrow
from dpstats.rows.encode import Ids, as_one, coded
from dpstats.rows.partitions import Partition, UnitPartition
from dpstats.running import Running
from dpstats.schema import WEIGHS
from dpstats.testing import NoNoise, Recording, noise
from tests.curator.test_engines import fatal
from tests.made import under
from tests.rows.resized import resize
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, TABLE, N, joined, rows_of

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
bag = pytest.importorskip("dask.bag", reason="dask is not installed")
FRAME = TABLE.to_pandas()
X = dps.Schema(x=dps.bounded(0, 9))


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster, set_as_default=False) as made:
        yield made


def frame(partitions=5):
    return dd.from_pandas(FRAME, npartitions=partitions)


def released(data):
    curator = under(NoNoise(), rows_of(data), DESIGN, dps.gdp(9))
    return [curator.release("event_moments", 1.0, **PUBLIC).values for _ in range(2)], curator.n


@pytest.mark.parametrize("partitions", [1, 5])
def test_partitions_have_the_rows_of_the_table(partitions):
    rows = rows_of(frame(partitions))
    assert rows.n == N and len(rows.parts()) == partitions
    expected = {name: values.tobytes() for name, values in joined(rows_of(FRAME).blocks()).items()}
    for _ in range(2):
        found = joined(rows.blocks())
        assert {name: values.tobytes() for name, values in found.items()} == expected


def same(one, other):
    return all((a == b).all() for pair in zip(one, other, strict=True) for a, b in zip(*pair, strict=True))


def test_a_cluster_releases_the_bits_of_one_process_and_hands_no_row_out(client, monkeypatch):
    here, n = released(frame())
    table, _ = released(FRAME)
    for one, other in zip(here, table, strict=True):
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(one, other, strict=True))

    def refused(self):
        raise AssertionError("a partition came to this process")

    monkeypatch.setattr(Partition, "batches", refused)
    with dps.options(client=client):
        there, m = released(frame().persist(scheduler=client))
        again, _ = released(frame().repartition(npartitions=3))
    assert same(here, there) and n == m == N
    for one, other in zip(here, again, strict=True):
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(one, other, strict=True))


def test_the_engine_is_that_of_the_dataframe(client):
    partitions, file = rows_of(frame()).parts(), rows_of([FRAME, frame()])
    assert chosen(Running(), partitions) is None and chosen(Running(workers=2), partitions) is None
    assert isinstance(chosen(Running(client=client), partitions), Cluster)
    with client.as_current():
        assert isinstance(chosen(Running(), partitions), Cluster)
    assert not file.parts() and file.n == 2 * N


def test_a_fit_on_a_cluster_is_the_fit_of_the_table(client):
    """At a budget too small for a sample, which fits of rows in memory alone look at first."""

    def fitted(data):
        recording = Recording(NoNoise())
        with noise(recording, recording.record):
            return dps.ols("y ~ x + g", data, SCHEMA).fit(dps.zcdp(4)).params

    with dps.options(client=client):
        there = fitted(frame())
    np.testing.assert_allclose(there, fitted(FRAME), rtol=1e-9, atol=1e-10)  # of y in sds of 1


def test_partitions_are_sent_without_rows():
    pieces = rows_of(frame()).parts()
    assert len(pickle.dumps(pieces)) < 4000
    with pytest.raises(TypeError, match="holds private rows"):
        pickle.dumps(pieces[0].frames)


def failing(part, flag):
    if os.path.exists(flag):
        raise ValueError("serial-4711")
    return part


def test_what_dask_raises_is_not_told(client, tmp_path):
    rows = rows_of(frame().map_partitions(failing, str(tmp_path / "flag"), meta=FRAME))
    with dps.options(client=client):
        curator = Curator(rows, DESIGN, dps.gdp(9))
        assert curator.n == N
    (tmp_path / "flag").touch()
    with pytest.raises(WorkError, match="the cluster lost a part of the rows") as caught:
        curator.release("event_moments", 1.0, **PUBLIC)
    assert "4711" not in str(caught.value) and caught.value.__context__ is None
    with pytest.raises(DataError, match="this dataframe of Dask cannot be computed to its end") as caught:
        list(rows.blocks())
    assert "4711" not in str(caught.value) and caught.value.__context__ is None


PARSED = {
    "read_csv": lambda path: dd.read_csv(path / "d.csv"),
    "read_csv of some columns": lambda path: dd.read_csv(path / "d.csv").query("x > 0")[["x"]],
    "read_json": lambda path: dd.read_json(path / "d.json"),
    "read_sql_table": lambda path: dd.read_sql_table("t", sql(path / "d.db"), "i", npartitions=2),
    "read_sql_table of some rows": lambda path: dd.read_sql_table(
        "t", sql(path / "d.db"), "i", npartitions=2
    ).query("x > 0"),
    "pandas' read_csv": lambda path: dd.from_map(pd.read_csv, [path / "d.csv"]),
    "a bag of lines": lambda path: bag.read_text(path / "d.csv").map(lambda x: {"x": x}).to_dataframe(),
}


def sql(path):
    """The first five rows are whole numbers, by which Dask would cast the others."""
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, x)")
        made.executemany("INSERT INTO t (x) VALUES (?)", [(1,)] * 9 + [(0.75,)] * 9)
    return f"sqlite:///{path}"


@pytest.mark.parametrize("parsed", PARSED)
def test_a_dataframe_that_parses_a_text_file_is_refused(parsed, tmp_path):
    table = pd.DataFrame({"x": [1, 2]})
    table.to_csv(tmp_path / "d.csv", index=False)
    table.to_json(tmp_path / "d.json", orient="records", lines=True)
    with pytest.raises(DataError, match="this dataframe of Dask has a text file.*Give dpstats the path"):
        rows_of(PARSED[parsed](tmp_path), X)
    table.to_parquet(tmp_path / "d.parquet")
    read = rows_of(dd.read_parquet(tmp_path / "d.parquet"), X)
    assert joined(read.blocks())["x"].tolist() == [1.0, 2.0]


def written(path, ids, **options):
    """Two files of which the second one has these ids; both have the same type."""
    for place, held in enumerate([[7, 8, 9, 10], ids]):
        cells = pa.array(held, pa.int64())
        parquet.write_table(pa.table({"id": cells, "x": [0.5] * 4}), path / f"{place}.parquet")
    return dd.read_parquet(path, **options)


LONG = 2**53 + 1


@pytest.mark.parametrize("missing", [False, True])
def test_a_missing_id_neither_ends_a_fit_nor_changes_another_id(missing, tmp_path):
    schema = X.unit("id", max_rows=1)
    frame = written(tmp_path, [LONG - 1, LONG, 3, None if missing else 4], dtype_backend="pyarrow")
    assert joined(rows_of(frame, schema).blocks())[WEIGHS].tolist() == [True] * 7 + [not missing]
    plain = dd.read_parquet(tmp_path)
    for refused in (plain, plain.astype({"id": "Int64"}), plain[["x", "id"]].optimize()):
        with pytest.raises(DataError, match="'id' names the unit of privacy.*dtype_backend='pyarrow'"):
            rows_of(refused, schema)


def test_the_types_of_a_partition_end_no_fit():
    """A function may give other types than it says; only what it says is checked."""
    table = pd.DataFrame({"x": [1.0, 2.0], "id": pd.array([1, 2], dtype="Int64")})
    changed = dd.from_pandas(table, npartitions=2).map_partitions(
        lambda part: part.astype({"id": "float64", "x": "datetime64[s]"}), meta=table
    )
    found = joined(rows_of(changed, X.unit("id", max_rows=1)).blocks())
    assert np.isnan(found["x"]).all() and not found[WEIGHS].any()


@pytest.mark.parametrize("columns", [1, 40])
def test_few_columns_of_many_files_are_read(columns, tmp_path):
    """Dask joins partitions of which it reads few columns."""
    others = {f"z{place}": np.zeros(5) for place in range(columns)}
    for place in range(7):
        parquet.write_table(pa.table({"x": np.full(5, place), **others}), tmp_path / f"{place}.parquet")
    rows = rows_of(dd.read_parquet(tmp_path, dtype_backend="pyarrow"), X)
    assert rows.n == 35 and sorted(joined(rows.blocks())["x"]) == sorted(np.repeat(np.arange(7.0), 5))


class Spoken:
    def __str__(self):
        raise SystemExit("serial-4711")


@pytest.mark.parametrize("cell", ["3", b"\xff", Spoken(), [1], None])
def test_no_code_of_a_cell_is_run(cell):
    table = pd.DataFrame({"x": pd.Series(["1", "2", cell], dtype=object), "other": 1})
    with dask.config.set({"dataframe.convert-string": True}):
        converted = dd.from_pandas(table, npartitions=1)
        for made in (converted, converted.rename(columns={"other": "x", "x": "y"}), converted.assign(z=1)):
            with pytest.raises(DataError, match=r'code that comes with the cell.*"dataframe.convert-string"'):
                rows_of(made, X)
    with dask.config.set({"dataframe.convert-string": False}):
        rows = rows_of(dd.from_pandas(table, npartitions=1), X)
    assert joined(rows.blocks())["x"].tobytes() == joined(rows_of(table, X).blocks())["x"].tobytes()


def test_columns_are_checked_when_the_model_is_made():
    with pytest.raises(DataError, match="the data have no column 'g'"):
        rows_of(frame()[["x", "y"]])
    dates = dd.from_pandas(pd.DataFrame({"x": pd.to_datetime(["2026-01-01"])}), npartitions=1)
    with pytest.raises(DataError, match="'x' is declared as bounded, a number, and the column holds dates"):
        rows_of(dates, X)


def test_rows_of_a_unit_are_found_without_a_cluster_whatever_their_partition():
    schema = SCHEMA.unit("unit", max_rows=2)
    table = FRAME.assign(unit=pd.array(np.arange(N) % 3000, dtype="Int64"))
    rows, expected = rows_of(dd.from_pandas(table, npartitions=4), schema), rows_of(table, schema)
    assert not expected.parts() and not rows.parts()[0].portable
    for _ in range(2):
        assert (joined(rows.blocks())[WEIGHS] == joined(expected.blocks())[WEIGHS]).all()


def units(partitions=4):
    """A table with units of some seven rows in all partitions, ids with blanks about them and without."""
    number = np.random.default_rng(1).integers(0, 3000, N)
    texts = [f" {each}" if place % 2 else str(each) for place, each in enumerate(number)]
    table = FRAME.assign(unit=pd.array(texts, dtype="string[pyarrow]"))
    table.loc[::50, "unit"] = None
    return table, dd.from_pandas(table, npartitions=partitions)


def test_a_cluster_brings_the_rows_of_a_unit_together_and_hands_none_out(client, monkeypatch):
    table, parted = units()
    schema = SCHEMA.unit("unit", max_rows=2)

    def released(data):
        curator = under(NoNoise(), rows_of(data, schema), DESIGN, dps.gdp(9))
        asked = ("event_moments", 1.0, PUBLIC)
        return [release.values for release in curator.release_together(asked, asked)], curator.n

    here, n = released(table)
    with dps.options(client=client):
        rows = rows_of(parted, schema)
        assert rows.n == N and len(rows.parts()) == 4
        found, expected = joined(rows.blocks()), joined(rows_of(table, schema).blocks())
        for refused in ((Partition, "batches"), (UnitPartition, "_coded")):
            monkeypatch.setattr(*refused, None)
        there, m = released(parted)
    assert n == m == N

    def sorted_rows(columns):
        numbers = np.column_stack([columns[name].astype(float) for name in sorted(columns)])
        return np.sort(numbers.view([("", float)] * numbers.shape[1]), axis=0).tobytes()

    assert found[WEIGHS].sum() == expected[WEIGHS].sum() < 6000
    assert sorted_rows(found) == sorted_rows(expected)  # those weigh that weigh in the table
    for one, other in zip(here, there, strict=True):
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(one, other, strict=True))


def test_an_integer_and_the_text_that_spells_it_are_one_unit_where_parts_are_coded_apart():
    words = [
        coded(column, Ids()) for column in (of_arrow(pa.array([7, -7])), of_arrow(pa.array(["7", "-7"])))
    ]
    assert not (words[0] == words[1]).all() and (as_one(words[0]) == as_one(words[1])).all()
    assert (as_one(words[0]) == words[0]).all()


@pytest.mark.long
def test_a_worker_that_is_killed_in_every_pass_changes_no_bit(client, tmp_path, monkeypatch):
    here, _ = released(frame())
    (tmp_path / "flags").mkdir()
    fatal(Cluster, tmp_path / "flags", monkeypatch)
    with dps.options(client=client):
        assert same(released(frame())[0], here)
    client.wait_for_workers(2, timeout=60)
    assert len(list((tmp_path / "flags").iterdir())) == 2


OBJECTS = pd.DataFrame({"id": pd.Series([], dtype=object), "x": pd.Series([], dtype=float)})
MADE = {
    "from_map": lambda: dd.from_map(partition_of, [[1, 2], [3, None]], meta=OBJECTS),
    "some rows of from_map": lambda: MADE["from_map"]().query("x > 0")[["x", "id"]],
    "from_map, cast afterwards": lambda: MADE["from_map"]().astype({"id": "string[pyarrow]"}),
    "from_delayed": lambda: dd.from_delayed(
        [dask.delayed(partition_of)(ids) for ids in ([1, 2], [3, None])], meta=OBJECTS
    ),
    "map_partitions": lambda: dd.from_pandas(partition_of(["1", "2"]), npartitions=2).map_partitions(
        lambda part: part.assign(id=pd.to_numeric(part.id)), meta=OBJECTS
    ),
}


def partition_of(ids):
    """Integers, or floats where one is missing."""
    return pd.DataFrame({"id": ids, "x": 0.5})


@pytest.mark.parametrize("made", MADE)
def test_ids_whose_type_a_partition_may_choose_are_refused(made):
    """A missing id of one record would switch off the rows of all others in its partition."""
    schema = X.unit("id", max_rows=1)
    with dask.config.set({"dataframe.convert-string": False}):
        with pytest.raises(DataError, match="'id' names the unit of privacy, and holds Python objects"):
            rows_of(MADE[made](), schema)
        held = dd.from_pandas(partition_of(pd.Series([1, "2", None, 1], dtype=object)), npartitions=2)
        found = joined(rows_of(held[held.x > 0].repartition(npartitions=1), schema).blocks())
    assert found[WEIGHS].tolist() == [True, True, False, False]


def test_ids_whose_categories_a_partition_finds_are_refused():
    """An id of one record would decide whether all others of its partition are integers."""
    schema = X.unit("id", max_rows=1)
    ids = partition_of([1, 2, 2, 3])
    with pytest.raises(DataError, match="is a category .* of which each partition finds the values"):
        rows_of(dd.from_pandas(ids, npartitions=2).astype({"id": "category"}), schema)
    known = dd.from_pandas(ids.astype({"id": "category"}), npartitions=2)
    assert joined(rows_of(known, schema).blocks())[WEIGHS].tolist() == [True, True, False, True]


@pytest.mark.parametrize("last", [pd.Timestamp(3), "zzz"])
def test_dates_of_a_category_are_nothing_whatever_else_it_holds(last):
    """Alone they make a category of dates, beside a text one of objects."""
    cells = pd.DataFrame({"x": pd.Series([pd.Timestamp(3)] * 3 + [last], dtype=object)})
    with dask.config.set({"dataframe.convert-string": False}):
        made = dd.from_pandas(cells, npartitions=2).astype({"x": "category"})
        found = joined(rows_of(made, X).blocks())
    assert np.isnan(found["x"]).all()


def test_the_command_line_fits_files_on_a_cluster(client, tmp_path, monkeypatch):
    for place in range(2):
        parquet.write_table(TABLE.slice(place * 9000, 9000), tmp_path / f"{place}.parquet")
    SCHEMA.save(tmp_path / "s.json")
    monkeypatch.chdir(tmp_path)  # of which the workers know nothing
    resize(monkeypatch, kept=0)
    used = []
    monkeypatch.setattr(
        "dpstats.curator.curator.gathered", lambda *asked: used.append(asked) or gathered(*asked)
    )
    out = ["--out", "f.json", "--budget", "zcdp(5)", "--schema", "s.json"]
    address = client.scheduler.address
    assert main(["fit", "y ~ x + g", "*.parquet", *out, "--model", "ols", "--cluster", address]) == 0
    assert dps.load(tmp_path / "f.json").nobs == 18_000 and isinstance(used[0][0], Cluster)
