"""Results: what a fit released, and what follows from it. Nothing here has seen a row."""

from dpstats.results.description import Description
from dpstats.results.fit import Fit, compare, load
from dpstats.results.glm import GlmFit
from dpstats.results.linear import LinearFit
from dpstats.results.notreleased import NOT_RELEASED
from dpstats.results.record import Record
from dpstats.results.survival import SurvivalFit
from dpstats.results.survival_curve import CurveFit
from dpstats.results.survival_hazards import HazardFit
from dpstats.results.svm import SvmFit

__all__ = [
    "NOT_RELEASED",
    "CurveFit",
    "Description",
    "Fit",
    "GlmFit",
    "HazardFit",
    "LinearFit",
    "Record",
    "SurvivalFit",
    "SvmFit",
    "compare",
    "load",
]
