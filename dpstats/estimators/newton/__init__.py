"""Noisy Newton for losses of a linear predictor (docs/theory/glm.md)."""

from dpstats.estimators.newton.estimate import GlmEstimate
from dpstats.estimators.newton.iterate import fit_newton
from dpstats.estimators.newton.plan import MANY, count_steps, make_plan
from dpstats.estimators.newton.problem import Problem

__all__ = ["MANY", "GlmEstimate", "Problem", "count_steps", "fit_newton", "make_plan"]
