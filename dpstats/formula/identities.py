"""Which products of two design columns are the same number in every row, and which are 0: public structure.

A row has one level of a category. So the product of columns of two of its levels is 0, and that of a level
with itself is the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpstats.formula.factors import Factor, NumericFactor, PolynomialFactor, SplineFactor
from dpstats.formula.layout import Atom
from dpstats.schema import Bounded, Count, Event, Flag, Schema

NEVER = -1


def alike(products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor], schema: Schema) -> np.ndarray:
    """Number of the product of each pair of columns, the same for products that are the same.

    Parameters
    ----------
    products : sequence of tuple of Atom
        What each column is the product of.
    factors : mapping
    schema : Schema

    Returns
    -------
    array of int, shape (p, p)
        `NEVER` for products that are 0 in every row. Of the intercept, levels, flags and products of these;
        any other product is a number of its own.
    """
    p, ones = len(products), _ones(products, factors, schema)
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
    return np.asarray(numbers.reshape(p, p) - int(unique[0] == NEVER))


def within(products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor], schema: Schema) -> np.ndarray:
    """Of each column that of the level, flag or product of these without which it is 0; shape (p,).

    -1 where there is no such column, and for the intercept.
    """
    ones = _ones(products, factors, schema)
    levels = [frozenset(one for one in several if one[1]) for several in ones]
    homes = {level: j for j, level in enumerate(levels) if level and len(level) == len(ones[j])}
    return np.array([homes.get(level, -1) for level in levels])


def partners(
    products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor], schema: Schema
) -> np.ndarray:
    """Which coefficients, in rows, show what another column does that is not seen; shape (p, p).

    Those of columns that read one of its variables, and the intercept: a square goes along with its number.
    What is 0 but at a level does nothing in the rows of others, and shows at the level alone. Levels tell no
    more than of their own rows, nor do columns of splines away from their knots.
    """
    read = [_read(product, factors) for product in products]
    told = np.array([[not own or bool(own & other) for other in read] for own in read])
    homes = within(products, factors, schema)
    numbers = np.array(
        [
            any(isinstance(factors[atom.factor], NumericFactor | PolynomialFactor) for atom in product)
            for product in products
        ]
    )
    at_level = np.arange(len(products))[:, None] == homes
    return np.where(homes < 0, told & numbers, at_level) & ~np.eye(len(products), dtype=bool)


def readers(
    products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor], schema: Schema
) -> np.ndarray:
    """Which columns, in columns, read each of the schema's numbers, in rows; shape (v, p)."""
    numbers = [name for name, variable in schema.items() if isinstance(variable, Bounded | Count)]
    read = [name in _read(product, factors) for name in numbers for product in products]
    return np.array(read, dtype=bool).reshape(len(numbers), len(products))


def splines(products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor]) -> np.ndarray:
    """Which columns are those of a spline alone, shape (p,)."""
    return np.array([len(own) == 1 and isinstance(factors[own[0].factor], SplineFactor) for own in products])


def _read(product: tuple[Atom, ...], factors: Mapping[str, Factor]) -> frozenset[str]:
    """Variables that a column reads."""
    return frozenset().union(*(factors[atom.factor].variables for atom in product))


def _ones(
    products: Sequence[tuple[Atom, ...]], factors: Mapping[str, Factor], schema: Schema
) -> list[list[tuple[str, int]]]:
    """Factors of each column, with the number from 1 of the level in which alone they are not 0, or 0."""
    return [[(atom.factor, _one(atom, factors, schema)) for atom in product] for product in products]


def _one(atom: Atom, factors: Mapping[str, Factor], schema: Schema) -> int:
    """Number from 1 of the one level at which a column is 1, if it is 0 at all others; else 0."""
    if atom.table is not None:
        indicator = set(atom.table.tolist()) <= {0.0, 1.0} and atom.table.sum() == 1
        return 1 + int(np.argmax(atom.table)) if indicator else 0
    factor = factors[atom.factor]
    flag = isinstance(factor, NumericFactor) and isinstance(schema.get(factor.variable or ""), Flag | Event)
    return int(flag)
