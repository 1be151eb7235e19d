"""Private logistic regression and generalised linear models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpstats.budget import Budget, Pure
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.newton import Estimate, Problem, fit_newton, make_plan
from dpstats.families import FAMILIES, GlmFamily
from dpstats.formula import Design, NumericResponse, build_design
from dpstats.ledger import Ledger, pay
from dpstats.models.cautions import cautions
from dpstats.models.checks import check_budget
from dpstats.results import Fit
from dpstats.rows import open_rows
from dpstats.schema import Schema

METHOD = "noisy Newton (Gaussian)"
RELEASED = ("column means", "column octaves", "score", "information")


def logit(formula: str, data: Any, schema: Schema) -> GlmModel:
    """Describe a logistic regression, as statsmodels' logit and R's glm(family = binomial) do.

    Parameters
    ----------
    formula : str
        Such as ``"income ~ age + education"``; the response is a ``flag()``.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.

    Returns
    -------
    GlmModel
        With ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema or the columns of the data.
    """
    return GlmModel("logit", formula, data, schema, "binomial")


def glm(
    formula: str, data: Any, schema: Schema, family: str = "poisson", exposure: str | None = None
) -> GlmModel:
    """Describe a generalised linear model.

    Parameters
    ----------
    formula, data, schema
        As in :func:`logit`. The response of "poisson" is a count or another number of at least 0, that of
        "gamma" a number above 0.
    family : {"binomial", "poisson", "gamma"}
        With the links logit, log and log. For "gaussian" use :func:`dpstats.ols`.
    exposure : str, optional
        What responses are proportional to, an expression such as ``"years"`` that is above 0: the same as
        ``+ offset(np.log(years))`` in the formula.

    Returns
    -------
    GlmModel

    Raises
    ------
    SpecificationError
        As in :func:`logit`, for an unknown family, and for responses out of its range.
    """
    if family not in FAMILIES:
        raise SpecificationError(f"family must be one of {', '.join(_FAMILIES)}, got {family!r}")
    if exposure is not None:
        if not isinstance(exposure, str) or FAMILIES[family].link_name != "log":
            raise SpecificationError(
                "exposure must be an expression such as 'years', with a family of log link: poisson or gamma"
            )
        formula = f"{formula} + offset(np.log({exposure}))"
    return GlmModel("glm", formula, data, schema, family)


class GlmModel:
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    family : str
    """

    def __init__(self, name: str, formula: str, data: Any, schema: Schema, family: str) -> None:
        if family not in _FAMILIES:
            raise SpecificationError(
                f"family must be one of {', '.join(_FAMILIES)}, got {family!r}; for 'gaussian' use ols"
            )
        self._name, self.family = name, family
        self.design: Design = build_design(formula, schema)
        self._problem = _problem(self.design, FAMILIES[family])
        self._rows = open_rows(data, schema, self.design.variables)

    def fit(self, budget: Budget, method: str = "auto", ledger: Ledger | str | Path | None = None) -> Fit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``. It is spent whatever comes out.
        method : {"auto", "newton"}
            Noisy Newton (docs/glm.md).
        ledger : Ledger or path, optional
            Charged with the whole budget before anything is released.

        Returns
        -------
        Fit

        Raises
        ------
        BudgetError
            If the budget is of a kind that the method cannot use, or exceeds what the ledger has left.
            Nothing is spent then.
        """
        if method not in ("auto", "newton"):
            raise SpecificationError(f"method must be 'auto' or 'newton', got {method!r}")
        check_budget(budget, self._rows.n)
        if isinstance(budget, Pure):
            raise BudgetError(
                f"{self._name} adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx"
            )
        plan = make_plan(budget.mu)
        costs = {name: f"mu = {mu:.4g}" for name, mu in plan.costs.items()}
        line = pay(
            ledger, budget, formula=self.design.formula, method=METHOD, released=costs,
            unit=self._rows.unit.short,
        )  # fmt: skip
        curator = Curator(self._rows, self.design, budget)
        result = fit_newton(curator, self._problem, plan)
        return self._publish(result, budget, line, curator)

    def _publish(self, result: Estimate, budget: Budget, line: str | None, curator: Curator) -> Fit:
        names = self.design.names
        return Fit(
            model=self._name, dist=self.family, formula=self.design.formula, schema=self.design.schema,
            names=names, params=result.params, cov=result.cov, cov_privacy=result.cov_privacy, nobs=curator.n,
            budget=budget, method=METHOD, released=RELEASED, settings=result.settings,
            adjacency=curator.unit.adjacency, unit=str(curator.unit), flags=cautions(result.problems, names),
            ledger=line, not_private=curator.not_private,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{self._name}, family = {self.family!r}: {self.design!r}"


_FAMILIES = tuple(name for name in FAMILIES if name != "gaussian")


def _problem(design: Design, family: GlmFamily) -> Problem:
    """Public facts in the estimator's terms."""
    response = _response(design, family)
    covariates = design.bounds[int(design.has_intercept) :]
    return Problem(
        family, np.array(covariates[:, 0]), np.array(covariates[:, 1]), response.bounds, design.offset_bounds,
        design.has_intercept,
    )  # fmt: skip


def _response(design: Design, family: GlmFamily) -> NumericResponse:
    response, (least, most) = design.response, family.support
    if not isinstance(response, NumericResponse):
        raise FormulaError("a generalised linear model needs a number left of ~; for survival use survreg")
    lower, upper = response.bounds
    if family.name == "binomial" and (lower, upper) != (0.0, 1.0):
        raise FormulaError(
            f"the response {response.text} of a logistic regression must be 0 or 1: declare it as a flag(), "
            f"or write a comparison such as 1 * ({response.text} > 2)"
        )
    if lower < least or upper > most or (family.name == "gamma" and not lower > 0):
        above = "above 0" if family.name == "gamma" else "of at least 0"
        raise FormulaError(
            f"the response {response.text} of a {family.name} model must be {above}, but its public bounds "
            f"are {lower:g} and {upper:g}; declare others"
        )
    return response
