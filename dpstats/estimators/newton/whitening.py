"""Whitening of the columns by the information about their coefficients (docs/theory/glm.md#steps)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpstats.estimators.matrices import longest_image
from dpstats.estimators.newton.located import Located

Array = np.ndarray


# columns are not told apart beyond a correlation of about 1 minus this
_SMALLEST = 1e-4


@dataclass(frozen=True)
class Whitening:
    """W, symmetric: whitened rows are W times the standardised ones."""

    matrix: Array

    @classmethod
    def none(cls, k: int) -> Whitening:
        return cls(np.eye(k))

    def improved(self, information: Array, located: Located) -> Whitening:
        """W that also whitens `information`, given in today's whitened coordinates with a level of 1."""
        back = np.linalg.inv(self.matrix)
        moments = back @ information @ back
        moments += np.diag(np.maximum(0.0, located.least - np.diag(moments)))
        values, vectors = np.linalg.eigh((moments + moments.T) / 2)
        return Whitening((vectors * np.maximum(values, _SMALLEST) ** -0.5) @ vectors.T)

    def longest_square(self, located: Located) -> float:
        """Upper bound of |W z|^2 over the declared box."""
        return longest_image(self.matrix, located.lower, located.upper)
