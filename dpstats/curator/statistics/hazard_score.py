"""Scores and information of a regression of hazards with a baseline that is constant on pieces.

See docs/theory/coxph.md.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, predictor, squared_norms
from dpstats.curator.statistics.base import Statistic, check_positive
from dpstats.families.hazard_bounds import hazard_bounds

_FARTHEST = 60.0  # of the linear predictor: a row beyond fails at once, or never


class HazardTimes(Statistic):
    """Knows the cumulative hazard that rows have had on each piece of public times.

    Between public edges t_0 < ... < t_m the baseline hazard is constant and adds the hazard g_i in (t_{i-1},
    t_i]; cells follow one another in J pieces. A row with x = (x - center) / scale, watched from its entry
    (t_0 without one) to its time, has the hazards a_j = e^(beta'x) times the baseline's on piece j while it
    is watched, and no longer than until they add up to c: there it stops being observed, with its event.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (d,)
        For all columns of the design but the intercept's; scale positive.
    edges : sequence of float, length m + 1
    hazards : sequence of float, length m
        g_i, positive.
    pieces : sequence of int, length m
        Of each cell the number of its piece: 0, ..., J - 1, none of which is left out.
    c : float
        Cumulative hazard at which a row stops being observed, at least 1.
    """

    def __init__(  # noqa: PLR0913 - the public parameters of the statistic
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        scale: np.ndarray,
        beta: np.ndarray,
        edges: Sequence[float],
        hazards: Sequence[float],
        pieces: Sequence[int],
        c: float,
    ) -> None:
        self._map = Map(design, center, scale, 0.0, 1.0, log=False, constant=False)
        self._beta = np.asarray(beta, dtype=float) / self._map.scale
        self._edges, each = np.asarray(edges, dtype=float), np.asarray(hazards, dtype=float)
        number = np.asarray(pieces, dtype=int)
        if not (len(self._edges) == len(each) + 1 == len(number) + 1 and (np.diff(self._edges) > 0).all()):
            raise ValueError("edges must increase, and be one more than hazards and pieces")
        check_positive(hazards=each)
        if not 1 <= c < math.inf:
            raise ValueError("c must be at least 1 and finite")
        if number[0] != 0 or not np.isin(np.diff(number), (0, 1)).all():
            raise ValueError("pieces must be numbered from 0 on, in the order of their cells")
        self._baseline, self._c = np.append(0.0, np.cumsum(each)), float(c)
        last = np.append(np.flatnonzero(np.diff(number)), len(number) - 1) + 1
        self._ends, self._inner = self._baseline[last], self._edges[last[:-1]]
        self._offset = design.offset_bounds != (0.0, 0.0)

    @property
    def _pieces(self) -> int:
        return len(self._ends)

    def _watched(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Centred columns (d, B), hazards by piece (J, B), and the piece of an event, or -1 (B,)."""
        centred = self._map.centred(block, scratch)
        eta = predictor(self._beta, centred, scratch)
        if self._offset:
            np.add(eta, block.offset, out=eta)
        risk = np.exp(np.clip(eta, -_FARTHEST, _FARTHEST, out=eta), out=eta)
        last = np.searchsorted(self._inner, block.time)
        # rounding may carry the clock beyond the end of the piece that the row leaves in
        until = np.minimum(np.interp(block.time, self._edges, self._baseline), self._ends[last])
        since = np.interp(block.entry, self._edges, self._baseline) if self._map.design.delayed else 0.0
        whole = risk * np.maximum(until - since, 0.0)
        stop = np.minimum(whole, self._c)
        sums = scratch("sums", self._pieces + 1, len(stop))
        sums[0] = 0.0
        # each sum by itself, so that what a row adds is never negative and adds up to no more than c
        for j, end in enumerate(self._ends[:-1], start=1):
            np.clip(risk * (end - since), 0.0, stop, out=sums[j])
        sums[-1] = stop
        hazards = np.subtract(sums[1:], sums[:-1], out=scratch("hazards", self._pieces, len(stop)))
        seen = (events(block, scratch) > 0) & (whole <= self._c)
        return centred, hazards, np.where(seen, last, -1)


class HazardScore(HazardTimes):
    """Weighted scores of baseline and covariates, and the information of the events, released jointly.

    With hazards a_j and c as in :class:`HazardTimes`, e_K the unit vector of the piece in which the row is
    seen to fail (0 if it is not), u = e_K - a, psi = the sum of u's entries, whitened covariates x and
    w = min(1, (radius / |x|)^2), a row gives

        w u (J,),   w psi x (d,),   tau w (1,),   sqrt 2 tau w x e_K' (d, J),   tau w x x' (d, d),

    the last three if it is seen to fail, and else 0: the matrix tau w v v', v = (e_K, x), but for the block
    of the pieces, of which the trace alone is released. The values released carry tau.

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (d, d)
    radius : float
        R: no row counts as longer.
    matrix_share : float
        Size of the matrix's largest contribution against the largest distance of scores.
    **times
        See :class:`HazardTimes`.

    Notes
    -----
    Sensitivity. For two rows, marked ' and not, D^2 is the sum of three squares.

    *Baseline.* |w u - w' u'|^2 is convex in (w, w') on [0, 1]^2, hence largest at a corner of it:
    max(|u - u'|^2, |u|^2, |u'|^2).
    *Covariates.* w |x| <= R (w |x| is |x| up to R and R^2 / |x| beyond), so at most R^2 (|psi| + |psi'|)^2.
    *Information.* Let M be its three parts without tau as one vector. Two rows that fail have the scalar
    product M.M' = w w' (1 + 2 x.x' [K = K'] + (x.x')^2), which is not negative: it is w w' (1 + x.x')^2 or
    w w' (1 + (x.x')^2). So |M - M'|^2 <= |M|^2 + |M'|^2, and |M| = w (1 + |x|^2) <= 1 + R^2 = Q because
    w <= 1 and w |x|^2 <= R^2: at most tau^2 Q^2 (m + m'), m = 1 for a row that is seen to fail, else 0.

    The hazards of a row are not negative and add up to no more than c, whether it is seen to fail or not, and
    one that fails in piece K has none later, not by rounding either: the clock shows no more at its time than
    at the end of K, or a risk of e^35 would make c of the last bit. So u is -a or e_K - a, with a in the
    simplex whose corners are 0 and c e_j, j up to J or K, and psi is linear in a. The sum of the bounds is a
    maximum of convex functions of (a, a') and is largest at two corners. There each row is described by K, or
    none, and by the piece of its hazard, or none: what counts is which of these four are the same, and their
    order, so that four pieces hold all cases, of which
    :func:`dpstats.families.hazard_bounds.hazard_bounds` takes the largest. It is attained in the limit of
    hazards that lie in one piece, by antiparallel rows of length R. The row that
    weighs nothing is one without event and hazard.

    tau = matrix_share D_0 / (sqrt 2 Q), D_0 the bound for the scores alone.
    """

    name = "hazard_score"

    def __init__(
        self,
        design: PublicDesign,
        *,
        whitening: np.ndarray,
        radius: float,
        matrix_share: float,
        **times: object,
    ) -> None:
        super().__init__(design, **times)  # type: ignore[arg-type]
        check_positive(radius=radius, matrix_share=matrix_share)
        self._radius, self._whitened = radius, RowProducts(whitening / self._map.scale, self._map.scale)
        tau, self.sensitivity = hazard_bounds(self._c, radius, matrix_share)
        self._tau, self._root, most = tau, math.sqrt(tau), max(1.0, self._c)
        long = np.full(len(self._beta), radius)
        self.parts = (
            Part(np.ones(1), np.full(self._pieces, most)),
            Part(long, np.array([most])),
            Part(np.array([tau]), np.ones(1)),
            Part(math.sqrt(2) * tau * long, np.ones(self._pieces)),
            Part(self._root * long),
        )

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, hazards, piece = self._watched(block, scratch)
        size, seen = len(piece), 1.0 * (piece >= 0)
        x = scratch("whitened", *centred.shape)
        self._map.filled(self._whitened, centred, block, x, scratch)
        weight = np.minimum(1.0, self._radius**2 / squared_norms(x, scratch))
        weighted = np.multiply(x, weight, out=scratch("weighted", *x.shape))
        scores = np.negative(hazards, out=hazards)
        scores[np.maximum(piece, 0), np.arange(size)] += seen
        psi = np.add.accumulate(scores, axis=0)[-1]
        failed = np.multiply(weighted, math.sqrt(2) * self._tau * seen, out=scratch("failed", *x.shape))
        counted = (self._tau * weight * seen)[:, None]
        np.multiply(x, self._root * np.sqrt(weight) * seen, out=x)
        return (
            Factor(weight[:, None], scores.T),
            Factor(weighted.T, psi[:, None]),
            Factor(counted, np.ones((size, 1))),
            Factor(failed.T, np.maximum(piece, 0)),
            Factor(x.T),
        )

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        baseline, covariates, count, cross, slopes = super().unpack(vector)
        return baseline.ravel(), covariates.ravel(), count.ravel(), cross.T / math.sqrt(2), slopes


class HazardTrend(HazardTimes):
    """Weighted scores of covariates that act more or less the later a row is, one array of shape (d,).

    With the whitened covariates x and w = min(1, (radius / |x|)^2) of :class:`HazardScore`, and L the hazard
    that a row has had when it fails or is observed no longer, s(L) = 1 - e^-L is the share of rows like it
    that have failed by then. With g = s - middle a row gives w x (g(L) d - G(L)), G the integral of g from 0
    on; d is 1 if it is seen to fail, else 0. At the truth its mean is 0.

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (d, d)
    radius : float
        R: no row counts as longer.
    middle : float
        Between 0 and 1.
    **times
        See :class:`HazardTimes`.

    Notes
    -----
    Sensitivity: 2 R q, q the largest size of -G(L) and g(L) - G(L) for L from 0 to c, as w |x| <= R. That
    of the first is at c or where g is 0, and that of the second at 0, at c, or where 2 e^-L = 1 - middle.
    Attained by antiparallel rows of length R.
    """

    name = "hazard_trend"
    flat = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        whitening: np.ndarray,
        radius: float,
        middle: float,
        **times: object,
    ) -> None:
        super().__init__(design, **times)  # type: ignore[arg-type]
        if not 0 < middle < 1:
            raise ValueError("the middle of a trend must be between 0 and 1")
        check_positive(radius=radius)
        self._radius, self._whitened = radius, RowProducts(whitening / self._map.scale, self._map.scale)
        self._middle = middle
        turns = np.log([1.0, 1 / (1 - middle), 2 / (1 - middle)])
        at = np.minimum(np.append(turns, self._c), self._c)
        most = max(float(np.abs(self._trend(at, d)).max()) for d in (0.0, 1.0))
        self.parts = (Part(np.full(len(self._beta), radius), np.array([most])),)
        self.sensitivity = 2 * radius * most

    def _trend(self, hazard: np.ndarray, failed: np.ndarray | float) -> np.ndarray:
        share = -np.expm1(-hazard)
        return np.asarray((share - self._middle) * failed - (hazard * (1 - self._middle) - share))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, hazards, piece = self._watched(block, scratch)
        x = scratch("whitened", *centred.shape)
        self._map.filled(self._whitened, centred, block, x, scratch)
        np.multiply(x, np.minimum(1.0, self._radius**2 / squared_norms(x, scratch)), out=x)
        whole = np.add.accumulate(hazards, axis=0)[-1]
        return (Factor(x.T, self._trend(whole, piece >= 0)[:, None]),)
