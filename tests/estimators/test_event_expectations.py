"""What is expected of events, against rows watched for the same time, and when it is believed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special

from dpstats.estimators.location_scale.event_expectations import expected
from dpstats.estimators.location_scale.events import events_of
from dpstats.estimators.location_scale.gaussian import spread_of
from dpstats.families import LOGISTIC, NORMAL, SEV, Family
from tests.families.laws import LAWS


@pytest.mark.parametrize("fraction", [1.0, 0.7, 0.4, 0.05])
def test_events_are_a_truncated_normal(fraction: float) -> None:
    usual, n = expected(NORMAL, fraction), 400_000
    z = special.ndtri(fraction * np.random.default_rng(5).uniform(size=n))
    h1 = NORMAL.log_hazard_slope(z)
    assert usual.location_share == pytest.approx(np.mean(h1**2), rel=0.01)
    log_sigma = 1 + (z - z.mean() - usual.offset) * h1
    assert abs(np.mean(h1 * log_sigma)) < 0.015  # the pivot: both scores of the events are uncorrelated
    assert usual.log_sigma_information(1.0) == pytest.approx(np.mean(log_sigma**2), rel=0.015)
    for floor in usual.floors[:4]:
        frozen = NORMAL.log_hazard_slope(np.maximum(z, floor.z))
        slope, square = np.mean(h1 * frozen), np.mean(frozen**2)
        assert floor.size == pytest.approx(slope / np.sqrt(usual.location_share), rel=0.01)
        assert floor.lost == pytest.approx(1 - slope**2 / square / usual.location_share, abs=0.003)


def test_a_floor_one_sd_below_the_mean_loses_little_and_halves_what_a_row_does() -> None:
    lost = [expected(NORMAL, fraction).floors[0].lost for fraction in (1.0, 0.9, 0.7, 0.4, 0.1, 0.01)]
    assert 0.03 < lost[0] < 0.04 and (np.diff(lost) < 0).all()
    uncensored = expected(NORMAL, 1.0)
    assert uncensored.floors[0].z == pytest.approx(-1.0, abs=0.01)
    tightest, far = NORMAL.log_hazard_slope(np.array([uncensored.floors[0].z, -2.5]))
    assert tightest / far == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("end", [np.inf, 0.4, -0.3, -1.5])
def test_the_start_undoes_truncation(end: float) -> None:
    """All is normal and all rows are watched until `end`: the start is the truth, but for sampling."""
    generator, n, beta, sigma = np.random.default_rng(8), 2_000_000, np.array([0.6, -0.3]), 0.5
    x = generator.normal(size=(n, 2))
    y = x @ beta + sigma * generator.normal(size=n)
    seen = y <= end
    x_mean, x_sd, y_mean, y_sd = x[seen].mean(0), x[seen].std(0), y[seen].mean(), y[seen].std()
    rows, response = (x[seen] - x_mean) / x_sd, (y[seen] - y_mean) / y_sd
    exog = np.column_stack([np.ones(len(rows)), rows])
    line = np.linalg.lstsq(exog, response, rcond=None)[0]
    variance = float(np.mean((response - exog @ line) ** 2))
    gamma, found = expected(NORMAL, float(seen.mean())).start(line, variance)
    assert found * y_sd == pytest.approx(sigma, rel=0.03)
    assert gamma[1:] * y_sd / x_sd == pytest.approx(beta, rel=0.05)
    assert gamma[0] * y_sd + y_mean == pytest.approx(x_mean @ beta, abs=0.05)


def test_families_whose_hazard_is_bounded_need_no_floor() -> None:
    assert not NORMAL.bounded
    for family in (SEV, LOGISTIC):
        assert family.bounded and [floor.z for floor in expected(family, 0.3).floors] == [-np.inf]


def test_hazards_are_proportional_where_their_slope_never_changes() -> None:
    assert [family for family in LAWS if family.proportional] == [SEV]


@pytest.mark.parametrize(("family", "offset", "share"), [(SEV, 1.0, 1.0), (LOGISTIC, 0.0, 1 / 3)])
def test_rare_events_are_exponential_and_all_events_follow_the_law(
    family: Family, offset: float, share: float
) -> None:
    """Closed forms of the two ends, and half of each between them."""
    found = [
        (usual.offset, usual.location_share) for usual in (expected(family, f) for f in (1e-12, 0.5, 1.0))
    ]
    assert found[0] == pytest.approx((1.0, 1.0))
    assert found[1] == pytest.approx(((1 + offset) / 2, (1 + share) / 2))
    assert found[2] == pytest.approx((offset, share))


def test_residuals_that_noise_made_up_are_not_believed() -> None:
    """A response that is well explained: what is left of it is less than the noise in it."""
    moments = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.97], [0.0, 0.97, 1.15]])  # 0.06 is left, 0.21 measured
    usual = expected(SEV, 1.0).residual_square
    sigma = math.sqrt(0.06 / usual)
    scale = SimpleNamespace(fraction=1.0, fraction_sd=1e-3)
    noisy, exact = (events_of(moments, noise, scale, 10_000) for noise in (0.1, 1e-9))
    assert spread_of(exact, usual, sigma) == pytest.approx(exact.residual / sigma**2)
    assert exact.residual > 3 * 0.06
    assert spread_of(noisy, usual, sigma) < 1.2 * usual
