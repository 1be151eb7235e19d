"""How large the bounded scores of a row can be: a public calculation on cells of z.

The bound behind the sensitivity of the martingale score (its proof stands with the statistic). On a cell
[a, b] of z, and for every pivot m in the public range, each piece lies in an interval that follows from
monotonicity alone:

* A1 never falls and g h1* never rises, so psi of an event lies between its values at a and b, and psi of
  a row without one between A1(a) and A1(b);
* rho = clip(z - m) rises in z and falls in m, h1* never rises and is positive, so 1 + rho h1* lies between
  the values of its corners;
* A2(z) - A2(a) = int g (1 + rho h1*) dH lies between the extremes of that factor times A0(b) - A0(a),
  from either end; and A2 falls in m at a rate of at most A1, so a grid of m with spacing 2 dm gives
  every m within dm A1(b).

The cells cover all z up to the end of the cut, where g = 0 and the scores stop changing.

*Between two residuals.* The square of a distance between two rows is convex in their scores and sizes and
does not fall as a size rises, so that rows that failed between two residuals add nothing (:mod:`.between`).

*Delayed entry.* A row watched from e <= z on gives psi = A1(z) - A1(e) - event g h1* and
chi = A2(z) - A2(e) - event g (1 + rho h1*), the information matrix as before. For z in [a, b], any e <= z:

* A1 never falls, so 0 <= A1(z) - A1(e) <= A1(b): psi lies in [0, A1(b)] without an event, and with one
  between -g h1* at a and A1 - g h1* at b;
* where rho < 0, both -rho and h1* > 0 never rise, so 1 + rho h1* never falls, and elsewhere it is at least 1.
  So it changes sign at most once, from - to +, and A2, for one m, falls from 0 to its dip -X(m) and rises
  from there on. Hence max over e <= z of A2(e) = max(0, A2(z)), and
  min(0, A2(z)) <= A2(z) - A2(e) <= A2(z) + X_b(m), X_b the largest -A2 of the cells up to b.

The chi part so gains X at most (docs/theory/survival.md#late-entry), cell by cell of m, and nothing on the
cells where A2 still falls; the psi part gains nothing but on events that enter just before they fail.

*Rounding.* Nodes are computed in floating point, and so are rows. `rounding` bounds the errors of one of
them; u = 2^-53, and s is the largest h1*.

* The integrals A0, A1 and M (of z g h1* dH) are sums of at most 16 terms, with those of the offset at the
  start of the taper. None is larger than T = 4 (c + 1) (1 + |z|) (1 + s) max(1, d), |z| that of the ends of
  the taper and d its steepest slope: hazards are at most 2 c there, and further left |z| e^z is below 1. A
  term takes at most 8 roundings and standard functions of a few u, of arguments up to c, whose exponentials
  err by c u more: in all less than e = 2^-44 T, which is 512 u T. The normal's table adds at most
  8e-12 (1 + s) max(1, d).
* A2 is a sum of A0, of two M, and of five A1 times m, low or high, some at the arguments m + low and
  m + high. These are rounded, and no integral rises faster than T. A2 errs by at most
  e (3 + 2 |m| + |low| + 2 |high|) + 4 u (|m| + |low| + |high|)^2 T.
* g <= 1 and h1* <= s err by less than e. So psi errs by at most e (2 + s), chi by as much as A2 and the
  product g (1 + rho h1*), e (2 + s) (1 + r) with r the larger of |low| and |high|, and the entries of the
  matrix, g h1*^2 and g (1 + rho h1*)^2, by at most 4 e (1 + s)^2 and 4 e (2 + r s)^2 (1 + r).

* A row between two residuals (:mod:`.between`) takes off differences of two integrals over dH, which is at
  least `NARROW`, N. So psi errs by at most (2 e (2 + s) + e) / N, chi by as much with A2. In m m' the square
  of a difference stands over dG, at least 2^-20: with V the largest integrand and a the error of its
  integral, (4 a V + 2 e V^2) / N, twice that for what is of second order, as e is below 2^-24. All of these
  are at most 4 / N times the above, with 4 a (2 + r s) added to the entry of log sigma.

Boxes are widened by these twice, for the nodes and for the row; with entries, which take off a second set of
integrals, four times. Then only the arithmetic on boxes is left, less than 64 roundings one after the other:
a factor of 1 + 2^-46. A test has A1 and A2 to 30 digits, and finds less than a tenth of these errors.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats.families.between import NARROW
from dpstats.families.location_scale import Family
from dpstats.families.martingale import compensators, taper
from dpstats.families.tapers import Taper

# Of z and of the pivot: ten times as many of both would take less than 6 % off the noise in log sigma and
# hardly any off the rest; 9 pivots had 4 to 11 % more noise in log sigma.
CELLS = 48
PIVOTS = 33
# Weight of the log sigma score and of the information matrix against the location score: their largest
# entries, as a share of the largest location score.
LOG_SIGMA_SHARE = 1.3
_MARGIN = 1 + 2.0**-46  # for the arithmetic on boxes


@dataclass(frozen=True)
class Truncation:
    """Where the scores of a fit are bounded: public numbers.

    Attributes
    ----------
    family : Family
    c : float
        Cumulative hazard at which a row stops being observed.
    pivots : tuple of float
        Lowest and highest pivot m.
    limits : tuple of float
        Limits of rho = z - m.
    floor : float
        z below which h1* is frozen; finite for the normal, without meaning for others.
    delayed : bool
        Whether rows may be watched from a later time than their start on.
    known_scale : bool
        Whether sigma is known, so that log sigma has no score; pivots and limits then have no meaning.
    intervals : bool
        Whether rows may be known to have failed between two residuals alone.
    strata : bool
        Whether rows of different strata have scores of different log sigmas.
    """

    family: Family
    c: float
    pivots: tuple[float, float]
    limits: tuple[float, float]
    floor: float = -math.inf
    delayed: bool = False
    known_scale: bool = False
    intervals: bool = False
    strata: bool = False

    @property
    def cut(self) -> Taper:
        """The taper of these scores."""
        return taper(self.family, self.c, self.floor)


@dataclass(frozen=True)
class ScoreBounds:
    """Sizes and weights of one row's contribution, for a largest row norm of 1.

    Attributes
    ----------
    psi, chi : float
        Largest absolute score of location and log sigma.
    log_sigma_weight : float
        kappa: the log sigma score is released times kappa. It and the next are 0 where sigma is known.
    log_sigma_unit : float
        kv: the column of log sigma in the information matrix is kv (1 + rho h1*).
    slope : float
        Largest entry of its other columns, h1*: 1, or that at the floor.
    matrix_weight : float
        tau: the information matrix is released times tau.
    column : float
        Largest entry of the log sigma column, kv sqrt(g) |1 + rho h1*|; at most `slope`.
    sensitivity : float
        L2 sensitivity of (sum w x psi, kappa sum w chi, tau sum w g event v v').
    """

    psi: float
    chi: float
    log_sigma_weight: float
    log_sigma_unit: float
    matrix_weight: float
    slope: float
    column: float
    sensitivity: float


@dataclass(frozen=True)
class _Boxes:
    """For each kind of row and cell: |psi| at most, chi within [low, high], the two parts of |v|^2 g."""

    psi: np.ndarray
    low: np.ndarray
    high: np.ndarray
    slope_square: np.ndarray
    log_sigma_square: np.ndarray


class Rounding(NamedTuple):
    """Bounds on the errors of what is computed of one row or node; see the module."""

    integral: float
    psi: float
    chi: float
    slope_square: float
    log_sigma_square: float


def rounding(where: Truncation) -> Rounding:
    """Bounds on the rounding of a score, from public numbers."""
    cut, (low, high), m = where.cut, map(abs, where.limits), max(map(abs, where.pivots))
    s, r = cut.steepest, max(low, high)
    steep = max(1.0, 1 / (cut.stop - cut.start))
    term = 4 * (cut.c + 1) * (1 + max(abs(cut.start), abs(cut.stop))) * (1 + s) * steep
    e = 2.0**-44 * term + 8e-12 * (1 + s) * steep
    a2 = e * (3 + 2 * m + low + 2 * high) + 2.0**-51 * (m + low + high) ** 2 * term
    psi, chi = e * (2 + s), a2 + e * (2 + s) * (1 + r)
    slope, log_sigma = 4 * e * (1 + s) ** 2, 4 * e * (2 + r * s) ** 2 * (1 + r)
    if where.intervals:
        times = 4 / NARROW
        psi, chi, slope, log_sigma = times * np.array([psi, chi, slope, log_sigma + 4 * a2 * (2 + r * s)])
    return Rounding(e, psi, chi, slope, log_sigma)


# a step asks twice, for its scales and for the sensitivity of its release; steps with a known scale, and fits
# to which the same is answered, ask all of it again: of each there are less than 200
@functools.lru_cache(maxsize=1024)
def score_bounds(where: Truncation, matrix_share: float) -> ScoreBounds:
    """Bounds and weights of the scores.

    Parameters
    ----------
    where : Truncation
    matrix_share : float
        Size of the information matrix's largest contribution against the largest location score.
    """
    cut = where.cut
    boxes, steepest = _widened(_boxes(where, cut), where), cut.steepest
    psi = max(steepest, float(boxes.psi.max()))
    size = float(np.maximum(np.abs(boxes.low), np.abs(boxes.high)).max())
    kappa, unit = 0.0, 0.0
    if not where.known_scale:
        kappa = LOG_SIGMA_SHARE * psi / float(boxes.high.max() - boxes.low.min())
        unit = steepest / np.sqrt(float(boxes.log_sigma_square.max()))
    norms = boxes.slope_square + unit**2 * boxes.log_sigma_square
    tau = matrix_share * psi / float(norms.max())
    largest = _largest_distance(boxes, kappa, tau, norms, where.strata)
    return ScoreBounds(
        psi * _MARGIN, size * _MARGIN, kappa, unit, tau, steepest, steepest * _MARGIN, largest * _MARGIN
    )


def _widened(boxes: _Boxes, where: Truncation) -> _Boxes:
    """The boxes with room for rounding; the row that weighs nothing needs none, and has it too."""
    error, times = rounding(where), 4 if where.delayed else 2
    return _Boxes(
        psi=boxes.psi + times * error.psi,
        low=boxes.low - times * error.chi,
        high=boxes.high + times * error.chi,
        slope_square=boxes.slope_square + times * error.slope_square,
        log_sigma_square=boxes.log_sigma_square + times * error.log_sigma_square,
    )


def _largest_distance(boxes: _Boxes, kappa: float, tau: float, norms: np.ndarray, strata: bool) -> float:
    """Largest distance between two rows: the location parts may point apart, the others cannot.

    The scores of log sigmas of two strata are at a right angle.
    """
    size = np.maximum(np.abs(boxes.low), np.abs(boxes.high))
    # all else is alike for both rows of a pair, and each is the first of one pair
    chi = np.maximum(boxes.high[:, None] - boxes.low, size)
    if strata:
        chi = np.maximum(chi, np.hypot(size[:, None], size))
    squares = (boxes.psi[:, None] + boxes.psi) ** 2 + (kappa * chi) ** 2
    return float(np.sqrt((squares + tau**2 * (norms[:, None] ** 2 + norms**2)).max()))


def _boxes(where: Truncation, cut: Taper) -> _Boxes:
    low, high = where.limits
    first, last = where.pivots
    begin = min(first + low, cut.start, cut.floor if math.isfinite(cut.floor) else cut.start) - 2.0
    # below the first inner node the scores are those of z -> -inf, up to the hazard of that node
    z = np.sort(np.concatenate([[begin - 60.0], np.linspace(begin, cut.stop, CELLS), [cut.start]]))
    # the last axis is that of z, so that what is said of all pivots is found by whole rows
    pivot = np.linspace(first, last, PIVOTS)[:, None]
    reach = (last - first) / (PIVOTS - 1) / 2
    taper_, slope, a0, a1, a2 = compensators(cut, z, pivot, low, high)

    # each of a product of intervals, of which one is that of h1* or g: its ends are among those of both
    rho_low = np.minimum(np.maximum(z[:-1] - pivot - reach, low), high)
    rho_high = np.minimum(np.maximum(z[1:] - pivot + reach, low), high)
    h2_low = 1 + np.minimum(rho_low * slope[:-1], rho_low * slope[1:])
    h2_high = 1 + np.maximum(rho_high * slope[:-1], rho_high * slope[1:])
    step, spread = a0[1:] - a0[:-1], reach * a1[1:]
    up, down = np.maximum(h2_high, 0) * step, np.minimum(h2_low, 0) * step
    a2_low = np.maximum(a2[:, :-1] + down, a2[:, 1:] - up) - spread
    a2_high = np.minimum(a2[:, :-1] + up, a2[:, 1:] - down) + spread
    jump_low = np.minimum(h2_low * taper_[:-1], h2_low * taper_[1:])
    jump_high = np.maximum(h2_high * taper_[:-1], h2_high * taper_[1:])

    jump = taper_ * slope
    event_psi = np.maximum(*(np.abs(a1[side] - jump[side]) for side in (slice(-1), slice(1, None))))
    if where.delayed:
        event_psi = np.maximum(event_psi, jump[:-1])
        dip = np.maximum.accumulate(np.maximum(-a2_low, 0), axis=1)
        a2_low, a2_high = np.minimum(a2_low, 0), a2_high + dip
    nothing = np.zeros(1)  # the row that weighs nothing
    no_matrix = np.zeros(len(z) - 1)
    return _Boxes(
        psi=np.concatenate([event_psi, a1[1:], nothing]),
        low=np.concatenate([(a2_low - jump_high).min(axis=0), a2_low.min(axis=0), nothing]),
        high=np.concatenate([(a2_high - jump_low).max(axis=0), a2_high.max(axis=0), nothing]),
        slope_square=np.concatenate([taper_[:-1] * slope[:-1] ** 2, no_matrix, nothing]),
        log_sigma_square=np.concatenate(
            [taper_[:-1] * np.maximum(h2_low**2, h2_high**2).max(axis=0), no_matrix, nothing]
        ),
    )
