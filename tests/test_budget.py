"""Budgets: test numbers of the spec, closed forms, and roundings that never favour the user."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from dpstats import _conversions
from dpstats.budget import Approx, Gdp, Pure, Zcdp, approx, from_dict, gdp, parse_budget, pure, zcdp
from dpstats.budget.kinds import KINDS
from dpstats.errors import BudgetError
from tests.agreeing import faults_of_budget

SPEC_MU = {  # computed by other code, to ten digits
    (1, 1e-5): 0.2680511232,
    (1, 1e-6): 0.2367043807,
    (0.5, 1e-5): 0.1422105587,
    (2, 1e-5): 0.5015516892,
    (5, 1e-6): 1.0203571451,
    (0.5, 1e-6): 0.12410615,
    (3, 1e-6): 0.64772653,
    (1, 0.01): 0.53252,
    (0.1, 0.01): 0.10480,
}
amounts = st.floats(1e-6, 1e4)
deltas = st.floats(1e-15, 0.5)


@pytest.mark.parametrize(("claim", "mu"), SPEC_MU.items())
def test_mu_of_epsilon_and_delta_matches_the_spec(claim, mu):
    assert approx(*claim).mu == pytest.approx(mu, rel=2e-5 if claim[1] == 0.01 else 1e-8)


def test_other_spec_numbers():
    assert _conversions.delta_of_mu(1, 1) == pytest.approx(0.126936737507, rel=1e-11)
    assert gdp(1).to_approx(1e-6).epsilon == pytest.approx(4.886554, abs=1e-6)  # the closed form
    assert zcdp(0.05).to_approx(1e-6).epsilon == pytest.approx(1.4716, abs=5e-5)  # OpenDP's
    assert zcdp(0.5).mu == pytest.approx(1)
    assert pure(3).to_zcdp().rho == pytest.approx(4.5)
    assert gdp(2).to_zcdp().rho == pytest.approx(2)


def test_huge_epsilon_does_not_overflow():
    for epsilon in (700.0, 1000.0, 1e6, 1e10):
        mu = approx(epsilon, 1e-6).mu
        assert mu == pytest.approx(math.sqrt(2 * epsilon), rel=0.2)  # mu^2/2 - epsilon is of smaller order
        assert gdp(mu).to_approx(1e-6).epsilon == pytest.approx(epsilon, rel=1e-6)
    assert pure(1e6).to_gdp().mu == pytest.approx(2 * math.sqrt(2e6), rel=1e-3)


@given(amounts, deltas)
def test_mu_is_the_largest_that_keeps_the_claim(epsilon, delta):
    mu = approx(epsilon, delta).mu
    assert _conversions.delta_of_mu(mu, epsilon) <= delta
    assert _conversions.delta_of_mu(mu * (1 + 1e-6), epsilon) > delta


@given(amounts, deltas)
def test_delta_is_never_below_an_integral_of_the_densities(epsilon, delta):
    """delta = integral of (p - e^epsilon q)_+, here by quadrature where the pieces do not cancel."""
    mu = approx(epsilon, delta).mu
    cut = epsilon / mu + mu / 2
    x = cut + np.linspace(0, 40, 200_001)[1:]
    integrand = np.exp(-((x - mu) ** 2) / 2) * -np.expm1(-mu * (x - cut)) / math.sqrt(2 * math.pi)
    assert integrate.trapezoid(integrand, x) == pytest.approx(delta, rel=1e-4)


def test_rounding_brings_no_delta_below_its_exact_value():
    """By 60 digits; floats alone would fall below at about half of these points."""
    draw = np.random.default_rng(0)
    with mpmath.workdps(60):
        for mu, beyond in zip(10 ** draw.uniform(-3, 1, 200), draw.uniform(0, 6, 200), strict=True):
            epsilon = float(mu * (mu / 2 + beyond))
            m, e = mpmath.mpf(float(mu)), mpmath.mpf(epsilon)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
            assert mpmath.mpf(_conversions.delta_of_mu(float(mu), epsilon)) >= exact


def test_rounding_brings_no_mu_of_pure_below_its_exact_value():
    """Randomised response is in the wrong with a chance of 1 / (1 + e^epsilon), which is Phi(-mu / 2)."""
    with mpmath.workdps(60):
        for epsilon in np.geomspace(1e-9, 300, 200):
            chance = 1 / (1 + mpmath.exp(mpmath.mpf(float(epsilon))))
            assert mpmath.ncdf(-mpmath.mpf(_conversions.mu_of_pure(float(epsilon))) / 2) <= chance


@given(st.floats(1e-6, 50), st.floats(0, 60))
def test_mu_of_pure_covers_randomised_response(epsilon, other):
    mu = pure(epsilon).to_gdp().mu
    worst = math.exp(-epsilon) * math.expm1(max(epsilon - other, 0) + 0.0) * math.exp(min(other, epsilon))
    worst /= 1 + math.exp(-epsilon)
    assert worst <= _conversions.delta_of_mu(mu, other) * (1 + 1e-9)


@given(st.floats(1e-4, 30), st.floats(1e-12, 0.1))
def test_zcdp_epsilon_is_below_the_simple_bound_and_above_the_gaussian(rho, delta):
    epsilon = zcdp(rho).to_approx(delta).epsilon
    assert epsilon <= rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-9
    assert epsilon >= gdp(zcdp(rho).mu).to_approx(delta).epsilon * (1 - 1e-9)  # the Gaussian is rho-zCDP


@given(st.sampled_from([zcdp, gdp, pure]), amounts, st.lists(st.floats(1e-6, 1), min_size=1, max_size=30))
def test_parts_never_cost_more_than_the_whole(kind, amount, weights):
    total = math.fsum(weights)
    parts = kind(amount).split(*(weight / total for weight in weights))
    power = 2 if kind is gdp else 1
    (name,) = parts[0].to_dict().keys() - {"kind"}
    spent = sum(Fraction(part.to_dict()[name]) ** power for part in parts)
    assert Fraction(amount) ** power * Fraction(1 - 1e-9) <= spent <= Fraction(amount) ** power


@given(amounts, deltas, st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_parts_of_an_approx_budget_compose_to_its_mu(epsilon, delta, weights):
    budget, total = approx(epsilon, delta), math.fsum(weights)
    parts = budget.split(*(weight / total for weight in weights))
    spent = sum(Fraction(part.mu) ** 2 for part in parts)
    assert spent <= Fraction(budget.mu) ** 2
    assert float(spent) == pytest.approx(budget.mu**2, rel=1e-9)


@given(amounts, amounts)
def test_sums_are_rounded_up(a, b):
    assert Fraction((pure(a) + pure(b)).epsilon) >= Fraction(a) + Fraction(b)
    assert Fraction((zcdp(a) + zcdp(b)).rho) >= Fraction(a) + Fraction(b)
    assert Fraction((gdp(a) + gdp(b)).mu) ** 2 >= Fraction(a) ** 2 + Fraction(b) ** 2
    assert (gdp(a) + gdp(b)).mu == pytest.approx(math.hypot(a, b), rel=1e-15)
    assert Fraction(zcdp(a).mu) ** 2 <= 2 * Fraction(a)
    assert 2 * Fraction(gdp(a).to_zcdp().rho) >= Fraction(a) ** 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-4, 0.01, 1.0, 30.0])
def test_what_a_kind_says_in_several_ways_agrees(kind, size):
    """Of every kind that there is, at the amounts of its example times the size."""
    usual = parse_budget(KINDS[kind].example)
    assert faults_of_budget(replace(usual, **{usual.unit: usual.amount * size})) == []


def test_approx_adds_by_basic_composition():
    assert approx(1, 1e-6) + approx(0.5, 1e-7) == approx(1.5, 1e-6 + 1e-7)
    assert approx(1, 1e-6).to_approx(1e-5) == approx(1, 1e-5)


def test_text_and_dictionaries_round_trip():
    for budget, text in (
        (pure(1), "epsilon = 1"),
        (zcdp(0.5), "rho = 0.5 (zCDP)"),
        (gdp(1), "mu = 1 (GDP)"),
        (approx(1, 1e-6), "epsilon = 1, delta = 1e-06"),
    ):
        assert str(budget) == text
        assert from_dict(budget.to_dict()) == budget
    assert parse_budget("approx(1, 1e-6)") == Approx(1, 1e-6)
    assert parse_budget(" approx( delta = 1e-6 , epsilon=2 )") == Approx(2, 1e-6)
    assert parse_budget("zcdp(.5)") == Zcdp(0.5)
    assert parse_budget("gdp(mu=1)") == Gdp(1)
    assert parse_budget("pure(1)") == Pure(1)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: pure(0), "epsilon must be positive"),
        (lambda: zcdp(math.nan), "rho must be positive"),
        (lambda: gdp("much"), "mu must be a number"),
        (lambda: approx(1, 1), "delta = 1 promises nothing"),
        (lambda: approx(1, -0.1), "delta must be positive"),
        (lambda: pure(1).mu, "use zcdp"),
        (lambda: zcdp(1).split(0.6, 0.6), "sum to 1.2; they may sum to at most 1$"),
        (lambda: zcdp(1).split(12), r"12 equal parts are split\(\*\[1 / 12\] \* 12\)"),
        (lambda: zcdp(1).split(), "one for each part"),
        (lambda: zcdp(1).split(-0.5, 1), "positive"),
        (lambda: approx(1, 1e-6).to_approx(1e-9), "ask for delta >= 1e-06"),
        (lambda: parse_budget("approx(1)"), "cannot read the budget"),
        (lambda: parse_budget("epsilon=1"), "cannot read the budget"),
        (lambda: parse_budget("gdp(rho=1)"), "a gdp budget has mu; got 'rho'"),
        (lambda: parse_budget("approx(epsilon=1, epsilon=2)"), "has epsilon and delta"),
        (lambda: from_dict({"kind": "free"}), "one of pure, zcdp, gdp, approx"),
    ],
)
def test_mistakes_name_what_to_change(mistake, message):
    with pytest.raises(BudgetError, match=message):
        mistake()


@pytest.mark.parametrize(("kind", "other"), itertools.permutations(KINDS, 2))
def test_only_budgets_of_one_kind_add(kind, other):
    """Else two amounts of unlike meaning would be summed."""
    first, second = (parse_budget(KINDS[name].example) for name in (kind, other))
    with pytest.raises(BudgetError, match=f"cannot add {type(second).__name__} to {type(first).__name__}"):
        first + second


@pytest.mark.parametrize(
    "half", [lambda budget: budget / 2, lambda budget: 0.5 * budget, lambda budget: budget * 0.5]
)
def test_a_budget_is_divided_by_split(half):
    with pytest.raises(BudgetError, match="divided by split"):
        half(approx(1, 1e-6))
