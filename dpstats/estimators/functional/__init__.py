"""Location-scale regression by the functional mechanism (docs/theory/functional.md)."""

from dpstats.estimators.functional.estimate import FunctionalFit, fit_functional

__all__ = ["FunctionalFit", "fit_functional"]
