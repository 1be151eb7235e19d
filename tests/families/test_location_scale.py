"""The records of the standard variable agree with SciPy, with each other and with numerical derivatives."""

import numpy as np
import pytest
from scipy import integrate, stats

from dpstats.families import DISTS, LOGISTIC, SEV, Family

BY_SCIPY = [(SEV, stats.gumbel_l), (LOGISTIC, stats.logistic)]
Z = np.linspace(-8, 3, 23)
FAMILIES = pytest.mark.parametrize("family", [SEV, LOGISTIC], ids=lambda family: family.name)


@pytest.mark.parametrize(("family", "scipy"), BY_SCIPY)
def test_functions_are_scipys(family: Family, scipy: stats.rv_continuous) -> None:
    assert family.cdf(Z) == pytest.approx(scipy.cdf(Z))
    assert family.sf(Z) == pytest.approx(scipy.sf(Z))
    assert family.hazard(Z) == pytest.approx(scipy.pdf(Z) / scipy.sf(Z))
    assert family.log_cumulative_hazard(Z) == pytest.approx(np.log(-scipy.logsf(Z)))
    assert family.mean == pytest.approx(scipy.mean())
    p = np.array([1e-12, 0.1, 0.5, 1 - 1e-9])
    assert family.quantile(p) == pytest.approx(scipy.ppf(p))


@FAMILIES
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


@FAMILIES
def test_far_tails_stay_finite_on_the_log_scale(family: Family) -> None:
    far = np.array([-700.0, -50.0])
    assert family.log_hazard(far) == pytest.approx(far)
    assert family.log_cumulative_hazard(far) == pytest.approx(far)
    assert np.isfinite(family.log_cumulative_hazard(np.array([1e4]))).all()


def test_distributions_are_named_by_themselves() -> None:
    assert {name: (d.name, d.log) for name, d in DISTS.items()} == {
        "weibull": ("weibull", True),
        "loglogistic": ("loglogistic", True),
        "sev": ("sev", False),
        "logistic": ("logistic", False),
    }
