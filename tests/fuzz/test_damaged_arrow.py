"""Arrow files whose offsets or positions lead elsewhere: kernels would read memory beyond the file."""

import struct
from pathlib import Path

import pyarrow as pa
import pytest

from dpstats import DataError, Schema, bounded, levels
from dpstats.rows import open_rows

SCHEMA = Schema(x=bounded(0, 9), k=levels("aaaa", "bbbb"))


def saved(path: Path, texts: pa.Array) -> bytes:
    table = pa.table({"x": pa.array([1.0, 2.0, 3.0]), "k": texts})
    with pa.ipc.new_file(str(path), table.schema) as out:
        out.write_table(table)
    return path.read_bytes()


TEXTS = pa.array(["aaaa", "bbbb", "aaaa"])
CASES = {
    "offsets": (TEXTS, struct.pack("<4i", 0, 4, 8, 12), struct.pack("<4i", 0, 4, 1 << 30, 12)),
    "large offsets": (
        TEXTS.cast(pa.large_string()),
        struct.pack("<4q", 0, 4, 8, 12),
        struct.pack("<4q", 0, 4, 1 << 40, 12),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_damaged_file_is_refused_before_it_is_followed(case: str, tmp_path: Path) -> None:
    texts, whole, damaged = CASES[case]
    path = tmp_path / "d.arrow"
    data = saved(path, texts)
    assert open_rows(path, SCHEMA, ["x", "k"]).n == 3 and data.count(whole) == 1
    path.write_bytes(data.replace(whole, damaged))
    with pytest.raises(DataError, match="cannot be read"):
        open_rows(path, SCHEMA, ["x", "k"]).n  # noqa: B018


def test_a_position_outside_its_dictionary_is_a_missing_cell(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), ["aaaa", "bbbb"])
    path = tmp_path / "d.arrow"
    data, whole = saved(path, texts), struct.pack("<3i", 0, 1, 0)
    assert data.count(whole) == 1
    for outside in (1 << 28, 2, -1):
        path.write_bytes(data.replace(whole, struct.pack("<3i", 0, outside, 0)))
        codes = next(open_rows(path, SCHEMA, ["x", "k"]).blocks())["k"]
        assert codes.tolist() == [0, -1, 0]


def test_bytes_that_are_no_text_are_a_matter_of_their_cell(tmp_path: Path) -> None:
    path = tmp_path / "d.arrow"
    path.write_bytes(saved(path, TEXTS).replace(b"aaaabbbbaaaa", b"aa\xffabbbbaaaa"))
    codes = next(open_rows(path, SCHEMA, ["x", "k"]).blocks())["k"]
    assert codes.tolist() == [-1, 1, 0]


def test_a_column_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([1.0]), "kkkk": pa.array(["aaaa"])})
    path = tmp_path / "d.arrow"
    with pa.ipc.new_stream(str(path), table.schema) as out:
        out.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"kkkk", b"k\xff\xffk"))
    with pytest.raises(DataError, match="cannot be read as an Arrow file"):
        open_rows(path, SCHEMA, ["x"])
