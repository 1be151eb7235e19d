"""Amounts of privacy: pure epsilon, zCDP, GDP and (epsilon, delta).

A budget is a value. It prints itself in the units it was given in, splits into shares, adds to budgets of
the same kind, and says how much Gaussian noise it buys: Gaussian releases with sensitivity / sd equal to
``mu_1, ..., mu_k`` cost ``sqrt(mu_1**2 + ... + mu_k**2)``, exactly, and also when each is chosen after
seeing the last (docs/theory/privacy.md#accounts). A budget affords them when this does not exceed its ``mu``.

Every rounding goes against the user: what may be spent is rounded down, what a spending implies is rounded
up.

Examples
--------
>>> from dpstats.budget import approx
>>> budget = approx(epsilon=1, delta=1e-6)
>>> print(budget)
epsilon = 1, delta = 1e-06
>>> round(budget.mu, 6)
0.236704
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from dpstats import _conversions as convert
from dpstats._arguments import number, shown
from dpstats._private import forgetful, forgetting
from dpstats.errors import BudgetError

__all__ = [
    "Approx",
    "Budget",
    "Gdp",
    "Pure",
    "Zcdp",
    "approx",
    "from_dict",
    "gdp",
    "parse_budget",
    "pure",
    "zcdp",
]


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


@forgetting
def pure(epsilon: float) -> Pure:
    """Pure epsilon budget.

    Parameters
    ----------
    epsilon : float
        Positive.

    Returns
    -------
    Pure

    Raises
    ------
    BudgetError
        If epsilon is not a number from 1e-30 to 1e30.

    Examples
    --------
    >>> import dpstats as dps
    >>> budget = dps.pure(1)
    >>> print(budget)
    epsilon = 1
    >>> budget.split(0.5, 0.5)[0].epsilon
    0.4999999999999991
    """
    return Pure(epsilon)


@forgetting
def zcdp(rho: float) -> Zcdp:
    """Zero-concentrated budget rho.

    Parameters
    ----------
    rho : float
        Positive.

    Returns
    -------
    Zcdp

    Raises
    ------
    BudgetError
        If rho is not a number from 1e-30 to 1e30.

    Examples
    --------
    >>> import dpstats as dps
    >>> budget = dps.zcdp(0.5)
    >>> budget.mu  # of the Gaussian noise that it buys
    1.0
    >>> round(budget.to_approx(1e-6).epsilon, 2)
    5.22
    """
    return Zcdp(rho)


@forgetting
def gdp(mu: float) -> Gdp:
    """Gaussian differential privacy budget mu.

    Parameters
    ----------
    mu : float
        Positive.

    Returns
    -------
    Gdp

    Raises
    ------
    BudgetError
        If mu is not a number from 1e-30 to 1e30.

    Examples
    --------
    >>> import dpstats as dps
    >>> print(dps.gdp(3) + dps.gdp(4))
    mu = 5 (GDP)
    """
    return Gdp(mu)


@forgetting
def approx(epsilon: float, delta: float) -> Approx:
    """(epsilon, delta) budget, kept as the mu of the exact dual formula.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        Positive and below 1; choose it far below one over the number of rows.

    Returns
    -------
    Approx

    Raises
    ------
    BudgetError
        If a number is not positive, or delta is 1.

    Examples
    --------
    >>> import dpstats as dps
    >>> budget = dps.approx(epsilon=1, delta=1e-6)
    >>> print(budget)
    epsilon = 1, delta = 1e-06
    >>> round(budget.mu, 4)
    0.2367
    """
    return Approx(epsilon, delta)


_MAKERS: dict[str, tuple[Callable[..., Budget], tuple[str, ...]]] = {
    "pure": (pure, ("epsilon",)),
    "zcdp": (zcdp, ("rho",)),
    "gdp": (gdp, ("mu",)),
    "approx": (approx, ("epsilon", "delta")),
}


def from_dict(record: Mapping[str, float | str]) -> Budget:
    """Budget from the dictionary that ``to_dict`` writes; BudgetError names what is wrong with another."""
    kind = str(record.get("kind"))
    if kind not in _MAKERS:
        raise BudgetError(f"the kind of a budget is one of {', '.join(_MAKERS)}; got {shown(kind)}")
    make, names = _MAKERS[kind]
    if set(record) != {"kind", *names}:
        given = ", ".join(sorted(set(record) - {"kind"}))
        raise BudgetError(f"a {kind} budget has {' and '.join(names)}; got {given}")
    return make(*(record[name] for name in names))


@forgetting
def parse_budget(text: str) -> Budget:
    """Budget from text such as ``zcdp(0.5)``, ``approx(1, 1e-6)`` or ``approx(epsilon=1, delta=1e-6)``.

    Parameters
    ----------
    text : str

    Returns
    -------
    Pure, Zcdp, Gdp or Approx

    Raises
    ------
    BudgetError
        If the text is no budget.

    Examples
    --------
    >>> import dpstats as dps
    >>> print(dps.parse_budget("zcdp(0.5)"))
    rho = 0.5 (zCDP)
    """
    problem = f"cannot read the budget {shown(text)}: write pure(1), zcdp(0.5), gdp(1) or approx(1, 1e-6)"
    match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text) if isinstance(text, str) else None
    if match is None or match[1] not in _MAKERS:
        raise BudgetError(problem)
    make, names = _MAKERS[match[1]]
    items = [item.strip() for item in match[2].split(",")]
    if len(items) != len(names):
        raise BudgetError(problem)
    record: dict[str, float | str] = {"kind": match[1]}
    for expected, item in zip(names, items, strict=True):
        name, equals, value = item.rpartition("=")
        record[name.strip() if equals else expected] = value.strip()
    return from_dict(record)
