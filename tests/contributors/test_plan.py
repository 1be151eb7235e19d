"""A plan says all there is to agree on, and is refused by both sides when it does not agree with itself."""

import json
from pathlib import Path
from typing import Any

import pytest

import dpstats as dps
from dpstats.contributors import Plan
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from tests.contributors.people import BUDGET, FORMULA, SCHEMA, plan

METHODS = [dict(), dict(method="input"), dict(method="input", compat="paper")]


@pytest.mark.parametrize("more", METHODS)
def test_a_plan_survives_its_file(more: dict[str, Any], tmp_path: Path) -> None:
    made = plan(**more)
    made.save(tmp_path / "plan.json")
    read = Plan.load(tmp_path / "plan.json")
    assert read.hash == made.hash and read.to_dict() == made.to_dict() and read.parts == made.parts
    assert repr(read) == repr(made)


def test_a_plan_prints_both_guarantees_and_the_size() -> None:
    text = repr(plan(1000, honest=0.5))
    assert "epsilon = 1, delta = 1e-05 (mu = 0.2681), if 500 contributors keep their noise" in text
    assert "Local         epsilon = " in text and "of one message" in text
    assert "21 numbers, 216 bytes" in text
    assert "none claimed" in repr(plan(method="input", compat="paper"))


def test_a_dict_of_declarations_will_do_for_a_schema() -> None:
    """As for a model: it was an error of Python."""
    given: Any = dict(SCHEMA)
    assert dps.plan_contributions(FORMULA, given, BUDGET, contributors=1000).hash == plan().hash


def test_a_plan_of_a_file_prints_nothing_that_moves_the_cursor(tmp_path: Path) -> None:
    lines = plan(formula=FORMULA.replace("~", "~\n ")).to_dict()
    assert repr(Plan.from_dict(lines)).splitlines()[0] == repr(plan()).splitlines()[0]
    content = json.dumps(plan().to_dict()).replace(name := next(iter(SCHEMA)), f"{name}\\u001b[8m")
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(SpecificationError, match="that no line can show") as refused:
        Plan.load(tmp_path / "plan.json")
    assert str(refused.value).isprintable()


def changed(path: str, value: Any) -> dict[str, Any]:
    """A plan's file with one entry changed."""
    content: Any = json.loads(json.dumps(plan().to_dict()))
    *way, last = path.split(".")
    at = content
    for step in way:
        at = at[int(step) if step.isdigit() else step]
    at[last] = value
    return content  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("budget.epsilon", 2.0),
        ("budget.delta", 1e-4),
        ("contributors", 500),
        ("honest", 0.5),
        ("message.0.noise_sd", 0.001),
        ("message.0.noise_sd", 1.0),
        ("method", "input"),
    ],
)
def test_noise_that_does_not_match_the_budget_is_refused(path: str, value: Any) -> None:
    with pytest.raises(SpecificationError, match="noise of this plan is not what its budget asks for"):
        Plan.from_dict(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("formula", "income ~ age + urban + educ"),
        ("schema.age.upper", 90.0),
        ("hash", "0" * 64),
        ("ball", 2.0),
        ("message", []),
        ("message.0.part", "other"),
        ("message.0.numbers", 27),
    ],
)
def test_any_other_change_is_refused_by_the_hash(path: str, value: Any) -> None:
    with pytest.raises(SpecificationError, match="hash of the plan does not fit"):
        Plan.from_dict(changed(path, value))


def test_a_changed_plan_with_a_hash_of_its_own_is_another_plan() -> None:
    other = dps.plan_contributions(FORMULA, SCHEMA, dps.approx(2, 1e-5), 1000)
    assert other.hash != plan().hash  # contributors compare it with the one that was announced


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"format": "dpstats.fit/1"}, "not a plan"),
        ({"format": "dpstats.contributions/2"}, "upgrade"),
        ({"format": "dpstats.contributions/1"}, "incomplete"),
        (changed("formula", 3), "a formula is a text"),
        (changed("message", None), "incomplete"),
        (changed("message.0.noise_sd", "much"), "incomplete"),
        (changed("honest", "all"), "honest must be"),
        (changed("contributors", 1.5), "contributors must be a whole number"),
    ],
)
def test_what_is_no_plan_is_refused(content: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecificationError, match=message):
        Plan.from_dict(content)


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("[" * 100_000)
    with pytest.raises(SpecificationError, match="holds no plan"):
        Plan.load(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        (dict(budget=dps.pure(1)), BudgetError, "zcdp, gdp or approx"),
        (dict(budget=1.0), BudgetError, "budget must be a budget"),
        (dict(budget=dps.approx(1, 0.01)), BudgetError, "must not exceed 1/n"),
        (dict(budget=dps.zcdp(0.1), method="input"), BudgetError, "give approx"),
        (dict(contributors=0), SpecificationError, "whole number from 1"),
        (dict(honest=0.0), SpecificationError, "honest must be a share"),
        (dict(honest=1e-6), SpecificationError, "honest must be a share"),
        (dict(method="output"), SpecificationError, "'statistics' or 'input'"),
        (dict(compat="paper"), SpecificationError, "with method='input'"),
        (dict(ball=-1.0), SpecificationError, "ball must be a positive number"),
        (dict(schema=SCHEMA.unit("house", 2)), SpecificationError, "leave it out"),
        (dict(formula="income ~ height"), FormulaError, "height"),
    ],
)
def test_what_cannot_be_planned_is_refused(more: dict[str, Any], error: type, message: str) -> None:
    asked: dict[str, Any] = dict(formula=FORMULA, schema=SCHEMA, budget=BUDGET, contributors=1000)
    with pytest.raises(error, match=message):
        dps.plan_contributions(**(asked | more))


def test_a_time_to_failure_is_refused() -> None:
    schema = dps.Schema(t=dps.bounded(1, 9), e=dps.event())
    with pytest.raises(FormulaError, match="not a time to failure"):
        dps.plan_contributions("Surv(t, e) ~ 1", schema, dps.zcdp(0.1), 10)
