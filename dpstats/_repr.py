"""A ``__repr__`` for objects whose making may be refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

__all__ = ["always_shown"]

T = TypeVar("T")


def always_shown(describe: Callable[[T], str]) -> Callable[[T], str]:
    """Have a ``__repr__`` say that the object is not complete, instead of raising.

    Debuggers, and tracebacks that show local variables, ask the objects that were being made when a mistake
    was found. Such an object lacks attributes, has some of a wrong type, or is a ledger whose file is
    refused.
    """

    @wraps(describe)
    def shown(self: T) -> str:
        try:
            return describe(self)
        except Exception:
            return f"<{type(self).__name__}, not complete>"

    return shown
