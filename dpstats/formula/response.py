"""The left side of a formula: a survival time with its event and entry, an interval, or a number.

Failures that are known to lie between two times are seen at inspections, or are left-censored.
"""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.expressions import Arguments, Expression
from dpstats.formula.reader import (
    NARROWEST,
    function_name,
    is_comparison,
    parse,
    read_expression,
    read_number,
    require_declared,
    usable_bounds,
    variable_name,
)
from dpstats.schema import Event, Flag, Schema


class Ends(NamedTuple):
    """Between which times each row failed: from -inf where it is left-censored, to inf where right-censored.

    Both are the same time where a failure was seen.
    """

    lower: np.ndarray
    upper: np.ndarray


class Observed(NamedTuple):
    """Of each row: the response, 1 where it failed and 0 where it is right-censored, its entry and its ends.

    Ends are None where no failure can lie between two times.
    """

    value: np.ndarray
    event: np.ndarray
    entry: np.ndarray
    ends: Ends | None = None


def within(values: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Values moved into bounds; NaN to the lower one."""
    return np.fmin(np.fmax(values, bounds[0]), bounds[1])


@dataclass(frozen=True)
class IntervalResponse:
    """``Surv(lower, upper, type="interval2")``, or ``Surv(time, event, type="left")``, between public bounds.

    A row failed after `lower` and no later than `upper`; a missing or infinite end is open, and so is a
    lower end at or below 0 of a time that is positive by its bounds. Ends are used as they are, within their
    bounds or not: to cut an interval off at a bound, or to open it, would take from rows that failed beyond
    the bound what is left to those that survived it, and move the estimate. What a row may add is bounded
    without. A row whose ends are both open, or leave no time between them, is switched off.

    The point of a row, which the first stage of a fit takes for its time, is the time itself where it is
    known, the finite end where the other is open, and else the middle: of the logarithms of positive times.
    It is moved into the bounds.

    Attributes
    ----------
    text : str
    time_bounds : tuple of float
        Of the points.
    began, measured : Expression
        The lower and the upper end of the interval in which a unit failed.
    """

    text: str
    time_bounds: tuple[float, float]
    began: Expression = field(repr=False)
    measured: Expression = field(repr=False)
    _event: tuple[str, float] | None = field(default=None, repr=False)

    delayed = False
    all_failed = False
    entry_bounds = None
    entry = None

    @property
    def left(self) -> bool:
        """Whether a row without an event had failed before its time, and there are no other intervals."""
        return self._event is not None

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self.began.variables.union(self.measured.variables, (self._event or ())[:1])

    @property
    def open(self) -> frozenset[str]:
        """Those of which a missing value says something: nothing is known of that end."""
        return frozenset() if self._event else self.variables

    def read(
        self, raw: Mapping[str, np.ndarray], leaves: Mapping[str, np.ndarray], ok: np.ndarray
    ) -> Observed:
        """Each row of a block from values before clipping; ``ok`` loses rows of which nothing is known."""
        lower, upper = (np.broadcast_to(each.values(raw), ok.shape) for each in (self.began, self.measured))
        if self._event is not None:
            name, failed = self._event
            lower = np.where(leaves[name] == failed, lower, np.nan)
        positive = self.time_bounds[0] > 0
        least = 0.0 if positive else -np.inf
        ok &= ~((lower > upper) | (lower == np.inf) | (upper <= least))  # NaN is neither
        before, after = ~(lower > least), ~(upper < np.inf)
        ok &= ~(before & after)
        lower, upper = np.where(before, -np.inf, lower), np.where(after, np.inf, upper)
        middle = np.sqrt(lower) * np.sqrt(upper) if positive else lower / 2 + upper / 2
        middle = np.where(lower == upper, upper, middle)
        point = within(np.where(before, upper, np.where(after, lower, middle)), self.time_bounds)
        return Observed(
            point, (~after).astype(np.float64), np.broadcast_to(-np.inf, ok.shape), Ends(lower, upper)
        )


_BEFORE = 1e-3  # of the range of the time: how long rows are at risk before a lower bound that is not above 0


@dataclass(frozen=True)
class SurvResponse:
    """``Surv(time, event)`` or ``Surv(entry, time, event)``: a right-censored time between public bounds.

    ``Surv(time)``, without an event: failures only.

    A time beyond the upper bound is censored there (docs/theory/rows.md#times-and-entries), one below the
    lower is moved up.

    With an entry the time is left-truncated: the unit is there because it lived until then, and is watched
    from then on (docs/theory/survival.md#late-entry). An entry below its bounds is moved up, which leaves out
    what was seen before. One above them cannot be moved down, since nothing was seen there: such a row is
    switched off, and so is one that does not leave after it enters.
    """

    text: str
    time_bounds: tuple[float, float]
    measured: Expression = field(repr=False)  # the time when a row leaves
    event: tuple[str, float] | None = field(repr=False)  # the indicator of failures, and its value for one
    entry_bounds: tuple[float, float] | None = None
    entry: Expression | None = field(default=None, repr=False)

    open = frozenset[str]()

    @property
    def start(self) -> float:
        """Since when rows without an entry are at risk: before the lower bound of the time."""
        low, high = self.time_bounds
        return 0.0 if low > 0 else low - _BEFORE * (high - low)

    @property
    def all_failed(self) -> bool:
        """Whether the formula says that every row holds a time to failure."""
        return self.event is None

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        entry = self.entry.variables if self.entry else ()
        return self.measured.variables.union((self.event or ())[:1], entry)

    @property
    def delayed(self) -> bool:
        """Whether rows may enter late."""
        return self.entry is not None

    def read(
        self, raw: Mapping[str, np.ndarray], leaves: Mapping[str, np.ndarray], ok: np.ndarray
    ) -> Observed:
        """Each row of a block from its values before and after clipping; ``ok`` loses rows not watched."""
        before, clipped = self.measured.values(raw), self.measured.values(leaves)
        time = np.array(np.broadcast_to(within(clipped, self.time_bounds), ok.shape))
        # clipping that shortens a time says only that the unit lived at least that long
        failed = np.broadcast_to(~np.greater(before, clipped), ok.shape)
        if self.event is not None:
            name, one = self.event
            failed = failed & (leaves[name] == one)
        return Observed(time, failed.astype(np.float64), self._entered(raw, leaves, before, time, ok))

    def _entered(
        self,
        raw: Mapping[str, np.ndarray],
        leaves: Mapping[str, np.ndarray],
        left: np.ndarray,
        time: np.ndarray,
        ok: np.ndarray,
    ) -> np.ndarray:
        if self.entry is None or self.entry_bounds is None:
            return np.broadcast_to(-np.inf, ok.shape)
        before, clipped = self.entry.values(raw), self.entry.values(leaves)
        entry = np.array(np.broadcast_to(within(clipped, self.entry_bounds), ok.shape))
        never = np.greater_equal(before, left) | np.greater(before, clipped)  # NaN is neither
        ok &= (entry < time) & ~never
        return entry


@dataclass(frozen=True)
class NumericResponse:
    """A number between public bounds; or a yes or no, as 1 or 0: a flag, an event or a condition."""

    text: str
    bounds: tuple[float, float]
    measured: Expression = field(repr=False)
    yes_or_no: bool = field(default=False, repr=False)

    delayed, entry = False, None
    open = frozenset[str]()

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return self.measured.variables

    def read(
        self, raw: Mapping[str, np.ndarray], leaves: Mapping[str, np.ndarray], ok: np.ndarray
    ) -> Observed:
        """Response of each row of a block; every response is observed."""
        value = np.array(within(self.measured.values(leaves), self.bounds))
        return Observed(value, np.broadcast_to(1.0, ok.shape), np.broadcast_to(-np.inf, ok.shape))


Response = SurvResponse | IntervalResponse | NumericResponse


def read_response(code: str, schema: Schema) -> Response:
    """Read the left side of a formula.

    Raises
    ------
    FormulaError
        If it is neither ``Surv(time, event)``, with or without an entry, nor a condition or a numeric
        expression with public bounds.
    """
    tree = parse(code)
    if isinstance(tree, ast.Call) and function_name(tree) == "Surv":
        return _surv(tree, code, schema)
    expression = read_expression(tree, schema)
    if not expression.variables:
        raise FormulaError(f"the response {code!r} must be a number that depends on a variable")
    yes_or_no = is_comparison(expression) or isinstance(schema.get(expression.name or ""), Flag | Event)
    return NumericResponse(code, _room(expression, schema), expression, yes_or_no)


def unit_of(time: Expression, schema: Schema) -> str:
    """The declared unit of a time; empty where it has none, or the formula makes another time of it."""
    return getattr(schema.get(time.name or ""), "unit", None) or ""


def _multiple(time: Expression, schema: Schema) -> tuple[str, float] | None:
    """The unit of the one variable that a time is a multiple of, and which multiple; None of other times."""
    unit = getattr(schema[next(iter(time.variables))], "unit", None) if len(time.variables) == 1 else None
    if not unit:
        return None
    with np.errstate(all="ignore"):
        zero, one, two = np.broadcast_to(time.values(dict.fromkeys(time.variables, np.arange(3.0))), 3)
    return (unit, float(one)) if zero == 0 and one > 0 and math.isclose(two, 2 * one) else None


def _in_one_unit(first: Expression, last: Expression, code: str, schema: Schema) -> None:
    """Refuse two times whose declared units differ, or of which the formula converts one alone."""
    began, ended = (_multiple(time, schema) for time in (first, last))
    if began and ended and began[0] == ended[0] and not math.isclose(began[1], ended[1]):
        raise FormulaError(
            f"{code!r}: {first.text!r} and {last.text!r} are of variables in {began[0]}, and one of them is "
            "converted alone; both must be in one unit"
        )
    one, other = (unit_of(time, schema) for time in (first, last))
    if one and other and one != other:
        raise FormulaError(
            f"{code!r}: {first.text!r} is declared in {one} and {last.text!r} in {other}, and both must "
            "be in one unit; convert one of them in the formula, such as Surv(entry * 24, time, event) of "
            "days and hours, or declare one unit for both"
        )


def _room(expression: Expression, schema: Schema) -> tuple[float, float]:
    lower, upper = usable_bounds(expression, schema)
    if lower >= upper:
        raise FormulaError(f"the response {expression.text!r} is {lower:g} everywhere in the public bounds")
    return lower, upper


def _room_of_time(time: Expression, schema: Schema) -> tuple[float, float]:
    """The same of a time, whose logarithms are taken: it is 0, or a number that products leave above 0."""
    lower, upper = _room(time, schema)
    if 0 < lower < NARROWEST:
        raise FormulaError(
            f"the time {time.text!r} has the lower bound {lower:g}, next to 0; in the schema declare one of "
            f"{NARROWEST:g} or more, before which hardly any row leaves"
        )
    return lower, upper


def _surv(tree: ast.Call, code: str, schema: Schema) -> SurvResponse | IntervalResponse:
    kind, tree = _kind(tree)
    if kind == "interval2":
        return _between(tree, code, schema)
    given = _surv_arguments(tree)
    if "event" in given and "censored" in given:
        raise FormulaError(
            f"{code!r} needs an event indicator of one kind: Surv(time, event) or Surv(time, censored=c)"
        )
    time = _dated(given.tree("time"), code, schema)
    bounds = _room_of_time(time, schema)
    if kind == "left":
        event = _indicator(given, schema)
        if event is None or "entry" in given:
            raise FormulaError(
                f"{code!r}: type='left' is for failures that were seen or had happened before, without an "
                "entry; write Surv(time, event, type='left')"
            )
        return IntervalResponse(code, bounds, time, time, event)
    entry = _read_time(given.tree("entry"), schema) if "entry" in given else None
    if kind == "counting" and entry is None:
        raise FormulaError(f"{code!r}: type='counting' needs an entry; write Surv(entry, time, event)")
    if entry is not None:
        _in_one_unit(entry, time, code, schema)
    entry_bounds = None if entry is None else _entry_room(entry, time, bounds, schema)
    return SurvResponse(code, bounds, time, _indicator(given, schema), entry_bounds, entry)


def _kind(tree: ast.Call) -> tuple[str, ast.Call]:
    """The type of censoring, as R's Surv has it, and the call without that argument."""
    kinds = [word.value for word in tree.keywords if word.arg == "type"]
    if not kinds:
        return "right", tree
    kind = kinds[0].value if isinstance(kinds[0], ast.Constant) else None
    if kind not in ("right", "counting", "left", "interval2"):
        raise FormulaError(
            f"{ast.unparse(tree)!r}: type is 'right', 'counting', 'left' or 'interval2'; write "
            "Surv(lower, upper, type='interval2') for failures between two times, with a missing upper end "
            "where a row had not failed, a missing lower one where it failed before the upper, and the same "
            "time twice where it was seen to fail"
        )
    rest = [word for word in tree.keywords if word.arg != "type"]
    return str(kind), ast.Call(func=tree.func, args=tree.args, keywords=rest)


def written_once(surv: ast.Call) -> ast.Call:
    """One spelling of all that mean the same: arguments in their places, without a type that is plain.

    An entry and ``censored=`` keep their names where no event says which places are meant.
    """
    kind, tree = _kind(surv)
    if kind == "interval2":
        given, places = Arguments(tree, "lower", "upper"), ["lower", "upper"]
    else:
        given = _surv_arguments(tree)
        places = [name for name in ("entry", "time", "event") if name in given]
        places = places if "event" in given else ["time"]
    named = [ast.keyword(name, given.tree(name)) for name in ("entry", "censored") if name in given]
    if kind in ("interval2", "left"):
        named.append(ast.keyword("type", ast.Constant(kind)))
    rest = [word for word in named if word.arg not in places]
    return ast.Call(surv.func, [given.tree(name) for name in places], rest)


def _between(tree: ast.Call, code: str, schema: Schema) -> IntervalResponse:
    """Failures between two times."""
    given = Arguments(tree, "lower", "upper")
    lower, upper = (_dated(given.tree(name), code, schema) for name in ("lower", "upper"))
    _in_one_unit(lower, upper, code, schema)
    (lowest, low), (high, highest) = (_room_of_time(time, schema) for time in (lower, upper))
    if not lowest < highest:
        raise FormulaError(
            f"{code!r}: no row failed between {lower.text!r}, at least {lowest:g}, and {upper.text!r}, at "
            f"most {highest:g} by the public bounds; the order is Surv(lower, upper, type='interval2')"
        )
    least = (lowest if lowest > 0 else high) if high > 0 else min(lowest, high)
    return IntervalResponse(code, (least, max(low, highest)), lower, upper)


def _dated(tree: ast.expr, code: str, schema: Schema) -> Expression:
    time = _read_time(tree, schema)
    if not time.variables:
        raise FormulaError(f"{code!r} needs a time that depends on a variable")
    return time


def _indicator(given: Arguments, schema: Schema) -> tuple[str, float] | None:
    """The variable that says which rows failed, and its value for them; None if all did."""
    if "event" not in given and "censored" not in given:
        return None
    word = "event" if "event" in given else "censored"
    indicator = given.tree(word)
    name = variable_name(indicator)
    if name is None:
        raise FormulaError(
            f"{ast.unparse(indicator)!r} must be a variable declared as event(failed=..., censored=...): "
            "which value means failed, such as failed=2, is said there and not in the formula"
        )
    require_declared(name, schema, "event(failed=..., censored=...)")
    if word == "censored" and isinstance(schema[name], Event):
        raise FormulaError(
            f"{name!r} is declared as an event, so write Surv(time, {name}); censored= takes a flag()"
        )
    if not isinstance(schema[name], Event | Flag):
        order = "; the order is Surv(entry, time, event)"
        if "entry" not in given:
            order = (
                "; an entry of rows that all failed is Surv(time, entry=...), and a failure between two "
                "times Surv(lower, upper, type='interval2')"
            )
        raise FormulaError(
            f"{name!r} is declared as {schema[name].kind}: for an event indicator use "
            f"{name}=event(failed=..., censored=...){order}"
        )
    return name, 1.0 if word == "event" else 0.0


def _read_time(tree: ast.expr, schema: Schema) -> Expression:
    expression, name = read_number(tree, schema), variable_name(tree)
    if name is not None and isinstance(schema[name], Event | Flag):
        raise FormulaError(
            f"{name!r} is declared as {schema[name].kind} and stands for a time; the order is "
            "Surv(time, event), or Surv(entry, time, event)"
        )
    return expression


def _surv_arguments(tree: ast.Call) -> Arguments:
    """As in R: of three times and indicators in a row, or of two before ``censored=``, the first is entry."""
    named = any(word.arg == "censored" for word in tree.keywords)
    if len(tree.args) >= (2 if named else 3):
        return Arguments(tree, "entry", "time", "censored" if named else "event")
    return Arguments(tree, "time", "event", "censored", "entry")


def _entry_room(
    entry: Expression, time: Expression, bounds: tuple[float, float], schema: Schema
) -> tuple[float, float]:
    """Public bounds of the entry, which must leave room for some row to be watched."""
    lower, upper = usable_bounds(entry, schema)
    if entry == time:
        raise FormulaError(f"no row is ever watched: {entry.text!r} is both its entry and its end")
    if lower >= bounds[1]:
        raise FormulaError(
            f"no row is ever watched: the entry {entry.text!r} is at least {lower:g} and the "
            f"time {time.text!r} at most {bounds[1]:g} by the public bounds; the order is "
            "Surv(entry, time, event), both since the same origin"
        )
    return lower, upper
