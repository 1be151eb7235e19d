"""Tables of any make become the same blocks; a table that lacks a column says so; no value says anything."""

import csv
import gzip
import traceback
from array import array
from collections import deque

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import dpstats as dps
from dpstats.errors import DataError
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, count, event, flag, levels

SCHEMA = Schema(
    x=bounded(-1, 1),
    k=count(9),
    g=levels("a", "b", other=True),
    r=levels("1", "2", "10"),
    e=event(failed="dead", censored="alive"),
    f=flag(),
)
NAMES = list(SCHEMA)
SECRET = 8.25  # a cell that no message may show
FRAME = pd.DataFrame(
    {
        "unused": range(6),
        "x": [0.5, np.nan, -3.0, np.inf, 0.25, 0.1],
        "k": [1, 2, 3, 4, 5, 6],
        "g": ["a", "b", "zzz", None, "", "a"],
        "r": [1, 2, 10, 3, 1, 2],
        "e": ["dead", "alive", "gone", None, "alive", "dead"],
        "f": [True, False, True, True, False, False],
    }
)
DICTIONARY = pyarrow.dictionary(pyarrow.int8(), pyarrow.string())
MASKED = np.ma.array([1, 2, 10, 1, 1, 2], mask=[0, 0, 0, 1, 0, 0])
# of the same content, with the exception of infinity: as a text it is no number
EXPECTED = {
    "x": [0.5, np.nan, -3.0, np.nan, 0.25, 0.1],
    "k": [1.0, 2, 3, 4, 5, 6],
    "g": [0, 1, 2, -1, -1, 0],
    "r": [0, 1, 2, -1, 0, 1],
    "e": [1, 0, np.nan, np.nan, 0, 1],
    "f": [1.0, 0, 1, 1, 0, 0],
}


def assert_column(table, name, expected):
    got = next(open_rows(table, SCHEMA, [name]).blocks())[name]
    np.testing.assert_array_equal(got, expected)


def test_many_texts_that_are_not_declared_change_no_other_row():
    """As many as there are rows in a block."""
    cells = ["a", *[f"t{number}" for number in range(16_000)], "b"]
    assert_column({"g": cells}, "g", [0, *[2] * 16_000, 1])


def _written(path, name, content):
    (path / name).write_text(content)
    return path / name


def _csv(path):
    FRAME.to_csv(path / "d.csv", index=False)
    return str(path / "d.csv")


def _zipped(path):
    FRAME.to_csv(path / "d.csv.gz", index=False)
    return path / "d.csv.gz"


def _parquet(path):
    FRAME.to_parquet(path / "d.parquet")
    return path / "d.parquet"


def _arrow(path):
    return pyarrow.Table.from_pandas(FRAME)


def _stream(path):
    return _arrow(path).to_reader(max_chunksize=4)


def _ipc(path, start=pyarrow.ipc.new_file):
    with start(path / "d.arrow", _arrow(path).schema) as out:
        out.write_table(_arrow(path), max_chunksize=4)
    return path / "d.arrow"


def _ipc_stream(path):
    return _ipc(path, pyarrow.ipc.new_stream)


def _tsv(path):
    FRAME.to_csv(path / "d.tsv.gz", index=False, sep="\t", quoting=csv.QUOTE_ALL)
    return path / "d.tsv.gz"


def _decimal_commas(path):
    FRAME.to_csv(path / "d.dat", index=False, sep=";", decimal=",", encoding="latin-1")
    return dps.read_csv(path / "d.dat", sep=";", decimal=",", encoding="latin-1")


@pytest.mark.parametrize(
    "make",
    [
        lambda path: FRAME,
        lambda path: FRAME.astype(
            {"g": "object", "e": "object", "f": "object", "r": "object", "k": "object"}
        ),
        lambda path: FRAME.astype({"g": "category", "r": "category", "e": "category", "x": "category"}),
        lambda path: FRAME.astype(
            {
                "x": "double[pyarrow]",
                "g": "string[pyarrow]",
                "r": "int64[pyarrow]",
                "f": "bool[pyarrow]",
                "e": pd.ArrowDtype(DICTIONARY),
            }
        ),
        lambda path: {name: FRAME[name].to_numpy() for name in NAMES} | {"r": MASKED},
        lambda path: FRAME.astype({"x": "Float64", "k": "Int8", "r": "Int64", "f": "boolean"}),
        lambda path: FRAME.astype({"x": "str", "k": "str", "r": "str", "f": "str"}),
        lambda path: FRAME.set_index("unused").iloc[::-1].iloc[::-1],
        lambda path: {name: FRAME[name].tolist() for name in NAMES},
        lambda path: {name: FRAME[name].to_numpy() for name in NAMES} | {"g": FRAME["g"].array},
        lambda path: FRAME.to_dict("series"),
        lambda path: polars.DataFrame({name: FRAME[name].tolist() for name in NAMES}, strict=False),
        lambda path: [FRAME.iloc[:2], FRAME.iloc[2:2], FRAME.iloc[2:].to_dict("list")],
        lambda path: (FRAME.iloc[i : i + 1] for i in range(6)),
        lambda path: {name: _arrow(path).column(name) for name in NAMES},
        _arrow,
        _stream,
        _ipc,
        _ipc_stream,
        _csv,
        _zipped,
        _tsv,
        _decimal_commas,
        _parquet,
    ],
)
def test_every_kind_of_table_gives_the_same_blocks(make, tmp_path):
    rows = open_rows(make(tmp_path), SCHEMA, NAMES)
    assert rows.n == 6
    for size in (8192, 4, 1):
        blocks = list(rows.blocks(size))
        assert [len(block["x"]) for block in blocks] == {8192: [6], 4: [4, 2], 1: [1] * 6}[size]
        for name, expected in EXPECTED.items():
            got = np.concatenate([block[name] for block in blocks])
            assert got.dtype == (np.int16 if SCHEMA[name].kind == "levels" else np.float64)
            got = np.where(got == np.inf, np.nan, got) if name == "x" else got
            np.testing.assert_array_equal(got, expected, err_msg=name)


@pytest.mark.parametrize("kind", ["U3", object])
def test_cells_that_a_mask_hides_are_missing_whatever_they_hold(kind):
    """A masked "b" was "b", or what the array puts in its place, which is another level."""
    cells = np.array(["a", "b", "b", "zzz"], dtype=kind)
    assert_column({"g": np.ma.array(cells, mask=[0, 0, 1, 1])}, "g", [0, 1, -1, -1])
    assert_column({"g": np.ma.masked_equal(cells, "b")}, "g", [0, -1, -1, 2])


def test_floats_are_not_copied():
    values = np.arange(20_000.0)
    rows = open_rows({"x": values}, SCHEMA, ["x"])
    assert all(np.shares_memory(block["x"], values) for block in rows.blocks())


def test_texts_are_coded_once_and_other_columns_are_not_read():
    class Untouchable(dict):
        def __getitem__(self, name):
            assert name in ("x", "g")
            return super().__getitem__(name)

    rows = open_rows(Untouchable({name: FRAME[name] for name in FRAME}), SCHEMA, ["x", "g"])
    first, second = next(rows.blocks()), next(rows.blocks())
    assert set(first) == {"x", "g"} and np.shares_memory(first["g"], second["g"])
    assert repr(rows) == "Rows(variables=['x', 'g'])"


@pytest.mark.parametrize(
    "code, others",
    [
        (1, ["1", "1.0", 1.0, True, "TRUE", "true", np.int8(1), np.bool_(True)]),
        (0, ["0", "0.0", -0.0, False, "FALSE", "false", np.float32(0)]),
        (np.nan, [2, "2", "yes", None, np.nan, "", [1], {}, pd.NaT, 1j, b"1"]),
    ],
)
def test_codes_of_yes_and_no(code, others):
    for value in others:
        assert_column({"f": [value, 7]}, "f", [code, np.nan])
        assert_column({"f": pd.Series([value] * 2, dtype=object)}, "f", [code] * 2)


def test_numbers_are_read_from_texts_one_by_one():
    cells = [" 1.5 ", "1e3", "-inf", "x", None, True, np.float32(0.5), 10**400, [1], "", pd.NA, 2**70]
    expected = [1.5, 1000, np.nan, np.nan, np.nan, 1, 0.5, np.nan, np.nan, np.nan, np.nan, 2.0**70]
    for keep in (range(12), (0, 1, 2, 6)):
        assert_column({"x": [cells[i] for i in keep]}, "x", [expected[i] for i in keep])


def test_a_csv_may_use_a_missing_value_s_name_as_a_level(tmp_path):
    path = _written(tmp_path, "d.csv", "g,h\nNA,NA\nb,b\n,\nnull,null\n")
    schema = Schema(g=levels("NA", "b"), h=levels("b", other=True))
    block = next(open_rows(path, schema, ["g", "h"]).blocks())
    assert block["g"].tolist() == [0, 1, -1, -1] and block["h"].tolist() == [-1, 0, -1, -1]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: FRAME.drop(columns="x"), "no column 'x'. Rename .*first line hold the names"),
        (lambda path: {"k": [1]}, "no column 'x', 'g'"),
        (lambda path: _csv(path).replace("d.csv", "e.csv"), "there is no file"),
        (lambda path: path / "d.txt", "there is no file"),
        (lambda path: _written(path, "d.csv", "k,g\n1,a\n"), "no column 'x'"),
        (lambda path: _written(path, "d.parquet", "junk"), "as a Parquet file"),
        (lambda path: _written(path, "d.csv", ""), "as a CSV file with a header"),
        (lambda path: _written(path, "d.xls", "x"), "no table of text or Arrow: give a frame, pd.read_excel"),
        (
            lambda path: _written(path, "d.json", "x"),
            r"give a frame, such as pd.DataFrame\(json.load\(open\(path\)\), dtype=object\)",
        ),
        (
            lambda path: _written(path, "d.jsonl", "x"),
            r"pd.DataFrame\(\[json.loads\(line\) for line in open\(path\)\], dtype=object\), in which",
        ),
        (
            lambda path: dps.read_csv(_written(path, "d.pkl", "x")),
            "no table of text or Arrow: give .* pd.read_pickle",
        ),
        (lambda path: 3, "a frame, a dict of arrays, the path"),
        (lambda path: FRAME[["x", "x", "k", "g"]], "more than one column 'x'"),
        (lambda path: {"x": [SECRET], "k": [1, 2], "g": ["a"]}, "different lengths"),
        (lambda path: {"x": np.full((2, 2), SECRET), "k": [1, 2], "g": ["a", "b"]}, "one dimension"),
        (
            lambda path: {"x": SECRET, "k": [1], "g": ["a"]},
            "'x' must be an array, a list or a series, not float;",
        ),
        (lambda path: FRAME.to_dict("records"), "not float; if each row is a dict, give pd.DataFrame"),
        (lambda path: [{"x": "1", "k": 1, "g": "a"}], "not str; .* if each row is a dict, give pd.DataFrame"),
        (lambda path: FRAME.assign(x=pd.Timestamp(0)), "'x' is declared as bounded, .* dates, .* origin"),
        (lambda path: FRAME.assign(x=pd.Timestamp(0, tz="UTC")), "dates, which have no unit"),
        (lambda path: FRAME.assign(k=pd.Timedelta("3h")), "'k' is declared as count, .* durations"),
        (lambda path: FRAME.assign(x=1j), "complex numbers; give real ones"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(make, words, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        open_rows(make(tmp_path), SCHEMA, ["x", "k", "g"])
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        set,
        frozenset,
        lambda cells: dict.fromkeys(cells),
        lambda cells: dict.fromkeys(cells).keys(),
        lambda cells: dict(enumerate(cells)).values(),
        lambda cells: dict(enumerate(cells)).items(),
        iter,
        lambda cells: (cell for cell in cells),
        lambda cells: map(float, cells),
        bytearray,
    ],
)
def test_a_column_without_an_order_of_its_own_is_refused(make):
    """One cell of a set moves hundreds of others, and decides how many there are."""
    columns = {"k": [1] * 3, "g": ["a"] * 3, "x": make([3, 1, 1])}
    with pytest.raises(DataError, match="'x' must be an array, a list or a series, not ") as caught:
        open_rows(columns, SCHEMA, ["k", "g", "x"])
    assert "give a list of its cells" in str(caught.value) and not set("0123456789") & set(str(caught.value))


@pytest.mark.parametrize(
    "make",
    [
        tuple,
        lambda cells: range(1, 4),
        deque,
        lambda cells: array("d", cells),
        pd.Index,
        pd.Series,
        pyarrow.array,
        polars.Series,
    ],
)
def test_a_column_is_any_sequence(make):
    (block,) = open_rows({"x": make([1, 2, 3])}, SCHEMA, ["x"]).blocks()
    assert block["x"].tolist() == [1, 2, 3]


def test_what_a_reader_raises_is_not_quoted():
    def frames():
        yield FRAME
        raise ValueError("could not convert 'patient 4711' to a number")

    rows = open_rows(frames(), SCHEMA, ["x", "k", "g"])
    with pytest.raises(DataError, match="the data cannot be read to their end") as caught:
        rows.n  # noqa: B018
    assert "4711" not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_ends_too_early_is_an_error_that_keeps_no_rows_alive(tmp_path):
    whole = gzip.compress(b"x,k\n" + b"1,2\n" * 1201)
    (tmp_path / "d.csv.gz").write_bytes(whole[:-9])
    rows = open_rows(tmp_path / "d.csv.gz", SCHEMA, ["x", "k"])
    with pytest.raises(DataError, match="cannot be read to its end") as caught:
        rows.n  # noqa: B018
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    link = caught.value.__traceback__.tb_next
    while link is not None:
        assert not any(isinstance(value, bytes | dict | list) for value in link.tb_frame.f_locals.values())
        link = link.tb_next


def test_a_number_is_the_level_that_spells_it_as_it_is_written():
    schema = dps.Schema(code=dps.levels("01", "1", "02"))
    numbers, texts = ({"code": cells} for cells in ([1, 2], ["1", "02"]))
    for data in (numbers, texts):
        (block,) = open_rows(data, schema, ["code"]).blocks()
        assert block["code"].tolist() == [1, 2]


@pytest.mark.parametrize("declared", [2, 30, 3000])
def test_numbers_have_the_codes_of_their_levels_however_many_these_are(declared):
    numbers = np.arange(declared)[::-1] / 2
    schema = dps.Schema(code=dps.levels(*(f"{number:g}" for number in numbers)))
    cells = np.concatenate([numbers, numbers + 0.25, [-0.5, declared / 2, np.nan, np.inf, -np.inf]])
    (block,) = open_rows({"code": cells}, schema, ["code"]).blocks()
    assert block["code"].tolist() == [*range(declared), *[-1] * (declared + 5)]
