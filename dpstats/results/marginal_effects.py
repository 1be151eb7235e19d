"""Marginal effects at public points: how the mean changes with one variable, the others held there.

With eta = x'b + offset and mean g(eta), the effect of a number v is g'(eta) (dx/dv'b + doffset/dv), and of a
level or flag the difference of two means. Standard errors are by the delta method
(docs/theory/results.md#effects-at-public-points).

Where every column has its released mean, as in statsmodels' ``get_margeff(at="mean")``, the means are those
of ``fit.moments``; the point is a released one, and its own error is no part of the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from dpstats._arguments import among, listed, shown, truth
from dpstats.errors import SpecificationError
from dpstats.families import IDENTITY
from dpstats.formula import Design
from dpstats.results.column_moments import has_columns, moments_of
from dpstats.results.document import Document, Estimates, cells, limit_columns, point_columns
from dpstats.results.fit import Fit
from dpstats.results.intervals import critical, standard_errors
from dpstats.results.newdata import NewData, Points, beside, points
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record
from dpstats.results.released import method_where
from dpstats.results.table import Column, Table, level_percent
from dpstats.results.wald import levels_of
from dpstats.schema import Bounded, Count, Levels

At: TypeAlias = tuple[np.ndarray, np.ndarray | float]
"""Columns of points, and their offsets."""
DERIVATIVE = "dy/dx"
TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of one variable at all points: what is contrasted, (m,) effects, and their (m, k) gradients."""

    variable: str
    contrast: str
    effect: np.ndarray
    gradient: np.ndarray

    def averaged(self) -> Effect:
        """The mean over all points."""
        means = self.effect.mean(keepdims=True), self.gradient.mean(axis=0, keepdims=True)
        return replace(self, effect=means[0], gradient=means[1])


def kept(record: Record, gradient: np.ndarray, exog: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Keep a gradient from underflowing to 0 far out on a curved link.

    It is 0 only where nothing changes; a 0 would hide that the effect rests on a coefficient that is not
    estimable.
    """
    k = gradient.shape[1]
    used = ((exog != 0) | (change[:, :k] != 0)) & (change != 0).any(axis=1)[:, None]
    return np.where(used & (gradient == 0), TINY, gradient) if record.link is not IDENTITY else gradient


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
    return [effect for name in names for effect in _effects_at(record, row, name, places[name], pairs)]


def _places(record: Record, name: str) -> list[int]:
    """Of the columns of a variable that is a term of its own."""
    own = [name] if not isinstance(record.schema[name], Levels) else []
    own += [f"{name}[T.{level}]" for level in levels_of(record.schema[name])[1:]] if not own else []
    return [record.names.index(column) for column in own if column in record.column_names]


def _effects_at(record: Record, row: np.ndarray, name: str, places: list[int], pairs: bool) -> list[Effect]:
    variable, rows = record.schema[name], row[None]
    if isinstance(variable, Bounded | Count):
        return [_of_number(record, name, (rows, 0.0), np.eye(1, len(row) + 1, places[0]))]
    rows = np.tile(row, (len(levels_of(variable)), 1))
    rows[:, places] = np.eye(len(rows))[:, 1:]
    return _of_levels(record, name, (rows[:, None], 0.0), pairs)


def _of_number(record: Record, name: str, at: At, slopes: np.ndarray) -> Effect:
    """Return dy/dx of a number, whose columns and, last, offset have these slopes, shape (m, k + 1)."""
    exog, offset = at
    eta, along = exog @ record.params + offset, slopes[:, :-1] @ record.params + slopes[:, -1]
    slope, bend = record.link.slope(eta), record.link.bend(eta)
    gradient = (bend * along)[:, None] * exog + slope[:, None] * slopes[:, :-1]
    return Effect(name, DERIVATIVE, slope * along, kept(record, gradient, exog, slopes))


def _of_levels(record: Record, name: str, at: At, pairs: bool) -> list[Effect]:
    """Return differences of the mean between levels, of which `at` has the columns, shape (levels, m, k)."""
    (exog, offset), levels = at, levels_of(record.schema[name])
    eta = exog @ record.params + offset
    mean, slope = record.link.inverse(eta), record.link.slope(eta)[..., None] * exog
    return [
        Effect(
            name,
            f"{levels[i]} - {levels[j]}",
            mean[i] - mean[j],
            kept(record, slope[i] - slope[j], exog[j], exog[i] - exog[j]),
        )
        for j in range(len(levels) if pairs else 1)
        for i in range(j + 1, len(levels))
    ]


def effects(
    record: Record, at: Points, names: Sequence[str], level: float, average: bool, pairs: bool
) -> Estimates:
    """Return the effect of each of the variables `names` at each point, or its mean over all."""
    design = record.design
    found = [effect for name in names for effect in _effects(record, design, at, name, pairs)]
    if average:
        found = [each.averaged() for each in found]
    frame = _frame(record, found, level)
    whole = frame if average else beside(at.repeated(len(found)), frame)

    def layout() -> Document:
        if average:
            return _layout(frame, [f"Marginal effects, averaged over {len(at.exog)} points"], level)
        return _layout(frame, [f"Marginal effects at {at.label(i)}" for i in range(len(at.exog))], level)

    return Estimates(whole, layout)


def _frame(record: Record, found: Sequence[Effect], level: float) -> pd.DataFrame:
    """Return effects at all points, one point after the other, with limits."""
    labels = [(effect.variable, effect.contrast) for effect in found]
    frame = pd.DataFrame(labels * len(found[0].effect), columns=["variable", "contrast"])
    effect = np.stack([effect.effect for effect in found], axis=1).ravel()
    gradient = np.stack([effect.gradient for effect in found], axis=1).reshape(len(effect), -1)
    se = standard_errors(gradient, record)
    half = critical(level) * se
    frame["estimate"], frame["std_error"] = effect, se
    most = np.where(frame["contrast"] == DERIVATIVE, np.inf, np.diff(record.link.bounds))
    frame["conf_low"] = np.maximum(effect - half, -most)
    frame["conf_high"] = np.minimum(effect + half, most)
    return frame


def chosen(record: Record, variables: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the variables asked for, all covariates for None."""
    names = record.covariates if variables is None else listed(variables)
    unknown = [name for name in names if not among(name, record.covariates)]
    if unknown or not names:
        raise SpecificationError(
            f"variables must be covariates of the fit ({', '.join(record.covariates)}), "
            f"got {shown(variables)}"
        )
    return tuple(dict.fromkeys(names))


def _effects(record: Record, design: Design, at: Points, name: str, pairs: bool) -> list[Effect]:
    def rows(frame: pd.DataFrame) -> np.ndarray:
        found = design.new_rows(frame, clip=True)
        return np.column_stack([found.exog, found.offset])

    variable = record.schema[name]
    if isinstance(variable, Bounded | Count):
        slopes = derivatives(
            lambda index, values: rows(at.frame.iloc[index].assign(**{name: values})),
            np.clip(at.frame[name].to_numpy(dtype=float), *variable.bounds),
            variable.bounds,
        )
        return [_of_number(record, name, (at.exog, at.offset), slopes)]
    found = np.array([rows(at.frame.assign(**{name: level})) for level in levels_of(variable)])
    return _of_levels(record, name, (found[..., :-1], found[..., -1]), pairs)


def _layout(frame: pd.DataFrame, titles: Sequence[str], level: float) -> Document:
    heads = (Column("", "l"), *point_columns("effect", "std err"), *limit_columns(level))
    aside, each = f"{level_percent(level)} intervals", len(frame) // len(titles)
    tables = []
    for i, title in enumerate(titles):
        rows: list[tuple[str, ...]] = []
        for name, contrast, *values in frame.iloc[i * each : (i + 1) * each].itertuples(index=False):
            label = f"{contrast} of {name}" if contrast == DERIVATIVE else f"{name}: {contrast}"
            rows.append((label, *cells(values, not np.isinf(values[1]))))
        tables.append(Table(heads, tuple(rows), title=title, aside=aside))
    return Document(tables=tuple(tables))


class EffectsFit(Fit):
    """A fit whose predictions have effects at points; averages over training rows would describe these."""

    __slots__ = ()
    _refused = {
        "marginal_effects": (
            "are of covariates, and this {model} fit has none",
            "Fit a formula with terms, such as 'y ~ x'.",
        )
    }

    @method_where(lambda record: bool(record.covariates))
    def marginal_effects(
        self,
        newdata: NewData | None = None,
        variables: str | Sequence[str] | None = None,
        level: float = 0.95,
        *,
        at: str | None = None,
        average: bool = False,
        pairs: bool = False,
    ) -> Estimates:
        """Return how the mean changes with each variable at new data, on the scale of the response.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
            Public points, such as one of typical values.
        variables : str or sequence of str, optional
            Covariates of the fit, those of its offset included; default: all.
        level : float
            Confidence level. Intervals are by the delta method; those of differences of probabilities end
            at -1 and 1.
        at : {None, "mean"}
            In the place of `newdata`: where each column has its mean, as ``fit.moments`` has it, which is
            statsmodels' ``get_margeff(at="mean")``. It needs variables that are terms of their own.
        average : bool
            Average over the points, which then stand for a population: R's ``margins`` and statsmodels'
            ``get_margeff(at="overall")``, over public rows.
        pairs : bool
            Compare each level with each other one, and not with the first alone: averaged, they are R's
            contrasts of marginal means.

        Returns
        -------
        Estimates
            In ``.frame``, for each point and variable: the point; ``variable``; ``contrast``, which is
            ``"dy/dx"`` for a number, per unit of the variable, and ``"b - a"`` for a level or flag, the
            difference of the mean between b and a, the first level; ``estimate``, ``std_error``,
            ``conf_low`` and ``conf_high``.

        Raises
        ------
        NotReleased
            Without `newdata`, or `at` where the fit has no means.
        SpecificationError
            For variables that are no covariates, or another `at`.

        Examples
        --------
        >>> fit.marginal_effects(point, "AT").frame[["variable", "contrast"]].values.tolist()
        [['AT', 'dy/dx']]
        """
        names = chosen(self.record, variables)
        asked = truth("average", average), truth("pairs", pairs)
        if at is None:
            found = points(self.record, newdata, "marginal_effects", clip=True)
            return effects(self.record, found, names, level, *asked)
        if not among(at, ("mean",)) or newdata is not None or asked[0]:
            raise SpecificationError(
                "at= is 'mean', in the place of newdata=; means over rows are those of public ones: "
                f"marginal_effects(newdata, average=True); got {shown(at)}"
            )
        frame = _frame(self.record, effects_at_means(self.record, names, asked[1]), level)
        return Estimates(frame, lambda: _layout(frame, ["Marginal effects at the released means"], level))


NODES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
REACHES = 4.0 ** -np.arange(3, 20)  # half-widths of the stencil over the width of the bounds
AT_ONCE = 500  # points; bounds the memory

Columns = Callable[[np.ndarray, np.ndarray], np.ndarray]


def derivatives(columns: Columns, at: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return d columns / d variable, shape (m, q).

    Parameters
    ----------
    columns : callable
        Takes indices of points (N,) and values of the variable (N,); gives the columns there, (N, q).
    at : array, shape (m,)
        The variable's value at each point, inside `bounds`.
    bounds : (low, high)
    """
    blocks = np.array_split(np.arange(len(at)), -(-len(at) // AT_ONCE))
    return np.concatenate([_of_block(columns, at, block, bounds) for block in blocks])


def _of_block(columns: Columns, at: np.ndarray, block: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    low, high = bounds
    points, reach = at[block, None], (high - low) * REACHES
    centre = np.clip(points, low + reach, high - reach)
    where = np.clip(centre[:, :, None] + reach[:, None] * NODES, low, high)
    index = np.repeat(block, len(REACHES) * len(NODES))
    values = columns(index, where.ravel()).reshape(*where.shape, -1)
    weights = _weights((points - centre) / reach) / reach[:, None]
    found = np.einsum("mrn,mrnq->mrq", weights, values)
    change = np.abs(np.diff(found, axis=1))
    rounding = np.finfo(float).eps * np.abs(values).max(axis=2) / reach[:, None]
    doubt = np.maximum(change[:, :-1], change[:, 1:]) + rounding[:, 1:-1]
    best = np.argmin(doubt, axis=1)[:, None, :] + 1
    return np.take_along_axis(found, best, axis=1)[:, 0, :]


def _weights(t: np.ndarray) -> np.ndarray:
    """Return weights that give the derivative at `t`, in units of the reach, of the nodes' quartic."""
    powers = np.arange(len(NODES))
    slopes = powers * t[..., None] ** np.maximum(powers - 1, 0)
    return slopes @ np.linalg.inv(NODES[:, None] ** powers)
