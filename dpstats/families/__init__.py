"""Families: what a model assumes about the response, as records of functions."""

from dpstats.families.location_scale import DISTS, LOGISTIC, SEV, Dist, Family
from dpstats.families.margin import LOGISTIC_LOSS, MarginLoss, huber_hinge

__all__ = ["DISTS", "LOGISTIC", "LOGISTIC_LOSS", "SEV", "Dist", "Family", "MarginLoss", "huber_hinge"]
