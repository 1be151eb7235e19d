"""Where the values of each variable are, and their moments there: see docs/theory/describe.md."""

from dpstats.estimators.description.estimate import describe_columns, make_plan
from dpstats.estimators.description.windows import Wanted

__all__ = ["Wanted", "describe_columns", "make_plan"]
