"""Rows of the declared box in the unit ball, by one public constant for all.

See docs/theory/rows.md#the-public-map.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class UnitBall:
    """a = W (x - center) / (scale radius), no longer than `longest`.

    Attributes
    ----------
    center, scale, reach : array, shape (k,)
        Of all columns, a constant's included; entries of a lie within `reach`.
    radius, longest : float
    constant : bool
        Whether the first column is 1.
    whitening : array, shape (k, k), optional
        W, which leaves a constant as it is; the identity if left out.
    """

    center: np.ndarray
    scale: np.ndarray
    reach: np.ndarray
    radius: float
    longest: float
    constant: bool
    whitening: np.ndarray | None = None

    @classmethod
    def of_box(
        cls,
        bounds: np.ndarray,
        constant: bool,
        categories: Sequence[tuple[int, np.ndarray]] = (),
        norms: Sequence[tuple[tuple[int, ...], float]] = (),
    ) -> Self:
        """Of columns with these declared bounds, shape (k, 2): each is centred and divided by its
        half-width.

        A row has length sqrt k where all its entries lie at an end, and none is longer. Columns of one
        category are never all at an end: of `categories`, the first column of each and its rows at every
        level (:attr:`dpstats.formula.Design.categories`), only those rows count, and the columns are centred
        at the mean of these. Columns with a declared norm (:attr:`dpstats.formula.Design.norms`) are not
        centred, where it is the shorter way, but divided by the norm, or by a bound that is nearer.
        """
        center, scale = bounds.mean(axis=1), np.diff(bounds, axis=1)[:, 0] / 2
        fixed = scale <= 0
        center = np.where(fixed, 0.0, center)
        scale = np.where(fixed, np.maximum(np.abs(bounds[:, 1]), 1e-9), scale)
        if not constant:  # a line through the origin stays one only if nothing is centred
            center, scale = np.zeros(len(bounds)), np.maximum(np.abs(bounds).max(axis=1), 1e-9)
        far = np.ones(len(bounds))
        square = float(len(bounds))
        for first, levels in categories:
            part = slice(first, first + levels.shape[1])
            if constant:
                center[part] = levels.mean(axis=0)
            rows = (levels - center[part]) / scale[part]
            far[part] = np.abs(rows).max(axis=0)
            square += float((rows**2).sum(axis=1).max()) - levels.shape[1]
        for group, longest in norms:
            columns = list(group)
            size = np.minimum(np.abs(bounds[columns]).max(axis=1), longest)
            together = _most(size, longest)
            if together * float(size @ size) < len(columns) * float(scale[columns] @ scale[columns]):
                center[columns], scale[columns] = 0.0, size
                square += together - len(columns)
        radius = math.sqrt(square)
        return cls(center, scale, far / radius, radius, 1.0, constant)

    @property
    def k(self) -> int:
        return len(self.center)

    def public(self) -> dict[str, Any]:
        """Parameters of the row map, as the curator takes them."""
        public = dict(
            center=self.center, scale=self.scale, radius=self.radius, longest=self.longest, reach=self.reach
        )
        return public if self.whitening is None else public | dict(whitening=self.whitening)

    @property
    def turned(self) -> np.ndarray:
        """W."""
        return np.eye(self.k) if self.whitening is None else self.whitening

    @property
    def to_user(self) -> np.ndarray:
        """Matrix that takes params of a to coefficients of x."""
        back = self.turned.T / (self.scale * self.radius)[:, None]
        if self.constant:
            back[0] -= self.center @ back
        return back

    @property
    def from_user(self) -> np.ndarray:
        """The inverse of `to_user`, in which nothing cancels."""
        forth = np.eye(self.k)
        if self.constant:
            forth[0] += self.center
        return np.linalg.solve(self.turned.T, (self.scale * self.radius)[:, None] * forth)


def _most(size: np.ndarray, longest: float) -> float:
    """Most that the squares of x / size add up to, for |x_j| <= size_j and |x| <= longest.

    Where the least sizes are filled first, as a step of x_j^2 counts 1 / size_j^2.
    """
    squares = np.sort(size**2)
    left = longest**2 - np.append(0.0, np.cumsum(squares)[:-1])
    return float(np.clip(left / squares, 0.0, 1.0).sum())
