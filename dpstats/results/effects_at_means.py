"""Marginal effects where every column has its released mean: statsmodels' ``get_margeff(at="mean")``.

The means are those of ``fit.moments``; the point is a released one, and its own error is no part of the
interval (docs/theory/results.md#effects-at-public-points).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats.errors import SpecificationError
from dpstats.results.column_moments import has_columns, moments_of
from dpstats.results.effect import DERIVATIVE, Effect, kept
from dpstats.results.notreleased import refusal
from dpstats.results.pairwise import levels_of
from dpstats.results.record import Record
from dpstats.schema import Bounded, Count, Levels

Array = np.ndarray


def effects_at_means(record: Record, names: Sequence[str], pairs: bool) -> list[Effect]:
    """Return the effects of the variables `names`, of which each is a term of its own.

    Raises
    ------
    NotReleased
        If the means of all rows were not released.
    SpecificationError
        If the formula transforms or multiplies variables, or has an offset.
    """
    if not has_columns(record) or moments_of(record).of != "rows":
        raise refusal(
            "the means of the columns",
            f"were not released by this {record.model} fit ({record.method})",
            "Give a point of typical values: marginal_effects(newdata).",
        )
    places = {name: _places(record, name) for name in record.covariates}
    if record.design.offset or sum(map(len, places.values())) != len(record.column_names):
        raise SpecificationError(
            "at='mean' is of variables that are terms of their own, and this formula transforms or "
            "multiplies some, or has an offset; give a point of typical values: marginal_effects(newdata)"
        )
    row = np.append(1.0, moments_of(record).means)
    return [effect for name in names for effect in _effects(record, row, name, places[name], pairs)]


def _places(record: Record, name: str) -> list[int]:
    """Of the columns of a variable that is a term of its own."""
    own = [name] if not isinstance(record.schema[name], Levels) else []
    own += [f"{name}[T.{level}]" for level in levels_of(record.schema[name])[1:]] if not own else []
    return [record.names.index(column) for column in own if column in record.column_names]


def _effects(record: Record, row: Array, name: str, places: list[int], pairs: bool) -> list[Effect]:
    variable, params = record.schema[name], record.params[: len(row)]
    if isinstance(variable, Bounded | Count):
        (j,) = places
        eta, change = row @ params, np.zeros(len(row))
        change[j] = 1.0
        slope, bend = record.link.slope(eta), record.link.bend(eta)
        gradient = (bend * params[j] * row + slope * change)[None]
        return [
            Effect(
                name, DERIVATIVE, slope * params[j : j + 1], kept(record, gradient, row[None], change[None])
            )
        ]
    levels = levels_of(variable)
    rows = np.tile(row, (len(levels), 1))
    rows[:, places] = np.eye(len(levels))[:, 1:]
    eta = rows @ params
    mean, slope = record.link.inverse(eta), record.link.slope(eta)[:, None] * rows
    return [
        Effect(
            name,
            f"{levels[i]} - {levels[j]}",
            mean[i : i + 1] - mean[j],
            kept(record, (slope[i] - slope[j])[None], rows[[j]], (rows[i] - rows[j])[None]),
        )
        for j in range(len(levels) if pairs else 1)
        for i in range(j + 1, len(levels))
    ]
