"""What noisy counts by cells say of one variable: shares of cells and quantiles, with intervals.

Every interval inverts a test: it holds the values p (or x) at which what was counted lies within so many sds,
of sampling and noise together, of what p (or x) would have. So it stays within its range, and holds where
noise is larger than the number itself.

See docs/theory/describe.md#intervals.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import special

from dpstats.moments.mixture import LAWS, Tails

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the quantiles of a column

# rows lie evenly in a cell that is at most so many times denser or thinner than those beside it, which are at
# most so many, and at most so many times narrower; but for so many sds of noise
_DENSER, _MOST, _WIDER, NOISE = 3.0, 4, 2.0, 2.0
_AROUND = 4  # cells on either side, of which the density around one is told
# Rows lie in heaps where so many cells are out of line with those beside them, by such a share of the larger;
# multiples are told by cells at most so many times narrower
_HEAPS, _APART, _NARROWER = 3, 0.25, 30.0
# a cell has one heap or spike where it is narrower than this share of what is between the outer quantiles or,
# where these are alike, of the bounds: rounds that find one value come as near to it
_NARROW, _SPIKE = 0.1, 1e-6
_FLAT = 1e-6  # a fall of density, or what is left of it, below which it is none
_BELOW = 0.1  # of a step: prices end in .9, .95 or .99 and not in .00


class NumberAndInterval(NamedTuple):
    """A number with its interval, and shares of its variance.

    `privacy` is that of noise, `grid` that of not knowing where in its cell a quantile is.
    """

    estimate: float
    std_error: float
    low: float
    high: float
    privacy: float
    grid: float = 0.0

    def within(self, least: float, most: float) -> "NumberAndInterval":
        """Of a number that lies from `least` to `most`; no estimate, where the limits are these.

        An estimate beyond an end is moved there with its limits, which then hold what they held before.
        """
        if not (self.low > least or self.high < most):
            return self._replace(estimate=math.nan, std_error=math.inf, low=least, high=most)
        if math.isnan(self.estimate):
            return self
        beyond = min(self.estimate - least, 0.0) + max(self.estimate - most, 0.0)
        low, high = (min(max(end - beyond, least), most) for end in (self.low, self.high))
        return self._replace(estimate=self.estimate - beyond, low=low, high=high)


class Noise(NamedTuple):
    """Law, number of coordinates and sd of the noise of a release."""

    law: str
    size: int
    sd: float

    def widening(self, level: float, variance: float, noise: float, one: float) -> float:
        """Sds on either side of an error of this variance, of which noise is a part.

        Parameters
        ----------
        level : float
        variance, noise : float
        one : float
            Root of the sum of the squares of what single coordinates add to the variance of the noise.
        """
        part = one if self.law == "laplace" else noise
        if self.law not in LAWS or not 0 < part <= variance:
            return float(special.ndtri(0.5 + level / 2))
        tails = Tails(self.law, self.size, np.array([part]))
        return float(tails.half_widths(level, np.array([[variance]]))[0]) / math.sqrt(variance)


def inverted(z: float, count: float, rows: float, noise: tuple[float, float, float]) -> tuple[float, float]:
    """Limits of a share p: (count - p rows)^2 <= z^2 (rows p (1 - p) + noise), the noise quadratic in p.

    Parameters
    ----------
    z, count, rows : float
    noise : tuple of float
        Constant, linear and quadratic term of the variance of the noise of ``count - p rows``.
    """
    a, b = rows**2 + z**2 * (rows - noise[2]), -2 * count * rows - z**2 * (rows + noise[1])
    low, high = _solved(a, b, count**2 - z**2 * noise[0])
    return min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0)


def _solved(a: float, b: float, c: float) -> tuple[float, float]:
    """Between which x a x^2 + b x + c is not positive; all numbers if that has no end."""
    inside = b**2 - 4 * a * c
    if a <= 0 or inside < 0:
        return -math.inf, math.inf
    return (-b - math.sqrt(inside)) / (2 * a), (-b + math.sqrt(inside)) / (2 * a)


def _one(errors: np.ndarray) -> float:
    """Root of the sum of the squares of what each released number adds to a variance."""
    return float(np.sqrt(np.sum(errors**4)))


@dataclass(frozen=True, eq=False)
class CoarseCounts:
    """Noisy counts of the same rows by cells each of which is some of a table's.

    Attributes
    ----------
    places : array of int, shape (s - 1,)
        Of its edges among those of the table, increasing.
    raw : array, shape (s + 1,)
        Counts by its s cells, and of missing values.
    noise : Noise
    """

    places: np.ndarray
    raw: np.ndarray
    noise: Noise

    def sums(self, size: int) -> np.ndarray:
        """Which of the `size` counts of the table, missing values the last, each of these is the sum of."""
        group = np.searchsorted(self.places, np.arange(size - 1), side="left")
        sums = np.zeros((len(self.raw), size))
        sums[np.append(group, len(self.raw) - 1), np.arange(size)] = 1.0
        return sums


@dataclass(frozen=True, eq=False)
class CellTable:
    """Noisy counts of the rows of one variable by cells, and of rows without a value.

    Attributes
    ----------
    bounds : tuple of float
        Declared bounds of the variable.
    edges : array, shape (t - 1,)
        Between its t cells.
    raw : array, shape (t + 1,)
        Counts, those of missing values last.
    noise : Noise
    rows : float or None
        Public number of rows that weigh; None where it is not public.
    whole : bool
        Whether all values are integers.
    coarse : CoarseCounts or None
        Of the same rows, by fewer cells and with less noise.
    """

    bounds: tuple[float, float]
    edges: np.ndarray
    raw: np.ndarray
    noise: Noise
    rows: float | None
    whole: bool = False
    coarse: CoarseCounts | None = None

    @property
    def counts(self) -> np.ndarray:
        """The best that both releases and the public number of rows say of the counts."""
        return self._combined[0]

    @cached_property
    def _combined(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts by least squares, and a root of the covariance of their noise.

        Each column of the root is what one released number errs by in all counts. Coarse counts are sums of
        some of the counts, and a public number of rows is that of all, without noise.
        """
        size = len(self.raw)
        counts, root = self.raw, self._least_noise(self.noise) * np.eye(size)
        if self.coarse is not None:
            sums = self.coarse.sums(size)
            own = self._least_noise(self.coarse.noise) * np.eye(len(sums))
            both = sums @ root @ root.T
            gain = np.linalg.solve(both @ sums.T + own**2, both).T
            counts = counts + gain @ (self.coarse.raw - sums @ counts)
            root = np.hstack([root - gain @ (sums @ root), gain @ own])
        if self.rows is not None:
            all_of = root.sum(axis=0)
            gain = root @ all_of / (all_of @ all_of)
            counts = counts + gain * (self.rows - counts.sum())
            root = root - np.outer(gain, all_of)
        return counts, root

    @staticmethod
    def _least_noise(noise: Noise) -> float:
        """Its sd, or one that stands for none."""
        return max(noise.sd, 1e-9)

    @property
    def weighing(self) -> float:
        """Rows that weigh, at least one."""
        return max(float(self.counts.sum()), 1.0)

    @property
    def usable(self) -> float:
        """Rows with a value, at least one."""
        return max(float(self.counts[:-1].sum()), 1.0)

    def noise_of(self, cells: np.ndarray) -> float:
        """Variance of the noise of the sum of the counts of some cells."""
        return float(np.sum(self._combined[1][cells].sum(axis=0) ** 2))

    @property
    def usable_variance(self) -> float:
        """Of the noise of the number of usable rows."""
        return self.noise_of(np.arange(len(self.raw) - 1))

    def in_use(self, level: float) -> NumberAndInterval:
        """Rows with a value; where the number that weigh is not public, limits are of the noise alone."""
        if self.rows is None:
            noise = self.usable_variance
            one = _one(self._combined[1][:-1].sum(axis=0))
            half = self.noise.widening(level, noise, noise, one) * math.sqrt(noise)
            return NumberAndInterval(
                self.usable, math.sqrt(noise), self.usable - half, self.usable + half, 1.0
            )
        none = self.share(-1, level)
        ends = (self.rows * (1 - end) for end in (none.estimate, none.high, none.low))
        value, low, high = ends
        return NumberAndInterval(value, self.rows * none.std_error, low, high, none.privacy)

    def share(self, cell: int, level: float) -> NumberAndInterval:
        """Of the usable rows, those in one cell; -1 for missing values, of all rows."""
        counts, root = self._combined
        missing = cell in (-1, len(counts) - 1)
        of = slice(None) if missing else slice(-1)
        rows = self.weighing if missing else self.usable
        own, all_of = root[cell], root[of].sum(axis=0)
        p = min(max(float(counts[cell]) / rows, 0.0), 1.0)
        error = own - p * all_of
        private = float(error @ error)
        variance = rows * p * (1 - p) + private
        z = self.noise.widening(level, variance, private, _one(error))
        noise = float(own @ own), -2 * float(own @ all_of), float(all_of @ all_of)
        low, high = inverted(z, p * rows, rows, noise)  # a count below 0 would leave no share but 0
        return NumberAndInterval(
            p, math.sqrt(variance) / rows, low, high, private / variance if variance else 0.0
        )

    def quantile(self, p: float, level: float) -> NumberAndInterval:
        """Where the noisy distribution function passes p, and where it may."""
        ends, below = self._ends(), self._below()
        root = np.cumsum(self._combined[1][:-1], axis=0)
        root = root[:-1] - p * root[-1]
        private = np.sum(root**2, axis=1)
        sampling = self.usable * p * (1 - p)
        gap = below - p * self.usable
        at = min(int(np.searchsorted(gap[1:-1], 0.0)), len(self.edges) - 1) if len(self.edges) else 0
        noise, one = (float(private[at]), _one(root[at])) if len(private) else (0.0, 0.0)
        variance = sampling + noise
        z, alone = (
            self.noise.widening(each, variance, noise, one) for each in (level, max(2 * level - 1, 0))
        )
        errors = np.sqrt(sampling + np.concatenate([[0.0], private, [0.0]]))
        # a limit that is the bound whatever is counted cannot err, and the other one has the chance of both
        below_all, above_all = z * errors[[1, -2]] >= self.usable * np.array([p, 1 - p])
        under = gap + (alone if above_all > below_all else z) * errors
        over = gap - (alone if below_all > above_all else z) * errors
        low, middle, high = (self._crossing(ends, *at) for at in ((under, -1), (gap, 0), (over, 1)))
        inside = self._crossing(ends, over, 1, evenly=True) - self._crossing(ends, under, -1, evenly=True)
        if self.whole:
            low, middle, high = (float(np.rint(x)) for x in (low, middle, high))
        middle = min(max(middle, low), high)
        counted = min((inside / (high - low)) ** 2, 1.0) if high > low else 0.0
        return NumberAndInterval(
            middle,
            (high - low) / (2 * z),
            low,
            high,
            counted * noise / variance,
            1 - counted if high > low else 0.0,
        )

    def apart(self, p: float, level: float) -> float:
        """How far the quantiles p and 1 - p are apart at least, as their limits tell; 0 if not at all."""
        return max(self.quantile(1 - p, level).low - self.quantile(p, level).high, 0.0)

    def _ends(self) -> np.ndarray:
        return np.concatenate([[self.bounds[0]], self.edges, [self.bounds[1]]])

    def _below(self) -> np.ndarray:
        """Rows below each end of a cell: never falls."""
        total = np.concatenate([[0.0], np.cumsum(self.counts[:-1])])
        raw = np.clip(total, 0.0, self.usable)
        raw[-1] = self.usable
        return (np.maximum.accumulate(raw) + np.minimum.accumulate(raw[::-1])[::-1]) / 2

    def _crossing(self, ends: np.ndarray, values: np.ndarray, side: int, evenly: bool = False) -> float:
        """Where `values` pass 0: the first place from below, or the last, if they do so more than once.

        Where rows do not lie evenly in a cell, nobody knows where in it: the end of the cell on this side, or
        of the estimate a round number, at which many rows may be; but if they are taken to lie `evenly`.
        """
        if side > 0:
            under = np.flatnonzero(values <= 0)
            cell = int(under[-1]) if under.size else 0
        else:
            over = np.flatnonzero(values >= 0)
            cell = int(over[0]) - 1 if over.size else len(values) - 2
        if not 0 <= cell < len(values) - 1:
            return float(ends[0 if cell < 0 else -1])
        left, right = float(ends[cell]), float(ends[cell + 1])
        rise = float(values[cell + 1] - values[cell])
        share = min(max(-float(values[cell]) / rise, 0.0), 1.0) if rise > 0 else 0.5
        if evenly:
            return left + share * (right - left)
        if not self._even(cell, side):
            return {-1: left, 0: self._likely(cell, left, right, share), 1: right}[side]
        share = _sloped(share, (self._rise(cell, -1) + self._rise(cell, 1)) / 2)
        place = left + share * (right - left)
        return min(max(_outwards(place, self._step(cell), side), left), right)

    @cached_property
    def _heaped(self) -> bool:
        """Whether several cells surely hold more, or fewer, rows than as dense as either cell beside them.

        Where a density rises or falls none does, and at a mode only by little: one is a spike, several heaps.
        """
        counts, widths = self.counts[:-1], np.diff(self._ends())
        ratio = widths[1:-1] / np.stack([widths[:-2], widths[2:]])
        beside, own = np.stack([counts[:-2], counts[2:]]) * ratio, counts[1:-1]
        least, most = np.maximum(beside.min(axis=0), 0.0), beside.max(axis=0)
        apart = np.maximum(own - most, least - own)
        doubt = NOISE * self.noise.sd * np.sqrt(1 + ratio.max(axis=0) ** 2)
        out_of_line = (apart > doubt) & (apart > _APART * np.maximum(own, most))
        return int(out_of_line.sum()) >= _HEAPS

    def _step(self, cell: int) -> int:
        """The largest power of ten of which all values may be multiples, by its exponent.

        Rows around a cell are then shared among cells by their multiples, and else by their widths, which
        differ by d. What counts have beyond their share by widths is b d, b being 1 of multiples and 0 of a
        smooth law, which those of cells that are not much narrower tell with the variance 1 / sum (d^2 / v):
        multiples are ruled out where b is nearer to 0, and `NOISE` sds below 1.
        """
        ends, counts = self._ends(), self.counts[:-1]
        at, widths = np.arange(len(counts)), np.diff(ends)
        left, right = np.maximum(at - _AROUND, 0), np.minimum(at + _AROUND + 1, len(counts))

        def around(values: np.ndarray) -> np.ndarray:
            below = np.concatenate([[0.0], np.cumsum(values)])
            return np.asarray(below[right] - below[left])

        near = np.maximum(around(counts), 0.0)
        usual = near * widths / around(widths)
        weights = (widths * _NARROWER > widths[cell]) / (self._least_noise(self.noise) ** 2 + usual)
        finest = math.floor(math.log10(max(float(widths.min()), 1e-300))) - 1
        for exponent in range(math.ceil(math.log10(ends[-1] - ends[0])), finest, -1):
            places = ends * 10.0**-exponent
            multiples = np.diff(np.append(np.ceil(places[:-1]), np.floor(places[-1]) + 1))
            more = near * multiples / np.maximum(around(multiples), 1.0) - usual
            size = float(np.sum(more**2 * weights))
            if np.sum(more * (counts - usual) * weights) >= size - max(size / 2, NOISE * math.sqrt(size)):
                return exponent
        return finest

    def _rise(self, cell: int, side: int) -> float:
        """By how much the density rises to the right within half a cell, as one side shows beyond noise."""
        own, usual, ratio, doubt = self._beside(cell, side)
        apart = math.copysign(max(abs(usual - own) - doubt, 0.0), usual - own)
        return side * min(max(apart * ratio / (1 + ratio) / max(own, 1e-300), -1.0), 1.0)

    def _even(self, cell: int, side: int) -> bool:
        """Whether rows may be taken to lie evenly in a cell, or, for a limit on a side, not farther out.

        It is seen to be as dense as both its sides, or the density falls outwards, which may be chance where
        rows lie in heaps.
        """
        inside = 0 < cell < len(self.edges) and not self._heaped
        return inside and all(self._as_dense(cell, beside, side) for beside in (-1, 1))

    def _as_dense(self, cell: int, beside: int, side: int) -> bool:
        """Whether a cell is about as dense as the next ones on a side, which are together half as wide.

        For a limit on a side these may be fewer there, and more on the other.
        """
        own, usual, ratio, doubt = self._beside(cell, beside)
        more = beside * side * (usual - own) if side else abs(usual - own)
        known = beside * side < 0 or ratio <= _WIDER or doubt <= usual
        return known and more - doubt <= (_DENSER - 1) * max(min(own, usual), 0.0)

    def _beside(self, cell: int, side: int) -> tuple[float, float, float, float]:
        """Rows of a cell, those of one as dense as the next on a side, its width over theirs, and noise.

        The next ones are together half as wide. Noise is what it may make of the difference of the rows.
        """
        counts, widths = self.counts[:-1], np.diff(self._ends())
        near = range(cell + side, len(counts) if side > 0 else -1, side)
        width, rows, cells = 0.0, 0.0, 0
        for at in near:
            width, rows, cells = width + widths[at], rows + float(counts[at]), cells + 1
            if width * _WIDER >= widths[cell] or cells == _MOST:
                break
        ratio = float(widths[cell]) / max(width, 1e-300)
        return (
            float(counts[cell]),
            rows * ratio,
            ratio,
            NOISE * self.noise.sd * math.sqrt(1.0 + cells * ratio**2),
        )

    def _likely(self, cell: int, left: float, right: float, below: float) -> float:
        """Where in an uneven cell a share of its rows lies below: in its middle, if neither side is denser.

        Heaps, and spikes far denser than both neighbours, are at a round number, if the cell is narrow.
        """
        counts, ends = self.counts[:-1], self._ends()
        around = [near for near in (cell - 1, cell + 1) if 0 <= near < len(counts)]
        own, *beside = (float(max(counts[at], 0.0) / (ends[at + 1] - ends[at])) for at in (cell, *around))
        share = 0.5
        if around and own < max(beside):
            falls = around[int(np.argmax(beside))] < cell
            near = _fallen(below if falls else 1 - below, own / max(beside))
            share = near if falls else 1 - near
        five, rest = np.searchsorted(self._below(), self.usable * np.array(PROBABILITIES)[[0, -1]])
        spread = max(_NARROW * (ends[rest] - ends[five - 1]), _SPIKE * (ends[-1] - ends[0]))
        spike = own > _DENSER * max([0.0, *beside]) and counts[cell] > NOISE * self.noise.sd
        likely = left + share * (right - left)
        return _roundest(left, right, likely) if (self._heaped or spike) and right - left < spread else likely


def _outwards(place: float, exponent: int, side: int) -> float:
    """The next multiple of a power of ten on a side, or a price just below; on none the place itself."""
    if side == 0:
        return place
    places = place * 10.0**-exponent
    whole = math.ceil(places) if side > 0 else math.floor(places) - _BELOW
    return whole * 10.0**exponent if exponent >= 0 else whole / 10.0**-exponent


def _roundest(left: float, right: float, near: float) -> float:
    """The number with the fewest digits from `left` to `right`, of several the nearest to one of these."""
    exponent = math.floor(math.log10(max(abs(left), abs(right)))) + 1
    while math.floor(right * 10.0**-exponent) < (least := math.ceil(left * 10.0**-exponent)):
        exponent -= 1
    whole = min(max(round(near * 10.0**-exponent), least), math.floor(right * 10.0**-exponent))
    found = whole * 10.0**exponent if exponent >= 0 else whole / 10.0**-exponent
    return min(max(found, left), right)


def _sloped(share: float, rise: float) -> float:
    """Where in a cell a share of its rows lies below, if the density rises evenly by 2 `rise` times its mean.

    Below a place s are s - rise s (1 - s) of them.
    """
    root = math.sqrt(max((1 - rise) ** 2 + 4 * rise * share, 0.0))
    return 2 * share / max(1 - rise + root, 1e-300)


def _fallen(share: float, ratio: float) -> float:
    """Where in a cell a share of its rows lies below, if the density falls exponentially from its left end.

    Its mean is this ratio, below 1, of what it is there: (1 - exp(-u)) / u, u the logarithm of the fall.
    """
    most = 1 / max(ratio, _FLAT)
    u = most + float(special.lambertw(-most * math.exp(-most)).real)
    return -math.log1p(max(share * math.expm1(-u), _FLAT - 1)) / u if u > _FLAT else share


def spread_of_normal(
    z: float, square: float, rows: float, kurtosis: float, noise: float
) -> tuple[float, float]:
    """Limits of a variance v: (square - v)^2 <= z^2 ((kurtosis - 1) v^2 / rows + noise), never below 0."""
    low, high = _solved(1 - z**2 * (kurtosis - 1) / rows, -2 * square, square**2 - z**2 * noise)
    return max(low, 0.0), max(high, 0.0)
