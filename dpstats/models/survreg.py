"""Private parametric regression for right-censored time to failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpstats.budget import Budget, Pure
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.location_scale import Estimate, Problem, fit_location_scale, make_plan
from dpstats.families import DISTS, Dist
from dpstats.formula import Design, SurvResponse, build_design
from dpstats.ledger import Ledger, pay
from dpstats.models.cautions import cautions
from dpstats.models.checks import check_budget
from dpstats.results import Fit
from dpstats.rows import open_rows
from dpstats.schema import Schema

METHOD = "noisy Newton (Gaussian)"
RELEASED = ("event moments", "event matrix", "score", "information", "check of the law")


def survreg(formula: str, data: Any, schema: Schema, dist: str = "weibull") -> Survreg:
    """Describe a location-scale regression of a right-censored time, as R's survreg does.

    Parameters
    ----------
    formula : str
        Such as ``"Surv(time, failed) ~ temp + maker"``, or ``"Surv(entry, time, failed) ~ temp"`` where units
        are watched from a later time on (left truncation); see docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.
    dist : {"weibull", "loglogistic", "sev", "logistic"}
        Of the time; the last two are the distributions whose logarithm the first two have.

    Returns
    -------
    Survreg
        With ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, dist or the columns of the data.
    """
    return Survreg(formula, data, schema, dist)


class Survreg:
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    dist : str
    """

    def __init__(self, formula: str, data: Any, schema: Schema, dist: str) -> None:
        if dist not in DISTS:
            raise SpecificationError(f"dist must be one of {', '.join(DISTS)}, got {dist!r}")
        self.dist = dist
        self.design: Design = build_design(formula, schema)
        _check(self.design, DISTS[dist])
        self._rows = open_rows(data, schema, self.design.variables)

    def fit(self, budget: Budget, method: str = "auto", ledger: Ledger | str | Path | None = None) -> Fit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``. It is spent whatever comes out.
        method : {"auto", "newton"}
            Noisy Newton on bounded martingale scores (docs/survreg.md).
        ledger : Ledger or path, optional
            Charged with the whole budget before anything is released.

        Returns
        -------
        Fit

        Raises
        ------
        BudgetError
            If the budget is of a kind that this method cannot use, or exceeds what the ledger has left.
            Nothing is spent then.
        """
        _check_fit(budget, method, self._rows.n)
        plan = make_plan(budget.mu)
        costs = {name: f"mu = {mu:.4g}" for name, mu in plan.costs.items()}
        line = pay(
            ledger, budget, formula=self.design.formula, method=METHOD, released=costs,
            unit=self._rows.unit.short,
        )  # fmt: skip
        curator = Curator(self._rows, self.design, budget)
        result = fit_location_scale(curator, _problem(self.design, DISTS[self.dist]), plan)
        return self._publish(result, budget, line, curator)

    def _publish(self, result: Estimate, budget: Budget, line: str | None, curator: Curator) -> Fit:
        names, entry = (*self.design.names, "Log(scale)"), _times(self.design).entry
        settings = result.settings if entry is None else {**result.settings, "entry": entry}
        return Fit(
            model="survreg", dist=self.dist, formula=self.design.formula, schema=self.design.schema,
            names=names, params=result.params, cov=result.cov, cov_privacy=result.cov_privacy, nobs=curator.n,
            budget=budget, method=METHOD, released=RELEASED, settings=settings,
            adjacency=curator.unit.adjacency, unit=str(curator.unit),
            flags=cautions(result.problems, names), ledger=line, not_private=curator.not_private,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"survreg, dist = {self.dist!r}: {self.design!r}"


def _check(design: Design, dist: Dist) -> None:
    response = _times(design)
    if not design.has_intercept:
        raise FormulaError("survreg always fits an intercept; take '- 1' or '+ 0' out of the formula")
    lower = response.time_bounds[0]
    if dist.log and not lower > 0:
        raise FormulaError(
            f"dist={dist.name!r} needs times above 0, but {response.text} may be {lower:g} by its public "
            "bounds; declare the shortest time that is told apart, for example bounded(1, ...)"
        )


def _check_fit(budget: Budget, method: str, n: int) -> None:
    if method not in ("auto", "newton"):
        raise SpecificationError(f"method must be 'auto' or 'newton', got {method!r}")
    if isinstance(budget, Pure):
        raise BudgetError("survreg adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx")
    check_budget(budget, n)


def _times(design: Design) -> SurvResponse:
    if not isinstance(design.response, SurvResponse):
        raise FormulaError(
            "survreg needs Surv(time, event) left of ~, for example 'Surv(time, failed) ~ temp'"
        )
    return design.response


def _problem(design: Design, dist: Dist) -> Problem:
    """Public facts in the estimator's terms; the intercept is its own."""
    times, offset = np.asarray(_times(design).time_bounds), design.offset_bounds
    response = (np.log(times) if dist.log else times) - offset[::-1]  # what rows give: y - offset
    bounds = np.vstack([design.bounds[1:], response])
    return Problem(dist.family, dist.log, bounds[:, 0], bounds[:, 1], design.delayed)
