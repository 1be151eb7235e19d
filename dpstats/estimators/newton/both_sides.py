"""Effects on a yes or no that bend far out on both sides of a number, by what long rows say.

See docs/theory/glm.md#rows-far-out-on-both-sides.
"""

import math

import numpy as np

from dpstats.estimators.bent_times import Bent
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.newton.check import Read
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.slopes import placed
from dpstats.estimators.one_bend import Bends, bends_on_both_sides

# odds of a bend of a column before any look, and sds of it within which no row is far out
_EVENS, _ROOM = 1.0, 2.5


def on_both_sides(
    problem: Problem,
    located: Located,
    read: Read,
    line: np.ndarray,
    steps: tuple[np.ndarray, np.ndarray],
    sure: np.ndarray,
    reach: float,
) -> Bent:
    """What a step by long rows, and its sd, says of the line of all rows, for each number.

    Parameters
    ----------
    problem : Problem
    located : Located
    read : Read
    line : array, shape (k,)
        Of standardised columns.
    steps : tuple of array, shape (k,)
        With their sds.
    sure : array of bool, shape (k,)
        Which steps are no chance.
    reach : float
        To which rows are shortened.
    """
    k = problem.k
    found = Bent.no(k)
    if not (problem.intercept and problem.family.two_valued):
        return found
    unit = 1 / math.sqrt(problem.family.most_curved)
    back = np.linalg.inv(read.whitening)
    heard = np.diag(back @ back)
    for j, (shares, squares) in ((i + 1, seen) for i, seen in located.tails.items()):
        root, ends = math.sqrt(located.squares[j]), (-located.lower[j], located.upper[j])
        if j in located.skewed or located.away[j] or problem.usual[j - 1] or min(ends) < _ROOM * root:
            continue
        places, held = placed(shares, np.sqrt(squares), *ends)
        at, held = places[held > 0] / root, held[held > 0]
        eta = line[0] + located.offset + line[j] * root * at
        lengths = np.sqrt(k - 1 + (root * at) ** 2 / heard[j])
        kept = np.minimum(1.0, (read.radius / lengths) ** 2)
        share = np.minimum(1 - kept, reach / lengths)
        effects = bends_on_both_sides(at, held, line[j] * root / unit)
        curve = problem.family.curvature(eta)
        # lest rows that the line decides leave none
        curve = np.maximum(curve / max(float(curve.max()), ROUNDING), ROUNDING)
        by = _bends(effects, at, held * curve, kept, share).told(
            steps[0][j] * root / unit, steps[1][j] * root / unit, math.inf if sure[j] else _EVENS
        )
        way = np.zeros((k, 2))
        way[0, 0], way[j, 1] = unit, unit / root
        found = found.beside(Bent(*by.along(way), ()))
    return found


def _bends(
    effects: np.ndarray, at: np.ndarray, curved: np.ndarray, kept: np.ndarray, share: np.ndarray
) -> Bends:
    """Steps by long rows and moves of the line of all rows, if scores are in proportion to what is left."""
    rows = np.column_stack([np.ones(len(at)), at])

    def fitted(left: np.ndarray, weights: np.ndarray) -> np.ndarray:
        weighed = rows.T * weights
        return np.asarray(np.linalg.solve(weighed @ rows, weighed @ left.T).T)

    left = effects - fitted(effects, curved * kept) @ rows.T
    moves = fitted(left, curved)
    middle = float(curved * kept @ at / (curved @ kept))
    sums = left @ (curved * share * at) / float(curved * kept @ (at - middle) ** 2)
    return Bends(sums, moves, np.zeros(len(sums)))
