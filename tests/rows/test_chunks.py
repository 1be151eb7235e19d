"""Chunks of Arrow columns are coded one by one: no offset or position of 32 bits spans several of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.rows import open_rows
from dpstats.rows.cells import Texts
from dpstats.schema import WEIGHS
from tests.rows.resized import resize

SCHEMA = dps.Schema(g=dps.levels("a", "b"), x=dps.bounded(-1e30, 1e30))


def views_of(count: int, buffers: list[pa.Buffer | None]) -> pa.Array:
    """Texts that are views of a buffer; old versions of pyarrow read them and cannot make them so."""
    try:
        return pa.Array.from_buffers(pa.string_view(), count, buffers)
    except ValueError as error:
        pytest.skip(f"pyarrow {pa.__version__}: {error}")


def read(data, name):
    """The coded cells of one column."""
    return np.concatenate([block[name] for block in open_rows(data, SCHEMA, [name]).blocks()])


def dictionary(texts):
    coded = pa.array(texts).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices.cast(pa.int8()), coded.dictionary)


@pytest.mark.parametrize("last", ["z0", "z27"])
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda column: {"g": column},
        lambda column: pd.DataFrame({"g": pd.array(column, dtype=pd.ArrowDtype(column.type))}),
    ],
)
def test_distinct_texts_of_two_chunks_may_exceed_the_positions_of_one(wrapped, last):
    chunks = [[*"ab", *(f"y{i}" for i in range(98))], ["b", *(f"z{i}" for i in range(27)), last]]
    got = read(wrapped(pa.chunked_array(list(map(dictionary, chunks)))), "g")
    assert got.tolist() == [0, 1, *[-1] * 98, 1, *[-1] * 28]


def test_texts_of_two_chunks_may_exceed_32_bit_offsets():
    """The null cell's bytes are memory that is never touched, so that the test takes none."""
    size = 2**30 + 2**29
    data, offsets = np.zeros(size + 1, dtype=np.uint8), np.array([0, size, size + 1], dtype=np.int32)
    data[-1] = ord("b")
    chunk = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\2"), *map(pa.py_buffer, (offsets, data))])
    assert read({"g": pa.chunked_array([chunk, chunk, pa.array(["a"])])}, "g").tolist() == [-1, 1, -1, 1, 0]


@pytest.mark.parametrize("unit", [None, "g"])
def test_views_that_show_one_text_are_copied_a_few_at_a_time(unit, monkeypatch):
    n, shown = 1000, b"z" * 1000
    words = np.zeros((n + 2, 4), dtype=np.int32)
    words[:, 0], words[:, 1] = len(shown), np.frombuffer(shown[:4], np.int32)[0]
    words[-2:, :2] = [[1, ord("a")], [1, ord("b")]]
    views = views_of(n + 2, [None, *map(pa.py_buffer, (words, shown))])
    views = views.slice(1)
    views.validate(full=True)
    expected = [*Texts(views).parts()]
    assert len(expected) == 1
    resize(monkeypatch, text_bytes=8192, texts=1024)
    parts = [*Texts(views).parts()]
    assert pa.concat_arrays(parts).equals(expected[0])
    assert {part.type for part in parts} == {pa.large_binary()}
    assert max(pc.sum(pc.binary_length(part)).as_py() for part in parts) < 8192 + len(shown)
    if unit:
        schema = dps.Schema(x=SCHEMA["x"]).unit("g", max_rows=1)
        (block,) = open_rows({"g": views, "x": np.zeros(n + 1)}, schema, ["x"]).blocks()
        assert block[WEIGHS].sum() == 3 and block[WEIGHS][-2:].all()
    else:
        assert read({"g": views}, "g").tolist() == [*[-1] * (n - 1), 0, 1]


def test_views_of_texts_beyond_two_gibibytes_of_a_buffer():
    """As polars makes them; what is before them is memory that is never touched, so that it takes none."""
    text, place = b"a text of 24 characters", 2**31 + 8
    shown = np.zeros(place + len(text), dtype=np.uint8)
    shown[place:] = np.frombuffer(text, np.uint8)
    words = np.zeros((4, 4), dtype=np.uint32)
    words[:, 0], words[1, 1], words[2, 3], words[3, 0] = [1, 1, len(text), 9], ord("b"), place, 1
    words[2, 1], words[3, 1] = np.frombuffer(text[:4], np.uint32)[0], ord("a")
    buffers = map(pa.py_buffer, (b"\x0e", words, shown))
    views = views_of(4, list(buffers))
    schema = dps.Schema(g=dps.levels("a", text.decode(), "b"))
    for start in (0, 2):
        (block,) = open_rows({"g": views.slice(start)}, schema, ["g"]).blocks()
        assert block["g"].tolist() == [-1, 2, 1, 0][start:]


@pytest.mark.parametrize("form", [pa.string(), pa.large_string(), pa.string_view(), pa.decimal128(9, 2)])
def test_texts_and_decimals_are_handled_a_number_of_rows_at_a_time(form, monkeypatch):
    column = pa.array([1, None, *range(2, 30)]).cast(pa.decimal128(21, 2)).cast(pa.string()).cast(form)
    resize(monkeypatch, texts=4, text_bytes=64)
    assert max(len(part) for part in Texts(column).parts()) <= 4
    assert {part.type for part in Texts(column.slice(3)).parts()} == {pa.large_binary()}
    for cut in (0, 1, 5, 29):
        got = read({"x": column.slice(cut)}, "x")
        np.testing.assert_array_equal(got, np.array([1, np.nan, *range(2, 30)])[cut:])


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "dictionary"])
def test_texts_of_any_encoding_are_read(encoding, tmp_path):
    table = pa.table({"g": [*"ab", *(f"z{i}" for i in range(100)), "a"]})
    codes = (
        {"use_dictionary": True}
        if encoding == "dictionary"
        else {"use_dictionary": False, "column_encoding": encoding}
    )
    parquet.write_table(table, tmp_path / "d.parquet", row_group_size=60, **codes)
    assert read(tmp_path / "d.parquet", "g").tolist() == [0, 1, *[-1] * 100, 0]


def test_a_column_without_a_chunk_has_no_row():
    for form in (pa.string(), pa.float64(), pa.dictionary(pa.int8(), pa.string()), pa.string_view()):
        assert open_rows({"x": pa.chunked_array([], form)}, SCHEMA, ["x"]).n == 0


@pytest.mark.parametrize("index", [pa.int8(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("way", ["memory", "file", "stream"])
def test_a_position_outside_its_dictionary_is_a_missing_cell(index, way, tmp_path):
    bad = 2**64 - 3 if index == pa.uint64() else -3
    column = pa.DictionaryArray.from_arrays(pa.array([0, 7, bad, 1, None], index), ["a", "b"], safe=False)
    assert read(_written(pa.table({"g": column}), way, tmp_path), "g").tolist() == [0, -1, -1, 1, -1]


@pytest.mark.parametrize("way", ["memory", "file", "stream"])
def test_a_decimal_beyond_its_type_changes_no_other(way, tmp_path):
    for cell in (2_50, 10**20):
        whole = b"".join(value.to_bytes(16, "little") for value in (1_50, cell, 3_50))
        column = pa.Array.from_buffers(pa.decimal128(5, 2), 3, [None, pa.py_buffer(whole)])
        assert read(_written(pa.table({"x": column}), way, tmp_path), "x").tolist() == [1.5, cell / 100, 3.5]


def _written(table, way, folder):
    if way == "memory":
        return {name: table.column(name) for name in table.column_names}
    start = pa.ipc.new_file if way == "file" else pa.ipc.new_stream
    with start(folder / "d.arrow", table.schema) as out:
        out.write_table(table)
    return folder / "d.arrow"
