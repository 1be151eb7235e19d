"""By how much rows weigh less than normal ones would.

A line that is true is found whatever rows weigh. One that bends moves with their weights. Where rows are
normal, with their response, no line bends; where long ones weigh less than normal ones would, as noisy second
moments tell, it may.

See docs/theory/linear.md#bending.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.families.quantiles import normal_squares

_QUANTILES = 400  # of the lengths of rows


def lost_weight(gram: np.ndarray, noise: float, place: Coordinates, radius: float, hidden: float) -> float:
    """By how much rows weigh less than normal ones, as far as noise does not hide it.

    Parameters
    ----------
    gram : array, shape (k, k)
        Noisy second moments, per row that counts, of rows of which those beyond `radius` were shortened;
        without an intercept they do not tell.
    noise : float
        sd of the diagonal of `gram`.
    place : Coordinates
        Of `gram`, on a scale that knows how many rows there are; rows that cannot be used are not long.
    radius : float
    hidden : float
        How many sds of its noise the loss must exceed.

    Notes
    -----
    The mean weight is u'Mu, where a'u = 1 for a row that was not shortened. A row is 1 / |u| along u, and of
    normal rows the rest of its squared length is taken to have a gamma law, of the shape that eigenvalues
    give and the scale that makes the mean square of shortened rows tr M.
    """
    constant, scale = place.constant, place.scale
    if constant is None or len(gram) < 2:
        return 0.0
    size = float(constant @ constant)
    counted = scale.fraction / scale.present
    gram, sd = gram / counted, math.hypot(noise * size, scale.fraction_sd / scale.present) / counted
    weight = float(constant @ gram @ constant)
    apart = np.eye(len(gram)) - np.outer(constant, constant) / size
    values = np.maximum(np.linalg.eigvalsh(apart @ gram @ apart), 0.0)
    shape = float(values.sum()) ** 2 / max(float(values @ values), 1e-300)
    usual = _normal_weight(max(shape, 0.5), 1 / size, float(np.trace(gram)), radius**2)
    return max(usual - weight - hidden * sd, 0.0)


def _normal_weight(degrees: float, least: float, left: float, square: float) -> float:
    """E min(1, square / v), v - least of a gamma law, E min(v, square) = `left`; 0 if no such law is told."""
    rest = normal_squares(degrees, _QUANTILES)

    def shortened(scale: float) -> float:
        return float(np.minimum(least + scale * rest, square).mean()) - left

    most = square / float(rest[0])  # at which all but none are shortened
    if not shortened(0.0) < 0 < shortened(most):
        return 0.0
    lengths = least + float(scipy.optimize.brentq(shortened, 0.0, most)) * rest
    return float(np.minimum(1.0, square / lengths).mean())
