"""Filling a block of design rows, column by column, without patsy.

The buffer is column-major, so that each column is written once and contiguously
(docs/architecture.md#blocks); a column that is a plain variable or a single expression is computed in its
place and used from there in interactions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.beside import Offset, Subset, Weights
from dpstats.formula.expressions import ANYWHERE, clip_into
from dpstats.formula.factors import CategoricalFactor, Factor, NumericFactor
from dpstats.formula.layout import Atom, Columns
from dpstats.formula.response import Ends, Response
from dpstats.formula.strata import Axis, Strata
from dpstats.schema import WEIGHS, Levels, usable

LOOKS = 1024  # of the bounds; two jumps that undo each other within one are not seen
LEAST = 1e-6  # share of a function's range that a jump is
SPLIT = 0.382  # the smaller part of a cell, such that no steps at equal distances look straight
LINES = 20  # rows that hold the other variables of an expression where its jumps are looked for


@dataclass(frozen=True, repr=False)
class Block:
    """Some rows of a design.

    Attributes
    ----------
    exog : array of shape (rows, p), column-major
        Zero where a row is switched off.
    endog : array of shape (rows,)
        The response, or the time of a survival response; inside its bounds even where a row is switched off.
    event : array of shape (rows,)
        1 where the time is a failure, 0 where it is censored; ones for a numeric response.
    entry : array of shape (rows,)
        When the row began to be watched, before ``endog`` where it is not switched off; -inf without entries.
    ends : Ends or None
        Between which times each row failed, where a failure may lie between two; ``endog`` is its point then.
    stratum : int array of shape (rows,)
        The number of each row's stratum, any where it is switched off; zeros without strata.
    kept : bool array of shape (rows,)
        Which rows are meant to count: those inside the subset that weigh by their unit of privacy. Of these,
        the ones that are not ``ok`` lack something.
    ok : bool array of shape (rows,)
        False where a row is switched off.
    offset : array of shape (rows,)
        What is added to the linear predictor; zeros without ``offset()``. Inside its bounds like ``endog``.
    weight : array of shape (rows,)
        Between 0 and 1, the row's weight as a share of its public maximum; ones without weights. Like
        ``endog`` it counts only where the row is not switched off.
    """

    exog: np.ndarray
    endog: np.ndarray
    event: np.ndarray
    entry: np.ndarray
    ok: np.ndarray
    offset: np.ndarray
    weight: np.ndarray
    ends: Ends | None = None
    stratum: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    kept: np.ndarray = field(default_factory=lambda: np.ones(1, dtype=bool))

    @property
    def time(self) -> np.ndarray:
        """The time of a survival response; the same as ``endog``."""
        return self.endog

    @cached_property
    def span(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest entry of each column of exog, NaN where one is, shape (p,) each."""
        return self.exog.min(axis=0), self.exog.max(axis=0)


class Memory(Protocol):
    """Gives an array of a name and a shape, with arbitrary contents; perhaps one that it gave before."""

    def __call__(self, name: str, *shape: int) -> np.ndarray: ...


def fresh(name: str, *shape: int) -> np.ndarray:
    return np.empty(shape)


@dataclass(frozen=True, repr=False, eq=False)
class Filler(Columns):
    """What fills the columns of a design, its response, offset and weights, row by row."""

    response: Response
    offset: Offset | None
    _weights: Weights | None
    _subset: Subset | None
    _strata: Strata | None
    _axis: Axis | None  # what lays the rows of strata beside one another on one axis of time

    @cached_property
    def covariates(self) -> tuple[str, ...]:
        """The declared variables that the right-hand side reads, in strata too; new data must have them."""
        parts = (*self._factors.values(), self.offset, self._strata)
        read = frozenset().union(*(part.variables for part in parts if part))
        return tuple(name for name in self.schema if name in read)

    @cached_property
    def free(self) -> frozenset[str]:
        """Variables that stand in the offset alone, whose effect is known wherever they are."""
        parts = (*self._factors.values(), self._strata)
        told = frozenset().union(*(part.variables for part in parts if part))
        return frozenset(self.offset.variables - told if self.offset else ())

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """All declared variables that are read, in the schema's order."""
        parts = (self.response, self._weights, self._subset)
        read = frozenset(self.covariates).union(*(part.variables for part in parts if part))
        return tuple(name for name in self.schema if name in read)

    def read(self, raw: Mapping[str, np.ndarray], memory: Memory | None = None) -> Block:
        """Turn a block of declared columns (see `dpstats.rows.Rows.blocks`) into rows of the design.

        Values are moved into their bounds, but for the condition of a subset. A row with a missing,
        non-finite or undeclared value is switched off, and so is one of weight 0 or outside the subset:
        ``ok`` is False there and its exog is zero. No value gives an error or a warning. The exog is a view
        of an array of `memory`, and holds until that is asked for again.
        """
        response, strata = self.response, self._strata
        size = len(next(iter(raw.values())))
        kept = self.inside(raw, size)
        if WEIGHS in raw:
            kept &= raw[WEIGHS]
        ok = kept.copy()
        with np.errstate(all="ignore"):
            exog = (memory or fresh)("exog", len(self._columns), size).T
            weighing = self._weights.variables if self._weights else ()
            leaves = self._leaves(
                raw, exog, ok, {*self.covariates, *weighing, *(response.variables - response.open)}
            )
            observed = response.read(raw, leaves, ok)
            stratum = strata.codes(leaves, ok) if strata else np.broadcast_to(0, len(ok))
            endog, event, entry, ends = self._axis.laid(observed, stratum) if self._axis else observed
            self._fill(leaves, exog, ok)
            offset = _column(self.offset, 0.0, leaves, ok)
            weight = _column(self._weights, 1.0, leaves, ok)
            _switch_off(exog, ok)
        return Block(exog, endog, event, entry, ok, offset, weight, ends, stratum, kept)

    def by_stratum(self) -> tuple[np.ndarray | None, ...]:
        """Values of each column by the number of the stratum, None where rows of one have several.

        Raises
        ------
        FormulaError
            If a column is of the variables of the strata and is not coded as they are.
        """
        return tuple(self._by_stratum(product) for product in self._columns)

    def _by_stratum(self, product: Sequence[Atom]) -> np.ndarray | None:
        strata = self._strata
        assert strata is not None
        read = frozenset().union(*(self._factors[atom.factor].variables for atom in product))
        if not read <= strata.variables:
            return None
        values = np.ones(strata.count)
        for atom in product:
            flag = f"C({atom.factor})"
            if atom.table is not None and atom.factor in strata.terms:
                values *= atom.table[strata.of_level(atom.factor)]
            elif atom.table is None and flag in strata.terms:
                values *= strata.of_level(flag)
            elif atom.table is None:
                return None
            else:
                known = " * ".join(strata.terms)
                raise FormulaError(
                    f"{atom.factor!r} has other levels than {strata.text}, of the same variable; write "
                    f"{known}, or the same levels in both"
                )
        return values

    def steps(self, name: str, leaves: Mapping[str, np.ndarray]) -> tuple[str, ...]:
        """Factors and the offset, if they jump as one number alone changes, at some of the rows `leaves`."""
        parts = [*self._factors.items(), *([(self.offset.text, self.offset)] if self.offset else [])]
        found = (code for code, part in parts if name in part.variables and self._jumps(part, name, leaves))
        return tuple(found)

    def _jumps(self, part: Factor | Offset, name: str, leaves: Mapping[str, np.ndarray]) -> bool:
        rows = np.unique(np.linspace(0, len(leaves[name]) - 1, LINES).astype(int))
        if len(part.variables) == 1:
            rows = rows[:1]

        def at(row: int, values: np.ndarray) -> Sequence[np.ndarray]:
            held = {each: np.full(len(values), leaves[each][row]) for each in part.variables}
            return part.columns(held | {name: values})

        with np.errstate(all="ignore"):
            return any(jumps(partial(at, row), self.schema[name].bounds) for row in rows)

    @property
    def subsetting(self) -> frozenset[str]:
        """The declared variables that the subset reads."""
        return self._subset.variables if self._subset else frozenset()

    def inside(self, raw: Mapping[str, np.ndarray], size: int) -> np.ndarray:
        """Which rows are inside the subset."""
        return self._subset.holds(raw, self.schema) if self._subset else np.ones(size, dtype=bool)

    def columns(self, raw: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the design without a response, and which of them weigh; else as :meth:`read`."""
        exog, _, ok, _ = self._predictor(raw, len(next(iter(raw.values()))))
        if self._subset:
            ok &= self._subset.holds(raw, self.schema)
            _switch_off(exog, ok)
        return exog, ok

    def _predictor(
        self, raw: Mapping[str, np.ndarray], size: int, clip: bool = True, free: frozenset[str] = frozenset()
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Fill the columns and the offset alone; then which rows are valid, and the variables as used.

        Without `clip`, values, terms and offset are left where they are: public rows, for extrapolation. So
        are variables that are `free`, and with them the offset.
        """
        ok, left = np.ones(size, dtype=bool), bool(free) or not clip
        with np.errstate(all="ignore"):
            exog = np.empty((size, len(self._columns)), order="F")
            leaves = self._leaves(raw, exog, ok, set(self.covariates), clip, free)
            self._fill(leaves, exog, ok, clip)
            sum_of = replace(self.offset, bounds=ANYWHERE) if self.offset and left else self.offset
            offset = _column(sum_of, 0.0, leaves, ok)
            if left:
                ok &= np.isfinite(exog).all(axis=1) & np.isfinite(offset)
            _switch_off(exog, ok)
        return exog, offset, ok, leaves

    def _leaves(
        self,
        raw: Mapping[str, np.ndarray],
        exog: np.ndarray,
        ok: np.ndarray,
        names: set[str],
        clip: bool = True,
        free: frozenset[str] = frozenset(),
    ) -> dict[str, np.ndarray]:
        """Variables clipped to their bounds; ``ok`` loses the rows that lack one."""
        leaves: dict[str, np.ndarray] = {}
        for name in names:
            variable, values = self.schema[name], raw[name]
            finite = usable(values, variable)
            ok &= finite
            if isinstance(variable, Levels):
                leaves[name] = values
                continue
            home = self._homes[0].get(name)
            leaf = np.empty(len(values)) if home is None else exog[:, home]
            lower, upper = variable.bounds if clip and name not in free else ANYWHERE
            if not finite.all():
                values = np.where(np.isnan(values), lower, values)  # as in clip_into
            leaves[name] = np.clip(values, lower, upper, out=leaf)
        for norm in self.schema.norms if clip else ():
            norm.shorten(leaves, self.covariates)
        return leaves

    def _fill(
        self, leaves: Mapping[str, np.ndarray], exog: np.ndarray, ok: np.ndarray, clip: bool = True
    ) -> None:
        values: dict[tuple[str, int], np.ndarray] = {}
        codes: dict[str, np.ndarray] = {}
        for code, factor in self._factors.items():
            if isinstance(factor, CategoricalFactor):
                codes[code] = factor.codes(leaves)
            elif isinstance(factor, NumericFactor) and factor.variable is not None:
                values[code, 0] = leaves[factor.variable]
            else:
                for index, computed in enumerate(factor.columns(leaves)):
                    home = self._homes[1].get((factor.code, index))
                    out = np.empty(len(exog)) if home is None else exog[:, home]
                    clip_into(computed, factor.bounds[index] if clip else ANYWHERE, ok, out)
                    values[factor.code, index] = out
        in_place = {column for homes in self._homes for column in homes.values()}
        for column, product in enumerate(self._columns):
            if column not in in_place:
                _multiply(product, values, codes, exog[:, column])


def _column(
    filled: Offset | Weights | None, without: float, leaves: Mapping[str, np.ndarray], ok: np.ndarray
) -> np.ndarray:
    if filled is None:
        return np.broadcast_to(without, ok.shape)  # one number, read-only: costs nothing
    out = np.empty(ok.shape)
    filled.fill(leaves, ok, out)
    return out


def _switch_off(exog: np.ndarray, ok: np.ndarray) -> None:
    """Make zero the rows that are not ok."""
    if not ok.all():
        exog[~ok] = 0.0


def _multiply(
    product: Sequence[Atom],
    values: Mapping[tuple[str, int], np.ndarray],
    codes: Mapping[str, np.ndarray],
    out: np.ndarray,
) -> None:
    """Write a product into its column, in the order in which its bounds were multiplied."""
    if not product:
        out[:] = 1.0
        return
    _write(product[0], values, codes, out)
    for atom in product[1:]:
        if atom.table is None:
            np.multiply(out, values[atom.factor, atom.index], out=out)
        else:
            np.multiply(out, np.take(atom.table, codes[atom.factor], mode="clip"), out=out)


def _write(
    atom: Atom, values: Mapping[tuple[str, int], np.ndarray], codes: Mapping[str, np.ndarray], out: np.ndarray
) -> None:
    if atom.table is None:
        out[:] = values[atom.factor, atom.index]
    else:  # a missing level (-1) takes the first row of the table; its row is switched off
        np.take(atom.table, codes[atom.factor], out=out, mode="clip")


def jumps(columns: Callable[[np.ndarray], Sequence[np.ndarray]], bounds: tuple[float, float]) -> bool:
    """Whether one of the columns changes at once somewhere between the bounds.

    Comparisons, intervals of `cut` and roundings do, and hinges do not. Cells are parted while a function
    changes in them, but not as a straight line does; what changes between neighbouring floats jumps.

    Parameters
    ----------
    columns : callable
        Takes values of the number, shape (n,); gives q arrays of this shape.
    bounds : (low, high)
    """
    grid = np.linspace(*bounds, LOOKS + 1)
    values = np.array(columns(grid), dtype=float)
    least = LEAST * np.ptp(values, axis=1)
    changes = np.abs(np.diff(values)) > least[:, None]
    own, at = np.nonzero(changes)
    low, high, start, end = grid[at], grid[at + 1], values[own, at], values[own, at + 1]
    while len(own):
        middle = low + SPLIT * (high - low)
        if ((middle == low) | (middle == high)).any():
            return True
        found = np.array(columns(middle), dtype=float)[own, np.arange(len(own))]
        bent = np.abs(found - start - SPLIT * (end - start)) > SPLIT * least[own]
        left, right = (bent & (np.abs(change) > least[own]) for change in (found - start, end - found))
        own = np.concatenate([own[left], own[right]])
        low, high = np.concatenate([low[left], middle[right]]), np.concatenate([middle[left], high[right]])
        start, end = np.concatenate([start[left], found[right]]), np.concatenate([found[left], end[right]])
    return False
