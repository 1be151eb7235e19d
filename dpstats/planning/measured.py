"""From the values of a response back to the variable that is measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpstats.errors import SpecificationError
from dpstats.formula.expressions import Expression
from dpstats.schema import Levels, Schema

__all__ = ["undone"]

Array = np.ndarray

_HALVINGS = 90  # of a variable's range, to the last bit of a number within
_GRID = 1000  # values at which a transformed response is seen to rise or fall


def undone(measured: Expression, schema: Schema) -> tuple[str, Callable[[Array], Array]]:
    """The variable that is measured, and how its values follow from those of the response."""
    if len(measured.variables) != 1:
        raise SpecificationError(
            f"plan makes up responses of one variable, and {measured.text!r} reads several; plan with one "
            "variable in their place"
        )
    (name,) = measured.variables
    variable = schema[name]
    assert not isinstance(variable, Levels)
    low, high = variable.bounds
    grid = np.asarray(measured.values({name: np.linspace(low, high, _GRID)}))
    steps = np.diff(grid)
    if not (steps >= 0).all() and not (steps <= 0).all():
        raise SpecificationError(
            f"plan needs a response that rises or falls with its variable, and {measured.text!r} does both"
        )
    rising = bool(grid[-1] > grid[0])

    def undo(target: Array) -> Array:
        below, above = np.full(len(target), low), np.full(len(target), high)
        for _ in range(_HALVINGS):
            middle = (below + above) / 2
            short = (np.asarray(measured.values({name: middle})) < target) == rising
            below, above = np.where(short, middle, below), np.where(short, above, middle)
        return (below + above) / 2

    return name, (lambda target: target) if measured.text == name else undo
