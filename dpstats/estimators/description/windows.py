"""Where the quantiles of a column are: a window for each, narrowed from round to round.

A round counts rows by the cells of a column, of which most lie in the windows. Counts that cannot be negative
and that add up to what is known tell more than the noisy ones: their projection takes empty cells for empty,
so that a spike in a wide box is found, whatever its width. From it follows where each quantile may be.

See docs/theory/describe.md#windows.
"""

from dataclasses import dataclass

import numpy as np

from dpstats.moments.beyond_box import NEAR
from dpstats.moments.cell_table import PROBABILITIES, CellTable
from dpstats.moments.noisy import SEEN

_FIRST, _SHIFT = 60, 0.382  # cells of the declared bounds, of which none ends at a round number
EACH = 5  # cells of the window of one quantile
_ROWS, _FINER = 1000.0, 30  # rows, in noise sds of a count, from which on cells are finer; the most times
# sds between a quantile and the ends of its window, in all rounds but the last, and in that
_SURE, SURE_AT_LAST = 2.0, 2.8
# ends of cells beyond the outermost windows, in distances of these from the median
_REACHES = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0)
_RINGS = 3  # cells from where a tail ends to a bound
_OUTWARDS = 2.0  # least half-width of a box, in distances of its outermost window from the median
_LEAST, _ROUNDING = 2.0**-44, 2.0**-52  # width of a window, and what is next to 0, of that of the bounds


@dataclass(frozen=True)
class Wanted:
    """A column of numbers: its declared bounds, and whether it holds integers alone."""

    lower: float
    upper: float
    whole: bool

    def rounded(self, edges: np.ndarray) -> np.ndarray:
        """Distinct edges within the bounds, 0 where rounding left next to nothing; of integers, halfway."""
        if self.whole:
            edges = np.floor(edges) + 0.5
        inside = edges[(edges > self.lower) & (edges < self.upper)]
        return np.unique(np.where(np.abs(inside) < _ROUNDING * (self.upper - self.lower), 0.0, inside))


@dataclass(frozen=True)
class Window:
    """Ends between which each of the quantiles lies, shape (q,) each."""

    low: np.ndarray
    high: np.ndarray

    @property
    def median(self) -> float:
        at = PROBABILITIES.index(0.5)
        return float(self.low[at] + self.high[at]) / 2


def times_finer(rows: float, sd: float) -> int:
    """How many times as many cells a round is to have, where counts of so many rows have noise of this sd.

    Of m cells each has rows / m, and the number of rows below a quantile has noise sd m^(1/2): both are alike
    where m grows as (rows / sd)^(2/3).
    """
    return int(np.clip((rows / (_ROWS * max(sd, 1e-300))) ** (2 / 3), 1, _FINER))


def first_edges(wanted: Wanted, finer: int) -> np.ndarray:
    """Of equal cells of the declared bounds."""
    cells = _FIRST * finer
    width = (wanted.upper - wanted.lower) / cells
    return wanted.rounded(wanted.lower + (np.arange(cells) + _SHIFT) * width)


def projected(counts: np.ndarray, total: float) -> np.ndarray:
    """The counts that are nearest to noisy ones, of those that are not negative and add up to the total."""
    descending = np.sort(counts)[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(descending > excess)[-1]) if total > 0 else 0
    return np.maximum(counts - excess[last], 0.0)


def windows(wanted: Wanted, edges: np.ndarray, counts: np.ndarray, sd: float, sure: float = _SURE) -> Window:
    """Windows of the quantiles, from noisy counts by cells.

    Parameters
    ----------
    wanted : Wanted
    edges : array, shape (t - 1,)
    counts : array, shape (t,)
    sd : float
        Of the noise of each count.
    sure : float
        Sds between a quantile and the ends of its window, of noise and sampling: limits are to lie in it.
    """
    ends = np.concatenate([[wanted.lower], edges, [wanted.upper]])
    total = max(float(counts.sum()), sd)
    clean = projected(counts, total)
    below = np.concatenate([[0.0], np.cumsum(clean)]) / total
    held = np.concatenate([[0.0], np.cumsum(clean > 0)])
    p = np.array(PROBABILITIES)[:, None]
    noise = sd**2 * np.maximum(held * (held[-1] - held) / max(held[-1], 1.0), 1.0)
    doubt = sure * np.sqrt(noise + total * p * (1 - p)) / total
    inside = below[(below > 0) & (below < 1)]
    least = 0.5 * float(inside.min(initial=1.0)), 1 - 0.5 * float(1 - inside.max(initial=0.0))
    left = below <= np.maximum(p - doubt, min(least[0], 0.04) if len(inside) else 0.0)
    right = below >= np.minimum(p + doubt, max(least[1], 0.96) if len(inside) else 1.0)
    end = len(ends) - 1
    low = end - left[:, ::-1].argmax(axis=1)
    high = np.where(right.any(axis=1), right.argmax(axis=1), end)
    return _wide_enough(wanted, ends[np.minimum(low, end - 1)], ends[np.maximum(high, 1)])


def _wide_enough(wanted: Wanted, low: np.ndarray, high: np.ndarray) -> Window:
    least = _LEAST * (wanted.upper - wanted.lower)
    low, high = np.minimum(low, high - least), np.maximum(high, low + least)
    return Window(np.maximum(low, wanted.lower), np.minimum(high, wanted.upper))


def reaches(wanted: Wanted, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Candidates for the ends of a box that holds nearly all values, below and above, from the nearest on."""
    middle = window.median
    least = _LEAST * (wanted.upper - wanted.lower)
    steps = np.array(_REACHES)
    down = middle - max(middle - float(window.low[0]), least) * steps
    up = middle + max(float(window.high[-1]) - middle, least) * steps
    return np.maximum(down, wanted.lower), np.minimum(up, wanted.upper)


def rings(wanted: Wanted, ends: tuple[float, float]) -> np.ndarray:
    """Ends of cells beyond a box, some to each declared bound: what stands out there is not near the box."""
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    found: list[np.ndarray] = []
    for side, bound in ((-1.0, wanted.lower), (1.0, wanted.upper)):
        farthest = abs(bound - middle) / max(half, 1e-300)
        if farthest > NEAR:
            found.append(middle + side * half * np.geomspace(NEAR, farthest, _RINGS + 1)[:-1])
    return np.concatenate(found) if found else np.zeros(0)


def next_edges(wanted: Wanted, window: Window, each: int) -> np.ndarray:
    """Of cells in the windows; quantiles that share a window share its cells."""
    pairs, several = np.unique(np.column_stack([window.low, window.high]), axis=0, return_counts=True)
    inside = [
        np.linspace(low, high, each * count + 1) for (low, high), count in zip(pairs, several, strict=True)
    ]
    return wanted.rounded(np.concatenate(inside))


def coarse_places(table: CellTable, ends: tuple[float, float]) -> np.ndarray:
    """Places of edges of a table: the nearest to its quantiles, ends of a box, and those beyond its tails."""
    below = np.cumsum(table.counts[:-1])
    gaps = np.abs(below[:-1] - np.array(PROBABILITIES)[:, None] * below[-1])
    nearest = gaps.argmin(axis=1) if gaps.size else np.zeros(0, dtype=int)
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    low = int(np.searchsorted(table.edges, middle - NEAR * half, "right")) - 1
    high = int(np.searchsorted(table.edges, middle + NEAR * half))
    beyond = [place for place in (low, high) if 0 <= place < len(table.edges)]
    return np.unique([*nearest, *np.flatnonzero(np.isin(table.edges, ends)), *beyond]).astype(int)


def box(wanted: Wanted, before: Window, table: CellTable, noise: float) -> tuple[float, float]:
    """Ends of the box in which mean and variance are to be released: edges of a table, or bounds.

    Each end is the one at which noise, which grows with the box, and what is seen beyond it add least to the
    mean square error of the mean, of those twice as far from the median as the outermost window. What is seen
    in the first cell beyond may be at its far end, and elsewhere half a cell from where it is counted.
    Where the outer quantiles may be one value, the others have no scale that tells how far they may be: the
    box is then that of the bounds, which holds them all.

    Parameters
    ----------
    wanted : Wanted
    before : Window
        Of the rounds, before the table.
    table : CellTable
    noise : float
        sd of the noise of the mean in a box of half-width 1.
    """
    counts, sd = table.raw[:-1], table.noise.sd
    window = windows(wanted, table.edges, counts, sd)
    if table.apart(PROBABILITIES[0], 0.95) == 0:
        return wanted.lower, wanted.upper
    ends = np.concatenate([[wanted.lower], table.edges, [wanted.upper]])
    total = max(float(counts.sum()), sd)
    clean = np.where(counts > SEEN * sd, projected(counts, total), 0.0) / total
    median = window.median
    least = max(float(window.low[0]), min(float(before.low[0]), median))
    most = min(float(window.high[-1]), max(float(before.high[-1]), median))
    doubt = clean * np.diff(ends) / 2
    low = -_best(-ends[::-1], doubt[::-1], -median, _OUTWARDS * (median - least), noise)
    return low, _best(ends, doubt, median, _OUTWARDS * (most - median), noise)


def _best(ends: np.ndarray, doubt: np.ndarray, median: float, least: float, noise: float) -> float:
    """The best upper end of a box, at least so far above the median."""
    candidates = np.flatnonzero(ends >= median + least)
    if not len(candidates):
        return float(ends[-1])
    doubt = np.append(doubt, 0.0)
    beyond = np.cumsum(doubt[::-1])[::-1] + doubt
    costs = np.hypot(noise * (ends[candidates] - median), beyond[candidates])
    return float(ends[candidates[costs.argmin()]])
