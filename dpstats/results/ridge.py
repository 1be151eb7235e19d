"""Every ridge penalty from one release: another penalty costs nothing (docs/theory/linear.md#ridge).

The estimate under a penalty is a function of the released moments of a linear fit, and so is its covariance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpstats._arguments import shown, truth
from dpstats.errors import SpecificationError
from dpstats.moments.linear import LinearMoments
from dpstats.moments.solution import Solution
from dpstats.results.base import Released
from dpstats.results.cautions import CODES, cautions
from dpstats.results.estimates import NOT_ESTIMABLE, Estimates, limit_heads
from dpstats.results.format import figures, plain
from dpstats.results.intervals import critical
from dpstats.results.notreleased import refusal
from dpstats.results.plots import plot_path
from dpstats.results.record import LINEAR_MODELS, Record, penalty
from dpstats.results.table import Column, Document, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PER_DECADE = 5
DECADES = 12
SHOWN = 7  # penalties of a path that are printed; its frame has all


def moments_of(record: Record, asked: str) -> LinearMoments:
    """Return the released moments of a linear fit.

    Raises
    ------
    NotReleased
        If there are none.
    """
    if record.linear is None:
        raise refusal(
            asked,
            f"needs the moments of a linear fit, and this {record.model} fit has none",
            "Fit dps.ridge(...).",
        )
    return record.linear


def solved(moments: LinearMoments, alpha: float, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a `Record` that depend on the penalty, and the moments they come from.

    Parameters
    ----------
    moments : LinearMoments
    alpha : float
    names : sequence of str, length d
    """
    return {"linear": moments, "alpha": alpha, **fields_of(moments.solve(alpha), names)}


def fields_of(solution: Solution, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a record that a solution fills."""
    return {
        "params": solution.params,
        "cov": solution.cov,
        "cov_privacy": solution.cov_privacy,
        "flags": cautions(solution, names),
    }


def at_alpha(record: Record, alpha: float) -> Record:
    """Return what the same release says under another penalty, with the cautions that belong to it.

    The record keeps the budget that was spent, and the penalty that was asked for then.
    """
    fields = solved(moments_of(record, "at_alpha"), penalty(alpha), record.names)
    fields["flags"] = tuple(flag for flag in record.flags if flag[0] not in CODES) + fields["flags"]
    if record.model in LINEAR_MODELS:
        fields["model"] = "ridge" if fields["alpha"] > 0 else "ols"
    charged = record.alpha if record.charged_alpha is None else record.charged_alpha
    return replace(record, **fields, charged_alpha=None if charged == fields["alpha"] else charged)


def path(record: Record, alphas: Sequence[float] | None, level: float) -> Estimates:
    """Return estimates and limits of all coefficients at each penalty."""
    moments = moments_of(record, "ridge_path")
    values = default_alphas(moments) if alphas is None else _checked(alphas)
    solutions = [moments.solve(float(alpha)) for alpha in values]
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
    shrunk = moments.penalised > 0
    if not shrunk.any():
        raise SpecificationError("the model has no coefficient that a penalty concerns, only an intercept")
    values, vectors = np.linalg.eigh(moments.gram)
    root = vectors / np.sqrt(np.maximum(values, max(moments.noise_gram, 10.0**-DECADES)))
    rates = np.linalg.svd(moments.map[shrunk] @ root / moments.scale, compute_uv=False) ** 2
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
            cells = (NOT_ESTIMABLE,) if np.isinf(values[1]) else tuple(map(figures, values))
            rows.append((label, term, *cells))
            label = ""
    low, high = limit_heads(level)
    heads = (
        Column("alpha", "l"),
        Column("", "l"),
        *(Column(head, ".") for head in ("coef", "std err", low, high)),
    )
    more = f"{len(chosen)} of {total} penalties; .frame has all" if total > len(chosen) else ""
    return Document(tables=(Table(heads, tuple(rows), labels=2, title="Ridge path", aside=more),))


class Ridge(Released):
    """Other penalties from the release of a linear fit."""

    __slots__ = ()

    @property
    def alpha(self) -> float | None:
        """Ridge penalty of the coefficients; None where the model has none."""
        return self.record.alpha

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
        """
        return path(self.record, alphas, level)

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
        """
        moments = moments_of(self.record, "plot_ridge_path")
        frame = path(self.record, alphas, 0.95).frame
        if not (frame["alpha"] > 0).all():
            raise SpecificationError("the axis of the plot is logarithmic: alphas must be above 0")
        low, high = self.design.bounds.T
        widths = high - low if truth("across_range", across_range) else np.ones(len(low))
        shown = {self.names[j]: float(widths[j]) for j in np.flatnonzero(moments.penalised)}
        label = "change of the mean across the public range" if across_range else "coefficient"
        return plot_path(self.record, frame, shown, label, ax)
