"""Pages on public names, written from their docstrings: one a name, and a list of all."""

import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dpstats as dps

TABLE = tomllib.loads((Path(__file__).parent / "api.toml").read_text("utf-8"))["group"]


def groups() -> Iterator[tuple[str, list[list[str]]]]:
    """The title of each group and its pages, each of one name or more; what no group names comes last."""
    yield from ((group["title"], group["pages"]) for group in TABLE)
    named = {name for group in TABLE for names in group["pages"] for name in names}
    left = [[name] for name in dps.__all__ if name not in named | {"__version__"}]
    if left:
        yield "More", left


def found(name: str) -> Any:
    """A thing by its name, from the package down."""
    thing: Any = dps
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def title(names: list[str]) -> str:
    """What a page is called."""
    return names[0].rpartition(".")[2]


def directive(name: str) -> str:
    """The part of a page that is about one thing."""
    thing = found(name)
    if inspect.isclass(thing):
        wrong = issubclass(thing, Exception)
        return (
            f".. autoexception:: dpstats.{name}\n   :no-members:\n"
            if wrong
            else f".. autoclass:: dpstats.{name}\n"
        )
    return f".. auto{'module' if inspect.ismodule(thing) else 'function'}:: dpstats.{name}\n"


def page(names: list[str]) -> str:
    """The page of a name, and of what belongs to it."""
    return "\n".join([title(names), "=" * len(title(names)), "", *map(directive, names)])


def listing() -> str:
    """All names in Markdown, by what they are for, each with the first line of its docstring."""
    lines: list[str] = []
    for head, pages in groups():
        lines += ["", f"## {head}", "", "| | |", "|---|---|"]
        for names in pages:
            said = (inspect.getdoc(found(names[0])) or "").partition("\n")[0]
            lines.append(f"| [`{title(names)}`](api/{names[0]}.rst) | {said.replace('``', '`')} |")
    return "\n".join([*lines, ""])


def write(folder: Path) -> None:
    """Write all pages; one that has not changed is left alone, so that it is not built again."""
    pages = {names[0]: page(names) for _, pages in groups() for names in pages}
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
