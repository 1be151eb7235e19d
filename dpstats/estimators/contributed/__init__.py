"""Models from messages that contributors have made private themselves."""

from dpstats.estimators.contributed.moments import linear_moments

__all__ = ["linear_moments"]
