"""The estimate of a location and a log sigma for each stratum, its covariance and its flags.

See docs/theory/survival.md#strata.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.engine.average import UNSETTLED, far, scatter
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.levels import FEWEST_EVENTS
from dpstats.estimators.location_scale.estimate import (
    CURVED,
    HOPELESS,
    OF_LOG_SIGMA,
    USABLE,
    Estimate,
    by_spread,
    needed,
    settings_of,
    unseen,
)
from dpstats.estimators.location_scale.hazard_calibration import biases, contrasted
from dpstats.estimators.location_scale.newton import MATRIX_SEEN
from dpstats.estimators.location_scale.problem import Problem, sigma_of
from dpstats.estimators.location_scale.strata import State, Steps, iterate, start
from dpstats.moments import Quantity

Array = np.ndarray


def fit_strata(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a location-scale regression whose strata have a sigma each, from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design is the wider one, with an intercept; `plan.total`, a mu, must be left of its total.
    problem : Problem
        With strata.
    plan : Plan

    Returns
    -------
    Estimate
        Of the formula's coefficients, and a log sigma for each stratum.
    """
    state = start(curator, problem, plan)
    steps = iterate(curator, plan, state)
    signal = curator.n * curator.cost_per_row(plan.total)
    result = estimate(state, steps, signal)
    return _checked(curator, plan.cost("check"), state, result)


def estimate(state: State, steps: Steps, signal: float) -> Estimate:
    """One step from the mean point, along the formula's coefficients; sandwich covariance."""
    bounding, layout, information = state.bounding, state.layout, steps.information
    scale, k = bounding.placement.scale, bounding.k
    steps, to_params, spread, moves = _arrived(state, steps)
    tied, variances = state.tied(to_params), steps.rms**2 / len(steps.scores)
    solve = np.linalg.solve(tied.T @ information.matrix @ tied, tied.T)
    inverse, back = tied @ solve, solve @ information.matrix
    step = inverse @ steps.scores.mean(axis=0)
    noise, inflate = inverse @ np.diag(variances) @ inverse, information.inflation
    sampling = inflate @ (inverse / bounding.n) @ inflate.T
    guess = unseen(information, to_params, bounding, sigma_of(state.typical))
    privacy = (inflate @ noise @ inflate.T) * spread + guess + sampling * (spread - 1)
    privacy += information.error_of(step)
    own = by_spread(step, noise, information, sigma_of(state.typical), k)
    privacy += np.diag(np.append(np.zeros(k), own + _on_the_way(state, step, noise)))
    need = max(
        needed(state.choice, bounding),
        len(step) * math.sqrt(MATRIX_SEEN / max(signal * scale.fraction, 1e-300)),
    )
    excess = max(1.0, need) ** 3
    privacy, sampling, hidden = (back @ part @ back.T for part in (privacy, sampling, guess))
    cov_privacy = _off_the_line(state, privacy * excess + sampling * (excess - 1))
    cov = cov_privacy + sampling

    slopes = np.concatenate([[0.0], state.point.gamma[1:], np.zeros(len(step) - k)])
    moved = np.linalg.solve(to_params, slopes) + step
    change = back @ (step - information.part(moved, information.seen < 0.5))
    params = np.append(layout.along(state.point.gamma), state.point.log_sigma) + change
    user = scipy.linalg.block_diag(layout.to_user, np.eye(len(layout.shares)))
    params, cov, cov_privacy, hidden = (
        user @ params,
        *(user @ each @ user.T for each in (cov, cov_privacy, hidden)),
    )
    params[0] += scale.y_center
    params[layout.tied.shape[1] :] += math.log(scale.y_scale)
    problems = ["unsettled"] * moves + ["budget"] * bool(need > 1)
    events = bounding.n * scale.fraction, bounding.n * scale.fraction_sd
    result = Estimate(
        params,
        cov,
        cov_privacy,
        tuple(problems),
        settings_of(state.choice, bounding, state.typical),
        events=Quantity(*events, events[1]),
    )
    return result.hopeless() if need > HOPELESS / USABLE else result.wider(_factors(state, need))


def _arrived(state: State, steps: Steps) -> tuple[Steps, Array, float, bool]:
    """The steps without the first, up to half of all, that were on the way to what the others scatter about.

    And the way to parameters at their mean, where the state then stands; their scatter; whether they move.
    """
    for left in (*range(len(steps.points) // 2 + 1), 0):
        found = steps.after(left)
        state.stand(found.points.mean(axis=0))
        to_params = state.to_params(state.pivots())
        _, spread = scatter(found.points, found.scores, found.rms, steps.information.matrix, to_params)
        tied = state.tied(to_params)
        score, variances = tied.T @ found.scores.mean(axis=0), found.rms**2 / len(found.scores)
        still = float(score @ np.linalg.solve((tied.T * variances) @ tied, score))
        moves = bool(found.capped.any() or spread > UNSETTLED or far(still, len(score)))
        if not moves:
            break
    return found, to_params, spread, moves


def _on_the_way(state: State, step: Array, noise: Array) -> Array:
    """Variances of log sigmas for a last step beyond noise, which is no longer in proportion to the scores.

    One that is e off is found e^2 off, if no more; a level that was d of its stratum's sigmas off spread
    residuals by the square of that.
    """
    layout = state.layout
    lines = layout.rows(state.longer) @ state.whitening.matrix
    ways = scipy.linalg.block_diag(lines, np.eye(len(lines)))
    level, own = np.split(np.maximum((ways @ step) ** 2 - np.diag(ways @ noise @ ways.T), 0.0), 2)
    return np.asarray((CURVED * level) ** 2 + own**2)


def _off_the_line(state: State, privacy: Array) -> Array:
    """The covariance with what noise in the level of a stratum does to its log sigma.

    Residuals of a line that is off spread by the square of that, in sigmas.
    """
    layout = state.layout
    lines, p = layout.means @ layout.tied, layout.tied.shape[1]
    off = np.einsum("gi,ij,gj->g", lines, privacy[:p, :p], lines) / state.point.sigma**2
    return privacy + np.diag(np.append(np.zeros(p), (CURVED * off) ** 2))


def _factors(state: State, need: float) -> Array:
    """Longer standard errors where noise is beyond use in a stratum; infinite where hardly a row failed."""
    layout, events = state.layout, state.bounding.placement.events
    strata, scale = state.bounding.placement.problem.strata, state.bounding.placement.scale
    assert strata is not None
    # by the first stage, whose means are of all failures, or by the matrix, whose floor raises small shares
    shares = np.minimum(strata.inside @ np.append(1.0, scale.center), layout.shares)
    count = state.bounding.n * events.fraction * shares
    noise = state.bounding.n * np.maximum(events.noise * np.sum(layout.inside**2, axis=1), scale.fraction_sd)
    beyond = state.choice.log_sigma_noise / OF_LOG_SIGMA / USABLE / np.sqrt(layout.shares)
    lost = (count - 2 * noise < FEWEST_EVENTS) | (beyond > HOPELESS / USABLE)
    own = np.where(lost, np.inf, (np.maximum(beyond, 1.0) / max(need, 1.0)).clip(1.0) ** 1.5)
    levels = (
        np.linalg.pinv(strata.inside.T) @ strata.tied
    )  # what coefficients add to the line of each stratum
    location = np.ones(levels.shape[1])
    if np.linalg.matrix_rank(levels) == len(levels):
        location[(np.abs(np.linalg.pinv(levels)[:, lost]) > 1e-9).any(axis=1)] = np.inf
    return np.append(location, own)


def _checked(curator: Curator, mu: float, state: State, result: Estimate) -> Estimate:
    """A fit under the caution "law", or with the doubt of contrasts; see :mod:`.hazard_calibration`."""
    placement = state.bounding.placement
    found = contrasted(curator, mu, placement, state.typical, state.point.sigma, False)
    result = replace(result, law=found.law)
    if found.stands_out:
        return result.doubted(np.zeros_like(result.cov), "law")
    strata = placement.problem.strata
    assert strata is not None
    k, groups = strata.tied.shape[0], len(strata.inside)
    each = biases(placement.scale, sigma_of(state.typical), found.pivot, False)
    spread = np.vstack([np.eye(k, k + 1), np.tile(np.eye(1, k + 1, k), (groups, 1))])
    onto = scipy.linalg.block_diag(np.linalg.pinv(strata.tied), np.eye(groups)) @ spread
    return result.doubted(found.doubt**2 * (onto @ each @ onto.T))
