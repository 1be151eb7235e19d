"""Slopes of a number in rows of a level, of which no release tells how it varies there.

See docs/theory/intervals.md#what-noise-hides.
"""

import math

import numpy as np

from dpstats.estimators.engine.information import SURELY, Information
from dpstats.moments.noisy import SEEN

# of the square of a number about its middle in rows of a level, that what is surely left of it about its mean
# there is no more than, or it is not known how the number varies there, as of any column
_ALIKE = 1 / 8


def alike(information: Information, axes: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Changes of slopes in levels of which it is not seen that the number varies in their rows.

    Whitened, shape (k, m), with the line of the level in their mean as it is. Where a number is seen off its
    middle there, and not to vary, its rows are alike; where noise hides both, as of a level of few rows, they
    may be. How large a slope is goes by how the number varies, so that no usual effect bounds it.

    Parameters
    ----------
    information : Information
    axes : array, shape (k, p)
        From the user's coefficients, that of the intercept first, to whitened ones.
    slopes : array, shape (m, 2, p)
        See :attr:`dpstats.formula.Design.slopes_within`.
    """
    found = [np.zeros((len(axes), 0))]
    for own in slopes:
        along, level = own @ axes.T
        if own[1, 0]:  # all other rows are alike, at the middle of its products
            along, level = (information.beside(each, axes[:, 0]) for each in (along, level))
        rest = information.beside(along, level)
        (square, error), (left, unsure) = information.along(along), information.along(rest)
        (rows, doubt), surely = information.along(level), max(left - SEEN * unsure, 0.0)
        hardly = surely < _ALIKE * square if square > SURELY * error else surely == 0.0
        # what is left beside a line that is not seen may be that line's
        if (hardly and left < SURELY * unsure) or rows < SEEN * doubt:
            found.append(rest[:, None] / math.sqrt(float(along @ information.matrix @ along)))
    return np.hstack(found)
