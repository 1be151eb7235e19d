"""The site: every page has its door, every public name its page, and links that lead nowhere are found.

``make docs`` builds it and follows all its links; the gate runs that.
"""

import sys
import tomllib
from pathlib import Path

import pytest

import dpstats as dps

sys.path.append(str(Path(__file__).parents[1] / "docs" / "site"))

import api
import links

ROOT = Path(__file__).parents[1]
DOORS = tomllib.loads((ROOT / "docs" / "site" / "nav.toml").read_text("utf-8"))["door"]
PAGES = [page for door in DOORS for page in door["pages"]]


def test_every_door_leads_to_pages_that_are_there_and_to_none_twice() -> None:
    assert len(DOORS) == 6 and len(set(PAGES)) == len(PAGES)
    suffixes = (".md", ".ipynb")
    assert [page for page in PAGES if not any((ROOT / f"{page}{end}").is_file() for end in suffixes)] == []


def test_every_public_name_has_a_page_and_stands_in_the_list() -> None:
    named = [name for _, pages in api.groups() for names in pages for name in names]
    assert set(dps.__all__) - {"__version__"} <= set(named) and len(named) == len(set(named))
    assert all(f"[`{name}`]" in api.listing() for name in dps.__all__ if name != "__version__")


def test_a_page_of_the_api_is_written_once_and_goes_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "gone.rst").write_text("of old")
    api.write(tmp_path)
    first = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    api.write(tmp_path)
    assert first == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert (
        "gone.rst" not in first
        and ".. autofunction:: dpstats.survreg" in (tmp_path / "survreg.rst").read_text()
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            '<a href="b.html#here">b</a> <a href="#own" id="own">a</a> <a href="https://example.org">out</a>',
            [],
        ),
        ('<a href="c.html">c</a>', ["a.html: c.html leads nowhere"]),
        ('<a href="b.html#there">b</a>', ["a.html: b.html#there leads nowhere"]),
        ('<img src="c.png">', ["a.html: c.png leads nowhere"]),
        ('<script src="https://example.org/x.js"></script>', ["a.html: fetches https://example.org/x.js"]),
    ],
)
def test_links_that_lead_nowhere_and_what_is_fetched_are_found(
    body: str, said: list[str], tmp_path: Path
) -> None:
    links.parsed.cache_clear()
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    assert links.wrong(tmp_path) == said
