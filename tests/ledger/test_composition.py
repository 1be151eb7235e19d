"""What charges amount to: sound against dp-accounting, exact where a closed form is."""

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, ndtri

import dpstats as dps
from benchmarks.ledger_composition import excess, random_ledger
from dpstats._conversions import delta_of_mu
from dpstats.budget import Budget
from dpstats.budget.rules import Charge, by_pair, by_rho, by_square, exact
from dpstats.ledger import Report, report
from dpstats.ledger.report import PooledCharges, hockey_stick, losses

FOR = {"formula": "y ~ x", "method": "m"}


@pytest.mark.parametrize("seed", range(4))
def test_never_below_dp_accounting(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    found = [gap for number in range(12) for gap in excess(random_ledger(rng, tmp_path, number)[0])]
    assert len(found) > 10 and float(np.median(found)) < 0.02


def test_the_comparison_notices_a_charge_that_was_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.gdp(1))
    ledger.charge(dps.gdp(0.5), **FOR)
    assert max(excess(ledger)) < 0.01
    ledger.charge(dps.gdp(0.1), **FOR)
    first = PooledCharges.of([Charge(dps.gdp(0.5))])
    monkeypatch.setattr(Report, "epsilon", lambda report, delta: first.epsilon(delta))
    with pytest.raises(AssertionError):
        excess(ledger)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_gaussian_charges_compose_exactly(delta: float) -> None:
    charges = [Charge(dps.gdp(0.3)), Charge(dps.zcdp(0.08), gaussian=True), Charge(dps.gdp(1.2))]
    assert PooledCharges.of(charges).epsilon(delta) == pytest.approx(
        dps.gdp(1.3).to_approx(delta).epsilon, rel=1e-9
    )
    part = Charge(dps.approx(1, 1e-6), gaussian=True)
    assert PooledCharges.of([part]).epsilon(1e-6) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "count"), [(1.0, 1), (0.1, 2), (0.25, 30), (0.01, 500)])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-4])
def test_equal_pure_charges_compose_exactly(epsilon: float, count: int, delta: float) -> None:
    """Against Kairouz, Oh & Viswanath 2017, Theorem 3.3, summed in another way."""
    i = np.arange(count + 1)
    weight = np.array([math.log(math.comb(count, k)) for k in i]) - count * math.log1p(math.exp(epsilon))

    def true_delta(total: float) -> float:
        gains = (i * epsilon, total + (count - i) * epsilon)
        more = gains[0] > gains[1] + 1e-15
        up, low = logsumexp((weight + gains[0])[more]), logsumexp((weight + gains[1])[more])
        return math.exp(up) - math.exp(low) if more.any() else 0.0

    found = PooledCharges.of([Charge(dps.pure(epsilon))] * count).epsilon(delta) if delta else count * epsilon
    assert true_delta(found) <= delta * (1 + 1e-9)
    assert found == 0 or true_delta(found * (1 - 1e-9)) >= delta * (1 - 1e-6)
    assert PooledCharges.of([Charge(dps.pure(epsilon))] * count).to_pure() == dps.pure(
        round(count * epsilon, 9)
    )


@pytest.mark.parametrize("block", range(4))
def test_the_epsilon_of_pure_charges_holds_to_the_last_place(block: int) -> None:
    """By sums of 60 digits. Rounding matters most where delta is small, or a response just above epsilon."""
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(seed)
        kinds = [(10 ** rng.uniform(-3, 0.8), rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]
        delta = 10 ** rng.uniform(-12, -2)
        charges = [Charge(dps.pure(epsilon)) for epsilon, count in kinds for _ in range(count)]
        found = PooledCharges.of(charges).epsilon(delta)
        assert delta_in_decimals(kinds, found) <= Decimal(repr(delta)), seed
        if found > 1e-6:
            assert delta_in_decimals(kinds, found * (1 - 1e-9)) > Decimal(repr(delta)) * Decimal("0.999"), (
                seed
            )


def delta_in_decimals(kinds: list[tuple[float, int]], total: float) -> Decimal:
    """Of randomised responses at an epsilon of `total`."""
    with localcontext() as context:
        context.prec = 60
        losses = [(Decimal(0), Decimal(1))]
        for epsilon, count in ((Decimal(repr(epsilon)), count) for epsilon, count in kinds):
            truth = 1 / (1 + (-epsilon).exp())
            losses = [
                (
                    loss + epsilon * (2 * told - count),
                    chance * math.comb(count, told) * truth**told * (1 - truth) ** (count - told),
                )
                for loss, chance in losses
                for told in range(count + 1)
            ]
        return sum(
            chance * max(Decimal(0), 1 - (Decimal(repr(total)) - loss).exp()) for loss, chance in losses
        )


def test_one_charge_of_each_kind_promises_what_it_promised() -> None:
    assert PooledCharges.of([Charge(dps.approx(1, 1e-6))]).epsilon(1e-6) == pytest.approx(1, rel=1e-9)
    assert PooledCharges.of([Charge(dps.approx(1, 1e-6))]).epsilon(1e-7) == math.inf
    assert PooledCharges.of([Charge(dps.zcdp(0.1))]).epsilon(1e-6) == pytest.approx(
        dps.zcdp(0.1).to_approx(1e-6).epsilon, rel=1e-9
    )
    assert PooledCharges.of([Charge(dps.zcdp(0.1)), Charge(dps.pure(1))]).to_zcdp() == dps.zcdp(0.6)
    assert PooledCharges.of([Charge(dps.pure(1)), Charge(dps.gdp(1))]).to_pure() is None
    assert PooledCharges.of([Charge(dps.zcdp(1))]).to_gdp() is None


@pytest.mark.parametrize("other", [dps.gdp(1), dps.zcdp(1)], ids=str)
def test_a_sum_that_no_float_holds_is_rounded_up(other: Budget) -> None:
    """A response to so large an epsilon tells the truth, so that the two epsilons add up."""
    for epsilon in (1e15, 1e16, 1e17):
        found = PooledCharges.of([Charge(dps.pure(epsilon)), Charge(other)]).epsilon(1e-6)
        assert Fraction(found) >= Fraction(epsilon) + Fraction(other.to_approx(1e-6).epsilon * (1 - 1e-9))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(1e-3, 3), min_size=1, max_size=8), st.floats(0.01, 3), st.floats(-8, 8))
def test_losses_are_those_of_responses(epsilons: list[float], mu: float, total: float) -> None:
    points, weights = np.zeros(1), np.ones(1)
    for epsilon in epsilons:
        truth = 1 / (1 + math.exp(-epsilon))
        points = np.concatenate([points + epsilon, points - epsilon])
        weights = np.concatenate([weights * truth, weights * (1 - truth)])
    found, chances, lost = losses(tuple((epsilon, 1) for epsilon in epsilons))
    raised = 2.0**-49 * len(epsilons) * sum(epsilons)  # the most by which points are rounded up
    for noise in (0.0, mu):
        exact = weights @ hockey_stick(total - points, noise)
        bound = chances @ hockey_stick(total - found, noise) + lost
        assert bound == pytest.approx(exact, rel=1e-9, abs=1e-15 + raised)


@pytest.mark.parametrize(("epsilon", "count"), [(0.01, 1000), (0.3, 200), (2.5, 40)])
def test_no_response_is_less_likely_than_it_is(epsilon: float, count: int) -> None:
    """By sums of 60 digits: logarithms of factorials of hundreds lose hundreds of units in the last place."""
    points, weights, lost = losses(((epsilon, count),))
    told = np.rint((points / epsilon + count) / 2).astype(int)
    with localcontext() as context:
        context.prec = 60
        truth = 1 / (1 + (-exact_decimal(epsilon)).exp())
        chances = [math.comb(count, k) * truth**k * (1 - truth) ** (count - k) for k in range(count + 1)]
        kept = list(zip(map(exact_decimal, weights), (chances[k] for k in told), strict=True))
        assert all(chance <= weight <= chance * (1 + Decimal("1e-9")) for weight, chance in kept)
        assert 1 - sum(chance for _, chance in kept) <= exact_decimal(lost)


def exact_decimal(value: float) -> Decimal:
    return Decimal(repr(float(value)))


@pytest.mark.parametrize("seed", range(3))
def test_points_that_were_merged_amount_to_no_less(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At epsilons just below a point, where a rounding counts most, and at any others."""
    monkeypatch.setattr(report, "_POINTS", 16)
    generator = np.random.default_rng(seed)
    for _ in range(20):
        points = np.sort(generator.normal(0, 10 ** generator.uniform(-2, 1), 40)) + generator.normal()
        weights = generator.dirichlet(np.ones(40))
        grid, pooled = report._merged(points, weights)
        assert len(grid) <= 16 and pooled.min() >= 0 and pooled.sum() == pytest.approx(1, rel=1e-12)
        for at in [*np.nextafter(points[-3:], -np.inf), *np.nextafter(grid, -np.inf), *points[:3]]:
            before, after = delta_of(points, weights, at), delta_of(grid, pooled, at)
            assert before <= after, (seed, at)


def delta_of(points: np.ndarray, weights: np.ndarray, epsilon: float) -> Decimal:
    """Of losses alone, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return sum(
            Decimal(float(weight)) * (1 - (Decimal(float(epsilon)) - Decimal(float(point))).exp())
            for point, weight in zip(points, weights, strict=True)
            if point > epsilon
        )


AMOUNTS = st.floats(0.01, 1)
CHARGES = st.lists(
    st.one_of(
        AMOUNTS.map(lambda x: Charge(dps.pure(x))),
        AMOUNTS.map(lambda x: Charge(dps.zcdp(x / 4))),
        AMOUNTS.map(lambda x: Charge(dps.gdp(x))),
        AMOUNTS.map(lambda x: Charge(dps.approx(x, 1e-8 * x))),
        AMOUNTS.map(lambda x: Charge(dps.approx(x, 1e-6), gaussian=True)),
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=50)
@given(CHARGES, st.randoms())
def test_epsilon_grows_with_charges_and_falls_with_delta(charges: list[Charge], order: random.Random) -> None:
    whole, deltas = PooledCharges.of(charges), (1e-7, 1e-5, 1e-3)
    curve = [whole.epsilon(delta) for delta in deltas]
    assert curve == sorted(curve, reverse=True)
    before = [PooledCharges.of(charges[:-1]).epsilon(delta) for delta in deltas]
    assert all(less <= more * (1 + 1e-9) + 1e-12 for less, more in zip(before, curve, strict=True))
    order.shuffle(charges)
    assert PooledCharges.of(charges) == whole


@settings(deadline=None, max_examples=50)
@given(CHARGES)
def test_each_notion_adds_up_or_is_none_where_a_charge_lacks_it(
    charges: list[Charge],
) -> None:
    whole, promises = PooledCharges.of(charges), [charge.promise for charge in charges]
    for told, parts, power in (
        (whole.to_pure(), [promise.epsilon for promise in promises], 1),
        (whole.to_zcdp(), [promise.rho for promise in promises], 1),
        (whole.to_gdp(), [promise.square for promise in promises], 2),
    ):
        if None in parts:
            assert told is None
        else:
            assert sum(parts) <= exact(told.amount) ** power <= sum(parts) * (1 + Fraction(1, 10**14))


def test_many_different_charges_are_pooled_upwards_and_stay_near() -> None:
    rng = random.Random(1)
    epsilons = [rng.uniform(0.005, 0.02) for _ in range(3000)]
    total = PooledCharges.of(Charge(dps.pure(epsilon)) for epsilon in epsilons)
    gaussian = math.sqrt(sum(e * e for e in epsilons))  # the limit of many small responses
    limit = dps.gdp(gaussian).to_approx(1e-6).epsilon
    assert limit * 0.99 < total.epsilon(1e-6) < limit * 1.02


@pytest.mark.parametrize(("delta", "least"), [(1e-3, 0.1), (1e-6, 0.1), (1e-6, 1.5)])
def test_pooled_charges_amount_to_no_less_than_each_for_itself(
    delta: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a few more epsilons than are kept apart."""
    steps = np.linspace(math.log(least), math.log(2 * least), report._KINDS + 6)
    charges = PooledCharges.of(Charge(dps.pure(math.exp(step))) for step in steps)
    pooled = charges.epsilon(delta)
    monkeypatch.setattr(report, "_KINDS", len(steps))
    losses.cache_clear()
    apart = charges.epsilon(delta)
    losses.cache_clear()
    assert apart < pooled < apart * 1.01


@pytest.mark.parametrize("mu", [0.01, 1.0, 30.0])
def test_hockey_stick_is_the_dual_curve(mu: float) -> None:
    for epsilon in (0.0, 0.01, 1.0, 20.0):
        delta = delta_of_mu(mu, epsilon)
        (here, negative) = hockey_stick(np.array([epsilon, -epsilon]), mu)
        assert here == pytest.approx(delta, rel=1e-8, abs=1e-14) and here >= 0
        assert negative == pytest.approx(1 - math.exp(-epsilon) + math.exp(-epsilon) * delta, rel=1e-9)


def test_the_first_charge_chooses_how_an_epsilon_delta_total_adds_up() -> None:
    total = dps.approx(3, 1e-6)
    kinds = {
        by_square: [Charge(dps.gdp(1), gaussian=True), Charge(total, gaussian=True), None],
        by_rho: [Charge(dps.zcdp(0.1))],
        by_pair: [Charge(dps.pure(1)), Charge(dps.approx(1, 1e-7))],
    }
    for cost, firsts in kinds.items():
        assert all(total.rule(first).cost is cost for first in firsts)
    assert dps.zcdp(1).rule(Charge(dps.gdp(1))).cost is by_rho


RESPONSE = -2 * float(ndtri(1 / (1 + math.e)))  # mu of epsilon = 1
MU = dps.approx(1, 1e-6).mu
PURE, HALF = Charge(dps.pure(1)), 5e-7


@pytest.mark.parametrize(
    ("first", "total", "charge", "cost"),
    [
        (None, dps.pure(9), Charge(dps.pure(1)), [1]),
        (None, dps.zcdp(9), Charge(dps.pure(1)), [0.5]),
        (None, dps.zcdp(9), Charge(dps.zcdp(0.3)), [0.3]),
        (None, dps.zcdp(9), Charge(dps.gdp(1)), [0.5]),
        (None, dps.zcdp(9), Charge(dps.approx(1, 1e-6), gaussian=True), [MU**2 / 2]),
        (None, dps.gdp(9), Charge(dps.pure(1)), [RESPONSE**2]),
        (None, dps.gdp(9), Charge(dps.zcdp(0.3), gaussian=True), [0.6]),
        (None, dps.gdp(9), Charge(dps.gdp(1)), [1]),
        (None, dps.approx(9, 1e-6), Charge(dps.approx(1, 1e-6), gaussian=True), [MU**2]),
        (PURE, dps.approx(9, 1e-6), Charge(dps.pure(1)), [1, 0]),
        (PURE, dps.approx(9, 1e-6), Charge(dps.approx(1, 1e-7)), [1, 1e-7]),
        (
            Charge(dps.pure(1)),
            dps.approx(9, 1e-6),
            Charge(dps.gdp(0.3)),
            [dps.gdp(0.3).to_approx(5e-7).epsilon, 5e-7],
        ),
        (
            Charge(dps.pure(1)),
            dps.approx(9, 1e-6),
            Charge(dps.zcdp(0.3)),
            [dps.zcdp(0.3).to_approx(5e-7).epsilon, 5e-7],
        ),
    ],
)
def test_what_a_charge_adds(first: Charge | None, total: Budget, charge: Charge, cost: list[float]) -> None:
    rule = total.rule(first)
    found = [float(part) for part in rule.cost(charge, rule.limit)]
    assert found == pytest.approx(cost, rel=1e-8)
    assert all(part >= expected * (1 - 1e-15) for part, expected in zip(found, cost, strict=True))


def test_switching_rules_midway_would_overspend() -> None:
    """Why the choice is final: after a Gaussian look, half of the looks gain more by a black box."""
    epsilon, delta, mu = 3.0, 1e-6, 0.6
    total = dps.approx(epsilon, delta)
    grid = np.linspace(-8, 8, 200_001)
    step = grid[1] - grid[0]
    loss = mu * grid + mu * mu / 2  # log ratio of the first release, under the data at hand
    weight = np.exp(-grid * grid / 2) / math.sqrt(2 * math.pi) * step
    rest = math.sqrt(total.mu**2 - mu**2)
    continued = hockey_stick(epsilon - loss, rest)
    box = delta - delta_of_mu(mu, epsilon)  # the delta that is left reveals everything
    black_box = box + (1 - box) * hockey_stick(epsilon - loss, 0)
    assert weight @ continued <= delta * (1 + 1e-6)
    assert weight @ black_box <= delta * (1 + 1e-3)
    assert weight @ np.maximum(continued, black_box) > 1.2 * delta


@pytest.mark.parametrize("kind, amount", [(dps.pure, "epsilon"), (dps.zcdp, "rho"), (dps.gdp, "mu")])
def test_what_is_spent_is_rounded_up(kind: type, amount: str, tmp_path: Path) -> None:
    """Sums and roots that no float is, of amounts as they print."""
    power = 2 if kind is dps.gdp else 1
    for number, parts in enumerate(((1 / 7,) * 7, (0.7, 1e-17), (1 / 3, 1e-17), (2 / 3, 1e-18, 0.1))):
        ledger = dps.Ledger(tmp_path / f"{number}.ledger", total=kind(3))
        for part in parts:
            ledger.charge(kind(part), **FOR)
        spent = Fraction(repr(getattr(ledger.spent, amount))) ** power
        wanted = sum(Fraction(repr(part)) ** power for part in parts)
        assert wanted <= spent <= wanted * (1 + Fraction(1, 10**14))
