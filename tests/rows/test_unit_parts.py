"""Of tables that are not kept the same rows of units weigh as in memory, in any parts, and nothing stays."""

import gc
import os
import pickle
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.lattice import slack
from dpstats.curator.partial import statistic_of
from dpstats.errors import DataError
from dpstats.rows import unit_parts
from dpstats.rows.paths import ARROW, COMPRESSIONS, PARQUET, SEPARATORS
from dpstats.rows.unit_parts import MarkedRows
from dpstats.schema import WEIGHS
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.made import under
from tests.rows import test_parts as tables
from tests.rows.resized import resize
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, TABLE, N, changed, joined, rows_of

SLACK = slack(statistic_of(DESIGN, "event_moments", PUBLIC).parts, N)
UNITS = SCHEMA.unit("unit", max_rows=3)


def with_units():
    """Units of about seven rows all over the table, a large one, equal rows, and rows of no one."""
    rng = np.random.default_rng(5)
    number = rng.integers(0, 3000, N)
    number[rng.random(N) < 0.05] = 7
    texts = [f" {each}" if place % 3 else str(each) for place, each in enumerate(number)]
    table = TABLE.append_column("unit", pa.array([None if n % 50 == 1 else t for n, t in enumerate(texts)]))
    again = rng.integers(0, N, N)
    again[: N // 2] = np.arange(N // 2)
    return table.take(again).set_column(3, "other", pa.array(range(N)))


HELD = with_units()


@pytest.fixture
def streamed(monkeypatch):
    """Few rows are not kept, nor their words in memory, and are looked at in several shares."""
    resize(monkeypatch, kept=0, share_rows=3000, spooled=1000, group_rows=3000, part=100_000, chunk=30_000)


def bits(rows):
    return {name: values.tobytes() for name, values in joined(rows.blocks()).items()}


EXPECTED = bits(rows_of(HELD, UNITS))


def write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=777)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, compression="uncompressed", chunksize=500)
    else:
        table.to_pandas().to_csv(path, index=False, sep=SEPARATORS.get(path.suffix, ","))


def exact(data):
    recording = Recording(NoNoise())
    curator = under(recording, rows_of(data, UNITS), DESIGN, dps.gdp(9))
    for _ in range(2):
        curator.release("event_moments", 1.0, **PUBLIC)
    assert curator.n == N
    return [record.exact for record in recording.records]


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cuts=st.lists(st.integers(0, N), max_size=6).map(sorted),
    kind=st.sampled_from([PARQUET[0], ARROW[0], *SEPARATORS, f".csv{COMPRESSIONS[0]}"]),
    share=st.integers(50, 2 * N),
)
@example(cuts=[1, 7000, 7001], kind=".parquet", share=3000)
def test_in_files_the_rows_weigh_that_do_in_memory_however_they_are_cut(
    cuts, kind, share, streamed, monkeypatch
):
    resize(monkeypatch, share_rows=share)
    with tempfile.TemporaryDirectory() as folder:
        for place, (start, stop) in enumerate(pairwise([0, *cuts, N])):
            write(HELD.slice(start, stop - start), Path(folder) / f"{place}{kind}")
        rows = rows_of(folder, UNITS)
        assert len(rows.parts()) > len(cuts) and rows.n == N
        for _ in range(2):
            assert bits(rows) == EXPECTED
        sums = exact(folder)
    assert all((np.abs(one - exact(HELD)[0]) <= SLACK).all() for one in sums)


OTHERS = ["database", "database of Arrow's", "lazy frame", "lazy file", "relation"]


@pytest.mark.parametrize("other", OTHERS)
def test_a_query_is_run_once_and_its_rows_weigh_as_in_memory(other, tmp_path, streamed, monkeypatch):
    monkeypatch.setattr(tables, "TABLE", HELD)
    data, runs = tables.OTHERS[other](tmp_path / "data"), []
    rows = rows_of(data, UNITS)
    assert rows.n == N and not rows.parts()[0].portable
    kind = type(rows_of(data).parts()[0])
    monkeypatch.setattr(kind, "batches", lambda self: runs.append(0) or iter(()))
    for _ in range(2):
        assert bits(rows) == EXPECTED
    assert not runs


def test_the_same_blocks_release_the_same_bits(streamed):
    there = exact(polars.from_arrow(HELD).lazy())
    assert [one.tobytes() for one in there] == [exact(HELD)[0].tobytes()] * 2


def test_a_fit_is_that_of_rows_in_memory(tmp_path, streamed, monkeypatch):
    write(HELD, tmp_path / "d.parquet")

    def fitted(workers=1):
        recording = Recording(SeededNoise(1))
        with noise(recording, recording.record), dps.options(workers=workers):
            model = dps.ols("y ~ x + g", tmp_path / "d.parquet", UNITS)
            return model.fit(dps.zcdp(4)).params  # at a budget too small for a sample

    there = [fitted(), fitted(workers=2)]
    resize(monkeypatch, kept=2**27)
    assert there[0].equals(there[1])
    np.testing.assert_allclose(there[0], fitted(), rtol=1e-9)


def test_parts_are_sent_with_a_bit_of_each_row(tmp_path, streamed):
    write(HELD, tmp_path / "d.parquet")
    pieces = rows_of(tmp_path / "d.parquet", UNITS).parts()
    sent = pickle.dumps(pieces)
    assert len(sent) < 1000 + 700 * len(pieces) + N // 8 and "bits" not in repr(pieces)
    there = [block for piece in pickle.loads(sent) for block in piece.blocks(999)]
    assert {name: values.tobytes() for name, values in joined(there).items()} == EXPECTED


def test_a_file_that_changes_between_the_choice_and_a_pass_is_refused(tmp_path, streamed):
    write(HELD, tmp_path / "d.parquet")
    curator = Curator(rows_of(tmp_path / "d.parquet", UNITS), DESIGN, dps.gdp(9))
    changed(tmp_path / "d.parquet")
    with pytest.raises(DataError, match="has changed since the model was made") as caught:
        curator.release("event_moments", 1.0, **PUBLIC)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("n", [N - 1, N + 1])
def test_rows_of_which_there_are_not_as_many_as_bits_are_refused(n, streamed):
    (piece,) = rows_of(polars.from_arrow(HELD).lazy(), UNITS).parts()
    wrong = MarkedRows(piece.asked, "no end", piece.held, piece.bits + b"\0", n)
    with pytest.raises(DataError, match="no end"):
        list(wrong.blocks(999))


def test_files_that_store_ids_in_two_ways_are_refused(tmp_path, streamed):
    write(pa.table({"unit": [7], "x": [0.5]}), tmp_path / "a.parquet")
    write(pa.table({"unit": ["7"], "x": [0.5]}), tmp_path / "b.parquet")
    schema = dps.Schema(x=dps.bounded(0, 1)).unit("unit", max_rows=1)
    with pytest.raises(DataError, match="is stored as numbers here and as texts there"):
        rows_of(tmp_path, schema).parts()


def test_nothing_but_a_file_without_a_name_holds_rows(tmp_path, monkeypatch):
    resize(monkeypatch, spooled=1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, words = unit_parts.Spool(np.uint64), np.arange(5000, dtype=np.uint64).reshape(1000, 5)
    places = [held.put(part) for part in (words, words[3:3], words[::7])]
    assert [held.get(place).tolist() for place in places] == [words.tolist(), [], words[::7].tolist()]
    assert held._file._rolled and not list(tmp_path.iterdir())
    status = os.fstat(held._file.fileno())
    assert status.st_nlink == 0 and status.st_mode & 0o777 == 0o600
    with pytest.raises(TypeError, match="holds private rows"):
        pickle.dumps(held)
    file = held._file
    del held
    gc.collect()
    assert file.closed


class Slow:
    """A file of which other threads may move the position before it is read."""

    def __init__(self, file):
        self.file = file

    def seek(self, *where):
        at = self.file.seek(*where)
        time.sleep(0.001)
        return at

    def readinto(self, out):
        return self.file.readinto(out)


@pytest.mark.parametrize("rolled", [False, True])
def test_threads_read_what_they_ask_for(rolled, monkeypatch):
    """Two fits of one model may run at once; rows of other places would weigh in the place of these."""
    resize(monkeypatch, spooled=100 if rolled else 2**22)
    held = unit_parts.Spool(np.float64)
    places = [held.put(np.full(50, float(number))) for number in range(8)]
    held._file = Slow(held._file)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(held.get, places * 5))
    assert [set(array) for array in found] == [{float(number)} for number in range(8)] * 5


KILLED = """
import os, signal, sys, tempfile
import numpy as np
from tests.rows.resized import resize
from dpstats.rows.unit_parts import Spool
tempfile.tempdir = sys.argv[1]
Spool(np.float64).put(np.arange(1e7))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_leaves_no_file(tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert killed.returncode == -9 and not list(tmp_path.iterdir())


class Full:
    def close(self):
        pass

    def seek(self, *where):
        return 0

    def write(self, data):
        raise OSError(28, "No space left on device: serial-4711")


def test_a_disk_without_room_is_told_before_a_charge(tmp_path, streamed, monkeypatch):
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda **options: Full())
    write(HELD, tmp_path / "d.parquet")
    ledger = dps.Ledger(tmp_path / "l.ledger", total=dps.zcdp(1))
    with pytest.raises(DataError, match="no room for the rows of units.*TMPDIR") as caught:
        dps.ols("y ~ x + g", tmp_path / "d.parquet", UNITS).fit(dps.zcdp(0.5), ledger=ledger)
    assert "4711" not in str(caught.value) and caught.value.__context__ is None
    assert ledger.left == dps.zcdp(1)


def test_at_most_so_many_rows_of_a_unit_weigh():
    table, weighs = HELD.to_pandas(), np.frombuffer(EXPECTED[WEIGHS], dtype=bool)
    rows = table[weighs].unit.str.strip().value_counts()
    assert rows.max() == 3 and len(rows) == table.unit.str.strip().nunique()
