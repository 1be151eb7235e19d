"""Noisy Newton for censored location-scale regression (docs/theory/survival.md)."""

from dpstats.estimators.location_scale.estimate import Estimate
from dpstats.estimators.location_scale.newton import fit_location_scale
from dpstats.estimators.location_scale.plan import after_columns, make_plan
from dpstats.estimators.location_scale.problem import Problem
from dpstats.estimators.location_scale.pure import fit_location_scale_pure
from dpstats.estimators.location_scale.pure_plan import make_pure_plan

__all__ = [
    "Estimate",
    "Problem",
    "after_columns",
    "fit_location_scale",
    "fit_location_scale_pure",
    "make_plan",
    "make_pure_plan",
]
