"""Linear and ridge regression from released second moments."""

from dpstats.estimators.columns import Box
from dpstats.estimators.gram.estimate import LinearFit, fit_gram
from dpstats.estimators.gram.plan import make_plan

__all__ = ["Box", "LinearFit", "fit_gram", "make_plan"]
