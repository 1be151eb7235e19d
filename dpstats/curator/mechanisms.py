"""Noise for a vector of known sensitivity; that of pure epsilon is in `knorm`.

See docs/theory/privacy.md#gaussian-noise.

Gaussian noise is OpenDP's discrete Gaussian on a lattice of spacing g = 2^k, at most 2^-40 of the sd and of
the sensitivity. OpenDP rounds the vector to that lattice, which may move two neighbours apart by g for each
of m coordinates. Its proved map charges for sensitivity + g sqrt m, and must not exceed the rho we ask for:
the scale begins with that and is raised until it does not, by less than one part in 1e9.

Why a release at rho = mu^2/2 may be counted as mu-GDP. Continuous Gaussian noise rounded to the lattice is
post-processing of a mu-GDP release, because the vector is on the lattice. In a cell of width g around x sd
the probabilities of the rounded law and of the discrete one differ by the factor 1 + h(x), |h| <= c (x^2 + 1)
with c = g^2 / 24 sd^2 <= 2^-84.5 (for |x| < 2^20; the rest has chance below e^-2^38). Let p and q be the
rounded laws for two neighbours, delta the largest p(A) - e^epsilon q(A), and a = epsilon / mu - mu / 2: A is
the half-space where a normal number u, the noise along the shift, exceeds a. With the discrete laws delta
grows by at most the mean of |h(x)| + |h(x + shift)| under p over A, summed over m coordinates, which is

    c (2 a f(a) + 4 m F(-a) + 2 mu f(a) + mu^2 F(-a)) <= c f(a) (2 a + 5.1 m + 2 mu + 1.3 mu^2)

for a >= 0, with f and F the density and the distribution of a normal number, as F(-a) <= 1.26 f(a). For a < 0
the same holds of the complement of A under p and of A under q, where e^epsilon f(a + mu) = f(a), with
mu + 5.1 m in the brackets. The curator noises for mu (1 - 1e-9). As delta grows with mu at the rate f(a),
this lowers it by at least .9e-9 mu f(a); for a < 0 as long as mu <= 1e4. **That is more for every delta**
above e^-10^11 (a < 10^6), if at most 10^7 coordinates are noised for a mu of at least 1e-8 (`MOST_GAUSSIAN`
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
    space = _space(size)
    rho = mu * mu / 2 * (1 - 2.0**-50)
    lattice = math.floor(math.log2(min(sensitivity / mu, sensitivity))) - _LATTICE_BITS
    scale = (sensitivity + math.sqrt(size) * 2.0**lattice) / mu * (1 + 2.0**-46)
    for attempt in range(16):
        measurement = measurements.make_gaussian(*space, scale=scale, k=lattice)
        if measurement.map(sensitivity) <= rho:
            return measurement
        scale *= 1 + 2.0 ** (attempt - 45)
    raise RuntimeError("no noise scale satisfies the budget")


@functools.lru_cache(maxsize=64)
def _space(size: int) -> tuple[Any, Any]:
    """Vectors of so many finite floats, and their distance."""
    enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T=float, nan=False), size=size)
    return domain, metrics.l2_distance(T=float)


class SecureNoise:
    """The noise of every private release; anything else marks its releases as not private."""

    gaussian = staticmethod(gaussian)
    pure = staticmethod(pure)
    coins = staticmethod(secrets.token_bytes)
