"""T1 and T8 on every fit: neighbours ask the same questions, within the sensitivities, and show the same.

Two tables that differ in one row, or in the rows of one unit, are fitted with the same answers. Rows stand in
opposite corners of the declared box, are blank, or hold anything.
"""

import zlib
from typing import Any

import numpy as np
import pytest

from tests.privacy.catalogue import CASES, ROWS, SCHEMA, TABLE, UNIT, Case, made
from tests.privacy.harness import violation

HIGH: dict[str, Any] = dict(
    time=100, start=0, failed=1, good=1, visits=40, cost=500, temp=50, load=1, months=24, maker="B"
)
LOW = dict(time=1, start=0, failed=1, good=0, visits=0, cost=1, temp=10, load=0, months=24, maker="A")
TURNED = dict(HIGH, time=1, good=0, visits=0, cost=1)
CENSORED = dict(HIGH, failed=0, start=60, months=1)
ACROSS = dict(HIGH, temp=10, time=1, good=0, maker="Z")
BLANK = dict.fromkeys(HIGH)
WILD = [
    0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 1e300, 5e-324, "x", "", None, 2**60, 10, 50.0, 10**400, True,
    b"1", 1j, (1, 2), "B", "0.5", " 7 ", "1e400", np.float32(0.3),
]  # fmt: skip
RIGHT_ROWS = (LOW, TURNED, CENSORED, ACROSS, BLANK)


def wild_row(draw: np.random.Generator) -> dict[str, Any]:
    return {name: WILD[draw.integers(len(WILD))] for name in SCHEMA}


def with_rows(rows: list[dict[str, Any]], at: list[int], seed: int = 0) -> dict[str, Any]:
    """The made-up table with these rows at these places."""
    data = {name: column.astype(object) for name, column in made(seed=seed).items()}
    for place, row in zip(at, rows, strict=True):
        for name, value in row.items():
            data[name][place] = value
    return data


def others(case: Case, count: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(zlib.crc32(str(case).encode()))
    return [wild_row(draw) for _ in range(count)]


@pytest.mark.parametrize("case", TABLE)
def test_a_row_that_is_replaced(case: Case) -> None:
    tables = [with_rows([row], [7]) for row in (HIGH, *RIGHT_ROWS, *others(case, 2))]
    assert violation(case.fit, *tables) is None


@pytest.mark.parametrize("case", TABLE)
def test_a_unit_that_is_replaced(case: Case) -> None:
    """Three rows of a unit of at most two, anywhere, become those of another unit, or of none."""
    at = [3, 100, 7]
    alike = (HIGH, "u"), (LOW, "u"), (TURNED, "v"), (HIGH, None)
    units = [[dict(row, serial=unit)] * 3 for row, unit in alike]
    for rows in ((ACROSS, BLANK, CENSORED), (LOW, *others(case, 2))):
        units.append([dict(row, serial="u") for row in rows])

    def fit(data: dict[str, Any]) -> Any:
        return case.fit(data, UNIT)

    assert violation(fit, *(with_rows(rows, at) for rows in units)) is None


@pytest.mark.long
@pytest.mark.parametrize("index", range(20))
def test_tables_of_wild_rows(index: int) -> None:
    """Every row is wild, and one of them is replaced by another."""
    draw = np.random.default_rng(index)
    for case in CASES[index::20]:
        rows = [wild_row(draw) for _ in range(ROWS)]
        pair = [with_rows([*rows[:-1], last], list(range(ROWS))) for last in (rows[-1], wild_row(draw))]
        assert violation(case.fit, *pair) is None, case
