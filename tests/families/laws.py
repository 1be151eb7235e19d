"""The error laws of `DISTS`, each once, so that a new law is tested by being there."""

import math

import pytest

from dpstats.families import DISTS, Family

LAWS = tuple({dist.family.name: dist.family for dist in DISTS.values()}.values())
EVERY_LAW = pytest.mark.parametrize("family", LAWS, ids=lambda family: family.name)


def floor_of(family: Family, floor: float) -> float:
    """This floor for a law whose h1* has no bound, and none for another."""
    return -math.inf if family.bounded else floor
