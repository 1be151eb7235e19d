"""What values beyond the box of a column add to its mean and variance, from counts by cells.

See docs/theory/describe.md#beyond-the-box.
"""

import math
from typing import NamedTuple

import numpy as np

from dpstats.moments.cell_table import PROBABILITIES, CellTable

_ROUNDING = 1e-9  # half-widths
_STANDS_OUT = 3.5  # noise sds of rows far out, which any of some cells may hold
_MAY_BE = 2.3  # noise sds of all rows far out on a side, from which on there may be as many, or none
NEAR = 4.0  # half-widths from the middle of a box, from where on cells are counted together
_FARTHEST = 0.05  # rows left where a tail is taken to end: one in twenty has a row beyond
_RATES = 1.0, 30.0  # at which a tail may fall: one that has a mean, and one that ends at once
_APART = 0.3  # least distance, in logarithms, between a quantile and the end of a box, which tell a rate


class Beyond(NamedTuple):
    """What rows beyond one end of the box add to the sums of a and a^2 over what they have at that end."""

    shift: float
    square: float
    shift_noise: float
    square_noise: float


def beyond(table: CellTable, ends: np.ndarray) -> tuple[Beyond, Beyond, list[np.ndarray]]:
    """What rows below a box and above it add, and groups of cells far out whose rows count where they are.

    Parameters
    ----------
    table : CellTable
    ends : array
        Of all its cells, in half-widths from the middle of the box.
    """
    groups = _far_groups(table, ends)
    below, above = (_on_side(table, ends, side, groups) for side in (-1, 1))
    return below, above, groups


def _on_side(table: CellTable, ends: np.ndarray, side: int, groups: list[np.ndarray]) -> Beyond:
    own = [cells for cells in groups if side * ends[cells[0]] > 0]
    return Beyond(*map(sum, zip(_far(table, ends, own), _tail(table, ends, side, groups), strict=True)))


def _outside(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells below the box and above it, from the nearest on."""
    return np.flatnonzero(ends[1:] <= -1 + _ROUNDING)[::-1], np.flatnonzero(ends[:-1] >= 1 - _ROUNDING)


def _far_groups(table: CellTable, ends: np.ndarray) -> list[np.ndarray]:
    """Cells beyond the first outside the box whose rows stand out from the noise; or all on a side together.

    All together are those that are not near, whose number a coarse count tells better. They count from where
    noise alone would seldom make as many, and as long as they do not stand out, none may be there.
    """
    found: list[np.ndarray] = []
    for side in _outside(ends):
        cells = [side[at : at + 1] for at in range(1, len(side))]
        nearest = np.minimum(np.abs(ends[side]), np.abs(ends[side + 1]))
        several = side[nearest >= NEAR - _ROUNDING]
        surely = [one for one in cells if _noise_sds(table, one) > _STANDS_OUT]
        together = [np.sort(several)] if len(several) and _noise_sds(table, several) > _MAY_BE else []
        found += surely or together
    return found


def _noise_sds(table: CellTable, cells: np.ndarray) -> float:
    """Rows of some cells, in sds of their noise."""
    return float(table.counts[cells].sum()) / math.sqrt(table.noise_of(cells))


def _far(table: CellTable, ends: np.ndarray, groups: list[np.ndarray]) -> Beyond:
    """Rows in cells far out, which may be anywhere in their cells."""
    spans = np.array([(ends[cells[0]], ends[cells[-1] + 1]) for cells in groups]).reshape(-1, 2)
    rows = np.array([table.counts[cells].sum() for cells in groups])
    noise = np.array([table.noise_of(cells) for cells in groups])
    noise += np.where(rows < _STANDS_OUT * np.sqrt(noise), rows / 2, 0.0) ** 2
    middle, half = spans.mean(axis=1), (spans[:, 1] - spans[:, 0]) / 2
    excess, squares = middle - np.sign(middle), middle**2 + half**2 / 3 - 1
    return Beyond(
        float(rows @ excess),
        float(rows @ squares),
        float(np.sum(excess**2 * noise + (half * rows) ** 2)),
        float(np.sum(squares**2 * noise + (2 * middle * half * rows) ** 2)),
    )


class _Law(NamedTuple):
    """How the rows beyond the box become fewer on a side: as many are farther than y `start` as y^-`rate`.

    Attributes
    ----------
    median, start : float
        The median, and the distance of the end of the box from it.
    rows, doubt, most : float
        Their number as counted, the sd of its noise, and the larger of both.
    rate : float
    """

    median: float
    start: float
    rows: float
    doubt: float
    most: float
    rate: float

    def last(self, left: float) -> float:
        """The y beyond which so many rows are left."""
        return float(max(self.most / left, 1.0) ** (1 / self.rate))


def _nearer(ends: np.ndarray, side: int, groups: list[np.ndarray]) -> np.ndarray:
    """Cells beyond the box on a side that are in no group."""
    outside = _outside(ends)[side > 0]
    return outside[~np.isin(outside, np.concatenate([np.zeros(0, dtype=int), *groups]))]


def _law(table: CellTable, ends: np.ndarray, side: int, cells: np.ndarray) -> _Law:
    """The law of the rows of some cells beyond the box."""
    median, quantile = (side * _place(table, ends, p) for p in (0.5, PROBABILITIES[0 if side < 0 else -1]))
    start = max(1.0 - median, _ROUNDING)
    rows, doubt = max(float(table.counts[cells].sum()), 0.0), math.sqrt(table.noise_of(cells))
    most = max(rows, doubt, 1.0)
    apart = max(math.log(start / max(quantile - median, _ROUNDING)), _APART)
    rate = min(max(math.log(max(PROBABILITIES[0] * table.usable / most, 1.0)) / apart, _RATES[0]), _RATES[1])
    return _Law(median, start, rows, doubt, most, rate)


def reach(table: CellTable, ends: np.ndarray) -> tuple[float, float]:
    """Between which values all rows are taken to be but one on each side, in half-widths of the box.

    They hold the box, cells whose rows stand out far from it, and as much of the tails as leaves one row.
    """
    groups, found = _far_groups(table, ends), []
    for side in (-1, 1):
        far = [1.0, *(float(max(side * ends[cells[0]], side * ends[cells[-1] + 1])) for cells in groups)]
        if len(cells := _nearer(ends, side, groups)):
            law = _law(table, ends, side, cells)
            far.append(law.median + law.start * law.last(1.0))
        found.append(max(far))
    return -found[0], found[1]


def _tail(table: CellTable, ends: np.ndarray, side: int, groups: list[np.ndarray]) -> Beyond:
    """Rows of the other cells on a side: the law of a tail tells them, or counts do, by their variances.

    What the law tells is wrong in all cells alike, and what noise adds in each apart.
    """
    cells = _nearer(ends, side, groups)
    if not len(cells):
        return Beyond(0.0, 0.0, 0.0, 0.0)
    law = _law(table, ends, side, cells)
    median, start, rows, doubt = law.median, law.start, law.rows, law.doubt
    counts, noise = table.counts[cells], np.array([table.noise_of(np.array([cell])) for cell in cells])
    away = (
        np.maximum(np.sort(side * np.array([ends[cells], ends[cells + 1]]), axis=0) - median, start) / start
    )
    shares, y, squares = _moments(away, law.rate, law.last(_FARTHEST))
    unsure = math.hypot(rows, doubt) * shares
    weight = unsure**2 / (unsure**2 + noise)
    rows_of = rows * shares + weight * (counts - rows * shares)
    shift = start * (y - 1)
    square = 2 * median * shift + start**2 * (squares - 1)
    noises = (
        float((((1 - weight) * unsure) @ each) ** 2 + (weight**2 * noise) @ each**2)
        for each in (shift, square)
    )
    return Beyond(side * max(float(rows_of @ shift), 0.0), max(float(rows_of @ square), 0.0), *noises)


def _place(table: CellTable, ends: np.ndarray, p: float) -> float:
    """A quantile on the scale of the ends."""
    share = (table.quantile(p, 0.95).estimate - table.bounds[0]) / (table.bounds[1] - table.bounds[0])
    return float(ends[0] + share * (ends[-1] - ends[0]))


def _moments(cells: np.ndarray, rate: float, last: float) -> np.ndarray:
    """Share of a tail that is in each cell, and means of y and y^2 there, shape (3, t).

    As many are farther than y as y^-rate, from 1 on; the farthest are at `last`.

    Parameters
    ----------
    cells : array, shape (2, t)
        Nearer and farther ends of cells.
    rate, last : float
    """
    y = np.minimum(cells, last)
    left = np.where(cells < last, y**-rate, 0.0)
    share = left[0] - left[1]
    found = [share]
    for power in (1, 2):
        fall = power - rate if abs(power - rate) > _ROUNDING else _ROUNDING
        parts = y**power * left
        total = parts[0] - parts[1] + power * (y[1] ** fall - y[0] ** fall) / fall
        found.append(np.where(share > 0, total / np.maximum(share, 1e-300), 1.0))
    return np.array(found)
