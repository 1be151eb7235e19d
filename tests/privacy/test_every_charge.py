"""The ledger on every fit: the whole cost, once, of the right kind and unit, before any noise, for good."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import LEAST, Budget
from dpstats.curator.account import PARTS
from dpstats.curator.law import LEAST_MU
from dpstats.ledger import Ledger
from dpstats.testing import Record, Recording, SeededNoise, noise
from tests.privacy.catalogue import BUDGETS, SCHEMA, SHORT, TABLE, UNIT, Case, has_option, made, unless

TOTALS = {
    "pure": dps.pure(20),
    "zcdp": dps.zcdp(20),
    "gdp": dps.gdp(10),
    "approx": dps.approx(9, 1e-3),
}
DATA = made()


class Broken(RuntimeError):
    """What a source of noise raises."""


class Failing(SeededNoise):
    """Draws a number of times, then raises; on the way it looks into the ledger's file as another would."""

    def __init__(self, draws: int, error: type[BaseException], look: Callable[[], int]) -> None:
        super().__init__(0)
        self.left, self.error, self.look, self.seen = draws, error, look, list[int]()

    def _drawn(self) -> None:
        self.seen.append(self.look())
        if self.left == 0:
            raise self.error
        self.left -= 1

    def gaussian(self, *asked: Any) -> Any:
        self._drawn()
        return super().gaussian(*asked)

    def pure(self, *asked: Any) -> Any:
        self._drawn()
        return super().pure(*asked)


def charges(path: Path) -> int:
    """By a connection of its own, which sees nothing that is not committed."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM charges").fetchone()[0])


@pytest.mark.parametrize("case", TABLE)
def test_the_whole_cost_is_charged_before_the_first_draw_and_stays(case: Case, tmp_path: Path) -> None:
    """What is drawn costs what is charged, of a unit; without an option of a row, too, and fits break."""
    drawn: dict[str, list[Record]] = {}
    kinds = {"one row": SCHEMA} if case.option is None else {}
    for unit, schema in (kinds | {"one serial": UNIT}).items():
        ledger = Ledger(tmp_path / f"{unit}.ledger", TOTALS[case.budget])
        with noise(recording := Recording(SeededNoise(0))):
            fit = case.fit(DATA, schema, ledger=ledger)
        drawn[unit] = recording.records
        check(case, ledger, unit, drawn[unit])
        costs_add_up(case, drawn[unit])
        tells(fit, unit, ledger)
    if case.option is None:
        two_rows(drawn["one row"], drawn["one serial"])
        breaks(case, drawn["one serial"], tmp_path)


def breaks(case: Case, records: list[Record], tmp_path: Path) -> None:
    """A fit that breaks at its first draw, at its last, or is interrupted has cost all of it."""
    last = len(records) - 1
    for number, (draws, error) in enumerate(((0, Broken), (last, Broken), (0, KeyboardInterrupt))):
        path = tmp_path / f"{number}.ledger"
        ledger = Ledger(path, TOTALS[case.budget])
        source = Failing(draws, error, lambda path=path: charges(path))
        with noise(source), pytest.raises(error):
            case.fit(DATA, UNIT, ledger=ledger)
        assert set(source.seen) == {1}, "noise was drawn that no other process sees charged"
        check(case, Ledger(path), "one serial", records)


def check(case: Case, ledger: Ledger, unit: str, records: list[Record]) -> None:
    """One charge: the budget as it is, and Gaussian where all its noise is."""
    (entry,) = ledger.entries()
    assert (entry.budget, entry.unit) == (BUDGETS[case.budget], unit)
    linear = (case.model, case.law) == ("glm", "gaussian")  # which is ols
    assert entry.method.startswith("ols" if linear else " ".join(filter(None, (case.model, case.law))))
    assert entry.gaussian == all(record.law.name == "gaussian" for record in records)
    assert entry.gaussian == (case.budget != "pure") or case.compat
    spent, left = ledger.spent, ledger.left
    assert spent is not None and left is not None
    asked, paid = (next(iter(vars(budget).values())) for budget in (BUDGETS[case.budget], spent))
    assert asked <= paid <= asked * (1 + 1e-9)


def costs_add_up(case: Case, records: list[Record]) -> None:
    """To the budget, and no more."""
    budget = BUDGETS[case.budget]
    whole = budget.epsilon if case.budget == "pure" else budget.mu
    if not any(record.name == "minimum" for record in records):  # its slack has a price, too
        power = 1 if case.budget == "pure" else 2
        spent = sum(Fraction(record.cost) ** power for record in records)
        assert Fraction(whole) ** power * (1 - Fraction(1, 10**8)) < spent <= Fraction(whole) ** power
    assert min(record.law.cost for record in records) > whole / PARTS


def tells(fit: Any, unit: str, ledger: Ledger) -> None:
    """The record and the table, what the ledger says and whose privacy it is."""
    record, serial = getattr(fit, "record", fit), unit == "one serial"
    assert record.ledger == ledger.line() == ledger.line(ledger.entries()[0])
    assert record.budget == ledger.entries()[0].budget and record.not_private
    assert record.adjacency == f"replace {unit}"
    assert record.unit == ("serial (at most 2 rows)" if serial else "one row")
    shown = " ".join(str(fit.summary() if isinstance(fit, dps.Fit) else fit).split())
    assert ("serial" in shown and "one row" not in shown) if serial else "one row" in shown


def two_rows(row: list[Record], unit: list[Record]) -> None:
    """The sensitivity for a unit is that of two rows."""
    first, second = row[0], unit[0]
    if first.name == second.name != "minimum":  # whose tilt has a law of its own
        assert second.law.cost == first.law.cost
    if first.name != second.name or len(first.exact) != len(second.exact):
        # through the noise of units of two rows columns are not looked for; or it is asked, too, how many
        # rows cannot be used
        assert first.name == "reach_counts"
        assert second.name in ("reach_counts", "event_moments", "column_means")
        second = next(record for record in unit if record.name in ("event_moments", "column_means"))
        first = next(record for record in row if record.name == second.name)
    if first.name != "minimum":
        assert second.sensitivity == pytest.approx(2 * first.sensitivity, rel=1e-12)


def too_small(case: Case) -> list[Budget]:
    """Budgets of the kind of a case: less than any, and just less than what a fit can be drawn for."""
    if case.budget == "approx":
        return [dps.approx(1e-30, 1e-100), dps.approx(1e-10, 1e-30)]
    most = {"pure": PARTS * LEAST, "zcdp": (PARTS * LEAST_MU) ** 2 / 2, "gdp": PARTS * LEAST_MU}[case.budget]
    kind = type(BUDGETS[case.budget])
    return [kind(max(most * share, LEAST)) for share in (1e-9, 1e-4, 0.999)]


@pytest.mark.parametrize("case", TABLE)
def test_a_budget_of_which_no_part_can_be_drawn_is_refused_before_it_is_charged(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By noise as users get it. What is refused has cost nothing, whatever refuses it."""
    for number, budget in enumerate(too_small(case)):
        monkeypatch.setitem(BUDGETS, case.budget, budget)
        ledger = Ledger(tmp_path / f"{number}.ledger", TOTALS[case.budget])
        with pytest.raises(dps.BudgetError, match="too small|must be positive, from|not offered"):
            case.fit(DATA, ledger=ledger)
        assert ledger.entries() == []


LARGE = {"pure": dps.pure(1e9), "zcdp": dps.zcdp(1e12), "gdp": dps.gdp(1e6), "approx": dps.approx(1e9, 1e-3)}


@pytest.mark.parametrize("case", unless(has_option, TABLE))
def test_a_budget_of_any_size_is_refused_before_it_is_charged_or_gives_a_fit(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUDGETS, case.budget, LARGE[case.budget])
    ledger = Ledger(tmp_path / "a.ledger", LARGE[case.budget])
    try:
        case.fit(DATA, ledger=ledger)
    except dps.BudgetError:
        assert ledger.entries() == []


@pytest.mark.parametrize("case", unless(has_option, SHORT))
def test_what_was_paid_for_is_given_whatever_the_caller_has_numpy_do(case: Case) -> None:
    """Whether a number underflows is a matter of the releases, and of noise."""
    few = {name: column[:60] for name, column in DATA.items()}
    with noise(SeededNoise(1)), np.errstate(all="raise"):
        fit = case.fit(few)
        assert str(fit.summary() if isinstance(fit, dps.Fit) else fit) and repr(fit)
