"""Noisy Newton for regressions of hazards with a baseline on pieces (docs/theory/coxph.md)."""

from dpstats.estimators.hazards.estimate import HazardEstimate
from dpstats.estimators.hazards.iterate import fit_hazards
from dpstats.estimators.hazards.plan import make_plan
from dpstats.estimators.hazards.problem import Problem

__all__ = ["HazardEstimate", "Problem", "fit_hazards", "make_plan"]
