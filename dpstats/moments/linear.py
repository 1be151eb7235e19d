"""Released second moments of a linear regression, and everything that follows from them without a row.

The moments are of rows a = W x in coordinates where they are nearly white, and of residuals r about a pilot
fit, in units of its residual sd; params = origin + map @ delta, and delta solves M_aa delta = M_ar. One
release thus gives the coefficients at every ridge penalty, the residual variance and R squared
(docs/theory/linear.md).

In the user's units a ridge penalty gives b(alpha) = (S + alpha)^-1 S b for the slopes, S the covariance of
the covariates over all rows, whatever rows weighed in the estimate of b; the mean of the response stays.
Which rows were sampled matters to a penalised line even where no residual does: an error D of S moves
b(alpha) by (S + alpha)^-1 D (b - b(alpha)) (docs/theory/linear.md#ridge).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpstats.moments.noisy import NoisyMoments, NormalEquations, read_only
from dpstats.moments.normal_rows import kept_at
from dpstats.moments.parts import Untold
from dpstats.moments.posterior import covariance_by_shaped_noise
from dpstats.moments.roots import root_of
from dpstats.moments.solution import WEAK, Before, Solution, judged, of_coefficients
from dpstats.moments.spread import (
    Quantity,
    clipped_line,
    residual_variance,
    score_covariance,
    share_explained,
    spread,
    weight_noise,
)

# Of a line without some terms: lost variances may hold this of the covariance that their roots allow, and a
# variance is known to this share. Intervals of normal columns are then 10 % longer, and of lognormal ones
# 30 % (docs/theory/linear.md#terms-left-out).
_OTHERWISE, _UNSURE = 0.5, 0.05


@dataclass(frozen=True)
class Pulled:
    """A penalty of coefficients whose first is the intercept, if there is one.

    Attributes
    ----------
    moments : NoisyMoments
    way : array, shape (d, d)
        What takes coefficients to penalised ones.
    inverse : array, shape (p, p)
        (S + alpha)^-1.
    within : array, shape (p, p)
        S; mean squares without an intercept.
    lead : array, shape (d, p)
        What takes slopes to the coefficients of a line through the mean.
    """

    moments: NoisyMoments
    way: np.ndarray
    inverse: np.ndarray
    within: np.ndarray
    lead: np.ndarray

    @classmethod
    def of(cls, moments: NoisyMoments, alpha: float) -> "Pulled":
        """A penalty of size `alpha`."""
        back, first = moments.back, int(moments.frame.constant is not None)
        whole = back.T @ moments.all_rows @ back
        level = max(float(whole[0, 0]), 1e-12) if first else 1.0  # 1, but for noise
        mean = whole[:first, first:] / level
        within = whole[first:, first:] - mean.T @ (level * mean)
        lead = np.vstack([-mean, np.eye(len(within))])
        penalised = within + alpha * np.eye(len(within))
        # units may be of any size: it is inverted where its diagonal is 1
        size = 1 / np.sqrt(np.maximum(np.diag(penalised), max(alpha, 1e-300)))
        inverse = size[:, None] * np.linalg.pinv(size[:, None] * penalised * size, hermitian=True) * size
        way = np.eye(len(whole))
        way[:, first:] -= alpha * lead @ inverse
        return cls(moments, way, inverse, within, lead)

    @classmethod
    def without(cls, moments: NoisyMoments, dropped: np.ndarray) -> "Pulled":
        """A penalty that leaves nothing of some slopes, and none of the others: the line without them.

        Parameters
        ----------
        dropped : array of bool, shape (d,)
            Not the intercept.
        """
        free = cls.of(moments, 0.0)
        first = len(free.way) - len(free.within)
        gone = dropped[first:]
        kept = np.ix_(~gone, ~gone)
        inverse, share = np.zeros_like(free.within), np.diag(gone.astype(float))
        size = 1 / np.sqrt(np.maximum(np.diag(free.within)[~gone], 1e-300))
        scaled = size[:, None] * free.within[kept] * size
        inverse[kept] = size[:, None] * np.linalg.pinv(scaled, hermitian=True) * size
        share[np.ix_(~gone, gone)] = -(inverse[kept] @ free.within[np.ix_(~gone, gone)])
        way = np.eye(len(free.way))
        way[:, first:] -= free.lead @ share
        return cls(moments, way, inverse, free.within, free.lead)

    def sampling(self, apart: np.ndarray) -> np.ndarray:
        """Covariance, by the rows that were sampled, of a line `apart` from the one without a penalty.

        Parameters
        ----------
        apart : array, shape (d,)

        Notes
        -----
        A residual holds c'(x - E x) with c the slopes apart. Of normal rows the covariance of its product
        with x is c'S c S + S c c'S, and the variance of its mean c'S c.
        """
        slopes = self._slopes(apart)
        pull = self.within @ slopes
        variance = float(slopes @ pull)
        return self._moved(variance * self.within + np.outer(pull, pull), variance) / self.moments.released.n

    def noise(self, apart: np.ndarray) -> np.ndarray:
        """The same by noise of the matrix that all rows were told from, and means if by nothing else."""
        moments, back = self.moments, self.moments.back
        through, reached = back @ self.lead, back @ (self.lead @ self._slopes(apart))
        noise = covariance_by_shaped_noise(
            moments.released.noise_gram / moments.gram_weight, np.eye(len(back)), np.outer(reached, reached)
        )
        other = moments.untold.whole is not None and moments.untold.whole_error is not None
        of_mean = 0.0 if other else float(back[:, 0] @ noise @ back[:, 0])
        return self._moved(through.T @ noise @ through, of_mean)

    def unknown(self, apart: np.ndarray) -> np.ndarray:
        """The same by what is not known of the moments of all rows."""
        if self.moments.untold.whole_error is None:
            return np.zeros_like(self.way)
        return self._by_errors(self.moments.untold.whole_error[:, len(apart) - len(self.within) :], apart)

    def of_long_rows(self, apart: np.ndarray, every: "Pulled") -> np.ndarray:
        """The same by long rows of less weight, in which covariates may go together otherwise.

        Parameters
        ----------
        apart : array, shape (d,)
        every : Pulled
            Whose S is that of all rows, where this one is that of rows as they were weighted.

        Notes
        -----
        Variances l_j are lost beyond what weighting takes of normal rows, of which S loses nothing of how
        covariates go together. What is lost may hold `_OTHERWISE` (l_i l_j)^1/2 of a covariance, and if it is
        on one side ((1 - w) l_j)^1/2 of a mean by the inequality of Cauchy and Schwarz, w the mean weight,
        whose noise is added to 1 - w in squares. Rows that
        hold l_i may also be those of which column j lost what weighting takes of normal ones. So much counts
        as James and Stein's rule leaves of l_i, its noise that of the variance which is known best.
        """
        weight, known = self.moments.gram_weight, every.moments.untold.whole_error
        heard, whole = np.diag(self.within), np.maximum(np.diag(every.within), 1e-300)
        first, usual = len(apart) - len(whole), heard * (1 / kept_at(len(apart), weight) - 1 + _UNSURE)
        unheard = np.maximum(whole - heard - usual, 0.0)
        noise = whole * (0.0 if known is None else float(np.min(np.diag(known)[first:] / whole)))
        sure = np.maximum(unheard - noise * (noise / np.maximum(unheard, 1e-12 * whole)), 0.0)
        both = np.outer(np.sqrt(sure), np.sqrt(sure + usual))
        both = np.maximum(np.sqrt(np.outer(unheard, unheard)), np.maximum(both, both.T))
        means = np.tile(np.sqrt(math.hypot(1 - weight, weight_noise(self.moments)) * unheard), (first, 1))
        return self._by_errors(np.vstack([means, _OTHERWISE * both]), apart)

    def _by_errors(self, errors: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """The same by sds of covariances and, in the row of an intercept, of means, (d, p)."""
        slopes, squares = self._slopes(apart), errors**2
        first = len(apart) - len(slopes)
        covariance = squares[first:] * np.outer(slopes, slopes)
        np.fill_diagonal(covariance, squares[first:] @ slopes**2)
        return self._moved(covariance, float(np.sum(squares[:first] @ slopes**2)))

    def _slopes(self, apart: np.ndarray) -> np.ndarray:
        return apart[len(apart) - len(self.within) :]

    def _moved(self, covariance: np.ndarray, of_mean: float = 0.0) -> np.ndarray:
        """Covariance of coefficients, by that of D (b - b(alpha)) and the variance of the mean of c'x."""
        through = self.lead @ self.inverse
        moved = through @ covariance @ through.T
        if len(through) > len(self.within):
            moved[0, 0] += of_mean
        return np.asarray(moved)


_FEW = 256  # sums whose covariance is computed at once
_ROUNDING = 1e-12  # of squares against the largest one that terms may have which cancel


@dataclass(frozen=True, eq=False)
class LinearMoments(NoisyMoments):
    """Noisy moments and what they say of the regression; see :class:`NoisyMoments` for what they hold."""

    def solve(self, alpha: float = 0.0) -> Solution:
        """Coefficients that minimise mean squared error / 2 + alpha / 2 times the sum of their squares.

        Parameters
        ----------
        alpha : float
            Penalty in statsmodels' normalisation, in the units of the response squared over those of the
            covariates squared; the intercept is not penalised. Intervals are for the penalised coefficients.

        Notes
        -----
        delta = K M_ar and cov(delta) = H V H / n + K N K' + hidden. H is the inverse of the released matrix
        with its eigenvalues raised to the size of its noise, V the covariance of a r between rows, N the
        noise of M_ar - M_aa delta. K is H, or where earlier releases say how large delta may be, what follows
        from them (:mod:`dpstats.moments.posterior`). `hidden` stands for what of delta was left out. What
        clipping may have moved the mean of residuals by counts in the variance of the intercept, and in that
        of all what weighting may have moved a line by that bends. A penalty
        adds what is not known of the covariates (:mod:`dpstats.moments.linear`).
        """
        if not alpha:
            return self._solved
        fit, params, parts = self._found(alpha)
        way = np.eye(len(params))
        if alpha > 0 and self.frame.penalised.any():
            params, parts, way = self._penalised(fit, alpha, params, parts)
        return self._judged(fit, params, parts, self._columns_seen, way)

    def errors_of_sums(self, rows: np.ndarray) -> np.ndarray:
        """Standard errors of sums of coefficients without a penalty, each judged by itself; shape (m,).

        The intercept of splines is the mean where all of them are 0: it may not be known, for want of values
        there, nor may most coefficients, which are differences from it, while means are where values are.
        Only for fits in which columns of splines alone are lost: one that may hold a single value is 0 beyond
        its knots, and takes no part of the intercept. What noise hides counts with all that was open before
        the release (docs/theory/linear.md#means-of-splines).

        Parameters
        ----------
        rows : array, shape (m, d)
        """
        fit, params, parts = self._line
        unseen = ~self._columns_seen & (self.frame.penalised > 0)
        seen, errors = self.seen & ~(rows[:, unseen] != 0).any(axis=1), []
        for some in np.array_split(np.arange(len(rows)), len(rows) // _FEW + 1):
            few = rows[some]
            along = [few @ part @ few.T for part in parts]
            still_open = np.maximum(np.diag(along[3] - along[2]), 0.0)
            found = self._judged(fit, few @ params, along, seen[some], few)
            errors.append(np.sqrt(np.diag(found.cov) + still_open))
        return np.concatenate(errors)

    def without(self, dropped: np.ndarray) -> Solution:
        """Coefficients of the best line without some covariates; those of the others alone.

        Parameters
        ----------
        dropped : array of bool, shape (d,)
            Not the intercept.

        Notes
        -----
        Least squares under the condition that the coefficients of `dropped` are 0: the limit of a penalty of
        theirs alone, whose covariance it has. How covariates go together is that of rows as they were
        weighted, which the release tells better than that of all; what long rows of less weight may hold
        beside it is a possible bias.
        """
        fit, params, parts = self._line
        pulled = Pulled.without(replace(self, untold=Untold(whole=self.untold.together)), dropped)
        apart = params - pulled.way @ params
        sampling, privacy, *hidden, bias, open_ended = self._through(pulled.way, parts)
        long = pulled.of_long_rows(apart, Pulled.of(self, 0.0))
        sampling, privacy = sampling + pulled.sampling(apart) + long, privacy + pulled.noise(apart)
        kept = np.ix_(~dropped, ~dropped)
        chosen = [part[kept] for part in (sampling, privacy, *hidden, bias + long, open_ended)]
        return self._judged(
            fit, (params - apart)[~dropped], chosen, self._columns_seen[~dropped], pulled.way[~dropped]
        )

    def beside(self, partners: np.ndarray, alpha: float = 0.0) -> "LinearMoments":
        """Moments that tell nothing of what may show the effect of a lost coefficient.

        Parameters
        ----------
        partners : array of bool, shape (d, d)
            See :meth:`dpstats.formula.Design.partners`.
        alpha : float
            Penalty at which a coefficient is lost.
        """
        return self._blind_beside(partners, self.solve(alpha))

    def solve_beside(self, partners: np.ndarray, alpha: float = 0.0) -> Solution:
        """`solve` of the moments that `beside` returns for this penalty."""
        found = self.solve(alpha)
        moments = self._blind_beside(partners, found)
        return found if moments is self else moments.solve(alpha)

    def _blind_beside(self, partners: np.ndarray, found: Solution) -> "LinearMoments":
        lost = np.isinf(np.diag(found.cov))
        beside = partners @ lost & ~lost
        if not beside.any() or lost.all():
            return self
        blind = np.maximum(0.0 if self.untold.blind is None else self.untold.blind, beside)
        return replace(self, untold=replace(self.untold, blind=blind))

    @property
    def _columns_seen(self) -> np.ndarray:
        """Coefficients of which releases may tell anything."""
        blind = np.zeros(len(self.frame.origin)) if self.untold.blind is None else self.untold.blind
        return self.seen & (blind == 0)

    def _judged(
        self,
        fit: NormalEquations,
        params: np.ndarray,
        parts: list[np.ndarray],
        seen: np.ndarray,
        way: np.ndarray,
    ) -> Solution:
        """The solution of these parts; `way` takes coefficients without a penalty to these.

        Where the spread of the response is a guess, every interval rests on it.
        """
        sampling, privacy, guess, before, unused, bias, open_ended = parts
        left, way = None if fit.before is None else Before(before, unused=unused), way @ self.frame.map
        rel = of_coefficients(fit.rel, fit.vectors, fit.guess, way)
        if self.earlier.first is not None:
            left = Before(way @ self.earlier.first @ way.T, 1.0)
        found = judged(params, sampling, privacy + open_ended, guess, rel, left, seen)
        found = replace(found, bias=np.diag(bias))
        known = np.flatnonzero(np.isfinite(np.diag(found.cov)))
        return replace(found, weak=tuple(map(int, known))) if self.clipping.guessed else found

    @cached_property
    def root(self) -> np.ndarray:
        """With root root' the covariance without a penalty where it is finite; terms of sums cancel in it."""
        sampling, privacy, guess, *_, open_ended = self._plain[1]
        return np.asarray(self.frame.map @ root_of(sampling + privacy + guess + open_ended))

    @cached_property
    def _line(self) -> tuple[NormalEquations, np.ndarray, list[np.ndarray]]:
        """What no penalty finds, which the table asks for several times."""
        fit, params, parts = self._found(0.0)
        read_only([params, *parts])
        return fit, params, parts

    @cached_property
    def _solved(self) -> Solution:
        """Coefficients without a penalty, judged, which nearly everything asks for, too."""
        fit, params, parts = self._line
        found = self._judged(fit, params, parts, self._columns_seen, np.eye(len(params)))
        read_only([found.cov, found.cov_privacy])
        return found

    def _found(self, alpha: float) -> tuple[NormalEquations, np.ndarray, list[np.ndarray]]:
        """The equations, coefficients, and parts of their covariance, on the user's scale."""
        fit, inside = self._inside(alpha) if alpha else self._plain
        parts = [self.frame.map @ part @ self.frame.map.T for part in inside]
        return fit, self.frame.origin + self.frame.map @ fit.delta, parts

    @cached_property
    def _plain(self) -> tuple[NormalEquations, tuple[np.ndarray, ...]]:
        """What is inside without a penalty."""
        found = self._inside(0.0)
        read_only(found[1])
        return found

    def _inside(self, alpha: float) -> tuple[NormalEquations, tuple[np.ndarray, ...]]:
        """The equations, and parts of the covariance of what they give."""
        fit = self.normal_equations(alpha)
        between = score_covariance(self, fit)
        sampling = fit.inverse @ (between / self.released.n) @ fit.inverse
        bias = self.untold.bent * residual_variance(self, fit) * fit.inverse
        if self.untold.bend is not None:
            bias = bias + self.untold.bend
        privacy = fit.gain @ self.noise_at(fit.delta) @ fit.gain.T
        if fit.wider is not None:
            sampling, privacy, bias = (fit.wider @ part @ fit.wider.T for part in (sampling, privacy, bias))
        for moved in (self.weighting.uneven * fit.delta[:, None], clipped_line(self, between)):
            bias = bias + moved @ moved.T
        before = 0 * fit.guess if fit.before is None else fit.before
        open_ended = 0 * before if self.untold.open_ended is None else self.untold.open_ended
        unused = sampling - fit.gain @ (between / self.released.n) @ fit.gain.T
        return fit, (sampling + bias, privacy, fit.guess, before, unused, bias, open_ended)

    def _penalised(
        self, fit: NormalEquations, alpha: float, params: np.ndarray, parts: list[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Coefficients under a penalty, which a `fit` with a prior has not taken in, and their covariance.

        And what was to take them there.
        """
        pulled = Pulled.of(self, alpha)
        if fit.before is None:
            apart = self.frame.map @ (self.normal_equations().delta - fit.delta)
            way, by_noise = np.eye(len(params)), 0 * parts[1]
        else:
            apart = params - pulled.way @ params
            way, by_noise = pulled.way, pulled.noise(apart)
            params, parts = params - apart, self._through(way, parts)
        sampling, privacy, *hidden = parts
        found = [sampling + pulled.sampling(apart), privacy + by_noise + pulled.unknown(apart), *hidden]
        return params, found, way

    def _through(self, way: np.ndarray, parts: list[np.ndarray]) -> list[np.ndarray]:
        """Parts of the covariance of `way` @ coefficients.

        A line that may be anywhere is of few rows, and moves no other coefficients: in what a penalty, or
        terms left out, make of these it would be multiplied by the noise of moments.
        """
        *others, open_ended = (way @ part @ way.T for part in parts)
        lines = self.untold.open_ended
        most = 0.0 if lines is None else np.trace(lines) * np.sum(self.frame.map**2, axis=1)
        moves = np.diag(parts[-1]) > _ROUNDING * most
        return [*others, open_ended * np.outer(moves, moves)]

    def sigma(self, most: float = math.inf) -> Quantity:
        """Residual standard deviation of an unpenalised fit, corrected for the clipping of heavy tails.

        Of a row of weight 1, if rows have weights; `most` at most. Not estimable where no coefficient is.
        """
        value, se, noise = self._estimable(spread(self, most / self._size))
        return Quantity(value * self._size, se * self._size, noise * self._size)

    def rsquared(self, most: float = math.inf) -> Quantity:
        """Share of the variance of the response that an unpenalised fit explains.

        Of its mean square without an intercept; sigma is `most` at most. Not estimable where no coefficient
        is.
        """
        return self._estimable(share_explained(self, most / self._size))

    @property
    def _size(self) -> float:
        """Sigma of a row of weight 1 over that of these rows."""
        return 1.0 if self.weighting.unit is None else math.sqrt(self.weighting.share * self.weighting.unit)

    @property
    def told(self) -> bool:
        """Whether noise leaves most directions of a line to be seen, if maybe no coefficient by itself.

        Not where noise has a shape, as under pure epsilon: there means of such fits hold less.
        """
        known = self.seen and self.earlier.prior is not None and self.earlier.shape is None
        return known and bool(np.median(self.normal_equations().rel) < WEAK)

    def _estimable(self, found: Quantity) -> Quantity:
        """With infinite errors, if the release determines no coefficient, and hides most of the line."""
        if np.isinf(np.diag(self.solve().cov)).all() and not self.told:
            return Quantity(found.value, math.inf, math.inf)
        return found

    def residual_sd(self, alpha: float = 0.0) -> float:
        """Residual standard deviation about the coefficients at a penalty, over rows as they were weighted.

        A penalty adds the mean square distance between penalised and unpenalised means to the variance.
        """
        apart = self.inverse @ (self.solve(alpha).params - self._line[1])
        distance = float(apart @ self.all_rows @ apart)
        variance = residual_variance(self, self.normal_equations())
        return self.frame.scale * math.sqrt(variance + max(distance, 0.0))
