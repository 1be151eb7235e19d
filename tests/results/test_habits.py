"""The page of habits: every entry runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.test_vignettes import BLOCK

PAGE = Path(__file__).parents[2] / "docs" / "habits.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| in |")
]
CODE = re.compile(r"`([^`]+)`")


@pytest.fixture(scope="module")
def namespace() -> dict[str, Any]:
    (block,) = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), found)
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_every_entry_runs(
    row: list[str], namespace: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(row) == 3
    entries = CODE.findall(row[2])
    assert entries
    for entry in entries:
        eval(entry, namespace)


def test_the_page_names_every_program_of_the_specification() -> None:
    programs = {row[0] for row in ROWS}
    assert {"R survival", "R stats", "broom", "statsmodels", "lifelines", "reliability"} <= programs


def test_the_page_has_150_calls_and_each_is_executed() -> None:
    assert sum(len(CODE.findall(row[2])) for row in ROWS) >= 150


@pytest.mark.parametrize("row", [row for row in ROWS if row[2].startswith("refused")], ids=lambda row: row[1])
def test_what_the_page_calls_refused_is_not_there(row: list[str], namespace: dict[str, Any]) -> None:
    for entry in CODE.findall(row[1]):
        name = re.match(r"(?:res|aft)\.(\w+)", entry)
        if name:
            assert not hasattr(namespace["ols"], name[1]) and not hasattr(namespace["fit"], name[1])
