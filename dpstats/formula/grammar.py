"""The only module that knows patsy: grammar, coding of categories, names of columns, terms left out.

See docs/theory/rows.md#row-wise-formulas.

patsy sees the text of the formula and a public probe made from the schema; it never sees a row.
"""

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import patsy
from patsy.contrasts import Diff, Helmert, Poly, Sum, Treatment
from patsy.desc import Evaluator, IntermediateExpr

from dpstats._arguments import MOST_OF_EXPRESSION, brief, frozen, is_shown, near, shown
from dpstats.errors import FormulaError, SpecificationError
from dpstats.formula.factors import CategoricalFactor, Factor
from dpstats.formula.spelling import spelt
from dpstats.schema import Schema

CONTRASTS: Mapping[str, Any] = {cls.__name__: cls for cls in (Treatment, Sum, Helmert, Diff, Poly)}
MAX_COLUMNS = 4096
Terms = tuple[tuple[str, ...], ...]
"""For each term the texts of its factors; the intercept is an empty term."""


@dataclass(frozen=True)
class Subterm:
    """A run of design columns: all products of one column from each factor, the first factor varying fastest.

    ``matrices`` holds a category's contrast matrix, shape (levels, columns), and None for other factors.
    """

    factors: tuple[str, ...]
    matrices: tuple[np.ndarray | None, ...]


@dataclass(frozen=True)
class Coding:
    """The columns of a design: names in order, the subterms that make them, and the terms they are of."""

    names: tuple[str, ...]
    subterms: tuple[Subterm, ...]
    terms: tuple[tuple[str, slice], ...]


_SLIPS = {  # of formulas that cannot be read, the first that is found
    "`": "a name that is no word is quoted as Q('name') here, not in backticks",
    r"~\s*$|^[^~]*$": "nothing stands on the right of ~; write 1 there for an intercept alone",
    r"([-+*/:^|(])\s*$": "nothing follows the {} at its end; write a variable there, or take it out",
    r"(\w+)\$(\w+)": "a variable stands without its table; write {1} for {0}${1}",
    r"(\w+):::?(\w+)": "a function stands without its package; write {1} for {0}::{1}",
    r"!\s*(?!=)([\w.]+)": "! is R's: a yes or no that says the opposite is declared so, by flag(true=..., "
    "false=...) or event(failed=..., censored=...); an indicator of what was censored, declared by flag(), "
    "is Surv(time, censored={0}), and in subset= write not {0}",
    r"\)\s*\^": "products up to an order are written with **, such as (x + z)**2",
}


def parse_formula(formula: str) -> tuple[Terms, Terms]:
    """The terms of the left and of the right side of a formula, by patsy's grammar.

    Raises
    ------
    FormulaError
        If the text is not a formula.
    """
    try:
        if not is_shown(formula):
            raise patsy.PatsyError("tokenizing")
        desc = _described(formula)
        left, right = (
            tuple(tuple(factor.code for factor in term.factors) for term in terms)
            for terms in (desc.lhs_termlist, desc.rhs_termlist)
        )
        return left, right
    except patsy.PatsyError as error:
        message = error.message
        if "tokenizing" in message:
            message = (
                "it has a sign that formulas have not, or a quotation mark that is not closed; write a name "
                "that has blanks or signs as Q('name')"
            )
        if "intercept term cannot" in message or "numbers besides" in message:
            message = "arithmetic with numbers stands in I(...), such as " + (
                _arithmetic(formula) or "I(x - 40) or I(1 * (x > 40))"
            )
    except Exception:  # slips of patsy's grammar end in all kinds of exceptions; the text is public
        message = "check its operators and brackets"
    seen = ((re.search(slip, formula), said) for slip, said in _SLIPS.items())
    message = next((said.format(*found.groups()) for found, said in seen if found), message)
    raise FormulaError(f"the formula {brief(formula)} cannot be read: {message}")


def _described(formula: str) -> patsy.ModelDesc:
    """What patsy reads in a formula, of however many terms."""
    evaluator = Evaluator()
    evaluator.add_op("+", 2, _sum)
    return evaluator.eval(patsy.parse_formula.parse_formula(formula), require_evalexpr=False)


def _sum(evaluator: Evaluator, tree: Any) -> IntermediateExpr:
    """The terms of a sum, one after the other; patsy would go one level deeper for each of them."""
    parts = [tree]
    while (parts[-1].type, len(parts[-1].args)) == ("+", 2):
        parts[-1:] = reversed(parts[-1].args)
    read = [(part, evaluator.eval(part)) for part in reversed(parts)]
    says = [read[0][1], *(one for part, one in read[1:] if part.type == "ZERO" or one.intercept)][-1]
    terms = [term for _, one in read for term in one.terms]
    return IntermediateExpr(says.intercept, says.intercept_origin, says.intercept_removed, terms)


def _arithmetic(formula: str) -> str:
    """The first term with a number in its arithmetic, as it is written here; nothing if Python cannot."""
    try:
        nodes = [ast.parse(formula.partition("~")[2].strip(), mode="eval").body]
    except (SyntaxError, RecursionError):
        return ""
    terms = list[ast.expr]()
    for node in nodes:
        if isinstance(node, ast.BinOp) and (
            isinstance(node.op, ast.Add)
            or (isinstance(node.op, ast.Sub) and ast.unparse(node.right) in ("0", "1"))
        ):
            nodes += [node.left, node.right]
        else:
            terms.append(node)
    wrong = (term for term in terms if isinstance(term, ast.BinOp) and _has_number(term))
    return next((f"I({ast.unparse(term)})" for term in wrong), "")


def _has_number(node: ast.expr) -> bool:
    """Whether a number is an operand, other than a power and outside calls."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
        return _has_number(node.left) or _has_number(node.right)
    return isinstance(node, ast.Constant)


def check_removed(formula: str) -> None:
    """Refuse to take out a term that is not there, which patsy ignores.

    Raises
    ------
    FormulaError
    """
    nodes = [patsy.parse_formula.parse_formula(formula)]
    for node in nodes:
        nodes += node.args
        if node.type == "-" and len(node.args) == 2:
            sides = map(_written, node.args)
            there, out = (_described(f"0 + {side}").rhs_termlist for side in sides)
            for term in (term for term in out if term.factors and term not in there):
                known = [one.name() for one in there if one.factors]
                raise FormulaError(
                    f"{brief(formula)} takes out {term.name()!r}, which is no term of it"
                    f"{near(term.name(), known) or '; they are ' + ', '.join(known)}"
                )


class _Probe:
    """A factor as patsy sees it: a name, and a value made from public levels or a row of zeros."""

    origin = None

    def __init__(self, factor: Factor) -> None:
        self._factor = factor

    def name(self) -> str:
        return self._factor.code

    def memorize_passes_needed(self, state: Any, eval_env: Any) -> int:
        return 0

    def eval(self, state: Any, data: Any) -> Any:
        factor = self._factor
        if isinstance(factor, CategoricalFactor):
            return patsy.builtins.C(list(factor.levels), contrast=factor.contrast, levels=list(factor.levels))
        return np.zeros((1, len(factor.bounds)))


def code_terms(terms: Sequence[tuple[str, ...]], factors: Mapping[str, Factor]) -> Coding:
    """Columns of the terms: full or reduced rank, contrasts and names as patsy gives them.

    Raises
    ------
    FormulaError
        If a contrast does not fit its levels, or the design is too wide.
    """
    _check_width(terms, factors)
    if any("Intercept" in factor.variables for factor in factors.values()):
        raise FormulaError("'Intercept' is the name of the constant column of a design; rename the variable")
    probes = {code: _Probe(factor) for code, factor in factors.items()}
    try:
        info = patsy.design_matrix_builders(
            [[patsy.Term([probes[code] for code in term]) for term in terms]],
            lambda: iter([{}]),
            patsy.EvalEnvironment([{}]),
        )[0]
        subterms = [
            Subterm(
                tuple(probe.name() for probe in subterm.factors),
                tuple(_matrix(subterm.contrast_matrices.get(probe)) for probe in subterm.factors),
            )
            for codings in info.term_codings.values()
            for subterm in codings
        ]
        return Coding(tuple(info.column_names), tuple(subterms), tuple(info.term_name_slices.items()))
    except Exception as error:
        # patsy saw no row, so that its own words may be shown
        why = error.message if isinstance(error, patsy.PatsyError) else "check the arguments of its contrasts"
        raise FormulaError(f"the terms of the formula cannot be coded: {why}") from None


def without_intercept(coding: Coding, formula: str) -> Coding:
    """The same columns without that of the intercept, in whose place a model has a baseline.

    Raises
    ------
    FormulaError
        If there is none: levels would be coded as those of a model without a baseline.
    """
    if coding.subterms[:1] != (Subterm((), ()),):
        raise FormulaError(
            f"the formula {brief(formula)} has no intercept, and a baseline hazard always stands in its "
            "place; take '- 1' or '+ 0' out of it"
        )
    terms = tuple((name, slice(at.start - 1, at.stop - 1)) for name, at in coding.terms[1:])
    return Coding(coding.names[1:], coding.subterms[1:], terms)


def _matrix(contrast: Any) -> np.ndarray | None:
    return None if contrast is None else frozen(contrast.matrix)


def _check_width(terms: Sequence[tuple[str, ...]], factors: Mapping[str, Factor]) -> None:
    widths = {
        code: len(factor.levels if isinstance(factor, CategoricalFactor) else factor.bounds)
        for code, factor in factors.items()
    }
    width = sum(math.prod(widths[code] for code in term) for term in terms)
    if width > MAX_COLUMNS:
        raise FormulaError(
            f"the formula has about {width} columns, more than {MAX_COLUMNS}: "
            "use fewer levels or interactions"
        )


def _as_named(text: Any, names: Sequence[str]) -> Any:
    """`text` with coefficients as they are named, ``I(x/100)`` as ``I(x / 100)``, in either quotes."""
    if not isinstance(text, str):
        return text
    spaced = {"".join(name.split()): name for name in names}
    ways = []
    for close in sorted(spaced, key=len, reverse=True):  # of x and x:z, the longer is meant where it stands
        ways += [re.escape(name) for name in names if "".join(name.split()) == close]
        ways.append(r"\s*".join("['\"]" if mark == "'" else re.escape(mark) for mark in close))

    def named(found: re.Match[str]) -> str:
        close = "".join(found[0].split())
        return found[0] if found[0] in names else spaced.get(close) or spaced[close.replace('"', "'")]

    return re.sub("|".join(ways), named, text)


def linear_constraint(text: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients L, shape (r, k), and constants q, shape (r,), of linear hypotheses ``L params = q``.

    Raises
    ------
    SpecificationError
        If a hypothesis cannot be read or names an unknown coefficient.
    """
    try:
        constraint = patsy.DesignInfo(list(names)).linear_constraint(
            _as_named(", ".join(text) if isinstance(text, list) else text, names)
        )
        return np.array(constraint.coefs, dtype=float), np.array(constraint.constants, dtype=float).ravel()
    except Exception:
        meant = _meant(text, names)
    raise SpecificationError(
        f"the hypothesis {shown(text, MOST_OF_EXPRESSION)}{meant or ' cannot be read'}; write it like "
        f"'{names[-1]} = 0', with one = and names of coefficients, several between commas; "
        f"the coefficients are {', '.join(names)}; wald_test_terms() tests whole terms"
    )


def _meant(text: Any, names: Sequence[str]) -> str:
    """Which coefficient a word of a hypothesis may mean that is none."""
    words = re.split(r"[=,+*]|\s-\s", text) if isinstance(text, str) else []
    for word in (word.strip() for word in words):
        if word in names or not word:
            continue
        of_it = [name for name in names if re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.(])", name)]
        if len(of_it) == 1:
            return f": {word!r} is no coefficient, and enters as {of_it[0]!r}"
        if of_it:
            return f": {word!r} has {len(of_it)} coefficients, which fit.wald_test_terms() tests together"
        if close := get_close_matches(word, names, 1):
            return f": {word!r} is no coefficient, did you mean {close[0]!r}?"
        if word.isidentifier() and shown(text, MOST_OF_EXPRESSION) == repr(text):  # what is shown
            return f": {word!r} is no coefficient"
    return ""


def check_operators(formula: str) -> None:
    """Refuse ``x**2`` and ``1/x`` outside a function call, where patsy would silently drop the arithmetic.

    Raises
    ------
    FormulaError
        With the term that was probably meant.
    """
    for left, operator, right in _operations(formula):
        if operator == "**" and not _is_number(left):
            raise FormulaError(
                f"{left} ** {right} in a formula is not a power (it means just {left}); "
                f"write I({left} ** {right})"
            )
        if operator == "/" and _is_number(left):
            whole = _arithmetic(formula) or f"I({left} / {right})"
            raise FormulaError(f"{left} / {right} in a formula is not a quotient; write {whole}")


def _is_number(text: str) -> bool:
    return text[0].isdigit() or text[0] == "."


def notes_on(formula: str) -> tuple[str, ...]:
    """Remarks on operators that are legal but easily misread."""
    return tuple(
        f"{left} / {right} means {left} + {left}:{right}; for a quotient write I({left} / {right})"
        for left, operator, right in _operations(formula)
        if operator == "/"
    )


def _operations(formula: str) -> Iterator[tuple[str, str, str]]:
    """Operators between two operands, each a name, a number or a call; what is inside a call is Python."""
    try:
        nodes = [patsy.parse_formula.parse_formula(formula)]
    except Exception:
        return  # whoever reads the formula says what is wrong
    for node in nodes:
        nodes += node.args
        if len(node.args) == 2 and not any(part.args for part in node.args):
            left, right = map(_written, node.args)
            yield left, node.type, right


def _written(node: Any) -> str:
    """A part of a formula as it stands there."""
    return str(node.origin.code[node.origin.start : node.origin.end])


_UPDATE = re.compile(r"\s*(?:\.\s*)?~\s*\.\s*-(.*)", re.DOTALL)


def without_terms(formula: str, terms: Sequence[str], schema: Schema) -> str:
    """The formula without some of its terms, in any spelling.

    Raises
    ------
    FormulaError
        If one is no term of the formula.
    """
    whole = _described(formula)
    left = list(whole.rhs_termlist)
    for term in terms:
        read = [{spelt(one.code, schema) for one in each.factors} for each in (*_terms(term), *left)]
        if read[0] not in read[1:]:
            there = ", ".join(each.name() for each in left if each.factors)
            raise FormulaError(f"{shown(term)} is no term of {brief(formula)}; they are {there}")
        del left[read[1:].index(read[0])]
    return str(patsy.ModelDesc(whole.lhs_termlist, left).describe())


def _terms(term: object) -> list[patsy.Term]:
    """The one term that a text stands for."""
    try:
        found = [each for each in _described(f"0 + {term}").rhs_termlist if each.factors]
    except Exception:  # slips of patsy's grammar end in all kinds of exceptions; the text is public
        found = []
    if not isinstance(term, str) or len(found) != 1:
        raise FormulaError(
            f"a term is one of the formula, such as 'x' or 'x:z', and several are "
            f"given one by one, as drop('x', 'z'); not {shown(term)}"
        )
    return found


def taken_out(change: object) -> list[str]:
    """The terms that ``". ~ . - x - z"`` takes out.

    Raises
    ------
    FormulaError
        If it says anything else.
    """
    match, parts = _UPDATE.fullmatch(change) if isinstance(change, str) else None, list[str]()
    with suppress(Exception):  # slips of patsy's grammar end in all kinds of exceptions; the text is public
        (node,) = patsy.parse_formula.parse_formula(f"~ 0 - {match[1] if match else ''}").args
        while node.type == "-":
            node, out = node.args
            parts.append(_written(out))
    if not parts or node.type != "ZERO":
        raise FormulaError(
            f"a release has what its formula has: update takes terms out, as '. ~ . - x - z', got "
            f"{shown(change)}; name the terms that go out, and fit a new model for others"
        )
    return parts[::-1]
