"""Wald tests of linear hypotheses about released coefficients: objects as those of linearmodels; contrasts of
all pairs of levels of a factor, as statsmodels' t_test_pairwise and R's emmeans.

The contrast of two levels is the difference of two rows of the design that differ in the factor alone,
whatever its coding.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from dpstats._arguments import near, numbers, shown
from dpstats._private import forgetful
from dpstats.errors import SpecificationError
from dpstats.formula.grammar import linear_constraint
from dpstats.formula.newdata import frame_of
from dpstats.formula.reader import variable_in
from dpstats.moments.mixture import Tails
from dpstats.moments.roots import chi_square, root_of
from dpstats.results.document import (
    NOT_ESTIMABLE,
    Document,
    Estimates,
    Result,
    limit_columns,
    marked,
    point_columns,
)
from dpstats.results.intervals import (
    Joint,
    half_widths,
    quotients,
    refuse_alpha,
    standard_errors,
    two_sided,
)
from dpstats.results.newdata import NewData, points
from dpstats.results.record import Record
from dpstats.results.table import Column, Marked, Table, chi_square_text, figures, p_value, titled, z_value

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

    @property
    @marked
    def frame(self) -> pd.DataFrame:
        """The test as one row: ``statistic``, ``df``, ``pvalue`` and ``null``."""
        row = {"statistic": self.statistic, "df": self.df, "pvalue": self.pvalue, "null": self.null}
        return pd.DataFrame([row])

    def __repr__(self) -> str:
        lost = math.isnan(self.statistic)
        test = chi_square_text(self.statistic, self.df, self.pvalue)
        found = NOT_ESTIMABLE if lost else test
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
    ratio : str
        What exp of an effect is, where limits and tables are of that; `effect` and `sd` are of its logarithm.

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
    ratio: str = ""

    @property
    def frame(self) -> pd.DataFrame:
        """One row per contrast, with 95 % limits; see `summary_frame`."""
        return self.summary_frame()

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
        return self._told(np.column_stack([self.effect - half, self.effect + half]))

    def _told(self, effects: np.ndarray) -> np.ndarray:
        return np.exp(effects) if self.ratio else effects

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
                "coef": self._told(self.effect),
                "std err": self.sd,
                "z": self.tvalue,
                "P>|z|": self.pvalue,
                "conf_low": low,
                "conf_high": high,
            },
            index=list(self.null),
        )

    def _page(self) -> Document:
        return Document(tables=(self._table("null", self.ratio or "difference"),))

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
    several = list(hypothesis) if isinstance(hypothesis, list | tuple) else []
    if isinstance(hypothesis, str) or (several and all(isinstance(each, str) for each in several)):
        matrix, value = linear_constraint(several or hypothesis, record.names)
        value = value + 0.0  # patsy's -0 is 0
    else:
        matrix = np.atleast_2d(numbers("hypothesis", hypothesis, flags=True))
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


def contrasts(record: Record, matrix: np.ndarray, value: np.ndarray, null: tuple[str, ...]) -> ContrastTest:
    """Test matrix @ params = value, row by row; normal reference, or of one the law of the noise."""
    effect = matrix @ record.params - value
    sd = standard_errors(matrix, record)
    z = quotients(effect, sd)
    cov = _cov_of(record, matrix)
    cov[np.diag_indices(len(sd))] = sd**2
    tails = _tails_of(record, matrix)
    return ContrastTest(effect, sd, z, two_sided(z, tails, effect, cov), null, cov, tails)


def _cov_of(record: Record, matrix: np.ndarray) -> np.ndarray:
    """Return the covariance of the rows of `matrix`, as if what is not estimable were certain."""
    if record.rooted is not None:
        root = matrix @ record.rooted
        return np.asarray(root @ root.T)
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
        jointly(record, whole[columns], np.zeros(columns.stop - columns.start), name)
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


def jointly(record: Record, matrix: np.ndarray, value: np.ndarray, text: str) -> WaldTest:
    """Test matrix @ params = value, all rows together; chi-square reference."""
    df, statistic = len(matrix), _chi_square(record, matrix, value)
    return WaldTest(statistic, df, float(special.chdtrc(df, statistic)), text)


def _chi_square(record: Record, matrix: np.ndarray, value: np.ndarray) -> float:
    """Return the statistic of matrix @ params = value; NaN where a row, or what they share, is not known."""
    if not np.isfinite(standard_errors(matrix, record)).all():
        return math.nan
    if record.rooted is None:
        cov = _cov_of(record, matrix)
        sd = np.sqrt(np.diagonal(cov))
        if not (sd > 0).all() or np.linalg.matrix_rank(cov / np.outer(sd, sd)) < len(matrix):
            return math.nan
        root = root_of(cov)
    else:
        root = matrix @ record.rooted
    statistic, rank = chi_square(matrix @ record.params - value, root)
    return statistic if rank == len(matrix) else math.nan


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
    def frame(self) -> pd.DataFrame:
        """The same as `result_frame`."""
        return self.result_frame

    def _page(self) -> Document:
        table = self._table("pair", self.ratio or "difference")
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
    named = [f"({each})" for each in levels] if any(" - " in each for each in levels) else levels
    labels = [f"{named[int(np.argmax(p))]} - {named[int(np.argmin(p))]}" for p in pairs]
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
    match = re.fullmatch(r"C\(\s*(Q\(.*?\)|[^\s,()]+).*\)", text)
    name = variable_in(match[1] if match else text) or text
    known = {each: record.schema[each].all for each in record.covariates}
    if not known.get(name):
        listed = ", ".join(each for each, levels in known.items() if levels) or "it has none"
        raise SpecificationError(
            f"term must be a covariate with levels ({listed}), got {shown(term)}{near(name, known)}"
        )
    return name, known[name]


def _rows(record: Record, name: str, levels: Sequence[str], newdata: NewData | None) -> np.ndarray:
    """Return a row for each level, zeros for the scale; they differ in the factor alone.

    Variables that say nothing of its levels may be left out of new data.
    """
    beside = {each for read in record.design.reads if name in read for each in read} - {name}
    known = frame_of({} if newdata is None else newdata)
    if needed := [each for each in record.covariates if each in beside - set(known)]:
        given = ", ".join(f"{each!r}: ..." for each in needed)
        raise SpecificationError(
            f"{name!r} interacts with {', '.join(needed)}, so a difference of its levels depends on where "
            f"that is; t_test_pairwise({name!r}, newdata={{{given}}}) holds it at one point"
        )
    others = {each: record.schema[each] for each in record.covariates if each not in known}
    some = {each: one.all[0] if one.all else sum(one.bounds) / 2 for each, one in others.items()}
    at = points(record, known.assign(**{**some, name: levels[0]}), "t_test_pairwise")
    return _at(record, at.frame, name, levels)


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
