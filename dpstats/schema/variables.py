"""The kinds of variable, each with what is public about it and a check of every mistake."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import EllipsisType
from typing import ClassVar

import numpy as np

from dpstats._arguments import plain, shown
from dpstats._private import forgetting
from dpstats.errors import SchemaError

OTHER = "other"
_MOST = sys.float_info.max  # an integer compares with it, where float() would fail
MAX_LEVELS = 32_000  # levels are kept as 16-bit codes

Code = str | int | float | bool


def _number(value: object, what: str) -> float:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        raise SchemaError(f"{what} must be a finite number, not {shown(value)}")
    return float(value)


def _unit(unit: object) -> None:
    if unit is not None and not isinstance(unit, str):
        raise SchemaError(f"unit must be a text such as 'days', not {shown(unit)}")


def level_text(value: object) -> str:
    """The text of a level: ``"a"`` is itself, ``1`` and ``1.0`` are ``"1"``, ``True`` is ``"True"``."""
    value = plain(value)
    if isinstance(value, str):
        text = value
    elif isinstance(value, float) and math.isfinite(value):
        text = str(int(value)) if value.is_integer() else repr(value)
    elif isinstance(value, int):
        text = str(value)
    else:
        raise SchemaError(
            f"a level must be a text or a finite number, not {shown(value)}; for several codes make a column "
            "that is 1 for any of them"
        )
    if not text:
        raise SchemaError(
            "a level must not be empty: an empty text stands for a missing value; give such cells a text of "
            "their own, as data['failed'].fillna('-') does"
        )
    return text


@dataclass(frozen=True)
class Bounded:
    """A number between two public bounds; values outside are moved to the nearer one."""

    lower: float
    upper: float
    unit: str | None = None
    kind: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        lower, upper = _number(self.lower, "the lower bound"), _number(self.upper, "the upper bound")
        if lower >= upper:
            remedy = "they are reversed" if lower > upper else "a variable needs room between its bounds"
            raise SchemaError(f"the lower bound {lower:g} is not below the upper bound {upper:g}: {remedy}")
        if not math.isfinite(upper - lower):
            raise SchemaError("the bounds are too far apart for floating-point numbers")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        _unit(self.unit)

    @property
    def bounds(self) -> tuple[float, float]:
        """Public lower and upper bound, in the variable's unit."""
        return self.lower, self.upper


@dataclass(frozen=True)
class Count:
    """A count between 0 and a public maximum; larger ones are moved to the maximum."""

    upper: int
    unit: str | None = None
    kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        upper = _number(self.upper, "the upper bound of a count")
        if upper < 1 or not upper.is_integer():
            raise SchemaError(
                f"the upper bound of a count must be a whole number from 1, not {shown(self.upper)}"
            )
        object.__setattr__(self, "upper", int(upper))
        _unit(self.unit)

    @property
    def bounds(self) -> tuple[float, float]:
        """0 and the public maximum."""
        return 0.0, float(self.upper)


@dataclass(frozen=True)
class _TwoCodes:
    """A variable with two codes, read as the number 1 or 0; any other value switches its row off."""

    @property
    def codes(self) -> tuple[str, str]:
        """The texts that are read as 1 and as 0."""
        one, zero = (level_text(getattr(self, f.name)) for f in dataclasses.fields(self))
        return one, zero

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of an indicator, 0 and 1."""
        return 0.0, 1.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))
        texts = [{"True": "1", "False": "0"}.get(text, text) for text in self.codes]
        if texts[0] == texts[1]:
            first, second = (f.name for f in dataclasses.fields(self))
            raise SchemaError(f"{first} and {second} have the same code {shown(self.codes[0])}")


@dataclass(frozen=True)
class Flag(_TwoCodes):
    """A yes or no, used as the number 1 or 0."""

    true: Code = 1
    false: Code = 0
    kind: ClassVar[str] = "flag"


@dataclass(frozen=True)
class Event(_TwoCodes):
    """The event indicator of a survival time: failed (1) or censored (0)."""

    failed: Code = 1
    censored: Code = 0
    kind: ClassVar[str] = "event"


@dataclass(frozen=True)
class Levels:
    """A category with public levels; the first is the reference, ``other=True`` catches all other values."""

    levels: tuple[str, ...]
    other: bool = False
    kind: ClassVar[str] = "levels"

    def __post_init__(self) -> None:
        declared: object = self.levels
        if not isinstance(declared, list | tuple):
            raise SchemaError(f"levels must be a list of texts, not {shown(declared)}")
        if not isinstance(self.other, bool):
            raise SchemaError(f"other must be true or false, not {shown(self.other)}")
        texts = tuple(level_text(level) for level in self.levels)
        object.__setattr__(self, "levels", texts)
        seen: dict[str, int] = {}
        for place, text in enumerate(texts, 1):
            first = seen.setdefault(text.strip(), place)
            if first < place:
                raise SchemaError(
                    f"a level is declared twice, as number {first} and number {place}; keep "
                    "one, as blanks around a name do not matter"
                )
        if self.other and OTHER in texts:
            raise SchemaError(f"other=True adds a level {OTHER!r}, which is declared already: drop one")
        if len(self.all) < 2:
            raise SchemaError(f"a category needs two levels or more, not {len(self.all)}; or other=True")
        if len(self.all) > MAX_LEVELS:
            raise SchemaError(f"a category can have at most {MAX_LEVELS} levels, not {len(self.all)}")

    @property
    def all(self) -> tuple[str, ...]:
        """All levels in order of their codes, the catch-all last."""
        return self.levels + (OTHER,) if self.other else self.levels


Variable = Bounded | Count | Flag | Event | Levels
KINDS: dict[str, type[Variable]] = {cls.kind: cls for cls in (Bounded, Count, Flag, Event, Levels)}


def usable(values: np.ndarray, variable: Variable) -> np.ndarray:
    """Which of the numbers or codes of a variable a fit can use; a row without one weighs nothing."""
    return np.asarray(values >= 0 if isinstance(variable, Levels) else np.isfinite(values))


def narrowed(variable: Variable, lower: float, upper: float) -> Variable:
    """A number with bounds within its own that lie about these; a variable of another kind as it is."""
    if isinstance(variable, Count):
        return dataclasses.replace(variable, upper=min(max(math.ceil(upper), 1), variable.upper))
    if isinstance(variable, Bounded):
        lower, upper = max(lower, variable.lower), min(upper, variable.upper)
        return dataclasses.replace(variable, lower=lower, upper=upper) if lower < upper else variable
    return variable


@forgetting
def bounded(lower: float, upper: float, unit: str | None = None) -> Bounded:
    """Declare a number between public bounds.

    Parameters
    ----------
    lower, upper : float
        Public: choose them by what is known of the variable, without a look at the rows. A value outside is
        moved to the nearer bound.
    unit : str, optional
        The unit that tables and plots show.

    Returns
    -------
    Bounded

    Raises
    ------
    SchemaError
        If the bounds are no finite numbers, or the lower is not below the upper.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.bounded(-40, 60, unit="C").bounds
    (-40.0, 60.0)
    """
    return Bounded(lower, upper, unit)


@forgetting
def count(upper: int, unit: str | None = None) -> Count:
    """Declare a count from 0 to a public maximum.

    Parameters
    ----------
    upper : int
        The maximum, from 1 on. A larger count is moved to it.
    unit : str, optional
        The unit that tables and plots show.

    Returns
    -------
    Count

    Raises
    ------
    SchemaError
        If the maximum is not a whole number from 1, or two bounds are given.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.count(20, unit="visits").bounds
    (0.0, 20.0)
    """
    if isinstance(unit, int | float):
        raise SchemaError(f"count takes the maximum alone, for counts begin at 0: count({shown(unit)})")
    return Count(upper, unit)


@forgetting
def flag(true: Code = 1, false: Code = 0) -> Flag:
    """Declare a yes or no by its two codes; a row with any other value weighs nothing.

    Parameters
    ----------
    true, false : str, int, float or bool
        The codes of yes and no.

    Returns
    -------
    Flag

    Raises
    ------
    SchemaError
        If a code is no text or number, both are the same, or a text is given for yes alone.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.flag(true="yes", false="no").codes
    ('yes', 'no')
    """
    if isinstance(true, str) and type(false) is int:
        raise SchemaError(f"flag({shown(true)}) has the number {false} for a no; say both, flag('yes', 'no')")
    return Flag(true, false)


@forgetting
def event(failed: Code = 1, censored: Code = 0) -> Event:
    """Declare the event indicator of a survival time by its two codes.

    Parameters
    ----------
    failed, censored : str, int, float or bool
        The code of a row that was seen to fail, and of one that was not.

    Returns
    -------
    Event

    Raises
    ------
    SchemaError
        If a code is no text or number, or both are the same.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.event(failed="dead", censored="alive").codes
    ('dead', 'alive')
    """
    return Event(failed, censored)


@forgetting
def levels(*names: Code | EllipsisType, other: bool = False) -> Levels:
    """Declare a category by its public levels, the reference first.

    Parameters
    ----------
    *names : str, int, float or bool
        Two or more. ``...`` as the last is the same as ``other=True``.
    other : bool
        Add the level "other" for all values that are not declared; without it such a row weighs nothing.

    Returns
    -------
    Levels

    Raises
    ------
    SchemaError
        If there are fewer than two levels, or one is declared twice.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.levels("HGST", "WDC", other=True).all
    ('HGST', 'WDC', 'other')
    """
    if names and names[-1] is Ellipsis:
        names, other = names[:-1], True
    given: list[object] = list(names)
    if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], str | bytes):
        wrong = shown(given[0])
        raise SchemaError(f"levels takes names, not {wrong}: give levels(*names), which everyone may know")
    return Levels(tuple(level_text(name) for name in names), other)
