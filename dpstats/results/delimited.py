"""A `Document` as comma-separated values: every cell as it is printed."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.results.table import Document


def document(doc: Document) -> str:
    """Write title, banner, pairs, tables and notes, an empty line before each table and before the notes."""
    blocks: list[list[tuple[str, ...]]] = [
        [(text,) for text in (doc.title, doc.banner) if text] + [pair for line in doc.head for pair in line]
    ]
    for table in doc.tables:
        title = [tuple(part for part in (table.title, table.aside) if part)]
        blocks.append([*title, tuple(column.head for column in table.columns), *table.rows])
    blocks.append([(note,) for note in doc.notes])
    filled = [[row for row in block if any(row)] for block in blocks]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for block in filter(None, filled):
        if out.tell():
            out.write("\n")
        writer.writerows(block)
    return out.getvalue().rstrip("\n")
