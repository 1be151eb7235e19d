"""Noise of the paper's scheme, in which a contributor sends a noisy row, and its product with the response.

Contributor i of n has |q| <= 1 and p = y q with |y| <= 1, and sends q + u, p + r with u ~ N(0, (s_u^2 / n) I)
and r ~ N(0, (s_b^2 / n) I). The server minimises |Q~ w|^2 / 2 - p~'w + D |w|^2 / 2 over |w| <= `ball`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy

_ROUNDING = 1e-6  # of a row's length and of the curvature, for messages that lie on a lattice


@dataclass(frozen=True)
class InputLaw:
    """Noise of n messages added up, and the ridge.

    Attributes
    ----------
    row, product : float
        s_u and s_b.
    ridge : float
        D.
    curvature : float
        What the noise of rows is sure to add to the curvature; 0 where that is not known.
    """

    row: float
    product: float
    ridge: float
    curvature: float


def published(epsilon: float, delta: float, n: int, columns: int, ball: float) -> InputLaw:
    """The paper's Algorithm 1. Its proof of a central guarantee is wrong.

    See docs/theory/contributions.md#what-is-wrong-with-the-published-proof.

    The ridge is what the noise of rows adds, 2 / epsilon by the paper's count. Noise of rows needs
    1 - 2 sqrt(log(2 / gamma) / n) > 0, that is n > 4 log(4 / delta).
    """
    gamma = delta / 2
    a = math.sqrt(math.log(2 / gamma) / n)
    left = 1 - 2 * a
    root = math.sqrt(2 * columns) * a
    row = (root + math.sqrt(root**2 + 2 / epsilon * left)) / left if left > 0 else math.inf
    product = (ball + 1) * math.sqrt(8 * math.log(2 / gamma) + 4 * epsilon) / epsilon
    return InputLaw(row, product, 0.0, 0.0)


def corrected(epsilon: float, delta: float, n: int, columns: int, ball: float) -> InputLaw:
    """Noise and ridge for which the minimum is (epsilon, delta)-private.

    See docs/theory/contributions.md#the-corrected-theorem.

    Notes
    -----
    Let s = s_u / sqrt n, t = sqrt(2 log(4 / delta)), and leave out the contributor who is replaced. With P
    the projection on what is orthogonal to the columns of the rows of the others, Q~'Q~ >= U'PU, a Wishart
    matrix with n - 1 - d degrees of freedom, so that but for a chance of delta / 4 its least eigenvalue is at
    least k0 = s^2 (sqrt(n - 1 - d) - sqrt d - t)_+^2, whatever the rows (Davidson & Szarek 2001). But for
    another delta / 4, the noisy row of the contributor is no longer than sqrt(l), l = (1 + s (sqrt d + t))^2.
    Both events are of U alone, hence the same for neighbours. Given such a U, this is objective perturbation
    of fixed rows with Gaussian noise b of the linear term: the ratio of determinants is at most
    1 + l / (k0 + D) <= e^(epsilon/2), and gradients of neighbours differ by v, |v| <= z = l ball + 2, for the
    difference of two positive matrices of rank one and of norm l has no larger norm. v lies in the span of
    four fixed vectors, so the ratio of densities of b is at most e^(epsilon/2) but where the projection of b
    on these is longer than q s_b, q the 1 - delta / 2 quantile of chi with 4 degrees of freedom: for
    x = z / s_b, q x + x^2 / 2 = epsilon / 2.

    s_u is the paper's; this theorem holds for any. Contributors beyond n only add curvature and noise.

    The theorem is of normal noise and exact minima. Messages carry discrete Gaussian noise, which differs
    from normal noise rounded to its lattice by less than 3 * 2^-84 for each number in total variation: for
    1e9 contributors and 100 columns by 4e-14 in all, and for fewer by less. Half a percent of delta, which is
    at most 1 / n, pays for that (:func:`dpstats.contributors.law.final_mu`). Of rows the lattice is paid for
    by a millionth of their length and of the curvature; of products, with all that computing a minimum
    rounds, by the last step of :func:`dpstats.estimators.contributed.fit_input`.
    """
    row = published(epsilon, delta, n, columns, ball).row
    t, s, d = math.sqrt(2 * math.log(4 / delta)), row / math.sqrt(n), math.sqrt(columns)
    sure = max(math.sqrt(max(n - 1 - columns, 0)) - d - t, 0.0)
    curvature = (s * sure) ** 2 * (1 - _ROUNDING)
    longest = (1 + s * (d + t)) ** 2 * (1 + _ROUNDING)
    ridge = max(0.0, longest / math.expm1(epsilon / 2) - curvature)
    z = longest * ball + 2
    quantile = float(scipy.stats.chi(4).ppf(1 - delta / 2))
    x = -quantile + math.sqrt(quantile**2 + epsilon)
    return InputLaw(row, z / x, ridge, curvature)
