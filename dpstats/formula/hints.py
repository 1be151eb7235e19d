"""Formula operators that do not mean arithmetic: ``x**2`` is not a square, ``x / z`` is not a ratio."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from dpstats.errors import FormulaError

_ATOMS = (tokenize.NAME, tokenize.NUMBER)


def check_operators(formula: str) -> None:
    """Refuse ``x**2`` and ``1/x`` outside a function call, where patsy would silently drop the arithmetic.

    Raises
    ------
    FormulaError
        With the term that was probably meant.
    """
    for left, operator, right in _operations(formula):
        if operator == "**" and left.isidentifier():
            raise FormulaError(f"{left} ** {right} in a formula is not a power (it means just {left}); "
                               f"write I({left} ** {right})")
        if operator == "/" and left.replace(".", "", 1).isdigit():
            raise FormulaError(f"{left} / {right} in a formula is not a quotient; write I({left} / {right})")


def notes_on(formula: str) -> tuple[str, ...]:
    """Remarks on operators that are legal but easily misread."""
    return tuple(f"{left} / {right} means {left} + {left}:{right}; for a quotient write I({left} / {right})"
                 for left, operator, right in _operations(formula) if operator == "/")


def _operations(formula: str) -> Iterator[tuple[str, str, str]]:
    """Operators between two plain names or numbers, outside the brackets of any call."""
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(formula).readline) if token.string]
    except (tokenize.TokenError, SyntaxError):
        return  # patsy has the last word on the grammar
    calls: list[bool] = []
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.string == "(":
            calls.append(before.type == tokenize.NAME)
        elif token.string == ")" and calls:
            calls.pop()
        elif before.type in _ATOMS and after.type in _ATOMS and not any(calls):
            yield before.string, token.string, after.string
