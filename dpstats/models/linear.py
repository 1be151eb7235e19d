"""Private linear and ridge regression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.errors import FormulaError, SpecificationError
from dpstats.estimators.gram import Box, LinearFit, Plan, fit_gram, make_plan
from dpstats.formula import Design, NumericResponse, build_design
from dpstats.ledger import Ledger, pay
from dpstats.models.checks import check_budget
from dpstats.models.public import as_public
from dpstats.results import Fit
from dpstats.results.cautions import cautions
from dpstats.rows import open_rows
from dpstats.schema import Schema

METHOD = "noisy second moments (Gaussian)"
PURE_METHOD = "noisy moments and scores (pure epsilon)"


def ols(
    formula: str, data: Any, schema: Schema, public: Any = None, weights: str | None = None
) -> LinearModel:
    """Describe a linear regression, as R's lm and statsmodels' ols do.

    Parameters
    ----------
    formula : str
        Such as ``"quality ~ alcohol + np.log(sugar)"``, with ``offset()`` terms if need be; see
        docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.
    public : PublicMoments or public data, optional
        Moments of public rows of the same kind (:func:`dpstats.public_moments`) or such rows. Privacy does
        not rest on them; precision gains if they resemble the private rows.
    weights : str, optional
        The rows' weights, an expression such as ``"w"`` with bounds from 0 to a public maximum.

    Returns
    -------
    LinearModel
        With ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, weights, public moments or the columns of the data.
    """
    return LinearModel("ols", formula, data, schema, 0.0, public, weights)


def ridge(
    formula: str, data: Any, schema: Schema, alpha: float, public: Any = None, weights: str | None = None
) -> LinearModel:
    """Describe a ridge regression: half the mean squared error plus alpha / 2 times the squared coefficients.

    The normalisation is that of statsmodels' ``fit_regularized(L1_wt=0)``, but the intercept is not
    penalised. Intervals are for the penalised coefficients; ``fit.at_alpha`` gives any other penalty from
    the same release.

    Parameters
    ----------
    formula, data, schema, public, weights
        As in :func:`ols`.
    alpha : float
        Penalty, not negative, in the units of the response squared over those of the covariates squared.

    Returns
    -------
    LinearModel

    Raises
    ------
    SpecificationError
        As in :func:`ols`, and if alpha is negative or not finite.
    """
    if not (isinstance(alpha, int | float) and np.isfinite(alpha) and alpha >= 0):
        raise SpecificationError(f"alpha must be a number that is not negative, got {alpha!r}")
    return LinearModel("ridge", formula, data, schema, float(alpha), public, weights)


class LinearModel:
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    alpha : float
        Ridge penalty, 0 for ols.
    """

    def __init__(
        self, name: str, formula: str, data: Any, schema: Schema, alpha: float, public: Any,
        weights: str | None,
    ) -> None:  # fmt: skip
        self._name, self.alpha = name, alpha
        self.design: Design = build_design(formula, schema, weights)
        self._box = _box(self.design, name)
        self._public = None if public is None else as_public(public, self.design)
        self._rows = open_rows(data, schema, self.design.variables)

    def fit(self, budget: Budget, method: str = "auto", ledger: Ledger | str | Path | None = None) -> Fit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)``, ``approx(epsilon, delta)`` or ``pure(epsilon)``. It is spent whatever
            comes out.
        method : {"auto", "gram"}
            Noisy second moments (docs/linear.md).
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
        if method not in ("auto", "gram"):
            raise SpecificationError(f"method must be 'auto' or 'gram', got {method!r}")
        check_budget(budget, self._rows.n)
        plan = make_plan(budget, self._public is not None)
        line = pay(
            ledger, budget, formula=self.design.formula, method=_method(plan), released=plan.costs,
            unit=self._rows.unit.short,
        )  # fmt: skip
        curator = Curator(self._rows, self.design, budget)
        result = fit_gram(curator, self._box, self.design.has_intercept, plan, self._public)
        return self._publish(result, budget, plan, line, curator)

    def _publish(
        self, result: LinearFit, budget: Budget, plan: Plan, line: str | None, curator: Curator
    ) -> Fit:
        solution = result.moments.solve(self.alpha)
        return Fit(
            model=self._name, dist="gaussian", formula=self.design.formula, schema=self.design.schema,
            weights=self.design.weights, names=self.design.names, params=solution.params, cov=solution.cov,
            cov_privacy=solution.cov_privacy, nobs=curator.n, budget=budget, method=_method(plan),
            released=tuple(plan.costs), settings=_settings(result), adjacency=curator.unit.adjacency,
            unit=str(curator.unit), linear=result.moments, alpha=self.alpha,
            flags=cautions(solution, self.design.names), ledger=line, not_private=curator.not_private,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"{self._name}: {self.design!r}"


def _method(plan: Plan) -> str:
    return PURE_METHOD if plan.pure else METHOD


def _settings(result: LinearFit) -> dict[str, float]:
    limits = {"R": result.radius, "residual": result.limit}
    return {name: round(value, 4) for name, value in limits.items() if value is not None}


def _box(design: Design, model: str) -> Box:
    """Declared bounds of the covariates and of the response less the offset."""
    if not isinstance(design.response, NumericResponse):
        raise FormulaError(f"{model} needs a number left of ~; for a time to failure use survreg")
    covariates = design.bounds[int(design.has_intercept) :]
    (low, high), offset = design.response.bounds, design.offset_bounds
    bounds = np.vstack([covariates, [low - offset[1], high - offset[0]]])
    return Box(bounds[:, 0], bounds[:, 1])
