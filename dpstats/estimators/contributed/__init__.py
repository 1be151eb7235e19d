"""Models from messages that contributors have made private themselves."""

from dpstats.estimators.contributed.input_scheme import fit_input
from dpstats.estimators.contributed.moments import linear_moments

__all__ = ["fit_input", "linear_moments"]
