"""Linear and logistic regression from messages that contributors have made private themselves.

What precision a plan of contributions will buy is told before anyone contributes.
"""

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import shown
from dpstats.budget import Budget, Gdp
from dpstats.contributions import Rejected, Totals, total
from dpstats.contributors import Plan
from dpstats.contributors.message import exact
from dpstats.contributors.plan import checked
from dpstats.errors import SpecificationError
from dpstats.estimators.contributed import fit_input, linear_moments
from dpstats.formula import Block, Design
from dpstats.models.skeleton import of_moments
from dpstats.results import GlmFit, LinearFit
from dpstats.rows import open_rows
from dpstats.schema import Event, Flag, Levels, Variable

NAMES = {"statistics": "contributed moments (Gaussian)", "input": "contributed rows (Gaussian)"}
TARGET = (
    "coefficients no longer than {:g}, with a ridge of {:.4g} and that of the noise of rows, {:.4g}, where "
    "rows and responses are at most 1"
)
NO_ERRORS = (
    "the guarantee of method='input' is of the coefficients alone; method='statistics' gives intervals"
)
QUADRATIC = (
    "quadratic",
    "the coefficients minimise a quadratic approximation of the logistic loss, and intervals are for these; "
    "they are close to log odds where |x'coef| <= R, and smaller where it is larger",
)


def fit_linear(name: str, design: Design, alpha: float, messages: Any, plan: Plan) -> LinearFit:
    """What ``ols`` and ``ridge`` make of messages.

    Raises
    ------
    SpecificationError
        If the plan is of another model, and as :func:`dpstats.contributions.total`.
    """
    _check(design, plan)
    if alpha and plan.method == "input":
        raise SpecificationError("method='input' has a ridge of its own; use ols, or method='statistics'")
    totals = total(messages, plan)
    fields = (
        _of_input(plan, totals, *plan.response[::-1])
        if plan.method == "input"
        else of_moments(design, linear_moments(totals, plan), alpha)
    )
    return LinearFit(dist="gaussian", alpha=alpha, **_published(name, plan, totals), **fields)


def fit_logistic(name: str, design: Design, messages: Any, plan: Plan, reach: float) -> GlmFit:
    """What ``logit`` makes of messages: the regression of labels of -1 and 1 on the rows, divided by 4 a2.

    Raises
    ------
    SpecificationError
        If the plan is of another model, and as :func:`dpstats.contributions.total`.
    """
    _check(design, plan)
    a2 = approximation(reach)
    if not design.has_intercept or design.offset is not None:
        raise SpecificationError("logit from contributions needs an intercept and takes no offset()")
    totals = total(messages, plan)
    fields = (
        _of_input(plan, totals, 1 / (4 * a2), 0.0)
        if plan.method == "input"
        else of_moments(design, linear_moments(totals, plan, 4 * a2), 0.0) | {"linear": None}
    )
    fields["flags"] = (*fields["flags"], QUADRATIC)
    fields["settings"] = {"quadratic approximation, R": float(reach), "a2": round(a2, 6)}
    return GlmFit(dist="binomial", **_published(name, plan, totals), **fields)


def approximation(reach: float) -> float:
    """a2 of a0 + a2 z^2, which stands for log(2 cosh(z / 2)) in the logistic loss of a label times z.

    a2 = log cosh(R / 2) / R^2 has the least greatest error on |z| <= R = `reach`
    (docs/theory/contributions.md#logistic-models-from-sums).

    Raises
    ------
    SpecificationError
        If `reach` is not a positive number.
    """
    if not isinstance(reach, int | float) or not 1e-3 <= reach < math.inf:
        raise SpecificationError(f"reach must be a number of at least 0.001, got {shown(reach)}")
    return (reach / 2 + math.log1p(math.exp(-reach)) - math.log(2)) / reach**2


def _check(design: Design, plan: Plan) -> None:
    if design != checked(plan).design:
        raise SpecificationError(
            f"the plan is of {plan.formula!r} and its schema, and the model is not; build the model with "
            "plan.formula and plan.schema, and without weights and subset"
        )


def _of_input(plan: Plan, totals: Totals, unit: float, middle: float) -> dict[str, Any]:
    """The coefficients alone: what tells of their errors is not hidden by the noise of the scheme."""
    params = plan.rows.to_user @ fit_input(totals, plan) * unit
    params[0] += middle
    unknown = np.diag(np.full(len(params), np.inf))
    return {
        "params": params,
        "cov": unknown,
        "cov_privacy": unknown,
        "flags": (),
        "no_errors": NO_ERRORS,
        "target": TARGET.format(plan.ball, plan.ridge, totals.n * plan.parts[0].sd ** 2),
    }


def _published(name: str, plan: Plan, totals: Totals) -> dict[str, Any]:
    """What a record says of a plan and its messages."""
    budget: Budget = Gdp(plan.local[0]) if plan.central is None else plan.budget
    return dict(
        model=name,
        formula=plan.formula,
        schema=plan.schema,
        names=plan.design.names,
        nobs=totals.n,
        budget=budget,
        method=NAMES[plan.method] + (" as published" if plan.compat else ""),
        adjacency="replace one contributor's record",
        unit="one contributor",
        guarantees=plan.guarantees,
        messages={"accepted": totals.n} | asdict(totals.rejected),
        not_private=totals.not_private,
    )


_ROWS = 4000  # of one block


def expected_precision(plan: Plan, reach: float = 2.0) -> pd.DataFrame:
    """Standard errors to expect of a fit with as many contributors as the plan asks for.

    No data are read: they are of made-up records in which every variable is spread evenly over its public
    range, whatever the others and the response are. Real columns that vary less, or together, are estimated
    less precisely.

    Parameters
    ----------
    plan : Plan
    reach : float
        R of ``logit``, where the response is a flag; else coefficients are those of ``ols``.

    Returns
    -------
    DataFrame
        ``term``, ``privacy`` and ``sampling``: parts of the standard error of each coefficient. The input
        scheme has more error where coefficients are not 0.
    """
    generator = np.random.default_rng(0)
    made = {name: _even(plan.schema[name], generator) for name in plan.design.variables}
    (columns,) = open_rows(made, plan.schema, plan.design.variables).blocks()
    block = plan.design.read(columns)
    slope = 4 * approximation(reach) if plan.design.numeric.yes_or_no else None
    of = _expected_of_input if plan.method == "input" else _of_statistics
    privacy, sampling = of(plan, block, slope)
    return pd.DataFrame({"term": plan.design.names, "privacy": privacy, "sampling": sampling})


def _of_statistics(plan: Plan, block: Block, slope: float | None) -> tuple[np.ndarray, np.ndarray]:
    n = plan.contributors
    sums = exact(plan, block).mean(axis=0) * n
    solution = linear_moments(Totals(n, sums, np.zeros((0, 0)), Rejected()), plan, slope).solve()
    privacy = np.diag(solution.cov_privacy)
    return np.sqrt(privacy), np.sqrt(np.maximum(np.diag(solution.cov) - privacy, 0.0))


def _expected_of_input(plan: Plan, block: Block, slope: float | None) -> tuple[np.ndarray, np.ndarray]:
    n, d = plan.contributors, len(plan.design.names)
    row, product = plan.parts
    entries = exact(plan, block)
    q, size = entries[:, :d], float(np.mean(entries[:, d:] ** 2) / np.mean(entries[:, :d] ** 2))
    gram = q.T @ q / len(q) * n
    inverse = np.linalg.inv(gram + (n * row.sd**2 + plan.ridge) * np.eye(d))
    unit = plan.response[1] if slope is None else 1 / slope
    back = plan.rows.to_user @ inverse * unit
    privacy = np.einsum("ij,ij->i", back, back) * n * product.sd**2
    sampling = np.einsum("ij,jk,ik->i", back, gram, back) * size
    return np.sqrt(privacy), np.sqrt(sampling)


def _even(variable: Variable, generator: np.random.Generator) -> Any:
    """Values spread evenly over what is declared."""
    if isinstance(variable, Levels):
        return generator.choice(np.array(variable.levels), _ROWS)
    if isinstance(variable, Flag | Event):
        return generator.choice(np.array(variable.codes), _ROWS)
    low, high = variable.bounds
    return generator.uniform(low, high, _ROWS)
