"""Exact conversions between privacy measures, each rounded against the user.

Gaussian noise with sensitivity / sd = mu is (epsilon, delta)-DP for every pair on the dual curve (Dong,
Roth & Su 2022, Corollary 1; Balle & Wang 2018, Theorem 8)

    delta = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).

With a = mu/2 - epsilon/mu and b = a - mu, e^epsilon phi(b) = phi(a), so that the second term is phi(a)
R(-b) and, for a <= 0, delta = phi(a) (R(-a) - R(-b)), R(x) = Phi(-x) / phi(x) being Mills' ratio. No term
overflows for any epsilon, and no e^epsilon is formed. What cancellation costs is bounded and added before a
comparison (`delta_of_mu`).
"""

import functools
import math
from collections.abc import Callable
from fractions import Fraction

from scipy import special

UNIT_ROUNDOFF = 2.0**-53  # of floats
_ULP = 2.0**-48  # 16 units in the last place: erfcx, exp and the divisions around them lose less


def _mills(x: float) -> float:
    return math.sqrt(math.pi / 2) * float(special.erfcx(x / math.sqrt(2)))


def delta_of_mu(mu: float, epsilon: float) -> float:
    """Delta of the dual curve, rounded up by a bound on the floating-point error."""
    ratio = epsilon / mu
    a, b = mu / 2 - ratio, -mu / 2 - ratio
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    head = float(special.ndtr(a)) if a > 0 else density * _mills(-a)
    # a carries the rounding of its two terms; the density makes that a relative error |a| times as large
    error = _ULP * (1 + abs(a) * (ratio + mu / 2)) * head
    return min(1.0, max(0.0, head - density * _mills(-b)) + error)


def bisected(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """The last float found on the good side of a monotone condition."""
    for _ in range(400):
        middle = math.sqrt(good) * math.sqrt(bad)
        if not min(good, bad) < middle < max(good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


@functools.lru_cache(maxsize=256)
def mu_of_approx(epsilon: float, delta: float) -> float:
    """Largest mu with delta(mu, epsilon) <= delta, rounded down."""
    return bisected(lambda mu: delta_of_mu(mu, epsilon) <= delta, 1e-60, 1e16)


@functools.lru_cache(maxsize=256)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Smallest epsilon above 2e-30 with delta(mu, epsilon) <= delta, rounded up."""
    return bisected(lambda epsilon: delta_of_mu(mu, epsilon) <= delta, 1e60, 2e-30)


def mu_of_pure(epsilon: float) -> float:
    """Smallest mu for which epsilon-DP implies mu-GDP, -2 Phi^-1(1 / (1 + e^epsilon)), rounded up.

    ndtri_exp takes the logarithm of the probability, so that large epsilon neither overflows nor saturates.
    """
    if epsilon < 1e-4:  # -2 Phi^-1(1/2 - t) = 2 sqrt(2 pi) t + O(t^3), t = tanh(epsilon/2)/2 <= epsilon/4
        return epsilon * math.sqrt(math.pi / 2) * (1 + 1e-8)
    log_probability = -epsilon - math.log1p(math.exp(-epsilon))
    return -2 * float(special.ndtri_exp(log_probability)) * (1 + 1e-9)


def epsilon_of_zcdp(rho: float, delta: float) -> float:
    """Smallest epsilon with rho-zCDP => (epsilon, delta)-DP over all orders alpha, rounded up.

    For any alpha > 1 the value alpha rho + (log(1/delta) - log alpha)/(alpha - 1) + log(1 - 1/alpha) is valid
    (Canonne, Kamath & Steinke 2020, Proposition 12), so a search that stops early is loose, never wrong.
    """
    log_delta = math.log(delta)

    def epsilon(t: float) -> float:  # alpha = 1 + e^t
        order = math.exp(t)
        alpha = 1 + order
        return alpha * rho + (-log_delta - math.log1p(order)) / order + t - math.log1p(order)

    low, high = -40.0, 40.0
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(120):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if epsilon(left) < epsilon(right) else (left, high)
    best = epsilon((low + high) / 2)
    return max(best, 0.0) * (1 + 1e-12) + 1e-12


@functools.lru_cache(maxsize=256)
def rho_of_approx(epsilon: float, delta: float) -> float:
    """Largest rho above 1e-60 with epsilon_of_zcdp(rho, delta) <= epsilon, rounded down."""
    return bisected(lambda rho: epsilon_of_zcdp(rho, delta) <= epsilon, 1e-60, 1e32)


def stepped(near: float, short: Callable[[float], bool], end: float) -> float:
    """The float at `near`, or the first one from there towards `end`, that falls not short any more."""
    while short(near):
        near = math.nextafter(near, end)
    return near


def sum_up(a: float, b: float) -> float:
    """a + b rounded up."""
    return stepped(a + b, lambda x: Fraction(x) < Fraction(a) + Fraction(b), math.inf)


def hypot_up(a: float, b: float) -> float:
    """sqrt(a^2 + b^2) rounded up."""
    return stepped(
        math.hypot(a, b), lambda x: Fraction(x) ** 2 < Fraction(a) ** 2 + Fraction(b) ** 2, math.inf
    )


def sqrt_down(square: float) -> float:
    """Square root rounded down."""
    return stepped(math.sqrt(square), lambda x: Fraction(x) ** 2 > Fraction(square), 0.0)


def half_square_up(root: float) -> float:
    """root^2 / 2 rounded up."""
    return stepped(root * root / 2, lambda x: 2 * Fraction(x) < Fraction(root) ** 2, math.inf)
