"""Noise of pure epsilon for a symmetric matrix: the difference of two Wishart matrices.

Neighbours differ by a symmetric matrix D of order k the sizes of whose eigenvalues add up to |D|. The sum of
r r' over rows no longer than R has |D| <= 2 R^2, as r r' and s s' have eigenvalues R^2 at most.

*It hides D.* W = G G' / 2 c, with independent standard normal numbers in G, k x (k + 1), is a Wishart matrix
of k + 1 degrees of freedom; the power of its determinant in its density vanishes, and that is proportional to
exp(-c tr W) on the positive semi-definite matrices. For P positive semi-definite the density of W + P at Y is
that of W at Y - P, where Y - P and hence Y is positive semi-definite, and 0 elsewhere: at most exp(c tr P)
times that of W at Y. With D = P - N, P and N of the positive and the negative eigenvalues of D, and two
independent W and V

    law of D + W - V = law of (W + P) - (V + N) <= exp(c (tr P + tr N)) law of W - V,   tr P + tr N = |D|,

which is what pure epsilon asks for: the same holds of -D. For k = 1, W - V is Laplace noise.

*How large it is.* On the diagonal W - V has variance (k + 1) / c^2, beside it half of that, no correlations,
and it is invariant under rotations. Noise that falls with the Frobenius norm, by which D is sqrt 2 R^2 at
most, has the variance R^4 (k (k + 1) + 2) / epsilon^2 there, this one 4 R^4 (k + 1) / epsilon^2: less from
k = 4 on, .28 times as much at k = 14.

*On integers.* Entries of the matrix are rounded to integers q (:mod:`dpstats.curator.knorm`), so that those
of neighbours differ by D 2^b and a matrix E of entries of at most 1 in size. |D| grows by at most |E|, which
is sqrt k times the Frobenius norm of E at most, k^1.5. The answer is q + round(W - V) = round(q + W - V), a
function of q + W - V. Real numbers W - V have no end of digits, but finitely many tell which integers they
round to: normal numbers are drawn exactly, digit by digit (Karney 2016, Algorithm N), and further digits
until all roundings are certain. So the law is exact, and no float comes in.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from secrets import randbelow, randbits

import numpy as np

from dpstats.curator.lattice import order_of, triangle

_WORD, _DIGITS = 32, 128  # binary digits of numbers that are compared, and of those that are multiplied


def draw(m: int, rate: Fraction) -> list[int]:
    """The upper triangle of round(W - V), of m integers; W has a density that falls with exp(-rate tr W)."""
    k, digits = order_of(m), _DIGITS
    numbers = [[_Normal() for _ in range(k + 1)] for _ in range(2 * k)]
    while (found := _rounded(numbers, rate, digits)) is None:
        digits *= 2
    return found


def _rounded(numbers: list[list["_Normal"]], rate: Fraction, digits: int) -> list[int] | None:
    """The integers if so many binary digits of the normal numbers tell all of them.

    A number of which a is known, in units of the last digit, is between a and one unit farther from 0; the
    product of two is off a a' by less than |a| + |a'| + 1.
    """
    known = np.array([[one.at(digits) for one in row] for row in numbers], dtype=object)
    plus, minus = np.split(known, 2)
    size = np.abs(plus).sum(axis=1) + np.abs(minus).sum(axis=1)
    sums, off = plus.dot(plus.T) - minus.dot(minus.T), np.add.outer(size, size) + 2 * len(size) + 2
    unit = rate.numerator << 2 * digits
    low, high = ((one * rate.denominator + unit) // (2 * unit) for one in (sums - off, sums + off))
    found = low.ravel()[triangle(len(size))]
    return found.tolist() if (low == high).all() else None


class _Uniform:
    """A number even in [0, 1), of which binary digits are drawn as they are asked for."""

    def __init__(self) -> None:
        self._drawn, self._value = 0, 0

    def at(self, digits: int) -> int:
        """Its first digits, as an integer."""
        more = digits - self._drawn
        if more > 0:
            self._drawn, self._value = digits, self._value << more | randbits(more)
        return self._value >> (self._drawn - digits)

    def below(self, other: "_Uniform") -> bool:
        """Whether it is the smaller one."""
        digits = _WORD
        while (own := self.at(digits)) == (its := other.at(digits)):
            digits += _WORD
        return own < its


class _Normal:
    """A standard normal number, a sign and a size of `whole` + `rest`.

    A size has probability proportional to the product of exp(-whole / 2), exp(-whole (whole - 1) / 2) and
    exp(-rest (2 whole + rest) / 2): events, of which all have to happen.
    """

    def __init__(self) -> None:
        self._negative, self._rest = randbelow(2), _Uniform()
        while not (self._drawn_whole() and all(self._kept() for _ in range(self._whole + 1))):
            self._rest = _Uniform()

    def _drawn_whole(self) -> bool:
        self._whole = 0
        while _exp(coin := partial(randbelow, 2)):
            self._whole += 1
        return all(_exp(coin) for _ in range(self._whole * (self._whole - 1)))

    def _kept(self) -> bool:
        """True with probability exp(-rest (2 whole + rest) / (2 whole + 2))."""

        def some() -> bool:
            place = randbelow(2 * self._whole + 2) - 2 * self._whole
            return place < 0 or (place == 0 and _Uniform().below(self._rest))

        return _exp(some, self._rest)

    def at(self, digits: int) -> int:
        """What is known of it by the first binary digits, towards 0, in units of the last."""
        size = (self._whole << digits) + self._rest.at(digits)
        return -size if self._negative else size


def _exp(event: Callable[[], int], x: _Uniform | None = None) -> bool:
    """True with probability exp(-p x), p being the chance of the event, and x 1 if left out.

    Numbers that are even in [0, 1) fall n times, from x on, with chance x^n / n!, and the event happens as
    often with p^n: that this goes on for an even number of times has the alternating sum of the products.
    """
    last, even = x, True
    while True:
        other = _Uniform()
        if not ((last is None or other.below(last)) and event()):
            return even
        last, even = other, not even
