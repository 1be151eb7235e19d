"""The minimum of a penalised and tilted sum of losses, found to a tolerance that is proved (spec/erm.md A
(2)).

Privacy rests on how near to the exact minimum the answer lies, on any data. What is certified is the
gradient: its computed length, plus a bound on the rounding of the computation, is at most
`Tolerance.total`. No number of the solver is used but the answer, no start comes from the data, and the
passes that are always made are a public number. Should they not be enough, more are made, up to a public
cap: Newton steps that halve until they lower a strongly convex objective get there on any data, so that
only time could tell. If the cap is met nevertheless, nothing is released but that mark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator.blocks import Blocks, PublicDesign, Scratch
from dpstats.curator.law import Law, Sensitivity, gaussian_law, pure_law
from dpstats.curator.release import Minimum
from dpstats.curator.tilt import Split, slack, split
from dpstats.curator.unit_rows import UnitRows
from dpstats.families import MarginLoss

__all__ = ["MOST_PASSES", "PASSES", "Objective", "Planned", "Tolerance"]

PASSES, MOST_PASSES = 10, 2000
_U = 2.0**-53
_RAISED = 1 + 1e-9
_FARTHEST = 100  # tilts longer than so many times their usual length do not occur: chance below exp(-100)


class Point(NamedTuple):
    """The objective at `params`: value, gradient and Hessian."""

    params: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: np.ndarray

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))


@dataclass(frozen=True)
class Tolerance:
    """Public bounds on the length of the gradient at the answer.

    Attributes
    ----------
    computed : float
        Of the gradient as computed; what the solver must reach.
    rounding : float
        Of the difference to the true one, as long as params are not longer than `farthest`.
    lattice : float
        Of what rounding the tilt to its lattice adds.
    farthest : float

    Notes
    -----
    Rows a, weights w and signs are what floating point says they are, functions of the row
    alone. With u = 2^-53: a margin of k products is off by at most (k + 2) u |a| |t| and the offset's
    rounding, its slope by `steepest` times that and 8 u more, the terms of the gradient by w |a| <= 1 times
    that. Products and numpy's pairwise sums over a block (at most 64 terms one after the other, as its
    leaves hold 8 sums of 16, then 6 levels) lose at most 64 u of the sum of the sizes, n, and blocks are
    added exactly (math.fsum). The ridge and the tilt add three roundings of their sizes.

    At the minimum ridge |t|^2 + b't = sum w (-f') y a't <= n (pull + |offset|), which bounds |t|.
    """

    computed: float
    rounding: float
    lattice: float
    farthest: float

    @property
    def total(self) -> float:
        """tau."""
        return self.computed + self.rounding + self.lattice

    @classmethod
    def of(
        cls, n: int, rows: UnitRows, loss: MarginLoss, ridge: float, longest_tilt: float, lattice: float
    ) -> Tolerance:
        """For n rows and tilts of at most this length."""
        pull = (loss.pull + rows.most_offset) * n
        farthest = 2 * (longest_tilt / ridge + math.sqrt(pull / ridge)) + 1
        margin = (rows.k + 4) * (rows.longest * farthest + rows.most_offset)
        rounding = _U * (n * (72 + loss.steepest * margin) + 4 * (ridge * farthest + longest_tilt))
        return cls(4 * rounding, rounding, lattice, farthest)


class Objective:
    """J of :mod:`dpstats.curator.tilt` for one design: what it costs, what its noise is, and its minimum.

    Parameters
    ----------
    design : PublicDesign
    loss : MarginLoss
    ridge : float
        Positive, on the scale of the sum of losses: J = sum f + ridge / 2 |t|^2 + b't.
    tilted : bool
        Whether the objective is tilted; else the noise is put on its minimum.
    spherical : bool
        Whether noise of pure epsilon must be spherical.
    **rows
        The public map, see :class:`UnitRows`.
    """

    def __init__(
        self,
        design: PublicDesign,
        *,
        loss: MarginLoss,
        ridge: float,
        tilted: bool = True,
        spherical: bool = False,
        **rows: Any,
    ) -> None:
        if not (math.isfinite(ridge) and ridge > 0):
            raise ValueError(f"ridge must be positive and finite, got {ridge!r}")
        self.rows = UnitRows(design, **rows)
        self.loss, self.ridge, self.tilted, self._spherical = loss, float(ridge), tilted, spherical
        self.slack = slack(self.ridge, loss.steepest * self.rows.longest)

    @property
    def k(self) -> int:
        return self.rows.k

    def split(self, cost: float, rows: int, pure: bool) -> Split:
        """What a cost pays for; without a tilt, all of it for the noise on the minimum."""
        return split(cost, self.slack, rows, pure) if self.tilted else Split(0.0, cost)

    def tilt_law(self, cost: Split, rows: int, pure: bool) -> Law:
        """Of b, for neighbours that differ in `rows` rows: in each by two vectors w a f', none longer than 1.

        The rate of a Gaussian tilt is for one such vector; what replacing rows costs in all is in `split`.
        """
        far = 2 * rows * _RAISED
        if not pure:
            return Law("gaussian", np.full(self.k, far), cost.tilt * 2 * rows)
        return self._pure_law(far, far * self.rows.entries, cost.tilt * rows)

    def tolerance(self, n: int, tilt: Law | None) -> Tolerance:
        """For the tilt whose law this is."""
        if tilt is None:
            return Tolerance.of(n, self.rows, self.loss, self.ridge, 0.0, 0.0)
        length = _FARTHEST * float(np.linalg.norm(tilt.sds)) * max(1.0, math.sqrt(self.k))
        cells = np.minimum(tilt.axes, tilt.sds) * 2.0**-40  # no cell of the lattice is wider
        return Tolerance.of(n, self.rows, self.loss, self.ridge, length, float(np.linalg.norm(cells)))

    def rest_law(self, cost: Split, rows: int, tolerance: Tolerance, pure: bool) -> Law:
        """Of the noise on the minimum.

        With a tilt it hides what separates the answer from the exact minimum, 2 tau / ridge. Without one it
        hides what replacing rows moves the minimum by, 2 rows / ridge (J is strongly convex, and its
        gradient moves by 2 rows at most; Chaudhuri, Monteleoni & Sarwate 2011), and the same.
        """
        moved = (0.0 if self.tilted else 2.0 * rows * _RAISED) + 2 * tolerance.total
        l2 = moved / self.ridge * _RAISED
        ranges = np.full(self.k, l2)
        if pure:
            return self._pure_law(l2, ranges, cost.rest)
        return gaussian_law(Sensitivity(l2, math.sqrt(self.k) * l2, ranges), cost.rest)

    def _pure_law(self, l2: float, ranges: np.ndarray, epsilon: float) -> Law:
        l1 = min(math.sqrt(self.k) * l2, float(ranges.sum())) * _RAISED
        return pure_law(Sensitivity(l2, l1, np.minimum(ranges, l2)), epsilon, self._spherical)

    def planned(self, cost: float, n: int, rows: int, pure: bool) -> Planned:
        """With the noise that hides the replacement of `rows` of n rows at this cost."""
        paid = self.split(cost, rows, pure)
        tilt = self.tilt_law(paid, rows, pure) if self.tilted else None
        tolerance = self.tolerance(n, tilt)
        return Planned(self, tilt, self.rest_law(paid, rows, tolerance, pure), tolerance)

    def minimum(self, blocks: Blocks, tilt: np.ndarray, tolerance: Tolerance) -> np.ndarray | None:
        """t_a, certified; None if the cap on passes is met or the answer lies beyond what was bounded."""
        point = self.at(blocks, np.zeros(self.k), tilt)
        least, step, length = point.size, _newton(point), 1.0
        best = point
        for made in range(MOST_PASSES):
            if made >= PASSES and _certified(best, tolerance):
                break
            trial = self.at(blocks, point.params + length * step, tilt)
            finite = math.isfinite(trial.value) and np.isfinite(trial.gradient).all()
            falls = trial.value <= point.value + 1e-4 * length * float(point.gradient @ step)
            if finite and (falls or trial.size <= least / 2 or trial.size <= tolerance.computed):
                point, length = trial, 1.0
                step = _newton(point)
                best = trial if trial.size < best.size else best
                least = min(least, trial.size)
            else:
                length = length / 2 if length > 2.0**-40 else 1.0
        return best.params if _certified(best, tolerance) else None

    def at(self, blocks: Blocks, params: np.ndarray, tilt: np.ndarray) -> Point:
        """The objective at `params`, by one pass over the rows."""
        scratch, k = Scratch(), self.k
        value, hessian = 0.0, np.zeros((k, k))
        sums: list[np.ndarray] = []
        for block in blocks:
            rows = self.rows.read(block, scratch, params)
            losses, slope, curvature = self.loss.derivatives(rows.margin)
            value += float(losses @ rows.weight)
            terms = np.multiply(rows.signed, slope * rows.weight, out=scratch("terms", k, len(slope)))
            sums.append(np.add.reduce(terms, axis=1))
            np.multiply(rows.signed, np.sqrt(curvature * rows.weight), out=terms)
            hessian += terms @ terms.T
        pulls = np.array([math.fsum(column) for column in zip(*sums, strict=True)]) if sums else np.zeros(k)
        gradient = self.ridge * params + tilt - pulls
        value += self.ridge / 2 * float(params @ params) + float(tilt @ params)
        return Point(params, value, gradient, hessian + self.ridge * np.eye(k))


@dataclass(frozen=True)
class Planned:
    """An objective with the laws of its tilt and of the noise on its minimum, and how exact that must be."""

    objective: Objective
    tilt: Law | None
    rest: Law
    tolerance: Tolerance

    @property
    def laws(self) -> tuple[Law, ...]:
        return (self.rest,) if self.tilt is None else (self.tilt, self.rest)

    def minimum(self, params: np.ndarray | None, cost: float, n: int) -> Minimum:
        """What is released; None if nothing was certified."""
        k, tilt = self.objective.k, self.tilt
        return Minimum(
            params=np.zeros(k) if params is None else params, solved=params is not None,
            ridge=self.objective.ridge, tilt_law="none" if tilt is None else tilt.name,
            tilt_sds=np.zeros(k) if tilt is None else tilt.sds, law=self.rest.name, sds=self.rest.sds,
            cost=cost, n=n,
        )  # fmt: skip

    def recorded(
        self, blocks: Blocks, exact: np.ndarray, params: np.ndarray
    ) -> tuple[np.ndarray, float, Law]:
        """What tells neighbours apart: the tilts that would have led both to this answer, or their minima."""
        if self.tilt is None:
            return exact, float(self.rest.axes.max()), self.rest
        needed = -self.objective.at(blocks, params, np.zeros(self.objective.k)).gradient
        return needed, float(self.tilt.axes.max()), self.tilt


def _newton(point: Point) -> np.ndarray:
    step: np.ndarray = -np.linalg.solve(point.hessian, point.gradient)
    return step


def _certified(point: Point, tolerance: Tolerance) -> bool:
    near = float(np.linalg.norm(point.params)) <= tolerance.farthest
    return bool(near and point.size <= tolerance.computed)
