"""The data holder's check counts as a fit reads, says why, and says that it is not private."""

import decimal
import sqlite3
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats.checking.check import _AS_NUMBERS, BANNER, reason
from dpstats.errors import SpecificationError
from dpstats.formula import build_design
from dpstats.rows import open_rows

SCHEMA = dps.Schema(
    days=dps.bounded(0, 4000),
    maker=dps.levels("HGST", "Western Digital"),
    failed=dps.event(failed="dead", censored="alive"),
    visits=dps.count(20),
)
COLUMNS: dict[str, list[Any]] = {
    "days": ["12", "1,234", "5,5", "2024-01-31", "a while", "", "5000", "-3"],
    "maker": ["HGST", "hgst", "western-digital", "WDC", "N/A", "HGST", " HGST ", "Western Digital"],
    "failed": ["dead", "Dead", "alive", "1", "alive", "dead", "alive", None],
    "visits": [1, 2, 21, np.nan, 0, 3, 4, 5],
}
WHY = {
    "days": "1 digits in groups: dps.read_csv(path, thousands=','), or decimals: decimal=',' ('1,234'); "
    "1 a decimal comma: dps.read_csv(path, decimal=',') ('5,5'); 1 a date: give days since one origin "
    "('2024-01-31'); 1 a text: write a number, or nothing where there is none ('a while'); 1 missing",
    "maker": "1 'HGST' in another spelling ('hgst'); 1 'Western Digital' in another spelling "
    "('western-digital'); 1 not declared ('WDC'); 1 missing",
    "failed": "1 'dead' in another spelling ('Dead'); 1 not declared ('1'); 1 missing",
    "visits": "1 missing",
}
COUNTS = {"days": (5, 1, 1), "maker": (4, 0, 0), "failed": (3, 0, 0), "visits": (1, 0, 1)}


def tables(folder: Path) -> dict[str, Any]:
    """The same cells in tables of many makes."""
    frame = pd.DataFrame(COLUMNS)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_csv(folder / "a.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "a.parquet")
    return {
        "dict": COLUMNS,
        "frame": frame.set_index(pd.Index(range(100, 108))),
        "arrow": pa.Table.from_pandas(frame),
        "csv": folder / "a.csv",
        "tsv": folder / "a.tsv",
        "read_csv": dps.read_csv(folder / "a.csv"),
        "parquet": str(folder / "a.parquet"),
    }


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("<5", "a limit of detection, no value"),
        ("<5", "of a covariate one number for all of them, such as half the limit"),
        ("15 %", "number with a sign"),
        ("€ 1.234,50", "number with a sign"),
        ("3,5 m2", "number with a sign"),
    ]
    + [(text, "a text that may mean missing") for text in ("n/a", "-", "unknown")]
    + [(text, "a text") for text in ("a while", "v2", "5_000", "0x1F", "m2")],
)
def test_a_number_with_a_unit_is_told_from_a_text(cell: str, words: str) -> None:
    assert words in reason(cell, SCHEMA["days"])


@pytest.mark.parametrize("cell", ["12.50-", "12,50-", "1.234,50-", "1,234.50-", "7-"])
def test_a_minus_behind_the_digits_is_told_with_what_to_do(cell: str) -> None:
    assert dps.check({"days": [cell]}, dps.Schema(days=dps.bounded(-9, 9))).frame["why"][0] == (
        f"1 a minus behind its digits, as SAP writes it: write it before them ({cell!r})"
    )


def test_rows_are_counted_as_a_fit_with_a_subset_weights_and_an_exposure_reads_them() -> None:
    schema = dps.Schema(
        claims=dps.count(9),
        age=dps.bounded(18, 99),
        years=dps.bounded(0.1, 1),
        w=dps.bounded(0, 2),
        kind=dps.levels("a", "b"),
    )
    data = {
        "claims": [1, 0, 2, 0, 1],
        "age": [30, 40, 50, 60, 70],
        "years": [1, 0.5, None, 0.5, 0.02],
        "w": [1, 0, 1, 1, 1],
        "kind": ["a", "a", "a", "b", "b"],
    }
    beside = dict(exposure="years", weights="w", subset="kind == 'a'")
    found = dps.check(data, schema, "claims ~ age", **beside)
    model = dps.glm("claims ~ age", data, schema, "poisson", **beside)
    assert set(found.frame["variable"]) == set(schema) == set(model.design.variables)
    assert found.unusable_rows == 4 and found.notes[1] == "2 of them are outside the subset."
    assert found.notes[2].startswith("Of 1 of them each cell can be used") and "weight is 0" in found.notes[2]
    assert found.frame["below"].tolist() == [0, 0, 1, 0, 0]
    with pytest.raises(SpecificationError, match="give formula=, too"):
        dps.check(data, schema, subset="kind == 'a'")


def test_a_few_enormous_amounts_are_told_of_what_a_fit_lacks_them() -> None:
    """And no fit says so: of gamma fits to such rows at epsilon 2 the mean is that of the others."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 12_000)
    usual = 2000 * np.exp(0.5 * x) * rng.gamma(1.2, 1 / 1.2, len(x))
    claim = np.where(np.arange(len(x)) % 1000 == 7, rng.uniform(5e5, 1.5e6, len(x)), usual)
    schema = dps.Schema(claim=dps.bounded(0, 5e6), x=dps.bounded(-1, 1))
    data = {"claim": claim, "x": x}
    for formula in (None, "claim ~ x"):
        found = dps.check(data, schema, formula)
        share = f"{100 * claim[claim > 4e5].sum() / claim.sum():.0f} %"
        assert found.frame["heavy"][0].startswith("12 of 12000 positive cells, from ")
        assert found.frame["heavy"][0].endswith(f"hold {share}") and "lack about as much" in str(found)
    for table, formula in ((data, "np.log(1 + claim) ~ x"), ({"claim": usual, "x": x}, None)):
        assert not dps.check(table, schema, formula).frame["heavy"].any()
    for law in (rng.exponential(1, 5000), rng.lognormal(0, 1, 5000), rng.lognormal(0, 2, 999), [1.0, -5e5]):
        assert not dps.check({"y": law}, dps.Schema(y=dps.bounded(-1e6, 1e6))).frame["heavy"][0]


def test_a_formula_with_strata_is_read() -> None:
    found = dps.check(COLUMNS, SCHEMA, "Surv(days, failed) ~ visits + strata(maker)")
    assert found.frame["variable"].tolist() == ["days", "maker", "failed", "visits"]


def test_open_ends_outside_a_subset_are_no_unusable_cells() -> None:
    schema = dps.Schema(low=dps.bounded(0, 9), high=dps.bounded(0, 9), x=dps.bounded(0, 9))
    data = {"low": [1, 2, None], "high": [2, None, 3], "x": [5, 1, 1]}
    found = dps.check(data, schema, 'Surv(low, high, type="interval2") ~ 1', subset="x > 3")
    assert found.frame["unusable"].tolist() == [0, 0, 0] and found.unusable_rows == 2


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", "\u2003", "\x1f"])
def test_a_blank_around_a_cell_is_told_as_the_reader_takes_it(blank: str) -> None:
    schema = dps.Schema(kind=dps.levels("ball", "roller"), hours=dps.bounded(0, 10))
    found = dps.check({"kind": [f"ball{blank}", "roller"], "hours": [f"5{blank}", "6"]}, schema).frame
    plain = blank in " \t"
    assert found["unusable"].tolist() == [1 - plain] * 2
    assert all(("no-break space" in why) != plain and "as declared" not in why for why in found["why"])


def test_a_level_that_means_missing_in_another_spelling_is_told() -> None:
    schema = dps.Schema(contract=dps.levels("none", "basic"))
    found = dps.check({"contract": ["none", "None", "None", "basic", ""]}, schema).frame
    assert found["why"][0] == "2 'none' in another spelling, which means missing ('None'); 1 missing"
    assert found["unusable"][0] == 3


def test_many_values_beyond_bounds_ask_for_the_unit() -> None:
    """Of a temperature in degrees Fahrenheit that was declared in Celsius; a tail is no other unit."""
    schema = dps.Schema(temp=dps.bounded(-10, 100, unit="C"), load=dps.bounded(5, 9))
    data = {"temp": [60.0, 120, 140, 150], "load": [1.0, 2, 6, 7]}
    said = " ".join(str(dps.check(data, schema)).split())
    assert "75 % of temp lie above its bounds: is the declared unit, C, that of the data?" in said
    assert "50 % of load lie below its bounds: is the unit of the bounds that of the data?" in said
    few = {"temp": [60.0] * 8 + [120, 140], "load": [6.0] * 10}
    assert "unit" not in str(dps.check(few, schema))


def test_an_open_end_that_is_written_as_a_text_is_read_as_missing() -> None:
    schema = dps.Schema(lo=dps.bounded(1, 10), hi=dps.bounded(1, 10))
    said = str(dps.check({"lo": ["1", "2"], "hi": ["-", ">9"]}, schema, "Surv(lo, hi, type='interval2') ~ 1"))
    assert "is read as missing" in said and "weighs nothing as" not in said


def test_of_a_long_cell_the_beginning_is_told() -> None:
    found = dps.check({"days": ["a while " * 20, "1"]}, dps.Schema(days=dps.bounded(0, 1))).frame
    assert found["why"][0].endswith("('a while a while a while ')")


def test_a_table_without_rows_is_told() -> None:
    assert "There is no row" in str(dps.check({"days": []}, dps.Schema(days=dps.bounded(0, 1))))
    assert "There is no row" not in str(dps.check({"days": ["1"]}, dps.Schema(days=dps.bounded(0, 1))))


@pytest.mark.parametrize("make", ["dict", "frame", "arrow", "csv", "tsv", "read_csv", "parquet"])
def test_counts_and_reasons_are_those_of_the_cells(make: str, tmp_path: Path) -> None:
    found = dps.check(tables(tmp_path)[make], SCHEMA)
    frame = found.frame.set_index("variable")
    assert {n: tuple(frame.loc[n, ["unusable", "below", "above"]]) for n in SCHEMA} == COUNTS
    marked = {"days": f"2 {_AS_NUMBERS} ('1,234', '5,5'); 1 a date{WHY['days'].partition('1 a date')[2]}"}
    assert frame["why"].to_dict() == (WHY | marked if make == "parquet" else WHY)
    assert found.unusable_rows == 6 and set(frame["cells"]) == {8}


def test_a_fit_switches_off_the_rows_that_are_counted() -> None:
    schema = dps.Schema(SCHEMA, y=dps.bounded(0, 1))
    data = COLUMNS | {"y": [0.5] * 8}
    design = build_design("y ~ days + maker + failed + visits", schema)
    (block,) = open_rows(data, schema, design.variables).blocks()
    assert int((~design.read(block).ok).sum()) == dps.check(data, schema).unusable_rows


VISITS = dps.Schema(lower=dps.bounded(0, 1000), upper=dps.bounded(0, 1000))
ENDS = {"lower": [100.0, 0.0, 500.0, None], "upper": [None, 200.0, 300.0, None]}
COMMONEST = ((2, "'inf', '-inf'"), (1, "'inf'"))
BETWEEN = "Surv(lower, upper, type='interval2') ~ 1"


def test_with_a_formula_an_open_end_is_no_loss_and_swapped_ends_are() -> None:
    found = dps.check(ENDS, VISITS, BETWEEN)
    assert found.unusable_rows == 2 and found.frame["unusable"].tolist() == [1, 1]
    said = " ".join(str(found).split())
    assert "2 of 4 rows weigh nothing" in said and "Of 1 of them each cell can be used" in said
    (block,) = open_rows(ENDS, VISITS, list(VISITS)).blocks()
    assert int((~build_design(BETWEEN, VISITS).read(block).ok).sum()) == 2
    assert dps.check(ENDS, VISITS).frame["unusable"].tolist() == [1, 2]
    typed = {**ENDS, "upper": ["2O0", "200", "300", ""]}  # a fit takes the first for a unit that still works
    why = dps.check(typed, VISITS, BETWEEN).frame["why"][1]
    assert why == "1 a text: write a number, or nothing where there is none ('2O0'); 1 missing"
    assert dps.check({**ENDS, "a": [1] * 4}, {**VISITS, "a": dps.count(3)}, BETWEEN).frame.shape[0] == 2


def test_an_open_end_is_no_loss_beside_a_missing_covariate() -> None:
    data = {
        "lower": [100.0, 300.0, None, 5.0],
        "upper": [None, None, None, "x"],
        "heat": [40.0, None, None, None],
    }
    found = dps.check(data, {**VISITS, "heat": dps.bounded(0, 99)}, BETWEEN.replace("1", "heat"))
    assert found.frame.set_index("variable")["unusable"].to_dict() == {"lower": 1, "upper": 2, "heat": 3}
    assert found.unusable_rows == 3


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_an_infinite_number_is_as_unusable_as_a_fit_has_it(make: Any) -> None:
    data = make({"lower": [100.0, np.inf, -np.inf, 5.0], "upper": [np.inf, 2000.0, 300.0, 10.0]})
    found = dps.check(data, VISITS, "lower ~ upper")
    (block,) = open_rows(data, VISITS, list(VISITS)).blocks()
    assert int((~build_design("lower ~ upper", VISITS).read(block).ok).sum()) == found.unusable_rows == 3
    assert found.frame[["unusable", "below", "above"]].to_numpy().tolist() == [[2, 0, 0], [1, 0, 1]]
    assert found.frame["why"].tolist() == [f"{n} an infinite number ({c})" for n, c in COMMONEST]
    assert dps.check(data, VISITS).unusable_rows == 3
    between = dps.check(data, VISITS, BETWEEN)  # an open end is none
    assert between.unusable_rows == 1 and between.frame["unusable"].tolist() == [1, 0]


def test_rows_that_do_not_weigh_for_their_unit_are_counted() -> None:
    schema = dps.Schema(x=dps.bounded(0, 9)).unit("id", max_rows=2)
    data = {"x": [1.0, 2, 3, 4, 5, None], "id": ["a", "a", "a", "b", None, "a"]}
    words = "3 rows weigh nothing for their id, whatever their cells"
    counted = f"{words}: 1 without one, and 2 beyond at most 2 rows of each."
    assert dps.check(data, schema).notes[-1] == counted
    lives = schema | dps.Schema(e=dps.event(failed=1, censored=0))
    assert dps.check(data | {"e": [0] * 6}, lives).notes[-1].startswith(f"{counted} PROBLEM: where a failure")
    assert dps.check(data, schema.unit("id", max_rows=4)).notes[-1].endswith("rows of each.")
    repaired = dps.check(data | {"e": [1, 0, 1, 1, 1, 0]}, lives).notes[-1]
    assert repaired.startswith(f"{counted} Several rows of 1 of them failed") and "PROBLEM" not in repaired
    once = dps.check((pd.DataFrame(data) for _ in range(1)), schema)
    assert any(note.startswith(words) for note in once.notes)
    one = dps.check({name: cells[3:] for name, cells in data.items()}, schema).notes[-1]
    assert one.startswith("1 row weighs nothing for its id, whatever its cells: 1 without one, and 0 beyond")
    assert not [note for note in dps.check({"x": [1.0], "id": ["a"]}, schema).notes if "for its" in note]


def test_data_come_before_the_schema() -> None:
    with pytest.raises(dps.SpecificationError, match="data come before the schema"):
        dps.check(SCHEMA, COLUMNS)
    with pytest.raises(dps.SchemaError, match="data come before the schema"):
        dps.check(COLUMNS, "drives.csv")


def test_what_is_shown_is_marked() -> None:
    found = dps.check(COLUMNS, SCHEMA)
    for text in (str(found), repr(found), found.as_markdown(), found._repr_html_()):
        assert BANNER in text
    assert "6 of 8 rows" in str(found) and found.frame.attrs["banner"] == BANNER


def test_a_generator_has_counts_without_reasons() -> None:
    found = dps.check((pd.DataFrame(COLUMNS) for _ in range(1)), SCHEMA).frame.set_index("variable")
    assert found["unusable"].to_dict() == {name: counts[0] for name, counts in COUNTS.items()}
    assert set(found["why"]) == {"not known, as the cells cannot be seen again: check the table itself"}


def test_of_a_query_the_remedy_is_the_frame_of_the_same_query() -> None:
    connection = sqlite3.connect(":memory:")
    pd.DataFrame({"x": [1.5, "2,4 Nm"]}, dtype=object).to_sql("rows", connection, index=False)
    schema = dps.Schema(x=dps.bounded(0, 5))
    (why,) = dps.check(dps.read_sql("select * from rows", connection), schema).frame["why"]
    assert why.endswith("cannot be seen again: check pd.read_sql(query, connection)")
    (why,) = dps.check(pd.read_sql("select * from rows", connection), schema).frame["why"]
    assert "a number with a sign or unit" in why


def test_one_cell_beyond_says_nothing_of_the_unit() -> None:
    schema = dps.Schema(x=dps.bounded(0, 5))
    rows = ["a", "b", "c", 900.0]  # the last is a total
    assert "is the unit of the bounds" not in str(dps.check({"x": rows}, schema))
    said = " ".join(str(dps.check({"x": [*rows, 901.0]}, schema)).split())
    assert "100 % of x lie above its bounds" in said


def test_cells_of_other_types_and_good_data() -> None:
    odd = {**COLUMNS, "visits": [1, (2, 3), {}, pd.NaT, 4, 5, 6, 7]}
    why = dps.check(odd, SCHEMA).frame.set_index("variable")["why"]["visits"]
    assert "1 of type tuple" in why and "1 of type dict" in why and "1 missing" in why
    signal = {**COLUMNS, "visits": [decimal.Decimal("sNaN"), 1, 2, 3, 4, 5, 6, 7]}
    assert dps.check(signal, SCHEMA).frame.set_index("variable")["why"]["visits"].startswith("1 missing")
    apart = dps.check(
        {"site": [unicodedata.normalize("NFD", "Süd")]}, dps.Schema(site=dps.levels("Süd", "Nord"))
    )
    assert "'Süd' in another spelling" in apart.frame["why"][0]
    good = {"days": [1.0], "maker": ["HGST"], "failed": ["dead"], "visits": [3]}
    found = dps.check(good, SCHEMA)
    assert found.unusable_rows == 0 and set(found.frame["why"]) == {""}


def test_headers_are_refused_as_fits_refuse_them() -> None:
    with pytest.raises(dps.DataError, match="no column 'visits'"):
        dps.check({k: v for k, v in COLUMNS.items() if k != "visits"}, SCHEMA)
    with pytest.raises(dps.DataError, match="dates"):
        dps.check(pd.DataFrame(COLUMNS).assign(days=pd.Timestamp("2024-01-31")), SCHEMA)
    with pytest.raises(dps.SchemaError, match=r"a schema is a dps\.Schema"):
        dps.check(COLUMNS, pd.DataFrame(COLUMNS))


def test_the_commonest_values_beyond_the_bounds_are_shown() -> None:
    """A 999 that stands for "not known" is moved to the bound, and nothing else tells of it."""
    days = [999.0, 999.0, -99.0, 5.0, 1e5, 1e6, 7.0]
    found = dps.check({"days": days}, dps.Schema(days=dps.bounded(0, 100)))
    assert found.frame["beyond"][0] == "999 (2 times), -99, 100000, ..."
    assert tuple(found.frame.loc[0, ["unusable", "below", "above"]]) == (0, 1, 4)
    assert "days is beyond its bounds at 999 (2 times), -99, 100000, ...." in str(found)


def test_a_level_that_pandas_takes_for_missing_is_told() -> None:
    frame = pd.DataFrame({"land": [None, "DE", None]})
    why = dps.check(frame, dps.Schema(land=dps.levels("NA", "DE"))).frame["why"][0]
    assert why == "pandas.read_csv reads the level 'NA' as missing: give keep_default_na=False; 2 missing"
    assert dps.check({"land": ["NA", "DE"]}, dps.Schema(land=dps.levels("NA", "DE"))).frame["why"][0] == ""


@pytest.mark.parametrize(
    ("cell", "signs"),
    [
        ("1,234,567.8", "thousands=','"),
        ("1.234,5", "decimal=',', thousands='.'"),
        ("1.234.567", "decimal=',', thousands='.'"),
        ("1'234.5", 'thousands="\'"'),
        ("1 234,5", "decimal=',', thousands=' '"),
    ],
)
def test_what_is_said_of_groups_reads_them(cell: str, signs: str, tmp_path: Path) -> None:
    schema = dps.Schema(days=dps.bounded(0, 1e7))
    (tmp_path / "a.csv").write_text(f'days\n"{cell}"\n')
    path = str(tmp_path / "a.csv")
    assert signs in dps.check(dps.read_csv(path, sep=";"), schema).frame["why"][0]
    again = eval(f"dps.read_csv({path!r}, sep=';', {signs})", {"dps": dps})
    assert dps.check(again, schema).frame["unusable"][0] == 0


def test_a_comma_that_may_be_of_decimals_is_no_mark_of_groups_alone(tmp_path: Path) -> None:
    path, schema = tmp_path / "b.csv", dps.Schema(days=dps.bounded(0, 1e7))
    path.write_text('days\n"0,619"\n"1,012"\n')
    why = dps.check(path, schema).frame["why"][0]
    assert "a decimal comma: dps.read_csv(path, decimal=',') ('0,619')" in why
    assert "thousands=','), or decimals: decimal=',' ('1,012')" in why
    assert dps.check(dps.read_csv(path, thousands=","), schema).frame["unusable"][0] == 1  # 0,619 is not 619


def test_units_that_were_watched_from_new_have_entries_below_their_bounds() -> None:
    schema = dps.Schema(entry=dps.bounded(0, 900), days=dps.bounded(1, 900), failed=dps.event())
    rows = {"entry": [-5.0, -9.0, 3.0], "days": [100.0] * 3, "failed": [1, 0, 1]}
    assert "entry lie below" in str(dps.check(rows, schema))
    assert "entry lie below" not in str(dps.check(rows, schema, "Surv(entry, days, failed) ~ 1"))


@pytest.mark.parametrize("code", [9999.0, -999.0])
def test_a_code_within_the_bounds_is_told(code: float) -> None:
    """A linear fit follows a hundredth of the rows that far out, and noise hides them from it."""
    rng = np.random.default_rng(5)
    years = np.where(np.arange(5000) % 100 == 0, code, rng.normal(45, 12, 5000))
    schema = dps.Schema(age=dps.bounded(-9999, 9999), wait=dps.bounded(0, 100), rating=dps.bounded(1, 100))
    columns = {"age": years, "wait": rng.exponential(5, 5000), "rating": rng.integers(1, 8, 5000) * 1.0}
    found = dps.check(columns, schema)
    assert found.frame["apart"].tolist() == [f"{code:.6g} (50 times)", "", ""]
    assert f"age is {code:.6g} (50 times), far from all others" in " ".join(str(found).split())


@pytest.mark.parametrize(("mean", "sd"), [(60, 5), (60, 1.5), (18000, 400)])
@pytest.mark.parametrize("times", [3, 60, 600])
def test_codes_below_all_others_are_told_as_those_above(mean: float, sd: float, times: int) -> None:
    rng = np.random.default_rng(14)
    values = rng.normal(mean, sd, 6000)
    for code in (0.0, -1.0, -999.0):
        values[:times] = code
        columns = {"low": values, "high": 2 * mean - values}
        schema = dps.Schema(dict.fromkeys(columns, dps.bounded(-1e5, 1e5)))
        told = [f"{one:.6g} ({times} times)" for one in (code, 2 * mean - code)]
        assert dps.check(columns, schema).frame["apart"].tolist() == told


def test_levels_that_become_other_are_told_with_how_they_are_written() -> None:
    oil = dps.Schema(oil=dps.levels("mineral", "PAO", other=True))
    cells = ["mineral"] * 5 + ["MINERAL"] * 3 + ["ester", "other", None]
    found = dps.check({"oil": cells}, oil)
    assert found.frame["unusable"].tolist() == [1]
    told = (
        "oil: of its cells become 'other' 3 'mineral' in another spelling ('MINERAL'); "
        "1 not declared ('ester'); 1 as declared ('other')."
    )
    assert told in " ".join(str(found).split())
    assert not dps.check({"oil": ["mineral", "PAO"]}, oil).frame["caught"][0]


def test_what_is_beyond_the_bounds_of_a_time_is_said() -> None:
    schema = dps.Schema(t=dps.bounded(1, 9), failed=dps.event(), x=dps.bounded(0, 1))
    data = {"t": [1, 12], "failed": [1, 0], "x": [0, 2]}
    assert (
        "beyond its upper bound is censored there" in dps.check(data, schema, "Surv(t, failed) ~ x").notes[1]
    )
    assert dps.check(data, schema, "t ~ x").notes[1] == "Values beyond the bounds are moved to them."


@pytest.mark.parametrize("slips", [3, 50])
def test_slips_of_the_decimal_point_are_shown(slips: int) -> None:
    """They are no value that repeats, and none of them need be 30 sds from the others."""
    rng = np.random.default_rng(0)
    weights = rng.normal(50, 10, 5000).clip(5, 95)
    weights[:slips] *= 10
    found = dps.check({"weight": weights}, dps.Schema(weight=dps.bounded(0, 1000))).frame["apart"][0]
    shown = found.removesuffix(", ...").split(", ")
    assert len(shown) == 3 and all(float(one) > 200 for one in shown)


def test_long_tails_and_few_values_are_not_far_from_all_others() -> None:
    rng, n = np.random.default_rng(0), 2000
    for _ in range(20):
        columns = {
            "normal": rng.normal(50, 10, n),
            "income": rng.lognormal(3, 1.5, n),
            "wealth": 1 + rng.pareto(1, n),
            "gain": rng.standard_t(3, n),
            "steps": np.rint(rng.standard_t(3, n) * 2),
            "loss": -np.rint(rng.lognormal(2, 1, n)),
            "rank": rng.zipf(1.6, n) * 1.0,
            "years": rng.integers(1950, 2024, n) * 1.0,
            "share": rng.uniform(0, 1, n),
            "visits": rng.poisson(rng.gamma(0.3, 10, n)) * 1.0,
            "grade": rng.integers(1, 8, n) * 1.0,
            "flag": (rng.uniform(size=n) < 0.03) * 1.0,
            "constant": np.full(n, 3.0),
        }
        found = dps.check(columns, dps.Schema(dict.fromkeys(columns, dps.bounded(-1e9, 1e9))))
        assert set(found.frame["apart"]) == {""}


def test_lines_of_a_csv_file_that_hold_no_record_say_why(tmp_path: Path) -> None:
    """A fit reads line by line; pandas skips blank lines, joins quoted ones and fills short ones."""
    path = tmp_path / "a.csv"
    lines = [b"x;y", b"1,5;2", b"", b'"1', b'2";3', b"1,5", b"\xe9;3", b";", b"1.5;3"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    file = dps.read_csv(path, sep=";", decimal=",")
    found = dps.check(file, dps.Schema(x=dps.bounded(0, 9), y=dps.bounded(0, 9)))
    assert found.frame["unusable"].tolist() == [7, 5]
    of_lines = [
        "2 in a line that is blank (line 3, line 8)",
        "1 in a line that has a null character, a quotation mark or a carriage return out of place, or an "
        "end of line in quotation marks, which ends a record all the same (line 4)",
        "1 in a line that has 1 field, and the first line has 2 (line 6)",
        "1 in a line that is not written in utf-8; encoding='latin-1' (--encoding) may be right (line 7)",
    ]
    assert found.frame["why"][1] == "; ".join(of_lines)
    first = found.frame["why"][0]
    assert all(one in first for one in of_lines)
    assert "1 not with a decimal comma, which decimal=',' says that numbers have ('1.5')" in first


def test_a_line_with_the_euro_of_windows_is_said_to_be_of_windows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,\x80 2\n")
    found = dps.check(tmp_path / "a.csv", dps.Schema(x=dps.bounded(0, 9), y=dps.bounded(0, 9)))
    assert "encoding='cp1252'" in str(found) and "latin" not in str(found)


def test_what_is_wrong_with_several_variables_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n\n")
    found = dps.check(tmp_path / "a.csv", dps.Schema(x=dps.bounded(0, 9), y=dps.bounded(0, 9)))
    assert "\nx, y: 1 in a line that is blank (line 3).\n" in str(found)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_says_why_and_in_which_file(ending: str, tmp_path: Path) -> None:
    tables = {"a": ["1", "2", "x"], "b": ["7", "y", "3"]}
    for name, cells in tables.items():
        frame = pd.DataFrame({"v": cells})
        path = tmp_path / f"{name}.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    if ending == "csv":
        (tmp_path / "c.csv").write_text('v\n"2\n')
    found = dps.check(tmp_path, dps.Schema(v=dps.bounded(0, 9))).frame.iloc[0]
    assert found["unusable"] == (3 if ending == "csv" else 2)
    assert "'x'" in found["why"] and "'y'" in found["why"]
    assert ("line 2 of c.csv" in found["why"]) == (ending == "csv")


@pytest.mark.parametrize(
    "cell, why",
    [("\u221230.5", "a minus sign of print"), ("1e400", "too large a number"), ("-9.e1e", "a text")],
)
def test_numbers_that_no_reader_takes_say_why(cell: str, why: str) -> None:
    found = dps.check({"days": [cell, "1"]}, dps.Schema(days=dps.bounded(0, 9))).frame
    assert found["unusable"][0] == 1 and why in found["why"][0]


def test_rows_that_an_export_doubled_are_counted() -> None:
    draw = np.random.default_rng(1)
    rows = pd.DataFrame({"days": draw.permutation(900), "maker": draw.choice(["HGST", "WDC"], 900)})
    schema = dps.Schema(days=dps.bounded(0, 4000), maker=dps.levels("HGST", "WDC"))
    lost = rows.assign(days=np.nan)  # gaps do not repeat each other
    alike = rows.iloc[draw.permutation(450)[:30] * 2]  # here and there, as by chance
    assert "twice" not in str(dps.check(pd.concat([rows, lost]), schema))
    block = pd.concat([rows, lost, rows.head(30), rows.tail(10)])
    beside = rows.loc[[*range(30), *range(900)]].sort_index()
    for doubled, copies in ((block, 40), (beside, 30)):
        assert f"{copies} rows stand there twice" in " ".join(str(dps.check(doubled, schema)).split())
        said = " ".join(str(dps.check(doubled, schema, formula="days ~ maker")).split())
        assert f"{copies} rows stand there twice in what the formula reads, whatever other" in said
    assert "twice" not in str(dps.check(pd.concat([rows, alike]), schema))
    coarse = str(dps.check(rows.assign(days=1), schema))  # of few values: they must
    assert "twice" not in coarse and "cannot be told" in coarse


@pytest.mark.parametrize("doubled", [0, 500, 6000])
@pytest.mark.parametrize("mixed", [False, True])
def test_doubled_rows_are_not_counted_where_many_are_alike_by_chance(doubled: int, mixed: bool) -> None:
    """One row in five is alike another; a column with another value in each settles it."""
    draw = np.random.default_rng(5)
    rows = pd.DataFrame({name: draw.integers(0, 3, 6000) for name in "ab"}).assign(
        yrs=draw.gamma(1.5, 5, 6000).clip(0, 45).round(1), q=draw.integers(1, 6, 6000), id=range(6000)
    )
    rows = pd.concat([rows, rows.head(doubled)])
    rows = rows.sample(frac=1, random_state=2) if mixed else rows
    schema = dps.Schema(**dict.fromkeys("ab", dps.bounded(0, 2)), yrs=dps.bounded(0, 50), q=dps.bounded(1, 5))
    said = str(dps.check(rows, schema))
    assert "twice" not in said and ("cannot be told" in said) == (doubled > 0)
    assert "cannot be told" in str(dps.check(rows[[*schema]], schema))


@pytest.mark.parametrize("code", [999999.0, 150000.0])
def test_a_value_that_repeats_far_more_often_than_others_is_told(code: float) -> None:
    """Within bounds and tail: rows with it are alike for that, and doubled rows are told beside it."""
    rng = np.random.default_rng(3)
    km = np.where(np.arange(6000) % 100 == 0, code, rng.lognormal(12, 0.7, 6000))
    schema = dps.Schema(km=dps.bounded(1, 1e8))

    def told(values: np.ndarray) -> tuple[str, str]:
        found = dps.check({"km": values}, schema)
        return found.frame["heaped"][0], " ".join(str(found).split())

    heaped, said = told(km)
    assert heaped == f"{code:.6g} (60 times)" and "twice" not in said
    assert f"km is {code:.6g} (60 times), far more often than any other value: if that means" in said
    assert "20 rows stand there twice" in told(np.append(km, km[1:21]))[1]
    capped = np.minimum(km, np.median(km))  # a limit, which half of all reach
    assert told(np.where(km == code, 1e7, km))[0] == ""  # far from all others, and told as such
    for good in (
        capped,
        km.round(-3),
        np.where(rng.random(6000) < 0.01, km, 5.0),
        km[km != code],
        km[:1],
        km[:0],
    ):
        assert told(good)[0] == ""


def test_ids_of_one_unit_in_several_spellings_are_told() -> None:
    """Each is a unit of its own, so that more of its rows weigh than the schema says."""
    schema = dps.Schema(x=dps.bounded(0, 9)).unit("serial", max_rows=2)

    def told(*ids: Any) -> bool:
        found = dps.check({"x": [1.0] * len(ids), "serial": np.fromiter(ids, dtype=object)}, schema)
        return "PROBLEM: ids of serial that seem to be one" in " ".join(str(found).split())

    for ids in (
        (np.int64(12), "12"),
        ("00012", "12"),
        ("12", "12.0"),
        ("Ab", "aB"),
        ("Su\u0308d", "S\u00fcd"),
    ):
        assert told(*ids)
    assert not told("1", "10", "1.5", "01a", "1a", "NA", "na", None, 2)


def test_ends_of_intervals_are_spoken_of_where_a_cell_is_unusable() -> None:
    schema = dps.Schema(x=dps.bounded(0, 9))
    assert "interval2" not in str(dps.check({"x": [1.0]}, schema))
    assert "interval2" in str(dps.check({"x": [None]}, schema))


def test_a_cell_runs_no_code_of_its_class_and_may_be_any_number() -> None:
    class Odd(str):
        def strip(self, *_: object) -> str:
            raise RuntimeError(str.__str__(self))

    schema = dps.Schema(y=dps.bounded(0, 10))
    told = str(dps.check({"y": [1.0, Odd("12 kg"), 10**6000]}, schema))
    assert "'12 kg'" in told and "a whole number of thousands of digits" in told
