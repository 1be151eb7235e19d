"""Products and powers of numbers, told about public middles of these: the same fits in better coordinates.

Where a number x lies far from 0, the columns x:u and u nearly repeat each other, and so do x**2 and x. The
columns (x - c):u and (x - c)**2 span the same together with the others, if u, or x and an intercept, are
among these, and a public matrix leads back. See docs/theory/first_stage.md#middles-of-products.
"""

import ast
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.expressions import OPERATORS, Apply, Constant, Expression, bounds_of, number, power
from dpstats.formula.factors import Factor, NumericFactor
from dpstats.formula.grammar import Coding, Subterm
from dpstats.formula.layout import Atom, columns
from dpstats.formula.reader import (
    LARGEST,
    function_name,
    is_comparison,
    parse,
    read_expression,
    variable_name,
)
from dpstats.schema import Event, Flag, Schema

_EXACT = 1e-9  # of contrasts, which are of size 1: what rounding leaves of columns that are spanned


class Monomial(NamedTuple):
    """A number times powers of expressions, by their texts."""

    factor: float
    powers: Counter[str]


@dataclass(frozen=True)
class _Column:
    """A number times powers of numbers, times what is `fixed` (flags, columns of splines) and `tables`."""

    factor: float
    powers: Counter[str]
    fixed: tuple[tuple[str, int], ...]
    tables: Mapping[str, np.ndarray]

    @property
    def key(self) -> object:
        return frozenset(self.powers.items()), self.fixed

    def values(self, over: Mapping[str, np.ndarray]) -> np.ndarray:
        """What it is at all levels of these categories, beside its powers and what is fixed."""
        tables = [self.tables.get(code, np.ones(len(table))) for code, table in over.items()]
        return np.asarray(reduce(np.multiply.outer, tables, np.array(self.factor))).ravel()


class Moved(NamedTuple):
    """A coding about middles.

    Attributes
    ----------
    coding : Coding
    factors : mapping of str to Factor
    way : array, shape (p, p)
        What takes the coefficients of its columns to those of the formula's; below it, where there is a
        baseline, what takes them to what is added to that, shape (p + 1, p).
    """

    coding: Coding
    factors: Mapping[str, Factor]
    way: np.ndarray


class MiddledProducts:
    """Which numbers of a formula can be told about middles in its products and powers, as is public.

    Parameters
    ----------
    coding : Coding
    factors : mapping of str to Factor
    schema : Schema
    baseline : bool
        Whether a baseline stands in the place of the intercept.
    """

    def __init__(self, coding: Coding, factors: Mapping[str, Factor], schema: Schema, baseline: bool) -> None:
        self._coding, self._factors = coding, factors
        self._read = {
            code: _monomial(parse(code))
            for code, factor in factors.items()
            if isinstance(factor, NumericFactor)
        }
        names = dict.fromkeys(name for read in self._read.values() for name in read.powers)
        self._parts = {name: read_expression(parse(name), schema) for name in names}
        self._schema = schema
        self._flags = {name for name, part in self._parts.items() if _is_flag(name, part, schema)}
        self._runs = [
            [self._column(product) for product in columns((subterm,), factors)] for subterm in coding.subterms
        ]
        self._tables = {code: table for run in self._runs for code, table in run[0].tables.items()}
        self._all, self._baseline = list(itertools.chain(*self._runs)), baseline
        if baseline:  # takes up any constant
            self._all.append(_Column(1.0, Counter(), (), {}))
        self._homes: dict[object, list[int]] = {}
        for j, column in enumerate(self._all):
            self._homes.setdefault(column.key, []).append(j)
        self._chosen = [self._choose(run) for run in self._runs]

    @property
    def numbers(self) -> tuple[str, ...]:
        """Texts of the numbers that can be told about middles."""
        return tuple(dict.fromkeys(itertools.chain(*self._chosen)))

    def about(self, middles: Mapping[str, float]) -> Moved:
        """The same columns of numbers about these middles, where they can be."""
        p = len(self._coding.names)
        way, subterms, factors, start = np.eye(p + self._baseline, p), [], dict(self._factors), 0
        for subterm, run, chosen in zip(self._coding.subterms, self._runs, self._chosen, strict=True):
            moving = {name: middles[name] for name in chosen if middles.get(name)}
            subterms.append(self._moved(subterm, moving, factors) if moving else subterm)
            for powers, weight in _below(run[0].powers, moving):
                found = self._spanned(run, powers)
                assert found is not None
                for home, row in found.items():
                    way[home, start : start + len(run)] += weight * row
            start += len(run)
        way.setflags(write=False)
        return Moved(replace(self._coding, subterms=tuple(subterms)), factors, way)

    def _column(self, product: Sequence[Atom]) -> _Column:
        factor, powers, fixed, tables = 1.0, Counter[str](), set[tuple[str, int]](), {}
        for atom in product:
            if atom.table is not None:
                tables[atom.factor] = atom.table
            elif atom.factor not in self._read:
                fixed.add((atom.factor, atom.index))
            else:
                read = self._read[atom.factor]
                factor *= read.factor
                powers += Counter({name: n for name, n in read.powers.items() if name not in self._flags})
                fixed |= {(name, 0) for name in read.powers if name in self._flags}
        return _Column(factor, powers, tuple(sorted(fixed)), tables)

    def _choose(self, run: Sequence[_Column]) -> tuple[str, ...]:
        """As many numbers of a run of columns as can be moved; none where a number stands alone."""
        powers = run[0].powers
        if powers.total() + len(run[0].fixed) + len(run[0].tables) == 1 or self._large(run[0]):
            return ()
        for size in range(len(powers), 0, -1):
            for chosen in itertools.combinations(powers, size):
                lower = _below(powers, dict.fromkeys(chosen, 1.0))
                if all(self._spanned(run, each) is not None for each, _ in lower):
                    return chosen
        return ()

    def _large(self, column: _Column) -> bool:
        """Whether, about some middle, it may leave no room for sums of squares."""
        size = abs(column.factor)
        for name, n in column.powers.items():
            size *= (2 * max(map(abs, bounds_of(self._parts[name], self._schema)))) ** n
        return size > LARGEST

    def _spanned(self, run: Sequence[_Column], powers: Counter[str]) -> dict[int, np.ndarray] | None:
        """What a run with other powers is of other columns, by their numbers; None where it is none of any.

        Columns of all levels of one more category may add up to it.
        """
        wanted, own = [replace(column, powers=powers) for column in run], run[0].tables
        more = ({code: table} for code, table in self._tables.items() if code not in own)
        tried = (self._solved(wanted, {**own, **extra}) for extra in itertools.chain([{}], more))
        return next((found for found in tried if found is not None), None)

    def _solved(
        self, wanted: Sequence[_Column], over: Mapping[str, np.ndarray]
    ) -> dict[int, np.ndarray] | None:
        found = dict[int, np.ndarray]()
        for key in dict.fromkeys(column.key for column in wanted):
            here = [i for i, column in enumerate(wanted) if column.key == key]
            homes = [j for j in self._homes.get(key, ()) if self._all[j].tables.keys() <= over.keys()]
            if not homes:
                return None
            known = np.column_stack([self._all[j].values(over) for j in homes])
            asked = np.column_stack([wanted[i].values(over) for i in here])
            solved = np.linalg.lstsq(known, asked, rcond=None)[0]
            if np.abs(known @ solved - asked).max() > _EXACT * np.abs(asked).max():
                return None
            solved[np.abs(solved) < _EXACT * np.abs(solved).max()] = 0.0
            for home, row in zip(homes, solved, strict=True):
                found[home] = np.zeros(len(wanted))
                found[home][here] = row
        return found

    def _moved(self, subterm: Subterm, moving: Mapping[str, float], factors: dict[str, Factor]) -> Subterm:
        """A subterm about middles, whose factors are added to the others."""
        codes = []
        for code in subterm.factors:
            read = self._read.get(code)
            if read is None or not moving.keys() & read.powers.keys():
                codes.append(code)
                continue
            first: Expression = Constant(read.factor, repr(read.factor))
            whole = reduce(_times, (self._part(name, n, moving) for name, n in read.powers.items()), first)
            factors[whole.text] = NumericFactor(whole.text, whole, (bounds_of(whole, self._schema),))
            codes.append(whole.text)
        return replace(subterm, factors=tuple(codes))

    def _part(self, name: str, n: int, moving: Mapping[str, float]) -> Expression:
        part = self._parts[name]
        if name in moving:
            middle = Constant(moving[name], repr(moving[name]))
            part = Apply(OPERATORS[ast.Sub], (part, middle), f"({name} - {middle.text})")
        return part if n == 1 else Apply(power(n), (part,), f"{part.text} ** {n}")


def _times(one: Expression, other: Expression) -> Expression:
    return Apply(OPERATORS[ast.Mult], (one, other), f"{one.text} * {other.text}")


def _below(own: Counter[str], moving: Mapping[str, float]) -> Iterator[tuple[Counter[str], float]]:
    """The lower powers of a product of numbers about middles, and what each is multiplied by."""
    for taken in itertools.product(*(range(own[name] + 1) for name in moving)):
        if any(taken):
            weight = math.prod(
                math.comb(own[name], n) * (-middle) ** n
                for n, (name, middle) in zip(taken, moving.items(), strict=True)
            )
            yield own - Counter(dict(zip(moving, taken, strict=True))), weight


def _is_flag(name: str, part: Expression, schema: Schema) -> bool:
    variable = variable_name(parse(name))
    flag = variable is not None and isinstance(schema.get(variable), Flag | Event)
    return flag or is_comparison(part)


def _monomial(tree: ast.expr) -> Monomial:
    """An expression as powers of others, or of itself."""
    if isinstance(tree, ast.Call) and function_name(tree) == "I" and tree.args:
        return _monomial(tree.args[0])
    if isinstance(tree, ast.BinOp):
        by = _number(tree.right)
        one = _monomial(tree.left)
        if isinstance(tree.op, ast.Mult):
            other = _monomial(tree.right)
            return Monomial(one.factor * other.factor, one.powers + other.powers)
        if isinstance(tree.op, ast.Div) and by:
            return Monomial(one.factor / by, one.powers)
        if isinstance(tree.op, ast.Pow) and by and by >= 1 and by.is_integer():
            return Monomial(one.factor**by, Counter({name: n * int(by) for name, n in one.powers.items()}))
    if value := _number(tree):
        return Monomial(value, Counter())
    return Monomial(1.0, Counter([ast.unparse(tree)]))


def _number(tree: ast.expr) -> float | None:
    """A number that is written out."""
    try:
        return number(tree)
    except FormulaError:
        return None
