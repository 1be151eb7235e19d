"""Bounded martingale scores of a censored location-scale model.

A row is observed until its residual z = (y - x'gamma) / sigma; H is the cumulative hazard of the standard
variable and M = N - H its martingale. For any bounded h that does not look ahead, U = int h dM has mean 0 at
the truth under independent censoring, so bounding h costs efficiency and never consistency
(docs/theory/survival.md#martingale-scores). With h1* = (log hazard)' the integrands are

    location      h1 = g h1*
    log sigma     h2 = g (1 + rho h1*),   rho = clip(z - m, low, high),

g tapers from 1 to 0 as H runs from the start of the cut to c. Nothing jumps, so the estimating equation has
a root. The normal's h1* grows without bound to the left, so h1* is its value at the floor below a floor. m is
the pivot of the row: a public linear function of x. It makes log sigma move with the location held where the
events are, so that the two scores are nearly uncorrelated at any censoring. The released sums are
psi = A1 - event h1 and chi = A2 - event h2 with the compensators A = int h dH (:mod:`.tapers`).

Where a row is known to have failed between two residuals alone, its scores are the means of those of rows
that fail there (:mod:`.between`).

A row that is watched from a residual e on only, having lived until then (left truncation), gives int h dM
from e: A(z) - A(e) in the place of A(z), and the rest unchanged (docs/theory/survival.md#late-entry).
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from dpstats.families.between import Between
from dpstats.families.location_scale import Family
from dpstats.families.tapers import Taper


class Integrands(NamedTuple):
    """One row's taper, h1*, 1 + rho h1*, and the compensators of the two scores since its entry."""

    taper: np.ndarray
    location: np.ndarray
    log_sigma: np.ndarray
    location_compensator: np.ndarray
    log_sigma_compensator: np.ndarray


class Compensators(NamedTuple):
    """One row's taper and h1*, int g dH, and the compensators of the two scores, since its start."""

    taper: np.ndarray
    location: np.ndarray
    hazard: np.ndarray
    location_compensator: np.ndarray
    log_sigma_compensator: np.ndarray


class Scores(NamedTuple):
    """One row's psi and chi, and what it adds to the information: kept v v', v = (location, log_sigma)."""

    psi: np.ndarray
    chi: np.ndarray
    kept: np.ndarray
    location: np.ndarray
    log_sigma: np.ndarray


@functools.lru_cache(maxsize=256)  # tapers do not change, and the search for bounds asks for each often
def taper(family: Family, c: float, floor: float = -math.inf) -> Taper:
    """The taper of a family, cut at cumulative hazard c, its h1* frozen below the floor if unbounded."""
    return family.taper(c, floor)


@functools.lru_cache(maxsize=32)
def has_sound_taper(family: Family) -> bool:
    """Whether the tapers of a family are what the bounds of scores rest on (:mod:`.score_bounds`), on a grid.

    g and h1* never rise, h1* is positive and at most `steepest`, also far off, and that of the family above
    the floor; the integrals are those of both.
    """
    with np.errstate(all="ignore"):
        floors = (*_FLOORS, *(-math.inf,) * family.bounded)
        return all(_is_sound(family, taper(family, c, floor)) for c in _CUTS for floor in floors)


_CUTS, _FLOORS = (1.0, 1.5, 8.0, 64.0), (-1.0, -1.5, -9.0, -50.0)  # those of fits lie between
_EARLY = -np.geomspace(2.0, 800.0, 25)
_STEP, _NEAR, _KINK = 1e-5, 1e-6, 0.01  # of a difference; of what must agree; where slopes have no difference


def _is_sound(family: Family, cut: Taper) -> bool:
    kinks = np.array([cut.start, cut.stop, *(cut.floor,) * math.isfinite(cut.floor)])
    far = np.concatenate([_EARLY, (kinks[:, None] + np.linspace(-4.0, 0.0, 25)).ravel(), kinks])
    far = np.sort(far[far <= cut.stop])
    g, slope, _ = cut.at(far)
    room = _NEAR**2 * cut.steepest
    bounded = (slope > 0).all() and (slope <= cut.steepest + room).all() and g[-1] <= room
    if not (bounded and (np.diff(slope) <= room).all() and (np.diff(g) <= room).all()):
        return False
    z = far[(abs(far[:, None] - kinks) > _KINK).all(axis=1)]
    g, slope, _ = cut.at(z)
    after, before = (np.array(cut.integrals(z + step)) for step in (_STEP, -_STEP))
    wanted = g * family.hazard(z) * np.array([np.ones_like(z), slope, z * slope])
    own = z > cut.floor
    return bool(
        np.allclose((after - before) / (2 * _STEP), wanted, rtol=_NEAR, atol=_NEAR)
        and np.allclose(slope[own], family.log_hazard_slope(z[own]), rtol=_NEAR, atol=_NEAR)
    )


def integrands(
    cut: Taper, z: np.ndarray, pivot: np.ndarray, low: float, high: float, entry: np.ndarray | None = None
) -> Integrands:
    """The pieces of psi and chi for each row.

    Parameters
    ----------
    cut : Taper
    z : array, shape (B,)
        Residuals.
    pivot : array, shape (B,)
        m of each row.
    low, high : float
        Limits of rho.
    entry : array, shape (B,), optional
        Finite residuals at which the rows began to be watched; from the start if not given.
    """
    return _with_log_sigma(compensators(cut, z, pivot, low, high), cut, z, pivot, low, high, entry)


def scores(
    cut: Taper,
    z: np.ndarray,
    event: np.ndarray,
    pivot: np.ndarray,
    limits: tuple[float, float],
    entry: np.ndarray | None = None,
    known: Between | None = None,
) -> Scores:
    """The scores of each row, and the root of its information.

    Parameters
    ----------
    cut : Taper
    z : array, shape (B,)
        Residuals up to which the rows were watched.
    event : array, shape (B,)
        1 for a failure there, else 0.
    pivot, limits, entry
        As of :func:`integrands`.
    known : Between, optional
        Of rows that may have failed between two residuals, of which `z` is the first.
    """
    since = compensators(cut, z, pivot, *limits)
    parts = _with_log_sigma(since, cut, z, pivot, *limits, entry)
    kept = event * parts.taper
    psi = parts.location_compensator - kept * parts.location
    chi = parts.log_sigma_compensator - kept * parts.log_sigma
    if known is None:
        return Scores(psi, chi, kept, parts.location, parts.log_sigma)
    last = compensators(cut, known.upper, pivot, *limits)
    location = last.location_compensator - parts.location_compensator
    log_sigma = last.log_sigma_compensator - parts.log_sigma_compensator
    told = known.told(last.hazard - since.hazard)
    return Scores(
        psi - location * known.odds,
        chi - log_sigma * known.odds,
        np.where(known.seen, kept, 1.0),
        np.where(known.seen, parts.location, location * told),
        np.where(known.seen, parts.log_sigma, log_sigma * told),
    )


def compensators(cut: Taper, z: np.ndarray, pivot: np.ndarray, low: float, high: float) -> Compensators:
    """The pieces that do not depend on the entry.

    Parameters
    ----------
    cut, low, high
        As of :func:`integrands`.
    z, pivot : array
        Of shape (B,) both; or pivots of shape (C, 1), to have each with each.
    """
    z = np.minimum(z, cut.stop)
    left, right = np.minimum(pivot + low, cut.stop), np.minimum(pivot + high, cut.stop)
    g, slope, (total, location, moment) = cut.at(z)
    # int rho g h1* dH: rho = low up to `left`, z - m between, high beyond `right`
    shifted = moment - pivot * location + cut.iterated(left)
    early, late = np.nonzero(z <= left), np.nonzero(z > right)
    if late[0].size:
        own, first, last = (np.broadcast_to(each, shifted.shape)[late] for each in (location, moment, right))
        shifted[late] -= first - last * own + cut.iterated(last)
    if early[0].size:
        shifted[early] = low * np.broadcast_to(location, shifted.shape)[early]
    return Compensators(g, slope, total, location, total + shifted)


def _with_log_sigma(
    since: Compensators,
    cut: Taper,
    z: np.ndarray,
    pivot: np.ndarray,
    low: float,
    high: float,
    entry: np.ndarray | None,
) -> Integrands:
    g, slope, _, location, log_sigma = since
    if entry is not None:
        before = compensators(cut, np.minimum(entry, z), pivot, low, high)
        location, log_sigma = location - before.location_compensator, log_sigma - before.log_sigma_compensator
    own = 1 + np.clip(np.minimum(z, cut.stop) - pivot, low, high) * slope
    return Integrands(g, slope, own, location, log_sigma)
