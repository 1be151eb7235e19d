"""Kinds of a budget that the package does not know: each is one record and its row, and all takes it."""

import dataclasses
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats import _conversions as convert
from dpstats.budget import LEAST, Approx, Budget, Gdp, Pure, as_budget, from_dict
from dpstats.budget.kinds import KINDS
from dpstats.budget.rules import Amount, Charge, Promise, Rule, by_epsilon, exact, up
from dpstats.errors import BudgetError
from dpstats.ledger.report import PooledCharges
from dpstats.testing import SeededNoise, noise
from tests.agreeing import faults_of_budget

DOWN = 1 - 2.0**-49
ALONE = 1e-12  # delta of a charge of unknown noise


@dataclass(frozen=True)
class Rdp(Budget):
    """Renyi differential privacy of one order (Mironov 2017). Composes by adding epsilon."""

    epsilon: float
    order: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", float(self.order))

    example = "rdp(2, 8)"
    promised = "an epsilon of one order"

    @property
    def mu(self) -> float:
        """A Gaussian of mu has order * mu^2 / 2."""
        return convert.sqrt_down(2 * self.epsilon / self.order * DOWN)

    def split(self, *shares: float) -> tuple["Rdp", ...]:
        return tuple(Rdp(self.epsilon * share * DOWN, self.order) for share in shares)

    def to_approx(self, delta: float) -> Approx:
        """Proposition 3."""
        return Approx((self.epsilon - math.log(delta) / (self.order - 1)) * (1 + 1e-12), delta)

    def promise(self, gaussian: bool = False) -> Promise:
        if gaussian:
            return Promise.of_gaussian(2 * exact(self.epsilon) / exact(self.order))
        return Promise(pair=(exact(self.to_approx(ALONE).epsilon), exact(ALONE)))

    def rule(self, first: Charge | None) -> Rule:
        return Rule(self, (exact(self.epsilon),), self._added, self._told, gaussian=True)

    def _told(self, spent: Amount) -> "Rdp":
        return Rdp(up(spent[0]), self.order)

    def _added(self, charge: Charge, left: Amount) -> Amount:
        rho = charge.promise.rho
        if rho is None:
            raise BudgetError(f"{charge.budget.promised} implies no epsilon of this order")
        return (rho * exact(self.order),)

    def cost_of(self, price: Pure | Gdp) -> Fraction:
        """Pure epsilon has rho = epsilon^2 / 2, and order * rho at this order."""
        return Fraction(price.amount) ** 2

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g} (Renyi, order {self.order:g})"


@dataclass(frozen=True)
class Bits(Budget):
    """Pure epsilon, told in bits."""

    bits: float

    pure = True
    example = "bits(3)"
    promised = "a number of bits"

    @property
    def epsilon(self) -> float:
        return self.bits * math.log(2) * DOWN

    def split(self, *shares: float) -> tuple["Bits", ...]:
        return tuple(Bits(self.bits * share * DOWN) for share in shares)

    def to_approx(self, delta: float) -> Approx:
        return Approx(self.bits * math.log(2) / DOWN, delta)

    def promise(self, gaussian: bool = False) -> Promise:
        return Pure(max(self.bits * math.log(2) / DOWN, LEAST)).promise()

    def rule(self, first: Charge | None) -> Rule:
        limit = (exact(self.bits * math.log(2) / DOWN),)
        return Rule(self, limit, by_epsilon, lambda spent: Bits(up(spent[0]) / math.log(2) / DOWN))

    allowed = property(lambda self: Fraction(self.epsilon))
    cost_of = Pure.cost_of

    def __str__(self) -> str:
        return f"{self.bits:g} bits"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "rdp", Rdp)
    monkeypatch.setitem(KINDS, "bits", Bits)


ONE, TWO = Rdp(2.0, 8.0), Bits(3.0)


WRONG = {
    "mu": (ONE, "mu", property(lambda self: math.sqrt(2 * self.epsilon)), {"promise", "to_approx"}),
    "half of mu": (ONE, "mu", property(lambda self: Rdp.mu.fget(self) / 2), {"promise of no more"}),
    "epsilon": (TWO, "epsilon", property(lambda self: self.bits), {"promise", "to_approx", "rule"}),
    "promise": (ONE, "promise", lambda self, gaussian=False: Promise.of_gaussian(exact(1e-3)), {"promise"}),
    "to_approx": (ONE, "to_approx", lambda self, delta: Approx(self.epsilon, delta), {"to_approx"}),
    "rule": (TWO, "rule", lambda self, first: Pure(9.0).rule(first), {"rule"}),
    "cost_of": (ONE, "cost_of", lambda self, price: Fraction(price.amount) ** 2 / 2, {"allowed"}),
    "split": (ONE, "split", lambda self, *shares: (self,) * len(shares), {"split"}),
}


@pytest.mark.parametrize("budget", [ONE, TWO, Rdp(1e-4, 2.0), Bits(40.0)], ids=str)
def test_what_it_says_in_several_ways_agrees(budget: Budget) -> None:
    assert faults_of_budget(budget) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_kind_that_contradicts_itself_is_seen(name: str) -> None:
    """Planted: one part of each is not what the others say."""
    budget, part, other, faults = WRONG[name]
    planted = type("Planted", (type(budget),), {part: other})(*vars(budget).values())
    assert faults <= {*faults_of_budget(planted)}


RNG = np.random.default_rng(1)
DATA = {"x": RNG.uniform(0, 1, 4000), "y": RNG.uniform(1, 9, 4000), "yes": RNG.uniform(size=4000) < 0.4}
SCHEMA = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(1, 9), yes=dps.flag())


def ols(budget: Budget, ledger: Path | None = None) -> dps.Fit:
    with noise(SeededNoise(1)):
        return dps.ols("y ~ x", DATA, SCHEMA).fit(budget, ledger=ledger)


@pytest.mark.parametrize("budget", [ONE, TWO], ids=str)
def test_it_is_read_written_and_told(budget: Budget) -> None:
    assert dps.parse_budget(budget.example) == budget
    assert from_dict(budget.to_dict()) == budget
    assert as_budget("budget", budget) is budget
    with pytest.raises(BudgetError, match=r"approx\(1, 1e-6\), rdp\(2, 8\) or bits\(3\)"):
        dps.parse_budget("two")


def test_a_fit_of_it_is_that_of_what_it_buys(tmp_path: Path) -> None:
    assert ols(ONE).params.equals(ols(dps.gdp(ONE.mu)).params)
    assert ols(TWO).params.equals(ols(dps.pure(TWO.epsilon)).params)
    for budget in (ONE, TWO):
        fit = ols(budget)
        fit.save(tmp_path / f"{budget.unit}.json")
        assert dps.load(tmp_path / f"{budget.unit}.json").budget == budget
        assert str(budget) in str(fit.summary())


FITS = {
    "describe": lambda budget: dps.describe(DATA, SCHEMA, budget),
    "kaplan_meier": lambda budget: dps.kaplan_meier("Surv(y, yes) ~ 1", DATA, SCHEMA).fit(budget),
    "logit": lambda budget: dps.logit("yes ~ x", DATA, SCHEMA).fit(budget, force=True),
    "survreg": lambda budget: dps.survreg("Surv(y, yes) ~ x", DATA, SCHEMA).fit(budget, force=True),
    "svm": lambda budget: dps.svm("yes ~ x", DATA, SCHEMA).fit(budget),
}


@pytest.mark.parametrize("model", FITS)
def test_every_plan_takes_it(model: str) -> None:
    for budget, like in ((ONE, dps.zcdp(ONE.mu**2 / 2)), (TWO, dps.pure(TWO.epsilon))):
        with noise(SeededNoise(1)):
            fit = FITS[model](budget)
        with noise(SeededNoise(1)):
            usual = FITS[model](like)
        assert str(budget) in str(fit)
        assert numbers(fit) == numbers(usual)


def numbers(fit: object) -> list[str]:
    """What is printed, without the line that tells the budget and what may stand beside it."""
    others = "privacy[: ]|budget|^neighbours"
    return [line for line in str(fit).splitlines() if not re.search(others, line, re.IGNORECASE)]


def test_a_plan_says_how_much_of_it_is_needed() -> None:
    ahead = dps.ols("y ~ x", DATA, SCHEMA).plan(ONE)
    assert isinstance(ahead.budget_for({"x": 0.5}), Rdp)


def test_a_ledger_keeps_a_total_of_it_and_takes_charges_of_it(tmp_path: Path) -> None:
    own = dps.Ledger(tmp_path / "own.ledger", total=Rdp(3.0, 8.0))
    ols(ONE, own)
    own.charge(dps.pure(0.1), formula="a median", method="black box")  # rho = 0.005, times the order
    assert own.spent == Rdp(2.04, 8.0)
    with pytest.raises(BudgetError, match="is left of 3"):
        ols(ONE, own)
    with pytest.raises(BudgetError, match="implies no epsilon of this order"):
        own.charge(dps.approx(1, 1e-6), formula="a median", method="black box")
    for total in (dps.zcdp(9), dps.gdp(9), dps.approx(9, 1e-6)):
        ledger = dps.Ledger(tmp_path / f"{total.unit}.ledger", total=total)
        ols(ONE, ledger)
        assert ledger.report().epsilon(1e-6) == pytest.approx(
            dps.gdp(ONE.mu).to_approx(1e-6).epsilon, rel=1e-9
        )
    assert "Renyi" in str(ledger.report())


def test_bits_add_in_a_ledger(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "bits.ledger", total=Bits(9.0))
    ols(TWO, ledger)
    assert ledger.left.bits == pytest.approx(6, rel=1e-6)
    with pytest.raises(BudgetError, match="no pure epsilon"):
        ledger.charge(dps.gdp(1), formula="a mean", method="own")


def test_a_charge_of_unknown_noise_stands_for_itself() -> None:
    assert PooledCharges.of([Charge(ONE)]).epsilon(1e-6) == pytest.approx(ONE.to_approx(ALONE).epsilon)
    rule = dps.approx(20, 1e-6).rule(Charge(ONE))
    assert rule.told(rule.cost(Charge(ONE), rule.limit)) == ONE.to_approx(ALONE)


def test_what_lacks_a_part_is_no_kind() -> None:
    @dataclass(frozen=True)
    class Partial(Budget):
        epsilon: float

    with pytest.raises(TypeError, match="abstract"):
        Partial(1.0)
    assert dataclasses.is_dataclass(Partial)
