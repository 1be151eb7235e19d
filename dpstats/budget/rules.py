"""Additive filters: which charges may enter a total, and at what cost, in exact amounts.

See docs/theory/privacy.md#composition-in-a-ledger.

A filter stays valid when each charge is chosen after seeing the last release, because its limit is fixed in
advance and every cost adds up: epsilon (pure), rho (zCDP, Bun & Steinke 2016; Whitehouse et al. 2023), mu
squared (GDP, Smith & Thakurta 2022), or epsilon and delta each (Rogers et al. 2016). The kind of a total says
which of them keeps it (`Budget.rule`).

A float stands for the decimal number that the user sees: 0.1 is 1/10. Sums of fractions neither drift nor
depend on the order of the charges. The decimal and the float differ by less than 2e-16 of the amount, and
releases are noised for an amount 1e-9 smaller (dpstats.curator.curator), so that what is drawn never exceeds
what is written here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpstats._conversions import bisected, stepped
from dpstats.errors import BudgetError

if TYPE_CHECKING:
    from dpstats.budget.kinds import Budget

Amount = tuple[Fraction, ...]
LEAST, MOST = 1e-30, 1e30  # amounts that a budget may have
LEAST_DELTA = 1e-100


def exact(value: float) -> Fraction:
    """The decimal number that prints as `value`."""
    return Fraction(repr(float(value)))


def up(value: Fraction) -> float:
    """Smallest float not below `value`, as decimals."""
    return stepped(float(value), lambda x: exact(x) < value, math.inf)


def down(value: Fraction) -> float:
    """Largest float not above `value`, as decimals."""
    return stepped(float(value), lambda x: exact(x) > value, -math.inf)


def root_up(square: Fraction) -> float:
    """Square root, rounded up."""
    return stepped(math.sqrt(square), lambda x: exact(x) ** 2 < square, math.inf)


def add(a: Amount, b: Amount) -> Amount:
    """Sum of two amounts of one rule."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def subtract(a: Amount, b: Amount) -> Amount:
    """Difference of two amounts of one rule."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def covers(limit: Amount, spent: Amount) -> bool:
    """Whether `spent` stays within `limit` in every part."""
    return all(x >= y for x, y in zip(limit, spent, strict=True))


def to_text(amount: Amount) -> str:
    """Text that `from_text` reads back exactly."""
    return ",".join(str(part) for part in amount)


def from_text(text: str) -> Amount:
    """Amount from its text; ValueError if it is none."""
    return tuple(Fraction(part) for part in text.split(","))


_NO_GAUSSIAN = (
    ", and its noise is not known to be Gaussian; what was Gaussian noise is charged as dps.gdp(mu) or "
    "dps.zcdp(rho), or with gaussian=True"
)


@dataclass(frozen=True)
class Promise:
    """What a charge implies, exactly; None for what it does not.

    Parameters
    ----------
    epsilon : Fraction, optional
        Of pure differential privacy.
    rho : Fraction, optional
        Of zCDP.
    square : Fraction, optional
        mu squared of GDP.
    pair : tuple of Fraction, optional
        An epsilon and a delta; None where every delta has an epsilon of its own.
    gaussian : bool
        Whether it is known for Gaussian noise of `square`.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    square: Fraction | None = None
    pair: tuple[Fraction, Fraction] | None = None
    gaussian: bool = False

    @classmethod
    def of_gaussian(cls, square: Fraction, pair: tuple[Fraction, Fraction] | None = None) -> Promise:
        """Of releases with Gaussian noise, whose mu squared adds up to `square`."""
        return cls(rho=square / 2, square=square, pair=pair, gaussian=True)


@dataclass(frozen=True)
class Charge:
    """What a release costs, and whether all its noise is Gaussian with the budget's ``mu``."""

    budget: Budget
    gaussian: bool = False

    @property
    def promise(self) -> Promise:
        """What the charge implies."""
        return self.budget.promise(self.gaussian)


@dataclass(frozen=True)
class Rule:
    """How charges add up under one total.

    Parameters
    ----------
    total : Budget
        The user's total, in whose units amounts are told.
    limit : tuple of Fraction
        Largest amount that may be spent.
    cost : callable
        Amount that a charge adds, when so much is left; BudgetError with the reason if it cannot enter.
    told : callable
        What an amount comes to in the kind of the total, rounded up.
    gaussian : bool
        Whether the largest charge that still fits has Gaussian noise.
    room : callable, optional
        That largest charge in the kind of the total, from what is left and None for nothing, where no charge
        of this kind may enter.
    """

    total: Budget
    limit: Amount
    cost: Callable[[Charge, Amount], Amount]
    told: Callable[[Amount], Budget]
    gaussian: bool = False
    room: Callable[[Amount], Budget | None] | None = None

    @property
    def zero(self) -> Amount:
        """The amount of which nothing was spent."""
        return tuple(Fraction(0) for _ in self.limit)

    def in_units(self, spent: Amount) -> Budget | None:
        """What `spent` comes to in the kind of the total, rounded up; None for nothing."""
        return self.told(spent) if any(spent) else None

    def largest(self, like: Charge, left: Amount) -> Budget | None:
        """Largest budget of the kind and delta of `like` that fits into `left`; None if none does."""

        def fits(amount: float) -> bool:
            charge = Charge(_resized(like.budget, amount), like.gaussian)
            try:
                return covers(left, self.cost(charge, left))
            except BudgetError:
                return False

        if not fits(LEAST):
            return None
        most = bisected(fits, LEAST, MOST)
        # a short decimal within 1e-9 that fits as well, so that amounts print as users write them
        short = float(f"{most:.10g}")
        return _resized(like.budget, short if fits(short) else most)

    def left_of(self, spent: Amount) -> Budget | None:
        """Largest single charge of the kind that is kept, in the units of the total; None if nothing fits."""
        left = subtract(self.limit, spent)
        return self.room(left) if self.room else self.largest(Charge(self.total, self.gaussian), left)


def by_epsilon(charge: Charge, left: Amount) -> Amount:
    """Epsilons of pure differential privacy add up."""
    if charge.promise.gaussian:
        raise BudgetError("Gaussian noise promises no pure epsilon, however large")
    return (
        _implied(
            charge.promise.epsilon,
            f"{charge.budget.promised} implies no pure epsilon, and a pure total has no delta to give",
        ),
    )


def by_rho(charge: Charge, left: Amount) -> Amount:
    """Rhos of zCDP add up."""
    return (_implied(charge.promise.rho, f"{charge.budget.promised} implies no rho{_NO_GAUSSIAN}"),)


def by_square(charge: Charge, left: Amount) -> Amount:
    """Squares of mu add up."""
    missing = f"the ledger adds squares of mu; {charge.budget.promised} implies no mu{_NO_GAUSSIAN}"
    return (_implied(charge.promise.square, missing),)


def by_pair(charge: Charge, left: Amount) -> Amount:
    """Epsilons add up and deltas do. Promises with a curve take half of the delta that is left."""
    pair = charge.promise.pair
    if pair is not None:
        return pair
    delta = down(left[1] / 2)
    if delta < LEAST_DELTA:
        raise BudgetError("no delta is left, and its noise promises no epsilon without one")
    return exact(charge.budget.to_approx(delta).epsilon), exact(delta)


def _implied(amount: Fraction | None, missing: str) -> Fraction:
    if amount is None:
        raise BudgetError(missing)
    return amount


def _resized(budget: Budget, amount: float) -> Budget:
    """The same promise of another size, at the same delta."""
    return replace(budget, **{budget.unit: amount})  # type: ignore[type-var]
