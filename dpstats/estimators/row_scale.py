"""Where rows may lie, as declared, and the scale on which they have mean 0 and sd 1, up to noise.

And how far whitening may stretch them: no row that counts is made so long that it would be weighted away.
See docs/theory/first_stage.md and docs/theory/levels.md#rare-levels-in-the-information.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from dpstats.estimators.matrices import longest_image
from dpstats.moments.design import DesignMoments

# A norm is of use if it is less than this share of the norm that the half-widths allow.
_TIGHT = 0.75
# relative sd of a variance beyond which it may be next to nothing
_UNKNOWN = 0.75
# sds from the mean of a skewed column to one of its declared ends, at most, and to the other, at least
_NEAR_END, _FAR_END = 2.0, 8.0
# times as far from the mean as the nearer declared end is the other, if long rows may all lie there
_ONE_SIDED = 4.0
SURE = 2.0  # sds of noise by which a variance, or that rows are missing or left, is sure
# A column of rare 0/1 values is not stretched beyond this share of the longest row: its rows would be
# weighted down, and with them all they say of the other columns.
STRETCH = 0.8


@dataclass(frozen=True)
class Box:
    """Declared bounds of d covariates and, last, of the response on the model's scale.

    Attributes
    ----------
    lower, upper : array, shape (d + 1,)
    binary : array of bool, shape (d,)
        Covariates that hold nothing but their two bounds, as flags and levels do.
    norms : tuple of (tuple of int, float)
        Covariates that are no longer together than a declared norm, and its radius.
    levels : array, shape (L, d)
        Rows of the levels of categories, nan in all other columns.
    alike : array of int, shape (k, k)
        Which products of two columns, that of an intercept among them, are the same; empty if not known.
    times_levels : tuple of array of int, shape (m, 1 + c)
        Of each category of c columns, those that have products with each, an intercept among them, and these
        products, about middles or not.
    within : array of int, shape (d,)
        Of each covariate that of a level without which it is 0, itself if it is one; else -1.
    splines : array of bool, shape (d,)
        Covariates that are columns of a spline.
    heights : array, shape (H, d)
        Rows of splines at their knots and between these, nan in all other columns.
    likely : array, shape (d + 1, 2)
        Bounds between which most rows are known to lie; the declared ones if nothing is known.
    slopes_within : array, shape (m, 2, 1 + d)
        Changes of slopes in rows of one level alone, and of the line there.
    """

    lower: np.ndarray
    upper: np.ndarray
    _: KW_ONLY
    binary: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    norms: tuple[tuple[tuple[int, ...], float], ...] = ()
    levels: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    alike: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=int))
    times_levels: tuple[np.ndarray, ...] = ()
    within: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    splines: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    heights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    likely: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    slopes_within: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 0)))

    def __post_init__(self) -> None:
        d = len(self.lower) - 1
        for name, usual in (
            ("likely", np.column_stack([self.lower, self.upper])),
            ("within", np.full(d, -1)),
            ("binary", np.zeros(d, dtype=bool)),
            ("levels", np.zeros((0, d))),
        ):
            if not getattr(self, name).size:
                object.__setattr__(self, name, usual)

    @property
    def center(self) -> np.ndarray:
        """Middles of the likely bounds."""
        return self.likely.mean(axis=1)

    @property
    def half(self) -> np.ndarray:
        """Half-widths of the likely bounds."""
        # a constant column has a declared width of 0; any positive scale serves it
        return np.maximum(np.ptp(self.likely, axis=1) / 2, 1e-9)

    @property
    def tight(self) -> tuple[tuple[list[int], float], ...]:
        """Norms that say more of how long a row is than the bounds do."""
        groups = ((list(group), radius) for group, radius in self.norms)
        return tuple(
            (group, radius) for group, radius in groups if radius < _TIGHT * np.linalg.norm(self.half[group])
        )


@dataclass(frozen=True)
class RowScale:
    """Scale on which rows have mean 0 and sd 1, up to noise; without a constant, mean square 1.

    Attributes
    ----------
    center, scale : array, shape (d,)
    y_center, y_scale : float
    log : bool
    fraction, fraction_sd : float
        Counted rows (those with an event, or all valid ones) per row, and its noise; 1 and 0 until they are
        counted.
    binary : array of bool, shape (d,)
        Columns whose rows sit at the ends of their range.
    lower, upper : array, shape (d + 1,)
        The declared bounds on this scale, response last.
    ratio : array, shape (d,)
        Variance of each column on this scale, as far as it is known: below 1 where the scale is a bound.
    error : array, shape (d,)
        Relative sd of each variance, from noise.
    shares, places : array, shape (d, cells)
        Shares of the rows that were seen in cells of a column, and where those lie on this scale: root mean
        square of an even cell, with its sign.
    constant : bool
        Whether a row begins with a 1.
    norms : tuple of (list of int, float)
        Covariates that are no longer together, on this scale, than a number.
    rare : bool
        Whether the response seems constant, so that all its spread may be rare values far away.
    once : bool
        Whether surely most of it lies in a small part of its bounds, and no cell tells how it spreads there.
    levels, alike, within, splines, heights : array, shape (L, d), (k, k), (d,), (d,) and (H, d)
        Of the box.
    times_levels : tuple of array
        Of the box.
    told : (float, float)
        Share of the square of y_scale that the response surely has, and how far from its middle that was
        seen, on this scale; 0 where no moments tell.
    varies : array of bool, shape (d,)
        Columns that surely do not hold one value alone, or are declared to hold two.
    away : array, shape (d,)
        Of columns that hold one value in most rows, how far the rows lie that differ, about; else 0.
    middle_error : array, shape (d,)
        sd of the means of the columns, from noise, on this scale.
    miscounted : float
        Relative sd of the number of counted rows.
    missed : array, shape (d,)
        Share of the rows that noise may hide in a cell of a column where none was seen.
    usable : (float, float)
        Valid rows, with and without an event, of those that are meant to count, and the noise of that; 1 and
        0 where no count tells.
    """

    center: np.ndarray
    scale: np.ndarray
    y_center: float
    y_scale: float
    log: bool
    fraction: float
    fraction_sd: float
    binary: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ratio: np.ndarray
    error: np.ndarray
    shares: np.ndarray
    places: np.ndarray
    constant: bool = True
    norms: tuple[tuple[list[int], float], ...] = ()
    rare: bool = False
    once: bool = False
    levels: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    alike: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=int))
    times_levels: tuple[np.ndarray, ...] = ()
    within: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    splines: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    heights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    told: tuple[float, float] = (0.0, math.inf)
    varies: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    away: np.ndarray = field(default_factory=lambda: np.zeros(1))
    middle_error: np.ndarray = field(default_factory=lambda: np.zeros(0))
    miscounted: float = 0.0
    missed: np.ndarray = field(default_factory=lambda: np.zeros(0))
    usable: tuple[float, float] = (1.0, 0.0)

    def moments(self, n: float) -> DesignMoments | None:
        """Means and sds of the counted rows, of n; none where a norm is the scale of a column."""
        if self.norms or not self.constant:
            return None
        sds = self.scale * np.sqrt(self.ratio)
        off = np.hypot(self.error, self.miscounted / self.ratio)
        found = DesignMoments(
            "failures", n * self.fraction, self.center, self.scale * self.middle_error, sds, off / 2
        )
        return found.clipped(~self.binary)

    @property
    def present(self) -> float:
        """Share of rows that count, as large as noise lets it be."""
        return min(self.fraction + SURE * self.fraction_sd, 1.0)

    def rows(self, n: int) -> int:
        """How many of n rows count: rows that lack a value, or are outside a subset, do not."""
        return max(round(n * self.present), 1)

    def public(self) -> dict[str, Any]:
        """Parameters of the row map, as releases take them."""
        return dict(
            center=self.center,
            scale=self.scale,
            y_center=self.y_center,
            y_scale=self.y_scale,
            log=self.log,
            constant=self.constant,
        )

    def squares_beyond(self, square: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What rows longer than the root of `square` lose of the squares of each column, if they count as
        much as rows of that length: below the middle and above it, and all there is; each of shape (d,)."""
        squares = self.shares * self.places**2
        # the constant and the other covariates add about their number to the square of a row
        lost = squares * (1 - np.minimum(1, square / (self.places**2 + len(self.places))))
        below = np.sum(lost, axis=1, where=self.places < 0)
        return below, np.sum(lost, axis=1, where=self.places > 0), squares.sum(axis=1)

    def lost_along(self, slopes: np.ndarray, square: float) -> float:
        """The share of the squares of a line of columns that the same rows lose, if they are independent."""
        below, above, whole = self.squares_beyond(square)
        parts = slopes**2 * self.ratio
        return float(parts @ ((below + above) / np.maximum(whole, 1e-300))) / max(float(parts.sum()), 1e-300)

    @property
    def ends(self) -> np.ndarray:
        """How far from the middle rows lie of the two kinds that a column has, the rarer last; shape (2, d).

        Of columns of two values, and of those that hold one value in most rows; 0 of others.
        """
        few = self.ratio / np.maximum(self.away, 1.0) * (self.away > 0)
        ends = np.sort(np.abs([self.lower[:-1], self.upper[:-1]]), axis=0)
        return np.where(self.binary, ends, np.broadcast_arrays(few, self.away))

    @property
    def near_end(self) -> np.ndarray:
        """sds from the mean of a column to its near end, where the other lies two octaves farther.

        Negative of an upper end; else infinite, as bounds then do not tell where long rows lie.
        """
        below, above = np.array([-self.lower[:-1], self.upper[:-1]]) / np.sqrt(self.ratio)
        return np.where(self.sided > 0, np.where(below < above, below, -above), math.inf)

    @property
    def sided(self) -> np.ndarray:
        """How many times as far from the mean as its near end the far end of a column is, if long rows may
        all lie there; else 0."""
        near, far = np.sort([-self.lower[:-1], self.upper[:-1]], axis=0)
        return np.where(far > _ONE_SIDED * near, far / np.maximum(near, 1e-300), 0.0)

    @property
    def unknown(self) -> np.ndarray:
        """Columns that may vary far less than their scale: nothing then bounds their coefficients."""
        return self.error > _UNKNOWN

    @property
    def hardly_varies(self) -> np.ndarray:
        """Columns that are unknown, or may hold one value alone, as far as noise tells."""
        return self.unknown | ~self.varies

    @property
    def amounts(self) -> np.ndarray:
        """Columns of more than two values that surely vary; shape (d,)."""
        return ~(self.binary | self.hardly_varies)

    @property
    def numbers(self) -> np.ndarray:
        """The same, but for those of a spline."""
        found = self.amounts
        found[np.flatnonzero(self.splines)] = False
        return found

    def typical(self, rows: np.ndarray) -> np.ndarray:
        """Rows (1, x~), shape (m, d + 1), of covariates of which nan stands for the mean."""
        if not len(rows):
            return np.zeros((0, len(self.center) + 1))
        return np.column_stack([np.ones(len(rows)), np.nan_to_num((rows - self.center) / self.scale)])

    @functools.cached_property
    def row_box(self) -> Box:
        """Bounds of a row x~, its leading 1 included."""
        lead = [1.0] * self.constant
        return Box(np.append(lead, self.lower[:-1]), np.append(lead, self.upper[:-1]))


def one_sided(below: np.ndarray, above: np.ndarray, sds: np.ndarray) -> np.ndarray:
    """Columns whose mean is near one of their declared ends, so far below and above, and far from the other.

    A gamma law that begins so near has a mean cube of 1 and more: its long rows are few, and on one side.
    """
    near, far = np.sort([below, above], axis=0) / sds
    return np.asarray((near < _NEAR_END) & (far > _FAR_END))


def categories(levels: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each category which columns are its own, and which rows of `levels`, nan in columns of others."""
    held = ~np.isnan(levels)
    for text in sorted({row.tobytes() for row in held}):
        columns = np.frombuffer(text, dtype=bool)
        yield columns, (held == columns).all(axis=1)


def sums_of_levels(scale: RowScale) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each category its places in a row x~, its rows there, and sums of x~ that tell its levels, (k, L).

    Such a sum is 1 in rows of one level and 0 in those of the others. Its coefficient of the intercept, the
    leading 1 of x~, is thus the mean of it over all rows: the share of the level. A category in which other
    columns tell more levels, or fewer, has none.
    """
    lead = int(scale.constant)
    for columns, own in categories(scale.levels):
        rows, places = scale.levels[own][:, columns], lead + np.flatnonzero(columns)
        if lead + len(places) != len(rows):
            continue
        scaled = (rows - scale.center[columns]) / scale.scale[columns]
        sums = np.zeros((lead + len(columns), len(rows)))
        used = np.append(np.arange(lead), places)
        sums[used] = np.linalg.inv(np.column_stack([np.ones((len(rows), lead)), scaled]))
        yield places, rows, sums


def sums_of_values(scale: RowScale) -> list[np.ndarray]:
    """The sums of each category, and those that tell the two values of each other 0/1 column, (k, L) each.

    Before them comes one of no level, lest there be none.
    """
    lead, d = int(scale.constant), len(scale.center)
    found, alone = [np.zeros((lead + d, 0))], scale.binary.copy()
    for places, _, sums in sums_of_levels(scale):
        found.append(sums)
        alone[places - lead] = False
    for j in np.flatnonzero(alone):
        ends = np.array([[scale.lower[j]], [scale.upper[j]]])[1 - lead :]
        found.append(np.zeros((lead + d, len(ends))))
        found[-1][[*range(lead), lead + j]] = np.linalg.inv(np.hstack([np.ones((len(ends), lead)), ends]))
    return found


def unstretched(moments: np.ndarray, radius: float, scale: RowScale) -> np.ndarray:
    """Second moments of rows, raised so that whitening by them stretches no column of rare values."""
    least = np.append([0.0] * scale.constant, (scale.ends[1] / (STRETCH * radius)) ** 2)
    return moments + np.diag(np.maximum(0.0, least - np.diag(moments)))


def shortened(moments: np.ndarray, rows: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Second moments, raised so that whitening by them makes no row longer than the root of its square.

    They become what they would be with more rows like that.
    """
    for row, square in zip(rows, squares, strict=True):
        length = float(row @ np.linalg.solve(moments, row))
        if length > square:
            moments = moments + (1 / square - 1 / length) * np.outer(row, row)
    return moments


def with_levels(moments: np.ndarray, square: float, scale: RowScale) -> np.ndarray:
    """Second moments, raised so that rows of rare 0/1 values or rare levels are not weighted away.

    The longest row has this square. A rare level that has no column of its own is where all columns of the
    others are 0: if these were raised one by one, what they share would be hidden.
    """
    own = replace(scale, binary=scale.binary & np.isnan(scale.levels).all(axis=0))
    rows = scale.typical(scale.levels)[:, 1 - scale.constant :]
    longest = np.full(len(rows), scale.constant + STRETCH**2 * square)
    return shortened(unstretched(moments, math.sqrt(square), own), rows, longest)


def longest_square(whitening: np.ndarray, scale: RowScale) -> float:
    """Upper bound of |W x~|^2 over the declared box, and over the declared norms within it."""
    box = scale.row_box
    square = longest_image(whitening, box.lower, box.upper)
    if not scale.norms:
        return square
    others, reach = np.ones(whitening.shape[1], dtype=bool), 0.0
    for group, radius in scale.norms:
        columns = np.array(group) + scale.constant
        others[columns] = False
        reach += radius * float(np.linalg.norm(whitening[:, columns], 2))
    rest = longest_image(whitening[:, others], box.lower[others], box.upper[others])
    return min(square, (math.sqrt(rest) + reach) ** 2)
