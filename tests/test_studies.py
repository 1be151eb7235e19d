"""A study is a pair: a text, and a notebook that has its words and code, and what the code shows when seeded.

``make studies`` writes the notebooks. A test runs them again and compares what they show.
"""

import datetime
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

sys.path.append(str(Path(__file__).parents[1] / "docs" / "site"))

import studies

TEXTS = sorted(studies.STUDIES.glob("*.md"))
BY_NAME = pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
RANDOM = re.compile(r"\b[0-9a-f]{32}\b")  # a message's own number, which no seed decides


def notebook(text: Path) -> Any:
    """The notebook of a text, as it was written."""
    return nbformat.read(text.with_suffix(".ipynb"), as_version=4)


def words(pages: Any) -> str:
    """The text of a notebook: its cells, one after the other."""
    cells = [f"```python\n{c.source}\n```" if c.cell_type == "code" else c.source for c in pages.cells]
    return "\n\n".join(cells) + "\n"


def shown(pages: Any) -> list[str]:
    """What each cell prints and shows as text; numbers of messages left out."""
    cells = [cell.outputs for cell in pages.cells if cell.cell_type == "code"]
    said = ["".join(out.get("text") or out["data"].get("text/plain", "") for out in outs) for outs in cells]
    return [RANDOM.sub("", text).strip() for text in said]


def differences(first: list[str], second: list[str]) -> list[str]:
    """Where two runs differ by more than the last digits printed, which another processor may round."""
    if [NUMBER.sub("#", text) for text in first] != [NUMBER.sub("#", text) for text in second]:
        return ["not the same words"]
    pairs = zip(NUMBER.findall("\n".join(first)), NUMBER.findall("\n".join(second)), strict=True)
    return [f"{a} and {b}" for a, b in pairs if abs(float(a) - float(b)) > 2e-3 * max(abs(float(a)), 1e-3)]


@BY_NAME
def test_text_and_notebook_have_the_same_words_and_code(text: Path) -> None:
    assert words(notebook(text)) == text.read_text("utf-8")


@BY_NAME
def test_a_notebook_was_run_whole_says_that_it_is_not_private_and_names_no_place(text: Path) -> None:
    pages = notebook(text)
    said = "\n".join(shown(pages))
    assert "NOT PRIVATE" in said
    kinds = {
        output.output_type for cell in pages.cells if cell.cell_type == "code" for output in cell.outputs
    }
    assert "error" not in kinds
    assert [
        c.source for c in pages.cells if c.cell_type == "code" and "print(" in c.source and not c.outputs
    ] == []
    assert not re.search(r"/tmp|/home|/work|site-packages", text.with_suffix(".ipynb").read_text("utf-8"))


TODAY = TEXTS[datetime.date.today().toordinal() % len(TEXTS)]


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, id=text.stem, marks=[pytest.mark.long] * (text != TODAY)) for text in TEXTS],
)
def test_a_notebook_shows_what_its_code_shows_today(text: Path) -> None:
    """One of them, another each day, beside the long tests, which run all.

    After a wanted change: make studies, and read whether the words still say what the numbers do.
    """
    assert differences(shown(notebook(text)), shown(studies.made(text))) == []


def test_what_differs_is_found() -> None:
    assert differences(["a 1.234 b"], ["a 1.235 b"]) == []
    assert differences(["a 1.234 b"], ["a 1.25 b"]) == ["1.234 and 1.25"]
    assert differences(["a 1"], ["b 1"]) == ["not the same words"]
