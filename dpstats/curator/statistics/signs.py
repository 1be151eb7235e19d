"""Scores of the slopes by the signs of residuals: one row says little, but noise is small.

See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, squared_norms
from dpstats.curator.statistics.at_residuals import AtResiduals
from dpstats.families.signs import Signs, largest_slope, signs

# an event before the median weighs its h, which is at most exp(log 2), once or squared
_LARGEST = 2.0


class SignScore(AtResiduals):
    """Sum of w x psi, psi the score of :mod:`dpstats.families.signs`; shape (j,).

    x = W x~, and w = min(1, radius / |x|) shortens it to the radius.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    whitening : array_like, shape (j, k)
        W.
    radius : float
        R: no row is longer.

    Notes
    -----
    Sensitivity: 2 R. A row gives a vector no longer than |w x| |psi| <= R, because psi lies in [-1, 1]; one
    that weighs nothing gives 0. Attained by a row of length R that fails early, against the opposite row
    that does, or the same row still watched at its median.
    """

    name = "sign_score"

    def __init__(
        self,
        design: PublicDesign,
        *,
        sigma: float,
        whitening: np.ndarray,
        radius: float,
        **point: Any,
    ) -> None:
        if not (0 < radius < math.inf and 0 < sigma < math.inf):
            raise ValueError("radius and sigma must be positive and finite")
        if design.intervals:
            raise ValueError("signs are those of failures at known times")
        super().__init__(design, sigma=sigma, **point)
        self._radius, self._width = radius, len(whitening)
        self._whitened = RowProducts(whitening / self._map.unit, self._map.unit)
        self.parts = (Part(np.full(self._width, radius), np.ones(1)),)
        self.sensitivity = 2 * radius

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x, _, found = self._read(block, scratch)
        np.multiply(x, shorten(x, self._radius, scratch), out=x)
        return (Factor(x.T, found.score[:, None]),)

    def _read(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray, Signs]:
        """W x~, the residual and the score of each row."""
        centred, seen = self.watched(block, scratch)
        z, found = seen.z, signs(self._family, seen.z, seen.event, seen.entry)
        x = self._whitened(centred, scratch("row", self._width, len(z)), scratch)
        return x, z, found


class SignSizes(SignScore):
    """What slope and variance of :class:`SignScore` amount to; two numbers, shape (2,).

    With h and h1* of an event before the median (:mod:`dpstats.families.signs`), l = |x| and w l = min(l, R),
    a row gives

        min(h h1*, s) w l min(l, longest) / (s R longest)    and    h^2 (w l)^2 / (2 R)^2,

    s the bound of the family. Summed, the first is the trace of the slope -dE[sum w x psi] / d location (in
    sigmas), and the second that of the variance of the score, both over what they are divided by.

    Parameters
    ----------
    design : PublicDesign
    longest : float
        Beyond it a row adds no more.
    **score
        As of :class:`SignScore`.

    Notes
    -----
    Both numbers lie in [0, 1]: h <= 2, and each factor is at most what it is divided by. So two rows, or a
    row and one that weighs nothing, differ by at most 1 in each, and by sqrt 2 in length. Attained by an
    event just before its median, of length `longest`, where the family has its largest h h1* there, as SEV.
    """

    name = "sign_sizes"

    def __init__(self, design: PublicDesign, *, longest: float, **score: Any) -> None:
        super().__init__(design, **score)
        if not self._radius <= longest < math.inf:
            raise ValueError("longest must be finite and at least the radius")
        self._longest = longest
        self.parts = (Part(np.ones(1), np.ones(2)),)
        self.ranges = np.ones(2)
        self.sensitivity = math.sqrt(2)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x, z, found = self._read(block, scratch)
        length = np.sqrt(squared_norms(x, scratch))
        kept = np.minimum(length / self._radius, 1.0)
        most = largest_slope(self._family)
        slope = np.minimum(found.integrand * self._family.log_hazard_slope(z), most) / most
        sizes = scratch("sizes", 2, len(z))
        np.multiply(slope * kept, np.minimum(length / self._longest, 1.0), out=sizes[0])
        np.square(found.integrand / _LARGEST * kept, out=sizes[1])
        return (Factor(block.ok[:, None].astype(float), sizes.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)
