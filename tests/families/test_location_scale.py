"""The records of the standard variable agree with SciPy, with each other and with numerical derivatives."""

import numpy as np
import pytest
from scipy import integrate, stats

from dpstats.families import DISTS, LOGISTIC, NORMAL, SEV, Family
from dpstats.families.martingale import taper
from tests.families.laws import EVERY_LAW

BY_SCIPY = [(SEV, stats.gumbel_l), (LOGISTIC, stats.logistic), (NORMAL, stats.norm)]
Z = np.linspace(-8, 3, 23)


@pytest.mark.parametrize(("family", "scipy"), BY_SCIPY)
def test_functions_are_scipys(family: Family, scipy: stats.rv_continuous) -> None:
    assert family.cdf(Z) == pytest.approx(scipy.cdf(Z))
    assert family.sf(Z) == pytest.approx(scipy.sf(Z))
    assert family.hazard(Z) == pytest.approx(scipy.pdf(Z) / scipy.sf(Z))
    assert family.log_cumulative_hazard(Z) == pytest.approx(np.log(-scipy.logsf(Z)))
    assert family.mean == pytest.approx(scipy.mean())
    p = np.array([1e-12, 0.1, 0.5, 1 - 1e-9])
    assert family.quantile(p) == pytest.approx(scipy.ppf(p))


@EVERY_LAW
def test_slope_of_the_log_hazard(family: Family) -> None:
    step = 1e-6
    slope = (np.log(family.hazard(Z + step)) - np.log(family.hazard(Z - step))) / (2 * step)
    assert family.log_hazard_slope(Z) == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize(("family", "scipy"), BY_SCIPY)
@pytest.mark.parametrize("sigma", [0.2, 0.7])
def test_mean_factor_is_an_integral(family: Family, scipy: stats.rv_continuous, sigma: float) -> None:
    mean, _ = integrate.quad(lambda z: np.exp(sigma * z) * scipy.pdf(z), -60, 60, limit=200)
    assert float(family.mean_factor(sigma)) == pytest.approx(mean, rel=1e-6)
    step = 1e-6
    slope = (np.log(family.mean_factor(sigma + step)) - np.log(family.mean_factor(sigma - step))) / (2 * step)
    assert float(family.log_mean_factor_slope(sigma)) == pytest.approx(float(slope), rel=1e-6)


def test_a_log_logistic_mean_exists_only_below_sigma_1() -> None:
    assert np.isinf(LOGISTIC.mean_factor([1.0, 2.5])).all() and np.isfinite(LOGISTIC.mean_factor(0.99))


@pytest.mark.parametrize("family", [SEV, LOGISTIC], ids=lambda family: family.name)
def test_far_tails_stay_finite_on_the_log_scale(family: Family) -> None:
    far = np.array([-700.0, -50.0])
    assert family.log_hazard(far) == pytest.approx(far)
    assert family.log_cumulative_hazard(far) == pytest.approx(far)
    assert np.isfinite(family.log_cumulative_hazard(np.array([1e4]))).all()


def test_far_tails_of_the_normal() -> None:
    far = np.array([-1e6, -700.0, -50.0, -7.0])
    log_density = -(far**2) / 2 - np.log(2 * np.pi) / 2
    assert NORMAL.log_hazard(far) == pytest.approx(log_density, rel=1e-11)
    assert NORMAL.log_cumulative_hazard(far) == pytest.approx(log_density - np.log(-far), rel=3e-3)
    assert NORMAL.log_hazard_slope(far) == pytest.approx(-far)
    high = np.array([50.0, 99.9, 100.1, 1e4, 1e8])  # lam - z is 1/z - 2/z^3 + 10/z^5 - ...
    assert NORMAL.log_hazard_slope(high) == pytest.approx(1 / high - 2 / high**3, rel=2e-6)
    assert NORMAL.log_hazard(high) == pytest.approx(np.log(high), abs=5e-4)
    assert NORMAL.log_cumulative_hazard(high) == pytest.approx(np.log(high**2 / 2), abs=1e-2)
    assert np.isinf(NORMAL.mean_factor(50.0))


def test_distributions_are_named_by_themselves() -> None:
    assert all(name == dist.name for name, dist in DISTS.items())
    of_log = ("weibull", "exponential", "loglogistic", "lognormal")
    assert all(DISTS[name].log for name in of_log)
    assert not any(DISTS[name].log for name in ("sev", "logistic", "gaussian"))


def test_a_normal_cut_beyond_its_table_is_refused() -> None:
    """Beyond it the hazard of a row would stand still, and its score move by more than was declared."""
    with pytest.raises(ValueError, match="cumulative hazard of 75"):
        taper(NORMAL, 76.0, -0.1)
    assert taper(NORMAL, 75.0, -0.1).stop <= 12.0
