"""Effects along directions that noise hides, by those of the same columns along all others.

See docs/theory/intervals.md#what-noise-hides.
"""

import numpy as np

from dpstats.estimators.engine.information import Information
from dpstats.estimators.newton.located import Located, usual_effects
from dpstats.estimators.newton.problem import Problem

Array = np.ndarray

_LEAST = 1e-6  # share of an effect, of which nothing is known where no more is seen
_TURNS = 200  # after which bounds hardly fall; they come from above, so that fewer leave them too large


def hidden(
    information: Information, whitening: Array, far: Array, problem: Problem, located: Located
) -> Array:
    """Covariance of a whitened point by effects along directions that are not seen, of which it has none.

    Where nothing is known of effects of numbers, a whitened coefficient has a variance of 1 at least, as
    effects of columns that repeat each other may cancel. Log ratios of levels are no larger for it.

    Parameters
    ----------
    information : Information
    whitening : array, shape (k, k)
        W: coefficients of standardised columns are W times whitened ones.
    far : array, shape (k,)
        How far coefficients of standardised columns are from where no covariate has an effect.
    problem : Problem
    located : Located
    """
    effects, before = _effects(problem, located)
    back = effects @ whitening
    way = np.linalg.pinv(back)
    doubtful = information.vectors[:, information.seen < 1]
    lacking = back @ doubtful @ doubtful.T @ way
    squares = _squares(lacking, (np.eye(len(lacking)) - lacking) @ (effects @ far))
    unknown = squares == 1
    unknown[problem.levels], unknown[problem.k :] = False, False
    alone = (way * unknown) @ back
    variance = (way * (squares - unknown / before)) @ way.T + alone @ alone.T
    return np.asarray(information.blind() @ variance @ information.blind())


def _effects(problem: Problem, located: Located) -> tuple[Array, Array]:
    """What takes coefficients of standardised columns to effects, over their sds before any data; variances.

    Those of the levels of a category are against its mean, and the reference level has one.
    """
    matrix, before = [np.diag(1 / np.sqrt(located.prior))], [located.prior]
    for own in problem.categories:
        mean = np.zeros(problem.k)
        mean[own] = located.center[own] / located.scale[own]
        matrix[0][own] -= np.outer(located.scale[own] / np.sqrt(located.prior[own]), mean)
        share = np.clip(1 - located.center[own].sum(keepdims=True), located.noise**2, 0.5)
        scale = np.sqrt(share * (1 - share))
        matrix.append(-mean[None] * scale / usual_effects(scale))
        before.append(usual_effects(scale) ** 2)
    return np.vstack(matrix), np.concatenate(before)


def _squares(lacking: Array, seen: Array) -> Array:
    """What the square of each effect may be, at most 1: that before any data.

    Of effects b a fit has seen (1 - L) b. So (1 - L_jj) b_j is what was seen of one effect and what was not
    of all others, whose signs are by chance: (1 - L_jj)^2 q_j = seen_j^2 + sum of L_ji^2 q_i.

    Parameters
    ----------
    lacking : array, shape (m, m)
        L.
    seen : array, shape (m,)
    """
    own, others = np.maximum(1 - np.diag(lacking), _LEAST) ** 2, lacking**2
    np.fill_diagonal(others, 0.0)
    squares = np.ones(len(seen))
    for _ in range(_TURNS):
        squares = np.minimum(1.0, (seen**2 + _LEAST**2 + others @ squares) / own)
    return squares
