"""The first stage of a fit: where the columns lie within their declared bounds, and how far they spread.

Declared bounds are a promise about privacy. Where the data lie within them is found first (:mod:`.zoom`), at
a cost that grows with the logarithm of the bounds' looseness; the moments of rows are then released in that
part of the box. A column that holds nothing but its two bounds (a flag, a level) needs the last alone: its
variance is p (1 - p). Before all that :func:`middles` says where the numbers of products lie, so that these
can be told about middles.

See docs/theory/first_stage.md.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.engine.plan import Plan, Stage
from dpstats.estimators.matrices import by_precision
from dpstats.estimators.row_scale import SURE, Box, RowScale
from dpstats.estimators.zoom import (
    ALIKE,
    EQUAL_CELLS,
    FARTHER,
    LEAST_VARIANCE,
    MOST,
    UNSEEN_SD,
    Zoomed,
    in_cells,
    unzoomed,
    would_see,
    zoom,
)
from dpstats.moments.noisy import SEEN

# variances of unseen columns differ by a tenth of the usual one, at least
_LEAST_SCATTER = 0.1
# the least that is believed of a variance, against that of the scale
_LEAST_RATIO = 0.02
# A column of rare 0/1 values is not stretched until rows of a 1 are longer than the longest row, its square
# taken for 1.5 k: they would be weighted down, and with them all they say of the other columns.
_LONGEST_END = 1.5
# single values of a column that are tried, whether one explains its moments
_VALUES = 101


def find_columns(
    curator: Curator, costs: Plan, box: Box, log: bool, constant: bool = True, lost: bool = False
) -> RowScale:
    """Release where the columns lie and how far they spread.

    Parameters
    ----------
    curator : Curator
    costs : Plan
        See :func:`.first_stage`.
    box : Box
    log : bool
        Whether the response is log time.
    constant : bool
        Whether the model has an intercept; without one, nothing is centred.
    lost : bool
        Whether first counts are to tell how many rows cannot be used, as n does not where some are left out.
    """
    chosen = np.append(~box.binary, True)
    for group, _ in box.tight:
        chosen[group] = False
    public = dict(center=box.center, half=box.half, log=log)
    zoomed, last = zoom_in(curator, costs, public, chosen, lost=lost, together=True)
    public["center"], public["half"] = box.center + box.half * zoomed.center, box.half * zoomed.half
    scale = row_scale(curator.release("event_moments", last, **public), zoomed, box, log, constant)
    return _normed(scale, box) if box.tight else scale


def zoom_in(
    curator: Curator,
    costs: Plan,
    public: dict[str, Any],
    chosen: np.ndarray,
    low: bool = False,
    lost: bool = False,
    together: bool = False,
) -> tuple[Zoomed, float]:
    """Release where in their declared boxes columns lie, if that would be seen; and what is left for moments.

    Parameters
    ----------
    curator : Curator
    costs : Plan
        See :func:`.first_stage`.
    public : dict
        `center`, `half` and `log`, as the statistic "reach_means" takes them.
    chosen : array of bool, shape (d + 1,)
        Which covariates to look at, and whether to look for the response, the last, which is seen with these.
    low : bool
        Whether the response lies near the lower end of its box, if anywhere.
    lost : bool
        Whether first counts are to tell how many rows cannot be used, of those that are meant to count.
    together : bool
        Whether cells are looked at together where one alone stands out, if no later release tells more.
    """
    asked = dict(public, chosen=chosen[:-1])
    if would_see(curator, costs.cost("octaves"), asked):
        zoomed, left = zoom(curator, costs, asked, bool(chosen[-1]), low, lost, together)
        return zoomed.among(np.append(chosen[:-1], True)), left
    return unzoomed(len(chosen)), costs.total


def _normed(scale: RowScale, box: Box) -> RowScale:
    """With the covariates of each norm on the scale on which a row of full length has mean square 1.

    On average their variances there are 1 at most, which is what is expected of one that noise hides, give or
    take as much.
    """
    center, size, binary = scale.center.copy(), scale.scale.copy(), scale.binary.copy()
    ratio, error = scale.ratio.copy(), scale.error.copy()
    for group, radius in box.tight:
        center[group], size[group], binary[group] = 0.0, radius / math.sqrt(len(group)), False
        found = ratio[group] * (scale.scale[group] / size[group]) ** 2
        noise = np.maximum(error[group] * found, 1e-12)
        ratio[group] = by_precision(found, noise, 1.0, 1.0)
        error[group] = 1 / np.hypot(1, 1 / noise) / ratio[group]
    lower, upper = scale.lower.copy(), scale.upper.copy()
    lower[:-1], upper[:-1] = (box.lower[:-1] - center) / size, (box.upper[:-1] - center) / size
    return replace(
        scale,
        center=center,
        scale=size,
        binary=binary,
        ratio=ratio,
        error=error,
        lower=lower,
        upper=upper,
        norms=tuple((group, math.sqrt(len(group))) for group, _ in box.tight),
    )


def row_scale(moments: Release, zoomed: Zoomed, box: Box, log: bool, constant: bool = True) -> RowScale:
    """Noisy moments of rows where they were seen, mixed by precision with what to expect, as a scale.

    Parameters
    ----------
    moments : Release
        Of the statistic "event_moments" in the part of the box that `zoomed` names.
    zoomed : Zoomed
    box, log, constant
        As in :func:`find_columns`.
    """
    count, fraction_sd = (float(part[2][0]) / 1.5 / moments.n for part in (moments.values, moments.sds))
    fraction = float(np.clip(count, max(2 * fraction_sd, 1 / moments.n), 1.0))
    found = _Moments.of(moments, moments.n * fraction, box, zoomed.half >= 1)
    told = _mixed(found, zoomed)
    sds, away = _sizes(found, told, zoomed)
    error = told.second_sd / np.maximum(told.second, 1e-12)
    error = np.where((zoomed.hidden > 0) & ~found.varies, np.maximum(error, 1.0), error)
    miscounted = fraction_sd / fraction
    mean_error = zoomed.half * np.hypot(told.first_sd, told.first * miscounted) / sds
    ratio = np.clip(told.second * (zoomed.half / sds) ** 2, _LEAST_RATIO, 1.0)
    middle = zoomed.center + zoomed.half * told.first
    places = zoomed.places(middle, sds)
    center, scale = box.center + box.half * middle, box.half * sds
    if not constant:
        center, scale = np.zeros_like(center), np.hypot(center, scale)
    return RowScale(
        center=center[:-1],
        scale=scale[:-1],
        y_center=float(center[-1]),
        y_scale=float(scale[-1]),
        log=log,
        fraction=fraction,
        fraction_sd=fraction_sd,
        binary=found.binary[:-1],
        away=np.maximum(away * found.varies, of_few(zoomed.shares, places) * zoomed.varies)[:-1],
        lower=(box.lower - center) / scale,
        upper=(box.upper - center) / scale,
        ratio=ratio[:-1],
        error=error[:-1],
        shares=zoomed.shares[:-1],
        places=places[:-1],
        constant=constant,
        rare=bool(zoomed.hidden[-1] > 0 and zoomed.held[-1] > ALIKE),
        once=bool(zoomed.once[-1]),
        levels=box.levels,
        alike=box.alike,
        times_levels=box.times_levels,
        within=box.within,
        splines=box.splines,
        heights=box.heights,
        told=(
            max(float(ratio[-1] * (1 - SURE * error[-1])), 0.0),
            float((zoomed.half + np.abs(zoomed.center - middle))[-1] / sds[-1]),
        ),
        varies=(found.varies | (zoomed.doubt < 1))[:-1] | box.binary,
        middle_error=mean_error[:-1],
        miscounted=miscounted,
        missed=zoomed.missed[:-1],
        usable=max(map(tuple, zoomed.counted), key=lambda one: one[1]),
    )


def _mixed(found: "_Moments", zoomed: Zoomed) -> "_Moments":
    """Means and variances in the parts of the box, mixed by precision with what to expect of them."""
    prior = _prior(found, zoomed)
    first_sd = np.where(zoomed.apart, np.inf, found.first_sd)  # rows apart are clipped to the ends
    mean = by_precision(found.first, first_sd, prior.first, prior.first_sd)
    mean = np.where(zoomed.hidden > 0, 0.0, mean)  # what seems constant is centred where most rows are
    by_mean = 2 * np.abs(mean) * found.first_sd  # of a column off its centre, what noise in its mean does
    noise = np.where(found.binary, by_mean, np.hypot(found.second_sd, by_mean))
    noise = np.where(zoomed.apart, np.inf, np.maximum(noise, 1e-12))
    variance = by_precision(found.second - mean**2, noise, prior.second, prior.second_sd)
    pairs = (first_sd, prior.first_sd), (noise, prior.second_sd)
    mean_sd, variance_sd = ((sd**-2.0 + other**-2.0) ** -0.5 for sd, other in pairs)
    return _Moments(mean, mean_sd, variance, variance_sd, found.binary)


def _sizes(found: "_Moments", told: "_Moments", zoomed: Zoomed) -> tuple[np.ndarray, np.ndarray]:
    """Sds that a scale takes columns for; and how far away rows are that differ from most, in these."""
    sds = np.sqrt(np.clip(told.second, np.clip(found.second_sd, 1e-8, 0.1), 1.0))  # no smaller than noise
    # where the rows are that differ: at an end of the box, or as far as their squares say over themselves
    away = np.maximum(found.second, found.second_sd) / np.maximum(np.abs(found.first), found.first_sd)
    away = np.where(zoomed.hidden > 0, np.minimum(away, 1.0), 0.0)
    ends = np.where(found.binary, 1 + np.abs(told.first), away)
    sds = np.maximum(sds, ends / (_LONGEST_END * math.sqrt(1.5 * len(sds))))
    return zoomed.half * sds, away / sds


def of_few(shares: np.ndarray, places: np.ndarray) -> np.ndarray:
    """How far rows lie that are not where noise leaves more than half of a column's; 0 if that is nowhere."""
    most = shares > 1 / 2 * shares.sum(axis=1, keepdims=True)
    few = np.where(most, 0.0, shares) * most.any(axis=1, keepdims=True)
    return np.asarray(np.sqrt(np.sum(few * places**2, axis=1) / np.maximum(few.sum(axis=1), 1e-300)))


@dataclass(frozen=True)
class _Moments:
    """Means and mean squares of columns with their sds; as a prior, means and variances.

    `binary` tells which columns sit at the ends of their box.
    """

    first: np.ndarray
    first_sd: np.ndarray
    second: np.ndarray
    second_sd: np.ndarray
    binary: np.ndarray

    @classmethod
    def of(cls, release: Release, count: float, box: Box, whole: np.ndarray) -> "_Moments":
        first, first_sd = (part[0] / count for part in (release.values, release.sds))
        second, second_sd = (part[1] / 1.6 / count for part in (release.values, release.sds))
        first = np.clip(first, -1.0, 1.0)
        # in a part of its box alone, rows at an end may be such that lie beyond it; and a skewed column may
        # lie near one end: at the ends alone, a column of its mean varies more than any other
        most, sds = ALIKE + (1 - ALIKE) * first**2, 2 * second_sd
        binary = whole & (second > ALIKE + sds) & (second > most - sds)
        binary = np.append(box.binary, False) | binary
        binary[-1] = False
        return cls(first, first_sd, np.where(binary, 1.0, second), second_sd, binary)

    @property
    def varies(self) -> np.ndarray:
        """Columns whose mean square no single value in the box would explain.

        That of rows which all lie at one end of it, as of those at both, is the largest.
        """
        constant = np.linspace(-1, 1, _VALUES)[:, None]
        off = ((self.first - constant) / self.first_sd) ** 2 + (
            (self.second - constant**2) / self.second_sd
        ) ** 2
        return np.asarray(off.min(axis=0) > SEEN**2)


def _prior(found: _Moments, zoomed: Zoomed) -> _Moments:
    """What to expect of means and variances: what cells say; of columns not seen, what these share.

    Declared bounds are about as generous for one covariate as for another (empirical Bayes); bounds three sds
    wide stand for two more covariates.
    """
    # of two values in [-1, 1], any share of which is as likely
    mean, mean_sd = zoomed.mean.copy(), np.where(found.binary, 0.6, zoomed.doubt * np.sqrt(zoomed.variance))
    variance = np.where(found.binary, 2 / 3, zoomed.variance)
    variance_sd = np.where(found.binary, 0.3, zoomed.doubt * zoomed.variance)
    unseen = (zoomed.doubt >= 1) & (zoomed.hidden == 0) & ~found.binary
    unseen[-1] = False  # the response is no covariate
    if unseen.any():
        prior, size = UNSEEN_SD**2, 2 + int(unseen.sum())
        first, second = found.first[unseen], found.second[unseen]
        noise, second_noise = found.first_sd[unseen] ** 2, found.second_sd[unseen] ** 2
        between = max((2 * prior + float(np.sum(first**2 - noise))) / size, LEAST_VARIANCE)
        share = between / (between + noise)
        each = second - (first * share) ** 2 - between * (1 - share)
        usual = max((2 * prior + float(np.sum(each))) / size, LEAST_VARIANCE)
        scatter = (2 * prior**2 + float(np.sum((each - usual) ** 2 - second_noise))) / size
        mean_sd[unseen], variance[unseen] = math.sqrt(between), usual
        scatter = max(scatter, (_LEAST_SCATTER * usual) ** 2)
        variance_sd[unseen] = math.sqrt(scatter + float(np.sum(second_noise)) / size**2)
    return _Moments(mean, mean_sd, variance, variance_sd, found.binary)


def middles(
    curator: Curator, total: float, pure: bool, bounds: np.ndarray
) -> list[tuple[float, float, float]]:
    """Release about where columns lie: counts by cells of declared boxes, and means where these stand out.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept and these columns.
    total : float
        In epsilon, if `pure`, else in mu.
    pure : bool
    bounds : array, shape (d + 1, 2)
        Declared, of the columns and, last, of the response.

    Returns
    -------
    list of (float, float, float)
        Of each column and of the response a middle, 0 where noise may have made it, and between which ends
        most rows lie.
    """
    cells, means = Plan(total, pure, {"both": Stage(1.0, "middles", (1.0, 1.0))})["both"]
    center, half = bounds.mean(axis=1), np.maximum(np.ptp(bounds, axis=1) / 2, 1e-9)
    public = dict(log=False, chosen=np.ones(len(bounds) - 1, dtype=bool), apart=True)
    nowhere = np.full(len(bounds), math.nan)
    counts = curator.release(
        "reach_counts", cells, cells=EQUAL_CELLS, origin=nowhere, center=center, half=half, **public
    )
    middle, reach = _held_by(counts, in_cells(counts, nowhere))
    center, half = center + half * middle, half * reach
    release = curator.release("reach_means", means, center=center, half=half, **public)
    middle = center + half * np.clip(release.values[0] / release.n, -1, 1)
    sure = np.abs(middle) > SEEN * half * release.sd / release.n
    places = np.vstack(
        [np.where(sure, middle, 0.0), np.clip(center + FARTHER * half * [[-1], [1]], *bounds.T)]
    )
    return [(at, low, high) for at, low, high in places.T.tolist()]


def _held_by(counts: Release, seen: Zoomed) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half-width of the equal cells that stand out if, twice as wide, they hold most rows; else of
    the box.

    Of a number of few values the cell of the commonest may stand out alone, and the others lie anywhere.
    """
    edges = np.linspace(-1, 1, EQUAL_CELLS + 1)
    lower, upper = seen.center + FARTHER * seen.half * [[-1], [1]]
    near = (edges[:-1] < upper[:, None]) & (edges[1:] > lower[:, None])
    held = np.sum(counts.values[0], axis=1, where=near) > MOST * seen.held * counts.n
    return np.where(held, seen.center, 0.0), np.where(held, seen.half, 1.0)
