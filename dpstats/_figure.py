"""A figure and axes that show themselves in a notebook. Imports matplotlib: only `_arguments` comes here.

Notebooks show what pyplot drew when a cell ends. Our figures are unknown to pyplot, so they say themselves
how they look.
"""

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook shows."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


class ShownAxes(Axes):
    """Axes that a notebook shows, with the rest of their figure."""

    def _repr_png_(self) -> bytes | None:
        figure = self.figure
        return figure._repr_png_() if isinstance(figure, ShownFigure) else None
