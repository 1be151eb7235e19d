"""The numbers of docs/performance.md are those that its benchmark printed."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_shows_what_the_benchmark_printed() -> None:
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0]
    printed = (ROOT / "benchmarks/results/speed.txt").read_text(encoding="utf-8")
    assert shown.strip() == printed.strip() and "import dpstats" in shown
