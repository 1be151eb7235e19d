"""The pages name every caution that a fit may carry, with its rule, and every format of a file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpstats import _codes
from dpstats.models import contributed
from dpstats.results import GlmFit, HazardFit, SurvivalFit, cautions

ROOT = Path(__file__).parents[1]
FORMATS = re.compile(r'^\s*(?:FORMAT|_format, _called) = "(dpstats\.\w+/\d+)"', re.MULTILINE)


def stated(page: str, head: str, section: str = "# ") -> set[str]:
    """Names in backticks in the column that has that head, of the first table of a section of a page."""
    text = (ROOT / page).read_text("utf-8").partition(f"{section}")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if line[:2] == "| "]
    column = next(at for at, cell in enumerate(rows[0]) if head in cell)
    return {name for row in rows[1:] for name in re.findall(r"`([\w./]+)`", row[column])}


def codes() -> set[str]:
    """Of all that an estimate tells of itself."""
    return {value for name, value in vars(_codes).items() if name.isupper()}


def test_every_caution_is_on_the_page() -> None:
    shown = {cautions.SHOWN.get(code, code) for code in codes()} | {contributed.QUADRATIC[0]}
    assert len(shown) > 15
    assert shown == stated("docs/cautions.md", "code")
    assert shown == stated("docs/theory/intervals.md", "code", "## Cautions\n")


def test_every_code_has_a_message() -> None:
    assert codes() == {*cautions._WHOLE, *cautions._NAMED, _codes.UNUSABLE}
    assert set(cautions.SHOWN) | set(cautions._TOUCHES) <= codes()


def spelt(tree: ast.AST) -> Iterator[str]:
    """Texts that a module gives an estimate: what it is doubted for, and what is among its problems."""
    for node in ast.walk(tree):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            given = [each.value for each in node.keywords if each.arg == "problems"]
            if isinstance(node.func, ast.Attribute):
                given += node.args[
                    {"saying": 0, "doubted": 1, "noisier": 1}.get(node.func.attr, len(node.args)) :
                ]
        elif isinstance(node, ast.Assign | ast.AugAssign):
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            given = [node.value] if "problems" in ast.unparse(target) else []
        for part in (each for one in given for each in ast.walk(one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value != ":":
                yield part.value


def test_no_estimator_spells_a_code() -> None:
    """One that is misspelt would be no caution, without a word; a name that is misspelt is an error."""
    modules = (ROOT / "dpstats" / "estimators").rglob("*.py")
    assert [text for path in modules for text in spelt(ast.parse(path.read_text("utf-8")))] == []


@pytest.mark.parametrize(
    "line",
    [
        "found.doubted(cov, *('bends',) * told)",
        "found.saying(*('apart',) * told)",
        "problems += [f'weak:{j}' for j in rests]",
        "replace(found, problems=('law',))",
    ],
)
def test_a_code_that_is_spelt_is_found(line: str) -> None:
    assert list(spelt(ast.parse(line)))


def test_the_page_says_which_cautions_follow_to_tables() -> None:
    text = (ROOT / "docs/cautions.md").read_text("utf-8").partition("**What follows")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", text)) == set(cautions._TOUCHES)
    names = {name for touched in cautions._TOUCHES.values() for name in touched} - {"coefficients"}
    assert all(any(hasattr(kind, name) for kind in (GlmFit, HazardFit, SurvivalFit)) for name in names)


def test_every_format_is_on_the_page() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "dpstats").rglob("*.py")]
    formats = {found for text in texts for found in FORMATS.findall(text)}
    assert len(formats) > 4
    assert formats == stated("docs/files.md", "format")
