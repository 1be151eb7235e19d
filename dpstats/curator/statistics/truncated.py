"""Sums of truncated rows, as public moment truncation releases them.

Of linear models they are second moments (docs/theory/pmt.md#ridge); of generalised linear ones scores and
information, Algorithms 3 and 4 of the paper, with its constants (docs/theory/pmt.md#sensitivities).
"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, shorten, weighed
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic, check_positive
from dpstats.curator.statistics.pilot import PilotRow
from dpstats.families.glm import GlmFamily


class TruncatedGram(Statistic):
    """The sum of a a', for rows a = W x~ shortened to |a| <= radius.

    Parameters
    ----------
    design : PublicDesign
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`; only a is used.

    Notes
    -----
    Sensitivity: D = sqrt2 radius^2, and radius^2 for one column (docs/theory/pmt.md#sensitivities). For rows
    a and b, |aa' - bb'|_F^2 = |a|^4 + |b|^4 - 2 (a.b)^2 <= 2 radius^4, attained by orthogonal rows of full
    length; in one dimension it is (a^2 - b^2)^2 <= radius^4, attained by b = 0. A row that weighs nothing is
    b = 0. A symmetric part is released as svec, whose L2 norm is the Frobenius norm, so that off-diagonal
    entries get noise of 1 / sqrt2 the sd; the noise has the same law in every rotation of a.
    """

    name = "truncated_gram"

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        self._rows = PilotRow(design, **pilot)
        self.parts = (Part(np.full(self._rows.k, self._rows.radius)),)
        self.sensitivity = (math.sqrt(2) if self._rows.k > 1 else 1.0) * self._rows.radius**2

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return (Factor(self._rows.rows(block, scratch).T),)


class TruncatedTriangle(TruncatedGram):
    """The same sum with noise of one sd on every entry of the upper triangle, as large as published.

    Released as a symmetric matrix. The law of its noise depends on the rotation of a.

    Parameters
    ----------
    design : PublicDesign
    **pilot
        As of :class:`TruncatedGram`.

    Notes
    -----
    Sensitivity: D = 2 radius^2, that of the paper's Theorem 3.2. The upper triangle is no longer than the
    Frobenius norm, which is at most sqrt2 radius^2 (:class:`TruncatedGram`), so that this is private and
    sqrt2 times too large.
    """

    name = "truncated_triangle"

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        super().__init__(design, **pilot)
        self.parts = (Part(np.full(self._rows.k, self._rows.radius), off_diagonal=1.0),)
        self.sensitivity = 2 * self._rows.radius**2


class TruncatedCross(Statistic):
    """The sum of a r, for rows a = W x~ shortened to |a| <= radius and responses r clipped to the limit.

    Parameters
    ----------
    design : PublicDesign
    whole : bool
        Whether r is scaled down with a, as it must be for E(r | a) to stay a line; the paper leaves it.
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`.

    Notes
    -----
    Sensitivity: D = 2 radius limit. |a r - b s| <= |a| |r| + |b| |s|, attained by a = b of full length and
    r = -s = limit. A row that weighs nothing is b = 0.
    """

    name = "truncated_cross"
    flat = True

    def __init__(self, design: PublicDesign, *, whole: bool = True, **pilot: Any) -> None:
        self._rows = PilotRow(design, whole=whole, **pilot)
        radius, limit = self._rows.radius, self._rows.limit
        self.parts = (Part(np.full(self._rows.k, radius), np.array([limit])),)
        self.sensitivity = 2 * radius * limit

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        (row, most), k = self._rows.read(block, scratch), self._rows.k
        return (Factor(row[:k].T, row[k:].T, most),)


class _TruncatedGlm(Statistic):
    """Rows a = W x~ shortened to |a| <= radius, with linear predictor eta = beta'a + offset.

    Parameters
    ----------
    design : PublicDesign
    family : GlmFamily
        With its canonical link.
    whitening : array_like, shape (k, k)
        The transpose of W.
    beta : array_like, shape (k,)
    radius, most : float
        Positive; `most` bounds what the row is multiplied with.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.
    """

    def __init__(
        self,
        design: PublicDesign,
        *,
        family: GlmFamily,
        whitening: np.ndarray,
        beta: np.ndarray,
        radius: float,
        most: float,
        **row: Any,
    ) -> None:
        self._map, self._family = Map(design, **row), family
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)
        self._k = k = self._map.k
        self._beta = np.asarray(beta, dtype=float)
        if self._beta.shape != (k,):
            raise ValueError(f"beta must have {k} entries")
        check_positive(radius=radius, most=most)
        self._whitened = self._map.whitened(whitening)
        self._radius, self._most = float(radius), float(most)

    def _rows(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """a (k, B) and eta (B,); reused arrays."""
        x = self._map.centred(block, scratch)
        rows = self._whitened(x, scratch("rows", *x.shape), scratch)
        np.multiply(rows, shorten(rows, self._radius, scratch), out=rows)
        eta = predictor(self._beta, rows, scratch)
        return rows, np.add(eta, block.offset, out=eta) if self._offset else eta

    def _bounded(self, values: np.ndarray, block: Block) -> np.ndarray:
        return np.clip(weighed(values, block, self._weighted), -self._most, self._most, out=values)


class TruncatedScore(_TruncatedGlm):
    """The sum of a psi, psi = clip(y - b'(eta), -most, most).

    Notes
    -----
    Sensitivity: D = 2 radius most, that of the paper's sigma_2 where most = R_y + max |b'|, and of Algorithm
    3 where it is 1. |a psi - a' psi'| <= |a| |psi| + |a'| |psi'|, attained by a = a' of full length and
    psi = -psi' = most. A row that weighs nothing is psi = 0. It rests on the clip alone, whatever beta is;
    for |beta| <= R_beta the paper's `most` is never reached.
    """

    name = "truncated_score"
    flat = True

    def __init__(self, design: PublicDesign, **public: Any) -> None:
        super().__init__(design, **public)
        self.parts = (Part(np.full(self._k, self._radius), np.array([self._most])),)
        self.sensitivity = 2 * self._radius * self._most

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, eta = self._rows(block, scratch)
        return (Factor(rows.T, self._bounded(self._family.score(block.time, eta), block)[:, None]),)


class TruncatedInformation(_TruncatedGlm):
    """The sum of h a a', h = min(b''(eta), most), noise of one sd on every entry of the upper triangle.

    Released as a symmetric matrix. The law of its noise depends on the rotation of a.

    Notes
    -----
    Sensitivity: D = 2 radius^2 most, that of the paper's sigma_1; with most = 1/4 for Algorithm 3. For rows
    marked ' and not, |h a a' - h' b b'|_F^2 = h^2 |a|^4 + h'^2 |b|^4 - 2 h h' (a.b)^2 <= 2 radius^4 most^2,
    attained by orthogonal rows of full length, and the upper triangle is no longer than the Frobenius norm:
    this is private and sqrt2 times too large. A row that weighs nothing is h = 0.
    """

    name = "truncated_information"

    def __init__(self, design: PublicDesign, **public: Any) -> None:
        super().__init__(design, **public)
        largest = self._radius * math.sqrt(self._most)
        self.parts = (Part(np.full(self._k, largest), off_diagonal=1.0),)
        self.sensitivity = 2 * self._radius**2 * self._most

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, eta = self._rows(block, scratch)
        np.multiply(rows, np.sqrt(self._bounded(self._family.curvature(eta), block)), out=rows)
        return (Factor(rows.T),)
