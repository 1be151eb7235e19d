"""Exact amounts. A float stands for the decimal number that the user sees: 0.1 is 1/10.

Sums of fractions neither drift nor depend on the order of the charges. The decimal and the float differ by
less than 2e-16 of the amount, and releases are noised for an amount 1e-9 smaller (dpstats.curator.curator),
so that what is drawn never exceeds what is written here.
"""

from __future__ import annotations

import math
from fractions import Fraction

Amount = tuple[Fraction, ...]
LEAST, MOST = 1e-30, 1e30  # amounts that a budget may have
LEAST_DELTA = 1e-100


def exact(value: float) -> Fraction:
    """The decimal number that prints as `value`."""
    return Fraction(repr(float(value)))


def up(value: Fraction) -> float:
    """Smallest float not below `value`, as decimals."""
    number = float(value)
    while exact(number) < value:
        number = math.nextafter(number, math.inf)
    return number


def down(value: Fraction) -> float:
    """Largest float not above `value`, as decimals."""
    number = float(value)
    while exact(number) > value:
        number = math.nextafter(number, -math.inf)
    return number


def root_up(square: Fraction) -> float:
    """Square root, rounded up."""
    root = math.sqrt(square)
    while exact(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def add(a: Amount, b: Amount) -> Amount:
    """Sum of two amounts of one rule."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def subtract(a: Amount, b: Amount) -> Amount:
    """Difference of two amounts of one rule."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def covers(limit: Amount, spent: Amount) -> bool:
    """Whether `spent` stays within `limit` in every part."""
    return all(x >= y for x, y in zip(limit, spent, strict=True))


def to_text(amount: Amount) -> str:
    """Text that `from_text` reads back exactly."""
    return ",".join(str(part) for part in amount)


def from_text(text: str) -> Amount:
    """Amount from its text; ValueError if it is none."""
    return tuple(Fraction(part) for part in text.split(","))
