"""``dpstats ledger`` and ``dpstats fit --ledger``."""

import json
from pathlib import Path

import pandas as pd
import pytest

import dpstats as dps
from dpstats.cli import main

SCHEMA = """
time    = {kind = "bounded", lower = 1, upper = 2000, unit = "hours"}
status  = {kind = "event"}
voltage = {kind = "bounded", lower = 200, upper = 350, unit = "V"}
"""
FIT = ["fit", "Surv(time, status) ~ voltage", "drives.csv", "--schema", "drives.toml", "--ledger", "f.ledger"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("drives.toml").write_text(SCHEMA)
    dps.datasets.load("capacitor").data.to_csv("drives.csv", index=False)
    assert main(["ledger", "create", "f.ledger", "--total", "approx(3, 1e-6)", "--dataset", "fleet"]) == 0
    return tmp_path


def test_create_show_and_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "create", "g.ledger", "--total", "zcdp(2)"]) == 0
    assert capsys.readouterr().out.endswith("g.ledger: rho 0.00 of 2.00 spent on 'g' (rho = 2 (zCDP))\n")
    ledger = dps.Ledger("f.ledger", dataset="fleet")
    ledger.charge(dps.gdp(0.1), formula="y ~ x", method="made, up")
    assert main(["ledger", "show", "f.ledger"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{ledger.report()}\n" and max(map(len, printed.splitlines())) <= 79
    assert main(["ledger", "export", "f.ledger"]) == 0
    assert json.loads(capsys.readouterr().out) == ledger.to_dict()
    assert main(["ledger", "export", "f.ledger", "--format", "csv", "--out", "f.csv"]) == 0
    assert pd.read_csv("f.csv").loc[0, "method"] == "made, up"


def test_a_fit_is_charged_and_refused_when_nothing_is_left(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*FIT, "--budget", "approx(2.9, 1e-6)", "--out", "a.json"]) == 0
    assert "2.90 of 3.00 spent on 'fleet'" in capsys.readouterr().out
    (entry,) = dps.Ledger("f.ledger").entries()
    assert entry.formula == FIT[1] and entry.budget == dps.approx(2.9, 1e-6) and entry.released
    assert main([*FIT, "--budget", "approx(2.9, 1e-6)", "--out", "b.json"]) == 2
    assert "needs epsilon = 2.9, 0.6462 is left of 3.0 in 'fleet'" in capsys.readouterr().err
    assert not Path("b.json").exists() and len(dps.Ledger("f.ledger").entries()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ledger", "show", "no.ledger"], "no ledger no.ledger; start one"),
        (["ledger", "show", "drives.csv"], "drives.csv is not a ledger"),
        (["ledger", "create", "f.ledger", "--total", "zcdp(1)"], "f.ledger exists"),
        (["ledger", "create", "g.ledger", "--total", "zcdp(-1)"], "rho must be positive"),
        (["ledger", "create", "nowhere/g.ledger", "--total", "zcdp(1)"], "cannot be created"),
        (["ledger", "export", "f.ledger", "--out", "f.ledger"], "f.ledger exists"),
        (["ledger", "export", "f.ledger", "--format", "csv", "--out", "f.xlsx"], "must end in .csv"),
        ([*FIT[:-1], "no.ledger", "--budget", "approx(1, 1e-6)", "--out", "c.json"], "no ledger no.ledger"),
    ],
)
def test_mistakes_end_with_2_and_one_line(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert says in output.err and output.err.count("\n") == 1 and output.out == ""
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_fit_says_who_charged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spends = ["--model", "survreg", "--budget", "approx(1, 1e-6)", "--force", "--charged-by", "claims team"]
    assert main([*FIT, *spends, "--out", "fit.json"]) == 0
    (entry,) = dps.Ledger("f.ledger").entries()
    assert entry.method.endswith(", charged by claims team")
    capsys.readouterr()
    assert main([*FIT[:-2], *spends, "--out", "other.json"]) == 2
    assert "--charged-by says who charges a ledger; name that by --ledger" in capsys.readouterr().err
