"""From a plan to a fit on the command line, on both sides of the line of trust."""

import json
from pathlib import Path

import pandas as pd
import pytest

import dpstats as dps
from dpstats.cli import main
from dpstats.contributors import Plan
from tests.contributors.people import FORMULA, SCHEMA, people

N = 120


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SCHEMA.save("people.json")
    pd.DataFrame(people(N)).to_csv("people.csv", index=False)
    return tmp_path


def make_plan(*more: str) -> int:
    given = ["--schema", "people.json", "--budget", "approx(1, 1e-5)", "--contributors", str(N)]
    return main(["plan-contributions", FORMULA, *given, "--out", "plan.json", *more])


def test_the_whole_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make_plan("--honest", "0.5") == 0
    printed = capsys.readouterr().out
    assert "Central       epsilon = 1, delta = 1e-05" in printed and "if 60 contributors" in printed
    assert "21 numbers, 216 bytes" in printed and "privacy" in printed and "urban" in printed
    assert "that of privacy four times: declare" in printed
    plan = Plan.load("plan.json")
    pd.DataFrame(people(N)).iloc[:80].to_csv("first.csv", index=False)
    pd.DataFrame(people(N)).iloc[80:].to_csv("second.csv", index=False)
    for records, out in (("first.csv", "first.parquet"), ("second.csv", "second.jsonl")):
        given = ["contribute", records, "--plan", "plan.json", "--hash", plan.hash[:12], "--out", out]
        assert main(given) == 0
    assert "40 private messages" in capsys.readouterr().out
    fit = ["fit-contributions", "first.parquet", "second.jsonl", "--plan", "plan.json"]
    for model, more in (("ols", []), ("ridge", ["--alpha", "0.5"])):
        assert main([*fit, "--model", model, *more, "--out", f"{model}.fit.json"]) == 0
        assert "Messages   120 accepted, none rejected" in capsys.readouterr().out
        assert dps.load(f"{model}.fit.json").nobs == N and not dps.load(f"{model}.fit.json").not_private


def test_a_contributor_refuses_another_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_plan()
    send = ["contribute", "people.csv", "--out", "messages.jsonl", "--plan"]
    assert main([*send, "plan.json", "--hash", "0" * 64]) == 2
    assert "not the one that was announced" in capsys.readouterr().err
    changed = json.loads((folder / "plan.json").read_text())
    changed["message"][0]["noise_sd"] /= 10
    (folder / "changed.json").write_text(json.dumps(changed))
    assert main([*send, "changed.json"]) == 2
    assert "noise of this plan is not what its budget asks for" in capsys.readouterr().err
    fit = ["fit-contributions", "none.jsonl", "--plan", "changed.json", "--out", "fit.json"]
    assert main(fit) == 2 and "send nothing" in capsys.readouterr().err
    assert not (folder / "messages.jsonl").exists() and not (folder / "fit.json").exists()


def test_mistakes_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make_plan() == 0
    capsys.readouterr()
    assert make_plan() == 2 and "plan.json exists" in capsys.readouterr().err
    main(["contribute", "people.csv", "--plan", "plan.json", "--out", "few.jsonl"])
    (folder / "few.jsonl").write_text("".join((folder / "few.jsonl").open().readlines()[:20]))
    fit = ["fit-contributions", "few.jsonl", "--plan", "plan.json", "--out", "fit.json"]
    assert main(fit) == 2
    assert "20 messages were accepted and the plan asks for at least 120" in capsys.readouterr().err
    assert main([*fit, "--model", "ridge"]) == 2 and "--alpha" in capsys.readouterr().err
    assert main([*fit, "--alpha", "1"]) == 2 and "--alpha" in capsys.readouterr().err
    assert not (folder / "fit.json").exists()


HEADER = "income,age,educ,urban"
SEND = ["contribute", "me.csv", "--plan", "plan.json", "--out", "message.jsonl"]


def sent(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, int, str]:
    """The exit code, how many messages there are, and what was said."""
    capsys.readouterr()
    code = main([*SEND, *more])
    out = Path("message.jsonl")
    count = len(out.read_text().splitlines()) if out.exists() else 0
    out.unlink(missing_ok=True)
    return code, count, capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "noise"),
    [
        (["3.5,44,mid,1"], 0),
        (["3.5,44,mid,1", "", "  "], 2),
        (["seven,44,mid,1", "3.5,44,mid,1"], 1),
        (["3.5,44,Mid,NA", "3.5,44,mid,1"], 1),
        (["3.5,44,mid,1", "Total,1"], 1),
        (["3,5,44,mid,1", '3.5,44,"mid,1', "3.5,44,mid,1"], 2),
        (["3.5,44,m\xefd,1", "3.5,44,mid,1"], 1),
    ],
)
def test_a_person_is_told_how_many_of_their_own_records_cannot_be_used(
    lines: list[str], noise: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_plan()
    Path("me.csv").write_text("\n".join([HEADER, *lines, ""]), encoding="latin-1")
    code, messages, told = sent(capsys)
    assert (code, messages) == (0, len(lines))
    assert (f"{noise} of {len(lines)} messages are noise" in told) == bool(noise) == bool(told)
    assert "seven" not in told and "Mid" not in told and (not noise or "dpstats schema check PLAN" in told)


@pytest.mark.parametrize("lines", [[], ["", ",,,"], ["3,5,44,mid,1"]])
def test_a_file_without_a_record_makes_no_message(
    lines: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_plan()
    Path("me.csv").write_text("\n".join([HEADER, *lines, ""]))
    code, messages, told = sent(capsys)
    assert (code, messages) == (2, 0) and "me.csv holds no record" in told and told.count("\n") == 1


def test_a_contributor_says_how_the_file_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_plan()
    Path("me.csv").write_text("income;age;educ;urban;größe\n3,5;44;mid;1;2\n", encoding="latin-1")
    assert sent(capsys, "--sep", ";", "--decimal", ",", "--encoding", "latin-1") == (0, 1, "")


def test_rows_of_parquet_are_records_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_plan()
    table = pd.DataFrame(people(3))
    table.loc[1, "income"] = None
    table.to_parquet("me.parquet")
    capsys.readouterr()
    assert main(["contribute", "me.parquet", *SEND[2:]]) == 0
    assert len(Path("message.jsonl").read_text().splitlines()) == 3
    told = capsys.readouterr().err
    assert "1 of 3 messages are noise" in told and "dpstats schema check PLAN RECORDS --values" in told
    assert main(["schema", "check", "plan.json", "me.parquet", "--values"]) == 0
    assert "income: 1 missing" in capsys.readouterr().out


def test_messages_are_written_over_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_plan()
    Path("me.csv").write_text(f"{HEADER}\n3.5,44,mid,1\n")
    for out, says in (("me.csv", "me.csv exists"), ("message.csv", "must end in .jsonl or .parquet")):
        assert main([*SEND[:-1], out]) == 2 and says in capsys.readouterr().err
    assert Path("me.csv").read_text() == f"{HEADER}\n3.5,44,mid,1\n" and not Path("message.csv").exists()
