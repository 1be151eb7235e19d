"""Families: what a model assumes about the response, as records of functions."""

from dpstats.families.location_scale import DISTS, LOGISTIC, SEV, Dist, Family

__all__ = ["DISTS", "LOGISTIC", "SEV", "Dist", "Family"]
