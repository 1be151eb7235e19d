"""Settings of all tests."""

import re
import zlib

import pytest
from hypothesis import HealthCheck, settings

# no test fails because a machine is busy, or because a change of the code, whose constants Hypothesis draws
# from, makes it draw more of what a test leaves out
UNCHECKED = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("any machine", deadline=None, suppress_health_check=UNCHECKED)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "of the long tests of every fit, part K of N, by their names; all other tests run in each part"
    parser.addoption("--part", metavar="K/N", type=_part, default=(1, 1), help=told)


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError("a part is such as 1/3")
    return int(found[1]), int(found[2])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, parts = config.getoption("--part")
    chosen, others = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        elsewhere = _repeats(item) and zlib.crc32(item.nodeid.encode()) % parts != part - 1
        (others if elsewhere else chosen).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def _repeats(item: pytest.Item) -> bool:
    """Whether it is a long test of a fit, which takes nearly the path of another in a short test."""
    asked = getattr(item, "callspec", None)
    return item.get_closest_marker("long") is not None and asked is not None and "case" in asked.params
