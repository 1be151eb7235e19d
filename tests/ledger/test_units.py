"""A ledger protects one unit of privacy: it says which, and refuses others."""

from pathlib import Path

import pytest

import dpstats as dps
from dpstats.errors import BudgetError
from dpstats.ledger import Ledger
from dpstats.models.survreg import COLUMNS, LATER
from dpstats.testing import SeededNoise, noise

FOR = {"formula": "y ~ x", "method": "m"}
DRIVES = dps.datasets.load("shockabsorber")
FORMULA = "Surv(miles, failed) ~ 1"


@pytest.fixture
def fleet(tmp_path: Path) -> Ledger:
    return dps.Ledger(tmp_path / "fleet.ledger", total=dps.approx(3, 1e-6))


def fit(ledger: Ledger, schema: dps.Schema) -> dps.Fit:
    data = DRIVES.data.assign(serial=range(len(DRIVES.data)))
    with noise(SeededNoise(1)):
        return dps.survreg(FORMULA, data, schema).fit(dps.approx(0.1, 1e-6), ledger=ledger)


def test_the_first_charge_decides_what_a_ledger_protects(fleet: Ledger) -> None:
    assert fleet.report().unit is None
    fleet.charge(dps.gdp(0.1), **FOR, unit="one serial")
    fleet.charge(dps.gdp(0.1), **FOR, unit="one serial")
    for other in ("one row", "one site"):
        with pytest.raises(BudgetError, match=f"would protect {other}, but .* protects one serial.*start an"):
            dps.Ledger(fleet.path).charge(dps.gdp(0.1), **FOR, unit=other)
    assert [entry.unit for entry in fleet.entries()] == ["one serial"] * 2
    assert fleet.to_dict()["unit"] == "one serial"
    assert "Total   epsilon = 3, delta = 1e-06; protects one serial" in str(fleet.report())


def test_rows_decide_as_any_other_unit_does(fleet: Ledger) -> None:
    fleet.charge(dps.gdp(0.1), **FOR, unit="one row")
    with pytest.raises(BudgetError, match="would protect one serial, but .* protects one row"):
        fleet.charge(dps.gdp(0.1), **FOR, unit="one serial")


def test_fits_of_other_units_are_refused_and_cost_nothing(fleet: Ledger) -> None:
    by_row, by_two = DRIVES.schema, DRIVES.schema.unit("serial", max_rows=2)
    fit(fleet, by_two)
    fit(fleet, DRIVES.schema.unit("serial", max_rows=1))  # the same neighbours, with another limit
    spent = fleet.spent
    with pytest.raises(BudgetError, match="would protect one row, but .* protects one serial"):
        fit(fleet, by_row)
    assert (fleet.spent, len(fleet.entries())) == (spent, 2)


def test_a_fit_tells_the_ledger_the_cost_of_each_release(fleet: Ledger) -> None:
    fit(fleet, DRIVES.schema)
    (entry,) = fleet.entries()
    costs = {name: float(cost.removeprefix("mu = ")) for name, cost in entry.released.items()}
    assert set(costs) == {COLUMNS, LATER} and entry.unit == "one row"
    assert sum(cost**2 for cost in costs.values()) == pytest.approx(entry.budget.mu**2, rel=1e-3)
    assert "columns (mu = " in fleet.report().frame.loc[1, "released"]


def test_a_report_shows_long_formulas_whole_and_says_that_epsilons_do_not_add(fleet: Ledger) -> None:
    terms = " + ".join(f"covariate_{number}" for number in range(12))
    fleet.charge(dps.gdp(0.1), formula=f"y ~ {terms}", method="m")
    fleet.charge(dps.gdp(0.1), **FOR)
    text = str(fleet.report())
    assert f"y ~ {terms} [m]" in " ".join(text.split()) and "epsilons do not simply add up" in text
    assert max(map(len, text.splitlines())) == 79 and not any(
        line.endswith(" ") for line in text.splitlines()
    )
