"""What a plan may ask for."""

from __future__ import annotations

import math
from typing import Protocol

from dpstats._arguments import among, shown
from dpstats.budget import Approx, Budget, as_budget, delta_of
from dpstats.contributors.law import Part, honest_count, parts
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.formula import Design, NumericResponse
from dpstats.schema import Schema


class Asked(Protocol):
    """The fields of a plan."""

    @property
    def schema(self) -> Schema: ...
    @property
    def budget(self) -> Budget: ...
    @property
    def contributors(self) -> int: ...
    @property
    def honest(self) -> float: ...
    @property
    def method(self) -> str: ...
    @property
    def compat(self) -> str | None: ...
    @property
    def ball(self) -> float: ...
    @property
    def design(self) -> Design: ...


def asked_parts(plan: Asked) -> tuple[Part, ...]:
    """The parts of a message that a plan asks for.

    Raises
    ------
    SpecificationError
        If it cannot be planned.
    """
    _check(plan)
    count = honest_count(plan.contributors, plan.honest)
    columns = len(plan.design.names)
    asked = parts(columns, plan.budget, count, plan.method, plan.compat, plan.ball)
    if not all(0 < part.sd < math.inf for part in asked):
        raise SpecificationError(
            f"{plan.contributors} contributors are too few for {columns} columns; plan for more, or use "
            "method='statistics'"
        )
    return asked


def _check(plan: Asked) -> None:
    """Refuse what cannot be planned; every message says what to change."""
    count, honest = plan.contributors, plan.honest
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10**12:
        raise SpecificationError(f"contributors must be a whole number from 1, got {shown(count)}")
    if not isinstance(honest, float) or not 0 < honest <= 1 or honest_count(count, honest) < 1:
        raise SpecificationError(
            f"honest must be a share above 0 and at most 1 of {count} contributors, got {shown(honest)}"
        )
    if not among(plan.method, ("statistics", "input")):
        raise SpecificationError(f"method must be 'statistics' or 'input', got {shown(plan.method)}")
    if not among(plan.compat, (None, "paper")) or (plan.compat and plan.method != "input"):
        raise SpecificationError("compat must be None, or 'paper' with method='input'")
    if not isinstance(plan.ball, float) or not 0 < plan.ball < math.inf:
        raise SpecificationError(f"ball must be a positive number, got {shown(plan.ball)}")
    _check_budget(plan.budget, plan.method, plan.compat, count)
    response = plan.design.response  # a formula or schema that is none is refused here
    if plan.schema.privacy_unit.column:
        raise SpecificationError(
            "a contributor sends one record, so a unit of privacy in the schema has no meaning; leave it out"
        )
    if not isinstance(response, NumericResponse):
        raise FormulaError("contributions need a number or a flag left of ~, not a time to failure")


def _check_budget(budget: object, method: str, compat: str | None, count: int) -> None:
    budget = as_budget("budget", budget)
    if budget.pure:
        raise BudgetError("contributors add Gaussian noise, without pure epsilon; give zcdp, gdp or approx")
    if method == "input" and not isinstance(budget, Approx):
        raise BudgetError("method='input' is proved for an (epsilon, delta); give approx(epsilon, delta)")
    if (delta := delta_of(budget)) is not None and delta > 1 / count and not compat:
        raise BudgetError(
            f"delta = {delta:g} must not exceed 1/n = {1 / count:g}, or one contributor in n may leak whole"
        )
