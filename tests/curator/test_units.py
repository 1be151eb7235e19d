"""Rows that stand for several units: statistics of times to failure count them as often, none too often."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator.blocks import Scratch
from dpstats.curator.lattice import coordinates, slack
from dpstats.curator.partial import summed
from dpstats.curator.statistics import REGISTRY
from dpstats.testing import NoNoise, noise
from tests.made import MadeBlock, MadeDesign
from tests.privacy.spaces import SPACES

D = 2
BY_UNIT = sorted(name for name, kind in REGISTRY.items() if kind.by_unit)
SPACE = [(name, number) for name in BY_UNIT for number in range(len(SPACES[name]))]


def drawn(rng, space, size):
    corners = rng.choice([-1.0, 1.0], (size, D)) * space.half
    x = np.where(rng.random((size, 1)) < 0.5, corners, rng.uniform(-space.half, space.half, (size, D)))
    time, event = np.exp(rng.uniform(-4, 4, size)), rng.integers(0, 2, size).astype(float)
    late = space.delayed or space.intervals
    entry = np.exp(rng.uniform(-6, 0, size)) * time if late else np.full(size, -np.inf)
    exog = np.asfortranarray(np.column_stack([np.ones(size), x]))
    return MadeBlock(exog, time, event, np.ones(size, dtype=bool), entry)


def sums(space, name, rows, weight):
    design = MadeDesign(D, weights="w", delayed=space.delayed, intervals=space.intervals)
    statistic = space.statistic(name, D)
    (total,) = summed(design, [statistic], [replace(rows, weight=weight)], [Scratch()]).totals
    return statistic, coordinates(statistic.parts, total)


def one(rows, place):
    cut = (getattr(rows, name)[place : place + 1] for name in ("exog", "time", "event", "ok", "entry"))
    return MadeBlock(*cut)


def test_it_is_what_rows_at_residuals_and_at_events_do() -> None:
    assert {"martingale_score", "sign_score", "event_matrix", "event_moments"} <= {*BY_UNIT}
    assert not {"exit_counts", "glm_score", "residual_moments"} & {*BY_UNIT}


@pytest.mark.parametrize(("name", "number"), SPACE)
def test_a_row_adds_its_share_of_what_it_adds_alone(name: str, number: int) -> None:
    space, rng = SPACES[name][number], np.random.default_rng(number)
    rows = drawn(rng, space, 1)
    for share in (0.0, 0.3, 1.0):
        statistic, whole = sums(space, name, rows, np.ones(1))
        found = sums(space, name, rows, np.full(1, share))[1]
        assert np.all(np.abs(found - share * whole) <= slack(statistic.parts, 1))


@pytest.mark.parametrize(("name", "number"), SPACE)
def test_no_pair_of_weighed_rows_passes_a_sensitivity(name: str, number: int) -> None:
    space = SPACES[name][number]

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1))
    def searched(seed: int, first: float, second: float) -> None:
        rows = drawn(np.random.default_rng(seed), space, 2)
        statistic, one_side = sums(space, name, one(rows, 0), np.full(1, first))
        other = sums(space, name, one(rows, 1), np.full(1, second))[1]
        apart, extra = one_side - other, slack(statistic.parts, 1)
        assert np.linalg.norm(apart) <= statistic.sensitivity * (1 + 1e-9) + np.linalg.norm(extra)
        if statistic.sensitivity_l1 is not None:
            assert np.abs(apart).sum() <= statistic.sensitivity_l1 * (1 + 1e-9) + extra.sum()
        if statistic.ranges is not None:
            assert np.all(np.abs(apart) <= statistic.ranges * (1 + 1e-9) + extra)

    searched()


# --- the fit ------------------------------------------------------------------------------------------------

SCHEMA = dps.Schema(
    time=dps.bounded(0.1, 2000),
    failed=dps.event(),
    x=dps.bounded(-6, 6),
    g=dps.levels("a", "b"),
    units=dps.count(5),
)


ERRORS = {
    "weibull": lambda rng, n: np.log(rng.exponential(size=n)),
    "loglogistic": lambda rng, n: rng.logistic(size=n),
    "lognormal": lambda rng, n: rng.normal(size=n),
}


def fleet(n: int, dist: str = "weibull") -> pd.DataFrame:
    rng = np.random.default_rng(4)
    x, g, units = rng.normal(size=n), rng.choice(["a", "b"], n), rng.integers(0, 6, n)
    life = np.exp(5 + 0.4 * x + 0.5 * (g == "b") + 0.6 * ERRORS[dist](rng, n))
    end = rng.uniform(50, 800, n)
    time, failed = np.minimum(life, end), (life <= end).astype(int)
    return pd.DataFrame({"time": time, "failed": failed, "x": x, "g": g, "units": units})


def fitted(rows: pd.DataFrame, dist: str, weights: str | None, budget: object) -> dps.results.SurvivalFit:
    with noise(NoNoise()):
        return dps.survreg("Surv(time, failed) ~ x + g", rows, SCHEMA, dist=dist, weights=weights).fit(budget)


@pytest.mark.parametrize("dist", sorted(ERRORS))
def test_a_row_of_five_units_is_five_rows(dist: str) -> None:
    rows = fleet(1500, dist)
    weighed = fitted(rows, dist, "units", dps.gdp(50))
    repeated = fitted(rows.loc[rows.index.repeat(rows.units)], dist, None, dps.gdp(50))
    assert np.all(np.abs(weighed.params - repeated.params) < 0.25 * repeated.bse)  # other bounds are chosen
    assert weighed.nevents.estimate == pytest.approx(repeated.nevents.estimate, rel=1e-3)
    assert "Weights    units" in str(weighed.summary())


@pytest.mark.parametrize("budget", [dps.gdp(3e5), dps.pure(1e7)], ids=str)
def test_as_many_rows_of_five_units_say_five_times_as_much(budget: object) -> None:
    """Where so little noise is planned that scores have the declared bounds; else units widen them."""
    rows = fleet(2000).assign(units=5, failed=1)
    errors = np.log(
        -np.log((np.arange(2000) + 0.5) / 2000)
    )  # as the distribution says, so that none is doubted
    rows["time"] = np.exp(5 + 0.4 * rows.x + 0.5 * (rows.g == "b") + 0.6 * errors)
    alone, weighed = (fitted(rows, "weibull", how, budget) for how in (None, "units"))
    np.testing.assert_allclose(weighed.params, alone.params)
    sampling = [fit.record.cov - fit.record.cov_privacy for fit in (alone, weighed)]
    np.testing.assert_allclose(sampling[1], sampling[0] / 5, rtol=1e-3, atol=1e-8)
    assert weighed.nevents.estimate == pytest.approx(5 * alone.nevents.estimate)


def test_what_has_no_weights_says_so() -> None:
    model = dps.survreg("Surv(time) ~ x", fleet(200), SCHEMA, weights="units")
    with pytest.raises(dps.SpecificationError, match="takes no weights; take the default method"):
        model.fit(dps.pure(1), method="functional")
    with pytest.raises(dps.SpecificationError, match="survreg with weights has no log-likelihood"):
        model.fit(dps.zcdp(1), release=["loglik"])
