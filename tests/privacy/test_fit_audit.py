"""T5, a slice of benchmarks/audit.py: whole fits of worst neighbours through the public API.

*False alarms.* A sound fit fails if one of its two lower bounds exceeds the claim. Each of them holds with
probability 1 - MISS, as the event was chosen on other runs: five fits fail by chance in at most 10 MISS =
1e-7 of all test runs. Faults are planted in seeded noise, so that whether they are seen does not vary.
"""

from typing import Any

import numpy as np
import pytest

from benchmarks.audit_cases import CASES, Case
from benchmarks.auditing import DELTA, Bounds, lower_bounds, observe, stacked
from dpstats.budget import Pure
from dpstats.curator.mechanisms import SecureNoise
from dpstats.testing import SeededNoise

Array = np.ndarray
MISS = 1e-8
NAMED = {case.name: case for case in CASES}
RUNS = {
    "kaplan_meier": 2000,
    "kaplan_meier, pure": 4000,
    "ols, pmt": 1200,
    "svm, objective": 400,
    "one contribution": 1500,
}
FEWER = RUNS | {"kaplan_meier": 600}  # which tell noise that is halved


class Halved(SeededNoise):
    """Half the noise that was asked for."""

    def gaussian(self, value: Array, sensitivity: float, mu: float) -> Array:
        return super().gaussian(value, sensitivity / 2, mu)

    def pure(self, value: Array, law: str, axes: Array, epsilon: float) -> Array:
        return super().pure(value, law, axes / 2, epsilon)


class OnceMore(SeededNoise):
    """A step too many: everything is answered twice, at full cost each, and the answers are averaged."""

    def gaussian(self, value: Array, sensitivity: float, mu: float) -> Array:
        return np.mean([super(OnceMore, self).gaussian(value, sensitivity, mu) for _ in range(2)], axis=0)


def bounds(case: Case, source: Any, runs: dict[str, int] = RUNS) -> Bounds:
    fits = case.worst()
    sides = [stacked([observe(fits, side, source) for _ in range(runs[case.name])]) for side in (0, 1)]
    return lower_bounds(*sides, 0.0 if isinstance(case.budget, Pure) else DELTA, MISS)


def exceeded(case: Case, found: Bounds) -> bool:
    if isinstance(case.budget, Pure):
        return found.epsilon > case.budget.epsilon
    return found.mu > case.budget.mu or found.epsilon > case.budget.to_approx(DELTA).epsilon


SHORT = pytest.param("kaplan_meier", {"kaplan_meier": 300}, id="kaplan_meier, fewer")
TRIED = [SHORT, *(pytest.param(name, RUNS, id=name, marks=pytest.mark.long) for name in sorted(RUNS))]


@pytest.mark.parametrize(("name", "runs"), TRIED)
def test_no_more_is_spent_than_claimed(name: str, runs: dict[str, int]) -> None:
    assert not exceeded(NAMED[name], bounds(NAMED[name], SecureNoise(), runs))


@pytest.mark.long
@pytest.mark.parametrize("name", ["kaplan_meier", "kaplan_meier, pure", "ols, pmt", "one contribution"])
def test_halved_noise_is_caught(name: str) -> None:
    assert exceeded(NAMED[name], bounds(NAMED[name], Halved(0), FEWER))


@pytest.mark.long
def test_a_step_too_many_is_caught() -> None:
    case = NAMED["kaplan_meier"]
    assert exceeded(case, bounds(case, OnceMore(0)))
