"""What is no table is refused by its type, and a file without a header by the names that it lacks."""

import csv
import io
import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats.cli import main
from dpstats.errors import DataError
from dpstats.rows import open_rows

CELLS = ("Bosch", "WDC", "682.3")
FRAME = pd.DataFrame({"maker": ["Bosch", "WDC"] * 20, "time": [682.3, 17.5] * 20})
SCHEMA = dps.Schema(time=dps.bounded(1, 1000), maker=dps.levels("Bosch", "WDC"))
TEXT = FRAME.to_csv(index=False)


def _cursor() -> sqlite3.Cursor:
    connection = sqlite3.connect(":memory:")
    FRAME.to_sql("t", connection)
    return connection.execute("select maker, time from t")


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME.groupby("maker"),
        lambda: zip(FRAME["maker"], FRAME["time"], strict=True),
        lambda: csv.reader(io.StringIO(TEXT)),
        lambda: csv.DictReader(io.StringIO(TEXT)),
        lambda: io.StringIO(TEXT),
        lambda: TEXT.splitlines()[1:],
        lambda: iter(TEXT.splitlines()),
        lambda: FRAME["maker"],
        lambda: FRAME["maker"].tolist(),
        lambda: FRAME["time"].tolist(),
        lambda: FRAME.to_numpy(),
        lambda: FRAME.to_numpy().tolist(),
        lambda: FRAME.itertuples(index=False, name=None),
        lambda: FRAME.iterrows(),
        lambda: set(FRAME["maker"]),
        lambda: FRAME.set_index("maker").index,
        lambda: pa.array(FRAME["maker"]),
        lambda: pl.Series(FRAME["maker"].tolist()),
        _cursor,
        lambda: TEXT,
        lambda: TEXT.encode(),
        lambda: TEXT.splitlines()[1],
        lambda: FRAME.T,
        lambda: dict(enumerate(FRAME.to_dict("records"))),
        lambda: pl.from_pandas(FRAME).lazy().rename({"time": "Time"}),
        lambda: pd.read_csv(io.StringIO(TEXT), skiprows=1),
        lambda: [TEXT.splitlines()[1]],
        lambda: [None],
    ],
)
def test_what_is_no_table_is_refused_without_a_cell(make):
    with pytest.raises(DataError) as caught:
        open_rows(make(), SCHEMA, ["time", "maker"]).n  # noqa: B018
    assert not any(cell in str(caught.value) for cell in CELLS)


def test_a_column_of_polars_that_arrow_cannot_hold_is_named_where_it_is_asked_for() -> None:
    frame = pl.from_pandas(FRAME).with_columns(many=pl.lit(1, pl.Int128))
    assert open_rows(frame, SCHEMA, ["time", "maker"]).n == 40
    with pytest.raises(DataError, match="Arrow cannot hold the column 'many'.*cast it"):
        open_rows(frame, dps.Schema(many=dps.count(9), time=SCHEMA["time"]), ["time", "many"])


def test_a_variable_in_an_index_is_looked_for_there() -> None:
    for frame in (FRAME.set_index("maker"), FRAME.set_index(["maker", "time"])):
        with pytest.raises(DataError, match=r"in their index, not as a column; give data\.reset_index\(\)"):
            open_rows(frame, SCHEMA, ["time", "maker"])
    with pytest.raises(DataError, match="names of more than one level; give each one name"):
        open_rows(pd.concat({"all": FRAME}, axis=1), SCHEMA, ["time", "maker"])
    assert open_rows(FRAME.set_index("maker", drop=False), SCHEMA, ["time", "maker"]).n == 40


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME.rolling(3),
        lambda: FRAME.expanding(),
        lambda: FRAME.ewm(3),
        lambda: FRAME.rolling(2, win_type="hann"),
        lambda: [FRAME.rolling(3)],
    ],
)
def test_windows_hold_a_record_more_than_once_and_are_refused(make) -> None:
    with pytest.raises(DataError, match="give (the|one) frame"):
        open_rows(make(), SCHEMA, ["time", "maker"])


def test_a_table_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path, link = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text(TEXT)
    link.hardlink_to(path)
    files = [dps.read_csv(path), dps.read_csv(path), dps.read_csv(link)]
    for tables in (
        [FRAME, FRAME],
        (FRAME, FRAME.copy(), FRAME),
        {"a": FRAME, "b": FRAME}.values(),
        [files[0], files[0]],
        files[:2],
        [files[0], files[2]],
        [FRAME, FRAME[:]],
        [FRAME, FRAME.copy(deep=False)],
        [FRAME, FRAME.iloc[:20].copy(), FRAME.iloc[20:].rename(columns=str.upper)],
        [{"time": FRAME["time"], "maker": ["WDC"] * 40}, FRAME],
    ):
        with pytest.raises(DataError, match="data hold a table twice"):
            open_rows(tables, SCHEMA, ["time", "maker"])
    halves, columns = [FRAME.iloc[::2], FRAME.iloc[1::2]], FRAME.to_dict("list")
    apart = [*halves, *({name: list(column) for name, column in columns.items()} for _ in range(2))]
    apart += [
        {"site": "a", **frame.to_dict("list")} for frame in halves
    ]  # what is not asked for may be shared
    assert open_rows([*apart, files[0]], SCHEMA, ["time", "maker"]).n == 200


@pytest.mark.parametrize("make", [lambda: FRAME.iloc[:0], lambda: [], lambda: {"time": [], "maker": []}])
def test_a_table_without_a_row_says_that_it_lacks_them(make) -> None:
    with pytest.raises(dps.SpecificationError, match="the data have no rows; give the table that holds them"):
        dps.ols("time ~ maker", make(), SCHEMA).fit(dps.pure(1))


def test_an_iterator_that_was_read_to_its_end_says_what_became_of_its_rows() -> None:
    parts = iter([FRAME])
    dps.check(parts, SCHEMA)
    with pytest.raises(dps.SpecificationError, match="read to its end, as by dps.check, is made anew"):
        dps.ols("time ~ maker", parts, SCHEMA).fit(dps.pure(1))


@pytest.mark.parametrize(
    "write",
    [
        lambda frame, path: frame.to_csv(path / "d.csv", index=False, header=False) or path / "d.csv",
        lambda frame, path: frame.to_csv(path / "d.csv", index=False, sep=";") or path / "d.csv",
        lambda frame, path: (
            pd.read_csv(io.StringIO(TEXT), skiprows=1).to_parquet(path / "d.pq") or path / "d.pq"
        ),
    ],
)
def test_a_header_that_is_none_is_not_repeated(write, tmp_path: Path, capsys) -> None:
    path = write(FRAME, tmp_path)
    with pytest.raises(DataError, match="no column 'time', 'maker'.* names.* sep=") as caught:
        open_rows(path, SCHEMA, ["time", "maker"])
    assert not any(cell in str(caught.value) for cell in CELLS)
    SCHEMA.save(tmp_path / "s.json")
    assert main(["schema", "check", str(tmp_path / "s.json"), str(path)]) == 2
    assert not any(cell in "".join(capsys.readouterr()) for cell in CELLS)


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(DataError, match=r"no column 'maker'; is it the column 'Makers'\? Rename"):
        open_rows(FRAME.rename(columns={"maker": "Makers"}), SCHEMA, ["time", "maker"])


@pytest.mark.parametrize("name", ["\u200btime", "time\u00ad"])
def test_a_name_with_signs_that_are_not_seen_is_shown_with_them(name: str) -> None:
    with pytest.raises(DataError, match=re.escape(f"is it the column {ascii(name)}?")):
        open_rows({name: [1.0]}, SCHEMA, ["time"])


def test_accents_that_are_signs_of_their_own_are_shown_so() -> None:
    schema = dps.Schema({"gr\u00f6\u00dfe": dps.bounded(0, 1)})
    with pytest.raises(DataError, match=re.escape("is it the column 'gro\\u0308\\xdfe'?")):
        open_rows({"gro\u0308\u00dfe": [1.0]}, schema, ["gr\u00f6\u00dfe"])


def test_a_name_that_the_header_has_twice_is_refused_by_the_check_of_a_schema_too(tmp_path: Path) -> None:
    SCHEMA.save(tmp_path / "s.json")
    (tmp_path / "d.csv").write_text("time,maker,time\n1,WDC,2\n")
    assert main(["schema", "check", str(tmp_path / "s.json"), str(tmp_path / "d.csv")]) == 2


@pytest.mark.parametrize("given", [TEXT, TEXT.splitlines()[1], "x" * 5000, None, 3, FRAME, b"d.csv"])
def test_read_csv_takes_a_path(given) -> None:
    with pytest.raises(DataError) as caught:
        dps.read_csv(given)
    assert len(str(caught.value)) < 120 and not any(cell in str(caught.value) for cell in CELLS)


def test_scalars_of_numpy_are_numbers() -> None:
    assert dps.bounded(np.int64(1), np.float32(2)) == dps.bounded(1, 2)
    assert dps.count(np.int64(10)) == dps.count(10)
    assert dps.levels(*np.arange(3)) == dps.levels(0, 1, 2)
    assert dps.flag(np.int64(2), np.str_("no")) == dps.flag(2, "no")
    schema = dps.Schema(x=dps.count(np.int64(3)), y=dps.flag(np.int64(2), 0)).unit("s", np.int64(2))
    assert dps.Schema.from_dict(schema.to_dict()) == schema


def test_a_schema_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_bytes("﻿x = {kind = 'count', upper = 3}\n".encode())
    assert dps.Schema.load(path) == dps.Schema(x=dps.count(3))
    path.write_bytes("x = {kind = 'levels', levels = ['Müller', 'b']}\n".encode("latin-1"))
    with pytest.raises(dps.SchemaError, match="is not in UTF-8"):
        dps.Schema.load(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.db", r"dps\.read_sql\('SELECT \.\.\.', connection\)"),
        ("a.duckdb", r"duckdb\.connect"),
        ("a.xlsx", r"pd\.read_excel\(path, dtype=object\)"),
        ("a.dta", r"pd\.read_stata"),
    ],
)
def test_a_file_of_another_program_says_how_its_rows_are_given(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=words):
        open_rows(str(tmp_path / name), SCHEMA, ["time"])


def test_what_is_advised_of_json_lets_no_record_decide_how_ids_of_others_are_read(tmp_path: Path) -> None:
    """Such a table has ids of digits, and one with a letter made texts of all, another unit each."""
    schema = dps.Schema(x=dps.bounded(0, 9)).unit("id", max_rows=1)
    (tmp_path / "made.jsonl").write_text("")
    with pytest.raises(DataError, match="give a frame, (.*), in which no cell") as caught:
        open_rows(str(tmp_path / "made.jsonl"), schema, ["x"])
    weights = []
    for last in ("9", "A9", None):
        records = [{"id": f"{i % 5:04d}", "x": i % 7} for i in range(60)] + [{"id": last, "x": 1}]
        (tmp_path / "made.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
        given = re.search("give a frame, (.*), in which", str(caught.value))
        frame = eval(given[1], {"pd": pd, "json": json, "path": tmp_path / "made.jsonl"})  # type: ignore[index]
        weights.append([block["x"][:60] for block in open_rows(frame, schema, ["x"]).blocks()])
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


def test_series_whose_places_need_not_agree_are_refused() -> None:
    names = ["maker", "time"]
    sorted_by_time = {"maker": FRAME["maker"], "time": FRAME["time"].sort_values()}
    with pytest.raises(DataError, match=r"give pd\.DataFrame\(data\)"):
        open_rows(sorted_by_time, SCHEMA, names)
    labelled = FRAME.set_index(pd.Index(range(len(FRAME))).astype(str))
    for alike in (FRAME, labelled):
        assert open_rows({name: alike[name] for name in names}, SCHEMA, names).n == len(FRAME)
    apart = {name: pd.Series(FRAME[name].to_numpy()) for name in names}
    assert open_rows(apart, SCHEMA, names).n == len(FRAME)


def test_an_address_is_no_file_of_this_machine() -> None:
    for address in ("https://example.org/lives.csv", "s3://bucket/*.parquet"):
        with pytest.raises(DataError, match=f"none {re.escape(address)}, which is an address; fetch it"):
            open_rows(address, SCHEMA, ["time"])


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame])
def test_a_column_of_nulls_alone_is_taken_as_missing_cells_as_one_record_may_make_it_another(make) -> None:
    whole, none = {"time": [1.0, 2.0]}, {"time": pa.nulls(2)}
    assert open_rows(make(none), SCHEMA, ["time"]).n == 2
    assert open_rows([make(whole), make(none)], SCHEMA, ["time"]).n == 4


def test_which_of_several_tables_is_at_fault_is_named(tmp_path) -> None:
    for number in range(3):
        FRAME.rename(columns={"time": "Time" if number == 1 else "time"}).to_csv(
            tmp_path / f"{number}.csv", index=False
        )
    with pytest.raises(DataError, match=r"1\.csv: the data have no column 'time'; is it the column 'Time'"):
        open_rows(tmp_path, SCHEMA, ["time"])
    with pytest.raises(DataError, match="table 2 of the data: the data have no column 'time'"):
        open_rows([FRAME, {"maker": ["WDC"]}], SCHEMA, ["time"])


def test_a_lacking_column_of_the_unit_is_said_to_be_that() -> None:
    schema = SCHEMA.unit("customer", max_rows=3)
    with pytest.raises(DataError, match="no column 'customer'.*holds the unit of privacy"):
        open_rows(FRAME, schema, ["time"])
    with pytest.raises(DataError, match="no column 'time'") as refused:
        open_rows(FRAME[["maker"]].assign(customer=1), schema, ["time"])
    assert "unit of privacy" not in str(refused.value)


def test_what_a_frame_of_several_lacks_is_told_also_where_a_ledger_is_charged(tmp_path) -> None:
    frames = (frame for frame in (FRAME, FRAME[["maker"]]))
    model = dps.ols("time ~ maker", frames, SCHEMA)
    with pytest.raises(DataError, match="no column 'time'"):
        model.fit(dps.zcdp(1), ledger=dps.Ledger(tmp_path / "plant.ledger", total=dps.zcdp(2)))
