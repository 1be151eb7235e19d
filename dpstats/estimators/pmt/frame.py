"""Coordinates in which the public second moment of a design's columns is the identity.

See docs/theory/pmt.md#idea.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.matrices import symmetric_power
from dpstats.moments import PublicColumns

ETA = 0.05
"""The paper's probability parameter: a Gaussian row is truncated with a probability of this order over n."""


@dataclass(frozen=True)
class Frame:
    """Standardised columns x~ and whitened ones a = W x~.

    Attributes
    ----------
    center, scale : array, shape (d,)
        Of the columns beside an intercept.
    whitening : array, shape (k, k)
        W.
    map : array, shape (k, k)
        Coefficients of the user's columns are map @ those of a.
    constant : bool
        Whether x~ begins with a 1.
    """

    center: np.ndarray
    scale: np.ndarray
    whitening: np.ndarray
    map: np.ndarray
    constant: bool


def frame(public: PublicColumns, constant: bool) -> Frame:
    """Whiten by public moments, enlarged by n / (n - p - 1), as the mean of an inverse from few rows is."""
    center, scale, to_scale = standardised(public, constant)
    inflation = public.n / (public.n - len(public.names) - 1)
    whitening = symmetric_power(inflation * to_scale @ public.xx @ to_scale.T, -0.5)
    return Frame(center, scale, whitening, (whitening @ to_scale).T, constant)


def standardised(public: PublicColumns, constant: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre and scale of the columns beside an intercept, and the matrix from x to x~."""
    center = public.xx[0, 1:] if constant else np.zeros(len(public.names))
    scale = np.sqrt(np.diag(public.xx)[int(constant) :] - center**2)
    return center, scale, to_user(center, scale, constant).T


def reach(n: int) -> float:
    """Length, in public root mean squares, beyond which one column of n rows is truncated."""
    return math.sqrt(1 + math.log(2 * n / ETA))
