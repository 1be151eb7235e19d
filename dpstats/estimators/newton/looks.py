"""What rows of a generalised linear model are asked before its first step: where columns lie, by two looks.

See docs/theory/first_stage.md#octaves-of-a-generalised-linear-model.
"""

from typing import Any, NamedTuple

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.columns import zoom_in
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.zoom import EQUAL_CELLS, Zoomed, in_cells
from dpstats.moments.noisy import SEEN

OCTAVES = 12  # of the distance from a mean, in which rows are counted
# half-widths of where most of a column's rows are, within which others are looked for
_REACH = 4.0
# noise sd of a mean in its declared box, half-width 1, below which it says where octaves begin: a column with
# an sd of a ten thousandth of its box is then seen in more than one
_SHARP = 2.0**-15


class Looks(NamedTuple):
    """Boxes in which rows were looked at, and octaves told; where these begin; which covariates are mostly 0,
    as far as noise tells; which columns were seen to vary; and the two releases there."""

    center: np.ndarray
    half: np.ndarray
    reach: np.ndarray
    origin: np.ndarray
    zero: np.ndarray
    varies: np.ndarray
    means: Release
    octaves: Release


def in_turn(curator: Curator, costs: Plan, octaves: float, problem: Problem) -> Looks:
    """Find where in their declared boxes columns lie, then their means, then octaves about these."""
    asked, chosen = _looked_for(problem)
    # counts and amounts may lie far below their upper bound
    zoomed, left = zoom_in(
        curator, costs, asked, np.append(chosen[:-1], False), not problem.family.two_valued
    )
    center, half = _boxes(problem, zoomed, chosen)
    means, d = curator.release("column_means", left, **_means(problem, center, half)), len(problem.lower)
    reach, middle = _reach(problem, center, half), means.values[0][: len(center)] / means.n
    # most rows of amounts are 0, beside which others are seen better than beside a noisy mean
    zero = (zoomed.hidden[:d] > 0) & (np.abs(center / half + middle)[:d] < SEEN * means.sd / means.n)
    middle[:d][zero] = -(center / half)[:d][zero]
    public = _octaves(middle, problem, center, half, reach)
    found = curator.release("reach_counts", octaves, **public)
    return Looks(center, half, reach, public["origin"], zero, zoomed.varies, means, found)


def at_once(curator: Curator, costs: Plan, octaves: float, problem: Problem) -> Looks | None:
    """The same by two passes, if noise is so small that means of whole boxes say where octaves begin."""
    asked, chosen = _looked_for(problem)
    (whole, width), first = problem.boxes, costs.cost("means", "octaves")
    public = dict(_means(problem, whole, width), weights=False)
    _, sds = curator.noise("column_means", first, **public)
    if not float(sds[0].max()) < _SHARP * curator.n:
        return None
    start = np.full(int(chosen.sum()), np.nan)
    if not problem.family.two_valued:
        start[-1] = -1.0  # octaves
    counts, means = curator.release_together(
        (
            "reach_counts",
            costs.cost("cells"),
            dict(asked, chosen=chosen[:-1], cells=EQUAL_CELLS, origin=start),
        ),
        ("column_means", first, public),
    )
    seen = in_cells(counts, start)
    zoomed = seen.among(chosen)
    center, half = _boxes(problem, zoomed, chosen)
    middle = whole + width * means.values[0] / means.n / seen.held.mean()
    reach = _reach(problem, center, half)
    near = _octaves((middle - center) / half, problem, center, half, reach)
    means, found = curator.release_together(
        ("column_means", costs.cost("moments"), _means(problem, center, half)),
        ("reach_counts", octaves, near),
    )
    return Looks(
        center, half, reach, near["origin"], np.zeros(len(problem.lower), bool), zoomed.varies, means, found
    )


def _looked_for(problem: Problem) -> tuple[dict[str, Any], np.ndarray]:
    """Public parameters of looks at declared boxes, and which columns are looked for, the response the last.

    Without an intercept nothing may be centred, and a column of 0 and 1 fills its box.
    """
    (center, half), d = problem.boxes, len(problem.lower)
    # an offset is of the linear predictor, and the response is a mean
    public = dict(center=center[: d + 1], half=half[: d + 1], log=False, apart=True)
    return public, np.append(~problem.zero_or_one & problem.intercept, True)


def _boxes(problem: Problem, seen: Zoomed, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half-width of the boxes in which rows are looked at.

    Boxes of covariates that were seen in more than one place shrink to where they were seen. The box of
    counts and amounts, whose upper bound may be far beyond any, keeps its lower end: its mean is where the
    iteration starts. It holds a count of 1, and twice as far as was seen, as noise hides a tail.
    """
    (center, half), d = problem.boxes, len(problem.lower)
    moved = np.flatnonzero(chosen[:-1] & (seen.hidden[:-1] == 0))
    center[moved] += half[moved] * seen.center[moved]
    half[moved] *= seen.half[moved]
    if not problem.family.two_valued:
        low, top = center[d] - half[d], seen.center[-1] + seen.half[-1]
        half[d] = min(max(half[d] * (1 + top), problem.family.counts / 2), half[d])
        center[d] = low + half[d]
    return center, half


def _means(problem: Problem, center: np.ndarray, half: np.ndarray) -> dict[str, Any]:
    """Public parameters of means in these boxes, and of weights beside them."""
    levels = [own - 1 for own in problem.categories]
    return dict(center=center, half=half, levels=levels, weights=problem.weighted)


def _octaves(
    means: np.ndarray, problem: Problem, center: np.ndarray, half: np.ndarray, reach: np.ndarray
) -> dict[str, Any]:
    """Public parameters of counts by octaves of the distance from means in their boxes, or from 0 without an
    intercept; those of the response from its lower end. Levels have none: their means say all of them."""
    d = len(problem.lower)
    origin = np.clip(means, -1.0, 1.0) * half / reach
    origin[: 0 if problem.intercept else d] = 0.0
    origin[d] = -1.0
    chosen = np.append(~problem.zero_or_one, True)
    place = dict(center=center[: d + 1], half=reach[: d + 1], log=False, apart=True, together=True)
    return dict(place, chosen=chosen[:-1], cells=OCTAVES, origin=origin[: d + 1][chosen])


def _reach(problem: Problem, center: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Half-widths within which octaves are told: a far tail lies beyond where most rows of a column are."""
    d, reach = len(problem.lower), half.copy()
    declared = np.maximum(problem.upper - center[:d], center[:d] - problem.lower)
    reach[:d] = np.clip(declared, half[:d], _REACH * half[:d])
    return reach
