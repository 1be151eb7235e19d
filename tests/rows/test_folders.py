"""Folders as they are found: files of one table that are not alike, and links among them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpstats as dps
from dpstats.errors import DataError
from dpstats.rows import open_rows
from dpstats.rows.sizes import SIZES
from tests.rows.resized import resize
from tests.rows.test_parts import joined

SCHEMA = dps.Schema(x=dps.bounded(-1, 1), g=dps.levels("a", "b", other=True)).unit("u", max_rows=1)
TABLE = pa.table(
    {
        "x": [0.5, None, 0.25, -1.0, 0.125, 0.75],
        "g": ["a", "b", None, "z", "a", "b"],
        "u": [1, 2**53, 1, None, 2**53 + 1, 2**53],
    }
)
FIRST, LAST = TABLE.slice(0, 3), TABLE.slice(3)
NULLS = pa.array([None] * 3, pa.null())


def replaced(table, name, cells, dtype=None):
    return table.set_column(table.schema.names.index(name), name, pa.array(cells, dtype))


EXACT = [Decimal("-1"), Decimal("0.125"), Decimal("0.75")]
UNLIKE = {
    "another order of columns": LAST.select(["u", "g", "x"]),
    "a nested column more": LAST.append_column("s", pa.array([{"x": 1.0}, None, {"x": 2.0}])),
    "a dictionary": replaced(LAST, "g", LAST["g"].combine_chunks().dictionary_encode()),
    "decimals": replaced(LAST, "x", EXACT, pa.decimal256(60, 30)),
    "texts": replaced(LAST, "x", ["-1", " .125", "75e-2"]),
    "ids of another width": replaced(LAST, "u", LAST["u"].to_pylist(), pa.uint64()),
}


def bits(rows):
    return {name: values.tobytes() for name, values in joined(rows.blocks()).items()}


def written(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, row_group_size=2)


@pytest.fixture(params=[SIZES.kept, 0], ids=["kept", "at every pass"], autouse=True)
def kept(request, monkeypatch):
    resize(monkeypatch, kept=request.param)


def found(path):
    return bits(open_rows(path, SCHEMA, ["x", "g"]))


@pytest.mark.parametrize("other", UNLIKE)
def test_files_that_are_not_alike_are_one_table(other, tmp_path):
    written(FIRST, tmp_path / "a.parquet")
    written(TABLE.slice(0, 0), tmp_path / "b.parquet")
    written(UNLIKE[other], tmp_path / "c.parquet")
    assert found(tmp_path) == bits(open_rows(TABLE, SCHEMA, ["x", "g"]))


def test_a_file_without_a_value_is_of_any_type(tmp_path):
    written(TABLE, tmp_path / "a.parquet")
    written(pa.table({"x": NULLS, "g": NULLS, "u": NULLS}), tmp_path / "b.parquet")
    rows = open_rows(tmp_path, SCHEMA, ["x", "g"])
    assert rows.n == 9 and np.isnan(joined(rows.blocks())["x"][6:]).all()


def test_folders_that_are_linked_to_belong_to_the_table(tmp_path):
    written(FIRST, tmp_path / "data" / "a.parquet")
    written(LAST, tmp_path / "elsewhere" / "b.parquet")
    (tmp_path / "data" / "more").symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path / "data") == bits(open_rows(TABLE, SCHEMA, ["x", "g"]))
    (tmp_path / "data" / "again").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="has one folder under two names: (again|more) is a link"):
        found(tmp_path / "data")


def test_a_folder_that_leads_to_itself_is_refused_in_a_sentence(tmp_path):
    data = tmp_path / "data"
    written(TABLE, data / "a.parquet")
    for name, place in {"up": data, "self": tmp_path}.items():  # together 2^40 paths
        (data / name).symlink_to(place)
    for given in (data, data / "**" / "*.parquet"):
        with pytest.raises(DataError, match="has one folder under two names") as refused:
            found(given)
        assert len(str(refused.value)) < 300 + len(str(given))
    (data / "up").rename(data / "_up")
    (data / "self").rename(data / ".self")
    assert found(data) == bits(open_rows(TABLE, SCHEMA, ["x", "g"])), "hidden folders are not read"


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    written(FIRST, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "gone.parquet")
    for data in (tmp_path, tmp_path / "*.parquet"):
        with pytest.raises(DataError, match=r"b.parquet is no file, or a link that leads nowhere"):
            found(data)


def test_a_folder_may_have_the_name_of_a_pattern(tmp_path):
    written(TABLE, tmp_path / "[a]" / "d.parquet")
    written(FIRST, tmp_path / "a" / "d.parquet")
    assert found(tmp_path / "[a]") == bits(open_rows(TABLE, SCHEMA, ["x", "g"]))
