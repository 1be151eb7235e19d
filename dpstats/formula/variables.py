"""Declared variables as the columns of a design, each with its own missing values, without a formula."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats.formula.beside import Subset
from dpstats.formula.block import Block, Memory, fresh
from dpstats.schema import WEIGHS, Levels, Schema, usable


@dataclass(frozen=True, repr=False)
class VariableColumns:
    """One column for each variable: numbers within their bounds, codes of levels, NaN where there is none.

    It is a design like that of a formula, but a row with a missing value is not switched off: its other
    values count.

    Attributes
    ----------
    schema : Schema
    names : tuple of str
    inside : Subset, optional
        Which rows weigh. A row that lacks a variable of the condition weighs nothing.
    """

    schema: Schema
    names: tuple[str, ...]
    inside: Subset | None = None

    has_intercept: ClassVar[bool] = False
    delayed: ClassVar[bool] = False
    intervals: ClassVar[bool] = False
    strata: ClassVar[int] = 1
    offset_bounds: ClassVar[tuple[float, float]] = (0.0, 0.0)
    weights: ClassVar[str | None] = None
    counts_units: ClassVar[bool] = False

    @property
    def subset(self) -> str | None:
        """The condition as it is written."""
        return self.inside.text if self.inside else None

    @property
    def variables(self) -> tuple[str, ...]:
        """All that are read, those of the condition last."""
        more = self.inside.variables.difference(self.names) if self.inside else ()
        return (*self.names, *sorted(more))

    @property
    def formula(self) -> str:
        """What is asked, in the place of a formula."""
        return f"describe: {', '.join(self.names)}"

    def read(self, block: Mapping[str, np.ndarray], memory: Memory | None = None) -> Block:
        """Rows of the columns; see `Design.read`. All are ok but those left out by their unit of privacy."""
        size = len(block[self.names[0]])
        exog = (memory or fresh)("exog", len(self.names), size).T
        with np.errstate(all="ignore"):
            for column, name in zip(exog.T, self.names, strict=True):
                column[:] = self._values(name, block[name])
            ok = np.array(block[WEIGHS]) if WEIGHS in block else np.ones(size, dtype=bool)
        if self.inside:
            ok &= self.inside.holds(block, self.schema)
        zeros, ones = np.broadcast_to(0.0, size), np.broadcast_to(1.0, size)
        return Block(exog, zeros, ones, np.broadcast_to(-np.inf, size), ok, zeros, ones)

    def _values(self, name: str, values: np.ndarray) -> np.ndarray:
        """Values of a variable within its bounds, or codes of its levels; NaN where there is none."""
        variable = self.schema[name]
        inside = values if isinstance(variable, Levels) else np.clip(values, *variable.bounds)
        return np.where(usable(values, variable), inside, np.nan)
