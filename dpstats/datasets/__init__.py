"""Small real data sets, each with its source, its terms and a public schema."""

from dpstats.datasets.loading import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
