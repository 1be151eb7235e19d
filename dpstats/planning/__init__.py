"""What a budget will buy: fits of made-up rows, before any is spent on private ones."""

from dpstats.planning.fit_plan import FitPlan, plan

__all__ = ["FitPlan", "plan"]
