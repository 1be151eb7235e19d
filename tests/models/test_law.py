"""A survival fit says how far failures are from the times that its distribution says."""

from unittest.mock import Mock

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.formula import build_design
from dpstats.results import SurvivalFit, summary
from dpstats.testing import SeededNoise, noise

N, TOLD = 4000, 3.5


def fitted(times: np.ndarray, budget: Budget, seed: int, dist: str) -> SurvivalFit:
    data = {"time": times.clip(1, 4000), "failed": np.ones(N)}
    schema = dps.Schema(time=dps.bounded(1, 4000), failed=dps.event())
    with noise(SeededNoise(seed)):
        return dps.survreg("Surv(time, failed) ~ 1", data, schema, dist=dist).fit(budget)


@pytest.mark.parametrize("fits", [3, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("budget", [dps.approx(2, 1e-6), dps.pure(4)])
def test_it_is_noise_where_the_distribution_holds_and_told_where_it_does_not(
    budget: Budget, fits: int
) -> None:
    draw = np.random.default_rng(3)
    for seed in range(fits):
        right = fitted(600 * draw.weibull(1.5, N), budget, seed, "weibull")
        wrong = fitted(400 * np.exp(0.8 * draw.standard_normal(N)), budget, seed, "weibull")
        assert abs(right.law.estimate) < TOLD * right.law.std_error
        assert abs(wrong.law.estimate) > TOLD * wrong.law.std_error
        assert "law" in dict(wrong.flags) and "law" not in dict(right.flags)
        off = abs(wrong.law.estimate) / wrong.law.std_error
        assert f"({off:.1f} standard errors off, " in " ".join(str(wrong.summary()).split())
        assert "first by dps.check that a failure is failed = 1)" in " ".join(str(wrong.summary()).split())
        assert "standard errors off" not in str(right.summary())


@pytest.mark.parametrize(
    ("times", "code"), [("Surv(t, e)", "e = 2"), ("Surv(t, censored=f)", "f = no"), ("Surv(t)", "")]
)
def test_the_code_of_a_failure_is_named(times: str, code: str) -> None:
    schema = dps.Schema(t=dps.bounded(1, 9), e=dps.event(failed=2, censored=1), f=dps.flag("yes", "no"))
    said = summary._coded(Mock(design=build_design(f"{times} ~ 1", schema), schema=schema))
    assert said == f"; see first by dps.check that a failure is {code}" * bool(code)


@pytest.mark.parametrize(("fits", "most"), [(20, 5), pytest.param(60, 9, marks=pytest.mark.long)])
def test_limits_hold_for_the_clearest_of_three_contrasts(fits: int, most: int) -> None:
    """So many limits of the right law may leave 0 out; more do with a chance below .001."""
    draw = np.random.default_rng(4)
    found = [fitted(600 * draw.weibull(1.5, N), dps.gdp(1), seed, "weibull").law for seed in range(fits)]
    assert sum(not each.conf_low < 0 < each.conf_high for each in found) <= most


def test_it_is_kept_and_only_where_it_was_released() -> None:
    fit = fitted(600 * np.random.default_rng(1).weibull(1.5, N), dps.gdp(2), 1, "weibull")
    half = stats.norm.ppf(1 - 0.05 / 6) * fit.law.std_error  # of three contrasts
    limits = fit.law.estimate - half, fit.law.estimate + half
    assert (fit.law.conf_low, fit.law.conf_high) == pytest.approx(limits, rel=1e-9)
    assert SurvivalFit.from_dict(fit.to_dict()).law == fit.law and 0 < fit.law.privacy_share < 1


@pytest.mark.parametrize(
    ("share", "words"), [(0.5, "50.0 % of the failures"), (1.2, "are the bounds in the unit")]
)
def test_no_more_than_all_failures_are_said_to_come_at_other_times(
    monkeypatch: pytest.MonkeyPatch, share: float, words: str
) -> None:
    record = Mock(law=share)
    record.schema.privacy_unit.max_rows = 1
    record.design.response.event = None
    monkeypatch.setattr(summary, "off_the_law", lambda _: Mock(estimate=share, std_error=0.01))
    assert words in summary._more("law", record)
