"""The minimum of the input scheme (docs/theory/contributions.md#input-scheme)."""

from __future__ import annotations

import math

import numpy as np
import scipy

from dpstats.budget import Approx
from dpstats.contributions import Totals, hidden_minimum
from dpstats.contributors.law import final_mu, input_law
from dpstats.contributors.plan import Plan

__all__ = ["fit_input", "minimum"]

Array = np.ndarray

_UNIT = 2.0**-53
_ADDITIONS = 64  # roundings that a sum of products goes through, at most, see Totals


def fit_input(totals: Totals, plan: Plan) -> Array:
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
    solved = 32 * d * _UNIT * sizes
    if not left <= solved:
        raise RuntimeError("the minimum could not be certified, so that nothing is published; try again")
    lattice = totals.n * math.sqrt(d) * 2.0**-41 * response.sd
    gradient = solved + _ADDITIONS * _UNIT * sizes + lattice
    law = input_law(d, plan.budget, plan.honest_count, None, plan.ball)
    distance = 2 * (gradient / (law.curvature + law.ridge) + 1e-9 * plan.ball)
    return hidden_minimum(params, distance, final_mu(plan.budget))


def minimum(gram: Array, product: Array, ridge: float, ball: float) -> tuple[Array, float]:
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
