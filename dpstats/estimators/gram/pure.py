"""Linear regression under pure epsilon: one matrix, then scores.

Noise of pure epsilon grows with the number of coordinates, and a matrix has d^2 / 2 of them. It is released
once, roughly; then the score of the line it gives, d coordinates, and again of the line which that score
gives. The error of the matrix enters by what the last step moves, and by what a small eigenvalue may be.

See docs/theory/linear.md#pure-epsilon.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.bounds import NEARLY_ALL, base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram.bounds import Bounds, Residuals, choose_bounds, pilot_bounds
from dpstats.estimators.gram.coordinates import Coordinates, public_coordinates, second_moments
from dpstats.estimators.gram.curves import Curves, look_for_curves, may_bend
from dpstats.estimators.gram.lengths import LongRows, count_lengths
from dpstats.estimators.gram.light import LightRows
from dpstats.estimators.gram.reach import with_reach
from dpstats.estimators.row_scale import Box
from dpstats.moments import LinearMoments, PublicMoments
from dpstats.moments.normal_rows import kept_square, mean_weight
from dpstats.moments.parts import Earlier, Expected, Released, Untold, Weighting
from dpstats.moments.roots import with_floor
from dpstats.moments.spread import clipped_with_mean, residual_variance
from dpstats.moments.tails import grown_kurtosis

# share of the matrix noise, as an operator, that is added to the matrix
_DAMPING = 0.5
# lengths of rows of the matrix that are compared
_RADII = 101
# by how much weights of long rows may change a mean square from one release to the next, as a share
_UNEVEN_WEIGHT = 0.02


class LastRelease(NamedTuple):
    """Moments of a linear fit, and how they were released.

    Attributes
    ----------
    moments, clipped : LinearMoments
        The second ones of residuals that are clipped, whatever was told of rows beyond the limit.
    place : Coordinates
    bounds : Bounds
    long : LongRows
    curves : Curves
    light : LightRows, optional
    unseen : float
        Share of rows longer than the radius whose residuals may be of any size.
    """

    moments: LinearMoments
    clipped: LinearMoments
    place: Coordinates
    bounds: Bounds
    long: LongRows
    curves: Curves
    light: LightRows | None = None
    unseen: float = 0.0


def fit_pure(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None, weighted: bool
) -> LastRelease:
    """Release a matrix and scores; see :func:`dpstats.estimators.gram.fit_gram`."""
    place, matrix = _matrix(curator, box, constant, plan, public)
    k = len(place.line)
    for step, cost in enumerate(plan["pilots"], 1):
        if step == len(plan["pilots"]):
            place = with_reach(curator, plan.cost("reach"), place, weighted)
        mu, n = _equivalent(curator, cost, place), place.scale.rows(curator.n)
        before = pilot_bounds(n, mu, k, place.allowed, place.reach)
        release = curator.release("residual_score", cost, **place.public(before))
        pilot = _score(release, before, n, matrix.kept(kept_square(k, before.radius)))
        place = place.improved(pilot, before.limit, matrix.known, whiten=False)
    long = count_lengths(curator, plan.cost("lengths"), place)
    curves = look_for_curves(curator, plan.cost("curves"), place, long)
    final = curves.spent(plan).cost("final")
    mu = _equivalent(curator, final, place)
    bent = may_bend(long, curves, place)
    bounds = choose_bounds(n, mu, k, place.allowed, bent, Residuals(place.reach, weighted))
    release = curator.release("residual_score", final, **place.public(bounds))
    kept, weight = kept_square(k, bounds.radius), mean_weight(k, bounds.radius)
    own = public is None and not weighted
    longer = long.axes * (long.heard(bounds.radius) / long.heard(matrix.radius) - 1) @ long.axes.T * own
    one, scale = place.constant, place.scale
    found, known = _score(release, bounds, n, matrix.kept(kept)), matrix.known or Expected(shape=np.eye(k))
    seen = (found.square, found.noise_square) if public else (scale.fraction, scale.fraction_sd)
    released = replace(found, gram=found.gram + longer, rows=seen[0] / max(seen[1], 1e-12))
    earlier = Earlier(
        None if matrix.known is None else place.prior,
        None if matrix.open is None else matrix.open / place.sigma**2,
        *known,
        errors=place.errors,
    )
    weighting = Weighting(
        weight=weight / kept,
        doubt=math.hypot((1 - weight) / 2, 1 - scale.fraction / scale.present),
        share=1.0 if one is None else float(np.clip(one @ matrix.gram @ one, 0.05, 1.0)),
        uneven=1 - kept,
    )
    clipping = place.reach.known(bounds.limit)
    untold = Untold(together=with_floor(matrix.gram, 0.0) / weighting.share)
    moments = LinearMoments(released, place.to_user(), earlier, weighting, clipping, untold)
    moments = _with_kurtosis(moments, before, bounds, pilot)
    if bounds.limit < place.widest:
        moments = _spreading_with_mean(moments, place)
    return LastRelease(moments, moments, place, bounds, long, curves)


def _equivalent(curator: Curator, cost: float, place: Coordinates) -> float:
    """The mu of Gaussian noise that is as large as that of a score of this cost."""
    _, sds = curator.noise("residual_score", cost, **place.public(Bounds(1.0, 1.0, 1.0)))
    return 2 / float(sds[0].max())


def _with_kurtosis(moments: LinearMoments, before: Bounds, bounds: Bounds, pilot: Released) -> LinearMoments:
    """Moments that know how heavy the tails of residuals are, as far as noise lets that be told.

    The last pilot clipped residuals nearer, and what it left of their mean square is the unit of these. By
    how much it has grown tells of tails what a mean of r^4 would, which nobody released.
    """
    told, weight = moments.released, mean_weight(len(moments.released.cross), before.radius)
    growth = residual_variance(moments, moments.normal_equations()) * weight
    noise = math.hypot(told.noise_square / moments.mean_weight, pilot.noise_square / max(pilot.square, 0.05))
    kurtosis, slope = grown_kurtosis(bounds.limit, before.limit, growth)
    if not math.isfinite(slope):
        return moments
    unit = max(told.square, 0.05) ** 2 / moments.mean_weight
    error = slope * math.hypot(growth * noise, _UNEVEN_WEIGHT)
    return replace(moments, released=replace(told, fourth=kurtosis * unit, noise_fourth=error * unit))


def _spreading_with_mean(moments: LinearMoments, place: Coordinates) -> LinearMoments:
    """Moments that know what clipping moves if the response is an amount above one of its bounds."""
    line = np.linalg.solve(place.whitening.T, place.line) / place.sigma + moments.normal_equations().delta
    ends = np.array([place.scale.lower[-1], place.scale.upper[-1]]) / place.sigma
    moved = clipped_with_mean(moments, line, ends)
    return moments.bending(np.outer(moved, moved))


class _Matrix(NamedTuple):
    """Second moments of a as released, the size of their noise and, unless rows were public, what is known.

    Attributes
    ----------
    gram : array, shape (k, k)
    noise : float
    known : Expected, optional
        Before the release, and the shape of the noise.
    open : array, shape (k, k), optional
        Covariance of the line before any release, in units of a and the response.
    radius : float
        To which its rows were shortened.
    """

    gram: np.ndarray
    noise: float
    known: Expected | None = None
    open: np.ndarray | None = None
    radius: float = math.inf

    def kept(self, share: float) -> "_Matrix":
        """Those of rows that are shortened, which leaves this share of them."""
        return self._replace(gram=self.gram * share, noise=self.noise * share)


def _matrix(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None
) -> tuple[Coordinates, _Matrix]:
    """Coordinates from a noisy matrix, or one of public rows, and what it is in them."""
    if public is not None:
        place = public_coordinates(public, box, constant)
        return place, _Matrix(np.eye(len(place.line)), math.sqrt(2 / public.n))
    first = Coordinates.of_scale(find_columns(curator, plan.columns, box, False, constant))
    scale, k, n = first.scale, len(first.line), first.scale.rows(curator.n)
    row = scale.public() | dict(y_scale=NEARLY_ALL * scale.y_scale)  # nearly no response makes a row long
    row, cost = row | dict(whitening=first.whitening), plan.cost("matrix")
    _, sds = curator.noise("ball_moments", cost, radius=1.0, **row)
    radius = _matrix_radius(first, float(sds[0].max()) / n)
    release = curator.release("ball_moments", cost, radius=radius, **row)
    # the constant is shortened as rows are, second moments of normal columns are by more
    kept = kept_square(k, radius)
    left = np.array([mean_weight(k, radius)] * constant + [kept] * (k - constant))
    unit = first.whitening / np.sqrt(left) @ np.linalg.inv(first.whitening)
    found = second_moments(release, Bounds(1.0, NEARLY_ALL, NEARLY_ALL), n)
    gram, cross = first.obeying(unit @ found.gram @ unit.T), unit @ found.cross / math.sqrt(kept)
    found = replace(
        found,
        gram=gram,
        cross=cross,
        square=found.square / kept,
        noise_gram=found.noise_gram / kept,
        noise_cross=found.noise_cross / kept,
        noise_square=found.noise_square / kept,
    )
    # An eigenvalue that noise made too small would whiten too much, and let the first step jump too far.
    damped = gram + _DAMPING * found.noise_gram * math.sqrt(2 * k) * np.eye(k)
    place = first.improved(replace(found, gram=damped), NEARLY_ALL * radius)
    turn = place.whitening @ np.linalg.inv(first.whitening)
    parts = gram, first.expecting(gram, found.noise_gram), np.eye(k)
    gram, expected, shape = (turn @ part @ turn.T for part in parts)
    size = math.sqrt(float(np.mean(np.diag(shape) ** 2)))
    known = Expected(expected, first.numbers, shape / size)
    back = np.linalg.inv(turn)
    return place, _Matrix(gram, found.noise_gram * size, known, back.T @ first.prior @ back, radius)


def _matrix_radius(first: Coordinates, noise: float) -> float:
    """To which rows are shortened: where noise and what this takes of mean squares are least together.

    Rows are shortened before they are whitened. What columns have in common makes most long rows long and
    loses most, and the line of one column on others would be another. They lose as normal ones do, or what
    the first stage has seen of a column farther out.

    Parameters
    ----------
    first : Coordinates
    noise : float
        sd of that of a mean square, for rows of length 1. As an operator it is (2 k)^1/2 times as large.
    """
    k, scale, farthest = len(first.line), first.scale, math.hypot(first.farthest, first.widest / NEARLY_ALL)
    least = min(math.sqrt(base_square(k + 1)), farthest)
    # a row with nearly any response, whose covariates can be no longer
    longest = max(least, math.hypot(first.farthest, min(1.0, first.widest / NEARLY_ALL)))
    radii = np.geomspace(least, longest, _RADII)
    lengths = np.linalg.norm(first.whitening[:, int(scale.constant) :], axis=0)[:, None] * scale.places
    whole = np.maximum(np.sum(scale.shares * lengths**2, axis=1), 1e-12)
    beyond = np.maximum(lengths**2 - radii[:, None, None] ** 2, 0.0)
    tails = np.max(np.sum(scale.shares * beyond, axis=2) / whole, axis=1, initial=0.0)
    lost = np.maximum([1 - kept_square(k, radius) for radius in radii], tails)
    return float(radii[np.argmin(2 * k * (noise * radii**2) ** 2 + lost**2)])


def _score(release: Release, bounds: Bounds, n: int, matrix: _Matrix) -> Released:
    """Moments a r and r^2 per row that counts, of n, beside those of an earlier matrix."""
    c = math.sqrt(2) * bounds.radius / bounds.limit
    cross, square = release.values[0] / n, float(release.values[1][0]) / (n * c)
    of_cross, of_square = float(release.sds[0].max()) / n, float(release.sds[1][0]) / (n * c)
    return Released(n, matrix.gram, cross, square, matrix.noise, of_cross, of_square)
