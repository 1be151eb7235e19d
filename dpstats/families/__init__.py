"""Families: what a model assumes about the response, as records of functions."""

from dpstats.families.glm import FAMILIES, GlmFamily, family_of
from dpstats.families.links import IDENTITY, LINKS, LOG, LOGIT, Link
from dpstats.families.location_scale import DISTS, LOGISTIC, NORMAL, SEV, Dist, Family
from dpstats.families.margin import LOGISTIC_LOSS, MarginLoss, huber_hinge

__all__ = [
    "DISTS",
    "FAMILIES",
    "IDENTITY",
    "LINKS",
    "LOG",
    "LOGISTIC",
    "LOGISTIC_LOSS",
    "LOGIT",
    "NORMAL",
    "SEV",
    "Dist",
    "Family",
    "GlmFamily",
    "Link",
    "MarginLoss",
    "family_of",
    "huber_hinge",
]
