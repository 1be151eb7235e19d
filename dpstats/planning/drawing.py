"""Half widths against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpstats._axes import axes
from dpstats.budget import Budget

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(
    terms: Sequence[str],
    budgets: Sequence[Budget],
    half: np.ndarray,
    floor: np.ndarray,
    planned: Budget,
    ax: Axes | None,
) -> Axes:
    """One line for each term, of shape (budgets, terms), and a dashed one where noise is nothing."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    ax = axes(ax)
    amounts = [budget.amount for budget in budgets]
    for j, term in enumerate(terms):
        known = np.isfinite(half[:, j])
        ax.plot(np.array(amounts)[known], half[known, j], "o-", color=f"C{j}", markersize=4, label=term)
        if np.isfinite(floor[j]):
            ax.axhline(floor[j], color=f"C{j}", linestyle="--", linewidth=0.9)
    ax.axvline(planned.amount, color="0.6", linewidth=0.8, zorder=0)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=planned.unit,
        ylabel="half width of the 95 % interval",
        title="What a budget buys (dashed: without noise)",
    )
    # at the budgets that were tried, in plain numbers
    ax.set_xticks(amounts, [f"{amount:.3g}" for amount in amounts])
    ax.minorticks_off()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.legend()
    return ax
