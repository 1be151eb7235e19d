"""Where to bound the scores under pure epsilon: noise is that of a cylinder, and there are no matrices."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from dpstats.estimators.location_scale.truncation import FREE, Bounding
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.families.martingale import taper
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, ScoreBounds, Truncation

Array = np.ndarray

CUTS = (1.0, 1.34, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0)
LENGTHS = (0.7, 0.85, 1.0, 1.25, 1.5, 1.8, 2.2, 2.7, 3.3, 4.0, 6.0, 9.0, 16.0, 32.0, 64.0)
# bias of the location that a cut and a radius are assumed to have, in sampling sds of one event
_CUT_BIAS, _LENGTH_BIAS = 0.016, 0.018


@dataclass(frozen=True)
class PureBounding(Bounding):
    """As :class:`Bounding`; `tail_mu` is the epsilon of the steps that the estimate combines, per row."""

    def bounds(self, where: Truncation) -> ScoreBounds:
        """Sizes of the scores, and the sensitivities that Gaussian noise of the same variances would have."""
        bounds, m = super().bounds(where), len(self.events.square) + 1
        location = 2 * bounds.psi * math.sqrt(m + 2)
        log_sigma = LOG_SIGMA_SHARE * bounds.psi * math.sqrt((m + 1) * (m + 2) / 3)
        return replace(
            bounds, sensitivity=location, log_sigma_weight=bounds.log_sigma_weight * location / log_sigma,
            matrix_weight=math.inf,
        )  # fmt: skip

    def _cut_and_radius(self, whitening: Whitening, gamma: Array, sigma: float) -> tuple[float, float, float]:
        """c, R and noise of the least variance, and squared bias, of a coefficient."""
        count = self.n * self.events.fraction
        k, box = len(self.events.square), whitening.longest_square(self.scale)
        best = (math.inf, 0.0, 0.0, 0.0)
        for c in CUTS:
            bounds = self.bounds(self.truncation(c, 4.0, gamma, sigma))
            slope, variance = self._kept(c)
            bias = _CUT_BIAS * math.exp(-c / (1.6 if self.sev else 0.8))
            for length in LENGTHS:
                square = min(k * length, box)
                slope_w, variance_w = _kept_rows(k, square) if square < box else (1.0, 1.0)
                longer = _LENGTH_BIAS * math.exp(-1.35 * length) if square < box else 0.0
                noise = bounds.sensitivity * math.sqrt(square) / self._events_mu
                value = (variance * variance_w + max(noise, FREE) ** 2) / (slope * slope_w) ** 2
                value += count * (bias + longer) ** 2
                best = min(best, (value, c, math.sqrt(square), noise))
        return best[1:]

    def _kept(self, c: float) -> tuple[float, float]:
        """Share of the location information that the cut leaves, as slope and as variance of the score.

        As if all rows were observed up to the hazard by which the released fraction of events has failed.
        """
        cut, end = taper(self.problem.family, c), 1 - min(self.events.fraction, 0.999)
        survival = np.linspace(1.0, end, 402)[1:-1]
        hazard = -np.log(survival)
        z = np.log(hazard) if self.sev else np.log(np.expm1(hazard))
        g, square = cut.g(z), cut.slope(z) ** 2
        return float(np.sum(g * square) / np.sum(square)), float(np.sum(g**2 * square) / np.sum(square))


@functools.lru_cache(maxsize=64)
def _kept_rows(k: int, square: float) -> tuple[float, float]:
    """Share of the second moments of normal rows that weights w = min(1, R^2 / |x|^2) leave, and w^2."""
    inside = float(stats.chi2.cdf(square, k + 2))
    once = inside + square / k * float(stats.chi2.sf(square, k))
    lengths = np.linspace(0.0, 1.0, 202)[1:-1]
    beyond = stats.chi2.isf(lengths * float(stats.chi2.sf(square, k)), k)
    return once, inside + square**2 / k * float(np.mean(1 / beyond)) * float(stats.chi2.sf(square, k))
