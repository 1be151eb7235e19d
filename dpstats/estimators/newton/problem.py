"""What is public about a fit, and the scale on which it is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.families.glm import GlmFamily

Array = np.ndarray

# square length, in the number of columns, of the longest row before any radius is chosen
FIRST_LENGTH = 1.25
# sd of a covariate in its declared box, half-width 1, if nothing is known: bounds three sds wide
_PRIOR_SD = 1 / 3
# a column stretched by this against its root mean square has rare long values, which shall keep their weight
_STRETCHED = 1.5
# rows become longer as noise falls; the scale shall then not
_LEAST_NOISE = 0.5
# shares of rows are seen if they exceed their noise so many times; a column with more than this share in one
# octave may be constant but for so many noise sds of rows
_VISIBLE, _CONSTANT, _HIDDEN = 3.0, 0.8, 1.5
# sd of log odds or log means between two levels; and variance of the coefficient of a column whose scale may
# be a hundred times too large
_LOG_RATIO, _ANY = 2.0, 1e4
# sd of the share of rows that cannot be used, before any release: from none to nearly all
_USABLE_SD = 0.5
# as rarely exceeded by noise with longer tails
_TAILS = {"laplace": 1.4}


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
    """

    family: GlmFamily
    lower: Array
    upper: Array
    response: tuple[float, float]
    offset: tuple[float, float] = (0.0, 0.0)
    intercept: bool = True
    robust: bool = False
    coded: Array | None = None

    @property
    def zero_or_one(self) -> Array:
        """`coded`, shape (d,)."""
        return np.zeros(len(self.lower), dtype=bool) if self.coded is None else self.coded

    @property
    def k(self) -> int:
        """Number of coefficients."""
        return len(self.lower) + self.intercept

    @property
    def boxes(self) -> tuple[Array, Array]:
        """Middle and half-width of covariates, response and, if there is one, offset.

        Without an intercept nothing may be centred: the boxes of covariates have their middle at 0.
        """
        more = [self.response] + [self.offset] * (self.offset != (0.0, 0.0))
        covariates = np.column_stack([self.lower, self.upper])
        if not self.intercept:
            covariates = np.abs(covariates).max(axis=1, keepdims=True) * [-1.0, 1.0]
        lower, upper = np.vstack([covariates, more]).T
        # a constant column has a declared width of 0; any positive scale serves it
        return (lower + upper) / 2, np.maximum((upper - lower) / 2, 1e-9)


@dataclass(frozen=True)
class Located:
    """Where columns and response lie: from the first two releases.

    Attributes
    ----------
    center, scale : array, shape (k,)
        Standardised columns are (x - center) / scale.
    least : array, shape (k,)
        Smallest mean square that whitening assumes of a standardised column.
    lower, upper : array, shape (k,)
        The declared bounds on this scale.
    thinnest : float
        Smallest mean square of a standardised column, about; below 1 where one has rare long values.
    rare : tuple of (array, array)
        Of each column with rare long values that stand out from the noise, shares of the rows and their
        squares on this scale.
    mean, sd : float
        Of the response.
    offset : float
        Mean offset.
    noise : float
        Noise sd of the means, in half-widths of their declared boxes.
    prior : array, shape (k,)
        Variance of the coefficients of standardised columns of which the data say nothing: of the linear
        predictor 1, and much more where the spread of the column is not known.
    usable : float
        Rows that can be used, per row; what is known of it before any release, and noise, moderate it.
    unread : bool
        Whether noise explains all rows that seem usable.
    """

    center: Array
    scale: Array
    least: Array
    lower: Array
    upper: Array
    thinnest: float
    rare: tuple[tuple[Array, Array], ...]
    mean: float
    sd: float
    offset: float
    noise: float
    prior: Array
    usable: float = 1.0
    unread: bool = False

    def public(self) -> dict[str, Any]:
        return dict(center=self.center, scale=self.scale)


@dataclass(frozen=True)
class _Spread:
    """Shares of the rows by octave of the distance from an origin, cleaned of noise."""

    shares: Array
    squares: Array
    known: Array  # whether noise and the error of the mean do not explain what was seen
    visible: Array  # whether a column has more than one octave that noise does not explain

    @property
    def mean_square(self) -> Array:
        return np.sum(self.shares * self.squares, axis=1)


def locate(curator: Curator, means_mu: float, octaves_mu: float, problem: Problem, noise: float) -> Located:
    """Release where the columns lie, and choose the scale of each.

    Parameters
    ----------
    noise : float
        Privacy noise of a coefficient in sampling sds, for a column of sd 1 whose rows all count.
    """
    (center, half), d = problem.boxes, len(problem.lower)
    means = curator.release("column_means", means_mu, center=center, half=half)
    first = np.clip(means.values[0] / means.n, -1.0, 1.0)
    if not problem.intercept:
        first[:d] = 0.0
    origin = first.copy()
    origin[d] = -1.0  # spreads of the response are told from its lower end
    octaves = curator.release("column_octaves", octaves_mu, center=center, half=half, origin=origin)
    spread = _cleaned(octaves, origin, d)
    mean, sd = _response(spread, d, first[d], means.sd / means.n, center[d], half[d])
    scales = np.array([_scale(spread, j, noise, problem.k) for j in range(d)])
    roots = np.sqrt(spread.mean_square[:d])
    middle, width = center[:d] + half[:d] * first[:d], half[:d] * scales
    stretched = scales > _STRETCHED * roots
    first_column = np.zeros(int(problem.intercept))
    usable, unread = _usable(octaves)
    return Located(
        center=np.append(first_column, middle),
        scale=np.append(first_column + 1, width),
        least=np.append(first_column, np.where(stretched, 1.0, 0.0)),
        lower=np.append(first_column + 1, (problem.lower - middle) / width),
        upper=np.append(first_column + 1, (problem.upper - middle) / width),
        thinnest=float(np.min((roots / scales) ** 2, initial=1.0)),
        rare=tuple(
            (spread.shares[j], spread.squares[j] / scales[j] ** 2)
            for j in np.flatnonzero(stretched & spread.visible[:d])
        ),
        mean=mean,
        sd=sd,
        offset=float(center[-1] + half[-1] * first[-1]) if len(center) > d + 1 else 0.0,
        noise=means.sd / means.n,
        prior=np.append(first_column + 1, _prior(problem, spread.known[:d], width)),
        usable=usable,
        unread=unread,
    )


def _usable(octaves: Release) -> tuple[float, bool]:
    """Rows that can be used, per row, and whether noise explains them all; each is counted once a column."""
    columns, cells = octaves.values[0].shape
    seen, sd = float(octaves.values[0].sum()) / columns / octaves.n, octaves.sd * math.sqrt(cells / columns)
    sd /= octaves.n
    share = (seen / sd**2 + 1 / _USABLE_SD**2) / (sd**-2 + _USABLE_SD**-2)
    return float(np.clip(share, min(sd, 1.0), 1.0)), seen < _VISIBLE * sd < _VISIBLE * _USABLE_SD


def _prior(problem: Problem, known: Array, width: Array) -> Array:
    """Prior variances of the covariates' coefficients."""
    unknown = np.where(problem.zero_or_one, np.maximum((_LOG_RATIO * width) ** 2, 1.0), _ANY)
    return np.where(known, 1.0, unknown)


def _cleaned(release: Release, origin: Array, covariates: int) -> _Spread:
    """Shares below three times their noise are taken for 0; with none left, the prior."""
    counts = release.values[0] / release.n
    noise = release.sd / release.n
    octaves = counts.shape[1]
    edges = 2.0 * 2.0 ** -np.arange(octaves)  # upper ends of the distance
    squares = edges**2 * 7 / 12  # of a uniform between half the edge and the edge
    visible = _VISIBLE * _TAILS.get(release.law, 1.0)
    shares = np.where(counts > visible * noise, counts, 0.0)
    told = np.sum(shares > 0, axis=1)
    prior = np.where(np.arange(octaves) == round(-math.log2(_PRIOR_SD)), 1.0, 0.0)
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, prior)
    # a covariate that seems constant may have rare values far away, which the noise hides
    constant = shares.max(axis=1) > _CONSTANT * shares.sum(axis=1)
    constant[covariates:] = False
    reach = np.floor(-np.log2((1 + np.abs(origin)) / 2)).astype(int)
    farthest = np.arange(octaves) == reach[:, None]
    shares = shares + np.where(constant[:, None] & farthest, _HIDDEN * noise, 0.0)
    # and the distance of the rest is that between it and the noisy mean
    rest = constant[:, None] & (np.arange(octaves) == shares.argmax(axis=1)[:, None])
    squares = np.where(rest & ~farthest, 0.0, squares)
    known = (told > 0) & ~np.any(rest & ~farthest, axis=1)
    return _Spread(shares / shares.sum(axis=1, keepdims=True), squares, known, told > 1)


def _scale(spread: _Spread, column: int, noise: float, k: int) -> float:
    """The scale at which the variance of the coefficient is least: sampling and privacy noise together.

    Rows far out carry what a rare 0/1 column or a long tail says. A small scale makes them long, so that
    they are weighted down; a large one leaves noise that is large against the rest of the column.
    """
    shares, squares = spread.shares[column], spread.squares[column]
    root, noise = math.sqrt(float(shares @ squares)), max(noise, _LEAST_NOISE)
    best = (math.inf, root)
    for scale in root * 2.0 ** np.arange(-1.0, 5.01, 0.25):
        information = scale**2 * weighted_square(shares, squares / scale**2, FIRST_LENGTH * k, k - 1)
        best = min(best, ((1 + (noise * scale) ** 2 / information) / information, float(scale)))
    return best[1]


def weighted_square(shares: Array, squares: Array, longest: float, others: float) -> float:
    """Mean square of a column, rows weighted; their square lengths are its square and that of the others."""
    # a lone column may be 0 but for noise
    weights = np.minimum(1.0, longest / np.maximum(others + squares, 1e-9))
    return float(shares @ (squares * weights))


def _response(
    spread: _Spread, column: int, first: float, noise: float, center: float, half: float
) -> tuple[float, float]:
    """Mean and sd of the response: of the box where its noise is small, else of the octaves."""
    shares, squares = spread.shares[column], spread.squares[column]
    low = center - half
    by_octaves = float(shares @ np.sqrt(squares) * 0.98) * half
    in_box = (first + 1) * half
    mean = in_box if noise * half < 0.1 * by_octaves else by_octaves
    square = float(shares @ squares) * half**2
    return low + mean, math.sqrt(max(square - mean**2, 0.05 * square))
