"""``subset=``: which rows weigh, a condition of variables (docs/theory/rows.md#row-wise-formulas, rule 9).

A row for which it does not hold is switched off, as one with a missing value is: it stays, and n with it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from dpstats._arguments import expression_of
from dpstats.errors import FormulaError
from dpstats.formula.expressions import Constant, Expression, bounds_of
from dpstats.formula.reader import parse, read_number, require_declared, variable_name
from dpstats.schema import Event, Flag, Levels, Schema

Condition = Callable[[Mapping[str, np.ndarray], np.ndarray], Any]
"""Where it holds, of the variables of a block; the second array loses rows of which it cannot be told."""

_NUMBERS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_AND, _OR = (ast.And, ast.BitAnd), (ast.Or, ast.BitOr)
EXAMPLE = "maker == 'WDC'"
ALLOWED = (
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
    _holds: Condition = field(repr=False)

    def fill(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray) -> None:
        """Switch off the rows outside."""
        ok &= self._holds(leaves, ok)


def read_subset(text: Any, schema: Schema) -> Subset:
    """Read a subset, a condition in the language of the formula, with levels and words beside.

    Raises
    ------
    FormulaError
        If it is no condition of declared variables, or compares with a level that there is not.
    """
    text = expression_of("subset=", text, "'temp > 30'", FormulaError)
    reader = _Reader(schema)
    try:
        tree = parse(text.strip())
    except FormulaError:
        if re.search("(?<![=<>!])=(?!=)", text):
            raise FormulaError(
                f"subset={text!r} has a single =; write == to compare, as in {EXAMPLE}"
            ) from None
        raise
    holds = reader.read(tree)
    if not reader.variables:
        raise FormulaError(f"subset={text!r} reads no variable; {ALLOWED}")
    return Subset(text, frozenset(reader.variables), holds)


class _Reader:
    """From a tree to a condition, collecting the variables."""

    def __init__(self, schema: Schema) -> None:
        self._schema, self.variables = schema, set[str]()

    def read(self, tree: ast.expr) -> Condition:
        if isinstance(tree, ast.BoolOp | ast.BinOp) and isinstance(tree.op, (*_AND, *_OR)):
            parts = tree.values if isinstance(tree, ast.BoolOp) else [tree.left, tree.right]
            both = operator.and_ if isinstance(tree.op, _AND) else operator.or_
            return _joined(both, [self.read(part) for part in parts])
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not | ast.Invert):
            inner = self.read(tree.operand)
            return lambda leaves, ok: ~inner(leaves, ok)
        if isinstance(tree, ast.Compare):
            for side in (tree.left, *tree.comparators):
                _refuse_bound(side)
            sides = pairwise([tree.left, *tree.comparators])
            compared = [self._compared(*pair, how) for pair, how in zip(sides, tree.ops, strict=True)]
            return _joined(operator.and_, compared)
        name = variable_name(tree)
        if name is not None and isinstance(self._declared(name), Flag | Event):
            return lambda leaves, ok: leaves[name] > 0.5
        raise FormulaError(f"{ast.unparse(tree)!r} is neither true nor false; {ALLOWED}")

    def _declared(self, name: str) -> Any:
        require_declared(name, self._schema)
        self.variables.add(name)
        return self._schema[name]

    def _compared(self, left: ast.expr, right: ast.expr, how: ast.cmpop) -> Condition:
        """The condition of one comparison, of a level or of numbers."""
        for side, other in ((left, right), (right, left)):
            name = variable_name(side)
            if name is not None and isinstance(self._schema.get(name), Levels):
                return self._of_levels(name, other, how, turned=side is right)
        if isinstance(how, ast.In | ast.NotIn):
            equal = [_compared(self._number(left), self._number(one), np.equal) for one in _listed(right)]
            found = _joined(operator.or_, equal)
            return found if isinstance(how, ast.In) else lambda leaves, ok: ~found(leaves, ok)
        if type(how) not in _NUMBERS:
            raise FormulaError(f"'is' is not allowed in subset=; {ALLOWED}")
        return _compared(self._number(left), self._number(right), _NUMBERS[type(how)])

    def _number(self, tree: ast.expr) -> Expression:
        expression = read_number(tree, self._schema)
        if not isinstance(expression, Constant):
            bounds_of(expression, self._schema)  # refuses what is not defined everywhere
        self.variables |= expression.variables
        return expression

    def _of_levels(self, name: str, other: ast.expr, how: ast.cmpop, turned: bool) -> Condition:
        several = isinstance(how, ast.In | ast.NotIn)
        if not several and not isinstance(how, ast.Eq | ast.NotEq) or several and turned:
            raise FormulaError(f"{name!r} is a category, which has no order: compare it by ==, != or in")
        levels = self._declared(name).all
        codes = [_code(name, levels, one) for one in (_listed(other) if several else [other])]
        inside = isinstance(how, ast.Eq | ast.In)
        return lambda leaves, ok: np.isin(leaves[name], codes) == inside


def _refuse_bound(side: ast.expr) -> None:
    """Refuse ``a == 'b' & c > 1``, which Python reads as ``a == ('b' & c) > 1``."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, ast.BitAnd | ast.BitOr):
        sign, word = ("&", "and") if isinstance(side.op, ast.BitAnd) else ("|", "or")
        raise FormulaError(
            f"{ast.unparse(side)!r} is read first, as {sign} binds closer than a comparison: write {word} in "
            f"the place of {sign}, or put each comparison in brackets"
        )


def _compared(left: Expression, right: Expression, compare: Callable[..., Any]) -> Condition:
    def holds(leaves: Mapping[str, np.ndarray], ok: np.ndarray) -> Any:
        sides = left.values(leaves), right.values(leaves)
        for side in sides:
            ok &= ~np.isnan(side)  # rounding may leave a function's domain
        return np.broadcast_to(compare(*sides), ok.shape)

    return holds


def _joined(both: Callable[[Any, Any], Any], parts: Sequence[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]
    return lambda leaves, ok: reduce(both, [part(leaves, ok) for part in parts])


def _listed(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.Tuple | ast.List | ast.Set) and tree.elts:
        return tree.elts
    raise FormulaError(f"{ast.unparse(tree)!r} must be a list of values in brackets; {ALLOWED}")


def _code(name: str, levels: tuple[str, ...], tree: ast.expr) -> int:
    if isinstance(tree, ast.Constant) and tree.value in levels:
        return levels.index(tree.value)
    raise FormulaError(
        f"{ast.unparse(tree)} is no level of {name!r}; they are {', '.join(map(repr, levels))}, and are "
        "written in quotes"
    )
