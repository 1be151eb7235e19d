"""Every planted fault still applies, has tests, and a handful of them, another each day, is found."""

import ast
import datetime
from functools import cache
from pathlib import Path

import pytest

from dpstats.curator.statistics import REGISTRY
from tests.mutants import MUTANTS
from tests.mutants.__main__ import main
from tests.mutants.mutant import ROOT, Bench, Mutant

HANDFUL = 5


def test_there_are_many_and_each_is_another() -> None:
    assert len(MUTANTS) >= 60
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS)
    assert len({mutant.edits for mutant in MUTANTS}) == len(MUTANTS)


def test_each_applies_once_and_is_a_program() -> None:
    assert not {mutant.what: fault for mutant in MUTANTS if (fault := misplaced(mutant))}


def misplaced(mutant: Mutant) -> str | None:
    """Why its edits cannot be made, or change nothing, or make no program."""
    try:
        for edit in mutant.edits:
            ast.parse(edit.applied(ROOT / "dpstats"))
    except (ValueError, SyntaxError) as error:
        return str(error)
    return "nothing is changed" if any(edit.new == edit.old for edit in mutant.edits) else None


def test_each_statistic_of_the_curator_has_one() -> None:
    """Which its own search for worse neighbours finds."""
    tests = [test for mutant in MUTANTS for test in mutant.tests]
    assert not [name for name in REGISTRY if not any(f"[{name}-" in test for test in tests)]


@cache
def functions(file: str) -> set[str]:
    """Of a file of tests."""
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_tests_of_each_exist() -> None:
    for mutant in MUTANTS:
        assert mutant.tests, mutant.what
        for test in mutant.tests:
            file, _, name = test.partition("::")
            found = functions(file)
            assert not name or name.partition("[")[0] in found, f"{mutant.what}: {test}"


def test_a_word_that_no_fault_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With nothing to plant, nothing would survive."""
    monkeypatch.setattr("sys.argv", ["mutants", "lattice", "no such word"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and "no planted fault has the word 'no such word'" in capsys.readouterr().err


@pytest.mark.long
def test_a_handful_is_found(tmp_path: Path) -> None:
    """Within a month all of them have been tried."""
    start = datetime.date.today().toordinal() * HANDFUL % len(MUTANTS)
    bench = Bench(tmp_path)
    chosen = (MUTANTS + MUTANTS)[start : start + HANDFUL]
    assert {mutant.what: bench.outcome(mutant)[0] for mutant in chosen} == {m.what: "killed" for m in chosen}
