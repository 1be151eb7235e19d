"""Intervals of an estimate whose privacy noise is not normal, by quadrature.

See docs/theory/intervals.md#noise-that-is-not-normal.

Spherical Laplace noise of p coordinates is sqrt(V) Z for a normal Z and V ~ Gamma((p + 1) / 2), exactly, in
every direction. Noise of the maximum norm is W U for U uniform in a cube and W ~ Gamma(p + 1); over several
coordinates the sum of uniforms is taken to be normal, which makes intervals wide rather than narrow where
one coordinate rules. Laplace noise is taken to come from one coordinate, the longest tails there are. So an
estimate errs as a mixture of normals does, whose distribution function is a sum over quadrature nodes.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy
from scipy import special

from dpstats._stored import Arrays
from dpstats.errors import SpecificationError

LAWS = ("laplace", "linf", "spherical")
# Gauss-Legendre nodes, by which half-widths of all laws have 14 digits, and the chance of a variance beyond
# them, which rounding hides
_NODES, _NEGLIGIBLE = 200, 1e-16
_MOST_COORDINATES = 1_000_000  # of the noise of a saved fit; no release has so many


@functools.lru_cache(maxsize=64)
def _mixture(law: str, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances of mean 1, and their weights."""
    shape = {"laplace": 1.0, "linf": m + 1.0, "spherical": (m + 1) / 2}[law]
    low, high = special.gammaincinv(shape, _NEGLIGIBLE), special.gammainccinv(shape, _NEGLIGIBLE)
    # over the root of the gamma variate, in which all that is integrated is smooth
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    root = math.sqrt(low) + (math.sqrt(high) - math.sqrt(low)) * (nodes + 1) / 2
    density = (2 * shape - 1) * np.log(root) - root**2
    weights = weights * np.exp(density - density.max())
    variances = root**4 if law == "linf" else root**2
    weights = weights / weights.sum()
    return variances / float(weights @ variances), weights


@dataclass(frozen=True, eq=False)
class Tails(Arrays):
    """The part of the privacy noise of an estimate that is not normal.

    Attributes
    ----------
    law : {"laplace", "linf", "spherical"}
    m : int
        Number of coordinates of the noise.
    variances : ndarray, shape (k,)
        Of that part, for each coefficient.
    """

    law: str
    m: int
    variances: np.ndarray

    def half_widths(self, level: float, cov: np.ndarray) -> np.ndarray:
        """Half-widths of intervals for coefficients whose total variances are on the diagonal of `cov`."""
        return np.array(
            [
                self._half_width(level, float(total), float(part))
                for total, part in zip(np.diagonal(cov), self.variances, strict=True)
            ]
        )

    def two_sided(self, distances: np.ndarray, cov: np.ndarray) -> np.ndarray:
        """Chance of an error larger than each distance, in either direction."""
        pairs = zip(distances, np.diagonal(cov), self.variances, strict=True)
        return np.array([2 * self._beyond(abs(d), float(t), float(v)) for d, t, v in pairs])

    def _beyond(self, distance: float, total: float, part: float) -> float:
        """Chance of an error above `distance`."""
        if not math.isfinite(total) or total <= 0:
            return 0.5
        variances, weights = _mixture(self.law, self.m)
        share = min(part / total, 1.0)  # of a saved fit, too
        sds = np.sqrt(1 - share + share * variances)
        return float(weights @ special.ndtr(-distance / math.sqrt(total) / sds))

    def _half_width(self, level: float, total: float, part: float) -> float:
        if not math.isfinite(total) or total <= 0:
            return math.sqrt(total) if total > 0 else 0.0
        sd, tail = math.sqrt(total), (1 - level) / 2
        most = 4 * abs(float(special.ndtri(tail))) + 40
        return sd * float(
            scipy.optimize.brentq(
                lambda q: self._beyond(q * sd, total, part) - tail, 0, most, xtol=1e-13, rtol=1e-13
            )
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; SpecificationError if there is no such law."""
        law, m = str(content["law"]), int(content["m"])
        variances = np.array(content["variances"], dtype=float)
        if law not in LAWS or not 1 <= m <= _MOST_COORDINATES or not (variances >= 0).all():
            raise SpecificationError("the tails of a saved fit are of no law of noise")
        return cls(law, m, variances)
