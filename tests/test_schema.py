"""A schema says what is public, and says clearly what is wrong with it."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.errors import SchemaError
from dpstats.schema import (
    Event,
    Flag,
    Levels,
    Schema,
    as_schema,
    bounded,
    count,
    event,
    flag,
    levels,
)

SCHEMA = Schema(
    time=bounded(1, 4000, unit="days"),
    failed=event(failed="yes", censored="no"),
    maker=levels("HGST", "Seagate", other=True),
    starts=count(50),
    warm=flag(true=True, false=False),
)


def test_each_kind_states_what_is_public():
    assert SCHEMA["time"].bounds == (1.0, 4000.0) and SCHEMA["time"].unit == "days"
    assert SCHEMA["starts"].bounds == (0.0, 50.0)
    assert SCHEMA["warm"].bounds == SCHEMA["failed"].bounds == (0.0, 1.0)
    assert SCHEMA["maker"].all == ("HGST", "Seagate", "other")
    assert list(SCHEMA) == ["time", "failed", "maker", "starts", "warm"]


@pytest.mark.parametrize("number", [np.float32, np.int16, np.uint8, np.float64, int])
def test_numbers_of_any_type_are_declared_as_those_of_python(number):
    """So that they print, and are written to a file."""
    schema = Schema(x=bounded(number(1), number(9)), starts=count(number(7)), of=levels(number(1), number(2)))
    plain = Schema(x=bounded(1.0, 9.0), starts=count(7), of=levels("1", "2"))
    assert repr(schema) == repr(plain) and json.loads(json.dumps(schema.to_dict())) == plain.to_dict()


def test_levels_are_texts_in_the_order_given():
    assert levels(2, 1.0, 0.5).levels == ("2", "1", "0.5")
    assert levels(True, False).levels == ("True", "False")
    assert levels("a", "b", ...) == Levels(("a", "b"), other=True)
    assert Levels(["a", "b"]).levels == ("a", "b")


@pytest.mark.parametrize(
    "make",
    [
        lambda path: Schema.from_dict(SCHEMA.to_dict()),
        lambda path: Schema(**SCHEMA.to_dict()),
        lambda path: pickle.loads(pickle.dumps(SCHEMA)),
        lambda path: (SCHEMA.save(path / "s.json"), Schema.load(path / "s.json"))[1],
        lambda path: (SCHEMA.save(path / "s.json"), as_schema(path / "s.json"))[1],
        lambda path: (SCHEMA.save(path / "s.toml"), as_schema(str(path / "s.toml")))[1],
        lambda path: as_schema(SCHEMA.to_dict()),
        lambda path: ((path / "s.toml").write_text(TOML), Schema.load(str(path / "s.toml")))[1],
    ],
)
def test_a_schema_survives_every_way_of_writing_it(make, tmp_path):
    again = make(tmp_path)
    assert again == SCHEMA and list(again) == list(SCHEMA) and hash(again) == hash(SCHEMA)


TOML = """
[time]
kind = "bounded"
lower = 1
upper = 4000
unit = "days"

[failed]
kind = "event"
failed = "yes"
censored = "no"

[maker]
kind = "levels"
levels = ["HGST", "Seagate"]
other = true

[starts]
kind = "count"
upper = 50

[warm]
kind = "flag"
true = true
false = false
"""


def test_a_schema_prints_as_a_table():
    assert (
        repr(SCHEMA)
        == """\
variable    kind     public
----------  -------  -------------------------------
time        bounded  1 to 4000 days
failed      event    failed = 'yes', censored = 'no'
maker       levels   HGST, Seagate, all others
starts      count    0 to 50
warm        flag     true = True, false = False"""
    )
    assert "maker" in SCHEMA._repr_html_() and "<table>" in SCHEMA._repr_html_()
    assert repr(Schema()) == "Schema()"


@pytest.mark.parametrize(
    "declare, words",
    [
        (lambda: bounded(5, 1), "reversed"),
        (lambda: bounded(1, 1), "not below"),
        (lambda: bounded(0, float("inf")), "finite"),
        (lambda: bounded(float("nan"), 1), "finite"),
        (lambda: bounded("0", 1), "the lower bound must be a finite number"),
        (lambda: bounded(False, 1), "finite number"),
        (lambda: bounded(-1.7e308, 1.7e308), "too far apart"),
        (lambda: bounded(0, 1, unit=3), "unit must be a text"),
        (lambda: count(0), "whole number from 1"),
        (lambda: count(2.5), "whole number from 1"),
        (lambda: count(0, 50), r"count\(50\)"),
        (lambda: levels("a"), "two levels"),
        (lambda: levels(), "two levels"),
        (lambda: levels("a", "b", "a"), "declared twice, the first in place 1 and the second in place 3"),
        (lambda: levels(1, "1"), "declared twice, the first in place 1"),
        (lambda: levels(True, 1), "declared twice, the first in place 1.*True is 1"),
        (lambda: levels("a", ""), "must not be empty"),
        (lambda: levels("a", None), "must be a text or a finite number"),
        (lambda: levels("a", float("inf")), "must be a text or a finite number"),
        (lambda: levels("a", "other", other=True), "declared already"),
        (lambda: Levels("ab"), "must be a list"),
        (lambda: Levels(("a", "b"), other="yes"), "true or false"),
        (lambda: levels(*range(40_000)), "at most"),
        (lambda: event(failed=1, censored=1), "the same code '1'"),
        (lambda: flag(true=1, false=True), "the same code '1'"),
        (lambda: flag("yes", 0), r"flag\('yes'\) has the number 0 for a no; say both"),
        (lambda: event(failed=None), "must be a text"),
    ],
)
def test_each_mistake_in_a_declaration_is_named(declare, words):
    with pytest.raises(SchemaError, match=words):
        declare()


ESC = "a\x1b[2K"
HALF, HALVED = "a\ud800", ": its name, unit, codes or levels have a character that no file can hold"


@pytest.mark.parametrize(
    "declare, words",
    [
        (lambda: Schema(x=(1, 2)), r"variable 'x': use bounded\(lower, upper\), not a tuple of 2"),
        (lambda: Schema(g=["a", "b"]), r"variable 'g': use levels\(\*names\), not a list of 2"),
        (lambda: Schema(x=3), r"variable 'x': use bounded\(\), count"),
        (lambda: Schema(x={"kind": "bound", "lower": 1}), "variable 'x': kind must be one of bounded, count"),
        (lambda: Schema(x={"lower": 1}), "kind must be one of"),
        (lambda: Schema(x={"kind": "bounded", "lower": 1, "uper": 2}), "did you mean 'upper'"),
        (lambda: Schema(x={"kind": "count", "upper": 1, "colour": 2}), "has no 'colour', only upper, unit"),
        (lambda: Schema(x={"kind": "bounded", "lower": 1}), "needs 'upper'"),
        (lambda: Schema(x={"kind": "bounded", "lower": 3, "upper": 1}), "variable 'x': .* reversed"),
        (lambda: Schema({3: bounded(0, 1)}), "name of a variable"),
        (lambda: Schema({"x": bounded(0, 1)}, x=bounded(0, 2)), "'x' is declared twice"),
        (
            lambda: Schema({"\u00e9": bounded(0, 1), "e\u0301": bounded(0, 1)}),
            r"'\\xe9' and 'e\\u0301' are two spellings of one name",
        ),
        (
            lambda: Schema({"\ufb01": bounded(0, 1), "fi": bounded(0, 1)}),
            r"'\\ufb01' and 'fi' are two spellings",
        ),
        (lambda: Schema({"\u00e9": bounded(0, 1)}).unit("e\u0301", max_rows=1), "two spellings of one name"),
        (lambda: Schema(3), "maps names to declarations"),
        (lambda: Schema(x={"kind": pd.Series(["a", "b"])}), "kind must be one of .*, not a Series"),
        (lambda: Schema({HALF: flag()}), HALVED),
        (lambda: Schema(g=levels("a", HALF)), f"'g'{HALVED}"),
        (lambda: Schema(f=flag(HALF, "n")), f"'f'{HALVED}"),
        (lambda: Schema(n=count(9, unit=HALF)), f"'n'{HALVED}"),
        (lambda: Schema(x=bounded(0, 1)).unit(HALF, max_rows=1), HALVED),
        (lambda: Schema({ESC: flag()}), f"^a text of 5 characters{HALVED}"),
        (lambda: Schema({"kind\n": {"kind": "flag"}}), HALVED),
        (lambda: Schema(g=levels("a", ESC)), f"'g'{HALVED}"),
        (lambda: Schema(f=flag("y", "n\r")), f"'f'{HALVED}"),
        (lambda: Schema(x=bounded(0, 1, unit="\x9b2K")), f"'x'{HALVED}"),
        (lambda: Schema(x=bounded(0, 1, unit="\u202eC")), f"'x'{HALVED}"),
        (lambda: Schema(x=bounded(0, 1)).unit("who\u2028", max_rows=1), HALVED),
        (lambda: Schema.load("schema.yaml"), ".toml or .json"),
        (lambda: Schema.load("no/such/file.toml"), "cannot be opened"),
    ],
)
def test_each_mistake_in_a_schema_names_the_variable(declare, words):
    with pytest.raises(SchemaError, match=words):
        declare()


@pytest.mark.parametrize(
    "name, text",
    [
        ("s.json", '{"y": {"kind": "flag"}, "y": {"kind": "count", "upper": 8}}'),
        ("s.json", '{"x": {"kind": "bounded", "lower": 1, "upper": 8, "y": 1, "y": 2}}'),
        ("s.toml", 'x = {kind = "flag"}\ny = {kind = "flag"}\n"y" = {kind = "flag"}\nz = 1\n'),
        ("s.toml", 'y = {kind = "flag"}\ny = {kind = "flag"}'),
    ],
)
def test_a_file_that_declares_a_variable_twice_is_refused_by_its_name(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(SchemaError, match="cannot be read: .*'\"?y\"?' is there twice; keep one"):
        Schema.load(tmp_path / name)


def test_a_broken_file_says_where(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("{ not json")
    with pytest.raises(SchemaError, match="s.json cannot be read: .*line 1"):
        Schema.load(path)
    path.write_text(json.dumps([1, 2]))
    with pytest.raises(SchemaError, match="maps names"):
        Schema.load(path)
    for name in ("unit price", "größe"):
        path.with_suffix(".toml").write_text(f'{name} = {{kind = "bounded", lower = 0, upper = 1}}')
        with pytest.raises(SchemaError, match="line 1.*is put in quotes"):
            Schema.load(path.with_suffix(".toml"))


def test_declarations_cannot_change():
    for variable in SCHEMA.values():
        with pytest.raises(AttributeError):
            variable.kind = "flag"  # what was public stays what it was
    assert Flag() != Event() and Flag() == flag()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(TEXTS, st.lists(TEXTS, min_size=2, max_size=4, unique=True), st.floats(-1e300, 1e300))
def test_any_name_level_and_bound_survives_a_toml_file(tmp_path_factory, name, names, lower):
    try:
        schema = Schema({name: levels(*names), name + "1": bounded(lower, 1.5e300)})
    except SchemaError:
        return
    path = tmp_path_factory.mktemp("toml") / "s.toml"
    schema.save(path)
    assert Schema.load(path) == schema


def test_two_schemas_together_declare_the_variables_of_both():
    machines = Schema(temp=bounded(0, 90), warm=flag(True, False)).unit("serial", max_rows=2)
    both = SCHEMA | machines
    assert list(both) == [*SCHEMA, "temp"] and both.privacy_unit == machines.privacy_unit
    assert SCHEMA | {"temp": bounded(0, 90)} == Schema(SCHEMA, temp=bounded(0, 90))
    norms = Schema(x=bounded(-1, 1), z=bounded(-1, 1)).norm("x", "z", radius=1)
    assert (norms | SCHEMA).norms == norms.norms == (norms | norms).norms


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            Schema(time=bounded(1, 5000, unit="days")),
            "'time' is declared in two ways; .* schema.replace does",
        ),
        (Schema().unit("other", max_rows=1), "different units"),
        ({"temp": 3}, "'temp'"),
    ],
)
def test_schemas_that_contradict_are_not_joined(other, words):
    with pytest.raises(SchemaError, match=words):
        SCHEMA.unit("serial", max_rows=2) | other


def test_what_is_no_schema_is_refused_with_the_order_of_the_arguments():
    with pytest.raises(SchemaError, match="data come before the schema"):
        as_schema(pd.DataFrame({"time": [3.0]}))


def test_a_file_is_not_replaced_where_that_is_not_wanted(tmp_path):
    path = tmp_path / "a.toml"
    SCHEMA.save(path, overwrite=False)
    with pytest.raises(SchemaError, match="exists; write overwrite=True"):
        SCHEMA.save(path, overwrite=False)
    SCHEMA.save(path, overwrite=True)
    assert Schema.load(path) == SCHEMA


INLINE = """\
# the fleet

# from the data sheet
time = {kind = "bounded", lower = 1, upper = 4000}  # days
maker = {kind = "levels", levels = ["a#b", "c"]}
"""
TABLES = """\
# from the data sheet
[time]
kind = "bounded"
lower = 1  # shortest
upper = 4000

[maker]
# of the disk
kind = "levels"
levels = ["a#b",
  "c"]
"""


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        (INLINE, ["the fleet", "from the data sheet", "days"]),
        (TABLES, ["from the data sheet", "shortest", "of the disk"]),
    ],
    ids=["inline", "tables"],
)
def test_comments_stay_when_a_file_is_written_over(text: str, comments: list[str], tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(text)
    schema = Schema.load(path)
    schema.save(path)
    assert path.read_text().strip() == text.strip(), "nothing changed"
    for time in (bounded(1, 4000), bounded(0, 9, unit="h")):
        new = Schema(time=time, warm=flag(), maker=levels("x", 'y "#" z'))
        path.write_text(text)
        new.save(path)
        assert Schema.load(path) == new
        kept = path.read_text()
        assert all(f"# {words}" in kept for words in comments)


@pytest.mark.parametrize(
    "text", ["x.kind = 'count'\nx.upper = 3\n", "[x]\nkind='count'\nupper=3\n#end", "not toml", "a = 3"]
)
def test_a_file_of_another_make_is_written_over(text: str, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(text)
    SCHEMA.save(path)
    assert Schema.load(path) == SCHEMA


@pytest.mark.parametrize("other", [np.ones(3), pd.DataFrame({"age": [31.5]}), pd.Series([31.5]), [1], 3])
def test_what_is_no_declaration_is_not_joined_to_a_schema(other):
    with pytest.raises(SchemaError, match=r"joined by \| with a schema or a dict, not") as refused:
        Schema(age=bounded(18, 90)) | other
    assert "31.5" not in str(refused.value)


def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("[" * 10**5)
    with pytest.raises(SchemaError, match="s.json cannot be read: it is nested too deeply"):
        Schema.load(path)


def test_an_empty_name_is_no_text_of_one_type():
    with pytest.raises(SchemaError, match="must be a text, not an empty one"):
        Schema({"": bounded(0, 1)})


def test_where_there_is_no_unit_none_names_it() -> None:
    schema = Schema({"\uff2eone": bounded(0, 1), "y": bounded(0, 1)})
    assert tuple(schema) == ("\uff2eone", "y")


def test_a_list_of_levels_is_told_how_to_be_written() -> None:
    with pytest.raises(SchemaError, match=r"write levels\('a', 'b'\) without brackets"):
        levels(["a", "b"])
