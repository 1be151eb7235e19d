"""The estimate, its covariance and its flags, from the averaged steps."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpstats._codes import UNSETTLED, WEAK, problems_at
from dpstats.estimators.alike import alike
from dpstats.estimators.engine.average import Steps, averaged_covariances
from dpstats.estimators.engine.finish import Estimate, guessed, weak
from dpstats.estimators.engine.information import ANY, Accumulator
from dpstats.estimators.level_scores import LevelScores
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.dispersion import (
    excess,
    free_dispersion,
    overdispersion,
    seen,
)
from dpstats.estimators.newton.hidden import empty_ends, hidden
from dpstats.estimators.newton.information import dispersion
from dpstats.estimators.newton.level_coefficients import read_levels, row_moments
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.slopes import leaning, read_slopes
from dpstats.families.glm import GlmFamily
from dpstats.moments import Quantity
from dpstats.moments.noisy import lacking

# how far variability may lie from dispersion times information, by direction
_MISSPECIFIED = 0.3


@dataclass(frozen=True)
class Averaged:
    """What the averaged steps left, in whitened coordinates but for the points.

    Attributes
    ----------
    steps : Steps
        Points are coefficients of the standardised columns.
    matrices : array, shape (T, k, k)
        Information at these points alone, per row.
    whitening : array, shape (k, k)
    variability : Accumulator
        Of the squared scores; empty where the family says what they are.
    start : array, shape (k,)
        Where the iteration began: no covariate has an effect.
    first : Accumulator
        Information where the iteration began, of rows of one curvature, if it is kept.
    rarer : float
        All rows that give the rarer answer of a yes or no, in sds of the noise of the first step.
    """

    steps: Steps
    matrices: np.ndarray
    whitening: np.ndarray
    variability: Accumulator
    start: np.ndarray
    first: Accumulator = field(default_factory=Accumulator)
    rarer: float = math.inf


@dataclass(frozen=True)
class GlmEstimate(Estimate):
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


def estimate(averaged: Averaged, problem: Problem, located: Located, bounds: Bounds, n: int) -> GlmEstimate:
    """One Newton step from the average point by the average score, to second order; sandwich covariance."""
    points, information = averaged.steps.points, averaged.steps.information
    step = information.solve(averaged.steps.scores.mean(axis=0))
    second = information.solve(_second_order(averaged, step))
    point = points.mean(axis=0) + averaged.whitening @ (step + second)
    guess, larger = _guess(averaged, problem, located, point)
    per_row = information.inverse @ _variability(averaged) @ information.inverse
    sampling, privacy, unsettled = averaged_covariances(averaged.steps, averaged.whitening, per_row, n)
    user = located.to_user(problem.intercept)
    axes = user @ averaged.whitening
    sampling, privacy, guess, larger = (axes @ part @ axes.T for part in (sampling, privacy, guess, larger))
    rows = row_moments(information, averaged.whitening, located, problem.intercept)
    read = LevelScores(
        points @ user.T, axes @ step, sampling + privacy, sampling, moments=rows, rarer=averaged.rarer
    )
    privacy = privacy + guess + larger + empty_ends(information, axes, problem, located)
    cov = sampling + privacy
    problems = (UNSETTLED,) * unsettled + problems_at(WEAK, weak(larger, cov))
    found = _scattered(averaged, problem, bounds, located, n)
    result = GlmEstimate(user @ point, cov, privacy, problems, **found)
    result = guessed(result, guess, located.before(user), problem.intercept, bool(problem.usual.all()))
    result = result.hopeless() if located.lowest or not information.stands_out else result
    result = read_levels(problem, located, result, read)
    leans = partial(leaning, averaged.first, averaged.whitening, points.mean(axis=0), problem.intercept)
    result = read_slopes(problem, located, result, read, bounds.score, leans)
    return result.saying(*lacking(located.usable, located.usable_sd))


def _guess(
    averaged: Averaged, problem: Problem, located: Located, point: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances of a whitened point by effects along directions that are not seen, of which it has none."""
    information, whitening = averaged.steps.information, averaged.whitening
    most = np.sqrt(information.used / np.median(information.used))
    guess, larger = hidden(information, whitening, point - averaged.start, most, problem, located)
    back = np.linalg.inv(whitening)
    axes = back @ np.linalg.inv(located.to_user(problem.intercept))
    still = alike(information, axes, problem.slopes_within)
    vague = information.unbounded(back, located.dim) + ANY * still @ still.T
    return guess + information.error_beside(guess + larger) + vague, larger


def _scattered(
    averaged: Averaged, problem: Problem, bounds: Bounds, located: Located, n: int
) -> dict[str, Any]:
    """Bounds, and where scores were limited what their scatter tells of the estimate."""
    information, family, score = averaged.steps.information, problem.family, bounds.score
    settings = {"R": bounds.radius}
    if score is None or not family.unlimited:
        return dict(settings=settings)
    if family.two_valued:
        return dict(settings=settings | {"S": score.limit})
    settings["C"] = score.limit
    found = seen(
        averaged.variability, information, averaged.whitening, bounds.radius, problem.intercept, n, located
    )
    phi = (free_dispersion if family.free_dispersion else overdispersion)(found, score)
    told: dict[str, Any] = dict(settings=settings, dispersion=phi)
    if family.alpha is not None:
        settings["alpha"], told["excess"] = family.alpha, excess(found, phi, family.alpha)
    if family.seek is not None:
        told["family"] = family.seek(phi.value, found.curvature)
    return told


def _second_order(averaged: Averaged, step: np.ndarray) -> np.ndarray:
    """What scores at the points lack to those of straight lines through the estimate.

    A score falls from a point x to the root r by the information between them, (H(x) + H(r)) / 2 times x - r,
    not by H(r). Points scatter, so that H(x) - H(r) and x - r go together, and left out it is a bias of the
    size of their variance: where odds are small, towards still smaller ones.
    """
    points = averaged.steps.points
    apart = (points - points.mean(axis=0)) @ np.linalg.inv(averaged.whitening).T - step
    differences = averaged.matrices - averaged.matrices.mean(axis=0)
    return np.asarray(np.einsum("tij,tj->i", differences, apart) / (2 * len(apart)))


def _variability(averaged: Averaged) -> np.ndarray:
    """Mean square of the scores.

    In units of the information it is the dispersion times the identity where the family holds; what the
    releases say beyond that is trusted as far as their noise allows.
    """
    information = averaged.steps.information
    if not averaged.variability.releases:
        return information.matrix
    # its own eigenvalues: found again in the matrix, the smallest drown in the rounding of the largest
    values, vectors = information.used, information.vectors
    root = (vectors * np.sqrt(values)) @ vectors.T
    back = (vectors / np.sqrt(values)) @ vectors.T
    k = len(values)
    phi = max(dispersion(averaged.variability, information, averaged.whitening))  # no less than its noise
    relative = back @ averaged.variability.mean(averaged.whitening) @ back
    sd = float(np.mean(averaged.variability.sds(averaged.whitening, vectors) / values))
    trust = (_MISSPECIFIED * phi) ** 2
    trust = trust / (trust + sd**2 * k)
    relative = phi * np.eye(k) + trust * (relative - phi * np.eye(k))
    values, vectors = np.linalg.eigh(relative)
    relative = (vectors * np.maximum(values, 0.3 * phi)) @ vectors.T
    return np.asarray(root @ relative @ root)
