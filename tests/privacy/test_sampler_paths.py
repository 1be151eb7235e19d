"""The samplers of pure epsilon on every way that their choices may fall, with exact probabilities.

A sampler draws again until something is kept, so that its law is that of what one attempt keeps. Each of its
steps is taken in turn, and the steps below it have the law that they are meant to have; so the laws here are
certain, where those of drawn numbers are told within chance.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpstats.curator import knorm

Choose = Callable[[Sequence[tuple[Any, float]]], Any]
REACH = 6  # of integers that are drawn
RATIO = 0.6  # of the chances of a geometric number and the next


class Fork(Exception):
    """A choice that the way does not say yet."""


class Again(Exception):
    """An attempt that keeps nothing."""


def law(attempt: Callable[[Choose], Hashable]) -> dict[Any, float]:
    """What an attempt keeps, with the weight of all ways to it; each choice is among values with weights."""
    kept: dict[Any, float] = defaultdict(float)
    ways: list[tuple[int, ...]] = [()]
    while ways:
        way = Way(ways.pop())
        try:
            kept[attempt(way)] += way.weight
        except Fork as fork:
            ways += [(*way.numbers, number) for number in range(fork.args[0])]
        except Again:
            pass
    return kept


class Way:
    """Which of the options is chosen, one time after the other."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers, self.weight, self._left = numbers, 1.0, iter(numbers)

    def __call__(self, options: Sequence[tuple[Any, float]]) -> Any:
        if (number := next(self._left, None)) is None:
            raise Fork(len(options))
        value, weight = options[number]
        self.weight *= weight
        return value


def is_law(kept: dict[Any, float], weight: Callable[[Any], float]) -> None:
    """They are in proportion, the first to the first."""
    assert len(kept) > 1
    ratios = np.array([found / weight(value) for value, found in kept.items()])
    assert ratios == pytest.approx(ratios[0], rel=1e-9)


def once(times: int, choice: Callable[..., Any]) -> Callable[..., Any]:
    """A step of which an attempt takes so many."""
    left = iter(range(times))

    def step(*asked: Any) -> Any:
        if next(left, None) is None:
            raise Again
        return choice(*asked)

    return step


def steps(monkeypatch: pytest.MonkeyPatch, choose: Choose, **others: Any) -> None:
    """Have the sampler take these steps, and choices below a number be even."""
    monkeypatch.setattr(knorm, "randbelow", lambda end: choose([(i, 1 / end) for i in range(end)]))
    for name, step in others.items():
        monkeypatch.setattr(knorm, name, step)


def happens(choose: Choose) -> Callable[[int, int], bool]:
    """An event of probability exp(-top / bottom)."""

    def event(top: int, bottom: int) -> bool:
        chance = math.exp(-top / bottom)
        return bool(choose([(True, chance), (False, 1 - chance)]))

    return event


@pytest.mark.parametrize(("top", "bottom"), [(0, 2), (1, 3), (2, 3), (1, 2), (1, 1), (3, 3)])
def test_an_event_has_its_probability(top: int, bottom: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what six numbers leave open; of those below an end it matters which are below `top`."""

    def attempt(choose: Choose) -> bool:
        def below(end: int) -> Any:
            return choose([(i, w / end) for i, w in ((0, min(top, end)), (top, end - top)) if w > 0])

        monkeypatch.setattr(knorm, "randbelow", once(6, below))
        return knorm._exp(top, bottom)

    found = law(attempt)
    assert found[True] == pytest.approx(math.exp(-top / bottom), abs=2e-3)
    assert sum(found.values()) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(("top", "bottom"), [(0, 3), (2, 3), (3, 3), (7, 3), (6, 3)])
def test_an_event_of_any_probability_has_it(top: int, bottom: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(choose: Choose) -> bool:
        steps(monkeypatch, choose, _exp=happens(choose))
        return knorm._exp_of_any(top, bottom)

    assert law(attempt)[True] == pytest.approx(math.exp(-top / bottom), rel=1e-12)


@pytest.mark.parametrize(("top", "bottom"), [(1, 1), (1, 3), (2, 3), (3, 2), (5, 2)])
def test_a_geometric_number_has_its_law(top: int, bottom: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to what fewer than a dozen wholes amount to."""
    wholes = 12

    def attempt(choose: Choose) -> int:
        steps(monkeypatch, choose, _exp=once(wholes + 2, happens(choose)))
        monkeypatch.setattr(knorm, "randbelow", once(1, knorm.randbelow))
        return knorm._geometric(top, bottom)

    found = law(attempt)
    sure = bottom * wholes // top
    is_law({k: found[k] for k in range(sure)}, lambda k: math.exp(-k * top / bottom))


def geometric(choose: Choose) -> Callable[[int, int], int]:
    return lambda top, bottom: choose([(k, RATIO**k) for k in range(REACH + 1)])


def test_a_number_with_a_sign_has_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(choose: Choose) -> int:
        steps(monkeypatch, choose, _geometric=once(1, geometric(choose)))
        return knorm._signed(1, 2)

    found = law(attempt)
    assert sorted(found) == [*range(-REACH, REACH + 1)]
    is_law(found, lambda z: RATIO ** abs(z))


def test_each_of_several_has_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(choose: Choose) -> Hashable:
        steps(monkeypatch, choose, _geometric=once(2, geometric(choose)))
        return tuple(knorm.draw("laplace", 2, Fraction(1, 2)))

    found = law(attempt)
    assert len(found) == (2 * REACH + 1) ** 2
    is_law(found, lambda z: RATIO ** (abs(z[0]) + abs(z[1])))


@pytest.mark.parametrize(("size", "k"), [(3, 1), (5, 2), (4, 3)])
def test_a_normal_number_has_its_law(size: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(choose: Choose) -> int:
        def signed(top: int, bottom: int) -> int:
            return choose([(x, math.exp(-abs(x) * top / bottom)) for x in range(-REACH, REACH + 1)])

        steps(monkeypatch, choose, _signed=once(1, signed), _exp_of_any=happens(choose))
        return knorm._normal(size, k)

    found = law(attempt)
    assert sorted(found) == [*range(-REACH, REACH + 1)]
    is_law(found, lambda x: math.exp(-(x**2) * k / 2 / size**2))


def sum_of(count: int, most: int, choose: Choose) -> Callable[[int, int], int]:
    """So many geometric numbers, of which only the sum matters: it is the first, and at most `most`."""
    sums = [(k, RATIO**k * math.comb(k + count - 1, k)) for k in range(most + 1)]
    turn = iter(range(count))
    return once(count, lambda top, bottom: choose(sums) if next(turn) == 0 else 0)


@pytest.mark.parametrize(("m", "most"), [(1, 4), (2, 2)])
def test_a_vector_in_a_cube_has_its_law(m: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(choose: Choose) -> Hashable:
        steps(monkeypatch, choose, _geometric=sum_of(m + 1, most, choose))
        return tuple(knorm.draw("linf", m, Fraction(1, 2)))

    found = law(attempt)
    assert len(found) == (2 * most + 1) ** m
    is_law(found, lambda z: sum(RATIO**k for k in range(max(map(abs, z)), most + 1)))


@pytest.mark.parametrize(("name", "m"), [("spherical", 1), ("spherical", 2), ("cylinder", 2)])
def test_a_vector_in_a_ball_has_its_law(name: str, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the least size, here 2, to 3. Normal numbers have their densities, for which the law is exact."""
    least, most, ball = 2, 3, m - (name == "cylinder")

    def attempt(choose: Choose) -> Hashable:
        def normal(size: int, k: int) -> int:
            chances = [(x, math.exp(-(x**2) * k / 2 / size**2) / size) for x in range(-most - 1, most + 2)]
            return choose(chances)

        steps(monkeypatch, choose, _geometric=sum_of(m + 1, most, choose), _exp_of_any=happens(choose))
        steps(monkeypatch, choose, _normal=normal, _LEAST=least)
        return tuple(knorm.draw(name, m, Fraction(1, 2)))

    def norm(z: tuple[int, ...]) -> float:
        return max(math.hypot(*z[:ball]), *map(abs, z[ball:]), least)

    found = law(attempt)
    inside = [z for z in product(range(-most, most + 1), repeat=m) if norm(z) <= most]
    assert sorted(found) == sorted(inside)
    is_law(found, lambda z: sum(RATIO**k for k in range(math.ceil(norm(z)), most + 1)))


@pytest.mark.parametrize("name", ["laplace", "linf", "spherical", "cylinder", "wishart"])
def test_rounding_is_paid_for_by_the_least_integer_that_holds_it(name: str) -> None:
    """All coordinates of a vector may move by 1; of a matrix of order k, k^1.5 is rounded up by parts."""
    for m in (k * (k + 1) // 2 for k in range(2, 40)):
        paid, k = knorm._rounding(name, m), math.isqrt(2 * m)
        square = {"laplace": m**2, "linf": 1, "spherical": m, "cylinder": m - 1, "wishart": k**3}[name]
        assert paid**2 >= square
        assert (paid - k if name == "wishart" else paid - 1) ** 2 < square


def test_what_is_not_protected_is_refused() -> None:
    for value in ([math.nan], [math.inf], [[0.0]], []):
        with pytest.raises(ValueError, match="vector of finite numbers") as caught:
            knorm.pure(np.array(value), "linf", np.ones(1), 1.0)
        assert caught.value.__context__ is None
    for axes in ([0.0], [-1.0], [math.nan], [math.inf], [1.0, 1.0]):
        with pytest.raises(ValueError, match="axes must be positive"):
            knorm.pure(np.zeros(1), "laplace", np.array(axes), 1.0)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="epsilon must be positive"):
            knorm.pure(np.zeros(1), "laplace", np.ones(1), epsilon)
    for law, axes in (("spherical", [1.0, 2.0]), ("cylinder", [1.0, 2.0, 2.0])):
        with pytest.raises(ValueError, match=f"axes of {law} noise must be equal"):
            knorm.pure(np.zeros(len(axes)), law, np.array(axes), 1.0)
    for axes in ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]):  # a triangle has 3 or 6
        with pytest.raises(ValueError, match="must be those of a symmetric matrix"):
            knorm.pure(np.zeros(len(axes)), "wishart", np.array(axes), 1.0)
    with pytest.raises(ValueError, match="two coordinates"):
        knorm.pure(np.zeros(1), "cylinder", np.ones(1), 1.0)
