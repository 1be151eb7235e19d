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
        Noise sd of each coordinate, or its root mean square over coordinates where they differ. In a
        symmetric part the diagonal has sd `sd`, the off-diagonal entries, each drawn once, `sd` / sqrt 2.
    sensitivity : float
        L2 sensitivity for a whole unit of privacy, rounding included.
    cost : float
        In the unit of the budget: mu in Gaussian differential privacy, or epsilon under a pure budget.
    n : int
        Number of rows read, public.
    adjacency : str
        Which data sets are neighbours.
    law : {"gaussian", "laplace", "linf", "spherical"}
        Of the noise, see :mod:`dpstats.curator.law`.
    sds : tuple of ndarray
        Noise sd of every entry of `values`. Entries of one release are uncorrelated; except for "gaussian"
        and "laplace" they are not independent.
    """

    name: str
    values: tuple[np.ndarray, ...]
    sd: float
    sensitivity: float
    cost: float
    n: int
    adjacency: str
    law: str
    sds: tuple[np.ndarray, ...]
