"""How far residuals reach: counts by their size, however large, before limits are chosen.

A few sds hold the residuals of most responses. Where nearly all have one value, the few others are the
spread: a limit that is told from the bulk clips them, and the next one, from what that leaves, clips more.
Counts have a sensitivity that does not grow with what is counted, so they see as far as the declared bounds.

See docs/theory/linear.md#reach-of-residuals.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.bounds import NEARLY_ALL
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.gram.tail import MOST_SQUARE, Tail
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.zoom import HIDDEN, least_seen

# Cells, in sds: the bulk, and from there two an octave.
_RATIO = math.sqrt(2)
BULK = 4.0
_FIRST_LIMIT = np.array([NEARLY_ALL])  # of the first pilot, in sds of the response
# Variance that pilots leave, over that of rows that noise hides where the first of them clipped residuals. Of
# 120 ordinary designs none had less than .25; of 60 drawn wide three had less than this, of up to 1,800 rows.
_COLLAPSED = 0.2


def with_reach(curator: Curator, cost: float, place: Coordinates, weighted: bool) -> Coordinates:
    """Release counts of residuals about the line of `place`, and say which cells are surely not empty.

    Residuals have at least the sd of these cells alone. All counts together tell how many rows there are,
    where no release has told that before; not so of rows with weights, which they add up.
    """
    tail, scale = _counted(curator, cost, place, weighted)
    if tail.square < MOST_SQUARE * place.tail.square:  # noise hides what limits have surely taken
        tail = replace(place.tail, hidden=tail.hidden, about=tail.about)
    sigma = max(math.sqrt(tail.square), place.sigma)
    smaller = (place.sigma / sigma) ** 2
    prior, errors = place.prior * smaller, None if place.errors is None else place.errors * smaller
    told = place.told[0] * smaller, place.told[1] * place.sigma / sigma
    return replace(place, scale=scale, sigma=sigma, prior=prior, errors=errors, tail=tail, told=told)


def _counted(curator: Curator, cost: float, place: Coordinates, weighted: bool) -> tuple[Tail, RowScale]:
    """The tail, and a scale that knows how many rows there are."""
    edges = [BULK]
    while edges[-1] * _RATIO < place.widest:
        edges.append(edges[-1] * _RATIO)
    public = place.scale.public() | dict(line=place.line, sigma=place.sigma, edges=np.array(edges))
    release = curator.release("residual_counts", cost, **public)
    counts, ends = release.values[0], np.append(edges, max(place.widest, edges[-1])) * place.sigma
    sd, far = float(release.sds[0][0]), counts[1:]
    seen = _seen(far, release.law, sd)
    scale = place.scale
    if not scale.fraction_sd and not weighted:
        error = sd * math.sqrt(1 + seen.sum())
        share = min(max(float(counts[0] + far[seen].sum()), 2 * error, 1.0) / release.n, 1.0)
        scale = replace(scale, fraction=share, fraction_sd=error / release.n)
    rows, hidden = scale.rows(release.n), HIDDEN * sd / scale.rows(release.n)
    if place.scale.rare and not seen.any():  # what noise hides may lie anywhere
        return Tail(np.array([hidden]), ends[-1:], ends[-1:], hidden, place.line, guessed=True), scale
    tail = Tail(np.maximum(far, 0.0)[seen] / rows, ends[:-1][seen], ends[1:][seen], hidden, place.line)
    # by Chebyshev's inequality no more than 1 / c^2 of the responses lie c of their sds from their mean
    clipped = Tail(np.array([min(hidden, NEARLY_ALL**-2)]), _FIRST_LIMIT, _FIRST_LIMIT, hidden, place.line)
    collapsed = place.sigma**2 < _COLLAPSED * clipped.square and tail.square < clipped.square
    # with Gaussian noise the last release tells of rows beyond its limit, of fewer the larger the budget is
    return clipped if collapsed and release.law != "gaussian" else tail, scale


def _seen(counts: np.ndarray, law: str, sd: float) -> np.ndarray:
    """Cells that stand out from noise, and the nearest ones if they do so most together.

    The sums of all cells up to some one are few and go along with each other: judged by themselves, noise
    alone still makes no more cells stand out. One that stands out more alone tells of none before it.
    """
    n = len(counts)
    widths = np.arange(1, n + 1)
    if not n:
        return widths > 0
    # sums of noise with long tails have shorter ones
    normal, own = (least_seen(name, 2 * n) for name in ("gaussian", law))
    least = (normal + (own - normal) * widths**-0.75) * sd * np.sqrt(widths)
    over = np.cumsum(counts) / least
    together = over.max() > max(1.0, float(counts.max()) / least[0])
    return np.asarray((counts > least[0]) | together & (widths <= 1 + over.argmax()))
