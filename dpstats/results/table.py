"""Tables as data: cells under heads, and pages of them. `Document` prints them."""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, and ``"l"`` left, ``"r"`` right or ``"."`` on the decimal point."""

    head: str
    align: str = "r"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under heads.

    Attributes
    ----------
    columns : tuple of Column
    rows : tuple of tuple of str
        A row shorter than the columns ends in a remark that spans the rest.
    labels : int
        Leading columns that name the row; the last of them may be longer than fits beside the numbers.
    title, aside : str
        A line above the table, left and right.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1
    title: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A title, a banner, lines of (label, value) pairs, tables and notes, each of them optional."""

    title: str = ""
    banner: str = ""
    head: tuple[tuple[Pair, ...], ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
