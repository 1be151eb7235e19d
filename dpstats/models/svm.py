"""A private support vector machine with intervals, the Huber hinge loss; and fits of any loss of a margin.

These are what `svm` and `logit(method="objective" | "output")` have in common.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dpstats._arguments import shown
from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget, Pure, Zcdp, measure
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.newton import Problem
from dpstats.estimators.objective import (
    MinimumPlan,
    UnitBall,
    check_debiased,
    fit_debiased,
    fit_penalised,
    hidden_share,
    make_debiased_plan,
    make_plan,
)
from dpstats.estimators.objective.plan import least_ridge
from dpstats.estimators.published.penalised import (
    PUBLISHED_PENALTY,
    check_published_matrices,
    fit_published_minimum,
)
from dpstats.families import MarginLoss, huber_hinge
from dpstats.formula import Design, NumericResponse, build_design
from dpstats.ledger import Ledger
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    Unfitted,
    about_middles,
    check_budget,
    check_compat,
    check_enough,
    check_named,
    costs_of_middles,
    of_formula,
    pay,
    publish,
    share_of_middles,
)
from dpstats.results import GlmFit, SvmFit
from dpstats.rows import Rows, open_rows
from dpstats.schema import Schema

K = TypeVar("K", GlmFit, SvmFit)

METHODS = {
    "objective": "objective perturbation",
    "output": "output perturbation",
}
DEBIASED = "objective perturbation, bias removed"
TARGET = (
    "penalised coefficients, the minimiser of mean loss + c |theta|^2, c = {:.4g}, theta = sqrt({}) times "
    "the coefficients of covariates scaled to [-1, 1]; intervals do NOT cover unpenalised coefficients"
)


def fit_margin(  # noqa: PLR0913 - what a fit may be asked for
    kind: type[K],
    asked: Unfitted,
    loss: MarginLoss,
    named: tuple[str, str],
    c: float | None,
    budget: Budget,
    method: str,
    ledger: Ledger | str | Path | None,
    compat: str | None,
    force: bool,
) -> K:
    """Spend a budget on the penalised minimum of a loss of a margin, mean loss + c |theta|^2.

    Parameters
    ----------
    kind : {GlmFit, SvmFit}
        Of the result.
    asked : Unfitted
        The model, whose rows are read.
    loss : MarginLoss
    named : tuple
        Model and distribution, as the record names them.
    c : float, optional
        Default: as small as the budget allows, for "output" and compat="paper" the paper's 0.001.
    budget : Budget
    method : {"objective", "output"}
    ledger, compat, force
        As of the models' ``fit``.

    Raises
    ------
    SpecificationError
        Before anything is spent.
    """
    design, rows, (model, dist) = asked.design, asked._rows, named
    _check_weights(design, METHODS.get(method, method))
    _check(method, c, compat, budget)
    check_budget(budget, rows.n)
    ball = UnitBall.of_box(design.bounds, design.has_intercept, norms=design.norms)
    curator = Curator(rows, design, budget)
    plan = make_plan(budget, pure_tilt=bool(compat) and method == "objective")
    ridge = _ridge(curator, ball, plan, loss, method, c, compat)
    # the curator refuses what it would refuse after the ledger was charged
    tilted = method == "objective"
    curator.check_minimum(
        plan.minimum, loss=loss, ridge=ridge, tilted=tilted, spherical=bool(compat), **ball.public()
    )
    if compat:
        check_published_matrices(curator, ball, loss, plan)
    sides = design.sides if loss.straight and not compat else ()
    hidden = 0.0 if compat else hidden_share(curator, ball, loss, plan, sides)
    wanted = hidden * curator.n * measure(budget)
    check_enough(curator, budget, wanted, f"{ball.k} coefficient{'s' * (ball.k > 1)}", force)
    how = _named(METHODS[method] + " as published" * bool(compat), budget)

    facts = pay(curator, design, budget, ledger, how, plan.costs, f"{model} {dist}")
    result = (
        fit_published_minimum(curator, ball, loss, ridge, plan, tilted)
        if compat
        else fit_penalised(curator, ball, loss, ridge, plan, tilted, sides)
    )
    return publish(
        kind,
        facts,
        design,
        result,
        plan.costs,
        model=model,
        dist=dist,
        tails=result.tails,
        settings={"loss": loss.title},
        target=TARGET.format(result.penalty, len(design.names)),
    )


def fit_debiased_logit(
    design: Design,
    rows: Rows,
    budget: Budget,
    problem: Problem,
    *,
    model: str,
    robust: bool,
    ledger: Ledger | str | Path | None,
) -> GlmFit:
    """Spend a budget on a logistic regression by objective perturbation under pure epsilon, the
    penalty's bias removed.

    Parameters
    ----------
    design, rows, budget, problem
    model : str
        As the record names it.
    robust : bool
        Standard errors that hold where the model is wrong.
    ledger
        As of the models' ``fit``.

    Raises
    ------
    SpecificationError
        Before anything is spent.
    """
    _check_weights(design, DEBIASED)
    curator = Curator(rows, design, budget)
    plan = make_debiased_plan(budget.epsilon, robust, problem.intercept).after(share_of_middles(design))
    check_debiased(curator, problem, plan)
    costs = costs_of_middles(design, budget) | plan.costs

    facts = pay(curator, design, budget, ledger, _named(DEBIASED, budget), costs, f"{model} binomial")
    curator, moved = about_middles(curator, design, budget)
    first = int(problem.intercept)
    lower, upper = moved.bounds[first:].T
    problem = replace(problem, lower=lower, upper=upper, likely=moved.likely[first:])
    result = fit_debiased(curator, problem, plan, robust)
    settings = {name: round(bound, 4) for name, bound in result.settings.items()} | said(robust)
    return publish(
        GlmFit,
        facts,
        design,
        of_formula(result, moved),
        costs,
        model=model,
        dist="binomial",
        tails=result.tails,
        settings=settings,
    )


def _named(method: str, budget: Budget) -> str:
    return method + (" (pure epsilon)" if budget.pure else "")


def said(robust: bool) -> dict[str, str]:
    """What the record says of standard errors that do not rest on the model."""
    return {"standard errors": "robust"} if robust else {}


def _check_weights(design: Design, method: str) -> None:
    if design.weights is not None:
        raise SpecificationError(f"weights= do not go with {method}; leave them out")


def _check(method: str, c: float | None, compat: str | None, budget: Budget) -> None:
    check_named(method, tuple(METHODS))
    check_compat(compat, method, *METHODS)
    if compat and not isinstance(budget, Pure | Zcdp):
        raise BudgetError("compat='paper' spends pure epsilon or zCDP; give pure or zcdp")
    if c is not None and not (isinstance(c, int | float) and math.isfinite(c) and c > 0):
        raise SpecificationError(f"c must be a positive number, got {shown(c)}")


def _ridge(
    curator: Curator,
    ball: UnitBall,
    plan: MinimumPlan,
    loss: MarginLoss,
    method: str,
    c: float | None,
    compat: str | None,
) -> float:
    """2 n c, public."""
    if c is None and method != "output" and not compat:
        cost = curator.cost_per_row(plan.minimum.amount)
        # Gaussian noise is paid twice for a row that is replaced
        return least_ridge(loss, ball.longest, cost if isinstance(plan.minimum, Pure) else cost / 2)
    return 2 * curator.n * (PUBLISHED_PENALTY if c is None else c)


@forgetting
def svm(
    formula: str,
    data: Any,
    schema: Schema,
    h: float = 0.5,
    c: float | None = None,
    subset: str | None = None,
) -> "Svm":
    """Describe a linear support vector machine whose hinge is rounded, so that it has standard errors.

    Parameters
    ----------
    formula : str
        Such as ``"rich ~ age + education"``; the left side is a variable declared as ``flag()``.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.
    h : float
        Width of the rounding, public: the loss is the hinge where the margin is farther than h from 1.
    c : float, optional
        Penalty, public. The fit minimises the mean loss + ``c |theta|^2``, theta being the coefficients over
        half the public ranges. Default: as small as the budget allows.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).

    Returns
    -------
    Svm
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, h, c or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.svm("parttime ~ education", cps.data, cps.schema).fit(dps.pure(1))
    >>> fit.predict({"education": 12})[0] in (0, 1)
    True
    """
    return Svm(build_design(formula, schema, subset=subset), data, h, c)


@forgetful
class Svm(Unfitted):
    """A support vector machine that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    """

    def __init__(self, design: Design, data: Any, h: float, c: float | None) -> None:
        self._h, self._loss, self._c = h, huber_hinge(h), c
        self.design = design
        if not (isinstance(design.response, NumericResponse) and design.response.bounds == (0.0, 1.0)):
            raise FormulaError("svm needs a variable declared as flag() left of ~, its codes for 1 and 0")
        self._rows = open_rows(data, design.schema, design.variables)

    @reusable(SvmFit)
    def fit(
        self,
        budget: Budget,
        method: str = "auto",
        *,
        ledger: Ledger | str | Path | None = None,
        compat: str | None = None,
        force: bool = False,
        reuse: bool | str = False,
    ) -> SvmFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``pure(epsilon)``, ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``. It is spent
            whatever comes out.
        method : {"auto", "objective", "output"}
            Noise on the objective, which is the default, or on its minimum (docs/erm.md).
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        compat : {None, "paper"}
            Follow the paper: its noise, its constants and its floors (docs/erm.md).
        force : bool
            Spend the budget even where noise hides all scores that so many rows can have.
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        SvmFit
            With ``decision_function(newdata)``, and ``predict(newdata)`` for labels.

        Raises
        ------
        BudgetError
            If the penalty is too small for the budget, noise would hide all that so many rows can tell, or
            the budget exceeds what the ledger has left.
            Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> cps = dps.datasets.load("cps1988")
        >>> fit = dps.svm("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5), method="output")
        >>> list(fit.params.index)
        ['Intercept', 'education']
        """
        check_named(method, ("auto", "objective", "output"))
        method = "objective" if method == "auto" else method
        of = ("svm", "huber")
        return fit_margin(SvmFit, self, self._loss, of, self._c, budget, method, ledger, compat, force)

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"h": self._h, "c": self._c}

    @always_shown
    def __repr__(self) -> str:
        return f"svm, {self._loss.title}: {self.design!r}"
