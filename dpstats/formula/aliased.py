"""Columns that are sums of others in every row that a schema allows, found on made-up rows.

No row tells the coefficients of such columns apart: R shows NA. See docs/formula.md#columns-that-repeat.
"""

import functools
import re
from collections.abc import Sequence

import numpy as np
import scipy

from dpstats.errors import FormulaError
from dpstats.formula.design import Design
from dpstats.schema import Variable

# What is left of a column, over its largest value, that rounding may make. Of kelvins between 300 and 301
# a logarithm is straight to 2e-7 of its size; rounding leaves 4e-13 of poly(x, 2) where x is 2000 to 2001.
_ROUNDING = 1e-10
_NOTHING = 1e-7  # of the largest part of a sum, below which a part is rounding
# Made-up rows, and more for each column. If the columns of a few are independent, so are those of all; that
# they are not is said after many, among which each cell of categories has some.
_FEW, _MANY = (200, 2), (2000, 25)
_SPARE = 40  # times as many are drawn for a subset, of which those inside are kept
_DECADES = 9  # of distances from numbers of the formula, down from the width of the bounds
_SEED = 16
_WIDEST = 500  # columns; of more, which are mostly levels, a fit would wait for seconds
_NAMED = 3  # parts of a sum
_LEVEL = "a constant, which the baseline hazard takes up"
_INSIDE = ", or declare the levels alone that subset= keeps, and name them there, as in g in ['a', 'b']"
_NUMBER = re.compile(r"\d+\.?\d*(?:e[+-]?\d+)?")


def told_apart(design: Design) -> Design:
    """The design itself, of which rows can tell all coefficients apart.

    Numbers in products and powers are looked at about their middles, where these are all but straight.

    Raises
    ------
    FormulaError
        If a column is a sum of others in every row, with the terms of which one is to be left out.
    """
    ends = design.of_movable.bounds[1:].tolist() if design.movable else ()
    places = {
        name: ((low + high) / 2, low, high) for name, (low, high) in zip(design.movable, ends, strict=True)
    }
    about = design.about(places)
    found = _sum(about) if len(design.names) <= _WIDEST else None
    if found is None:
        return design
    p, before = len(design.names), len(found) - len(design.names)
    parts, level = about.way[:p] @ found[before:], found[:before]
    if before:
        level = level + about.way[p] @ found[before:]
    largest = np.abs(design.bounds).max(axis=1)
    sizes = np.append(np.abs(parts) * np.where(largest > 0, largest, 1.0), np.abs(level).max(initial=0.0))
    kept = sizes > _NOTHING * sizes.max()
    raise FormulaError(_message(design, np.where(kept[:-1], parts, 0.0), bool(kept[-1])))


@functools.lru_cache(maxsize=8)  # one fit after another asks it of one design
def _sum(design: Design) -> np.ndarray | None:
    """What columns, after those of baselines, are multiplied by in a sum that is 0 in all made-up rows."""
    bends = [float(text) for text in _NUMBER.findall(f"{design.formula} {design.subset}")]
    rng, found = np.random.default_rng(_SEED), None
    for least, more in (_FEW, _MANY):
        size = least + more * len(design.names)
        exog = design.spanning(_rows(design, bends, size, rng), size)
        empty = ~exog[:, : -len(design.names)].any(axis=0)  # strata without a row in the subset
        if (found := _null(np.delete(exog, np.flatnonzero(empty), axis=1))) is None:
            break
    return found


def _rows(
    design: Design, bends: Sequence[float], size: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Rows inside the subset, unless that is too thin for drawn rows to hit it."""
    drawn = size * _SPARE if design.subsetting else size
    names = (*design.covariates, *sorted(design.subsetting.difference(design.covariates)))
    block = {name: _drawn(design.schema[name], bends, drawn, rng) for name in names}
    inside = np.flatnonzero(design.inside(block, drawn))[:size]
    kept = inside if len(inside) == size else np.arange(size)
    return {name: values[kept] for name, values in block.items()}


def _drawn(variable: Variable, bends: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """Half of the values of a number are even over its bounds, half at or near an end, 0 or a bend."""
    if variable.all:
        return rng.integers(0, len(variable.all), size).astype(float)
    low, high = variable.bounds
    signed = [sign * bend for bend in (0.0, *bends) for sign in (-1, 1)]
    ends = np.array([low, high, *(bend for bend in signed if low < bend < high)])
    away = rng.choice([-1, 0, 1], size) * (high - low) * 10.0 ** rng.uniform(-_DECADES, 0, size)
    near = rng.choice(ends, size) + away
    return np.clip(np.where(rng.random(size) < 0.5, near, rng.uniform(low, high, size)), low, high)


def _null(exog: np.ndarray) -> np.ndarray | None:
    """The sum of the first column that is one of those before it, shape (p,); None if no column is."""
    largest = np.abs(exog).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    root = scipy.linalg.qr(exog / scale, mode="r")[0]
    short = np.flatnonzero(np.abs(np.diag(root)) <= _ROUNDING)
    if not len(short):
        return None
    first, found = int(short[0]), np.zeros(exog.shape[1])
    found[:first] = scipy.linalg.solve_triangular(root[:first, :first], root[:first, first])
    found[first] = -1.0
    return np.asarray(found / scale)


def _message(design: Design, parts: np.ndarray, constant: bool) -> str:
    *others, last = (design.names[j] for j in np.flatnonzero(parts))
    more = [f"{len(others) - _NAMED} more"] * (len(others) > _NAMED) + [_LEVEL] * constant
    parts_of = ", ".join(others[:_NAMED] + more)
    terms = [name for name, at in design.terms if parts[at].any() and name != "Intercept"]
    by, inside = ("formula, subset=", _INSIDE) if design.subset else ("formula", "")
    return (
        f"no row tells all coefficients apart: by {by} and schema {last} "
        f"{f'follows from {parts_of}' if parts_of else 'is always 0'}; leave out or change "
        f"{'one of the terms ' * (len(terms) > 1)}{', '.join(terms)}{inside}"
    )
