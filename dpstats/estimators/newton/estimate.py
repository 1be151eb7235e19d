"""The estimate, its covariance and its flags, from the averaged steps."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from dpstats.estimators.bends import DOUBTFUL
from dpstats.estimators.engine import finish as common
from dpstats.estimators.engine.accumulate import Accumulator
from dpstats.estimators.engine.average import LONG, MATTERS, UNSETTLED, drifts, scatter
from dpstats.estimators.engine.finish import guessed, lacking
from dpstats.estimators.engine.information import Information
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.dispersion import (
    Seen,
    excess,
    free_dispersion,
    overdispersion,
    seen,
    surely_scattered,
)
from dpstats.estimators.newton.hidden import hidden
from dpstats.estimators.newton.information import dispersion
from dpstats.estimators.newton.levels import Scores, read_levels
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import GlmFamily
from dpstats.moments import Quantity

# how far variability may lie from dispersion times information, by direction
_MISSPECIFIED = 0.3
# counts with this dispersion have a tail, which matters if scores are limited to fewer sds
_SCATTERED, _TAIL = 1.5, 8.0


@dataclass(frozen=True)
class Averaged:
    """What the averaged steps left, in whitened coordinates but for the points.

    Attributes
    ----------
    points : array, shape (T, k)
        Coefficients of the standardised columns at which scores were read.
    scores : array, shape (T, k)
        Per row.
    matrices : array, shape (T, k, k)
        Information at these points alone, per row.
    noise : float
        Root mean square of their noise sds.
    information : Information
    whitening : array, shape (k, k)
    variability : Accumulator
        Of the squared scores; empty where the family says what they are.
    start : array, shape (k,)
        Where the iteration began: no covariate has an effect.
    """

    points: np.ndarray
    scores: np.ndarray
    matrices: np.ndarray
    noise: float
    information: Information
    whitening: np.ndarray
    variability: Accumulator
    start: np.ndarray


@dataclass(frozen=True)
class Estimate(common.Estimate):
    """A fit on the user's scale.

    Attributes
    ----------
    dispersion : Quantity, optional
        Of the responses, for families but the binomial: phi of a gamma or Gaussian law; of counts, the
        variance of their scores over their information.
    excess : Quantity, optional
        alpha of a negative binomial family, as it was seen.
    family : GlmFamily, optional
        Where an alpha was sought, with the one that was found.
    """

    dispersion: Quantity | None = None
    excess: Quantity | None = None
    family: GlmFamily | None = None


def estimate(averaged: Averaged, problem: Problem, located: Located, bounds: Bounds, n: int) -> Estimate:
    """One Newton step from the average point by the average score, to second order; sandwich covariance."""
    information = averaged.information
    step = information.solve(averaged.scores.mean(axis=0))
    second = information.solve(_second_order(averaged, step))
    point = _without_unseen(averaged, averaged.points.mean(axis=0) + averaged.whitening @ (step + second))
    guess = _guess(averaged, problem, located, point)
    sampling, privacy, unsettled = _uncertain(averaged, step, n)
    user = located.to_user(problem.intercept)
    axes = user @ averaged.whitening
    sampling, privacy, guess = (axes @ part @ axes.T for part in (sampling, privacy, guess))
    read = Scores(averaged.points @ user.T, axes @ step, sampling + privacy, sampling)
    privacy = privacy + guess
    cov = sampling + privacy
    problems = ("unsettled",) * unsettled
    found, tail = _scattered(averaged, problem, bounds, (n, located.usable))
    result = Estimate(user @ point, cov, privacy, problems, **found)
    result = guessed(result, guess, located.before(user), problem.intercept)
    result = result.hopeless() if located.unread or not information.stands_out else result
    result = read_levels(problem, located, result, read)
    return replace(result, problems=(*result.problems, *tail, *lacking(located.usable, located.usable_sd)))


def _guess(averaged: Averaged, problem: Problem, located: Located, point: np.ndarray) -> np.ndarray:
    """Covariance of a whitened point by effects along directions that are not seen, of which it has none."""
    information, whitening = averaged.information, averaged.whitening
    guess = hidden(information, whitening, point - averaged.start, problem, located)
    unbounded = located.unbounded(information.blind(), np.linalg.inv(whitening))
    return guess + information.error_beside(guess) + unbounded


def _uncertain(averaged: Averaged, step: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Covariances of a whitened point by sampling and by noise, and whether it moves still."""
    information, steps = averaged.information, len(averaged.points)
    inverse, variability = information.inverse, _variability(averaged)
    inflate = information.inflation
    sampling = inflate @ (inverse @ variability @ inverse / n) @ inflate.T
    _, spread = scatter(
        averaged.points, averaged.scores, averaged.noise, information.matrix, averaged.whitening
    )
    drift, long = drifts(averaged.scores, averaged.noise), float(np.linalg.norm(step)) > LONG
    noise = inverse @ inverse * averaged.noise**2 / steps
    privacy = inflate @ noise @ inflate.T * spread + (drift or long) * np.outer(step, step)
    # scatter beyond the noise matters where the noise does, and a drift where it is not over soon
    scatters = spread > max(UNSETTLED, _by_chance((steps - 1) * len(step)))
    scatters &= np.trace(noise) * (spread - 1) > MATTERS * np.trace(sampling)
    return sampling, privacy, bool(scatters or (drift and long))


def _scattered(
    averaged: Averaged, problem: Problem, bounds: Bounds, rows: tuple[int, float]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Bounds, and where scores were limited what of an `Estimate` is told by their scatter; and its problems.

    `rows` are their number, and the share that can be used.
    """
    information, family, score = averaged.information, problem.family, bounds.score
    settings = {"R": bounds.radius}
    if score is None or not family.unlimited:
        return dict(settings=settings), ()
    if family.two_valued:
        return dict(settings=settings | {"S": score.limit}), ()
    settings["C"] = score.limit
    found = seen(
        averaged.variability, information, averaged.whitening, bounds.radius, problem.intercept, *rows
    )
    phi = (free_dispersion if family.free_dispersion else overdispersion)(found, score)
    told: dict[str, Any] = dict(settings=settings, dispersion=phi)
    if family.alpha is not None:
        settings["alpha"], told["excess"] = family.alpha, excess(found, phi, family.alpha)
    if family.seek is not None:
        told["family"] = family.seek(phi.value, found.curvature)
    return told, ("tail",) * (family.counts and _rests_on_tail(found, phi.value, score))


def _second_order(averaged: Averaged, step: np.ndarray) -> np.ndarray:
    """What scores at the points lack to those of straight lines through the estimate.

    A score falls from a point x to the root r by the information between them, (H(x) + H(r)) / 2 times x - r,
    not by H(r). Points scatter, so that H(x) - H(r) and x - r go together, and left out it is a bias of the
    size of their variance: where odds are small, towards still smaller ones.
    """
    apart = (averaged.points - averaged.points.mean(axis=0)) @ np.linalg.inv(averaged.whitening).T - step
    differences = averaged.matrices - averaged.matrices.mean(axis=0)
    return np.asarray(np.einsum("tij,tj->i", differences, apart) / (2 * len(apart)))


def _by_chance(numbers: int) -> float:
    """What the mean square of so many numbers of variance 1 exceeds by chance."""
    return float(special.chdtri(numbers, DOUBTFUL)) / numbers


def _without_unseen(averaged: Averaged, point: np.ndarray) -> np.ndarray:
    """The point, back at the start along directions that are not seen: what moved there was noise."""
    moved = np.linalg.solve(averaged.whitening, point - averaged.start)
    unseen = averaged.information.part(moved, 1 - averaged.information.seen)
    return np.asarray(point - averaged.whitening @ unseen)


def _rests_on_tail(found: Seen, phi: float, score: BoundedScore) -> bool:
    """Whether counts surely scatter more than their law allows, and scores are clipped in their tail.

    Counts that are bounded by declaration have none where the limit is beyond the bound.
    """
    short = score.limit < min(_TAIL * math.sqrt(phi * found.curvature), score.top - found.curvature)
    return short and surely_scattered(found, score, _SCATTERED)


def _variability(averaged: Averaged) -> np.ndarray:
    """Mean square of the scores.

    In units of the information it is the dispersion times the identity where the family holds; what the
    releases say beyond that is trusted as far as their noise allows.
    """
    information = averaged.information
    if not averaged.variability.releases:
        return information.matrix
    # its own eigenvalues: found again in the matrix, the smallest drown in the rounding of the largest
    values, vectors = information.used, information.vectors
    root = (vectors * np.sqrt(values)) @ vectors.T
    back = (vectors / np.sqrt(values)) @ vectors.T
    k = len(values)
    phi = max(dispersion(averaged.variability, information, averaged.whitening)[0], 0.05)
    relative = back @ averaged.variability.mean(averaged.whitening) @ back
    sd = float(np.mean(averaged.variability.sds(averaged.whitening, vectors) / values))
    trust = (_MISSPECIFIED * phi) ** 2
    trust = trust / (trust + sd**2 * k)
    relative = phi * np.eye(k) + trust * (relative - phi * np.eye(k))
    values, vectors = np.linalg.eigh(relative)
    relative = (vectors * np.maximum(values, 0.3 * phi)) @ vectors.T
    return np.asarray(root @ relative @ root)
