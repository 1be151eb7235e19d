"""The command line has every option of the library, and every output in formats that programs read."""

import csv
import inspect
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import models, testing
from dpstats.cli import main
from dpstats.cli.options import MODELS, parser
from dpstats.cli.results import _point, _value
from dpstats.errors import SpecificationError
from dpstats.results import Fit
from dpstats.results.cautions import cautions
from tests.test_cli import FORMULA, fit, folder  # noqa: F401 - a fixture

NOT_OPTIONS = {"self", "formula", "data", "schema", "scale", "budget"}  # positions, or of another name


@pytest.fixture
def kept(folder: Path) -> Path:  # noqa: F811
    """A folder with fits that all tests may use."""
    with testing.noise(testing.NoNoise()):
        model = dps.survreg(FORMULA, "drives.csv", dps.Schema.load("drives.toml"))
        model.fit(dps.approx(1, 1e-6)).save("drives.fit.json")
        groups = dps.kaplan_meier("Surv(time, status) ~ 1", "drives.csv", dps.Schema.load("drives.toml"))
        groups.fit(dps.pure(1)).save("curve.json")
    return folder


@pytest.mark.parametrize("model", MODELS)
def test_every_option_of_every_model_is_an_option_of_the_command(model: str) -> None:
    known = set(vars(parser().parse_args(fit())))
    function = getattr(models, model)
    kind = getattr(models, str(inspect.signature(function).return_annotation).partition(" ")[0])
    asked = {*inspect.signature(function).parameters, *inspect.signature(kind.fit).parameters} - NOT_OPTIONS
    assert asked <= known


@pytest.mark.parametrize(
    ("options", "more", "same"),
    [
        (
            {"model": "kaplan_meier", "formula": "Surv(time, status) ~ 1"},
            ["--times", "500", "1000"],
            lambda schema: dps.kaplan_meier(
                "Surv(time, status) ~ 1", "drives.csv", schema, times=[500, 1000]
            ).fit(dps.approx(1, 1e-6)),
        ),
        (
            {"model": "svm", "formula": "status ~ voltage", "h": "0.3", "c": "0.5", "method": "output"},
            [],
            lambda schema: dps.svm("status ~ voltage", "drives.csv", schema, h=0.3, c=0.5).fit(
                dps.approx(1, 1e-6), method="output"
            ),
        ),
        (
            {"model": "logit", "formula": "status ~ voltage", "c": "0.5", "method": "objective"},
            [],
            lambda schema: dps.logit("status ~ voltage", "drives.csv", schema).fit(
                dps.approx(1, 1e-6), method="objective", c=0.5
            ),
        ),
        (
            {"model": "logit", "formula": "status ~ voltage"},
            ["--robust", "--release", "loglik"],
            lambda schema: dps.logit("status ~ voltage", "drives.csv", schema).fit(
                dps.approx(1, 1e-6), robust=True, release=["loglik"]
            ),
        ),
    ],
    ids=["kaplan_meier", "svm", "objective", "robust"],
)
def test_options_fit_as_from_python(
    options: dict[str, str], more: list[str], same: Any, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with testing.noise(testing.NoNoise()):
        assert main([*fit(**options, out="other.json"), *more]) == 0
        expected = same(dps.Schema.load("drives.toml"))
    assert capsys.readouterr().out == f"{expected.summary()}\n"
    assert json.loads(Path("other.json").read_text()) == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "newton", "release": "ghost"}, "release"),
        ({"compat": "paper"}, "--compat paper goes with --method functional"),
        ({"c": "0.5"}, "--c is for --model glm, logit, svm, not survreg"),
        ({"times": "500"}, "--times is for --model coxph, kaplan_meier, not survreg"),
        ({"method": "newtn"}, "did you mean 'newton'"),
        (
            {"model": "kaplan_meier", "formula": "Surv(time, status) ~ 1", "method": "newton"},
            "--method is for --model",
        ),
    ],
)
def test_options_of_other_models_are_refused(
    options: dict[str, str], says: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(fit(**options, out="other.json")) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1 and not Path("other.json").exists()


def out_of(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(command) == 0
    return capsys.readouterr().out


def test_show_in_every_format(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = dps.load("drives.fit.json")
    page = found.summary(level=0.9)
    show = ["show", "drives.fit.json", "--level", "0.9", "--format"]
    assert out_of([*show, "text"], capsys) == f"{page}\n"
    for name, text in (("html", page.as_html()), ("latex", page.as_latex()), ("md", page.as_markdown())):
        assert out_of([*show, name], capsys).strip() == text.strip()
    tidy = found.tidy(conf_int=True, level=0.9)
    table = pd.read_csv(io.StringIO(out_of([*show, "csv"], capsys)))
    pd.testing.assert_frame_equal(table, tidy, check_exact=True)
    read = json.loads(out_of([*show, "json"], capsys))
    assert read["fit"]["nobs"] == found.nobs
    assert read["fit"]["rho"] is None, "what is no number is null: JSON has no NaN"
    assert [row["estimate"] for row in read["coefficients"]] == tidy["estimate"].tolist()
    again = pd.read_csv(io.StringIO(out_of(["show", "curve.json", "--format", "csv"], capsys)))
    assert list(again)[:3] == ["group", "time", "at_risk"]


def test_show_in_other_units_and_widths(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, units = dps.load("drives.fit.json"), {"voltage": 50}
    show = ["show", "drives.fit.json", "--units", "voltage=50"]
    assert out_of([*show, "--width", "90"], capsys) == f"{found.summary(units=units).as_text(90)}\n"
    table = pd.read_csv(io.StringIO(out_of([*show, "--format", "csv"], capsys)))
    pd.testing.assert_frame_equal(table, found.tidy(conf_int=True, units=units), check_exact=True)
    for wrong, said in (("voltage", "--units takes words such as"), ("volt=5", "stand alone in the formula")):
        assert main(["show", "drives.fit.json", "--units", wrong]) == 2
        assert said in capsys.readouterr().err
    assert main(["show", "curve.json", "--units", "voltage=50"]) == 2
    assert "this has none" in capsys.readouterr().err


def test_life_is_that_of_python(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = dps.load("drives.fit.json")
    units = [{"voltage": 250}, {"voltage": 300}]
    asked = [
        "life",
        "drives.fit.json",
        "--at",
        "voltage=250",
        "--at",
        "voltage=300",
        "--failed",
        "0.1",
        "0.2",
    ]
    assert out_of(asked, capsys) == f"{found.life(units, failed=[0.1, 0.2])}\n"
    pd.DataFrame(units).to_csv("units.csv", index=False)
    assert out_of(["life", "drives.fit.json", "--new", "units.csv", "--failed", "0.1", "0.2"], capsys)
    for wrong, says in (
        (
            ["--at", "voltage"],
            "--at takes values by name, such as temp=30.5,maker=HGST, not 'voltage'; names and levels",
        ),
        (["--at", "volts=3"], "newdata"),
        (["--at", "voltage=250", "--new", "units.csv"], "not from both"),
        ([], "needs new units, which are public: --at voltage=... or --new FILE"),
    ):
        assert main(["life", "drives.fit.json", *wrong]) == 2
        said = capsys.readouterr().err
        assert says in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["bse"], lambda fit: fit.bse),
        (["wald_test", "--with", "hypothesis=voltage = 0"], lambda fit: fit.wald_test("voltage = 0")),
        (["t_test", "--with", "hypothesis=voltage = 0"], lambda fit: fit.t_test("voltage = 0").document),
        (["shape"], lambda fit: fit.shape),
        (["time_ratios", "--level", "0.9"], lambda fit: fit.time_ratios(level=0.9)),
        (["time_ratios", "--with", "units=voltage=10"], lambda fit: fit.time_ratios(units={"voltage": 10})),
        (
            ["reliability", "--at", "voltage=250", "--with", "times=10,100"],
            lambda fit: fit.reliability({"voltage": 250}, times=[10, 100]),
        ),
        (
            ["acceleration", "--with", "use=voltage=210", "stress=voltage=340"],
            lambda fit: fit.acceleration({"voltage": 210}, {"voltage": 340}),
        ),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_table_is_that_of_python(
    words: list[str], same: Any, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = out_of(["table", "drives.fit.json", *words], capsys)
    expected = same(dps.load("drives.fit.json"))
    if isinstance(expected, pd.Series):
        mark, rest = printed.split("\n", 1)
        assert "NOT PRIVATE" in mark and rest.split()[2::2] == list(expected.index)
    else:
        assert printed == f"{expected}\n"
    assert json.loads(out_of(["table", "drives.fit.json", *words, "--format", "json"], capsys))


def test_the_list_of_tables_goes_to_a_file_and_its_name_says_the_format(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = out_of(["table", "drives.fit.json"], capsys)
    assert out_of(["table", "drives.fit.json", "--out", "list.txt"], capsys) == ""
    assert Path("list.txt").read_text(encoding="utf-8") == listed
    for name in ("lines.csv", "lines.md", "lines.json"):
        assert out_of(["table", "drives.fit.json", "tidy", "--out", name], capsys) == ""
    assert Path("lines.csv").read_text(encoding="utf-8").startswith("term,")
    assert json.loads(Path("lines.json").read_text(encoding="utf-8"))


def test_table_lists_what_there_is_and_each_of_it_works_or_says_what_it_needs(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("drives.fit.json", "curve.json"):
        names = [line.split()[0] for line in out_of(["table", file], capsys).splitlines()]
        assert {"predict"} <= set(names) and "save" not in names
        for name in names:
            code = main(["table", file, name])
            said = capsys.readouterr()
            assert (code, said.err.count("\n")) == ((0, 0) if said.out else (2, 1)), name


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["save"], "no table"),
        (["_tables"], "no table"),
        (["vcov"], "write fit.cov_params()"),
        (["llf"], "was not released"),
        (["ghost"], "lists what there is"),
        (["life", "--with", "b=3"], "life takes no b"),
        (["wald_test"], "wald_test needs hypothesis"),
        (["wald_test", "--with", "voltage"], "--with takes words"),
        (["summary", "--format", "csv"], "dpstats show FIT has its numbers"),
    ],
)
def test_mistakes_in_table_are_one_line(
    words: list[str], says: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", "drives.fit.json", *words]) == 2
    said = capsys.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and not said.out


def test_a_look_is_drawn_with_all_its_variables(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with testing.noise(testing.NoNoise()):
        schema = dps.Schema.load("drives.toml")
        dps.describe("drives.csv", schema, dps.gdp(100), ["time", "status"]).save("look.json")
    heights = []
    for more in ([], ["--with", "variable=status"]):
        assert main(["plot", "look.json", *more, "--out", f"{len(more)}.png"]) == 0
        heights.append(int.from_bytes(Path(f"{len(more)}.png").read_bytes()[20:24]))
    assert heights[0] > 1.2 * heights[1]  # two panels, whatever the style of the process
    assert main(["table", "drives.fit.json", "eta", "--with", "newdata=voltage=300"]) == 2
    assert "new units are given by --at NAME=VALUE,... or --new FILE" in capsys.readouterr().err


def test_plots_are_files(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begins = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    at = ["--at", "voltage=250", "--at", "voltage=300"]
    for place, (words, suffix) in enumerate(
        [
            (["drives.fit.json"], "png"),
            (["drives.fit.json", *at], "svg"),
            (["drives.fit.json", "reliability", *at], "pdf"),
            (["drives.fit.json", "life", "--at", "voltage=250", "--with", "points=curve.json"], "png"),
            (["curve.json", "--with", "of=cumhaz", "steps=true"], "png"),
        ]
    ):
        out = Path(f"{place}.{suffix}")
        assert main(["plot", *words, "--out", str(out)]) == 0
        assert out.read_bytes().startswith(begins[suffix])
    assert main(["plot", "drives.fit.json", "--style", "dpstats.paper", "--out", "styled.png"]) == 0
    assert main(["plot", "drives.fit.json", "--style", "dpstats.no", "--out", "x.png"]) == 2
    assert main(["plot", "drives.fit.json", "ghost", "--out", "x.png"]) == 2
    assert "of this fit there are coef, hazard, life, reliability" in capsys.readouterr().err
    assert main(["plot", "drives.fit.json", "--out", "x.txt"]) == 2
    assert not Path("x.png").exists() and not Path("x.txt").exists()
    Path("styled.png").write_text("an earlier picture")
    assert main(["plot", "drives.fit.json", "ghost", "--out", "styled.png"]) == 2
    assert Path("styled.png").read_text() == "an earlier picture", "nothing was drawn in its place"
    assert main(["plot", "drives.fit.json", "--out", "styled.png"]) == 0
    assert Path("styled.png").read_bytes().startswith(begins["png"])


def test_fits_side_by_side(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = dps.load("drives.fit.json")
    command = ["compare", "drives.fit.json", "drives.fit.json", "--names", "a", "b"]
    assert out_of(command, capsys) == f"{dps.compare(found, found, names=['a', 'b'])}\n"
    per_ten = f"{dps.compare(found, found, names=['a', 'b'], units={'voltage': 10})}\n"
    assert out_of([*command, "--units", "voltage=10"], capsys) == per_ten
    assert main(["compare", "drives.fit.json", "curve.json"]) == 2
    assert "takes fits" in capsys.readouterr().err


def test_a_ledger_takes_charges_of_something_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    assert main(["ledger", "create", "own.ledger", "--total", "zcdp(1)"]) == 0
    charge = ["ledger", "charge", "own.ledger", "--formula", "median", "--method", "own", "--budget"]
    assert main([*charge, "zcdp(0.25)", "--released", "median", "--gaussian"]) == 0
    assert "rho 0.25 of 1.00 spent" in capsys.readouterr().out
    (entry,) = dps.Ledger("own.ledger").entries()
    assert (entry.formula, entry.method, entry.gaussian) == ("median", "own", True)
    assert main([*charge, "zcdp(0.9)"]) == 2
    assert "would fit" in capsys.readouterr().err


def piped(words: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dpstats", *words]
    return subprocess.run(command, input=content, capture_output=True, check=False)


@pytest.mark.parametrize("data", ["drives.csv", pytest.param("drives.parquet", marks=pytest.mark.long)])
def test_a_pipe_is_a_table_and_a_fit(data: str, folder: Path, tmp_path: Path) -> None:  # noqa: F811
    words = fit("-", out="-")
    done = piped([*words, "--force"], Path(data).read_bytes())
    assert done.returncode == 0, done.stderr
    made = dps.Fit.from_dict(json.loads(done.stdout))
    assert made.nobs == len(pd.read_csv("drives.csv"))
    shown = piped(["show", "-"], done.stdout)
    assert shown.stdout.decode() == f"{made.summary()}\n"
    assert not list(folder.glob("*.json"))


@pytest.mark.skipif(os.name == "nt", reason="there a process is ended without a word to it")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU"])
def test_a_command_that_is_ended_keeps_nothing_of_the_standard_input(
    folder: Path,  # noqa: F811
    tmp_path: Path,
    name: str,
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    command, more = [sys.executable, "-m", "dpstats", *fit("-", out="-")], {"TMPDIR": str(place)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | more) as running:
        assert running.stdin is not None
        running.stdin.write(b"time,status\n")
        running.stdin.flush()
        until = time.monotonic() + 60
        while not list(place.rglob("*.csv")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(place.rglob("*.csv"))
        running.send_signal(getattr(signal, name))
        assert running.wait(60) == 128 + getattr(signal, name)
    assert not list(place.iterdir())


def test_the_standard_input_is_there_once(folder: Path) -> None:  # noqa: F811
    done = piped(["predict", "-", "-"], b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"which is there once" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        [*fit(out="-"), "--force"],
        pytest.param(
            "describe drives.csv --schema drives.toml --budget zcdp(.5)".split(), marks=pytest.mark.long
        ),
    ],
    ids=["fit", "describe"],
)
def test_what_nobody_reads_is_printed(words: list[str], folder: Path) -> None:  # noqa: F811
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "dpstats", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.returncode == 2
    assert b"voltage" in done.stderr and b"its budget is spent" in done.stderr


SPENDING = {
    "fit": [*fit(out="kept.json"), "--force"],
    "describe": [
        *"describe drives.csv --schema drives.toml --budget zcdp(.5)".split(),
        *"--out kept.json --suggest kept.toml".split(),
    ],
}


@pytest.mark.parametrize(("command", "notes"), [("fit", True), ("describe", False)], ids=SPENDING)
def test_a_reader_who_leaves_loses_the_table_alone(command: str, notes: bool, folder: Path) -> None:  # noqa: F811
    """The file is kept before anything is printed, whether the notes of the fit go the same way or not."""
    reading, writing = os.pipe()
    os.close(reading)
    more = {"stderr": writing if notes else subprocess.PIPE}
    done = subprocess.run(
        [sys.executable, "-m", "dpstats", *SPENDING[command]], stdout=writing, check=False, **more
    )
    os.close(writing)
    assert done.returncode == 0
    assert dps.load("kept.json").summary()
    if command == "describe":
        assert "voltage" in dps.Schema.load("kept.toml")


def test_a_name_that_the_terminal_lacks_is_kept_and_printed(folder: Path) -> None:  # noqa: F811
    text = Path("drives.toml").read_text(encoding="utf-8").replace("voltage", '"Öl"')
    Path("drives.toml").write_text(text, encoding="utf-8")
    pd.read_csv("drives.csv").rename(columns={"voltage": "Öl"}).to_csv("drives.csv", index=False)
    words = [word.replace("voltage", "Öl") for word in SPENDING["fit"]]
    command, ascii_only = [sys.executable, "-m", "dpstats"], os.environ | {"PYTHONIOENCODING": "ascii"}
    for out in ("kept.json", "-"):
        words[words.index("--out") + 1] = out
        done = subprocess.run([*command, *words], capture_output=True, check=False, env=ascii_only)
        assert done.returncode == 0, done.stderr
        assert ("\\xd6l" if out != "-" else "\\u00d6l") in done.stdout.decode("ascii")
    assert "Öl" in dps.load("kept.json").names


def test_a_schema_that_cannot_be_suggested_loses_no_description(
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(self: dps.Schema, described: object) -> dps.Schema:
        raise SpecificationError("no space")

    monkeypatch.setattr(dps.Schema, "suggest", full)
    assert main(SPENDING["describe"]) == 2
    assert str(dps.load("kept.json").summary()) in capsys.readouterr().out
    assert not Path("kept.toml").exists()


def test_help_needs_little_time() -> None:
    """Two fifths of a second of processor time, by the best of three: machines are busy."""
    program = """
import time
from dpstats.cli import main
try:
    main(["fit", "--help"])
finally:
    print(time.process_time())
"""
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout.split()[-1]) for run in runs) < 0.4


PAGE = Path(__file__).parents[1] / "docs" / "howto" / "shell.md"


def test_every_command_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drives = dps.datasets.load("hdfail")
    drives.schema.save("drives.toml")
    drives.data.to_csv("drives.csv", index=False)
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in "".join(blocks).replace("\\\n", "").splitlines()]
    assert len(commands) == 15
    for program, *words in commands:
        with testing.noise(testing.NoNoise()):
            assert (program, main(words)) == ("dpstats", 0), words
    assert Path("life.png").stat().st_size > 0


def test_what_is_left_over_names_its_command_and_how_a_unit_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, says in (
        (
            ["show", "f.json", "--html"],
            "dpstats show: unrecognized arguments: --html; see dpstats show --help",
        ),
        (
            ["life", "f.json", "--at", "temp=3", "maker=a"],
            "maker=a; commas join the values of one unit, as in --at",
        ),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert says in capsys.readouterr().err


def test_names_with_a_blank_have_values_at_a_point() -> None:
    point = _point(Mock(spec=[]), "Temp °C=40,Typ=A-100")
    assert point == {"Temp °C": 40, "Typ": "A-100"}
    for lacks in ("temp=30 maker=HGST", "temp=30,a b=1 c=2"):
        with pytest.raises(SpecificationError, match="lacks one"):
            _point(Mock(spec=[]), lacks)


@pytest.mark.parametrize("wanted", ["text", "html", "json", "csv"])
def test_lives_and_forecasts_of_a_law_that_does_not_hold_say_so_in_every_format(
    kept: Path,
    capsys: pytest.CaptureFixture[str],
    wanted: str,
) -> None:
    record = dps.load("drives.fit.json").record
    told = {each.name: getattr(record, each.name) for each in fields(record) if each.init}
    Fit(**{**told, "flags": cautions(("law",), ())}).save("doubted.json")
    at = ",".join(f"{name}={record.schema[name].bounds[0]:g}" for name in record.covariates)
    pd.DataFrame({**dict(each.split("=") for each in at.split(",")), "age": [1.0]}, index=[0]).to_csv(
        "fleet.csv"
    )
    said = "failures come at other times than this distribution says"
    for command in (f"life FIT --at {at} --format {wanted}", "forecast FIT fleet.csv --horizon 90"):
        for kind, times in (("doubted", 1), ("drives.fit", 0)):
            assert not main(command.replace("FIT", f"{kind}.json").split())
            found = capsys.readouterr()
            assert " ".join((found.out + found.err).split()).count(said) == times


def test_predictions_stand_beside_rows_as_they_are_written_each_read_by_itself(
    folder: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    schema = dps.Schema(region=dps.levels("01", "02"), x=dps.bounded(0, 9), y=dps.bounded(0, 9))
    rng = np.random.default_rng(1)
    x, region = rng.uniform(0, 9, 3000), rng.choice(["01", "02"], 3000)
    dps.ols("y ~ region + x", {"region": region, "x": x, "y": x}, schema).fit(dps.gdp(3)).save("line.json")
    rows = ["policy;contract;note;region;x", "0123;00123456789012345678;NA;01;1,5", "0124;;;02;2,5"]
    Path("new.csv").write_text("\n".join(rows) + "\n")
    assert not main(["predict", "line.json", "new.csv", "--sep", ";", "--decimal", ","])
    written = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert [";".join(line[:5]) for line in written] == [rows[0], *(row.replace(",", ".") for row in rows[1:])]
    fit = dps.load("line.json")
    assert isinstance(fit, Fit)
    expected = fit.predict({"region": ["01", "02"], "x": [1.5, 2.5]})
    assert np.allclose([float(line[5]) for line in written[1:]], expected, rtol=1e-12)
    for bad in ("x", "02"):  # 1 is no level of the first row, whatever the other one is
        Path("odd.csv").write_text(f"region,x\n1,1\n{bad},2\n")
        assert main(["predict", "line.json", "odd.csv"]) == 2
        assert "row 1 below the header: region must be one of the levels 01, 02" in capsys.readouterr().err
    Path("odd.csv").write_text("region,x\n01,1_0\n")
    assert main(["predict", "line.json", "odd.csv"]) == 2
    assert "row 1 below the header: x must be a finite number" in capsys.readouterr().err


def test_versions_of_the_data_are_paid_for_one_by_one(
    folder: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    dps.Schema(x=dps.bounded(0, 9), y=dps.bounded(0, 9)).save("xy.toml")
    dps.Ledger("xy.ledger", total=dps.gdp(9))
    for quarter, shift in (("q1", 0), ("q2", 4)):
        pd.DataFrame({"x": np.arange(3000) % 9, "y": np.arange(3000) % 5 + shift}).to_csv(f"{quarter}.csv")
    command = "fit 'y ~ x' {0}.csv --schema xy.toml --model ols --budget gdp(1) --ledger xy.ledger --out {1}"
    for quarter, out in (("q1", "a"), ("q2", "b"), ("q1", "c")):
        words = [*shlex.split(command.format(quarter, f"{out}.json")), "--reuse", quarter]
        assert not main(words)
    first, second, again = (dps.load(f"{out}.json").to_dict() for out in "abc")
    assert first == again != second
    assert len(dps.Ledger("xy.ledger").entries()) == 2
    assert "of the version 'q1' of the data" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"), [(" 3 ", 3), (" age ", "age"), ("true", True), (" null ", "null"), ("[1]", "[1]")]
)
def test_a_word_is_a_number_a_truth_value_or_its_text_without_blanks(text: str, value: object) -> None:
    assert _value(text) == value
