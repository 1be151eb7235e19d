"""Descriptions: neighbours ask the same, within the sensitivities, and see the same; plans are kept to."""

from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.privacy.catalogue import BUDGETS, SCHEMA, UNIT, made
from tests.privacy.harness import run, violation
from tests.privacy.test_every_replay import (
    BLANK,
    CENSORED,
    HIGH,
    LOW,
    OPPOSITE,
    csv,
    wild_row,
    with_rows,
)

COLUMNS: dict[str, dict[str, Any]] = {
    "all": {},
    "numbers": {"columns": ["temp", "load"]},
    "one": {"columns": ["cost"]},
    "levels": {"columns": ["maker", "failed"]},
    "subset": {"columns": ["load", "maker", "good"], "subset": "temp > 20 or maker == 'A'"},
}
# of budgets whose noise is Gaussian, the long tests have two
KINDS = [
    pytest.param(budget, marks=[pytest.mark.long] * (budget in ("gdp", "approx")), id=budget)
    for budget in BUDGETS
]
CASES = [
    pytest.param(*kind.values, columns, marks=kind.marks, id=f"{kind.id}-{columns}")
    for kind in KINDS
    for columns in COLUMNS
]


def described(budget: str, columns: str, schema: dps.Schema = SCHEMA) -> Any:
    def look(data: Any) -> Any:
        return dps.describe(data, schema, BUDGETS[budget], **COLUMNS[columns], force=True)

    return look


@pytest.mark.parametrize(("budget", "columns"), CASES)
def test_a_row_that_is_replaced(budget: str, columns: str) -> None:
    draw = np.random.default_rng(len(budget) + len(columns))
    tables = [with_rows([row], [7]) for row in (HIGH, OPPOSITE, BLANK, wild_row(draw))]
    assert violation(described(budget, columns), *tables) is None


@pytest.mark.parametrize("budget", KINDS)
def test_a_unit_that_is_replaced(budget: str) -> None:
    """Three rows of a unit of at most two become those of another unit, or of none."""
    alike = (HIGH, "u"), (LOW, "v"), (HIGH, None)
    units = [[dict(row, serial=unit)] * 3 for row, unit in alike]
    units.append([dict(row, serial="u") for row in (CENSORED, BLANK, LOW)])
    assert (
        violation(described(budget, "all", UNIT), *(with_rows(rows, [3, 100, 7]) for rows in units)) is None
    )


@pytest.mark.parametrize(("budget", "columns"), CASES)
def test_other_data_and_the_same_answers(budget: str, columns: str) -> None:
    """Nothing but the answers is in a result: all rows may be others."""
    look = described(budget, columns)
    first = run(look, made(seed=1), SeededNoise(0))
    other = {name: column[::-1] for name, column in made(seed=2).items()} | {"temp": made(seed=3)["temp"] / 3}
    second = run(look, other, Replay(first.answers))
    assert not (first.said or second.said) and first.shown == second.shown


def test_a_line_that_is_replaced(tmp_path: Any) -> None:
    lines = [b"abc,0,1,1,4,9,0.5,0x1p3,7,B,u", b"1,2", b",,,,,,,,,,", b"True,False,1,TRUE,4,9,20,inf,nan,,u"]
    files = [csv(tmp_path / f"{number}.csv", line) for number, line in enumerate(lines)]
    assert violation(described("zcdp", "all"), *files) is None


@pytest.mark.parametrize(("budget", "columns"), CASES)
def test_draws_add_up_to_no_more_than_the_budget(budget: str, columns: str) -> None:
    recording = Recording(SeededNoise(0))
    with noise(recording):
        found = described(budget, columns)(made())
    costs = np.array([record.cost for record in recording.records])
    total = found.budget.epsilon if budget == "pure" else found.budget.mu
    spent = costs.sum() if budget == "pure" else np.sqrt((costs**2).sum())
    assert 0.999 * total < spent <= total
