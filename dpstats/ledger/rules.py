"""Additive filters: which charges may enter a total, and at what cost.

See docs/theory/privacy.md#composition-in-a-ledger.

A filter stays valid when each charge is chosen after seeing the last release, because its limit is fixed in
advance and every cost adds up: epsilon (pure), rho (zCDP, Bun & Steinke 2016; Whitehouse et al. 2023), mu
squared (GDP, Smith & Thakurta 2022), or epsilon and delta each (Rogers et al. 2016).

An (epsilon, delta) total may be kept by three of them. It must not change from one to another on the way: an
analyst could look at the releases, continue with Gaussian noise where that gains most and with a black box of
(epsilon', delta') elsewhere, and end at nearly twice the delta. The first charge is made before anything was
seen, so it may choose: Gaussian noise chooses mu squared, any other zCDP chooses rho, the rest choose to add
epsilon and delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpstats import _conversions as convert
from dpstats.budget import LEAST, LEAST_DELTA, MOST, Approx, Budget, Gdp, Pure, Zcdp, from_dict
from dpstats.errors import BudgetError
from dpstats.ledger.amounts import Amount, covers, down, exact, root_up, subtract, up


@dataclass(frozen=True)
class Charge:
    """What a release promises, and whether all its noise is Gaussian with the budget's ``mu``."""

    budget: Budget
    gaussian: bool = False

    @property
    def square(self) -> Fraction | None:
        """mu squared of a Gaussian release; None for a release that is not known to be Gaussian."""
        if isinstance(self.budget, Gdp):
            return exact(self.budget.mu) ** 2
        if self.gaussian and isinstance(self.budget, Zcdp):
            return 2 * exact(self.budget.rho)
        return exact(self.budget.mu) ** 2 if self.gaussian else None


@dataclass(frozen=True)
class Rule:
    """How charges add up under one total.

    Parameters
    ----------
    kind : str
        What adds up: ``"pure"``, ``"zcdp"``, ``"gdp"``, or ``"approx"`` (epsilon and delta).
    total : Budget
        The user's total, in whose units amounts are told.
    """

    kind: str
    total: Budget

    @property
    def limit(self) -> Amount:
        """Largest amount that may be spent."""
        total = self.total
        if isinstance(total, Approx):
            if self.kind == "approx":
                return exact(total.epsilon), exact(total.delta)
            if self.kind == "zcdp":
                return (exact(convert.rho_of_approx(total.epsilon, total.delta)),)
        if isinstance(total, Pure):
            return (exact(total.epsilon),)
        if isinstance(total, Zcdp):
            return (exact(total.rho),)
        return (exact(total.mu) ** 2,)

    @property
    def zero(self) -> Amount:
        """Nothing spent."""
        return tuple(Fraction(0) for _ in self.limit)

    def cost(self, charge: Charge, left: Amount) -> Amount:
        """Amount that `charge` adds, when `left` is left; BudgetError with the reason if it cannot enter."""
        if self.kind == "approx":
            return _basic(charge, left)
        return ({"pure": _epsilon, "zcdp": _rho, "gdp": _square}[self.kind](charge),)

    def in_units(self, spent: Amount) -> Budget | None:
        """What `spent` comes to in the kind of the total, rounded up; None for nothing."""
        if not any(spent):
            return None
        amount = root_up(spent[0]) if self.kind == "gdp" else up(spent[0])
        if not isinstance(self.total, Approx):
            return type(self.total)(max(amount, LEAST))
        delta = self.total.delta
        if self.kind == "zcdp":
            amount = convert.epsilon_of_zcdp(amount, delta)
        elif self.kind == "gdp":
            amount = convert.epsilon_of_mu(amount, delta)
        else:
            delta = up(spent[1])
        epsilon = min(max(amount, LEAST), MOST)  # no total lets more be spent
        return Approx(epsilon, delta) if delta else Pure(epsilon)

    def largest(self, like: Charge, left: Amount) -> Budget | None:
        """Largest budget of the kind and delta of `like` that fits into `left`; None if none does."""

        def fits(amount: float) -> bool:
            charge = Charge(_resized(like.budget, amount), like.gaussian)
            try:
                return covers(left, self.cost(charge, left))
            except BudgetError:
                return False

        low, high = LEAST, MOST
        if not fits(low):
            return None
        while True:
            middle = math.sqrt(low * high)
            if high <= low * (1 + 1e-12) or not low < middle < high:
                return _resized(like.budget, _nearby(low, fits))
            low, high = (middle, high) if fits(middle) else (low, middle)

    def left_of(self, spent: Amount) -> Budget | None:
        """Largest single charge of the kind that is kept, in the units of the total; None if nothing fits."""
        left = subtract(self.limit, spent)
        if self.kind == "approx":
            epsilon, delta = down(left[0]), down(left[1])
            if epsilon < LEAST:
                return None
            return Approx(epsilon, delta) if delta >= LEAST_DELTA else Pure(epsilon)
        if self.kind == "zcdp" and isinstance(self.total, Approx):
            rho = min(down(left[0]), MOST)
            return None if rho < LEAST else Zcdp(rho).to_approx(self.total.delta)
        return self.largest(Charge(self.total, gaussian=self.kind == "gdp"), left)


def rule_of(total: Budget, first: Charge | None) -> Rule:
    """The rule of `total`; that of an (epsilon, delta) total is chosen by its first charge."""
    if not isinstance(total, Approx):
        return Rule(type(total).__name__.lower(), total)
    if first is None or first.square is not None:
        return Rule("gdp", total)
    return Rule("zcdp" if isinstance(first.budget, Zcdp) else "approx", total)


def _resized(budget: Budget, amount: float) -> Budget:
    """The same promise of another size, at the same delta."""
    name = next(iter(vars(budget)))
    return from_dict({**budget.to_dict(), name: amount})


def _nearby(value: float, fits: Callable[[float], bool]) -> float:
    """A short decimal within 1e-9 of `value` that fits as well, so that amounts print as users write them."""
    short = float(f"{value:.10g}")
    return short if fits(short) else value


def _epsilon(charge: Charge) -> Fraction:
    if charge.gaussian or isinstance(charge.budget, Gdp):
        raise BudgetError("Gaussian noise promises no pure epsilon, however large")
    if isinstance(charge.budget, Zcdp):
        raise BudgetError("zero-concentrated privacy promises no pure epsilon")
    if isinstance(charge.budget, Approx):
        raise BudgetError("a pure total has no delta to give")
    return exact(charge.budget.epsilon)


def _rho(charge: Charge) -> Fraction:
    if charge.square is not None:
        return charge.square / 2
    if isinstance(charge.budget, Pure):
        return exact(charge.budget.epsilon) ** 2 / 2
    if isinstance(charge.budget, Zcdp):
        return exact(charge.budget.rho)
    raise BudgetError("an (epsilon, delta) promise implies no rho, and its noise is not known to be Gaussian")


def _square(charge: Charge) -> Fraction:
    if charge.square is not None:
        return charge.square
    if isinstance(charge.budget, Pure):
        return exact(convert.mu_of_pure(charge.budget.epsilon)) ** 2
    if isinstance(charge.budget, Zcdp):
        raise BudgetError(
            "the ledger adds squares of mu; a rho implies no mu, and the noise is not known to be Gaussian"
        )
    raise BudgetError(
        "the ledger adds squares of mu; an (epsilon, delta) promise implies no mu, and its noise is not "
        "known to be Gaussian"
    )


def _basic(charge: Charge, left: Amount) -> Amount:
    """(epsilon, delta). Promises with a curve take half of the delta that is left, so that some remains."""
    budget = charge.budget
    if isinstance(budget, Pure):
        return exact(budget.epsilon), Fraction(0)
    if isinstance(budget, Approx):
        return exact(budget.epsilon), exact(budget.delta)
    delta = down(left[1] / 2)
    if delta < LEAST_DELTA:
        raise BudgetError("no delta is left, and its noise promises no epsilon without one")
    return exact(budget.to_approx(delta).epsilon), exact(delta)
