"""Reading a whole factor: a number, a spline basis, or a category with its contrast."""

import ast
from contextlib import suppress
from typing import Any

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.expressions import Arguments, increasing, number, truth, whole
from dpstats.formula.factors import CategoricalFactor, Factor, NumericFactor, PolynomialFactor, SplineFactor
from dpstats.formula.grammar import CONTRASTS
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
from dpstats.schema import Event, Flag, Levels, Schema, level_text

MAX_SPLINES = 100


def read_factor(code: str, schema: Schema) -> Factor:
    """Read the text of a factor.

    Raises
    ------
    FormulaError
        If it is not a row-wise function of declared variables with public bounds.
    """
    tree = parse(code)
    name = variable_name(tree)
    if name is not None:
        require_declared(name, schema)
        variable = schema[name]
        if isinstance(variable, Levels):
            return CategoricalFactor(code, variable.all, variable=name)
    elif isinstance(tree, ast.Call):
        function = function_name(tree)
        if function == "C":
            return _category(tree, code, schema)
        if function == "cut":
            return _cut(tree, code, schema)
        if function in ("bs", "ns"):
            return _spline(tree, code, schema, natural=function == "ns")
        if function == "poly":
            return _polynomial(tree, code, schema)
    expression = read_expression(tree, schema)
    if is_comparison(expression):
        return CategoricalFactor(code, (False, True), expression=expression)
    return NumericFactor(code, expression, (usable_bounds(expression, schema),))


def category(code: str, schema: Schema) -> CategoricalFactor | None:
    """The category that is written so, such as ``C(maker, Treatment("WDC"))``; None of anything else."""
    with suppress(FormulaError):
        factor = read_factor(code, schema)
        return factor if isinstance(factor, CategoricalFactor) else None
    return None


def _category(tree: ast.Call, code: str, schema: Schema) -> CategoricalFactor:
    first = next((word.value for word in tree.keywords if word.arg in ("ref", "reference", "base")), None)
    if first is not None:
        what = ast.unparse(tree.args[0]) if tree.args else "name"
        raise FormulaError(
            f"{code!r}: the reference is in a contrast; write C({what}, Treatment({ast.unparse(first)}))"
        )
    given = Arguments(tree, "data", "contrast", "levels")
    inner = given.tree("data")
    contrast = _contrast(given.tree("contrast")) if "contrast" in given else None
    name = variable_name(inner)
    variable = schema.get(name) if name is not None else None
    if isinstance(variable, Flag | Event):
        base = CategoricalFactor(code, (0, 1), expression=read_expression(inner, schema))
    else:
        factor = read_factor(ast.unparse(inner), schema)
        if not isinstance(factor, CategoricalFactor):
            raise FormulaError(
                f"{code!r} needs a category with public levels: declare {ast.unparse(inner)} "
                "with levels(...), or use cut() with public breaks"
            )
        base = factor
    order = _order(given.tree("levels"), base, code) if "levels" in given else base.order
    levels = tuple(base.levels[i] for i in order) if order else base.levels
    for named in (getattr(contrast, "reference", None), getattr(contrast, "omit", None)):
        if isinstance(named, str) and named not in levels:
            listed = ", ".join(repr(level) for level in levels)
            raise FormulaError(f"{code!r} names {named!r}, which is no level; they are {listed}")
    return CategoricalFactor(
        code,
        levels,
        contrast or base.contrast,
        base.variable,
        base.expression,
        base.breaks,
        order,
        base.right,
    )


def _order(tree: ast.expr, base: CategoricalFactor, code: str) -> tuple[int, ...]:
    """The positions of the listed levels, which must be all declared ones in some order."""
    items = tree.elts if isinstance(tree, ast.List | ast.Tuple) else []
    texts = [level_text(item.value) for item in items if isinstance(item, ast.Constant)]
    declared = [level_text(level) for level in base.levels]
    if base.order is not None or len(texts) != len(items) or sorted(texts) != sorted(declared):
        raise FormulaError(f"{code!r}: levels= must list the declared levels {declared} in some order")
    return tuple(declared.index(text) for text in texts)


def _contrast(tree: ast.expr) -> Any:
    """A contrast of patsy's, such as ``Sum`` or ``Treatment("b")``."""
    function = tree.func if isinstance(tree, ast.Call) else tree
    name = function.id if isinstance(function, ast.Name) else ""
    if name not in CONTRASTS:
        raise FormulaError(f"{ast.unparse(tree)!r} is not a contrast; use one of {', '.join(CONTRASTS)}")
    if not isinstance(tree, ast.Call):
        return CONTRASTS[name]
    parameter = {"Treatment": "reference", "Sum": "omit", "Poly": "scores"}.get(name)
    given = Arguments(tree, *([parameter] if parameter else []))
    if parameter is None or parameter not in given:
        return CONTRASTS[name]()
    value = given.tree(parameter)
    if name == "Poly":
        return CONTRASTS[name](list(increasing(value, "the scores of Poly")))
    if isinstance(value, ast.Constant) and isinstance(value.value, str | bool):
        return CONTRASTS[name](value.value)
    return CONTRASTS[name](whole(parameter, value, 0))


def _cut(tree: ast.Call, code: str, schema: Schema) -> CategoricalFactor:
    given = Arguments(tree, "x", "breaks", "right")
    expression = read_number(given.tree("x"), schema)
    breaks = increasing(given.tree("breaks"), "the breaks of cut()")
    lower, upper = usable_bounds(expression, schema)
    if not breaks or breaks[0] <= lower or breaks[-1] >= upper:
        raise FormulaError(
            f"{code!r} needs breaks between the public bounds [{lower:g}, {upper:g}] of {expression.text}"
        )
    ends = [f"{end:.12g}" for end in (lower, *breaks, upper)]
    right, last = "right" in given and truth(given.tree("right")), len(breaks)
    levels = tuple(
        ("(" if right and i else "[") + f"{ends[i]}, {ends[i + 1]}" + ("]" if right or i == last else ")")
        for i in range(last + 1)
    )
    return CategoricalFactor(code, levels, expression=expression, breaks=breaks, right=right)


def _spline(tree: ast.Call, code: str, schema: Schema, natural: bool) -> SplineFactor:
    """``bs()`` and ``ns()``; boundary knots are public bounds, and ``df`` spaces knots equally."""
    own = () if natural else ("degree",)
    given = Arguments(tree, "x", "df", "knots", *own, "include_intercept", "lower_bound", "upper_bound")
    expression = read_number(given.tree("x"), schema)
    lower, upper = usable_bounds(expression, schema)
    lower = number(given.tree("lower_bound")) if "lower_bound" in given else lower
    upper = number(given.tree("upper_bound")) if "upper_bound" in given else upper
    if lower >= upper:
        raise FormulaError(f"{code!r} needs a lower bound below its upper bound, not [{lower:g}, {upper:g}]")
    degree = whole("degree", given.tree("degree"), 0) if "degree" in given else 3
    include_intercept = "include_intercept" in given and truth(given.tree("include_intercept"))
    fixed = (1 if natural else degree) + include_intercept  # columns without an inner knot
    inner = _inner_knots(given, code, fixed, lower, upper)
    if len(inner) + fixed < 1:
        raise FormulaError(f"{code!r} has no column: give knots, or a degree of at least 1")
    if len(inner) + degree > MAX_SPLINES:
        raise FormulaError(f"{code!r} has more than {MAX_SPLINES} columns")
    knots = (lower,) * (degree + 1) + inner + (upper,) * (degree + 1)
    return SplineFactor(code, expression, knots, degree, include_intercept, natural)


def _polynomial(tree: ast.Call, code: str, schema: Schema) -> PolynomialFactor:
    given = Arguments(tree, "x", "degree", "raw")
    if "raw" in given:
        raise FormulaError(
            f"{code!r} is orthogonal over the public range of x; for powers write x + I(x ** 2)"
        )
    expression = read_number(given.tree("x"), schema)
    lower, upper = usable_bounds(expression, schema)
    degree = whole("degree", given.tree("degree"), 1) if "degree" in given else 1
    if degree > MAX_SPLINES:
        raise FormulaError(f"{code!r} has more than {MAX_SPLINES} columns")
    if not lower < upper:
        raise FormulaError(f"{code!r} needs room between the public bounds of {expression.text}")
    return PolynomialFactor(code, expression, degree, lower, upper)


def _inner_knots(given: Arguments, code: str, fixed: int, lower: float, upper: float) -> tuple[float, ...]:
    if ("knots" in given) == ("df" in given):
        raise FormulaError(f"{code!r} needs either df= or knots=[...]")
    if "df" in given:
        count = whole("df", given.tree("df"), 1) - fixed
        if count < 0:
            raise FormulaError(f"{code!r} needs df of at least {fixed}")
        return tuple(np.linspace(lower, upper, min(count, MAX_SPLINES + 1) + 2)[1:-1].tolist())
    inner = increasing(given.tree("knots"), f"the knots of {code}")
    if inner and (inner[0] <= lower or inner[-1] >= upper):
        raise FormulaError(f"{code!r} needs knots between its public bounds [{lower:g}, {upper:g}]")
    return inner
