"""Released second moments of a linear regression, and everything that follows from them without a row.

The moments are of rows a = W x in coordinates where they are nearly white, and of residuals r about a pilot
fit, in units of its residual sd; params = origin + map @ delta, and delta solves M_aa delta = M_ar. One
release thus gives the coefficients at every ridge penalty, the residual variance and R squared
(spec/linear_glm.md C1, D, E1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.moments.noisy import NoisyMoments
from dpstats.moments.solution import Solution, hidden, judged, positive
from dpstats.moments.spread import Quantity, residual_variance, score_covariance, share_explained, spread

__all__ = ["LinearMoments", "Quantity"]


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
        cov(delta) = H^-1 [V / n + N] H^-1 + weak. H is the released matrix with its eigenvalues raised to the
        size of its noise, V the covariance of a r between rows, N the noise of M_ar - M_aa delta. `weak`
        stands for what the noise hides where an eigenvalue was raised: the signal may be as large as the
        residuals there (spec/linear_glm.md D).
        """
        fit = self.normal_equations(alpha)
        sampling = fit.inverse @ (score_covariance(self, fit.delta) / self.n) @ fit.inverse
        privacy = fit.inverse @ self.noise_at(fit.delta) @ fit.inverse
        guess = hidden(fit.values, fit.vectors, self.noise_size, max(self.square, 0.05))
        sampling, privacy, guess = (self.map @ part @ self.map.T for part in (sampling, privacy, guess))
        return judged(self.origin + self.map @ fit.delta, sampling, privacy, guess, fit.rel)

    def sigma(self) -> Quantity:
        """Residual standard deviation of an unpenalised fit, corrected for the clipping of heavy tails.

        Of a row of weight 1, if rows have weights.
        """
        size = 1.0 if self.unit is None else math.sqrt(self.share * self.unit)
        value, se, noise = spread(self)
        return Quantity(value * size, se * size, noise * size)

    def rsquared(self) -> Quantity:
        """Share of the variance of the response that an unpenalised fit explains.

        Of its mean square without an intercept.
        """
        return share_explained(self)

    def residual_sd(self, alpha: float = 0.0) -> float:
        """Residual standard deviation about the coefficients at a penalty, over rows as they were weighted.

        A penalty adds the mean square distance between penalised and unpenalised means to the variance.
        """
        free = self.normal_equations().delta
        apart = self.normal_equations(alpha).delta - free
        distance = float(apart @ positive(self.gram) @ apart) / self.gram_weight
        return self.scale * math.sqrt(residual_variance(self, free) + distance)
