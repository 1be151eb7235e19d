"""T1 and T8 on every fit: neighbours ask the same questions, within the sensitivities, and show the same.

Two tables that differ in one row, or in the rows of one unit, are fitted with the same answers. Rows stand in
opposite corners of the declared box, are blank, or hold anything.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from tests.privacy.catalogue import CASES, ROWS, SCHEMA, TABLE, UNIT, Case, made, repeats, unless
from tests.privacy.harness import violation
from tests.privacy.pairs import SOME

HIGH: dict[str, Any] = dict(
    time=100,
    start=0,
    failed=1,
    good=1,
    visits=40,
    cost=500,
    temp=50,
    load=1,
    months=24,
    maker="B",
    after=100,
    before=None,
)
LOW = dict(time=1, start=0, failed=1, good=0, visits=0, cost=1, temp=10, load=0, months=24, maker="A")
TURNED = dict(HIGH, time=1, good=0, visits=0, cost=1)
CENSORED = dict(HIGH, failed=0, start=60, months=1, temp=10, maker="Z")
OPPOSITE = CENSORED | dict(time=1, good=0, visits=0, cost=1, load=0, after=None, before=1)
BLANK = dict.fromkeys(HIGH)
WILD = [
    0.0,
    -0.0,
    1,
    -1,
    np.nan,
    np.inf,
    -np.inf,
    1e300,
    5e-324,
    "x",
    "",
    None,
    2**60,
    10,
    50.0,
    10**400,
    True,
    b"1",
    1j,
    (1, 2),
    "B",
    "0.5",
    " 7 ",
    "1e400",
    np.float32(0.3),
]


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
    """By all others without an option; with one by the row that differs in every cell, and a wild one."""
    some = (OPPOSITE,) if case.option else (LOW, TURNED, CENSORED, BLANK)
    tables = [with_rows([row], [7]) for row in (HIGH, *some, *others(case, 1))]
    assert violation(case.fit, *tables) is None


# of options that meet another, `test_a_unit_that_is_replaced_where_two_options_meet` tells as much
MET = {(pair.values[0].model, option) for pair in SOME if not pair.marks for option in pair.values[0].options}


@pytest.mark.parametrize("case", unless(lambda case: (case.model, case.option) in MET, TABLE))
def test_a_unit_that_is_replaced(case: Case) -> None:
    """Three rows of a unit of at most two, anywhere, become those of another unit, or of none."""
    at = [3, 100, 7]
    alike = (HIGH, "u"), (LOW, "v"), (HIGH, None)
    units = [[dict(row, serial=unit)] * 3 for row, unit in alike]
    units.append([dict(row, serial="u") for row in (CENSORED, BLANK, *others(case, 1))])

    def fit(data: dict[str, Any]) -> Any:
        return case.fit(data, UNIT)

    assert violation(fit, *(with_rows(rows, at) for rows in units)) is None


@pytest.mark.parametrize("case", SOME)
def test_a_unit_that_is_replaced_where_two_options_meet(case: Case) -> None:
    """By one of its opposite, of what no option can use, and of anything."""
    units = [HIGH] * 3, [OPPOSITE, BLANK, *others(case, 1)]
    tables = [with_rows([dict(row, serial="u") for row in rows], [3, 100, 7]) for rows in units]
    assert violation(lambda data: case.fit(data, UNIT), *tables) is None


FILES = [
    case
    for case in CASES
    if str(case)
    in (
        "survreg-weibull-newton-zcdp",
        "kaplan_meier-pure",
        "ols-gram-pure",
        "ridge-gram-zcdp",
        "logit-newton-zcdp",
        "glm-poisson-newton-zcdp",
        "svm-objective-pure",
    )
]
# lines in place of a record: cells of other kinds, too few and too many fields, open quotes, no text at all
LINES = [
    b"abc,0,1,1,4,9,0.5,0x1p3,7,B,u",
    b"1,2",
    b"1,2,3,4,5,6,7,8,9,10,11,12,13",
    b'"1,0,1,1,4,9,20,0.5,7,B,u',
    b"1,0,1,1,4,9,20,0.5,7,\xff\xfe,u",
    b"",
    b"True,False,1,TRUE,4,9,20,inf,nan,,u",
    b",,,,,,,,,,",
    b'1,0,1,1,4,9,20,0.5,7,"B"",u',
    b"1_0,1e400,1,1,4,9,2\xc2\xa00,.5,7,B,9007199254740993",
]


def csv(path: Path, line: bytes) -> Path:
    data = made() | {"failed": made()["failed"].astype(bool)}
    records = [",".join(map(str, row)).encode() for row in zip(*data.values(), strict=True)]
    path.write_bytes(b"\n".join([",".join(data).encode(), *records[:7], line, *records[8:]]) + b"\n")
    return path


@pytest.mark.parametrize("schema", [SCHEMA, UNIT], ids=["row", "unit"])
@pytest.mark.parametrize("case", FILES, ids=str)
def test_a_line_that_is_replaced(case: Case, schema: dps.Schema, tmp_path: Path) -> None:
    files = [csv(tmp_path / f"{number}.csv", line) for number, line in enumerate(LINES)]
    assert violation(lambda path: case.fit(path, schema), *files) is None


@pytest.mark.parametrize("case", FILES, ids=str)
def test_a_record_of_a_parquet_file_that_is_replaced(case: Case, tmp_path: Path) -> None:
    """Integer ids, one of them null in one file, beyond what a float tells apart; a null in every column."""
    import pyarrow
    import pyarrow.parquet

    files = []
    for number in range(3):
        columns = {name: list(column) for name, column in made().items()}
        columns["visits"] = [int(value) for value in columns["visits"]]
        columns["serial"] = [2**53 + i for i in range(ROWS)]
        for name in columns if number else ():
            columns[name][7] = None if number == 1 else HIGH.get(name, 2**53 + 5)
        files.append(tmp_path / f"{number}.parquet")
        kinds = {"visits": pyarrow.int64(), "serial": pyarrow.int64(), "maker": pyarrow.string()}
        arrays = {n: pyarrow.array(c, kinds.get(n, pyarrow.float64())) for n, c in columns.items()}
        pyarrow.parquet.write_table(pyarrow.table(arrays), files[-1], row_group_size=50)
    for schema in (SCHEMA, UNIT):
        assert violation(lambda path, schema=schema: case.fit(path, schema), *files) is None


DIFFERENT = [case for case in CASES if not repeats(case)]


@pytest.mark.long
@pytest.mark.parametrize("index", range(20))
def test_tables_of_wild_rows(index: int) -> None:
    """Every row is wild, and one of them is replaced by another."""
    draw = np.random.default_rng(index)
    for case in DIFFERENT[index::20]:
        rows = [wild_row(draw) for _ in range(ROWS)]
        pair = [with_rows([*rows[:-1], last], list(range(ROWS))) for last in (rows[-1], wild_row(draw))]
        assert violation(case.fit, *pair) is None, case
