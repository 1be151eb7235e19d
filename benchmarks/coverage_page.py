"""Puts what was measured into the pages: tables of the lottery, and those of ``measured.py``.

PYTHONPATH=. python benchmarks/coverage_page.py

Each table of a page stands between a comment with its name and a comment that ends it. A test compares the
pages with what this script would write, so that no number of a table was typed.
"""

import re
from pathlib import Path

import measured

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks/results", ROOT / "docs/trust/coverage.md"
OWN = ROOT / "docs/performance.md"  # which speed_page.py writes
PAGES = [
    page
    for page in [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("vignettes/*.md"))]
    if page != OWN and "<!-- table: " in page.read_text("utf-8")
]
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| {} | fits | intervals that hold, % | confidently wrong, % | at most, % | caution, % | length |\n"


def rows(text: str) -> list[list[str]]:
    """The cells of the lines by model and route, and of all."""
    found = []
    for title in ("all", "by model and route"):
        block = text.split(f"\n{title}\n", 1)[1].split("\n\n", 1)[0]
        found += [re.split(r"  +", line.strip()) for line in block.splitlines()[2:]]
    return found


def table(name: str) -> str:
    """A table of a page: one of ``measured.py``, or of the lottery's results of that name."""
    if name in measured.TABLES:
        return measured.TABLES[name]()
    lines = [_HEAD.format("model, noise"), "|---|---|---|---|---|---|---|\n"]
    for what, fits, wrong, bound, covered, flagged, _, _, _, width in rows(
        (RESULTS / f"{name}.txt").read_text("utf-8")
    ):
        lines.append(
            f"| {what} | {fits} | {100 * float(covered):.1f} | {wrong} | {bound} | {flagged} | {width} |\n"
        )
    return "".join(lines)


def written(page: str) -> str:
    """The page with its tables from the results."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{table(found[2])}\n{found[3]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text("utf-8")), "utf-8")
