"""Boxplots of prediction errors, as the location-scale paper draws them."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt

COLOURS = {"MLE": "0.75", "published": "C3", "unscaled": "C1", "functional": "C4", "newton": "C0"}
LABELS = {
    "MLE": "MLE, not private",
    "published": "as published, not private",
    "unscaled": "published, x not scaled, not private",
    "functional": "functional, pure epsilon",
    "newton": "newton, delta = 1e-6",
}
TOP = 2.0


def draw(boxes: Mapping[float, Mapping[str, np.ndarray]], axis: str, title: str, path: Path) -> None:
    """One box for each method at each place of the axis; whiskers are the 5 and 95 % points.

    Parameters
    ----------
    boxes : mapping
        From places to errors by method.
    axis, title : str
    path : Path
        Of the PNG.
    """
    figure, plot = plt.subplots(figsize=(9, 3.6), layout="constrained")
    count = len(COLOURS)
    for order, (method, colour) in enumerate(COLOURS.items()):
        where = np.arange(len(boxes)) + (order - (count - 1) / 2) * 0.8 / count
        plot.boxplot(
            [errors[method] for errors in boxes.values()],
            positions=where,
            widths=0.7 / count,
            whis=(5, 95),
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "linewidth": 0.6},
            medianprops={"color": "black"},
            whiskerprops={"linewidth": 0.6},
            capprops={"linewidth": 0.6},
        )
        plot.plot([], [], "s", color=colour, label=LABELS[method])
    plot.set_xticks(range(len(boxes)), [f"{place:g}" if place < 1000 else f"{place:,.0f}" for place in boxes])
    plot.set(xlabel=axis, ylabel="|prediction - y| / |y|", ylim=(0, TOP), title=title)
    figure.legend(fontsize=7, ncols=count, loc="outside lower center", frameon=False)
    figure.savefig(path, dpi=70)
    plt.close(figure)
