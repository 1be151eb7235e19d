"""Fits of a loss of a margin: what `svm` and `logit(method="objective" | "output")` have in common."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dpstats.budget import Budget, Pure, Zcdp
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.objective import Estimate, Plan, UnitBall, fit_debiased, fit_penalised, make_plan
from dpstats.estimators.objective.plan import PUBLISHED_PENALTY, least_ridge
from dpstats.families import MarginLoss
from dpstats.formula import Design, NumericResponse
from dpstats.ledger import Ledger, pay
from dpstats.models.cautions import cautions
from dpstats.models.checks import check_budget
from dpstats.results import Fit
from dpstats.rows import Rows

METHODS = {
    "objective": "objective perturbation",
    "output": "output perturbation",
    "debiased": "objective perturbation, bias removed",
}
TARGET = (
    "penalised coefficients, the minimiser of mean loss + c |theta|^2, c = {:.4g}, theta = sqrt({}) times "
    "the coefficients of covariates scaled to [-1, 1]; intervals do NOT cover unpenalised coefficients"
)


def check_labels(design: Design, model: str) -> None:
    """Refuse a response that is not yes or no."""
    response = design.response
    if not (isinstance(response, NumericResponse) and response.bounds == (0.0, 1.0)):
        raise FormulaError(f"{model} needs a variable declared as flag() left of ~, its codes for 1 and 0")


def fit_margin(
    design: Design, rows: Rows, budget: Budget, loss: MarginLoss, *, model: str, dist: str,
    method: str, c: float | None = None, robust: bool = False,
    ledger: Ledger | str | Path | None = None, compat: str | None = None,
) -> Fit:  # fmt: skip
    """Spend a budget on the minimum of a loss of a margin.

    Parameters
    ----------
    design, rows, budget, loss
    model, dist : str
        As the record names them.
    method : {"objective", "output", "debiased"}
        The last is for the logistic loss only, and the only one whose target is not penalised.
    c : float, optional
        Penalty: minimise the mean loss + c |theta|^2. Default: as small as the budget allows, for "output"
        and compat="paper" the paper's 0.001. Not for "debiased".
    robust : bool
        With "debiased", standard errors that hold where the model is wrong; the others' always do.
    ledger, compat
        As of the models' ``fit``.

    Raises
    ------
    SpecificationError
        Before anything is spent.
    """
    if design.weights is not None:
        raise SpecificationError(f"weights= do not go with {METHODS.get(method, method)}; leave them out")
    _check(method, c, compat, budget)
    check_budget(budget, rows.n)
    ball = UnitBall.of_box(design.bounds, design.has_intercept, norms=design.norms)
    curator, plan = Curator(rows, design, budget), make_plan(budget, method == "debiased")
    ridge = _ridge(curator, ball, plan, loss, method, c, compat)
    if method != "debiased":
        _try(curator, ball, plan, loss, ridge, method, compat)
    released = plan.costs("curvature" if method == "debiased" and not robust else "curvature and scores")
    named = METHODS[method] + (" as published" if compat else "") + (" (pure epsilon)" if plan.pure else "")
    line = pay(
        ledger, budget, formula=design.formula, method=named, released=released, unit=rows.unit.short
    )
    if method == "debiased":
        result = fit_debiased(curator, ball, plan, robust)
    else:
        result = fit_penalised(curator, ball, loss, ridge, plan, method == "objective", compat)
    return Fit(
        model=model, dist=dist, formula=design.formula, schema=design.schema, names=design.names,
        nobs=curator.n, budget=budget, method=named, released=tuple(released),
        adjacency=curator.unit.adjacency, unit=str(curator.unit), ledger=line,
        not_private=curator.not_private, **_described(result, design, loss, method, robust),
    )  # fmt: skip


def said(robust: bool) -> dict[str, str]:
    """What the record says of standard errors that do not rest on the model."""
    return {"standard errors": "robust"} if robust else {}


def _described(
    result: Estimate, design: Design, loss: MarginLoss, method: str, robust: bool
) -> dict[str, Any]:
    penalised = method != "debiased"
    return dict(
        params=result.params, cov=result.cov, cov_privacy=result.cov_privacy, tails=result.tails,
        target=TARGET.format(result.penalty, len(design.names)) if penalised else None,
        settings={"loss": loss.title} if penalised else said(robust),
        flags=cautions(result.problems, design.names),
    )  # fmt: skip


def _check(method: str, c: float | None, compat: str | None, budget: Budget) -> None:
    if method not in METHODS:
        raise SpecificationError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if compat not in (None, "paper"):
        raise SpecificationError(f"compat must be None or 'paper', got {compat!r}")
    if compat and method == "debiased":
        raise SpecificationError("compat='paper' goes with method='objective' or 'output'")
    if compat and not isinstance(budget, Pure | Zcdp):
        raise BudgetError("compat='paper' spends pure epsilon or zCDP; give pure or zcdp")
    if c is not None and method == "debiased":
        raise SpecificationError("c is the penalty of method='objective' and 'output'; the default has none")
    if c is not None and not (isinstance(c, int | float) and math.isfinite(c) and c > 0):
        raise SpecificationError(f"c must be a positive number, got {c!r}")


def _ridge(
    curator: Curator, ball: UnitBall, plan: Plan, loss: MarginLoss, method: str, c: float | None,
    compat: str | None,
) -> float:  # fmt: skip
    """2 n c, public."""
    if c is None and method != "output" and not compat:
        cost = curator.cost_per_row(plan.minimum)
        # Gaussian noise is paid twice for a row that is replaced
        return least_ridge(loss, ball.longest, cost if plan.pure else cost / 2)
    return 2 * curator.n * (PUBLISHED_PENALTY if c is None else c)


def _try(
    curator: Curator, ball: UnitBall, plan: Plan, loss: MarginLoss, ridge: float, method: str,
    compat: str | None,
) -> None:  # fmt: skip
    """Have the curator refuse what it would refuse after the ledger was charged."""
    paper = compat == "paper"
    curator.check_minimum(
        plan.minimum, loss=loss, ridge=ridge, tilted=method == "objective", spherical=paper,
        pure=paper and method == "objective", **ball.public(),
    )  # fmt: skip
    if paper:
        zeros = [0.0] * ball.k
        curator.noise(
            "margin_scores", plan.matrices, loss=loss, params=zeros, published=True, **ball.public()
        )
