"""Second moments of rows: released ones, and public ones."""

from dpstats.moments.linear import LinearMoments, Quantity, Solution

__all__ = ["LinearMoments", "Quantity", "Solution"]
