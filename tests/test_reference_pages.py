"""The pages name every caution that a fit may carry, with its rule, and every format of a file."""

import re
from pathlib import Path

from dpstats.models import contributed
from dpstats.results import cautions

ROOT = Path(__file__).parents[1]
FORMATS = re.compile(r'^\s*(?:FORMAT|_format, _called) = "(dpstats\.\w+/\d+)"', re.MULTILINE)


def stated(page: str, head: str, section: str = "# ") -> set[str]:
    """Names in backticks in the column that has that head, of the first table of a section of a page."""
    text = (ROOT / page).read_text("utf-8").partition(f"{section}")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if line[:2] == "| "]
    column = next(at for at, cell in enumerate(rows[0]) if head in cell)
    return {name for row in rows[1:] for name in re.findall(r"`([\w./]+)`", row[column])}


def test_every_caution_is_on_the_page() -> None:
    codes = {code for code, _ in cautions._WHOLE.values()} | set(cautions._NAMED) | set(cautions.CODES)
    assert len(codes) > 9
    codes |= {contributed.QUADRATIC[0], cautions.UNUSABLE[0]}
    assert codes == stated("docs/cautions.md", "code")
    assert codes == stated("docs/theory/intervals.md", "code", "## Cautions\n")


def test_every_format_is_on_the_page() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "dpstats").rglob("*.py")]
    formats = {found for text in texts for found in FORMATS.findall(text)}
    assert len(formats) > 4
    assert formats == stated("docs/files.md", "format")
