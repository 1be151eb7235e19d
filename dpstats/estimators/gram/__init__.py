"""Linear and ridge regression from released second moments."""

from dpstats.estimators.columns import Box
from dpstats.estimators.gram.estimate import LinearFit, fit_gram
from dpstats.estimators.gram.plan import Plan, make_plan

__all__ = ["Box", "LinearFit", "Plan", "fit_gram", "make_plan"]
