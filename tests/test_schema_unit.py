"""The declaration of the unit of privacy."""

import pickle

import pytest

from dpstats.errors import SchemaError
from dpstats.schema import ROW, Schema, bounded, event, levels

PLAIN = Schema(time=bounded(1, 4000), failed=event())
SCHEMA = PLAIN.unit("serial", max_rows=2)
TOML = """
time = {kind = "bounded", lower = 1, upper = 4000}
failed = {kind = "event"}
serial = {kind = "unit", max_rows = 2}
"""


def test_a_unit_says_whom_it_protects():
    unit = SCHEMA.privacy_unit
    assert (unit.column, unit.max_rows) == ("serial", 2)
    assert (str(unit), unit.short, unit.adjacency) == (
        "serial (at most 2 rows)",
        "one serial",
        "replace one serial",
    )
    assert str(PLAIN.unit("serial", max_rows=1).privacy_unit) == "serial (at most 1 row)"
    assert PLAIN.privacy_unit == ROW and (str(ROW), ROW.adjacency) == ("one row", "replace one row")


def test_a_declaration_makes_a_new_schema_and_replaces_the_last():
    assert PLAIN.privacy_unit == ROW and list(SCHEMA) == list(PLAIN)
    assert SCHEMA.unit("site", max_rows=9).privacy_unit.column == "site"
    assert Schema(SCHEMA, x=bounded(0, 1)).privacy_unit == SCHEMA.privacy_unit


def test_schemas_with_other_units_differ():
    others = [PLAIN, PLAIN.unit("serial", max_rows=3), PLAIN.unit("site", max_rows=2)]
    assert len({SCHEMA, *others}) == 4 and all(SCHEMA != other for other in others)
    assert SCHEMA != dict(SCHEMA) and PLAIN == dict(PLAIN)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: Schema.from_dict(SCHEMA.to_dict()),
        lambda path: Schema(**SCHEMA.to_dict()),
        lambda path: Schema(PLAIN, serial={"kind": "unit", "max_rows": 2}),
        lambda path: pickle.loads(pickle.dumps(SCHEMA)),
        lambda path: (SCHEMA.save(path / "s.json"), Schema.load(path / "s.json"))[1],
        lambda path: ((path / "s.toml").write_text(TOML), Schema.load(path / "s.toml"))[1],
    ],
)
def test_a_unit_survives_every_way_of_writing_it(make, tmp_path):
    again = make(tmp_path)
    assert again == SCHEMA and hash(again) == hash(SCHEMA) and list(again) == list(SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema.replace(time=bounded(1, 9)),
        lambda schema: schema.replace({"time": bounded(1, 9)}),
        lambda schema: Schema({**schema, "time": bounded(1, 9)}),
        lambda schema: Schema(dict(schema) | {"time": bounded(1, 9)}),
    ],
)
def test_a_change_of_one_declaration_keeps_the_unit_and_the_norms(change):
    joined = (SCHEMA | {"a": bounded(-1, 1), "b": bounded(-1, 1)}).norm("a", "b", radius=1)
    changed = change(joined)
    assert changed["time"] == bounded(1, 9) and list(changed) == list(joined)
    assert (changed.privacy_unit, changed.norms) == (joined.privacy_unit, joined.norms)


def test_a_change_of_one_declaration_must_leave_the_norms_possible():
    joined = Schema(a=bounded(-1, 1), b=bounded(-1, 1)).norm("a", "b", radius=1)
    with pytest.raises(SchemaError, match="which must lie within the bounds"):
        joined.replace(a=bounded(1, 2))


def test_a_loop_over_a_schema_has_no_unit():
    assert [*SCHEMA] == [*SCHEMA.variables] == ["time", "failed"] and "serial" not in SCHEMA
    assert len(SCHEMA) == 2 and dict(SCHEMA.items()) == dict(PLAIN)


def test_a_unit_is_printed_with_the_variables():
    assert (
        repr(SCHEMA)
        == """\
variable    kind     public
----------  -------  ------------------------
time        bounded  1 to 4000
failed      event    failed = 1, censored = 0
serial      unit     at most 2 rows weigh"""
    )
    assert "at most 1 row weighs" in Schema().unit("serial", max_rows=1)._repr_html_()
    assert "serial" in repr(Schema().unit("serial", max_rows=1))


@pytest.mark.parametrize("rows", [0, -1, 1.5, 2.0, float("nan"), True, "2", None, 10**400])
def test_max_rows_is_a_whole_number_from_1(rows):
    with pytest.raises(SchemaError, match="max_rows must be a whole number from 1"):
        PLAIN.unit("serial", max_rows=rows)


@pytest.mark.parametrize(
    "declare, words",
    [
        (lambda: PLAIN.unit("", max_rows=1), "must be a text such as 'serial'"),
        (lambda: PLAIN.unit(3, max_rows=1), "must be a text such as 'serial'"),
        (lambda: PLAIN.unit(None, max_rows=1), "must be a text such as 'serial'"),
        (lambda: PLAIN.unit("row", max_rows=1), "rename the column 'row'"),
        (lambda: PLAIN.unit("time", max_rows=1), "'time' is declared as bounded, so it cannot name the unit"),
        (lambda: Schema(SCHEMA, serial=bounded(0, 1)), "'serial' is declared as bounded, so it cannot name"),
        (lambda: Schema({**SCHEMA, "serial": levels("a", "b")}), "'serial' is declared as levels, so it"),
        (lambda: Schema(dict(SCHEMA) | {"serial": bounded(0, 1)}), "'serial' is declared as bounded, so it"),
        (lambda: Schema({**SCHEMA, "serial": {"kind": "unit", "max_rows": 3}}), "both declared as unit"),
        (lambda: SCHEMA.replace(serial=bounded(0, 1)), "no variable 'serial'; declared are time, failed"),
        (lambda: SCHEMA.replace(tine=bounded(0, 1)), r"'tine'; did you mean 'time'.*schema \| {...} adds"),
        (lambda: SCHEMA.replace(PLAIN.unit("site", max_rows=3)), "replace is of variables alone"),
        (
            lambda: Schema(a={"kind": "unit", "max_rows": 1}, b={"kind": "unit", "max_rows": 1}),
            "'a' and 'b' are",
        ),
        (lambda: Schema(a={"kind": "unit"}), "a unit needs 'max_rows' and nothing else, and has none"),
        (lambda: Schema(a={"kind": "unit", "max_rows": 1, "column": "b"}), "and nothing else"),
        (lambda: Schema(a={"kind": "unit", "max_rows": 0}), "whole number from 1"),
        (lambda: Schema(a={"kind": "units", "max_rows": 1}), "kind must be one of .* or unit"),
        (lambda: type(ROW)(None, 2), "needs the name of its column"),
    ],
)
def test_each_mistake_is_named(declare, words):
    with pytest.raises(SchemaError, match=words):
        declare()


def test_a_schema_cannot_lose_its_unit():
    with pytest.raises(AttributeError):
        SCHEMA.privacy_unit = ROW
