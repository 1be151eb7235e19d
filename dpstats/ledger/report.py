"""The report of a ledger: what its charges amount to, in every notion of privacy.

The tightest bounds are those that can be proved of a list of charges whose amounts had been fixed in advance.
A charge of pure epsilon is no worse than randomised response, whose log likelihood ratio is +epsilon or
-epsilon, and one of (epsilon, delta) no worse than the same with everything revealed with probability delta
(Kairouz, Oh & Viswanath 2017, Theorem 3.2). Gaussian charges are one Gaussian of mu = sqrt(sum mu_i^2) (Dong,
Roth & Su 2022, Corollary 2). With l the sum of the responses' log ratios, the list has exactly

    delta(E) = E_l[delta_mu(E - l)] + (probability of revealing),

delta_mu being the dual curve of the Gaussian. A rho of unknown noise has no worst pair; it enters by its
conversion. All roundings go up.
"""

import functools
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from scipy import special

from dpstats import _conversions as convert
from dpstats._arguments import Axes, axes, beside, number, shown
from dpstats._private import forgetful
from dpstats.budget import LEAST, LEAST_DELTA, MOST, Approx, Budget, Gdp, Pure, Zcdp, stated_delta
from dpstats.budget.rules import Charge, down, exact, root_up, to_text, up
from dpstats.errors import SpecificationError
from dpstats.ledger.store import Entry

_POINTS = 2**13  # of the distribution of l; more are merged on a grid
_KINDS = 64  # different epsilons; more are rounded up by at most 0.5 %
_NEVER = 1e-25  # probability that may be counted as revealing everything
_ULP = 2.0**-50  # relative; a product, a sum and a float that stands for a decimal lose less together
_GUARD = 1 + 2.0**-36  # covers the rounding of sums and products of up to 2^16 positive numbers
_Kind = TypeVar("_Kind", Pure, Zcdp, Gdp)


@dataclass(frozen=True)
class PooledCharges:
    """Charges pooled by kind.

    Attributes
    ----------
    epsilons : Counter
        Epsilons of pure charges, and of (epsilon, delta) charges of unknown noise.
    square : Fraction
        Sum of mu squared over Gaussian charges.
    rho : Fraction
        Sum over zCDP charges of unknown noise.
    delta : Fraction
        Sum over (epsilon, delta) charges of unknown noise.
    """

    epsilons: Counter[float]
    square: Fraction
    rho: Fraction
    delta: Fraction

    @classmethod
    def of(cls, charges: Iterable[Charge]) -> Self:
        """Pool `charges`."""
        epsilons: Counter[float] = Counter()
        square = rho = delta = Fraction(0)
        for charge in charges:
            promise = charge.promise
            if promise.gaussian and promise.square is not None:
                square += promise.square
            elif promise.pair is not None:
                epsilons[float(promise.pair[0])] += 1
                delta += promise.pair[1]
            elif promise.rho is not None:
                rho += promise.rho
        return cls(epsilons, square, rho, delta)

    def to_pure(self) -> Pure | None:
        """Sum of epsilon; None if a charge promises no pure epsilon, or there is none."""
        if self.square or self.rho or self.delta or not self.epsilons:
            return None
        return _told(Pure, up(self._sum(1)))

    def to_zcdp(self) -> Zcdp | None:
        """Sum of rho; None if a charge promises no rho, or there is none."""
        rho = self.rho + self.square / 2 + self._sum(2) / 2
        return None if self.delta or not rho else _told(Zcdp, up(rho))

    def to_gdp(self) -> Gdp | None:
        """Root of the sum of mu squared; None if a charge promises no mu, or there is none."""
        pure = sum((k * exact(convert.mu_of_pure(e)) ** 2 for e, k in self.epsilons.items()), Fraction(0))
        square = self.square + pure
        return None if self.delta or self.rho or not square else _told(Gdp, root_up(square))

    def epsilon(self, delta: float) -> float:
        """Epsilon of the whole list at `delta`; inf where only a larger delta is promised."""
        left = down(exact(delta) - self.delta)
        if left < 0:
            return math.inf
        pure = up(self._sum(1))
        if not self.square and not self.rho and (pure == 0 or left == 0):
            return pure
        if left < LEAST_DELTA:
            return math.inf
        if self.rho:
            rho = self.rho + self.square / 2
            known = PooledCharges(self.epsilons, self.square, Fraction(0), Fraction(0))
            bounds = (
                pure + convert.epsilon_of_zcdp(up(rho), left),
                convert.epsilon_of_zcdp(up(rho + self._sum(2) / 2), left),
                known.epsilon(left / 2) + convert.epsilon_of_zcdp(up(self.rho), left / 2),
            )
            return min(bounds) * (1 + 1e-15)
        mu = root_up(self.square)
        most = pure if mu == 0 else (pure + convert.epsilon_of_mu(mu, left)) * (1 + 1e-15)
        return min(most, _mixture(self.epsilons, mu, left, most)) if pure else most

    def _sum(self, power: int) -> Fraction:
        return sum((k * exact(e) ** power for e, k in self.epsilons.items()), Fraction(0))


def _told(kind: type[_Kind], amount: float) -> _Kind | None:
    """The budget of a sum: the least there is for one that is less, and none for more than any."""
    return kind(max(amount, LEAST)) if amount <= MOST else None


def _mixture(epsilons: Counter[float], mu: float, delta: float, high: float) -> float:
    """Smallest epsilon of responses and a Gaussian, by bisection below a valid `high`."""
    points, weights, lost = losses(tuple(sorted(epsilons.items())))
    allowed = delta / _GUARD - lost * _GUARD

    def holds(epsilon: float) -> bool:
        return float(weights @ hockey_stick(epsilon - points, mu)) <= allowed

    if allowed <= 0:
        return high
    return 0.0 if holds(0.0) else convert.bisected(holds, high, LEAST)


def hockey_stick(epsilon: np.ndarray, mu: float) -> np.ndarray:
    """delta_mu(epsilon), rounded up, for epsilon of any sign, shape (m,); mu = 0 is no release at all."""
    if mu == 0:
        return -np.expm1(np.minimum(epsilon, 0.0))
    a = special.log_ndtr(mu / 2 - epsilon / mu)
    b = special.log_ndtr(-mu / 2 - epsilon / mu) + epsilon
    error = 2.0**-50 * (4 + np.abs(a) + np.abs(epsilon) * (1 + 1 / mu)) * np.exp(a)
    return np.minimum(1.0, np.maximum(0.0, -np.exp(a) * np.expm1(np.minimum(b - a, 0.0))) + error)


@functools.lru_cache(maxsize=8)
def losses(epsilons: tuple[tuple[float, int], ...]) -> tuple[np.ndarray, np.ndarray, float]:
    """Distribution of the sum of log ratios of randomised responses, never below the truth.

    Points and weights are rounded up, as delta grows with both.

    Returns
    -------
    points, weights : array, shape (m,)
        At most a few thousand points.
    lost : float
        Probability of larger sums, to be counted as revealing everything.
    """
    points, weights, lost = np.zeros(1), np.ones(1), 0.0
    for epsilon, count in _few(epsilons):
        truths = np.arange(count + 1)
        logs = special.gammaln(count + 1) - special.gammaln(truths + 1) - special.gammaln(count - truths + 1)
        logs -= truths * math.log1p(math.exp(-epsilon)) + (count - truths) * np.logaddexp(0, epsilon)
        # that a term of the sum may be
        most = special.gammaln(count + 1) + count + (count - truths) * epsilon
        chance = np.exp(logs + 8 * _ULP * most)
        likely = chance > _NEVER / (count + 1)
        lost += _NEVER
        step, chance = epsilon * (2 * truths[likely] - count), chance[likely]
        points = _raised(np.add.outer(points, _raised(step)).ravel())
        weights = np.multiply.outer(weights, chance).ravel()
        if len(points) > _POINTS:
            points, weights, beyond = _trimmed(points, weights)
            points, weights = _merged(points, weights)
            lost += beyond
    return points, weights, lost


def _raised(points: np.ndarray) -> np.ndarray:
    return points + _ULP * np.abs(points)


def _few(epsilons: Sequence[tuple[float, int]]) -> Sequence[tuple[float, int]]:
    if len(epsilons) <= _KINDS:
        return epsilons
    rounded: Counter[float] = Counter()
    for epsilon, count in epsilons:
        rounded[math.exp(math.ceil(math.log(epsilon) * 200) / 200) * (1 + 1e-12)] += count
    return sorted(rounded.items())


def _trimmed(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Without the unlikely ends: the upper is lost, the lower moves up to where the rest begins."""
    order = np.argsort(points)
    points, weights = points[order], weights[order]
    first = int(np.searchsorted(np.cumsum(weights), _NEVER))
    last = len(points) - int(np.searchsorted(np.cumsum(weights[::-1]), _NEVER))
    below, beyond = float(weights[:first].sum()), float(weights[last:].sum())
    points, weights = points[first:last], weights[first:last].copy()
    weights[0] += below
    return points, weights, beyond


def _merged(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """On a grid: each mass is shared by its two neighbours so that both hypotheses keep their probability.

    Forgetting which of the two it was gives the original back, so the result dominates it (Doroshenko et al.
    2022, "connect the dots"); what is lost is of second order in the width.
    """
    low, high = points[0], points[-1]
    width = (high - low) / (_POINTS // 2)
    cells = np.minimum(np.floor((points - low) / width).astype(np.int64), _POINTS // 2 - 1)
    offset = np.clip(points - low - cells * width, 0.0, width)
    upper = weights * (np.expm1(-offset) / math.expm1(-width))
    pooled = np.bincount(cells, weights - upper, _POINTS // 2 + 1) + np.bincount(cells + 1, upper)
    # rounding of a share is that of a point that lies a few units in the last place of the ends away
    grid = low + np.arange(len(pooled)) * width + 4 * _ULP * (abs(low) + abs(high))
    return grid, pooled * (1 + len(points) * _ULP)


WIDTH = 79


@forgetful
@dataclass(frozen=True)
class Report:
    """What was spent on a data set.

    The limit holds however each charge was chosen. The amounts in every notion, and the curve, are those of
    the list as it stands, as if it had been fixed in advance.

    Attributes
    ----------
    dataset : str
    total : Budget
    entries : tuple of Entry
    spent, left : Budget or None
        In the kind of the total; None for nothing.
    """

    dataset: str
    total: Budget
    entries: tuple[Entry, ...]
    spent: Budget | None
    left: Budget | None

    @property
    def delta(self) -> float:
        """Delta of the total; 1e-6 if it has none."""
        return stated_delta(self.total)

    @property
    def unit(self) -> str | None:
        """What all charges protect; None while there is none."""
        return self.entries[0].unit if self.entries else None

    @property
    def charges(self) -> PooledCharges:
        """The charges, pooled by kind."""
        return PooledCharges.of(entry.charge for entry in self.entries)

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that we can prove for the whole list at `delta`; inf if none."""
        if not 0 < (asked := number("delta", delta)) < 1:
            raise SpecificationError(f"delta must lie between 0 and 1, got {shown(delta)}")
        return self.charges.epsilon(asked)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each charge."""
        rows = [
            {
                "seq": entry.seq,
                "at": entry.at,
                "budget": str(entry.budget),
                "gaussian": entry.gaussian,
                "formula": entry.formula,
                "method": entry.method,
                "released": ", ".join(
                    f"{name} ({cost})" if cost else name for name, cost in entry.released.items()
                ),
            }
            for entry in self.entries
        ]
        columns = ["seq", "at", "budget", "gaussian", "formula", "method", "released"]
        return pd.DataFrame(rows, columns=columns).set_index("seq")

    @property
    def notions(self) -> pd.DataFrame:
        """The whole list in each notion of privacy; empty where it promises none."""
        if not self.entries:
            found: list[Budget | None] = [None] * 4
        else:
            charges, epsilon = self.charges, self.epsilon(self.delta)
            best = Approx(max(epsilon, LEAST), self.delta) if epsilon <= MOST else None
            found = [charges.to_pure(), charges.to_zcdp(), charges.to_gdp(), best]
        return pd.DataFrame(
            {
                "notion": [kind.__name__.lower() for kind in (Pure, Zcdp, Gdp, Approx)],
                "spent": ["" if budget is None else str(budget) for budget in found],
            }
        ).set_index("notion")

    @property
    def curve(self) -> pd.DataFrame:
        """The tight curve: epsilon for each delta from 1e-2 to 1e-12."""
        deltas = [10.0**-power for power in range(2, 13)]
        return pd.DataFrame({"delta": deltas, "epsilon": [self.epsilon(delta) for delta in deltas]})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve and the total. Needs matplotlib."""
        ax = axes(ax)
        deltas = [10.0 ** (-power / 4) for power in range(8, 49)]
        ax.plot(deltas, [self.epsilon(delta) for delta in deltas], label=f"{len(self.entries)} charges")
        total = self.total
        if isinstance(total, Approx):
            ax.plot([total.delta], [total.epsilon], "o", color="black", label=f"total: {total}")
        else:
            limit = [total.to_approx(delta).epsilon for delta in deltas]
            ax.plot(deltas, limit, "--", color="black", label=f"total: {total}")
        ax.set(xscale="log", xlabel="delta", ylabel="epsilon", title=f"Privacy spent on {self.dataset!r}")
        ax.legend(fontsize="small", frameon=False, **beside(ax))
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; exact amounts as fractions in text."""
        return {
            "format": "dpstats.ledger/2",
            "dataset": self.dataset,
            "total": self.total.to_dict(),
            "unit": self.unit,
            "spent": self.spent.to_dict() if self.spent else None,
            "left": self.left.to_dict() if self.left else None,
            "charges": [
                {
                    "seq": entry.seq,
                    "at": entry.at,
                    "budget": entry.budget.to_dict(),
                    "gaussian": entry.gaussian,
                    "cost": to_text(entry.cost),
                    "formula": entry.formula,
                    "method": entry.method,
                    "released": dict(entry.released),
                }
                for entry in self.entries
            ],
        }

    def __repr__(self) -> str:
        rule = "=" * WIDTH
        head = [
            f"Ledger of {self.dataset!r}",
            rule,
            f"Total   {self.total}" + (f"; protects {self.unit}" if self.unit else ""),
            f"Spent   {self.spent or 'nothing'}",
            f"Left    {self.left or 'nothing'}",
        ]
        if not self.entries:
            return "\n".join([*head, rule])
        charges = map(_line, self.entries)
        notions = [f"  {kind:<8}{spent or '-'}" for kind, spent in self.notions["spent"].items()]
        curve = [f"  {delta:<10.0e}{epsilon:.4g}" for delta, epsilon in self.curve.itertuples(index=False)]
        return "\n".join(
            [
                *head,
                rule,
                "    #  charged (UTC)         cost                         for",
                *charges,
                rule,
                "All charges together, in each notion of privacy (epsilons do not simply add up)",
                *notions,
                "",
                "  delta     epsilon",
                *curve,
                rule,
            ]
        )

    def _repr_html_(self) -> str:
        frames = (self.frame, self.notions, self.curve)
        return f"<h4>Ledger of {self.dataset!r}</h4>" + "".join(frame.to_html() for frame in frames)


def _line(entry: Entry) -> str:
    """What was charged and for what, which has lines of its own where it is long."""
    charge = f"{entry.seq:>5}  {entry.at}  {entry.budget}"
    text = " ".join(f"{entry.formula} [{entry.method}]".split())
    if len(text) <= WIDTH - 58:
        return f"{charge:<58}{text}"
    indent = " " * 7
    return charge + "\n" + textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
