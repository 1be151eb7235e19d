"""A page as text, HTML, LaTeX, Markdown and CSV; what is markup in a language is escaped in its texts."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html import escape

from dpstats.results.table import Page, Pair, Table, align_points, wrap

GAP = 2
PAIR_LABEL = 11
SECOND_PAIR = 49
SECOND_LABEL = 13
SHORTEST_REMARK = 12


def text(doc: Page, width: int) -> str:
    """Lay out title, banner, pairs, tables and notes between two rules."""
    rule = "=" * width
    lines: list[str] = []
    if doc.title:
        lines += [line.center(width).rstrip() for line in wrap(doc.title, width)]
    if doc.banner:
        lines += [line.center(width).rstrip() for line in wrap(f"*** {doc.banner} ***", width)]
    if doc.title:
        lines.append(rule)
    for pairs in doc.head:
        lines += _pairs(pairs, width)
    for position, table in enumerate(doc.tables):
        if position and table.title:
            lines.append("")
        lines += _table(table, width)
    if doc.title:
        lines.append(rule)
    for note in doc.notes:
        lines += wrap(note, width)
    return "\n".join(lines)


def fitting(doc: Page, usual: int, most: int) -> int:
    """Return the width at which the labels of all tables stand beside their numbers, if `most` suffices."""
    return min(max([usual, *(_Layout(table, usual).needed for table in doc.tables)]), most)


def _pairs(pairs: tuple[Pair, ...], width: int) -> list[str]:
    """Write two short pairs on one line, others each on their own."""
    if len(pairs) == 2:
        (label, value), (label2, value2) = pairs
        left = f"{label:<{PAIR_LABEL}}{value}"
        right = f"{label2:<{SECOND_LABEL}}{value2}"
        if len(left) < SECOND_PAIR and SECOND_PAIR + len(right) <= width:
            return [f"{left:<{SECOND_PAIR}}{right}"]
    lines: list[str] = []
    for label, value in pairs:
        start = max(PAIR_LABEL, len(label) + 1)
        first, *rest = wrap(value, width - start)
        lines += [f"{label:<{start}}{first}".rstrip(), *(" " * start + line for line in rest)]
    return lines


def _table(table: Table, width: int) -> list[str]:
    layout = _Layout(table, width)
    if not layout.labels_fit:  # numbers flush right are narrower than on their points
        narrow = _Layout(table, width, points=False)
        layout = narrow if narrow.labels_fit else layout
    lines = [_title_line(table, width)] if table.title else []
    lines += layout.heads()
    for row, cells in zip(table.rows, layout.cells, strict=True):
        lines += layout.row(row[: table.labels], cells)
    return lines


class _Layout:
    """Column widths of one table: numbers aligned, the last label and the closing remark as the page allows.

    A label too long to stand beside its numbers gets a line of its own; a long remark is broken.
    """

    def __init__(self, table: Table, width: int, points: bool = True) -> None:
        self.labels, self.width = table.labels, width
        self.head_cells = [column.head for column in table.columns]
        self.cells = aligned(table) if points else [list(row[table.labels :]) for row in table.rows]
        complete = [cells for cells in self.cells if len(cells) == len(table.columns) - table.labels]
        self.remarks = len(table.columns) > table.labels and table.columns[-1].align == "l"
        stop = len(table.columns) - self.remarks
        self.number_widths = [
            max([len(self.head_cells[j]), *(len(cells[j - table.labels]) for cells in complete)])
            for j in range(table.labels, stop)
        ]
        label_widths = [
            max([len(self.head_cells[j]), *(len(row[j]) for row in table.rows)]) for j in range(table.labels)
        ]
        *self.fixed, longest = label_widths
        remark = max((len(cells[-1]) for cells in complete), default=0) if self.remarks else 0
        taken = sum(w + GAP for w in self.fixed + self.number_widths)
        beside = min(remark, SHORTEST_REMARK) + GAP if remark else 0
        self.needed = taken + longest + beside
        room = width - taken - beside
        self.label = min(longest, max(room, 0))
        self.labels_fit = self.label == longest
        self.remark = max(width - taken - self.label - GAP, SHORTEST_REMARK)
        self.indent = sum(w + GAP for w in self.fixed)

    def _line(self, labels: Sequence[str], numbers: Sequence[str]) -> str:
        parts = [f"{cell:<{w}}" for cell, w in zip(labels, [*self.fixed, self.label], strict=True)]
        return (" " * GAP).join([*parts, *numbers])

    def _numbers(self, cells: Sequence[str]) -> list[str]:
        return [f"{cell:>{w}}" for cell, w in zip(cells, self.number_widths, strict=False)]

    def heads(self) -> list[str]:
        if not any(self.head_cells):
            return []
        return [
            self._line(self.head_cells[: self.labels], self._numbers(self.head_cells[self.labels :])).rstrip()
        ]

    def row(self, labels: Sequence[str], cells: Sequence[str]) -> list[str]:
        lines: list[str] = []
        if len(labels[-1]) > self.label:
            first, *more = wrap(labels[-1], self.width - self.indent, indent="  ")
            lines = [self._line([*labels[:-1], ""], [])[: self.indent] + first]
            lines += [" " * self.indent + part for part in more]
            labels = [""] * self.labels
        if len(cells) < len(self.head_cells) - self.labels:
            *numbers, remark = cells
            return [*lines, self._line(labels, [*self._numbers(numbers), remark]).rstrip()]
        beside = self._line(labels, self._numbers(cells))
        first, *more = wrap(cells[-1], self.remark) if self.remarks else [""]
        lines.append(f"{beside}{' ' * GAP}{first}".rstrip())
        return lines + [" " * (len(beside) + GAP) + part for part in more]


def aligned(table: Table) -> list[list[str]]:
    """Return the cells after the labels, decimal points under each other where the column asks."""
    cells = [list(row[table.labels :]) for row in table.rows]
    complete = [row for row in cells if len(row) == len(table.columns) - table.labels]
    for j, column in enumerate(table.columns[table.labels :]):
        if column.align == ".":
            for row, cell in zip(complete, align_points([row[j] for row in complete]), strict=True):
                row[j] = cell
    return cells


def _title_line(table: Table, width: int) -> str:
    if len(table.title) + GAP + len(table.aside) <= width:
        return f"{table.title}{table.aside:>{width - len(table.title)}}".rstrip()
    return "\n".join([*wrap(table.title, width, indent="    "), table.aside.rjust(width)])


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
            *(
                f'<tr><th scope="row"{LEFT}>{escape(label)}</th><td{LEFT}>{escape(value)}</td></tr>'
                for pairs in doc.head
                for label, value in pairs
            ),
            "</tbody></table>",
        ]
    for table in doc.tables:
        parts += ["<section>", *_html_table(table), "</section>"]
    if doc.notes:
        parts += ["<section>", *(f"<p><small>{escape(note)}</small></p>" for note in doc.notes), "</section>"]
    return "\n".join([*parts, "</div>"])


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
        title = ". ".join(part for part in (table.title, table.aside) if part)
        heads = [column.head for column in table.columns]
        aligns = "".join(column.align for column in table.columns)
        filled = [(*row, *[""] * (len(heads) - len(row))) for row in table.rows]
        parts += [f"*{markdown_escaped(title)}*"] * bool(title) + [_pipes(heads, aligns, filled)]
    parts += [markdown_escaped(note) for note in doc.notes]
    return "\n\n".join(parts)


def markdown_escaped(text: str) -> str:
    """Return `text` with what Markdown reads as markup made literal, on one line."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", " ".join(text.split()))


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
