"""Links of the built site that lead nowhere, and what it would fetch from elsewhere.

``python docs/site/links.py FOLDER`` prints them, and fails if there is one.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_FETCHED = {"canonical", "search", "next", "prev", "author", "index"}


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser fetches to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to and fetches."""
        has = {name: value or "" for name, value in attrs}
        self.anchors |= {has[name] for name in ("id", "name") if name in has}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        if tag in FETCHED and FETCHED[tag] in has and has.get("rel") not in NOT_FETCHED:
            self.fetched.append(has[FETCHED[tag]])


@cache
def parsed(path: Path) -> Page:
    """A page of the site."""
    return Page(path.read_text("utf-8"))


def leads(link: str, page: Path) -> bool:
    """Whether a link within the site leads somewhere."""
    name, _, anchor = link.partition("#")
    target = (page.parent / unquote(name.partition("?")[0])).resolve() if name else page
    if not target.is_file():
        return False
    return not anchor or target.suffix != ".html" or unquote(anchor) in parsed(target).anchors


def outside(link: str) -> bool:
    """Whether a link leads out of the site."""
    return "://" in link.partition("#")[0] or link.startswith(("//", "mailto:", "data:"))


def wrong(folder: Path) -> list[str]:
    """What is wrong with the links of a site."""
    found = []
    for page in sorted(set(folder.resolve().rglob("*.html")) - set(folder.resolve().glob("_static/**/*"))):
        here, name = parsed(page), page.relative_to(folder.resolve())
        links = [link for link in here.links + here.fetched if not outside(link) and link != "#"]
        found += [f"{name}: {link} leads nowhere" for link in links if not leads(link, page)]
        found += [f"{name}: fetches {link}" for link in here.fetched if outside(link) and link[:5] != "data:"]
    return found


if __name__ == "__main__":
    said = wrong(Path(sys.argv[1]))
    print(*said, sep="\n", end="\n" if said else "")
    sys.exit(bool(said))
