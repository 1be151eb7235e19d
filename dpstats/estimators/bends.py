"""Does the response follow a line? Scores against its square, docs/theory/glm.md#whether-responses-bend."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from dpstats.curator import Release
from dpstats.estimators.matrices import ROUNDING
from dpstats.families.bounded_score import BoundedScore, square_weight
from dpstats.moments.mixture import LAWS, Tails
from dpstats.moments.roots import rounding, variance_along

EDGE = 2.0  # sds of the linear predictor, or of a column, beyond which a square grows no more
# chances that so large a bend is seen where there is none: of one that stands out, and one that is news for
# intervals; 3.3 and 2 sds of normal noise
DOUBTFUL, USUAL = 0.001, 0.0455
WORTH = 2.0  # standard errors that a coefficient may be moved by before it is said
# A row that counts for nothing lies about 4 sds out, where the square is some 16 more than its mean: what of
# a bend moves the line is so many times the share of weight that is lost. In 45 real fits .1 to 25 times.
FAR = 16.0


class Square(NamedTuple):
    """A clipped square of the linear predictor that scores are held against.

    Attributes
    ----------
    edge : float
        Sds of the linear predictor beyond which it grows no more.
    left : float
        Mean product with a square, beside intercept and slopes, over the mean square. For a normal predictor
        it is .62 up to 2 sds, of which .5 is taken, and 2.43 up to 1.
    centred : bool
        Whether its mean is the middle of its range, so that an error of the intercept moves nothing; and
        whether the predictor is taken about its weighted mean.
    """

    edge: float
    left: float
    centred: bool


# of a yes or no and of linear models; and of counts and amounts, whose scores have wide limits, so that noise
# hides all but what many rows say at the end of the square
WIDE, NEAR = Square(EDGE, 0.5, False), Square(1.0, 2.4, True)


@dataclass(frozen=True)
class ReleasedLine:
    """A released line on standardised columns, the constant first.

    Attributes
    ----------
    center, scale, beta : array, shape (k,)
    moments : array, shape (k, k)
        Second moments of standardised rows as they were weighted, about, up to a factor.
    cov, cov_privacy : array, shape (k, k)
        Of `beta`; infinite where a coefficient is not estimable.
    offset : float, optional
        Mean offset; none, if the offset is no part of what may bend.
    phi : float
        Variance of a score over its curvature.
    lost : float
        Share of the rows' weight that long rows, or rows of large means, have lost.
    squares : array, shape (k,)
        Mean squares of the standardised columns, all rows counted in full.
    unit : float
        sd of a response, in whose units the linear predictor is.
    skewed : tuple of int
        Columns whose long rows lie on one side, so that a square moves their slopes.
    levels : tuple of int
        Columns of two values, along which nothing bends.
    """

    center: np.ndarray
    scale: np.ndarray
    beta: np.ndarray
    moments: np.ndarray
    cov: np.ndarray
    cov_privacy: np.ndarray
    offset: float | None
    phi: float
    lost: float
    squares: np.ndarray
    unit: float = 1.0
    skewed: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()

    @property
    def held(self) -> float:
        """Share of a centred square that intercept and slope make, in the mean square, at most.

        Of predictors of numbers, up to log-normal ones with an sd of the log of 1.2, half of it; and all of
        one that takes two values.
        """
        each = self.slopes**2 * self.squares
        return (1 + float(each[list(self.levels)].sum()) / max(float(each.sum()), 1e-300)) / 2

    @property
    def leans(self) -> bool:
        """Whether more than half of the square of the predictor is of skewed columns."""
        each = self.slopes**2 * self.squares
        return bool(each[list(self.skewed)].sum() > each.sum() / 2)

    @cached_property
    def slopes(self) -> np.ndarray:
        """`beta` without the intercept."""
        return np.append(0.0, self.beta[1:])

    @cached_property
    def along(self) -> np.ndarray:
        """What takes an error of `beta` to that of the linear predictor along itself, times its variance."""
        across = self.moments @ self.slopes
        return np.asarray(across - across[0] / self.moments[0, 0] * self.moments[0])

    @property
    def middle(self) -> float:
        """Mean of the linear predictor, of rows as they were weighted, without the offset."""
        return float(self.moments[0] @ self.beta) / float(self.moments[0, 0])

    @property
    def spread(self) -> float:
        """sd of the linear predictor."""
        return math.sqrt(max(float(self.slopes @ self.along), 0.0))

    @property
    def some_spread(self) -> float:
        """`spread`, or where it is none what stands for that: nothing can bend by it."""
        return max(self.spread, ROUNDING * self.unit)

    @property
    def unheard(self) -> float:
        """`lost`, or the share of the variance of the linear predictor that rows have lost with their weight.

        `moments` are those of weighted rows, `squares` those of all. Where a column is skewed, its
        long rows are most of its square, and few of the rows.
        """
        return max(self.lost, self._more / max(self._more + self.spread**2, 1e-300))

    @property
    def moved(self) -> np.ndarray:
        """What a line moves by in all, if along the intercept and along the predictor in its sds by 1."""
        first = np.eye(len(self.beta))[0]
        return np.outer(first, first) + np.outer(self.slopes, self.slopes) / max(self.spread, 1e-9) ** 2

    @property
    def whole_spread(self) -> float:
        """sd of the linear predictor over all rows, those that were weighted down in full."""
        return math.sqrt(self.spread**2 + self._more)

    @property
    def _more(self) -> float:
        heard, slopes = np.diag(self.moments) / self.moments[0, 0], self.spread**2 * self.slopes**2
        return float(slopes @ np.maximum(self.squares - heard, 0.0)) / max(
            float(self.slopes**2 @ heard), 1e-300
        )


@dataclass(frozen=True)
class Bend:
    """Whether a line surely bends, and by how much it may beyond that.

    Attributes
    ----------
    told : bool
        Whether the bend stands out, and may move the intercept or the slope along the predictor by more than
        two standard errors.
    square : float
        Square of what the line may be moved by along the intercept and along the predictor in its sds, as far
        as the bend is more than usual.
    """

    told: bool
    square: float


def standardised(back: np.ndarray, cov: np.ndarray, cov_privacy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariances of a `ReleasedLine`, by what takes coefficients to those of standardised columns."""
    if not np.isfinite(cov).all():
        unknown = np.full((len(back), len(back)), np.inf)
        return unknown, unknown
    return _carried(back, cov), _carried(back, cov_privacy)


def _carried(back: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """The covariance of back @ estimate, whose variances are no less than rounding may have left of them."""
    found = back @ cov @ back.T
    np.fill_diagonal(found, np.maximum(np.diagonal(found), rounding(back, cov)))
    return np.asarray(found)


def bend_public(line: ReleasedLine, score: BoundedScore, square: Square) -> dict[str, Any]:
    """Public parameters of the statistic "predictor_bend"; they do not depend on covariances."""
    return dict(
        center=line.center,
        scale=line.scale,
        beta=line.beta,
        score=score,
        middle=(line.middle if square.centred else float(line.beta[0])) + (line.offset or 0.0),
        spread=line.some_spread,
        edge=square.edge,
        alone=line.offset is None,
    )


def judged(release: Release, line: ReleasedLine, limit: float, curve: Square, share: float) -> Bend:
    """Whether a line bends, by a release of products of scores, up to a limit, with its square."""
    if not np.isfinite(line.cov).all():
        return Bend(False, 0.0)
    kappa = square_weight(limit * curve.edge**2 / 2)
    (found, square), (noise, square_noise) = (
        np.concatenate(list(map(np.ravel, each))) / (1, kappa) for each in (release.values, release.sds)
    )
    square = max(float(square), 0.0) + 2 * square_noise
    first = np.eye(len(line.beta))[0]
    sampling = line.cov - line.cov_privacy
    both = [
        variance_along(line.cov_privacy, a) / max(variance_along(sampling, a), 1e-300)
        for a in (first, line.along)
    ]
    noisy = line.held * max(both) if curve.centred else sum(both)
    sd = math.sqrt(square * (1 + noisy) + noise**2)
    scale = share * line.phi / (curve.left * square)
    errors = (
        math.sqrt(variance_along(line.cov, first)),
        math.sqrt(variance_along(line.cov, line.along)) / line.some_spread,
    )
    sure, usual = by_chance(release.law, noise, sd)
    if line.leans and not curve.centred:  # the square less its mean by chance, as in James and Stein's rule
        usual = sd
    told = bool(abs(found) > sure and scale * abs(found) > WORTH * min(errors))
    more = max(abs(found) - usual, 0.0)  # whose square, unlike that of `usual`, is a number
    return Bend(told, scale**2 * more * (2 * abs(found) - more))


def by_chance(
    law: str, noise: float, sd: float, among: int = 1, doubtful: float = DOUBTFUL, sides: int = 2
) -> tuple[float, float]:
    """What a sum of this sd, part of it noise, exceeds by chance once in 1,000 fits, and in 22.

    The first of any of several sums, or by another chance; both on one of `sides`.
    """
    first, second = (_exceeded(2 / sides * each, law, noise, sd) for each in (doubtful / among, USUAL))
    return first, second


def sure_of_each(
    law: str, noise: float | np.ndarray, sds: np.ndarray, doubtful: float = DOUBTFUL
) -> np.ndarray:
    """What each of sums of these sds exceeds if any does by chance once in 1,000 fits, or another; (m,)."""
    noises = np.broadcast_to(noise, len(sds))
    each = zip(noises.tolist(), sds.tolist(), strict=True)
    return np.array([by_chance(law, *both, len(sds), doubtful)[0] for both in each])


def _exceeded(chance: float, law: str, noise: float, sd: float) -> float:
    """What a number of this sd exceeds by chance, part of it the noise of two released together."""
    if law not in LAWS:
        return -float(special.ndtri(chance / 2)) * sd
    tails = Tails(law, 2, np.array([noise**2]))
    return float(tails.half_widths(1 - chance, np.array([[sd**2]]))[0])
