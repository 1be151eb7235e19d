"""Forest plot: coefficients with their intervals, the part that is due to privacy noise shaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpstats._arguments import among, listed, shown
from dpstats._axes import axes
from dpstats.errors import SpecificationError
from dpstats.results.estimates import NOT_ESTIMABLE
from dpstats.results.facts import titled
from dpstats.results.format import level_percent, plain
from dpstats.results.plotting import footer, legend
from dpstats.results.record import Record, is_scale
from dpstats.results.standard_errors import limits, privacy_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THICK = 5.0  # points
LONGEST = 34  # characters of a name


def plot_coef(  # noqa: PLR0913 - what is drawn, and where
    record: Record,
    terms: Sequence[str],
    widths: np.ndarray,
    label: str,
    level: float,
    ax: Axes | None,
    exponentiate: bool = False,
) -> Axes:
    """Draw one line for each of `terms`, the first on top, its coefficient times a width, shape (k,).

    With `exponentiate` ratios are written at the axis, as far apart as their logarithms.
    """
    where = [record.names.index(term) for term in terms]
    low, high = ((limit * widths)[where] for limit in limits(record, level))
    centre, share = (record.params * widths)[where], privacy_share(record)[where]
    known, rows = np.isfinite(low), np.arange(len(where))
    inner = np.where(known, np.sqrt(np.maximum(1 - share, 0.0)), 0.0)  # what is left without the noise
    ax = axes(ax, height=1.6 + 0.3 * len(where))
    left, right = np.where(known, low, 0.0), np.where(known, high, 0.0)
    middle = np.where(known, centre, 0.0)
    ax.hlines(
        rows[known],
        left[known],
        right[known],
        color="C1",
        alpha=0.45,
        linewidth=THICK,
        label="with privacy noise",
    )
    start, stop = middle + inner * (left - middle), middle + inner * (right - middle)
    ax.hlines(rows[known], start[known], stop[known], color="C0", linewidth=THICK, label="sampling alone")
    ax.plot(middle[known], rows[known], "o", color="black", markersize=4, label="estimate")
    for row in rows[~known]:
        ax.annotate(
            NOT_ESTIMABLE, (0.02, row), xycoords=("axes fraction", "data"), va="center", fontsize="small"
        )
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    names = [term if len(term) <= LONGEST else f"{term[: LONGEST - 3]}..." for term in terms]
    ax.set_yticks(rows, names)
    title = titled(record, f"Coefficients, {level_percent(level)} intervals")
    ax.set(xlabel=label, title=title, ylim=(len(where) - 0.5, -0.5))
    if exponentiate:
        _as_ratios(ax)
    legend(ax)
    footer(ax, record, share[known])
    return ax


def _as_ratios(ax: Axes) -> None:
    """Write ratios at the ticks of their logarithms."""
    low, high = ax.get_xlim()
    marks = [m * 10.0**k for k in range(-12, 13) for m in (1, 2, 5)]
    inside = [mark for mark in marks if low <= np.log(mark) <= high]
    if len(inside) < 3:  # a narrow range: ticks of its own
        inside = [float(f"{np.exp(at):.3g}") for at in ax.get_xticks() if low <= at <= high]
    ax.set_xticks([np.log(mark) for mark in inside], [plain(mark) for mark in inside])


def chosen(record: Record, terms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the coefficients asked for; default: all but intercept and scale, unless these are all."""
    if terms is None:
        kept = tuple(name for name in record.names if name != "Intercept" and not is_scale(name))
        return kept or record.names
    wanted = listed(terms)
    if not wanted or not all(among(term, record.names) for term in wanted):
        raise SpecificationError(
            f"terms must be coefficients of the fit ({', '.join(record.names)}), got {shown(terms)}"
        )
    return wanted
