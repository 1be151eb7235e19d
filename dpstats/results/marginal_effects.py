"""Marginal effects at public points: how the mean changes with one variable, the others held there.

With eta = x'b + offset and mean g(eta), the effect of a number v is g'(eta) (dx/dv'b + doffset/dv), and of a
level or flag the difference of two means. Standard errors are by the delta method, and limits follow the
curve of the link (docs/theory/results.md#effects-at-public-points).

Where every column has its released mean, as in statsmodels' ``get_margeff(at="mean")``, the means are those
of ``fit.moments``; the point is a released one, and its own error is no part of the interval.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from dpstats._arguments import among, listed, shown, truth, warn
from dpstats.errors import SpecificationError
from dpstats.families import IDENTITY
from dpstats.formula import Design
from dpstats.moments.roots import root_of
from dpstats.results.column_moments import has_columns, moments_of
from dpstats.results.document import Document, Estimates, cells, with_interval
from dpstats.results.fit import Fit
from dpstats.results.intervals import critical, standard_errors
from dpstats.results.newdata import NewData, Points, beside, points
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record
from dpstats.results.released import method_where
from dpstats.results.table import level_percent, plain

At: TypeAlias = tuple[np.ndarray, np.ndarray | float]
"""Columns of points, and their offsets."""
DERIVATIVE = "dy/dx"
TINY = np.finfo(float).tiny
CIRCLE = np.array([(math.cos(angle), math.sin(angle)) for angle in np.arange(120) * math.pi / 60]).T
"""Unit vectors of a plane, from its first axis on; between two an end is off by 3e-4 of its distance."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of one variable at m points, a function of two sums of coefficients at each.

    Attributes
    ----------
    variable, contrast : str
        What is contrasted.
    sums, offsets : array, shape (m, 2, k) and (m, 2)
    changes : array of bool, shape (m, 1)
        Whether the variable changes anything there.
    function : callable
        Takes the two sums; gives the effect and its two slopes.
    """

    variable: str
    contrast: str
    sums: np.ndarray
    offsets: np.ndarray
    changes: np.ndarray
    function: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

    def estimated(self, record: Record, level: float, average: bool) -> np.ndarray:
        """Return estimates, standard errors and limits, shape (4, m), or (4, 1) of the mean over all points.

        A gradient is kept from underflowing to 0 far out on a curved link: it is 0 only where nothing
        changes, and else would hide that the effect rests on a coefficient that is not estimable.
        """
        at = self.sums @ record.params + self.offsets
        effect, *slopes = self.function(*at.T)
        parts = np.stack(slopes, axis=1)[:, :, None] * self.sums
        if record.link is not IDENTITY:
            used = (self.sums != 0).any(axis=1) & self.changes
            parts[:, 1] += TINY * (used & (parts.sum(axis=1) == 0))
        if average:
            effect, parts = effect.mean(keepdims=True), parts.mean(axis=0, keepdims=True)
        se, half = standard_errors(parts.sum(axis=1), record), critical(level)
        if record.link is IDENTITY:
            return np.array([effect, se, effect - half * se, effect + half * se])
        values = self._around(at, parts, record, half, average)
        lost = np.isnan(values) | np.isinf(se)[:, None]
        low, high = (np.where(lost, end, values) for end in (-np.inf, np.inf))
        return np.array([effect, se, np.fmin(low.min(axis=1), effect), np.fmax(high.max(axis=1), effect)])

    def _around(
        self, at: np.ndarray, parts: np.ndarray, record: Record, half: float, average: bool
    ) -> np.ndarray:
        """Return effects at coefficients as far from the estimates as an end of an interval of one sum is.

        They go round in the plane in which the two sums change, first along the gradient.
        """
        root = record.rooted
        root = root_of(np.where(np.isinf(record.cov), 0.0, record.cov)) if root is None else root
        plane = np.stack([parts.sum(axis=1), parts[:, 1]], axis=2)
        axes = self.sums @ (half * root @ np.linalg.qr(root.T @ plane)[0])
        some = np.array_split(np.arange(len(at)), -(-len(at) // AT_ONCE))
        moved = (at[few, :, None] + axes[few] @ CIRCLE[: root.shape[1]] for few in some)
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.concatenate([self.function(*np.swapaxes(each, 0, 1))[0] for each in moved])
        return values.mean(axis=0, keepdims=True) if average else values


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
    if record.design.offset or None in record.design.alone[1:]:
        raise SpecificationError(
            "at='mean' is of variables that are terms of their own, and this formula transforms or "
            "multiplies some, or has an offset; give a point of typical values: marginal_effects(newdata)"
        )
    row = np.append(1.0, moments_of(record).means)
    return [effect for name in names for effect in _effects_at(record, row, name, pairs)]


def _effects_at(record: Record, row: np.ndarray, name: str, pairs: bool) -> list[Effect]:
    places = {own[1]: at for at, own in enumerate(record.design.alone) if own and own[0] == name}
    levels = record.schema[name].all
    if not levels:
        return [_of_number(record, name, (row[None], 0.0), np.eye(1, len(row) + 1, places[None]))]
    rows = np.tile(row, (len(levels), 1))
    for level, at in places.items():
        rows[:, at] = np.arange(2) if level is None else np.array(levels) == level
    return _of_levels(record, name, (rows[:, None], 0.0), pairs)


def _of_number(record: Record, name: str, at: At, slopes: np.ndarray) -> Effect:
    """Return dy/dx of a number, whose columns and, last, offset have these slopes, shape (m, k + 1)."""
    (exog, offset), link = at, record.link
    return Effect(
        name,
        DERIVATIVE,
        np.stack([exog, slopes[:, :-1]], axis=1),
        np.stack([np.broadcast_to(offset, len(exog)), slopes[:, -1]], axis=1),
        (slopes != 0).any(axis=1, keepdims=True),
        lambda eta, along: (link.slope(eta) * along, link.bend(eta) * along, link.slope(eta)),
    )


def _of_levels(record: Record, name: str, at: At, pairs: bool) -> list[Effect]:
    """Return differences of the mean between levels, of which `at` has the columns, shape (levels, m, k)."""
    exog, levels, link = at[0], record.schema[name].all, record.link
    offset = np.broadcast_to(at[1], exog.shape[:2])
    return [
        Effect(
            name,
            f"{levels[i]} - {levels[j]}",
            np.stack([exog[i], exog[j]], axis=1),
            np.stack([offset[i], offset[j]], axis=1),
            (exog[i] != exog[j]).any(axis=1, keepdims=True),
            lambda eta, to: (link.inverse(eta) - link.inverse(to), link.slope(eta), -link.slope(to)),
        )
        for j in range(len(levels) if pairs else 1)
        for i in range(j + 1, len(levels))
    ]


def effects(
    record: Record, at: Points, names: Sequence[str], level: float, average: bool, pairs: bool
) -> Estimates:
    """Return the effect of each of the variables `names` at each point, or its mean over all.

    No number among them enters by steps, see `without_steps`.
    """
    found = [effect for name in names for effect in _effects(record, record.design, at, name, pairs)]
    frame = _frame(record, found, level, average)
    whole = frame if average else beside(at.repeated(len(found)), frame)

    def layout() -> Document:
        if average:
            return _layout(frame, [f"Marginal effects, averaged over {len(at.exog)} points"], level)
        return _layout(frame, [f"Marginal effects at {at.label(i)}" for i in range(len(at.exog))], level)

    return Estimates(whole, layout)


def _frame(record: Record, found: Sequence[Effect], level: float, average: bool = False) -> pd.DataFrame:
    """Return effects at all points, one point after the other, with limits."""
    numbers = np.stack([effect.estimated(record, level, average) for effect in found], axis=2)
    labels = [(effect.variable, effect.contrast) for effect in found]
    frame = pd.DataFrame(labels * numbers.shape[1], columns=["variable", "contrast"])
    frame["estimate"], frame["std_error"], low, high = numbers.reshape(4, -1)
    most = np.where(frame["contrast"] == DERIVATIVE, np.inf, np.diff(record.link.bounds))
    frame["conf_low"], frame["conf_high"] = np.maximum(low, -most), np.minimum(high, most)
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
    if not variable.all:
        slopes = derivatives(
            lambda index, values: rows(at.frame.iloc[index].assign(**{name: values})),
            values := np.clip(at.frame[name].to_numpy(dtype=float), *variable.bounds),
            variable.bounds,
        )
        if (steep := np.isnan(slopes).any(axis=1)).any():
            raise SpecificationError(
                f"the mean has no derivative where {name} = {plain(values[np.argmax(steep)])}; "
                "give a point beside it"
            )
        return [_of_number(record, name, (at.exog, at.offset), slopes)]
    found = np.array([rows(at.frame.assign(**{name: level})) for level in variable.all])
    return _of_levels(record, name, (found[..., :-1], found[..., -1]), pairs)


def without_steps(record: Record, at: Points, names: Sequence[str], asked: bool) -> list[str]:
    """Leave out numbers that enter by steps, with a warning; refuse those that were `asked` for.

    Raises
    ------
    SpecificationError
        Of such a number that was asked for, and where nothing else is left.
    """
    design, schema = record.design, record.schema
    values = design.new_rows(at.frame, clip=True).values
    steps = {name: design.steps(name, values) for name in names if not schema[name].all}
    left = [
        f"{name!r}, which enters by steps, {' and '.join(which)}, where a derivative says nothing: "
        "get_prediction() has the means on both sides of a step, and t_test() its coefficient"
        for name, which in steps.items()
        if which
    ]
    if left and (asked or len(left) == len(names)):
        raise SpecificationError(f"there is no effect of {left[0]}")
    if left:
        warn(f"marginal_effects() leaves out {'; '.join(left)}")
    return [name for name in names if not steps.get(name)]


def _layout(frame: pd.DataFrame, titles: Sequence[str], level: float) -> Document:
    aside, each = f"{level_percent(level)} intervals", len(frame) // len(titles)
    tables = []
    for i, title in enumerate(titles):
        rows: list[tuple[str, ...]] = []
        for name, contrast, *values in frame.iloc[i * each : (i + 1) * each].itertuples(index=False):
            label = f"{contrast} of {name}" if contrast == DERIVATIVE else f"{name}: {contrast}"
            rows.append((label, *cells(values, not np.isinf(values[1]))))
        tables.append(with_interval("", ["effect", "std err"], rows, level, title=title, aside=aside))
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
            Covariates of the fit, those of its offset included; default: all, but for numbers that enter by
            steps, such as ``x > 0`` and ``cut(x, [1, 2])``, which a warning names.
        level : float
            Confidence level. Standard errors are by the delta method; intervals follow the curve of the link,
            and need not be symmetric.
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
            For variables that are no covariates, for a number that is asked for and enters by steps, or that
            has no derivative at a point, and for another `at`.

        Examples
        --------
        >>> fit.marginal_effects(point, "AT").frame[["variable", "contrast"]].values.tolist()
        [['AT', 'dy/dx']]
        """
        names = chosen(self.record, variables)
        asked = truth("average", average), truth("pairs", pairs)
        if at is None:
            found = points(self.record, newdata, "marginal_effects", clip=True)
            smooth = without_steps(self.record, found, names, variables is not None)
            return effects(self.record, found, smooth, level, *asked)
        if not among(at, ("mean",)) or newdata is not None or asked[0]:
            raise SpecificationError(
                "at= is 'mean', in the place of newdata=; means over rows are those of public ones: "
                f"marginal_effects(newdata, average=True); got {shown(at)}"
            )
        frame = _frame(self.record, effects_at_means(self.record, names, asked[1]), level)
        return Estimates(frame, lambda: _layout(frame, ["Marginal effects at the released means"], level))


NODES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
REACHES = 4.0 ** -np.arange(3, 20)  # half-widths of the stencil over the width of the bounds
ROUNDED = 100.0  # roundings of a value that a difference of nothing may be, over the reach
AT_ONCE = 500  # points; bounds the memory

Columns = Callable[[np.ndarray, np.ndarray], np.ndarray]


def derivatives(columns: Columns, at: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return d columns / d variable, shape (m, q); NaN where steps of no size agree on half of it.

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
    best = np.argmin(doubt, axis=1)[:, None, :]
    least, rounded, slopes = (
        np.take_along_axis(each, best, axis=1)[:, 0, :]
        for each in (doubt, ROUNDED * rounding[:, 1:-1], found[:, 1:-1])
    )
    return np.where(least > np.maximum(np.abs(slopes) / 2, rounded), np.nan, slopes)


def _weights(t: np.ndarray) -> np.ndarray:
    """Return weights that give the derivative at `t`, in units of the reach, of the nodes' quartic."""
    powers = np.arange(len(NODES))
    slopes = powers * t[..., None] ** np.maximum(powers - 1, 0)
    return slopes @ np.linalg.inv(NODES[:, None] ** powers)
