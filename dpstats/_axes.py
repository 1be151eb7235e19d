"""Axes to draw on, without pyplot: matplotlib is imported when a plot is asked for, and its global state is
left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpstats._arguments import shown
from dpstats.errors import SpecificationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # for annotations of modules that draw, none of which imports matplotlib


def axes(ax: Axes | None, width: float = 7.5, height: float = 4.5) -> Axes:
    """Return `ax`, or the axes of a new figure that pyplot does not know.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    width, height : float
        Of a new figure, in inches, but where a style of matplotlib says its width: then height in proportion.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    SpecificationError
        If `ax` is something else.
    """
    try:
        import matplotlib.figure
        from matplotlib.axes import Axes
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "dpstats[plot]"') from None
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise SpecificationError(
            f"ax must be axes of matplotlib, such as plt.gca(), not {shown(ax)}; leave "
            "it out for a new figure"
        )
    from dpstats._figure import ShownAxes, ShownFigure

    usual, now = (each["figure.figsize"] for each in (matplotlib.rcParamsDefault, matplotlib.rcParams))
    if list(now) != list(usual):
        width, height = float(now[0]), height * float(now[0]) / width
    figure = ShownFigure(figsize=(width, height), layout="constrained")
    new = figure.add_subplot(axes_class=ShownAxes)
    new.spines[["top", "right"]].set_visible(False)  # as in papers
    return new
