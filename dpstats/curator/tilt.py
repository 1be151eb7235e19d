"""The random tilt of an objective: how large it must be for its exact minimum to be private.

The objective of a data set D is

    J(t) = sum_i w_i f(y_i (a_i't + o_i)) + (ridge / 2) |t|^2 + b't,

with f a :class:`dpstats.families.MarginLoss` (-1 <= f' <= 0, 0 <= f'' <= steepest), rows of
:class:`dpstats.curator.unit_rows.UnitRows` (w |a| <= 1, w |a|^2 <= longest), and a random b. All
coordinates of t are penalised, that of a constant too. Write G_D(t) for the gradient of the sum, which a
row changes by at most a vector v with |v| <= 1, and A_D(t) for its Hessian, which a row changes by a matrix
of rank one with eigenvalue at most e = steepest * longest.

*The exact minimum has a density.* b = -(G_D(t) + ridge t) is a bi-Lipschitz bijection of t: strongly
monotone, and Lipschitz also where f'' jumps (Huber), so that the change of variables holds almost
everywhere. With p the density of b, t has the density p(-G_D(t) - ridge t) det(A_D(t) + ridge I).

*Slack.* Let D and D' differ in one row, and let A be the Hessian of what they share with the ridge, so that
A >= ridge I. det(A + h aa') / det(A) = 1 + h a'A^-1 a lies in [1, 1 + e / ridge]. The determinants of D and
D' therefore differ by a factor of at most exp(c), c = log(1 + e / ridge), in either direction (`slack`).
The square of the length enters, not the length, and nothing may be left without ridge.

**Pure epsilon.** The tilts of D and D' that give the same t differ by v - v', with |v - v'|_2 <= 2 and
coordinates of at most twice the bounds of w a. A density with |log p(b) - log p(b')| <= eps_b for such b,
b' gives eps_b + c (Theorem 1 of the paper with its constant,
docs/theory/objective.md#the-minimum-is-private). The noise of :mod:`knorm` does: let z be its lattice point
and u uniform in the lattice's cell; z + u has a density proportional to exp(-r |z|), or so nearly that the
proof there is the same, and the cells of b and b' are at most |b - b'| and the cell's size apart, which the
rate r already allows for. Where k rows are replaced, the tilts differ by the sum of k such vectors: k eps_b
and k c add up. The objective is tilted by z alone; -u is part of the error of the minimum (below).

**Gaussian.** Let b ~ N(0, s^2 I) and m = 1 / s.

(i) *One row more or less.* D' has the row X, a vector of length at most 1, that D has not. At a given t the
tilts are b and b' = b - (its gradient), b' = b + v, v = q X with 0 <= q <= 1: **f' has one sign**. Under D

    log(p_D / p_D') = (2 b'v + |v|^2) / (2 s^2) - log det ratio.

If D has the row more, the last term lies in [0, c]; else in [-c, 0]. The first is convex in q, so on [0, 1]
at most max(0, L), L = (2 b'X + |X|^2) / (2 s^2), and b'X/|X| ~ N(0, s^2): L has exactly the law of the
privacy loss of N(0, 1) against N(m |X|, 1), and |X| = 1 is worst. So the loss is at most max(0, L) + c in
one direction and max(0, L) in the other. delta(eps) = E (1 - e^(eps - loss))+ grows with the loss, hence
for eps >= c

    delta(eps) <= delta_G(eps - c; m),  delta_G(e; m) = Phi(-e/m + m/2) - e^e Phi(-e/m - m/2).

Were f' of both signs, |b'X| would stand for b'X: twice the delta.

(ii) *That is mu-GDP* for mu = -2 Phi^-1(2 Phi(-m/2) / (1 + e^c)) (`gaussian`). The trade-off curve of (i)
is, for a <= a_k = e^-c Phi(-m/2), T(a) = 1 - Phi(Phi^-1(e^c a) + m); from there, by symmetry, the line of
slope -e^c to the diagonal, which it meets at a* = 2 Phi(-m/2) / (1 + e^c). Let G be the curve of mu-GDP. On
the line G - T is convex, 0 at a* by the choice of mu, and not positive at a_k: with p = Phi(-m/2), u ->
Phi^-1(1 - 1/u) is concave (1/(1 - Phi) is convex, because phi > z (1 - Phi)) and 2/a* = 1/p + e^c/p. Below
a_k the mu that T needs grows with a (Phi/phi increases), so that the mu at a_k, which is enough there, is
enough.

(iii) *Replacing a row* goes through the data set in which it weighs nothing: 2 mu-GDP, by the group
property of GDP (Dong, Roth & Su 2022, Theorem 2.14). k rows: 2 k mu. zCDP follows, rho = (2 k mu)^2 / 2.

The noise is OpenDP's discrete Gaussian. Against a continuous one rounded to the lattice, whose rounding is
part of the error of the minimum, the densities differ by the factors 1 + h of :mod:`mechanisms`; so do
those of t, for each D, and what is said there of delta holds with the shift v - v'. The curator's guard
pays for it.

**The minimum is not exact** (docs/theory/objective.md#the-minimum-is-not-exact; Iyengar et al. 2019). The
answer lies within tau / ridge of P t, the exact minimum brought back to a public ball, whatever the data and
the tilt; :mod:`objective` proves it for the floating-point numbers, the lattice's rounding of b included. So,
given the exact t, which is released in this argument only, the answer lies in a ball that is the same for D
and D': releasing it with noise for a sensitivity of 2 tau / ridge is a second, adaptive release. Epsilons
add, and the squares of mu.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats.curator.law import RAISED
from dpstats.errors import BudgetError

# shares of the cost that pay for minima that are not exact: of epsilon, and of mu
APPROXIMATE_PURE, APPROXIMATE_MU = 5e-3, 1e-2
_NEAR_HALF = 2.0**-48  # that shares near 1/2, which are floats, and their logarithms are off by


@dataclass(frozen=True)
class Split:
    """What a cost pays for.

    Attributes
    ----------
    tilt : float
        Of the noise b, for one row: epsilon where a row is replaced, or 1 / sd of Gaussian noise.
    rest : float
        Cost of the noise on the minimum: epsilon or mu.
    """

    tilt: float
    rest: float


def slack(ridge: float, curvature: float) -> float:
    """c = log(1 + curvature / ridge); see the module."""
    return math.log1p(curvature / ridge)


def pure_epsilon(epsilon: float, c: float) -> float:
    """What is left of epsilon for the tilt."""
    return epsilon - c


def gaussian(rate: float, c: float) -> float:
    """mu of one row more or less, for a tilt of sd 1 / rate and slack c; (ii) of the module."""
    log_share = math.log(2) + float(special.log_ndtr(-rate / 2)) - float(np.logaddexp(0, c))
    return -2 * float(special.ndtri_exp(log_share))


def gaussian_rate(mu: float, c: float) -> float:
    """The inverse of `gaussian` in its first argument; not positive where the slack alone exceeds mu.

    Logarithms, as Phi(-mu / 2) is less than any float for mu above 77.
    """
    log_share = float(special.log_ndtr(-mu / 2) + np.logaddexp(0, c)) - math.log(2)
    return -2 * float(special.ndtri_exp(log_share)) - _NEAR_HALF if log_share < 0 else -math.inf


def split(cost: float, c: float, rows: int, pure: bool) -> Split:
    """Split the cost of replacing `rows` rows, each by another.

    Raises
    ------
    BudgetError
        If the slack alone exceeds the cost: the ridge is too small for it.
    """
    c, cost = c * RAISED, cost / RAISED  # for rounding, and inverses of Phi that are off by 1e-12
    if pure:
        rest = cost * APPROXIMATE_PURE
        tilt = pure_epsilon((cost - rest) / rows, c)
    else:
        rest = cost * APPROXIMATE_MU
        tilt = gaussian_rate(math.sqrt(cost**2 - rest**2) / (2 * rows), c)
    if not tilt > 0:
        raise BudgetError(
            "the penalty is too small for the budget: the slack of the determinants, "
            f"{c:.3g}, exceeds what a row may cost; give a larger penalty or budget"
        )
    return Split(tilt, rest)
