"""Every promise of docs/privacy.md names tests, and every test that a page names is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "privacy.md"
PAGES = [PAGE, ROOT / "docs" / "audit.md", ROOT / "SECURITY.md"]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def missing(text: str) -> list[str]:
    """The tests that a text names and that are not there."""
    found = []
    for path, name in NAMED.findall(text):
        file = ROOT / path
        tree = ast.parse(file.read_text(encoding="utf-8")) if file.exists() else ast.Module([], [])
        if name not in {item.name for item in tree.body if isinstance(item, ast.FunctionDef)}:
            found.append(f"{path}::{name}")
    return found


def promises(text: str) -> list[str]:
    """The points of the page before "What is not promised"."""
    return re.split(r"^\* ", text.partition("## What is not promised")[0], flags=re.M)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    assert not missing(page.read_text(encoding="utf-8"))


def test_every_promise_names_a_test() -> None:
    found = promises(PAGE.read_text(encoding="utf-8"))
    assert len(found) > 15
    assert [promise for promise in found if not NAMED.search(promise)] == []


def test_a_test_that_was_taken_away_is_noticed() -> None:
    gone = "`tests/test_privacy_page.py::test_of_old` and `tests/no_file.py::test_any`"
    assert missing(gone) == ["tests/test_privacy_page.py::test_of_old", "tests/no_file.py::test_any"]
    assert missing("`tests/test_privacy_page.py::test_every_promise_names_a_test`") == []
