"""Wald tests of linear hypotheses about released coefficients: objects as those of linearmodels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from dpstats._arguments import numbers
from dpstats._private import forgetful
from dpstats.errors import SpecificationError
from dpstats.moments.mixture import Tails
from dpstats.results.document import (
    NOT_ESTIMABLE,
    Document,
    Estimates,
    Result,
    limit_columns,
    marked,
    point_columns,
)
from dpstats.results.facts import Marked, titled
from dpstats.results.intervals import Joint, half_widths, refuse_alpha, standard_errors
from dpstats.results.record import Record
from dpstats.results.table import Column, Table, figures, p_value, z_value

Hypothesis: TypeAlias = str | Sequence[str] | ArrayLike


@dataclass(frozen=True, slots=True)
class WaldTest(Marked):
    """Joint test: under the null, `statistic` is chi-square with `df` degrees of freedom.

    NaN where the hypothesis involves a coefficient that is not estimable at this budget.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT + V", plant.data, plant.schema).fit(dps.zcdp(0.5))
    >>> fit.wald_test("AT = 0, V = 0").df
    2
    """

    statistic: float
    df: int
    pvalue: float
    null: str

    def __repr__(self) -> str:
        p = p_value(self.pvalue)
        relation = p if p.startswith("<") else f"= {p}"
        found = f"chi2({self.df}) = {z_value(self.statistic)}, p {relation}"
        lost = math.isnan(self.statistic)
        found = "not estimable at this budget" if lost else found
        return titled(f"Wald test of {self.null}: {found}", self.not_private)


@partial(forgetful, change=marked)
@dataclass(frozen=True, slots=True, repr=False)
class ContrastTest(Result):
    """Tests of single contrasts, statsmodels' names; `effect` is contrast minus null value.

    Attributes
    ----------
    effect, sd, tvalue, pvalue : array, shape (r,)
    null : tuple of str
    cov : array, shape (r, r)
        Of the effects.
    tails : Tails, optional
        Law of noise that is not normal, for contrasts of one coefficient.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT + V", plant.data, plant.schema).fit(dps.zcdp(0.5))
    >>> test = fit.t_test("AT = 0, V = 0")
    >>> test.null
    ('AT = 0', 'V = 0')
    """

    effect: np.ndarray
    sd: np.ndarray
    tvalue: np.ndarray
    pvalue: np.ndarray
    null: tuple[str, ...]
    cov: np.ndarray
    tails: Tails | None = None

    def conf_int(self, level: float = 0.95, joint: Joint = None) -> np.ndarray:
        """Return limits of the effects, shape (r, 2).

        Parameters
        ----------
        level : float
        joint : {None, "bonferroni", "sup-t"}
            Let all limits hold at once; see `Fit.conf_int`.

        Returns
        -------
        array, shape (r, 2)

        Examples
        --------
        >>> test.conf_int(joint="sup-t").shape
        (2, 2)
        """
        refuse_alpha(level)
        half = half_widths(level, self.cov, joint, self.tails)
        return np.column_stack([self.effect - half, self.effect + half])

    def summary_frame(self, level: float = 0.95, joint: Joint = None) -> pd.DataFrame:
        """Return one row per contrast: coef, std err, z, P>|z| and limits.

        Parameters
        ----------
        level, joint
            As in `conf_int`.

        Returns
        -------
        DataFrame of r rows

        Examples
        --------
        >>> test.summary_frame().columns.tolist()
        ['coef', 'std err', 'z', 'P>|z|', 'conf_low', 'conf_high']
        """
        low, high = self.conf_int(level, joint).T
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

    def _page(self) -> Document:
        return Document(tables=(self._table("null", "difference"),))

    def _table(self, label: str, effect: str) -> Table:
        rows: list[tuple[str, ...]] = []
        for name, row in zip(self.null, self.summary_frame().to_numpy(), strict=True):
            value, sd, z, p, low, high = (float(v) for v in row)
            cells = (figures(value), figures(sd), z_value(z), p_value(p), figures(low), figures(high))
            rows.append((name, NOT_ESTIMABLE) if math.isinf(sd) else (name, *cells))
        heads = (Column(label, "l"), *point_columns(effect, "std err"), Column("z"), Column("P>|z|"))
        return Table((*heads, *limit_columns(0.95)), tuple(rows))


def constraint(record: Record, hypothesis: Hypothesis) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return L (r, k), q (r,) and one text per row for the hypothesis L params = q.

    Raises
    ------
    SpecificationError
        If the text cannot be read, the shape is wrong, or rows repeat each other.
    """
    k = len(record.names)
    if isinstance(hypothesis, list | tuple) and hypothesis and all(isinstance(h, str) for h in hypothesis):
        asked: str | list[str] | None = list(map(str, hypothesis))
    else:
        asked = hypothesis if isinstance(hypothesis, str) else None
    if asked is not None:
        matrix, value = record.design.linear_constraint(asked, record.names)
        matrix = np.asarray(matrix, dtype=float)
        value = np.asarray(value, dtype=float).ravel() + 0.0  # patsy's -0 is 0
    else:
        matrix = np.atleast_2d(numbers("hypothesis", hypothesis))
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
    """Test each row of the hypothesis; normal reference, or by the law of the noise for one coefficient."""
    matrix, value, null = constraint(record, hypothesis)
    return contrasts(record, matrix, value, null)


def contrasts(record: Record, matrix: np.ndarray, value: np.ndarray, null: tuple[str, ...]) -> ContrastTest:
    """Test matrix @ params = value, row by row."""
    effect = matrix @ record.params - value
    sd = standard_errors(matrix, record.cov)
    usable = np.isfinite(sd) & (sd > 0)
    z = np.divide(effect, sd, out=np.full(len(sd), np.nan), where=usable)
    cov = _cov_of(record, matrix)
    cov[np.diag_indices(len(sd))] = sd**2
    tails = _tails_of(record, matrix)
    chance = np.asarray(2 * special.ndtr(-np.abs(z)))
    if tails is not None:
        chance = np.where(np.isnan(z), np.nan, tails.two_sided(effect, cov))
    return ContrastTest(effect, sd, z, chance, null, cov, tails)


def _cov_of(record: Record, matrix: np.ndarray) -> np.ndarray:
    """Return the covariance of the rows of `matrix`, as if what is not estimable were certain."""
    return np.asarray(matrix @ np.where(np.isinf(record.cov), 0.0, record.cov) @ matrix.T)


def _tails_of(record: Record, matrix: np.ndarray) -> Tails | None:
    """Return the law of noise of the rows; of several coefficients together it is taken as normal."""
    if record.tails is None:
        return None
    alone = (matrix != 0).sum(axis=1) == 1
    return replace(record.tails, variances=np.where(alone, matrix**2 @ record.tails.variances, 0.0))


def wald_test_terms(record: Record) -> Estimates:
    """Test each term of the formula, all its coefficients together."""
    whole = np.eye(len(record.names))
    tests = [
        _jointly(record, whole[columns], np.zeros(columns.stop - columns.start), name)
        for name, columns in record.design.terms
    ]
    frame = pd.DataFrame(
        [(test.null, test.statistic, test.df, test.pvalue) for test in tests],
        columns=["term", "statistic", "df", "p_value"],
    )

    def layout() -> Document:
        rows = tuple(
            (test.null, NOT_ESTIMABLE)
            if math.isnan(test.statistic)
            else (test.null, z_value(test.statistic), str(test.df), p_value(test.pvalue))
            for test in tests
        )
        heads = (Column("term", "l"), Column("chi2"), Column("df"), Column("P>chi2"))
        return Document(tables=(Table(heads, rows, title="Wald tests of terms"),))

    return Estimates(frame, layout)


def wald_test(record: Record, hypothesis: Hypothesis) -> WaldTest:
    """Test all rows of the hypothesis together; chi-square reference."""
    matrix, value, null = constraint(record, hypothesis)
    return _jointly(record, matrix, value, ", ".join(null))


def _jointly(record: Record, matrix: np.ndarray, value: np.ndarray, text: str) -> WaldTest:
    df = len(matrix)
    if not np.isfinite(standard_errors(matrix, record.cov)).all():
        return WaldTest(math.nan, df, math.nan, text)
    effect = matrix @ record.params - value
    cov = _cov_of(record, matrix)
    sd = np.sqrt(np.diagonal(cov))
    if not (sd > 0).all() or np.linalg.matrix_rank(cov / np.outer(sd, sd)) < df:
        return WaldTest(math.nan, df, math.nan, text)
    standard = effect / sd  # on the scale of correlations, so that units do not matter to the solver
    statistic = float(standard @ np.linalg.solve(cov / np.outer(sd, sd), standard))
    return WaldTest(statistic, df, float(special.chdtrc(df, statistic)), text)
