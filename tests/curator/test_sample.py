"""Some of the rows: drawn by coins that know nothing of them, under the sensitivity and account of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.budget import gdp
from dpstats.curator import Curator
from dpstats.curator.blocks import Sample
from dpstats.curator.mechanisms import SecureNoise
from dpstats.errors import BudgetError
from dpstats.estimators.engine import some
from dpstats.schema import Unit
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.made import MadeDesign, MadeRows, made_columns, under
from tests.privacy.totals import Totals, registered

SHARE = 0.25
COLUMNS = made_columns(400, 2)
SCALE = dict(scale=[1.0, 3.0])


class Coins(NoNoise):
    """No noise, and coins that a test has thrown; it keeps what they were asked."""

    def __init__(self, thrown: bytes) -> None:
        self.thrown, self.asked = thrown, []

    def coins(self, *asked: Any) -> bytes:
        self.asked.append(asked)
        return self.thrown


def thrown(seed: int, n: int = 400) -> bytes:
    return np.random.default_rng(seed).bytes(n)


def exact(columns: dict[str, np.ndarray], coins: bytes, unit: Unit | None = None) -> tuple[np.ndarray, float]:
    """The sum over a sample that is noised, and its L2 sensitivity."""
    recording = Recording(Coins(coins))
    rows = MadeRows(columns, unit) if unit else MadeRows(columns)
    with registered(Totals), noise(recording):
        curator = under(None, rows, MadeDesign(2), gdp(1), 64)
        curator.sampled(SHARE).release("totals", 1.0, **SCALE)
    return recording.records[0].exact, recording.records[0].sensitivity


def changed(row: int, x: float) -> dict[str, np.ndarray]:
    columns = {name: values.copy() for name, values in COLUMNS.items()}
    columns["x"][row] = x
    return columns


def test_a_row_is_drawn_if_its_coin_says_so() -> None:
    coins = thrown(1)
    drawn = np.frombuffer(coins, np.uint8) < 64
    sample = Sample(MadeRows(COLUMNS), SHARE, Coins(coins).coins)
    assert sample.n == drawn.sum() and 60 < sample.n < 140
    for size in (7, 64, 1000):
        for _ in range(2):  # the same rows at every pass
            blocks = list(sample.blocks(size))
            assert [len(block["time"]) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
            for name, values in COLUMNS.items():
                np.testing.assert_array_equal(np.concatenate([b[name] for b in blocks]), values[drawn])


def test_coins_are_told_how_many_rows_there_are_and_nothing_else() -> None:
    coins = Coins(thrown(1))
    under(coins, MadeRows(COLUMNS), MadeDesign(2), gdp(1)).sampled(SHARE)
    assert coins.asked == [(400,)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 399), st.floats(-2, 2), st.floats(-2, 2))
def test_no_pair_of_neighbours_passes_the_sensitivity(seed: int, row: int, one: float, other: float) -> None:
    coins = thrown(seed)
    (first, allowed), (second, _) = exact(changed(row, one), coins), exact(changed(row, other), coins)
    assert np.linalg.norm(first - second) <= allowed
    if coins[row] >= 64:
        np.testing.assert_array_equal(first, second)


def test_a_pair_attains_it() -> None:
    coins = bytes(400)  # of which each says so
    (first, allowed), (second, _) = exact(changed(3, 1.0), coins), exact(changed(3, -1.0), coins)
    assert np.linalg.norm(first - second) == pytest.approx(allowed, rel=1e-6)


def test_rows_of_a_unit_count_as_often_as_they_may_weigh() -> None:
    assert exact(COLUMNS, thrown(1), Unit("serial", 3))[1] == pytest.approx(3 * exact(COLUMNS, thrown(1))[1])


def test_places_are_drawn_alike_and_apart() -> None:
    """Else what is drawn of a table would depend on where others' rows stand."""
    times, n = 4000, 12
    rows = MadeRows(made_columns(n, 2))
    draws = np.array([Sample(rows, SHARE, SecureNoise().coins)._drawn for _ in range(times)])
    error = np.sqrt(SHARE * (1 - SHARE) / times)
    assert np.all(np.abs(draws.mean(axis=0) - SHARE) < 5.5 * error)
    together = np.cov(draws.T.astype(float))[np.triu_indices(n, 1)]
    assert np.all(np.abs(together) < 5.5 * SHARE * (1 - SHARE) / np.sqrt(times))


def test_the_account_is_that_of_all_rows() -> None:
    whole = Curator(MadeRows(COLUMNS), MadeDesign(2), gdp(1.0))
    sampled = whole.sampled(SHARE)
    assert sampled.n < whole.n and not sampled.not_private
    with registered(Totals):
        assert sampled.release("totals", 0.8, **SCALE).n == sampled.n
        with pytest.raises(BudgetError, match=r"only mu = 0\.6 is left"):
            whole.release("totals", 0.7, **SCALE)
        assert whole.release("totals", 0.6, **SCALE).n == 400


def test_where_little_is_saved_or_rows_are_read_again_all_are_taken() -> None:
    class Elsewhere(MadeRows):
        def parts(self) -> Any:
            return (Part(),)

    class Part:
        portable, inputs, mapped = False, (), None

    for rows, share in ((MadeRows(COLUMNS), 0.6), (Elsewhere(COLUMNS), SHARE)):
        curator = Curator(rows, MadeDesign(2), gdp(1))
        assert curator.sampled(share) is curator


# --- the fits ----------------------------------------------------------------------------------------------

N = 80_000
SCHEMA = dps.Schema(x=dps.bounded(-40, 60), g=dps.levels("a", "b", "c"), y=dps.bounded(-50, 50), z=dps.flag())


def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    x, g = rng.normal(2, 1, N), rng.choice(["a", "b", "c"], N)
    line = 0.5 * (x - 2) + (g == "b")
    z = (rng.random(N) < 1 / (1 + np.exp(-line))).astype(float)
    # sorted, so that rows of one place would not do
    return pd.DataFrame(dict(x=x, g=g, y=line + rng.normal(size=N), z=z)).sort_values("y")


@pytest.mark.parametrize("model", ["ols", "logit"])
def test_a_fit_that_looks_at_some_rows_first_estimates_from_all(model: str, monkeypatch: Any) -> None:
    def fitted() -> tuple[Any, list[float]]:
        recording = Recording(SeededNoise(3))
        with noise(recording):
            left = "y" if model == "ols" else "z"
            fit = getattr(dps, model)(f"{left} ~ x + g", table(), SCHEMA).fit(gdp(8))
        return fit, [np.abs(record.exact).max() for record in recording.records]

    with monkeypatch.context() as patch:
        patch.setattr(some, "_LOOKS", np.inf)
        patch.setattr(some, "_EARLY", (np.inf, np.inf))
        whole, counts = fitted()
    monkeypatch.setattr(some, "_LOOKS", 1.0)  # an eighth of the rows
    part, fewer = fitted()
    assert fewer[0] < counts[0] / 5  # cells of the first look
    assert np.all(np.abs(part.params - whole.params) < 0.5 * whole.bse)
    np.testing.assert_allclose(part.bse, whole.bse, rtol=0.15)
    assert part.flags == whole.flags and part.nobs == N


def steps(monkeypatch: Any, model: str, rows: pd.DataFrame) -> tuple[Any, list[int]]:
    """A fit, and how many rows each of its steps has read."""
    drawn: list[int] = []
    release = Curator.release

    def counted(self: Curator, name: str, *spent: Any, **public: Any) -> Any:
        drawn.extend([self.n] * (name in {"martingale_score", "logistic_score"}))
        return release(self, name, *spent, **public)

    left, schema = "z", dict(z=dps.flag())
    if model == "survreg":
        left, schema = "Surv(time, failed)", dict(time=dps.bounded(1e-3, 40), failed=dps.event())
    with noise(SeededNoise(3)), monkeypatch.context() as patch:
        patch.setattr(Curator, "release", counted)
        described = getattr(dps, model)(f"{left} ~ x", rows, dps.Schema(x=dps.bounded(-4, 8), **schema))
        return described.fit(gdp(8)), drawn


@pytest.mark.parametrize(("model", "early"), [("survreg", 4), ("logit", 5)])
def test_early_steps_to_a_root_are_of_some_rows_and_the_others_of_all(
    model: str, early: int, monkeypatch: Any
) -> None:
    rows = table()
    time = np.exp(3 + 0.3 * rows["x"] + 0.5 * np.log(np.random.default_rng(6).exponential(size=N)))
    rows = rows.assign(time=np.minimum(time, 40.0), failed=time <= 40)
    part, counts = steps(monkeypatch, model, rows)
    monkeypatch.setattr(some, "_EARLY", (np.inf, np.inf))
    whole, _ = steps(monkeypatch, model, rows)
    assert all(n < N / 2 for n in counts[:early])
    assert set(counts[early:]) == {N}
    assert np.all(np.abs(part.params - whole.params) < 0.5 * whole.bse)
    np.testing.assert_allclose(part.bse, whole.bse, rtol=0.15)
    assert part.flags == whole.flags and part.nobs == N


@pytest.mark.parametrize(("family", "some_alone"), [("poisson", True), ("negativebinomial", False)])
def test_how_counts_scatter_is_asked_of_the_rows_of_early_steps_unless_an_alpha_is_sought(
    family: str, some_alone: bool, monkeypatch: Any
) -> None:
    read: list[int] = []
    release = Curator.release

    def counted(self: Curator, name: str, *spent: Any, **public: Any) -> Any:
        read.extend([self.n] * (name == "score_squares"))
        return release(self, name, *spent, **public)

    monkeypatch.setattr(Curator, "release", counted)
    rows = table()
    counts = np.random.default_rng(8).poisson(np.exp(0.3 * rows["x"]))
    schema = dps.Schema(x=dps.bounded(-4, 8), y=dps.count(60))
    with noise(SeededNoise(3)):
        dps.glm("y ~ x", rows.assign(y=counts), schema, family).fit(gdp(8))
    assert len(read) == 1 and (read[0] < N / 2) is some_alone


def test_of_a_rare_answer_early_steps_read_more_rows(monkeypatch: Any) -> None:
    """A hundredth of the rows tells a twenty-fifth of what even odds do."""
    rare = np.random.default_rng(7).random(N) < 0.01
    _, counts = steps(monkeypatch, "logit", table().assign(z=rare.astype(float)))
    assert set(counts) == {N}
