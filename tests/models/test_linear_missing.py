"""Rows that lack a value, or are outside a subset, lengthen no interval beyond what their number does."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.results import LinearFit
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    x=dps.bounded(-20, 40),
    z=dps.bounded(0, 30),
    w=dps.bounded(0, 1),
    y=dps.bounded(-30, 30),
    here=dps.flag(),
)
TRUTH = np.array([-1.0, 0.1, 0.2])


def rows(seed: int, n: int, share: float) -> dict[str, np.ndarray]:
    """Errors of variance 1 over `w`; a share of the rows is not `here`."""
    draw = np.random.default_rng([seed, n])
    x, z, w = draw.normal(10, 3, n), draw.exponential(size=n), draw.uniform(0.1, 1, n)
    here = draw.uniform(size=n) >= share
    y = TRUTH @ [np.ones(n), x, z] + draw.normal(size=n) / np.sqrt(w)
    return {"x": x, "z": z, "w": w, "y": y, "here": here.astype(float)}


def without(data: dict[str, np.ndarray], column: str) -> dict[str, np.ndarray]:
    """With that column missing in rows that are not `here`."""
    return data | {column: np.where(data["here"] > 0, data[column], np.nan)}


def pair(seed: int, n: int, share: float, column: str, budget: Budget) -> tuple[LinearFit, LinearFit]:
    """A fit of rows some of which lack a value of `column`, and one of a table of the others alone."""
    data = rows(seed, n, share)
    alone = {name: values[data["here"] > 0] for name, values in data.items()}
    fits = []
    for place, table in enumerate((without(data, column), alone)):
        with noise(SeededNoise(2 * seed + place)):
            fits.append(dps.ols("y ~ x + z", table, SCHEMA).fit(budget))
    return fits[0], fits[1]


@pytest.mark.parametrize(
    ("n", "share", "column", "budget"),
    [
        (3_000, 0.5, "x", dps.approx(3, 1e-6)),
        (20_000, 0.3, "y", dps.approx(1, 1e-6)),
        pytest.param(60_000, 0.5, "x", dps.approx(1, 1e-6), marks=pytest.mark.long),
        (20_000, 0.5, "z", dps.pure(2)),
    ],
)
def test_missing_cells_cost_no_more_than_their_rows(
    n: int, share: float, column: str, budget: Budget
) -> None:
    found = [pair(seed, n, share, column, budget) for seed in range(9)]
    longer = np.median([some.bse / alone.bse for some, alone in found], axis=0)
    # logarithms of 18 such medians have an sd of .12
    assert (longer < 1.5).all() and (longer > 0.65).all()
    errors = np.array([(some.params - TRUTH) / some.bse for some, _ in found])
    assert (np.abs(errors) < 4).all()


def test_missing_cells_cost_no_more_than_their_rows_in_designs_drawn_anew() -> None:
    draw = np.random.default_rng()
    seed, share = int(draw.integers(2**31)), float(draw.uniform(0.1, 0.6))
    found = [pair(seed + j, 40_000, share, "x", dps.approx(1, 1e-6)) for j in range(9)]
    longer = np.median([some.bse / alone.bse for some, alone in found], axis=0)
    assert (longer < 1.6).all(), (seed, share)


@pytest.mark.parametrize("share", [0.5, pytest.param(0.97, marks=pytest.mark.long)])
def test_sigma_is_that_of_the_rows_of_a_subset(share: float) -> None:
    """With weights, of a row of weight 1: half of the rows outside once made that .75 of what it was."""
    data = rows(1, 100_000, share)
    for weights, actual in ((None, np.sqrt(np.log(10) / 0.9)), ("w", 1.0)):
        model, found = dps.ols("y ~ x + z", data, SCHEMA, subset="here", weights=weights), []
        for seed in range(5):
            with noise(SeededNoise(seed)):
                found.append(model.fit(dps.approx(2, 1e-6)).sigma)
            assert abs(found[-1].estimate - actual) < 3.5 * found[-1].std_error
        assert np.median([sigma.estimate for sigma in found]) == pytest.approx(actual, rel=0.08)


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)], ids=str)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_with_public_moments_only_rows_that_count_are_counted(share: float, budget: Budget) -> None:
    """Under pure epsilon .66 and .03 of slopes were held, and sigma was .7 and .3 of what it is."""
    public, held, sigma = rows(77, 400, 0.0), [], []
    for seed in range(6):
        with noise(SeededNoise(seed)):
            model = dps.ols("y ~ x + z", without(rows(seed, 40_000, share), "x"), SCHEMA, public=public)
            fit = model.fit(budget)
        held += list(abs(fit.params - TRUTH) < 2.5 * fit.bse)
        sigma.append(fit.sigma.estimate)
    assert np.mean(held) > 0.85
    assert np.median(sigma) == pytest.approx(np.sqrt(np.log(10) / 0.9), rel=0.1)
