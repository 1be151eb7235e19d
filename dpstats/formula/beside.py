"""What stands beside the columns of a row: terms ``offset(...)``, weights, and the condition ``subset=``.

Offset and weight are numbers of a row, of which the former has the coefficient 1
(docs/theory/rows.md#row-wise-formulas, rule 8). A row for which the condition does not hold is switched off,
as one with a missing value is: it stays, and n with it (rule 9).
"""

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any, cast

import numpy as np

from dpstats._arguments import expression_of
from dpstats.errors import FormulaError
from dpstats.formula.expressions import (
    BOXES,
    COMPARISONS,
    OPERATORS,
    Apply,
    Arguments,
    Constant,
    Expression,
    Function,
    Interval,
    Leaf,
    bounds_of,
    clip_into,
)
from dpstats.formula.grammar import Terms
from dpstats.formula.reader import (
    NARROWEST,
    among_levels,
    listed,
    parse,
    read_number,
    require_declared,
    usable_bounds,
    variable_name,
)
from dpstats.schema import Event, Flag, Levels, Schema, usable


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

    def columns(self, leaves: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The sum in a block, as a column."""
        return [self._expression.values(leaves)]

    def fill(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray, out: np.ndarray) -> None:
        """Write the sum into ``out``, inside its bounds; ``ok`` loses the rows that lack a value."""
        clip_into(self.columns(leaves)[0], self.bounds, ok, out)


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
    total = reduce(lambda one, other: Apply(OPERATORS[ast.Add], (one, other), text), terms)
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


def with_exposure(formula: str, exposure: Any) -> str:
    """The formula of rates: the logarithm of the exposure, an expression, is an offset.

    Raises
    ------
    FormulaError
        If the exposure is no text, or its own logarithm.
    """
    text = expression_of("exposure=", exposure, "'days'", FormulaError)
    if taken := re.fullmatch(r"(?:np\.)?log\((.+)\)", text.strip()):
        raise FormulaError(
            f"exposure= is the time or size itself, of which the model takes the logarithm; give "
            f"exposure={taken[1]!r}"
        )
    return f"{formula} + offset(np.log({text}))"


def _told(array: Callable[..., Any], interval: Callable[..., Interval]) -> Function:
    """A comparison: 1 where it holds, else 0, and NaN where a side is, as rounding left its domain."""
    return Function("", lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, array(x, y)), interval)


def _meet(x: Interval, y: Interval) -> Interval:
    """Whether two numbers are equal, surely and perhaps."""
    point = (x[0] == x[1]) & (y[0] == y[1]) & (x[0] == y[0])
    return point.astype(float), ((x[0] <= y[1]) & (y[0] <= x[1])).astype(float)


_EQUAL = _told(np.equal, _meet)
_NUMBERS = {sign: _told(one.array, one.interval) for sign, one in COMPARISONS.items()} | {ast.Eq: _EQUAL}
_AND, _OR = (ast.And, ast.BitAnd), (ast.Or, ast.BitOr)
_ALLOWED = (
    "a condition is such as 'temp > 30', '20 <= temp < 40', \"maker == 'WDC'\", "
    "\"maker in ('WDC', 'HGST')\", the name of a flag, or these with and, or, not and brackets"
)


@dataclass(frozen=True)
class Subset:
    """Rows that weigh.

    Attributes
    ----------
    text : str
        The condition as it is written.
    variables : frozenset of str
        Those that are read.
    """

    text: str
    variables: frozenset[str]
    _holds: Expression = field(repr=False)

    def holds(self, cells: Mapping[str, np.ndarray], schema: Schema) -> np.ndarray:
        """Which rows are inside, each by its own cells as they were written, within their bounds or not.

        A row that lacks one is outside. What is then used of a row is moved into the bounds, as of any other.
        """
        with np.errstate(all="ignore"):
            inside = np.asarray(self._holds.values(cells) > 0.5)
        return inside & np.all([usable(cells[name], schema[name]) for name in self.variables], axis=0)


def read_subset(text: Any, schema: Schema) -> Subset:
    """Read a subset, a condition in the language of the formula, with levels and words beside.

    Raises
    ------
    FormulaError
        If it is no condition of declared variables, holds nowhere within their bounds, or compares with a
        level that there is not.
    """
    text = expression_of("subset=", text, "'temp > 30'", FormulaError)
    if not text.strip():
        raise FormulaError(f"subset= is a text such as 'temp > 30', not {text!r}: leave it out for all rows")
    reader = _Reader(schema)
    try:
        tree = parse(text.strip())
    except FormulaError:
        if re.search("(?<![=<>!])=(?!=)", text):
            raise FormulaError(
                f"subset={text!r} has a single =; write == to compare, as in maker == 'WDC'"
            ) from None
        raise
    holds = reader.read(tree)
    if not reader.variables:
        raise FormulaError(f"subset={text!r} reads no variable; {_ALLOWED}")
    if _nowhere(holds, schema):
        raise FormulaError(
            f"subset={text!r} leaves no row: it holds nowhere within the public bounds of "
            f"{', '.join(sorted(reader.variables))}; correct it, or the schema"
        )
    return Subset(text, frozenset(reader.variables), holds)


def _nowhere(condition: Expression, schema: Schema) -> bool:
    """Whether intervals show that a condition holds for no row."""
    kinds = [schema[name] for name in condition.variables]
    if math.prod(len(kind.all) for kind in kinds if isinstance(kind, Levels)) > BOXES:
        return False
    try:
        return bounds_of(condition, schema)[1] < 0.5
    except FormulaError:  # a part that is bounded has no bound on boxes that are wider for all variables
        return False


class _Reader:
    """From a tree to a condition, collecting the variables."""

    def __init__(self, schema: Schema) -> None:
        self._schema, self.variables = schema, set[str]()

    def read(self, tree: ast.expr) -> Expression:
        if isinstance(tree, ast.BoolOp | ast.BinOp) and isinstance(tree.op, (*_AND, *_OR)):
            parts = tree.values if isinstance(tree, ast.BoolOp) else [tree.left, tree.right]
            return _joined(np.minimum if isinstance(tree.op, _AND) else np.maximum, map(self.read, parts))
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not | ast.Invert):
            return _not(self.read(tree.operand))
        if isinstance(tree, ast.Compare):
            for side in (tree.left, *tree.comparators):
                _refuse_bound(side)
            sides = pairwise([tree.left, *tree.comparators])
            compared = (self._compared(*pair, how) for pair, how in zip(sides, tree.ops, strict=True))
            return _joined(np.minimum, compared)
        name = variable_name(tree)
        if name is not None and isinstance(self._declared(name), Flag | Event):
            return Leaf(name, name)
        raise FormulaError(f"{ast.unparse(tree)!r} is neither true nor false; {_ALLOWED}")

    def _declared(self, name: str) -> Any:
        require_declared(name, self._schema)
        self.variables.add(name)
        return self._schema[name]

    def _compared(self, left: ast.expr, right: ast.expr, how: ast.cmpop) -> Expression:
        """The condition of one comparison, of a level or of numbers."""
        for side, other in ((left, right), (right, left)):
            name = variable_name(side)
            if name is not None and isinstance(self._schema.get(name), Levels):
                self.variables.add(name)
                return among_levels(name, other, how, self._schema, turned=side is right)
            coded = isinstance(other, ast.Constant) and isinstance(other.value, str)
            if name is not None and coded and isinstance(self._schema.get(name), Flag | Event):
                raise FormulaError(
                    f"{name!r} is yes or no: the condition is {ast.unparse(side)} alone, or not "
                    f"{ast.unparse(side)}"
                )
        if isinstance(how, ast.In | ast.NotIn):
            equal = [self._compared(left, one, ast.Eq()) for one in listed(right)]
            found = _joined(np.maximum, equal)
            return found if isinstance(how, ast.In) else _not(found)
        if isinstance(how, ast.NotEq):
            return _not(self._compared(left, right, ast.Eq()))
        if type(how) not in _NUMBERS:
            raise FormulaError(f"'is' is not allowed in subset=; {_ALLOWED}")
        return Apply(_NUMBERS[type(how)], (self._number(left), self._number(right)), "")

    def _number(self, tree: ast.expr) -> Expression:
        expression = read_number(tree, self._schema)
        if not isinstance(expression, Constant):
            bounds_of(expression, self._schema)  # refuses what is not defined everywhere
        self.variables |= expression.variables
        return expression


def _refuse_bound(side: ast.expr) -> None:
    """Refuse ``a == 'b' & c > 1``, which Python reads as ``a == ('b' & c) > 1``."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, ast.BitAnd | ast.BitOr):
        sign, word = ("&", "and") if isinstance(side.op, ast.BitAnd) else ("|", "or")
        raise FormulaError(
            f"{ast.unparse(side)!r} is read first, as {sign} binds closer than a comparison: write {word} in "
            f"the place of {sign}, or put each comparison in brackets"
        )


def _joined(both: Callable[[Any, Any], Any], parts: Iterable[Expression]) -> Expression:
    def interval(*boxes: Interval) -> Interval:
        return reduce(both, [low for low, _ in boxes]), reduce(both, [high for _, high in boxes])

    return Apply(Function("", lambda *told: reduce(both, told), interval), tuple(parts), "")


def _not(condition: Expression) -> Expression:
    return Apply(OPERATORS[ast.Sub], (Constant(1.0, ""), condition), "")
