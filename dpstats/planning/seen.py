"""What is written down of a response: values of the variable that is measured, and of a life when it ended
or its watch did, or between which looks at the unit."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dpstats._arguments import numbers, shown
from dpstats.errors import SpecificationError
from dpstats.estimators.halving import halved
from dpstats.formula import IntervalResponse, SurvResponse
from dpstats.formula.expressions import Expression
from dpstats.planning.rows import coded
from dpstats.schema import Schema

_GRID = 1000  # values at which a transformed response is seen to rise or fall


def undone(measured: Expression, schema: Schema) -> tuple[str, Callable[[np.ndarray], np.ndarray]]:
    """The variable that is measured, and how its values follow from those of the response."""
    if len(measured.variables) != 1:
        raise SpecificationError(
            f"plan makes up responses of one variable, and {measured.text!r} reads several; plan with one "
            "variable in their place"
        )
    (name,) = measured.variables
    low, high = schema[name].bounds
    grid = np.asarray(measured.values({name: np.linspace(low, high, _GRID)}))
    steps = np.diff(grid)
    if not (steps >= 0).all() and not (steps <= 0).all():
        raise SpecificationError(
            f"plan needs a response that rises or falls with its variable, and {measured.text!r} does both"
        )
    rising = bool(grid[-1] > grid[0])

    def undo(target: np.ndarray) -> np.ndarray:
        ends = np.full(len(target), low), np.full(len(target), high)
        return halved(lambda at: (np.asarray(measured.values({name: at})) < target) == rising, *ends)

    return name, (lambda target: target) if measured.text == name else undo


NO_INSPECTIONS = (
    "inspections= is of Surv(lower, upper, type='interval2'), which needs it: how far apart the looks at a "
    "unit are, such as 500, or their times, [100, 500, 2000]"
)
_MOST = 10_000  # looks at a unit


def looks_until(times: np.ndarray, last: float) -> np.ndarray:
    """Times at which units are looked at, up to some time; one alone is how far they are apart.

    Raises
    ------
    SpecificationError
        If they are too many.
    """
    if len(times) > 1:
        return times
    step = float(times[0])
    if last > _MOST * step:
        raise SpecificationError(
            f"inspections= {step:g} apart are more than {_MOST} in a life of up to {last:.4g}; give a "
            "longer step, or plan the model with Surv(time, event)"
        )
    return np.arange(step, last + step, step)


See: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None], dict[str, Any]]
"""Columns of (when a life or its watch ended, end of the watch, whether it failed, inspections)."""


def read_inspections(given: Any) -> np.ndarray | None:
    """Read ``inspections=``.

    Raises
    ------
    SpecificationError
    """
    if given is None:
        return None
    times = np.atleast_1d(numbers("inspections", given))
    increasing = times.ndim == 1 and len(times) and bool((np.diff(times, prepend=0.0) > 0).all())
    if not increasing or not np.isfinite(times).all():
        raise SpecificationError(
            f"inspections= is how far apart the looks at a unit are, such as 500, or their times, which are "
            f"positive and increase; got {shown(given)}"
        )
    return times


def seen_by(response: SurvResponse | IntervalResponse, schema: Schema) -> See:
    """How rows say what became of a unit.

    Raises
    ------
    SpecificationError
        If a time is of several variables, or failures had happened before.
    """
    return _between(response, schema) if isinstance(response, IntervalResponse) else _until(response, schema)


def _until(response: SurvResponse, schema: Schema) -> See:
    variable, undo = undone(response.measured, schema)

    def columns(
        time: np.ndarray, watch: np.ndarray, failed: np.ndarray, inspections: np.ndarray | None
    ) -> dict[str, Any]:
        found: dict[str, Any] = {variable: undo(time)}
        if response.event is not None:
            name, one = response.event
            found[name] = coded(schema[name], failed == (one == 1))
        return found

    return columns


def _between(response: IntervalResponse, schema: Schema) -> See:
    if response.left:
        raise SpecificationError("plan knows no type='left'; plan the model with Surv(time, event)")
    (before, undo_before), (after, undo_after) = (
        undone(end, schema) for end in (response.began, response.measured)
    )
    if before == after:
        raise SpecificationError("plan needs two variables in Surv(lower, upper, type='interval2')")

    def columns(
        time: np.ndarray, watch: np.ndarray, failed: np.ndarray, inspections: np.ndarray | None
    ) -> dict[str, Any]:
        assert inspections is not None
        looks = looks_until(inspections, float(time.max()))
        place = np.searchsorted(looks, time)
        low = np.where(place > 0, looks[np.maximum(place - 1, 0)], np.nan)
        high = np.minimum(np.append(looks, np.inf)[place], watch)  # the last look is at the end of the watch
        seen = failed & np.isfinite(high)
        lower, upper = np.where(failed, low, time), np.where(seen, high, np.nan)
        return {before: _kept(undo_before, lower), after: _kept(undo_after, upper)}

    return columns


def _kept(undo: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """With open ends open."""
    return np.where(np.isnan(values), np.nan, undo(np.nan_to_num(values)))
