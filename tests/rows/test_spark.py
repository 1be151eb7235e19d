"""Dataframes of Spark: the rows and the releases of the same table, whatever dies on its executors."""

import gc
import os
import pickle
import shutil
import signal
import warnings
from decimal import Decimal
from itertools import count

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.engines import Spark, chosen
from dpstats.curator.lattice import slack
from dpstats.curator.partial import WorkError, statistic_of
from dpstats.errors import DataError
from dpstats.rows.spark import Arrived, SparkFrame, UnitFrame
from dpstats.running import Running
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.made import under
from tests.rows.resized import resize
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, TABLE, N, joined, rows_of, stream
from tests.rows.test_unit_parts import HELD

sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install dpstats[spark]")
pytestmark = [
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
FILES = 5
SLACK = slack(statistic_of(DESIGN, "event_moments", PUBLIC).parts, N)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Two executors' worth of threads; a task that dies is tried three times."""
    folder = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.files.openCostInBytes": str(1 << 30),  # each file is a partition
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        session = sql.SparkSession.builder.master("local[2,3]").config(map=conf).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("table")
    for place in range(FILES):
        part = TABLE.slice(place * N // FILES, N // FILES)
        parquet.write_table(part, made / f"{place}.parquet", row_group_size=N)
    return made


@pytest.fixture
def frame(spark, folder):
    return spark.read.parquet(str(folder))


def exact(data):
    recording = Recording(NoNoise())
    curator = under(recording, rows_of(data), DESIGN, dps.gdp(9))
    for _ in range(2):
        curator.release("event_moments", 1.0, **PUBLIC)
    assert curator.n == N
    return [record.exact for record in recording.records]


def test_executors_release_the_bits_of_one_process_and_hand_no_row_out(frame, folder, monkeypatch):
    stream(monkeypatch)
    here = exact(folder)

    def refused(self):
        raise AssertionError("a partition came to this process")

    monkeypatch.setattr(SparkFrame, "batches", refused)
    assert [one.tobytes() for one in exact(frame)] == [one.tobytes() for one in here]


@pytest.mark.long
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(partitions=st.integers(1, 64), batch=st.integers(1, 20_000), sorting=st.booleans())
def test_sums_agree_within_the_slack_however_rows_are_parted(frame, spark, partitions, batch, sorting):
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", max(batch, 100))
    parted = frame.repartition(partitions, "y") if sorting else frame.repartition(partitions)
    expected = exact(TABLE)[0]
    assert all((np.abs(one - expected) <= SLACK).all() for one in exact(parted))
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_rows_that_come_here_are_those_of_the_table(frame):
    rows = rows_of(frame.orderBy("other"))  # of files Spark takes the largest first
    expected = {name: values.tobytes() for name, values in joined(rows_of(TABLE).blocks()).items()}
    for _ in range(2):
        found = {name: values.tobytes() for name, values in joined(rows.blocks()).items()}
        assert found == expected and rows.n == N


def test_a_fit_is_that_of_the_files(frame, folder, monkeypatch):
    stream(monkeypatch)

    def fitted(data):
        recording = Recording(SeededNoise(1))
        with noise(recording, recording.record):
            return dps.ols("y ~ x + g", data, SCHEMA).fit(dps.zcdp(5), force=True).params

    assert fitted(frame).equals(fitted(folder))


CELLS = {
    "x": [pa.array([1, None, 2**53 + 1]), pa.array([Decimal("0.10"), None, Decimal("2.50")])]
    + [
        pa.array(["0.5", " 1e0 ", "abc"]),
        pa.array([True, None, False]),
        pa.array([0.1, None, 7], pa.float32()),
    ],
    "g": [pa.array(["a", None, " b b "]), pa.array(["ü", "", "z"])],
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_of_every_type_mean_what_they_mean_in_arrow(name, spark, tmp_path):
    schema = dps.Schema({name: SCHEMA[name]})
    for place, cells in enumerate(CELLS[name]):
        table = pa.table({name: cells})
        parquet.write_table(table, tmp_path / f"{place}.parquet")
        found = rows_of(spark.read.parquet(str(tmp_path / f"{place}.parquet")), schema)
        assert (
            joined(found.blocks())[name].tobytes() == joined(rows_of(table, schema).blocks())[name].tobytes()
        )


def fatal(flags, monkeypatch):
    """Have a worker of Spark die in every pass, by what it is asked in the place of the task."""
    results, passes = Spark.results, count()

    def killed(self, task, parts):
        flag = str(flags / str(next(passes)))

        def once(part):
            try:
                open(flag, "x").close()
            except FileExistsError:
                return pickle.loads(task)(part)
            next(iter(part.blocks(100)))  # after some of the rows
            os.kill(os.getpid(), signal.SIGKILL)

        return results(self, cloudpickle.dumps(once), parts)

    monkeypatch.setattr(Spark, "results", killed)


def test_a_worker_that_is_killed_in_every_pass_changes_no_bit(frame, tmp_path, monkeypatch):
    here = exact(frame)
    fatal(tmp_path, monkeypatch)
    assert [one.tobytes() for one in exact(frame)] == [one.tobytes() for one in here]
    assert len(list(tmp_path.iterdir())) == 2


UNITS = SCHEMA.unit("unit", max_rows=3)


@pytest.fixture(scope="module")
def units(spark, tmp_path_factory):
    """Units whose rows are in all partitions, and equal rows of some."""
    made = tmp_path_factory.mktemp("units")
    for place in range(FILES):
        part = HELD.slice(place * N // FILES, N // FILES)
        parquet.write_table(part, made / f"{place}.parquet", row_group_size=N)
    return spark.read.parquet(str(made))


def in_order(rows):
    """The rows, of which it does not matter where they stand."""
    columns = joined(rows.blocks())
    numbers = np.column_stack([columns[name].astype(float) for name in sorted(columns)])
    return np.sort(numbers.view([("", float)] * numbers.shape[1]), axis=0).tobytes()


@pytest.mark.parametrize("partitions", [None, 1, 7])
def test_spark_brings_the_rows_of_a_unit_together_and_hands_none_out(partitions, units, monkeypatch):
    resize(monkeypatch, share_rows=1000)
    rows = rows_of(units.repartition(partitions) if partitions else units, UNITS)
    (piece,) = rows.parts()
    assert in_order(rows) == in_order(rows_of(HELD, UNITS)) and rows.n == N
    for refused in ("batches", "_coded"):
        monkeypatch.setattr(UnitFrame, refused, None)
    recording = Recording(NoNoise())
    curator = under(recording, rows, DESIGN, dps.gdp(9))
    here = under(recording, rows_of(HELD, UNITS), DESIGN, dps.gdp(9))
    for one in (curator, curator, here):
        one.release("event_moments", 1.0, **PUBLIC)
    first, second, expected = (record.exact for record in recording.records)
    assert first.tobytes() == second.tobytes() and (np.abs(first - expected) <= SLACK).all()
    assert len(pickle.dumps(piece)) < 4000
    held = piece.frame
    assert held.is_cached
    del rows, piece, curator, one
    gc.collect()
    assert not held.is_cached  # by nobody any longer


def test_a_worker_that_is_killed_while_units_are_summed_changes_no_bit(units, tmp_path, monkeypatch):
    def sums():
        recording = Recording(NoNoise())
        curator = under(recording, rows_of(units, UNITS), DESIGN, dps.gdp(9))
        curator.release("event_moments", 1.0, **PUBLIC)
        return recording.records[0].exact

    here = sums()
    fatal(tmp_path, monkeypatch)
    assert sums().tobytes() == here.tobytes() and len(list(tmp_path.iterdir())) == 1


class Failing:
    """A design whose rows cannot be read."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(DESIGN, name)

    def read(self, block, memory=None):
        raise ValueError("serial-4711")


def silent(error):
    return "4711" not in str(error) and error.__context__ is None and error.__cause__ is None


def test_what_is_raised_on_an_executor_is_not_told(frame, capfd):
    cloudpickle.register_pickle_by_value(__import__(__name__, fromlist=["Failing"]))
    with pytest.raises(WorkError, match="failed on a worker: ValueError, in dpstats/curator/") as caught:
        Curator(rows_of(frame), Failing(), dps.gdp(9)).release("event_moments", 1.0, **PUBLIC)
    assert silent(caught.value) and "4711" not in "".join(capfd.readouterr())


def test_what_spark_raises_is_not_told(frame):
    wrong = frame.selectExpr("if(other = 17000, raise_error('serial-4711'), x) x", "g", "y")
    with pytest.raises(WorkError, match="Spark lost a part of the rows.*What was charged is spent") as caught:
        Curator(rows_of(wrong), DESIGN, dps.gdp(9)).release("event_moments", 1.0, **PUBLIC)
    assert silent(caught.value)
    with pytest.raises(DataError, match="this dataframe of Spark cannot be computed to its end") as caught:
        list(rows_of(wrong).blocks())
    assert silent(caught.value)


def test_rows_that_are_lost_end_the_fit(frame):
    curator = Curator(rows_of(frame), DESIGN, dps.gdp(9))
    curator._rows._n = N + 1
    with pytest.raises(RuntimeError, match="release 'event_moments' failed while rows were read"):
        curator.release("event_moments", 1.0, **PUBLIC)


def test_a_frame_is_sent_without_rows(frame):
    (piece,) = rows_of(frame).parts()
    assert isinstance(chosen(Running(), [piece]), Spark) and len(pickle.dumps(piece)) < 4000
    assert isinstance(pickle.loads(pickle.dumps(piece)), Arrived)


PARSED = {
    "csv": lambda spark, path: spark.read.csv(path, header=True, inferSchema=True),
    "some rows of csv": lambda spark, path: spark.read.csv(path, header=True).filter("x > 0").select("x"),
    "cached csv": lambda spark, path: spark.read.csv(path, header=True).cache(),
    "csv in a union": lambda spark, path: spark.range(1).select("id").union(spark.read.csv(path)).toDF("x"),
    "text": lambda spark, path: spark.read.text(path).toDF("x"),
    "json": lambda spark, path: spark.read.json(path + ".json"),
    "csv by the second reader": lambda spark, path: second(spark, lambda: spark.read.csv(path, header=True)),
}


def second(spark, read):
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        return read()
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


@pytest.mark.parametrize("parsed", PARSED)
def test_a_frame_that_parses_a_text_file_is_refused(parsed, spark, tmp_path):
    (tmp_path / "d.csv").write_text("x\n1\n2\n")
    (tmp_path / "d.csv.json").write_text('{"x": 1}\n{"x": 2}\n')
    with pytest.raises(DataError, match="this dataframe of Spark has a text file.*Give dpstats the path"):
        rows_of(PARSED[parsed](spark, str(tmp_path / "d.csv")), dps.Schema(x=dps.bounded(0, 9)))


def test_columns_are_checked_when_the_model_is_made(spark, frame):
    with pytest.raises(DataError, match="the data have no column 'g'"):
        rows_of(frame.select("x", "y"))
    dated = frame.selectExpr("date '2026-01-01' x", "y", "g")
    with pytest.raises(DataError, match="'x' is declared as bounded, a number, and the column holds dates"):
        rows_of(dated)
    with pytest.raises(DataError, match="this dataframe of Spark is a stream"):
        rows_of(spark.readStream.format("rate").load())
    odd = frame.selectExpr("x as `a.b ``c`")
    name = "a.b `c"
    assert rows_of(odd, dps.Schema({name: dps.bounded(0, 9)})).n == N
