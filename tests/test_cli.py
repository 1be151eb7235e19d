"""The command line: it teaches, it refuses in one line, and its files hold what Python would have given."""

import argparse
import io
import os
import re
import subprocess
import sys
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.cli import main, plain_warnings, spelt
from dpstats.cli.options import AUTO, MODELS, parser
from dpstats.families import DISTS, FAMILIES
from dpstats.models.linear import AUTO as LIBRARY_AUTO
from tests.disk import full_disk
from tests.results.every import MARGIN_AT, hazards

SCHEMA = """
time        = {kind = "bounded", lower = 1, upper = 2000, unit = "hours"}
status      = {kind = "event"}
voltage     = {kind = "bounded", lower = 200, upper = 350, unit = "V"}
"""
FORMULA = "Surv(time, status) ~ voltage"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drives.toml").write_text(SCHEMA)
    data = dps.datasets.load("capacitor").data
    data.to_csv("drives.csv", index=False)
    data.to_parquet("drives.parquet")
    pd.DataFrame({"unit": ["a", "b"], "voltage": [200, 350]}).to_csv("new.csv", index=False)
    return tmp_path


def fit(data: str = "drives.csv", **changed: str) -> list[str]:
    options = {"schema": "drives.toml", "budget": "approx(1, 1e-6)", "out": "drives.fit.json"} | changed
    formula = options.pop("formula", FORMULA)
    return ["fit", formula, data, *(part for name, value in options.items() for part in (f"--{name}", value))]


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["fit"],
        ["plan"],
        ["show"],
        ["table"],
        ["life"],
        ["plot"],
        ["compare"],
        ["predict"],
        ["forecast"],
        ["ledger"],
        ["schema"],
        ["demo"],
    ],
)
def test_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert "usage: dpstats" in printed
    assert max(map(len, printed.splitlines())) <= 120


def test_help_shows_the_whole_way(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    steps = ["dpstats schema check", "dpstats fit", "dpstats show", "dpstats predict", "dpstats demo"]
    assert [printed.find(step) for step in steps] == sorted(printed.find(step) for step in steps)
    assert all(step in printed for step in steps)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "required: COMMAND"),
        (["fti"], "invalid choice"),
        (["fit", "y ~ x"], "required: data, --schema, --budget, --out"),
        (fit(budget="approx(1)"), "cannot read the budget 'approx(1)'"),
        (fit(budget="pure(-1)"), "epsilon must be positive"),
        (fit(budget="approx(-1, 1e-6)"), "epsilon must be positive"),
        (fit(schema="no.toml"), "no.toml cannot be opened"),
        (fit(query="SELECT 1"), "goes with an address, postgresql://..., in the place of a file"),
        (fit("postgresql://here/d"), '--query "SELECT ..." goes with an address'),
        (fit(workers="0"), "workers must be a number of processes"),
        (fit(workers="2", cluster="tcp://here:1"), "give them, or --cluster"),
        (fit(cluster="here://1"), "no scheduler of Dask answers at 'here://1'; give an address such as tcp"),
        ([*fit(), "another.csv"], "unrecognized arguments: another.csv; a pattern of files goes in quotes"),
        (fit("no.csv"), "no file no.csv"),
        (fit(formula="Surv(time, status) ~ volts"), "volts"),
        (fit(formula="Surv(time, status) ~ ("), "formula"),
        (fit(dist="weibul"), "dist must be one of weibull"),
        (fit(alpha="1"), "--alpha is for --model ridge, not survreg"),
        (fit(model="ols", formula="time ~ voltage", dist="sev"), "--dist is for --model survreg, not ols"),
        (fit(model="ridge", formula="time ~ voltage"), "--model ridge needs --alpha"),
        (fit(model="ridge", formula="time ~ voltage", alpha="-1"), "alpha"),
        (fit(model="ridge", formula="time ~ voltage", alpha="some"), "invalid penalty value: 'some'"),
        (fit(model="glm", formula="time ~ voltage"), "--model glm needs --family"),
        (fit(model="logit", formula="status ~ voltage", exposure="time"), "--exposure is for --model glm"),
        (fit(model="ols", formula="time ~ voltage", public="no.json"), "no.json"),
        (fit(model="ols", formula="time ~ voltage", weights="volts"), "volts"),
        (fit(out="new.csv"), "new.csv exists"),
        (fit(out="nowhere/drives.fit.json"), "nowhere/drives.fit.json"),
        (["show", "no.fit.json"], "no.fit.json"),
        (["show", "new.csv"], "new.csv"),
        (["schema", "check", "no.toml"], "no.toml cannot be opened"),
        (["schema", "check", "drives.toml", "new.csv"], "no column 'time', 'status'"),
        (fit(out="a.xlsx"), "must end in .json, not as a.xlsx does"),
        (["demo", "--out", "new.csv"], "new.csv exists"),
        (fit(sep="ab"), "sep must be one ASCII character"),
        (fit(decimal=";"), "decimal must be '.' or ','"),
        (fit(encoding="utf-16"), "encoding must be one in which ASCII"),
        (fit("drives.xlsx"), "there is no file"),
        (fit("time ~ voltage", formula="drives.csv"), "the order is: dpstats fit FORMULA DATA"),
        (["predict", "new.csv", "drives.json"], "the order is: dpstats predict FIT NEW"),
        (["schema", "check", "drives.toml", "no.csv"], "no.csv"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.stat().st_size for path in folder.iterdir()}
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(str(stop.code))
    output = capsys.readouterr()
    assert code == 2
    assert says in output.err
    assert output.err.startswith("dpstats") and output.err.count("\n") == 1
    assert output.out == ""
    assert before == {path.name: path.stat().st_size for path in folder.iterdir()}


@pytest.mark.parametrize("data", ["drives.csv", "drives.parquet"])
def test_schema_check_prints_the_schema_and_compares_names(
    data: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "check", "drives.toml", data]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(repr(dps.Schema.load("drives.toml")))
    assert "Not declared, so not usable in a formula: temperature" in printed


def test_names_of_a_table_are_printed_as_a_schema_would_write_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("drives.csv").assign(**{"a\x1b[2K": 0, "b\x9b": 0, "c d": 0})
    table.to_parquet("odd.parquet")
    assert main(["schema", "check", "drives.toml", "odd.parquet"]) == 0
    printed = capsys.readouterr().out
    assert r'"a\u001b[2K", "b\u009b", "c d"' in printed and printed.replace("\n", "").isprintable()
    assert main(["schema", "new", "odd.parquet"]) == 0
    assert capsys.readouterr().out.replace("\n", "").isprintable()


def test_a_unit_of_privacy_is_declared_in_the_file_of_the_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("unit.toml").write_text(SCHEMA + 'serial = {kind = "unit", max_rows = 2}\n')
    assert main(["schema", "check", "unit.toml", "drives.csv"]) == 2
    assert "the data have no column 'serial'" in capsys.readouterr().err
    data = pd.read_csv("drives.csv")
    data.assign(serial=range(len(data))).to_csv("serials.csv", index=False)
    assert main(["schema", "check", "unit.toml", "serials.csv"]) == 0
    printed = capsys.readouterr().out
    assert "at most 2 rows weigh" in printed and "formula: temperature\n" in printed
    assert main(fit("serials.csv", schema="unit.toml")) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*fit("serials.csv", schema="unit.toml"), "--force"]) == 0
    assert "replace one serial" in capsys.readouterr().out


def test_data_may_be_a_folder_or_a_pattern(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = pd.read_csv("drives.csv")
    Path("parts").mkdir()
    for place, part in enumerate((data.iloc[:20], data.iloc[20:])):
        part.to_csv(f"parts/{place}.csv", index=False, sep=";")
        part.to_parquet(f"{place}.parquet")
    for given in (["parts", "--sep", ";"], ["parts/*.csv", "--sep", ";"], ["[01].parquet"]):
        assert main(["schema", "check", "drives.toml", *given]) == 0
    for given in (["parts", "--sep", ";"], ["[01].parquet"]):
        out = f"{given[0][:1]}.json"
        assert main([*fit(given[0], out=out), *given[1:], "--force"]) == 0
        assert dps.load(out).nobs == len(data)
    assert main(["schema", "check", "drives.toml", "parts"]) == 2
    assert "no column" in capsys.readouterr().err


def test_schema_check_reads_no_value(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "check", "drives.toml", "drives.csv"])
    ordinary = capsys.readouterr()
    header = Path("drives.csv").read_text().splitlines()[0]
    Path("drives.csv").write_text(header + '\nten,"x\ny",,,,,,\n1e999,nan,\n')
    main(["schema", "check", "drives.toml", "drives.csv"])
    assert capsys.readouterr() == ordinary


def test_schema_new_writes_what_python_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data in ("drives.csv", "drives.parquet"):
        assert main(["schema", "new", data]) == 0
        assert capsys.readouterr().out == dps.Schema.template(data)
    assert main(["schema", "new", "drives.csv", "--out", "new.toml"]) == 0
    assert main(["schema", "new", "drives.csv", "--out", "new.toml"]) == 2
    assert main(["schema", "check", "new.toml"]) == 2
    assert "kind is still '?'" in capsys.readouterr().err
    Path("semicolons.csv").write_text("life;site\n1;north\n")
    assert main(["schema", "new", "semicolons.csv"]) == 2
    assert "say what separates them, with --sep ';'\n" in capsys.readouterr().err
    assert main(["schema", "check", "drives.toml", "semicolons.csv"]) == 2
    assert capsys.readouterr().err.endswith("Say it with --sep ';'\n")


def test_schema_check_shows_unusable_cells_when_it_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, first, *_ = Path("drives.csv").read_text().splitlines()
    Path("odd.csv").write_text(f"{header}\n{first}\nmany{',' * header.count(',')}\n")
    assert main(["schema", "check", "drives.toml", "odd.csv", "--values"]) == 0
    printed = capsys.readouterr().out
    assert "NOT PRIVATE" in printed and "No value was read" not in printed
    assert str(dps.check("odd.csv", dps.Schema.load("drives.toml"))) in printed
    beside = ["--formula", FORMULA, "--subset", "voltage > 250"]
    assert main(["schema", "check", "drives.toml", "odd.csv", "--values", *beside]) == 0
    asked = dps.check("odd.csv", dps.Schema.load("drives.toml"), FORMULA, subset="voltage > 250")
    assert str(asked) in capsys.readouterr().out
    assert main(["schema", "check", "drives.toml", "--values"]) == 2
    assert "--values needs a table" in capsys.readouterr().err


def planned(*words: str, n: str = "2000") -> list[str]:
    return ["plan", FORMULA, "--schema", "drives.toml", "--budget", "approx(1, 1e-6)", "--n", n, *words]


@pytest.mark.long
def test_plan_prints_what_python_gives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a model whose trials are quick."""
    known = ["--known", "voltage=280,25", "--events", "0.3", "--coef", "voltage=-0.01"]
    asked = planned(*known, "--model", "logit", "--power", "voltage=-0.02", "--half-width", "voltage=0.005")
    asked[1] = "status ~ voltage"
    assert main(asked) == 0
    printed = capsys.readouterr().out
    model = dps.logit(asked[1], None, dps.Schema.load("drives.toml"))
    told = {"covariates": {"voltage": (280, 25)}, "events": 0.3, "coef": {"voltage": -0.01}}
    ahead = dps.plan(model, dps.approx(1, 1e-6), 2000, **told)
    assert str(ahead) in printed
    assert f"Power for voltage: {ahead.power({'voltage': -0.02})['voltage']:.2f}" in printed
    assert f"Rows for them with epsilon = 1, delta = 1e-06: {ahead.n_for({'voltage': 0.005})}" in printed
    assert not list(folder.glob("*.json"))


def test_plan_takes_levels_flags_correlations_and_public_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.toml").write_text(
        'y = {kind = "bounded", lower = 0, upper = 9}\nx = {kind = "bounded", lower = 0, upper = 9}\n'
        'g = {kind = "levels", levels = ["a", "b"]}\nf = {kind = "flag"}\n'
    )
    pd.DataFrame({"x": [1, 2, 3], "g": ["a", "b", "a"], "f": [0, 1, 1]}).to_csv("like.csv", index=False)
    asked = [
        "plan",
        "y ~ x + g + f",
        "--schema",
        "p.toml",
        "--model",
        "ols",
        "--budget",
        "gdp(50)",  # with little noise few fits tell what a plan is asked
        "--n",
        "500",
    ]
    assert (
        main(
            [
                *asked,
                "--scale",
                "1",
                "--known",
                "x=3,1",
                "g=a:0.6,b:0.4",
                "--known",
                "f=0.3",
                "x:f=0.2",
                "y=4,2",
            ]
        )
        == 0
    )
    assert "Nothing is known" not in capsys.readouterr().out
    assert main([*asked, "--like", "like.csv"]) == 0
    assert "Covariates are drawn from the public rows" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(
    "words",
    [
        ["--known", "voltage"],
        ["--known", "temp=1,2"],
        ["--coef", "voltage"],
        ["--coef", "voltage=much"],
        ["--events", "1.5"],
        ["--known", "voltage=a:b"],
        ["--watches", "end"],
    ],
)
def test_a_plan_that_cannot_be_read_is_refused(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(planned(*words)) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_models_of_which_there_is_no_plan_are_no_choices(capsys: pytest.CaptureFixture[str]) -> None:
    for model in ("kaplan_meier", "svm"):
        with pytest.raises(SystemExit):
            main(planned("--model", model))
        assert "choose from 'coxph', 'glm'" in capsys.readouterr().err


@pytest.mark.parametrize("data", ["drives.csv", "drives.parquet"])
def test_fit_show_and_predict_give_what_python_gives(
    data: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(data, dist="loglogistic", budget="gdp(100)")) == 0
        expected = dps.survreg(FORMULA, data, dps.Schema.load("drives.toml"), dist="loglogistic").fit(
            dps.gdp(100)
        )
    assert capsys.readouterr().out == f"{expected.summary()}\n"

    assert main(["show", "drives.fit.json"]) == 0
    assert capsys.readouterr().out == f"{expected.summary()}\n"

    predict = ["predict", "drives.fit.json", "new.csv"]
    assert main([*predict, "--type", "quantile", "--p", "0.1", "--out", "pred.csv"]) == 0
    predicted = pd.read_csv("pred.csv")
    assert list(predicted) == ["unit", "voltage", "quantile", "conf_low", "conf_high"]
    assert "private rows" not in capsys.readouterr().err
    assert main(["predict", "drives.fit.json", data, "--out", "again.csv"]) == 0  # as R's predict(fit, d)
    assert "if it holds private rows, so does what is written" in capsys.readouterr().err
    quantiles = expected.predict(pd.read_csv("new.csv"), type="quantile", p=0.1)
    assert predicted["quantile"].to_numpy() == pytest.approx(quantiles.to_numpy(), rel=1e-12)
    assert (predicted["conf_low"] < predicted["quantile"]).all()
    assert (predicted["quantile"] < predicted["conf_high"]).all()

    assert main([*predict, "--type", "response"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "unit,voltage,response,conf_low,conf_high"
    assert main([*predict, "--type", "lp"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "unit,voltage,lp"

    beyond = pd.read_csv("new.csv").assign(voltage=[500, *pd.read_csv("new.csv")["voltage"][1:]])
    beyond.to_csv("beyond.csv", index=False)
    bound = expected.record.schema["voltage"].bounds[1]
    for option, at in ([], 500), (["--clip"], bound):
        assert main(["predict", "drives.fit.json", "beyond.csv", "--type", "response", *option]) == 0
        printed = capsys.readouterr()
        shown = pd.read_csv(io.StringIO(printed.out))
        assert "1 row(s) of newdata have values outside the public bounds" in printed.err
        with pytest.warns(UserWarning) if at == 500 else nullcontext():
            assert shown["response"][0] == pytest.approx(expected.predict({"voltage": at})[0], rel=1e-12)
        assert ("extrapolated" in shown) == (not option)
    assert main(predict) == 0  # the response, as in Python
    assert capsys.readouterr().out.splitlines()[0] == "unit,voltage,response,conf_low,conf_high"
    assert main([*predict, "--type", "quantile"]) == 2
    assert "needs --p" in capsys.readouterr().err
    assert main([*predict, "--type", "survival"]) == 2
    assert "needs --times" in capsys.readouterr().err
    assert main([*predict, "--type", "hazrd"]) == 2
    assert "type must be one of" in capsys.readouterr().err


def test_a_row_that_lacks_a_value_has_an_empty_prediction(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(budget="gdp(100)")) == 0
    capsys.readouterr()
    lacking = pd.read_csv("new.csv").assign(voltage=[np.nan, *pd.read_csv("new.csv")["voltage"][1:]])
    lacking.to_csv("lacking.csv", index=False)
    assert main(["predict", "drives.fit.json", "lacking.csv"]) == 0
    printed = capsys.readouterr()
    shown = pd.read_csv(io.StringIO(printed.out))
    assert "1 row(s) lack a value of voltage" in printed.err
    assert shown["response"].isna().tolist() == [True] + [False] * (len(shown) - 1)


def test_an_error_about_new_units_names_the_row_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(budget="gdp(100)")) == 0
    capsys.readouterr()
    new = pd.DataFrame({"voltage": ["", "300", "", "a lot"], "age": ["1", "1", "1", "1"]})
    new.to_csv("wrong.csv", index=False)
    for asked in ["predict", "drives.fit.json"], ["forecast", "drives.fit.json", "--horizon", "100"]:
        command, kept, *rest = asked
        assert main([command, kept, "wrong.csv", *rest]) == 2
        assert "wrong.csv row 4 below the header: voltage" in capsys.readouterr().err
    assert main(["life", "drives.fit.json", "--new", "wrong.csv"]) == 2
    assert "wrong.csv row 1 below the header lacks a value of 'voltage'" in capsys.readouterr().err


def test_times_alone_ask_for_survival_of_any_fit_that_has_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted = hazards()
    fitted.save("hazards.fit.json")
    pd.DataFrame([MARGIN_AT]).to_csv("at.csv", index=False)
    assert main(["predict", "hazards.fit.json", "at.csv", "--times", "200", "500"]) == 0
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    expected = fitted.survival(MARGIN_AT, times=[200, 500]).frame
    assert [printed["survival_200"][0], printed["survival_500"][0]] == pytest.approx(expected["estimate"])
    assert printed["conf_low_500"][0] == pytest.approx(expected["conf_low"][1])
    assert main(["predict", "hazards.fit.json", "at.csv", "--times", "200", "--type", "lp"]) == 2
    assert "--times is of --type survival" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["survival", "hazard", "cumhaz", "median"])
def test_predictions_of_a_time_have_limits(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(budget="gdp(100)")) == 0
    capsys.readouterr()
    kept, new = dps.load("drives.fit.json"), pd.read_csv("new.csv")
    times = {} if kind == "median" else {"times": [500.0, 1000.0]}
    option = ["--times", "500", "1000"] if times else []
    assert main(["predict", "drives.fit.json", "new.csv", "--type", kind, *option]) == 0
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    expected = kept.predict(new, type=kind, **times)
    for time in times.get("times", [None]):
        at = "" if time is None else f"_{time:g}"
        wanted = expected if time is None else expected[time]
        assert printed[f"{kind}{at}"].to_numpy() == pytest.approx(wanted.to_numpy(), rel=1e-9)
        assert (printed[f"conf_low{at}"] < printed[f"{kind}{at}"]).all()
        assert (printed[f"{kind}{at}"] < printed[f"conf_high{at}"]).all()
    assert list(printed)[:2] == ["unit", "voltage"] and len(printed.columns) == (8 if times else 5)


def test_suggested_bounds_are_a_file_of_toml_or_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    look = ["describe", "drives.csv", "--schema", "drives.toml", "--budget", "gdp(100)", "--out"]
    for name in ("tight.toml", "tight.json"):
        assert main([*look, f"{name}.look.json", "--suggest", name]) == 0
        assert set(dps.Schema.load(name)) == set(dps.Schema.load("drives.toml"))


def test_a_unit_without_its_commas_and_a_percentage_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(budget="gdp(100)")) == 0
    capsys.readouterr()
    assert main(["life", "drives.fit.json", "--at", "voltage=300 site=Nord"]) == 2
    assert "has commas between its values" in capsys.readouterr().err
    assert main(["life", "drives.fit.json", "--at", "voltage=300, site=Nord"]) == 0
    capsys.readouterr()
    assert main(["life", "drives.fit.json", "--at", "voltage=300", "--failed", "10"]) == 2
    assert "10 % is 0.1" in capsys.readouterr().err


def test_values_are_checked_as_a_formula_reads_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["schema", "check", "drives.toml", "drives.csv"]
    Path("comma.csv").write_text(Path("drives.csv").read_text() + '"1,5",1,"300,5",Nord\n')
    assert main([*check[:-1], "comma.csv", "--values"]) == 0
    assert "is --decimal ','" in capsys.readouterr().out
    assert main([*check, "--values", "--formula", "time ~ voltage"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rows weigh nothing in time ~ voltage" in said and "status: " not in said
    assert main([*check, "--formula", "time ~ voltage"]) == 2
    assert "--formula both" in capsys.readouterr().err


def test_failures_of_a_fleet_are_forecast(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit()) == 0
        assert main(fit(model="ols", formula="time ~ voltage", out="ols.fit.json")) == 0
    fleet = pd.DataFrame({"voltage": [200, 350], "days": [100.0, 0.0], "count": [20, 30]})
    fleet.to_csv("fleet.csv", index=False)
    capsys.readouterr()
    asked = ["fleet.csv", "--horizon", "100", "300", "--age", "days", "--units", "count"]
    assert main(["forecast", "drives.fit.json", *asked, "--out", "failures.csv"]) == 0
    expected = dps.load("drives.fit.json").forecast(fleet, [100, 300], age="days", units="count")
    assert capsys.readouterr().out == f"{expected}\n"
    pd.testing.assert_frame_equal(pd.read_csv("failures.csv"), expected.frame)
    assert main(["forecast", "drives.fit.json", *asked, "--out", "failures.csv"]) == 2
    pd.concat([fleet, fleet.iloc[:1].assign(days=None)]).to_csv("gap.csv", index=False)
    assert main(["forecast", "drives.fit.json", "gap.csv", *asked[1:]]) == 0
    told = capsys.readouterr()
    assert told.out == f"{expected}\n" and "1 row(s) lack a value of days, and" in told.err
    assert main(["forecast", "ols.fit.json", *asked]) == 2
    assert "no fit of a time to failure" in capsys.readouterr().err
    assert main(["forecast", "drives.fit.json", "fleet.csv", "--horizon", "300", "--periods", "3"]) == 2
    assert "fleet.csv has no column 'age'; name it, --age COLUMN" in capsys.readouterr().err
    commas = ["fleet.csv", "--horizon", "100,300", *asked[4:]]
    assert main(["forecast", "drives.fit.json", *commas]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    fleet.assign(days=[100, 0], count=["20.000", "30.000"]).to_csv("groups.csv", index=False)
    assert main(["forecast", "drives.fit.json", "groups.csv", *asked[1:]]) == 0
    told = capsys.readouterr()
    assert told.out == f"{expected}\n" and "each text of count has three digits behind its point" in told.err
    thousands = ["groups.csv", *asked[1:], "--thousands", ".", "--decimal", ","]
    assert main(["forecast", "drives.fit.json", *thousands]) == 0
    told = capsys.readouterr()
    assert "50000 units" in told.out and "digits" not in told.err
    for name in ("days", "voltage"):
        pd.concat([fleet, fleet[[name]]], axis=1).to_csv("twice.csv", index=False)
        assert main(["forecast", "drives.fit.json", "twice.csv", *asked[1:]]) == 2
        assert f"more than one column '{name}'" in capsys.readouterr().err
    assert main(["predict", "drives.fit.json", "twice.csv"]) == 2
    assert "more than one column 'voltage'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["forecast", "drives.fit.json", *commas[:2], "100,x"])
    assert "invalid numbers: '100,x'" in capsys.readouterr().err


def test_linear_models_take_public_rows_or_their_moments_and_weights(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = dps.Schema.load("drives.toml")
    moments = dps.public_moments("time ~ voltage", "drives.csv", schema)
    moments.save("moments.json")
    printed = []
    Path("known.csv").write_bytes(Path("drives.csv").read_bytes())  # the file itself is refused
    for public in ("known.csv", "moments.json"):
        with testing.noise(testing.NoNoise()):
            options = {"model": "ols", "formula": "time ~ voltage", "public": public}
            assert main(fit(**options, out=f"{public}.fit.json")) == 0
        printed.append(capsys.readouterr().out)
    with testing.noise(testing.NoNoise()):
        expected = dps.ols("time ~ voltage", "drives.csv", schema, public=moments).fit(dps.approx(1, 1e-6))
    assert printed == [f"{expected.summary()}\n"] * 2

    options = {"model": "ridge", "formula": "time ~ voltage", "alpha": "2.5", "weights": "voltage"}
    with testing.noise(testing.NoNoise()):
        assert main(fit(**options, out="ridge.fit.json")) == 0
    capsys.readouterr()
    kept = dps.load("ridge.fit.json")
    assert kept.alpha == 2.5 and kept.record.weights == "voltage"
    assert main(["predict", "ridge.fit.json", "new.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "unit,voltage,response,conf_low,conf_high"


def test_values_of_new_data_outside_the_bounds_are_noted_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit(budget="gdp(100)")) == 0
    Path("new.csv").write_text("voltage\n200\n1000\n")
    capsys.readouterr()
    assert main(["predict", "drives.fit.json", "new.csv", "--type", "response"]) == 0
    noted = capsys.readouterr().err
    assert noted.startswith("dpstats: note: 1 row") and noted.count("\n") == 1


def test_a_fit_is_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit()) == 0
        kept = Path("drives.fit.json").read_bytes()
        assert main(fit()) == 2
    assert Path("drives.fit.json").read_bytes() == kept
    assert "paid for" in capsys.readouterr().err


def test_a_fit_is_kept_where_workers_then_fail_to_leave(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Leaving(nullcontext[None]):
        def __exit__(self, *failed: object) -> None:
            raise OSError("the scheduler has gone")

    monkeypatch.setattr("dpstats.cli.fit.running", lambda **options: Leaving())
    with testing.noise(testing.NoNoise()):
        assert main(fit()) == 2
    assert "scheduler has gone" in capsys.readouterr().err
    assert main(["show", "drives.fit.json"]) == 0


def test_a_fit_that_cannot_be_kept_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with full_disk():
        assert main([*fit(), "--force"]) == 2
    printed, said = capsys.readouterr()
    assert "voltage" in printed and "epsilon = 1, delta = 1e-06" in printed
    assert "File too large" in said and "keep the table that was printed" in said and said.count("\n") == 1
    assert not Path("drives.fit.json").exists()


@pytest.mark.parametrize("out", ["drives.fit.json", "new.csv", "kept.csv", "pred.xlsx", "pred.parquet", "x"])
def test_predictions_are_written_over_nothing_and_under_no_false_name(
    out: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit()) == 0
    Path("kept.csv").symlink_to("elsewhere.csv")  # to a file that is not there
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.exists()}
    capsys.readouterr()
    assert main(["predict", "drives.fit.json", "new.csv", "--p", "0.1", "--out", out]) == 2
    output = capsys.readouterr()
    assert ("exists" if "." in out and "pred" not in out else "must end in .csv") in output.err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.exists()}


def test_a_file_that_was_begun_in_vain_is_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with testing.noise(testing.NoNoise()):
        assert main(fit()) == 0
    Path("new.csv").write_text("voltage\nhigh\n")
    assert main(["predict", "drives.fit.json", "new.csv", "--p", "0.1", "--out", "pred.csv"]) == 2
    said = capsys.readouterr().err
    assert "row 1 below the header: voltage must be a finite number; a value that is not known is an" in said
    assert not Path("pred.csv").exists()
    Path("new.csv").write_text('voltage\n"27,5"\n')
    assert main(["predict", "drives.fit.json", "new.csv", "--p", "0.1"]) == 2
    assert "a finite number; of a file with decimal commas say --decimal ','" in capsys.readouterr().err
    Path("new.csv").write_text('voltage\n"27,5"\n27.000\n')
    assert main(["predict", "drives.fit.json", "new.csv", "--p", "0.1", "--decimal", ","]) == 2
    assert "voltage = '27.000', where the decimal mark is ','" in capsys.readouterr().err


WRITTEN = ["--sep", ";", "--decimal", ",", "--encoding", "latin-1"]


def test_csv_files_of_another_make_are_read_as_the_ordinary_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drives = pd.read_csv("drives.csv").assign(größe=0.5)
    drives.to_csv("other.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    drives.to_csv("tabs.dat", sep="\t", index=False)
    assert main(["schema", "check", "drives.toml", "other.csv", *WRITTEN]) == 0
    assert "größe" in capsys.readouterr().out
    tables = []
    for name, more in (("drives.csv", []), ("other.csv", WRITTEN), ("tabs.dat", ["--sep", "tab"])):
        with testing.noise(testing.NoNoise()):
            assert main([*fit(name, out=f"{name}.fit.json"), *more]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1] == tables[2]
    with testing.noise(testing.NoNoise()):
        linear = {"model": "ols", "formula": "time ~ voltage", "public": "other.csv", "out": "a.json"}
        assert main([*fit("drives.parquet", **linear), *WRITTEN]) == 0  # they are of the public file
    capsys.readouterr()

    predict = ["predict", "drives.csv.fit.json", "new.csv", "--p", "0.1"]
    Path("new.csv").write_text("größe;voltage\n1;200,5\n", encoding="latin-1")
    assert main([*predict, *WRITTEN]) == 0
    assert capsys.readouterr().out.startswith("größe,voltage,quantile,conf_low,conf_high\n1,200.5,")
    assert main(predict) == 2
    assert "new.csv is not written in utf-8" in capsys.readouterr().err
    Path("new.csv").write_text("unit,voltage\na,b,200\n")
    assert main(predict) == 2
    assert "more fields in its records than names" in capsys.readouterr().err


HEADER = "time,status,voltage,temperature"


@pytest.mark.parametrize("data", ["twice.csv", "dates.parquet", "short.csv"])
def test_schema_check_refuses_the_headers_that_a_fit_refuses(
    data: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("twice.csv").write_text(f"{HEADER},voltage\n1,1,200,20,201\n")
    Path("short.csv").write_text("time,status\n1,1\n")
    dates = pd.DataFrame({"time": [1.0], "status": [1], "voltage": pd.to_datetime(["2020-01-01"])})
    dates.to_parquet("dates.parquet")
    assert main(fit(data)) == 2
    refused = capsys.readouterr()
    assert main(["schema", "check", "drives.toml", data]) == 2
    assert capsys.readouterr() == refused and "'voltage'" in refused.err


def test_a_schema_with_a_mark_of_byte_order_or_in_another_encoding(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("drives.toml").write_text(SCHEMA, encoding="utf-8-sig")
    assert main(["schema", "check", "drives.toml", "drives.csv"]) == 0
    Path("drives.toml").write_text("# Größe" + SCHEMA, encoding="latin-1")
    capsys.readouterr()
    assert main(["schema", "check", "drives.toml"]) == 2
    assert capsys.readouterr().err.endswith("drives.toml is not in UTF-8; save it in that encoding\n")


@pytest.mark.parametrize("asked", [["schema", "check", "drives.toml"], ["fit", "--help"]])
def test_a_reader_who_has_seen_enough_is_no_error(asked: list[str], folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = "import sys; from dpstats.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *asked]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_demo(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", "demo.fit.json"]) == 0
    printed = capsys.readouterr().out
    assert "epsilon = 1, delta = 1e-06" in printed
    assert "B10 life" in printed and "What to try next" in printed
    assert dps.load("demo.fit.json").formula == "Surv(time, status) ~ temp + rsc + rer + psc"
    assert str(dps.load("demo.fit.json").summary()) in printed


def test_the_installed_command_is_this_module() -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="dpstats")
    assert script.load() is sys.modules["dpstats.cli"].main


def test_only_our_own_warnings_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with plain_warnings(argparse.Namespace()):
        warnings.warn("overflow in one row", RuntimeWarning, stacklevel=1)
        for _ in range(2):
            warnings.warn("1 row was clipped", UserWarning, stacklevel=1)
        assert capsys.readouterr().err == "dpstats: note: 1 row was clipped\n", "at once, and once"
    assert capsys.readouterr().err == ""


def test_arguments_of_functions_are_told_as_options_of_the_command() -> None:
    options = argparse.Namespace(reuse=None, coef=None, sep=None, thousands=None, as_text=None, formula=None)
    for told, says in (
        ("say reuse='2026-11'", "say --reuse 2026-11"),
        ("give coef=.", "give --coef."),
        ("write as_text=True", "write --as-text"),
        ("dps.read_csv(path, sep=';', thousands='.')", "--sep ';', --thousands ."),
        ("schema.unit(column, max_rows=2), other=3", "schema.unit(column, max_rows=2), other=3"),
    ):
        assert spelt(told, options) == says


def test_the_command_spells_a_remedy_as_its_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(planned("--coef", "Intercept=30", "--events", "0.9")) == 2
    assert "--events 0.9 cannot be reached: with this Intercept in --coef a share" in capsys.readouterr().err


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "dpstats", "--version"], capture_output=True, text=True)
    assert done.stdout == f"dpstats {dps.__version__}\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"dpstats {dps.__version__}\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"model": "logit", "formula": "status ~ voltage"}, dps.logit),
        ({"model": "svm", "formula": "status ~ voltage"}, dps.svm),
        (
            {"model": "glm", "formula": "time ~ voltage", "family": "poisson", "exposure": "voltage"},
            partial(dps.glm, family="poisson", exposure="voltage"),
        ),
    ],
    ids=["logit", "svm", "glm"],
)
def test_other_models_fit_as_from_python(
    options: dict[str, str], expected: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = dps.Schema.load("drives.toml")
    with testing.noise(testing.NoNoise()):
        assert main(fit(**options, out="other.fit.json")) == 0
    with testing.noise(testing.NoNoise()):
        model = expected(options["formula"], "drives.csv", schema)
        assert capsys.readouterr().out == f"{model.fit(dps.approx(1, 1e-6)).summary()}\n"
    assert main(["show", "other.fit.json"]) == 0


def test_a_closed_standard_output_is_refused_before_anything_is_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a daemon has it; a fit that was to be printed was paid for, and lost."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["fit"]) == 2
    assert "standard output is closed" in capsys.readouterr().err


def test_a_null_character_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """No shell passes one on, but a program that calls `main` may."""
    assert main(["show", "a\0b.json"]) == 2
    assert "null character" in capsys.readouterr().err


def test_help_names_what_the_library_has() -> None:
    """Help is shown without the library, so its lists of laws are written by hand."""
    (commands,) = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    shown = set(re.findall(r"[\w-]+", commands.choices["fit"].format_help()))
    laws = {word for family in FAMILIES.values() for word in (family.kind, family.link_name)}
    assert {*DISTS, *(laws - {"log", "identity"}), *MODELS} <= shown
    assert {"survreg", "ols", "svm", "kaplan_meier"} <= set(MODELS) and "describe" not in MODELS
    assert AUTO == LIBRARY_AUTO
