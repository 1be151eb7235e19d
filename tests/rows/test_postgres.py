"""Tables of a Postgres server that runs in a temporary folder; where none is installed, that is said."""

import os
import pickle
import shutil
import subprocess
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.cli import main
from dpstats.curator import Curator
from dpstats.errors import DataError
from dpstats.rows.sizes import SIZES
from tests.rows.alike import asked, within_slack
from tests.rows.resized import resize
from tests.rows.test_parts import DESIGN, PUBLIC, SCHEMA, TABLE, N, joined, rows_of

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="adbc-driver-postgresql is not installed")
psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
FIXED = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
SELECT = "SELECT x, g, y, other FROM t ORDER BY other"  # what is written anew stands elsewhere
CUTS = dict(key="other", cuts=range(7000, 20_000, 7000))


def programs():
    """The folder of Postgres's programs, if there is one."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    on_path = shutil.which("pg_ctl")
    folders += [Path(on_path).resolve().parent] if on_path else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@pytest.fixture(scope="module")
def server():
    """An address; the server belongs to this user or, as it refuses the administrator, to postgres."""
    found = programs()
    if found is None:
        pytest.skip("Postgres is not installed: apt-get install postgresql")
    as_user = dict(user="postgres", group="postgres") if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path is short
    if as_user:
        shutil.chown(folder, **as_user)

    def run(program, *options):
        command = [found / program, "-D", folder / "data", *options]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120, **as_user)

    run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
    run("pg_ctl", "-o", f"-k {folder} -h '' -F", "-l", folder / "log", "-w", "start")
    try:
        uri = f"postgresql://postgres@/postgres?host={folder}"
        with closing(dbapi.connect(uri)) as made, closing(made.cursor()) as cursor:
            cursor.adbc_ingest("t", TABLE, mode="create")
            cursor.execute("CREATE TABLE digits AS SELECT x::text::numeric AS x, g::char(9), y::real FROM t")
            made.commit()
        yield uri
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def streamed(monkeypatch):
    resize(monkeypatch, kept=0)


def by_adbc(uri):
    made = dbapi.connect(uri)
    with closing(made.cursor()) as cursor:
        cursor.execute(FIXED)
    return made


def by_psycopg(uri):
    made = psycopg.connect(uri)
    made.execute(FIXED)
    return made


WAYS = {"adbc": by_adbc, "psycopg": by_psycopg, "address": str}


def bits(data):
    return {name: values.tobytes() for name, values in joined(rows_of(data).blocks()).items()}


@pytest.mark.parametrize("cut", [{}, CUTS])
@pytest.mark.parametrize("kept", [SIZES.kept, 0])
@pytest.mark.parametrize("way", WAYS)
def test_a_query_has_the_rows_of_the_file(way, kept, cut, server, monkeypatch):
    resize(monkeypatch, kept=kept)
    connection = WAYS[way](server)
    query = dps.read_sql(SELECT, connection, **cut)
    rows = rows_of(query)
    assert rows.n == N and len(rows.parts()) == (0 if kept else len(cut.get("cuts", ())) + 1)
    for _ in range(2):
        found = {name: values.tobytes() for name, values in joined(rows.blocks()).items()}
        assert found == bits(TABLE)
    if way != "address":
        connection.close()


def test_numbers_in_digits_and_padded_texts_are_read(server):
    found = joined(rows_of(dps.read_sql("SELECT * FROM digits", server)).blocks())
    expected = joined(rows_of(TABLE).blocks())
    assert found["x"].tobytes() == expected["x"].tobytes() and (found["g"] == expected["g"]).all()
    assert (found["y"] == expected["y"].astype(np.float32)).all()


@pytest.mark.parametrize("workers", [1, 2])
def test_releases_are_those_of_the_file(workers, server, tmp_path, streamed, monkeypatch):
    parquet.write_table(TABLE, tmp_path / "d.parquet")

    def fit(data):
        with dps.options(workers=workers):
            return dps.ols("y ~ x + g", data, SCHEMA).fit(dps.zcdp(50))

    found, sums, questions = asked(lambda: fit(tmp_path / "d.parquet"), monkeypatch)
    for cut in ({}, CUTS):
        query = dps.read_sql(SELECT, server, **cut)
        again, others, _ = asked(partial(fit, query), monkeypatch, questions)
        assert again.nobs == found.nobs and within_slack(DESIGN, questions, N, sums, others)
        np.testing.assert_allclose(again.params, found.params, rtol=1e-9)
        if not cut:  # the same blocks
            assert all((one == other).all() for one, other in zip(sums, others, strict=True))


def change(uri):
    with psycopg.connect(uri) as other:
        other.execute("INSERT INTO t (x, g, y, other) VALUES (1, 'a', 1, -1)")
        other.execute("UPDATE t SET x = -x WHERE other = 3")


def undo(uri):
    with psycopg.connect(uri) as other:
        other.execute("DELETE FROM t WHERE other = -1")
        other.execute("UPDATE t SET x = -x WHERE other = 3")


@pytest.mark.parametrize("way", WAYS)
def test_all_passes_see_one_snapshot(way, server, streamed):
    rows = rows_of(dps.read_sql(SELECT, WAYS[way](server)))
    before = joined(rows.blocks())["x"]
    change(server)
    try:
        assert joined(rows.blocks())["x"].tobytes() == before.tobytes() and rows.n == N
    finally:
        undo(server)


def test_parts_of_an_address_are_sent_with_their_snapshot_and_without_rows(server, streamed):
    pieces = rows_of(dps.read_sql(SELECT, server, **CUTS)).parts()
    sent = pickle.dumps(pieces)
    assert all(piece.portable for piece in pieces) and len(sent) < 5000
    change(server)
    try:
        there = [block["y"] for piece in pickle.loads(sent) for block in piece.blocks(999)]
        assert np.concatenate(there).tobytes() == joined(rows_of(TABLE).blocks())["y"].tobytes()
    finally:
        undo(server)


def autocommitting(uri):
    made = psycopg.connect(uri, autocommit=True)
    made.execute("SET default_transaction_isolation TO 'repeatable read'")
    return made


@pytest.mark.parametrize("connect", [dbapi.connect, psycopg.connect, autocommitting])
def test_a_connection_that_may_find_other_rows_is_refused_before_a_charge(
    connect, server, tmp_path, monkeypatch
):
    query = dps.read_sql(SELECT, connect(server))
    assert dps.ols("y ~ x + g", query, SCHEMA).fit(dps.zcdp(0.5)).nobs == N  # kept
    resize(monkeypatch, kept=0)
    ledger = dps.Ledger(tmp_path / "l.ledger", total=dps.zcdp(1))
    with pytest.raises(DataError, match="may find other rows each time.*SET TRANSACTION ISOLATION LEVEL"):
        dps.ols("y ~ x + g", query, SCHEMA).fit(dps.zcdp(0.5), ledger=ledger)
    assert ledger.left == dps.zcdp(1)


@pytest.mark.parametrize("connect", [by_adbc, by_psycopg])
def test_a_transaction_that_ends_between_passes_ends_the_fit(connect, server, streamed):
    connection = connect(server)
    curator = Curator(rows_of(dps.read_sql(SELECT, connection)), DESIGN, dps.gdp(1))
    connection.commit()
    with pytest.raises(
        DataError, match="may find other rows|has ended, since the model first read it"
    ) as caught:
        curator.release("event_moments", 0.5, **PUBLIC)
    assert caught.value.__context__ is None


def test_a_server_that_is_not_there_says_nothing_of_the_address():
    query = dps.read_sql(SELECT, "postgresql://someone:secret-4711@/nowhere?host=/nowhere")
    with pytest.raises(DataError, match="the query cannot be run. The cause is not shown") as caught:
        rows_of(query)
    assert "4711" not in str(caught.value) and caught.value.__context__ is None


def test_the_command_line_fits_a_query_at_an_address(server, tmp_path, capsys):
    SCHEMA.save(tmp_path / "s.json")
    query = ["--query", "SELECT x, g, y FROM t"]
    schema = str(tmp_path / "s.json")
    assert main(["schema", "check", schema, server, *query]) == 0
    assert "has every declared column" in capsys.readouterr().out
    out = ["--out", str(tmp_path / "f.json"), "--budget", "zcdp(5)", "--schema", schema]
    assert main(["fit", "y ~ x + g", server, *query, *out, "--model", "ols", "--workers", "2"]) == 0
    assert dps.load(tmp_path / "f.json").nobs == N
    assert main(["describe", server, *query, *out[2:], "--columns", "x"]) == 0


# encodings of a database and of a connection; whether Python's driver is allowed, and ADBC
ENCODINGS = [
    ("UTF8", "UTF8", True, True),
    ("UTF8", "LATIN1", False, False),
    ("LATIN1", "UTF8", True, True),
    ("LATIN1", "LATIN1", True, True),
    ("WIN1252", "UTF8", False, False),  # the server has bytes there that mean nothing
    ("SQL_ASCII", "UTF8", False, False),
    ("SQL_ASCII", "SQL_ASCII", False, True),
]


@pytest.mark.parametrize("of_server, of_client, by_python, by_arrow", ENCODINGS)
def test_no_text_that_an_encoding_lacks_ends_a_query(of_server, of_client, by_python, by_arrow, server):
    """Which encodings they are decides, and not whether a cell is one of those texts."""
    name = f"made_{of_server}".lower()
    with psycopg.connect(server, autocommit=True) as made:
        if not made.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            made.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{of_server}' LOCALE 'C'")
    of = server.replace("/postgres?", f"/{name}?") + f"&client_encoding={of_client}"
    schema = dps.Schema(x=dps.bounded(0, 9), g=dps.levels("a", other=True))
    wild = {"UTF8": "chr(937)", "SQL_ASCII": r"convert_from('\xff', 'SQL_ASCII')"}.get(of_server, "chr(129)")
    for connect, allowed in ((psycopg.connect, by_python), (dbapi.connect, by_arrow)):
        for cell in ("'a'", wild):
            query = dps.read_sql(f"SELECT 1.5::float8 AS x, {cell} AS g", connect(of))
            if allowed:
                assert joined(rows_of(query, schema).blocks())["x"].tolist() == [1.5]
            else:
                with pytest.raises(dps.DataError, match=f"texts of this database are in {of_server}"):
                    rows_of(query, schema)


NO_CELLS = {
    "date": "'infinity'",
    "timestamp": "'20000-01-01'",
    "time": "'24:00:00'",
    "jsonb": "'1e5000'",
    "daterange": "'[2020-01-01,infinity)'",
    "uuid": "'00000000-0000-0000-0000-000000000000'",
}


@pytest.mark.parametrize("kind", NO_CELLS)
def test_a_type_of_which_python_has_not_all_values_is_refused_and_ends_no_query_of_other_columns(
    kind, server
):
    """Which type it is decides, and not whether a cell is one of those."""
    made = by_psycopg(server)
    for cell in (NO_CELLS[kind], "NULL"):
        query = dps.read_sql(f"SELECT 1.5 AS x, {cell}::{kind} AS z", made)
        assert joined(rows_of(query, dps.Schema(x=dps.bounded(0, 9))).blocks())["x"].tolist() == [1.5]
        with pytest.raises(dps.DataError, match="'z' of the query holds neither numbers nor texts; cast it"):
            rows_of(query, dps.Schema(z=dps.levels("a", other=True)))
