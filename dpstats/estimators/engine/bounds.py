"""How long rows may be: lengths to choose from, and what a choice counts beside noise."""

import math


def ladder(least: float, most: float) -> tuple[float, ...]:
    """Values to choose from, three to a doubling, as the preferred numbers R10 of ISO 3."""
    return tuple(least * 2 ** (step / 3) for step in range(round(3 * math.log2(most / least)) + 1))


# square lengths, in the number of columns, of the longest row that counts in full; the first one before any
# is chosen
LENGTHS = ladder(1.25, 64.0)
# sds within which nearly all rows lie, if they are nearly normal
NEARLY_ALL = 3.0
# noise in sampling sds that lengthens an interval by 6 %, and is not worth a bound; and less than which
# nothing is bounded but by the declared ranges
FREE, NOTHING = 0.35, 0.01
# where the model bends in a column, unless it is 0 for nearly all rows: weighting rows moves its coefficient
# by the first times exp(-length); and the information that it loses is the second times exp(-2 length)
_BENT, _LOST = 0.05, 0.3


def base_square(k: int) -> float:
    """The radius squared that keeps most rows of k nearly normal coordinates, and little noise."""
    return max(1.25 * k, k + 1.5)


def of_weighting(length: float, rows: float) -> float:
    """Assumed bias, squared, in variances of a coefficient of so many rows, and lost information."""
    return rows * (_BENT * math.exp(-length)) ** 2 + _LOST * math.exp(-2 * length)
