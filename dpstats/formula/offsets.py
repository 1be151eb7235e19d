"""Terms ``offset(...)`` of a formula, which have the coefficient 1, and weights of rows.

Both are numbers of a row that stand beside its columns (docs/theory/rows.md#row-wise-formulas, rule 8).
"""

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from dpstats._arguments import expression_of
from dpstats.errors import FormulaError
from dpstats.formula.expressions import OPERATORS, Apply, Arguments, Expression, clip_into
from dpstats.formula.grammar import Terms
from dpstats.formula.reader import NARROWEST, parse, read_number, usable_bounds
from dpstats.schema import Schema


@dataclass(frozen=True)
class Offset:
    """The sum of all ``offset()`` terms of a formula; no column of the design.

    Attributes
    ----------
    text : str
        The terms as they are written.
    bounds : tuple of float
        Lower and upper bound of the sum.
    """

    text: str
    bounds: tuple[float, float]
    _expression: Expression = field(repr=False)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self._expression.variables

    def fill(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray, out: np.ndarray) -> None:
        """Write the sum into ``out``, inside its bounds; ``ok`` loses the rows that lack a value."""
        clip_into(self._expression.values(leaves), self.bounds, ok, out)


def split_offset(terms: Terms, schema: Schema) -> tuple[Terms, Offset | None]:
    """Take the ``offset()`` terms out of a formula's right side.

    Raises
    ------
    FormulaError
        If an offset is multiplied with something, is not a number, or has no public bounds.
    """
    columns, offsets = set_apart(terms, "offset", "an offset has the coefficient 1 and cannot interact")
    return columns, _sum(offsets, schema) if offsets else None


def set_apart(terms: Terms, function: str, why: str, rest: str = "") -> tuple[Terms, list[str]]:
    """Return terms without those that call a function, and what these are.

    Raises
    ------
    FormulaError
        If one is multiplied with something, for the reason `why`; what else is to be written is the rest.
    """
    columns, found = [], []
    for term in terms:
        calls = [code for code in term if _calls(code, function)]
        if calls and len(term) > 1:
            remedy = f"write + {calls[0]}, as a term of its own"
            raise FormulaError(f"{calls[0]!r} is part of {':'.join(term)}: {why}; {remedy}{rest}")
        found += calls
        columns += [term] * (not calls)
    return tuple(columns), found


def _calls(code: str, function: str) -> bool:
    tree = parse(code)
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == function


def _sum(codes: Sequence[str], schema: Schema) -> Offset:
    """One expression for all, so that its bounds are those of the sum."""
    text = " + ".join(codes)
    calls = (cast(ast.Call, parse(code)) for code in codes)
    terms = (read_number(Arguments(call, "x").tree("x"), schema) for call in calls)
    total = functools.reduce(lambda one, other: Apply(OPERATORS[ast.Add], (one, other), text), terms)
    return Offset(text, usable_bounds(total, schema), total)


class Weights(Offset):
    """A row's weight, a number between 0 and a public maximum, the upper of its bounds."""

    def fill(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray, out: np.ndarray) -> None:
        """Write the shares of the maximum into ``out``; a row of weight 0 is switched off."""
        super().fill(leaves, ok, out)
        np.divide(out, self.bounds[1], out=out)
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
    if upper < NARROWEST:
        raise FormulaError(
            f"weights={text!r} is 0 everywhere, or nearly, in the public bounds; declare an "
            "upper bound above 0 in the schema"
        )
    return Weights(text, (lower, upper), expression)
