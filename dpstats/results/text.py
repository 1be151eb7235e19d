"""Layout of a page as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from dpstats.results.format import align_points, wrap
from dpstats.results.table import Page, Pair, Table

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
