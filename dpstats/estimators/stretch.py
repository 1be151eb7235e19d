"""How far whitening may stretch rows: no row that counts is made so long that it would be weighted away.

See docs/theory/levels.md#rare-levels-in-the-information.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.matrices import longest_image
from dpstats.estimators.row_scale import RowScale

# A column of rare 0/1 values is not stretched beyond this share of the longest row: its rows would be
# weighted down, and with them all they say of the other columns.
STRETCH = 0.8


def unstretched(moments: np.ndarray, radius: float, scale: RowScale) -> np.ndarray:
    """Second moments of rows, raised so that whitening by them stretches no column of rare values."""
    least = (scale.ends[1] / (STRETCH * radius)) ** 2
    if scale.constant:
        least = np.append(0.0, least)
    return moments + np.diag(np.maximum(0.0, least - np.diag(moments)))


def shortened(moments: np.ndarray, rows: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Second moments, raised so that whitening by them makes no row longer than the root of its square.

    They become what they would be with more rows like that.
    """
    for row, square in zip(rows, squares, strict=True):
        length = float(row @ np.linalg.solve(moments, row))
        if length > square:
            moments = moments + (1 / square - 1 / length) * np.outer(row, row)
    return moments


def with_levels(moments: np.ndarray, square: float, scale: RowScale) -> np.ndarray:
    """Second moments, raised so that rows of rare 0/1 values or rare levels are not weighted away.

    The longest row has this square. A rare level that has no column of its own is where all columns of the
    others are 0: if these were raised one by one, what they share would be hidden.
    """
    own = replace(scale, binary=scale.binary & np.isnan(scale.levels).all(axis=0))
    rows = scale.typical(scale.levels)[:, 1 - scale.constant :]
    longest = np.full(len(rows), scale.constant + STRETCH**2 * square)
    return shortened(unstretched(moments, math.sqrt(square), own), rows, longest)


def longest_square(whitening: np.ndarray, scale: RowScale) -> float:
    """Upper bound of |W x~|^2 over the declared box, and over the declared norms within it."""
    box = scale.row_box
    square = longest_image(whitening, box.lower, box.upper)
    if not scale.norms:
        return square
    others, reach = np.ones(whitening.shape[1], dtype=bool), 0.0
    for group, radius in scale.norms:
        columns = np.array(group) + scale.constant
        others[columns] = False
        reach += radius * float(np.linalg.norm(whitening[:, columns], 2))
    rest = longest_image(whitening[:, others], box.lower[others], box.upper[others])
    return min(square, (math.sqrt(rest) + reach) ** 2)
