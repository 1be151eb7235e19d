"""Routes of a generalised linear model under Gaussian noise: noisy Newton, or truncated rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.newton import Estimate, Problem, count_steps, fit_newton, make_plan
from dpstats.estimators.pmt import fit_pmt_glm, glm_costs
from dpstats.estimators.published.truncated import fit_truncated_glm, truncated_glm_costs
from dpstats.moments import ColumnMoments


def costs_of(method: str, problem: Problem, mu: float) -> dict[str, float]:
    """mu of all releases of each kind, by name; `method` is "newton", "pmt" or "paper"."""
    if method == "newton":
        return _plan(problem)(mu).costs
    return truncated_glm_costs(mu) if method == "paper" else glm_costs(mu, problem)


def estimated(
    curator: Curator, method: str, problem: Problem, public: ColumnMoments | None, mu: float
) -> Estimate:
    """The fit by a method; those that truncate have `public` moments."""
    if method == "newton":
        steps = count_steps(curator.n, curator.cost_per_row(mu), problem.k)
        return fit_newton(curator, problem, _plan(problem)(mu, *steps))
    assert public is not None
    fit = fit_truncated_glm if method == "paper" else fit_pmt_glm
    return fit(curator, problem, public, mu)


def _plan(problem: Problem) -> Callable[..., Plan]:
    return partial(make_plan, constant=problem.intercept, two_valued=problem.family.two_valued)
