"""The scale on which an estimator sees rows: from a declared box, and from released moments within it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.matrices import longest_image

Array = np.ndarray

# A column of rare 0/1 values is not stretched beyond this share of the longest row: its rows would be
# weighted down, and with them all they say of the other columns.
STRETCH = 0.8
# before whitening, when the radius is not chosen yet and 1.5 k stands for its square
_FIRST_STRETCH = 1.5
# of what covariates have in common, pooled: squares of a thousandth of their ranges, and a tenth
_LEAST_VARIANCE, _LEAST_SCATTER = 1e-3, 0.1


@dataclass(frozen=True)
class Box:
    """Declared bounds of d covariates and, last, of the response on the model's scale.

    Attributes
    ----------
    lower, upper : array, shape (d + 1,)
    """

    lower: Array
    upper: Array

    @property
    def center(self) -> Array:
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> Array:
        # a constant column has a declared width of 0; any positive scale serves it
        return np.maximum((self.upper - self.lower) / 2, 1e-9)


@dataclass(frozen=True)
class RowScale:
    """Scale on which rows have mean 0 and sd 1, up to noise; without a constant, mean square 1.

    Attributes
    ----------
    center, scale : array, shape (d,)
    y_center, y_scale : float
    log : bool
    fraction, fraction_sd : float
        Counted rows (those with an event, or all valid ones) per row, and its noise.
    at_ends : array, shape (d,)
        From 0 to 1: whether the rows of a column sit at the ends of its range, as 0/1 columns do.
    lower, upper : array, shape (d + 1,)
        The declared bounds on this scale, response last.
    constant : bool
        Whether a row begins with a 1.
    """

    center: Array
    scale: Array
    y_center: float
    y_scale: float
    log: bool
    fraction: float
    fraction_sd: float
    at_ends: Array
    lower: Array
    upper: Array
    constant: bool = True

    def public(self) -> dict[str, Any]:
        """Parameters of the row map, as releases take them."""
        return dict(
            center=self.center, scale=self.scale, y_center=self.y_center, y_scale=self.y_scale, log=self.log,
            constant=self.constant,
        )  # fmt: skip

    def typical(self, rows: Array) -> Array:
        """Rows (1, x~), shape (m, d + 1), of covariates of which nan stands for the mean."""
        if not len(rows):
            return np.zeros((0, len(self.center) + 1))
        return np.column_stack([np.ones(len(rows)), np.nan_to_num((rows - self.center) / self.scale)])

    @property
    def row_box(self) -> Box:
        """Bounds of a row x~, its leading 1 included."""
        lead = [1.0] * self.constant
        return Box(np.append(lead, self.lower[:-1]), np.append(lead, self.upper[:-1]))


def release_scale(curator: Curator, cost: float, box: Box, log: bool, constant: bool = True) -> RowScale:
    """Release the moments of rows in the declared box, and the scale that they give; see `row_scale`."""
    return row_scale(release_moments(curator, cost, box, log), box, log, constant)


def release_moments(curator: Curator, cost: float, box: Box, log: bool) -> Release:
    """Release the moments of rows in the declared box."""
    return curator.release("event_moments", cost, center=box.center, half=box.half, log=log)


def row_scale(moments: Release, box: Box, log: bool, constant: bool = True, pooled: bool = False) -> RowScale:
    """Shrink noisy moments of rows towards a public prior and turn them into a scale.

    In the declared box, scaled to [-1, 1], the prior is mean 0 and variance 1/9 (bounds three sd wide).

    Parameters
    ----------
    moments : Release
        Of the statistic "event_moments" in the declared box.
    box : Box
    log : bool
        Whether the response is log time.
    constant : bool
        Whether the model has an intercept; without one, nothing is centred.
    pooled : bool
        Whether the covariates' prior follows from all of them, see `_pooled`.
    """
    n, sd = moments.n, moments.sd
    first, second, count = moments.values[0], moments.values[1] / 1.6, float(moments.values[2][0]) / 1.5
    fraction_sd = sd / 1.5 / n
    fraction = float(np.clip(count / n, max(2 * fraction_sd, 1 / n), 1.0))
    first, second = first / (n * fraction), second / (n * fraction)
    prior = 1 / 9
    noise_first, noise_second = (sd / (n * fraction)) ** 2, (sd / 1.6 / (n * fraction)) ** 2
    mean = np.clip(first, -0.95, 0.95) * prior / (prior + noise_first)
    variance = ((second - mean**2) * prior**2 + prior * noise_second) / (prior**2 + noise_second)
    if pooled:
        noises = (noise_first, noise_second)
        mean[:-1], variance[:-1] = _pooled(np.clip(first, -0.95, 0.95)[:-1], second[:-1], noises, prior)
    # no smaller than the noise can tell from 0
    sds = np.sqrt(np.clip(variance, max(min(np.sqrt(noise_second), 0.1), 1e-8), 1.0))
    at_ends = np.clip((second - 0.7) / 0.2, 0.0, 1.0)
    at_ends[-1] = 0.0
    sds = np.maximum(sds, at_ends * (1 + np.abs(mean)) / (_FIRST_STRETCH * math.sqrt(1.5 * len(mean))))
    center, scale = box.center + box.half * mean, box.half * sds
    if not constant:
        center, scale = np.zeros_like(center), np.hypot(center, scale)
    return RowScale(
        center=center[:-1],
        scale=scale[:-1],
        y_center=float(center[-1]),
        y_scale=float(scale[-1]),
        log=log,
        fraction=fraction,
        fraction_sd=fraction_sd,
        at_ends=at_ends[:-1],
        lower=(box.lower - center) / scale,
        upper=(box.upper - center) / scale,
        constant=constant,
    )


def _pooled(
    first: Array, second: Array, noises: tuple[float, float], prior: float
) -> tuple[Array, Array]:
    """Means and variances shrunk as far as what they have in common tells (empirical Bayes).

    Declared bounds are about as generous for one covariate as for another. `noises` are variances of the two
    moments; the prior stands for two more covariates.
    """
    size = 2 + len(first)
    between = max((2 * prior + float(np.sum(first**2 - noises[0]))) / size, _LEAST_VARIANCE)
    mean = first * between / (between + noises[0])
    found = second - mean**2 - between * noises[0] / (between + noises[0])
    usual = max((2 * prior + float(np.sum(found))) / size, _LEAST_VARIANCE)
    scatter = (2 * prior**2 + float(np.sum((found - usual) ** 2 - noises[1]))) / size
    between = max(scatter, (_LEAST_SCATTER * usual) ** 2)
    return mean, usual + (found - usual) * between / (between + noises[1])


def unstretched(moments: Array, radius: float, scale: RowScale) -> Array:
    """Second moments of rows, raised so that whitening by them stretches no column of rare 0/1 values."""
    farthest = np.maximum(-scale.lower[:-1], scale.upper[:-1])
    least = scale.at_ends * (farthest / (STRETCH * radius)) ** 2
    if scale.constant:
        least = np.append(0.0, least)
    return moments + np.diag(np.maximum(0.0, least - np.diag(moments)))


def shortened(moments: Array, rows: Array, squares: Array) -> Array:
    """Second moments, raised so that whitening by them makes no row longer than the root of its square.

    They become what they would be with more rows like that.
    """
    for row, square in zip(rows, squares, strict=True):
        length = float(row @ np.linalg.solve(moments, row))
        if length > square:
            moments = moments + (1 / square - 1 / length) * np.outer(row, row)
    return moments


def longest_square(whitening: Array, scale: RowScale) -> float:
    """Upper bound of |W x~|^2 over the declared box."""
    box = scale.row_box
    return longest_image(whitening, box.lower, box.upper)
