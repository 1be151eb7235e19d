"""Slopes from residuals clipped where many of them are, and what that moves from a release of its own.

The noise of slopes is proportional to the limit at which residuals are clipped. Near one sd it is half of
what it is at three, but skewed residuals then have another centre than their mean: the constant moves, and
where their spread grows with the mean, the slope along the predictor. These two directions are released about
the narrow line with a limit that keeps the mean. See docs/theory/linear.md#narrow-limits.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.gram.bounds import FOURTH, MEAT, Bounds, narrowed, tail_bounds
from dpstats.estimators.gram.coordinates import Coordinates, Noise, more_moments, second_moments
from dpstats.moments import LinearMoments
from dpstats.moments.solution import positive
from dpstats.moments.spread import residual_variance

Array = np.ndarray

# The slope that clipping leaves, P(|r| < L), by 1 less these multiples of the means of (r/L)^4 and (r/L)^2,
# clipped at 1, which is exact for residuals spread evenly within the limit; times what makes it right for
# normal ones. At L = 1.2 sds it is off by -4 to 2 % for normal, uniform, Laplace, logistic and t laws and for
# normal ones of unequal spread, whose matrix is then off by as much.
_FOURTH, _SQUARE, _NORMAL, _OFF = 2.5, 1.5, 0.96, 0.05
_LEAST = 0.4  # of that slope
_LEAST_WEIGHT = 0.05  # mean weight of rows
# Clipped near one sd, lognormal and exponential errors lose of their mean about as the second power of their
# spread, and the released matrix of r^2 a a', r clipped, tells half of how spreads differ.
_TILT = 4.0
_MOST_UNEVEN = 0.15  # change of ln sd of residuals per sd of a row that is allowed for where noise hides it


def straightened(moments: LinearMoments) -> LinearMoments:
    """Moments of residuals over the slope that clipping leaves, which give the line of unclipped ones."""
    limit, weight = moments.limit, moments.mean_weight
    assert limit is not None and moments.fourth is not None and moments.noise_fourth is not None
    assert moments.meat is not None and moments.noise_meat is not None
    kept = _kept(moments.square / limit**2 / weight, moments.fourth / limit**4 / weight)
    noise = math.hypot(_FOURTH * moments.noise_fourth / limit**4, _SQUARE * moments.noise_square / limit**2)
    return replace(
        moments,
        cross=moments.cross / kept,
        noise_cross=moments.noise_cross / kept,
        square=moments.square / kept**2,
        noise_square=moments.noise_square / kept**2,
        meat=moments.meat / kept**2,
        noise_meat=moments.noise_meat / kept**2,
        fourth=None,
        noise_fourth=None,
        limit=None,
        uneven=math.hypot(_OFF, noise / weight / kept),
    )


def _kept(square: float, fourth: float) -> float:
    """The slope that clipping leaves, by the means of (r/L)^2 and (r/L)^4."""
    return min(max(_NORMAL * (1 + _SQUARE * square - _FOURTH * fourth), _LEAST), 1.0)


def narrow_pilot(
    curator: Curator, cost: float, place: Coordinates, bounds: Bounds
) -> tuple[Array, Array, float, Noise]:
    """Second moments of a pilot whose residuals are clipped at a narrow limit, straightened.

    It does not tell how large residuals are, which the pilot before it did: their mean square is 1.
    """
    bounds = narrowed(bounds)
    release = curator.release(
        "residual_moments",
        cost,
        meat=MEAT,
        meat_limit=bounds.meat_limit,
        fourth=FOURTH,
        **place.public(bounds),
    )
    gram, cross, square, noise = second_moments(release, bounds)
    fourth, u = more_moments(release, bounds)[2], place.constant
    assert u is not None
    weight = min(max(float(u @ gram @ u), _LEAST_WEIGHT), 1.0)
    kept = _kept(square / bounds.limit**2 / weight, fourth / bounds.limit**4 / weight)
    return gram, cross / kept, 1.0, Noise(noise.gram, noise.cross / kept, 0.0)


def corrected(
    curator: Curator, cost: float, moments: LinearMoments, place: Coordinates
) -> tuple[LinearMoments, float]:
    """Moments with the line along constant and predictor, and sigma, released about their line.

    Parameters
    ----------
    curator : Curator
    cost : float
    moments : LinearMoments
        As :func:`straightened` gives them, in the coordinates `place`.
    place : Coordinates

    Returns
    -------
    moments : LinearMoments
    limit : float
        Where residuals were clipped in this release.
    """
    to_row, rows = np.linalg.inv(place.whitening), moments.all_rows
    line = place.line + place.sigma * place.whitening @ moments.normal_equations().delta
    slopes = np.append(0.0, line[1:])
    along = to_row @ slopes
    slopes = slopes / math.sqrt(max(float(along @ rows @ along), 1e-12))
    directions = np.zeros_like(rows)
    directions[0, 0], directions[:, 1] = 1.0, slopes
    where = replace(place, whitening=directions, line=line)
    bounds = tail_bounds(curator.n, curator.cost_per_row(cost), where.widest)
    release = curator.release(
        "residual_moments",
        cost,
        meat=MEAT,
        meat_limit=bounds.meat_limit,
        fourth=FOURTH,
        **where.public(bounds),
    )
    along_both = _along_both(release, bounds, moments.share)
    told, sigma = along_both.solve(), along_both.sigma()
    if not np.isfinite(told.cov).all():  # so few rows count that no line is told
        return replace(moments, rows=0.0), bounds.limit
    both = to_row @ directions[:, :2]
    apart = np.eye(len(rows)) - both @ np.linalg.solve(both.T @ rows @ both, both.T @ rows)
    shifted = max(float(told.params[0]) ** 2 - float(told.cov_privacy[0, 0]), 0.0)
    tilted = _TILT**2 * shifted * apart @ _uneven(moments) @ apart.T
    return (
        replace(
            moments,
            apart=apart,
            shift=both @ told.params,
            shift_sampling=both @ (told.cov - told.cov_privacy) @ both.T + tilted,
            shift_privacy=both @ told.cov_privacy @ both.T,
            sd=sigma.value,
            sd_se=sigma.se,
            sd_privacy=sigma.se_privacy,
        ),
        bounds.limit,
    )


def _along_both(release: Release, bounds: Bounds, share: float) -> LinearMoments:
    """The regression of residuals on the constant and the predictor, in its sds."""
    gram, cross, square, noise = second_moments(release, bounds)
    meat, noise_meat, fourth, noise_fourth = more_moments(release, bounds)
    return LinearMoments(
        n=release.n,
        gram=gram[:2, :2],
        cross=cross[:2],
        square=square,
        noise_gram=noise.gram,
        noise_cross=noise.cross,
        noise_square=noise.square,
        meat=meat[:2, :2],
        noise_meat=noise_meat,
        fourth=fourth,
        noise_fourth=noise_fourth,
        limit=bounds.limit,
        share=share,
        origin=np.zeros(2),
        map=np.eye(2),
        scale=1.0,
        penalised=np.array([0.0, 1.0]),
        constant=np.array([1.0, 0.0]),
    )


def _uneven(moments: LinearMoments) -> Array:
    """Second moments of how ln sd of residuals changes with a, by the matrix of r^2 a a' as far as it tells.

    See :func:`dpstats.moments.spread.clipped_line`. What noise hides may point anywhere.
    """
    u, gram = moments.constant, positive(moments.gram)
    assert u is not None and moments.meat is not None and moments.noise_meat is not None
    variance = residual_variance(moments, moments.normal_equations())
    change = (moments.meat / variance - gram) @ u / 2
    change = np.linalg.solve(gram + moments.noise_size * np.eye(len(gram)), change)
    change = change - float(change @ gram @ u) / moments.gram_weight * u
    k, square = len(change), max(float(change @ change), 1e-12)
    noise = moments.noise_meat / variance / math.sqrt(8) * float(np.linalg.norm(u))
    trust = max(0.0, 1 - k * noise**2 / square)
    return trust * np.outer(change, change) + (1 - trust) * min(square / k, _MOST_UNEVEN**2) * np.eye(k)
