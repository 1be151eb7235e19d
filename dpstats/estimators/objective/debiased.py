"""A logistic regression by objective perturbation, its penalty's bias removed.

See docs/theory/objective.md#the-penalty-taken-off.

The columns are found first, so that penalty and noise are measured against where the rows are, not against
what was declared. Then one minimum is released, and its curvature.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from dpstats.budget import Pure
from dpstats.curator import Curator, Minimum
from dpstats.estimators.engine.bounds import FREE, LENGTHS, of_weighting
from dpstats.estimators.engine.finish import guessed, weak, without_lost
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram.structure import Left
from dpstats.estimators.matrices import SMALLEST, noise_edge, noise_of_product, symmetric_power, with_floor
from dpstats.estimators.newton.check import Read, by_one_pass, checked, explained
from dpstats.estimators.newton.far import long_rows
from dpstats.estimators.newton.hidden import hidden
from dpstats.estimators.newton.information import Public
from dpstats.estimators.newton.levels import (
    Scores,
    level_moments,
    moved_alone,
    read_levels,
    stretched_no_further,
)
from dpstats.estimators.newton.located import Located, locate, weighted_square
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.penalised import MarginEstimate, estimate
from dpstats.estimators.objective.plan import least_ridge
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.estimators.row_scale import SURE
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall
from dpstats.moments.normal_rows import mean_weight
from dpstats.moments.solution import believed, seen_share

_Z = np.linspace(-6, 6, 121)  # of log odds in their sds, and how many rows have them
_DENSITY = np.exp(-(_Z**2) / 2) / np.exp(-(_Z**2) / 2).sum()
_MOST_STEPS, _LONGEST = 40, 1.0  # of Newton's method, and the longest of them, in log odds


class Cut(NamedTuple):
    """Beyond which the curvature of a row is cut, and what share of all curvature that leaves, about.

    Where log odds are all about those of a rare answer, no row has nearly as much curvature as even odds, and
    the noise of what is released falls with the most that a row may have.
    """

    steepest: float = LOGISTIC_LOSS.steepest
    kept: float = 1.0

    @classmethod
    def of(
        cls,
        problem: Problem,
        located: Located,
        line: np.ndarray,
        error: float,
        tuning: Tuning,
        more: float = 0.0,
    ) -> Self:
        """The nearest that keeps a share of the curvature of normal log odds, if noise is worth it.

        Parameters
        ----------
        problem, located, tuning
        line : array
            Coefficients of standardised columns.
        error : float
            Noise over the curvature, if nothing is cut; as much as is free is left.
        more : float
            By what sd log odds vary beside the line.
        """
        least = LOGISTIC_LOSS.steepest * FREE * tuning.resolved / error
        if not problem.intercept or any(problem.offset) or least >= LOGISTIC_LOSS.steepest:
            return cls()  # an offset varies as it may
        spread = math.hypot(more, float(np.linalg.norm(line[1:] * np.sqrt(located.squares[1:]))))
        _, curvature = LOGISTIC_LOSS.derivatives(line[0] + spread * _Z)
        steepest = np.maximum(curvature, least)
        whole = curvature @ _DENSITY
        if whole == 0:
            return cls()  # noise took log odds to where no float is as small as their curvature
        kept = np.minimum(curvature, steepest[:, None]) @ _DENSITY / whole
        best = int(np.where(kept >= tuning.kept * (1 - 1e-9), steepest, math.inf).argmin())  # rounding
        return cls(float(steepest[best]), float(kept[best]))


class Matrices(NamedTuple):
    """Of a row, released at the minimum: its curvature, the sds of its noise, and squared scores if asked.

    What breaks what is public of both is taken off: the sds are those before, and `left` tells what is left.
    """

    curvature: np.ndarray
    sds: np.ndarray
    scores: np.ndarray | None
    left: Left | None = None

    @property
    def edge(self) -> float:
        """The largest eigenvalue of the noise of the curvature, about: it goes by its mean square."""
        return noise_edge(self.sds) * math.sqrt(self.left.free if self.left else 1.0)

    def noise_of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, N being the noise of the curvature."""
        if self.left is None:
            return noise_of_product(self.sds, second)
        return self._sd**2 * self.left.of_product(second)

    def noise_along(self, vectors: np.ndarray) -> np.ndarray:
        """Sds of the noise of the curvature along these unit vectors, in columns."""
        if self.left is None:
            return np.array(
                [math.sqrt(v @ noise_of_product(self.sds, np.outer(v, v)) @ v) for v in vectors.T]
            )
        return self._sd * np.sqrt(self.left.along(vectors))

    @property
    def _sd(self) -> float:
        """Along any direction, of all that was released."""
        return float(np.diag(self.sds).max())

    @property
    def floored(self) -> np.ndarray:
        """The curvature with its eigenvalues raised to its noise as an operator, s sqrt k."""
        return with_floor(self.curvature, self.edge / math.sqrt(2))


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
    ball = _ball(curator, located, problem, plan, tuning)
    origin = _origin(located, problem) * ball.radius
    minimum = curator.minimise(
        Pure(plan.cost("minimum")),
        loss=LOGISTIC_LOSS,
        ridge=_ridge(curator, plan, tuning),
        origin=origin,
        **ball.public(),
    )
    error = _error(curator, ball, plan, _level(located, problem, tuning))
    cut = Cut.of(problem, located, ball.turned.T @ minimum.params / ball.radius, error, tuning)
    matrices = _matrices(curator, ball, plan, minimum, robust, Public.of(problem, located), cut)
    found = _corrected(ball, problem, located, minimum, matrices, tuning)
    read, whole = _read(ball, located, matrices), _unturned(ball, matrices)
    checks = (
        long_rows(plan.cost("far"), problem, located, replace(read, **whole), found),
        checked(plan.cost("check"), problem, located, read, found),
        explained(plan.cost("told"), problem, located, read, found),
    )
    lacking = _of_spread(ball, problem, located, minimum, found)
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


def _ball(curator: Curator, located: Located, problem: Problem, plan: Plan, tuning: Tuning) -> UnitBall:
    """Rows in the scales of the columns; those beyond a radius count less.

    The radius is that of least loss: noise of the minimum beyond `FREE` sampling sds, what weighting rows is
    taken to bias, and the error of the curvature, with which columns that are correlated are hidden.
    """
    n, k, level = curator.n, problem.k, _level(located, problem, tuning)
    # both for a length of 1: they grow with its root, and with it
    tilt = 2 * math.sqrt(k + 1) / curator.cost_per_row((1 - tuning.slack) * plan.cost("minimum"))
    noise = tilt * math.sqrt(k / (level * n))
    error = _error(curator, _of_length(LENGTHS[0], located, problem), plan, level) / LENGTHS[0]
    start = _origin(located, problem)
    error *= Cut.of(problem, located, start, error, tuning, 1.0).steepest / LOGISTIC_LOSS.steepest

    def loss(length: float) -> float:
        tails = n * level * _bias_of_tails(located, k, length, tuning.of_lost) / k
        seen = max(error * length / tuning.resolved, FREE) ** 2
        return of_weighting(length, n * level) + tails + max(noise * math.sqrt(length), FREE) ** 2 + seen

    return _of_length(min(LENGTHS, key=loss), located, problem)


def _error(curator: Curator, ball: UnitBall, plan: Plan, level: float) -> float:
    """Noise of the curvature, as an operator, over its size, if that of no row is cut."""
    public = dict(ball.public(), loss=LOGISTIC_LOSS, params=np.zeros(ball.k))
    _, (sds,) = curator.noise("margin_curvature", plan.cost("matrices"), **public)
    return noise_edge(sds) * ball.radius**2 / (level * curator.n)


def _level(located: Located, problem: Problem, tuning: Tuning) -> float:
    """Curvature of a row, about: where most responses are alike, it is far less than where odds are even."""
    least, family = min(located.noise, 0.5), problem.family
    mean = float(np.clip(located.mean, least, 1 - least))
    return tuning.level * located.usable * family.level_at(mean) / family.most_curved


def _bias_of_tails(located: Located, k: int, length: float, of_lost: float) -> float:
    """Squares of what weighting is taken to bias of coefficients of columns of sd 1, added up.

    A column loses the square of its long values with their weight. Where few rows hold much of it, that is
    more than of a normal column, of which `of_weighting` speaks.
    """
    kept = (weighted_square(*each, length * k, k - 1) / (each[0] @ each[1]) for each in located.tails)
    return sum((of_lost * (1 - float(share))) ** 2 for share in kept)


def _of_length(length: float, located: Located, problem: Problem) -> UnitBall:
    """Rows whose square length is this times the number of columns count in full."""
    radius = math.sqrt(length * problem.k)
    reach, whitening = np.maximum(np.abs(located.lower), np.abs(located.upper)), None
    if problem.intercept and problem.categories:
        # rows of a reference level, which no column stretches, become as long as others
        moments = stretched_no_further(level_moments(problem, located), problem, located, radius)
        whitening = symmetric_power(moments, -0.5, SMALLEST)
        for own in problem.categories:
            rows = (np.eye(len(own) + 1)[:, 1:] - located.center[own]) / located.scale[own]
            reach[own] = np.abs(rows @ whitening[np.ix_(own, own)]).max(axis=0)
    reach = np.maximum(reach / radius, 1e-9)
    return UnitBall(located.center, located.scale, reach, radius, 1.0, problem.intercept, whitening)


def _origin(located: Located, problem: Problem) -> np.ndarray:
    """Where the minimum is sought, no farther out than noise leaves the mean response."""
    return located.start(problem, min(max(located.noise, 1e-4), 0.5))


def _corrected(
    ball: UnitBall,
    problem: Problem,
    located: Located,
    minimum: Minimum,
    matrices: Matrices,
    tuning: Tuning = TUNING,
) -> MarginEstimate:
    """The minimum without its penalty, and what is uncertain of it."""
    n, ratio, scores = minimum.n, minimum.ridge / minimum.n, matrices.scores
    inverse = symmetric_power(matrices.floored, -1.0)
    moved = ratio * inverse @ (minimum.params - _origin(located, problem) * ball.radius)
    by_curvature = inverse @ matrices.noise_of_product(np.outer(moved, moved)) @ inverse
    sampling = inverse if scores is None else inverse @ with_floor(scores, 0.0) @ inverse
    information, steep = _along(matrices, tuning)
    by_curvature = steep @ by_curvature @ steep
    change = _change(ball, matrices, moved, tuning)
    back = ball.to_user @ moved
    left = np.linalg.solve(ball.to_user, _left(problem, located, back, change))
    far = minimum.params + moved - _origin(located, problem) * ball.radius
    level = _level(located, problem, tuning) / ball.radius**2
    guess = _guess(ball, information, problem, located, far / ball.radius, level, tuning.far) * ball.radius**2
    guess = guess + np.outer(left, left)
    result = estimate(
        ball,
        minimum,
        minimum.params + moved,
        sampling=sampling / n,
        carried=inverse / n,
        more=by_curvature + guess,
    )
    guess, sampled = (ball.to_user @ part @ ball.to_user.T for part in (guess, sampling / n))

    def along(change: np.ndarray) -> tuple[float, float]:
        own = np.linalg.solve(ball.to_user, change)
        rows, unit = n * float(own @ own), own / np.linalg.norm(own)
        sd = float(matrices.noise_along(unit[:, None])[0])
        return rows * float(unit @ matrices.curvature @ unit), rows * sd

    read = Scores((ball.to_user @ minimum.params)[None], back, result.cov, sampled, along)
    resting = weak(change**2 * np.outer(back, back), result.cov, tuning.resting)
    resting = np.setdiff1d(resting, problem.levels)
    result = replace(result, problems=tuple(f"weak:{j}" for j in resting))
    before = located.before(located.to_user(problem.intercept))
    result = guessed(result, guess, before, problem.intercept)
    return read_levels(problem, located, result, read)


def _read(ball: UnitBall, located: Located, matrices: Matrices) -> Read:
    """How rows were read: their moments are those of the curvature, with a constant of 1."""
    back = np.linalg.inv(ball.turned)
    moments = back @ matrices.floored @ back
    long = float(ball.reach @ ball.reach) > 1 + 1e-9
    lost = 1 - mean_weight(ball.k, ball.radius) if long else 0.0
    return Read(symmetric_power(moments / moments[0, 0], -0.5), lost)


def _unturned(ball: UnitBall, matrices: Matrices) -> dict[str, Any]:
    """What is else in the coordinates in which rows are long or not: those of columns of their own scales."""
    return dict(whitening=ball.turned, radius=ball.radius, information=matrices.floored * ball.radius**2)


def _guess(
    ball: UnitBall,
    information: Information,
    problem: Problem,
    located: Located,
    far: np.ndarray,
    level: float,
    sds: float,
) -> np.ndarray:
    """Covariance along eigenvectors that noise hides, where what was found and what is true are unknown.

    Rows are whitened by the most curvature that there may be, so many sds of its noise added. Coefficients of
    standardised columns lie `far` from where no covariate has an effect.
    """
    unseen, vectors = information.blind(), information.vectors
    most = (np.maximum(information.values, 0.0) + sds * information.sds) / level
    whitening = (vectors / np.sqrt(most)) @ vectors.T
    turned = ball.turned
    guess = whitening @ hidden(information, turned @ whitening, turned @ far, problem, located) @ whitening
    guess += np.outer(unseen @ far, unseen @ far)
    return guess + information.error_beside(guess) + information.unbounded(np.linalg.inv(turned), located.dim)


def _along(matrices: Matrices, tuning: Tuning) -> tuple[Information, np.ndarray]:
    """The curvature as it is seen, and a factor of errors.

    The correction falls with the curvature: two sds less make it larger by more than twice what one does to
    first order, which the factor makes up for.
    """
    far = tuning.far
    values, vectors = np.linalg.eigh(matrices.curvature)
    noise = matrices.noise_along(vectors)
    sizes = np.maximum(believed(noise), matrices.edge)
    raised, seen = np.maximum(values, sizes), seen_share(values, sizes)
    steep = 1 + seen * far * noise / (raised - far * noise)
    information = Information(
        values, vectors, raised, noise, seen, np.ones(len(values)), matrices.noise_of_product
    )
    return information, (vectors * steep) @ vectors.T


def _of_spread(
    ball: UnitBall, problem: Problem, located: Located, minimum: Minimum, found: MarginEstimate
) -> np.ndarray:
    """Covariance of what a line may lack along middle and spread of its log odds, see `_farther`."""
    k, cov, back = ball.k, without_lost(found.cov), np.linalg.inv(located.to_user(problem.intercept))
    lines = np.array([ball.turned.T @ minimum.params / ball.radius, back @ found.params])
    told = np.abs(lines[1]) > SURE * np.sqrt(np.diag(back @ cov @ back.T))  # effects that stand out
    told[0] = False
    if not (problem.intercept and told.any()) or any(problem.offset):
        return np.zeros_like(cov)
    sizes = np.sqrt(lines**2 @ (told * located.squares))
    across = np.array([np.eye(k)[0], told * lines[1] * located.squares / sizes[1]]) @ back
    both = np.column_stack([lines[:, 0], sizes])
    pull = minimum.ridge / minimum.n * ball.radius**2 * (both[0] - [_origin(located, problem)[0], 0.0])
    pull[1] *= float(np.sum(lines[1] ** 2, where=told)) / sizes[1] ** 2
    of_both = across @ cov @ across.T
    if of_both[0, 0] > 1:
        return np.zeros_like(cov)  # a level that always says the same leaves the middle open, and says so
    change = cov @ across.T @ np.linalg.pinv(of_both) @ _farther(both[0], both[1], of_both, pull)
    return np.outer(change, change)


def _scores(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean chance of a yes, and times z, where log odds are m + s z with z normal; and their derivatives."""
    slope, curvature = LOGISTIC_LOSS.derivatives(-(at[0] + at[1] * _Z))
    powers = np.array([np.ones_like(_Z), _Z]) * _DENSITY
    return powers @ slope, (powers * curvature) @ np.array([np.ones_like(_Z), _Z]).T


def _farther(before: np.ndarray, linear: np.ndarray, cov: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """How much farther middle and spread of log odds may be than two standard errors of a line say.

    Rare answers that covariates tell well hold middle and spread together the less the larger both are, so
    that what penalty and noise have taken from scores moves the line by more than to first order.

    Parameters
    ----------
    before, linear : array, shape (2,)
        Middle and spread at the penalised minimum, and as its correction has them.
    cov : array, shape (2, 2)
    pull : array, shape (2,)
        Of the penalty.
    """
    values, vectors = np.linalg.eigh(cov)
    most = 2 * math.sqrt(max(values[-1], 0.0)) * vectors[:, -1] * np.sign(vectors[1, -1] or 1.0)
    wanted, steep = _scores(before)
    wanted, at = wanted + pull + steep @ most, linear + most
    for _ in range(_MOST_STEPS):
        scores, steep = _scores(at)
        step = np.linalg.solve(steep + SMALLEST * np.eye(2), wanted - scores)
        at = at + step * min(1.0, _LONGEST / max(float(np.linalg.norm(step)), 1e-300))
    lacking = at - linear - most
    return np.asarray(lacking / 2 * (lacking[1] > 0))


def _change(ball: UnitBall, matrices: Matrices, moved: np.ndarray, tuning: Tuning) -> float:
    """Change of the log odds by a correction, in the mean over what rows there say, at most 1.

    Where covariates tell most responses, the curvature that the released one has along the constant is little
    against that of even odds, and a change of log odds so much larger against what it is a change of.
    """
    level = tuning.level
    if ball.constant:
        found, sd = (float(part[0, 0]) * ball.radius**2 for part in (matrices.curvature, matrices.sds))
        level = min(max(found, 0.0) + tuning.far * sd, level)
    square = float(moved @ with_floor(matrices.curvature, 0.0) @ moved)
    return min(math.sqrt(square / level), 1.0)


def _left(problem: Problem, located: Located, moved: np.ndarray, change: float) -> np.ndarray:
    """What a correction by `moved`, on the user's scale, may lack: by the change of log odds on its way.

    By about that share the curvature changes. Log odds change as the curvature has it; those of the rows of
    one level by its own.
    """
    left = change * moved
    for row, direction in moved_alone(problem, located):
        own = float(row @ moved)
        left += (max(change, min(abs(own), 1.0)) - change) * own * direction
    return np.asarray(left)


def _matrices(
    curator: Curator,
    ball: UnitBall,
    plan: Plan,
    minimum: Minimum,
    robust: bool,
    public: Public | None,
    cut: Cut,
) -> Matrices:
    about, n = dict(ball.public(), loss=LOGISTIC_LOSS, params=minimum.params), minimum.n
    way = ball.turned / ball.radius
    left = None if public is None else public.noise(way)

    def obeying(matrix: np.ndarray) -> np.ndarray:
        return matrix / n if public is None else public.nearest(matrix / n, way)

    if not robust:
        cost = plan.cost("matrices")
        release = curator.release("margin_curvature", cost, steepest=cut.steepest, **about)
        return Matrices(obeying(release.values[0] / cut.kept), release.sds[0] / cut.kept / n, None, left)
    release = curator.release("margin_sandwich", plan.cost("matrices"), **about)
    weight = LOGISTIC_LOSS.together / ball.longest
    scores, curvature = (obeying(each) for each in release.values)
    return Matrices(curvature / weight, release.sds[1] / weight / n, scores, left)
