"""The first rows of each unit weigh, whatever the other units, the blocks, the type or the table."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.errors import DataError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.rows.units import first_rows
from dpstats.schema import WEIGHS, Schema, bounded, event

SCHEMA = Schema(time=bounded(1, 9), failed=event(), x=bounded(0, 1))
DESIGN = build_design("Surv(time, failed) ~ x", SCHEMA)
SERIALS = ["a", "b", "a", None, "a", "b", "", "c"]
FIRST_TWO = [True, True, True, False, False, True, False, True]
FRAME = pd.DataFrame({"time": 2.0, "failed": 1, "x": [0.5] * 7 + [None], "serial": SERIALS})


class Evil:
    """A value that runs its own code."""

    def __hash__(self):
        return hash("a")

    def __eq__(self, other):
        raise ValueError("8.25")


def cells(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def loop(units, max_rows):
    """What `first_rows` does, in words."""
    seen, weighs = {}, []
    for unit in units:
        seen[unit] = seen.get(unit, 0) + 1
        weighs.append(unit is not None and seen[unit] <= max_rows)
    return weighs


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([None, "a", "b", 3, 7.5, (1, "a")]), max_size=40), st.integers(1, 5))
def test_the_first_rows_of_each_unit_weigh(units, max_rows):
    assert first_rows(cells(units), max_rows).tolist() == loop(units, max_rows)


NAN = float("nan")
MORE = st.integers(1, 3)
wild = st.sampled_from(
    ["", "a", b"a", "1", 1, 1.0, True, 0, -0.0, NAN, float("inf"), 10**400, None, pd.NA, pd.NaT, [1], {},
     Evil(),
     np.int8(1), np.float32(0.5), np.datetime64("NaT"), np.void(b"a"), Decimal("NaN"), Decimal("sNaN"),
     Decimal(1), "\ud800", "a\0b", "a\0c", (1, NAN), (1, 2), ([1],), object, 2**53, 2.0**53,
     np.int64(2**53 + 1), datetime.date(2020, 1, 1), pd.Timestamp(0), pd.DataFrame({"a": [1]}), np.arange(3)]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(wild, max_size=9), st.lists(st.tuples(st.integers(0, 99), wild), max_size=9), MORE)
def test_rows_of_other_units_change_nothing(mine, others, max_rows):
    """Rows of the units u0 and u1, then with wild ids of others put between them."""
    mine = [("u", position % 2) for position in range(len(mine))]
    mixed = list(zip(mine, first_rows(cells(mine), max_rows).tolist(), strict=True))
    for position, other in others:
        mixed.insert(position % (len(mixed) + 1), (other, None))
    weighs = first_rows(cells([unit for unit, _ in mixed]), max_rows)
    for got, (_, expected) in zip(weighs, mixed, strict=True):
        assert expected is None or got == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(wild, min_size=1, max_size=12), st.lists(wild, max_size=6), st.integers(1, 2))
def test_a_wild_id_weighs_the_same_beside_any_other_unit(units, others, max_rows):
    """Ids that are not equal to any of the others keep their rows whatever stands beside them."""
    alone = first_rows(cells(units), max_rows)
    foreign = [("foreign", position) for position, _ in enumerate(others)]
    beside = first_rows(cells([*foreign, *units]), max_rows)[len(foreign):]
    assert alone.tolist() == beside.tolist()


@pytest.mark.parametrize("value", ["", None, NAN, pd.NA, pd.NaT, [1], {}, Evil(), Decimal("sNaN"), (1, None)])
def test_a_missing_id_and_one_that_is_no_plain_value_weigh_nothing(value):
    assert first_rows(cells(["a", value, "a"]), 2).tolist() == [True, False, True]


@pytest.mark.parametrize("same", [
    (1, 1.0, np.int8(1), np.float64(1), True, Decimal(1)), ("a", np.str_("a")), (0.0, -0.0),
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)), ((1, "a"), (1.0, "a")),
])  # fmt: skip
def test_equal_ids_are_one_unit(same):
    assert first_rows(cells(same), 1).tolist() == [True] + [False] * (len(same) - 1)


def test_different_ids_are_different_units():
    different = cells(["1", 1, b"1", "01", "1 ", "a\0b", "a\0c", (1,), 2**53, 2**53 + 1])
    assert first_rows(different, 1).all()


NUMBERED = {"a": 5, "b": 3, "c": 9, "": np.nan, None: np.nan}


def _csv(path):
    FRAME.to_csv(path / "d.csv", index=False)
    return path / "d.csv"


def _parquet(path):
    FRAME.to_parquet(path / "d.parquet")
    return path / "d.parquet"


@pytest.mark.parametrize("make", [
    lambda path: FRAME,
    lambda path: FRAME.astype({"serial": "object"}),
    lambda path: FRAME.astype({"serial": "category"}),
    lambda path: FRAME.astype({"serial": "string[python]"}),
    lambda path: FRAME.astype({"serial": "string[pyarrow]"}),
    lambda path: FRAME.assign(serial=[NUMBERED[unit] for unit in SERIALS]),
    lambda path: FRAME.assign(serial=pd.array([NUMBERED[unit] for unit in SERIALS], dtype="Int64")),
    lambda path: FRAME.assign(serial=pd.to_datetime([NUMBERED[unit] for unit in SERIALS])),
    lambda path: FRAME.iloc[::-1].iloc[::-1],
    lambda path: {name: FRAME[name].tolist() for name in FRAME},
    lambda path: {name: FRAME[name].to_numpy() for name in FRAME},
    lambda path: FRAME.to_dict("series"),
    _csv, _parquet,
])  # fmt: skip
def test_every_kind_of_table_and_block_gives_the_same(make, tmp_path):
    rows = open_rows(make(tmp_path), SCHEMA.unit("serial", max_rows=2), DESIGN.variables)
    assert rows.n == 8 and rows.unit.max_rows == 2
    for size in (8192, 3, 1):
        blocks = list(rows.blocks(size))
        assert np.concatenate([block[WEIGHS] for block in blocks]).tolist() == FIRST_TWO
        ok = np.concatenate([DESIGN.read(block).ok for block in blocks])
        assert ok.tolist() == [*FIRST_TWO[:7], False]  # its x is missing
        assert all((DESIGN.read(block).exog[~DESIGN.read(block).ok] == 0).all() for block in blocks)
    assert np.concatenate([block[WEIGHS] for block in rows.blocks(2)]).tolist() == FIRST_TWO


def test_ids_in_a_csv_file_are_texts_so_that_no_cell_decides_how_others_are_read(tmp_path):
    for last in ("3", "x"):
        lines = ["time,failed,x,serial", *(f"2,1,1,{serial}" for serial in ("1", "01", "1.0", "1", last))]
        (tmp_path / "d.csv").write_text("\n".join(lines))
        rows = open_rows(tmp_path / "d.csv", SCHEMA.unit("serial", max_rows=1), DESIGN.variables)
        assert next(rows.blocks())[WEIGHS].tolist() == [True, True, True, False, True]


def test_without_a_unit_no_row_is_looked_at():
    assert WEIGHS not in next(open_rows(FRAME, SCHEMA, DESIGN.variables).blocks())


def test_a_table_without_the_column_of_the_unit_says_so():
    with pytest.raises(DataError, match="no column 'number'; their columns are .*'serial'"):
        open_rows(FRAME, SCHEMA.unit("number", max_rows=1), DESIGN.variables)


def test_new_data_need_no_unit():
    design = build_design("Surv(time, failed) ~ x", SCHEMA.unit("serial", max_rows=1))
    assert design.exog({"x": 0.5})[0].tolist() == [[1.0, 0.5]]
