"""T1: no statistic moves beyond its sensitivity between neighbours, and the harness sees planted faults."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from dpstats.curator import statistics
from dpstats.curator.statistics.moments import EventMoments
from tests.privacy.harness import PUBLIC, curator, neighbours, release_everything, table, violation

WORST = (  # opposite corners of the declared box, both events
    table([dict(time=100.0, failed=1, temp=50.0, maker="B"), dict(time=3.0, failed=1, temp=20.0, maker="A")]),
    table([dict(time=100.0, failed=0, temp=50.0, maker="B"), dict(time=3.0, failed=1, temp=20.0, maker="A")]),
)
INVALID = table(
    [dict(time=None, failed=1, temp=50.0, maker="B"), dict(time=3.0, failed=1, temp=20.0, maker="A")]
)


def everything(data):
    release_everything(curator(data))


@settings(max_examples=75, deadline=None)
@given(neighbours())
def test_neighbours_with_wild_values_stay_within_every_sensitivity(pair):
    assert violation(everything, *pair) is None


class HalvedSensitivity(EventMoments):
    name = "halved"

    def __init__(self, design, **public):
        super().__init__(design, **public)
        self.sensitivity /= 2


class Warning_(EventMoments):
    name = "warning"

    def factors(self, block, scratch):
        if not block.ok.all():
            warnings.warn("some rows were dropped", stacklevel=1)
        return super().factors(block, scratch)


class Raising(EventMoments):
    name = "raising"

    def factors(self, block, scratch):
        if not block.ok.all():
            raise ValueError("invalid rows")
        return super().factors(block, scratch)


class DataBounds(EventMoments):
    """Bounds from the data: the box of the temperature is as wide as the rows seen."""

    name = "data_bounds"

    def factors(self, block, scratch):
        (factor,) = super().factors(block, scratch)
        temperature = factor.right[:, 2]
        temperature /= np.abs(temperature).max()
        return (factor,)


def released(name, **options):
    return lambda data: curator(data).release(name, 1.0, **PUBLIC["event_moments"], **options)


def stops_early(data):
    """Asks again only if the exact data say so: here, if the first time is small."""
    asking = curator(data)
    asking.release("event_moments", 1.0, **PUBLIC["event_moments"])
    if data["failed"][0] == 1:
        asking.release("event_moments", 1.0, **PUBLIC["event_moments"])


@pytest.mark.parametrize("fault", [HalvedSensitivity, Warning_, Raising])
def test_planted_statistics_are_caught(fault, monkeypatch):
    monkeypatch.setitem(statistics.REGISTRY, fault.name, fault)
    other = WORST[1] if fault is HalvedSensitivity else INVALID
    assert violation(released(fault.name), WORST[0], other) is not None
    assert violation(released("event_moments"), WORST[0], other) is None


def test_bounds_from_the_data_are_caught(monkeypatch):
    """One row in the far corner shrinks what all the others contribute."""
    monkeypatch.setitem(statistics.REGISTRY, DataBounds.name, DataBounds)
    middle = [dict(time=10.0, failed=1, temp=30.5, maker="A")] * 60
    near = table([dict(time=10.0, failed=1, temp=30.0, maker="A"), *middle])
    far = table([dict(time=10.0, failed=1, temp=50.0, maker="A"), *middle])
    assert violation(released(DataBounds.name), near, far) is not None
    assert violation(released("event_moments"), near, far) is None


def test_a_number_of_releases_from_the_data_is_caught():
    assert violation(stops_early, *WORST) is not None
