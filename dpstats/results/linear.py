"""Fits of linear models: sigma, R-squared, every ridge penalty, and fits without some of the terms.

All of them follow from one release of moments (docs/theory/linear.md#terms-left-out). The estimate under a
penalty is a function of these, and so is its covariance: another penalty costs nothing
(docs/theory/linear.md#ridge).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, shown, truth, warn
from dpstats.errors import SpecificationError
from dpstats.formula import Design, build_design
from dpstats.formula.grammar import taken_out, without_terms
from dpstats.moments.linear import LinearMoments
from dpstats.moments.solution import Solution
from dpstats.results.cautions import MORE, OF_SOLUTION, advised, beside, cautions, problems_of
from dpstats.results.document import Document, Estimates, cells, limit_columns, point_columns
from dpstats.results.intervals import Estimate, critical, estimable_within, least_root, positive, rsquared
from dpstats.results.newdata import Points
from dpstats.results.plotting import plot_path
from dpstats.results.prediction import Prediction
from dpstats.results.public_rows import MeanFit
from dpstats.results.record import Record, given, penalty
from dpstats.results.released import method_where, value_where
from dpstats.results.summary import table_of_scatter
from dpstats.results.table import Column, Table, penalty_text, plain

PER_DECADE = 5
DECADES = 12
SHOWN = 7  # penalties of a path that are printed; its frame has all


def fields_of(solution: Solution, names: Sequence[str], more: str = MORE) -> dict[str, Any]:
    """Return the fields of a record that a solution fills; cautions advise `more`."""
    return {
        "params": solution.params,
        "cov": solution.cov,
        "cov_privacy": solution.cov_privacy,
        "bias": solution.bias,
        "flags": cautions(problems_of(solution), names, more=more),
    }


def at_alpha(record: Record, alpha: float) -> Record:
    """Return what the same release says under another penalty, with the cautions that belong to it.

    The record keeps the budget that was spent, and the penalty that was asked for then.
    """
    alpha, design = penalty(alpha), record.design
    solution = given(record.linear).solve_beside(design.partners, alpha)
    fields = {"alpha": alpha} | fields_of(solution, record.names, advised(record))
    fields["flags"] = _flags(record, fields, design)
    fields["model"] = "ridge" if fields["alpha"] > 0 else "ols"
    charged = record.alpha if record.charged_alpha is None else record.charged_alpha
    return replace(record, **fields, charged_alpha=None if charged == fields["alpha"] else charged)


def _flags(record: Record, fields: dict[str, Any], design: Design) -> tuple[tuple[str, str], ...]:
    """Cautions of another solution from the same release: what a record has of none, and its own."""
    kept = tuple(flag for flag in record.flags if flag[0] not in OF_SOLUTION)
    return kept + cautions(beside(design, fields["cov"]), design.names) + fields["flags"]


def path(record: Record, alphas: Sequence[float] | None, level: float) -> Estimates:
    """Return estimates and limits of all coefficients at each penalty."""
    moments, partners = given(record.linear), record.design.partners
    values = default_alphas(moments) if alphas is None else _checked(alphas)
    solutions = [moments.solve_beside(partners, float(alpha)) for alpha in values]
    estimate = np.concatenate([solution.params for solution in solutions])
    se = np.sqrt(np.concatenate([np.diagonal(solution.cov) for solution in solutions]))
    half = critical(level) * se
    columns = {
        "alpha": np.repeat(values, len(record.names)),
        "term": list(record.names) * len(values),
        "estimate": estimate,
        "std_error": se,
        "conf_low": estimate - half,
        "conf_high": estimate + half,
    }
    frame = pd.DataFrame(columns)
    return Estimates(frame, lambda: _layout(frame, len(record.names), level))


def default_alphas(moments: LinearMoments) -> np.ndarray:
    """Return penalties from where they hardly matter to where they hardly leave anything.

    Public arithmetic on released numbers. In the directions v of gram v = alpha P v, P the penalty in the
    coordinates of the moments, a penalty alpha halves the estimate; the grid goes from a hundredth of the
    least of these alphas to a hundred times the greatest, at most twelve decades.

    Raises
    ------
    SpecificationError
        If nothing is penalised.
    """
    shrunk = moments.frame.penalised > 0
    if not shrunk.any():
        raise SpecificationError("the model has no coefficient that a penalty concerns, only an intercept")
    values, vectors = np.linalg.eigh(moments.released.gram)
    root = vectors / np.sqrt(np.maximum(values, max(moments.released.noise_gram, 10.0**-DECADES)))
    rates = np.linalg.svd(moments.frame.map[shrunk] @ root / moments.frame.scale, compute_uv=False) ** 2
    first = math.floor(-math.log10(rates[0])) - 2
    last = math.ceil(-math.log10(max(rates[-1], rates[0] * 10.0**-DECADES))) + 2
    last = min(last, first + DECADES)
    return np.logspace(first, last, (last - first) * PER_DECADE + 1)


def _checked(alphas: Sequence[float]) -> np.ndarray:
    given = np.atleast_1d(np.asarray(alphas, dtype=object)).ravel()
    if not all(isinstance(alpha, int | float | np.number) for alpha in given):
        raise SpecificationError(f"alphas must be numbers of at least 0, got {shown(alphas)}")
    values = [penalty(alpha) for alpha in given]
    if not values:
        raise SpecificationError("alphas is empty; give penalties such as [0.01, 0.1, 1], or None for a grid")
    return np.array(values, dtype=float)


def _layout(frame: pd.DataFrame, d: int, level: float) -> Document:
    total = len(frame) // d
    chosen = np.unique(np.linspace(0, total - 1, min(total, SHOWN)).round().astype(int))
    rows: list[tuple[str, ...]] = []
    numbers = frame.drop(columns=["alpha", "term"]).to_numpy()
    for start in chosen * d:
        label = plain(float(f"{frame['alpha'].iloc[start]:.3g}"))
        for term, values in zip(frame["term"].iloc[:d], numbers[start : start + d], strict=True):
            rows.append((label, term, *cells(values, not np.isinf(values[1]))))
            label = ""
    heads = (Column("alpha", "l"), Column("", "l"), *point_columns("coef", "std err"), *limit_columns(level))
    more = f"{len(chosen)} of {total} penalties; .frame has all" if total > len(chosen) else ""
    return Document(tables=(Table(heads, tuple(rows), labels=2, title="Ridge path", aside=more),))


def without(record: Record, terms: Sequence[str]) -> Record:
    """Return what the same release says of the formula without these terms.

    Raises
    ------
    SpecificationError
        If a term is not in the formula, none is named, or the other columns would change.
    """
    if not terms:
        raise SpecificationError("no term is named; give one or more, such as fit.drop('x')")
    formula = without_terms(record.formula, terms, record.schema)
    design = build_design(formula, record.schema, record.weights, record.subset)
    names = design.names
    dropped = np.array([name not in names for name in record.names])
    if not set(names) <= set(record.names):
        other = ", ".join(name for name in names if name not in record.names)
        raise SpecificationError(
            f"without {', '.join(terms)} the formula has other columns, {other}, of which nothing was "
            "released; fit a model of the new formula"
        )
    left = tuple(name for name in record.names if name in names)
    fields = fields_of(given(record.moments).without(dropped), left, advised(record))
    fields["flags"] = _flags(record, fields, design)
    return replace(
        record, **fields, names=left, formula=formula, charged_formula=record.formula, linear=None, alpha=None
    )


def has_moments(record: Record) -> bool:
    """Whether the second moments were released, not the coefficients alone."""
    return record.linear is not None


def has_line(record: Record) -> bool:
    """Whether they give the coefficients, and no penalty is on these."""
    return has_moments(record) and not record.alpha


class LinearFit(MeanFit, models=("ols", "ridge")):
    """A linear regression: sigma, R-squared, and other ridge penalties from the same release.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ridge("PE ~ AT + V", plant.data, plant.schema, alpha=0.1).fit(dps.zcdp(0.5))
    >>> fit.rsquared
    R-squared ... (95 % interval)
    >>> point = {"AT": 20, "V": 50}
    """

    __slots__ = ()
    _bounds = {
        "R": "rows beyond {} sds count less",
        "residual": "residuals clipped at {} sds",
        "apart": "at most {} rows are 30 sds from the others",
        "response": "responses clipped at {} sds",
    }
    _needs = (
        "needs the moments of a linear fit, and this {model} fit has none",
        "Fit the formula that you want anew, or a line by dps.ols(...) or dps.ridge(...).",
    )
    _refused = {
        **dict.fromkeys(("at_alpha", "ridge_path", "plot_ridge_path"), _needs),
        **dict.fromkeys(
            ("drop", "update"),
            (
                "needs the moments of a linear fit without penalty, which this {model} fit does not have",
                "Of a ridge fit take fit.at_alpha(0) first; where terms were taken out before, take all of "
                "them out of the first fit, as fit.drop('x', 'z'); else fit the shorter formula anew.",
            ),
        ),
    }

    @property
    def _title(self) -> str:
        if self.record.alpha:
            return f"ridge regression, alpha = {penalty_text(self.record.alpha)}"
        return "linear regression"

    def _facts(self) -> dict[str, object]:
        if self.record.linear is None:
            return {}
        found = {"sigma": self.sigma, "rsquared": self.rsquared}
        return {"alpha": self.record.alpha, **{name: each.estimate for name, each in found.items()}}

    def _remark(self) -> str:
        record = self.record
        if record.linear is None:
            return ""
        said = " Intervals of 1 - R-squared, and upper limits of sigma, are on the log scale."
        said += " Both are of the fit without penalty." if record.alpha else ""
        if {"apart", "residual"} <= set(record.settings):
            far, limit, most = (
                *(float(record.settings[name]) for name in ("apart", "residual")),
                record.widest,
            )
            more = math.sqrt(far / record.linear.released.n) * most
            said += (
                f" They are of residuals up to {limit:.3g} sds: a few far rows may hold more. Noise may hide "
                f"{far:.0f}, which make sigma {math.hypot(record.linear.sigma(most).value, more):.3g} "
                "at the bounds."
            )
        of_weighted = "R" in record.settings and record.linear.released.total is None
        return said + (" R-squared is of the weighted rows." if of_weighted else "")

    def _tables(self, level: float, scaled: Record) -> list[Table]:
        if self.record.linear is None or self.record.no_errors:
            return []
        return [
            table_of_scatter({"Residual sd": self._sigma(level), "Explained": self._explained(level)}, level)
        ]

    def _sigma(self, level: float = 0.95) -> Estimate:
        most = self.record.widest
        found = given(self.record.linear).sigma(most)
        return estimable_within(
            replace(positive("sigma", found, level, most), conf_low=least_root(found, level)), most
        )

    def _explained(self, level: float = 0.95) -> Estimate:
        return rsquared(given(self.record.linear).rsquared(self.record.widest), level)

    def _prediction(self, at: Points, average: bool = False) -> Prediction:
        """Predict within the public bounds of the response, and say so."""
        response = self.record.design.numeric
        found = replace(super()._prediction(at, average), bounds=response.bounds)
        if found.outside:
            low, high = map(plain, response.bounds)
            warn(
                f"{found.outside} prediction(s) lay outside the public bounds of {response.text}, {low} to "
                f"{high}, and were moved to them. Where the whole interval lay outside, the line is wrong "
                "there, and its limits are both bounds"
            )
        return found

    @property
    def alpha(self) -> float | None:
        """Ridge penalty of the coefficients; None where the model has none."""
        return self.record.alpha

    @value_where(has_moments)
    def sigma(self) -> Estimate:
        """Scale of the error of a fit without penalty; 95 % interval, from 0 where noise may be all of it."""
        return self._sigma()

    @value_where(has_moments)
    def rsquared(self) -> Estimate:
        """R-squared of a fit without penalty; 95 % interval on the scale of log(1 - R-squared)."""
        return self._explained()

    @value_where(has_moments)
    def rsquared_adj(self) -> Estimate:
        """:attr:`rsquared`, which is adjusted: the variance about the line is that by degrees of freedom."""
        return self._explained()

    @method_where(has_moments)
    def at_alpha(self, alpha: float) -> "LinearFit":
        """Return the fit under another ridge penalty, from the same release.

        Nothing more is spent: the budget of the new fit is the one already spent, not another.

        Parameters
        ----------
        alpha : float
            At least 0; 0 gives ordinary least squares.

        Returns
        -------
        LinearFit

        Examples
        --------
        >>> fit.at_alpha(0).alpha
        0.0
        """
        return self._of(at_alpha(self.record, alpha))

    @method_where(has_line)
    def drop(self, *terms: str) -> "LinearFit":
        """Return the fit without some terms, from the same release.

        Nothing more is spent: the coefficients are those of the best line in the other terms, by the moments
        that were released. It has neither their moments nor a sigma of its own.

        Parameters
        ----------
        *terms : str
            As the formula has them, such as ``"V"``, a factor with all its levels, or ``"AT:V"``.

        Returns
        -------
        LinearFit

        Raises
        ------
        SpecificationError
            If a term is not in the formula, none or no column is left, or the columns left are others than
            before, as without one of the terms of an interaction.

        Examples
        --------
        >>> fit.at_alpha(0).drop("V").names
        ('Intercept', 'AT')
        """
        return self._of(without(self.record, terms))

    @method_where(has_line)
    def update(self, formula: str) -> "LinearFit":
        """Return the fit of another formula, which lacks some of the terms, from the same release.

        Parameters
        ----------
        formula : str
            Such as ``". ~ . - V"``, as R's update has it. A term can be taken out, and none put in.

        Returns
        -------
        LinearFit
            As :meth:`drop`.

        Raises
        ------
        SpecificationError
            As :meth:`drop`, and for any other change.

        Examples
        --------
        >>> fit.at_alpha(0).update(". ~ . - V").formula
        'PE ~ AT'
        """
        return self.drop(*taken_out(formula))

    @method_where(has_moments)
    def ridge_path(self, alphas: Sequence[float] | None = None, level: float = 0.95) -> Estimates:
        """Return the coefficients under many penalties, all from this fit's release, at no further cost.

        Parameters
        ----------
        alphas : sequence of float, optional
            Penalties of at least 0; default: a grid from hardly any effect to hardly any coefficient left.
        level : float
            Confidence level. The intervals are for the penalised coefficients.

        Returns
        -------
        Estimates
            In ``.frame``: ``alpha``, ``term``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high``.

        Examples
        --------
        >>> fit.ridge_path([0.01, 1]).frame[["alpha", "term"]].values.tolist()[2:4]
        [[0.01, 'V'], [1.0, 'Intercept']]
        """
        return path(self.record, alphas, level)

    @method_where(has_moments)
    def plot_ridge_path(
        self, alphas: Sequence[float] | None = None, ax: Axes | None = None, across_range: bool = False
    ) -> Axes:
        """Plot the penalised coefficients with 95 % bands against the penalty. Needs matplotlib.

        Parameters
        ----------
        alphas : sequence of float, optional
            Penalties above 0; default as in `ridge_path`.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure, ``plot_ridge_path().figure``.
        across_range : bool
            Multiply each coefficient by the width of its column's public bounds: the change of the mean from
            one end to the other, which columns in different units have in common.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> fit.plot_ridge_path(across_range=True).figure.savefig("path.png")
        """
        moments = given(self.record.linear)
        frame = path(self.record, alphas, 0.95).frame
        if not (frame["alpha"] > 0).all():
            raise SpecificationError("the axis of the plot is logarithmic: alphas must be above 0")
        low, high = self.design.bounds.T
        widths = high - low if truth("across_range", across_range) else np.ones(len(low))
        shown = {self.names[j]: float(widths[j]) for j in np.flatnonzero(moments.frame.penalised)}
        label = "change of the mean across the public range" if across_range else "coefficient"
        return plot_path(self.record, frame, shown, label, ax)
