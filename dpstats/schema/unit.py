"""Whose privacy a fit protects: one row, or all rows of one person, machine or household."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpstats._arguments import plain, shown
from dpstats.errors import SchemaError

MOST_ROWS = 10**9
# the key of a block of rows under which it says which of them weigh; no variable can have this name
WEIGHS = ""


@dataclass(frozen=True)
class Unit:
    """The unit of privacy.

    Attributes
    ----------
    column : str or None
        Names the unit of each row; None for a unit of one row.
    max_rows : int
        How many rows of a unit weigh: those whose cells have the least hashes. The others, and rows without
        a unit, weigh nothing.
    """

    column: str | None = None
    max_rows: int = 1
    kind: ClassVar[str] = "unit"

    def __post_init__(self) -> None:
        if self.column is None:
            if self.max_rows != 1:
                raise SchemaError("a unit of more than one row needs the name of its column")
            return
        column: object = self.column
        if not isinstance(column, str) or not column:
            raise SchemaError(f"the column of a unit must be a text such as 'serial', not {shown(column)}")
        if column == "row":
            raise SchemaError("rename the column 'row' of the unit: 'one row' means that each row is a unit")
        rows = plain(self.max_rows)
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
            raise SchemaError(f"max_rows must be a whole number from 1 to {MOST_ROWS:,}, not {shown(rows)}")
        object.__setattr__(self, "max_rows", rows)

    @property
    def short(self) -> str:
        """What is protected: ``one row``, ``one serial``."""
        return f"one {self.column or 'row'}"

    @property
    def adjacency(self) -> str:
        """What neighbouring data sets differ in: ``replace one row``, ``replace one serial``."""
        return f"replace {self.short}"

    @property
    def limit(self) -> str:
        """``at most 2 rows``."""
        return f"at most {self.max_rows} {'row' if self.max_rows == 1 else 'rows'}"

    def __str__(self) -> str:
        return f"{self.column} ({self.limit})" if self.column else self.short


ROW = Unit()
