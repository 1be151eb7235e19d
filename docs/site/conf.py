"""How Sphinx makes the site: ``make docs`` calls it with the root of the project as the source.

The pages are those that people read in the repository. What is added here is the way about: the doors and
the pages behind each (``nav.toml``), and the pages on public names, which :mod:`api` writes from docstrings.
"""

import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import api  # noqa: E402

import dpstats  # noqa: E402

project, author, copyright = "dpstats", "The dpstats authors", "The dpstats authors"  # noqa: A001
release = version = dpstats.__version__
html_title = f"dpstats {version}"

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", "docs/api/*.rst", "vignettes/*.ipynb", "benchmarks/*.md", "*.md"]
exclude_patterns = ["README.md", "docs/site/**", "build/**", "**/.*"]
html_extra_path = ["extra"]

myst_heading_anchors = 6
myst_links_external_new_tab = True
nb_execution_mode = "off"
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88
smartquotes = False
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
highlight_language = "none"
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["dpstats.css"]
html_show_sourcelink = html_copy_source = False
html_sidebars = {"docs/index": []}
html_theme_options: dict[str, Any] = {
    "logo": {"text": f"dpstats {version}"},
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}

NAV, LAST = (HERE / "nav.toml").read_text("utf-8"), "Reference"
ANCHOR = re.compile(r'^<a id="([^"]+)"></a>', re.MULTILINE)
CITED = re.compile(r"(?<![\w/`])((?:docs|vignettes)/[\w/-]+)\.md(#[\w-]+)?")


def there() -> set[str]:
    """All pages of the site, by their names."""
    paths = [
        path
        for glob in ("docs/**/*.md", "vignettes/*.md", "benchmarks/*.md", "*.md")
        for path in ROOT.glob(glob)
    ]
    return {path.relative_to(ROOT).with_suffix("").as_posix() for path in paths}


def doors() -> list[tuple[str, list[str]]]:
    """The title of each door and the pages behind it."""
    found = [(door["title"], door["pages"]) for door in tomllib.loads(NAV)["door"]]
    left = sorted(there() - {page for _, pages in found for page in pages} - {root_doc, "README"})
    return [(title, pages + left if title == LAST else pages) for title, pages in found]


def toctree(lines: list[str], depth: int) -> str:
    """A list of pages that the page itself does not show."""
    return "\n".join(["", "```{toctree}", ":hidden:", f":maxdepth: {depth}", "", *lines, "```", ""])


def with_way(app: Sphinx, page: str, source: list[str]) -> None:
    """Add what the site has beyond the pages: the way through its doors, and the list of public names."""
    source[0] = ANCHOR.sub(r"(\1)=\n", source[0])
    if page == "docs/api":
        names = [f"/docs/api/{names[0]}" for _, pages in api.groups() for names in pages]
        source[0] += api.listing() + toctree(names, 1)
    if page == root_doc:
        source[0] += toctree([f"{title} </{pages[0]}>" for title, pages in doors()], 2)
    for _, (first, *rest) in doors():
        if page == first:
            source[0] += toctree([f"/{each}" for each in rest], 1)


@cache
def heading(page: str) -> str:
    """The title of a page, as text."""
    first = (ROOT / f"{page}.md").read_text("utf-8").partition("\n")[0]
    return first.removeprefix("# ").replace("`", "")


def with_links(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Turn the pages that a docstring cites into links, with the titles of the pages."""
    for at, line in enumerate(lines):
        lines[at] = CITED.sub(
            lambda found: f"`{heading(found[1])} <../../{found[1]}.html{found[2] or ''}>`__", line
        )


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", lambda app: api.write(ROOT / "docs" / "api"))
    app.connect("source-read", with_way)
    app.connect("autodoc-process-docstring", with_links)
