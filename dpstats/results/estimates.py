"""Tables of estimates: numbers to compute with, and the same numbers laid out to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.results.document import Document, Shown
from dpstats.results.format import figures
from dpstats.results.intervals import Transform, standard_errors, transformed
from dpstats.results.table import Column

NOT_ESTIMABLE = "not estimable"
FIXED = "fixed"  # in the place of a standard error


@dataclass(frozen=True, slots=True, repr=False)
class Estimates(Shown):
    """Table of estimates, which `life`, `reliability` and their like return.

    Attributes
    ----------
    frame : DataFrame
        Full precision: the values asked for, then ``estimate``, ``conf_low`` and ``conf_high``.
    layout : callable
        Lays out `document` when it is asked for: new data may have many rows, and few are printed.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.logit("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> table = fit.odds_ratios()
    >>> table.frame.columns.tolist()
    ['term', 'estimate', 'conf_low', 'conf_high']
    """

    frame: pd.DataFrame
    layout: Callable[[], Document]

    @property
    def document(self) -> Document:
        """The printed table."""
        return self.layout()

    def __reduce__(self) -> tuple[Callable[..., Estimates], tuple[pd.DataFrame, Document]]:
        """With its document laid out, as a function that lays it out cannot be pickled."""
        return _laid_out, (self.frame, self.document)


def _laid_out(frame: pd.DataFrame, document: Document) -> Estimates:
    return Estimates(frame, lambda: document)


def with_limits(
    centre: np.ndarray, gradient: np.ndarray, cov: np.ndarray, level: float, back: Transform
) -> dict[str, np.ndarray]:
    """Return columns ``estimate``, NaN if not estimable, ``conf_low`` and ``conf_high`` of back(centre)."""
    se = standard_errors(gradient, cov)
    estimate, low, high = transformed(centre, se, level, back)
    return {"estimate": np.where(np.isinf(se), np.nan, estimate), "conf_low": low, "conf_high": high}


def limit_columns(level: float) -> tuple[Column, Column]:
    """Return columns for the limits, under the heads ``"[0.025"`` and ``"0.975]"``."""
    tail = round((1 - level) / 2, 6)
    return Column(f"[{tail:g}", "."), Column(f"{1 - tail:g}]", ".")


def point_columns(*heads: str) -> tuple[Column, ...]:
    """Return columns of numbers whose decimal points stand under each other."""
    return tuple(Column(head, ".") for head in heads)


def cells(values: Iterable[float], known: bool, write: Callable[[float], str] = figures) -> tuple[str, ...]:
    """Return the numbers of a row, or what stands in their place where they are not known."""
    return tuple(write(float(value)) for value in values) if known else (NOT_ESTIMABLE,)
