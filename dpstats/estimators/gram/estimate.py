"""Linear regression from a few releases of second moments, each in better coordinates than the last.

docs/theory/linear.md has the reasons. The first release is of means and mean squares alone, whose noise
is smaller than that of a matrix; columns of rare 0/1 values are not stretched until their rows are weighted
away; and the matrix of r^2 a a' and the mean of r^4 are released with the last second moments, nearly free,
so that standard errors hold when errors differ in spread.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dpstats._codes import APART, BENDS, problems_at
from dpstats.curator import Curator, Release
from dpstats.estimators.apart import Apart
from dpstats.estimators.bends import WIDE, ReleasedLine, bend_public, judged, standardised
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.bounds import NEARLY_ALL, base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.some import some_rows
from dpstats.estimators.gram.bounds import (
    FOURTH,
    MEAT,
    NEAR,
    SPREAD,
    Bounds,
    Residuals,
    choose_bounds,
    pilot_bounds,
)
from dpstats.estimators.gram.coordinates import Coordinates, public_coordinates, second_moments
from dpstats.estimators.gram.curves import MOVED, look_for_curves, may_bend
from dpstats.estimators.gram.far import KEPT, Distances, FarRows, missing
from dpstats.estimators.gram.lengths import LongRows, count_lengths, likely_squares, slopes_of
from dpstats.estimators.gram.light import LightRows
from dpstats.estimators.gram.pure import LastRelease, fit_pure
from dpstats.estimators.gram.reach import with_reach
from dpstats.estimators.gram.whole import of_all_rows
from dpstats.estimators.known.level_shares import may_be_constant
from dpstats.estimators.level_scores import END
from dpstats.estimators.row_scale import SURE, Box, RowScale, sums_of_values
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import GAUSSIAN
from dpstats.moments import LinearMoments, PublicMoments
from dpstats.moments.noisy import SEEN, lacking
from dpstats.moments.normal_rows import kept_square, mean_weight
from dpstats.moments.parts import Earlier, Weighting
from dpstats.moments.spread import Z95, error_up_to

# What a square moves a line by: its coefficient times `MOVED` at most, below that in proportion to what it
# would if rows that lose a share of weight and of variance all lay equally far out. On 141 lines of real
# tables that surely bend, rows one to three times as long as usual, that is .5 times in the median, 2.0 in
# one of ten and 3.2 in one of twenty (benchmarks/results/bending.txt); more where effects of skewed columns
# level off: on designs with many of these 8.0 % of fits were two half-lengths off without a caution at 2 in
# the place of 4, and 6.8 % are.
_STEEP = 4.0
_TOLD = 0.5  # a share of the square, so reckoned, from which on it may move the line farther than is known


@dataclass(frozen=True)
class LinearEstimate:
    """What a linear fit released.

    Attributes
    ----------
    moments : LinearMoments
    settings : dict of float
        "R", length in sds beyond which rows count less, and "residual", size in sds beyond which residuals
        are clipped, where the declared bounds allow anything beyond; "apart", how many rows may lie far from
        all others, where they allow any.
    problems : tuple of str
        "apart", if some surely do; "bends:" and a coefficient, if the response surely follows the square of
        that column too, or "bends", if it follows that of the line, and rows that count less may move a
        coefficient by it beyond its error; what part of the rows has no weight.
    unasked : frozenset of str
        What was planned, and was not released.
    """

    moments: LinearMoments
    settings: dict[str, float]
    problems: tuple[str, ...] = ()
    unasked: frozenset[str] = frozenset()


def fit_gram(
    curator: Curator,
    box: Box,
    constant: bool,
    plan: Plan,
    public: PublicMoments | None = None,
    max_weight: float | None = None,
) -> LinearEstimate:
    """Release the second moments of a linear regression.

    Parameters
    ----------
    curator : Curator
    box : Box
        Declared bounds of the covariates and, last, of the response less the offset.
    constant : bool
        Whether the model has an intercept.
    plan : Plan
    public : PublicMoments, optional
        Moments of public rows, which stand in for the first releases.
    max_weight : float, optional
        Public maximum of the rows' weights, if they have any.
    """
    weighted = max_weight is not None
    own = public is None and not weighted
    route = fit_pure if plan.pure else _gaussian
    last = route(curator, box, constant, plan, public, weighted)
    moments, place, bounds = last.moments, last.place, last.bounds
    if own:
        found = moments.normal_equations()
        # by chance, of the step from the line of `place`, of rows of the usual radius
        chance = place.prior + moments.released.noise_cross**2 * found.gain @ found.gain.T
        moments = moments.bending(last.long.followed(found.delta, chance))
    most = {"R": (bounds.radius, place.farthest), "residual": (bounds.limit, place.widest)}
    settings = {name: limit for name, (limit, allowed) in most.items() if limit < allowed}
    if "residual" not in settings:
        moments = moments.knowing(clipping=replace(moments.clipping, limit=None, beyond=None))
    if not constant and "R" in settings:
        moments = _without_constant(moments, bounds.radius)
    whole, error = of_all_rows(moments, place, bounds, last.long, own)
    moments = moments.knowing(untold=replace(moments.untold, whole=whole, whole_error=error))
    if max_weight is not None:
        moments = _rated(moments, max_weight, bounds.radius)
    limit = bounds.limit if "residual" in settings else math.inf
    moments = _without_unknown(moments, last.clipped, place, limit, box.binary)
    problems = []
    if place.found.loose.any():
        release = curator.release("rows_apart", plan.cost("apart"), **place.found.public())
        apart = Apart.of(release, place.scale.rows(curator.n), place.found.reach)
        settings["apart"], problems = apart.most, [APART] * apart.told
        moments = _drawn(moments, place, bounds, apart)
    told, bends = False, dict[str, None]()
    if constant:
        told, moments = _look(curator, plan.cost("check"), moments, place, bounds, last.long)
        bends |= dict.fromkeys(last.curves.told(bounds.radius, moments))
    if "R" in settings:
        said, moments = _bent(moments, last, APART in problems)
        bends |= dict.fromkeys(said)
        moments = _levelling(moments, last, APART in problems)
    problems += bends or [BENDS] * told
    problems += lacking(place.scale.fraction, place.scale.fraction_sd)
    return LinearEstimate(moments, settings, tuple(problems), last.curves.spent(plan).unasked)


def _look(
    curator: Curator, cost: float, moments: LinearMoments, place: Coordinates, bounds: Bounds, long: LongRows
) -> tuple[bool, LinearMoments]:
    """Whether the line of all rows is surely another; moments that know what a bend may move it by.

    Residuals of all rows, clipped as those of the last release, are looked at along the square of the line.
    """
    found, scale, inverse = moments.solve(), place.scale, moments.normal_equations().inverse
    back = scale.y_scale * np.linalg.inv(place.to_params())
    heard, lost = moments.released.gram / moments.gram_weight, long.lost_squares(bounds.radius)
    unwhite = np.linalg.inv(place.whitening)
    squares = np.diag(unwhite @ (heard + lost) @ unwhite) / (unwhite @ heard @ unwhite)[0, 0]
    line = ReleasedLine(
        np.append(0.0, scale.center),
        np.append(1.0, scale.scale),
        back @ found.params,
        unwhite @ np.linalg.inv(inverse) @ unwhite / moments.gram_weight,
        *standardised(back, found.cov, found.cov_privacy),
        None,  # a line of the response less its offset
        moments.residual_sd() ** 2,
        1 - mean_weight(len(place.line), bounds.radius) + long.lost(bounds.radius),
        squares,
        moments.frame.scale,
    )
    score = BoundedScore(GAUSSIAN, bounds.limit * moments.frame.scale, 1.0)
    # A share p of weight at z sds is p z^2 of the variance; a square, c times, moves a slope by c p z^3.
    share = line.unheard * math.sqrt(line.unheard / max(line.lost, 1e-4))
    moved = MOVED * min(_STEEP * share, 1.0)
    release = curator.release("predictor_bend", cost, **bend_public(line, score, WIDE))
    bend = judged(release, line, score.limit, WIDE, moved)
    if bounds.radius >= place.farthest:
        return False, moments
    along = np.linalg.solve(place.whitening, line.slopes) / max(line.spread, 1e-300)
    shape = (np.outer(along, along) + inverse * moments.gram_weight) / 2
    moments = moments.bending(bend.square / moments.frame.scale**2 * shape)
    return bend.told and share >= _TOLD, moments


def _bent(moments: LinearMoments, last: LastRelease, apart: bool) -> tuple[tuple[str, ...], LinearMoments]:
    """Moments of a line that is moved to that of all rows, by what light rows say, or columns that bend.

    And codes of the columns of which light rows do, which need no square of theirs. Where rows are surely
    `apart`, the line is that of the others, and light rows are not asked.
    """
    radius, curves, scale = last.bounds.radius, last.curves, last.place.scale
    (numbers,), told = np.nonzero(scale.numbers), np.zeros(0, dtype=int)
    if last.light is not None and not apart:
        told, moments = last.light.bending(moments, last.long, int(scale.constant) + numbers)
        curves = curves.without(told - int(scale.constant))
    moments = moments.moved(curves.shift(radius))
    return problems_at(BENDS, told), moments.bending(curves.variance(radius))


def _levelling(moments: LinearMoments, last: LastRelease, apart: bool) -> LinearMoments:
    """Moments that know what effects that level off in long rows may move the line by.

    Where rows are surely `apart`, those beyond limits are theirs, and the line is that of the others.
    """
    told, radius = moments.released, last.bounds.radius
    slopes = slopes_of(last.place, _line(moments, last.place))
    unseen = last.unseen * (not apart)
    moves, parts = last.long.levelled(radius, told.gram, told.noise_gram, *slopes, unseen)
    errors = np.sqrt(np.diag(moments.solve().cov))[:, None]
    sizes = np.max(np.abs(moments.frame.map @ moves) / errors, axis=0)
    by = moves * np.sqrt(likely_squares(sizes, parts))
    return moments.bending(by @ by.T)


def _without_constant(moments: LinearMoments, radius: float) -> LinearMoments:
    """Moments whose mean weight, which no intercept tells, is that of normal rows."""
    k = len(moments.released.gram)
    usual = min(math.sqrt(base_square(k)), radius)
    # of rows of other laws, what is lost falls as the square of the radius
    doubt = (1 - mean_weight(k, usual)) / 2 * (usual / radius) ** 2
    weighting = replace(moments.weighting, kept=mean_weight(k, radius), doubt=doubt)
    return replace(moments, weighting=weighting)


def _line(moments: LinearMoments, place: Coordinates) -> np.ndarray:
    """Coefficients of columns on the scale of the first stage."""
    return np.asarray(place.line + place.sigma * place.whitening @ moments.normal_equations().delta)


def _drawn(moments: LinearMoments, place: Coordinates, bounds: Bounds, apart: Apart) -> LinearMoments:
    """Moments that know how far rows that are surely apart may draw a line, and what they hold of a variance.

    A share p whose residuals are as large as any may be, `widest`, adds p widest^2 to a variance of 1 at
    most: limits of sigma reach so far.

    Each is shortened to the radius R along v = W e_j of a loose column. Its response knows nothing of how far
    off it is, so that its residual is what the line says there, shortened as the row, and clipped: a share p
    of rows moves A'r by p R |r| v.
    """
    if not apart.told:
        return moments
    if place.found.loose[-1]:
        more = error_up_to(apart.most / moments.released.n * place.widest**2)
        doubt = math.hypot(moments.weighting.doubt, more)
        moments = moments.knowing(weighting=replace(moments.weighting, doubt=doubt))
    loose = int(place.scale.constant) + np.flatnonzero(place.found.loose[:-1])
    ways = place.whitening[:, loose]
    size = np.linalg.norm(ways, axis=0)
    slopes = np.abs(_line(moments, place)[loose]) / (place.sigma * size)
    pull = apart.most / moments.released.n * bounds.radius * np.minimum(bounds.radius * slopes, bounds.limit)
    moved = moments.normal_equations().inverse @ (ways / size * pull)
    return moments.bending(moved @ moved.T)


def _piloted(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None, weighted: bool
) -> Coordinates:
    """Coordinates by pilots, each in those that the others give."""
    # whether the scale of those is that of these rows: not of public ones, nor without their weights
    own, limit = public is None and not weighted, NEARLY_ALL
    # public moments are no look at these rows: how many there are, and how they differ, all of them tell
    some = curator if public else some_rows(curator, plan.total, len(box.half))
    place = (
        public_coordinates(public, box, constant)
        if public
        else Coordinates.of_scale(find_columns(some, plan.columns, box, False, constant))
    )
    for step, (cost, after) in enumerate(pairwise([*plan["pilots"], plan.cost("final")]), 1):
        if step == len(plan["pilots"]):
            place = with_reach(some, plan.cost("reach"), place, weighted)
            some = curator  # whose line has hardly an error of its own, where columns are looked at for bends
            limit = NEAR if own and not place.tail.any else NEARLY_ALL
        mu, n = some.cost_per_row(cost), place.scale.rows(some.n)
        bounds = pilot_bounds(n, mu, len(place.line), place.allowed, place.reach, limit)
        release = some.release("residual_moments", cost, **place.public(bounds))
        found = second_moments(release, bounds, n)
        ahead = found.noise_gram / bounds.radius**2 * mu / some.cost_per_row(after)
        place = place.improved(found, bounds.limit, ahead=ahead)
    return place


def _gaussian(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None, weighted: bool
) -> LastRelease:
    """Release moments, the last of them in the coordinates that the others give."""
    place = _piloted(curator, box, constant, plan, public, weighted)
    k, n = len(place.line), place.scale.rows(curator.n)
    long = count_lengths(curator, plan.cost("lengths"), place, 1 / kept_square(k, math.sqrt(base_square(k))))
    curves = look_for_curves(curator, plan.cost("curves"), place, long)
    final = curves.spent(plan).cost("final")
    mu = curator.cost_per_row(final)
    bent, residuals = may_bend(long, curves, place), Residuals(place.reach, weighted, missing)
    bounds = choose_bounds(n, mu, k, place.allowed, bent, residuals)
    if place.tail.any:
        farthest = max(bounds.spread_limit, bounds.limit * place.sigma)
        bounds = replace(bounds, spread_limit=farthest)
    far, distances = bounds.limit < place.widest, Distances.within(place.widest / bounds.limit)
    release = curator.release(
        "residual_moments",
        final,
        meat=MEAT,
        meat_limit=bounds.meat_limit,
        fourth=FOURTH,
        spread=SPREAD,
        spread_limit=bounds.spread_limit,
        kept=KEPT if far else 1.0,
        light=far,
        **distances.public(bounds.limit),
        **place.public(bounds),
    )
    moments, light, unseen = _moments(release, place, bounds), None, 0.0
    clipped = moments
    if far:
        rows, light = FarRows.of(release, bounds, n, distances), LightRows.of(release, bounds, n)
        unseen = light.unseen(rows, bounds.limit, long, place.prior)
        moments = light.heard(moments)
        moments, clipped = rows.heard(moments, bounds.limit), rows.clipped(moments, bounds.limit)
    return LastRelease(moments, clipped, place, bounds, long, curves, light, unseen)


def _without_unknown(
    moments: LinearMoments, clipped: LinearMoments, place: Coordinates, limit: float, two_values: np.ndarray
) -> LinearMoments:
    """Moments that know what no release tells: of columns in which rows may be alike, and of levels.

    Whether the residuals of a level are all beyond the limit, those of `clipped` ones tell.

    Nothing bounds a slope of a column that noise hides, nor one within a level of which nothing is known;
    the response bounds effects of columns that are declared to hold `two_values`.
    """
    scale, lead, back = place.scale, int(place.scale.constant), np.linalg.inv(place.whitening)
    alike = scale.hardly_varies & _hidden_squares(moments, back, lead)[lead:]
    ways, moves = open_levels(clipped, place, limit, alike & two_values)
    slopes = (alike | moves) & ~two_values
    slopes |= (scale.within >= 0) & (scale.within != np.arange(len(alike))) & moves[scale.within]
    blind = np.append(np.full(lead, may_be_constant(scale, alike & ~two_values)), slopes)
    # as far as effects go, or as the response does
    reach = min(END, float(scale.upper[-1] - scale.lower[-1])) / (Z95 * place.sigma)
    untold = replace(moments.untold, blind=blind) if blind.any() else moments.untold
    untold = replace(untold, open_ended=reach**2 * ways @ ways.T) if ways.size else untold
    return moments.knowing(untold=untold)


def _hidden_squares(moments: LinearMoments, back: np.ndarray, lead: int) -> np.ndarray:
    """Columns whose mean square about their middle, or about their mean, noise hides; (k,).

    Where noise has moved the middle, all of a mean square may be how far the middle is from the mean.
    """
    told = moments.released
    mean = lead * (back[:1] @ told.gram @ back) / moments.gram_weight
    hidden = np.zeros(len(back), dtype=bool)
    for ways, sds in ((back, SEEN), (back - back[:, :1] @ mean, SURE)):
        square, noise = (np.sum(ways * (part @ ways), axis=0) for part in (told.gram, moments.noise_shape))
        hidden |= square <= sds * told.noise_gram * noise
    return hidden


def open_levels(
    moments: LinearMoments, place: Coordinates, limit: float, alike: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What moves the line in rows of a level, or one value of a flag, of whose residuals nothing is known.

    The mean of a level's clipped residuals is the limit at most, however far its rows lie: all may be beyond
    it. Where u'a is 1 in these rows and 0 in others, u'G u is their share and u'A'r the sum of their
    residuals. Noise may hide whether there is any such row, where columns may hold one value alone.

    Parameters
    ----------
    moments : LinearMoments
    place : Coordinates
    limit : float
        Infinite where none was clipped.
    alike : array of bool, shape (d,)
        0/1 columns that may hold one value alone.

    Returns
    -------
    array, shape (k, m)
        Of each such level u, a change of the line by 1 in its rows.
    array of bool, shape (d,)
        Columns whose coefficients move with one of these.
    """
    sums, scale = np.hstack(sums_of_values(place.scale)), place.scale
    ways = np.linalg.solve(place.whitening.T, sums)
    told, forms = moments.released, (moments.released.gram, np.eye(len(ways)), moments.noise_shape)
    share, square, uneven = (np.sum(ways * (part @ ways), axis=0) for part in forms)
    moved = ~np.isclose(place.to_params() @ sums / scale.y_scale, 0)[int(scale.constant) :]
    found = moved[alike].any(axis=0) & (share <= SEEN * told.noise_gram * uneven)
    if math.isfinite(limit):
        error = told.noise_cross**2 * square + (limit * told.noise_gram * uneven) ** 2
        error += np.maximum(share, 0.0) / told.n
        found |= limit * share - np.abs(ways.T @ told.cross) <= Z95 * np.sqrt(error)
    return ways[:, found], moved[:, found].any(axis=1)


def _rated(moments: LinearMoments, max_weight: float, radius: float) -> LinearMoments:
    """Moments of rows with weights of their own.

    Where those measure precision, the long rows that count less have small residuals, and the mean of the
    others' squares is too large, by at most the ratio of the mean weights before and after.

    Shortened, no row weighs more than `heaviest`, a share of the largest weight: a row of weight w whose a is
    sqrt(w) a0 then weighs w min(1, radius^2 / w |a0|^2), and |a0| is at least 1 / |u|, as a0'u = 1.
    """
    excess, u = moments.weighting.share / moments.mean_weight - 1, moments.frame.constant
    heaviest = 1.0 if u is None else min(1.0, radius**2 * float(u @ u))
    own = dict(unit=max_weight, heaviest=heaviest, weight=1 + excess / 2, doubt=max(excess, 0.0) / 2)
    return replace(moments, weighting=replace(moments.weighting, **own))


def _moments(release: Release, place: Coordinates, bounds: Bounds) -> LinearMoments:
    found = second_moments(release, bounds, place.scale.rows(release.n))
    gram = place.obeying(found.gram)
    meat = bounds.meat_limit**2 / (MEAT * bounds.radius**2) / found.n
    fourth = bounds.limit**4 / (FOURTH * bounds.radius**2) / found.n
    total, noise_total, share, rows = _total(release, place.scale, bounds)
    found = replace(
        found,
        gram=gram,
        meat=release.values[1] * meat,
        noise_meat=release.sd * meat,
        fourth=float(release.values[2][0, 0]) * fourth,
        noise_fourth=release.sd * fourth,
        total=total,
        noise_total=noise_total,
        rows=None if place.scale.constant else rows,
    )
    earlier = Earlier(
        prior=place.open(gram, found.noise_gram),
        expected=place.expecting(gram, found.noise_gram),
        numbers=place.numbers,
        cancelled=place.cancelled,
        errors=place.errors,
    )
    clipping = place.reach.known(bounds.limit)
    return LinearMoments(found, place.to_user(), earlier, Weighting(share=share), clipping)


def _total(release: Release, scale: RowScale, bounds: Bounds) -> tuple[float, float, float, float]:
    """Variance of the response, or its mean square without an intercept, and the noise of that.

    And the mean weight of rows, and their sum over its noise.
    """
    unit = SPREAD * bounds.radius**2
    square, mean, weight = (
        float(entry) / unit
        for entry in (release.values[3][0, 0], 2 * release.values[3][0, 1], 4 * release.values[3][1, 1])
    )
    noise, n = release.sd / unit, scale.rows(release.n)
    rows = weight / max(4 * noise, 1e-12)
    weight = max(weight, 0.05 * n, 4 * noise)
    square, mean = square / weight, scale.constant * mean / weight
    noise *= math.sqrt(1 + 2 * (2 * mean) ** 2 + (4 * (square - 2 * mean**2)) ** 2) / weight
    size = (bounds.spread_limit * scale.y_scale) ** 2
    return max(square - mean**2, noise / 2, 1e-12) * size, noise * size, min(weight / n, 1.0), rows
