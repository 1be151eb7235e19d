"""Charging a ledger: what is refused, in which words, and what it says was spent."""

import math
import pickle
import time
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget, Pure
from dpstats.errors import BudgetError, LedgerError, SpecificationError
from dpstats.ledger import Ledger

FOR = {"formula": "Surv(time, failed) ~ temp", "method": "newton"}


@pytest.fixture
def fleet(tmp_path: Path) -> Ledger:
    return dps.Ledger(tmp_path / "fleet.ledger", total=dps.approx(3, 1e-6))


def test_a_new_ledger_has_spent_nothing(fleet: Ledger) -> None:
    assert (fleet.spent, fleet.left, fleet.entries()) == (None, dps.approx(3, 1e-6), [])
    assert fleet.line() == "0.00 of 3.00 spent on 'fleet'"
    assert "nothing" in str(fleet.report()) and (fleet.report().notions["spent"] == "").all()


def test_a_fit_is_charged_once_and_its_line_says_so(fleet: Ledger) -> None:
    told = {"score": "mu = 0.2", "moments": "mu = 0.1"}
    charged = fleet.charge(dps.approx(1, 1e-6), **FOR, released=told, gaussian=True)
    assert fleet.line(charged) == "1.00 of 3.00 spent on 'fleet'"
    (entry,) = fleet.entries()
    assert (entry.seq, entry.budget, entry.gaussian) == (1, dps.approx(1, 1e-6), True)
    assert (entry.formula, entry.method) == tuple(FOR.values())
    assert entry.released == told
    assert fleet.report().frame.loc[1, "released"] == "score (mu = 0.2), moments (mu = 0.1)"


def test_a_charge_says_who_made_it_if_that_was_given(tmp_path: Path, fleet: Ledger) -> None:
    named = dps.Ledger(fleet.path, charged_by="claims team")
    fleet.charge(dps.approx(1, 1e-6), **FOR, gaussian=True)
    named.charge(dps.approx(1, 1e-6), **FOR, gaussian=True)
    frame = fleet.report().frame
    assert frame["method"].tolist() == ["newton", "newton, charged by claims team"]
    said = str(dps.Ledger(fleet.path).report())
    assert " ".join(said.split()).count("[newton, charged by claims team]") == 1
    for wrong in (3, "two\nlines", ["claims"]):
        with pytest.raises(LedgerError, match="charged_by must be a name on one line"):
            dps.Ledger(fleet.path, charged_by=wrong)


def test_the_line_is_of_its_own_charge_whoever_charges_next(fleet: Ledger) -> None:
    first = fleet.charge(dps.approx(1, 1e-6), **FOR, gaussian=True)
    fleet.charge(dps.approx(2, 1e-6), **FOR, gaussian=True)
    assert fleet.line(first).startswith("1.00 of 3.00")
    assert fleet.line().startswith("2.29 of 3.00")


@pytest.mark.parametrize("amount", [-0.3, 0.0, float("nan")], ids=str)
def test_a_budget_that_was_changed_past_its_checks_is_no_refund(fleet: Ledger, amount: float) -> None:
    forged = dps.zcdp(0.1)
    object.__setattr__(forged, "rho", amount)
    fleet.charge(dps.zcdp(0.1), **FOR)
    before = fleet.entries()
    with pytest.raises(BudgetError, match="rho must be"):
        fleet.charge(forged, **FOR)
    assert fleet.entries() == before


@pytest.mark.parametrize(
    ("total", "spent"),
    [
        (dps.pure(9), Fraction(1, 2)),
        (dps.zcdp(9), Fraction(1, 8)),
        (dps.gdp(9), Fraction(repr(dps.pure(0.5).to_gdp().mu)) ** 2),
        (dps.approx(9, 1e-6), Fraction(1, 2)),
    ],
)
def test_a_fit_of_pure_epsilon_is_charged_as_such(tmp_path: Path, total: Budget, spent: Fraction) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=total)
    ledger.charge(dps.pure(0.5), **FOR)
    (entry,) = ledger.entries()
    assert (entry.gaussian, entry.budget) == (False, dps.pure(0.5))
    assert entry.cost[0] == spent and not any(entry.cost[1:])


def test_a_refusal_says_what_was_asked_left_and_would_fit(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "fleet.ledger", total=dps.pure(3))
    ledger.charge(dps.pure(2.6), **FOR)
    with pytest.raises(BudgetError) as refused:
        ledger.charge(dps.pure(1), **FOR)
    assert str(refused.value) == ("needs epsilon = 1.0, 0.4 is left of 3.0 in 'fleet'; pure(0.4) would fit")
    assert len(ledger.entries()) == 1 and ledger.spent == dps.pure(2.6)
    ledger.charge(dps.pure(0.4), **FOR)
    assert ledger.left is None
    with pytest.raises(BudgetError, match="0.0 is left of 3.0 in 'fleet'; nothing like it fits any more"):
        ledger.charge(dps.pure(0.001), **FOR)


@pytest.mark.parametrize("total", [dps.approx(2, 1e-6), dps.zcdp(1), dps.gdp(1), dps.pure(3)])
@pytest.mark.parametrize("parts", [3, 7])
def test_a_remainder_of_rounded_parts_is_not_offered(tmp_path: Path, total: Budget, parts: int) -> None:
    """Of three thirds of approx(2, 1e-6) gdp(1.963e-08) was left, which the fit refuses in turn."""
    ledger = dps.Ledger(tmp_path / "fleet.ledger", total=total)
    gaussian = not total.pure
    each = total.split(*[1 / parts] * parts)
    for part in each:
        ledger.charge(part, **FOR, gaussian=gaussian)
    with pytest.raises(BudgetError, match=", 0.0 is left of .*; nothing like it fits any more"):
        ledger.charge(each[0], **FOR, gaussian=gaussian)


@pytest.mark.parametrize("epsilon", [5, 20])
def test_a_refusal_says_what_was_asked_as_it_was_typed(tmp_path: Path, epsilon: float) -> None:
    """Its conversion and back are 20.000000000000004, which is not to be told as 20.01."""
    ledger = dps.Ledger(tmp_path / "fleet.ledger", total=dps.approx(1, 1e-9))
    with pytest.raises(BudgetError, match=rf"needs epsilon = {epsilon}\.0, 1\.0 is left of 1\.0"):
        ledger.charge(dps.approx(epsilon, 1e-9), **FOR, gaussian=True)


@pytest.mark.parametrize(
    ("total", "first", "asked", "gaussian"),
    [
        (dps.approx(3, 1e-6), dps.approx(2.5, 1e-6), dps.approx(2, 1e-7), True),
        (dps.approx(3, 1e-6), dps.approx(2.5, 1e-6), dps.zcdp(1), True),
        (dps.approx(3, 1e-6), dps.approx(2.5, 1e-6), dps.pure(2), False),
        (dps.approx(3, 1e-6), dps.zcdp(0.05), dps.zcdp(0.5), False),
        (dps.approx(3, 1e-6), dps.pure(2.5), dps.approx(1, 1e-8), False),
        (dps.zcdp(1), dps.pure(1), dps.gdp(2), True),
        (dps.gdp(1), dps.gdp(0.9), dps.zcdp(3), True),
    ],
)
def test_what_would_fit_fits_and_not_much_more(
    tmp_path: Path, total: Budget, first: Budget, asked: Budget, gaussian: bool
) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=total)
    ledger.charge(first, **FOR, gaussian=gaussian and first != dps.pure(1))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(asked, **FOR, gaussian=gaussian)
    offer = dps.parse_budget(str(refused.value).split("; ")[1].removesuffix(" would fit"))
    more = type(offer)(*(value * (1.002 if i == 0 else 1) for i, value in enumerate(vars(offer).values())))
    with pytest.raises(BudgetError):
        ledger.charge(more, **FOR, gaussian=gaussian)
    ledger.charge(offer, **FOR, gaussian=gaussian)


def test_amounts_are_the_decimals_that_users_write(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.pure(0.3))
    for epsilon in (0.1, 0.2):  # as floats they add up to more than 0.3
        ledger.charge(dps.pure(epsilon), **FOR)
    assert ledger.entries()[-1].spent == (Fraction(3, 10),)
    assert (ledger.spent, ledger.left) == (dps.pure(0.3), None)


@pytest.mark.parametrize(
    ("total", "first", "rest", "amount"),
    [
        (dps.pure(1), dps.pure(0.5), dps.pure(0.5), "epsilon"),
        (dps.zcdp(1), dps.zcdp(0.25), dps.zcdp(0.75), "rho"),
        (dps.gdp(1), dps.gdp(0.6), dps.gdp(0.8), "mu"),
        (dps.approx(3, 1e-6), dps.pure(1.5), dps.pure(1.5), "epsilon"),
        (dps.approx(3, 1e-6), dps.approx(1, 5e-7), dps.approx(2, 5e-7), "epsilon"),
        (dps.approx(3, 1e-6), dps.approx(1, 5e-7), dps.approx(2, 5e-7), "delta"),
    ],
)
def test_a_limit_is_kept_to_the_last_digit(
    tmp_path: Path, total: Budget, first: Budget, rest: Budget, amount: str
) -> None:
    """Where a charge fits exactly, the next number above its amount is too much."""
    ledger = dps.Ledger(tmp_path / "a.ledger", total=total)
    ledger.charge(first, **FOR)
    above = replace(rest, **{amount: math.nextafter(getattr(rest, amount), math.inf)})
    with pytest.raises(BudgetError):
        ledger.charge(above, **FOR)
    ledger.charge(rest, **FOR)
    assert ledger.left is None


@pytest.mark.parametrize("total", [dps.zcdp(0.3), dps.gdp(0.7), dps.approx(3, 1e-6)])
def test_a_ledger_affords_the_whole_of_its_total_or_all_its_parts(tmp_path: Path, total: Budget) -> None:
    whole = dps.Ledger(tmp_path / "whole.ledger", total=total)
    whole.charge(total, **FOR, gaussian=True)
    parts = dps.Ledger(tmp_path / "parts.ledger", total=total)
    for part in total.split(0.25, 0.25, 0.5):
        parts.charge(part, **FOR, gaussian=True)
    assert whole.left is None
    for ledger in (whole, parts):
        with pytest.raises(BudgetError):
            ledger.charge(dps.gdp(1e-4), **FOR)


@pytest.mark.parametrize(
    ("total", "charge", "gaussian", "reason"),
    [
        (dps.pure(3), dps.approx(1, 1e-6), False, "no delta"),
        (dps.pure(3), dps.zcdp(0.1), False, "no pure epsilon"),
        (dps.pure(3), dps.gdp(0.1), False, "Gaussian noise promises no pure epsilon"),
        (dps.zcdp(3), dps.approx(1, 1e-6), False, "implies no rho"),
        (dps.gdp(3), dps.approx(1, 1e-6), False, "implies no mu"),
        (dps.gdp(3), dps.zcdp(0.1), False, "implies no mu"),
    ],
)
def test_a_charge_that_cannot_soundly_enter_is_refused_with_the_reason(
    tmp_path: Path, total: Budget, charge: Budget, gaussian: bool, reason: str
) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=total)
    with pytest.raises(BudgetError, match=f"cannot enter the total .* of 'a': .*{reason}"):
        ledger.charge(charge, **FOR, gaussian=gaussian)
    assert ledger.entries() == []


def test_mistakes_are_named(fleet: Ledger) -> None:
    with pytest.raises(BudgetError, match="budget must be a budget such as"):
        fleet.charge(1.0, **FOR)
    with pytest.raises(BudgetError, match="total must be a budget such as"):
        dps.Ledger(fleet.path.with_name("b.ledger"), total=3)
    with pytest.raises(BudgetError, match="no pure epsilon"):
        fleet.charge(dps.pure(1), **FOR, gaussian=True)


@pytest.mark.parametrize("gaussian", ["no", 0.5, 2, None, [True], np.ones(3)])
def test_gaussian_is_true_or_false(fleet: Ledger, gaussian: object) -> None:
    with pytest.raises(SpecificationError, match="^gaussian must be True or False, got"):
        fleet.charge(dps.approx(1, 1e-7), **FOR, gaussian=gaussian)
    assert fleet.entries() == [] and fleet.spent is None
    assert fleet.charge(dps.approx(1, 1e-7), **FOR, gaussian=np.bool_(True)).gaussian is True


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *product(("formula", "method", "unit"), (None, 5, b"y", "\ud800", ["y"], "m" * 10**6)),
        *(("released", wrong) for wrong in (5, None, "score", b"score", [5], ["\ud800"], {"score": ["mu"]})),
        ("released", {"score": None}),
        ("released", [["score"]]),
    ],
)
def test_every_other_argument_of_a_charge_is_of_its_kind(fleet: Ledger, name: str, wrong: object) -> None:
    with pytest.raises(SpecificationError, match=rf"\b{name} must be"):
        fleet.charge(dps.approx(1, 1e-7), **FOR | {name: wrong})
    assert fleet.entries() == []


def test_costs_of_what_is_released_are_texts_numbers_or_budgets(fleet: Ledger) -> None:
    costs = {"a": "mu = 0.2", "b": 0.5, "c": np.int64(2), "d": dps.gdp(1)}
    fleet.charge(dps.approx(1, 1e-7), **FOR, released=costs)
    assert fleet.entries()[0].released == {"a": "mu = 0.2", "b": "0.5", "c": "2", "d": "mu = 1 (GDP)"}


SMALL = (
    dps.pure(1e-30),
    dps.pure(1e-20),
    dps.gdp(1e-18),
    dps.gdp(1e-30),
    dps.zcdp(1e-30),
    dps.approx(1e-30, 1e-100),
)
LARGE = (dps.pure(1e30), dps.gdp(1e30), dps.zcdp(1e30), dps.approx(1e30, 0.9))


@pytest.mark.parametrize("total", [*LARGE, dps.approx(3, 1e-6), dps.zcdp(1), *SMALL], ids=str)
@pytest.mark.parametrize("charge", [*SMALL, *LARGE], ids=str)
def test_what_was_charged_can_be_told_however_little_or_much(
    tmp_path: Path, total: Budget, charge: Budget
) -> None:
    """Before a charge, after it, and after two."""
    ledger = dps.Ledger(tmp_path / "a.ledger", total=total)
    for gaussian in (False, not isinstance(charge, Pure)):
        try:
            ledger.charge(charge, **FOR, gaussian=gaussian)
        except BudgetError:
            assert len(ledger.entries()) < 2
        said = f"{ledger.report()} {ledger!r} {ledger.spent} {ledger.left} {ledger.to_dict()}"
        assert ("Spent   nothing" in said) == (not ledger.entries())
        spent = ledger.spent
        assert spent is None or spent.amount <= total.amount * (1 + 1e-9)


def test_opening_again_reads_and_never_changes_the_ledger(fleet: Ledger) -> None:
    fleet.charge(dps.gdp(0.1), **FOR)
    again = dps.Ledger(str(fleet.path))
    assert (again.total, again.dataset, again.entries()) == (fleet.total, "fleet", fleet.entries())
    assert dps.Ledger(fleet.path, total=dps.approx(3, 1e-6), dataset="fleet").spent == fleet.spent
    with pytest.raises(LedgerError, match="a total cannot be changed"):
        dps.Ledger(fleet.path, total=dps.approx(4, 1e-6))
    with pytest.raises(LedgerError, match="of data set 'fleet', not 'trucks'"):
        dps.Ledger(fleet.path, dataset="trucks")
    assert dps.Ledger(fleet.path).entries() == fleet.entries()


def test_a_ledger_can_be_pickled_and_used_there(fleet: Ledger) -> None:
    pickle.loads(pickle.dumps(fleet)).charge(dps.gdp(0.1), **FOR)
    assert len(fleet.entries()) == 1


def test_a_clock_that_jumps_back_changes_no_order(fleet: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, second in enumerate((2e9, 1e9, 0)):
        monkeypatch.setattr(time, "gmtime", lambda second=second: time.localtime(second))
        fleet.charge(dps.gdp(0.1), formula=str(number), method="m")
    entries = fleet.entries()
    assert [entry.formula for entry in entries] == ["0", "1", "2"]
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert sorted(entry.at for entry in entries) == [entry.at for entry in reversed(entries)]
    assert dps.Ledger(fleet.path).spent == fleet.spent


def test_a_path_that_leads_from_nowhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for path in ("a.ledger", "~no-one-of-this-name/a.ledger"):
        with pytest.raises(LedgerError, match="nobody can say where .* give the whole path"):
            Ledger(path, total=dps.pure(1))
    assert Ledger(tmp_path / "a.ledger", total=dps.pure(1)).entries() == []
