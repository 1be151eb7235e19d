"""Sums by workers: the bits of one process, whatever dies, and nothing of a row in what is said of it."""

import io
import math
import os
import pickle
import re
import signal
import sys
import time
from contextlib import suppress
from itertools import count
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats import running
from dpstats.curator import Curator
from dpstats.curator.curator import Bar
from dpstats.curator.engines import Cluster, Processes, Spark, chosen, gathered
from dpstats.curator.objective import PASSES, Objective
from dpstats.curator.partial import Failure, Task, WorkError, partial
from dpstats.errors import DataError, SpecificationError
from dpstats.running import Running
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.made import under
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, TABLE, N, changed, rows_of, stream
from tests.silent import silence

MATRIX = dict(
    center=np.zeros(4), scale=np.ones(4), y_center=0.0, y_scale=1.0, log=False, radius=2.0, limit=3.0
)
ASKED = [("event_moments", PUBLIC), ("event_matrix", MATRIX)]
TASK = Task.of(DESIGN, ASKED, 1000)


@pytest.fixture
def path(tmp_path, monkeypatch):
    parquet.write_table(TABLE, tmp_path / "d.parquet", row_group_size=834)
    stream(monkeypatch)
    return tmp_path / "d.parquet"


@pytest.fixture
def parts(path):
    return rows_of(path).parts()


def same(one, other):
    pairs = list(zip(one.totals, other.totals, strict=True))
    return one.count == other.count and all(
        (a.high == b.high).all() and (a.low == b.low).all() and a.count == b.count for a, b in pairs
    )


class Here:
    """An engine without workers, which answers what it is told to."""

    def __init__(self, *places):
        self._places = places

    def results(self, task, parts):
        return ((place, cloudpickle.loads(task)(parts[place])) for place in self._places)


def added(totals):
    first, *others = totals
    for other in others:
        first += other
    return first


def test_parts_are_added_once_each_in_any_order(parts):
    assert len(parts) == 6
    whole = partial(DESIGN, ASKED, (DESIGN.read(b) for p in parts for b in p.blocks(1000)))
    assert same(added(gathered(Here(4, 1, 0, 5, 3, 2), TASK, parts)), whole) and whole.count == N
    with pytest.raises(
        WorkError, match="a part of 'event_moments and event_matrix' came twice; what was charged is spent"
    ):
        list(gathered(Here(0, 1, 1), TASK, parts))
    with pytest.raises(WorkError, match="not all parts of 'event_moments and event_matrix' came"):
        list(gathered(Here(0, 1, 2, 3), TASK, parts))


class Brought:
    """A part to whose pieces the task is brought, as Spark does it; these of them answer."""

    def __init__(self, pieces, *places):
        self._pieces, self._places = pieces, places

    def __reduce__(self):
        return Brought, ((),)

    def given(self, piece):
        return piece

    def mapped(self, answer):
        return [(place, answer(self._pieces[place])) for place in self._places]


def test_a_worker_says_nothing_of_what_floats_cannot_hold(parts):
    def minus_infinity(blocks):
        return sum(float(np.log(0.0 * block.time).sum()) for block in blocks)

    with silence():
        assert Task(DESIGN, "made", minus_infinity, 1000)(parts[0]) == -math.inf


def test_partitions_of_spark_are_added_once_each(parts):
    task = cloudpickle.dumps(TASK)
    ((place, total),) = Spark().results(task, [Brought(parts, 4, 1, 0, 5, 3, 2)])
    assert place == 0 and same(total, added(gathered(Here(*range(6)), TASK, parts)))
    with pytest.raises(WorkError, match="a partition of Spark came twice; what was charged is spent"):
        list(Spark().results(task, [Brought(parts, 0, 1, 1)]))
    failing = cloudpickle.dumps(Task.of(Failing(), [("event_moments", PUBLIC)], 1000))
    ((_, failed),) = Spark().results(failing, [Brought(parts, 0, 1)])
    assert isinstance(failed, Failure) and "4711" not in repr(failed)
    with pytest.raises(WorkError, match="Spark lost a part of the rows .IndexError") as caught:
        list(Spark().results(task, [Brought(parts, 9)]))
    assert caught.value.__context__ is None


def test_processes_release_the_bits_of_one_process(path):
    def released():
        curator = under(NoNoise(), rows_of(path), DESIGN, dps.gdp(9))
        asked = ("event_moments", 1.0, PUBLIC), ("event_matrix", 1.0, MATRIX)
        return [release.values for _ in range(2) for release in curator.release_together(*asked)]

    here = released()
    with dps.options(workers=2):
        there = released()
    for one, other in zip(here, there, strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


def minimum(path):
    """What a penalised fit finds, and what it would be without noise."""
    schema = dps.Schema(x=SCHEMA["x"], g=SCHEMA["g"], yes=dps.flag())
    recording = Recording(SeededNoise(1))
    with noise(recording, recording.record):
        fit = dps.svm("yes ~ x + g", path, schema).fit(dps.pure(5))
    return [fit.params.to_numpy(), *(record.exact for record in recording.records)]


def test_processes_find_the_minimum_of_one_process_to_the_bit(path):
    table = TABLE.append_column("yes", pc.greater(TABLE["y"], 0))
    parquet.write_table(table, path, row_group_size=834)
    here = minimum(path)
    with dps.options(workers=2):
        assert alike(minimum(path), here) and len(here) > 1


def killing(flag, times):
    """A task that kills its process, so many times in all."""

    def task(part):
        died = len(os.listdir(os.path.dirname(flag)))
        with suppress(FileExistsError):  # where another process dies in its place
            if died < times:
                open(f"{flag}{died}", "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return part

    return cloudpickle.dumps(task)


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    (tmp_path / "flags").mkdir()
    results = Processes(2).results(killing(str(tmp_path / "flags" / "f"), 1), "abcdefgh")
    assert sorted(results) == list(enumerate("abcdefgh"))


def fatal(engine, flags, monkeypatch, ready=lambda: None):
    """Have a worker die in every pass, by what it is asked in the place of the task."""
    results, passes = engine.results, count()

    def killed(self, task, parts):
        ready()
        flag = str(flags / str(next(passes)))

        def once(part):
            try:
                open(flag, "x").close()
            except FileExistsError:
                return pickle.loads(task)(part)
            os.kill(os.getpid(), signal.SIGKILL)

        return results(self, cloudpickle.dumps(once), parts)

    monkeypatch.setattr(engine, "results", killed)


def recorded(path, method="auto"):
    """Coefficients, and what all releases of a fit would be without noise."""
    recording = Recording(SeededNoise(1))
    with noise(recording, recording.record):
        model = dps.ols("y ~ x + g", path, SCHEMA, public=TABLE if method == "pmt" else None)
        fit = model.fit(dps.zcdp(5), method, force=True)
    return [fit.params.to_numpy(), *(record.exact for record in recording.records)]


def alike(one, other):
    return len(one) == len(other) and all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.long
def test_a_worker_that_is_killed_in_every_pass_changes_no_bit(path, tmp_path, monkeypatch):
    """Of two passes, of which the second asks what the first told."""
    here = recorded(path, "pmt")
    (tmp_path / "flags").mkdir()
    fatal(Processes, tmp_path / "flags", monkeypatch)
    with dps.options(workers=2):
        assert alike(recorded(path, "pmt"), here)
    assert len(os.listdir(tmp_path / "flags")) == len(here) - 1 == 2


@pytest.mark.long
def test_a_worker_of_a_cluster_that_is_killed_in_every_pass_changes_no_bit(path, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    here = recorded(path)
    (tmp_path / "flags").mkdir()
    cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)

    def ready():
        """Dask does not start a worker again that dies before whoever starts it has seen it run."""
        running = distributed.Status.running
        nannies, end = cluster.workers.values(), time.monotonic() + 200
        while not all(each.process.is_alive() and each.process.status == running for each in nannies):
            assert time.monotonic() < end
            time.sleep(0.05)

    fatal(Cluster, tmp_path / "flags", monkeypatch, ready)
    with cluster, distributed.Client(cluster) as client, dps.options(client=client):
        assert alike(recorded(path), here)
        ready()  # a cluster that closes while a worker begins may not end
    assert len(os.listdir(tmp_path / "flags")) == len(here) - 1


class NoWorkers:
    """A client of a cluster that has lost all workers: no future ends."""

    loop, counted = None, 0

    def submit(self, *asked, pure):
        return SimpleNamespace(key=len(asked))

    def nthreads(self):
        self.counted += 1
        return {}


def test_a_cluster_without_workers_ends_the_fit(monkeypatch):
    distributed = pytest.importorskip("distributed")

    def ending(futures, loop, timeout):
        raise TimeoutError
        yield

    monkeypatch.setattr(distributed, "as_completed", ending)
    client = NoWorkers()
    with pytest.raises(WorkError, match="TimeoutError.*is any of them left. What was charged is spent"):
        list(Cluster(client).results(b"", "a"))
    assert client.counted > 1


@pytest.mark.long
def test_workers_that_die_again_and_again_end_the_fit(tmp_path):
    (tmp_path / "flags").mkdir()
    with pytest.raises(WorkError, match="workers died 3 times.*What was charged is spent"):
        list(Processes(2).results(killing(str(tmp_path / "flags" / "f"), 99), "ab"))


class Failing:
    """A design whose rows cannot be read."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(DESIGN, name)

    def read(self, block, memory=None):
        raise ValueError("serial-4711")


def test_an_exception_of_a_worker_is_told_by_its_type_and_line(parts):
    failure = Task.of(Failing(), [("event_moments", PUBLIC)], 1000)(parts[0])
    assert isinstance(failure, Failure) and failure.kind == "ValueError"
    assert "4711" not in repr(failure)
    error = failure.error("event_moments")
    assert "ValueError, in dpstats/curator/" in str(error) and "what was charged is spent" in str(error)


def test_a_file_that_changes_under_workers_is_refused(path, parts, monkeypatch):
    curator = Curator(rows_of(path), DESIGN, dps.gdp(9))
    curator._engine = Here(*range(6))
    changed(path)
    with pytest.raises(DataError, match="has changed since the model was made") as caught:
        curator.release("event_moments", 1.0, **PUBLIC)
    assert caught.value.__context__ is None
    curator._engine = Here(0)
    with pytest.raises(DataError):
        curator.release("event_moments", 1.0, **PUBLIC)


def test_what_is_kept_or_cannot_be_sent_is_summed_here(parts):
    here, two = Running(), Running(workers=2)
    assert chosen(two, ()) is None and chosen(here, parts) is None
    assert isinstance(chosen(two, parts), Processes)


def test_options_hold_until_they_are_changed_or_left():
    assert running.current() == Running()
    with dps.options(workers=3):
        dps.options(progress=False)
        assert running.current() == Running(workers=3, progress=False)
        with dps.options(progress=True):
            assert running.current() == Running(workers=3, progress=True)
    assert running.current() == Running()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(workers=0), "workers must be a number of processes, at least 1, got 0"),
        (dict(workers="two"), "workers must be a number"),
        (dict(client="tcp://here"), "client must be a distributed.Client, not"),
        (dict(progress="yes"), "progress must be True or False"),
    ],
)
def test_wrong_options_change_nothing(wrong, said):
    with pytest.raises(SpecificationError, match=said):
        dps.options(**wrong)
    assert running.current() == Running()


def test_workers_without_loky_are_refused_before_there_is_a_table(monkeypatch):
    """A table of which a record is longer may be one that is read by parts: an error would tell of it."""
    monkeypatch.setitem(sys.modules, "loky", None)
    with pytest.raises(SpecificationError, match=r"pip install dpstats\[processes\]"):
        dps.options(workers=2)
    assert running.current().workers == 1
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=SimpleNamespace))
    with dps.options(workers=2, client=(client := SimpleNamespace())):  # which sums in their place
        assert running.current().client is client


def shown_at_once(monkeypatch):
    """A bar for each pass, however short it is."""
    monkeypatch.setattr(running, "_DELAY", 0)
    monkeypatch.setattr("dpstats.curator.curator._LEAST_SHOWN", 0)


@pytest.mark.parametrize("n", [1, 7, 8, 20, 24])
def test_a_bar_tells_nothing_of_how_rows_lie_in_parts(n, monkeypatch):
    """Replacing one record by a longer one moves where a file is cut."""
    shown_at_once(monkeypatch)
    said = {}
    for parts in ([n], [1] * n, [n // 3, n - n // 3], [n - n // 5, n // 5]):
        told = []
        monkeypatch.setattr("dpstats.running.bar", lambda told=told, **_: SimpleNamespace(update=told.append))
        bar = Bar(n, 8, 1, shown=True)
        for rows in parts:
            bar(rows)
        assert sum(told) == n
        said[tuple(told)] = parts
    assert len(said) == 1, said


@pytest.mark.parametrize(("wanted", "shown"), [(None, False), (False, False), (True, True)])
def test_progress_is_shown_where_it_is_wanted(wanted, shown, path, monkeypatch):
    """A stream that is no terminal shows nothing by itself."""
    shown_at_once(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with dps.options(progress=wanted) if wanted is not None else dps.options():
        Curator(rows_of(path), DESIGN, dps.gdp(9)).release("event_moments", 1.0, **PUBLIC)
    assert ("pass 1" in sys.stderr.getvalue()) is shown


@pytest.mark.parametrize(("x", "more"), [(0.0, False), (1.0, True)])
def test_no_bar_tells_how_many_passes_the_rows_asked_for(x, more, tmp_path, monkeypatch):
    """Rows that are all alike ask for more than ten; what follows a minimum is numbered alike."""
    stream(monkeypatch)
    shown_at_once(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    table = pa.table({"x": x + np.linspace(-1, 0, 900) * (x == 0), "y": np.arange(900) * (x == 0) % 2})
    parquet.write_table(table, tmp_path / "d.parquet")
    schema, passes = dps.Schema(x=dps.bounded(-1, 1), y=dps.flag(true=1, false=0)), []
    slope = Objective.slope
    monkeypatch.setattr(Objective, "slope", lambda *given, **more: passes.append(0) or slope(*given, **more))
    with dps.options(progress=True), noise(SeededNoise(7)):
        dps.svm("y ~ x", tmp_path / "d.parquet", schema).fit(dps.pure(100))
    assert (len(passes) > PASSES) is more
    told = {int(number) for number in re.findall(r"pass (\d+)", sys.stderr.getvalue())}
    assert told == set(range(1, PASSES + 2))


def test_a_cluster_releases_the_bits_of_one_process_whatever_dies(path, tmp_path):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "flags").mkdir()
    here = under(NoNoise(), rows_of(path), DESIGN, dps.gdp(9)).release("event_moments", 1.0, **PUBLIC)
    cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        with dps.options(client=client):
            curator = under(NoNoise(), rows_of(path), DESIGN, dps.gdp(9))
        there = curator.release("event_moments", 1.0, **PUBLIC)
        assert all((a == b).all() for a, b in zip(here.values, there.values, strict=True))
        results = Cluster(client).results(killing(str(tmp_path / "flags" / "f"), 1), "abcd")
        assert sorted(results) == list(enumerate("abcd"))
        client.wait_for_workers(2, timeout=60)
