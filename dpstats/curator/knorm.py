"""Noise of pure epsilon for a vector: product Laplace, l_inf K-norm and spherical Laplace.

Neighbours differ by a vector whose norm (L1, maximum, L2) is at most 1 when coordinate j is divided by axis
a_j; for L2 all axes are one. The axes, epsilon and the number m of coordinates are public.

*The mechanism.* Coordinate j of the value is rounded to an integer q_j in units of g_j = a_j 2^-b. An integer
vector z is drawn with probability proportional to exp(-r |z|), r = epsilon / (2^b + c), where c = m for L1, 1
for the maximum and ceil(sqrt m) for L2. The answer is a function of the integers q + z and of public numbers.

*It is epsilon-DP.* Let v and v' be the values of neighbours. The quotient v_j / g_j is formed exactly, and
rounding moves it by at most 1/2, so |q_j - q'_j| <= 2^b |v_j - v'_j| / a_j + 1. The norm of q - q' is then at
most 2^b + c, by the triangle inequality: c is at least the norm of m ones. For any integer vector y

    P(q + z = y) / P(q' + z = y) = exp(-r |y - q| + r |y - q'|) <= exp(r |q - q'|) <= exp(epsilon),

because the normaliser, the sum of exp(-r |z|) over all integer vectors, does not depend on q. What is
computed from y keeps this. It holds exactly: r is rational, integers have no limit, and the samplers decide
with integers only (`draw`).

*What rounding costs.* The noise is that of a real-valued mechanism but for c 2^-b of its scale; b is 40, and
more where epsilon exceeds 1, so that the noise, too, spans 2^40 units.

Time tells the size of the noise a little, as with all exact samplers (spec/privacy.md 3.3, T12).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from secrets import randbelow

import numpy as np

__all__ = ["draw", "pure"]

_BITS = 40
_LAZY = 64  # bits that a uniform number is extended by


def pure(value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
    """Add noise of pure epsilon to a vector.

    Parameters
    ----------
    value : ndarray, shape (m,)
        Exact value, finite.
    law : {"laplace", "linf", "spherical"}
        Its norm is L1, the maximum, or L2.
    axes : ndarray, shape (m,)
        The difference of neighbours, divided by them, has norm at most 1. All equal for "spherical".
    epsilon : float
        Cost, positive.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        If an argument is not finite, positive or of the right shape; the message holds no value.
    """
    vector, units = (np.asarray(array, dtype=np.float64) for array in (value, axes))
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError("the value to protect must be a vector of finite numbers")
    if units.shape != vector.shape or not (np.isfinite(units) & (units > 0)).all():
        raise ValueError("axes must be positive and finite, one for each coordinate")
    if law == "spherical" and (units != units[0]).any():
        raise ValueError("the axes of spherical noise must be equal")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be positive and finite, got {epsilon!r}")
    scale = 2 ** (_BITS + max(0, math.frexp(epsilon)[1]))
    noise = draw(law, vector.size, Fraction(epsilon) / (scale + _rounding(law, vector.size)))
    noisy = [q + z for q, z in zip(_integers(vector, units, scale), noise, strict=True)]
    return units * np.array([integer / scale for integer in noisy])


def _integers(vector: np.ndarray, units: np.ndarray, scale: int) -> list[int]:
    """q: the nearest multiple of unit / scale, coordinate by coordinate."""
    return [round(Fraction(x) * scale / Fraction(unit)) for x, unit in zip(vector, units, strict=True)]


def _rounding(law: str, m: int) -> int:
    """c: an integer not below the norm of m ones."""
    return {"laplace": m, "linf": 1, "spherical": math.isqrt(m - 1) + 1}[law]


def draw(law: str, m: int, rate: Fraction) -> list[int]:
    """A vector of m integers z with P(z) proportional to exp(-rate |z|), `rate` positive.

    *Geometric numbers.* `_geometric` is exact (Canonne, Kamath & Steinke 2020, Algorithms 1 and 2).

    *laplace.* Independent coordinates: a sign and a geometric size; minus zero is drawn again.

    *linf.* The sum of exp(-r k) over k >= |z|_inf is exp(-r |z|_inf) / (1 - exp(-r)). So z is uniform in the
    cube {-k, ..., k}^m if P(k) is proportional to exp(-r k) (2 k + 1)^m. The sum k of m + 1 geometric numbers
    has P(k) proportional to exp(-r k) (k + 1) ... (k + m). It is accepted with probability
    (k + 1/2)^m / ((k + 1) ... (k + m)), as m independent events of probability (2k + 1) / (2k + 2i).

    *spherical.* Laplace coordinates of rate r / s, s >= sqrt m rational, are accepted with probability
    exp(-(r |z|_2 - r |z|_1 / s)). The exponent is not negative, because |z|_1 <= sqrt m |z|_2.
    """
    return _DRAW[law](m, rate.numerator, rate.denominator)


def _laplace(m: int, top: int, bottom: int) -> list[int]:
    return [_signed(top, bottom) for _ in range(m)]


def _linf(m: int, top: int, bottom: int) -> list[int]:
    while True:
        k = sum(_geometric(top, bottom) for _ in range(m + 1))
        if all(randbelow(2 * k + 2 * i) <= 2 * k for i in range(1, m + 1)):
            return [randbelow(2 * k + 1) - k for _ in range(m)]


def _spherical(m: int, top: int, bottom: int) -> list[int]:
    s, one = math.isqrt(m << 2 * _BITS) + 1, 1 << _BITS  # s / one exceeds sqrt m
    while True:
        z = [_signed(top * one, bottom * s) for _ in range(m)]
        # the exponent times bottom * s: sqrt(square) - linear
        square = (top * s) ** 2 * sum(x * x for x in z)
        linear = top * one * sum(map(abs, z))
        if _exp_of_difference(square, linear, bottom * s):
            return z


_DRAW: dict[str, Callable[[int, int, int], list[int]]] = {
    "laplace": _laplace, "linf": _linf, "spherical": _spherical,
}  # fmt: skip


def _signed(top: int, bottom: int) -> int:
    """Discrete Laplace: P(z) proportional to exp(-|z| top / bottom)."""
    while True:
        size, negative = _geometric(top, bottom), randbelow(2)
        if size or not negative:
            return -size if negative else size


def _geometric(top: int, bottom: int) -> int:
    """P(k) proportional to exp(-k top / bottom), k = 0, 1, ..."""
    while True:
        rest = randbelow(bottom)
        if _exp(rest, bottom):
            break
    whole = 0
    while _exp(1, 1):
        whole += 1
    return (rest + bottom * whole) // top


def _exp(top: int, bottom: int) -> bool:
    """True with probability exp(-top / bottom), for top <= bottom."""
    k = 2 if top == bottom else 1  # the first event is certain then
    while randbelow(k * bottom) < top:
        k += 1
    return k % 2 == 1


def _exp_of_difference(square: int, linear: int, bottom: int) -> bool:
    """True with probability exp(-(sqrt(square) - linear) / bottom), the exponent being at most 0.

    With n the whole part of x = (sqrt(square) - linear) / bottom it is exp(-1)^n exp(-(x - n)), and the last
    factor takes events of probability (x - n) / k, as in `_exp`.
    """
    whole = (math.isqrt(square) - linear) // bottom
    if not all(_exp(1, 1) for _ in range(whole)):
        return False
    linear += whole * bottom
    k = 1
    while _uniform_below(square, linear, k * bottom):
        k += 1
    return k % 2 == 1


def _uniform_below(square: int, linear: int, bottom: int) -> bool:
    """Whether a uniform number is below (sqrt(square) - linear) / bottom.

    It is known to lie in [u, u + 1) / 2^b, more bits being drawn until that decides. For integers, u bottom +
    2^b linear < 2^b sqrt(square) is a comparison of squares.
    """
    u, b = 0, 0
    while True:
        u, b = (u << _LAZY) + randbelow(1 << _LAZY), b + _LAZY
        low, high = (side * bottom + (linear << b) for side in (u, u + 1))
        target = square << 2 * b
        if low * low >= target:
            return False
        if high * high <= target:
            return True
