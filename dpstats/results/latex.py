"""A `Document` in LaTeX: tables by the package booktabs, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.results.table import Document, Table

# brackets and stars in braces: after a line break, LaTeX takes a bare one for the break's own argument
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "--": "-{}-",
}
_PATTERN = re.compile("|".join(map(re.escape, SPECIAL)))
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[-+][0-9]+)?")


def document(doc: Document) -> str:
    """Write title, banner, pairs, tables and notes in one centred block."""
    lines = [r"\begin{center}"]
    lines += [rf"\textbf{{{escaped(text)}}}\\" for text in (doc.title, doc.banner) if text]
    if doc.head:
        pairs = [tuple(map(escaped, pair)) for line in doc.head for pair in line]
        lines += [r"\begin{tabular}{lp{0.7\linewidth}}", *map(_row, pairs), r"\end{tabular}\\[1ex]"]
    for table in doc.tables:
        lines += _table(table)
    lines.append(r"\end{center}")
    return "\n".join(lines + [rf"\noindent{{\small {escaped(note)}}}\par" for note in doc.notes])


def escaped(text: str) -> str:
    """Return `text` with what LaTeX reads as a command made literal; a number as LaTeX sets one."""
    plain = " ".join(text.split())
    if _NUMBER.fullmatch(plain):
        return f"${plain}$" if plain.startswith("-") else plain
    return _PATTERN.sub(lambda match: SPECIAL[match[0]], plain)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _table(table: Table) -> list[str]:
    heads = [column.head for column in table.columns]
    sides = "".join("l" if column.align == "l" else "r" for column in table.columns)
    title = " --- ".join(escaped(part) for part in (table.title, table.aside) if part)
    lines = [rf"\textit{{{title}}}\\"] * bool(title) + [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(heads):
        lines += [_row([escaped(head) for head in heads]), r"\midrule"]
    for row in table.rows:
        *cells, last = map(escaped, row)
        missing = len(heads) - len(row)
        lines.append(_row([*cells, rf"\multicolumn{{{missing + 1}}}{{l}}{{{last}}}" if missing else last]))
    return [*lines, r"\bottomrule", r"\end{tabular}\\[1ex]"]
