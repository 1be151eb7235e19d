"""What moments of a linear regression are made of: what was released, and what is known and not known beside.

See docs/theory/linear.md#one-joint-release.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats._stored import Arrays


class Expected(NamedTuple):
    """Of a noisy matrix before it is released, as :func:`dpstats.moments.posterior.denoised` takes it."""

    moments: np.ndarray | None = None
    numbers: int | None = None
    shape: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Released(Arrays):
    """Moments per row and the sds of their noise, as released.

    Attributes
    ----------
    n : int
        Number of rows; where a release told how many lack no value, of these.
    gram, cross, square : array (d, d), array (d,), float
        Of a a', a r and r^2. Rows longer than a public radius were shortened.
    noise_gram, noise_cross, noise_square : float
        sd of the noise: of a diagonal entry of `gram`, whose off-diagonal entries have 1 / sqrt 2 of it; of
        an entry of `cross`; of `square`.
    meat, noise_meat : array (d, d) and float, optional
        Of r^2 a a', shortened where longer than a public limit.
    fourth, noise_fourth : float, optional
        Of r^4.
    total, noise_total : float, optional
        Variance of the response in its own units, its mean square without an intercept; and its noise.
    rows : float, optional
        What is 0 without a row that weighs, over the sd of its noise; where `constant` does not tell.
    """

    n: int
    gram: np.ndarray
    cross: np.ndarray
    square: float
    noise_gram: float
    noise_cross: float
    noise_square: float
    meat: np.ndarray | None = None
    noise_meat: float | None = None
    fourth: float | None = None
    noise_fourth: float | None = None
    total: float | None = None
    noise_total: float | None = None
    rows: float | None = None


@dataclass(frozen=True, eq=False)
class Frame(Arrays):
    """The public coordinates of rows and residuals: params = origin + map @ delta.

    Attributes
    ----------
    origin : array, shape (d,)
    map : array, shape (d, d)
    scale : float
        Unit of r in units of the response.
    penalised : array, shape (d,)
        1 for the coefficients that a ridge penalty shrinks, 0 for the intercept.
    constant : array, shape (d,), optional
        u with a'u = 1 for a row that was not shortened; None without an intercept.
    """

    origin: np.ndarray
    map: np.ndarray
    scale: float
    penalised: np.ndarray
    constant: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Earlier(Arrays):
    """What earlier releases tell of delta and of `gram`.

    Attributes
    ----------
    prior : array, shape (d, d), optional
        Covariance of delta before this release, up to a factor, see :mod:`dpstats.moments.posterior`.
    errors : array, shape (d, d), optional
        Of the prior, what noise made of earlier steps, whose size is known: no factor changes it.
    first : array, shape (d, d), optional
        That before any release, where `gram` comes from one of the first.
    expected : array, shape (d, d), optional
        `gram` by what was known before, up to a factor; the identity, if not given.
    numbers : int, optional
        How many numbers `gram` is, where not all of its entries are free.
    shape : array, shape (d, d), optional
        S where the noise of `gram` is noise_gram S^1/2 Z S^1/2, Z with variances 1 on the diagonal and 1/2
        beside it, and where it led to the pilot fit as well; the identity, and not, if not given.
    cancelled : array, shape (d, d), optional
        Directions along which numbers cancel each other, each by a share from 0 to 1: what noise hides there
        is not estimable, as a prior for each number tells nothing of it.
    """

    prior: np.ndarray | None = None
    first: np.ndarray | None = None
    expected: np.ndarray | None = None
    numbers: int | None = None
    shape: np.ndarray | None = None
    cancelled: np.ndarray | None = None
    errors: np.ndarray | None = None

    @property
    def known(self) -> Expected:
        """What :func:`dpstats.moments.posterior.denoised` takes of `gram`."""
        return Expected(self.expected, self.numbers, self.shape)


@dataclass(frozen=True, eq=False)
class Weighting(Arrays):
    """How rows weigh in the moments.

    Attributes
    ----------
    weight : float
        Mean weight of rows in `cross` and `square` over that in `gram`, where they come from other releases.
    doubt : float
        Uncertainty of that, as a share.
    share : float
        Mean weight of rows before any was shortened; a missing row that `n` counts weighs 0.
    unit : float, optional
        Public maximum of the weights, if rows have weights of their own.
    heaviest : float
        Upper bound of the weight of a row, in these units, once it was shortened.
    kept : float
        What shortening leaves of the mean weight if rows are normal; where `constant` does not tell.
    uneven : float
        By what share of delta the matrix may be off, as rows that are not normal were weighted in `cross`.
    """

    weight: float = 1.0
    doubt: float = 0.0
    share: float = 1.0
    unit: float | None = None
    heaviest: float = 1.0
    kept: float = 1.0
    uneven: float = 0.0


@dataclass(frozen=True, eq=False)
class Clipping(Arrays):
    """Where residuals were clipped, and what is assumed of the rest of them.

    Attributes
    ----------
    limit : float, optional
        Where r was clipped.
    usual : float, optional
        Kurtosis of r as far as noise hides it, where counts of large residuals tell; else the normal's.
    most_lost : float, optional
        What clipping may have moved the mean of r by, where such counts tell.
    beyond : float, optional
        What it may have taken of its mean square, where they tell of rows there.
    guessed : bool
        Whether noise hid all of a response that seems constant: how far it spreads is a guess.
    """

    limit: float | None = None
    usual: float | None = None
    most_lost: float | None = None
    beyond: float | None = None
    guessed: bool = False


@dataclass(frozen=True, eq=False)
class Untold(Arrays):
    """What no moment tells of the line and of rows that weigh less.

    Attributes
    ----------
    bend : array, shape (d, d), optional
        Covariance of delta by what long rows of less weight may move a line that bends.
    bent : float
        Variance of each entry of delta by that, in residual variances, of a fit that was saved when
        directions were not told apart.
    blind : array, shape (d,), optional
        1 for coefficients of columns that may hold one value alone, or of products with levels whose rows'
        residuals may all have been clipped.
    open_ended : array, shape (d, d), optional
        Covariance of delta by the lines of such levels, each of which may be anywhere.
    whole : array, shape (d, d), optional
        Mean of a a' over rows, had none been shortened; if not given, it follows from `gram`.
    whole_error : array, shape (d, d), optional
        sds of what the covariances of covariates over all rows are taken for, in the user's units, and in the
        row of an intercept of their means.
    together : array, shape (d, d), optional
        The same by a release of rows that were hardly shortened: how columns go together.
    span : float, optional
        Of a fit that was saved when it told what clipping may have kept of a step: nothing reads it.
    """

    bend: np.ndarray | None = None
    bent: float = 0.0
    blind: np.ndarray | None = None
    open_ended: np.ndarray | None = None
    whole: np.ndarray | None = None
    whole_error: np.ndarray | None = None
    together: np.ndarray | None = None
    span: float | None = None
