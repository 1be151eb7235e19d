"""Weights of rows, relative to their public maximum (docs/theory/rows.md#row-wise-formulas, rule 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpstats._arguments import expression_of
from dpstats.errors import FormulaError
from dpstats.formula.expressions import Expression, clip_into
from dpstats.formula.reader import LARGEST, parse, read_number, usable_bounds
from dpstats.schema import Schema


@dataclass(frozen=True)
class Weights:
    """A row's weight, a number between 0 and a public maximum.

    Attributes
    ----------
    text : str
        The expression as it is written.
    maximum : float
        Its public upper bound.
    """

    text: str
    maximum: float
    _bounds: tuple[float, float] = field(repr=False)
    _expression: Expression = field(repr=False)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self._expression.variables

    def fill(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray, out: np.ndarray) -> None:
        """Write the shares of the maximum into ``out``; a row of weight 0 is switched off."""
        clip_into(self._expression.values(leaves), self._bounds, ok, out)
        np.divide(out, self.maximum, out=out)
        ok &= out > 0


def read_weights(text: Any, schema: Schema) -> Weights:
    """Read weights, an expression in the language of the formula.

    Raises
    ------
    FormulaError
        If it is not a row-wise number with public bounds, or may be negative.
    """
    text = expression_of("weights=", text, "'w' or 'np.sqrt(w)'", FormulaError)
    expression = read_number(parse(text.strip()), schema)
    lower, upper = usable_bounds(expression, schema)
    if lower < 0:
        raise FormulaError(
            f"weights={text!r} may be {lower:g} by the public bounds, but no weight is below "
            "0; declare a lower bound of 0 in the schema, or write "
            f"weights='np.maximum({expression.text}, 0)'"
        )
    if upper < 1 / LARGEST:
        raise FormulaError(
            f"weights={text!r} is 0 everywhere, or nearly, in the public bounds; declare an "
            "upper bound above 0 in the schema"
        )
    return Weights(text, upper, (lower, upper), expression)
