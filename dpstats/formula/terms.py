"""Formulas with terms left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import patsy

from dpstats._arguments import brief, shown
from dpstats.errors import FormulaError

_UPDATE = re.compile(r"\s*\.\s*~\s*\.\s*-(.*)", re.DOTALL)
_OPEN, _CLOSE = "([{", ")]}"


def without_terms(formula: str, terms: Sequence[str]) -> str:
    """The formula without some of its terms, which are written as in it.

    Raises
    ------
    FormulaError
        If one is no term of the formula.
    """
    whole = patsy.ModelDesc.from_formula(formula)
    left = list(whole.rhs_termlist)
    for term in terms:
        (named,) = _terms(term)
        if named not in left or not named.factors:
            there = ", ".join(each.name() for each in left if each.factors)
            raise FormulaError(f"{shown(term)} is no term of {brief(formula)}; they are {there}")
        left.remove(named)
    return str(patsy.ModelDesc(whole.lhs_termlist, left).describe())


def _terms(term: object) -> list[patsy.Term]:
    """The one term that a text stands for."""
    try:
        found = [each for each in patsy.ModelDesc.from_formula(f"0 + {term}").rhs_termlist if each.factors]
    except Exception:  # slips of patsy's grammar end in all kinds of exceptions; the text is public
        found = []
    if not isinstance(term, str) or len(found) != 1:
        raise FormulaError(f"a term is one of the formula, such as 'x' or 'x:z', not {shown(term)}")
    return found


def taken_out(change: object) -> list[str]:
    """The terms that ``". ~ . - x - z"`` takes out.

    Raises
    ------
    FormulaError
        If it says anything else.
    """
    match = _UPDATE.fullmatch(change) if isinstance(change, str) else None
    parts, depth, adds = [""], 0, False
    for character in match[1] if match else "":
        depth += (character in _OPEN) - (character in _CLOSE)
        adds |= character == "+" and not depth
        if character == "-" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    if adds or not all(part.strip() for part in parts):
        raise FormulaError(
            f"a release has what its formula has: update takes terms out, as '. ~ . - x - z', got "
            f"{shown(change)}; fit a new model for another term"
        )
    return [part.strip() for part in parts]
