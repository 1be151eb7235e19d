"""The left side of a formula: a survival time with its event, or a number."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.expressions import Expression
from dpstats.formula.functions import Array
from dpstats.formula.literals import Arguments
from dpstats.formula.reader import (
    function_name,
    is_comparison,
    parse,
    read_expression,
    read_number,
    require_declared,
    usable_bounds,
    variable_name,
)
from dpstats.schema import Event, Flag, Schema


@dataclass(frozen=True)
class SurvResponse:
    """``Surv(time, event)``: a right-censored time between public bounds; ``Surv(time)``: failures only.

    A time beyond the upper bound is censored there (spec/results.md 2.6), one below the lower is moved up.
    """

    text: str
    time_bounds: tuple[float, float]
    _time: Expression = field(repr=False)
    _event: str | None = field(repr=False)
    _event_value: float = field(repr=False)

    @property
    def all_failed(self) -> bool:
        """Whether the formula says that every row holds a time to failure."""
        return self._event is None

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self._time.variables | ({self._event} if self._event else frozenset())

    def read(self, raw: Mapping[str, Array], leaves: Mapping[str, Array]) -> tuple[Array, Array]:
        """Time and event (1 or 0) of each row of a block, from its values before and after clipping."""
        clipped = self._time.values(leaves)
        size = len(next(iter(leaves.values())))
        time = np.fmin(np.fmax(clipped, self.time_bounds[0]), self.time_bounds[1])
        # clipping that shortens a time says only that the unit lived at least that long
        failed = np.broadcast_to(~(self._time.values(raw) > clipped), size)
        if self._event is not None:
            failed = failed & (leaves[self._event] == self._event_value)
        return np.array(np.broadcast_to(time, size)), failed.astype(np.float64)


@dataclass(frozen=True)
class NumericResponse:
    """A number between public bounds."""

    text: str
    bounds: tuple[float, float]
    _expression: Expression = field(repr=False)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self._expression.variables

    def read(self, raw: Mapping[str, Array], leaves: Mapping[str, Array]) -> tuple[Array, Array]:
        """Response of each row of a block, and ones: every response is observed."""
        value = np.fmin(np.fmax(self._expression.values(leaves), self.bounds[0]), self.bounds[1])
        return np.array(value), np.ones(len(value))


Response = SurvResponse | NumericResponse


def read_response(code: str, schema: Schema) -> Response:
    """Read the left side of a formula.

    Raises
    ------
    FormulaError
        If it is neither ``Surv(time, event)`` nor a numeric expression with public bounds.
    """
    tree = parse(code)
    if isinstance(tree, ast.Call) and function_name(tree) == "Surv":
        return _surv(tree, code, schema)
    expression = read_expression(tree, schema)
    if is_comparison(expression) or not expression.variables:
        raise FormulaError(f"the response {code!r} must be a number that depends on a variable; "
                           "for yes or no declare a flag()")
    return NumericResponse(code, _room(expression, schema), expression)


def _room(expression: Expression, schema: Schema) -> tuple[float, float]:
    lower, upper = usable_bounds(expression, schema)
    if lower >= upper:
        raise FormulaError(f"the response {expression.text!r} is {lower:g} everywhere in the public bounds")
    return lower, upper


def _surv(tree: ast.Call, code: str, schema: Schema) -> SurvResponse:
    given = Arguments(tree, "time", "event", "censored")
    if "event" in given and "censored" in given:
        raise FormulaError(f"{code!r} needs an event indicator of one kind: Surv(time, event) or "
                           "Surv(time, censored=c)")
    time = read_number(given.tree("time"), schema)
    if not time.variables:
        raise FormulaError(f"{code!r} needs a time that depends on a variable")
    if "event" not in given and "censored" not in given:
        return SurvResponse(code, _room(time, schema), time, None, 1.0)
    word = "event" if "event" in given else "censored"
    indicator = given.tree(word)
    name = variable_name(indicator)
    if name is None:
        raise FormulaError(f"{ast.unparse(indicator)!r} must be a variable declared as event(failed=..., "
                           "censored=...)")
    require_declared(name, schema)
    if word == "censored" and isinstance(schema[name], Event):
        raise FormulaError(f"{name!r} is declared as an event, so write Surv(time, {name}); "
                           "censored= takes a flag()")
    if not isinstance(schema[name], Event | Flag):
        raise FormulaError(f"{name!r} is declared as {schema[name].kind}: for an event indicator use "
                           f"{name}=event(failed=..., censored=...)")
    return SurvResponse(code, _room(time, schema), time, name, 1.0 if word == "event" else 0.0)

