"""Literal numbers, lists and arguments in a formula; nothing is evaluated."""

from __future__ import annotations

import ast
import math

from dpstats.errors import FormulaError


def number(tree: ast.expr) -> float:
    """A finite number written out, with or without a sign.

    Raises
    ------
    FormulaError
        If it is anything else.
    """
    sign, bare = 1.0, tree
    while isinstance(bare, ast.UnaryOp) and isinstance(bare.op, ast.USub | ast.UAdd):
        sign = -sign if isinstance(bare.op, ast.USub) else sign
        bare = bare.operand
    written = bare.value if isinstance(bare, ast.Constant) else None
    if isinstance(written, int | float) and not isinstance(written, bool):
        try:
            value = sign * float(written)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            return value
    raise FormulaError(f"{ast.unparse(tree)!r} must be a finite number written out")


def whole(tree: ast.expr, least: int) -> int:
    """A whole number of at least ``least``."""
    value = number(tree)
    if not value.is_integer() or value < least:
        raise FormulaError(f"{ast.unparse(tree)!r} must be a whole number of at least {least}")
    return int(value)


def increasing(tree: ast.expr, what: str) -> tuple[float, ...]:
    """A list of increasing numbers."""
    if not isinstance(tree, ast.List | ast.Tuple):
        raise FormulaError(f"{what} must be a list of numbers, such as [10, 20], not {ast.unparse(tree)!r}")
    values = tuple(number(item) for item in tree.elts)
    if any(later <= earlier for earlier, later in zip(values, values[1:], strict=False)):
        raise FormulaError(f"{what} must increase: {ast.unparse(tree)}")
    return values


def truth(tree: ast.expr) -> bool:
    """The truth value that is written, ``True`` or ``False``."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, bool):
        return tree.value
    raise FormulaError(f"{ast.unparse(tree)!r} must be True or False")


class Arguments:
    """The arguments of a call, by the names of the function's parameters."""

    def __init__(self, call: ast.Call, *names: str) -> None:
        self._text = ast.unparse(call)
        self._given: dict[str, ast.expr] = {}
        if len(call.args) > len(names):
            raise FormulaError(f"{self._text!r} has too many arguments, not just {', '.join(names)}")
        pairs = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
        for name, value in pairs:
            if name is None or name not in names or isinstance(value, ast.Starred):
                raise FormulaError(f"{self._text!r}: the parameters are {', '.join(names)}")
            if name in self._given:
                raise FormulaError(f"{self._text!r} gives {name} twice")
            self._given[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def tree(self, name: str) -> ast.expr:
        """The argument ``name``, which must be there."""
        if name not in self._given:
            raise FormulaError(f"{self._text!r} lacks its argument {name}")
        return self._given[name]
