"""Markup of a page in the languages of other programs: HTML, LaTeX, Markdown and CSV, every text escaped."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html import escape

from dpstats.results.table import Page, Pair, Table
from dpstats.results.text import aligned

LEFT = ' style="text-align:left"'
LABEL = ' style="text-align:left;font-weight:normal"'
INDENTED = ' style="text-align:left;font-weight:normal;padding-left:1em"'
RIGHT = ' style="text-align:right;padding-left:1em;white-space:nowrap"'
POINT_BLANK, DIGIT_BLANK = "\u2008", "\u2007"  # as wide as a point, and as a digit
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
        parts += ["<section>", *_html_table(table), "</section>"]
    if doc.notes:
        parts += ["<section>", *(f"<p><small>{escape(note)}</small></p>" for note in doc.notes), "</section>"]
    return "\n".join([*parts, "</div>"])


def _html_pair(pair: Pair) -> str:
    label, value = pair
    return f'<tr><th scope="row"{LEFT}>{escape(label)}</th><td{LEFT}>{escape(value)}</td></tr>'


def _html_table(table: Table) -> list[str]:
    lines = ['<table style="font-variant-numeric:tabular-nums">']
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
        *(
            _html_row((*row[: table.labels], *cells), table.labels, sides)
            for row, cells in zip(table.rows, _on_points(table), strict=True)
        ),
        "</tbody>",
        "</table>",
    ]


def _on_points(table: Table) -> Iterator[list[str]]:
    """Return the cells after the labels; blanks as wide as digits put their decimal points in one line."""
    for cells in aligned(table):
        written = []
        for cell in map(str.lstrip, cells):
            number = cell.rstrip()
            blanks = len(cell) - len(number)
            point = POINT_BLANK if blanks and "." not in number else ""
            written.append(number + point + DIGIT_BLANK * (blanks - len(point)))
        yield written


def _html_row(row: tuple[str, ...], labels: int, sides: list[str]) -> str:
    cells = []
    for position, cell in enumerate(row):
        if position < labels:
            side = INDENTED if cell.startswith(" ") else LABEL
            cells.append(f'<th scope="row"{side}>{escape(cell.strip())}</th>')
        elif position == len(row) - 1 and len(row) < len(sides):
            cells.append(f'<td colspan="{len(sides) - position}"{LEFT}>{escape(cell)}</td>')
        else:
            cells.append(f"<td{sides[position]}>{escape(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def latex(doc: Page, caption: str | None = None, label: str | None = None) -> str:
    """Return LaTeX with tables by the package booktabs: one centred block, or a float if it has a caption."""
    floats = caption is not None or label is not None
    lines = [r"\begin{table}[htbp]\centering" if floats else r"\begin{center}"]
    lines += [rf"\caption{{{latex_escaped(caption)}}}"] if caption is not None else []
    lines += [rf"\label{{{label}}}"] if label is not None else []
    lines += [rf"\textbf{{{latex_escaped(text)}}}\\" for text in (doc.title, doc.banner) if text]
    if doc.head:
        pairs = [tuple(map(latex_escaped, pair)) for line in doc.head for pair in line]
        lines += [r"\begin{tabular}{lp{0.7\linewidth}}", *map(_latex_row, pairs), r"\end{tabular}\\[1ex]"]
    for table in doc.tables:
        lines += _latex_table(table)
    notes = [rf"\noindent{{\small {latex_escaped(note)}}}\par" for note in doc.notes]
    return "\n".join([*lines, *notes, r"\end{table}"] if floats else [*lines, r"\end{center}", *notes])


def latex_escaped(text: str) -> str:
    """Return `text` with what LaTeX reads as a command made literal; a number as LaTeX sets one."""
    plain = " ".join(text.split())
    if _NUMBER.fullmatch(plain):
        return f"${plain}$" if plain.startswith("-") else plain
    return _SPECIAL.sub(lambda match: SPECIAL[match[0]], plain)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_table(table: Table) -> list[str]:
    """Return a table whose numbers stand on their points, before and after which are two columns."""
    heads = [column.head for column in table.columns]
    sides = "".join({"l": "l", "r": "r", ".": "r@{}l"}[column.align] for column in table.columns)
    title = " --- ".join(latex_escaped(part) for part in (table.title, table.aside) if part)
    lines = [rf"\textit{{{title}}}\\"] * bool(title) + [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(heads):
        named = [
            rf"\multicolumn{{2}}{{c}}{{{latex_escaped(column.head)}}}"
            if column.align == "."
            else latex_escaped(column.head)
            for column in table.columns
        ]
        lines += [_latex_row(named), r"\midrule"]
    for row in table.rows:
        cells = [_latex_cell(cell, column.align) for cell, column in zip(row, table.columns, strict=False)]
        if rest := table.columns[len(row) :]:  # the last cell is a remark that spans them
            width = sum(1 + (column.align == ".") for column in (table.columns[len(row) - 1], *rest))
            cells[-1] = rf"\multicolumn{{{width}}}{{l}}{{{latex_escaped(row[-1])}}}"
        lines.append(_latex_row(cells))
    return [*lines, r"\bottomrule", r"\end{tabular}\\[1ex]"]


def _latex_cell(cell: str, align: str) -> str:
    if align != ".":
        return (r"\quad " if cell.startswith("  ") else "") + latex_escaped(cell)
    whole, point, rest = cell.partition(".")
    if not _NUMBER.fullmatch(cell):
        return rf"\multicolumn{{2}}{{r}}{{{latex_escaped(cell)}}}"
    return f"{latex_escaped(whole) if _NUMBER.fullmatch(whole) else whole} & {point}{rest}"


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
