"""What a fit may spend, what its ledger is told, and what it has spent.

A cost is a value that says its measure: ``Pure(epsilon)`` of noise of pure epsilon, ``Gdp(mu)`` of Gaussian
noise (and of Gaussian tilts of an objective, :mod:`dpstats.curator.tilt`). It is made where the noise is
chosen (`Law.price`, `Planned.price`), and the kind of the total says what it
comes to (`Budget.cost_of`):

=====================  =================  =============================
total                  Gaussian of mu     pure epsilon
=====================  =================  =============================
pure                   refused            epsilon
zcdp, as 2 rho         mu^2               epsilon^2 (Bun & Steinke 2016)
gdp, approx, as mu^2   mu^2               (-2 Phi^-1(1 / (1 + e^epsilon)))^2
=====================  =================  =============================

A ledger hears of Gaussian noise only where every planned cost is Gaussian, and no draw may then be of another
measure, or exceed what was planned of its own. So the ledger never holds less than what is drawn.

See docs/theory/privacy.md#accounts.
"""

import functools
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from dpstats.budget import LEAST, Budget, Gdp, Pure, as_budget, measure
from dpstats.curator.law import LEAST_MU
from dpstats.errors import BudgetError, LedgerError
from dpstats.ledger import Ledger, current

Price = Pure | Gdp

# A release is noised for its cost times 1 - 1e-9. Floats that add up to the total then never exceed it, and
# the lattice of Gaussian noise is paid for (see mechanisms).
GUARD = 1e-9

PARTS = 1000
"""No draw of a fit costs less than its budget, in epsilon or mu, divided by this; a test asks every fit."""


@functools.lru_cache(maxsize=256)  # the steps of a fit cost the same
def guarded(price: Price) -> Price:
    """What is drawn for a cost."""
    return type(price)(price.amount * (1 - GUARD))


class Account:
    """A total that no sum of costs exceeds, also when each is chosen after seeing the last release.

    Parameters
    ----------
    budget : Budget
        Under a pure budget costs are in epsilon, and they add up. Under the others costs are squared: they
        are mu, or epsilon as the module says.
    unit : str
        What is protected, for the ledger.
    """

    def __init__(self, budget: Budget, unit: str) -> None:
        self._budget, self._unit = as_budget("budget", budget), unit
        self.pure = self._budget.pure
        self._limit, self._amount = self._budget.allowed, self._budget.cost_of
        self._spent = Fraction(0)
        self._planned: dict[type[Price], Fraction] | None = None  # by measure, once a plan was made

    def price(self, name: str, cost: float | Price) -> Price:
        """A cost with its measure; a number is in the unit of the budget, epsilon or mu."""
        if isinstance(cost, Price):
            return cost
        unit, kind = ("epsilon", Pure) if self.pure else ("mu", Gdp)
        if not (math.isfinite(cost) and cost > 0):
            raise BudgetError(f"the {unit} of release {name!r} must be positive and finite, got {cost!r}")
        return kind(cost)

    def pay(
        self,
        ledger: Ledger | str | Path | None,
        *,
        formula: str,
        method: str,
        costs: Mapping[str, float | Price],
    ) -> str | None:
        """Plan all releases of a fit and charge its whole budget, before the first; there is no refund.

        Parameters
        ----------
        ledger : Ledger, path or None
            Charged in one transaction; None for that of :func:`dpstats.use_ledger`, if there is one.
        formula, method : str
            What it is for.
        costs
            Of each kind of release, together at most the budget.

        Returns
        -------
        str or None
            The line for the table of the fit; None without a ledger.

        Raises
        ------
        BudgetError
            If the ledger refuses the charge, or the costs exceed the budget. Nothing is charged then.
        """
        if self._spent or self._planned is not None:
            raise RuntimeError("a fit is paid for once, before anything is released")
        self._check_parts()
        prices = {name: self.price(name, cost) for name, cost in costs.items()}
        if sum(self._amount(guarded(price)) for price in prices.values()) > self._limit:
            raise BudgetError("the planned releases cost more than the budget")
        ledger = current() if ledger is None else ledger
        line = None if ledger is None else self._charged(ledger, formula, method, prices)
        self._planned = {
            kind: sum((self._amount(price) for price in prices.values() if type(price) is kind), Fraction(0))
            for kind in (Pure, Gdp)
        }
        return line

    def _charged(
        self, ledger: Ledger | str | Path, formula: str, method: str, prices: Mapping[str, Price]
    ) -> str:
        """Charge a ledger; return its line."""
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        released = {name: _in_words(price) for name, price in prices.items()}
        entry = book.charge(
            self._budget,
            formula=formula,
            method=method,
            unit=self._unit,
            gaussian=all(isinstance(price, Gdp) for price in prices.values()),
            released=released,
        )
        try:
            return book.line(entry)
        except LedgerError:  # the file is busy or was moved since; it was charged, and the fit goes on
            return f"charged to {book.dataset!r}"

    def _check_parts(self) -> None:
        """Refuse a budget of which no part could be drawn, before it is charged."""
        name, least = ("epsilon", PARTS * LEAST) if self.pure else ("mu", PARTS * LEAST_MU)
        amount = measure(self._budget)
        if amount < least:
            raise BudgetError(
                f"the budget is too small for a fit: {name} is {amount:.3g}, and noise for its parts is "
                f"proved private from {name} = {least:g}; give at least that"
            )

    def charge(self, *asked: tuple[str, Price]) -> None:
        """Count the costs of draws before any row is read, of all or of none. There is no refund."""
        spent, planned = self._spent, dict(self._planned or {})
        for name, price in asked:
            kind, amount = type(price), self._amount(price)
            left = self._limit - spent
            if self._planned is not None:
                left = min(left, planned[kind])
                planned[kind] -= amount
            if amount > left:
                there = f"epsilon = {float(left):g}" if self.pure else f"mu = {math.sqrt(left):g}"
                raise BudgetError(f"release {name!r} costs {_in_words(price)}, but only {there} is left")
            spent += amount
        self._spent = spent
        if self._planned is not None:
            self._planned = planned


def _in_words(price: Price) -> str:
    """In words, such as ``mu = 0.25``."""
    return f"{price.unit} = {price.amount:.4g}"
