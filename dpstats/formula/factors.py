"""The factors of a term: a number, a spline basis or a category, row-wise and with public bounds.

Spline bases are B-splines with public knots, and the natural splines among them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dpstats.formula.expressions import Expression

# places between two knots where rows of a spline are looked at: an eighth of a span is nearly straight
_BETWEEN = 7


def basis(x: np.ndarray, knots: np.ndarray, degree: int) -> list[np.ndarray]:
    """All B-splines of a degree at given points, by the recursion of de Boor and Cox.

    Parameters
    ----------
    x
        Points between the first and the last knot, shape (m,).
    knots
        Increasing, the boundary knots repeated ``degree + 1`` times, shape (k,).

    Returns
    -------
    list of ``k - degree - 1`` arrays of shape (m,)
        Non-negative; at each point at most ``degree + 1`` of them are positive, and they sum to 1.
    """
    # the last non-empty span is closed on the right, so that the upper boundary belongs to it
    last = np.searchsorted(knots, knots[-1], side="left") - 1
    span = np.clip(np.searchsorted(knots, x, side="right") - 1, degree, last)
    splines = [(span == j).astype(np.float64) for j in range(len(knots) - 1)]
    for order in range(1, degree + 1):
        splines = [
            _raise(splines[j], splines[j + 1], x, knots[j : j + order + 2]) for j in range(len(splines) - 1)
        ]
    return splines


@cache
def natural(knots: tuple[float, ...], include_intercept: bool) -> np.ndarray:
    """Combinations of cubic B-splines that are straight lines at both ends, as R's ``ns`` has them.

    Parameters
    ----------
    knots
        As of `basis`, for degree 3.
    include_intercept : bool
        Else the first B-spline is left out, and with it the constant.

    Returns
    -------
    array of shape (q, q - 2)
        Of the q B-splines that are used; its columns are orthonormal. So a row of the combined basis is no
        longer than a row of B-splines, whose norm is at most its sum, 1.
    """
    at, bends = np.array(knots), np.eye(len(knots) - 4)
    for degree in (3, 2):  # the coefficients of derivatives, from those of a spline of this degree
        bends = degree * np.diff(bends, axis=0) / (at[degree + 1 : -1] - at[1 : -degree - 1])[:, None]
        at = at[1:-1]
    ends = bends[[0, -1], 0 if include_intercept else 1 :]
    return np.linalg.qr(ends.T, mode="complete")[0][:, 2:]


def _raise(left: np.ndarray, right: np.ndarray, x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """One B-spline of the next order from its two parents, which live on ``knots[:-1]`` and ``knots[1:]``."""
    out = np.zeros_like(x)
    if knots[-2] > knots[0]:
        out += (x - knots[0]) / (knots[-2] - knots[0]) * left
    if knots[-1] > knots[1]:
        out += (knots[-1] - x) / (knots[-1] - knots[1]) * right
    return out


@dataclass(frozen=True)
class _OfExpression:
    """Numeric columns of an expression; ``code`` is their text in the formula."""

    code: str
    expression: Expression

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self.expression.variables


@dataclass(frozen=True)
class NumericFactor(_OfExpression):
    """One numeric column."""

    bounds: tuple[tuple[float, float], ...]

    @property
    def variable(self) -> str | None:
        """The variable's name if the factor is a variable and nothing else."""
        return self.expression.name

    @property
    def norm(self) -> float:
        """Largest Euclidean norm of the factor's part of a row."""
        return max(abs(bound) for bound in self.bounds[0])

    def columns(self, leaves: Mapping[str, np.ndarray]) -> list[Any]:
        """The values in a block; NaN only where rounding leaves a function's domain."""
        return [self.expression.values(leaves)]


@dataclass(frozen=True)
class SplineFactor(_OfExpression):
    """A B-spline basis with public knots: non-negative columns with a sum, hence a norm, of at most 1.

    A natural spline is made of orthonormal combinations of them, so that its norm is at most 1, too; a column
    lies between its least and its largest coefficient, or 0, since it is a mean of coefficients, with a zero
    for what is left of the sum.
    """

    knots: tuple[float, ...]
    degree: int
    include_intercept: bool
    natural: bool = False
    norm: float = 1.0

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Bounds of each column."""
        if self.natural:
            mix = natural(self.knots, self.include_intercept).T
            return tuple((float(min(0, each.min())), float(max(0, each.max()))) for each in mix)
        return ((0.0, 1.0),) * (len(self.knots) - self.degree - 1 - (not self.include_intercept))

    def columns(self, leaves: Mapping[str, np.ndarray]) -> list[Any]:
        """The basis in a block; a point outside the boundary knots counts as on the boundary."""
        return self._at(np.atleast_1d(np.clip(self.expression.values(leaves), self.knots[0], self.knots[-1])))

    @property
    def heights(self) -> np.ndarray:
        """Rows of the basis at its knots and `_BETWEEN` places between two of these, shape (m, columns)."""
        knots = np.unique(self.knots)
        at = np.arange((_BETWEEN + 1) * (len(knots) - 1) + 1) / (_BETWEEN + 1)
        return np.column_stack(self._at(np.interp(at, np.arange(len(knots)), knots)))

    def _at(self, x: np.ndarray) -> list[Any]:
        columns = basis(x, np.array(self.knots), self.degree)
        columns = columns if self.include_intercept else columns[1:]
        if not self.natural:
            return columns
        # sums column by column: how a product of matrices rounds depends on where in a block a row stands
        mix = natural(self.knots, self.include_intercept).T
        return [sum(weight * part for weight, part in zip(each, columns, strict=True)) for each in mix]


@dataclass(frozen=True)
class PolynomialFactor(_OfExpression):
    """Legendre's polynomials from degree 1, orthogonal over public bounds, between which none exceeds 1."""

    degree: int
    lower: float
    upper: float

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Bounds of each column."""
        return ((-1.0, 1.0),) * self.degree

    @property
    def norm(self) -> float:
        """Largest Euclidean norm of the factor's part of a row: at the ends all are 1 in size."""
        return math.sqrt(self.degree)

    def columns(self, leaves: Mapping[str, np.ndarray]) -> list[Any]:
        """The polynomials in a block."""
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        x = np.atleast_1d((self.expression.values(leaves) - middle) / half)
        return list(np.polynomial.legendre.legvander(x, self.degree).T[1:])


@dataclass(frozen=True)
class CategoricalFactor:
    """A category with public levels and, if the formula names one, a contrast.

    The codes are those of a variable declared by levels (``variable``), or the number of ``breaks`` at or
    below an expression's value; a comparison (0 or 1) has the break 0.5. So a value that is exactly a break
    is in the upper class; with ``right`` it is in the lower one, as in R and pandas. ``order`` lists the
    codes in the order of ``levels`` if the formula gives another order than the schema.
    """

    code: str
    levels: tuple[Any, ...]
    contrast: Any = None
    variable: str | None = None
    expression: Expression | None = None
    breaks: tuple[float, ...] = (0.5,)
    order: tuple[int, ...] | None = None
    right: bool = False

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        if self.expression is not None:
            return self.expression.variables
        return frozenset((self.variable,)) if self.variable is not None else frozenset()

    @property
    def reference(self) -> str:
        """The level with which a contrast of treatments compares the others."""
        told = getattr(self.contrast, "reference", None)
        first = self.levels[told or 0] if type(told) in (int, type(None)) else told
        return str(first)

    def codes(self, leaves: Mapping[str, np.ndarray]) -> np.ndarray:
        """The code of each row of a block; -1 where the level is missing."""
        codes = (
            leaves[str(self.variable)].astype(np.intp)
            if self.expression is None
            else np.searchsorted(
                self.breaks, self.expression.values(leaves), side="left" if self.right else "right"
            )
        )
        return codes if self.order is None else np.append(np.argsort(self.order), -1)[codes]

    def columns(self, leaves: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The codes in a block, as a column."""
        return [self.codes(leaves)]


Factor = NumericFactor | SplineFactor | PolynomialFactor | CategoricalFactor
