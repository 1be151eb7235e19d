"""Tapers of bounded martingale scores: where the integrands of a family fade, and their integrals.

A taper g falls from 1 to 0 as the cumulative hazard H runs from the start of the cut to its end c; h1* is the
slope of the log hazard (:mod:`dpstats.families.martingale`). All is in closed form but for the
normal's H and its integral, which are tabulated. A family names its taper in its record.
"""

import functools
import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from dpstats.families.links import softplus

# Below the first node H is under 1e-23; beyond the last (H = 75.4) no cut may reach. Cubic interpolation of
# values and slopes errs by at most step^4 / 384 times the largest fourth derivative, which is below 0.3 for H
# and for its integral: 2e-13.
_BEFORE, _BEYOND, _STEP = -10.0, 12.0, 1 / 256
_CELLS = round((_BEYOND - _BEFORE) / _STEP) + 1
_ROOT = 0.5 * math.log(2 * math.pi)


@functools.cache
def _cubics() -> tuple[np.ndarray, np.ndarray]:
    """Of H and of its integral, for each cell a polynomial in the share of it that z has passed."""
    nodes = _BEFORE + _STEP * np.arange(_CELLS + 1)
    offsets, weights = np.polynomial.legendre.leggauss(6)
    inner = (nodes[:-1] + nodes[1:])[:, None] / 2 + _STEP / 2 * offsets
    integral = np.cumsum(np.append(0.0, -special.log_ndtr(-inner) @ weights * _STEP / 2))
    hazard = -special.log_ndtr(-nodes)
    slopes = ((hazard, _normal_lam(nodes, hazard)), (integral, hazard))
    splines = (scipy.interpolate.CubicHermiteSpline(nodes, *each) for each in slopes)
    first, second = (np.ascontiguousarray(spline.c[::-1].T * _STEP ** np.arange(4.0)) for spline in splines)
    return first, second


def _interpolated(cubics: np.ndarray, z: ArrayLike) -> np.ndarray:
    """Cells are equal, so that none is searched for."""
    passed = (np.clip(z, _BEFORE, _BEYOND) - _BEFORE) / _STEP
    with np.errstate(invalid="ignore"):
        cell = passed.astype(np.intp)  # anything where z is NaN, and so is what is returned
    share = passed - cell
    found = np.take(cubics, cell, axis=0, mode="clip")
    constant, first, second, third = (found[..., power] for power in range(4))
    return np.asarray(((third * share + second) * share + first) * share + constant)


def normal_hazard(z: ArrayLike) -> np.ndarray:
    """H(z) = -log(1 - Phi(z)), for z of at most 12; exact to 1e-12, in a third of the time of log_ndtr.

    Parameters
    ----------
    z : array_like
    """
    return _interpolated(_cubics()[0], z)


def normal_hazard_integral(z: ArrayLike) -> np.ndarray:
    """Integral of H up to z, for z of at most 12; exact to 1e-12.

    Parameters
    ----------
    z : array_like
    """
    return _interpolated(_cubics()[1], z)


class Integrals(NamedTuple):
    """int g dH, int g h1* dH and int z g h1* dH up to z."""

    hazard: np.ndarray
    location: np.ndarray
    moment: np.ndarray


class At(NamedTuple):
    """g, h1* and the integrals at min(z, stop)."""

    g: np.ndarray
    slope: np.ndarray
    integrals: Integrals


class Taper(ABC):
    """g and its integrals for one family, cut at cumulative hazard c.

    Parameters
    ----------
    c : float
        Cumulative hazard beyond which a row is no longer observed; positive.
    floor : float
        z below which h1* keeps its value; only the normal needs one, the others' h1* is at most 1.

    Attributes
    ----------
    start, stop : float
        z at which the taper leaves 1 and reaches 0.
    steepest : float
        Largest h1*.
    """

    start: float
    stop: float
    steepest: float = 1.0

    def __init__(self, c: float, floor: float = -math.inf) -> None:
        self.c, self.floor = c, floor
        self._set_ends()
        at = np.array([self.start])
        flat, falling = (part(at, self._hazard(at)) for part in (self._flat, self._falling))
        self._offsets = tuple(float(a[0] - b[0]) for a, b in zip(flat, falling, strict=True))

    @abstractmethod
    def _set_ends(self) -> None: ...

    @abstractmethod
    def _hazard(self, z: np.ndarray) -> np.ndarray:
        """H, which all that follows is told beside z."""

    @abstractmethod
    def _flat(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        """Integrals with g = 1."""

    @abstractmethod
    def _falling(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        """Antiderivatives with g's falling branch."""

    @abstractmethod
    def _branch(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        """g on its falling branch, and more than 1 before it."""

    @abstractmethod
    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        """h1*, positive, at most `steepest` and never increasing."""

    def at(self, z: np.ndarray) -> At:
        """All of it, for one evaluation of H."""
        z = np.minimum(z, self.stop)
        hazard = self._hazard(z)
        # the root of g is taken, and rounding makes it -4e-16 at the end of some cuts
        g = np.clip(self._branch(z, hazard), 0.0, 1.0)
        return At(g, self._slope(z, hazard), self._integrals(z, hazard))

    def integrals(self, z: np.ndarray) -> Integrals:
        """Integrals up to min(z, stop)."""
        z = np.minimum(z, self.stop)
        return self._integrals(z, self._hazard(z))

    def iterated(self, z: np.ndarray) -> np.ndarray:
        """Integral of int g h1* dH up to z, which is int (z - u) g h1* dH(u); of z up to `stop`."""
        hazard = self._hazard(z)
        result, late = self._flat_iterated(z, hazard), np.nonzero(z > self.start)
        if late[0].size:
            _, location, moment = self._integrals(z[late], hazard[late])
            result[late] = z[late] * location - moment
        return result

    def _flat_iterated(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        """The same with g = 1: int h1* dH is the hazard rate, and its integral H."""
        return hazard

    def _integrals(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        result, late = self._flat(z, hazard), np.nonzero(z > self.start)
        if late[0].size:
            falling = self._falling(z[late], hazard[late])
            for total, part, offset in zip(result, falling, self._offsets, strict=True):
                total[late] = part + offset
        return result


class SEVTaper(Taper):
    """g falls linearly in H = e^z from H = c/2 to c; then int g dH <= 3c/4."""

    def _set_ends(self) -> None:
        self.start, self.stop = float(np.log(self.c / 2)), float(np.log(self.c))

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return np.exp(z)

    def _flat(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        return Integrals(hazard.copy(), hazard.copy(), hazard * (z - 1))

    def _falling(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        total = 2 * hazard - hazard**2 / self.c
        return Integrals(total, total.copy(), 2 * hazard * (z - 1) - hazard**2 * (z - 0.5) / self.c)

    def _branch(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return 2 - hazard * (2 / self.c)

    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return np.ones_like(z)


class LogisticTaper(Taper):
    """g falls linearly in S = 1 - F from S = 3 e^-c (at most .95) to e^-c."""

    def _set_ends(self) -> None:
        end = float(np.exp(-self.c))
        begin = min(3 * end, 0.95)
        self._end, self._rate = end, 1 / (begin - end)
        self.start, self.stop = float(np.log(1 / begin - 1)), float(np.log(np.expm1(self.c)))

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return softplus(z)

    def _flat(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        cdf = -np.expm1(-hazard)
        return Integrals(hazard.copy(), cdf, z * cdf - hazard)

    def _falling(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        # g = b (S - end). In S nothing cancels, however small end is: dH = F dz, S' = -S F, G' = -S, so that
        # int S dH = -S, int S^2 dH = -S^2/2, int z S dH = -z S - G and int z S^2 dH = (S - G - z S^2) / 2
        b, end = self._rate, self._end
        survival, above = np.exp(-hazard), softplus(-z)
        return Integrals(
            -b * (survival + end * hazard),
            -b * survival * (survival / 2 - end),
            b * ((survival - above - z * survival**2) / 2 + end * (z * survival + above)),
        )

    def _branch(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return (np.exp(-hazard) - self._end) * self._rate

    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return np.exp(-hazard)


class NormalTaper(Taper):
    """g falls linearly in z from H = c/2 to c.

    With H' = lam, lam' = h1* lam and (z lam)' = (1 + z h1*) lam everything but int z dH = z H - int H dz is
    closed form; that integral is tabulated.
    """

    def _set_ends(self) -> None:
        self.start, self.stop = (-float(special.ndtri_exp(-hazard)) for hazard in (self.c / 2, self.c))
        self._rate = 1 / (self.stop - self.start)
        if self.stop > _BEYOND:
            raise ValueError("the normal has no cut beyond a cumulative hazard of 75, where its table ends")
        if not math.isfinite(self.floor):
            raise ValueError("the normal needs a finite floor: its h1* is not bounded")
        self.floor = min(self.floor, self.start)
        at = np.array([self.floor])
        hazard = self._hazard(at)
        self._frozen, self._lam, self._first = (
            float(each[0]) for each in (hazard, _normal_lam(at, hazard), _first_moment(at, hazard))
        )
        self._moment = self.floor * self._lam - self._frozen
        self.steepest = self._lam - self.floor
        # of H, h1* being frozen, above the floor
        self._line = self._moment - self.steepest * self._first, self.steepest * self._frozen - self._lam

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return normal_hazard(z)

    def _flat(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        late, late_hazard = np.maximum(z, self.floor), np.maximum(hazard, self._frozen)
        lam = _normal_lam(late, late_hazard)
        frozen = np.full_like(z, self._first)  # int z dH below the floor
        early = np.nonzero(z < self.floor)
        frozen[early] = _first_moment(z[early], hazard[early])
        return Integrals(
            hazard.copy(),
            self.steepest * np.minimum(hazard, self._frozen) + (lam - self._lam),
            self.steepest * frozen + (late * lam - late_hazard - self._moment),
        )

    def _flat_iterated(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        constant, slope = self._line
        result, early = hazard + (constant + slope * z), np.nonzero(z < self.floor)
        result[early] = self.steepest * normal_hazard_integral(z[early])
        return result

    def _falling(self, z: np.ndarray, hazard: np.ndarray) -> Integrals:
        lam = _normal_lam(z, hazard)
        first = _first_moment(z, hazard)
        moment = z * lam - hazard  # int z h1* dH
        return Integrals(
            self._rate * (self.stop * hazard - first),
            self._rate * (self.stop * lam - moment),
            self._rate * (self.stop * moment - z**2 * lam + 2 * first),
        )

    def _branch(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        return (self.stop - z) * self._rate

    def _slope(self, z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
        """h1*, which keeps its value below the floor."""
        z, hazard = np.maximum(z, self.floor), np.maximum(hazard, self._frozen)
        return _normal_lam(z, hazard) - z


def _first_moment(z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
    """int z dH = z H - int H dz."""
    return z * hazard - normal_hazard_integral(z)


def _normal_lam(z: np.ndarray, hazard: np.ndarray) -> np.ndarray:
    """lam = phi / (1 - Phi), with H known; z is at most 12, so that little cancels."""
    return np.exp(hazard - z**2 / 2 - _ROOT)
