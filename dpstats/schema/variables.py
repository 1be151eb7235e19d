"""The kinds of variable, each with what is public about it and a check of every mistake.

Besides, how long several numbers of one row are together at most, and whose privacy a fit protects: one row,
or all rows of one person, machine or household.
"""

import math
import sys
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields, replace
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
    all: ClassVar[tuple[str, ...]] = ()

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
    all: ClassVar[tuple[str, ...]] = ()

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


_AS_DIGITS = {"True": "1", "False": "0"}  # cells that have one code, as truth values and numbers


@dataclass(frozen=True)
class _TwoCodes:
    """A variable with two codes, read as the number 1 or 0; any other value switches its row off."""

    @property
    def codes(self) -> tuple[str, str]:
        """The texts that are read as 1 and as 0."""
        one, zero = (level_text(getattr(self, f.name)) for f in fields(self))
        return one, zero

    @property
    def all(self) -> tuple[str, ...]:
        """Both codes in the order of the numbers that they are read as."""
        return self.codes[::-1]

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of an indicator, 0 and 1."""
        return 0.0, 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))
        texts = [_AS_DIGITS.get(text, text) for text in self.codes]
        if texts[0] == texts[1]:
            first, second = (f.name for f in fields(self))
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
        if not isinstance(self.levels, list | tuple):
            raise SchemaError(f"levels must be a list of texts, not {shown(self.levels)}")
        if not isinstance(self.other, bool):
            raise SchemaError(f"other must be true or false, not {shown(self.other)}")
        texts = tuple(level_text(level) for level in self.levels)
        object.__setattr__(self, "levels", texts)
        seen: dict[str, int] = {}
        for place, text in enumerate(texts, 1):
            first = seen.setdefault(_AS_DIGITS.get(text.strip(), text.strip()), place)
            if first < place:
                raise SchemaError(
                    f"a level is declared twice, the first in place {first} and the second in place {place}; "
                    "keep one, as blanks around a name do not matter, and True is 1"
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

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of a level's number."""
        return 0.0, len(self.all) - 1.0


Variable = Bounded | Count | Flag | Event | Levels
KINDS: dict[str, type[Variable]] = {cls.kind: cls for cls in (Bounded, Count, Flag, Event, Levels)}


def usable(values: np.ndarray, variable: Variable) -> np.ndarray:
    """Which of the numbers or codes of a variable a fit can use; a row without one weighs nothing."""
    return np.asarray(values >= 0 if isinstance(variable, Levels) else np.isfinite(values))


def narrowed(variable: Variable, lower: float, upper: float) -> Variable:
    """A number with bounds within its own that lie about these; a variable of another kind as it is."""
    if isinstance(variable, Count):
        return replace(variable, upper=min(max(math.ceil(upper), 1), variable.upper))
    if isinstance(variable, Bounded):
        lower, upper = max(lower, variable.lower), min(upper, variable.upper)
        return replace(variable, lower=lower, upper=upper) if lower < upper else variable
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
        raise SchemaError(
            f"levels takes names, not {wrong}: write levels('a', 'b') without brackets, of names that "
            "everyone may know"
        )
    return Levels(tuple(level_text(name) for name in names), other)


@dataclass(frozen=True)
class Norm:
    """The Euclidean length of some variables of a row; a longer row is shortened to it.

    Attributes
    ----------
    columns : tuple of str
    radius : float
        In the variables' own units.
    """

    columns: tuple[str, ...]
    radius: float
    kind: ClassVar[str] = "norm"

    def __post_init__(self) -> None:
        texts = isinstance(self.columns, list | tuple) and all(isinstance(one, str) for one in self.columns)
        if not texts or len(self.columns) < 2:
            raise SchemaError(
                "a norm needs the names of two variables or more, such as norm('x', 'z', radius=1), not "
                f"{shown(self.columns)}"
            )
        if len(set(self.columns)) < len(self.columns):
            raise SchemaError(f"a norm names a variable twice: {', '.join(map(repr, self.columns))}")
        radius = _number(self.radius, "the radius of a norm")
        if not 1e-100 < radius < 1e100:
            raise SchemaError(f"the radius of a norm must be positive, not {radius:g}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "radius", radius)

    def read(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of its variables that are among `names`."""
        return tuple(name for name in self.columns if name in names)

    def stretch(self, values: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
        """Length of each row over the radius, for those of its variables that are in `names`."""
        with np.errstate(all="ignore"):  # a square beyond all numbers is a length beyond the radius
            return np.sqrt(sum((values[name] / self.radius) ** 2 for name in self.read(names)))

    def shorten(self, values: MutableMapping[str, np.ndarray], names: Sequence[str]) -> None:
        """Shorten, in place, the rows that are longer than the radius.

        They keep their direction. A row's numbers decide about that row alone, and values between bounds
        that hold 0 stay between them, as each is multiplied by the same number from 0 to 1.
        """
        if self.read(names):
            factor = 1 / np.maximum(self.stretch(values, names), 1.0)
            for name in self.read(names):
                np.multiply(values[name], factor, out=values[name])

    def __str__(self) -> str:
        return f"norm of {', '.join(self.columns)}"


def check_norms(norms: Sequence[Norm], variables: Mapping[str, Variable]) -> None:
    """Refuse norms of what is no number, or cannot be shortened within its bounds, or is in two norms.

    Raises
    ------
    SchemaError
    """
    seen: set[str] = set()
    for norm in norms:
        for name in norm.columns:
            if name not in variables:
                raise SchemaError(f"a norm needs {name!r} to be declared; declare it as bounded()")
            variable = variables[name]
            if not isinstance(variable, Bounded | Count):
                raise SchemaError(f"{name!r} is declared as {variable.kind}; a norm is of numbers")
            lower, upper = variable.bounds
            if not lower <= 0 <= upper:
                raise SchemaError(
                    f"{name!r} lies between {lower:g} and {upper:g}; a norm is the distance from 0, which "
                    "must lie within the bounds: subtract a public centre from the column first"
                )
            if name in seen:
                raise SchemaError(f"{name!r} is in two norms; keep one")
            seen.add(name)


MOST_ROWS = 10**9
# the key of a block of rows under which it says which of them weigh; no variable can have this name
WEIGHS = ""


@dataclass(frozen=True)
class Unit:
    """The unit of privacy.

    Attributes
    ----------
    column : str or None
        Names the unit of each row; None for a unit of one row.
    max_rows : int
        How many rows of a unit weigh: those whose cells have the least hashes. The others, and rows without
        a unit, weigh nothing.
    """

    column: str | None = None
    max_rows: int = 1
    kind: ClassVar[str] = "unit"

    def __post_init__(self) -> None:
        if self.column is None:
            if self.max_rows != 1:
                raise SchemaError("a unit of more than one row needs the name of its column")
            return
        if not isinstance(self.column, str) or not self.column:
            raise SchemaError(
                f"the column of a unit must be a text such as 'serial', not {shown(self.column)}"
            )
        if self.column == "row":
            raise SchemaError("rename the column 'row' of the unit: 'one row' means that each row is a unit")
        rows = plain(self.max_rows)
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
            raise SchemaError(f"max_rows must be a whole number from 1 to {MOST_ROWS:,}, not {shown(rows)}")
        object.__setattr__(self, "max_rows", rows)

    @property
    def short(self) -> str:
        """What is protected: ``one row``, ``one serial``."""
        return f"one {self.column or 'row'}"

    @property
    def adjacency(self) -> str:
        """What neighbouring data sets differ in: ``replace one row``, ``replace one serial``."""
        return f"replace {self.short}"

    @property
    def limit(self) -> str:
        """``at most 2 rows``."""
        return f"at most {self.max_rows} {'row' if self.max_rows == 1 else 'rows'}"

    def __str__(self) -> str:
        return f"{self.column} ({self.limit})" if self.column else self.short


ROW = Unit()
