"""A `Document` as an HTML fragment: semantic tables, alignment inline, no script and no style sheet."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.results.table import Document, Pair, Table

LEFT = ' style="text-align:left"'
LABEL = ' style="text-align:left;font-weight:normal"'
RIGHT = ' style="text-align:right;padding-left:1em;white-space:nowrap"'


def document(doc: Document) -> str:
    """Write title, banner, pairs, tables and notes, every text escaped."""
    parts = ['<div class="dpstats">']
    if doc.title:
        parts.append(f"<p><strong>{escape(doc.title)}</strong></p>")
    if doc.banner:
        parts.append(f'<p style="color:#b00020"><strong>{escape(doc.banner)}</strong></p>')
    if doc.head:
        parts += [
            "<table><tbody>",
            *(_pair(pair) for pairs in doc.head for pair in pairs),
            "</tbody></table>",
        ]
    for table in doc.tables:
        parts += _table(table)
    parts += [f"<p><small>{escape(note)}</small></p>" for note in doc.notes]
    return "\n".join([*parts, "</div>"])


def _pair(pair: Pair) -> str:
    label, value = pair
    return f'<tr><th scope="row"{LEFT}>{escape(label)}</th><td{LEFT}>{escape(value)}</td></tr>'


def _table(table: Table) -> list[str]:
    lines = ["<table>"]
    if table.title:
        caption = f"{table.title} ({table.aside})" if table.aside else table.title
        lines.append(f'<caption style="caption-side:top;text-align:left">{escape(caption)}</caption>')
    sides = [LEFT if column.align == "l" else RIGHT for column in table.columns]
    if any(column.head for column in table.columns):
        heads = "".join(
            f'<th scope="col"{side}>{escape(column.head)}</th>'
            for column, side in zip(table.columns, sides, strict=True)
        )
        lines.append(f"<thead><tr>{heads}</tr></thead>")
    return [
        *lines,
        "<tbody>",
        *(_row(row, table.labels, sides) for row in table.rows),
        "</tbody>",
        "</table>",
    ]


def _row(row: tuple[str, ...], labels: int, sides: list[str]) -> str:
    cells = []
    for position, cell in enumerate(row):
        if position < labels:
            cells.append(f'<th scope="row"{LABEL}>{escape(cell)}</th>')
        elif position == len(row) - 1 and len(row) < len(sides):
            cells.append(f'<td colspan="{len(sides) - position}"{LEFT}>{escape(cell)}</td>')
        else:
            cells.append(f"<td{sides[position]}>{escape(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"
