"""Settings of all tests."""

import re
import sys
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from dpstats.curator import products
from dpstats.testing import SeededNoise

# no test fails because a machine is busy, or because a change of the code, whose constants Hypothesis draws
# from, makes it draw more of what a test leaves out
UNCHECKED = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("any machine", deadline=None, suppress_health_check=UNCHECKED)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    told = (
        "part K of N of the long cases of tests that have short ones, and an eighth of the other long tests"
    )
    parser.addoption("--part", metavar="K/N", type=_part, default=(1, 1), help=told)
    other = "noise number K in place of that of every seed: a test that fails then held by luck of its noise"
    parser.addoption("--other-noise", metavar="K", type=int, default=0, help=other)


def pytest_configure(config: pytest.Config) -> None:
    """Every seed of noise gives other noise, the same in all tests of a run, if another is asked for."""
    if other := config.getoption("--other-noise"):

        def init(self: SeededNoise, seed: int) -> None:
            self._generator = np.random.default_rng([other, seed])

        SeededNoise.__init__ = init  # of all tests, those of fixtures of a module, too


@pytest.fixture(autouse=True)
def _no_picture_stays_open() -> Iterator[None]:
    """Where a test imported pyplot, plots of all tests after it are pyplot's."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError("a part is such as 1/3")
    return int(found[1]), int(found[2])


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Long cases that are not drawn are not made: they would be two of three items, and most of the wait."""
    marks, name = metafunc.definition.own_markers, metafunc.definition.nodeid
    marks[:] = [_drawn(mark, name, metafunc.config) if mark.name == "parametrize" else mark for mark in marks]


def _drawn(mark: pytest.Mark, test: str, config: pytest.Config) -> pytest.Mark:
    """The cases of a test that are not long, and a part of those that are; all if all are."""
    names, cases = mark.args
    cases, told = list(cases), dict(mark.kwargs)
    long = [number for number, case in enumerate(cases) if _is_long(case)]
    if 0 < len(long) < len(cases):
        part, parts = config.getoption("--part")
        none = config.option.markexpr == "not long"
        left = {n for n in long if none or _number(f"{test}[{cases[n].id or n}]") % parts != part - 1}
        kept = [number for number in range(len(cases)) if number not in left]
        cases = [cases[number] for number in kept]
        if isinstance(ids := told.get("ids"), Iterable):
            ids = list(ids)
            told["ids"] = [ids[number] for number in kept]
    return pytest.mark.parametrize(names, cases, **told).mark


def _is_long(case: object) -> bool:
    return any(mark.name == "long" for mark in getattr(case, "marks", ()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of long tests without short cases an eighth."""
    part, parts = config.getoption("--part")
    long = [item.get_closest_marker("long") is not None for item in items]
    short = {_test(item) for item, takes_long in zip(items, long, strict=True) if not takes_long}
    eighths = min(parts, 8)
    chosen, others = list[pytest.Item](), list[pytest.Item]()
    for item, takes_long in zip(items, long, strict=True):
        alone = takes_long and _test(item) not in short
        elsewhere = alone and _number(_test(item)) % eighths != part % eighths
        (others if elsewhere else chosen).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def _number(name: str) -> int:
    return zlib.crc32(name.encode())


def _test(item: pytest.Item) -> str:
    """A test of several cases is one: the long ones go nearly the path of those that are not."""
    return item.nodeid.partition("[")[0]


@pytest.fixture
def floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are rounded to a grid that is hardly coarser than floats, as are products, all summed in order."""
    monkeypatch.setattr(products, "_BITS", 45)
    monkeypatch.setattr(products, "_PRODUCT_BITS", 90)
