"""The four kinds of a budget, as values that compose, split and convert.

Every rounding goes against the user: what may be spent is rounded down, what a spending implies is rounded
up. See docs/theory/privacy.md#accounts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

from dpstats import _conversions as convert
from dpstats._arguments import number, shown
from dpstats._private import forgetful
from dpstats.errors import BudgetError

__all__ = ["LEAST", "LEAST_DELTA", "MOST", "Approx", "Budget", "Gdp", "Pure", "Zcdp", "as_budget"]


LEAST, MOST = 1e-30, 1e30  # amounts that a budget may have
LEAST_DELTA = 1e-100


def _amount(name: str, value: float, low: float = LEAST, high: float = MOST) -> float:
    amount = number(name, value, BudgetError)
    if not low <= amount <= high:
        raise BudgetError(f"{name} must be positive, from {low:g} to {high:g}; got {shown(value)}")
    return amount


def _delta(value: float) -> float:
    delta = _amount("delta", value, low=LEAST_DELTA, high=1.0)
    if delta == 1:
        raise BudgetError("delta = 1 promises nothing; choose it far below 1/n, for example 1e-6")
    return delta


def _parts(shares: tuple[float, ...]) -> tuple[float, ...]:
    """Shares rounded down, so that the parts compose to no more than the whole."""
    shares = tuple(number("a share", share, BudgetError) for share in shares)
    if not shares or any(not (math.isfinite(share) and share > 0) for share in shares):
        told = ", ".join(map(shown, shares)) or "none"
        raise BudgetError(f"shares must be positive numbers, got {told}; give one for each part")
    total = math.fsum(shares)
    if total > 1 + 1e-9:
        raise BudgetError(f"shares sum to {total:g}; they may sum to at most 1")
    return tuple(share / max(total, 1.0) * (1 - 2.0**-49) for share in shares)


_Kind = TypeVar("_Kind", bound="_Value")


class _Value:
    """What the four kinds share."""

    def to_dict(self) -> dict[str, float | str]:
        """Plain dictionary for JSON; :func:`from_dict` is its inverse."""
        return {"kind": type(self).__name__.lower(), **vars(self)}

    @property
    def amount(self) -> float:
        """Epsilon, rho or mu."""
        return float(next(iter(vars(self).values())))

    def _same_kind(self: _Kind, other: object) -> _Kind:
        if not isinstance(other, type(self)):
            raise BudgetError(
                f"cannot add {type(other).__name__} to {type(self).__name__}; convert both to one kind first"
            )
        return other


@forgetful
@dataclass(frozen=True)
class Pure(_Value):
    """Pure epsilon-differential privacy. Composes by adding epsilon.

    Parameters
    ----------
    epsilon : float
        Positive.

    Raises
    ------
    BudgetError
        If epsilon is not a positive number; from ``mu``: no Gaussian release satisfies pure epsilon.
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _amount("epsilon", self.epsilon))

    @property
    def mu(self) -> float:
        raise BudgetError(
            "a pure epsilon budget cannot pay for Gaussian noise; use zcdp(rho), gdp(mu) or "
            "approx(epsilon, delta)"
        )

    def split(self, *shares: float) -> tuple[Pure, ...]:
        """Parts that add up to at most this budget; `shares` are shares of epsilon and sum to at most 1."""
        return tuple(Pure(self.epsilon * share) for share in _parts(shares))

    def to_approx(self, delta: float) -> Approx:
        """(epsilon, delta) with the same epsilon, for any delta."""
        return Approx(self.epsilon, delta)

    def to_zcdp(self) -> Zcdp:
        """rho = epsilon^2 / 2 (Bun & Steinke 2016, Proposition 1.4)."""
        return Zcdp(convert.half_square_up(self.epsilon))

    def to_gdp(self) -> Gdp:
        """mu = -2 Phi^-1(1 / (1 + e^epsilon)): randomised response is the worst case.

        See docs/theory/privacy.md#accounts.
        """
        return Gdp(convert.mu_of_pure(self.epsilon))

    def __add__(self, other: Pure) -> Pure:
        return Pure(convert.sum_up(self.epsilon, self._same_kind(other).epsilon))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}"


@forgetful
@dataclass(frozen=True)
class Zcdp(_Value):
    """Zero-concentrated differential privacy. Composes by adding rho.

    It implies no GDP guarantee in general; ``mu`` is what Gaussian releases may spend under it.
    """

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", _amount("rho", self.rho))

    @property
    def mu(self) -> float:
        """sqrt(2 rho): a Gaussian release with sensitivity / sd = mu costs exactly rho = mu^2 / 2."""
        return convert.sqrt_down(2 * self.rho)

    def split(self, *shares: float) -> tuple[Zcdp, ...]:
        """Parts that add up to at most this budget; `shares` are shares of rho and sum to at most 1."""
        return tuple(Zcdp(self.rho * share) for share in _parts(shares))

    def to_approx(self, delta: float) -> Approx:
        """Smallest epsilon at `delta`, over all orders (Canonne, Kamath & Steinke 2020, Proposition 12)."""
        return Approx(convert.epsilon_of_zcdp(self.rho, _delta(delta)), delta)

    def to_zcdp(self) -> Zcdp:
        """Itself."""
        return self

    def __add__(self, other: Zcdp) -> Zcdp:
        return Zcdp(convert.sum_up(self.rho, self._same_kind(other).rho))

    def __str__(self) -> str:
        return f"rho = {self.rho:g} (zCDP)"


@forgetful
@dataclass(frozen=True)
class Gdp(_Value):
    """Gaussian differential privacy. Composes by adding mu squared."""

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _amount("mu", self.mu))

    def split(self, *shares: float) -> tuple[Gdp, ...]:
        """Parts that compose to at most this budget; `shares`, of mu squared, sum to at most 1."""
        return tuple(Gdp(self.mu * math.sqrt(share)) for share in _parts(shares))

    def to_approx(self, delta: float) -> Approx:
        """Smallest epsilon at `delta` by the exact dual formula (Dong, Roth & Su 2022, Corollary 1)."""
        return Approx(convert.epsilon_of_mu(self.mu, _delta(delta)), delta)

    def to_zcdp(self) -> Zcdp:
        """rho = mu^2 / 2: the pair N(0, 1), N(mu, 1) dominates every mu-GDP pair."""
        return Zcdp(convert.half_square_up(self.mu))

    def to_gdp(self) -> Gdp:
        """Itself."""
        return self

    def __add__(self, other: Gdp) -> Gdp:
        return Gdp(convert.hypot_up(self.mu, self._same_kind(other).mu))

    def __str__(self) -> str:
        return f"mu = {self.mu:g} (GDP)"


@forgetful
@dataclass(frozen=True)
class Approx(_Value):
    """(epsilon, delta)-differential privacy.

    ``a + b`` is basic composition, which holds for any two mechanisms. Gaussian releases under one
    (epsilon, delta) total are cheaper: their mu squared adds up to ``mu`` squared, hence ``split`` gives
    GDP budgets. It implies no zCDP and no GDP guarantee in general.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _amount("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _delta(self.delta))

    @property
    def mu(self) -> float:
        """Largest mu whose Gaussian releases are (epsilon, delta)-DP, by the exact dual formula."""
        return convert.mu_of_approx(self.epsilon, self.delta)

    def split(self, *shares: float) -> tuple[Gdp, ...]:
        """GDP parts composing to at most ``mu``; `shares` are shares of mu squared and sum to at most 1."""
        return Gdp(self.mu).split(*shares)

    def to_approx(self, delta: float) -> Approx:
        """The same epsilon at a larger delta; a smaller delta is not implied and raises BudgetError."""
        if _delta(delta) < self.delta:
            raise BudgetError(f"{self} implies nothing at delta = {delta:g}; ask for delta >= {self.delta:g}")
        return Approx(self.epsilon, delta)

    def __add__(self, other: Approx) -> Approx:
        self._same_kind(other)
        return Approx(convert.sum_up(self.epsilon, other.epsilon), convert.sum_up(self.delta, other.delta))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"


Budget = Pure | Zcdp | Gdp | Approx


def as_budget(name: str, value: object) -> Budget:
    """An argument that is a budget.

    Raises
    ------
    BudgetError
        If it is anything else.
    """
    if not isinstance(value, Budget):
        raise BudgetError(f"{name} must be a budget such as approx(1, 1e-6) or zcdp(0.5), got {shown(value)}")
    return value
