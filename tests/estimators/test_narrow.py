"""Slopes from residuals clipped near one sd, and the release that gives back what that moves."""

import math
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.bounds import tail_bounds, tail_share
from dpstats.estimators.gram.narrow import straightened
from dpstats.estimators.gram.plan import make_plan
from dpstats.moments import LinearMoments
from dpstats.testing import NoNoise, SeededNoise, noise

K, N = 10, 4_000
BUDGET = dps.gdp(0.25)
NAMES = [f"x{j}" for j in range(1, K)]
SCHEMA = dps.Schema({name: dps.bounded(-4, 4) for name in NAMES} | {"y": dps.bounded(-40, 60)})
FORMULA = "y ~ " + " + ".join(NAMES)
TRUTH = np.append(2.0, np.resize([0.5, -0.4, 0.3], K - 1))
LAWS = {
    "normal": lambda draw, size: draw.normal(size=size),
    "uniform": lambda draw, size: draw.uniform(-(3**0.5), 3**0.5, size),
    "laplace": lambda draw, size: draw.laplace(size=size) / 2**0.5,
    "logistic": lambda draw, size: draw.logistic(size=size) * 3**0.5 / math.pi,
    "t": lambda draw, size: draw.standard_t(3, size) / 3**0.5,
    "lognormal": lambda draw, size: (
        (np.exp(draw.normal(size=size)) - math.e**0.5) / (math.e**2 - math.e) ** 0.5
    ),
}


def rows(law: str, seed: int, n: int = N, growth: float = 0.0) -> dict[str, np.ndarray]:
    """A true line; the ln sd of errors grows by so much per sd of the line."""
    draw = np.random.default_rng(seed)
    x = np.clip(draw.normal(size=(n, K - 1)), -4, 4)
    line = x @ TRUTH[1:]
    errors = LAWS[law](draw, n) * np.exp(growth * line / np.linalg.norm(TRUTH[1:]))
    return dict(zip(NAMES, x.T, strict=True), y=TRUTH[0] + line + errors)


def fitted(data: dict[str, np.ndarray], source: Any) -> Any:
    with noise(source):
        return dps.ols(FORMULA, data, SCHEMA).fit(BUDGET)


def test_where_noise_is_large_a_share_of_the_last_release_is_set_aside() -> None:
    plan = make_plan(BUDGET, N, K)
    share = tail_share(N, math.hypot(plan.final, plan.tail), K)
    assert 0 < share < 0.5 and plan.tail**2 == pytest.approx(share * (plan.tail**2 + plan.final**2))
    assert math.hypot(*plan.costs.values()) == pytest.approx(BUDGET.mu)
    wider = make_plan(BUDGET, N, 4 * K)
    assert 0 < wider.tail / wider.final < plan.tail / plan.final


@pytest.mark.parametrize(
    "other",
    [dict(n=400 * N), dict(k=7), dict(public=True), dict(constant=False), dict(weighted=True)],
    ids=str,
)
def test_elsewhere_nothing_is(other: dict[str, Any]) -> None:
    assert make_plan(**(dict(budget=BUDGET, n=N, k=K) | other)).tail == 0
    assert make_plan(dps.pure(1), N, K).tail == 0


@pytest.mark.parametrize("k", [8, 10, 26, 60])
def test_the_share_makes_the_sum_of_variances_least(k: int) -> None:
    best = tail_share(N, 0.1, k)
    narrow, wide = 1 - best, best  # p and q are as these
    sums = [narrow**2 / (1 - share) + wide**2 / share for share in (0.8 * best, best, 1.2 * best)]
    assert sums[1] == min(sums) == pytest.approx(1)


def test_rows_of_the_second_release_are_short_and_its_limit_wide() -> None:
    few, many = tail_bounds(N, 0.1, math.inf), tail_bounds(100 * N, 0.1, math.inf)
    assert few.radius == many.radius < 2 < few.limit < many.limit
    assert tail_bounds(N, 0.1, 1.5).limit == 1.5


@pytest.mark.parametrize("law", [law for law in LAWS if law != "lognormal"])
def test_the_slope_that_clipping_leaves_is_told_by_two_moments(law: str) -> None:
    limit, residuals = 1.2, LAWS[law](np.random.default_rng(1), 400_000)
    clipped = np.clip(residuals, -limit, limit)
    moments = LinearMoments(
        n=len(residuals),
        gram=np.eye(1),
        cross=np.ones(1),
        square=float(np.mean(clipped**2)),
        noise_gram=0.0,
        noise_cross=0.0,
        noise_square=0.0,
        meat=np.eye(1),
        noise_meat=0.0,
        fourth=float(np.mean(clipped**4)),
        noise_fourth=0.0,
        limit=limit,
        origin=np.zeros(1),
        map=np.eye(1),
        scale=1.0,
        penalised=np.zeros(1),
        constant=np.ones(1),
    )
    kept = 1 / straightened(moments).cross[0]
    assert kept == pytest.approx(np.mean(np.abs(residuals) < limit), rel=0.045)


@pytest.mark.parametrize("growth", [0.0, 0.3])
def test_skewed_errors_keep_their_mean_and_the_line_its_slope(growth: float) -> None:
    """Clipped at 1.2 sds they have another centre by a ninth of a sd; as their sd grows, another slope."""
    data = rows("lognormal", 5, 40 * N, growth)
    with noise(NoNoise()):
        fit = dps.ols(FORMULA, data, SCHEMA).fit(dps.gdp(0.025))
    moments, exog = fit.record.linear, np.column_stack([np.ones(40 * N), *(data[name] for name in NAMES)])
    exact = np.linalg.lstsq(exog, data["y"], rcond=None)[0]
    narrow = moments.origin + moments.map @ moments.normal_equations().delta
    along = TRUTH[1:] / np.linalg.norm(TRUTH[1:])
    assert narrow[0] - exact[0] < -0.08
    assert abs(fit.params.iloc[0] - exact[0]) < 0.05
    apart = (fit.params.to_numpy() - exact)[1:] @ along
    if growth:
        assert (narrow - exact)[1:] @ along < -0.06
    assert abs(apart) < 0.04


@pytest.mark.parametrize("law", ["normal", "lognormal", "t"])
def test_intervals_hold_the_truth(law: str) -> None:
    """20 fits of 10 coefficients; of right intervals .05 miss, and .14 or more in one test of 10,000."""
    missed = []
    for seed in range(20):
        fit = fitted(rows(law, seed, growth=0.2), SeededNoise(seed))
        assert "offset and spread" in fit.record.released
        missed.append(np.abs(fit.params - TRUTH) > 1.96 * fit.bse)
    assert np.mean(missed) < 0.14


def test_slopes_are_told_better_than_with_a_wide_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = {}
    for limit in ("narrow", "wide"):
        fits = [fitted(rows("normal", seed), SeededNoise(seed)) for seed in range(5)]
        widths[limit] = np.median([fit.bse.to_numpy()[1:] for fit in fits])
        monkeypatch.setattr("dpstats.estimators.gram.plan.tail_share", lambda n, mu, k: 0.0)
    assert widths["narrow"] < 0.95 * widths["wide"]


def test_rows_that_do_not_count_leave_nothing_to_tell() -> None:
    data = rows("normal", 3)
    data["y"] = np.where(np.arange(N) < 20, data["y"], np.nan)
    fit = fitted(data, SeededNoise(3))
    assert np.isinf(fit.bse).all()


def test_a_saved_fit_tells_the_same() -> None:
    moments = fitted(rows("normal", 3), SeededNoise(3)).record.linear
    again = LinearMoments.from_dict(moments.to_dict())
    assert again.shift is not None and again.to_dict() == moments.to_dict()
    assert np.array_equal(again.solve(0.1).cov, moments.solve(0.1).cov)
    assert again.sigma() == moments.sigma() and again.rsquared() == moments.rsquared()
