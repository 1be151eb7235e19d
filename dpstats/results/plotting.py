"""Parts that plots of fits have in common, and the plot of the ridge path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._axes import axes
from dpstats.results.facts import titled
from dpstats.results.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")  # the next one when the ten colours are used up
COLOURS = 10
BAND = 0.15  # opacity


def style(j: int) -> dict[str, Any]:
    """Return colour and line style of the j-th line."""
    return {"linestyle": STYLES[j // COLOURS % len(STYLES)], "color": f"C{j % COLOURS}"}


def line_with_band(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    limits: tuple[ArrayLike, ArrayLike],
    label: str,
    look: dict[str, Any],
    steps: bool = False,
) -> None:
    """Draw a line, and a band of its colour between its limits; both in steps from x to x, if asked."""
    ax.plot(x, y, **look, label=label, drawstyle="steps-post" if steps else "default")
    ax.fill_between(x, *limits, color=look["color"], alpha=BAND, linewidth=0, step="post" if steps else None)


def legend(ax: Axes) -> None:
    """Put a legend beside the axes, where it hides no line."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, fontsize="small", frameon=False)


def plot_path(
    record: Record, frame: pd.DataFrame, shown: Mapping[str, float], label: str, ax: Axes | None
) -> Axes:
    """Draw coefficients of a ridge path, one line with its band for each.

    Parameters
    ----------
    record : Record
    frame : DataFrame
        Of the path.
    shown : mapping of str to float
        Names of the coefficients, and what to multiply each by.
    label : str
        Of the vertical axis.
    ax : matplotlib Axes, optional
    """
    ax = axes(ax)
    for j, (name, factor) in enumerate(shown.items()):
        line = frame[frame["term"] == name].sort_values("alpha")
        known = np.isfinite(line["std_error"])
        columns = ("conf_low", "estimate", "conf_high")
        low, estimate, high = (factor * line[column].where(known) for column in columns)
        line_with_band(ax, line["alpha"], estimate, (low, high), name, style(j))
    ax.axhline(0, color="0.6", linewidth=0.8)
    if record.alpha:
        ax.axvline(record.alpha, color="0.3", linestyle=":", label="this fit")
    title = "Ridge path, 95 % intervals for the penalised coefficients"
    ax.set(xscale="log", xlabel="alpha (ridge penalty)", ylabel=label, title=titled(record, title))
    legend(ax)
    return ax
