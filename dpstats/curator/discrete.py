"""Integers of a discrete Gaussian law, many at a time, exactly.

Let s be the scale, t = 2^b the least power of two above 1.1775 s, and z an integer that is to be drawn with
a probability proportional to exp(-z^2 / 2 s^2). A *candidate* has an octave v = 0, 1, ... with probability
2^-(v + 1), a place u, uniform in {0, ..., t - 1}, and a sign, an even chance. It is y = v t + u with this
sign, and is kept with probability

    p = 2^v exp(-y^2 / 2 s^2),

but a zero only with one of the signs. *This is the law.* p is at most 1: as t > sqrt(2 log 2) s,

    exp(-y^2 / 2 s^2) <= exp(-(v t)^2 / 2 s^2) <= 2^(-v^2) <= 2^-v.

A candidate is y, and kept, with probability 2^-(v + 1) / 2 t times p, which is exp(-y^2 / 2 s^2) / 4 t; so it
is for -y. Independent candidates are tried, and the first m that are kept are independent, of this law. Of
candidates .63 s / t are kept, more than a fourth.

*Exactly.* v, u and the sign are random bits. A candidate is kept if a uniform number w is below p, and w has
as many binary digits as it takes. Floats decide where w, of which 64 digits are drawn, and p are 2^-40 and
more apart. Let x = y / s: x^2 / 2 has a relative error below 8 2^-53, v log 2 <= x^2 / 2 one of 2 2^-53, and
their difference is rounded once more, so that the exponent errs by less than 6 x^2 2^-53. p x^2 is below 1.5:
at most 2 / e at v = 0, 4 / e at v = 1, and later 2 log 2 v^2 2^(v - v^2), its value where the octave starts.
So p errs by less than 9 2^-53 and by what exp errs, a few units in the last place; w, and how far it is from
p, are rounded by 2^-53. Together that is below 2^-48. What is closer than 2^-40, one candidate in 2^39, is
decided by decimals and by as many digits as it takes.

*Room.* y is an integer of 64 bits. Where s < 2^50, one that does not fit is beyond 2^13 s, and the chance
that such a one is kept is below e^-2^25.
"""

import math
from decimal import Context, Decimal, localcontext
from secrets import randbits, token_bytes

import numpy as np

_OCTAVE = 1.1775  # of the scale, a little above sqrt(2 log 2)
_CLOSE = 2.0**-40  # between a uniform number and a probability, where floats may err
_LEAST = -700.0  # an exponent whose exp is nothing, and still a number


def draw(m: int, scale: float) -> np.ndarray:
    """m independent integers z, each with a probability proportional to exp(-z^2 / 2 scale^2).

    Parameters
    ----------
    m : int
    scale : float
        Between 1 and 2^50.
    """
    bits, kept = math.frexp(_OCTAVE * scale)[1], np.empty(0, dtype=np.int64)
    while len(kept) < m:
        tried = 16 + int(2 * (m - len(kept)) * 2.0**bits / scale)
        kept = np.append(kept, _kept(tried, bits, scale))
    return kept[:m]


def _kept(tried: int, bits: int, scale: float) -> np.ndarray:
    """Those of so many candidates that are kept."""
    word, uniform, octave = _words(tried), _words(tried), _octaves(tried)
    negative, place = word >= 2**63, (word & (2**bits - 1)).astype(np.int64)
    ratio = (octave + np.ldexp(place, -bits)) * (2.0**bits / scale)
    chance = np.exp(np.maximum(octave * math.log(2) - ratio**2 / 2, _LEAST))
    above = chance - uniform * 2.0**-64
    for i in np.flatnonzero(np.abs(above) < _CLOSE):
        size = (int(octave[i]) << bits) + int(place[i])
        above[i] = 1 if _below(int(uniform[i]), int(octave[i]), size, scale) else -1
    sizes = (octave << bits) + place
    return np.where(negative, -sizes, sizes)[(above > 0) & ~(negative & (sizes == 0))]


def _words(count: int) -> np.ndarray:
    """Random words of 64 bits."""
    return np.frombuffer(token_bytes(8 * count), dtype=np.uint64)


def _octaves(count: int) -> np.ndarray:
    """Integers v = 0, 1, ... with probability 2^-(v + 1): zeros before the first 1 of random bits."""
    words = _words(count)
    octaves = np.frexp((words & -words).astype(float))[1].astype(np.int64) - 1
    none = np.flatnonzero(words == 0)
    if none.size:
        octaves[none] = 64 + _octaves(none.size)
    return octaves


def _below(known: int, octave: int, size: int, scale: float) -> bool:
    """Whether a uniform number, of which 64 binary digits are known, is below the chance of a candidate."""
    digits = 64
    while True:
        with localcontext(Context(prec=digits)):  # as many decimals err by far less than a binary digit
            chance = (-((size / Decimal(scale)) ** 2) / 2).exp() * 2**octave
            apart = known - chance * 2**digits
        if abs(apart) > 2:
            return apart < 0
        known, digits = known << 64 | randbits(64), digits + 64
