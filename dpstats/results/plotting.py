"""Parts that plots of fits have in common, and the plot of the ridge path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._axes import axes
from dpstats.results.facts import Facts, price, titled
from dpstats.results.format import percent
from dpstats.results.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")  # the next one when the colours are used up
BAND = 0.15  # opacity
FOOTER = "footer"  # what marks a text as one


def style(j: int) -> dict[str, Any]:
    """Return colour and line style of the j-th line, by matplotlib's cycle."""
    from matplotlib import rcParams

    cycle = list(rcParams["axes.prop_cycle"])
    turn, place = divmod(j, len(cycle))
    return {"linestyle": STYLES[turn % len(STYLES)], "color": f"C{place}"} | cycle[place]


def line_with_band(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    limits: tuple[ArrayLike, ArrayLike],
    label: str,
    look: dict[str, Any],
) -> None:
    """Draw a line, and a band of its colour between its limits."""
    ax.plot(x, y, **look, label=label)
    band(ax, x, limits, look)


def band(ax: Axes, x: ArrayLike, limits: tuple[ArrayLike, ArrayLike], look: dict[str, Any]) -> None:
    """Draw a band of the colour of its line between its limits."""
    ax.fill_between(x, *limits, color=look["color"], alpha=BAND, linewidth=0)


def footer(ax: Axes, facts: Facts, share: ArrayLike | None = None) -> None:
    """Write below new axes what the numbers cost, and how much of their variance is noise."""
    said = [f"{price(facts)}, {facts.adjacency}"]
    known = np.asarray([] if share is None else share, dtype=float)
    if np.isfinite(known).any():
        said.append(f"privacy share of variance {percent(float(np.nanmedian(known)))}")
    above = sum(text.get_gid() == FOOTER for text in ax.texts)  # of other fits on the same axes
    ax.annotate(
        "; ".join(said),
        (1, 0),
        gid=FOOTER,
        xytext=(0, -34 - 9 * above),  # points: below the label of the axis
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize="x-small",
        color="0.35",
    )


def per(unit: str) -> str:
    """Return a unit of time as that of a rate: ``" per hour"`` of ``"hours"``."""
    one = unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit
    return f" per {one}" if unit else " per unit of time"


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
    footer(ax, record, frame.get("privacy_share"))
    return ax
