"""What leaves the curator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Release"]


@dataclass(frozen=True)
class Release:
    """A noisy sum over all rows and what is public about its noise.

    Attributes
    ----------
    name : str
        Name of the statistic.
    values : tuple of ndarray
        Its parts in their natural shapes.
    sd : float
        Noise sd of each coordinate. In a symmetric part the diagonal has sd `sd`, the off-diagonal entries,
        each drawn once, `sd` / sqrt 2.
    sensitivity : float
        L2 sensitivity that the noise was calibrated to, for a whole unit of privacy, rounding included.
    mu : float
        Cost in Gaussian differential privacy.
    n : int
        Number of rows read, public.
    adjacency : str
        Which data sets are neighbours.
    """

    name: str
    values: tuple[np.ndarray, ...]
    sd: float
    sensitivity: float
    mu: float
    n: int
    adjacency: str = "replace one row"
