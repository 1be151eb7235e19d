"""Location-scale regression by the functional mechanism (docs/theory/functional.md)."""

from dpstats.estimators.functional.estimate import FunctionalFit, fit_functional
from dpstats.estimators.functional.standard import STANDARDS

__all__ = ["STANDARDS", "FunctionalFit", "fit_functional"]
