"""A fit's costs say what noise they are of, and the ledger holds them before any of it is drawn."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.curator.account import GUARD, Account, Price, guarded
from dpstats.errors import BudgetError, LedgerError
from dpstats.families import LOGISTIC_LOSS
from dpstats.ledger import Ledger
from dpstats.testing import Recording, SeededNoise, noise
from tests.margin import TINY, Labelled, labelled, unit_map

FOR = {"formula": "y ~ x", "method": "made"}
GAUSSIAN, PURE = dps.gdp(0.5), dps.pure(0.5)


@pytest.fixture
def fleet(tmp_path: Path) -> Ledger:
    return dps.Ledger(tmp_path / "fleet.ledger", total=dps.approx(3, 1e-6))


def account(budget: Budget) -> Account:
    return Account(budget, "one row")


@pytest.mark.parametrize(
    ("budget", "price", "amount"),
    [
        (dps.pure(1), PURE, Fraction(0.5)),
        (dps.zcdp(1), PURE, Fraction(0.5) ** 2),
        (dps.zcdp(1), GAUSSIAN, Fraction(0.5) ** 2),
        (dps.gdp(2), PURE, Fraction(PURE.to_gdp().mu) ** 2),
        (dps.gdp(2), GAUSSIAN, Fraction(0.5) ** 2),
        (dps.approx(9, 1e-6), PURE, Fraction(PURE.to_gdp().mu) ** 2),
    ],
    ids=str,
)
def test_a_cost_counts_by_the_rule_of_its_measure(budget: Budget, price: Price, amount: Fraction) -> None:
    limit = Fraction(budget.epsilon if isinstance(budget, dps.budget.Pure) else budget.mu)
    limit = limit if isinstance(budget, dps.budget.Pure) else limit**2
    times, book = int(limit / amount), account(budget)
    for _ in range(times):
        book.charge(("it", price))
    with pytest.raises(BudgetError, match="left"):
        book.charge(("it", price))


def test_gaussian_noise_has_no_pure_epsilon() -> None:
    with pytest.raises(BudgetError, match="no pure epsilon"):
        account(dps.pure(9)).charge(("it", GAUSSIAN))
    with pytest.raises(BudgetError, match="no pure epsilon"):
        account(dps.pure(9)).pay(None, **FOR, costs={"it": GAUSSIAN})


def test_a_fit_is_paid_for_once_and_first(fleet: Ledger) -> None:
    book = account(dps.approx(1, 1e-6))
    assert book.pay(fleet, **FOR, costs={"it": 0.1}) == "1.00 of 3.00 spent on 'fleet'"
    with pytest.raises(RuntimeError, match="once, before"):
        book.pay(fleet, **FOR, costs={"it": 0.1})
    late = account(dps.approx(1, 1e-6))
    late.charge(("it", dps.gdp(0.1)))
    with pytest.raises(RuntimeError, match="once, before"):
        late.pay(fleet, **FOR, costs={"it": 0.1})
    assert len(fleet.entries()) == 1


def test_a_fit_may_have_a_path_or_no_ledger(fleet: Ledger) -> None:
    assert account(dps.gdp(1)).pay(None, **FOR, costs={"it": 1.0}) is None
    line = account(dps.gdp(0.1)).pay(str(fleet.path), **FOR, costs={"it": 0.1})
    assert line == fleet.line()
    with pytest.raises(LedgerError, match="no ledger .*flete.ledger; start one"):
        account(dps.gdp(0.1)).pay(fleet.path.with_name("flete.ledger"), **FOR, costs={"it": 0.1})


def test_a_ledger_that_cannot_be_read_after_the_charge_loses_no_fit(
    fleet: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> str:
        raise LedgerError("the file is busy")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "line", busy)
        assert account(dps.gdp(0.1)).pay(fleet, **FOR, costs={"it": 0.1}) == "charged to 'fleet'"
    assert len(fleet.entries()) == 1


def test_plans_beyond_the_budget_are_charged_to_nobody(fleet: Ledger) -> None:
    with pytest.raises(BudgetError, match="more than the budget"):
        account(dps.gdp(0.2)).pay(fleet, **FOR, costs={"it": 0.2, "more": 0.001})
    assert not fleet.entries()


def test_what_was_not_planned_is_not_drawn() -> None:
    """Of its measure no draw exceeds the plan, although the budget would allow it."""
    book = account(dps.zcdp(0.5))
    book.pay(None, **FOR, costs={"tilt": dps.pure(0.6), "matrices": 0.8})
    with pytest.raises(BudgetError, match="left"):
        book.charge(("matrices", dps.gdp(0.81)))
    with pytest.raises(BudgetError, match="left"):
        book.charge(("tilt", dps.pure(0.61)))
    for price in (dps.pure(0.6), dps.gdp(0.8)):
        book.charge(("it", guarded(price)))
    gaussian = account(dps.zcdp(0.5))
    gaussian.pay(None, **FOR, costs={"it": 1.0})
    with pytest.raises(BudgetError, match="left"):
        gaussian.charge(("it", dps.pure(1e-6)))


def test_a_ledger_hears_of_gaussian_noise_only_where_all_of_it_is(tmp_path: Path) -> None:
    costs = {"tilt": dps.pure(0.6), "matrices": 0.8}
    ledgers = {
        total: dps.Ledger(tmp_path / f"{total}.ledger", total=total)
        for total in (dps.pure(9), dps.zcdp(9), dps.gdp(9), dps.approx(9, 1e-6))
    }
    for total in (dps.pure(9), dps.gdp(9)):
        with pytest.raises(BudgetError, match="no pure epsilon|implies no mu"):
            account(dps.zcdp(0.5)).pay(ledgers[total], **FOR, costs=costs)
    for total in (dps.zcdp(9), dps.approx(9, 1e-6)):
        account(dps.zcdp(0.5)).pay(ledgers[total], **FOR, costs=costs)
        (entry,) = ledgers[total].entries()
        assert not entry.gaussian and entry.cost == (Fraction(1, 2),)
        assert entry.released == {"tilt": "epsilon = 0.6", "matrices": "mu = 0.8"}


@pytest.mark.parametrize("price", [dps.pure(2), dps.gdp(2)], ids=str)
def test_noise_is_of_the_measure_of_its_cost(price: Price) -> None:
    """Whatever the kind of the budget, and so for releases as for minima."""
    pure, recording = isinstance(price, dps.budget.Pure), Recording(SeededNoise(1))
    for tilted in (True, False):
        with noise(recording):
            curator = Curator(labelled(*TINY), Labelled(2), dps.zcdp(9))
            found = curator.minimise(price, loss=LOGISTIC_LOSS, ridge=9.0, tilted=tilted, **unit_map(2))
            about = dict(loss=LOGISTIC_LOSS, params=np.zeros(2), **unit_map(2))
            release = curator.release("margin_curvature", price, **about)
        assert found.cost == release.cost == price
        laws = {found.law, release.law, *([found.tilt_law] if tilted else [])}
        assert ("gaussian" not in laws) if pure else laws == {"gaussian"}
        assert recording.records[-1].law.price == type(price)(2 * (1 - GUARD))


def test_a_curator_charges_what_it_draws() -> None:
    curator = Curator(labelled(*TINY), Labelled(2), dps.gdp(1))
    about = dict(loss=LOGISTIC_LOSS, params=np.zeros(2), **unit_map(2))
    largest = math.log(1 / 0.3085375387259869 - 1)  # of which -2 Phi^-1(1 / (1 + e^epsilon)) = 1
    with pytest.raises(BudgetError, match="epsilon = .* left"):
        curator.release("margin_curvature", dps.pure(largest * 1.01), **about)
    curator.release("margin_curvature", dps.pure(largest * 0.99), **about)
