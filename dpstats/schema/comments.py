"""Tables as TOML, written over a file whose comments stay, and so do tables that did not change."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpstats._arguments import UNSHOWN

Tables = Mapping[str, Mapping[str, Any]]

_KEY = r'("(?:[^"\\]|\\.)*"|[A-Za-z0-9_-]+)'
_OPENS = re.compile(rf"\[\s*{_KEY}\s*\]")  # a table with a line for each value
_INLINE = re.compile(rf"{_KEY}\s*=\s*\{{")  # a table on a line of its own
_COMMENT = re.compile(r'(?:[^"\'#]|"(?:[^"\\]|\\.)*"|\'[^\']*\')*(#.*)')


def rewritten(path: Path, tables: Tables, plain: Callable[[Tables], Tables]) -> str:
    """The tables in TOML, with the comments that the file at `path` has, if there is one.

    A comment belongs to the table below it, or on whose line it stands. Where the file is written in a way
    that is not told apart here, its comments go. `plain` completes tables that leave out what is usual.
    """
    try:
        old = path.read_text(encoding="utf-8-sig")
        known = plain(tomllib.loads(old))
    except (OSError, ValueError):
        return toml_text(tables)
    head, parts = _parts(old)
    inline = not any(_OPENS.match(line) for _, lines in parts.values() for line in lines)
    written = [*head, *([""] if head else [])]
    for name, table in tables.items():
        above, lines = parts.get(name, ([], []))
        if lines and known.get(name) == table:
            written += [*above, *lines]
            continue
        own = [found[1] for line in lines if (found := _COMMENT.fullmatch(line))]
        written += [*above, *own, *_lines(name, table, inline)]
    text = "\n".join(written)
    try:
        same = plain(tomllib.loads(text)) == tables
    except ValueError:
        same = False
    return text if same else toml_text(tables)


def _parts(text: str) -> tuple[list[str], dict[str, tuple[list[str], list[str]]]]:
    """Comments above the first blank line, and of each table the comments above it and its own lines."""
    lines = text.rstrip().splitlines()
    head: list[str] = []
    if "" in lines and all(line.startswith("#") for line in lines[: lines.index("")]):
        head, lines = lines[: lines.index("")], lines[lines.index("") + 1 :]
    parts: dict[str, tuple[list[str], list[str]]] = {}
    above, current = list[str](), list[str]()
    for line in lines:
        in_table = current and _OPENS.match(current[0])
        found = _OPENS.match(line) or (not in_table and _INLINE.match(line))
        if found:
            current = [line]
            name = next(iter(tomllib.loads(f"{found[1]} = 0")))
            parts[name], above = (above, current), []
        elif line.startswith("#") or not line.strip() or not parts:
            above.append(line)
        else:
            current += [*above, line]
            above = []
    return head, parts


def toml_text(tables: Tables) -> str:
    """The tables in TOML, with a line for each value."""
    return "\n".join("\n".join([*_lines(name, table), ""]) for name, table in tables.items())


def _lines(name: str, table: Mapping[str, Any], inline: bool = False) -> list[str]:
    values = [f"{key} = {_json(value)}" for key, value in table.items()]
    return [f"{key_of(name)} = {{{', '.join(values)}}}"] if inline else [f"[{key_of(name)}]", *values]


def key_of(name: str) -> str:
    """A name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _json(name)


def _json(value: Any) -> str:
    """Numbers, truths, texts and lists: what JSON writes of these is TOML, but for DEL and its like."""
    return UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
