"""Second moments of rows: released ones, and public ones."""

from dpstats.moments.linear import LinearMoments, Quantity
from dpstats.moments.public import PublicColumns, PublicMoments
from dpstats.moments.solution import Solution

__all__ = ["LinearMoments", "PublicColumns", "PublicMoments", "Quantity", "Solution"]
