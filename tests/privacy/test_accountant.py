"""T10: what the curator lets be spent, against the privacy loss distributions of dp-accounting."""

import math

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.budget import approx, gdp, pure, zcdp

GRID = 1e-3


def grid(pessimistic):
    """Options of dp-accounting: its tighter algorithm has pessimistic distributions only."""
    return dict(
        value_discretization_interval=GRID, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic
    )


def composed(mus, pessimistic):
    total = pld.identity(GRID, pessimistic)
    for mu in mus:
        total = total.compose(pld.from_gaussian_mechanism(1 / mu, **grid(pessimistic)))
    return total


@settings(deadline=None, max_examples=15)
@given(st.floats(0.2, 8), st.floats(1e-9, 0.01), st.lists(st.floats(0.05, 1), min_size=1, max_size=6))
def test_releases_that_use_up_a_budget_cost_its_epsilon_and_no_more(epsilon, delta, weights):
    """Optimistic and pessimistic distributions enclose the truth: the claim holds and wastes nothing."""
    parts = approx(epsilon, delta).split(*(weight / math.fsum(weights) for weight in weights))
    mus = [part.mu for part in parts]
    assert composed(mus, pessimistic=False).get_epsilon_for_delta(delta) <= epsilon * (1 + 1e-6)
    assert composed(mus, pessimistic=True).get_epsilon_for_delta(delta) >= epsilon - 1e-6


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-5, 1e-2])
def test_gaussian_epsilon(mu, delta):
    claimed = gdp(mu).to_approx(delta).epsilon
    assert composed([mu], pessimistic=False).get_epsilon_for_delta(delta) <= claimed
    assert claimed <= composed([mu], pessimistic=True).get_epsilon_for_delta(delta) + 1e-6


@pytest.mark.parametrize("rho", [0.01, 0.5, 3.0])
def test_a_zcdp_claim_covers_its_gaussian(rho):
    spent = composed([zcdp(rho).mu], pessimistic=False).get_epsilon_for_delta(1e-6)
    assert spent <= zcdp(rho).to_approx(1e-6).epsilon


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_pure_charge_in_a_gdp_total_covers_laplace_noise(epsilon):
    laplace = pld.from_laplace_mechanism(1 / epsilon, **grid(pessimistic=False))
    gaussian = gdp(2.0) + pure(epsilon).to_gdp()
    both = laplace.compose(composed([2.0], pessimistic=False))
    assert both.get_epsilon_for_delta(1e-6) <= gaussian.to_approx(1e-6).epsilon
