"""What is public about a generalised linear model (docs/theory/glm.md#model-and-target)."""

from dataclasses import dataclass, field

import numpy as np

from dpstats.families.glm import GlmFamily


@dataclass(frozen=True)
class Problem:
    """Public facts of a generalised linear model.

    Attributes
    ----------
    family : GlmFamily
    lower, upper : array, shape (d,)
        Bounds of the covariates beside the intercept.
    response, offset : tuple of float
    intercept : bool
    robust : bool
        Whether a logistic regression releases squared scores, as the other families always do.
    coded : array of bool, shape (d,), optional
        Which covariates are 0 or 1 by the schema; their effect is of a size that is known beforehand, however
        rare they are.
    categories : tuple of array
        Of each category that stands alone and has a reference level, the coefficients of its other levels.
    likely : array, shape (d, 2), optional
        Bounds between which most rows are known to lie; the declared ones if nothing is known.
    alike : array of int, shape (k, k), optional
        Which products of two columns are the same in every row; none if it is not known.
    crossed : tuple of array
        Of each number that has products with levels, its coefficient, and those of the products and levels.
    slopes_within : array, shape (m, 2, k), optional
        Changes of slopes in rows of one level alone, and of the line there.
    weighted : bool
        Whether rows have weights, at most 1, and a dispersion that rests on how large they are.
    splines : array of bool, shape (d,), optional
        Which covariates are those of a spline.
    curves : tuple of array
        Of each spline beside an intercept, its coefficients.
    """

    family: GlmFamily
    lower: np.ndarray
    upper: np.ndarray
    response: tuple[float, float]
    offset: tuple[float, float] = (0.0, 0.0)
    intercept: bool = True
    robust: bool = False
    coded: np.ndarray | None = None
    categories: tuple[np.ndarray, ...] = ()
    likely: np.ndarray | None = None
    alike: np.ndarray | None = None
    crossed: tuple[np.ndarray, ...] = ()
    slopes_within: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 0)))
    weighted: bool = False
    splines: np.ndarray | None = None
    curves: tuple[np.ndarray, ...] = ()

    @property
    def zero_or_one(self) -> np.ndarray:
        """`coded`, shape (d,)."""
        return np.zeros(len(self.lower), dtype=bool) if self.coded is None else self.coded

    @property
    def plain(self) -> np.ndarray:
        """Covariates that are 0 or 1 in every row, products of `coded` ones among them, shape (d,)."""
        if self.alike is None or not self.intercept:
            return self.zero_or_one
        return np.asarray(np.diag(self.alike) == self.alike[0])[1:]

    @property
    def usual(self) -> np.ndarray:
        """Covariates whose coefficients have a usual size though they repeat each other, shape (d,).

        Log ratios of levels do, and so do the heights between which a spline runs.
        """
        return self.zero_or_one if self.splines is None else self.zero_or_one | self.splines

    @property
    def levels(self) -> np.ndarray:
        """Indices of their coefficients."""
        return np.flatnonzero(self.zero_or_one) + self.intercept

    @property
    def k(self) -> int:
        """Number of coefficients."""
        return len(self.lower) + self.intercept

    @property
    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """Middle and half-width of covariates, response and, if there is one, offset.

        Those of covariates are the likely ones. Without an intercept nothing may be centred, and they have
        their middle at 0.
        """
        more = [self.response] + [self.offset] * (self.offset != (0.0, 0.0))
        covariates = np.column_stack([self.lower, self.upper]) if self.likely is None else self.likely
        if not self.intercept:
            covariates = np.abs(covariates).max(axis=1, keepdims=True) * [-1.0, 1.0]
        lower, upper = np.vstack([covariates, more]).T
        # a constant column has a declared width of 0; any positive scale serves it
        return (lower + upper) / 2, np.maximum((upper - lower) / 2, 1e-9)
