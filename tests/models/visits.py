"""Made-up visits for the tests of generalised linear models: rows of any number, their schema, the models."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats.models import GlmModel

SCHEMA = dps.Schema(
    ill=dps.flag(),
    visits=dps.count(40),
    cost=dps.bounded(0, 5000),
    age=dps.bounded(18, 90),
    income=dps.bounded(0, 10),
    months=dps.bounded(1, 24),
    region=dps.levels("north", "south", other=True),
)
RIGHT = "age + income + region"
RESPONSES = {"binomial": "ill", "poisson": "visits", "gamma": "cost"}
# in the order of the design: Intercept, region[T.south], region[T.other], age, income
SLOPES = np.array([0.3, -0.4, 0.02, -0.1])
INTERCEPTS = {"binomial": -1.0, "poisson": 0.5, "gamma": 4.0}


def visits(n: int, seed: int = 0) -> dict[str, Any]:
    """Columns of n rows whose linear predictors follow the truth; gamma responses have phi = 1/2."""
    generator = np.random.default_rng([seed, n])
    age, income = generator.uniform(20, 80, n), 10 * generator.beta(2, 3, n)
    region = generator.choice(np.array(["north", "south", "Zadar"], dtype=object), n, p=[0.5, 0.3, 0.2])
    part = np.column_stack([region == "south", region == "Zadar", age, income]) @ SLOPES
    months = generator.uniform(6, 24, n)
    eta = {family: start + part for family, start in INTERCEPTS.items()}
    return {
        "ill": (generator.uniform(size=n) < 1 / (1 + np.exp(-eta["binomial"]))).astype(float),
        "visits": generator.poisson(np.exp(eta["poisson"])).astype(float),
        "cost": np.exp(eta["gamma"]) * generator.gamma(2, 0.5, n),
        "age": age,
        "income": income,
        "months": months,
        "region": region,
    }


def truth(family: str) -> np.ndarray:
    """Coefficients in the order of the design."""
    return np.append(INTERCEPTS[family], SLOPES)


def model(family: str, data: Any, schema: dps.Schema = SCHEMA, right: str = RIGHT, **more: Any) -> GlmModel:
    """`dps.logit` for the binomial family, else `dps.glm`."""
    formula = f"{RESPONSES[family]} ~ {right}"
    if family == "binomial":
        return dps.logit(formula, data, schema, **more)
    return dps.glm(formula, data, schema, family, **more)


PUBLIC = {name: column for name, column in visits(300, 99).items() if name not in RESPONSES.values()}
"""Public rows, without responses."""

HOW: dict[str, dict[str, Any]] = {
    "newton": {},
    "pmt": dict(method="pmt"),
    "paper": dict(method="pmt", compat="paper"),
}
"""Arguments of fit() for each way to fit."""

WAYS = [(family, how) for family in RESPONSES for how in HOW if (family, how) != ("gamma", "paper")]
