"""A clock is a power of time where noise hides when rows fail.

See docs/theory/coxph.md#the-shape-of-the-clock.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from dpstats.curator import Curator
from dpstats.estimators.hazards.grid import Grid, find_grid
from dpstats.estimators.hazards.plan import make_plan
from dpstats.estimators.hazards.problem import Problem
from dpstats.estimators.hazards.shape import find_shape, smoothed
from dpstats.estimators.row_scale import Box

TIMES = np.linspace(0, 2, 41)


def problem(strata: int) -> Problem:
    edges = np.concatenate([TIMES, *(TIMES[1:] + 2 * s for s in range(1, strata))])
    return Problem(Box(np.zeros(2), np.ones(2)), edges, strata)


def lives(shape: float, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Failures of 1,000 rows in each cell, and rows at risk in its middle."""
    left = 1000 * np.exp(-((TIMES / scale) ** shape))
    return -np.diff(left), (left[1:] + left[:-1]) / 2


@pytest.mark.parametrize("shape", [0.6, 1.0, 3.0])
def test_the_shape_is_found_by_counts_that_hide_the_cells(shape: float) -> None:
    """Noise of 20 hides most cells, which have 25 failures in the mean; its sd of the shape is about .1."""
    each = [lives(shape), lives(shape, 0.6)]
    counts, at_risk = (np.concatenate(part) for part in zip(*each, strict=True))
    found = []
    for seed in range(20):
        noisy = counts + np.random.default_rng(seed).normal(scale=20, size=80)
        clock = find_shape(problem(2), noisy, at_risk, 20.0)
        found.append(np.polyfit(np.log(TIMES[1:]), np.log(np.cumsum(clock.gains[:40])), 1)[0])
        assert clock.gains[:40] == pytest.approx(clock.gains[40:])
    assert np.mean(found) == pytest.approx(shape, rel=0.1)
    # one sd of the logarithm of the shape, against how it scatters
    rise = (clock.error[-1] - clock.error[0]) / np.log(TIMES[-1] / TIMES[1])
    assert np.std(found) < 2 * rise


def test_without_counts_the_shape_is_as_before_anything_is_known() -> None:
    """The mean of a log-normal number with an sd of .7 of its logarithm, and its sd."""
    clock = find_shape(problem(1), np.zeros(40), lives(1.0)[1], 1e4)
    spent = np.log(np.cumsum(clock.gains))
    assert spent[-1] - spent[5] == pytest.approx(np.exp(0.7**2 / 2) * np.log(TIMES[-1] / TIMES[6]), rel=0.05)
    assert clock.error[-1] - clock.error[5] > 0.5 * np.log(TIMES[-1] / TIMES[6])


def test_counts_that_are_known_stay_as_they_are() -> None:
    counts = np.random.default_rng(1).poisson(30, 80).astype(float)
    found, errors = smoothed(problem(2), counts, 0.0)
    assert found == pytest.approx(counts)
    assert np.isfinite(errors).all()


def grid_of(failures: np.ndarray, entries: np.ndarray, seed: int, sd: float = 20.0) -> Grid:
    """Of a stratum in which all rows fail; noise of each number has this sd."""
    draw, there = np.random.default_rng(seed), {"exit_counts": failures, "entry_counts": entries}

    def release(name: str, cost: float, **public: Any) -> SimpleNamespace:
        counts = np.append(there[name], np.zeros(80 * (name == "exit_counts")))
        noisy = counts + draw.normal(scale=sd, size=len(counts))
        values = noisy[None, :] if name == "exit_counts" else noisy
        return SimpleNamespace(values=(values,), sds=(np.full(len(counts), sd),), n=1000)

    late = replace(problem(1), delayed=bool(entries.any()))
    curator = cast(Curator, SimpleNamespace(release=release))
    return find_grid(curator, make_plan(1.0, delayed=late.delayed), late)


def test_those_who_fail_later_are_at_risk_but_for_those_who_enter_later() -> None:
    """Of 1,000 rows 50 are there from the beginning, and the others enter in the ninth cell."""
    failures, entries, early = lives(2.0)[0], np.zeros(40), []
    for seed in range(20):
        grid = grid_of(failures, entries, seed)
        least = np.cumsum(grid.events[::-1])[::-1] - grid.events / 2
        assert (grid.at_risk >= least).all()
    entries[8] = 950.0
    left = np.append(np.diff(-50 * np.exp(-(TIMES[:9] ** 2))), np.zeros(32))
    left[8:] = failures[8:] * (1000 - left.sum()) / failures[8:].sum()
    for seed in range(20):
        grid = grid_of(left, entries, seed)
        early.append(grid.at_risk[:8].mean())
        assert grid.at_risk[12] > 400
    assert np.median(early) < 250


def test_the_clock_is_steady_where_most_of_those_at_risk_fail() -> None:
    """Of 900 rows 95 % fail in one cell, and as many of those that are left in the next."""
    left = np.append(np.linspace(1000, 900, 31), [45.0, 2.25])
    failures = np.append(-np.diff(left), [0.0] * 7 + [left[-1]])
    grid = grid_of(failures, np.zeros(40), 1, sd=1e-3)
    assert grid.rates[:32] == pytest.approx(-np.diff(np.log(left)), rel=0.01)
    # one row fewer is so much of those who are left, and more of the clock than of the share that fails
    each, more, middle = failures[30], 0.1, (900 + 45) / 2
    turned = [np.log((m + each / 2) / (m - each / 2)) for m in (middle, middle + more)]
    assert grid.steep[30] == pytest.approx(
        -np.log(turned[1] / turned[0]) / np.log(1 + more / middle), rel=0.02
    )


def test_failures_that_surely_come_in_one_cell_are_not_spread_over_others() -> None:
    """Of 1,000 rows 40 fail in each of 20 cells, and 200 in another, beside noise of 20."""
    failures = np.append(np.full(20, 40.0), np.full(20, 0.0))
    failures[10] = 200.0
    found = [grid_of(failures, np.zeros(40), seed).events[10] for seed in range(20)]
    assert np.mean(found) > 150


def test_no_hazard_comes_of_fewer_rows_than_half_of_those_that_fail() -> None:
    """Noise of entries may hide from the rows at risk all that fail."""
    entries = np.zeros(40)
    entries[:20] = 50.0
    for seed in range(20):
        grid = grid_of(lives(3.0)[0], entries, seed)
        assert (grid.at_risk >= grid.events / 2 * (1 - 1e-9)).all()


def test_hazards_go_on_where_noise_may_hide_all_rows_at_risk() -> None:
    """Of 1,000 rows as many as not are there in the last quarter of the time, beside noise of 40."""
    for seed in range(30):
        grid = grid_of(lives(1.0)[0], np.zeros(40), seed, sd=40.0)
        assert grid.rates[30:].sum() > 0.05 * grid.rates.sum()


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("sd", [3.0, 10.0, 30.0])
def test_errors_of_sums_of_noisy_counts_are_told(odd: bool, sd: float) -> None:
    """Of rows that leave by a law of Weibull, and of those that leave in two stretches alone."""
    counts = np.where((np.arange(40) // 5) % 4 == 1, 60.0, 0.0) if odd else lives(2.0)[0]
    sums, told = [], []
    for seed in range(60):
        noisy = counts + np.random.default_rng(seed).normal(scale=sd, size=40)
        found, variances = smoothed(problem(1), noisy, sd**2)
        sums.append(np.cumsum((found - counts)[::-1]))
        told.append(variances)
    errors = np.sqrt(np.mean(np.square(sums)))
    assert np.sqrt(np.mean(told)) == pytest.approx(errors, rel=0.3 if odd else 0.15)


def test_sums_of_late_counts_that_are_few_keep_little_noise() -> None:
    """Of 1,000 rows 20 leave in the last third of the cells; bare sums are off by 70 there."""
    counts, late = lives(4.0)[0], []
    for seed in range(40):
        noisy = counts + np.random.default_rng(seed).normal(scale=20, size=40)
        late.append(smoothed(problem(1), noisy, 400.0)[0][28:].sum() - counts[28:].sum())
    assert np.sqrt(np.mean(np.square(late))) < 45
