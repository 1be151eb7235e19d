"""Where in their declared boxes the rows are: counts by cells, at a cost that does not grow with the boxes.

Counts by equal cells of the declared box come first. Of columns that fill little of it there are two more
releases: the mean of each where its cells are, and counts by octaves of the distance from it, on both sides.
A column runs from the first octave whose count stands out from the noise to the last. Where most rows seem
alike from there and others lie far away, means and octaves are released once more, nearer to these.

See docs/theory/first_stage.md#zooming.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import special

from dpstats.curator import Curator, Release
from dpstats.estimators.apart import FAR, exceeded
from dpstats.estimators.engine.plan import Plan, first_stage
from dpstats.estimators.row_scale import SURE

# Cells of a box, eight of which hold a column that fills a quarter of it; and of the distance from a mean, on
# each side, which are no more and reach to 2^-14 of the box
EQUAL_CELLS, _OCTAVES = 32, 14
# chance that noise alone makes any cell of a release stand out
_FALSE_CELL = 0.02
# a column is seen where the cells that stand out hold more than this share of the rows; one of which less is
# seen may reach this many times farther, on both sides
MOST, FARTHER = 2 / 3, 2.0
# rows of which one octave, or one cell and no other is seen, holds so many may be all alike, but for a few
ALIKE = 0.9
# of the rows of a normal column, one octave holds this share
_IN_SIGHT = 0.25
# relative sds of what cells say of mean (in sds) and variance: rows are not even within a cell
_BY_CELLS = 0.5
# sd of a column in its box, half-width 1, if not enough is seen of it: bounds three sds wide
UNSEEN_SD = 1 / 3
# least variance of a column in the box where it is seen
LEAST_VARIANCE = 1e-3
# a column seen in one cell alone may have so many noise sds of rows elsewhere, rare values far away
HIDDEN = 1.5


@dataclass(frozen=True)
class Zoomed:
    """Where rows were seen, in the declared box scaled to [-1, 1], and their moments by the counts.

    Attributes
    ----------
    center, half : array, shape (m,)
        Of the part of the box that holds them.
    mean, variance : array, shape (m,)
        In that part, scaled to [-1, 1].
    doubt : array, shape (m,)
        Relative sds of these two; 1 where not enough was seen.
    hidden : array, shape (m,)
        Of a column that seems constant, the share of its rows that may lie elsewhere; else 0.
    held : array, shape (m,)
        Share of the rows in cells where some were seen.
    once : array of bool, shape (m,)
        Columns of which surely most rows lie in one cell no wider than those that the box is first cut into.
    shares : array, shape (m, cells)
        Of the rows that were seen, in each cell; 0 of a column that seems constant.
    edges : array, shape (m, cells + 1)
        Of the cells.
    apart : array of bool, shape (m,)
        Columns of which others were seen far from these rows, so that they are clipped in this part.
    missed : array, shape (m,)
        Share of the rows that noise may hide in a cell where none was seen.
    counted : array, shape (m, 2)
        Rows that can be used, of those that are meant to count, and the noise of that; 1 and 0 where no count
        tells.
    """

    center: np.ndarray
    half: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    doubt: np.ndarray
    hidden: np.ndarray
    held: np.ndarray
    once: np.ndarray
    shares: np.ndarray
    edges: np.ndarray
    apart: np.ndarray
    missed: np.ndarray
    counted: np.ndarray

    @property
    def varies(self) -> np.ndarray:
        """Columns seen in cells that are no neighbours: what hardly varies lies in one, or two by an edge."""
        seen, cells = self.shares > 0, self.shares.shape[1]
        return np.asarray(cells - seen.argmax(axis=1) - seen[:, ::-1].argmax(axis=1) > 2) & seen.any(axis=1)

    def among(self, chosen: np.ndarray) -> "Zoomed":
        """With the columns that were not `chosen` as they were declared."""
        numbers = 0.0, 1.0, 0.0, UNSEEN_SD**2, 1.0, 0.0, 0.0, False, 0.0, 0.0, False, 0.0, (1.0, 0.0)
        usual = Zoomed(*map(np.array, numbers))
        parts = []
        for part in fields(self):
            own = getattr(self, part.name)
            whole = np.full((len(chosen), *own.shape[1:]), getattr(usual, part.name))
            whole[chosen] = own
            parts.append(whole)
        return Zoomed(*parts)

    def replaced(self, where: np.ndarray, others: "Zoomed") -> "Zoomed":
        """With `others` in the place of some columns; what was counted stays, as first counts are of all."""
        parts = {part.name: getattr(self, part.name).copy() for part in fields(self)}
        del parts["counted"]
        for name, values in parts.items():
            values[where] = getattr(others, name)
        return replace(self, **parts)

    def places(self, middle: np.ndarray, sds: np.ndarray) -> np.ndarray:
        """Root mean squares of even cells, with their sign, in sds from the middle; shape (m, cells)."""
        low, high = _ends(self.edges, middle, sds)
        return np.sign(low + high) * np.sqrt((low**2 + low * high + high**2) / 3)


def would_see(curator: Curator, octaves: float, public: dict[str, Any]) -> bool:
    """Whether a column that is in sight would stand out at all; no row is read."""
    count = int(np.sum(public["chosen"])) + 1
    law, sds = curator.noise("reach_counts", octaves, cells=2 * _OCTAVES, origin=np.zeros(count), **public)
    return least_seen(law, sds[0].size) * float(sds[0][0, 0]) < _IN_SIGHT * curator.n


def unzoomed(count: int) -> Zoomed:
    """`count` columns as they were declared."""
    none = np.zeros(0)
    cells = none > 0, np.zeros((0, 1)), np.zeros((0, 2)), none > 0
    return Zoomed(*(none,) * 7, *cells, none, np.zeros((0, 2))).among(np.zeros(count, dtype=bool))


def in_cells(counts: Release, origin: np.ndarray) -> Zoomed:
    """Where counts stand out, how many, and as `held` what share of the rows; nothing else is told."""
    visible = _visible(counts)
    lower, upper = _span(_edges(counts, origin), visible)
    half = np.maximum((upper - lower) / 2, 2.0**-_OCTAVES)
    held = np.clip(counts.values[0].sum(axis=1), counts.sd, counts.n) / counts.n
    found = unzoomed(len(origin))
    return replace(found, center=(lower + upper) / 2, half=half, held=held, shares=visible * counts.values[0])


def zoom(
    curator: Curator,
    plan: Plan,
    public: dict[str, Any],
    response: bool,
    low: bool = False,
    lost: bool = False,
    together: bool = False,
) -> tuple[Zoomed, float]:
    """Release counts, and where they lie close together means and counts again; find where most rows are.

    Parameters
    ----------
    curator : Curator
    plan : Plan
        See :func:`.first_stage`.
    public : dict
        Parameters of the statistic "reach_means": the declared boxes, and which covariates to look at.
    response : bool
        Whether it is asked where the response lies.
    low : bool
        Whether it lies near the lower end of its box if anywhere, from which its octaves are counted.
    lost : bool
        Whether the first counts tell how many rows cannot be used, of those that are meant to count.
    together : bool
        Whether cells side by side are looked at together where one alone stands out.

    Returns
    -------
    Zoomed
        Of the columns that were looked at, the response the last.
    float
        What is left for moments.
    """
    origin = np.full(int(public["chosen"].sum()) + 1, np.nan)
    origin[-1] = -1.0 if low else np.nan
    asked = dict(public, lost=True) if lost else public
    counts = _counts(curator, plan.cost("cells"), asked, EQUAL_CELLS, origin)
    found, close = _seen(counts, origin, low, together), _held_by_a_quarter(counts)
    close[-1] &= response
    if not close.any():
        return found, plan.cost("means", "octaves", "moments")
    close[-1] = True  # the response is looked at whenever any column is
    fullest = _fullest(counts, origin, close)
    counts, origin = _about_means(curator, plan, public, close, fullest, low)
    found = found.replaced(close, _seen(counts, origin, low, together))
    alike = _near(counts, _edges(counts, origin))[1]
    if not alike[:-1].any():  # residuals of the response are counted later
        return found, plan.cost("moments")
    again = first_stage(plan.cost("moments"), plan.pure, skipped=1)
    alike[-1] = True
    fullest = _fullest(counts, origin, alike)
    close[close] = alike
    counts, origin = _about_means(curator, again, public, close, fullest, low)
    return found.replaced(close, _seen(counts, origin, low, together)), again.cost("moments")


def _held_by_a_quarter(counts: Release) -> np.ndarray:
    """Columns of which a quarter of the box holds most rows, as far as noise tells."""
    cells = counts.values[0]
    sums = np.cumsum(np.pad(cells, ((0, 0), (1, 0))), axis=1)
    quarter = cells.shape[1] // 4
    most = (sums[:, quarter:] - sums[:, :-quarter]).max(axis=1)
    return np.asarray(most > np.minimum(_total(counts), counts.n) / 2)


def _about_means(
    curator: Curator,
    plan: Plan,
    public: dict[str, Any],
    close: np.ndarray,
    fullest: tuple[np.ndarray, ...],
    low: bool,
) -> tuple[Release, np.ndarray]:
    """Release means of some columns, and counts by octaves of the distance from these, and say which means.

    Their rows were seen within a width about a middle, but for the rest. Octaves of a `low` response are
    counted from the lower end of its box.
    """
    chosen = public["chosen"].copy()
    chosen[chosen] = close[:-1]
    near, (middle, width, rest) = dict(public, chosen=chosen), fullest
    center, half, looked = public["center"].copy(), public["half"].copy(), np.append(chosen, True)
    center[looked] += half[looked] * middle
    half[looked] *= width
    means = curator.release("reach_means", plan.cost("means"), **{**near, "center": center, "half": half})
    # an origin, wherever it lies: the response's mean is over events, whose number is not known yet
    origin = np.clip(middle + width * np.clip((means.values[0] - rest) / means.n, -1, 1), -1, 1)
    origin[-1] = -1.0 if low else origin[-1]
    return _counts(curator, plan.cost("octaves"), near, 2 * _OCTAVES, origin), origin


def _counts(curator: Curator, cost: float, public: dict[str, Any], cells: int, origin: np.ndarray) -> Release:
    return curator.release("reach_counts", cost, cells=cells, origin=origin, **public)


def _edges(counts: Release, origin: np.ndarray) -> np.ndarray:
    """Of the cells of each column, shape (m, cells + 1)."""
    cells = counts.values[0].shape[1]
    ends = 2.0 ** (1 - np.arange(cells // 2))
    octaves = np.clip(origin[:, None] + np.concatenate([-ends, [0.0], ends[::-1]]), -1, 1)
    return np.where(np.isnan(origin)[:, None], np.linspace(-1, 1, cells + 1), octaves)


def least_seen(law: str, size: int) -> float:
    """How many noise sds stand out among so many cells."""
    return exceeded(law, _FALSE_CELL / size)


def _visible(counts: Release) -> np.ndarray:
    """Cells that stand out."""
    return np.asarray(counts.values[0] > least_seen(counts.law, counts.values[0].size) * counts.sd)


def _span(edges: np.ndarray, visible: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower end of the first cell that is seen and upper end of the last, or those of the box."""
    rows, found = np.arange(len(visible)), visible.any(axis=1)
    first, last = visible.argmax(axis=1), visible.shape[1] - visible[:, ::-1].argmax(axis=1)
    return np.where(found, edges[rows, first], -1.0), np.where(found, edges[rows, last], 1.0)


def _beside_one(counts: Release, visible: np.ndarray) -> np.ndarray:
    """Cells that stand out, and of columns with one alone also those that do so together, side by side.

    Beside a value that most rows have the others lie in several octaves, each of which noise may hide. They
    are looked at two, four, eight and sixteen together.
    """
    found, cells = visible.copy(), counts.values[0] / counts.sd
    widths = 2 ** np.arange(1, (cells.shape[1] - 1).bit_length())
    for j in np.flatnonzero(visible.sum(axis=1) == 1):
        others = np.where(visible[j], -np.inf, cells[j])
        chance, first, width = min(
            (chance, first, width)
            for width in widths
            for first, chance in enumerate(by_chance(counts.law, others, width))
        )
        found[j, first : first + width] |= chance < _FALSE_CELL / cells.size / len(widths)
    return found


def by_chance(law: str, cells: np.ndarray, width: int) -> np.ndarray:
    """Chances that noise of sd 1 in so many cells side by side adds up to what it does here, or more.

    A sum of Laplace's is the difference of two gamma variates, which exceeds x as rarely as a Poisson variate
    of mean x and a negative binomial one are together less than their shape.
    """
    sums = np.lib.stride_tricks.sliding_window_view(cells, width).sum(axis=1)
    if law == "gaussian":
        return np.asarray(special.ndtr(-sums / math.sqrt(width)))
    place, means = np.arange(width), np.maximum(math.sqrt(2) * sums, 0.0)[:, None]
    waits = np.exp(special.xlogy(place, means) - means - special.gammaln(place + 1))
    return np.asarray(waits @ special.nbdtr(width - 1 - place, width, 0.5))


def _fullest(counts: Release, origin: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Middle and half-width of the cells side by side where most rows are seen, or of all cells seen.

    Of some columns. And what rows that are seen elsewhere add to a sum of values in half-widths, clipped
    there.
    """
    edges, visible = _edges(counts, origin), _visible(counts)
    lower, upper = _span(edges, visible)
    rows, each = np.where(visible, counts.values[0], 0.0), np.arange(len(edges))
    run = np.cumsum(np.diff(visible, axis=1, prepend=False), axis=1)  # cells side by side, all seen or none
    own = run == run[each, rows.argmax(axis=1), None]
    most = np.sum(rows, axis=1, where=own) > MOST * rows.sum(axis=1)
    lower, upper = np.where(
        most,
        (edges[each, own.argmax(axis=1)], edges[each, -1 - own[:, ::-1].argmax(axis=1)]),
        (lower, upper),
    )
    middle = (lower + upper) / 2
    rest = most * np.sum(np.sign(edges[:, :-1] - middle[:, None]) * rows, axis=1, where=~own)
    # beyond an end of the box octaves have no width
    half = np.maximum((upper - lower) / 2, 2.0**-_OCTAVES)
    return middle[columns], half[columns], rest[columns]


def _near(counts: Release, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Octaves of a column that hold most of its rows, if all others seen are apart from these; else all.

    And whether they would be, were most rows not in one octave.

    Apart they are farther from the middle of most rows than `FAR` of their sds, and more than `least`, which
    cannot be as far in sds of all. Rows in one cell may be alike, and the others then are all that varies.
    Most are so of all rows: those that noise hides in many octaves beyond a value that half of them have are
    neither apart nor few.
    """
    cells, least = np.where(_visible(counts), counts.values[0], 0.0), counts.n / FAR**2
    count = cells.shape[1] // 2
    rows, low, high = (
        np.stack([part[:, count - 1 :: -1], part[:, count:]]) for part in (cells, edges[:, :-1], edges[:, 1:])
    )
    held, first, second = (
        np.cumsum(part.sum(axis=0), axis=1)
        for part in (rows, rows * (low + high) / 2, rows * (low**2 + low * high + high**2) / 3)
    )
    varies = np.maximum.accumulate(rows.max(axis=0), axis=1) < ALIKE * held
    some = np.maximum(held, 1.0)
    mean = first / some
    sds = np.sqrt(np.maximum(second / some - mean**2, 0.0))
    # from that middle to the nearest rows beyond each octave, of which they may be anywhere: in its middle
    ends = np.where(rows > 0, np.stack([-low[0] - high[0], low[1] + high[1]]) / 2, np.inf)
    beyond = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    beyond = np.pad(beyond[..., 1:], ((0, 0), (0, 0), (0, 1)), constant_values=np.inf)
    away = (beyond + np.stack([mean, -mean])).min(axis=0)
    most = MOST * np.clip(_total(counts), counts.sd, counts.n)[:, None]
    away_from_most = (held > most) & (held[:, -1:] - held > least)
    away_from_most &= away > FAR * sds
    apart = away_from_most & varies
    last = np.where(apart.any(axis=1), apart.argmax(axis=1), count)
    inner = np.arange(count) <= last[:, None]
    return np.hstack([inner[:, ::-1], inner]), away_from_most.any(axis=1) & ~apart.any(axis=1)


def _seen(counts: Release, origin: np.ndarray, low: bool, together: bool) -> Zoomed:
    edges, visible = _edges(counts, origin), _visible(counts)
    total = _total(counts)
    near = _near(counts, edges)[0] | np.isnan(origin)[:, None]
    apart = (visible & ~near).any(axis=1)
    visible = _beside_one(counts, visible & near) if together else visible & near
    lower, upper = _span(edges, visible)
    cells = np.where(visible, np.maximum(counts.values[0], 0.0), 0.0)
    seen = cells.sum(axis=1)
    rest = total - seen + SURE * counts.sd * math.sqrt(cells.shape[1] - 1)
    narrow = upper - lower <= 2 / EQUAL_CELLS
    some, found = seen > 0, seen > MOST * np.clip(total, counts.sd, counts.n)
    reach = np.where(some, FARTHER * np.maximum(upper - origin, origin - lower), 2.0)
    ends = found & ~np.isnan(origin)  # those of equal cells are the box's
    lower = np.where(ends, lower, np.fmax(origin - reach, -1.0))
    upper = np.where(ends, upper, np.fmin(origin + reach, 1.0))
    center, half = (lower + upper) / 2, np.maximum((upper - lower) / 2, 2.0**-_OCTAVES)
    # rows that are not seen may lie anywhere, and of a covariate that seems constant all that varies is there
    alike = found & (visible.sum(axis=1) == 1)
    anywhere = alike.copy()
    anywhere[-1] &= not low
    half = np.where(anywhere, 1 + np.abs(center), half)
    shares = cells / np.where(some, seen, 1.0)[:, None]
    below, above = _ends(edges, center, half)
    # releases have different numbers of cells; more of them are empty
    more = (0, 0), (0, EQUAL_CELLS - cells.shape[1])
    mean = np.sum(shares * (below + above) / 2, axis=1)
    variance = np.sum(shares * (below**2 + below * above + above**2) / 3, axis=1) - mean**2
    hidden = np.where(alike, min(HIDDEN * counts.sd / counts.n, 1.0), 0.0)
    variance = np.where(alike, hidden, np.maximum(variance, LEAST_VARIANCE))
    return Zoomed(
        center,
        half,
        np.where(found, mean, 0.0),
        np.where(found, variance, UNSEEN_SD**2),
        np.where(found & ~alike, _BY_CELLS, 1.0),
        hidden,
        seen / np.clip(total, counts.sd, counts.n),
        alike & narrow & (rest < seen),
        np.pad(np.where(alike[:, None], 0.0, shares), more),
        np.pad(edges, more, mode="edge"),
        apart,
        np.minimum(HIDDEN * counts.sd / np.clip(total, counts.sd, counts.n), 1.0),
        _counted(counts),
    )


def _counted(counts: Release) -> np.ndarray:
    """Rows that can be used of those that are meant to count, and the noise of that; shape (m, 2)."""
    total, cells = _total(counts), counts.values[0].shape[1]
    if len(counts.values) > 1:
        valid, lost = total[-1] + counts.values[1][0], counts.values[1][1]
        rows = max(valid + lost, counts.sd)
        share = min(max(valid / rows, 0.0), 1.0)
        sd = counts.sd / rows * math.hypot(share, (1 - share) * math.sqrt(cells + 1))
        return np.tile([share, sd], (len(total), 1))
    noise = counts.sd * math.sqrt(cells / max(len(total) - 1, 1))  # of covariates' common total
    found = np.column_stack([total, np.full(len(total), noise)]) / counts.n
    found[-1] = 1.0, 0.0  # those with an event alone
    return found


def _total(counts: Release) -> np.ndarray:
    """Rows of each column, of which covariates have the same."""
    total: np.ndarray = counts.values[0].sum(axis=1)
    if len(total) > 1:
        total[:-1] = total[:-1].mean()
    return total


def _ends(edges: np.ndarray, center: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of cells, in half-widths from the centre."""
    away = (edges - center[:, None]) / half[:, None]
    return away[:, :-1], away[:, 1:]
