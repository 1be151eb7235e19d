"""The minimum of a penalised and tilted sum of losses, to a tolerance that is proved.

See docs/theory/objective.md#the-minimum-is-not-exact.

Privacy rests on how near to the exact minimum the answer lies, on any data and for any tilt. What is
certified is the gradient, by :mod:`dpstats.curator.solver`, which always gets there: no mark of failure
exists that could depend on the data.

*Rounding.* Rows a, weights w and signs are what floating point says they are, functions of the row alone.
With u = 2^-53: a margin of k products is off by at most (k + 4) u (|a| |t| + offset), its slope by `steepest`
times that and 8 u more. In a term of the gradient these come times w |a| and w |a|^2, at most 1 and
`longest`. Products, and sums of 1,024 rows in whatever order BLAS adds them, then of the 16 such sums of a
block, round a term at most 1,041 times and lose at most 1,042 u of the sum of the sizes, n; blocks are added
exactly (math.fsum), so that this holds however rows are cut into blocks, and whoever sums which of them. The
ridge, whose origin is o, the tilt, which is itself the float nearest to a point of its lattice, and the sum
of the three parts add at most 6 u (ridge |t - o| + |b| + n) and u ridge (|t| + |o|).
A step of the solver is rounded by u |t| and 4 u of itself, times the Hessian's bound ridge + n steepest
longest. As b = g - ridge (t - o) - (a vector no longer than n), the length of b is at most that of the
gradient g plus ridge (|t| + |o|) + n. So (*) of the solver holds with

    fixed = u (n (1064 + (k + 4) steepest offset) + 14 ridge |o|),
    growth = u (n (k + 5) steepest longest + 14 ridge),

its last term, 2^-40 of the gradient, taking the 10 u |g| that are left: **no bound on the tilt is needed**.

*Long answers.* The tolerance grows with the answer, t_a. Answers beyond the public length `farthest` are
therefore brought back to it, by the projection P on that ball: |P x - P y| is at most |x - y| times min(1,
farthest / min(|x|, |y|)). Let T(l) = 5 (fixed + growth l). The exact minimum t is within T(|t_a|) / ridge of
t_a. If |t_a| <= farthest, P t is as near to P t_a, and T(|t_a|) <= T(farthest). Else T(|t_a|) is at most
T(farthest) |t_a| / farthest, and |t| at least |t_a| (1 - q) with q = T(farthest) / (ridge farthest), which
must not exceed 1 %: P t_a is within T(farthest) / (ridge (1 - q)) of P t. Computing P loses 4 u farthest. So
`tau`, these and what rounding b to its lattice adds, bounds ridge |P t_a - P t| for every tilt, and P t is a
function of the exact minimum.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats._conversions import UNIT_ROUNDOFF
from dpstats.budget import Pure
from dpstats.curator.account import Price
from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Total, cells_of, gram
from dpstats.curator.law import RAISED, Law, Sensitivity, gaussian_law, pure_law
from dpstats.curator.release import Minimum
from dpstats.curator.solver import Point, Tolerance, solve
from dpstats.curator.tilt import Split, slack, split
from dpstats.curator.unit_rows import UnitRows
from dpstats.errors import BudgetError
from dpstats.families import MarginLoss

_AT_ONCE = 1024  # rows that BLAS sums, which stay in a core's cache; what rounding loses grows with them
PASSES = 10  # are made at least, so that time tells less
MOST_CONDITION = 1e9
"""Of the Hessian, by its public bounds: what Newton's steps, and the proof above, can do with."""

MOST_COLUMNS = 4096
"""For which 2^-40 covers the rounding of an inner product, (k + 12) 2^-53."""

_FARTHEST = 32.0  # root mean square lengths of a tilt; answers to longer ones, chance below e^-40, are cut


@dataclass(frozen=True, repr=False)
class Slope:
    """Sums at a point over some blocks, which are private: the pull of the losses in each block, shape (k,),
    and of the Hessian of all the upper triangle, in cells. Slopes of different blocks add up without
    rounding, in whatever order.
    """

    pulls: tuple[np.ndarray, ...]
    hessian: Total

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.hessian.count

    def __add__(self, other: "Slope") -> "Slope":
        return Slope((*self.pulls, *other.pulls), self.hessian + other.hessian)


Slopes = Callable[[np.ndarray], Slope]


class Objective:
    """J of :mod:`dpstats.curator.tilt` for one design: what it costs, what its noise is, and its minimum.

    Parameters
    ----------
    design : PublicDesign
    loss : MarginLoss
    ridge : float
        Positive, on the scale of the sum of losses: J = sum f + ridge / 2 |t - origin|^2 + b't.
    origin : array_like, shape (k,), optional
        Public; zeros if left out. It moves the mean of the tilt by a public vector, -ridge origin, and
        nothing else.
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
        origin: np.ndarray | None = None,
        **rows: Any,
    ) -> None:
        if not (math.isfinite(ridge) and ridge > 0):
            raise ValueError(f"ridge must be positive and finite, got {ridge!r}")
        if len(design.names) > MOST_COLUMNS:
            raise BudgetError(f"at most {MOST_COLUMNS} columns can be certified, got {len(design.names)}")
        self.rows = UnitRows(design, **rows)
        self.loss, self.ridge, self.tilted, self._spherical = loss, float(ridge), tilted, spherical
        self.origin = np.zeros(self.k) if origin is None else np.asarray(origin, dtype=float)
        if self.origin.shape != (self.k,) or not np.isfinite(self.origin).all():
            raise ValueError(f"origin must be {self.k} finite numbers")
        self._away = float(np.linalg.norm(self.origin))
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
        far = 2 * rows * RAISED
        if not pure:
            return Law("gaussian", np.full(self.k, far), cost.tilt * 2 * rows)
        return self._pure_law(far, far * self.rows.entries, cost.tilt * rows)

    def tolerance(self, n: int) -> Tolerance:
        """Of the gradient over n rows; proved in the module."""
        k, steepest, rows = self.k, self.loss.steepest, self.rows
        return Tolerance(
            fixed=UNIT_ROUNDOFF
            * (n * (1064 + (k + 4) * steepest * rows.most_offset) + 14 * self.ridge * self._away),
            growth=UNIT_ROUNDOFF * (n * (k + 5) * steepest * rows.longest + 14 * self.ridge),
        )

    def smooth(self, n: int) -> float:
        """Largest eigenvalue that the Hessian over n rows can have."""
        return (self.ridge + n * self.loss.steepest * self.rows.longest) * RAISED

    def farthest(self, n: int, tilt: Law | None) -> float:
        """Public bound on the length of answers.

        At the minimum ridge (t - o)'t + b't = sum w (-f') y a't <= n (pull + |offset|), which bounds |t|.
        """
        length = 0.0 if tilt is None else _FARTHEST * float(np.linalg.norm(tilt.sds))
        pulled = math.sqrt(n * (self.loss.pull + self.rows.most_offset) / self.ridge)
        return length / self.ridge + self._away + pulled + 1

    def tau(self, n: int, tilt: Law | None) -> float:
        """Bound on ridge times the distance of the answer from the exact one; proved in the module."""
        farthest = self.farthest(n, tilt)
        tau = 1.02 * self.tolerance(n).of_answer(farthest) + 4 * UNIT_ROUNDOFF * self.ridge * farthest
        if tilt is None:
            return tau
        # no cell of the lattice is wider, see `mechanisms`
        cells = np.maximum(np.minimum(tilt.axes, tilt.sds) * 2.0**-40, tilt.sds * 2.0**-48)
        return tau + float(np.linalg.norm(cells))

    def _check(self, n: int) -> None:
        """Refuse what no floats can certify on all data, whatever the tilt."""
        if self.smooth(n) > MOST_CONDITION * self.ridge or (
            self.tau(n, None) > 0.01 * self.ridge * self.farthest(n, None)
        ):
            raise BudgetError(
                f"the penalty is too small for {n} rows: floats could not certify the minimum on all data. "
                f"Give c = {self.smooth(n) / (2 * n * MOST_CONDITION):.2g} or more, and bound any offset by "
                "less than a million"
            )

    def rest_law(self, cost: Split, rows: int, tau: float, pure: bool) -> Law:
        """Of the noise on the minimum.

        With a tilt it hides what separates the answer from the exact minimum, 2 tau / ridge. Without one it
        hides what replacing rows moves the minimum by, 2 rows / ridge (J is strongly convex, and its
        gradient moves by 2 rows at most; Chaudhuri, Monteleoni & Sarwate 2011), and the same.
        """
        l2 = ((0.0 if self.tilted else 2.0 * rows * RAISED) + 2 * tau) / self.ridge * RAISED
        ranges = np.full(self.k, l2)
        if pure:
            return self._pure_law(l2, ranges, cost.rest)
        return gaussian_law(Sensitivity(l2, math.sqrt(self.k) * l2, ranges), cost.rest)

    def _pure_law(self, l2: float, ranges: np.ndarray, epsilon: float) -> Law:
        l1 = min(math.sqrt(self.k) * l2, float(ranges.sum())) * RAISED
        return pure_law(Sensitivity(l2, l1, np.minimum(ranges, l2)), epsilon, self._spherical)

    def planned(self, price: Price, n: int, rows: int) -> "Planned":
        """With the noise, of the measure of the cost, that hides the replacement of `rows` of n rows.

        Raises
        ------
        BudgetError
            If the penalty is too small, for the cost or for so many rows.
        """
        self._check(n)
        pure = isinstance(price, Pure)
        paid = self.split(price.amount, rows, pure)
        tilt = self.tilt_law(paid, rows, pure) if self.tilted else None
        rest = self.rest_law(paid, rows, self.tau(n, tilt), pure)
        return Planned(self, tilt, rest, price, n)

    def minimum(self, slopes: Slopes, n: int, tilt: np.ndarray, farthest: float) -> np.ndarray:
        """P t_a of the module, shape (k,)."""
        made = 0

        def at(params: np.ndarray) -> Point:
            nonlocal made
            made += 1
            return self.at(slopes, params, tilt)

        params = solve(at, self.k, self.tolerance(n), self.smooth(n))
        while made < PASSES:
            at(params)
        return params * min(1.0, farthest / max(float(np.linalg.norm(params)), farthest))

    def at(self, slopes: Slopes, params: np.ndarray, tilt: np.ndarray) -> Point:
        """Gradient and Hessian at `params`, by one pass over the rows."""
        k, slope = self.k, slopes(params)
        pulls = np.array([math.fsum(column) for column in zip(*slope.pulls, strict=True)] or np.zeros(k))
        gradient = self.ridge * (params - self.origin) + tilt - pulls
        upper = np.triu(slope.hessian.sums(self._cells))
        return Point(params, gradient, upper + np.triu(upper, 1).T + self.ridge * np.eye(k))

    def slope(self, params: np.ndarray, blocks: Iterable[Block], scratch: Scratch | None = None) -> Slope:
        """Sums over some of the rows: a pure function, which may run anywhere."""
        scratch, k = scratch or Scratch(), self.k
        found = Slope((), Total.of(np.zeros((k, k)), self._cells, 0))
        for block in blocks:
            rows = self.rows.read(block, scratch)
            slope, curvature = self.loss.derivatives(rows.margin(params @ rows.signed))
            pull = _summed(rows.signed, slope * rows.weight)
            root = np.sqrt(curvature * rows.weight)
            hessian = gram(np.multiply(rows.signed, root, out=scratch("factors", k, len(root))))
            found += Slope((pull,), Total.of(hessian, self._cells, len(slope)))
        return found

    @property
    def _cells(self) -> np.ndarray:
        """Of the lattice of Hessians, which only choose the steps: what they add up to is in no bound."""
        return cells_of(np.array(self.loss.steepest * self.rows.longest * RAISED))


def _summed(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """``columns @ weights``, as the notes on rounding have it; shape (k,)."""
    total = np.zeros(len(columns))
    for start in range(0, len(weights), _AT_ONCE):
        total += columns[:, start : start + _AT_ONCE] @ weights[start : start + _AT_ONCE]
    return total


@dataclass(frozen=True)
class Planned:
    """An objective over n rows with the laws of its tilt and of the noise on its minimum, and their cost."""

    objective: Objective
    tilt: Law | None
    rest: Law
    price: Price
    n: int

    @property
    def laws(self) -> tuple[Law, ...]:
        return (self.rest,) if self.tilt is None else (self.tilt, self.rest)

    def exact(self, slopes: Slopes, tilt: np.ndarray) -> np.ndarray:
        """The minimum for this tilt, whose distance from the exact one the noise hides."""
        return self.objective.minimum(slopes, self.n, tilt, self.objective.farthest(self.n, self.tilt))

    def minimum(self, params: np.ndarray, cost: Price) -> Minimum:
        """What is released."""
        tilt = self.tilt
        return Minimum(
            params=params,
            ridge=self.objective.ridge,
            tilt_law="none" if tilt is None else tilt.name,
            tilt_sds=np.zeros(self.objective.k) if tilt is None else tilt.sds,
            law=self.rest.name,
            sds=self.rest.sds,
            cost=cost,
            n=self.n,
        )

    def recorded(
        self, slopes: Slopes, exact: np.ndarray, params: np.ndarray
    ) -> tuple[np.ndarray, float, Law]:
        """What tells neighbours apart: the tilts that would have led both to this answer, or their minima."""
        if self.tilt is None:
            return exact, float(self.rest.axes.max()), self.rest
        needed = -self.objective.at(slopes, params, np.zeros(self.objective.k)).gradient
        return needed, float(self.tilt.axes.max()), self.tilt
