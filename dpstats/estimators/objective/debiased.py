"""A logistic regression by objective perturbation, its penalty's bias removed.

See docs/theory/objective.md#the-penalty-taken-off.

The columns are found first, so that penalty and noise are measured against where the rows are, not against
what was declared. Then one minimum is released, and its curvature.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpstats._codes import WEAK, problems_at
from dpstats.budget import Pure
from dpstats.curator import Curator, Minimum
from dpstats.estimators.alike import alike
from dpstats.estimators.engine.finish import guessed, weak, without_lost
from dpstats.estimators.engine.information import ANY, FLOOR, Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.known.unrelated import Known, NoiseLeft, pairs
from dpstats.estimators.level_scores import LevelScores
from dpstats.estimators.matrices import ROUNDING, SMALLEST, noise_edge, symmetric_power
from dpstats.estimators.newton.check import Read, by_one_pass, checked, explained
from dpstats.estimators.newton.far import long_rows
from dpstats.estimators.newton.hidden import hidden
from dpstats.estimators.newton.information import Public
from dpstats.estimators.newton.level_coefficients import read_levels, row_moments
from dpstats.estimators.newton.located import Located, locate
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.ray import Along, reaches
from dpstats.estimators.objective.bounds import (
    NODES,
    WEIGHTS,
    Cut,
    level_of,
    noise_share,
    start_of,
    unit_ball,
)
from dpstats.estimators.objective.penalised import MarginEstimate, estimate
from dpstats.estimators.objective.plan import least_ridge
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.estimators.row_scale import SURE
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall
from dpstats.moments.normal_rows import mean_weight
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import believed, seen_share


@dataclass(frozen=True)
class Matrices:
    """Of a row, released at the minimum: its curvature, law and sds of the noise, squared scores if asked.

    What breaks what is public of both is taken off, and so is what noise makes of pairs of columns that are
    not correlated: the sds are those before, and `left` tells what is left.
    """

    curvature: np.ndarray
    law: str
    sds: np.ndarray
    scores: np.ndarray | None
    left: NoiseLeft

    @property
    def edge(self) -> float:
        """The largest eigenvalue of the noise of the curvature, about: it goes by its mean square."""
        return noise_edge(self.sds, self.law) * math.sqrt(self.left.free)

    def covariance_by_noise(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, N being the noise of the curvature."""
        return self._sd**2 * self.left.of_product(second)

    def noise_along(self, vectors: np.ndarray) -> np.ndarray:
        """Sds of the noise of the curvature along these unit vectors, in columns."""
        return self._sd * np.sqrt(np.maximum(self.left.along(vectors), ROUNDING))

    @property
    def _sd(self) -> float:
        """Along any direction, of all that was released."""
        return float(np.diag(self.sds).max())

    @cached_property
    def information(self) -> Information:
        """The curvature as it is seen.

        An eigenvalue exceeds what it is without noise by no more than noise has on the space of the
        eigenvectors up to it: of j, sqrt(2 j) of its sds, and one more in less than 1 % of them.
        """
        values, vectors = np.linalg.eigh(self.curvature)
        noise = self.noise_along(vectors)
        edges = noise * (1 + np.minimum(np.sqrt(2 * np.arange(1, len(values) + 1)), self.edge / self._sd))
        sizes = np.maximum(np.maximum(believed(noise), edges), SMALLEST * float(np.max(noise)))
        used, seen = np.maximum(values, FLOOR * sizes), seen_share(values, sizes)
        return Information(values, vectors, used, noise, seen, np.ones(len(values)), self.covariance_by_noise)

    @property
    def floored(self) -> np.ndarray:
        """The curvature with eigenvalues raised to what noise may have made of them."""
        return self.information.matrix


def known_of(problem: Problem, located: Located, ball: UnitBall, level: float) -> Known:
    """What is known of the curvature before it is released, that of a row being about `level`."""
    lead, public = int(problem.intercept), Public.of(problem, located)
    free = np.setdiff1d(np.arange(lead, problem.k), np.concatenate([[], *problem.categories]))
    groups = pairs(lead, free.astype(int), problem.categories, problem.alike)
    most = level / ball.radius**2
    if public is None:
        return Known(groups, most)
    return Known(groups, most, public.structure, ball.turned / ball.radius @ public.way)


def released(
    curator: Curator, ball: UnitBall, plan: Plan, minimum: Minimum, robust: bool, known: Known, cut: Cut
) -> Matrices:
    """The curvature at the minimum, cut, and squared scores beside one that is not, if asked for."""
    about, n = dict(ball.public(), loss=LOGISTIC_LOSS, params=minimum.params), minimum.n
    cost = plan.cost("matrices")
    if not robust:
        release = curator.release("margin_curvature", cost, steepest=cut.steepest, **about)
        found, sds = (part[0] / cut.kept / n for part in (release.values, release.sds))
        curvature, left = known.read(found, float(np.diag(sds).max()))
        return Matrices(curvature, release.law, sds, None, left)
    release = curator.release("margin_sandwich", cost, **about)
    weight = LOGISTIC_LOSS.together / ball.longest
    found, sds = (part[1] / weight / n for part in (release.values, release.sds))
    scores, _ = known.read(release.values[0] / n, float(np.diag(release.sds[0]).max()) / n)
    curvature, left = known.read(found, float(np.diag(sds).max()))
    return Matrices(curvature, release.law, sds, scores, left)


_MOST_STEPS, _LONGEST = 40, 1.0  # of Newton's method, and the longest of them, in log odds


def fit_debiased(
    curator: Curator, problem: Problem, plan: Plan, robust: bool = False, tuning: Tuning = TUNING
) -> MarginEstimate:
    """Release where the columns are, a lightly penalised minimum and its curvature; take the penalty off.

    Parameters
    ----------
    curator : Curator
    problem : Problem
    plan : Plan
    robust : bool
        Release squared scores beside the curvature, for standard errors that hold where the model is wrong.
    tuning : Tuning

    Notes
    -----
    The minimum t of sum f + ridge / 2 |t - t0|^2, t0 the mean response, is off by r A (t - t0) to first
    order, r = ridge / n and A the inverse of the curvature H without the ridge; that is added back. The ridge
    is as small as the budget allows, whatever n, so that what remains falls with 1 / n^2.

    Last it is asked whether responses bend, as of other generalised linear models.

    Var = A H A / n (or A Sigma A / n) + A b / n with the law of the tilt b + what the noise N of H does to
    the correction, r^2 A Cov(N v) A with v = A (t - t0), + the square of what it may lack. Along eigenvectors
    that noise hides, A is a guess: the variance that a coefficient may have there is added.
    """
    located = locate(curator, plan.columns, plan.cost("octaves"), problem, tuning.usual)
    ball = unit_ball(curator, located, problem, plan, tuning)
    origin = start_of(located, problem) * ball.radius
    minimum = curator.minimise(
        Pure(plan.cost("minimum")),
        loss=LOGISTIC_LOSS,
        ridge=_ridge(curator, plan, tuning),
        origin=origin,
        **ball.public(),
    )
    level = level_of(located, problem, tuning)
    error = noise_share(curator, ball, plan, level)
    cut = Cut.of(problem, located, ball.turned.T @ minimum.params / ball.radius, error, tuning)
    known = known_of(problem, located, ball, level)
    matrices = released(curator, ball, plan, minimum, robust, known, cut)
    found = without_penalty(ball, problem, located, minimum, matrices, tuning)
    read = _read(ball, matrices)
    # rows are long or not in the coordinates of columns of their own scales
    square = matrices.floored * ball.radius**2
    unturned = replace(read, whitening=ball.turned, radius=ball.radius, information=square)
    farther = partial(
        reaches, problem, located, _along(ball, problem, located, minimum, matrices), read, curator.n
    )
    checks = (
        long_rows(plan.cost("far"), problem, located, unturned, found),
        checked(plan.cost("check"), problem, located, read, found),
        explained(plan.cost("told"), problem, located, read, found, farther),
    )
    lacking = doubt_of_spread(ball, problem, located, minimum, found)
    return replace(by_one_pass(curator, checks, found).doubted(lacking), columns=located.columns)


def check_debiased(curator: Curator, problem: Problem, plan: Plan) -> None:
    """Have the curator refuse what it would refuse after the ledger was charged."""
    k = problem.k
    curator.check_minimum(
        Pure(plan.cost("minimum")),
        loss=LOGISTIC_LOSS,
        ridge=_ridge(curator, plan, TUNING),
        center=np.zeros(k),
        scale=np.ones(k),
        reach=np.ones(k),
        radius=1.0,
        longest=1.0,
    )


def _ridge(curator: Curator, plan: Plan, tuning: Tuning) -> float:
    """The least that privacy needs, and that floats can do with."""
    cost = curator.cost_per_row(plan.cost("minimum"))
    ridge = least_ridge(LOGISTIC_LOSS, 1.0, cost, tuning.slack, math.inf)
    return max(ridge, tuning.least_ridge * curator.n)


def _read(ball: UnitBall, matrices: Matrices) -> Read:
    """How rows were read: their moments are those of the curvature, with a constant of 1."""
    back = np.linalg.inv(ball.turned)
    moments = back @ matrices.floored @ back
    lost = 1 - mean_weight(ball.k, ball.radius) if float(ball.reach @ ball.reach) > 1 + 1e-9 else 0.0
    return Read(symmetric_power(moments / moments[0, 0], -0.5), lost)


def _along(ball: UnitBall, problem: Problem, located: Located, minimum: Minimum, matrices: Matrices) -> Along:
    """What the minimum says of scores: their sum is what the penalty pulls, but for the tilt."""
    way = ball.turned.T / ball.radius
    back = np.linalg.inv(way)
    step = penalty_step(ball, problem, located, minimum, matrices)

    def vague(params: np.ndarray) -> float:
        own = back @ params
        length = float(np.linalg.norm(own))
        return length**2 * float(matrices.noise_along(own[:, None] / length)[0])

    return Along((way @ minimum.params)[None], way @ step, back.T @ matrices.floored @ back, vague)


def doubt_of_spread(
    ball: UnitBall, problem: Problem, located: Located, minimum: Minimum, found: MarginEstimate
) -> np.ndarray:
    """Covariance of what a line may lack along middle and spread of its log odds, see `_farther`."""
    k, cov, back = ball.k, without_lost(found.cov), np.linalg.inv(located.to_user(problem.intercept))
    lines = np.array([ball.turned.T @ minimum.params / ball.radius, back @ found.params])
    # effects that stand out
    told = (np.abs(lines[1]) > SURE * np.sqrt(np.diag(back @ cov @ back.T))) & (np.arange(k) > 0)
    if not (problem.intercept and told.any()) or any(problem.offset):
        return np.zeros_like(cov)
    sizes = np.sqrt(lines**2 @ (told * located.squares))
    across = np.array([np.eye(k)[0], told * lines[1] * located.squares / sizes[1]]) @ back
    both = np.column_stack([lines[:, 0], sizes])
    pull = minimum.ridge / minimum.n * ball.radius**2 * (both[0] - [start_of(located, problem)[0], 0.0])
    pull[1] *= float(np.sum(lines[1] ** 2, where=told)) / sizes[1] ** 2
    of_both, of_noise = (across @ part @ across.T for part in (cov, without_lost(found.cov_privacy)))
    if of_both[0, 0] > 1:
        return np.zeros_like(cov)  # a level that always says the same leaves the middle open, and says so
    share = float(np.clip(of_noise[0, 0] / max(of_both[0, 0], 1e-300), 0.0, 1.0))  # where all is lost, 0
    error = min(math.hypot(located.noise / 2, 0.5 / math.sqrt(minimum.n)), 0.5)  # of the share of yes
    chances = np.clip(located.mean + np.array([-SURE, SURE]) * error, error, 1 - error)
    lacking = _farther(both[0], both[1], of_both, pull, share, chances)
    change = cov @ across.T @ np.linalg.pinv(of_both) @ lacking
    return np.outer(change, change)


def _scores(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean chance of a yes, and times z, where log odds are m + s z with z normal; and their derivatives."""
    slope, curvature = LOGISTIC_LOSS.derivatives(-(at[0] + at[1] * NODES))
    powers = np.array([np.ones_like(NODES), NODES]) * WEIGHTS
    return powers @ slope, (powers * curvature) @ np.array([np.ones_like(NODES), NODES]).T


def _farther(
    before: np.ndarray,
    linear: np.ndarray,
    cov: np.ndarray,
    pull: np.ndarray,
    noise: float,
    chances: np.ndarray,
) -> np.ndarray:
    """How much farther middle and spread of log odds may be than two standard errors of a line say; an sd.

    Rare answers that covariates tell well hold middle and spread together the less the larger both are, so
    that what penalty and noise have taken from scores moves the line by more than to first order.

    Parameters
    ----------
    before, linear : array, shape (2,)
        Middle and spread at the penalised minimum, and as its correction has them.
    cov : array, shape (2, 2)
    pull : array, shape (2,)
        Of the penalty.
    noise : float
        Share of `cov` by privacy noise; what sampling alone leaves is as in a fit without privacy.
    chances : array, shape (2,)
        Between which the mean chance of a yes surely lies, if not where the minimum has it. Two standard
        errors of a middle that is known badly would change it by more, and ask for log odds without end.
    """
    values, vectors = np.linalg.eigh(cov)
    most = 2 * math.sqrt(max(values[-1], 0.0)) * vectors[:, -1] * np.sign(vectors[1, -1] or 1.0)
    wanted, steep = _scores(before)
    ends = np.array([min(chances[0], wanted[0]), max(chances[1], wanted[0])]) - wanted[0]
    asked, along = steep[0] @ most, cov @ steep[0]
    most = most - along * (asked - np.clip(asked, *ends)) / max(float(steep[0] @ along), 1e-300)
    wanted, at = wanted + pull + steep @ most, linear + most
    for _ in range(_MOST_STEPS):
        scores, steep = _scores(at)
        step = np.linalg.solve(steep + SMALLEST * np.eye(2), wanted - scores)
        at = at + step * min(1.0, _LONGEST / max(float(np.linalg.norm(step)), 1e-300))
    lacking = (at - linear - most) / 2 * (at[1] > linear[1] + most[1])
    # its square is added to that of a standard error, and two roots of the sum have to reach as far
    ratio = np.linalg.norm(most) / max(float(np.linalg.norm(lacking)), 1e-300)
    return np.asarray(lacking * np.sqrt(1 + math.sqrt(noise) * ratio))


def penalty_step(
    ball: UnitBall, problem: Problem, located: Located, minimum: Minimum, matrices: Matrices
) -> np.ndarray:
    """What takes the penalty off to first order, in the coordinates of the ball, as far as noise lets it."""
    pulled = minimum.ridge / minimum.n * (minimum.params - start_of(located, problem) * ball.radius)
    return matrices.information.solve(pulled)


def without_penalty(
    ball: UnitBall,
    problem: Problem,
    located: Located,
    minimum: Minimum,
    matrices: Matrices,
    tuning: Tuning = TUNING,
) -> MarginEstimate:
    """The minimum without its penalty, and what is uncertain of it."""
    n, scores, information = minimum.n, matrices.scores, matrices.information
    inverse, inflate = information.inverse, information.inflation
    moved = penalty_step(ball, problem, located, minimum, matrices)
    by_curvature = inverse @ matrices.covariance_by_noise(np.outer(moved, moved)) @ inverse
    sampling = inverse if scores is None else inverse @ with_floor(scores, 0.0) @ inverse
    by_curvature += (inflate @ sampling @ inflate.T - sampling) / n
    # of the log odds, in the mean over what rows there say: by about that share the curvature changes, and
    # the correction may lack as much of itself
    square = float(moved @ with_floor(matrices.curvature, 0.0) @ moved)
    change = min(math.sqrt(square / tuning.level), 1.0)
    back = ball.to_user @ moved
    moments = row_moments(information, ball.turned, located, problem.intercept)
    left = change * moved
    far = minimum.params + moved - start_of(located, problem) * ball.radius
    level = level_of(located, problem, tuning) / ball.radius**2
    guess, larger = _guess(ball, information, problem, located, far / ball.radius, level, tuning.far)
    guess, larger = guess * ball.radius**2 + np.outer(left, left), larger * ball.radius**2
    result = estimate(
        ball,
        minimum,
        minimum.params + moved,
        sampling=sampling / n,
        carried=inflate @ inverse / n,
        more=by_curvature + guess + larger,
    )
    guess, larger, sampled = (ball.to_user @ part @ ball.to_user.T for part in (guess, larger, sampling / n))

    def along(change: np.ndarray) -> tuple[float, float]:
        own = ball.from_user @ change
        rows, unit = n * float(own @ own), own / np.linalg.norm(own)
        sd = float(matrices.noise_along(unit[:, None])[0])
        return rows * float(unit @ matrices.curvature @ unit), rows * sd

    read = LevelScores((ball.to_user @ minimum.params)[None], back, result.cov, sampled, along, moments)
    resting = weak(change**2 * np.outer(back, back), result.cov, tuning.resting)
    resting = np.union1d(np.setdiff1d(resting, problem.levels), weak(larger, result.cov))
    result = replace(result, problems=problems_at(WEAK, resting))
    before = located.before(located.to_user(problem.intercept))
    result = guessed(result, guess, before, problem.intercept, bool(problem.zero_or_one.all()))
    return read_levels(problem, located, result, read)


def _guess(
    ball: UnitBall,
    information: Information,
    problem: Problem,
    located: Located,
    far: np.ndarray,
    level: float,
    sds: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances along eigenvectors that noise hides, where what was found and what is true are unknown.

    Rows are whitened by the most curvature that there may be, so many sds of its noise added. Coefficients of
    standardised columns lie `far` from where no covariate has an effect.
    """
    unseen, vectors = information.blind(), information.vectors
    most = (np.maximum(information.values, 0.0) + sds * information.sds) / level
    whitening = (vectors / np.sqrt(most)) @ vectors.T
    turned = ball.turned
    found = hidden(information, turned @ whitening, turned @ far, np.ones(len(most)), problem, located)
    guess, larger = (whitening @ part @ whitening for part in found)
    guess += np.outer(unseen @ far, unseen @ far) + information.error_beside(guess + larger)
    still = alike(information, ball.from_user, problem.slopes_within)
    vague = information.unbounded(np.linalg.inv(turned), located.dim) + ANY * still @ still.T
    return guess + vague, larger
