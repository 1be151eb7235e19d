"""Joint intervals: limits that hold for several quantities at once (multcomp's and emmeans' adjustments).

Half-widths are a critical value times standard errors. Nothing is random: the supremum of correlated normals
is found on Sobol's points, so that the same fit always prints the same interval
(docs/theory/intervals.md#joint-intervals).
"""

from __future__ import annotations

import warnings
from typing import Literal, TypeAlias

import numpy as np
from scipy import special
from scipy.stats import qmc

from dpstats._arguments import among, shown
from dpstats.errors import SpecificationError
from dpstats.moments.mixture import Tails
from dpstats.results.intervals import check_level, critical

Joint: TypeAlias = bool | Literal["bonferroni", "scheffe", "sup-t"] | None

METHODS = ("bonferroni", "scheffe", "sup-t")
POINTS = 2**15 - 1


def half_widths(level: float, cov: np.ndarray, joint: Joint, tails: Tails | None) -> np.ndarray:
    """Return half-widths of intervals for m quantities with covariance `cov`, shape (m,).

    Parameters
    ----------
    level : float
    cov : array, shape (m, m)
        Infinite variances are of quantities that are not estimable; they need no share of the error.
    joint : {None, False, True, "bonferroni", "scheffe", "sup-t"}
        None or False: each interval holds by itself. True is "bonferroni", which holds for any noise;
        "sup-t" is the shortest of one critical value (multcomp's single step); "scheffe" holds for all
        linear combinations of the quantities, too.
    tails : Tails, optional
        Law of noise that is not normal, for the m quantities.

    Raises
    ------
    SpecificationError
        For an unknown `joint`, or one that needs normal noise where it is not.
    """
    check_level(level)
    if not among(joint, (None, True, False, *METHODS)):
        wrong = shown(joint)
        raise SpecificationError(f"joint must be one of {', '.join(METHODS)}, True or None; got {wrong}")
    variances = np.diagonal(cov)
    used = np.isfinite(variances) & (variances > 0)
    method = "bonferroni" if joint is True else joint or ""
    single = _bonferroni(level, int(used.sum())) if method else level
    if tails is not None:
        if method in ("scheffe", "sup-t"):
            raise SpecificationError(f"joint={joint!r} needs normal noise; use joint='bonferroni' here")
        return tails.half_widths(single, cov)
    factor = critical(single)
    if method in ("scheffe", "sup-t") and used.any():
        sd = np.sqrt(variances[used])
        correlation = cov[np.ix_(used, used)] / np.outer(sd, sd)
        factor = _scheffe(level, correlation) if method == "scheffe" else _sup_t(level, correlation, factor)
    return np.asarray(factor * np.sqrt(variances))


def _bonferroni(level: float, m: int) -> float:
    return 1 - (1 - level) / max(m, 1)


def _scheffe(level: float, correlation: np.ndarray) -> float:
    """Return the root of the chi-square quantile with as many degrees of freedom as there are directions."""
    return float(np.sqrt(special.chdtri(np.linalg.matrix_rank(correlation), 1 - level)))


def _sup_t(level: float, correlation: np.ndarray, most: float) -> float:
    """Return the quantile of max |z_j|; it lies between that of one z and Bonferroni's."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without the point 0, which has no normal quantile, 2^15 - 1 remain
        sobol = qmc.Sobol(len(correlation), scramble=False)
        points = special.ndtri(sobol.fast_forward(1).random(POINTS))
    largest = np.abs(points @ root.T).max(axis=1)
    return float(np.clip(np.quantile(largest, level), critical(level), most))
