"""The fits that are audited, and the rows among which their worst neighbours are looked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dpstats as dps
from benchmarks.auditing import DELTA, observe
from dpstats.budget import Budget
from dpstats.testing import SeededNoise

Row = dict[str, Any]
Table = dict[str, list[Any]]
Fits = tuple[Callable[[], Any], Callable[[], Any]]

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100),
    failed=dps.event(),
    x=dps.bounded(-1, 1),
    y=dps.bounded(-1, 1),
    k=dps.count(10),
    b=dps.flag(),
)
OFF: Row = dict.fromkeys(SCHEMA, np.nan)  # weighs nothing
CORNERS = [
    dict(time=time, failed=failed, x=x, y=y, k=k, b=b)
    for time, failed, x, y, k, b in itertools.product(
        (1.0, 10.0, 100.0), (0, 1), (-1.0, 1.0), (-1.0, 1.0), (0, 10), (0, 1)
    )
]
STARTS = 12  # of the search for the worst pair, three pairs each


def ordinary(n: int) -> list[Row]:
    """Rows that no one would look at twice, the same on every machine."""
    draw = np.random.default_rng(0)
    x = draw.uniform(-1, 1, n)
    columns = dict(
        time=np.clip(10 * np.exp(0.5 * x - 0.3 * draw.gumbel(size=n)), 1, 100),
        failed=(draw.uniform(size=n) < 0.8).astype(int),
        x=x,
        y=np.clip(0.5 * x + 0.2 * draw.normal(size=n), -1, 1),
        k=np.minimum(draw.poisson(np.exp(0.5 + 0.5 * x)), 10),
        b=(draw.uniform(size=n) < 0.5 + 0.3 * x).astype(int),
    )
    return [{name: column[i] for name, column in columns.items()} for i in range(n)]


@dataclass(frozen=True)
class Case:
    """A model and what it is fitted with.

    Attributes
    ----------
    name : str
    model : callable
        A table -> a model.
    budget : Budget
    options : dict
        Of `fit`.
    rest : int
        How many ordinary rows both inputs share; 0: 19 that weigh nothing.
    sum_only : bool
        Whether draws stay with those who made them, so that the attacker has the published fit alone.
    """

    name: str
    model: Callable[[Table], Any]
    budget: Budget
    options: dict[str, Any] = field(default_factory=dict)
    rest: int = 0
    sum_only: bool = False

    def fits(self, row: Row, other: Row) -> Fits:
        """Of the two inputs."""
        shared = ordinary(self.rest) if self.rest else [OFF] * 19
        one, two = (self.model(_table([first, *shared])) for first in (row, other))
        return (lambda: one.fit(self.budget, **self.options)), (lambda: two.fit(self.budget, **self.options))

    def worst(self) -> Fits:
        """The fits of the pair that lies farthest apart in one run, of those that are tried."""
        return max((self.fits(*pair) for pair in pairs()), key=_apart)


def pairs() -> list[tuple[Row, Row]]:
    """Of some corners, each with nothing, with the same response at the mirrored x, and with any corner."""
    draw = np.random.default_rng(1)
    found = []
    for first, second in draw.choice(len(CORNERS), (STARTS, 2)):
        one, two = CORNERS[first], CORNERS[second]
        found += [(one, OFF), (one, one | dict(x=-one["x"])), (one, two)]
    return found


def _apart(fits: Fits) -> float:
    return observe(fits, 0, SeededNoise(0)).share


class Messages:
    """Contributions of all rows, of which the server publishes a fit; or one message, seen on its way."""

    def __init__(self, table: Table, plan: dps.ContributionPlan, model: Any = None) -> None:
        self._records = [{name: table[name][i] for name in SCHEMA} for i in range(plan.contributors)]
        self._plan, self._model = plan, model

    def fit(self, budget: Budget) -> Any:
        if self._model is None:
            return dps.contribute(self._records[0], self._plan).to_dict()
        messages = [dps.contribute(record, self._plan) for record in self._records]
        return self._model.fit_contributions(messages, self._plan)


def _table(rows: list[Row]) -> Table:
    return {name: [row[name] for row in rows] for name in SCHEMA}


GAUSSIAN, PURE = dps.approx(6, DELTA), dps.pure(2)
PLAN = dps.plan_contributions("y ~ 0 + x", SCHEMA, dps.gdp(1), 4)
SHORTER = 2.0  # public covariates are so many times shorter: truncation then bites most


def _survreg(table: Table) -> Any:
    return dps.survreg("Surv(time, failed) ~ x", table, SCHEMA)


def _logit(table: Table) -> Any:
    return dps.logit("b ~ 0 + x", table, SCHEMA)


def _poisson(table: Table) -> Any:
    return dps.glm("k ~ 0 + x", table, SCHEMA, "poisson")


def _svm(table: Table) -> Any:
    return dps.svm("b ~ x", table, SCHEMA, c=10.0)


def _curve(table: Table) -> Any:
    return dps.kaplan_meier("Surv(time, failed) ~ 1", table, SCHEMA, [2.0, 10.0, 99.0])


def _with_public(make: Callable[..., Any], formula: str, **options: Any) -> Callable[[Table], Any]:
    rows = [row | dict(x=row["x"] / SHORTER) for row in ordinary(200)]
    public = dps.public_moments(formula, _table(rows), SCHEMA)
    return lambda table: make(formula, table, SCHEMA, public=public, **options)


CASES = [  # those of short runs first
    Case("kaplan_meier", _curve, GAUSSIAN),
    Case("kaplan_meier, pure", _curve, PURE),
    Case("one contribution", lambda table: Messages(table, PLAN), dps.gdp(PLAN.local[0])),
    Case(
        "fit of 4 contributions",
        lambda table: Messages(table, PLAN, dps.ols("y ~ 0 + x", None, SCHEMA)),
        PLAN.budget,
        sum_only=True,
    ),
    Case("ols, pmt", _with_public(dps.ols, "y ~ 0 + x"), GAUSSIAN, dict(method="pmt")),
    Case("svm, objective, pure", _svm, PURE),
    Case("svm, objective", _svm, GAUSSIAN),
    Case("svm, output", _svm, GAUSSIAN, dict(method="output")),
    Case("logit, objective, pure", _logit, PURE, dict(method="objective")),
    Case("logit, objective", _logit, GAUSSIAN, dict(method="objective")),
    Case("logit, output, pure", _logit, PURE, dict(method="output")),
    Case("logit, output", _logit, GAUSSIAN, dict(method="output")),
    Case("logit, pure", _logit, PURE),
    Case("ols, pure", lambda table: dps.ols("y ~ 0 + x", table, SCHEMA), PURE),
    Case("ols", lambda table: dps.ols("y ~ x", table, SCHEMA), GAUSSIAN),
    Case("ridge", lambda table: dps.ridge("y ~ x", table, SCHEMA, 1.0), GAUSSIAN),
    Case("logit, pmt", _with_public(dps.logit, "b ~ 0 + x"), GAUSSIAN, dict(method="pmt")),
    Case("logit, Newton", _logit, GAUSSIAN),
    Case("logit and loglik", _logit, GAUSSIAN, dict(release=["loglik"])),
    Case("survreg, pure", _survreg, PURE),
    Case(
        "survreg, functional",
        lambda table: dps.survreg("Surv(time) ~ x", table, SCHEMA),
        PURE,
        dict(method="functional"),
    ),
    Case(
        "glm poisson, pmt", _with_public(dps.glm, "k ~ 0 + x", family="poisson"), GAUSSIAN, dict(method="pmt")
    ),
    Case("glm poisson", _poisson, GAUSSIAN),
    Case("glm poisson and loglik", _poisson, GAUSSIAN, dict(release=["loglik"])),
    Case("survreg, Newton, 3,000 rows", _survreg, dps.gdp(GAUSSIAN.mu), rest=3000),
    Case("survreg, by signs", _survreg, GAUSSIAN),
    Case("survreg and loglik", _survreg, GAUSSIAN, dict(release=["loglik"])),
]
