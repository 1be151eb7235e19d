"""Penalised minima of losses of a margin, by objective or output perturbation, and what follows from them."""

from dpstats.estimators.objective.debiased import check_debiased, fit_debiased
from dpstats.estimators.objective.penalised import MarginEstimate, fit_penalised, hidden_share
from dpstats.estimators.objective.plan import MinimumPlan, make_debiased_plan, make_plan
from dpstats.formula.ball import UnitBall

__all__ = [
    "MarginEstimate",
    "MinimumPlan",
    "UnitBall",
    "check_debiased",
    "fit_debiased",
    "fit_penalised",
    "hidden_share",
    "make_debiased_plan",
    "make_plan",
]
