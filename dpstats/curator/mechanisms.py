"""Noise for a vector of known sensitivity; that of pure epsilon is in `knorm`.

See docs/theory/privacy.md#gaussian-noise.

Gaussian noise is OpenDP's discrete Gaussian on a lattice of spacing g = 2^k, at most 2^-40 of the sd, and of
the sensitivity where the sd is no more than 2^8 times that; else it is 2^-48 of the sd, so that the noise has
room in 64 bits. The vector is rounded to that lattice, which may move two neighbours apart by g for each of m
coordinates, so that they differ by D = sensitivity / g + sqrt m cells. Independent discrete Gaussian integers
of scale s are (D / s)^2 / 2 zCDP (Canonne, Kamath & Steinke 2020, Theorem 14), which is rho = mu^2 / 2 at
s = D / mu; that OpenDP's proved map says the same is tested. The integers are added without rounding, and
the sum, in floats, is a function of them.

Why a release at rho = mu^2/2 may be counted as mu-GDP. Continuous Gaussian noise rounded to the lattice is
post-processing of a mu-GDP release, because the vector is on the lattice. In a cell of width g around x sd
the probabilities of the rounded law and of the discrete one differ by the factor 1 + h(x), |h| <= c (x^2 + 1)
with c = g^2 / 24 sd^2 <= 2^-84.5 (for |x| < 2^14; the rest, of which 64 bits do not hold all, has chance
below e^-2^26). Let p and q be the rounded laws for two neighbours, delta the largest p(A) - e^epsilon q(A),
and a = epsilon / mu - mu / 2: A is the half-space where a normal number u, the noise along the shift, exceeds
a. With the discrete laws delta grows by at most the mean of |h(x)| + |h(x + shift)| under p over A, summed
over m coordinates, which is

    c (2 a f(a) + 4 m F(-a) + 2 mu f(a) + mu^2 F(-a)) <= c f(a) (2 a + 5.1 m + 2 mu + 1.3 mu^2)

for a >= 0, with f and F the density and the distribution of a normal number, as F(-a) <= 1.26 f(a). For a < 0
the same holds of the complement of A under p and of A under q, where e^epsilon f(a + mu) = f(a), with
mu + 5.1 m in the brackets. The curator noises for mu (1 - 1e-9). As delta grows with mu at the rate f(a),
this lowers it by at least .9e-9 mu f(a); for a < 0 as long as mu <= 1e4. **That is more for every delta**
above e^-10^7 (a < 10^4), if at most 10^7 coordinates are noised for a mu of at least 1e-8 (`MOST_GAUSSIAN`
and `LEAST_MU` in :mod:`law`: the curator refuses others). Beyond mu = 1e4, it holds for delta below 1/2.
"""

import functools
import math
import secrets
from typing import Any

import numpy as np
import opendp.domains as domains
import opendp.measurements as measurements
import opendp.metrics as metrics
from opendp.mod import enable_features

from dpstats.curator.knorm import pure

_FINE, _FINEST = 40, 48  # bits of an sd, or of a sensitivity, and the most of an sd


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
        Noisy value. The sd of the noise exceeds ``sensitivity / mu`` by less than one part in 1e9 for up to
        1e6 numbers and a mu of at least 4e-6 sqrt m.

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
    lattice, scale = _cells(vector.size, sensitivity, mu)
    noise = _discrete(scale)(np.zeros(vector.size, dtype=np.int64))
    cells = np.rint(np.ldexp(vector, -lattice)).tolist()
    return np.ldexp([float(int(cell) + more) for cell, more in zip(cells, noise, strict=True)], lattice)


def _cells(size: int, sensitivity: float, mu: float) -> tuple[int, float]:
    """k of a lattice of spacing 2^k, and in its cells the scale of the noise, at which it costs mu."""
    wide = math.floor(math.log2(sensitivity / mu))
    lattice = max(min(wide, math.floor(math.log2(sensitivity))) - _FINE, wide - _FINEST)
    distance = math.ldexp(sensitivity, -lattice) + math.sqrt(size)
    return lattice, distance / mu * (1 + 2.0**-46)


@functools.lru_cache(maxsize=64)  # many releases of a fit, and of the next one like it, have one scale
def _discrete(scale: float) -> Any:
    """What adds discrete Gaussian noise of this scale to integers."""
    return measurements.make_gaussian(*_space(), scale=scale)


@functools.cache
def _space() -> tuple[Any, Any]:
    """Vectors of integers, and their distance."""
    enable_features("contrib")
    return domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T=float)


class SecureNoise:
    """The noise of every private release; anything else marks its releases as not private."""

    gaussian = staticmethod(gaussian)
    pure = staticmethod(pure)
    coins = staticmethod(secrets.token_bytes)
