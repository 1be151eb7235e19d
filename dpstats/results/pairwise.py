"""Contrasts of all pairs of levels of a factor, as statsmodels' t_test_pairwise and R's emmeans.

The contrast of two levels is the difference of two rows of the design that differ in the factor alone,
whatever its coding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpstats._arguments import shown
from dpstats.errors import SpecificationError
from dpstats.formula.newdata import frame_of
from dpstats.results.document import NOT_ESTIMABLE, Document
from dpstats.results.newdata import NewData, points
from dpstats.results.record import Record, mentioned
from dpstats.results.table import p_value
from dpstats.results.wald import ContrastTest, contrasts
from dpstats.schema import Bounded, Count, Event, Flag, Levels, Variable


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class PairwiseTest(ContrastTest):
    """Contrasts of all pairs of levels, with p-values adjusted for their number.

    Attributes
    ----------
    adjusted : array, shape (r,)
        NaN where a contrast is not estimable.
    method : str
        Of the adjustment.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.ols("wage ~ education + region", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> fit.t_test_pairwise("region").conf_int(joint="sup-t").shape
    (6, 2)
    """

    adjusted: np.ndarray
    method: str

    @property
    def result_frame(self) -> pd.DataFrame:
        """One row per pair, in statsmodels' columns: with ``pvalue-hs`` and ``reject-hs`` at 5 %."""
        frame = self.summary_frame()
        reject = self.adjusted <= 0.05
        return frame.assign(**{f"pvalue-{self.method}": self.adjusted, f"reject-{self.method}": reject})

    @property
    def document(self) -> Document:
        """The printed table."""
        table = self._table("pair", "difference")
        rows = tuple(
            row if row[-1] == NOT_ESTIMABLE else (*row[:4], p_value(float(p)), *row[5:])
            for row, p in zip(table.rows, self.adjusted, strict=True)
        )
        note = f"P>|z| is adjusted for the number of pairs ({self.method}); intervals hold one at a time."
        return Document(tables=(replace(table, rows=rows),), notes=(note,))


def pairwise(record: Record, term: str, newdata: NewData | None, method: str) -> PairwiseTest:
    """Compare all pairs of levels of a factor."""
    from statsmodels.sandbox.stats.multicomp import contrast_allpairs

    name, levels = factor(record, term)
    rows = _rows(record, name, levels, newdata)
    pairs = -contrast_allpairs(len(levels))
    labels = [f"{levels[int(np.argmax(p))]} - {levels[int(np.argmin(p))]}" for p in pairs]
    test = contrasts(record, pairs @ rows, np.zeros(len(pairs)), tuple(labels))
    return PairwiseTest(
        **{field: getattr(test, field) for field in ContrastTest.__dataclass_fields__},
        adjusted=_adjusted(test.pvalue, method),
        method=method,
    )


def factor(record: Record, term: str) -> tuple[str, tuple[str, ...]]:
    """Return the variable that `term` names, such as ``"maker"`` or ``"C(maker)"``, and its levels.

    Raises
    ------
    SpecificationError
        If it is no covariate with levels.
    """
    text = term if isinstance(term, str) else ""
    match = re.fullmatch(r"C\(\s*([^\s,()]+).*\)", text)
    name = match[1] if match else text
    known = {each: levels_of(record.schema[each]) for each in record.covariates}
    if not known.get(name):
        listed = ", ".join(each for each, levels in known.items() if levels) or "it has none"
        raise SpecificationError(f"term must be a covariate with levels ({listed}), got {shown(term)}")
    return name, known[name]


def levels_of(variable: Variable) -> tuple[str, ...]:
    """Return the values of a variable that has levels, the reference first; none for a number."""
    if isinstance(variable, Levels):
        return tuple(variable.all)
    return tuple(variable.codes[::-1]) if isinstance(variable, Flag | Event) else ()


def _rows(record: Record, name: str, levels: Sequence[str], newdata: NewData | None) -> np.ndarray:
    """Return a row for each level, zeros for the scale; they differ in the factor alone.

    Variables that say nothing of its levels may be left out of new data.
    """
    columns = [mentioned(record.schema, column) for column in record.names[: record.n_location]]
    beside = {each for read in columns if name in read for each in read} - {name}
    known = frame_of({} if newdata is None else newdata)
    if needed := [each for each in record.covariates if each in beside - set(known)]:
        given = ", ".join(f"{each!r}: ..." for each in needed)
        raise SpecificationError(
            f"{name!r} interacts with {', '.join(needed)}, so a difference of its levels depends on where "
            f"that is; t_test_pairwise({name!r}, newdata={{{given}}}) holds it at one point"
        )
    others = {each: _some(record.schema[each]) for each in record.covariates if each not in known}
    at = points(record, known.assign(**{**others, name: levels[0]}), "t_test_pairwise")
    return _at(record, at.frame, name, levels)


def _some(variable: Variable) -> object:
    """Return some value of a variable, inside its public range."""
    if isinstance(variable, Bounded | Count):
        return sum(variable.bounds) / 2
    return levels_of(variable)[0]


def _at(record: Record, points: pd.DataFrame, name: str, levels: Sequence[str]) -> np.ndarray:
    """Return the mean row of all points at each level, zeros for the scale."""
    frame = pd.concat([points.assign(**{name: level}) for level in levels], ignore_index=True)
    rows = np.zeros((len(levels), len(record.names)))
    exog = record.design.new_rows(frame, clip=False).exog
    rows[:, : record.n_location] = exog.reshape(len(levels), len(points), -1).mean(axis=1)
    return rows


def _adjusted(pvalues: np.ndarray, method: str) -> np.ndarray:
    from statsmodels.stats.multitest import multipletests

    known = ~np.isnan(pvalues)
    adjusted = np.full(len(pvalues), np.nan)
    try:
        if not isinstance(method, str):
            raise ValueError
        adjusted[known] = multipletests(pvalues[known], method=method)[1] if known.any() else []
    except ValueError:
        raise SpecificationError(
            f"method must be one of statsmodels' multipletests, such as 'hs', 'holm', 'bonferroni' or "
            f"'fdr_bh'; got {shown(method)}"
        ) from None
    return adjusted
