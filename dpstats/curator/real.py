"""Real random numbers whose digits are drawn when somebody asks for them: normal, exponential, spherical.

Every number is exact: it has a law on the reals, and each of its binary digits is known once drawn. No
floating-point number occurs, and no integer has a limit.

*Events.* With y in [0, 1] and independent events of probability y / 1, y / 2, ... the number of events until
the first that fails is odd with probability 1 - y + y^2 / 2 - ... = exp(-y) (von Neumann 1951).

*A uniform number* u in (0, 1) is a row of random bits (`Uniform`); "v < u" for a new uniform v is decided by
the first bit in which the two differ, and has probability u.

*Normal* (Karney 2016, Algorithm N). The size of a standard normal number is k + u: k has probability
proportional to exp(-k / 2), is kept with probability exp(-k (k - 1) / 2), and u with probability
exp(-u (2 k + u) / 2). The product is exp(-(k + u)^2 / 2).

*Exponential.* k + u, P(k) proportional to exp(-k), and u kept with probability exp(-u).

*Spherical.* W, chi-squared with m + 1 degrees of freedom, is twice the sum of exponential numbers, and one
squared normal where m is even. With a standard normal g of m coordinates x = g sqrt(W) / r has a density
proportional to exp(-r |x|), since for every s = |x| (Andrews & Mallows 1974)

    integral over v of v^((m + 1) / 2 - 1) exp(-r^2 v / 2) v^(-m / 2) exp(-s^2 / (2 v)) = c exp(-r s).

Its coordinates are rounded to the nearest integer. The digits drawn put each of them between two numbers;
while these round differently, more digits are drawn.
"""

from __future__ import annotations

import math
from secrets import randbelow, randbits

__all__ = ["happens", "rounded_spherical"]

_LAZY = 64  # bits that a uniform number is extended by


class Uniform:
    """A uniform number in (0, 1), as far as it is known."""

    __slots__ = ("_bits", "_known")

    def __init__(self) -> None:
        self._bits, self._known = 0, 0

    def first(self, count: int) -> int:
        """Its first `count` binary digits, as an integer."""
        while self._known < count:
            self._bits = self._bits << _LAZY | randbits(_LAZY)
            self._known += _LAZY
        return self._bits >> (self._known - count)

    def exceeds_another(self) -> bool:
        """True with probability u."""
        count = 0
        while True:
            count += _LAZY
            mine, other = self.first(count) & ((1 << _LAZY) - 1), randbits(_LAZY)
            if mine != other:
                return mine > other


Real = tuple[int, Uniform]  # their sum


def happens(top: int, bottom: int) -> bool:
    """True with probability exp(-top / bottom), for top <= bottom."""
    k = 2 if top == bottom else 1  # the first event is certain then
    while randbelow(k * bottom) < top:
        k += 1
    return k % 2 == 1


def _normal() -> Real:
    """The size of a standard normal number."""
    while True:
        k = 0
        while happens(1, 2):
            k += 1
        if not all(happens(1, 2) for _ in range(k * (k - 1))):
            continue
        u = Uniform()
        if all(_kept(k, u) for _ in range(k + 1)):
            return k, u


def _kept(k: int, u: Uniform) -> bool:
    """True with probability exp(-y), y = u (2 k + u) / (2 k + 2) < 1."""
    tries = 1
    while u.exceeds_another():
        other = randbelow((2 * k + 2) * tries)  # (2 k + u) / ((2 k + 2) tries)
        if other > 2 * k or (other == 2 * k and not u.exceeds_another()):
            break
        tries += 1
    return tries % 2 == 1


def _exponential() -> Real:
    k = 0
    while happens(1, 1):
        k += 1
    while True:
        u, tries = Uniform(), 1
        while u.exceeds_another() and randbelow(tries) == 0:
            tries += 1
        if tries % 2 == 1:
            return k, u


def _ends(number: Real, known: int) -> tuple[int, int]:
    """What `known` digits put a number between, in units of 2^-known."""
    low = (number[0] << known) + number[1].first(known)
    return low, low + 1


def rounded_spherical(m: int, top: int, bottom: int) -> list[int]:
    """x of m coordinates with density proportional to exp(-|x| top / bottom), each rounded."""
    sizes = [_normal() for _ in range(m)]
    exponential = [_exponential() for _ in range((m + 1) // 2)]
    more = [] if m % 2 else [_normal()]
    known, low, high = 0, [0], [1]
    while low != high:
        known += 2 * _LAZY
        low, high = (_rounded(sizes, exponential, more, known, side, top, bottom) for side in (0, 1))
    return [-size if randbits(1) else size for size in low]


def _rounded(
    sizes: list[Real], exponential: list[Real], more: list[Real], known: int, side: int, top: int, bottom: int
) -> list[int]:
    """|x_j| rounded, for the lower or upper ends of all numbers: it grows with each of them."""
    # W in units of 4^-known
    square = sum(_ends(number, known)[side] for number in exponential) << (known + 1)
    square += sum(_ends(number, known)[side] ** 2 for number in more)
    factor, unit = 4 * square * bottom**2, top**2 << (4 * known)
    # floor(y + 1/2) = (floor(2 y) + 1) // 2, and floor(2 y) is the root of the whole part of 4 y^2
    return [(math.isqrt(_ends(size, known)[side] ** 2 * factor // unit) + 1) // 2 for size in sizes]
