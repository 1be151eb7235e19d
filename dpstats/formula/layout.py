"""Where each design column comes from, its public bounds and radius, and what is public of columns together.

That is which are 0 or 1, and which products are one number.

A row has one level of a category. So the product of columns of two of its levels is 0, and that of a level
with itself is the level.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats._arguments import frozen
from dpstats.errors import FormulaError
from dpstats.formula.factors import CategoricalFactor, Factor, NumericFactor, PolynomialFactor, SplineFactor
from dpstats.formula.grammar import Subterm
from dpstats.formula.reader import LARGEST, NARROWEST
from dpstats.schema import Bounded, Count, Event, Flag, Schema

INFLATION = 1 + 1e-9  # covers the rounding of a row's norm (docs/theory/rows.md#row-wise-formulas, rule 3)


@dataclass(frozen=True)
class Atom:
    """One column of a factor: a contrast's column (``table``), or column ``index`` of a number or spline."""

    factor: str
    index: int
    bounds: tuple[float, float]
    table: np.ndarray | None = None


def columns(subterms: Sequence[Subterm], factors: Mapping[str, Factor]) -> tuple[tuple[Atom, ...], ...]:
    """The atoms whose product is each design column; none for the intercept."""
    return tuple(product for subterm in subterms for product in _products(subterm, factors))


def _products(subterm: Subterm, factors: Mapping[str, Factor]) -> Iterator[tuple[Atom, ...]]:
    choices = [
        list(_atoms(factors[code], matrix))
        for code, matrix in zip(subterm.factors, subterm.matrices, strict=True)
    ]
    for reverse in itertools.product(*reversed(choices)):  # the first factor varies fastest, as in patsy
        yield reverse[::-1]


def _atoms(factor: Factor, matrix: np.ndarray | None) -> Iterator[Atom]:
    if matrix is None:
        assert not isinstance(factor, CategoricalFactor)
        for index, bounds in enumerate(factor.bounds):
            yield Atom(factor.code, index, bounds)
    else:
        for index, table in enumerate(frozen(np.ascontiguousarray(matrix.T))):
            yield Atom(factor.code, index, (float(table.min()), float(table.max())), table)


def column_bounds(product: Sequence[Atom]) -> tuple[float, float]:
    """Bounds of a product, multiplied in the order in which a block is filled.

    Rounded products are monotone in each factor, so these bounds hold to the last bit.

    Raises
    ------
    FormulaError
        If a product, even of the first factors only, is too large or too small for sums of squares.
    """
    lower, upper = 1.0, 1.0
    for atom in product:
        corners = [a * b for a in (lower, upper) for b in atom.bounds]
        lower, upper = min(corners), max(corners)
        if max(-lower, upper) > LARGEST or 0 < upper - lower < NARROWEST:
            text = ":".join(part.factor for part in product)
            size = "narrow" if upper - lower < NARROWEST else "large"
            raise FormulaError(f"the product {text} is too {size} for sums of squares; scale its factors")
    return lower, upper


def radius(
    subterms: Sequence[Subterm],
    factors: Mapping[str, Factor],
    bounds: np.ndarray,
    together: Sequence[tuple[tuple[int, ...], float]] = (),
) -> float:
    """A bound of the Euclidean norm of a row of the design.

    The row of a subterm is the Kronecker product of its factors' rows, so its norm is the product of theirs:
    a block of dummies counts 1, not the root of the number of levels. Never more than the norm of the box.
    Columns with a declared norm (`joint`), each a subterm of its own, count it once, if it is less than what
    they have by themselves.
    """
    total, first = 0.0, 0
    alone = {column: i for i, (group, _) in enumerate(together) for column in group}
    squares = [0.0] * len(together)
    for subterm in subterms:
        norm, size = 1.0, 1
        for code, matrix in zip(subterm.factors, subterm.matrices, strict=True):
            factor = factors[code]
            if matrix is not None:
                norm *= float(np.sqrt((matrix**2).sum(axis=1).max()))
                size *= matrix.shape[1]
            elif not isinstance(factor, CategoricalFactor):
                norm *= factor.norm
                size *= len(factor.bounds)
        box = math.hypot(*np.abs(bounds[first : first + size]).max(axis=1))  # hypot: squares could underflow
        if first in alone:
            squares[alone[first]] = math.hypot(squares[alone[first]], min(norm, box))
        else:
            total = math.hypot(total, min(norm, box))
        first += size
    groups = (min(size, limit) for size, (_, limit) in zip(squares, together, strict=True))
    return math.hypot(total, *groups) * INFLATION


NEVER = -1


@dataclass(frozen=True, repr=False, eq=False)
class Columns:
    """The p columns of a design, each a product of columns of factors; none for the intercept."""

    schema: Schema
    _factors: Mapping[str, Factor]
    _columns: Sequence[tuple[Atom, ...]]

    @cached_property
    def categories(self) -> tuple[tuple[int, np.ndarray], ...]:
        """Categories that stand alone in the formula: first column, and the rows at all levels, (L, k)."""
        found: dict[str, tuple[int, list[np.ndarray]]] = {}
        for column, product in enumerate(self._columns):
            if len(product) == 1 and product[0].table is not None:
                found.setdefault(product[0].factor, (column, []))[1].append(product[0].table)
        return tuple((first, frozen(np.column_stack(tables))) for first, tables in found.values())

    @cached_property
    def sides(self) -> tuple[np.ndarray, ...]:
        """Of each category, flag, and product of these, what adds up, times the columns of a row, to 1 at a
        level or in a cell and to 0 in all others; one row for each of which something does, (m, p).
        """
        read = [{atom.factor for atom in product} for product in self._columns]
        values = [[self._values(atom) for atom in product] for product in self._columns]
        levels = {
            atom.factor: len(table)
            for product, tables in zip(self._columns, values, strict=True)
            for atom, table in zip(product, tables, strict=True)
            if table is not None
        }
        found = []
        for several in dict.fromkeys(tuple(sorted(one)) for one in read if one and one <= levels.keys()):
            own = [j for j, one in enumerate(read) if one <= set(several)]
            cells = np.indices([levels[factor] for factor in several]).reshape(len(several), -1)
            places = dict(zip(several, cells, strict=True))
            rows = np.ones((cells.shape[1], len(own)))
            for column, j in zip(rows.T, own, strict=True):
                for atom, table in zip(self._columns[j], values[j], strict=True):
                    column *= np.asarray(table)[places[atom.factor]]
            ways = np.linalg.pinv(rows).T
            told = ways[np.isclose(rows @ ways.T, np.eye(len(rows))).all(axis=0)]
            filled = np.zeros((len(told), len(read)))
            filled[:, own] = told
            found.append(frozen(filled))
        return tuple(found)

    @cached_property
    def levels(self) -> np.ndarray:
        """What rows of each level of the categories hold in several columns, (m, p), NaN in all others."""
        return self._filled(table for table in self.categories if table[1].shape[1] > 1)

    @cached_property
    def heights(self) -> np.ndarray:
        """What rows hold in columns of each spline, at places of its number, (m, p), NaN in all others."""
        return self._filled(
            (first, factor.heights)
            for first, *_ in self.curves
            if isinstance(factor := self._factors[self._columns[first][0].factor], SplineFactor)
        )

    def _filled(self, tables: Iterable[tuple[int, np.ndarray]]) -> np.ndarray:
        """Tables of some columns, each with its first, below each other; NaN in all other columns."""
        rows = [np.zeros((0, len(self._columns)))]
        for first, table in tables:
            filled = np.full((len(table), len(self._columns)), np.nan)
            filled[:, first : first + table.shape[1]] = table
            rows.append(filled)
        return frozen(np.vstack(rows))

    @cached_property
    def own(self) -> np.ndarray:
        """Whether a column is a term of its own, of variables that no other column reads; shape (p,).

        No levels of one category are, no products nor what they are made of, and no powers.
        """
        times = Counter(name for read in self.reads for name in read)
        return frozen([all(times[name] == 1 for name in read) for read in self.reads], bool)

    @cached_property
    def binary(self) -> np.ndarray:
        """Which columns hold nothing but two values: 0 and 1, or the two of a contrast; shape (p,)."""
        found = []
        for product in self._columns:
            tables = [self._values(atom) for atom in product]
            values = [{math.nan} if table is None else set(table.tolist()) for table in tables]
            codes = all(value <= {0.0, 1.0} for value in values)
            found.append(bool(product) and (codes or (len(product) == 1 and len(values[0]) == 2)))
        return frozen(found, bool)

    @cached_property
    def alone(self) -> tuple[tuple[str, str | None] | None, ...]:
        """Of each column the variable that it is, and the level in whose rows alone it is 1; None of others.

        Numbers and flags have no such level.
        """
        return tuple(self._alone(*product) if len(product) == 1 else None for product in self._columns)

    def _alone(self, atom: Atom) -> tuple[str, str | None] | None:
        factor, level = self._factors[atom.factor], _only(atom.table)
        if isinstance(factor, NumericFactor):
            return None if factor.variable is None else (factor.variable, None)
        if isinstance(factor, CategoricalFactor) and factor.variable is not None and level:
            return factor.variable, factor.levels[level - 1]
        return None

    @cached_property
    def norms(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """Columns that are no longer together than a declared norm, each variable once, and its radius."""
        homes, _ = self._homes
        norms = self.schema.norms
        groups = ((tuple(homes[one] for one in norm.columns if one in homes), norm.radius) for norm in norms)
        return tuple((group, size) for group, size in groups if len(group) > 1)

    @cached_property
    def alike(self) -> np.ndarray:
        """Number of the product of each pair of columns, the same for products that are the same; (p, p).

        `NEVER` for products that are 0 in every row. Of the intercept, levels, flags and products of these;
        any other product is a number of its own.
        """
        p, ones = len(self._columns), self._ones
        names = dict.fromkeys(name for several in ones for name, level in several if level)
        found, never = np.zeros((p, p), dtype=int), np.zeros((p, p), dtype=bool)
        for name in names:
            levels = np.array(
                [max([level for own, level in several if own == name], default=0) for several in ones]
            )
            one, other = levels[:, None], levels[None, :]
            never |= (one > 0) & (other > 0) & (one != other)
            both = np.maximum(one, other)
            found = np.unique(found * (int(both.max()) + 1) + both, return_inverse=True)[1].reshape(p, p)
        plain = [all(level for _, level in several) for several in ones]
        own = np.arange(p * p).reshape(p, p)
        found = np.where(np.logical_and.outer(plain, plain), found, p * p + np.minimum(own, own.T))
        found[never & np.logical_and.outer(plain, plain)] = NEVER
        unique, numbers = np.unique(found, return_inverse=True)
        return frozen(numbers.reshape(p, p) - int(unique[0] == NEVER), int)

    @cached_property
    def within(self) -> np.ndarray:
        """Of each column that of the level, flag or product of these without which it is 0; shape (p,).

        -1 where there is no such column, and for the intercept.
        """
        levels = [frozenset(one for one in several if one[1]) for several in self._ones]
        homes = {level: j for j, level in enumerate(levels) if level and len(level) == len(self._ones[j])}
        return frozen([homes.get(level, -1) for level in levels], int)

    @cached_property
    def times_levels(self) -> tuple[np.ndarray, ...]:
        """Of each category of k columns, k > 1, those that have products with each, and these; (m, 1 + k).

        The intercept's are the columns of the category themselves.
        """
        named = [frozenset((atom.factor, atom.index) for atom in product) for product in self._columns]
        places, found = {names: j for j, names in enumerate(named)}, []
        for first, table in self.categories:
            levels = named[first : first + table.shape[1]]
            some = [j for j, names in enumerate(named) if names | levels[0] in places]  # else none has all
            products = ([places.get(named[j] | level, -1) for level in levels] for j in some)
            rows = [[j, *more] for j, more in zip(some, products, strict=True) if min(more) >= 0]
            found += [frozen(rows, int)] * (len(levels) > 1)
        return tuple(found)

    def crossed(self) -> tuple[np.ndarray, ...]:
        """Of each number that has products with levels or flags: its column first, then all that it moves in.

        In rows of the level that has no product it moves in no other.
        """
        homes, read, constant = self.within, self.reads, [0] * (not all(self._columns))
        more = [[m for m, other in enumerate(read) if own < other and homes[m] >= 0] for own in read]
        numbers = [j for j, own in enumerate(read) if own and more[j] and homes[j] < 0]
        return tuple(np.array([j, *({*more[j], *homes[more[j]], *constant} - {j})]) for j in numbers)

    @cached_property
    def slopes_within(self) -> np.ndarray:
        """Changes of the slope of a number in rows of one level alone, and of the line there; (m, 2, 1 + d).

        As coefficients, that of a constant first, whether it is a column or the model's own; last those of
        rows at the reference level of a category, the line of which is the constant.
        """
        p, first, homes = len(self._columns), int(not all(self._columns)), self.within
        axes, constant = np.eye(p, p + 1 - first, 1 - first), np.eye(1, p + 1 - first)
        products = np.flatnonzero((homes >= 0) & (homes != np.arange(p)))
        found = [axes[[j, homes[j]]] for j in products]
        spans = [np.arange(start, start + table.shape[1]) for start, table in self.categories]
        flags = {j for j in homes[products] if len(self._columns[j]) == 1}.difference(*spans)
        spans += [np.array([j]) for j in sorted(flags)]
        for (number, *moved), span in itertools.product(self.crossed(), spans):
            here = np.intersect1d(moved, products[np.isin(homes[products], span)])
            if len(here) == len(span):
                slope, line = axes[number] - axes[here].sum(axis=0), constant - axes[span].sum(axis=0)
                found.append(np.vstack([slope, line]))
        return frozen(np.array(found).reshape(-1, 2, axes.shape[1]))

    @cached_property
    def partners(self) -> np.ndarray:
        """Which coefficients, in rows, show what another column does that is not seen; shape (p, p).

        Those of columns that read one of its variables, and the intercept: a square goes along with its
        number. What is 0 but at a level does nothing in the rows of others, and shows at the level alone.
        Levels tell no more than of their own rows, nor do columns of splines away from their knots.
        """
        p, homes = len(self._columns), self.within
        told = np.array([[not own or bool(own & other) for other in self.reads] for own in self.reads])
        numbers = np.array(
            [
                any(isinstance(self._factors[atom.factor], NumericFactor | PolynomialFactor) for atom in each)
                for each in self._columns
            ]
        )
        at_level = np.arange(p)[:, None] == homes
        return frozen(np.where(homes < 0, told & numbers, at_level) & ~np.eye(p, dtype=bool), bool)

    def overlooks(self, lost: np.ndarray) -> bool:
        """Whether columns that are not `lost`, shape (p,), leave a number out that others may go along with.

        Of two values lost to noise one is rare, and what rare rows do shows in them alone.
        """
        numbers = [name for name, variable in self.schema.items() if isinstance(variable, Bounded | Count)]
        reads = np.array([[name in read for read in self.reads] for name in numbers], dtype=bool)
        reads = reads.reshape(len(numbers), len(self.reads)) & ~self.binary  # also of no number
        return bool((reads.any(axis=1) & (~reads | lost).all(axis=1)).any())

    @cached_property
    def splines(self) -> np.ndarray:
        """Which columns are those of a spline alone, shape (p,)."""
        return frozen(
            [
                len(each) == 1 and isinstance(self._factors[each[0].factor], SplineFactor)
                for each in self._columns
            ],
            bool,
        )

    @property
    def curves(self) -> tuple[np.ndarray, ...]:
        """Columns of each spline that stands alone."""
        found: dict[str, list[int]] = {}
        for column in np.flatnonzero(self.splines).tolist():
            found.setdefault(self._columns[column][0].factor, []).append(column)
        return tuple(np.array(each) for each in found.values())

    @cached_property
    def _homes(self) -> tuple[dict[str, int], dict[tuple[str, int], int]]:
        """Columns that are computed in place: of variables as they stand, and of numbers and splines."""
        leaves, others = dict[str, int](), dict[tuple[str, int], int]()
        for column, product in enumerate(self._columns):
            if len(product) == 1 and product[0].table is None:
                factor = self._factors[product[0].factor]
                if isinstance(factor, NumericFactor) and factor.variable is not None:
                    leaves.setdefault(factor.variable, column)
                else:
                    others[product[0].factor, product[0].index] = column
        return leaves, others

    @cached_property
    def reads(self) -> list[frozenset[str]]:
        """Variables that each column reads."""
        return [
            frozenset().union(*(self._factors[atom.factor].variables for atom in each))
            for each in self._columns
        ]

    @cached_property
    def _ones(self) -> list[list[tuple[str, int]]]:
        """Factors of each column, with the number from 1 of the level in which alone they are not 0, or 0."""
        return [[(atom.factor, _only(self._values(atom))) for atom in each] for each in self._columns]

    def _values(self, atom: Atom) -> np.ndarray | None:
        """All values of a column of a category, by its levels, or of a flag; None of a number."""
        factor = self._factors[atom.factor]
        name = factor.variable or "" if isinstance(factor, NumericFactor) else ""
        return np.array([0.0, 1.0]) if isinstance(self.schema.get(name), Flag | Event) else atom.table


def _only(values: np.ndarray | None) -> int:
    """Number from 1 of the one level at which a column is 1, if it is 0 at all others; else 0."""
    held = [] if values is None else values.tolist()
    return 1 + held.index(1.0) if set(held) <= {0.0, 1.0} and sum(held) == 1 else 0
