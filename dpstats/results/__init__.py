"""Results: what a fit released, and what follows from it. Nothing here has seen a row."""

from dpstats.results.compare import compare
from dpstats.results.curve import SurvivalCurve
from dpstats.results.fit import Fit, load
from dpstats.results.notreleased import NOT_RELEASED
from dpstats.results.record import Record

__all__ = ["NOT_RELEASED", "Fit", "Record", "SurvivalCurve", "compare", "load"]
