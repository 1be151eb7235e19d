"""Fits of tables of which hardly a row can be used: nothing is known, and that is what they say."""

from itertools import product

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.engine.plan import first_stage
from dpstats.estimators.newton.located import locate
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    good=dps.flag(),
    visits=dps.count(40),
    cost=dps.bounded(1, 500),
    time=dps.bounded(0.1, 100),
    failed=dps.event(),
    temp=dps.bounded(10, 50),
)
ROWS = 20_000
MODELS = {
    "logit": lambda data: dps.logit("good ~ temp", data, SCHEMA),
    "poisson": lambda data: dps.glm("visits ~ temp", data, SCHEMA, family="poisson"),
    "gamma": lambda data: dps.glm("cost ~ temp", data, SCHEMA, family="gamma"),
    "svm": lambda data: dps.svm("good ~ temp", data, SCHEMA),
    "ols": lambda data: dps.ols("cost ~ temp", data, SCHEMA),
    "survreg": lambda data: dps.survreg("Surv(time, failed) ~ temp", data, SCHEMA),
}


def table(readable: float, seed: int) -> dict[str, np.ndarray]:
    """All depends much on the temperature, which few rows have."""
    draw = np.random.default_rng(seed)
    temp = draw.uniform(10, 50, ROWS)
    line = (temp - 30) / 5
    good = draw.uniform(size=ROWS) < 1 / (1 + np.exp(-2.5 * line))
    return dict(
        good=good * 1.0,
        visits=draw.poisson(np.exp(line / 2)) * 1.0,
        cost=100 * np.exp(line / 4),
        time=np.clip(np.exp(line / 2) * draw.exponential(size=ROWS), 0.1, 100),
        failed=np.ones(ROWS),
        temp=np.where(draw.uniform(size=ROWS) < readable, temp, np.nan),
    )


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(5.0, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "model, readable", [*product(MODELS, [0.0]), *product(["logit", "poisson", "gamma"], [0.002])]
)
def test_no_fit_of_no_rows_has_a_short_interval(model: str, epsilon: float, readable: float) -> None:
    for seed in range(3):
        with noise(SeededNoise(seed)):
            fit = MODELS[model](table(readable, seed)).fit(dps.approx(epsilon, 1e-6))
        assert np.isinf(fit.bse["temp"]) and set(dict(fit.flags)) & {"not_estimable", "hopeless"}


@pytest.mark.parametrize("readable", [0.05, 0.3, 1.0])
def test_the_first_releases_tell_how_many_rows_can_be_used(readable: float) -> None:
    design = build_design("good ~ temp", SCHEMA)
    rows = open_rows(table(readable, 0), SCHEMA, design.variables)
    problem = Problem(BINOMIAL, *design.bounds[1:].T, (0.0, 1.0))
    with noise(SeededNoise(0)):
        located = locate(Curator(rows, design, dps.gdp(1)), first_stage(0.1, False), 0.2, problem, 1.0)
    assert located.usable == pytest.approx(readable, abs=0.02)


@pytest.mark.parametrize("readable", [0.3, 0.8])
def test_rows_that_lack_a_cell_do_not_move_a_fit(readable: float) -> None:
    inside = []
    for seed in range(12):
        with noise(SeededNoise(seed)):
            fit = MODELS["logit"](table(readable, seed)).fit(dps.approx(5, 1e-6))
        low, high = fit.conf_int().loc["temp"]
        inside.append(low <= 0.5 <= high and high - low < 0.2)
    assert np.mean(inside) > 0.7
