"""Plots of fitted lives, reliabilities and hazards as curves with bands.

See docs/theory/results.md#survival-tables.

On probability paper the vertical axis is z, the standard variable of the family, so that a fit is a straight
line there, whatever the family; its ticks are the failed fractions.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, numbers, shown
from dpstats.errors import SpecificationError
from dpstats.results import survival_quantities as quantities
from dpstats.results.cautions import touching
from dpstats.results.intervals import privacy_share, with_limits
from dpstats.results.newdata import Points
from dpstats.results.plotting import (
    colour_beside,
    finished,
    left_out,
    line_with_band,
    of_model,
    style,
    warn_of_pooled,
)
from dpstats.results.prediction import warn_of_lost
from dpstats.results.record import Record
from dpstats.results.survival_curve import CurveFit, named
from dpstats.results.table import in_unit, level_percent, plain

# ticks of probability paper; where there is no room for all, the first ones stay
FAILED = (0.1, 0.5, 0.01, 0.9, 0.001, 0.99, 0.0001, 0.999, 0.05, 0.02, 0.2, 0.7, 0.3, 0.95, 0.005)
ROOM = 0.05  # of the height of the axes, for each tick
SHOWN = (0.005, 0.99)  # failed fractions between which a line is drawn
STEPS = 201
DECADE = 10.0  # between hazards at the end of lines, beyond which their axis is logarithmic
MARKERS = "osD^v<>"
NO_POINTS = "line only: the times of the rows are private"
Range = tuple[float, float]
Function = Callable[[Record, Points, np.ndarray], quantities.Linear]


def time_range(record: Record, at: Points, times: Range | None) -> Range:
    """Return where lines begin and end: at times that are told apart, where something fails.

    Raises
    ------
    SpecificationError
        If the range asked for is none.
    """
    log = record.distribution.log
    if times is not None:
        given = numbers("times", times)
        two = given.shape == (2,) and np.isfinite(given).all() and given[0] < given[1]
        if not two or (given[0] <= 0 and log):
            least = "above 0, as all survive until then" if log else "finite"
            wrong = " and ".join(map(plain, given)) if given.shape == (2,) else shown(times)
            raise SpecificationError(f"times must be two times, {least}, the first the smaller; got {wrong}")
        return float(given[0]), float(given[1])
    first, last = record.design.time_bounds
    known = at.rows(np.flatnonzero(~quantities.hidden(record, at)))
    if not len(known.exog):
        return first, last
    ends = [record.link.inverse(quantities.quantile(record, known, np.array(q))[0]) for q in SHOWN]
    low, high = max(float(ends[0].min()), first), min(float(ends[1].max()), last)
    return (low, high) if low < high else (first, last)


def draw(
    record: Record,
    at: Points,
    grid: np.ndarray,
    of: Function,
    back: Callable[[np.ndarray], np.ndarray],
    level: float,
    ax: Axes,
) -> int:
    """Draw back(of(time)) over `grid`, a line with its band for each point, after those of other fits.

    What is not estimable is named and not drawn. Returns how many lines were there before.
    """

    def line(i: int) -> tuple[np.ndarray, ...]:
        one = at.rows(np.full(len(grid), i))
        return grid, *with_limits(of(record, one, grid), record, level, back).values()

    fit = f"{record.dist}, {record.formula.partition('~')[0].strip()}"
    return draw_lines(ax, at, (fit, fit if at.names else "all rows"), quantities.hidden(record, at), line)


def draw_lines(
    ax: Axes,
    at: Points,
    fit: tuple[str, str],
    hidden: np.ndarray,
    line: Callable[[int], tuple[np.ndarray, ...]],
) -> int:
    """Draw a line with its band for each point, as :func:`draw` does.

    Parameters
    ----------
    ax : matplotlib Axes
    at : Points
    fit : tuple of str
        What it is called beside other fits, and alone.
    hidden : array of bool, shape (m,)
        Points of which nothing is estimable.
    line : callable
        Times, estimates and limits at a point.
    """
    warn_of_lost(hidden, "and have no line")
    first = len(ax.get_legend_handles_labels()[1])
    for i in range(len(at.exog)):
        label = ", ".join(filter(None, (fit[0] * (first > 0), at.apart(i)))) or fit[1]
        if hidden[i]:
            left_out(ax, label)
            continue
        times, estimate, *limits = line(i)
        look = of_model(first + i, at.names) | colour_beside(ax, at.apart(i), curve=False)
        line_with_band(ax, times, estimate, (limits[0], limits[1]), label, look)
    return first


def holding(curve: CurveFit, ends: Range, level: float) -> Range:
    """Return `ends`, or farther ones where points of a curve lie beyond: early ones show infant mortality."""
    table, between = _points(curve, level)
    times = table["time"][between & (table["time"] > 0)]
    return min([ends[0], *times]), max([ends[1], *times])


def _points(curve: CurveFit, level: float) -> tuple[pd.DataFrame, pd.Series]:
    """Return the table of a curve, and which of its rows are points of probability paper."""
    if not isinstance(curve, CurveFit):
        raise SpecificationError(f"points must be a curve of kaplan_meier(...).fit, not {shown(curve)}")
    table = curve.table(level)
    return table, table["survival"].between(0, 1, inclusive="neither")


def draw_points(
    record: Record, at: Points, curve: CurveFit, ends: Range, level: float, ax: Axes, first: int
) -> None:
    """Draw the points of a curve that lie between `ends`, with their limits.

    Where new data have the factor of the curve, each line has the points of its own group in its colour, and
    groups without a line are left out.
    """
    colours = _colours(at, curve, first)
    pooled = [name for name in record.covariates if name != curve.factor]
    if not (colours and curve.factor not in record.covariates):
        warn_of_pooled(pooled, "points are")
    quantile = record.distribution.family.quantile
    table, between = _points(curve, level)
    inside = between & table["time"].between(*ends)
    least, most = quantile(np.array([min(FAILED), max(FAILED)]))
    for i, (group, whole) in enumerate(table.groupby("group", sort=False)):
        if colours and str(group) not in colours:
            continue
        label = f"Kaplan-Meier, {named(curve.factor, str(group))}" if group else "Kaplan-Meier"
        block = whole[inside[whole.index]]
        if whole["survival"].isna().all():
            left_out(ax, label)
        if block.empty:
            continue
        failed = 1 - block[["survival", "conf_high", "conf_low"]].to_numpy().T
        with np.errstate(divide="ignore"):
            middle, low, high = np.clip(quantile(failed), least, most)
        ax.errorbar(
            block["time"],
            middle,
            yerr=[np.maximum(middle - low, 0), np.maximum(high - middle, 0)],
            fmt=MARKERS[i % len(MARKERS)],
            color=colours.get(str(group), "0.25"),
            markersize=4,
            linewidth=0.8,
            label=label,
        )


def _colours(at: Points, curve: CurveFit, first: int) -> dict[str, str]:
    """Return the colour of the first line that each group of a curve belongs to; empty where none does."""
    if curve.factor not in at.frame:
        return {}
    found: dict[str, str] = {}
    for i, value in enumerate(at.frame[curve.factor], first):
        for group in curve.groups:
            if group in (str(value), f"{curve.factor} = {value}"):
                found.setdefault(group, style(i)["color"])
    return found


def probability_paper(record: Record, ends: Range, ax: Axes) -> None:
    """Scale the axes so that the family's distribution functions are straight lines."""
    dist = record.distribution
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()])
    drawn = drawn[np.isfinite(drawn)]
    least, most = dist.family.quantile(np.array([min(FAILED), max(FAILED)]))
    drawn = drawn if len(drawn) else dist.family.quantile(np.array(SHOWN))  # where every line is left out
    low, high = (float(np.clip(end, least, most)) for end in (drawn.min() - 0.5, drawn.max() + 0.5))
    ax.set_ylim(low, high if low < high else low + 1)
    ticks: dict[float, str] = {}
    for p in FAILED:
        z = float(dist.family.quantile(p))
        if low <= z <= high and all(abs(z - other) > ROOM * (high - low) for other in ticks):
            ticks[z] = f"{plain(100 * p)} %"
    ax.set_yticks(list(ticks), list(ticks.values()))
    if dist.log:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.10g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(*ends)
    ax.grid(color="0.9", linewidth=0.6)


def finish(
    record: Record, at: Points, title: str, level: float, ax: Axes, points: CurveFit | None = None
) -> Axes:
    """Write titles and, for several points, a legend."""
    if shared := at.alike():
        title += f" at {shared}"
    ax.set(xlabel=in_unit("time", record.time_unit))
    shown = (record,) if points is None else (record, points)
    share = privacy_share(record)[: record.n_location]
    title += f", {level_percent(level)} band"
    said = touching(record, "reliability")
    return finished(ax, title, *shown, share=share, cautions=said, fontsize="medium", wrap=True)
