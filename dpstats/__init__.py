"""Differentially private regression with R's formulas and tables."""

from dpstats._version import __version__

__all__ = ["__version__"]
