"""A level that no row has; where it is the reference, the others' columns add up to the intercept."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.level_scores import END, OPEN, REACH, Z95, LevelShift
from dpstats.estimators.location_scale.level_lines import LevelRows, read_levels
from dpstats.testing import SeededNoise, noise
from tests.luck import LUCK, fewest, most

ROWS = 20_000


def fitted(
    levels: tuple[str, ...], right: str, budget: Budget, model: Any = dps.survreg, seed: int = 5
) -> Any:
    """Rows of the levels b, c and d, of which those of d live longer."""
    rng = np.random.default_rng(3)
    temp, stand = rng.normal(40, 8, ROWS).clip(0, 100), rng.choice(["p", "q"], ROWS)
    maker = rng.choice(["b", "c", "d"], ROWS, p=[0.5, 0.3, 0.2])
    lives = np.exp(1 - 0.02 * (temp - 40) + 0.5 * (maker == "d")) * rng.exponential(size=ROWS) ** 0.6
    watched = rng.uniform(0, 8, ROWS)
    data = dict(time=np.minimum(lives, watched), failed=lives <= watched, temp=temp, maker=maker, stand=stand)
    schema = dps.Schema(
        time=dps.bounded(0.001, 50),
        failed=dps.event(),
        temp=dps.bounded(0, 100),
        maker=dps.levels(*levels),
        stand=dps.levels("p", "q"),
    )
    with noise(SeededNoise(seed)):
        return model(f"Surv(time, failed) ~ temp + {right}", data, schema).fit(budget)


@pytest.mark.parametrize("right, between", [("maker", "maker[T.d] - maker[T.b]"), ("C(maker, Sum)", None)])
@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(3)])
def test_what_is_told_against_a_level_without_rows_goes_as_far_as_levels_do(
    right: str, between: str | None, budget: Budget
) -> None:
    """Intervals of 1.4 to 13 log times on either side were a guess of what noise hides of their sum.

    Of 50 fits against a reference one has shorter ones by its noise.
    """
    fits = [fitted(("a", "b", "c", "d"), right, budget, seed=seed) for seed in range(5, 9)]
    open_ended = ["Intercept", *(name for name in fits[0].bse.index if "maker" in name)]
    share = 0.25 if "Sum" in right else 1.0  # of a level, in the intercept and in contrasts to the mean
    far = [(fit.bse[open_ended] > share * 0.5 * END / Z95).all() for fit in fits]
    assert sum(far) >= fewest(len(fits), 0.98)
    for fit in fits:
        assert np.isfinite(fit.bse).all() and abs(fit.params["temp"] + 0.02) < 3 * fit.bse["temp"]
        assert {code for code, _ in fit.flags} <= ({"weak"} if "Sum" in right else set())
        if between:  # it stands as it is
            found = fit.t_test(between)
            assert abs(found.effect - 0.5) < 3 * found.sd < 0.3
    assert np.median([fit.bse["temp"] for fit in fits]) < 0.02


def test_with_strata_what_is_told_against_a_level_without_rows_is_not_estimable() -> None:
    fit = fitted(("a", "b", "c", "d"), "maker + stand + strata(stand)", dps.approx(3, 1e-6))
    lost = set(fit.bse.index[np.isinf(fit.bse)])
    assert lost == {"Intercept", *(name for name in fit.bse.index if "maker" in name)}
    assert "not_estimable" in [code for code, _ in fit.flags]
    assert abs(fit.params["temp"] + 0.02) < 3 * fit.bse["temp"] < 0.02


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(3)])
def test_against_a_level_with_rows_all_are(budget: Budget) -> None:
    fit = fitted(("b", "c", "d"), "maker", budget)
    assert np.isfinite(fit.bse).all() and not fit.flags
    assert abs(fit.params["maker[T.d]"] - 0.5) < 3 * fit.bse["maker[T.d]"] < 0.3


def test_a_level_without_rows_that_is_no_reference_is_unknown_alone() -> None:
    fit = fitted(("b", "c", "a", "d"), "maker", dps.approx(3, 1e-6))
    assert set(fit.bse.index[fit.bse > 0.5]) == {"maker[T.a]"} and not fit.flags
    assert abs(fit.params["maker[T.a]"]) < 0.7 * REACH and 3 < fit.bse["maker[T.a]"] < 7


def test_a_level_without_rows_says_nothing_of_the_budget_of_the_others() -> None:
    """All intervals of hazards were said to be widened and rough, which those of the others are not."""
    guessed = []
    for seed in range(6, 14):
        fit = fitted(("b", "c", "a", "d"), "maker", dps.approx(3, 1e-6), dps.coxph, seed)
        assert set(fit.bse.index[fit.bse > 1]) == {"maker[T.a]"} and 7 < fit.bse["maker[T.a]"] < 9
        codes = [code for code, _ in fit.flags]
        assert codes in ([], ["weak"])  # noise may hide another level, too
        guessed.append("weak" in codes)
        assert abs(fit.params["temp"] - 0.02 / 0.6) < 3.5 * fit.bse["temp"] < 0.02
    assert sum(guessed) <= 2


@pytest.mark.parametrize("strata", ["", " + stand + strata(stand)"])
def test_levels_beside_a_reference_that_few_rows_have_are_told_apart(strata: str) -> None:
    """Each was read against it, by a curve that leans on what noise made of it: 2.9 half-lengths off."""
    off = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        maker = rng.choice(["a", "b", "c"], ROWS, p=[0.003, 0.4985, 0.4985])
        stand = rng.choice(["p", "q"], ROWS)
        lives = np.exp(0.5 * (maker == "b")) * rng.exponential(size=ROWS) ** 0.5
        data = dict(time=np.minimum(lives, 1.5), failed=lives < 1.5, maker=maker, stand=stand)
        levels = dict(maker=dps.levels("a", "b", "c"), stand=dps.levels("p", "q"))
        schema = dps.Schema(time=dps.bounded(0.0001, 5), failed=dps.event(), **levels)
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(time, failed) ~ maker" + strata, data, schema).fit(dps.gdp(3))
        found = fit.t_test("maker[T.b] - maker[T.c]")
        assert found.sd < 0.02 and set(dict(fit.flags)) <= {
            "unsettled"
        }  # that by luck of the steps, one in 100
        off.append(abs(found.effect - 0.5) / (Z95 * found.sd))
    assert max(off) < stats.norm.isf(LUCK / 12) / Z95 and sum(each > 1 for each in off) <= most(6, 0.05)


def dosed(dist: str, effect: float, sigma: float, share: float, epsilon: float, seed: int) -> Any:
    """Rows of which few have a dose, watched until a share of all has failed."""
    rng = np.random.default_rng(300 + seed)
    dose = np.where(rng.random(ROWS) < 0.8, 0.0, rng.exponential(size=ROWS).clip(0, 8)).round(3)
    error = rng.normal(size=ROWS) if dist == "lognormal" else np.log(rng.exponential(size=ROWS))
    life = 2 + effect * dose + sigma * error
    end = float(np.quantile(life, share))
    schema = dps.Schema(
        time=dps.bounded(0.5, 1.1 * float(np.exp(end))), failed=dps.event(), dose=dps.bounded(0, 16)
    )
    data = dict(time=np.exp(np.minimum(life, end)), failed=life <= end, dose=dose)
    with noise(SeededNoise(seed)):
        return dps.survreg("Surv(time, failed) ~ dose", data, schema, dist=dist).fit(
            dps.approx(epsilon, 1e-6)
        )


@pytest.mark.long
def test_a_dose_with_which_hardly_a_row_fails_has_no_short_interval() -> None:
    """A guess of what noise hides that explains lives that were seen is too short: of 24, 14 were far off."""
    far = []
    for dist, effect, sigma in (("lognormal", 2.5, 0.4), ("weibull", 2.0, 0.25)):
        for seed in range(12):
            fit = dosed(dist, effect, sigma, 0.1, 1, seed)
            if np.isfinite(fit.bse["dose"]):
                far.append(abs(fit.params["dose"] - effect) > 2 * Z95 * fit.bse["dose"])
    assert len(far) > 12 and np.mean(far) < 0.2


def test_a_dose_with_which_many_fail_keeps_its_interval() -> None:
    fits = [dosed("weibull", -0.5, 0.6, 0.3, 3, seed) for seed in range(4)]
    assert max(fit.bse["dose"] for fit in fits) < 0.1
    assert np.mean([abs(fit.params["dose"] + 0.5) < 2 * Z95 * fit.bse["dose"] for fit in fits]) > 0.7


@dataclass(frozen=True)
class Estimated:
    """A fit as far as lines of levels change it."""

    params: np.ndarray
    cov: np.ndarray

    def noisier(self, more: np.ndarray, *problems: str) -> "Estimated":
        return replace(self, cov=self.cov + more)


@pytest.mark.parametrize("factor", [1.0, math.inf])
def test_a_level_whose_scores_leave_an_end_open_goes_as_far_as_effects_of_levels(factor: float) -> None:
    """As of few failures among many rows: no cell of counts lacks them, and noise hides where they lie."""
    one, sigma = np.array([0.0, 1.0]), 0.7
    at: Any = SimpleNamespace(sigma=sigma, read=lambda *_: LevelShift(0.1, factor))
    scores: Any = SimpleNamespace(cov=np.eye(2))
    start = Estimated(np.zeros(3), np.eye(3))
    line = LevelRows(one, one, one, 0.5)
    found = read_levels(start, [line], scores, np.zeros((2, 2)), at, np.zeros(2, bool), np.zeros((2, 1)))  # type: ignore[type-var]
    assert found.params[1] == 0.1
    assert found.cov[1, 1] == pytest.approx(1 + (OPEN * sigma**2 if math.isinf(factor) else 0.0))
