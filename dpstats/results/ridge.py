"""Estimates under every ridge penalty from one release of moments (docs/theory/linear.md#ridge).

The estimate under a penalty is a function of the released moments of a linear fit, and so is its covariance:
another penalty costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import shown
from dpstats.errors import SpecificationError
from dpstats.moments.linear import LinearMoments
from dpstats.moments.solution import Solution
from dpstats.results.cautions import CODES, cautions_of_solution
from dpstats.results.document import Document, Estimates, cells, limit_columns, point_columns
from dpstats.results.intervals import critical
from dpstats.results.record import Record, given, penalty
from dpstats.results.table import Column, Table, plain

PER_DECADE = 5
DECADES = 12
SHOWN = 7  # penalties of a path that are printed; its frame has all


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
        "bias": solution.bias,
        "flags": cautions_of_solution(solution, names),
    }


def at_alpha(record: Record, alpha: float) -> Record:
    """Return what the same release says under another penalty, with the cautions that belong to it.

    The record keeps the budget that was spent, and the penalty that was asked for then.
    """
    fields = solved(given(record.linear), penalty(alpha), record.names)
    fields["flags"] = tuple(flag for flag in record.flags if flag[0] not in CODES) + fields["flags"]
    fields["model"] = "ridge" if fields["alpha"] > 0 else "ols"
    charged = record.alpha if record.charged_alpha is None else record.charged_alpha
    return replace(record, **fields, charged_alpha=None if charged == fields["alpha"] else charged)


def path(record: Record, alphas: Sequence[float] | None, level: float) -> Estimates:
    """Return estimates and limits of all coefficients at each penalty."""
    moments = given(record.linear)
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
            rows.append((label, term, *cells(values, not np.isinf(values[1]))))
            label = ""
    heads = (Column("alpha", "l"), Column("", "l"), *point_columns("coef", "std err"), *limit_columns(level))
    more = f"{len(chosen)} of {total} penalties; .frame has all" if total > len(chosen) else ""
    return Document(tables=(Table(heads, tuple(rows), labels=2, title="Ridge path", aside=more),))
