"""Spread of residuals and share of the response explained, from the noisy moments of a linear regression.

All are of the unpenalised fit (docs/theory/linear.md#covariance).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from dpstats.moments.noisy import NoisyMoments, NormalEquations
from dpstats.moments.solution import not_noise
from dpstats.moments.tails import power_variance, tail_mean, tail_rate

_NORMAL, _LEAST = 3.0, 1.5  # kurtosis of a normal law, and the least that is believed; none is below 1

# Long products a r are shortened in the released matrix. Of skewed errors whose spread differs between rows,
# of which most are long where the spread is large, it then tells about half of how spreads differ.
_SHORTENED = 2.0
# Of errors with the tails of t of 3 degrees of freedom, clipping takes up to this many times more of the
# variance than is told from the kurtosis that is left
_HEAVIER = 3.0
# sds of the line that rows whose residuals lie at a limit are above the mean, at most. Of amounts with
# log-normal means and errors what clipping takes moves the line along itself 1.7 times as far as along the
# constant at a limit of 2 sds, and 2.1 times at 4.
_FARTHEST_UP = 2.0
Z95 = 1.96  # sds of a 95 % interval
_UNTOLD = 2.0  # sd of a kurtosis of which no release tells


class Quantity(NamedTuple):
    """An estimate with its standard error and the part of that due to privacy noise."""

    value: float
    se: float
    se_privacy: float


def spread(moments: NoisyMoments, most: float = math.inf) -> Quantity:
    """Root of the weighted mean of squared residuals, corrected for the clipping of heavy tails.

    It is `most` at most, the largest that public bounds of the response allow.
    """
    fit = moments.normal_equations()
    tail, tail_noise, _ = _tail(moments)
    variance = residual_variance(moments, fit) * (1 + tail)
    noise = math.hypot(_variance_noise(moments, fit.delta), variance / (1 + tail) * weight_noise(moments))
    noise = math.hypot(noise * (1 + tail), tail_noise)
    sampling = variance**2 * (_kurtosis(moments) - 1) / (moments.released.n * moments.mean_weight)
    sampling += (variance * _doubt(moments)) ** 2
    sigma, unit = math.sqrt(variance), moments.frame.scale
    slope = unit / (2 * sigma)
    return Quantity(min(sigma * unit, most), slope * math.sqrt(noise**2 + sampling), slope * noise)


def _doubt(moments: NoisyMoments) -> float:
    """What is not known of the residual variance, as a share: tails, powers too, and weights."""
    tail, _, unknown = _tail(moments)
    beyond = (moments.clipping.beyond or 0.0) * moments.mean_weight / max(moments.released.square, 0.05)
    return math.sqrt((unknown / (1 + tail)) ** 2 + moments.weighting.doubt**2 + beyond**2)


def error_up_to(more: float) -> float:
    """Error of a variance, as a share of it, at which its upper limit is larger by so much; a 95 % one."""
    return math.log1p(more) / Z95


def share_explained(moments: NoisyMoments, most: float = math.inf) -> Quantity:
    """Share of the response's variance that the fit explains; without an intercept, of its mean square."""
    share, noise, slope = _share(moments, spread(moments, most))
    # 4 R^2 (1 - R^2)^2 / n under joint normality, there for residuals of any kurtosis
    normal = 4 * (1 - share) + (_kurtosis(moments) + 1) * share
    sampling = share * (1 - share) ** 2 * normal / (moments.released.n * moments.gram_weight)
    sampling += (slope * _doubt(moments)) ** 2
    return Quantity(share, math.sqrt(noise**2 + sampling), noise)


def _share(moments: NoisyMoments, sigma: Quantity) -> tuple[float, float, float]:
    """R squared, its noise, and what a relative error of the residual variance makes of it; as told best."""
    fitted, told = _share_of_fitted(moments, sigma), moments.released
    if told.total is None or told.noise_total is None:
        return fitted
    left = min(sigma.value**2 / told.total, 1.0)
    noise = math.hypot(2 * sigma.se_privacy * sigma.value, left * told.noise_total) / told.total
    best, other = sorted(((1 - left, noise, left), fitted), key=lambda found: found[1])
    # where the two surely differ by more than noise, one of them is of other rows than it should be
    apart = max(abs(best[0] - other[0]) - Z95 * math.hypot(best[1], other[1]), 0.0)
    return best[0], math.hypot(best[1], apart), best[2]


def _fitted(moments: NoisyMoments) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The line on the user's scale, its direction less the mean, how far noise has it off, and its variance.

    The variance is that of fitted values over all rows, in units of r.
    """
    fit, gram = moments.normal_equations(), moments.all_rows
    slopes, one = moments.frame.origin + moments.frame.map @ fit.delta, moments.frame.constant
    direction = moments.inverse @ slopes
    if one is not None:
        direction = direction - float(direction @ gram @ one) * one
        slopes[0] = 0.0
    # the noise of delta adds its own variance to that of the fitted values
    covariance = fit.gain @ moments.noise_at(fit.delta) @ fit.gain.T
    spurious = float(np.sum(gram * covariance))
    explained = max(float(direction @ gram @ direction) - spurious, 0.0)
    return slopes, direction, covariance + fit.guess, explained


def _share_of_fitted(moments: NoisyMoments, sigma: Quantity) -> tuple[float, float, float]:
    """R squared from the variance of fitted values, over all rows, and of residuals; else as `_share`."""
    slopes, direction, covariance, explained = _fitted(moments)
    gram, unit = moments.all_rows, moments.frame.scale
    residual, residual_noise = (sigma.value / unit) ** 2, 2 * sigma.value * sigma.se_privacy
    both = explained + residual
    # of a quadratic form: near a line of no slope the second term is all
    errors = gram @ covariance
    of_gram = float(4 * direction @ errors @ gram @ direction + 2 * np.sum(errors * errors.T))
    of_gram += (moments.released.noise_gram / moments.gram_weight * float(direction @ direction)) ** 2
    if moments.untold.whole_error is not None:
        squares = moments.untold.whole_error**2
        entries = 2 * squares - np.diag(np.diag(squares))
        of_gram += float(slopes**2 @ entries @ slopes**2) / unit**4
    noise = math.hypot(residual * math.sqrt(of_gram), explained * residual_noise / unit**2)
    return explained / both, noise / both**2, explained * residual / both**2


def residual_variance(moments: NoisyMoments, fit: NormalEquations) -> float:
    """Per unit of row weight, corrected for what the coefficients fitted of the data and the noise."""
    delta, d, told = fit.delta, len(fit.delta), moments.released
    raw = told.square - 2 * told.cross @ delta + delta @ moments.positive_gram @ delta
    raw = float(raw + fit.fitted) / moments.mean_weight
    variance = raw * told.n / max(told.n - d, 1)
    return max(variance, _variance_noise(moments, delta) / 2, 1e-12)


def _variance_noise(moments: NoisyMoments, delta: np.ndarray) -> float:
    told, square = moments.released, float(delta @ delta)
    variance = told.noise_square**2 + 4 * square * told.noise_cross**2 + (square * told.noise_gram) ** 2
    return math.sqrt(variance) / moments.mean_weight


def weight_noise(moments: NoisyMoments) -> float:
    """Relative sd of the mean weight of rows, by which the mean square of residuals is divided.

    It is u'Gu, whose noise is noise_gram u'u where that of G has no shape. As no row weighs more than 1,
    the noise is that of a normal variable which is known to lie below what is left up to 1. Under a pure
    epsilon G comes from another release, and `doubt` is what is not known of the weight.
    """
    one, noise = moments.frame.constant, moments.released.noise_gram
    if one is None or moments.earlier.shape is not None or not noise:
        return 0.0
    sd = max(noise * float(one @ one), 1e-12)
    room = (1 - moments.gram_weight) / sd
    rate = math.exp(-(room**2) / 2) / math.sqrt(2 * math.pi) / float(special.ndtr(room))
    return sd * math.sqrt(1 - rate * (room + rate)) / moments.gram_weight


def _kurtosis(moments: NoisyMoments) -> float:
    """Of the residuals; the usual one as far as the noise hides it."""
    told, usual = moments.released, moments.clipping.usual
    usual = _NORMAL if usual is None else max(usual, _LEAST)
    if told.fourth is None or told.noise_fourth is None:
        return usual
    trust = 1 / (1 + (told.noise_fourth / _UNTOLD) ** 2)
    found = told.fourth * moments.mean_weight / max(told.square, 0.05) ** 2
    return max(trust * found + (1 - trust) * usual, _LEAST)


def _tail(moments: NoisyMoments) -> tuple[float, float, float]:
    """What clipping took of the residual variance, as a share of the rest; its noise; and doubt.

    The kurtosis of what is left tells: exponential errors stand for all whose tails are heavier than the
    normal's, and what they lose is taken to be uncertain by as much as heavier tails lose more. Where no mean
    of r^4 was released it is that of exponential errors whose mean square grows as much between two limits.
    As rows beyond both make it grow, too, all that its noise does not explain may be theirs.
    """
    told, limit = moments.released, moments.clipping.limit
    if limit is None:
        return 0.0, 0.0, 0.0
    limit = limit / math.sqrt(max(told.square / moments.mean_weight, 0.05))
    kurtosis, sd = _kurtosis(moments), told.noise_fourth
    noise = math.inf if sd is None else sd * moments.mean_weight / max(told.square, 0.05) ** 2
    noise = min(noise, _UNTOLD)
    rate, normal = tail_rate(limit)
    tail = rate * max(kurtosis - normal, 0.0)
    power = power_variance(limit, kurtosis, told.n, math.inf if told.meat is not None else noise)
    return tail, rate * noise, math.hypot(_HEAVIER * tail, (1 + tail) * error_up_to(power / (1 + tail)))


def clipped_line(moments: NoisyMoments, between: np.ndarray) -> np.ndarray:
    """How far clipping may have moved delta, in units of r, (d, m); 0 where nothing was clipped.

    The kurtosis of residuals tells, half a sd of its noise added, as more of it costs more than less of it
    saves. What exponential errors of sd t lose, t e^-(L/t + 1), grows as the power 1 + L/t of t: where
    residuals differ in spread it is not only the intercept that moves.

    Parameters
    ----------
    moments : NoisyMoments
    between : array, shape (d, d)
        V, covariance of a r between rows, as :func:`score_covariance` gives it, which tells how ln t changes
        with a: along M^-1 (V u - s^2 M u) / 2 s^2 but for its mean, where a'u = 1.
    """
    told, clipping, one = moments.released, moments.clipping, moments.frame.constant
    size = math.sqrt(max(told.square / moments.mean_weight, 0.05))
    mean = _clipped_mean(moments, size)
    if clipping.limit is None or one is None or not math.isfinite(mean):
        return np.zeros((len(between), 1))
    gram = moments.positive_gram
    variance = residual_variance(moments, moments.normal_equations())
    uneven = (between / variance - gram) @ one / 2
    uneven = np.linalg.solve(gram + moments.noise_size * np.eye(len(gram)), uneven)
    uneven -= float(uneven @ gram @ one) / moments.gram_weight * one
    moved = one + _SHORTENED * (1 + clipping.limit / size) * uneven
    # where nobody tells along which predictor rows beyond the limit become more, any may be it
    along = np.eye(len(moved)) * (told.meat is None and clipping.most_lost is not None)
    along -= along @ np.outer(moved, moved) / float(moved @ moved)
    return mean * np.column_stack([moved, along / math.sqrt(max(len(moved) - 1, 1))])


def clipped_with_mean(moments: NoisyMoments, line: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How far clipping may have moved delta if residuals spread in proportion to the mean, (d,).

    So the spread of amounts does, above their least; where no release tells how it differs between rows, a
    response may be an amount above a declared bound. To its kurtosis k, what noise hides is added, and twice
    the excess of gamma amounts at most: a share (k - 3) / L^4 of residuals lies at the limit L at most, and
    loses L / 2 in the mean if a share y^-3 of it is farther than y L. What exponential errors lose changes by
    (1 + L) g, where ln t of their sd t changes by g for a sd of the line: so far up these rows lie.

    Parameters
    ----------
    moments : NoisyMoments
    line : array, shape (d,)
        a'line is the mean of a row, in units of r.
    ends : array, shape (2,)
        The declared bounds of the response, in the same units.
    """
    told, clipping, one = moments.released, moments.clipping, moments.frame.constant
    if clipping.limit is None or one is None:
        return np.zeros(len(line))
    size = math.sqrt(max(told.square / moments.mean_weight, 0.05))
    limit, gram = clipping.limit / size, moments.positive_gram / moments.gram_weight
    mean = float(one @ gram @ line)
    above, slopes = float(np.min(np.abs(mean - ends))), line - mean * one
    spread = math.sqrt(max(float(slopes @ gram @ slopes), 1e-12))
    noise = math.inf if told.noise_fourth is None else told.noise_fourth / moments.mean_weight / size**4
    unknown = min(noise, _UNTOLD, 6 * (size / max(above, size)) ** 2)
    more = max(_kurtosis(moments) + Z95 * unknown - tail_rate(limit)[1], 0.0)
    lost = size * more / (2 * limit**3)
    lost = lost if clipping.most_lost is None else min(lost, clipping.most_lost)
    up = min((1 + limit) * spread / max(above, spread), _FARTHEST_UP)
    return lost * up / spread * slopes


def _clipped_mean(moments: NoisyMoments, size: float) -> float:
    """What clipping takes of the mean at most: by the kurtosis of what it leaves, of this size, and counts.

    Infinite where neither tells.
    """
    told, clipping = moments.released, moments.clipping
    most = math.inf if clipping.most_lost is None else clipping.most_lost
    if clipping.limit is None or told.fourth is None or told.noise_fourth is None or clipping.guessed:
        return most
    kurtosis = (told.fourth + told.noise_fourth / 2) / moments.mean_weight / size**4
    return min(size * tail_mean(clipping.limit / size, kurtosis), most)


def score_covariance(moments: NoisyMoments, fit: NormalEquations) -> np.ndarray:
    """Covariance of a r between rows: the released one as far as it can be told from s^2 M_aa.

    In coordinates where s^2 M_aa is the identity, errors of equal variance give G = 1. The released G is
    shrunk towards it by the positive-part rule of James and Stein: all the way if |G - 1|^2 is what its
    noise and its sampling error explain. Where none was released errors are taken to be of equal variance;
    rows have weights w then E w^2 s^2 a a', at most the largest w times s^2 M_aa.
    """
    told, delta, variance = moments.released, fit.delta, residual_variance(moments, fit)
    if told.meat is None or told.noise_meat is None:
        return variance * _most_weight(moments) * moments.positive_gram
    variance *= 1.0 if moments.weighting.unit is None else moments.weighting.share
    values, vectors = np.linalg.eigh(told.gram)
    values = np.maximum(values, moments.noise_size) * variance
    shrink = (vectors / np.sqrt(values)) @ vectors.T
    excess = shrink @ told.meat @ shrink * told.n / max(told.n - len(delta), 1) - np.eye(len(delta))
    metric = shrink @ shrink
    expected = told.noise_meat**2 / 2 * (np.trace(metric) ** 2 + np.trace(metric @ metric))
    expected += (_kurtosis(moments) + 1) * len(delta) * (len(delta) + 1) / 2 / told.n
    trust = not_noise(np.sum(excess**2), expected)
    size, axes = np.linalg.eigh(np.eye(len(delta)) + trust * excess)
    stretch = (vectors * np.sqrt(values)) @ vectors.T @ axes
    return np.asarray((stretch * np.maximum(size, 0.3)) @ stretch.T)


def _most_weight(moments: NoisyMoments) -> float:
    """Of a row, over that of which the residual variance is told: 1 if rows have no weights of their own.

    That variance is moderated for weights that measure precision, which is taken back.
    """
    rows = moments.weighting
    return 1.0 if rows.unit is None else max(rows.heaviest * max(rows.weight, 1.0), rows.share)
