"""Noisy Newton for censored location-scale regression (docs/theory/survival.md)."""

from dpstats.estimators.location_scale.estimate import Estimate
from dpstats.estimators.location_scale.newton import fit_location_scale
from dpstats.estimators.location_scale.plan import after_columns, make_plan
from dpstats.estimators.location_scale.problem import Problem, Strata
from dpstats.estimators.location_scale.pure import fit_location_scale_pure
from dpstats.estimators.location_scale.pure_plan import make_pure_plan
from dpstats.estimators.location_scale.strata_estimate import fit_strata

__all__ = [
    "Estimate",
    "Problem",
    "Strata",
    "after_columns",
    "fit_location_scale",
    "fit_location_scale_pure",
    "fit_strata",
    "make_plan",
    "make_pure_plan",
]
