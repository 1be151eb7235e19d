"""A schema to fill in is made of names and storage types; no value is read."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dps

FRAME = pd.DataFrame(
    {
        "life": [1.5, 2.5],
        "starts": [3, 4],
        "warm": [True, False],
        "the maker": ["HGST", "WDC"],
        "site": pd.Categorical(["secret", "other"]),
        "sold": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    }
)
KINDS = {"life": "bounded", "starts": "bounded", "warm": "flag", "the maker": "levels", "site": "levels"}


@pytest.mark.parametrize(
    "table",
    [
        lambda path: FRAME,
        lambda path: pl.from_pandas(FRAME),
        lambda path: pa.Table.from_pandas(FRAME),
        lambda path: {name: FRAME[name] for name in FRAME},
        lambda path: (FRAME.to_parquet(path / "d.parquet"), path / "d.parquet")[1],
        lambda path: (FRAME.to_feather(path / "d.arrow"), str(path / "d.arrow"))[1],
    ],
    ids=["pandas", "polars", "arrow", "dict", "parquet", "feather"],
)
def test_types_say_what_a_column_may_be_declared_as(table, tmp_path: Path) -> None:
    text = dps.Schema.template(table(tmp_path))
    assert {name: each["kind"] for name, each in tomllib.loads(text).items()} == KINDS
    assert "# sold holds dates: give numbers" in text
    assert "HGST" not in text and "secret" not in text and "1.5" not in text


@pytest.mark.parametrize("give", [str, dps.read_csv])
def test_of_a_csv_file_the_first_line_is_read(give, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    FRAME.to_csv(path)  # with an index, whose name is blank
    text = dps.Schema.template(give(path))
    assert {name: each["kind"] for name, each in tomllib.loads(text).items()} == dict.fromkeys(FRAME, "?")
    path.write_bytes(path.read_bytes().splitlines()[0] + b'\n"\x00 not, a record')
    assert dps.Schema.template(give(path)) == text


@pytest.mark.parametrize("line", ["Report of 2024,,", "life;site"])
def test_a_title_is_no_header(line: str, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"{line}\nlife,site\n1,north\n")
    with pytest.raises(dps.errors.DataError, match="take out all lines above the names of the columns"):
        dps.Schema.template(path)
    schema = dps.Schema(life=dps.bounded(0, 1), site=dps.levels("north", "south"))
    with pytest.raises(dps.errors.DataError, match="may be a title, then take out all lines"):
        dps.ols("life ~ site", path, schema)


@pytest.mark.parametrize("record", ["2021-05-03,alice,yes", "$5,bob,no", "alice,+12 kg,yes", ".5,carol,dave"])
def test_a_first_line_that_may_be_a_record_is_not_shown(record, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"{record}\n{record}\n")
    with pytest.raises(dps.errors.DataError, match="may be a record") as told:
        dps.Schema.template(path)
    assert not any(cell in str(told.value) for cell in record.split(","))


def test_other_values_of_the_same_types_make_the_same_template() -> None:
    other = FRAME.assign(life=[np.nan, 1e9], site=pd.Categorical(["x", "y"]), starts=[-1, 0])
    assert dps.Schema.template(other) == dps.Schema.template(FRAME)


def test_a_column_of_no_type_may_hold_anything() -> None:
    text = dps.Schema.template(pa.table({"empty": pa.nulls(2)}))
    assert text.endswith('empty = {kind = "?"}  # nulls alone, of no type\n')


def test_what_is_not_filled_in_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    text = dps.Schema.template(FRAME)
    for change, says in (
        (text, "variable 'life': lower is still '?'"),
        (text.replace('lower = "?"', "lower = 0"), "variable 'life': upper is still '?'"),
        (text.replace('lower = "?", upper = "?"', "lower = 0, upper = 9"), "variable 'the maker': levels is"),
        ('life = {kind = "?"}', "variable 'life': kind is still '?'"),
    ):
        path.write_text(change)
        with pytest.raises(dps.SchemaError, match=says.replace("?", r"\?")):
            dps.Schema.load(path)
    filled = text.replace('lower = "?", upper = "?"', "lower = 0, upper = 9").replace('["?"]', '["a", "b"]')
    path.write_text(filled)
    assert list(dps.Schema.load(path)) == list(KINDS)


def test_a_name_that_two_columns_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("cost,age,cost\n1,2,3\n")
    with pytest.raises(dps.DataError, match="holds a name twice"):
        dps.Schema.template(path)


def test_a_line_of_title_is_not_taken_for_a_name(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("Maintenance export 2026\ncost,age\n1,2\n")
    with pytest.raises(dps.DataError, match="one name alone: take out all lines above .* sep=';'"):
        dps.Schema.template(path)
    path.write_text("cost\tage\n1\t2\n")
    with pytest.raises(dps.DataError, match=r"sep='\\t'"):
        dps.Schema.template(path)


def test_a_question_mark_may_be_a_level() -> None:
    assert dps.Schema(x={"kind": "levels", "levels": ["?", "a"]})["x"].all == ("?", "a")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (pd.DataFrame(), "no columns with names"),
        (3, "needs a frame"),
        ([1, 2], "needs a frame"),
        ("no.csv", "no file no.csv"),
    ],
)
def test_what_has_no_columns_is_refused(data, says: str) -> None:
    with pytest.raises(dps.DataError, match=says):
        dps.Schema.template(data)


@pytest.mark.parametrize("record", ["1.5,HGST", "-3e5,a", "7,8"])
def test_a_first_record_is_not_taken_for_names(record: str, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"{record}\n1,2\n")
    with pytest.raises(dps.DataError, match="may be a record") as refused:
        dps.Schema.template(path)
    assert record.split(",")[0] not in str(refused.value)


def test_the_index_that_pandas_writes_is_no_variable(tmp_path: Path) -> None:
    pd.DataFrame({"x": [1.0, 2.0]}, index=[3, 5]).to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" not in dps.Schema.template(tmp_path / "a.parquet")
    assert "x = " in dps.Schema.template(tmp_path / "a.parquet")
