"""Every Python example in the README, the documentation and the vignettes runs.

A page is one session: its ``python`` blocks run in order in one namespace. Blocks that start with ``>>>`` are
doctests and their output is compared; others show random numbers, which no test can compare, and run with few
fits for each plan.
"""

import doctest
import re
from pathlib import Path

import pytest

from tests.planning.few import few_fits

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("vignettes/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_pages_were_found() -> None:
    assert len(PAGES) > 4
    assert BLOCK.findall("```python\na\nb\n```\n```text\nc\n```\n") == ["a\nb\n"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        block, line = match[1], text.count("\n", 0, match.start(1))
        if block.startswith(">>>"):
            run_doctest(block, namespace, page, line)
        else:
            with monkeypatch.context() as patched:
                few_fits(patched)
                exec(compile("\n" * line + block, str(page), "exec"), namespace)


def run_doctest(block: str, namespace: dict[str, object], page: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(block, namespace, page.name, str(page), line)
    report: list[str] = []
    failures, _ = doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
    assert failures == 0, "".join(report)
    namespace.update(test.globs)
