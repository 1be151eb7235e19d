"""Second moments of rows: released ones, and public ones."""

from dpstats.moments.linear import LinearMoments, Quantity, Solution
from dpstats.moments.public import PublicMoments

__all__ = ["LinearMoments", "PublicMoments", "Quantity", "Solution"]
