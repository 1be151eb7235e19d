"""What leaves the curator."""

from dataclasses import dataclass

import numpy as np

from dpstats.budget import Gdp, Pure


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
    cost : Pure or Gdp
        Epsilon of noise of pure epsilon, or mu of Gaussian noise.
    n : int
        Number of rows read, public.
    adjacency : str
        Which data sets are neighbours.
    law : {"gaussian", "laplace", "linf", "spherical", "cylinder", "wishart"}
        Of the noise, see :mod:`dpstats.curator.law`.
    sds : tuple of ndarray
        Noise sd of every entry of `values`. Entries of one release are uncorrelated; except for "gaussian"
        and "laplace" they are not independent.
    """

    name: str
    values: tuple[np.ndarray, ...]
    sd: float
    sensitivity: float
    cost: Pure | Gdp
    n: int
    adjacency: str
    law: str
    sds: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Minimum:
    """The noisy minimum of a penalised objective and what is public about its noise.

    Attributes
    ----------
    params : ndarray, shape (k,)
        In the coordinates of :class:`dpstats.curator.unit_rows.UnitRows`.
    ridge : float
        Of the objective: sum of losses + ridge / 2 |params|^2.
    tilt_law : str
        Law of the random linear term b of the objective, or "none".
    tilt_sds : ndarray, shape (k,)
        Its sds.
    law : str
        Law of the noise on the minimum itself.
    sds : ndarray, shape (k,)
        Its sds.
    cost : Pure or Gdp
        Of tilt and noise together.
    n : int
        Number of rows read, public.
    """

    params: np.ndarray
    ridge: float
    tilt_law: str
    tilt_sds: np.ndarray
    law: str
    sds: np.ndarray
    cost: Pure | Gdp
    n: int
