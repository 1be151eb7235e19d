"""Plots of fits. Matplotlib is imported when one is asked for, and its global state is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpstats.results.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")  # the next one when the ten colours are used up
COLOURS = 10


def axes(ax: Axes | None) -> Axes:
    """Return `ax`, or the axes of a new figure that pyplot does not know.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "dpstats[plot]"') from None
    return Figure(figsize=(7.5, 4.5), layout="constrained").add_subplot()


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
        style, colour = STYLES[j // COLOURS % len(STYLES)], f"C{j % COLOURS}"
        ax.plot(line["alpha"], estimate, style, color=colour, label=name)
        ax.fill_between(line["alpha"], low, high, color=colour, alpha=0.15, linewidth=0)
    ax.axhline(0, color="0.6", linewidth=0.8)
    if record.alpha:
        ax.axvline(record.alpha, color="0.3", linestyle=":", label="this fit")
    title = "Ridge path, 95 % intervals for the penalised coefficients"
    ax.set(xscale="log", xlabel="alpha (ridge penalty)", ylabel=label,
           title=f"NOT PRIVATE. {title}" if record.not_private else title)  # fmt: skip
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, fontsize="small", frameon=False)
    return ax
