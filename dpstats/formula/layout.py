"""Where each design column comes from, and its public bounds and radius."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.factors import CategoricalFactor, Factor
from dpstats.formula.grammar import Subterm
from dpstats.formula.reader import LARGEST, NARROWEST

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
        for index, table in enumerate(np.ascontiguousarray(matrix.T)):
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
