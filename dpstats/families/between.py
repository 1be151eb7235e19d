"""Rows that are known to have failed between two residuals: what bounded scores make of them.

A row that fails at W gives A(W) - h(W), A the integral of h dH, for any of the integrands h of
:mod:`dpstats.families.martingale` and of the check of the law. Of a row that failed between a and
b, the conditional mean of that is known: as (S A)' = -S H' (A - h), S = e^-H,

    E[A(W) - h(W) | a < W <= b] = (S(a) A(a) - S(b) A(b)) / (S(a) - S(b)) = A(a) - dA / (e^dH - 1),

dA = A(b) - A(a) and dH = H(b) - H(a). So the mean over the law is 0 at the truth as before, and of h = h1* x
or 1 + z h1* it is the score of the row's likelihood, log(S(a) - S(b)). With b infinite it is A(a), the score
of a right-censored row; with a = -inf that of a left-censored one; as b falls to a, that of a failure at a.

*Information.* With v the integrands, g the taper, G the integral of g dH and V that of g v dH, a row gives
m m' with m = dV sqrt(dH / dG) / (2 sinh(dH / 2)). Between inspections a living row adds dA to its score, and
a row that fails takes off dA / (e^dH - 1), so that by Bernoulli's variance the covariance of two scores is
that of dA dA*' / (4 sinh^2(dH / 2)) summed over the rows that fail; dA* is that of a score without taper, for
which dA dH / dG stands. As b falls to a this becomes g v v'.

*Bounds.* Let F(psi, chi, q) be convex, and not fall as q rises, q = tr(g v v') the size of what a failure
adds to the information. What F is at most over failures at any W bounds a row between two residuals: psi and
chi are means of those of failures under the law of W given a < W <= b, whose density in u = H - H(a) is
e^-u / (1 - e^-dH); by Jensen's inequality it is left to show |m|^2 <= E[q(W)]. For every vector e, by the
inequalities of Cauchy and Schwarz and of Chebyshev, as g never rises and e^u does,

    (int g e'v du)^2 <= int g (e'v)^2 e^-u du  int g e^u du,
    int g e^u du <= dG (e^dH - 1) / dH,

and (e^dH - 1) (1 - e^-dH) = 4 sinh^2(dH / 2), so that (e'm)^2 <= E[g (e'v)^2]. So a row between two residuals
lies within all that is said of failures: of the two scores, of the information and of their joint sizes.

*Rounding.* Differences lose digits where dH is small. Below `NARROW` a row is taken for a failure at one
point between its ends, which is among the rows above; elsewhere errors of the integrals grow by at most
1 / `NARROW` (:mod:`dpstats.families.score_bounds`). The point is where log H has its mean if H is uniform
between its ends, so that only the curvature of h in log H is neglected.
"""

from typing import NamedTuple

import numpy as np

from dpstats.families.location_scale import Family

NARROW = 2.0**-10
_LEAST_KEPT = 2.0**-20  # of dG, far above the errors of the integrals
LARGEST = 700.0  # of log hazards: e^700 is a float


class Between(NamedTuple):
    """Rows of whose failures something is known; arrays of shape (B,).

    Attributes
    ----------
    z : array
        Residual up to which a row is known to have lived, or at which it is taken to have failed.
    seen : array of bool
        Whether it is taken to have failed at z.
    upper : array
        Residual by which it has failed; infinite where it had not, and z where `seen`.
    hazard : array
        dH.
    odds, size : array
        1 / (e^dH - 1) and 1 / (2 sinh(dH / 2)); 0 where `seen`, and where a row had not failed.
    """

    z: np.ndarray
    seen: np.ndarray
    upper: np.ndarray
    hazard: np.ndarray
    odds: np.ndarray
    size: np.ndarray

    def told(self, kept: np.ndarray) -> np.ndarray:
        """What dV is multiplied with to be m, where dG is `kept`; 0 where hardly anything is kept."""
        some = (kept > _LEAST_KEPT) & np.isfinite(self.hazard)
        return np.where(some, self.size * np.sqrt(self.hazard / kept), 0.0)


def between(family: Family, lower: np.ndarray, upper: np.ndarray) -> Between:
    """Rows that failed between these residuals; `upper` is infinite where they had not failed."""
    log_first, log_last = (np.minimum(family.log_cumulative_hazard(z), LARGEST) for z in (lower, upper))
    last = np.exp(log_last)
    hazard = np.where(np.isinf(upper), np.inf, last - np.exp(log_first))
    seen = hazard < NARROW
    apart = np.minimum(log_last - log_first, LARGEST)
    share = np.where(apart > 0, np.exp(apart / np.expm1(apart) - 1), 1.0)
    middle = family.quantile(-np.expm1(-np.where(seen, last * share, 1.0)))
    middle = np.where(upper > lower, np.fmin(np.fmax(middle, lower), upper), lower)
    z = np.where(seen, middle, lower)
    return Between(
        z,
        seen,
        np.where(seen, z, upper),
        hazard,
        np.where(seen, 0.0, 1 / np.expm1(hazard)),
        np.where(seen, 0.0, 1 / (2 * np.sinh(hazard / 2))),
    )
