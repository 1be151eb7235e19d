"""The kinds of a budget. Each is one record: law of noise, conversions, rule of a ledger, account and words.

Every rounding goes against the user: what may be spent is rounded down, what a spending implies is rounded
up. See docs/theory/privacy.md#accounts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar

from dpstats import _conversions as convert
from dpstats._arguments import number, shown
from dpstats._private import forgetful
from dpstats.budget.rules import (
    LEAST,
    LEAST_DELTA,
    MOST,
    Amount,
    Charge,
    Promise,
    Rule,
    by_epsilon,
    by_pair,
    by_rho,
    by_square,
    down,
    exact,
    root_up,
    up,
)
from dpstats.errors import BudgetError


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
        of_parts = len(shares) == 1 and total.is_integer()
        equal = f"; {total:g} equal parts are split(*[1 / {total:g}] * {total:g})" if of_parts else ""
        raise BudgetError(f"shares sum to {total:g}; they may sum to at most 1{equal}")
    return tuple(share / max(total, 1.0) * (1 - 2.0**-49) for share in shares)


_Kind = TypeVar("_Kind", bound="Budget")


class Budget(ABC):
    """An amount of privacy. A new kind is a frozen dataclass below this class and its row in `KINDS`.

    The first field is the amount: epsilon, rho, mu. A kind says how it splits, what it comes to as (epsilon,
    delta), what a charge of it implies and by which rule a ledger keeps a total of it. What a fit may spend
    under it is mu squared of Gaussian noise, unless it says otherwise.
    """

    pure: ClassVar[bool] = False
    """Whether it buys noise of pure epsilon, and no Gaussian."""
    example: ClassVar[str]
    """As a user may write it, for messages."""
    promised: ClassVar[str]
    """What it promises, for messages, with an article."""

    if TYPE_CHECKING:

        @property
        def mu(self) -> float:
            """Gaussian noise that it buys: sensitivity / sd, rounded down."""

        @property
        def epsilon(self) -> float:
            """Noise of pure epsilon that it buys, rounded down, if that is what it buys."""

    def __post_init__(self) -> None:
        unit, amount = next(iter(vars(self).items()))
        object.__setattr__(self, unit, _amount(unit, amount))

    def __truediv__(self, other: object) -> NoReturn:
        raise BudgetError("a budget is divided by split: a, b = budget.split(0.5, 0.5) gives its halves")

    __mul__ = __rmul__ = __truediv__

    @abstractmethod
    def split(self, *shares: float) -> tuple[Budget, ...]:
        """Parts that compose to at most this budget."""

    @abstractmethod
    def to_approx(self, delta: float) -> Approx:
        """What it implies at `delta`, rounded up."""

    @abstractmethod
    def promise(self, gaussian: bool = False) -> Promise:
        """What a charge of it implies, exactly; `gaussian` where all its noise is known to be Gaussian."""

    @abstractmethod
    def rule(self, first: Charge | None) -> Rule:
        """How charges add up under a total of this kind, of which `first` is the first."""

    @property
    def allowed(self) -> Fraction:
        """What the costs of a fit may add up to."""
        return Fraction(self.mu) ** 2

    def cost_of(self, price: Pure | Gdp) -> Fraction:
        """What a release adds to the costs of a fit."""
        return Fraction(price.to_gdp().mu) ** 2

    def to_dict(self) -> dict[str, float | str]:
        """Plain dictionary for JSON; :func:`from_dict` is its inverse."""
        return {"kind": type(self).__name__.lower(), **vars(self)}

    @property
    def unit(self) -> str:
        """Name of the amount."""
        return next(iter(vars(self)))

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
class Pure(Budget):
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

    pure = True
    example = "pure(1)"
    promised = "an epsilon"

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

    def promise(self, gaussian: bool = False) -> Promise:
        """Itself, rho and mu as `to_zcdp` and `to_gdp` have them, and no delta."""
        epsilon, mu = exact(self.epsilon), exact(convert.mu_of_pure(self.epsilon))
        return Promise(epsilon, rho=epsilon**2 / 2, square=mu**2, pair=(epsilon, Fraction(0)))

    def rule(self, first: Charge | None) -> Rule:
        """A total of pure epsilon is kept by adding epsilons."""
        return Rule(self, (exact(self.epsilon),), by_epsilon, lambda spent: Pure(max(up(spent[0]), LEAST)))

    @property
    def allowed(self) -> Fraction:
        """Epsilon: what the costs of a fit may add up to."""
        return Fraction(self.epsilon)

    def cost_of(self, price: Pure | Gdp) -> Fraction:
        """Epsilon; BudgetError of Gaussian noise."""
        if isinstance(price, Gdp):
            raise BudgetError("Gaussian noise promises no pure epsilon, however large")
        return Fraction(price.epsilon)

    def __add__(self, other: Pure) -> Pure:
        return Pure(convert.sum_up(self.epsilon, self._same_kind(other).epsilon))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}"


@forgetful
@dataclass(frozen=True)
class Zcdp(Budget):
    """Zero-concentrated differential privacy. Composes by adding rho.

    It implies no GDP guarantee in general; ``mu`` is what Gaussian releases may spend under it.
    """

    rho: float

    example = "zcdp(0.5)"
    promised = "a rho"

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

    def promise(self, gaussian: bool = False) -> Promise:
        """Itself; Gaussian noise of it has mu squared = 2 rho."""
        rho = exact(self.rho)
        return Promise.of_gaussian(2 * rho) if gaussian else Promise(rho=rho)

    def rule(self, first: Charge | None) -> Rule:
        """A total of zCDP is kept by adding rhos."""
        return Rule(self, (exact(self.rho),), by_rho, lambda spent: Zcdp(max(up(spent[0]), LEAST)))

    def cost_of(self, price: Pure | Gdp) -> Fraction:
        """Twice its rho, which is epsilon squared of a pure epsilon (Bun & Steinke 2016)."""
        return Fraction(price.amount) ** 2

    def __add__(self, other: Zcdp) -> Zcdp:
        return Zcdp(convert.sum_up(self.rho, self._same_kind(other).rho))

    def __str__(self) -> str:
        return f"rho = {self.rho:g} (zCDP)"


@forgetful
@dataclass(frozen=True)
class Gdp(Budget):
    """Gaussian differential privacy. Composes by adding mu squared."""

    mu: float

    example = "gdp(1)"
    promised = "a mu"

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

    def promise(self, gaussian: bool = False) -> Promise:
        """That of Gaussian noise, which dominates every other of this mu."""
        return Promise.of_gaussian(exact(self.mu) ** 2)

    def rule(self, first: Charge | None) -> Rule:
        """A total of GDP is kept by adding squares of mu."""
        limit = (exact(self.mu) ** 2,)
        return Rule(self, limit, by_square, lambda spent: Gdp(max(root_up(spent[0]), LEAST)), gaussian=True)

    def __add__(self, other: Gdp) -> Gdp:
        return Gdp(convert.hypot_up(self.mu, self._same_kind(other).mu))

    def __str__(self) -> str:
        return f"mu = {self.mu:g} (GDP)"


@forgetful
@dataclass(frozen=True)
class Approx(Budget):
    """(epsilon, delta)-differential privacy.

    ``a + b`` is basic composition, which holds for any two mechanisms. Gaussian releases under one
    (epsilon, delta) total are cheaper: their mu squared adds up to ``mu`` squared, hence ``split`` gives
    GDP budgets. It implies no zCDP and no GDP guarantee in general.
    """

    epsilon: float
    delta: float

    example = "approx(1, 1e-6)"
    promised = "an (epsilon, delta) promise"

    def __post_init__(self) -> None:
        super().__post_init__()
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

    def promise(self, gaussian: bool = False) -> Promise:
        """Itself; Gaussian noise of it has `mu`."""
        pair = exact(self.epsilon), exact(self.delta)
        return Promise.of_gaussian(exact(self.mu) ** 2, pair) if gaussian else Promise(pair=pair)

    def rule(self, first: Charge | None) -> Rule:
        """Squares of mu, rhos, or epsilons and deltas add up, as the first charge has it.

        The rule must not change on the way: an analyst could look at the releases, continue with Gaussian
        noise where that gains most and with a black box of (epsilon', delta') elsewhere, and end at nearly
        twice the delta. The first charge is made before anything was seen, so it may choose: Gaussian noise
        chooses mu squared, any other promise of a rho alone chooses rho, the rest choose epsilon and delta.
        """
        promise = None if first is None else first.promise
        if promise is None or promise.gaussian:
            return Rule(self, (exact(self.mu) ** 2,), by_square, self._of_square, gaussian=True)
        if promise.pair is None and promise.rho is not None:
            limit = exact(convert.rho_of_approx(self.epsilon, self.delta))
            return Rule(self, (limit,), by_rho, self._of_rho, room=self._room_of_rho)
        return Rule(self, (exact(self.epsilon), exact(self.delta)), by_pair, _of_pair, room=_room_of_pair)

    def _at(self, epsilon: float) -> Approx:
        return Approx(min(max(epsilon, LEAST), MOST), self.delta)  # no total lets more be spent

    def _of_square(self, spent: Amount) -> Approx:
        return self._at(convert.epsilon_of_mu(root_up(spent[0]), self.delta))

    def _of_rho(self, spent: Amount) -> Approx:
        return self._at(convert.epsilon_of_zcdp(up(spent[0]), self.delta))

    def _room_of_rho(self, left: Amount) -> Approx | None:
        rho = min(down(left[0]), MOST)
        return None if rho < LEAST else Zcdp(rho).to_approx(self.delta)

    def __add__(self, other: Approx) -> Approx:
        self._same_kind(other)
        return Approx(convert.sum_up(self.epsilon, other.epsilon), convert.sum_up(self.delta, other.delta))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"


KINDS: dict[str, type[Budget]] = {"pure": Pure, "zcdp": Zcdp, "gdp": Gdp, "approx": Approx}
"""Each kind, by the name that users write."""


def _of_pair(spent: Amount) -> Pure | Approx:
    epsilon, delta = min(max(up(spent[0]), LEAST), MOST), up(spent[1])
    return Approx(epsilon, delta) if delta else Pure(epsilon)


def _room_of_pair(left: Amount) -> Pure | Approx | None:
    epsilon, delta = down(left[0]), down(left[1])
    if epsilon < LEAST:
        return None
    return Approx(epsilon, delta) if delta >= LEAST_DELTA else Pure(epsilon)


def as_budget(name: str, value: object) -> Budget:
    """An argument that is a budget, checked anew: an amount may have been changed since it was made.

    Raises
    ------
    BudgetError
        If it is anything else, or not in order.
    """
    if not isinstance(value, Budget):
        text = "; dps.parse_budget reads a text" if isinstance(value, str) else ""
        raise BudgetError(
            f"{name} must be a budget such as approx(1, 1e-6) or zcdp(0.5), got {shown(value)}{text}"
        )
    value.__post_init__()
    return value
