"""What a ridge penalty makes of a line, and what is not known of the covariates adds to its error.

In the user's units b(alpha) = (S + alpha)^-1 S b for the slopes, S the covariance of the covariates over all
rows, whatever rows weighed in the estimate of b; the mean of the response stays. Which rows were sampled
matters to a penalised line even where no residual does: an error D of S moves b(alpha) by
(S + alpha)^-1 D (b - b(alpha)).

See docs/theory/linear.md#ridge.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.moments.noisy import NoisyMoments
from dpstats.moments.normal_rows import kept_at
from dpstats.moments.posterior import noise_of_product
from dpstats.moments.spread import weight_noise

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
        back, first = moments.back, int(moments.constant is not None)
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
        return self._moved(variance * self.within + np.outer(pull, pull), variance) / self.moments.n

    def noise(self, apart: np.ndarray) -> np.ndarray:
        """The same by noise of the matrix that all rows were told from, and means if by nothing else."""
        moments, back = self.moments, self.moments.back
        through, reached = back @ self.lead, back @ (self.lead @ self._slopes(apart))
        noise = noise_of_product(
            moments.noise_gram / moments.gram_weight, np.eye(len(back)), np.outer(reached, reached)
        )
        of_mean = 0.0 if moments.whole is not None else float(back[:, 0] @ noise @ back[:, 0])
        return self._moved(through.T @ noise @ through, of_mean)

    def unknown(self, apart: np.ndarray) -> np.ndarray:
        """The same by what is not known of the moments of all rows."""
        if self.moments.whole_error is None:
            return np.zeros_like(self.way)
        return self._by_errors(self.moments.whole_error[:, len(apart) - len(self.within) :], apart)

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
        weight, known = self.moments.gram_weight, every.moments.whole_error
        heard, whole = np.diag(self.within), np.maximum(np.diag(every.within), 1e-300)
        first, usual = len(apart) - len(whole), heard * (1 / kept_at(len(apart), weight) - 1 + _UNSURE)
        lost = np.maximum(whole - heard - usual, 0.0)
        noise = whole * (0.0 if known is None else float(np.min(np.diag(known)[first:] / whole)))
        sure = np.maximum(lost - noise * (noise / np.maximum(lost, 1e-12 * whole)), 0.0)
        both = np.outer(np.sqrt(sure), np.sqrt(sure + usual))
        both = np.maximum(np.sqrt(np.outer(lost, lost)), np.maximum(both, both.T))
        means = np.tile(np.sqrt(math.hypot(1 - weight, weight_noise(self.moments)) * lost), (first, 1))
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
