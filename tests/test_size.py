"""The house does not grow unseen: no folder has more statements than docs/architecture.md allows it.

    python -m tests.test_size

writes what is there as the bounds of the page.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([\w/]+)` \| ([\d,]+) \|$", re.MULTILINE)


def statements(text: str) -> int:
    """Of all kinds and depths, docstrings and imports among them."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))


def sizes(root: Path) -> dict[str, int]:
    """Statements of each folder, and of modules beside them; `estimators` by its parts."""
    found: dict[str, int] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parent.parts
        name = "/".join((root.name, *parts[: 2 if parts[:1] == ("estimators",) else 1]))
        found[name] = found.get(name, 0) + statements(path.read_text(encoding="utf-8"))
    return found


def bounds(page: str) -> dict[str, int]:
    """Of each folder, as the table of the page has it."""
    return {name: int(bound.replace(",", "")) for name, bound in ROW.findall(page)}


def too_large(found: dict[str, int], allowed: dict[str, int]) -> dict[str, str]:
    """Folders that have more than is allowed, or of which nothing is said."""
    return {
        name: f"{size} of {allowed.get(name, 0)}"
        for name, size in found.items()
        if size > allowed.get(name, 0)
    }


def test_no_folder_has_more_statements_than_the_architecture_allows() -> None:
    found, allowed = sizes(ROOT / "dpstats"), bounds(PAGE)
    assert not too_large(found, allowed), (
        "leave something out, or raise the bound (`python -m tests.test_size`) and say in the commit for what"
    )
    assert set(found) == set(allowed), "the table names folders that are not there"


@pytest.mark.parametrize("name", ["dpstats/curator", "dpstats/estimators/gram", "dpstats"])
def test_a_folder_that_grew_is_found(name: str) -> None:
    found = sizes(ROOT / "dpstats")
    assert list(too_large(found | {name: found[name] + 1}, found)) == [name]
    assert list(too_large(found | {"dpstats/new": 1}, found)) == ["dpstats/new"]


def test_statements_inside_others_count() -> None:
    assert statements('def f():\n    """One."""\n    if x:\n        y = 1\n    return y\n') == 5


def written(page: str, found: dict[str, int]) -> str:
    """The page with what was found as its bounds."""
    return ROW.sub(lambda row: f"| `{row[1]}` | {found.get(row[1], 0):,} |", page)


def test_bounds_that_are_written_are_those_that_are_read() -> None:
    found = sizes(ROOT / "dpstats")
    assert bounds(written(PAGE, found)) == found


if __name__ == "__main__":
    path = ROOT / "docs" / "architecture.md"
    path.write_text(written(PAGE, sizes(ROOT / "dpstats")), encoding="utf-8")
