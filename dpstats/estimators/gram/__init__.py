"""Linear and ridge regression from released second moments."""

from dpstats.estimators.gram.estimate import LinearEstimate, fit_gram
from dpstats.estimators.gram.plan import make_plan
from dpstats.estimators.row_scale import Box

__all__ = ["Box", "LinearEstimate", "fit_gram", "make_plan"]
