"""Every reader of outside bytes, with valid inputs to begin from."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import dpstats as dps
from benchmarks.fuzzing import ALLOWED, SECRET, Fault, Target, column_names, first_line, unzipped
from dpstats.cli import main as command_line
from dpstats.contributors import write_messages
from dpstats.ledger import ledger as ledgers
from dpstats.results import CurveFit

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100_000_000),
    failed=dps.event(),
    temp=dps.bounded(10, 50, unit="C"),
    maker=dps.levels("A", "B", other=True),
    count=dps.count(10),
    flag=dps.flag(),
).unit("serial", max_rows=2)
COLUMNS: dict[str, list[Any]] = {
    "serial": ["one", "one", "two", SECRET, "four", "five"],
    "time": [12.5, 86753090, 1e3, 7, 55, 9.25],
    "failed": [1, 0, 1, 1, 0, 1],
    "temp": [20, 30.5, 41, 86753090, 12, 50],
    "maker": ["A", "B", SECRET, "A", "B", "B"],
    "count": [0, 1, 2, 3, 10, 86753090],
    "flag": [0, 1, 1, 0, 1, 0],
}
RECORD = {name: column[0] for name, column in COLUMNS.items()}
FREE = dps.Schema({name: SCHEMA[name] for name in SCHEMA})  # a contributor is its own unit
PLANS = [
    dps.plan_contributions("temp ~ count", FREE, dps.zcdp(0.5), 4),
    dps.plan_contributions("flag ~ temp", FREE, dps.approx(1, 1e-4), 4000, method="input"),
]


# Private rows, read and used by a model of times and one of counts, without noise worth the time.


def _rows(path: Any) -> None:
    budget = dps.zcdp(0.5)
    dps.kaplan_meier("Surv(time, failed) ~ maker", path, SCHEMA).fit(budget, force=True)
    dps.svm("flag ~ temp + count", path, SCHEMA, c=5.0).fit(budget, force=True)


def _csv(folder: Path) -> list[bytes]:
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in zip(*COLUMNS.values(), strict=True))]
    quoted = [lines[0], *(",".join(f'"{cell}"' for cell in line.split(",")) for line in lines[1:])]
    marked = "\ufeff" + "\n".join(lines)
    return ["\n".join(lines).encode(), "\r\n".join(quoted).encode(), marked.encode()]


def _european(folder: Path) -> list[bytes]:
    """Semicolons, decimal commas and another encoding."""
    return [text.replace(b",", b";").replace(b".", b",").replace(b"A", b"\xe9") for text in _csv(folder)[:2]]


def _european_rows(path: Path) -> None:
    _rows(dps.read_csv(path, sep=";", decimal=",", encoding="cp1252"))


def _zipped(folder: Path) -> list[bytes]:
    return [gzip.compress(text, mtime=0) for text in _csv(folder)]


def _table() -> pa.Table:
    texts = ("serial", "maker")
    return pa.table(
        {
            name: pa.array(
                [str(cell) for cell in column] if name in texts else column,
                pa.string() if name in texts else pa.float64(),
            )
            for name, column in COLUMNS.items()
        }
    )


def _parquet(folder: Path) -> list[bytes]:
    found = []
    for options in ({}, dict(use_dictionary=False, compression="none"), dict(compression="gzip")):
        parquet.write_table(_table(), folder / "made.parquet", **options)
        found.append((folder / "made.parquet").read_bytes())
    return found


def _arrow(folder: Path) -> list[bytes]:
    """A file and a stream, and a file with dictionaries of texts."""
    coded = _table().set_column(4, "maker", _table()["maker"].dictionary_encode())
    found = []
    for make, table in ((pa.ipc.new_file, _table()), (pa.ipc.new_stream, _table()), (pa.ipc.new_file, coded)):
        sink = pa.BufferOutputStream()
        with make(sink, table.schema) as out:
            out.write_table(table)
        found.append(sink.getvalue().to_pybytes())
    return found


# What is public: schemas, fits, curves, moments, plans, messages, ledgers.


def _schema(path: Path) -> None:
    schema = dps.Schema.load(path)
    assert dps.Schema.from_dict(schema.to_dict()) == schema
    repr(schema), schema._repr_html_()


def _schema_json(folder: Path) -> list[bytes]:
    return [json.dumps(SCHEMA.to_dict()).encode()]


def _schema_toml(folder: Path) -> list[bytes]:
    return [
        "\n".join(
            f"{name} = {{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + "}"
            for name, table in SCHEMA.to_dict().items()
        ).encode(),
        b'[time]\nkind = "bounded"\nlower = 1\nupper = 1_000.5\n[failed]\nkind = "event"\nfailed = 2\n',
    ]


def _fit(path: Path) -> None:
    fit = dps.load(path)
    repr(fit), str(fit.summary()), fit.summary().as_html(), fit.to_dict(), fit.tidy(), fit.conf_int()
    with contextlib.suppress(*ALLOWED):
        fit.predict({"temp": [20.0], "maker": ["A"], "count": [1]})


def _saved(fit: Any, folder: Path) -> bytes:
    fit.save(folder / "saved.json", overwrite=True)
    return (folder / "saved.json").read_bytes()


def _fits(folder: Path) -> list[bytes]:
    budget, pure, data = dps.zcdp(0.5), dps.pure(1), (COLUMNS, SCHEMA)
    messages = [dps.contribute(RECORD, PLANS[0]) for _ in range(6)]
    fits = [
        dps.survreg("Surv(time, failed) ~ temp", *data).fit(budget, release=["loglik"], force=True),
        dps.survreg("Surv(time, failed) ~ temp", *data).fit(pure, force=True),
        dps.ols("temp ~ count", *data, weights="flag").fit(budget, force=True),
        dps.ridge("temp ~ count", *data, alpha=0.1).fit(pure, force=True),
        dps.logit("flag ~ temp", *data).fit(budget, force=True),
        dps.logit("flag ~ temp", *data).fit(pure, force=True),
        dps.glm("count ~ temp + maker", *data, family="poisson").fit(budget, force=True),
        dps.svm("flag ~ temp", *data).fit(budget, force=True),
        dps.ols("temp ~ count", None, FREE).fit_contributions(messages, PLANS[0]),
    ]
    return [_saved(fit, folder) for fit in fits]


def _curve(path: Path) -> None:
    curve = CurveFit.load(path)
    repr(curve), curve.table(), curve.to_dict()


def _curves(folder: Path) -> list[bytes]:
    model = dps.kaplan_meier("Surv(time, failed) ~ maker", COLUMNS, SCHEMA, [10, 100])
    return [_saved(model.fit(dps.zcdp(0.5), force=True), folder)]


def _moments(path: Path) -> None:
    moments = dps.PublicMoments.load(path)
    repr(moments), moments.to_dict()
    dps.ols("temp ~ count", COLUMNS, SCHEMA, public=moments)


def _public(folder: Path) -> list[bytes]:
    return [_saved(dps.public_moments("temp ~ count", COLUMNS, SCHEMA), folder)]


def _plan(path: Path) -> None:
    plan = dps.ContributionPlan.load(path)
    repr(plan), plan.hash
    dps.contribute(RECORD, plan)


def _plans(folder: Path) -> list[bytes]:
    return [_saved(plan, folder) for plan in PLANS]


def _messages(path: Path) -> None:
    repr(dps.ols("temp ~ count", None, FREE).fit_contributions(path, PLANS[0]))


def _sent(ending: str) -> Callable[[Path], list[bytes]]:
    def corpus(folder: Path) -> list[bytes]:
        path = folder / f"sent.{ending}"
        write_messages([dps.contribute(RECORD, PLANS[0]) for _ in range(6)], path)
        return [path.read_bytes()]

    return corpus


def _ledger(path: Path) -> None:
    ledgers._SEEN.clear()  # as in a new process: another would refuse the file that was there before
    ledger = dps.Ledger(path)
    repr(ledger), str(ledger.report()), ledger.to_dict()
    part = ledger.total.split(0.1, 0.9)[0]
    ledger.charge(part, formula="y ~ x", method="none", unit="one serial")


def _ledgers(folder: Path) -> list[bytes]:
    found = []
    for number, total in enumerate((dps.zcdp(1), dps.approx(3, 1e-6), dps.pure(2))):
        path = folder / f"{number}.ledger"
        path.unlink(missing_ok=True)
        ledger = dps.Ledger(path, total=total)
        ledger.charge(total.split(0.1, 0.9)[0], formula="y ~ x", method="none", unit="one serial")
        found.append(path.read_bytes())
    return found


def _commands(path: Path) -> None:
    """A command of the file, words as a shell splits them, in the folder of valid files."""
    words = _words(path)
    for made in {item.name for item in path.parent.iterdir()} - GIVEN - {path.name}:
        (path.parent / made).unlink()
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()):
        try:
            status = command_line(words)
        except SystemExit as left:
            status = left.code
        if status not in (0, 2):
            raise Fault(f"the command line left with {status!r}")


def _words(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace").replace("/", "").replace("..", "")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


GIVEN = {"d.csv", "d.parquet", "s.json", "f.json", "p.json", "m.jsonl", "l.ledger"}  # what commands may name


def _lines(folder: Path) -> list[bytes]:
    (folder / "d.csv").write_bytes(_csv(folder)[0])
    (folder / "d.parquet").write_bytes(_parquet(folder)[0])
    (folder / "s.json").write_bytes(_schema_json(folder)[0])
    (folder / "f.json").write_bytes(_fits(folder)[0])
    (folder / "p.json").write_bytes(_plans(folder)[0])
    (folder / "m.jsonl").write_bytes(_sent("jsonl")(folder)[0])
    (folder / "l.ledger").write_bytes(_ledgers(folder)[0])
    return [
        line.encode()
        for line in (
            'fit "Surv(time, failed) ~ temp" d.csv --schema s.json --budget "zcdp(.5)" '
            "--ledger l.ledger --out o.json",
            'fit "temp ~ np.log(time) + maker" d.parquet --schema s.json --model ridge --alpha .1 '
            '--budget "approx(1, 1e-6)" --public d.csv --out o.json',
            'fit "count ~ temp + offset(np.log(time))" d.csv --schema s.json --model glm --family poisson '
            '--weights flag --budget "gdp(1)" --out o.json',
            "show f.json",
            "predict f.json d.csv --type quantile --p 0.1",
            "schema check s.json d.csv",
            "schema check s.json d.csv --sep tab --decimal , --encoding latin-1",
            'ledger create n.ledger --total "approx(3, 1e-6)"',
            "ledger export l.ledger --format csv",
            'plan-contributions "temp ~ count" --schema s.json --budget "zcdp(1)" --contributors 9 '
            "--out q.json",
            "contribute d.csv --plan p.json --out w.jsonl",
            "fit-contributions m.jsonl --plan p.json --model ols --out v.json",
        )
    ]


TARGETS = {
    target.name: target
    for target in (
        Target("csv", _csv, _rows, first_line),
        Target("european", _european, _european_rows, first_line),
        Target("csv.gz", _zipped, _rows, lambda data: first_line(unzipped(data))),
        Target("parquet", _parquet, _rows, column_names),
        Target("arrow", _arrow, _rows, column_names),
        Target("schema.json", _schema_json, _schema),
        Target("schema.toml", _schema_toml, _schema),
        Target("fit.json", _fits, _fit),
        Target("curve.json", _curves, _curve),
        Target("moments.json", _public, _moments),
        Target("plan.json", _plans, _plan),
        Target("messages.jsonl", _sent("jsonl"), _messages),
        Target("messages.parquet", _sent("parquet"), _messages),
        Target("ledger", _ledgers, _ledger),
        Target("command", _lines, _commands, first_line, commands=True),
    )
}
