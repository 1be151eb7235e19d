"""What is public about a fit, and the scale on which it is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.curator import Release
from dpstats.families import Family

Array = np.ndarray


# A column of rare 0/1 values is not stretched beyond this share of the longest row: its rows would be
# weighted down, and with them all they say of the other columns.
STRETCH = 0.8
# before whitening, when the radius is not chosen yet and 1.5 k stands for its square
_FIRST_STRETCH = 1.5


@dataclass(frozen=True)
class Problem:
    """Public facts of a location-scale regression with d covariates beside the intercept.

    Attributes
    ----------
    family : Family
    log : bool
        Whether the response is log time.
    lower, upper : array, shape (d + 1,)
        Bounds of the covariates and, last, of the response on the model's scale.
    """

    family: Family
    log: bool
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
class EventScale:
    """Scale on which events have mean 0 and sd 1, up to noise (E1' step 0).

    Attributes
    ----------
    center, scale : array, shape (d,)
    y_center, y_scale : float
    log : bool
    fraction, fraction_sd : float
        Events per row, and its noise.
    at_ends : array, shape (d,)
        From 0 to 1: whether the events of a column sit at the ends of its range, as 0/1 columns do.
    lower, upper : array, shape (d + 1,)
        The declared bounds on this scale, response last.
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

    def public(self) -> dict[str, Any]:
        """Parameters of the row map, as releases take them."""
        return dict(
            center=self.center, scale=self.scale, y_center=self.y_center, y_scale=self.y_scale, log=self.log
        )


def event_scale(moments: Release, problem: Problem) -> EventScale:
    """Shrink the noisy event moments towards a public prior and turn them into a scale.

    In the declared box, scaled to [-1, 1], the prior is mean 0 and variance 1/9 (bounds three sd wide).
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
    # no smaller than the noise can tell from 0
    sds = np.sqrt(np.clip(variance, max(min(np.sqrt(noise_second), 0.1), 1e-8), 1.0))
    at_ends = np.clip((second - 0.7) / 0.2, 0.0, 1.0)
    at_ends[-1] = 0.0
    sds = np.maximum(sds, at_ends * (1 + np.abs(mean)) / (_FIRST_STRETCH * math.sqrt(1.5 * len(mean))))
    center, scale = problem.center + problem.half * mean, problem.half * sds
    return EventScale(
        center=center[:-1],
        scale=scale[:-1],
        y_center=float(center[-1]),
        y_scale=float(scale[-1]),
        log=problem.log,
        fraction=fraction,
        fraction_sd=fraction_sd,
        at_ends=at_ends[:-1],
        lower=(problem.lower - center) / scale,
        upper=(problem.upper - center) / scale,
    )
