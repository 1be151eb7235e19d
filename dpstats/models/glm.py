"""Private logistic regression and generalised linear models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpstats.budget import Budget, Pure
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.newton import Estimate, Plan, Problem, fit_newton, make_plan
from dpstats.families.glm import BINOMIAL, FAMILIES, GlmFamily
from dpstats.formula import Design, NumericResponse, build_design
from dpstats.ledger import Ledger, pay
from dpstats.models.cautions import cautions
from dpstats.models.checks import check_budget
from dpstats.models.linear import LinearModel, ols
from dpstats.results import Fit
from dpstats.rows import open_rows
from dpstats.schema import Event, Flag, Schema

METHOD = "noisy Newton (Gaussian)"
_NAMES = ("binomial", "poisson", "gamma", "gaussian")


def logit(formula: str, data: Any, schema: Schema, weights: str | None = None) -> GlmModel:
    """Describe a logistic regression, as statsmodels' logit and R's glm(family = binomial) do.

    Parameters
    ----------
    formula : str
        With a yes or no on the left, declared as flag(): ``"bought ~ age + np.log(income)"``, with
        ``offset()`` terms if need be; see docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.
    weights : str, optional
        The rows' weights, an expression such as ``"w"`` with bounds from 0 to a public maximum.

    Returns
    -------
    GlmModel
        With ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, weights or the columns of the data.
    """
    return GlmModel("logit", BINOMIAL, formula, data, schema, weights)


def glm(
    formula: str, data: Any, schema: Schema, family: str, exposure: str | None = None,
    weights: str | None = None,
) -> GlmModel | LinearModel:  # fmt: skip
    """Describe a generalised linear model.

    Parameters
    ----------
    formula, data, schema, weights
        As in :func:`logit`. Counts and amounts have bounds in the schema; a narrow upper bound costs nothing
        but what lies beyond it.
    family : {"binomial", "poisson", "gamma", "gaussian"}
        With its link: logit, log, log and identity. The last is :func:`dpstats.ols`.
    exposure : str, optional
        For rates: an expression, positive by its bounds, whose logarithm is an offset; as in statsmodels.

    Returns
    -------
    GlmModel or LinearModel

    Raises
    ------
    SpecificationError
        As in :func:`logit`, and for an unknown family or an exposure that does not suit it.
    """
    if family not in _NAMES:
        raise SpecificationError(f"family must be one of {', '.join(_NAMES)}, got {family!r}")
    if exposure is not None:
        if FAMILIES[family].link_name != "log":
            raise SpecificationError(f"exposure= goes with a log link, and that of {family} is another")
        if not isinstance(exposure, str):
            raise SpecificationError(f"exposure must be an expression such as 'days', got {exposure!r}")
        formula = f"{formula} + offset(np.log({exposure}))"
    if family == "gaussian":
        return ols(formula, data, schema, weights=weights)
    return GlmModel("glm", FAMILIES[family], formula, data, schema, weights)


class GlmModel:
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    family : GlmFamily
    """

    def __init__(
        self, name: str, family: GlmFamily, formula: str, data: Any, schema: Schema, weights: str | None
    ) -> None:
        self._name, self.family = name, family
        self.design: Design = build_design(formula, schema, weights)
        self._problem = _problem(self.design, family, name)
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
        self._check_fit(budget, method)
        plan = make_plan(budget.mu)
        line = pay(
            ledger, budget, formula=self.design.formula, method=METHOD, released=_costs(plan),
            unit=self._rows.unit.short,
        )  # fmt: skip
        curator = Curator(self._rows, self.design, budget)
        return self._publish(fit_newton(curator, self._problem, plan), budget, line, curator, plan)

    def _check_fit(self, budget: Budget, method: str) -> None:
        if method not in ("auto", "newton"):
            raise SpecificationError(f"method must be 'auto' or 'newton', got {method!r}")
        check_budget(budget, self._rows.n)
        if isinstance(budget, Pure):
            raise BudgetError(
                f"{self._name} adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx"
            )

    def _publish(
        self, result: Estimate, budget: Budget, line: str | None, curator: Curator, plan: Plan
    ) -> Fit:
        settings = {name: round(value, 4) for name, value in result.settings.items()}
        return Fit(
            model=self._name, dist=self.family.name, formula=self.design.formula, schema=self.design.schema,
            weights=self.design.weights, names=self.design.names, params=result.params, cov=result.cov,
            cov_privacy=result.cov_privacy, nobs=curator.n, budget=budget, method=METHOD,
            released=tuple(plan.costs), adjacency=curator.unit.adjacency, unit=str(curator.unit),
            settings=settings, flags=cautions(result.problems, self.design.names), ledger=line,
            not_private=curator.not_private,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{self._name}, family = {self.family.name!r}: {self.design!r}"


def _costs(plan: Plan) -> dict[str, str]:
    return {name: f"mu = {mu:.4g}" for name, mu in plan.costs.items()}


def _problem(design: Design, family: GlmFamily, model: str) -> Problem:
    """Public facts in the estimator's terms."""
    response = design.response
    if not isinstance(response, NumericResponse):
        raise FormulaError(f"{model} needs a number left of ~; for a time to failure use survreg")
    if family is BINOMIAL and not isinstance(design.schema.get(response.text), Flag | Event):
        raise FormulaError(
            f"the response {response.text!r} must be a yes or no; declare it as flag(true=..., false=...)"
        )
    low, high = family.support
    if response.bounds[0] < low or response.bounds[1] > high:
        raise FormulaError(
            f"responses of the family {family.name} are at least {low:g}, but {response.text!r} may be "
            f"{response.bounds[0]:g} by its public bounds"
        )
    lower, upper = design.bounds[int(design.has_intercept) :].T
    return Problem(family, lower, upper, response.bounds, design.offset_bounds, design.has_intercept)
