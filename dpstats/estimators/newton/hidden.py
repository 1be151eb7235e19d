"""Effects along directions that noise hides, by those of the same columns along all others.

See docs/theory/intervals.md#what-noise-hides.
"""

import numpy as np

from dpstats.estimators.engine.information import Information, together
from dpstats.estimators.matrices import ROUNDING, SMALLEST
from dpstats.estimators.newton.located import Located, usual_effects
from dpstats.estimators.newton.problem import Problem

# square of the effect of columns together, over that of uncorrelated ones, below which they cancel:
# of what noise hides of uncorrelated columns the floor of an eigenvalue is more
_CANCEL = 0.5
_TURNS = 200  # after which bounds hardly fall; they come from above, so that fewer leave them too large


def hidden(
    information: Information,
    whitening: np.ndarray,
    far: np.ndarray,
    most: np.ndarray,
    problem: Problem,
    located: Located,
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of a whitened point by effects along directions that are not seen, of which it has none.

    Where columns may cancel each other, and the effects of each may make the linear predictor of rows have an
    sd of 1, they may do so together, however little the rows vary along the direction: the second covariance,
    to be added to the first. Log ratios of levels are no larger for it.

    Parameters
    ----------
    information : Information
    whitening : array, shape (k, k)
        W: coefficients of standardised columns are W times whitened ones.
    far : array, shape (k,)
        How far coefficients of standardised columns are from where no covariate has an effect.
    most : array, shape (k,)
        sds of the linear predictor by a change of 1 along each eigenvector, at most.
    problem : Problem
    located : Located
    """
    effects = _effects(problem, located)
    back = effects @ whitening
    way = np.linalg.pinv(back)
    doubtful = information.vectors[:, information.seen < 1]
    lacking = back @ doubtful @ doubtful.T @ way
    squares = _squares(lacking, (np.eye(len(lacking)) - lacking) @ (effects @ far))
    vectors, blind, coded = information.vectors, information.blind(), problem.usual
    # what each column alone, of known spread, does by its own part of the information
    own = np.linalg.norm(np.linalg.inv(whitening).T @ vectors * most, axis=1) * ~located.dim
    alone = (own[:, None] * np.abs(whitening @ vectors))[int(problem.intercept) :]
    share, left = together(alone[~coded], alone[coded], most)
    # where the columns' own effects may be as large as that of all together is taken for
    large = ((squares[: problem.k] * located.prior)[int(problem.intercept) :] - 1) @ alone**2 > 0
    larger = (large & (left < _CANCEL)) / np.maximum(
        share * alone[~coded].max(axis=0, initial=0.0), SMALLEST
    ) ** 2
    return blind @ (way * squares) @ way.T @ blind, information.blind(larger)


def empty_ends(information: Information, axes: np.ndarray, problem: Problem, located: Located) -> np.ndarray:
    """Covariance of coefficients by heights of splines where noise hides whether any rows are.

    Columns of B-splines add up to 1 but for that of the lower end, which is left out: where all fall as the
    intercept rises, the curve moves there alone. It may as far as an effect of rows does of which noise
    hides the information along this line; no other line is moved.

    Parameters
    ----------
    information, problem, located
        As above.
    axes : array, shape (k, k)
        From whitened steps to the user's coefficients.
    """
    found = np.zeros_like(axes)
    for own in problem.curves:
        line = np.eye(problem.k)[0]
        line[own] = -1.0
        value, sd = information.along(np.linalg.solve(axes, line))
        end = Information.of(np.array([value]), np.eye(1), np.array([sd]))
        variance = (1 - end.seen[0]) * located.prior[0] * np.median(information.used) / end.used[0]
        found += variance * np.outer(line, line)
    return found


def _effects(problem: Problem, located: Located) -> np.ndarray:
    """What takes coefficients of standardised columns to effects, over their sds before any data.

    Those of the levels of a category are against its mean, and the reference level has one.
    """
    matrix = [np.diag(1 / np.sqrt(located.prior))]
    for own in problem.categories:
        mean = np.zeros(problem.k)
        mean[own] = located.center[own] / located.scale[own]
        matrix[0][own] -= np.outer(located.scale[own] / np.sqrt(located.prior[own]), mean)
        share = np.clip(1 - located.center[own].sum(keepdims=True), located.noise**2, 0.5)
        scale = np.sqrt(share * (1 - share))
        matrix.append(-mean[None] * scale / usual_effects(scale))
    return np.vstack(matrix)


def _squares(lacking: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """What the square of each effect may be, at most 1: that before any data.

    Of effects b a fit has seen (1 - L) b. So (1 - L_jj) b_j is what was seen of one effect and what was not
    of all others, whose signs are by chance: (1 - L_jj)^2 q_j = seen_j^2 + sum of L_ji^2 q_i.

    Parameters
    ----------
    lacking : array, shape (m, m)
        L.
    seen : array, shape (m,)
    """
    own, others = np.maximum(1 - np.diag(lacking), ROUNDING) ** 2, lacking**2
    np.fill_diagonal(others, 0.0)
    squares = np.ones(len(seen))
    for _ in range(_TURNS):
        before, squares = squares, np.minimum(1.0, (seen**2 + ROUNDING**2 + others @ squares) / own)
        if (squares == before).all():
            break
    return squares
