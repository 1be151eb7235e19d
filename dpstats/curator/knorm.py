"""Noise of pure epsilon for a vector: product Laplace and K-norm noise of a cube, a ball or a cylinder.

Of a vector that is the upper triangle of a symmetric matrix also that of :mod:`dpstats.curator.wishart`, to
which all but the second half of the proof below applies.

Neighbours differ by a vector whose norm is at most 1 when coordinate j is divided by axis a_j. The norm is
L1, the maximum, L2 ("spherical", all axes are one), or for the "cylinder" the larger of the L2 norm of all
coordinates but the last, whose axes are one, and the size of the last. The axes, epsilon and the number m of
coordinates are public.

*The mechanism.* Coordinate j of the value is rounded to an integer q_j in units of g_j = a_j 2^-b. An integer
vector z is drawn with probability proportional to exp(-r |z|), r = epsilon / (2^b + c), where c = m for L1, 1
for the maximum and ceil(sqrt m) for L2, of a ball or of the ball of a cylinder. The answer is a function of
the integers q + z and of public numbers.

*It is epsilon-DP.* Let v and v' be the values of neighbours. The quotient v_j / g_j is formed exactly, and
rounding moves it by at most 1/2, so |q_j - q'_j| <= 2^b |v_j - v'_j| / a_j + 1. The norm of q - q' is then at
most 2^b + c, by the triangle inequality: c is at least the norm of m ones. For any integer vector y

    P(q + z = y) / P(q' + z = y) = exp(-r |y - q| + r |y - q'|) <= exp(r |q - q'|) <= exp(epsilon),

because the normaliser, the sum of exp(-r |z|) over all integer vectors, does not depend on q. What is
computed from y keeps this. It holds exactly: r is rational, integers have no limit, and the samplers decide
with integers only (`draw`). Only the law of balls and cylinders is another one, which loses 2^-2^20 more.

*What rounding costs.* The noise is that of a real-valued mechanism but for c 2^-b of its scale; b is 40, and
more where epsilon exceeds 1, so that the noise, too, spans 2^40 units.

Time tells the size of the noise a little, as with all exact samplers
(docs/theory/privacy.md#what-is-not-promised).
"""

import math
from fractions import Fraction
from secrets import randbelow

import numpy as np

from dpstats.curator import wishart
from dpstats.curator.lattice import order_of, svec_weights

_BITS = 40
_LEAST = 2**20  # noise below this many units is spread evenly: a 2^20th of the axis over epsilon
_BALL = {"spherical": 0, "cylinder": 1}  # coordinates beside the ball


def pure(value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
    """Add noise of pure epsilon to a vector.

    Parameters
    ----------
    value : ndarray, shape (m,)
        Exact value, finite.
    law : {"laplace", "linf", "spherical", "cylinder", "wishart"}
        Its norm is L1, the maximum, L2, or the maximum of the L2 norm of all but the last and the last; of
        the last law, the sum of the sizes of the eigenvalues.
    axes : ndarray, shape (m,)
        The difference of neighbours, divided by them, has norm at most 1. All equal for "spherical", all but
        the last for "cylinder", which has two coordinates at least; for "wishart" on the diagonal of the
        matrix one number, and sqrt 2 times it beside it.
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
    if law in _BALL and (_ball(law, units) != units[0]).any():
        raise ValueError(f"the axes of {law} noise must be equal{', but for the last' * _BALL[law]}")
    if law == "cylinder" and units.size < 2:
        raise ValueError("a cylinder has two coordinates at least")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be positive and finite, got {epsilon!r}")
    if law == "wishart" and not np.array_equal(units, units[0] * svec_weights(order_of(units.size))):
        raise ValueError("the axes of wishart noise must be those of a symmetric matrix")
    scale = 2 ** (_BITS + max(0, math.frexp(epsilon)[1]))
    noise = draw(law, vector.size, Fraction(epsilon) / (scale + _rounding(law, vector.size)))
    noisy = [q + z for q, z in zip(_integers(vector, units, scale), noise, strict=True)]
    return units * np.array([integer / scale for integer in noisy])


def _integers(vector: np.ndarray, units: np.ndarray, scale: int) -> list[int]:
    """q: the nearest multiple of unit / scale, coordinate by coordinate."""
    return [round(Fraction(x) * scale / Fraction(unit)) for x, unit in zip(vector, units, strict=True)]


def _ball(law: str, vector: np.ndarray) -> np.ndarray:
    """The coordinates of the ball."""
    return vector[: len(vector) - _BALL[law]]


def _rounding(law: str, m: int) -> int:
    """c: an integer not below the norm of m numbers of size 1."""
    if law == "wishart":
        k = order_of(m)
        return k * (math.isqrt(k - 1) + 1)
    return {"laplace": m, "linf": 1}.get(law) or math.isqrt(m - _BALL[law] - 1) + 1


def draw(law: str, m: int, rate: Fraction) -> list[int]:
    """A vector of m integers z with P(z) proportional to exp(-rate |z|), `rate` positive.

    *Geometric numbers.* `_geometric` is exact (Canonne, Kamath & Steinke 2020, Algorithms 1 and 2).

    *laplace.* Independent coordinates: a sign and a geometric size; minus zero is drawn again.

    *linf.* The sum of exp(-r k) over k >= |z|_inf is exp(-r |z|_inf) / (1 - exp(-r)). So z is uniform in the
    cube {-k, ..., k}^m if P(k) is proportional to exp(-r k) (2 k + 1)^m. The sum k of m + 1 geometric numbers
    has P(k) proportional to exp(-r k) (k + 1) ... (k + m). It is accepted with probability
    (k + 1/2)^m / ((k + 1) ... (k + m)), as m independent events of probability (2k + 1) / (2k + 2i).

    *spherical, cylinder.* Below. *wishart.* :mod:`dpstats.curator.wishart`, where P(z) is another one.
    """
    if law in _BALL:
        return _in_balls(m - _BALL[law], _BALL[law], rate.numerator, rate.denominator)
    if law == "wishart":
        return wishart.draw(m, rate)
    return {"laplace": _laplace, "linf": _linf}[law](m, rate.numerator, rate.denominator)


def _laplace(m: int, top: int, bottom: int) -> list[int]:
    return [_signed(top, bottom) for _ in range(m)]


def _linf(m: int, top: int, bottom: int) -> list[int]:
    while True:
        k = sum(_geometric(top, bottom) for _ in range(m + 1))
        if all(randbelow(2 * k + 2 * i) <= 2 * k for i in range(1, m + 1)):
            return [randbelow(2 * k + 1) - k for _ in range(m)]


def _in_balls(k: int, q: int, top: int, bottom: int) -> list[int]:
    """A vector z = (u, v) of k and q integers; P(z) is nearly proportional to exp(-r max(|z|, M)).

    With |z| = max(ceil |u|_2, |v|_inf), M = `_LEAST` and c_l between 1 - 2^-2^20 and 1, P(z) is proportional
    to the sum of exp(-r l) c_l over integers l >= max(|z|, M). Between q and q' the lower end of that sum
    moves by at most the norm of q - q', an integer or rounded up to one, D = 2^b + c. So the ratio of the
    module's proof is at most exp(r D) / (1 - 2^-2^20), and the guard of the curator's costs, 1e-9 of epsilon,
    pays for the second factor. (A law close to the right one *in ratio* is all that pure epsilon asks for.)

    *The sampler.* Drawn are l with probability proportional to exp(-r l) l^k (2 l + 1)^q; u from discrete
    Gaussian numbers of variance s^2 = l^2 / k (Canonne, Kamath & Steinke 2020, Algorithm 3), v uniform in
    {-l, ..., l}^q. They are kept if |u| <= l and l >= M, with probability exp(-(l^2 - |u|^2) / 2 s^2); else
    all of them are drawn again. In the product of these probabilities u and v cancel, but for the limits:

        exp(-r l) l^k (2 l + 1)^q / (theta(s)^k (2 l + 1)^q) exp(-k / 2),

    theta(s) the sum of exp(-x^2 / 2 s^2) over the integers x. By Poisson summation theta(s) is sqrt(2 pi) s
    (1 + 2 sum of exp(-2 pi^2 j^2 s^2)) over j = 1, 2, ...; so c_l = (sqrt(2 pi) s / theta(s))^k lies between
    1 - 3 k exp(-19 s^2) and 1. At l >= 2^20 and k < 2^12, s^2 >= 2^28, and 3 k exp(-19 s^2) < 2^-2^20.
    l is drawn as for the cube: a sum of k + q + 1 geometric numbers, kept with probability
    l^k (l + 1/2)^q / ((l + 1) ... (l + k + q)).

    *Time.* One in about sqrt(pi k) is kept, hence the variance: a ball fills a cube much worse.
    """
    while True:
        size = sum(_geometric(top, bottom) for _ in range(k + q + 1))
        if size < _LEAST or not all(randbelow(size + i) < size for i in range(1, k + 1)):
            continue
        if not all(randbelow(2 * (size + k + i)) <= 2 * size for i in range(1, q + 1)):
            continue
        u = [_normal(size, k) for _ in range(k)]
        rest = size**2 - sum(x * x for x in u)
        if rest >= 0 and _exp_of_any(rest * k, 2 * size**2):
            return u + [randbelow(2 * size + 1) - size for _ in range(q)]


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


def _exp_of_any(top: int, bottom: int) -> bool:
    """True with probability exp(-top / bottom), top not negative."""
    whole, rest = divmod(top, bottom)
    return all(_exp(1, 1) for _ in range(whole)) and _exp(rest, bottom)


def _normal(size: int, k: int) -> int:
    """Discrete Gaussian: P(x) proportional to exp(-x^2 / 2 s^2), s^2 = size^2 / k.

    Discrete Laplace numbers of scale t are kept with probability exp(-(|x| - s^2 / t)^2 / 2 s^2), for which
    any t will do; one near s is fast.
    """
    t = math.isqrt(size * size // k) + 1
    while True:
        x = _signed(1, t)
        if _exp_of_any((abs(x) * k * t - size * size) ** 2, 2 * k * (t * size) ** 2):
            return x
