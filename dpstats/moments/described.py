"""Means, sds and correlations of columns some of whose values are missing, from noisy sums.

See docs/theory/describe.md#means-and-sds.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats._stored import Arrays
from dpstats.moments.beyond_box import beyond, reach
from dpstats.moments.cell_table import (
    NOISE,
    PROBABILITIES,
    CellTable,
    Noise,
    NumberAndInterval,
    spread_of_normal,
)

# the lower ones, and the values on either side up to the one before
_SHELLS = tuple(zip(PROBABILITIES[:2], np.diff(PROBABILITIES[:2], prepend=0.0), strict=True))
_KURTOSIS = (1.8, 100.0)  # of even values, and what is believed at most
LIMIT = 5.0  # sds that a value may be from its mean in a product
_TOGETHER = 0.5  # what each unit of excess kurtosis adds, times the squared correlation
_ARC = np.linspace(-1.0, 1.0, 101)
SHORTENED = 0.05  # by how much of itself a correlation is off where rows of usual length are shortened


@dataclass(frozen=True, eq=False)
class BoxSums:
    """Noisy sums of a = clip((x - center) / half, -1, 1) and of a^2 over the rows that have a value.

    Attributes
    ----------
    center, half, first, second : float
    noise : Noise
        Of the first; ``second_sd`` is that of the second.
    """

    center: float
    half: float
    first: float
    second: float
    noise: Noise
    second_sd: float


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What was released of one variable: counts by cells and, of a number, sums in a box."""

    table: CellTable
    sums: BoxSums | None


class NotNegative(NamedTuple):
    """What is added to a moment and is never below 0, and the variance of its noise."""

    amount: float
    noise: float


class MeanAndVariance(NamedTuple):
    """Mean, variance and what is not known of them, in the unit of the variable.

    Attributes
    ----------
    mean, variance : float
    mean_noise, variance_noise : float
        Variances of the noise.
    square_noise : float
        Of the mean square about the middle of the box, but for what lies beyond.
    offset, half : float
        How far the mean is from the middle of the box, and half of its width.
    below, above : Part
        By how much values below the box make the mean smaller, and those above it larger.
    spread : NotNegative
        By how much both make the variance larger.
    kurtosis, rows : float
    """

    mean: float
    mean_noise: float
    variance: float
    variance_noise: float
    square_noise: float
    offset: float
    half: float
    below: NotNegative
    above: NotNegative
    spread: NotNegative
    kurtosis: float
    rows: float

    @property
    def mean_error(self) -> float:
        """Variance of the noise of the mean, in variances of the values."""
        return self.mean_noise / self.scale**2

    @property
    def scale(self) -> float:
        """An sd that is not less than what noise can tell from 0."""
        return max(math.sqrt(max(self.variance, math.sqrt(self.variance_noise), 0.0)), 1e-90)

    def limits(self, z: float, side: int, variance: float, square_noise: float) -> tuple[float, float]:
        """Limits of a variance, told from a mean square of this noise, of which the one on a side holds.

        The variance is the mean square less the squared offset, which lie in an ellipse about those released:
        how far noise of an offset moves its square goes with what the offset is, and not with what it seems.
        """
        offset = self.offset + z * math.sqrt(self.mean_noise) * _ARC
        squares = self.offset**2 - np.minimum(np.abs(offset), max(abs(self.offset), self.half)) ** 2
        error = np.max(side * squares + z * np.sqrt(square_noise * (1 - _ARC**2))) / z
        return spread_of_normal(z, variance, self.rows, self.kurtosis, float(error) ** 2)


def _in_half_widths(table: CellTable, sums: BoxSums) -> np.ndarray:
    """The ends of all cells, in half-widths from the middle of the box."""
    return (np.array([table.bounds[0], *table.edges, table.bounds[1]]) - sums.center) / sums.half


def reach_of(column: ColumnSums) -> tuple[float, float]:
    """Between which values all are taken to be but one on each side, by what was released."""
    assert column.sums is not None
    ends = reach(column.table, _in_half_widths(column.table, column.sums))
    low, high = (column.sums.center + column.sums.half * end for end in ends)
    return low, high


def in_box(column: ColumnSums) -> MeanAndVariance:
    """Moments of a variable, with what lies beyond the box put in by its counts."""
    table, sums = column.table, column.sums
    assert sums is not None
    rows, doubt = table.usable, table.usable_variance
    m, q = min(max(sums.first / rows, -1.0), 1.0), sums.second / rows
    ends = _in_half_widths(table, sums)
    below, above, groups = beyond(table, ends)
    mean = m + (below.shift + above.shift) / rows
    square = (below.square + above.square) / rows
    unit, area = sums.half / rows, sums.half**2 / rows
    mean_noise = unit**2 * (sums.noise.sd**2 + m**2 * doubt + below.shift_noise + above.shift_noise)
    noise = area**2 * (sums.second_sd**2 + q**2 * doubt)
    beyond_noise, offset = area**2 * (below.square_noise + above.square_noise), sums.half * mean
    return MeanAndVariance(
        sums.center + offset,
        mean_noise,
        sums.half**2 * max(q + square - mean**2, 0.0),
        noise + beyond_noise + 4 * offset**2 * mean_noise,
        noise,
        offset,
        sums.half,
        NotNegative(unit * -below.shift, unit**2 * below.shift_noise),
        NotNegative(unit * above.shift, unit**2 * above.shift_noise),
        NotNegative(sums.half**2 * square, beyond_noise),
        _kurtosis(table, ends, groups, m),
        rows,
    )


def _kurtosis(table: CellTable, ends: np.ndarray, groups: list[np.ndarray], mean: float) -> float:
    """Fourth moment about the mean over the squared second, by cells; a tail is at the end of the box."""
    pairs = np.array([ends[:-1], ends[1:]])
    inside, far = np.clip(pairs, -1.0, 1.0), np.concatenate([np.zeros(0, dtype=int), *groups])
    inside[:, far] = pairs[:, far]
    left, right = inside - mean
    shares = np.maximum(table.counts[:-1], 0.0)
    shares = shares / max(float(shares.sum()), 1.0)
    second = float(shares @ (left**2 + left * right + right**2)) / 3
    fourth = (
        float(shares @ (left**4 + left**3 * right + (left * right) ** 2 + left * right**3 + right**4)) / 5
    )
    return float(np.clip(fourth / max(second, 1e-12) ** 2, *_KURTOSIS))


def mean_of(column: ColumnSums, level: float) -> NumberAndInterval:
    """The mean, with its interval, whose limits on either side are put together from those of its parts."""
    found, bounds = in_box(column), column.table.bounds
    assert column.sums is not None
    noise, variance = found.mean_noise, found.variance / found.rows + found.mean_noise
    z = column.sums.noise.widening(level, variance, noise, noise)
    error = z * math.sqrt(variance)
    down = min(error, found.above.amount + z * math.sqrt(variance - found.above.noise))
    up = min(error, found.below.amount + z * math.sqrt(variance - found.below.noise))
    low, high = max(found.mean - down, bounds[0]), min(found.mean + up, bounds[1])
    return NumberAndInterval(
        found.mean, (high - low) / (2 * z), low, high, noise / variance if variance else 0.0
    )


def sd_of(column: ColumnSums, level: float) -> NumberAndInterval:
    """The sd, with its interval, which is made on the scale of the variance; NaN where that may be noise."""
    found = in_box(column)
    assert column.sums is not None
    noise, rows = found.variance_noise, found.rows
    variance = (found.kurtosis - 1) * found.variance**2 / rows + noise
    z = column.sums.noise.widening(level, variance, noise, noise)
    whole = found.variance, found.square_noise + found.spread.noise
    inside = max(found.variance - found.spread.amount, 0.0), found.square_noise
    low = max(found.limits(z, -1, *part)[0] for part in (whole, inside))
    high = found.limits(z, 1, *whole)[1]
    most = (column.table.bounds[1] - column.table.bounds[0]) / 2
    # at least p of the values are on either side beyond the quantiles p and 1 - p, D apart: the mean square
    # of their distances from any point is at least 2 p (D / 2)^2, and shells of several p add up
    least = math.sqrt(sum(share * column.table.apart(p, level) ** 2 / 2 for p, share in _SHELLS))
    low, high, value = (min(max(math.sqrt(each), least), most) for each in (low, high, found.variance))
    if found.variance < NOISE * math.sqrt(noise):
        return NumberAndInterval(math.nan, math.inf, low, high, 1.0)
    return NumberAndInterval(value, (high - low) / (2 * z), low, high, noise / variance if variance else 0.0)


@dataclass(frozen=True, eq=False)
class Products(Arrays):
    """Noisy sums of products of standardised columns, and of rows that lack both; matrices of shape (k, k).

    Attributes
    ----------
    sums, missing : array
    law : str
    sums_sd, missing_sd : array
    stretch : float or None
        Squared length at which rows were shortened, in usual ones; None where it is not told.
    """

    sums: np.ndarray
    missing: np.ndarray
    law: str
    sums_sd: np.ndarray
    missing_sd: np.ndarray
    stretch: float | None = None

    def correlation(self, i: int, j: int, columns: tuple[ColumnSums, ...], level: float) -> NumberAndInterval:
        """Of columns i and j, over the rows that have both."""
        first, second = columns[i].table, columns[j].table
        rows = max(first.weighing, 2.0)
        both = first.usable + second.usable - rows + float(self.missing[i, j])
        both = min(max(both, 2.0), rows)
        own = [max(float(self.sums[k, k]), float(self.sums_sd[k, k])) for k in (i, j)]
        usable = [first.usable, second.usable]
        size = math.sqrt(own[0] / usable[0] * own[1] / usable[1])
        rho = min(max(float(self.sums[i, j]) / both / size, -1.0), 1.0)
        relative = sum(
            (float(self.sums_sd[k, k]) / amount) ** 2 / 4 for k, amount in zip((i, j), own, strict=True)
        )
        relative += (float(self.missing_sd[i, j]) / both) ** 2
        off = math.prod(in_box(columns[k]).mean_error for k in (i, j))
        apart = (float(self.sums_sd[i, j]) / both / size) ** 2 + off
        noise = apart + rho**2 * relative
        rows = both / self._tailed(rho, columns[i], columns[j])
        doubt = (SHORTENED / self.stretch) ** 2 if self.stretch else 0.0
        variance = (1 - rho**2) ** 2 / rows + rho**2 * doubt + noise
        m = len(self.sums) * (len(self.sums) + 1)
        z = Noise(self.law, m, 0.0).widening(level, variance, noise, noise)
        low, high = _fisher(rho, z, rows, apart, relative + doubt)
        return NumberAndInterval(rho, (high - low) / (2 * z), low, high, noise / variance)

    @staticmethod
    def _tailed(rho: float, first: ColumnSums, second: ColumnSums) -> float:
        """Sampling variance of a correlation over that of normal values: more where both have long tails."""
        kurtosis = min(in_box(first).kurtosis, in_box(second).kurtosis, LIMIT**2)
        return 1 + _TOGETHER * rho**2 * max(kurtosis - 3, 0.0)


def _fisher(rho: float, z: float, rows: float, noise: float, relative: float) -> tuple[float, float]:
    """Limits of a correlation r: (rho - r)^2 <= z^2 ((1 - r^2)^2 / rows + noise + relative r^2)."""
    grid = np.tanh(np.linspace(-4.0, 4.0, 4001))
    inside = grid[(rho - grid) ** 2 <= z**2 * ((1 - grid**2) ** 2 / rows + noise + relative * grid**2)]
    if not len(inside):
        return rho, rho
    low, high = float(inside[0]), float(inside[-1])
    return (-1.0 if low <= grid[0] else low), (1.0 if high >= grid[-1] else high)
