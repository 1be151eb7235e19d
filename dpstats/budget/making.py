"""Budgets as users write them, and from texts and dictionaries."""

import dataclasses
import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context

from dpstats._arguments import shown
from dpstats._private import forgetting
from dpstats.budget.kinds import KINDS, Approx, Budget, Gdp, Pure, Zcdp
from dpstats.errors import BudgetError

# epsilon: who holds one chance in 5e8 that a person is in the table may be as sure as not after e^20
_NEXT_TO_NOTHING = 20.0


@forgetting
def pure(epsilon: float) -> Pure:
    """Make a budget of epsilon-differential privacy, without a delta.

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
    """Make a budget of zero-concentrated differential privacy.

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
    """Make a budget of Gaussian differential privacy.

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
    """Make a budget of (epsilon, delta)-differential privacy, the usual kind.

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


def measure(budget: Budget) -> float:
    """Epsilon if it buys noise of pure epsilon, otherwise mu: noise is in inverse proportion to it."""
    return budget.epsilon if budget.pure else budget.mu


def delta_of(budget: Budget) -> float | None:
    """Its delta, if it has one."""
    return vars(budget).get("delta")


def stated_delta(budget: Budget) -> float:
    """Delta at which epsilons are told: its own, else one in a million."""
    return delta_of(budget) or 1e-6


def worded(budget: Budget) -> str:
    """In words for tables: with the epsilon that rho and mu come to, or that it does not bind."""
    implied = budget.to_approx(stated_delta(budget))
    if implied.epsilon > _NEXT_TO_NOTHING:
        return f"{budget}, protects next to nothing"
    if "epsilon" in vars(budget):
        return str(budget)
    above = Context(prec=3, rounding=ROUND_CEILING).create_decimal(implied.epsilon)
    return f"{budget}: epsilon = {float(above):g} at delta = {implied.delta:g}"


def scaled(budget: Budget, factor: float, digits: int = 15) -> Budget:
    """A budget of the same kind and delta, its amount times a factor, to so many digits."""
    return from_dict(budget.to_dict() | {budget.unit: float(f"{budget.amount * factor:.{digits}g}")})


def from_dict(record: Mapping[str, float | str]) -> Budget:
    """Budget from the dictionary that ``to_dict`` writes; BudgetError names what is wrong with another."""
    kind = str(record.get("kind"))
    if kind not in KINDS:
        raise BudgetError(f"the kind of a budget is one of {', '.join(KINDS)}; got {shown(kind)}")
    names = _fields(kind)
    if set(record) != {"kind", *names}:
        given = ", ".join(map(shown, sorted(set(record) - {"kind"})))
        raise BudgetError(f"a {kind} budget has {' and '.join(names)}; got {given}")
    return KINDS[kind](**{name: record[name] for name in names})


def _fields(kind: str) -> list[str]:
    return [field.name for field in dataclasses.fields(KINDS[kind])]  # type: ignore[arg-type]


@forgetting
def parse_budget(text: str) -> Budget:
    """Read a budget from text: ``zcdp(0.5)``, ``approx(1, 1e-6)`` or ``approx(epsilon=1, delta=1e-6)``.

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
    *most, last = (kind.example for kind in KINDS.values())
    problem = f"cannot read the budget {shown(text)}: write {', '.join(most)} or {last}"
    match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text) if isinstance(text, str) else None
    if match is None or match[1] not in KINDS:
        raise BudgetError(problem)
    names = _fields(match[1])
    items = [item.strip() for item in match[2].split(",")]
    if len(items) != len(names):
        raise BudgetError(problem)
    record: dict[str, float | str] = {"kind": match[1]}
    for expected, item in zip(names, items, strict=True):
        name, equals, value = item.rpartition("=")
        record[name.strip() if equals else expected] = value.strip()
    return from_dict(record)
