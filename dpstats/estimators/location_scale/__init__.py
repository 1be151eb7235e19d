"""Noisy Newton for censored location-scale regression (docs/survreg.md)."""

from dpstats.estimators.location_scale.estimate import Estimate
from dpstats.estimators.location_scale.newton import fit_location_scale
from dpstats.estimators.location_scale.plan import Plan, make_plan
from dpstats.estimators.location_scale.problem import Problem

__all__ = ["Estimate", "Plan", "Problem", "fit_location_scale", "make_plan"]
