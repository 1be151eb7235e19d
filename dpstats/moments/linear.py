"""Released second moments of a linear regression, and everything that follows from them without a row.

The moments are of rows a = W x in coordinates where they are nearly white, and of residuals r about a pilot
fit, in units of its residual sd; params = origin + map @ delta, and delta solves M_aa delta = M_ar. One
release thus gives the coefficients at every ridge penalty, the residual variance and R squared
(spec/linear_glm.md C1, D, E1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from dpstats.moments.solution import Solution, hidden, judged, positive
from dpstats.moments.tails import tail_rate

__all__ = ["LinearMoments", "Quantity"]

Array = np.ndarray


class Quantity(NamedTuple):
    """An estimate with its standard error and the part of that due to privacy noise."""

    value: float
    se: float
    se_privacy: float


@dataclass(frozen=True, eq=False)
class LinearMoments:
    """Noisy moments per row, the sds of their noise, and the way back to the user's coefficients.

    Attributes
    ----------
    n : int
        Number of rows.
    gram, cross, square : array (d, d), array (d,), float
        Of a a', a r and r^2. Rows longer than a public radius were shortened.
    noise_gram, noise_cross, noise_square : float
        sd of the noise: of a diagonal entry of `gram`, whose off-diagonal entries have 1 / sqrt 2 of it; of
        an entry of `cross`; of `square`.
    meat, noise_meat : array (d, d) and float, optional
        Of r^2 a a', shortened where longer than a public limit.
    fourth, noise_fourth : float, optional
        Of r^4.
    limit : float, optional
        Where r was clipped.
    total, noise_total : float, optional
        Variance of the response in its own units, its mean square without an intercept; and its noise.
    weight : float
        Mean weight of rows in `cross` and `square` over that in `gram`, where they come from other releases.
    doubt : float
        Uncertainty of that, as a share.
    share, unit : float
        Where rows have weights of their own: their mean, as a share of the public maximum, and that maximum.
    origin : array, shape (d,)
    map : array, shape (d, d)
    scale : float
        Unit of r in units of the response.
    constant : array, shape (d,), optional
        u with a'u = 1 for a row that was not shortened; None without an intercept.
    penalised : array, shape (d,)
        1 for the coefficients that a ridge penalty shrinks, 0 for the intercept.
    """

    n: int
    gram: Array
    cross: Array
    square: float
    noise_gram: float
    noise_cross: float
    noise_square: float
    origin: Array
    map: Array
    scale: float
    penalised: Array
    constant: Array | None = None
    meat: Array | None = None
    noise_meat: float | None = None
    fourth: float | None = None
    noise_fourth: float | None = None
    limit: float | None = None
    total: float | None = None
    noise_total: float | None = None
    weight: float = 1.0
    doubt: float = 0.0
    share: float = 1.0
    unit: float = 1.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in _ARRAYS and value is not None:
                array = np.array(value, dtype=float)
                array.setflags(write=False)
                object.__setattr__(self, item.name, array)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_dict` is its inverse."""
        return {
            item.name: value.tolist() if isinstance(value, np.ndarray) else value
            for item in fields(self)
            if (value := getattr(self, item.name)) is not None
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LinearMoments:
        """The moments that `to_dict` described."""
        return cls(**content)

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
        fit = self._normal_equations(alpha)
        sampling = fit.inverse @ (self._between_rows(fit.delta) / self.n) @ fit.inverse
        privacy = fit.inverse @ self._noise(fit.delta) @ fit.inverse
        guess = hidden(fit.values, fit.vectors, self._noise_size, max(self.square, 0.05))
        sampling, privacy, guess = (self.map @ part @ self.map.T for part in (sampling, privacy, guess))
        return judged(self.origin + self.map @ fit.delta, sampling, privacy, guess, fit.rel)

    def sigma(self) -> Quantity:
        """Residual standard deviation of an unpenalised fit, corrected for the clipping of heavy tails.

        Of a row of weight 1, if rows have weights.
        """
        value, se, noise = self._spread()
        size = math.sqrt(self.share * self.unit)
        return Quantity(value * size, se * size, noise * size)

    def _spread(self) -> Quantity:
        """Root of the weighted mean of squared residuals."""
        delta = self._normal_equations(0.0).delta
        tail, tail_noise, doubt = self._tail()
        variance = self._residual_variance(delta) * (1 + tail)
        noise = math.hypot(self._variance_noise(delta) * (1 + tail), tail_noise)
        sampling = variance**2 * (self._kurtosis() - 1) / (self.n * self.mean_weight)
        sampling += doubt**2 + (variance * self.doubt) ** 2
        sigma, slope = math.sqrt(variance), 1 / (2 * math.sqrt(variance))
        total = math.sqrt(noise**2 + sampling)
        return Quantity(sigma * self.scale, slope * total * self.scale, slope * noise * self.scale)

    def rsquared(self) -> Quantity:
        """Share of the variance of the response that an unpenalised fit explains.

        Of its mean square without an intercept.
        """
        share, noise = self._share()
        # 4 R^2 (1 - R^2)^2 / n under joint normality, there for residuals of any kurtosis
        spread = 4 * (1 - share) + (self._kurtosis() + 1) * share
        sampling = share * (1 - share) ** 2 * spread / (self.n * self._gram_weight)
        sampling += ((1 - share) * self.doubt) ** 2
        return Quantity(share, math.sqrt(noise**2 + sampling), noise)

    def _share(self) -> tuple[float, float]:
        """R squared and its noise, from the variance of the response if that was released."""
        if self.total is None or self.noise_total is None:
            return self._share_of_fitted()
        sigma = self._spread()
        left = min(sigma.value**2 / self.total, 1.0)
        noise = math.hypot(2 * sigma.se_privacy * sigma.value, left * self.noise_total) / self.total
        return 1 - left, noise

    def _share_of_fitted(self) -> tuple[float, float]:
        """R squared and its noise from the variance of fitted values, over rows as they were weighted."""
        fit = self._normal_equations(0.0)
        weight = self._gram_weight
        direction = np.linalg.solve(self.map, self.origin + self.map @ fit.delta)
        if self.constant is not None:
            direction = direction - direction @ self.gram @ self.constant / weight * self.constant
        # the noise of delta adds its own variance to that of the fitted values
        covariance = fit.inverse @ self._noise(fit.delta) @ fit.inverse
        spurious = np.trace(positive(self.gram) @ covariance)
        explained = max(float(direction @ positive(self.gram) @ direction - spurious) / weight, 0.0)
        residual = self._residual_variance(fit.delta)
        both = explained + residual
        through_delta = 4 * float(direction @ self.gram @ covariance @ self.gram @ direction)
        of_gram = math.sqrt((self.noise_gram * float(direction @ direction)) ** 2 + through_delta) / weight
        noise = math.hypot(residual * of_gram, explained * self._variance_noise(fit.delta)) / both**2
        return explained / both, noise

    def residual_sd(self, alpha: float = 0.0) -> float:
        """Residual standard deviation about the coefficients at a penalty, over rows as they were weighted.

        A penalty adds the mean square distance between penalised and unpenalised means to the variance.
        """
        free = self._normal_equations(0.0).delta
        apart = self._normal_equations(alpha).delta - free
        distance = float(apart @ positive(self.gram) @ apart) / self._gram_weight
        return self.scale * math.sqrt(self._residual_variance(free) + distance)

    @property
    def _gram_weight(self) -> float:
        """Mean weight of rows in `gram`."""
        if self.constant is None:
            return 1.0
        return float(np.clip(self.constant @ self.gram @ self.constant, 0.05, 1.0))

    @property
    def mean_weight(self) -> float:
        """Mean weight of rows in `cross` and `square`."""
        return self.weight * self._gram_weight

    @property
    def _noise_size(self) -> float:
        """Size of the noise of `gram` as an operator."""
        return max(self.noise_gram * math.sqrt(2 * len(self.gram)), 1e-12)

    def _normal_equations(self, alpha: float) -> _NormalEquations:
        penalty, pull = self._penalty(alpha)
        values, vectors = np.linalg.eigh(self.gram + penalty)
        size = self._noise_size
        inverse = (vectors / np.maximum(values, size)) @ vectors.T
        return _NormalEquations(
            inverse @ (self.cross - pull), inverse, values, vectors, size / max(float(values[0]), 1e-12)
        )

    def _penalty(self, alpha: float) -> tuple[Array, Array]:
        """Of delta, in units of r squared: its matrix and its gradient at delta = 0."""
        strength = alpha * self._gram_weight / self.scale**2
        shrunk = self.penalised[:, None] * self.map
        return strength * shrunk.T @ shrunk, strength * shrunk.T @ (self.penalised * self.origin)

    def _residual_variance(self, delta: Array) -> float:
        """Per unit of row weight, corrected for what the coefficients fitted of the data and the noise."""
        d = len(delta)
        raw = self.square - 2 * self.cross @ delta + delta @ positive(self.gram) @ delta
        raw = float(raw + d * self.noise_cross**2) / self.mean_weight
        variance = raw * self.n / max(self.n - d, 1)
        return max(variance, self._variance_noise(delta) / 2, 1e-12)

    def _variance_noise(self, delta: Array) -> float:
        square = float(delta @ delta)
        noise = math.sqrt(
            self.noise_square**2 + 4 * square * self.noise_cross**2 + (square * self.noise_gram) ** 2
        )
        return noise / self.mean_weight

    def _kurtosis(self) -> float:
        """Of the residuals; 3, as the normal's, as far as the noise hides it."""
        if self.fourth is None or self.noise_fourth is None:
            return 3.0
        trust = 1 / (1 + (self.noise_fourth / 2) ** 2)
        found = self.fourth * self.mean_weight / max(self.square, 0.05) ** 2
        return max(trust * found + (1 - trust) * 3.0, 1.5)

    def _tail(self) -> tuple[float, float, float]:
        """What clipping took of the residual variance, as a share of the rest; its noise; what is doubtful.

        The kurtosis of what is left tells: exponential errors stand for all whose tails are heavier than the
        normal's, and all of what they lose is taken to be uncertain.
        """
        if self.limit is None or self.fourth is None or self.noise_fourth is None:
            return 0.0, 0.0, 0.0
        size = self.square / self.mean_weight
        rate, normal = tail_rate(self.limit / math.sqrt(max(size, 0.05)))
        noise = self.noise_fourth * self.mean_weight / max(self.square, 0.05) ** 2
        tail = rate * max(self._kurtosis() - normal, 0.0)
        return tail, rate * min(noise, 2.0), tail

    def _noise(self, delta: Array) -> Array:
        """Covariance of the privacy noise of M_ar - M_aa delta."""
        half = self.noise_gram**2 / 2
        even = self.noise_cross**2 + half * float(delta @ delta)
        return even * np.eye(len(delta)) + half * np.outer(delta, delta)

    def _between_rows(self, delta: Array) -> Array:
        """Covariance of a r between rows: the released one as far as it can be told from s^2 M_aa.

        In coordinates where s^2 M_aa is the identity, errors of equal variance give G = 1. The released G is
        shrunk towards it by the positive-part rule of James and Stein: all the way if |G - 1|^2 is what its
        noise and its sampling error explain.
        """
        variance = self._residual_variance(delta)
        variance *= self.share
        model = variance * positive(self.gram)
        if self.meat is None or self.noise_meat is None:
            return model
        values, vectors = np.linalg.eigh(self.gram)
        values = np.maximum(values, self._noise_size) * variance
        shrink = (vectors / np.sqrt(values)) @ vectors.T
        excess = shrink @ self.meat @ shrink * self.n / max(self.n - len(delta), 1) - np.eye(len(delta))
        metric = shrink @ shrink
        expected = self.noise_meat**2 / 2 * (np.trace(metric) ** 2 + np.trace(metric @ metric))
        expected += (self._kurtosis() + 1) * len(delta) * (len(delta) + 1) / 2 / self.n
        trust = max(0.0, 1 - expected / max(float(np.sum(excess**2)), 1e-300))
        size, axes = np.linalg.eigh(np.eye(len(delta)) + trust * excess)
        stretch = (vectors * np.sqrt(values)) @ vectors.T @ axes
        return np.asarray((stretch * np.maximum(size, 0.3)) @ stretch.T)


_ARRAYS = ("gram", "cross", "origin", "map", "penalised", "constant", "meat")


class _NormalEquations(NamedTuple):
    delta: Array
    inverse: Array
    values: Array
    vectors: Array
    rel: float
