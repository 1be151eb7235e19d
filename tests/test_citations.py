"""What code and pages cite is there: every page that is named exists, and has the section that is named.

A citation is a path of a page, with the anchor of a section where there is one, as GitHub makes anchors of
headings: ``docs/theory/linear.md#one-joint-release``.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpstats.curator.statistics import REGISTRY

ROOT = Path(__file__).parents[1]
FOLDERS = ("dpstats", "tests", "benchmarks")
CODE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("vignettes/*.md"))]
CITED = re.compile(r"[\w./-]*\w\.md(?:#[\w-]+)?")
LINK = re.compile(r"\]\(([^()\s]+)\)")
PLANNED = {"whiten.py"}
FOREIGN = {"PLUGIN_EXTRACTOR_FORMAT.md"}  # a page of maketables


def sections(page: str) -> set[str]:
    """Anchors of a page: its headings, and those that are written out."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


def missing(name: str, folder: Path) -> str | None:
    """What is not there of a citation, read from a folder."""
    path, _, section = name.partition("#")
    page = folder / path
    if not page.is_file():
        return f"{name}: no such page"
    if section and section not in sections(page.read_text(encoding="utf-8")):
        return f"{name}: no such section"
    return None


def cited(text: str) -> Iterator[str]:
    """Citations in code, in order."""
    return (found for found in CITED.findall(text) if found not in FOREIGN)


def absent(page: str) -> list[str]:
    """Modules that a page names, whole or by the end of their paths, and that are not there."""
    named = re.findall(r"`([\w./]+\.py)`", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL))
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in CODE]
    return [name for name in named if not any(path.endswith(f"/{name}") for path in paths)]


def broken(text: str) -> list[str]:
    """Citations in code that do not resolve; pages are named from the root of the project."""
    wrong = [name for name in cited(text) if not name.startswith(("docs/", "vignettes/", "README.md"))]
    rest = (missing(name, ROOT) for name in cited(text) if name not in wrong)
    return [f"{name}: not a page of this project" for name in wrong] + [each for each in rest if each]


def broken_paths(text: str) -> list[str]:
    """The same where names of files without a folder are no citations, as tests write such files."""
    return [each for each in broken(text) if "/" in each.partition(": ")[0]]


@pytest.mark.parametrize(("name", "of"), [*zip(FOLDERS, (broken, broken_paths, broken_paths), strict=True)])
def test_what_code_cites_is_there(name: str, of: Callable[[str], list[str]]) -> None:
    own = Path(__file__).resolve()
    paths = [path for path in CODE if path.relative_to(ROOT).parts[0] == name and path != own]
    found = {str(path.relative_to(ROOT)): of(path.read_text(encoding="utf-8")) for path in paths}
    assert len(paths) > 20
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in LINK.findall(text) if not link.startswith(("http", "mailto"))]
    wrong = []
    for link in links:
        if link.startswith("#"):
            found = None if link[1:] in sections(text) else f"{link}: no such section"
        elif ".md" in link:
            found = missing(link, page.parent)
        else:
            found = None if (page.parent / link.partition("#")[0]).exists() else f"{link}: no such file"
        wrong += [found] if found else []
    assert wrong == []


def test_each_statistic_of_the_curator_has_an_entry_in_the_theory() -> None:
    """By the name of its class, or that of its releases."""
    theory = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/theory/*.md"))
    named = set(re.findall(r"`(\w+)`", theory))
    assert not {name: kind.__name__ for name, kind in REGISTRY.items() if not named & {name, kind.__name__}}


def test_the_theory_is_cited_from_every_part_that_has_some() -> None:
    pages = {path.name for path in (ROOT / "docs" / "theory").glob("*.md")} - {"index.md"}
    texts = [path.read_text(encoding="utf-8") for path in CODE if path.is_relative_to(ROOT / "dpstats")]
    names = [name.partition("#")[0] for text in texts for name in cited(text)]
    used = {Path(name).name for name in names if name.startswith("docs/theory/")}
    assert len(pages) > 10
    assert pages - used == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_modules_a_page_names_are_there(page: Path) -> None:
    assert set(absent(page.read_text(encoding="utf-8"))) <= PLANNED


def test_a_module_that_is_not_there_is_caught() -> None:
    page = "`dpstats/errors.py`, `errors.py`, `odel.py`\n```\n`in_code.py`\n```\n`dpstats/absent.py`"
    assert absent(page) == ["odel.py", "dpstats/absent.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# (docs/theory/linear.md#one-joint-release)", []),
        ("# (docs/theory/absent.md)", ["docs/theory/absent.md: no such page"]),
        ("# (docs/theory/linear.md#absent)", ["docs/theory/linear.md#absent: no such section"]),
        ("# (spec/linear_glm.md D)", ["spec/linear_glm.md: not a page of this project"]),
        ("# see linear.md#ridge", ["linear.md#ridge: not a page of this project"]),
    ],
)
def test_a_citation_that_leads_nowhere_is_caught(text: str, said: list[str]) -> None:
    assert broken(text) == said


def test_sections_are_those_of_headings() -> None:
    page = '# One title\n```python\n# no heading\n```\n## `compat="paper"`, and R^2\n<a id="own"></a>\n'
    assert sections(page) == {"one-title", "compatpaper-and-r2", "own"}
