"""Markup of a page in the languages of other programs: HTML, LaTeX, Markdown and CSV, every text escaped."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from html import escape

from dpstats.results.table import Page, Pair, Table

LEFT = ' style="text-align:left"'
LABEL = ' style="text-align:left;font-weight:normal"'
RIGHT = ' style="text-align:right;padding-left:1em;white-space:nowrap"'
RULES = {"l": ":---", "r": "---:", ".": "---:"}
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
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL)))
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[-+][0-9]+)?")


def html(doc: Page) -> str:
    """Return an HTML fragment: semantic tables, alignment inline, no script and no style sheet.

    Title, banner, pairs, tables and notes follow each other, every text escaped.
    """
    parts = ['<div class="dpstats">']
    if doc.title:
        parts.append(f"<p><strong>{escape(doc.title)}</strong></p>")
    if doc.banner:
        parts.append(f'<p style="color:#b00020"><strong>{escape(doc.banner)}</strong></p>')
    if doc.head:
        parts += [
            "<table><tbody>",
            *(_html_pair(pair) for pairs in doc.head for pair in pairs),
            "</tbody></table>",
        ]
    for table in doc.tables:
        parts += _html_table(table)
    parts += [f"<p><small>{escape(note)}</small></p>" for note in doc.notes]
    return "\n".join([*parts, "</div>"])


def _html_pair(pair: Pair) -> str:
    label, value = pair
    return f'<tr><th scope="row"{LEFT}>{escape(label)}</th><td{LEFT}>{escape(value)}</td></tr>'


def _html_table(table: Table) -> list[str]:
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
        *(_html_row(row, table.labels, sides) for row in table.rows),
        "</tbody>",
        "</table>",
    ]


def _html_row(row: tuple[str, ...], labels: int, sides: list[str]) -> str:
    cells = []
    for position, cell in enumerate(row):
        if position < labels:
            cells.append(f'<th scope="row"{LABEL}>{escape(cell)}</th>')
        elif position == len(row) - 1 and len(row) < len(sides):
            cells.append(f'<td colspan="{len(sides) - position}"{LEFT}>{escape(cell)}</td>')
        else:
            cells.append(f"<td{sides[position]}>{escape(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def latex(doc: Page) -> str:
    """Return LaTeX in one centred block, with tables by the package booktabs."""
    lines = [r"\begin{center}"]
    lines += [rf"\textbf{{{latex_escaped(text)}}}\\" for text in (doc.title, doc.banner) if text]
    if doc.head:
        pairs = [tuple(map(latex_escaped, pair)) for line in doc.head for pair in line]
        lines += [r"\begin{tabular}{lp{0.7\linewidth}}", *map(_latex_row, pairs), r"\end{tabular}\\[1ex]"]
    for table in doc.tables:
        lines += _latex_table(table)
    lines.append(r"\end{center}")
    return "\n".join(lines + [rf"\noindent{{\small {latex_escaped(note)}}}\par" for note in doc.notes])


def latex_escaped(text: str) -> str:
    """Return `text` with what LaTeX reads as a command made literal; a number as LaTeX sets one."""
    plain = " ".join(text.split())
    if _NUMBER.fullmatch(plain):
        return f"${plain}$" if plain.startswith("-") else plain
    return _SPECIAL.sub(lambda match: SPECIAL[match[0]], plain)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_table(table: Table) -> list[str]:
    heads = [column.head for column in table.columns]
    sides = "".join("l" if column.align == "l" else "r" for column in table.columns)
    title = " --- ".join(latex_escaped(part) for part in (table.title, table.aside) if part)
    lines = [rf"\textit{{{title}}}\\"] * bool(title) + [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(heads):
        lines += [_latex_row([latex_escaped(head) for head in heads]), r"\midrule"]
    for row in table.rows:
        *cells, last = map(latex_escaped, row)
        missing = len(heads) - len(row)
        lines.append(
            _latex_row([*cells, rf"\multicolumn{{{missing + 1}}}{{l}}{{{last}}}" if missing else last])
        )
    return [*lines, r"\bottomrule", r"\end{tabular}\\[1ex]"]


def markdown(doc: Page) -> str:
    """Return Markdown, tables in pipes as on GitHub, each part a paragraph of its own."""
    parts = [f"**{markdown_escaped(text)}**" for text in (doc.title, doc.banner) if text]
    if doc.head:
        pairs = [pair for line in doc.head for pair in line]
        parts.append(_pipes(("", ""), "ll", pairs))
    for table in doc.tables:
        parts += _markdown_table(table)
    parts += [markdown_escaped(note) for note in doc.notes]
    return "\n\n".join(parts)


def markdown_escaped(text: str) -> str:
    """Return `text` with what Markdown reads as markup made literal, on one line."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", " ".join(text.split()))


def _markdown_table(table: Table) -> list[str]:
    title = ". ".join(part for part in (table.title, table.aside) if part)
    heads = [column.head for column in table.columns]
    aligns = "".join(column.align for column in table.columns)
    filled = [(*row, *[""] * (len(heads) - len(row))) for row in table.rows]
    return [f"*{markdown_escaped(title)}*"] * bool(title) + [_pipes(heads, aligns, filled)]


def _pipes(heads: Sequence[str], aligns: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [_line([markdown_escaped(head) for head in heads]), _line([RULES[align] for align in aligns])]
    return "\n".join(lines + [_line([markdown_escaped(cell) for cell in row]) for row in rows])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def comma_separated(doc: Page) -> str:
    """Return comma-separated values, an empty line before each table and before the notes."""
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
