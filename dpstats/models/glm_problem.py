"""What is public about a generalised linear model, and which options go with it."""

from __future__ import annotations

import numpy as np

from dpstats.curator import Curator
from dpstats.errors import FormulaError, SpecificationError
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.newton import MANY, Estimate, Problem, count_steps, fit_newton, make_plan
from dpstats.estimators.pmt import fit_pmt_glm, glm_costs
from dpstats.estimators.published.truncated import PUBLISHED, fit_truncated_glm, truncated_glm_costs
from dpstats.families.glm import BINOMIAL, GlmFamily
from dpstats.formula import Design, NumericResponse
from dpstats.models.margin import METHODS
from dpstats.models.skeleton import check_method
from dpstats.moments import PublicColumns
from dpstats.schema import Count, Event, Flag


def check_options(
    family: GlmFamily, public: object, method: str, compat: str | None, c: float | None, robust: bool
) -> None:
    """Refuse options of other methods than those of objective or output perturbation.

    Raises
    ------
    SpecificationError
    """
    own = family.seek is not None or (family.two_valued and family is not BINOMIAL)
    known = ("auto", "newton") + ("pmt",) * (not own) + (tuple(METHODS) if family is BINOMIAL else ())
    check_method(method, known, compat, public)
    if c is not None:
        raise SpecificationError("c goes with method='objective' or 'output'; leave it out")
    if robust and (family is not BINOMIAL or method not in ("auto", "newton")):
        raise SpecificationError(
            "robust goes with logistic regression by the default method; leave it out (standard errors "
            "of other families and links do not rest on the law of the response)"
        )
    if compat and family not in PUBLISHED:
        covered = " and ".join(each.name for each in PUBLISHED)
        raise SpecificationError(
            f"compat='paper' covers {covered}: the paper's algorithm for {family.name} is not "
            "private; leave compat out"
        )


def problem_of(design: Design, family: GlmFamily, model: str) -> Problem:
    """Public facts in the estimator's terms."""
    response = design.response
    if not isinstance(response, NumericResponse):
        raise FormulaError(f"{model} needs a number left of ~; for a time to failure use survreg")
    if family.two_valued and not isinstance(design.schema.get(response.text), Flag | Event):
        raise FormulaError(
            f"the response {response.text!r} must be a yes or no; declare it as flag(true=..., false=...)"
        )
    low, high = family.support
    if response.bounds[0] < low or response.bounds[1] > high:
        raise FormulaError(
            f"responses of the family {family.name} are at least {low:g}, but {response.text!r} may be "
            f"{response.bounds[0]:g} by its public bounds; declare the bounds that it can have"
        )
    amount = family.free_dispersion and low >= 0
    if amount and isinstance(design.schema.get(response.text), Count):
        raise FormulaError(
            f"a {family.kind} response is above 0, and the count {response.text!r} may be 0; fit "
            "family='negativebinomial' or 'poisson', whose standard errors hold for any scatter"
        )
    first = int(design.has_intercept)
    lower, upper = design.bounds[first:].T
    return Problem(
        family,
        lower,
        upper,
        response.bounds,
        design.offset_bounds,
        design.has_intercept,
        coded=_coded(design)[first:],
        categories=_referred(design) if first else (),
        likely=design.likely[first:],
        alike=design.alike(),
    )


def _coded(design: Design) -> np.ndarray:
    """Which columns are 0 or 1 by the schema: flags, and levels of a category that stands alone."""
    coded = np.array([isinstance(design.schema.get(name), Flag | Event) for name in design.names])
    for first, levels in design.categories:
        coded[first : first + levels.shape[1]] = np.isin(levels, (0.0, 1.0)).all()
    return coded


def _referred(design: Design) -> tuple[np.ndarray, ...]:
    """Columns of levels beside a reference level whose rows have 0 in all of them."""
    return tuple(
        first + np.arange(levels.shape[1])
        for first, levels in design.categories
        if np.isin(levels, (0.0, 1.0)).all() and not levels.any(axis=1).all()
    )


def plan_of(curator: Curator, problem: Problem, mu: float) -> Plan:
    """How a fit by noisy Newton spends a mu: what is asked follows from public numbers."""
    family, cost = problem.family, curator.cost_per_row(mu)
    return make_plan(
        mu,
        *count_steps(curator.n, cost, problem.k),
        constant=problem.intercept,
        two_valued=family.two_valued,
        laws=family.counts and curator.n * cost >= MANY,
        apart=not (family.two_valued and problem.zero_or_one.all()),
    )


def costs_of(method: str, problem: Problem, plan: Plan) -> dict[str, float]:
    """mu of all releases of each kind, by name; `method` is "newton", "pmt" or "paper"."""
    if method == "newton":
        return plan.costs
    return truncated_glm_costs(plan.total) if method == "paper" else glm_costs(plan.total, problem)


def estimated(
    curator: Curator, method: str, problem: Problem, public: PublicColumns | None, plan: Plan
) -> Estimate:
    """The fit by a method; those that truncate have `public` moments."""
    if method == "newton":
        return fit_newton(curator, problem, plan)
    assert public is not None
    fit = fit_truncated_glm if method == "paper" else fit_pmt_glm
    return fit(curator, problem, public, plan.total)
