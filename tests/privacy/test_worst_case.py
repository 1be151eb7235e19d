"""T3: a search over pairs of rows reaches every declared sensitivity and never passes it.

Each statistic's contribution of a row is computed without lattice or noise. Corners of the row space, random
rows near its faces and the row that weighs nothing are compared in pairs; the best pairs are then climbed
from. Statistics are registered with a row space to search, so that a new one cannot be forgotten.

The bound of the martingale score is certified on cells of residual and pivot (families/score_bounds.py)
instead of attained: no pair lies beyond it, and one comes within 10 percent of it where the radius is long
against the leading 1 of every row, which keeps two rows from pointing exactly apart.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize
from scipy.spatial import distance

from dpstats.curator.blocks import Scratch
from dpstats.curator.statistics import REGISTRY, Statistic
from dpstats.families import LOGISTIC, LOGISTIC_LOSS, NORMAL, SEV, Family
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import BINOMIAL, GAMMA, GAUSSIAN, POISSON, GlmFamily
from dpstats.families.score_bounds import Truncation
from tests.made import MadeBlock, MadeDesign

Build = Callable[[int], dict[str, Any]]


def shape(d: int) -> dict[str, Any]:
    return dict(center=np.zeros(d), scale=np.ones(d), y_center=0.0, y_scale=1.0, log=False)


class Space(NamedTuple):
    """Public parameters by the number of covariates, half-width of the box to search, share to be reached.

    Where rows may enter late, their entry is searched too.
    """

    public: Build
    half: float
    reach: float = 0.99
    ranges: float = 0.99  # of each range and of the head, where they are declared
    delayed: bool = False

    def statistic(self, name: str, d: int) -> Statistic:
        return REGISTRY[name](MadeDesign(d, delayed=self.delayed), **self.public(d))


def score(family: Family, c: float, floor: float = -math.inf) -> Build:
    row = dict(family=family, c=c, floor=floor)
    return lambda d: dict(shape(d), **row, gamma=np.full(d + 1, 0.3), sigma=0.8)


def martingale(
    family: Family, c: float, limits: tuple[float, float], radius: float, share: float,
    floor: float = -math.inf, delayed: bool = False,
) -> Build:  # fmt: skip
    """Pivots run over [-1, 2], and rows are longer than the radius at the corners."""

    def public(d: int) -> dict[str, Any]:
        where = Truncation(family, c, (-1.0, 2.0), limits, floor=floor, delayed=delayed)
        gamma, pivot = np.full(d + 1, 0.2), np.linspace(1.0, -1.0, d + 1)
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        return dict(
            shape(d), where=where, gamma=gamma, sigma=0.7, pivot=pivot, whitening=whitening, radius=radius,
            matrix_share=share,
        )  # fmt: skip

    return public


def alone(*case: Any, **more: Any) -> Build:
    """Without a share for the matrix."""
    build = martingale(*case, 1.0, **more)
    return lambda d: {name: at for name, at in build(d).items() if name != "matrix_share"}


def zones(family: Family) -> Build:
    return lambda d: dict(shape(d), family=family, gamma=np.zeros(d + 1), sigma=1.0, edges=(0.1, 0.5, 1.5))


def pilot(radius: float, limit: float, **more: float) -> Build:
    """Some pilot fit; in two dimensions and more, rows of full length reach any angle."""

    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        line = np.linspace(0.5, -0.5, d + 1)
        return dict(shape(d), whitening=whitening, line=line, sigma=0.8, radius=radius, limit=limit, **more)

    return public


def glm(radius: float, start: float, slope: float, bounded: BoundedScore | None = None) -> Build:
    """Linear predictors that differ along one ray, so that parallel rows have any mean."""

    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.1 * np.ones((d + 1, d + 1)) / (d + 1)
        beta = np.append(start, np.full(d, slope / d))
        scale = dict(center=np.zeros(d + 1), scale=np.ones(d + 1))
        row = dict(scale, beta=beta, whitening=whitening, radius=radius)
        return row if bounded is None else dict(row, score=bounded)

    return public


def truncated_glm(family: GlmFamily, most: float, slope: float) -> Build:
    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        beta = np.linspace(slope, -slope, d + 1)
        return dict(shape(d), family=family, whitening=whitening, beta=beta, radius=0.9, most=most)

    return public


def columns(**more: np.ndarray) -> Build:
    return lambda d: dict(
        center=np.zeros(d + 1), half=np.ones(d + 1), **{name: np.full(d + 1, at) for name, at in more.items()}
    )


def boxes(d: int) -> dict[str, Any]:
    return dict(center=np.zeros(d + 1), half=np.ones(d + 1), log=False)


def margin(d: int) -> dict[str, Any]:
    """Rows fill the unit ball at the corners of their box. About params of 0 all margins are 0, and every
    bound is attained; bounds about other params are in test_tilt.
    """
    k = d + 1
    row = dict(center=np.zeros(k), scale=np.ones(k), radius=math.sqrt(k), longest=1.0)
    return dict(row, reach=np.full(k, 1 / math.sqrt(k)), loss=LOGISTIC_LOSS, params=np.zeros(k))


SPACES = {
    "column_means": [Space(columns(), 1.5)],
    "column_octaves": [Space(columns(origin=0.5), 1.5)],
    # rows as long as the radius, and no longer, weigh most; without the large intercept of the first, scores
    # on the wrong side all point one way
    "logistic_score": [Space(glm(20.0, 12.0, 0.0), 30.0, 0.97), Space(glm(9.0, 1.0, 0.2), 15.0, 0.5)],
    "glm_score": [
        Space(glm(20.0, 0.0, 0.6, BoundedScore(POISSON, 2.0, 3.0)), 30.0, 0.97),
        Space(glm(20.0, 0.0, 0.1, BoundedScore(POISSON, 3.0, 2.0, 3.0, 0.5, (-9.0, 9.0))), 30.0, 0.9),
        Space(glm(15.0, 0.5, 0.1, BoundedScore(GAMMA, 3.0, 1.0, 0.0, 0.5)), 25.0, 0.9),
        Space(glm(20.0, 0.0, 0.1, BoundedScore(GAUSSIAN, 3.0, 1.0, 0.0, 1.0)), 30.0, 0.9),
        Space(glm(20.0, 12.0, 0.0, BoundedScore(BINOMIAL, 1.0, 0.25)), 30.0, 0.9),
    ],
    "event_moments": [Space(boxes, 1.5)],
    "event_matrix": [
        Space(lambda d: dict(shape(d), radius=2.0, limit=3.0), 6.0),
        Space(lambda d: dict(shape(d), radius=3.0, limit=2.0), 6.0),
    ],
    "location_score": [
        *(
            Space(score(family, c), 60.0, delayed=delayed)
            for family, c, delayed in ((SEV, 1.34, False), (SEV, 24.0, True), (LOGISTIC, 2.0, False))
        ),
        Space(score(NORMAL, 1.34, -1.5), 60.0, delayed=True),
    ],
    "box_moments": [Space(lambda d: dict(shape(d), limits=np.ones(d + 2)), 1.5, 0.85)],
    "exit_counts": [
        Space(lambda d: dict(edges=(-1.0, 1.0)), 1.5),
        Space(lambda d: dict(edges=(0.0,), groups=d + 1), 0.6),
    ],
    "residual_moments": [
        Space(pilot(0.9, 2.0), 60.0, 0.97),
        Space(pilot(0.9, 2.0, meat=0.7, meat_limit=1.0, fourth=0.7), 60.0, 0.97),
        Space(pilot(0.9, 2.0, meat=0.5, meat_limit=1.8, fourth=0.7), 60.0, 0.97),
    ],
    "residual_score": [Space(pilot(0.9, 2.0), 60.0, 0.97)],
    "truncated_gram": [Space(pilot(0.9, 2.0), 60.0, 0.97)],
    "truncated_triangle": [Space(pilot(0.9, 2.0), 60.0, 0.68)],  # the published 2 for sqrt 2
    "truncated_cross": [Space(pilot(0.9, 2.0, whole=whole), 60.0) for whole in (True, False)],
    "truncated_score": [
        Space(truncated_glm(BINOMIAL, 1.0, 0.5), 60.0), Space(truncated_glm(POISSON, 5.0, 0.5), 60.0)
    ],
    "truncated_information": [  # the published 2 for sqrt 2; rows at a right angle, of a mean of 1/2
        Space(truncated_glm(BINOMIAL, 0.25, 0.0), 60.0, 0.68),
        Space(truncated_glm(POISSON, 0.5, 0.3), 60.0, 0.68),
    ],
    "log_likelihood": [
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-5.0, high=0.4, family=SEV, sigma=0.25), 2.0),
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-5.0, high=0.0, family="binomial"), 60.0),
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-9.0, high=0.0, family="poisson"), 60.0),
    ],
    # seven coordinates of 1 or -1 are never orthogonal
    **{f"margin_{name}": [Space(margin, 1.5, 0.9)] for name in ("curvature", "scores", "sandwich")},
    "functional_weights": [Space(boxes, 1.5, 0.9)],
    # the pair that attains it lies at a jump, which a search only approaches
    "hazard_zones": [
        *(Space(zones(family), 8.0, 0.95) for family in (SEV, LOGISTIC, NORMAL)),
        Space(zones(SEV), 8.0, 0.95, delayed=True),
    ],
    "martingale_score": [
        Space(martingale(SEV, 2.0, (-4.0, 1.0), 2.0, 0.7), 8.0, 0.9),
        Space(martingale(SEV, 1.34, (-12.0, 1.5), 4.0, 1.0), 16.0, 0.9),
        Space(martingale(SEV, 8.0, (-6.0, 2.0), 4.0, 0.4), 16.0, 0.9),
        Space(martingale(LOGISTIC, 3.0, (-5.0, 2.0), 3.0, 0.7), 8.0, 0.9),
        Space(martingale(NORMAL, 2.0, (-4.0, 2.0), 3.0, 0.7, -1.2), 8.0, 0.9),
        Space(martingale(SEV, 2.0, (-4.0, 1.0), 2.0, 0.7, delayed=True), 8.0, 0.9, delayed=True),
        Space(martingale(LOGISTIC, 5.0, (-5.0, 4.0), 3.0, 0.4, delayed=True), 8.0, 0.9, delayed=True),
        Space(martingale(NORMAL, 2.0, (-4.0, 2.0), 3.0, 0.7, -1.2, True), 8.0, 0.9, delayed=True),
    ],
    # the cylinder is the product of what location and log sigma attain, not both at once
    "score_alone": [
        Space(alone(SEV, 2.0, (-4.0, 1.0), 2.0), 8.0, 0.75, 0.8),
        Space(alone(SEV, 1.34, (-12.0, 1.5), 4.0), 16.0, 0.75, 0.8),
        Space(alone(LOGISTIC, 3.0, (-5.0, 2.0), 3.0), 8.0, 0.75, 0.8),
        Space(alone(NORMAL, 2.0, (-4.0, 2.0), 3.0, floor=-1.2), 8.0, 0.75, 0.8),
    ],
    "information_sizes": [
        Space(alone(SEV, 2.0, (-4.0, 1.0), 2.0), 8.0, 0.6, 0.3),
        Space(alone(LOGISTIC, 3.0, (-5.0, 2.0), 3.0), 8.0, 0.6, 0.3),
        Space(alone(NORMAL, 2.0, (-4.0, 2.0), 3.0, floor=-1.2), 8.0, 0.6, 0.3),
    ],
}
CASES = [(name, space, d) for name, spaces in SPACES.items() for space in spaces for d in (1, 3, 6)]


def contributions(statistic: Statistic, rows: np.ndarray) -> np.ndarray:
    """Released coordinates of each row (x, y, stay, event, ok) alone, shape (rows, m).

    A row enters `stay` before y, where the design has entries.
    """
    rows = np.atleast_2d(rows)
    ok, y = rows[:, -1] > 0.5, rows[:, -4]
    exog = np.asfortranarray(np.column_stack([ok, rows[:, :-4] * ok[:, None]]))
    block = MadeBlock(exog, y, (rows[:, -2] > 0.5).astype(float), ok, y - np.abs(rows[:, -3]))
    with np.errstate(all="ignore"):
        factors = statistic.factors(block, Scratch())
    pieces = []
    for part, (left, right) in zip(statistic.parts, factors, strict=True):
        right = left if right is None else right
        matrices = 1.0 * left[:, :, None] * right[:, None, :] * ok[:, None, None]
        pieces.append(np.array([part.pack(matrix) for matrix in matrices]))
    return np.hstack(pieces)


def candidates(d: int, half: float, generator: np.random.Generator, count: int) -> np.ndarray:
    """Rows on and near faces and corners of the box and of smaller ones, some censored or not valid."""
    free = generator.choice([-half, half, 0.0, np.nan], (count, d + 2), p=[0.35, 0.35, 0.1, 0.2])
    free = np.where(np.isnan(free), generator.uniform(-half, half, free.shape), free)
    free[:, :-2] *= generator.choice([1.0, 0.3, 0.1], (count, 1))
    flags = (generator.uniform(size=(count, 2)) < [0.8, 0.95]).astype(float)
    return np.hstack([free, flags])


def search(
    statistic: Statistic, d: int, half: float, generator: np.random.Generator, order: int = 2,
    head: bool = False,
) -> float:  # fmt: skip
    """Largest distance found between the contributions of two rows, in the norm of this order.

    Of all coordinates, or of the head: all but the last.
    """
    rows, end = candidates(d, half, generator, 1000), -1 if head else None
    values = contributions(statistic, rows)[:, :end]
    distances = distance.cdist(values, values, "minkowski", p=order)
    best = 0.0
    for index in np.argsort(distances, axis=None)[-1:-400:-100]:
        pair = [rows[i] for i in np.unravel_index(index, distances.shape)]
        flags = [row[-2:] for row in pair]

        def shortfall(free: np.ndarray, flags: list[np.ndarray] = flags) -> float:
            halves = np.split(np.clip(free, -half, half), 2)
            first, second = (np.concatenate(both) for both in zip(halves, flags, strict=True))
            apart = np.subtract(*contributions(statistic, np.vstack([first, second])))[:end]
            return -float(np.linalg.norm(apart, order))

        start = np.concatenate([row[:-2] for row in pair])
        climbed = optimize.minimize(shortfall, start, method="Powell", options=dict(maxfev=1500))
        best = max(best, -climbed.fun, -shortfall(start))
    return best


def test_every_statistic_is_searched():
    assert set(SPACES) == set(REGISTRY)


@pytest.mark.parametrize(("name", "space", "d"), CASES, ids=[f"{name}-{d}" for name, _, d in CASES])
def test_the_search_reaches_the_sensitivity_and_never_passes_it(name, space, d):
    statistic = space.statistic(name, d)
    found = search(statistic, d, space.half, np.random.default_rng(d))
    assert found <= statistic.sensitivity * (1 + 1e-9)
    assert found >= space.reach * statistic.sensitivity


def declaring(what: str) -> list[tuple[str, Space, int]]:
    """The searches of statistics that declare more than an L2 norm."""
    return [
        (name, space, d)
        for name, space, d in CASES
        if getattr(space.statistic(name, d), what) is not None
    ]


@pytest.mark.parametrize(("name", "space", "d"), declaring("sensitivity_l1"))
def test_the_search_reaches_the_l1_norm_and_never_passes_it(name, space, d):
    """Of the box: a row of ones against one that weighs nothing; of the weights: see their proof."""
    statistic = space.statistic(name, d)
    found = search(statistic, d, space.half, np.random.default_rng(d), order=1)
    assert 0.99 * statistic.sensitivity_l1 <= found <= statistic.sensitivity_l1 * (1 + 1e-9)


@pytest.mark.parametrize(("name", "space", "d"), declaring("ranges"))
def test_the_search_reaches_every_range_and_never_passes_it(name, space, d):
    """Every coordinate alone, by two of 4000 rows, many of them corners; a leading 1 is a corner too."""
    statistic = space.statistic(name, d)
    values = contributions(statistic, candidates(d, space.half, np.random.default_rng(d), 4000))
    found, said = np.ptp(values, axis=0), np.isfinite(statistic.ranges)
    assert (found[said] >= space.ranges * statistic.ranges[said]).all()
    assert (found <= statistic.ranges * (1 + 1e-9)).all()


@pytest.mark.parametrize(("name", "space", "d"), declaring("sensitivity_head"))
def test_the_search_reaches_the_head_and_never_passes_it(name, space, d):
    """All coordinates but the last."""
    statistic = space.statistic(name, d)
    found = search(statistic, d, space.half, np.random.default_rng(d), head=True)
    assert space.ranges * statistic.sensitivity_head <= found <= statistic.sensitivity_head * (1 + 1e-9)


def test_what_is_declared_is_searched():
    assert {name for name, _, _ in declaring("sensitivity_l1")} == {
        "box_moments", "exit_counts", "functional_weights",
    }  # fmt: skip
    assert {name for name, _, _ in declaring("ranges")} == {
        "box_moments", "event_moments", "exit_counts", "margin_curvature", "margin_scores",
        "margin_sandwich", "score_alone", "information_sizes",
    }  # fmt: skip
    assert {name for name, _, _ in declaring("sensitivity_head")} == {"score_alone"}


@pytest.mark.parametrize("d", [1, 3, 6])
def test_contributions_stay_within_the_scales_of_their_parts(d):
    """The lattice clips at the scales: an entry beyond them would be another statistic."""
    generator = np.random.default_rng(d)
    for name, spaces in SPACES.items():
        for space in spaces:
            statistic = space.statistic(name, d)
            values = contributions(statistic, candidates(d, space.half, generator, 500))
            bounds = np.concatenate([part.pack(part.units) for part in statistic.parts])
            assert (np.abs(values) <= bounds * (1 + 1e-12)).all()
