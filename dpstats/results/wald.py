"""Wald tests of linear hypotheses about released coefficients (linearmodels' test-statistic objects)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from dpstats.errors import SpecificationError
from dpstats.results.base import design_of
from dpstats.results.format import figures, p_value, z_value
from dpstats.results.intervals import critical, standard_errors
from dpstats.results.record import Record
from dpstats.results.table import Column, Document, Table

Hypothesis: TypeAlias = str | ArrayLike


@dataclass(frozen=True, slots=True)
class WaldTest:
    """A joint test: under the null, `statistic` is chi-square with `df` degrees of freedom.

    NaN where the hypothesis involves a coefficient that is not estimable at this budget.
    """

    statistic: float
    df: int
    pvalue: float
    null: str

    def __repr__(self) -> str:
        if math.isnan(self.statistic):
            return f"Wald test of {self.null}: not estimable at this budget"
        p = p_value(self.pvalue)
        relation = p if p.startswith("<") else f"= {p}"
        return f"Wald test of {self.null}: chi2({self.df}) = {z_value(self.statistic)}, p {relation}"


@dataclass(frozen=True, slots=True)
class ContrastTest:
    """Tests of single contrasts, statsmodels' names; `effect` is contrast minus null value."""

    effect: np.ndarray
    sd: np.ndarray
    tvalue: np.ndarray
    pvalue: np.ndarray
    null: tuple[str, ...]

    def conf_int(self, level: float = 0.95) -> np.ndarray:
        """Return limits of the effects, shape (r, 2)."""
        half = critical(level) * self.sd
        return np.column_stack([self.effect - half, self.effect + half])

    def summary_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row per contrast: coef, std err, z, P>|z| and limits."""
        low, high = self.conf_int(level).T
        return pd.DataFrame(
            {
                "coef": self.effect,
                "std err": self.sd,
                "z": self.tvalue,
                "P>|z|": self.pvalue,
                "conf_low": low,
                "conf_high": high,
            },
            index=list(self.null),
        )

    def _document(self) -> Document:
        rows: list[tuple[str, ...]] = []
        for name, row in zip(self.null, self.summary_frame().to_numpy(), strict=True):
            effect, sd, z, p, low, high = (float(v) for v in row)
            if math.isinf(sd):
                rows.append((name, "not estimable"))
            else:
                rows.append(
                    (name, figures(effect), figures(sd), z_value(z), p_value(p), figures(low), figures(high))
                )
        columns = (
            Column("null", "l"),
            Column("difference", "."),
            Column("std err", "."),
            Column("z"),
            Column("P>|z|"),
            Column("[0.025", "."),
            Column("0.975]", "."),
        )
        return Document(tables=(Table(columns, tuple(rows)),))

    def __repr__(self) -> str:
        return self._document().as_text()

    def _repr_html_(self) -> str:
        return self._document().as_html()


def constraint(record: Record, hypothesis: Hypothesis) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return L (r, k), q (r,) and one text per row for the hypothesis L params = q.

    Raises
    ------
    SpecificationError
        If the text cannot be read, the shape is wrong, or rows repeat each other.
    """
    k = len(record.names)
    if isinstance(hypothesis, str):
        matrix, value = design_of(record).linear_constraint(hypothesis, record.names)
        matrix = np.asarray(matrix, dtype=float)
        value = np.asarray(value, dtype=float).ravel() + 0.0  # patsy's -0 is 0
    else:
        matrix = np.atleast_2d(np.asarray(hypothesis, dtype=float))
        value = np.zeros(len(matrix))
    if matrix.ndim != 2 or matrix.shape[1] != k or not np.isfinite(matrix).all():
        raise SpecificationError(
            f"a hypothesis has one finite number for each of the {k} coefficients, got shape {matrix.shape}; "
            f"or write it as text, e.g. '{record.names[0]} = 0'"
        )
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise SpecificationError(
            "the rows of a hypothesis must not repeat or contradict each other; drop one"
        )
    return matrix, value, tuple(_text(record.names, row, q) for row, q in zip(matrix, value, strict=True))


def _text(names: tuple[str, ...], row: np.ndarray, value: float) -> str:
    terms = ""
    for weight, name in zip(row, names, strict=True):
        if weight:
            size = "" if abs(weight) == 1 else f"{abs(weight):g} * "
            sign = ("-" if weight < 0 else "") if not terms else (" - " if weight < 0 else " + ")
            terms += f"{sign}{size}{name}"
    return f"{terms} = {value:g}"


def t_test(record: Record, hypothesis: Hypothesis) -> ContrastTest:
    """Test each row of the hypothesis; normal reference."""
    matrix, value, null = constraint(record, hypothesis)
    effect = matrix @ record.params - value
    sd = standard_errors(matrix, record.cov)
    usable = np.isfinite(sd) & (sd > 0)
    z = np.divide(effect, sd, out=np.full(len(sd), np.nan), where=usable)
    return ContrastTest(effect, sd, z, 2 * special.ndtr(-np.abs(z)), null)


def wald_test(record: Record, hypothesis: Hypothesis) -> WaldTest:
    """Test all rows of the hypothesis together; chi-square reference."""
    matrix, value, null = constraint(record, hypothesis)
    text, df = ", ".join(null), len(matrix)
    if not np.isfinite(standard_errors(matrix, record.cov)).all():
        return WaldTest(math.nan, df, math.nan, text)
    effect = matrix @ record.params - value
    cov = matrix @ np.where(np.isinf(record.cov), 0.0, record.cov) @ matrix.T
    sd = np.sqrt(np.diagonal(cov))
    if not (sd > 0).all() or np.linalg.matrix_rank(cov / np.outer(sd, sd)) < df:
        return WaldTest(math.nan, df, math.nan, text)
    standard = effect / sd  # on the scale of correlations, so that units do not matter to the solver
    statistic = float(standard @ np.linalg.solve(cov / np.outer(sd, sd), standard))
    return WaldTest(statistic, df, float(special.chdtrc(df, statistic)), text)
