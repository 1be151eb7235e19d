"""Reading text into a row-wise expression. What is not on the list is refused.

Words of R's formulas, and of other packages', that there are not here are refused with what is written
instead. See docs/theory/rows.md#row-wise-formulas.
"""

import ast
import functools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpstats._arguments import near
from dpstats.errors import FormulaError
from dpstats.formula.expressions import (
    ACCELERATIONS,
    AMONG,
    COMPARISONS,
    FUNCTIONS,
    MAXIMUM,
    MINIMUM,
    OPERATORS,
    ZERO_CELSIUS,
    Apply,
    Arguments,
    Constant,
    Expression,
    Function,
    Leaf,
    bounds_of,
    number,
    power,
)
from dpstats.schema import Levels, Schema

_CATEGORY = (
    "is not needed: declare the variable with levels(...) and write its name, or C(name) for a "
    "flag, or C(name, Sum) for another contrast"
)
_NUMBER = "is not needed: declare the variable with bounded(lower, upper) and write its name"
_SPLINE = (
    "takes its knots from the private data; write ns(x, df=4) or bs(x, df=4), whose knots are on the public "
    "range of x"
)
_RANDOM = "is a random effect, and none is fitted; write the variable as a term, with public levels"
_INSTEAD = {
    ".": "does not stand for all other variables; name them, such as x + z",
    **dict.fromkeys(("factor", "as.factor", "ordered", "as.ordered"), _CATEGORY),
    **dict.fromkeys(("as.numeric", "as.integer", "as.double"), _NUMBER),
    **dict.fromkeys(("cr", "cc", "te", "s", "rcs", "pspline"), _SPLINE),
    **dict.fromkeys(("|", "frailty"), _RANDOM),
    "strata": "is for coxph and survreg; write the variable as a term, or fit each level with "
    "subset=\"g == 'a'\", which leaves the number of its rows private",
    "cluster": "is not available: standard errors take all rows as independent; schema.unit(column, "
    "max_rows=k) bounds how many rows of a person or machine weigh",
    **dict.fromkeys(
        ("pi", "np.pi", "numpy.pi", "math.pi"),
        "is written as a number, as in sin(2 * 3.14159265 * day / 365)",
    ),
    "TRUE": "is R's; write 1 for an intercept, and True in the arguments of a function",
    "FALSE": "is R's; write 0 for no intercept, and False in the arguments of a function",
    "relevel": "is not needed: write C(name, Treatment('b')), or declare that level first",
    **dict.fromkeys(
        ("lag", "lead", "diff"), "reads other rows, and each row stands by itself; make it a column"
    ),
    "tt": "is a coefficient that changes in time, and none is fitted; cut the time, and fit each part",
    "%": "has an operator of R's that is none here; write x:z for a product, as x %in% z is one, x > 0.5 for "
    "a comparison, and subset=\"maker in ['a', 'b']\" for rows of some levels",
    **dict.fromkeys(
        ("&&", "& &", "||", "<>", "!"),
        "has a sign of another language; conditions, which stand in subset=, have and, or, not, == and !=",
    ),
    "cbind": "makes several responses; fit a model of each",
    "ifelse": "is not available; write a comparison as a number, I(1 * (x > 0.5))",
    "pmin": "is not available; write minimum(x, a)",
    "pmax": "is not available; write maximum(x, a)",
    "weights": "is not a term; weights are an argument of the model, weights='w'",
    "weight": "is not a term; weights are an argument of the model, weights='w'",
}


def instead_in(code: str) -> str | None:
    """Why a text is no Python: what is said of a dot, or of the first word with dots that is known."""
    words = [code.strip(), *re.findall(r"[A-Za-z]+\.[A-Za-z]+|%|& ?&|\|\||<>|!(?!=)", code)]
    return next((said for said in map(_INSTEAD.get, words) if said), None)


_DEGREES = re.compile(r"deg(rees?)?|[°º\s_.]")  # what may stand beside the name of a scale of temperature
# how degrees Celsius follow from other scales, by what a declared unit may call these
_CELSIUS_OF = dict.fromkeys(("k", "kelvin", "kelvins"), f"{{}} - {ZERO_CELSIUS:g}") | dict.fromkeys(
    ("f", "℉", "fahrenheit"), "({} - 32) / 1.8"
)

ALLOWED = (
    "a formula has arithmetic, comparisons with a number, and row-wise functions such as log, sqrt, exp, "
    "clip, cut, bs, ns, poly and C; docs/formula.md lists them"
)
DEEPEST = 100  # of an expression's tree, far from the limits of Python's stack
# of any column: fourth powers, their sums over many rows and squares of these stay finite; and the least
# width, of which they stay above 0
LARGEST, NARROWEST = 1e40, 1e-40


def parse(code: str) -> ast.expr:
    """The syntax tree of a factor's text."""
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        name = re.fullmatch(r"[^\W\d][\w. ]*", code) or re.search(r"[^\W\d]\w*(?: +\w+)+", code)
        quoted = f"; as a name it is written Q({name[0]!r})" if name else ""
        raise FormulaError(f"{code!r} {instead_in(code) or f'cannot be read as an expression{quoted}'}")
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if not level:
            return tree
    raise FormulaError(f"{code[:60]!r}... is nested more than {DEEPEST} levels deep; split it into terms")


def refuse(tree: ast.AST, why: str = "") -> FormulaError:
    """The error for a part of a formula that is not on the list; `why` has the remedy."""
    return FormulaError(f"{ast.unparse(tree)!r} {why or f'is not allowed in a private formula: {ALLOWED}'}")


def variable_name(tree: ast.expr) -> str | None:
    """The name if the tree is a variable, written ``x`` or ``Q("x")``."""
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Call) and function_name(tree) == "Q":
        quoted = Arguments(tree, "name").tree("name")
        if isinstance(quoted, ast.Constant) and isinstance(quoted.value, str):
            return quoted.value
    return None


def function_name(call: ast.Call) -> str:
    """The name of the called function, without ``np.``."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        if function.value.id in ("np", "numpy") and (function.attr in FUNCTIONS or function.attr in _NUMPY):
            return function.attr
    if isinstance(function, ast.Name):
        return function.id
    raise refuse(call)


def require_declared(name: str, schema: Schema, kind: str = "bounded(lower, upper)") -> None:
    """Refuse a variable without a declaration, of which `kind` is an example.

    Raises
    ------
    FormulaError
        Naming the variable and what to do.
    """
    if name in schema:
        return
    if name == schema.privacy_unit.column:
        raise FormulaError(
            f"{name!r} names the unit of privacy, and cannot be a covariate: a coefficient of one unit would "
            "tell of it"
        )
    if other := _INSTEAD.get(name):
        raise FormulaError(f"{name!r} {other}")
    hint = near(name, schema) or f"; declared are {', '.join(schema) or 'none'}"
    as_key = f"{name}=" if name.isidentifier() else f"{name!r}: "
    raise FormulaError(
        f"{name!r} has no public bounds: declare it in the schema, for example "
        f"{as_key}{kind}{f' or {as_key}levels(...)' if 'bounded' in kind else ''}{hint}"
    )


def is_comparison(expression: Expression) -> bool:
    """Whether an expression is true or false."""
    return isinstance(expression, Apply) and (
        expression.function in COMPARISONS.values() or expression.function.name == AMONG
    )


def read_number(tree: ast.expr, schema: Schema) -> Expression:
    """Read an expression that must be numeric where it stands."""
    expression = read_expression(tree, schema)
    if is_comparison(expression):
        raise refuse(tree, "is true or false; write 1 * (...) for a number")
    return expression


def read_expression(tree: ast.expr, schema: Schema) -> Expression:
    """Read a numeric expression or a comparison.

    Raises
    ------
    FormulaError
        If any part of it is not on the list, is undeclared, or is a category.
    """
    text = ast.unparse(tree)
    if (name := variable_name(tree)) is not None:
        require_declared(name, schema)
        if isinstance(schema[name], Levels):
            raise FormulaError(
                f"{name!r} is a category, so it cannot be used as a number: write it as a term of its own, "
                f"{name} or C({name}, Sum), or declare bounded(lower, upper); a yes or no that is a response "
                f"is flag(true=..., false=...), and of ordered answers I({name} >= 4) of numbers in logit"
            )
        return Leaf(name, text)
    if isinstance(tree, ast.Constant) and not isinstance(tree.value, str):
        return Constant(number(tree), text)
    if isinstance(tree, ast.UnaryOp) and type(tree.op) in OPERATORS:
        return Apply(OPERATORS[type(tree.op)], (read_number(tree.operand, schema),), text)
    if isinstance(tree, ast.BinOp):
        return _binary(tree, schema, text)
    if isinstance(tree, ast.Compare):
        return _comparison(tree, schema, text)
    if isinstance(tree, ast.Call):
        return _call(tree, schema, text)
    raise refuse(tree, _INSTEAD.get(text) or _quoted(tree, schema))


@functools.lru_cache(maxsize=1024)  # a table asks several times for the variable of each name
def variable_in(text: str) -> str | None:
    """The name of the variable that is written so, ``x`` or ``Q("load %")``; None of other texts."""
    try:
        return variable_name(parse(text))
    except FormulaError:
        return None


def _quoted(tree: ast.expr, schema: Schema) -> str:
    """The remedy for a name in quotes, or with dots, which Python reads as attributes."""
    name = ast.unparse(tree)
    if isinstance(tree, ast.Constant):
        return f"is a text; numbers and variables have no quotation marks, but for a name such as Q({name})"
    dotted = isinstance(tree, ast.Attribute) and all(part.isidentifier() for part in name.split("."))
    if not dotted or name.startswith(("np.", "numpy.")):
        return ""
    known = "" if name in schema else ", and declare it in the schema"
    return f"has a dot, which is no part of a name here; write Q({name!r}){known}"


def _binary(tree: ast.BinOp, schema: Schema, text: str) -> Expression:
    if isinstance(tree.op, ast.Pow):
        try:
            exponent = number(tree.right)
        except FormulaError:
            raise refuse(tree, "has a power that is not a number; write one, such as x ** 2") from None
        return Apply(power(exponent), (read_number(tree.left, schema),), text)
    if type(tree.op) not in OPERATORS:
        if isinstance(tree.op, ast.BitOr):
            raise FormulaError(f"'({ast.unparse(tree)})' {_INSTEAD['|']}")
        if isinstance(tree.op, ast.BitXor):
            raise refuse(tree, f"is not a power here; write I({ast.unparse(tree).replace('^', '**')})")
        raise refuse(tree)
    sides = read_expression(tree.left, schema), read_expression(tree.right, schema)
    if all(is_comparison(side) for side in sides):
        raise refuse(tree, "combines two comparisons; write 1 * (...) for numbers")
    return Apply(OPERATORS[type(tree.op)], sides, text)


def _comparison(tree: ast.Compare, schema: Schema, text: str) -> Expression:
    if len(tree.ops) == 1:
        for side, other in ((tree.left, tree.comparators[0]), (tree.comparators[0], tree.left)):
            name = variable_in(ast.unparse(side))
            if name is not None and isinstance(schema.get(name), Levels):
                return among_levels(name, other, tree.ops[0], schema, turned=side is not tree.left, text=text)
    if len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq | ast.NotEq):
        raise refuse(
            tree,
            "is not a single comparison by <, <=, > or >=; == compares a category with one of its levels, as "
            "in I(maker == 'WDC'), and numbers in subset= alone; a flag(...) is a term by its name",
        )
    if len(tree.ops) != 1 or type(tree.ops[0]) not in COMPARISONS:
        raise refuse(
            tree, "is not a single comparison by <, <=, > or >=; write 1 * (a < x) * (x < b) for two"
        )
    sides = read_number(tree.left, schema), read_number(tree.comparators[0], schema)
    if sum(bool(side.variables) for side in sides) != 1:
        raise refuse(tree, "must compare an expression of variables with a number, as in x > 0.5")
    return Apply(COMPARISONS[type(tree.ops[0])], sides, text)


def among_levels(  # noqa: PLR0913 - two sides and how they are compared
    name: str, other: ast.expr, how: ast.cmpop, schema: Schema, turned: bool, text: str = ""
) -> Expression:
    """Whether a category is one of the levels that are written, or is none of them.

    Raises
    ------
    FormulaError
        If it is compared in another way than by ==, != or in, or with what is no level of it.
    """
    several = isinstance(how, ast.In | ast.NotIn)
    if not several and not isinstance(how, ast.Eq | ast.NotEq) or several and turned:
        raise FormulaError(f"{name!r} is a category, which has no order: compare it by ==, != or in")
    levels = schema[name].all
    codes = [_code(name, levels, one) for one in (listed(other) if several else [other])]
    inside = isinstance(how, ast.Eq | ast.In)

    def held(code: Any) -> Any:
        return (np.isin(code, codes) == inside).astype(float)

    among = Function(AMONG, held, lambda x: (held(x[0]), held(x[1])))  # boxes are single levels
    return Apply(among, (Leaf(name, name),), text)


def listed(tree: ast.expr) -> list[ast.expr]:
    """The values of a list in brackets."""
    if isinstance(tree, ast.Tuple | ast.List | ast.Set) and tree.elts:
        return tree.elts
    raise FormulaError(f"{ast.unparse(tree)!r} must be a list of values in brackets, such as ['a', 'b']")


def _code(name: str, levels: tuple[str, ...], tree: ast.expr) -> int:
    if isinstance(tree, ast.Constant) and tree.value in levels:
        return levels.index(tree.value)
    raise FormulaError(
        f"{ast.unparse(tree)} is no level of {name!r}; they are {', '.join(map(repr, levels))}, and are "
        "written in quotes"
    )


def _call(tree: ast.Call, schema: Schema, text: str) -> Expression:
    name = function_name(tree)
    if name == "I":
        return read_expression(Arguments(tree, "x").tree("x"), schema)
    if name in FUNCTIONS or name in ACCELERATIONS:
        function = FUNCTIONS.get(name) or ACCELERATIONS[name]
        of = read_number(Arguments(tree, "x").tree("x"), schema)
        if name == "arrhenius":
            _check_celsius(of, schema)
        return Apply(function, (of,), text)
    if name in ("minimum", "maximum"):
        given = Arguments(tree, "x1", "x2")
        sides = read_number(given.tree("x1"), schema), read_number(given.tree("x2"), schema)
        return Apply(MINIMUM if name == "minimum" else MAXIMUM, sides, text)
    if name == "clip":
        given = Arguments(tree, "x", "a_min", "a_max")
        lower, upper = number(given.tree("a_min")), number(given.tree("a_max"))
        if lower >= upper:
            raise refuse(tree, "has limits that are reversed; the lower one stands first")
        raised = Apply(MAXIMUM, (read_number(given.tree("x"), schema), _constant(lower)), text)
        return Apply(MINIMUM, (raised, _constant(upper)), text)
    if name in ("center", "scale", "standardize"):
        return _standardize(tree, name, schema, text)
    if other := _INSTEAD.get(name):
        raise FormulaError(f"{text!r} {other}")
    raise refuse(tree, _why_not(name))


def _check_celsius(of: Expression, schema: Schema) -> None:
    """Read as degrees Celsius, kelvins or degrees Fahrenheit would make a wrong energy without a word."""
    unit = getattr(schema[of.name], "unit", None) if isinstance(of, Leaf) else None
    scale = _DEGREES.sub("", (unit or "").casefold())
    if scale in _CELSIUS_OF:
        raise FormulaError(
            f"arrhenius() takes degrees Celsius, and {of.text} is declared in {unit}; "
            f"write arrhenius({_CELSIUS_OF[scale].format(of.text)})"
        )
    if isinstance(of, Apply) and of.function is OPERATORS[ast.Add]:
        for kelvins, celsius in (of.args, of.args[::-1]):
            if isinstance(kelvins, Constant) and round(kelvins.value) == round(ZERO_CELSIUS):
                raise FormulaError(
                    f"arrhenius() takes degrees Celsius and adds {ZERO_CELSIUS:g} itself; write "
                    f"arrhenius({celsius.text})"
                )


def _constant(value: float) -> Constant:
    return Constant(value, f"{value:g}")


def _standardize(tree: ast.Call, name: str, schema: Schema, text: str) -> Expression:
    """``(x - center) / scale`` with public numbers in place of the sample's moments."""
    names = ("x", "center") if name == "center" else ("x", "center", "scale")
    given = Arguments(tree, *names)
    expression = read_number(given.tree("x"), schema)
    missing = [word for word in names[1:] if word not in given]
    if missing:
        example = (
            f"{name}({expression.text}, 50)"
            if name == "center"
            else (f"{name}({expression.text}, center=50, scale=10)")
        )
        raise FormulaError(
            f"{text!r} lacks {' and '.join(missing)}: patsy would take them from the private "
            f"data; give public numbers, for example {example}"
        )
    middle = given.tree("center")
    if isinstance(middle, ast.Constant) and middle.value == "middle":
        lower, upper = bounds_of(expression, schema)
        center = (lower + upper) / 2
    else:
        center = number(middle)
    centered = Apply(OPERATORS[ast.Sub], (expression, _constant(center)), text)
    if name == "center":
        return centered
    scale = number(given.tree("scale"))
    if scale <= 0:
        raise refuse(tree, "needs a scale above 0, such as scale=10")
    return Apply(OPERATORS[ast.Div], (centered, _constant(scale)), text)


_NUMPY: Iterable[str] = ("minimum", "maximum", "clip")


def _why_not(name: str) -> str:
    if name in ("C", "bs", "ns", "poly", "cut", "offset"):
        return f"uses {name}() inside an expression; write {name}(...) as a term of its own"
    if name.casefold() == "surv":
        return "belongs on the left of ~, and is written Surv"
    known = [*FUNCTIONS, *ACCELERATIONS, *_NUMPY, "center", "scale", "standardize"]
    return f"calls an unknown function{near(name, known) or f'; {ALLOWED}'}"


def usable_bounds(expression: Expression, schema: Schema) -> tuple[float, float]:
    """Bounds of an expression that becomes a column, of which sums of squares must be numbers above 0."""
    lower, upper = bounds_of(expression, schema)
    if max(-lower, upper) > LARGEST:
        raise FormulaError(
            f"{expression.text!r} has bounds [{lower:g}, {upper:g}], too wide for sums of "
            f"squares, which take numbers up to {LARGEST:g}; narrow the bounds in the schema"
        )
    if 0 < upper - lower < NARROWEST:
        raise FormulaError(
            f"{expression.text!r} has bounds [{lower:g}, {upper:g}], too narrow for sums of squares, which "
            f"take widths from {NARROWEST:g}; measure it in a smaller unit"
        )
    return lower, upper
