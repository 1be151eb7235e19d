"""How far apart the sums of neighbours lie, and the law of the noise that hides it.

All numbers here are public. Every law hides what is short in a norm, and its `axes` are the units of that
norm: the difference of two neighbours, divided by the axes, has norm at most 1. All densities but that of the
last law fall with their norm as well. With m coordinates and noise z, also divided by the axes,

==========  ========  ====================  ==========================================================
law         norm      log density           variance of a coordinate
==========  ========  ====================  ==========================================================
gaussian    L2        -mu^2 |z|_2^2 / 2     1 / mu^2
laplace     L1        -epsilon |z|_1        2 / epsilon^2
linf        maximum   -epsilon |z|_inf      (m + 1)(m + 2) / 3 epsilon^2
spherical   L2        -epsilon |z|_2        (m + 1) / epsilon^2
cylinder    see text  -epsilon |z|          (m + 2) / epsilon^2, the last (m + 1)(m + 2) / 3 epsilon^2
wishart     see text  see :mod:`wishart`    (k + 1) / epsilon^2 on the diagonal, half of that off it
==========  ========  ====================  ==========================================================

The norm of the cylinder is the larger of the L2 norm of all coordinates but the last, and the size of the
last. Noise of linf, spherical and cylinder is uniform in a cube, ball or cylinder whose half-width is
gamma(m + 1) (Hardt & Talwar 2010; docs/theory/privacy.md#laws-of-noise). That of wishart is on the upper
triangle of a symmetric matrix of order k; its norm is the sum of the sizes of the eigenvalues, and a shift
that is short in it multiplies the density by little, as that of the difference of two Wishart matrices.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from dpstats.budget import Gdp, Pure
from dpstats.curator.lattice import order_of, places, slack, svec_weights
from dpstats.curator.statistics.base import Statistic, check_positive

MOST_SPHERICAL = 256
"""Most coordinates for which noise of a ball or cylinder is drawn: time grows as m^1.5, to 0.2 s here."""

MOST_WISHART = 100 * 101 // 2
"""Most coordinates of a matrix for which noise of the Wishart law is drawn, in two seconds."""

MOST_GAUSSIAN, LEAST_MU = 10**7, 1e-8
"""Most coordinates and least mu of Gaussian noise for which :mod:`mechanisms` proves the guard enough."""

RAISED = 1 + 1e-9  # for the rounding of a statistic's own numbers


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Bounds on the difference of the sums of two neighbours, rounding included.

    Attributes
    ----------
    l2, l1 : float
        On its L2 and L1 norms.
    ranges : ndarray, shape (m,)
        On each coordinate.
    head : float, optional
        On the L2 norm of all coordinates but the last, where the statistic declares it.
    trace : float, optional
        On the sum of the sizes of the eigenvalues of a symmetric matrix, where the statistic declares it.
    """

    l2: float
    l1: float
    ranges: np.ndarray
    head: float | None = None
    trace: float | None = None

    @classmethod
    def of(cls, statistic: Statistic, n: int, max_rows: int) -> "Sensitivity":
        """Of `statistic` summed over n rows, for neighbours that differ in `max_rows` rows.

        Where the statistic declares no bound, or a wide one, another of its bounds gives one: no coordinate
        exceeds the L2 norm, the L1 norm is at most sqrt m times it, and at most the sum of the ranges.
        """
        extra = slack(statistic.parts, n)
        l2 = max_rows * (statistic.sensitivity * RAISED + float(np.linalg.norm(extra)))
        ranges = np.full(len(extra), l2)
        if statistic.ranges is not None:
            declared = np.asarray(statistic.ranges, dtype=np.float64)
            if declared.shape != ranges.shape or not (declared >= 0).all():
                raise ValueError("a statistic declares one range for each coordinate, none negative")
            ranges = np.minimum(ranges, max_rows * (declared * RAISED + extra))
        l1 = min(math.sqrt(len(extra)) * l2, float(ranges.sum())) * RAISED
        if statistic.sensitivity_l1 is not None:
            l1 = min(l1, max_rows * (statistic.sensitivity_l1 * RAISED + float(extra.sum())))
        head = None
        if statistic.sensitivity_head is not None:
            head = max_rows * (statistic.sensitivity_head * RAISED + float(np.linalg.norm(extra[:-1])))
        trace = None
        if statistic.sensitivity_trace is not None:
            if [(part.symmetric, part.off_diagonal) for part in statistic.parts] != [(True, math.sqrt(2))]:
                raise ValueError("eigenvalues are those of one symmetric matrix, released as svec")
            check_positive(sensitivity_trace=statistic.sensitivity_trace)
            # that of an entry off the diagonal, of which there are two, is extra / sqrt 2
            trace = max_rows * (statistic.sensitivity_trace * RAISED + math.sqrt(2) * float(extra.sum()))
        if not (0 < l2 < math.inf and 0 < l1 < math.inf):
            raise ValueError("the sensitivities of a statistic must be positive and finite")
        return cls(l2, l1, ranges, head, trace)


@dataclass(frozen=True, eq=False)
class Law:
    """Noise on a sum: its law, its size and its cost.

    Attributes
    ----------
    name : {"gaussian", "laplace", "linf", "spherical", "cylinder", "wishart"}
    axes : ndarray, shape (m,)
        Units of the norm, in which the difference of neighbours is at most 1.
    cost : float
        mu of a Gaussian, epsilon of the others.
    """

    name: str
    axes: np.ndarray
    cost: float

    @functools.cached_property
    def price(self) -> Pure | Gdp:
        """Its cost, of the measure that its noise has."""
        return Gdp(self.cost) if self.name == "gaussian" else Pure(self.cost)

    @functools.cached_property
    def sds(self) -> np.ndarray:
        """Noise sd of each coordinate, shape (m,)."""
        return self.axes * np.sqrt(_variances(self.name, len(self.axes))) / self.cost

    @functools.cached_property
    def sd(self) -> float:
        """Root mean square of `sds`; to the last bit their common value, if they have one."""
        sds = self.sds
        return float(sds[0] * math.sqrt(((sds / sds[0]) ** 2).sum() / len(sds)))

    def distance(self, difference: np.ndarray) -> float:
        """Norm of a difference in units of the axes: at most 1 between neighbours."""
        relative = difference / self.axes
        if self.name == "wishart":
            return float(np.abs(np.linalg.eigvalsh(relative[places(order_of(len(relative)))])).sum())
        if self.name == "cylinder":
            return float(max(np.linalg.norm(relative[:-1]), abs(relative[-1])))
        order = {"laplace": 1, "linf": math.inf}.get(self.name, 2)
        return float(np.linalg.norm(relative, order))


def _variances(name: str, m: int) -> np.ndarray:
    """Of the m coordinates, in units of their axes, at a cost of 1."""
    if name == "cylinder":
        return np.append(np.full(m - 1, m + 2.0), (m + 1) * (m + 2) / 3)
    if name == "wishart":
        return np.asarray((order_of(m) + 1) / svec_weights(order_of(m)) ** 2)
    one = {"gaussian": 1.0, "laplace": 2.0, "linf": (m + 1) * (m + 2) / 3, "spherical": m + 1.0}[name]
    return np.full(m, one)


def gaussian_law(sensitivity: Sensitivity, mu: float) -> Law:
    """Gaussian noise of one sd."""
    return Law("gaussian", np.full(len(sensitivity.ranges), sensitivity.l2), mu)


def pure_law(sensitivity: Sensitivity, epsilon: float, spherical: bool = False) -> Law:
    """The law of pure epsilon whose variances add up to least, the first of those that tie; or `spherical`.

    Laplace noise comes with one scale for all coordinates, from the L1 norm, or with scales of their own from
    the ranges r: sum r_j / b_j = epsilon at the least sum of b_j^2 for b_j = r_j^(1/3) sum r^(2/3) / epsilon.
    """
    ranges, m = sensitivity.ranges, len(sensitivity.ranges)
    if spherical:
        return Law("spherical", np.full(m, sensitivity.l2), epsilon)
    candidates = [
        ("laplace", np.full(m, sensitivity.l1)),
        ("laplace", np.cbrt(ranges) * np.sum(np.cbrt(ranges) ** 2) * RAISED),
        ("linf", ranges),
    ]
    if m <= MOST_SPHERICAL:
        candidates.append(("spherical", np.full(m, sensitivity.l2)))
        if sensitivity.head is not None:
            candidates.append(("cylinder", np.append(np.full(m - 1, sensitivity.head), ranges[-1])))
    if sensitivity.trace is not None and m <= MOST_WISHART:
        candidates.append(("wishart", svec_weights(order_of(m)) * sensitivity.trace))
    name, axes = min(candidates, key=lambda law: float(np.sum(_variances(law[0], m) * law[1] ** 2)))
    return Law(name, axes, epsilon)
