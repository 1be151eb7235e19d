"""A made-up population, its schema and its messages."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats import testing
from dpstats.contributors import Message, Plan, contribute_rows

SCHEMA = dps.Schema(
    income=dps.bounded(0, 10, unit="k"),
    age=dps.bounded(18, 80),
    educ=dps.levels("low", "mid", "high"),
    urban=dps.flag(),
    member=dps.flag("yes", "no"),
)
FORMULA = "income ~ age + educ + urban"
BUDGET = dps.approx(1, 1e-5)


def people(n: int, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    age, level, urban = draw.uniform(18, 80, n), draw.integers(0, 3, n), draw.integers(0, 2, n)
    income = 3 + 0.03 * age + 0.8 * level - 0.5 * urban + draw.normal(0, 0.8, n)
    member = draw.uniform(size=n) < 1 / (1 + np.exp(0.5 - 0.01 * age + 0.4 * urban))
    return {
        "income": income,
        "age": age,
        "educ": np.array(["low", "mid", "high"])[level],
        "urban": urban,
        "member": np.where(member, "yes", "no"),
    }


def plan(n: int = 1000, formula: str = FORMULA, **more: Any) -> Plan:
    return dps.plan_contributions(formula, SCHEMA, **{"budget": BUDGET, "contributors": n, **more})


def seeded(data: Any, of: Plan, seed: int = 1) -> list[Message]:
    """Messages whose noise is fast and not secure; a server takes them under test only."""
    with testing.noise(testing.SeededNoise(seed)):
        return list(contribute_rows(data, of))


def silent(data: Any, of: Plan) -> list[Message]:
    """Messages without noise."""
    with testing.noise(testing.NoNoise()):
        return list(contribute_rows(data, of))
