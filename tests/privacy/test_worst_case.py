"""T3: a search over pairs of rows reaches every declared sensitivity and never passes it.

Each statistic's contribution of a row is computed without lattice or noise. Corners of the row space, random
rows near its faces and the row that weighs nothing are compared in pairs; the best pairs are then climbed
from. Statistics are registered with a row space to search, so that a new one cannot be forgotten.

The bound of the martingale score is certified on cells of residual and pivot (families/score_bounds.py)
instead of attained: no pair lies beyond it, and one comes within 10 percent of it where the radius is long
against the leading 1 of every row, which keeps two rows from pointing exactly apart.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.spatial import distance

from dpstats.curator.blocks import Scratch
from dpstats.curator.lattice import Factor
from dpstats.curator.statistics import REGISTRY, Statistic
from tests.made import MadeBlock
from tests.privacy.spaces import SPACES, Space

CASES = [
    pytest.param(name, space, d, id=f"{name}-{index}-{d}", marks=[pytest.mark.long] * (d == 3 and index > 0))
    for name, spaces in SPACES.items()
    for index, space in enumerate(spaces)
    for d in ((1, 3, 6) if name == "event_moments" else (1, 3))  # whose bound is another from 5 covariates on
]
"""How a bound grows with covariates is the same in all spaces of a statistic: more than one are tried in its
first, and in others by the long tests."""


def factors_of(statistic: Statistic, rows: np.ndarray) -> tuple[np.ndarray, Sequence[Factor]]:
    """Which rows (x, y, stay, event, ok) may add anything, and what they give.

    A row enters `stay` before y, where the design has entries. One that is not ok is meant to count where it
    has an event, and else left out.
    """
    ok, y = rows[:, -1] > 0.5, rows[:, -4]
    exog = np.asfortranarray(np.column_stack([ok, rows[:, :-4] * ok[:, None]]))
    block = MadeBlock(exog, y, (rows[:, -2] > 0.5).astype(float), ok, y - np.abs(rows[:, -3]))
    block.kept = ok | (block.event == 1.0)
    with np.errstate(all="ignore"):
        return statistic.counted(block), statistic.factors(block, Scratch())


def contributions(statistic: Statistic, rows: np.ndarray) -> np.ndarray:
    """Released coordinates of each row alone, shape (rows, m)."""
    ok, factors = factors_of(statistic, np.atleast_2d(rows))
    pieces = []
    for part, (left, right, _) in zip(statistic.parts, factors, strict=True):
        if right is None:
            right = left
        elif right.ndim == 1:  # numbers of columns, each with a 1
            right = right[:, None] == np.arange(part.units.shape[1])
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
    statistic: Statistic,
    d: int,
    half: float,
    generator: np.random.Generator,
    order: int = 2,
    head: bool = False,
) -> float:
    """Largest distance found between the contributions of two rows, in the norm of this order.

    Of all coordinates, or of the head: all but the last.
    """
    rows, end = candidates(d, half, generator, 1000), -1 if head else None
    values = contributions(statistic, rows)[:, :end]
    distances = distance.cdist(values, values, "minkowski", p=order)
    best = 0.0
    largest = np.argpartition(distances, -400, axis=None)[-400:]
    for index in largest[np.argsort(distances.ravel()[largest])][-1:-400:-100]:
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
    assert not set(REGISTRY) - set(SPACES), "give them a Space in tests/privacy/spaces.py"


@pytest.mark.parametrize(("name", "space", "d"), CASES)
def test_the_search_reaches_the_sensitivity_and_never_passes_it(name, space, d):
    statistic = space.statistic(name, d)
    found = search(statistic, d, space.half, np.random.default_rng(d))
    assert found <= statistic.sensitivity * (1 + 1e-9)
    assert found >= space.reach * statistic.sensitivity


@pytest.mark.parametrize("name", sorted(SPACES))
def test_no_weights_of_rows_pass_the_sensitivity(name):
    """In each space of rows that are all there and alike in all else; where nothing reads weights, it is as
    above."""
    for space in SPACES[name]:
        if not space.plain:
            continue
        weighted, rows = (
            space._replace(weighted=True),
            candidates(1, space.half, np.random.default_rng(0), 200),
        )
        both = [contributions(each.statistic(name, 1), rows) for each in (space, weighted)]
        if space.weighted or not np.array_equal(*both, equal_nan=True):
            statistic = weighted.statistic(name, 1)
            found = search(statistic, 1, space.half, np.random.default_rng(1))
            assert 0 < found <= statistic.sensitivity * (1 + 1e-9)


SAYING = (
    *("logistic_score", "glm_score", "score_squares"),
    *("residual_moments", "truncated_cross"),
    *("martingale_score", "strata_score"),
)


@pytest.mark.parametrize(("name", "space", "d"), [case for case in CASES if case.values[0] in SAYING])
def test_no_entry_is_larger_than_its_statistic_says(name, space, d):
    """Of three rows at a time, of which the largest is near what is said."""
    statistic, said = space.statistic(name, d), 0
    for rows in np.split(candidates(d, space.half, np.random.default_rng(d), 900), 300):
        for left, _, most in factors_of(statistic, rows)[1]:
            assert most is None or (np.abs(left) <= most).all()
            said += most is not None
    assert said >= 300


def declaring(what: str) -> list[Any]:
    """The searches of statistics that declare more than an L2 norm."""
    return [case for case in CASES if getattr(declared(*case.values), what) is not None]


def declared(name: str, space: Space, d: int) -> Statistic:
    return space.statistic(name, d)


def names(cases: list[Any]) -> set[str]:
    return {case.values[0] for case in cases}


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


@pytest.mark.parametrize(("name", "space", "d"), declaring("sensitivity_trace"))
def test_the_search_reaches_the_trace_and_never_passes_it(name, space, d):
    """The sum of the sizes of the eigenvalues, of the pairs of 1000 rows that are farthest apart in L2."""
    statistic = space.statistic(name, d)
    (part,) = statistic.parts
    values = contributions(statistic, candidates(d, space.half, np.random.default_rng(d), 1000))
    pairs = np.transpose(np.triu_indices(1000, 1))[np.argsort(distance.pdist(values))[-4000:]]
    apart = [part.unpack(values[i] - values[j]) for i, j in pairs]
    found = np.abs(np.linalg.eigvalsh(apart)).sum(axis=1).max()
    assert (
        0.95 * space.reach * statistic.sensitivity_trace <= found <= statistic.sensitivity_trace * (1 + 1e-9)
    )


def test_what_is_declared_is_searched():
    assert names(declaring("sensitivity_l1")) == {
        "cell_counts",
        "column_means",
        "entry_counts",
        "exit_counts",
        "functional_weights",
        "inspection_counts",
        "present_moments",
        "reach_counts",
        "reach_means",
        "residual_counts",
        "row_reach",
        "rows_apart",
    }
    assert names(declaring("ranges")) == {
        "cell_counts",
        "column_means",
        "entry_counts",
        "event_moments",
        "exit_counts",
        "hazard_contrasts",
        "inspection_counts",
        "margin_curvature",
        "margin_scores",
        "margin_sandwich",
        "predictor_bend",
        "present_moments",
        "reach_counts",
        "reach_means",
        "residual_counts",
        "row_reach",
        "rows_apart",
        "score_alone",
        "information_sizes",
        "sign_sizes",
    }
    assert names(declaring("sensitivity_head")) == {"score_alone"}
    assert names(declaring("sensitivity_trace")) == {
        "ball_moments",
        "event_matrix",
        "margin_curvature",
        "margin_scores",
    }


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
