"""Where the columns of a generalised linear model lie, and on which scale it is computed.

See docs/theory/first_stage.md#octaves-of-a-generalised-linear-model.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from dpstats.curator import Curator, Release
from dpstats.estimators.apart import Whereabouts
from dpstats.estimators.columns import of_few
from dpstats.estimators.engine.bounds import LENGTHS
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.known.level_shares import shares_of
from dpstats.estimators.matrices import by_precision
from dpstats.estimators.newton.looks import OCTAVES, at_once, in_turn
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import one_sided
from dpstats.estimators.zoom import HIDDEN, UNSEEN_SD
from dpstats.families.bounded_score import BoundedScore
from dpstats.moments.design import DesignMoments
from dpstats.moments.noisy import SEEN

# a column stretched by this against its root mean square has rare long values, which shall keep their weight
_STRETCHED = 1.5
# rows become longer as noise falls; the scale shall then not
_LEAST_NOISE = 0.5
# a column with more than this share of its rows in one octave may be constant
_CONSTANT = 0.8
# mean square that whitening assumes of a skewed column, over that of all rows, so that long rows keep more of
# their weight; and privacy noise of a coefficient, in sampling sds, beyond which that is not worth its noise:
# one of 60 random designs was 3.9 times as wide
_SPREAD, _DEAR = 2.0, 3.0
# sd of an effect of which nothing is known: on log odds or log means, of a level against the others (of 340
# levels of random designs one in twenty was off by more than 8.7 where its interval had an open end), and of
# an sd of a column (its interval holds effects of 4)
_LOG_RATIO, _EFFECT = 4.5, 2.0
# sd of the share of rows that cannot be used, before any release: from none to nearly all
_USABLE_SD = 0.5
# relative error of an sd by octaves, within which squares are taken for even: in designs of the lottery
_UNEVEN = 0.12
# relative error of a mean by octaves, in which rows are even
_TOLD_BY_OCTAVES = 0.25
# of a column's square that octaves hold beyond what noise may make, or it is not known how far the column
# spreads: two half-lengths of an interval that rests on an sd three times too large still hold an effect of 2
_SURE_SHARE = 1 / 8
# as rarely exceeded by noise with longer tails
_TAILS = {"laplace": 1.4}


@dataclass(frozen=True)
class PriorWeights:
    """Prior weights q of the rows that can be used, as shares of the declared maximum.

    Attributes
    ----------
    mean, own : float
        E q, and E q^2 / E q: squares of scores over curvature, in those of rows of weight 1.
    error : float
        sd of the noise of the latter, relative.
    uneven : float
        E q^4 / (E q^2)^2 at most: some rows have weight 1, and all others one alike.
    """

    mean: float = 1.0
    own: float = 1.0
    error: float = 0.0
    uneven: float = 1.0

    @classmethod
    def of(cls, seen: np.ndarray, noise: float) -> "PriorWeights":
        """By released means of q and q^2, within what 0 <= q <= 1 allows; 1 where none were released."""
        if not len(seen):
            return cls()
        mean = float(np.clip(seen[0], min(noise, 1.0), 1.0))
        square = float(np.clip(seen[1], mean**2, mean))
        low = (mean - square) / max(1 - mean, 1e-300)  # q^2 = (1 + low) q - low, of this weight and of 1
        fourth = (1 + low) ** 2 * square - 2 * low * (1 + low) * mean + low**2
        return cls(mean, square / mean, noise * math.hypot(1 / mean, 1 / square), fourth / square**2)


@dataclass(frozen=True)
class Located:
    """Where columns and response lie: from the first two releases.

    Attributes
    ----------
    center, scale : array, shape (k,)
        Standardised columns are (x - center) / scale.
    least : array, shape (k,)
        Smallest mean square that whitening assumes of a standardised column: of one of 0 and 1 that which
        follows from its share, as noise may hide what a matrix says of it.
    lower, upper : array, shape (k,)
        The declared bounds on this scale.
    squares : array, shape (k,)
        Mean squares of the standardised columns, all rows counted in full, as far as noise lets see; below 1
        where a column has rare long values.
    rare, few : tuple of (array, array)
        Of each column with rare long values that stand out from the noise, shares of the rows and their
        squares on this scale: of those without `away`, of which a reference level may be one, and of others.
    away : array, shape (k,)
        Of numbers with rare long values that hold one value in most rows, how far the others lie on this
        scale; else 0.
    tails : dict of int to (array, array)
        By its place, of each covariate that is no level and of which noise lets something be seen: shares of
        the rows in its octaves, and their squares on this scale.
    skewed : tuple of int
        Columns whose long rows lie on one side, by their declared bounds.
    mean, sd : float
        Of the response.
    flat : bool
        Whether nearly all responses seen are in one octave above their lower bound, so that nothing tells how
        far the others spread.
    offset : float
        Mean offset.
    noise : float
        Noise sd of the means, in half-widths of their declared boxes.
    prior : array, shape (k,)
        Variance of the coefficients of standardised columns of which the data say nothing.
    dim : array of bool, shape (k,)
        Columns of which it is not known how far they spread: nothing bounds their coefficients.
    usable : float
        Rows that can be used, per row; what is known of it before any release, and noise, moderate it.
    usable_sd : float
        The noise of that.
    lowest : bool
        Whether noise explains all counts or amounts above their lower bound.
    columns : DesignMoments, optional
        Where the columns lie, and how far they spread; None without an intercept.
    references : tuple of float
        Of each category, the smallest variance that whitening assumes of the 0 or 1 of its reference level.
    thinnest : float
        Smallest mean square of a standardised column, or of such a 0 or 1 on its scale; at most 1.
    weights : PriorWeights
        Of the rows, where they have any and the dispersion is free.
    """

    center: np.ndarray
    scale: np.ndarray
    least: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    squares: np.ndarray
    rare: tuple[tuple[np.ndarray, np.ndarray], ...]
    mean: float
    sd: float
    offset: float
    noise: float
    prior: np.ndarray
    dim: np.ndarray
    usable: float = 1.0
    usable_sd: float = 1.0
    lowest: bool = False
    tails: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    columns: DesignMoments | None = None
    flat: bool = False
    skewed: tuple[int, ...] = ()
    references: tuple[float, ...] = ()
    thinnest: float = 1.0
    few: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    away: np.ndarray = field(default_factory=lambda: np.zeros(1))
    weights: PriorWeights = PriorWeights()

    def before(self, axes: np.ndarray) -> np.ndarray:
        """Variance of coefficients before any data, of columns of known spread.

        Changes of each by 1 are the columns of `axes`, shape (k, k).
        """
        return np.asarray((axes * self.prior) @ axes.T)

    def public(self) -> dict[str, Any]:
        return dict(center=self.center, scale=self.scale)

    def start(self, problem: Problem, least: float) -> np.ndarray:
        """The mean response in the intercept, no nearer than `least` to its ends, and nothing elsewhere."""
        beta, family = np.zeros(problem.k), problem.family
        if problem.intercept:
            mean = min(max(self.mean, family.support[0] + least), family.support[1] - least)
            beta[0] = float(family.link(np.array(mean))) - self.offset
        return beta

    def ends(self, beta: np.ndarray, problem: Problem, score: BoundedScore) -> np.ndarray:
        """Least and largest linear predictor that a row may have, where scores tell them apart."""
        ends = np.sort([self.lower * beta, self.upper * beta], axis=0).sum(axis=1)
        return np.clip(ends + problem.offset, *score.predictors)

    def where_told(self, line: np.ndarray, problem: Problem) -> "Located":
        """Where long rows of a skewed column are kept no more than such a line leaves them to tell.

        A yes or no that it nearly decides tells nothing. They have no more than other rows where the variance
        of the line along the column is that of a score's inverse.
        """
        if not problem.family.two_valued:
            return self
        told = (
            np.isin(np.arange(problem.k), self.skewed) * problem.family.most_curved * self.squares * line**2
        )
        return replace(self, least=self.least * np.maximum(1 - told, 0.0))

    def telling(self, problem: Problem) -> float:
        """Rows that tell of a line as much as the most telling answer does; per row."""
        return self.usable * problem.family.level_at(self.mean) / problem.family.most_curved

    @property
    def rarer(self) -> float:
        """Rows that give the rarer answer of a yes or no, per row."""
        return self.usable * min(self.mean, 1 - self.mean)

    def found(self, problem: Problem) -> Whereabouts:
        """Where covariates lie, and the response, to tell whether rows may be apart.

        Of two values none is apart, nor of a response of unknown spread; a count differs by 1 at least.
        """
        first, family = int(problem.intercept), problem.family
        reach = (self.scale * np.maximum(np.abs(self.lower), np.abs(self.upper)))[first:]
        farthest = np.append(reach, max(self.mean - problem.response[0], problem.response[1] - self.mean))
        near = np.append(problem.plain, family.two_valued or self.flat)
        sds = np.append((self.scale * np.sqrt(self.squares))[first:], max(self.sd, float(family.counts)))
        return Whereabouts(np.append(self.center[first:], self.mean), np.where(near, farthest, sds), farthest)

    def to_user(self, intercept: bool) -> np.ndarray:
        """Matrix from coefficients of standardised columns to the user's."""
        first = int(intercept)
        return to_user(self.center[first:], self.scale[first:], intercept)


@dataclass(frozen=True)
class _Spread:
    """Shares of the rows by octave of the distance from an origin, cleaned of noise."""

    shares: np.ndarray
    squares: np.ndarray
    known: np.ndarray  # whether noise and the error of the mean do not explain what was seen
    visible: np.ndarray  # whether a column has more than one octave that noise does not explain
    error: np.ndarray  # sds of what noise adds to mean squares, where rows are seen and in the octave beyond

    @property
    def mean_square(self) -> np.ndarray:
        return np.sum(self.shares * self.squares, axis=1)


def level_shares(others: np.ndarray, noise: float) -> np.ndarray:
    """Shares of the levels of a category, its reference level first, by what was seen of the others."""
    variances = np.append(len(others), np.ones(len(others))) * noise**2
    return shares_of(np.append(1 - others.sum(), others), variances)


def usual_effects(scales: np.ndarray) -> np.ndarray:
    """sds of the effects of 0/1 columns of these scales, before any data."""
    return _LOG_RATIO * scales


def _weighed(
    spread: _Spread, scales: np.ndarray, which: np.ndarray
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Counts by size of such covariates of which noise lets some be seen, and squares in their scales."""
    return {
        int(j): (spread.shares[j], spread.squares[j] / scales[j] ** 2)
        for j in np.flatnonzero(which & spread.visible[: len(scales)])
    }


def locate(curator: Curator, first: Plan, octaves: float, problem: Problem, noise: float) -> Located:
    """Release where the columns lie, and choose the scale of each.

    Parameters
    ----------
    curator : Curator
    first : Plan
        Of where in their declared boxes the columns lie, and their means there.
    octaves : float
        Cost of how far they spread.
    problem : Problem
    noise : float
        Privacy noise of a coefficient in sampling sds, for a column of sd 1 whose rows all count.
    """
    d = len(problem.lower)
    looks = at_once(curator, first, octaves, problem) or in_turn(curator, first, octaves, problem)
    center, half, reach, origin, zero, varies, means, counts = looks
    usable, usable_sd = _usable(counts)
    # means are over all rows: what cannot be used, as outside a subset, is at the middle of the box
    whole, noise_in_box = means.values[0] / means.n / usable, means.sd / means.n / usable
    mean_in_box, weights = whole[: len(center)], PriorWeights.of(whole[len(center) :], noise_in_box)
    for own in problem.categories:
        mean_in_box[own - 1] -= 1.0
    mean_in_box[:d][zero] = -(center / half)[:d][zero]
    mean_in_box = np.clip(mean_in_box, -1.0, 1.0)
    shares = center[:d] + half[:d] * mean_in_box[:d]
    mean_in_box[:d] *= problem.intercept
    middle = center[:d] + half[:d] * mean_in_box[:d]
    spread = _cleaned(counts, origin, varies[np.append(~problem.zero_or_one, True)])
    ends = (np.array([1.0, 0.0]) - middle[:, None]) / half[:d, None]
    spread = _with_levels(spread, problem.zero_or_one, shares, ends, noise_in_box / 2)
    mean, sd = _of_response(problem, spread, mean_in_box[d], noise_in_box, (center[d], half[d]))
    hidden = mean_in_box[d] + 1 < SEEN * noise_in_box and not spread.visible[d]
    scales = np.array([_scale(spread.shares[j], spread.squares[j], noise, problem.k) for j in range(d)])
    roots, width = np.sqrt(spread.mean_square[:d]), reach[:d] * scales
    stretched, squares = scales > _STRETCHED * roots, (roots / scales) ** 2
    away = of_few(spread.shares[:d], np.sqrt(spread.squares[:d])) * stretched * ~problem.zero_or_one / scales
    one_side = one_sided(middle - problem.lower, problem.upper - middle, reach[:d] * roots)
    skewed = one_side & ~problem.zero_or_one & (noise < _DEAR)
    least = np.where(problem.zero_or_one, 1.0, np.where(skewed, _SPREAD, 0.0)) * squares
    references = [_reference(middle[j - 1], noise_in_box / 2, noise, problem.k) for j in problem.categories]
    scarce = sum((each.rare for each in references), ())
    first_column = np.zeros(int(problem.intercept))
    return Located(
        center=np.append(first_column, middle),
        scale=np.append(first_column + 1, width),
        least=np.append(first_column, np.where(stretched & (away == 0), np.maximum(least, 1.0), least)),
        lower=np.append(first_column + 1, (problem.lower - middle) / width),
        upper=np.append(first_column + 1, (problem.upper - middle) / width),
        squares=np.append(first_column + 1, squares),
        rare=(*_weighed(spread, scales, stretched & (away == 0)).values(), *scarce),
        few=tuple(_weighed(spread, scales, stretched & (away > 0)).values()),
        away=np.append(first_column, away),
        references=tuple(each.least for each in references),
        thinnest=float(np.min([*squares, *(each.square for each in references)], initial=1.0)),
        mean=mean,
        sd=sd,
        flat=bool(spread.shares[d].max() > _CONSTANT),
        offset=float(center[-1] + half[-1] * mean_in_box[-1]) if len(center) > d + 1 else 0.0,
        noise=noise_in_box,
        prior=np.append(first_column + _EFFECT, np.where(problem.zero_or_one, usual_effects(width), _EFFECT))
        ** 2,
        dim=np.append(first_column > 0, ~spread.known[:d]),
        usable=usable,
        usable_sd=usable_sd,
        lowest=bool(hidden) and not problem.family.two_valued,
        skewed=tuple(len(first_column) + np.flatnonzero(skewed)),
        columns=_moments(spread, problem, middle, (half[:d], reach[:d]), noise_in_box, means.n * usable),
        tails=_weighed(spread, scales, ~problem.zero_or_one),
        weights=weights,
    )


class _Reference(NamedTuple):
    """A reference level, as if it had a column: see :attr:`Located.references`, `thinnest` and `rare`."""

    least: float
    square: float
    rare: tuple[tuple[np.ndarray, np.ndarray], ...]


def _reference(others: np.ndarray, error: float, noise: float, k: int) -> _Reference:
    """By the shares of the other levels, which have an error of this sd each."""
    share = float(level_shares(others, error)[0])
    shares, squares = np.array([share, 1 - share]), np.array([1 - share, share]) ** 2
    scale = _scale(shares, squares, noise, k)
    squares /= scale**2
    square = float(shares @ squares)
    stretched = square * _STRETCHED**2 < 1
    visible = stretched and min(share, 1 - share) > SEEN * error * math.sqrt(len(others))
    least = scale**2 * max(square, float(stretched))
    return _Reference(least, square, ((shares, squares),) * visible)


def _moments(
    spread: _Spread,
    problem: Problem,
    middle: np.ndarray,
    boxes: tuple[np.ndarray, np.ndarray],
    noise: float,
    rows: float,
) -> DesignMoments | None:
    """Means, and sds by the octaves, in which squares are even; those of 0 and 1 follow from their means.

    `boxes` are half-widths in which means are told, and octaves.
    """
    if not problem.intercept:
        return None
    d, (half, reach) = len(middle), boxes
    square = spread.mean_square[:d]
    sds, error = reach * np.sqrt(square), np.hypot(spread.error[:d] / square / 2, _UNEVEN)
    coded = problem.zero_or_one
    least = 1 / max(rows, 2.0)  # of one row there is no share
    share = np.clip(middle, least, 1 - least)
    sds = np.where(coded, np.sqrt(share * (1 - share)), sds)
    by_share = np.abs(0.5 - share) * noise * half / (share * (1 - share))
    found = DesignMoments("rows", rows, middle, noise * half, sds, np.where(coded, by_share, error))
    return found.clipped(~coded)


def _usable(octaves: Release) -> tuple[float, float]:
    """Rows that can be used, per row, and the noise of that; each counts once a column."""
    columns, cells = octaves.values[0].shape
    seen = float(octaves.values[0].sum()) / columns / octaves.n
    sd = octaves.sd * math.sqrt(cells / columns) / octaves.n
    share = by_precision(seen, sd, 1.0, _USABLE_SD)
    return float(np.clip(share, min(sd, 1.0), 1.0)), sd


def _cleaned(release: Release, origin: np.ndarray, varies: np.ndarray) -> _Spread:
    """Shares below three times their noise are taken for 0; with none left, the prior.

    Of the columns that were counted, the response the last; `varies`: those that were seen in two places.
    """
    counts, noise = release.values[0][:, ::-1] / release.n, release.sd / release.n
    octaves = np.arange(OCTAVES)
    squares = 4.0 ** (1 - octaves) * 7 / 12  # of a uniform between half the upper end of an octave and that
    visible = SEEN * _TAILS.get(release.law, 1.0)
    shares = np.where(counts > visible * noise, counts, 0.0)
    told = np.sum(shares > 0, axis=1)
    shares = np.where(told[:, None] > 0, shares, octaves == round(-math.log2(UNSEEN_SD)))
    # a covariate that seems constant may have rare values far away, which the noise hides
    constant = shares.max(axis=1) > _CONSTANT * shares.sum(axis=1)
    constant &= ~varies
    constant[-1] = False
    beside = np.abs(octaves - shares.argmax(axis=1)[:, None]) <= 1
    stands_out = np.any((shares > 0) & ~beside, axis=1)
    constant &= ~(stands_out & _elsewhere(beside, counts, noise, visible))
    farthest = octaves == np.floor(-np.log2((1 + np.abs(origin[:, None])) / 2))
    shares = shares + np.where(constant[:, None] & farthest, HIDDEN * noise, 0.0)
    # and the distance of the rest is that between it and the noisy mean
    rest = constant[:, None] & (octaves == shares.argmax(axis=1)[:, None])
    squares = np.where(rest & ~farthest, 0.0, squares)
    # nor is it known how far a column spreads of whose square noise may have made most
    surely = np.maximum(counts - visible * noise, 0.0) - _SURE_SHARE * shares
    known = ~np.any(rest & ~farthest, axis=1) & (np.sum(surely * squares, axis=1) > 0)
    nearest = np.maximum(np.argmax(shares > 0, axis=1) - 1, 0)
    error = noise * np.sqrt(np.sum(squares**2 * (octaves >= nearest[:, None]), axis=1))
    return _Spread(shares / shares.sum(axis=1, keepdims=True), squares, known, told > 1, error)


def _elsewhere(beside: np.ndarray, counts: np.ndarray, noise: float, visible: float) -> np.ndarray:
    """Columns of which rows surely lie outside the fullest octave and the two `beside` it.

    All columns have as many rows: what noise hides in each of many octaves is sure of all of them together. A
    column that hardly varies falls in two that are neighbours.
    """
    columns = len(counts)
    found = counts.sum() / columns - np.sum(counts * beside, axis=1)
    variance = beside.sum(axis=1) * (1 - 2 / columns) + OCTAVES / columns
    return np.asarray(found > visible * noise * np.sqrt(np.maximum(variance, 0.0)))


def _with_levels(
    seen: _Spread, coded: np.ndarray, shares: np.ndarray, away: np.ndarray, noise: float
) -> _Spread:
    """Spreads of all columns, those of 0 and 1 by their shares, `away` from their middles in half-widths.

    Rows that noise may hide are there, as of other columns.
    """
    rows, least = np.append(coded, False), min(HIDDEN * noise, 0.5)
    share = np.clip(shares[coded], least, 1 - least)
    whole = [np.zeros((len(rows), *part.shape[1:]), part.dtype) for part in vars(seen).values()]
    for part, own in zip(whole, vars(seen).values(), strict=True):
        part[~rows] = own
    spread = _Spread(*whole)
    spread.shares[rows, :2] = np.column_stack([share, 1 - share])
    spread.squares[rows, :2] = away[coded] ** 2
    spread.known[rows], spread.visible[rows] = True, np.minimum(share, 1 - share) > SEEN * noise
    return spread


def _scale(shares: np.ndarray, squares: np.ndarray, noise: float, k: int) -> float:
    """The scale at which the variance of the coefficient is least: sampling and privacy noise together.

    Rows far out carry what a rare 0/1 column or a long tail says. A small scale makes them long, so that
    they are weighted down; a large one leaves noise that is large against the rest of the column.
    """
    root, noise = math.sqrt(float(shares @ squares)), max(noise, _LEAST_NOISE)
    scales = root * 2.0 ** np.arange(-1.0, 5.01, 0.25)
    on_scale = squares / scales[:, None] ** 2
    information = scales**2 * weighted_square(shares, on_scale, LENGTHS[0] * k, k - 1)
    return float(scales[np.argmin((1 + (noise * scales) ** 2 / information) / information)])


def weighted_square(shares: np.ndarray, squares: np.ndarray, longest: float, others: float) -> np.ndarray:
    """Mean square of a column, rows weighted; their square lengths are its square and that of the others.

    `squares` may hold those on several scales, of which each gives a number.
    """
    # a lone column may be 0 but for noise
    weights = np.minimum(1.0, longest / np.maximum(others + squares, 1e-9))
    return np.asarray((squares * weights) @ shares)


def _of_response(
    problem: Problem, spread: _Spread, mean_in_box: float, noise: float, box: tuple[float, float]
) -> tuple[float, float]:
    """Mean and sd of the response, in its own units; `box` is middle and half-width of where it was seen."""
    (center, half), shares, squares = box, spread.shares[-1], spread.squares[-1]
    mean, sd = _response(shares, squares, (mean_in_box + 1) / 2, noise / 2)
    if problem.family.counts / 2 < half < problem.boxes[1][len(problem.lower)]:
        sd = max(sd, mean * _beyond(shares, squares))
    return center - half + 2 * half * mean, 2 * half * sd


def _beyond(shares: np.ndarray, squares: np.ndarray) -> float:
    """The sd of responses over their mean at least, where few are seen above 0, at the end of a shorter box.

    Noise hides how far beyond these lie, which make up most of the mean. Amounts that are 0 but in a share p
    of the rows, where their sd is their mean, have an sd of sqrt(2 / p - 1) means of all.
    """
    parts, few = shares * np.sqrt(squares), shares[0] < 1 - _CONSTANT < _CONSTANT < shares.max()
    return math.sqrt(2 / shares[0] - 1) if few and parts[0] > parts.sum() / 2 else 0.0


def _response(shares: np.ndarray, squares: np.ndarray, seen: float, noise: float) -> tuple[float, float]:
    """Mean and sd of the response in its box [0, 1]: by octaves where noise may move the mean that was seen.

    Where one octave alone stands out, rare ones may lie anywhere: of all means in the box, those that noise
    makes of the one seen are weighed.
    """
    by_octaves, square = float(shares @ np.sqrt(squares) * 0.98) / 2, float(shares @ squares) / 4
    mean = by_octaves
    if noise < _TOLD_BY_OCTAVES * by_octaves or np.count_nonzero(shares) == 1:
        ends = (np.array([0.0, 1.0]) - seen) / noise
        bells, below = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(ends)
        mean = seen - noise * float(np.diff(bells)[0] / np.diff(below)[0])
    return mean, math.sqrt(max(square - mean**2, 0.05 * square))
