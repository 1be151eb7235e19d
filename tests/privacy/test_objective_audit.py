"""T4, T5 and T13 on perturbed objectives: what the package does, audited, and with faults planted in it.

Densities of minima are computed from the package's own gradient, Hessian and law of the tilt, and the faults
of other packages are planted in its code: each must be found by the audit that the code
as it is passes.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.curator import Curator, objective
from dpstats.curator.law import Law
from dpstats.curator.objective import Objective, Planned
from dpstats.families import LOGISTIC_LOSS, MarginLoss, huber_hinge
from dpstats.testing import SeededNoise, noise
from tests.margin import Labelled, labelled, unit_map

Array = np.ndarray
Data = tuple[Array, Array]  # rows and labels
HUBER = huber_hinge(0.1)
LINES = np.linspace(-12, 12, 41), np.linspace(-1, 1, 41)


class Case(NamedTuple):
    """A fault, and neighbours that it tells apart; each is the rows and their labels."""

    plant: Callable[[pytest.MonkeyPatch], None]
    pair: tuple[Data, Data]
    epsilon: float
    ridge: float
    longest: float = 1.0
    loss: MarginLoss = LOGISTIC_LOSS

    @property
    def planned(self) -> Planned:
        """As a curator plans it under pure epsilon."""
        n, d = self.pair[0][0].shape
        row_map = unit_map(d) | dict(longest=self.longest, reach=np.full(d, self.longest))
        asked = Objective(Labelled(d, self.longest), loss=self.loss, ridge=self.ridge, **row_map)
        return asked.planned(dps.pure(self.epsilon), n, 1)


def log_density(plan: Planned, data: Data, grid: Array) -> Array:
    """Of the exact minimum at each point of the grid; unnormalised, in the same way for all data."""
    design, tilt = Labelled(plan.objective.k, plan.objective.rows.longest), plan.tilt
    blocks = [design.read(block) for block in labelled(*data).blocks()]
    found = []
    for t in grid:
        point = plan.objective.at(lambda params: plan.objective.slope(params, blocks), t, np.zeros(len(t)))
        order = {"laplace": 1, "linf": np.inf, "spherical": 2}[tilt.name]
        length = np.linalg.norm(point.gradient / tilt.axes, order)
        found.append(np.linalg.slogdet(point.hessian)[1] - tilt.cost * length)
    return np.array(found)


def largest_loss(case: Case) -> float:
    """Largest |log p / p'| of the exact minimum."""
    plan = case.planned
    grid = np.vstack(
        [
            np.stack(np.meshgrid(*[line] * plan.objective.k), axis=-1).reshape(-1, plan.objective.k)
            for line in LINES
        ]
    )
    first, second = (log_density(plan, data, grid) for data in case.pair)
    return float(np.abs(first - second).max())


def rows(x: list[Any], y: list[float]) -> Data:
    return np.array(x, dtype=float).reshape(len(x), -1), np.array(y)


def length_for_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """diffprivlib: a quarter of the length, where the curvature of a row is a quarter of its square."""
    slack = objective.slack
    monkeypatch.setattr(objective, "slack", lambda ridge, curvature: slack(ridge, 0.5 * math.sqrt(curvature)))


def constant_without_ridge(monkeypatch: pytest.MonkeyPatch) -> None:
    """diffprivlib: the intercept is not in the penalty."""
    at = Objective.at

    def unpenalised(self, blocks, params, tilt):
        point = at(self, blocks, params, tilt)
        gradient, hessian = point.gradient.copy(), point.hessian.copy()
        gradient[0] -= self.ridge * params[0]
        hessian[0, 0] -= self.ridge
        return point._replace(gradient=gradient, hessian=hessian)

    monkeypatch.setattr(Objective, "at", unpenalised)


def scale_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """PSI, PrivateLR: rows divided by the longest one there is."""

    class Scaled(objective.UnitRows):
        def _rows(self, block, *memory):
            return super()._rows(replace(block, exog=block.exog / np.abs(block.exog).max()), *memory)

    monkeypatch.setattr(objective, "UnitRows", Scaled)


def no_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """PSI: the determinant is left out."""
    monkeypatch.setattr(objective, "slack", lambda ridge, curvature: 0.0)


def one_row_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise for one row more, where one is replaced by another."""
    law = Objective.tilt_law

    def halved(self, cost, count, pure):
        found = law(self, cost, count, pure)
        return Law(found.name, found.axes / 2, found.cost)

    monkeypatch.setattr(Objective, "tilt_law", halved)


# a row of length 50, or of none, among rows that pull the other way
LONG = tuple(rows([[-0.02]] * 100 + [[x]], [1.0] * 101) for x in (50.0, 0.0))
CONSTANT = rows([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]), rows([[0.02, 1.0], [0.0, 1.0]], [1.0, 1.0])
OUTLIER = tuple(rows([[0.1]] * 20 + [[x]], [1.0] * 20 + [-1.0]) for x in (1.0, 0.1))
LABEL = rows([[1.0]], [1.0]), rows([[1.0]], [-1.0])
CASES = {
    "R for R^2": Case(length_for_its_square, LONG, 5.0, 0.1, 50.0),
    "no determinant": Case(no_slack, LONG, 5.0, 0.1, 50.0),
    "intercept without penalty": Case(constant_without_ridge, CONSTANT, 2.0, 0.5),
    "scale from the data": Case(scale_of_the_data, OUTLIER, 1.0, 5.0),
    "one row for two": Case(one_row_for_two, LABEL, 1.0, 20.0, loss=HUBER),
}


@pytest.mark.parametrize("fault", CASES)
def test_densities_stay_within_the_claim_and_faults_are_caught(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[fault]
    assert largest_loss(case) <= case.epsilon
    case.plant(monkeypatch)
    assert largest_loss(case) > 1.05 * case.epsilon


RUNS, MISS = 1000, 1e-6


def outputs(data: Data) -> Array:
    """Released minima of one row, end to end."""
    curators = (Curator(labelled(*data), Labelled(1), dps.pure(1)) for _ in range(RUNS))
    minima = (each.minimise(1 - 1e-9, loss=HUBER, ridge=200.0, **unit_map(1)) for each in curators)
    return np.array([minimum.params[0] for minimum in minima])


def lower_bound() -> float:
    """Epsilon that the outputs refute: an event chosen on one half of the runs, bounded on the other."""
    first, second = map(outputs, LABEL)
    half = RUNS // 2
    cuts = np.quantile(np.concatenate([first[:half], second[:half]]), np.linspace(0.02, 0.98, 97))
    chosen = max(cuts, key=lambda cut: _bound(first[:half] > cut, second[:half] > cut))
    return _bound(first[half:] > chosen, second[half:] > chosen)


def _bound(events: Array, others: Array) -> float:
    at_least = stats.beta.ppf(MISS / 2, events.sum(), (~events).sum() + 1) if events.any() else 0.0
    at_most = stats.beta.isf(MISS / 2, others.sum() + 1, (~others).sum()) if not others.all() else 1.0
    return math.log(max(at_least, 1e-9) / at_most)


@pytest.mark.long
def test_no_more_epsilon_is_spent_than_claimed() -> None:
    """T5, a slice: one row with its label turned, which moves the gradient of a hinge by 2.

    Fails by chance less often than MISS: the event is chosen on other runs than those that bound it.
    """
    assert lower_bound() <= 1


@pytest.mark.long
def test_noise_for_half_of_that_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    one_row_for_two(monkeypatch)
    with noise(SeededNoise(1)):
        assert 1.1 < lower_bound() <= 2
