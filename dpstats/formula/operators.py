"""Operators of formulas that do not mean arithmetic there: ``x**2`` is no square, and ``x / z`` no ratio."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from dpstats.errors import FormulaError

_OPERANDS = (tokenize.NAME, tokenize.NUMBER)


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
            raise FormulaError(f"{left} / {right} in a formula is not a quotient; write I({left} / {right})")


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
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(formula).readline) if token.string]
    except (tokenize.TokenError, SyntaxError):
        return  # patsy has the last word on the grammar
    parts = list(_parts(tokens))
    for (left, is_operand), (operator, _), (right, also) in zip(parts, parts[1:], parts[2:], strict=False):
        if is_operand and also:
            yield left, operator, right


def _parts(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[str, bool]]:
    """Operands (True) and all other tokens (False); a dotted name and its brackets are one operand."""
    text, depth = "", 0
    for token in tokens:
        continues = text and (depth or token.string in (".", "(") or text.endswith("."))
        if text and not continues:
            yield text, True
            text = ""
        if continues or token.type in _OPERANDS:
            text += token.string + (" " if token.string == "," else "")
            depth += (token.string in "([{") - (token.string in ")]}")
        else:
            yield token.string, False
    if text:
        yield text, True
