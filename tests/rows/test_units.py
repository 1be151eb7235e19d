"""Which rows of a unit weigh follows from the unit's own rows, wherever they and others stand."""

import datetime
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import dpstats as dps
from dpstats.errors import DataError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.rows.weighing import row_hashes
from dpstats.schema import WEIGHS, Schema, bounded, event, levels

SCHEMA = Schema(time=bounded(1, 9), failed=event(), x=bounded(0, 1), g=levels("a", "b"))
DESIGN = build_design("Surv(time, failed) ~ x", SCHEMA)
NAMES = ["time", "failed", "x"]
SERIALS = ["a", "b", "a", None, "a", "b", "", "c"]
FRAME = pd.DataFrame({"time": 2.0, "failed": 1, "x": [0.5] * 7 + [None], "serial": SERIALS})


class Evil:
    """A value that runs its own code."""

    def __hash__(self):
        return hash("a")

    def __eq__(self, other):
        raise ValueError("8.25")


class Text(str):
    """A text that runs its own code."""

    __hash__ = Evil.__hash__
    __eq__ = Evil.__eq__


def weighing(units, x, max_rows):
    """Which rows weigh of a table with these ids and values."""
    data = {"x": x, "serial": units}
    (block,) = open_rows(data, SCHEMA.unit("serial", max_rows), ["x"]).blocks(len(x))
    return block[WEIGHS]


def alone(units, x, max_rows):
    """The same, each unit by itself."""
    weighs = np.zeros(len(units), dtype=bool)
    for unit in set(units) - {None}:
        mine = [row for row in range(len(units)) if units[row] == unit]
        weighs[mine] = weighing([unit] * len(mine), [x[row] for row in mine], max_rows)
        assert weighs[mine].sum() == min(len(mine), max_rows)
    return weighs.tolist()


rows = st.lists(
    st.tuples(st.sampled_from([None, "a", "b", "ü", 3, 2**63]), st.integers(0, 5)), min_size=1, max_size=40
)


@settings(max_examples=100, deadline=None)
@given(rows, st.integers(1, 5))
def test_the_rows_of_each_unit_are_chosen_by_themselves(drawn, max_rows):
    units, x = [unit for unit, _ in drawn], [value / 5 for _, value in drawn]
    assert weighing(units, x, max_rows).tolist() == alone(units, x, max_rows)


@settings(max_examples=100, deadline=None)
@given(rows, st.integers(1, 5), st.randoms(use_true_random=False), st.integers(0, 39))
def test_neither_order_nor_partition_matters(drawn, max_rows, random, cut):
    """The rows that weigh are the same, equal ones counted."""

    def chosen(records, split):
        frames = [
            {"x": [v / 5 for _, v in part], "serial": [u for u, _ in part]}
            for part in (records[:split], records[split:])
        ]
        (block,) = open_rows(frames, SCHEMA.unit("serial", max_rows), ["x"]).blocks()
        return sorted(map(repr, (record for record, on in zip(records, block[WEIGHS], strict=True) if on)))

    shuffled = random.sample(drawn, len(drawn))
    assert chosen(drawn, 0) == chosen(shuffled, cut)


NAN = float("nan")
MORE = st.integers(1, 3)
WILD = [
    "",
    "a",
    b"a",
    "1",
    1,
    1.0,
    True,
    0,
    -0.0,
    NAN,
    float("inf"),
    10**400,
    None,
    pd.NA,
    pd.NaT,
    [1],
    {},
    Evil(),
    Text("a"),
    np.int8(1),
    np.float32(0.5),
    np.datetime64("NaT"),
    np.void(b"a"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal(1),
    "\ud800",
    "a\0b",
    "a\0c",
    (1, NAN),
    (1, 2),
    ([1],),
    object,
    2**53,
    2.0**53,
    np.int64(2**53 + 1),
    datetime.date(2020, 1, 1),
    pd.Timestamp(0),
    pd.DataFrame({"a": [1]}),
    np.arange(3),
]
wild = st.sampled_from(WILD)


@settings(max_examples=300, deadline=None)
@given(st.lists(wild, max_size=9), st.lists(st.tuples(st.integers(0, 99), wild), max_size=9), MORE)
def test_rows_of_other_units_change_nothing(mine, others, max_rows):
    """Rows of the units u0 and u1, then with wild ids of others put between them."""
    mine = [(f"u{position % 2}", position / 10) for position in range(len(mine))]
    weighs = weighing(*zip(*mine, strict=True), max_rows).tolist() if mine else []
    mixed = [(*record, on) for record, on in zip(mine, weighs, strict=True)]
    for position, other in others:
        mixed.insert(position % (len(mixed) + 1), (other, 0.3, None))
    if mixed:
        found = weighing([record[0] for record in mixed], [record[1] for record in mixed], max_rows)
        for got, (_, _, expected) in zip(found, mixed, strict=True):
            assert expected is None or got == expected


def test_a_replaced_unit_leaves_the_choice_of_all_others():
    generator = np.random.default_rng(1)
    data = pd.DataFrame({"serial": generator.integers(0, 300, 3000), "x": generator.uniform(size=3000)})
    other, mine = data.copy(), data["serial"] == 7
    other.loc[mine, ["serial", "x"]] = [[900 + row % 2, 0.5] for row in range(mine.sum())]
    first, second = (weighing(table["serial"], table["x"], 3) for table in (data, other))
    assert (first == second)[~mine].all() and (first[mine].sum(), second[mine].sum()) == (3, 6)
    assert first.sum() == 900


def test_the_choice_among_a_unit_s_rows_is_even():
    """It looks at no value in particular: of ten rows each weighs as often as another."""
    x = np.random.default_rng(2).uniform(size=(20_000, 10))
    x.sort(axis=1)
    weighs = weighing(np.repeat(np.arange(20_000), 10), x.ravel(), 1).reshape(-1, 10)
    assert (weighs.sum(axis=1) == 1).all()
    assert np.abs(weighs.mean(axis=0) - 0.1).max() < 6 * np.sqrt(0.09 / 20_000)


@pytest.mark.parametrize("pattern", [[0, 0, 0, 0, 1], [0.5] * 4 + [0.25], [0, 1, 1, 1, 1]])
@pytest.mark.parametrize("max_rows", [1, 2])
def test_what_rows_say_does_not_decide_which_are_heard(pattern, max_rows):
    """Alike rows of alike units: the rare one weighs as often as it would by lot.

    A hash of cells alone has one order for all units, in which a failure came before all else, or last.
    """
    weighs = weighing(np.repeat(np.arange(20_000), 5), pattern * 20_000, max_rows).reshape(-1, 5)
    share = max_rows / 5
    assert (weighs.sum(axis=1) == max_rows).all()
    assert np.abs(weighs.mean(axis=0) - share).max() < 6 * np.sqrt(share * (1 - share) / 20_000)


@pytest.mark.parametrize(
    "units", [[0, 7, -12, 2**63 - 1, -(2**63)], [2**64 - 1, 10**19]], ids=["int64", "uint64"]
)
def test_ids_that_are_spelt_choose_the_rows_of_those_that_are_numbers(units):
    """A CSV file holds texts. They are the units of the numbers, and "007" is another."""
    x, ids = np.tile([0.0, 0.1, 0.1, 0.2, 0.3, 0.4], len(units)), np.repeat(units, 6)
    numbers = weighing(ids, x, 2)
    assert (weighing([str(unit) for unit in ids], x, 2) == numbers).all()
    assert weighing(["7", "007", "+7", "7.0", "7 ", "-0", "0"], [0.0] * 7, 1).tolist() == [
        True,
        True,
        True,
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("values", [np.arange(1 << 17) / 3, np.float64(2.0) ** np.arange(-1022, 1000)])
def test_hashes_of_rows_differ_in_every_half(values):
    for half in row_hashes({"a": values, "b": np.zeros(len(values))}).T.copy():
        assert len(np.unique(half)) == len(values)
        bits = np.unpackbits(half.view(np.uint8)).reshape(-1, 64).mean(axis=0)
        assert np.abs(bits - 0.5).max() < 6 * 0.5 / np.sqrt(len(values))


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "NA",
        None,
        NAN,
        1.0,
        pd.NA,
        pd.NaT,
        [1],
        {},
        (1, 2),
        b"a",
        Evil(),
        Text("a"),
        Decimal(1),
        "\ud800",
        2**64,
        datetime.date(2020, 1, 1),
    ],
)
@pytest.mark.parametrize("unit", ["a", 1, 2**63, np.int8(1)])
def test_a_missing_id_and_one_that_is_no_integer_or_text_weigh_nothing(value, unit):
    """Beside a unit of its own type, too."""
    assert weighing([unit, value, unit], [0.5] * 3, 2).tolist() == [True, False, True]


@pytest.mark.parametrize("odd", [2**64, -(2**63) - 1, 10**400])
@pytest.mark.parametrize("made", [list, partial(np.array, dtype=object), partial(pd.Series, dtype=object)])
def test_an_integer_that_has_no_64_bits_decides_about_its_own_row_alone(odd, made):
    ids = made([1, 2, 3, 4, 5, odd])
    assert weighing(ids, [0.5] * 6, 1).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize(
    "same",
    [
        (1, np.int8(1), True, np.uint64(1)),
        ("a", np.str_("a"), " a\t"),
        (-1, np.int16(-1)),
    ],
)
def test_equal_ids_are_one_unit(same):
    assert weighing(same, [0.5] * len(same), 1).sum() == 1


def test_different_ids_are_different_units():
    different = ["1", 1, "01", "1.0", "a\0b", "a\0c", 2**53, 2**53 + 1, -1, 2**64 - 1, "true", "A", "a"]
    assert weighing(different, [0.5] * len(different), 1).all()


NUMBERED = {"a": 2**60 + 1, "b": 2**60, "c": 9, "": None, None: None}
INTEGERS = [NUMBERED[unit] for unit in SERIALS]


def _csv(path):
    FRAME.to_csv(path / "d.csv", index=False)
    return path / "d.csv"


def _parquet(path, frame=FRAME):
    frame.to_parquet(path / "d.parquet")
    return path / "d.parquet"


@pytest.mark.parametrize(
    "make",
    [
        lambda path: FRAME,
        lambda path: FRAME.astype({"serial": "object"}),
        lambda path: FRAME.astype({"serial": "category"}),
        lambda path: FRAME.astype({"serial": "string[python]"}),
        lambda path: FRAME.astype({"serial": "string[pyarrow]"}),
        lambda path: FRAME.assign(serial=pd.Series(INTEGERS, dtype=object)),
        lambda path: FRAME.assign(serial=pd.array(INTEGERS, dtype="Int64")),
        lambda path: FRAME.assign(serial=pd.array(INTEGERS, dtype="int64[pyarrow]")),
        lambda path: FRAME.assign(
            serial=np.ma.array(
                [unit or 0 for unit in INTEGERS], mask=[unit is None for unit in INTEGERS]
            ).astype(object)
        ),
        lambda path: FRAME.iloc[::-1].iloc[::-1],
        lambda path: {name: FRAME[name].tolist() for name in FRAME},
        lambda path: {name: FRAME[name].to_numpy() for name in FRAME},
        lambda path: FRAME.to_dict("series"),
        lambda path: pa.Table.from_pandas(FRAME.assign(serial=pd.array(INTEGERS, dtype="Int64"))),
        lambda path: polars.DataFrame(FRAME.assign(serial=pd.array(INTEGERS, dtype="Int64")).to_dict("list")),
        lambda path: _parquet(path, FRAME.assign(serial=pd.array(INTEGERS, dtype="Int64"))),
        lambda path: [FRAME.iloc[:3], FRAME.iloc[3:]],
        _csv,
        _parquet,
    ],
)
def test_every_kind_of_table_and_block_gives_the_same(make, tmp_path):
    rows = open_rows(make(tmp_path), SCHEMA.unit("serial", max_rows=2), NAMES)
    assert rows.n == 8 and rows.unit.max_rows == 2
    chosen = next(rows.blocks(8))[WEIGHS]
    assert chosen[[1, 5, 7]].all() and not chosen[[3, 6]].any()
    assert chosen[[0, 2, 4]].sum() == 2  # equal rows: by lot
    for size in (8192, 3, 1):
        blocks = list(rows.blocks(size))
        assert np.concatenate([block[WEIGHS] for block in blocks]).tolist() == chosen.tolist()
        ok = np.concatenate([DESIGN.read(block).ok for block in blocks])
        assert ok.tolist() == [*chosen[:7], False]  # its x is missing
        assert all((DESIGN.read(block).exog[~DESIGN.read(block).ok] == 0).all() for block in blocks)
    assert np.concatenate([block[WEIGHS] for block in rows.blocks(2)]).tolist() == chosen.tolist()


def test_ids_in_a_csv_file_are_texts_so_that_no_cell_decides_how_others_are_read(tmp_path):
    for last in ("3", "x"):
        lines = ["time,failed,x,serial", *(f"2,1,1,{serial}" for serial in ("1", "01", "1.0", "1", last))]
        (tmp_path / "d.csv").write_text("\n".join(lines))
        rows = open_rows(tmp_path / "d.csv", SCHEMA.unit("serial", max_rows=1), NAMES)
        assert next(rows.blocks())[WEIGHS].tolist() == [True, True, True, False, True]


@pytest.mark.parametrize(
    "values, held",
    [
        ([1.0, None], "floats"),
        (pd.array([1.0], dtype="Float64"), "floats"),
        (pa.array([1.0]), "floats"),
        (pa.array([Decimal("1.0")]), "floats"),
        (pd.Categorical([1.5]), "floats"),
        (pd.to_datetime(["2020-01-01"]), "dates"),
        (pa.array([b"a"]), "bytes"),
    ],
)
def test_a_column_of_floats_is_no_column_of_ids(values, held):
    values = np.array(values, dtype=float) if isinstance(values, list) else values
    data = {"x": [0.5] * len(values), "serial": values}
    with pytest.raises(DataError, match=f"'serial' names the unit of privacy and holds {held}; give"):
        open_rows(data, SCHEMA.unit("serial", max_rows=1), ["x"])


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("made", [list, iter])
def test_it_is_not_said_which_of_several_frames_has_floats_for_ids(place, made):
    """A frame may have them because one of its ids is missing, as pieces of a query do in pandas."""
    ids = [[1, None] if number == place else [2, 3] for number in range(2)]
    frames = made([pd.DataFrame({"x": 0.5, "serial": each}) for each in ids])
    with pytest.raises(DataError, match="^the column 'serial' names the unit of privacy and holds floats"):
        open_rows(frames, SCHEMA.unit("serial", max_rows=1), ["x"]).n  # noqa: B018


NO_CATEGORY = [pd.Categorical(cells) for cells in ([None, None], [np.nan] * 2, [pd.NaT] * 2)]


@pytest.mark.parametrize(
    "missing", [*NO_CATEGORY, pd.Categorical([None] * 2, categories=pd.Index([], object))]
)
@pytest.mark.parametrize("other", [[1, 2], ["a", "b"]])
def test_ids_of_a_category_that_are_all_missing_are_nobodys(missing, other):
    """A record with an id would give the category another type, and is to decide about no error."""
    kept, others = (pd.DataFrame({"x": 0.5, "serial": ids}) for ids in (missing, pd.Categorical(other)))
    schema = SCHEMA.unit("serial", max_rows=1)
    for data, weigh in (
        (kept, [False] * 2),
        (dict(kept), [False] * 2),
        ([kept, others], [False, False, True, True]),
    ):
        rows = open_rows(data, schema, ["x"])
        assert np.concatenate([block[WEIGHS] for block in rows.blocks()]).tolist() == weigh


@pytest.mark.parametrize("missing", NO_CATEGORY)
def test_cells_of_a_category_that_are_all_missing_are_missing(missing):
    """Whatever is declared, also where pandas has made it a category of dates."""
    (block,) = open_rows(pd.DataFrame({"x": missing, "g": missing}), SCHEMA, ["x", "g"]).blocks()
    assert np.isnan(block["x"]).all() and (block["g"] == -1).all()


def test_without_a_unit_no_row_is_looked_at():
    assert WEIGHS not in next(open_rows(FRAME, SCHEMA, NAMES).blocks())


def test_a_table_without_the_column_of_the_unit_says_so():
    with pytest.raises(
        DataError, match="no column 'number'. The schema says that it holds the unit of privacy"
    ):
        open_rows(FRAME, SCHEMA.unit("number", max_rows=1), NAMES)


def test_new_data_need_no_unit():
    design = build_design("Surv(time, failed) ~ x", SCHEMA.unit("serial", max_rows=1))
    assert design.new_rows({"x": 0.5}, clip=True).exog.tolist() == [[1.0, 0.5]]


UNIT = SCHEMA.unit("serial", max_rows=2)


@pytest.mark.parametrize("stored", [pa.int64(), pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_ids_are_stored_alike_in_all_files(stored, tmp_path):
    """By their types, so that 7 and "7" are not two units; of nulls alone any file may have."""
    columns = {"time": [2.0, 3.0], "failed": [1, 1], "x": [0.5, 0.5], "g": ["a", "b"]}
    other = pa.string() if stored == pa.int64() else pa.int64()
    for name, form in (("a", stored), ("b", stored), ("n", pa.null()), ("z", other)):
        cells = [None, None] if form == pa.null() else pa.array(["7", "8"]).cast(form)
        parquet.write_table(pa.table(columns | {"serial": cells}), tmp_path / f"{name}.parquet")
    assert open_rows(tmp_path / "[abn].parquet", UNIT, NAMES).n == 6
    said = "stored as numbers here and as texts there"
    with pytest.raises(DataError, match=said):
        list(open_rows(tmp_path, UNIT, NAMES).blocks())
    with pytest.raises(DataError, match=said):
        list(
            open_rows(
                [parquet.read_table(tmp_path / f"{name}.parquet") for name in "az"], UNIT, NAMES
            ).blocks()
        )
    ledger = dps.Ledger(tmp_path / "l.ledger", total=dps.zcdp(1))
    with pytest.raises(DataError, match=said):
        dps.survreg("Surv(time, failed) ~ x", tmp_path / "*.parquet", UNIT).fit(
            dps.zcdp(0.5), ledger=ledger, force=True
        )
    assert ledger.left == dps.zcdp(1)


def test_ids_of_objects_are_not_those_of_numbers():
    objects = FRAME.copy().astype({"serial": object})
    assert open_rows([FRAME, objects], UNIT, NAMES).n == 16
    with pytest.raises(DataError, match="stored as numbers here and as texts there"):
        list(open_rows([objects, FRAME.assign(serial=np.arange(8))], UNIT, NAMES).blocks())
