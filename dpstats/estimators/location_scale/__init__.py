"""Noisy Newton for censored location-scale regression (docs/theory/survival.md)."""

from dpstats.estimators.location_scale.driver import fit_location_scale
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.plan import after_columns, make_plan, make_pure_plan
from dpstats.estimators.location_scale.problem import ScaleGroups, SurvivalProblem

__all__ = [
    "SurvivalEstimate",
    "SurvivalProblem",
    "ScaleGroups",
    "after_columns",
    "fit_location_scale",
    "make_plan",
    "make_pure_plan",
]
