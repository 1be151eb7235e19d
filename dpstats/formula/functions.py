"""The functions a formula may use, each with its two meanings in one entry: on arrays and on intervals.

An interval is a pair of arrays (lower, upper), one element for each sub-box of the public box; the rule must
give bounds of the function over each of them (docs/theory/rows.md#bounds-of-expressions). A function cannot
be added without its interval rule. Rounding in the last place is harmless: finished columns are clipped to
their bounds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Interval = tuple[np.ndarray, np.ndarray]


class Unbounded(Exception):
    """A function has no finite bound over the public bounds of its arguments; the text says what it needs."""


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
                f": declare a lower bound above 0{such}, or write np.log1p of a covariate" if zero else ""
            )
            said = needs or f"values {'>' if strict else '>='} {above:g}"
            raise Unbounded(f"{name} needs {said}{remedy}")
        ends = array(lower), array(upper)
        return np.minimum(*ends), np.maximum(*ends)

    return Function(name, array, interval)


def _abs(x: Interval) -> Interval:
    lower, upper = x
    inside = (lower <= 0) & (upper >= 0)
    ends = np.abs(lower), np.abs(upper)
    return np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _wave(name: str, array: Callable[..., Any], crest: float) -> Function:
    """sin or cos, which is 1 at ``crest`` and -1 half a turn later, every full turn."""
    turn = 2 * np.pi

    def meets(lower: np.ndarray, upper: np.ndarray, phase: float) -> np.ndarray:
        # 1e-6 of a turn covers the rounding of arguments up to 1e9; beyond, assume the worst
        first = np.ceil((lower - phase) / turn - 1e-6)
        return (first <= (upper - phase) / turn + 1e-6) | (np.maximum(-lower, upper) > 1e9)

    def interval(x: Interval) -> Interval:
        lower, upper = x
        ends = array(lower), array(upper)
        return (
            np.where(meets(lower, upper, crest + np.pi), -1.0, np.minimum(*ends)),
            np.where(meets(lower, upper, crest), 1.0, np.maximum(*ends)),
        )

    return Function(name, array, interval)


def _corners(combine: Callable[..., Any], x: Interval, y: Interval) -> Interval:
    values = [combine(a, b) for a in x for b in y]
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
        ends = array(lower), array(upper)
        least, most = np.minimum(*ends), np.maximum(*ends)
        if whole and exponent % 2 == 0 and exponent > 0:
            least = np.where((lower <= 0) & (upper >= 0), 0.0, least)
        return least, most

    return Function("**", array, interval)


def _compare(symbol: str, array: Callable[..., Any]) -> Function:
    def interval(x: Interval, y: Interval) -> Interval:
        answers = [array(a, b).astype(np.float64) for a in x for b in y]
        return np.minimum.reduce(answers), np.maximum.reduce(answers)

    return Function(symbol, lambda x, y: np.asarray(array(x, y), dtype=np.float64), interval)


OPERATORS: dict[type[ast.AST], Function] = {
    ast.Add: Function("+", np.add, lambda x, y: (x[0] + y[0], x[1] + y[1])),
    ast.Sub: Function("-", np.subtract, lambda x, y: (x[0] - y[1], x[1] - y[0])),
    ast.Mult: Function("*", np.multiply, lambda x, y: _corners(np.multiply, x, y)),
    ast.Div: Function("/", np.divide, _divide),
    ast.USub: Function("-", np.negative, lambda x: (-x[1], -x[0])),
    ast.UAdd: Function("+", np.positive, lambda x: x),
}

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
