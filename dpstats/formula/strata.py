"""Terms ``strata(...)`` of a formula: rows of each level have a baseline hazard, or a scale, of their own.

They are as in R (docs/theory/coxph.md#strata, docs/theory/survival.md#strata).
"""

import ast
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.beside import set_apart
from dpstats.formula.factor_reader import read_factor
from dpstats.formula.factors import CategoricalFactor
from dpstats.formula.grammar import MAX_COLUMNS, Terms
from dpstats.formula.reader import parse, variable_name
from dpstats.formula.response import Observed
from dpstats.schema import Event, Flag, Schema


@dataclass(frozen=True)
class Strata:
    """The strata of a formula: all combinations of the public levels of some categories.

    Attributes
    ----------
    text : str
        The terms as they are written.
    """

    text: str
    _factors: tuple[CategoricalFactor, ...] = field(repr=False)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        return frozenset().union(*(factor.variables for factor in self._factors))

    @property
    def count(self) -> int:
        """Number of strata."""
        return math.prod(len(factor.levels) for factor in self._factors)

    @property
    def terms(self) -> tuple[str, ...]:
        """The categories, as terms of a formula."""
        return tuple(dict.fromkeys(factor.code for factor in self._factors))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the strata, in the order of their numbers, such as ``"WDC"`` or ``"WDC, 4 TB"``."""
        return tuple(
            ", ".join(map(str, levels)) for levels in itertools.product(*(f.levels for f in self._factors))
        )

    def of_level(self, code: str) -> np.ndarray:
        """The level of the category `code` in each stratum, by its number."""
        sizes = [len(factor.levels) for factor in self._factors]
        position = [factor.code for factor in self._factors].index(code)
        return np.asarray(np.unravel_index(np.arange(self.count), sizes)[position])

    def codes(self, leaves: Mapping[str, np.ndarray], ok: np.ndarray) -> np.ndarray:
        """The number of each row's stratum; ``ok`` loses rows that lack a level, whose number is any."""
        number = np.zeros(len(ok), dtype=np.intp)
        for factor in self._factors:
            code, levels = factor.codes(leaves), len(factor.levels)
            ok &= (code >= 0) & (code < levels)
            number = number * levels + np.clip(code, 0, levels - 1)
        return number


@dataclass(frozen=True)
class Axis:
    """One axis of time for all strata, which lie on it one after the other, each from its beginning to the
    upper bound of the time.

    A row of a stratum is one that enters at the beginning of the stratum or later, and leaves in it. So it is
    a row like any other that enters late, for which every statistic is proved.
    """

    strata: Strata
    start: float
    high: float

    def shift(self, stratum: np.ndarray) -> np.ndarray:
        """By how much the times of each stratum are moved."""
        return np.asarray(stratum * (self.high - self.start))

    def edges(self, times: np.ndarray) -> np.ndarray:
        """The beginning, and times of a stratum, of which the last is the upper bound, in all strata."""
        return np.append(self.start, times + self.shift(np.arange(self.strata.count))[:, None])

    def laid(self, observed: Observed, stratum: np.ndarray) -> Observed:
        """Rows of these strata with their times on the axis."""
        begins = np.append(self.start, self.high + self.shift(np.arange(self.strata.count - 1)))[stratum]
        shift = self.shift(stratum)
        # after the last moment of the stratum before
        first = np.nextafter(begins, np.inf)
        value = np.maximum(observed.value + shift, first)
        return observed._replace(value=value, entry=np.maximum(observed.entry + shift, first))


def split_strata(terms: Terms, schema: Schema) -> tuple[Terms, Strata | None]:
    """Take the ``strata()`` terms out of a formula's right side.

    Raises
    ------
    FormulaError
        If one is multiplied with something, is not of categories, or there are too many strata.
    """
    rest = ", and products of its variables beside it"
    columns, found = set_apart(terms, "strata", "strata have no coefficients", rest)
    return columns, _read(found, schema) if found else None


def _read(codes: Sequence[str], schema: Schema) -> Strata:
    text = " + ".join(codes)
    factors = []
    for code in codes:
        tree = parse(code)
        assert isinstance(tree, ast.Call)
        if not tree.args or tree.keywords:
            raise FormulaError(f"{code!r} takes categories and nothing else, such as strata(maker, site)")
        factors += [_category(each, code, schema) for each in tree.args]
    strata = Strata(text, tuple(factors))
    if len(strata.terms) < len(factors):
        raise FormulaError(
            f"{text!r} has a category twice, and no row has two levels of it: write "
            f"strata({', '.join(strata.terms)})"
        )
    if strata.count > MAX_COLUMNS:
        raise FormulaError(
            f"{text!r} makes {strata.count} strata, more than {MAX_COLUMNS}: use fewer levels or categories"
        )
    return strata


def _category(tree: ast.expr, code: str, schema: Schema) -> CategoricalFactor:
    name, text = variable_name(tree), ast.unparse(tree)
    flag = name is not None and isinstance(schema.get(name), Flag | Event)
    factor = read_factor(f"C({text})" if flag else text, schema)
    if not isinstance(factor, CategoricalFactor):
        raise FormulaError(
            f"{code!r} needs categories with public levels: declare {text} with levels(...), or write "
            f"strata(cut({text}, [...])) with public breaks"
        )
    return factor
