"""Coefficients of levels: by what their scores say, and whether there are enough events to say anything.

See docs/theory/levels.md.
"""

from __future__ import annotations

import numpy as np

from dpstats.estimators.levels import FARTHEST, FEWEST_EVENTS, LEFT_OPEN, SHIFTS, level, slope_in_middle
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import GlmFamily

Array = np.ndarray

# linear predictor of a level, whatever noise makes of a coefficient
_FARTHEST = 15.0


def read_levels(
    problem: Problem,
    located: Located,
    params: Array,
    points: Array,
    step: Array,
    sds: Array,
    sampling: Array,
) -> tuple[Array, Array]:
    """Coefficients by what the scores of levels say, and factors of standard errors, infinite if unknown.

    Without an intercept it is not known where the other columns are, and nothing is done.

    Parameters
    ----------
    problem : Problem
    located : Located
    params : array, shape (k,)
        Coefficients as if scores were in proportion to them.
    points : array, shape (T, k)
        Coefficients at which scores were read.
    step, sds, sampling : array, shape (k,)
        Mean Newton step, the sd of its error, and the part of sampling in it; a coefficient of infinite sd is
        left as it is.
    """
    params, mean, factors = params.copy(), points.mean(axis=0), np.ones(problem.k)
    if not problem.intercept:
        return params, factors
    middle = float(mean[0] + mean[1:] @ located.center[1:]) + located.offset
    for j in np.flatnonzero(np.append(False, problem.zero_or_one) & np.isfinite(sds)):
        rows = float(np.clip(located.center[j], 0.0, 1.0))
        ends = np.clip(middle + mean[j] * np.array([-rows, 1 - rows]), -_FARTHEST, _FARTHEST)
        # the intercept makes up for a change as far as the rows of a 1 hold the information
        other, told = np.array([1 - rows, rows]) * problem.family.curvature(ends)
        share = float(told / max(other + told, 1e-300))
        curve = _curve(problem.family, ends[0] if other < told else ends[1])
        found = level(curve, share, points[:, j], step[j], sds[j], sampling[j])
        factors[j] = found.factor
        if problem.family.free_dispersion:
            # its curvature is 1 at all points, whose matrices do not tell how scores bend
            params[j] = mean[j] + found.shift
    return params, factors


def _curve(family: GlmFamily, eta: float) -> Array:
    """Newton steps of rows of this linear predictor, if the true one lies further by `SHIFTS`."""
    means = family.mean(np.clip(eta, -_FARTHEST, _FARTHEST) + SHIFTS)
    return np.asarray((means - means[len(means) // 2]) / slope_in_middle(means))


def few_events(problem: Problem, located: Located, params: Array, cov: Array, n: int) -> Array:
    """Which coefficients are of levels with so few events that there may be none; bool, shape (k,).

    A level without events, or with nothing else, has no estimate: steps towards infinity stop anywhere.
    Events are counted, of the rarer kind, or what their rows tell if that is less, as either end of the
    interval of the coefficient expects them, where the other columns are at their means; without an intercept
    these are not known, and nothing is said.
    """
    if not problem.intercept:
        return np.zeros(problem.k, dtype=bool)
    slopes, shares = params[1:], np.clip(located.center[1:], 0.0, 1.0)
    middle = float(params[0] + slopes @ located.center[1:]) + located.offset
    far = 2 * np.sqrt(np.diag(cov)[1:])
    sides = ((shares, middle + slopes * (1 - shares)), (1 - shares, middle - slopes * shares))
    with np.errstate(invalid="ignore"):  # of what is lost already
        events = np.min(
            [
                n * located.usable * share * _told(problem.family, eta + end * far)
                for share, eta in sides
                for end in (-1, 1)
            ],
            axis=0,
        )
    return np.append(False, problem.zero_or_one & np.isfinite(far) & (events < FEWEST_EVENTS))


def _told(family: GlmFamily, eta: Array) -> Array:
    """Events in a row, in expectation; its curvature where there are none, or where these say less."""
    curvature = family.curvature(eta)
    return curvature if family.free_dispersion else np.minimum(curvature, family.variance(family.mean(eta)))


def lost_to_noise(problem: Problem, weakly: Array, guess: Array, before: Array) -> Array:
    """Which coefficients are lost of those that rest on a guess of what noise hides, `weakly`.

    Effects of levels are bounded, and the guess covers them. Where noise hides levels alone, other
    coefficients have a small part in the hidden directions, by noise in the information, and their intervals
    include what the guess makes of it.

    Parameters
    ----------
    problem : Problem
    weakly : array of int
    guess, before : array, shape (k, k)
        Covariance by what noise hides, and if it hid all.
    """
    hidden = np.diag(guess) > LEFT_OPEN * np.diag(before)
    levels = np.append(np.zeros(int(problem.intercept), dtype=bool), problem.zero_or_one)
    return weakly if np.any(hidden & ~levels) else weakly[hidden[weakly]]


def within_reach(problem: Problem, params: Array, lost: Array) -> Array:
    """Coefficients, those of levels that are not estimable no larger than any that could be told.

    Of a level that noise takes away from the others rows lose their curvature, and steps run on.
    """
    if not problem.intercept:
        return params
    levels = np.append(False, problem.zero_or_one) & lost
    return np.where(levels, np.clip(params, -FARTHEST, FARTHEST), params)
