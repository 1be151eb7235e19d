"""A figure and axes that show themselves in a notebook. Imports matplotlib: only `_arguments` comes here.

Notebooks show what pyplot drew when a cell ends. Figures that pyplot does not know say themselves how
they look.
"""

import io
import sys

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
        pyplot = sys.modules.get("matplotlib.pyplot")
        shown = pyplot is not None and pyplot.fignum_exists(getattr(figure, "number", -1))
        return figure._repr_png_() if isinstance(figure, ShownFigure) and not shown else None
