"""What a ledger is given: budgets, paths, and texts that its file can keep."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from dpstats._arguments import plain, shown
from dpstats.budget import Budget
from dpstats.errors import LedgerError, SpecificationError

_MOST_TEXT = 10**5  # characters of a formula or another text that a charge keeps


def text(name: str, value: object) -> str:
    """An argument that is a text which the file can keep."""
    if not isinstance(value, str):
        raise SpecificationError(f"{name} must be a text, not {shown(value)}")
    if len(value) > _MOST_TEXT or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise SpecificationError(
            f"{name} must be a text of at most {_MOST_TEXT:,} characters, all of them valid Unicode"
        )
    return str(value)


def releases(released: object) -> dict[str, str]:
    """Names of releases with their costs, as texts."""
    problem = "released must be names such as ['score'], or names with costs such as {'score': 'mu = 0.2'}"
    if isinstance(released, str) or not isinstance(released, Iterable):
        raise SpecificationError(f"{problem}; got {shown(released)}")
    costs = released.items() if isinstance(released, Mapping) else ((name, "") for name in released)
    found = {}
    for name, cost in costs:
        if not isinstance(name, str) or not isinstance(plain(cost), str | int | float | Budget):
            raise SpecificationError(f"{problem}; not {type(name).__name__} with {type(cost).__name__}")
        found[text("a name in released", name)] = text("a cost in released", str(cost))
    return found


def absolute(path: Path) -> Path:
    """A path from the root of the file system, with ``~`` as the user's home."""
    try:
        return Path(os.path.abspath(path.expanduser()))
    except (OSError, RuntimeError):
        raise LedgerError(
            f"nobody can say where {path} is: the folder in which the program runs is gone, "
            "or ~ stands for no one's; give the whole path"
        ) from None
