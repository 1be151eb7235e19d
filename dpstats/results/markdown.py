"""A `Document` in Markdown, its tables in pipes as on GitHub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.results.table import Document, Table

RULES = {"l": ":---", "r": "---:", ".": "---:"}


def document(doc: Document) -> str:
    """Write title, banner, pairs, tables and notes, each a paragraph of its own."""
    parts = [f"**{escaped(text)}**" for text in (doc.title, doc.banner) if text]
    if doc.head:
        pairs = [pair for line in doc.head for pair in line]
        parts.append(_pipes(("", ""), "ll", pairs))
    for table in doc.tables:
        parts += _table(table)
    parts += [escaped(note) for note in doc.notes]
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    """Return `text` with what Markdown reads as markup made literal, on one line."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", " ".join(text.split()))


def _table(table: Table) -> list[str]:
    title = ". ".join(part for part in (table.title, table.aside) if part)
    heads = [column.head for column in table.columns]
    aligns = "".join(column.align for column in table.columns)
    filled = [(*row, *[""] * (len(heads) - len(row))) for row in table.rows]
    return [f"*{escaped(title)}*"] * bool(title) + [_pipes(heads, aligns, filled)]


def _pipes(heads: Sequence[str], aligns: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [_line([escaped(head) for head in heads]), _line([RULES[align] for align in aligns])]
    return "\n".join(lines + [_line([escaped(cell) for cell in row]) for row in rows])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
