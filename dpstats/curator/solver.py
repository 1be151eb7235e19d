"""The minimum of a smooth, strongly convex function whose gradient is known but for rounding, on any data.

Let J have a Hessian between ridge and smooth (in the sense of a Lipschitz gradient, where it jumps), write g
for its gradient at t, and let the computed gradient c satisfy

    |c - g| + smooth (rounding of a step from t) <= fixed + growth |t| + 2^-40 |c|,        (*)

which a :class:`Tolerance` declares. The answer is the first point found with |c| <= 4 (fixed + growth
|t|): its true gradient is no longer than 5 (fixed + growth |t|), whatever led there. That it is found, on any
data, in a number of passes with a public bound is shown now.

*A gradient step does.* As long as |c| is larger, the left of (*), e, is at most .2501 |c|, so that |g| lies
between .7499 |c| and 1.2501 |c|. The step t - c / smooth gives, by smoothness,

    J(t) - J(t - c / smooth) >= (|g|^2 - e^2) / (2 smooth) >= |c|^2 / (5 smooth) = `enough`.

*Another step is taken only if it does as much*, or reaches a new level, a gradient a tenth as long as at the
last level (the first is that of the start). J is convex, so that a step to t + d lowers it by at least -g'd
with g the gradient *there*: that -c'd less |d| times (*) is `enough` proves it, and no value of J is needed,
whose rounding would hide what the last steps gain.

*There are few steps.* J - min J lies between |g|^2 / (2 smooth) and |g|^2 / (2 ridge). At the start of a
level with |c| = l it is at most .79 l^2 / ridge; as long as |c| > l / 10, it is at least .0028 l^2 / smooth;
and each step takes at least a share ridge / (4 smooth) of it. With kappa = smooth / ridge, a level therefore
has at most 1 + 4 kappa log(290 kappa) steps, and a step at most 1 + `TRIALS` passes. |c| begins at no more
than 1.01 times the true length there, X, and ends at 4 fixed at the latest: there are at most
1 + log10(X / (3 fixed)) levels. The product bounds the passes, on any data.

*In practice* Newton's method needs ten passes or so; the bound is for data that nobody has seen. It holds for
any direction of the steps, hence also where the Hessian cannot be factorised, and the curator lets nothing
out of the way to the answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

TRIALS = 24
_DOTS = 2.0**-40  # covers the rounding of products of up to 2^12 coordinates


class Point(NamedTuple):
    """Gradient, shape (k,), and Hessian at `params`."""

    params: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))


@dataclass(frozen=True)
class Tolerance:
    """How long the true gradient at an answer may be; public.

    Attributes
    ----------
    fixed, growth : float
        Of the rounding of a gradient at t, fixed + growth |t|; see the module.
    """

    fixed: float
    growth: float

    def rounding(self, params: np.ndarray) -> float:
        """Of a gradient at `params`, but for a share of itself."""
        return self.fixed + self.growth * float(np.linalg.norm(params))

    def reached(self, point: Point) -> bool:
        """Whether the gradient is as short as rounding can tell."""
        return point.size <= 4 * self.rounding(point.params)

    def of_answer(self, length: float) -> float:
        """Bound on the true gradient at an answer of this length."""
        return 5 * (self.fixed + self.growth * length) * (1 + 1e-9)


def solve(at: Callable[[np.ndarray], Point], k: int, tolerance: Tolerance, smooth: float) -> np.ndarray:
    """The first point found at which the tolerance is reached, shape (k,).

    Parameters
    ----------
    at : callable
        Gradient and Hessian at given params.
    k : int
    tolerance : Tolerance
    smooth : float
        Upper bound of the Hessian's eigenvalues, and of what makes the gradient Lipschitz.
    """
    point = at(np.zeros(k))
    level = point.size
    while not tolerance.reached(point):
        found = _searched(at, point, level, tolerance, smooth)
        point = at(point.params - point.gradient / smooth) if found is None else found
        if point.size <= level / 10:
            level = point.size
    return point.params


def _searched(
    at: Callable[[np.ndarray], Point], point: Point, level: float, tolerance: Tolerance, smooth: float
) -> Point | None:
    """A point along Newton's step that reaches a new level or lowers J by `enough`; None without one.

    The slope of J along the step grows from the negative `start`. A point short of where it is 0 will do; one
    with half the slope is near enough to it.
    """
    step = _newton(point)
    start, enough = float(point.gradient @ step), point.size**2 / (5 * smooth)
    low, high, below, above, length, found = 0.0, math.inf, start, 0.0, 1.0, None
    for _ in range(TRIALS):
        trial = at(point.params + length * step)
        moved, slope = trial.params - point.params, float(trial.gradient @ step)
        rounding = tolerance.rounding(trial.params) + _DOTS * trial.size
        if trial.size <= level / 10:
            return trial
        if -float(trial.gradient @ moved) - rounding * float(np.linalg.norm(moved)) >= enough:
            found, low, below, above = trial, length, slope, above / 2
            if slope >= start / 2 or not math.isfinite(high):
                return found
        else:
            high, below, above = length, below / 2, max(slope, 0.0)
        length = low + (high - low) * min(max(below / (below - above), 1e-3), 0.9)
    return found


def _newton(point: Point) -> np.ndarray:
    """Newton's step, or that against the gradient where it cannot be computed or leads uphill."""
    try:
        step: np.ndarray = -np.linalg.solve(point.hessian, point.gradient)
    except np.linalg.LinAlgError:
        return -point.gradient
    return step if float(step @ point.gradient) < 0 and np.isfinite(step).all() else -point.gradient
