"""Responses that bend: a caution where it matters which rows count, none where the formula holds."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.newton.plan import make_plan
from dpstats.testing import NoNoise, Recording, SeededNoise, noise

N = 20_000
SCHEMA = dps.Schema(
    x=dps.bounded(-8, 8),
    z=dps.bounded(-8, 8),
    o=dps.bounded(-1, 1),
    y=dps.flag(),
    claims=dps.count(500),
    amount=dps.bounded(0, 1e4),
)
RESPONSES = {"binomial": "y", "poisson": "claims", "gamma": "amount"}


def rows(bend: float, seed: int, n: int = N) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, 11])
    x, z, o = rng.normal(size=n), rng.gamma(2, 1, n) - 2, rng.uniform(-1, 1, n)
    eta = 0.5 * x + 0.3 * z + o
    eta += bend * (eta**2 - 1)
    mean = np.exp(np.minimum(eta, 5))
    return {
        "x": x,
        "z": z,
        "o": o,
        "y": (rng.uniform(size=n) < 1 / (1 + np.exp(-eta))).astype(float),
        "claims": rng.poisson(mean).astype(float),
        "amount": mean * rng.gamma(2, 0.5, n),
    }


def codes(family: str, bend: float, seed: int, source: object, budget: Budget) -> list[str]:
    formula = f"{RESPONSES[family]} ~ x + z + offset(o)"
    with noise(source):
        fit = dps.glm(formula, rows(bend, seed), SCHEMA, family).fit(budget)
    return [code for code, _ in fit.flags]


@pytest.mark.parametrize("family", RESPONSES)
@pytest.mark.parametrize("source", [NoNoise(), SeededNoise(1)], ids=["exact", "noisy"])
def test_a_curved_response_is_seen(family: str, source: object) -> None:
    assert "bends" in codes(family, 0.3, 1, source, dps.approx(0.5, 1e-6))
    assert "bends" in codes(family, -0.3, 2, source, dps.approx(0.5, 1e-6))


@pytest.mark.parametrize("family", RESPONSES)
def test_a_straight_one_is_not(family: str) -> None:
    """One fit in 1,000 is flagged by chance: two of 15, once in 10,000 runs."""
    found = [codes(family, 0.0, seed, SeededNoise(seed), dps.approx(1 + seed, 1e-6)) for seed in range(15)]
    assert sum("bends" in each for each in found) <= 1


def test_a_bend_that_is_worth_no_caution_widens_intervals() -> None:
    """Two samples under the same noise; only their bends differ."""
    errors = []
    for bend in (0.0, 0.2):
        with noise(SeededNoise(1)):
            fit = dps.logit("y ~ x + z + offset(o)", rows(bend, 5), SCHEMA).fit(dps.approx(1, 1e-6))
        assert fit.flags == ()
        errors.append(fit.bse.to_numpy())
    assert (errors[1] > 1.2 * errors[0]).all()


def line(bend: float, seed: int, n: int = 20_000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, 12])
    x, z = rng.normal(size=n), rng.gamma(2, 1, n) - 2
    mean = 0.5 * x + 0.3 * z
    return {"x": x, "z": z, "y": 50 + mean + bend * mean**2 + rng.normal(size=n)}


LINE = dps.Schema(x=dps.bounded(-8, 8), z=dps.bounded(-8, 8), y=dps.bounded(0, 100))


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)], ids=str)
def test_a_curved_line_is_seen(budget: Budget) -> None:
    with noise(SeededNoise(1)):
        fit = dps.ols("y ~ x + z", line(0.4, 1), LINE).fit(budget)
        shrunk = fit.at_alpha(1.0)
    for each in (fit, shrunk):
        assert "bends" in [code for code, _ in each.flags] and "bends" in str(each.summary())


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)], ids=str)
def test_a_straight_line_is_not(budget: Budget) -> None:
    """One fit in 1,000 is flagged by chance: two of 15, once in 10,000 runs."""
    found = 0
    for seed in range(15):
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z", line(0.0, seed), LINE).fit(budget)
        found += "bends" in [code for code, _ in fit.flags]
    assert found <= 1


def test_a_line_that_hardly_bends_has_wider_intervals() -> None:
    errors = []
    for bend in (0.0, 0.1):
        with noise(SeededNoise(1)):
            fit = dps.ols("y ~ x + z", line(bend, 5), LINE).fit(dps.approx(1, 1e-6))
        assert fit.flags == ()
        errors.append(fit.bse.to_numpy())
    assert (errors[1] > 1.3 * errors[0]).all()


def test_where_all_rows_count_in_full_a_bend_does_not_matter() -> None:
    """The line is least squares itself."""
    with noise(NoNoise()):
        for fit in (
            dps.ols("y ~ x + z", line(0.4, 1), LINE).fit(dps.gdp(1e9)),
            dps.logit("y ~ x + z", rows(0.4, 1), SCHEMA).fit(dps.gdp(1e9)),
        ):
            assert fit.flags == ()


def test_it_is_looked_for_once_and_last() -> None:
    recording = Recording(SeededNoise(1))
    with noise(recording):
        dps.logit("y ~ x", rows(0.0, 1, 2000), SCHEMA).fit(dps.gdp(1.0))
        dps.ols("y ~ x", line(0.0, 1, 2000), LINE).fit(dps.gdp(1.0))
        dps.ols("y ~ x", line(0.0, 1, 2000), LINE).fit(dps.gdp(1e9))
    names = [record.name for record in recording.records]
    assert names.count("predictor_bend") == 3 and names[-1] == "predictor_bend"


def test_the_shares_of_a_plan_add_up() -> None:
    plan = make_plan(2.0)
    assert sum(cost**2 for cost in plan.costs.values()) == pytest.approx(4.0)
