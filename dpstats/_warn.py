"""Warnings that name the user's line."""

import sys
import warnings

_OURS = __name__.partition(".")[0]


def warn(message: str) -> None:
    """Warn of what the code does that called this package, at its line."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
