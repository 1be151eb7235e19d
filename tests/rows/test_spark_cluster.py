"""A cluster of Spark whose executors die, and which does tasks twice: one answer of each partition counts.

Spark speculates on another host alone, so that two addresses of this machine stand for two hosts.
"""

import os
import pickle
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import cloudpickle
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.curator.engines import Spark
from dpstats.testing import NoNoise, Recording
from tests.made import under
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, N, rows_of
from tests.rows.test_unit_parts import HELD, UNITS

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install dpstats[spark]")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
ROOT = Path(__file__).parents[2]
CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "600m",
    "spark.executorEnv.PYTHONPATH": str(ROOT),
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.openCostInBytes": str(1 << 30),  # each file is a partition
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "200ms",
}


def free_port():
    with closing(socket.socket()) as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of two workers."""
    home, folder = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("cluster")
    address = f"spark://127.0.0.1:{free_port()}"
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(folder)}

    def started(kind, *options):
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *options]
        silent = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = subprocess.Popen(command, env=environment, start_new_session=True, **silent)
        stack.callback(os.killpg, made.pid, signal.SIGKILL)

    with ExitStack() as stack:
        web = ["--webui-port", "0"]
        started("master.Master", "--host", "127.0.0.1", "--port", address.rpartition(":")[2], *web)
        for host in ("127.0.0.2", "127.0.0.3"):
            started("worker.Worker", "--host", host, "--cores", "2", "--memory", "1g", *web, address)
        builder = pyspark.sql.SparkSession.builder.master(address)
        session = builder.config(map=CONF | {"spark.local.dir": str(folder)}).getOrCreate()
        stack.callback(session.stop)
        session.sparkContext.setLogLevel("OFF")
        yield session


@pytest.fixture(scope="module")
def frame(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    for place in range(5):
        part = HELD.slice(place * N // 5, N // 5)
        parquet.write_table(part, folder / f"{place}.parquet", row_group_size=N)
    return spark.read.parquet(str(folder))


def exact(data, schema):
    recording = Recording(NoNoise())
    curator = under(recording, rows_of(data, schema), DESIGN, dps.gdp(9))
    curator.release("event_moments", 1.0, **PUBLIC)
    return recording.records[0].exact.tobytes()


def late():
    time.sleep(20)


def dying():
    """Kill the executor, of whose Java process this one is a descendant."""
    process = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)


def first_time(what, flags, monkeypatch):
    """Have something happen to the task that is the first to come to partition 0 in each pass."""
    results, passes = Spark.results, count()

    def changed(self, task, parts):
        flag = flags / str(next(passes))

        def summed(part):
            from pyspark import TaskContext

            place = TaskContext.get().partitionId()
            Path(f"{flag}-{place}-{TaskContext.get().taskAttemptId()}").touch()
            if place == 0:
                try:
                    Path(f"{flag}-first").touch(exist_ok=False)
                except FileExistsError:
                    return pickle.loads(task)(part)
                what()
            return pickle.loads(task)(part)

        return results(self, cloudpickle.dumps(summed), parts)

    monkeypatch.setattr(Spark, "results", changed)


@pytest.mark.parametrize("schema", [SCHEMA, UNITS], ids=["rows", "units"])
@pytest.mark.parametrize("what", [late, dying])
def test_a_task_that_is_done_twice_counts_once(what, schema, frame, tmp_path, monkeypatch):
    cloudpickle.register_pickle_by_value(__import__(__name__, fromlist=["late"]))
    expected = exact(frame, schema)
    first_time(what, tmp_path, monkeypatch)
    assert exact(frame, schema) == expected
    assert len([*tmp_path.glob("0-0-*")]) > 1
