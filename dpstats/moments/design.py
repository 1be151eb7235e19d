"""Means, sds and correlations of a design's columns, as a fit's releases tell them, with what noise adds.

See docs/theory/results.md#moments.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats._stored import Arrays
from dpstats.moments.noisy import NoisyMoments
from dpstats.moments.roots import root_of

_ARRAYS = ("mean", "mean_noise", "sd", "sd_noise")
_PAIRS = ("corr", "corr_noise")  # which only second moments tell
# relative error of an sd beyond which it may be next to nothing: the first stage then tells a bound
_HIDDEN = 0.2
# What values far out, which are clipped or whose rows are shortened, move: means in sds, sds as a share, and
# correlations r in 1 - r^2. In designs of the lottery (benchmarks/column_moments.py) 95 % are within two of
# these, but for sds of columns with long tails, which are smaller than they would be.
ANY = 3**-0.5  # sd of a correlation that may have any value
_OF_MEAN, _OF_SD, _OF_CORR = 0.09, 0.11, 0.07


@dataclass(frozen=True, eq=False)
class DesignMoments(Arrays):
    """Of the p columns after the intercept.

    Attributes
    ----------
    of : str
        Which rows they are of, "rows" or "failures".
    count : float
        About how many these are.
    mean, mean_noise : array, shape (p,)
        And the sd of what noise and shortened rows leave unknown of it.
    sd, sd_noise : array, shape (p,)
        The same, as a share of the sd.
    corr, corr_noise : array, shape (p, p), optional
    """

    of: str
    count: float
    mean: np.ndarray
    mean_noise: np.ndarray
    sd: np.ndarray
    sd_noise: np.ndarray
    corr: np.ndarray | None = None
    corr_noise: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.of not in ("rows", "failures") or not self.count > 0:
            raise ValueError("moments are of rows or failures, a positive number of them")
        p = np.shape(self.mean)
        for name in (*_ARRAYS, *(_PAIRS if self.corr is not None else ())):
            array, shape = np.array(getattr(self, name), dtype=float), p * (2 if name in _PAIRS else 1)
            if p == (0,):  # of no columns a file has one list, whatever the shape
                array = array.reshape(shape)
            if array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"{name} of the moments must be finite numbers of the shape of the others")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def clipped(self, numbers: np.ndarray) -> "DesignMoments":
        """With what values and rows far out, which count less, may do to means, sds and correlations.

        Parameters
        ----------
        numbers : array of bool, shape (p,)
            Columns of more than two values.
        """
        # within an sd that is a bound, values may lie anywhere
        mean = np.hypot(self.mean_noise, numbers * np.where(self.unknown, 1.0, _OF_MEAN) * self.sd)
        sd = np.hypot(self.sd_noise, numbers * _OF_SD)
        if self.corr is None or self.corr_noise is None:
            return replace(self, mean_noise=mean, sd_noise=sd)
        corr = np.hypot(self.corr_noise, _OF_CORR * (1 - self.corr**2))
        return replace(self, mean_noise=mean, sd_noise=sd, corr_noise=corr)

    def through(self, back: np.ndarray, origin: np.ndarray) -> "DesignMoments":
        """Of the columns origin + back'x, x those of these moments.

        Where correlations are not known, sds of the new columns may be off by what any would make of them.
        One of which noise, or rounding, leaves nothing is told by an upper limit, as in `of_matrix`.
        """
        know, free, squares = self.corr is not None, 1 - np.eye(len(self.mean)), back**2
        corr, doubt = (self.corr, self.corr_noise) if know else (np.eye(len(free)), ANY * free)
        assert corr is not None and doubt is not None
        noise = np.add.outer(self.sd_noise**2, self.sd_noise**2)
        noise += 2 * np.diag(self.sd_noise**2)  # of a variance, whose two factors err together
        # new columns in units of their sds if the old ones were independent: squares of large ones overflow
        parts = self.sd[:, None] * back
        unit = np.maximum(np.linalg.norm(parts, axis=0), 1e-300)
        parts = parts / unit
        cov = parts.T @ corr @ parts
        error = np.sqrt((parts**2).T @ (doubt**2 + corr**2 * noise) @ parts**2)
        variance = np.maximum(np.diag(cov), np.maximum(np.diag(error), np.finfo(float).eps))
        sd = np.sqrt(variance)
        size = np.outer(sd, sd)
        mixed = np.where(free, np.clip(cov / size, -1.0, 1.0), 1.0)
        return replace(
            self,
            mean=origin + self.mean @ back,
            mean_noise=np.sqrt(self.mean_noise**2 @ squares),
            sd=unit * sd,
            sd_noise=np.diag(error) / variance / 2,
            corr=mixed if know else None,
            corr_noise=free * np.minimum(error / size, 1.0) if know else None,
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "DesignMoments":
        """The moments that `to_dict` described."""
        return cls(**{**content, "of": str(content["of"]), "count": float(content["count"])})

    @property
    def unknown(self) -> np.ndarray:
        """Columns whose sd noise leaves to be told by an upper limit alone."""
        return self.sd_noise > _HIDDEN

    @property
    def mean_error(self) -> np.ndarray:
        """Standard errors of the means, sampling and noise."""
        return np.hypot(self.sd / np.sqrt(self.count), self.mean_noise)

    @property
    def sd_error(self) -> np.ndarray:
        """Standard errors of log sds, infinite where unknown; sampling is that of normal columns."""
        return np.where(self.unknown, np.inf, np.hypot(np.sqrt(0.5 / self.count), self.sd_noise))

    @property
    def corr_error(self) -> np.ndarray | None:
        """Standard errors of the correlations, infinite where an sd is unknown."""
        if self.corr is None or self.corr_noise is None:
            return None
        unknown = np.logical_or.outer(self.unknown, self.unknown)
        return np.where(unknown, np.inf, np.hypot((1 - self.corr**2) / np.sqrt(self.count), self.corr_noise))


def of_linear(moments: NoisyMoments) -> DesignMoments | None:
    """What the second moments of a linear fit say of its columns, over all rows; None without an intercept.

    Notes
    -----
    X = back' M back is the mean of x x'. What shortened rows leave unknown of variances, covariances and
    means is `whole_error`.
    """
    if moments.frame.constant is None:
        return None
    back, shape = moments.back, moments.earlier.shape
    through = back if shape is None else root_of(shape).T @ back
    noise = moments.released.noise_gram / moments.gram_weight
    rows = moments.released.n * moments.weighting.share
    found = of_matrix("rows", rows, back.T @ moments.all_rows @ back, noise, through)
    if moments.untold.whole_error is None:
        return found
    assert found.corr is not None and found.corr_noise is not None
    unknown, variance = moments.untold.whole_error, found.sd**2
    own = np.diag(unknown)[1:] / variance
    # covariances and variances of shortened rows are wrong together, and correlations less
    common = found.corr**2 * np.add.outer(own**2, own**2) / 4
    apart = np.maximum((unknown[1:, 1:] / np.outer(found.sd, found.sd)) ** 2 - common, 0.0)
    np.fill_diagonal(apart, 0.0)
    found = replace(
        found,
        mean_noise=np.hypot(found.mean_noise, unknown[0, 1:]),
        sd_noise=np.hypot(found.sd_noise, own / 2),
        corr_noise=np.sqrt(found.corr_noise**2 + apart),
    )
    return found.clipped(np.ones(len(variance), bool))


def of_matrix(of: str, count: float, whole: np.ndarray, noise: float, through: np.ndarray) -> DesignMoments:
    """Means, sds and correlations by the noisy mean of x x' over rows x that begin with 1.

    Parameters
    ----------
    of, count
        See :class:`DesignMoments`.
    whole : array, shape (k, k)
    noise : float
        sd of a diagonal entry of the noise Z, whose others have 1 / sqrt 2 of it.
    through : array, shape (d, k)
        `whole` has the noise through' Z through.

    Notes
    -----
    A function of X with gradient C, symmetric, moves by <through C through', Z>, whose variance is noise^2
    times its squared Frobenius norm. With u v' + v u' over 2 that norm is (|u|^2 |v|^2 + (u'v)^2) / 2; a mean
    X_0j / X_00 has u = e_0 and v = e_j - mean_j e_0, a covariance v_i and v_j.
    """
    level = max(float(whole[0, 0]), 1e-12)
    mean = whole[0, 1:] / level
    within, noise = whole[1:, 1:] / level - np.outer(mean, mean), noise / level
    first, away = through[:, 0], through @ np.vstack([-mean, np.eye(len(mean))])
    squares = np.sum(away**2, axis=0)
    mean_noise = noise * np.sqrt((float(first @ first) * squares + (first @ away) ** 2) / 2)
    variance_noise = noise * squares
    variance = np.maximum(np.diag(within), np.maximum(variance_noise, 1e-300))
    sds = np.sqrt(variance)
    corr = np.clip(within / np.outer(sds, sds), -1.0, 1.0)
    np.fill_diagonal(corr, 1.0)
    corr_noise = noise * np.sqrt(_of_correlations(away / sds, corr))
    np.fill_diagonal(corr_noise, 0.0)
    return DesignMoments(of, count, mean, mean_noise, sds, variance_noise / variance / 2, corr, corr_noise)


def _of_correlations(away: np.ndarray, corr: np.ndarray) -> np.ndarray:
    """|C|_F^2 of each correlation r, C = (a_i a_j' + a_j a_i' - r a_i a_i' - r a_j a_j') / 2."""
    products = away.T @ away
    size = np.diag(products)
    cross = (np.outer(size, size) + products**2) / 2
    squares = (np.add.outer(size**2, size**2) + 2 * products**2) / 4
    mixed = products * np.add.outer(size, size) / 2
    return np.maximum(cross - 2 * corr * mixed + corr**2 * squares, 0.0)
