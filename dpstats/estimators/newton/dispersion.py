"""The dispersion of a family, from the released variability of its bounded scores, with its error.

See docs/theory/glm.md#dispersion.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from dpstats.curator import Release
from dpstats.estimators.bends import USUAL
from dpstats.estimators.engine.bounds import NEARLY_ALL
from dpstats.estimators.engine.information import Accumulator, Information
from dpstats.estimators.newton.information import of_row
from dpstats.estimators.newton.located import Located
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.quantiles import even_shares
from dpstats.moments import Quantity
from dpstats.moments.normal_rows import normal_squares

# noise in the direction of the intercept so small that choosing by what it left is no choice by noise
_EXACT = 0.02
# against the dispersion that bounds were made for; the clipped mean square of a gamma law falls again beyond
_RANGE = 4.0
# of counts, or that of the largest alpha that is tried; and points at which the end of what can be told is
# looked for
_MOST, _SOUGHT = 50.0, 40
_STEP = 1e-3  # of a numerical derivative
_RUNS = 3000  # of counts, at most, each by distance and by logarithm: fifty in an sd
_LAW = even_shares(2000)
# alphas of counts that are tried: the first is Poisson, and beyond the last nearly all are 0 or far off; mean
# squares grow about evenly with log(alpha + unit)
ALPHAS, _UNIT = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0), 0.1
_PLACES = np.log1p(np.array(ALPHAS) / _UNIT)
_FINE = 2001  # points of the interpolation between them


@dataclass(frozen=True)
class SeenScatter:
    """Mean square of bounded scores over their curvature, as unweighted rows would have it.

    Attributes
    ----------
    ratio, noise : float
        The noise sd includes the curvature's.
    doubt : float
        What is uncertain of the weights' effect.
    curvature : float
        Per row that can be used, weights included.
    rows : float
        Number of equally weighted rows that would say as much.
    """

    ratio: float
    noise: float
    doubt: float
    curvature: float
    rows: float

    def quantity(self, phi: float, kurtosis: float, slope: float) -> Quantity:
        """phi with its error, from the slope of the ratio in phi and the kurtosis of a bounded score."""
        sampling = self.ratio * math.sqrt(max(kurtosis - 1, 0.0) / self.rows)
        if slope <= 0:
            return Quantity(phi, math.inf, math.inf)
        return Quantity(phi, math.hypot(sampling, self.noise, self.doubt) / slope, self.noise / slope)


def free_dispersion(seen: SeenScatter, score: BoundedScore) -> Quantity:
    """phi such that clipped scores have the mean square that was seen, for a curvature of 1.

    The sampling error is that under the family's law. At the ends of the range in which phi is sought,
    nothing is said of its error.
    """
    clipped_square, quantile = score.family.clipped_square, score.family.quantile
    assert clipped_square is not None and quantile is not None
    ends = score.dispersion / _RANGE, score.dispersion * _RANGE
    phi, slope = _inverse(lambda phi: clipped_square(score.limit, phi), seen.ratio, ends)
    law = np.clip(quantile(_LAW, phi), -score.limit, score.limit)
    law = law - law.mean()
    return seen.quantity(phi, float(np.mean(law**4) / np.mean(law**2) ** 2), slope)


def overdispersion(seen: SeenScatter, score: BoundedScore) -> Quantity:
    """phi of Var(y) = phi V(E(y)), for counts: 1 for the law of the family.

    Such that bounded scores of a negative binomial law at the mean curvature have the mean square that was
    seen, the smaller phi where there are two; below 1, in proportion to that of the family's law. The
    sampling error is that of the same law.
    """
    mean = score.family.mean_at(seen.curvature, score.predictors)
    of_counts = functools.cache(functools.partial(_of_counts, score, mean))

    def ratio(phi: float) -> float:
        return of_counts(phi)[0]

    own, kurtosis = of_counts(1.0)
    if seen.ratio <= own:
        return seen.quantity(seen.ratio / own, kurtosis, own)
    # clipped squares of rare counts grow with phi only so far: there are ever fewer counts, and far ones
    sought = np.geomspace(1.0, max(_MOST, 1 + ALPHAS[-1] * mean), _SOUGHT).tolist()
    beyond = (phi for phi in sought if ratio(phi) > seen.ratio)
    phi, slope = _inverse(ratio, seen.ratio, (1.0, next(beyond, None) or max(sought, key=ratio)))
    return seen.quantity(phi, of_counts(phi)[1], slope)


def told_alpha(sums: np.ndarray, sds: np.ndarray) -> tuple[float, float]:
    """alpha of the variance m + alpha m^2 of counts, by released "score_squares", and its noise.

    Mean squares of the scores grow with alpha: between the laws that were tried by an interpolation that
    keeps to that. Below the first and beyond the last that one is taken.
    """
    at, rise = _place(sums[0], sums[1:])
    alpha = _UNIT * math.expm1(at)
    noise = math.hypot(float(sds[0]), float(sds[1])) * (alpha + _UNIT)
    return alpha, noise / rise if rise > 0 else math.inf


def _place(seen: float, laws: np.ndarray) -> tuple[float, float]:
    """log(1 + alpha / unit) where mean squares of the scores are `seen`, and how they rise with it there."""
    curve = scipy.interpolate.PchipInterpolator(_PLACES, np.maximum.accumulate(laws))
    fine = np.linspace(_PLACES[0], _PLACES[-1], _FINE)
    at = fine[np.argmin(np.abs(curve(fine) - seen))]
    return float(at), float(curve(at, 1))


@dataclass(frozen=True)
class Uneven:
    """How the scatter of counts differs along the columns, as far as noise does not explain it.

    Attributes
    ----------
    alpha : float
        Of rows `NEARLY_ALL` sds out along the direction in which scatter grows, as what clipping takes grows
        faster: at 2 slopes of a number whose upper quarter scatters more were .1 half-lengths farther off.
    direction : array, shape (k,)
        What a place there, in sds, is of the standardised columns.
    """

    alpha: float
    direction: np.ndarray

    @classmethod
    def of(cls, release: Release, whitening: np.ndarray, limit: float) -> "Uneven":
        """By released "score_squares"; `limit` is that of the scores."""
        (found,), (sds,) = release.values, release.sds
        at, _ = _place(found[0, 0], found[0, 1:])
        along = found[1:, 0] - scipy.interpolate.PchipInterpolator(_PLACES, found[1:, 1:], axis=1)(at)
        sampling = len(along) * limit**2 * max(found[0, 0], 0.0)
        usual = special.chdtri(len(along), USUAL) / len(along) * (2 * np.sum(sds[1:, 0] ** 2) + sampling)
        size = math.sqrt(max(along @ along - usual, 0.0))
        farthest, _ = _place(found[0, 0] + NEARLY_ALL * size, found[0, 1:])
        return cls(_UNIT * math.expm1(farthest), whitening @ along / max(np.linalg.norm(along), 1e-300))

    def moved(self, score: BoundedScore, curvature: float) -> float:
        """What clipping makes of the mean of a score an sd out, beside what is put back."""
        eta = math.log(score.family.mean_at(curvature, score.predictors))
        return (
            score.put_back(max(self.alpha - (score.family.alpha or 0.0), score.dispersion), eta) / NEARLY_ALL
        )


def excess(seen: SeenScatter, phi: Quantity, alpha: float) -> Quantity:
    """alpha of the variance m + alpha m^2 that was seen: that of the scores, and what phi says beyond it."""
    found = max(alpha + (phi.value - 1) / seen.curvature, 0.0)
    return Quantity(found, phi.se / seen.curvature, phi.se_privacy / seen.curvature)


def _inverse(
    function: Callable[[float], float], value: float, ends: tuple[float, float]
) -> tuple[float, float]:
    """Where an increasing function has a value, and its slope there; at an end, a slope of 0."""
    low, high = ends
    if function(low) >= value or function(high) <= value:
        return (low if function(low) >= value else high), 0.0
    at = float(scipy.optimize.brentq(lambda phi: function(phi) - value, low, high))
    return at, (function(at * (1 + _STEP)) - function(at * (1 - _STEP))) / (2 * _STEP * at)


def _of_counts(score: BoundedScore, mean: float, phi: float) -> tuple[float, float]:
    """Mean square of bounded scores over their curvature, and their kurtosis, of counts with this mean."""
    phi *= float(score.family.variance(np.array(mean))) / mean  # that of a Poisson law, from here
    counts, widths = _counts(mean, phi)
    shares = widths * _shares(counts, mean, phi)
    shares /= shares.sum()
    psi, curvature = score(counts, np.full(len(counts), math.log(mean)))
    square = float(shares @ psi**2)
    return square / float(curvature[0]), float(shares @ psi**4) / square**2


def _counts(mean: float, phi: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts that there may be; where these are many, the middles and widths of runs that are alike.

    Runs are short against the sd, and against their distance from 0, where shares may fall like a power.
    """
    sd = math.sqrt(phi * mean)
    low, high = max(0.0, mean - 30 * sd), mean + 30 * sd + 30 * phi + 2.0
    begins = np.append(np.linspace(low, high, _RUNS), np.geomspace(low + 1, high + 1, _RUNS) - 1)
    begins = np.unique(np.floor(begins))
    widths = np.diff(begins, append=begins[-1] + 1)
    return begins + (widths - 1) / 2, widths


def _shares(counts: np.ndarray, mean: float, phi: float) -> np.ndarray:
    """Probabilities of counts by a negative binomial law, or a Poisson law where phi is 1."""
    gammaln = special.gammaln
    if phi <= 1 + _STEP / 2:
        return np.exp(counts * math.log(mean) - mean - gammaln(counts + 1))
    size = mean / (phi - 1)
    failed = gammaln(counts + size) - gammaln(counts + 1) - gammaln(size)
    return np.exp(failed - size * math.log(phi) + counts * math.log1p(-1 / phi))


def seen(
    variability: Accumulator,
    information: Information,
    whitening: np.ndarray,
    radius: float,
    intercept: bool,
    n: int,
    located: Located,
) -> SeenScatter:
    """Read scores and curvature along the direction of the intercept, in which every row has length 1.

    Where noise hides it, or without an intercept: means over all directions, in which long rows count more.
    A row of weight w adds w^2 to the scores and w to the curvature; what that makes of their ratio is worked
    out for normal rows, and half of it is taken for uncertain. Declared weights count in the same way, and
    what they make of it was released.
    """
    squares, curvature = variability.mean(whitening), information.matrix
    k, usable, weights = len(curvature), located.usable, located.weights
    unit, length = np.eye(k)[:, :1], 1.0
    if intercept:
        unit = np.linalg.solve(whitening, unit)
        length = float(np.linalg.norm(unit))
    square = float((unit.T @ squares @ unit)[0, 0])
    noise = float(variability.sds(whitening, unit / length)[0]) * length**2
    along = intercept and noise < _EXACT * square
    if along:
        level, level_noise = of_row(information, unit[:, 0])
    else:
        square, level = float(np.trace(squares)) / k, float(np.trace(curvature)) / k
        noise = float(np.linalg.norm(variability.sds(whitening, information.vectors))) / k
        level_noise = float(np.linalg.norm(information.sds)) / k
    share, spread = _weights(radius, k, intercept, along)
    level = max(level, level_noise)
    counted = level * share * weights.own
    ratio = max(square, noise) / counted
    noise = math.hypot(noise / counted, ratio * level_noise / level, ratio * weights.error)
    return SeenScatter(
        ratio, noise, ratio * (1 - share) / 2, level / usable, n * usable / (spread * weights.uneven)
    )


def _weights(radius: float, k: int, intercept: bool, along: bool) -> tuple[float, float]:
    """E f w^2 / E f w and E (f w^2)^2 / (E f w^2)^2; w = min(1, radius^2 / |a|^2), a normal rows.

    f is 1 along the direction of the intercept, and |a|^2 over all directions.
    """
    squares = intercept + (normal_squares(k - intercept, len(_LAW)) if k > intercept else np.zeros(1))
    weights, factor = np.minimum(1.0, radius**2 / squares), np.ones_like(squares) if along else squares
    counted = factor * weights**2
    mean = float(np.mean(counted))
    return mean / float(np.mean(factor * weights)), float(np.mean(counted**2)) / mean**2
