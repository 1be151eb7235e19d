"""Models from messages that contributors have made private themselves.

The minimum of the input scheme, and second moments of a linear regression (docs/theory/contributions.md).
"""

import math

import numpy as np
import scipy

from dpstats._conversions import UNIT_ROUNDOFF
from dpstats.budget import Approx
from dpstats.contributions import Totals, hidden_minimum
from dpstats.contributors.law import RESPONSE, final_mu, input_law
from dpstats.contributors.plan import Plan
from dpstats.moments import LinearMoments
from dpstats.moments.parts import Frame, Released

_ADDITIONS = 64  # roundings that a sum of products goes through, at most, see Totals


def fit_input(totals: Totals, plan: Plan) -> np.ndarray:
    """Coefficients of rows and responses in their public units of at most 1.

    Those of the corrected scheme carry a little more noise, which hides how exactly the minimum was found:
    its theorem is of an exact one, for noise that is not on a lattice.

    Raises
    ------
    RuntimeError
        If the minimum is not certified; nothing is published then.
    """
    d = len(plan.design.names)
    gram, product = totals.gram, totals.sums[d:]
    params, left = minimum(gram, product, plan.ridge, plan.ball)
    if plan.compat:
        return params
    assert isinstance(plan.budget, Approx)
    row, response = plan.parts
    sizes = totals.n * (d * row.limit**2 * plan.ball + math.sqrt(d) * response.limit)
    solved = 32 * d * UNIT_ROUNDOFF * sizes
    if not left <= solved:
        raise RuntimeError("the minimum could not be certified, so that nothing is published; try again")
    lattice = totals.n * math.sqrt(d) * 2.0**-41 * response.sd
    gradient = solved + _ADDITIONS * UNIT_ROUNDOFF * sizes + lattice
    law = input_law(d, plan.budget, plan.honest_count, None, plan.ball)
    distance = 2 * (gradient / (law.curvature + law.ridge) + 1e-9 * plan.ball)
    return hidden_minimum(params, distance, final_mu(plan.budget))


def minimum(gram: np.ndarray, product: np.ndarray, ridge: float, ball: float) -> tuple[np.ndarray, float]:
    """w of length at most `ball` that minimises w'(gram + ridge) w / 2 - product'w, and its gradient there.

    On the sphere the gradient counts that of the constraint.
    """
    values, vectors = np.linalg.eigh(gram + ridge * np.eye(len(gram)))
    along = vectors.T @ product

    def excess(push: float) -> float:
        return float(np.linalg.norm(along / (values + push))) - ball

    push = 0.0
    if not values[0] > 0 or excess(0.0) > 0:
        low = max(0.0, -float(values[0])) + 1e-12 * float(np.abs(values).max())
        high = low + float(np.linalg.norm(along)) / ball + 1.0
        push = low
        if excess(low) > 0:
            push = float(scipy.optimize.brentq(excess, low, high, xtol=1e-14 * high, rtol=1e-14))
    matrix = gram + (ridge + push) * np.eye(len(gram))
    params = vectors @ (along / (values + push))
    # a step of refinement takes the rounding of the eigenvectors out
    params = params + vectors @ ((vectors.T @ (product - matrix @ params)) / (values + push))
    return params, float(np.linalg.norm(matrix @ params - product))


def linear_moments(totals: Totals, plan: Plan, slope: float | None = None) -> LinearMoments:
    """The moments of rows and response per contributor, and their noise.

    Parameters
    ----------
    totals : Totals
        Of the statistics scheme.
    plan : Plan
    slope : float, optional
        For a logistic model, 4 a2: what the line through labels of -1 and 1 is divided by.

    Notes
    -----
    A message is svec(z z') of z = (q, c y). q is stretched by a released number so that the mean square of
    its entries is 1, and y so that its mean square is 1, in which units all of :class:`LinearMoments` is
    meant; noise stays the same in all directions.
    """
    n, d = totals.n, len(plan.design.names)
    sd = plan.parts[0].sd / math.sqrt(n)
    matrix = _symmetric(totals.sums / n, d + 1)
    c = RESPONSE
    square = max(float(matrix[-1, -1]) / c**2, 2 * sd / c**2, 1e-9)
    level = max(float(np.trace(matrix[:-1, :-1])) / d, 2 * sd / math.sqrt(d), 1e-9)
    stretch, unit = 1 / math.sqrt(level), math.sqrt(square)
    way, rows, one = _to_user(plan, unit, slope), plan.rows, np.eye(len(plan.rows.center))[0]
    released = Released(
        n,
        gram=matrix[:-1, :-1] * stretch**2,
        cross=matrix[:-1, -1] * stretch / (c * unit),
        square=float(matrix[-1, -1]) / (c**2 * square),
        noise_gram=sd * stretch**2,
        noise_cross=sd / math.sqrt(2) * stretch / (c * unit),
        noise_square=sd / (c**2 * square),
    )
    frame = Frame(
        origin=way[0],
        map=way[1] * stretch,
        scale=way[2],
        penalised=np.append([0.0] * plan.rows.constant, np.ones(d - plan.rows.constant)),
        # u with a'u = 1 for the stretched row of a record that is whole
        constant=one * rows.radius * rows.scale[0] / stretch if rows.constant else None,
    )
    return LinearMoments(released, frame)


def _symmetric(entries: np.ndarray, size: int) -> np.ndarray:
    matrix = np.zeros((size, size))
    i, j = np.triu_indices(size)
    matrix[i, j] = entries / np.where(i == j, 1.0, math.sqrt(2))
    return matrix + np.triu(matrix, 1).T


def _to_user(plan: Plan, unit: float, slope: float | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients for a line of 0, what takes a line through y / unit to them, and the unit of y."""
    middle, half = plan.response if slope is None else (0.0, 1 / slope)
    origin = np.zeros(len(plan.rows.center))
    if plan.rows.constant:
        origin[0] = middle
    return origin, plan.rows.to_user * half * unit, half * unit
