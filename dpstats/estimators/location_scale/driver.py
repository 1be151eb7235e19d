"""Which route a location-scale fit goes: where its columns are tells.

From there on all routes go the way of the one driver (:mod:`dpstats.estimators.engine.route`). See
docs/theory/survival.md#steps-and-covariance.
"""

from typing import Any

import numpy as np

from dpstats._codes import CONSTANT
from dpstats.curator import Curator
from dpstats.estimators.bent_times import any_skewed, looking
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import Route, iterated
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.gaussian import GaussianRoute
from dpstats.estimators.location_scale.plan import (
    FEW_FAILURES,
    after_columns,
    in_fewer_steps,
    make_sign_plan,
    with_few_failures,
)
from dpstats.estimators.location_scale.problem import SurvivalProblem
from dpstats.estimators.location_scale.pure import PureRoute
from dpstats.estimators.location_scale.signs import SignRoute
from dpstats.estimators.location_scale.strata import Stratified
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.noisy import lacking

# Newton needs this many times k^2 events times mu, and this many for any k. With less, and if more than this
# share of rows fails, the slopes follow the signs of residuals, which say little of fewer failures.
_NEWTON, _LEAST_SIGNAL, _LEAST_FRACTION = 10.0, 500.0, 0.2
# sd of a log sigma from which on it is not known: two of them are a factor of e^2 either way, as far as any
# goes of which nothing is seen
_ANY_SCALE = 1.0
# Events times mu over k^1.5, beyond which the noise of a step is so small that few converge
_FEW_STEPS = 150.0


def fit_location_scale(curator: Curator, problem: SurvivalProblem, plan: Plan) -> SurvivalEstimate:
    """Fit a censored location-scale regression from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept, and a level for each stratum if the problem has strata; the total of the
        plan, in its unit, must be left of its total.
    problem : SurvivalProblem
    plan : Plan
        Of :func:`~.plan.make_plan` or, of pure epsilon, :func:`~.plan.make_pure_plan`.

    Returns
    -------
    SurvivalEstimate
        Of strata, the formula's coefficients, and a log sigma for each.
    """
    scale = find_columns(curator, plan.columns, problem.box, problem.log, lost=curator.leaves_out)
    found = iterated(_route(curator, problem, plan, scale))
    unknown = np.sqrt(np.diag(found.cov)) > _ANY_SCALE
    found = found.lost(np.flatnonzero(unknown & (np.arange(len(unknown)) > len(scale.center))))
    # of a cell that noise has made wide, or seem full, the times may spread as usual
    return found.saying(*[CONSTANT] * (scale.rare and scale.once), *lacking(*scale.usable))


def _route(
    curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale
) -> Route[Any, SurvivalEstimate]:
    """By the kind of noise, by strata, and by what the columns say of how much there is of it."""
    signal, k = curator.n * curator.cost_per_row(plan.total), len(scale.center) + 1
    failures = signal * scale.fraction / k**1.5
    if plan.pure and FEW_FAILURES[0] <= failures < FEW_FAILURES[1]:
        plan = with_few_failures(plan)
    plan = looking(plan, "last" if plan.pure else "tail", scale, curator.n)
    if plan.pure:
        return PureRoute(curator, problem, plan, scale)
    if problem.strata is not None:
        return Stratified(curator, problem, plan, scale)
    noisy = problem.shrinks and is_noisy(signal, scale)
    if noisy and scale.fraction > _LEAST_FRACTION and len(scale.center):
        return SignRoute(curator, problem, make_sign_plan(after_columns(plan), k, any_skewed(scale)), scale)
    told = not (problem.intervals or problem.delayed)
    if told and failures > _FEW_STEPS:
        plan = in_fewer_steps(plan)
    return GaussianRoute(curator, problem, plan, scale, noisy)


def is_noisy(signal: float, scale: RowScale) -> bool:
    """Whether a matrix of k^2 entries would be mostly noise, or not be arrived at, where n mu is `signal`."""
    return signal * scale.fraction < max(_NEWTON * (len(scale.center) + 1) ** 2, _LEAST_SIGNAL)
