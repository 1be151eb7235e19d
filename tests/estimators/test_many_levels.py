"""What noise hides of one column or level is taken from no other."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.known.level_shares import of_levels
from dpstats.estimators.known.structure import Left, Structure
from dpstats.estimators.location_scale import make_pure_plan
from dpstats.estimators.location_scale.information import floored
from dpstats.estimators.location_scale.pure import _events as pure_events
from dpstats.results import SurvivalFit
from dpstats.rows import open_rows
from dpstats.testing import SeededNoise, noise

SIGMA = 0.5


def rows(seed: int, levels: int, n: int) -> tuple[dict[str, Any], dps.Schema]:
    """Log-normal times that a number shortens; a third of the rows are censored, and levels have no effect.

    A second number is 0 in most rows, in bounds so wide that noise hides it.
    """
    g = np.random.default_rng(seed)
    x, level = g.normal(size=n), g.integers(max(levels, 2), size=n)
    rare = np.where(g.random(n) < 0.02, np.exp(3 + g.normal(size=n)), 0.0)
    life, end = np.exp(1 - 0.5 * x + SIGMA * g.normal(size=n)), g.exponential(6, n)
    data = dict(x=x, rare=rare, level=np.char.mod("l%03d", level), time=np.minimum(life, end))
    data["failed"] = 1 * (life <= end)
    schema = dps.Schema(
        x=dps.bounded(-10, 10),
        rare=dps.bounded(0, 1000),
        level=dps.levels(*np.char.mod("l%03d", np.arange(max(levels, 2)))),
        time=dps.bounded(1e-3, 1e3),
        failed=dps.event(),
    )
    return data, schema


def fitted(seed: int, levels: int, hidden: bool, budget: Budget) -> SurvivalFit:
    data, schema = rows(seed, levels, 15_000)
    formula = "Surv(time, failed) ~ x" + " + rare" * hidden + " + level" * (levels > 1)
    with noise(SeededNoise(seed)):
        return dps.survreg(formula, data, schema, dist="lognormal").fit(budget)


def test_a_column_that_noise_hides_makes_no_other_interval_longer() -> None:
    """All information seemed smaller, and the interval of the other number was 3 to 14 times as long.

    Of 52 pairs that is 1.8 in the mean of logarithms, whose sd is .6; of 12 pairs as they were it was 6.3.
    """
    longer = []
    for seed in range(8):
        both, alone = (fitted(seed, 1, hidden, dps.gdp(0.2)) for hidden in (True, False))
        longer.append(both.bse["x"] / alone.bse["x"])
    assert np.mean(np.log(longer)) < np.log(1.8) + stats.norm.isf(1e-3) * 0.6 / np.sqrt(8)


@pytest.mark.long
def test_many_levels_are_known_though_a_matrix_of_all_their_columns_would_be_noise() -> None:
    """Of 52 levels 53 numbers are free. A fit with n mu of k^2 lost all of its coefficients."""
    off = []
    for seed in range(4):
        fit = fitted(seed, 52, False, dps.gdp(0.4))
        low, high = fit.conf_int().to_numpy()[1:].T
        truth = np.append(-0.5, np.append(np.zeros(51), np.log(SIGMA)))
        assert np.isfinite(fit.bse).all()
        off += ((truth < low) | (truth > high)).tolist()
    assert np.mean(off) < 0.07


def test_pure_noise_that_breaks_what_is_public_of_levels_is_taken_off() -> None:
    """No row has two levels, and the square of a level is the level."""
    data, schema = rows(0, 6, 3_000)
    model = dps.survreg("Surv(time, failed) ~ x + level", data, schema, dist="lognormal")
    design, facts = model.design, model._problem(model.design)
    plan = make_pure_plan(1.0, 3_000, len(design.names))
    with noise(SeededNoise(0)):
        curator = Curator(open_rows(data, schema, design.variables), design, dps.pure(1))
        scale = find_columns(curator, plan.columns, facts.box, facts.log)
        events, _ = pure_events(curator, plan.cost("matrix"), scale, facts)
    back = np.linalg.inv(of_levels(scale))
    found = back @ events.square @ back.T
    at = [design.names.index(name) for name in design.names if "[T." in name]
    apart = found[np.ix_(at, at)] - np.diag(found[at, at])
    assert np.abs(apart).max() < 1e-9 * np.abs(found).max()
    assert found[0, at] == pytest.approx(found[at, at])


def test_conditions_on_levels_take_no_noise_off_the_rows_of_one() -> None:
    """Rows of a level are a unit vector here. Half was taken off, as in the mean of all directions."""
    left = Left(Structure(np.array([[0, -1, -1], [-1, 1, -1], [-1, -1, 2]])), np.eye(3))
    alone = floored(np.diag([3.0, 2.0, 1.0]), np.ones((3, 3)), np.eye(3), np.ones(3), left)
    assert alone.sds == pytest.approx(np.ones(3))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    between = floored(turn @ np.diag([3.0, 2.0, 1.0]) @ turn.T, np.ones((3, 3)), np.eye(3), np.ones(3), left)
    assert between.sds**2 == pytest.approx(np.sum(between.vectors**4, axis=0))
    assert np.all(between.sds < 1)
