"""Noise for a vector of known sensitivity (spec/privacy.md 4.4); that of pure epsilon is in `knorm`.

Gaussian noise is OpenDP's discrete Gaussian on a lattice of spacing g = 2^k, at most 2^-40 of the sd and of
the sensitivity. OpenDP rounds the vector to that lattice, which may move two neighbours apart by g for each
of m coordinates. Its proved map charges for sensitivity + g sqrt m, and must not exceed the rho we ask for:
the scale begins with that and is raised until it does not, by less than one part in 1e9.

Why a release at rho = mu^2/2 may be counted as mu-GDP. Continuous Gaussian noise rounded to the lattice is
post-processing of a mu-GDP release, because the vector is on the lattice. In a cell of width g around x sd
the probabilities of the rounded law and of the discrete one differ by the factor 1 + h(x),
|h| = (g^2 / 24 sd^2) |x^2 - 1| <= 2^-84 |x^2 - 1|, to first order. Let p and q be the rounded laws for two
neighbours and E an event. With the discrete laws p(E) - e^epsilon q(E) grows by at most the integral of
|h| p + e^epsilon |h| q over E, which is largest for the event p > e^epsilon q, where it is below the mean of
|h(x)| + |h(x + shift)| under p. Summed over m coordinates whose shifts have the norm mu, that is
(3 m + mu^2) 2^-84, the amount by which any delta(epsilon) can exceed that of mu-GDP.
The curator noises for mu (1 - 1e-9), which lowers a delta by about 1e-9 of it: more than this amount for a
thousand coordinates and any delta above 1e-12.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import opendp.domains as domains
import opendp.measurements as measurements
import opendp.metrics as metrics
from opendp.mod import enable_features

from dpstats.curator.knorm import pure

__all__ = ["SecureNoise", "gaussian"]

_LATTICE_BITS = 40


def gaussian(value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
    """Add Gaussian noise of sd ``sensitivity / mu`` to every entry of a vector.

    Parameters
    ----------
    value : ndarray, shape (m,)
        Exact value, finite.
    sensitivity : float
        L2 distance between the values of two neighbouring data sets, positive.
    mu : float
        Cost in Gaussian differential privacy, positive; rho = mu^2/2 in zCDP.

    Returns
    -------
    ndarray, shape (m,)
        Noisy value. The sd of the noise exceeds ``sensitivity / mu`` by less than one part in 1e9.

    Raises
    ------
    ValueError
        If an argument is not finite, positive or one-dimensional; the message holds no value.
    """
    vector = np.ascontiguousarray(value, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError("the value to protect must be a vector of finite numbers")
    for name, number in (("sensitivity", sensitivity), ("mu", mu)):
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be positive and finite, got {number!r}")
    noisy = np.asarray(_measurement(vector.size, float(sensitivity), float(mu))(vector), dtype=np.float64)
    if noisy.shape != vector.shape:
        raise RuntimeError("the noise sampler returned a vector of another length")
    return noisy


@functools.lru_cache(maxsize=64)  # the steps of a fit ask for the same noise again and again
def _measurement(size: int, sensitivity: float, mu: float) -> Any:
    """OpenDP measurement whose proved map at this sensitivity does not exceed mu^2/2."""
    enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False), size=size)
    rho = mu * mu / 2 * (1 - 2.0**-50)
    lattice = math.floor(math.log2(min(sensitivity / mu, sensitivity))) - _LATTICE_BITS
    scale = (sensitivity + math.sqrt(size) * 2.0**lattice) / mu * (1 + 2.0**-46)
    for attempt in range(16):
        measurement = measurements.make_gaussian(domain, metrics.l2_distance(T=float), scale=scale, k=lattice)
        if measurement.map(sensitivity) <= rho:
            return measurement
        scale *= 1 + 2.0 ** (attempt - 45)
    raise RuntimeError("no noise scale satisfies the budget")


class SecureNoise:
    """The noise of every private release; anything else marks its releases as not private."""

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """See :func:`gaussian`."""
        return gaussian(value, sensitivity, mu)

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        """See :func:`dpstats.curator.knorm.pure`."""
        return pure(value, law, axes, epsilon)
