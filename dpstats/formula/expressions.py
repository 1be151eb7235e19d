"""Row-wise expressions of declared variables: one tree, walked with arrays or with intervals.

Numbers, lists and arguments that are written out in a formula are read without evaluating anything. The
functions that a formula may use have their two meanings in one entry, on arrays and on intervals. An interval
is a pair of arrays (lower, upper), one element for each sub-box of the public box; the rule must give bounds
of the function over each of them (docs/theory/rows.md#bounds-of-expressions). A function cannot be added
without its interval rule. Rounding in the last place is harmless: finished columns are clipped to their
bounds.
"""

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from dpstats._arguments import brief
from dpstats.errors import FormulaError
from dpstats.schema import Schema

Interval = tuple[np.ndarray, np.ndarray]


class Unbounded(Exception):
    """A function has no finite bound over the public bounds of its arguments; the text says what it needs.

    A second one says how a variable is declared that has what it needs.
    """


@dataclass(frozen=True)
class Function:
    """A row-wise function: its name for messages, its array rule and its interval rule."""

    name: str
    array: Callable[..., Any]
    interval: Callable[..., Interval]


def _monotone(
    name: str, array: Callable[..., Any], above: float = -np.inf, strict: bool = False, needs: str = ""
) -> Function:
    """A function that rises, or falls, from `above` on, in other words where it `needs` something."""

    def interval(x: Interval) -> Interval:
        lower, upper = x
        if np.any(lower <= above) if strict else np.any(lower < above):
            zero = name.startswith("log") and above == 0 and not np.any(lower < 0)
            such = f", such as bounded(1, {np.max(upper):g})" if np.max(upper) > 1 else ""
            remedy = (
                f"declare a lower bound above 0{such}, or write np.log1p of a covariate, but of no exposure"
            )
            said = needs or f"values {'>' if strict else '>='} {above:g}"
            raise Unbounded(f"{name} needs {said}", *[remedy] * bool(zero))
        return _corners(array, x)

    return Function(name, array, interval)


def _abs(x: Interval) -> Interval:
    lower, upper = x
    inside = (lower <= 0) & (upper >= 0)
    least, most = _corners(np.abs, x)
    return np.where(inside, 0.0, least), most


def _wave(name: str, array: Callable[..., Any], crest: float) -> Function:
    """sin or cos, which is 1 at ``crest`` and -1 half a turn later, every full turn."""
    turn = 2 * np.pi

    def meets(lower: np.ndarray, upper: np.ndarray, phase: float) -> np.ndarray:
        # 1e-6 of a turn covers the rounding of arguments up to 1e9; beyond, assume the worst
        first = np.ceil((lower - phase) / turn - 1e-6)
        return (first <= (upper - phase) / turn + 1e-6) | (np.maximum(-lower, upper) > 1e9)

    def interval(x: Interval) -> Interval:
        lower, upper = x
        least, most = _corners(array, x)
        return (
            np.where(meets(lower, upper, crest + np.pi), -1.0, least),
            np.where(meets(lower, upper, crest), 1.0, most),
        )

    return Function(name, array, interval)


def _corners(combine: Callable[..., Any], *boxes: Interval) -> Interval:
    values = [combine(*corner) for corner in product(*boxes)]
    return np.minimum.reduce(values), np.maximum.reduce(values)


def _divide(x: Interval, y: Interval) -> Interval:
    if np.any((y[0] <= 0) & (y[1] >= 0)):
        raise Unbounded("the divisor must not be 0")
    return _corners(np.divide, x, y)


def power(exponent: float) -> Function:
    """``x ** exponent`` for a literal exponent."""
    whole = float(exponent).is_integer()

    def array(x: Any) -> Any:
        return x**exponent

    def interval(x: Interval) -> Interval:
        lower, upper = x
        if not whole and np.any(lower < 0):
            raise Unbounded(f"the power {exponent:g} needs values >= 0")
        if exponent < 0 and np.any((lower <= 0) & (upper >= 0)):
            raise Unbounded(f"the power {exponent:g} needs values other than 0")
        least, most = _corners(array, x)
        if whole and exponent % 2 == 0 and exponent > 0:
            least = np.where((lower <= 0) & (upper >= 0), 0.0, least)
        return least, most

    return Function("**", array, interval)


def _compare(symbol: str, array: Callable[..., Any]) -> Function:
    def told(x: Any, y: Any) -> Any:
        return np.asarray(array(x, y), dtype=np.float64)

    return Function(symbol, told, lambda x, y: _corners(told, x, y))


OPERATORS: dict[type[ast.AST], Function] = {
    ast.Add: Function("+", np.add, lambda x, y: (x[0] + y[0], x[1] + y[1])),
    ast.Sub: Function("-", np.subtract, lambda x, y: (x[0] - y[1], x[1] - y[0])),
    ast.Mult: Function("*", np.multiply, lambda x, y: _corners(np.multiply, x, y)),
    ast.Div: Function("/", np.divide, _divide),
    ast.USub: Function("-", np.negative, lambda x: (-x[1], -x[0])),
    ast.UAdd: Function("+", np.positive, lambda x: x),
}

AMONG = "in"  # of a category and some of its levels
COMPARISONS: dict[type[ast.AST], Function] = {
    ast.Lt: _compare("<", np.less),
    ast.LtE: _compare("<=", np.less_equal),
    ast.Gt: _compare(">", np.greater),
    ast.GtE: _compare(">=", np.greater_equal),
}

ZERO_CELSIUS = 273.15  # kelvins
BOLTZMANN = 8.617333262e-5  # electronvolts a kelvin, CODATA 2018

MINIMUM = Function("minimum", np.minimum, lambda x, y: (np.minimum(x[0], y[0]), np.minimum(x[1], y[1])))
MAXIMUM = Function("maximum", np.maximum, lambda x, y: (np.maximum(x[0], y[0]), np.maximum(x[1], y[1])))

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        _monotone("log", np.log, 0, strict=True),
        _monotone("log2", np.log2, 0, strict=True),
        _monotone("log10", np.log10, 0, strict=True),
        _monotone("log1p", np.log1p, -1, strict=True),
        _monotone("sqrt", np.sqrt, 0),
        _monotone("exp", np.exp),
        _monotone("expm1", np.expm1),
        _monotone("cbrt", np.cbrt),
        _monotone("arcsinh", np.arcsinh),
        _monotone("arctan", np.arctan),
        _monotone("tanh", np.tanh),
        _monotone("floor", np.floor),
        _monotone("ceil", np.ceil),
        _monotone("sign", np.sign),
        Function("abs", np.abs, _abs),
        _wave("sin", np.sin, np.pi / 2),
        _wave("cos", np.cos, 0.0),
    )
}

# how stress enters log life in accelerated tests: the coefficient is an activation energy in eV, or a power
ACCELERATIONS: dict[str, Function] = {
    function.name: function
    for function in (
        _monotone(
            "arrhenius",
            lambda celsius: 1 / (BOLTZMANN * (np.asarray(celsius, dtype=float) + ZERO_CELSIUS)),
            -ZERO_CELSIUS,
            strict=True,
            needs=f"degrees Celsius above -{ZERO_CELSIUS:g}",
        ),
        _monotone("power", np.log, 0, strict=True),
        _monotone("inverse_power", lambda x: -np.log(x), 0, strict=True),
    )
}


def number(tree: ast.expr) -> float:
    """A finite number written out, with or without a sign.

    Raises
    ------
    FormulaError
        If it is anything else.
    """
    with suppress(ValueError, TypeError, OverflowError):  # no literal, or an integer beyond all floats
        written = ast.literal_eval(tree)
        if type(written) in (int, float) and math.isfinite(value := float(written)):
            return value
    raise FormulaError(f"{ast.unparse(tree)!r} must be a finite number written out")


def whole(what: str, tree: ast.expr, least: int) -> int:
    """A whole number of at least ``least``."""
    value = number(tree)
    if not value.is_integer() or value < least:
        raise FormulaError(f"{what} must be a whole number of at least {least}, not {ast.unparse(tree)!r}")
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


ANYWHERE = (-np.inf, np.inf)  # bounds of what is not clipped
_PIECES_OF_ONE = 1024  # sub-intervals when an expression has one variable
BOXES = 4096  # sub-boxes in all when it has several


@dataclass(frozen=True)
class Constant:
    """A number written in the formula."""

    value: float
    text: str
    variables: frozenset[str] = frozenset()
    name: ClassVar[None] = None  # it is no variable

    def values(self, leaves: Mapping[str, np.ndarray]) -> Any:
        """The number, the same for all rows."""
        return self.value

    def interval(self, boxes: Mapping[str, Interval]) -> Interval:
        """The number as a lower and an upper bound."""
        value = np.array([self.value])
        return value, value


@dataclass(frozen=True)
class Leaf:
    """A declared numeric variable."""

    name: str
    text: str

    @property
    def variables(self) -> frozenset[str]:
        """The one variable that is read."""
        return frozenset((self.name,))

    def values(self, leaves: Mapping[str, np.ndarray]) -> Any:
        """The variable's values in a block."""
        return leaves[self.name]

    def interval(self, boxes: Mapping[str, Interval]) -> Interval:
        """The variable's bounds in each sub-box."""
        return boxes[self.name]


@dataclass(frozen=True)
class Apply:
    """A function of the table applied to expressions."""

    function: Function
    args: "tuple[Expression, ...]"
    text: str
    name: ClassVar[None] = None  # it is no variable

    @property
    def variables(self) -> frozenset[str]:
        """All variables that are read."""
        return frozenset().union(*(arg.variables for arg in self.args))

    def values(self, leaves: Mapping[str, np.ndarray]) -> Any:
        """The function's values in a block."""
        return self.function.array(*(arg.values(leaves) for arg in self.args))

    def interval(self, boxes: Mapping[str, Interval]) -> Interval:
        """The function's bounds in each sub-box.

        Raises
        ------
        FormulaError
            If the function has no finite bounds there.
        """
        inside = [arg.interval(boxes) for arg in self.args]
        try:
            lower, upper = self.function.interval(*inside)
            if not (np.all(np.isfinite(lower)) and np.all(np.isfinite(upper))):
                raise Unbounded("its values are not finite")
        except Unbounded as need:
            message, *remedy = need.args
        else:
            return lower, upper
        of = "" if self.args[0].name else f"of {', '.join(sorted(self.variables))} "
        parts = "".join(
            f"; the public bounds of {arg.text} are [{np.min(x[0]):g}, {np.max(x[1]):g}]"
            for arg, x in zip(self.args, inside, strict=True)
            if arg.variables
        )
        if remedy and self.args[0].name:  # the bounds of an expression are none to declare
            message = f"{message}: {remedy[0]}"
        raise FormulaError(
            f"{brief(self.text)} has no public bound: {message}{parts}. "
            f"Declare narrower bounds {of}in the schema or transform the variable differently"
        )


Expression = Constant | Leaf | Apply


def bounds_of(expression: Expression, schema: Schema) -> tuple[float, float]:
    """Public bounds of an expression, by intervals over a grid of sub-boxes.

    The grid shrinks the overestimate that arises where a variable occurs twice, as in ``z - z**2``.
    """
    with np.errstate(all="ignore"):
        lower, upper = expression.interval(_boxes(expression.variables, schema))
    return float(np.min(lower)), float(np.max(upper))


def clip_into(computed: Any, bounds: tuple[float, float], ok: np.ndarray, out: np.ndarray) -> None:
    """Write an expression's values into ``out``, inside its bounds.

    ``ok`` loses the rows where it is NaN, which happens only where rounding leaves a function's domain.
    """
    ok &= ~np.isnan(computed)
    np.fmax(computed, bounds[0], out=out)  # fmax and fmin put a bound in the place of NaN
    np.fmin(out, bounds[1], out=out)


def _boxes(variables: Iterable[str], schema: Schema) -> dict[str, Interval]:
    names = sorted(variables)
    if not names:
        return {}
    pieces = _PIECES_OF_ONE if len(names) == 1 else max(1, int(BOXES ** (1 / len(names)) + 1e-9))
    sides = [_sides(schema, name, pieces) for name in names]
    grid = np.indices([len(lower) for lower, _ in sides]).reshape(len(names), -1)
    return {
        name: (lower[cell], upper[cell])
        for name, (lower, upper), cell in zip(names, sides, grid, strict=True)
    }


def _sides(schema: Schema, name: str, pieces: int) -> Interval:
    variable = schema[name]
    if variable.all:
        points = np.arange(len(variable.all), dtype=float)
        return points, points
    edges = np.linspace(*variable.bounds, pieces + 1)
    return edges[:-1], edges[1:]
