"""Standard errors to expect of a fit from contributions, before anybody has contributed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpstats.contributions import Rejected, Totals
from dpstats.contributors import Plan
from dpstats.contributors.message import exact
from dpstats.estimators.contributed import linear_moments
from dpstats.formula import Block
from dpstats.models.contributed import approximation
from dpstats.rows import open_rows
from dpstats.schema import Event, Flag, Levels, Variable

_ROWS = 4000  # of one block


def expected_precision(plan: Plan, reach: float = 2.0) -> pd.DataFrame:
    """Standard errors to expect of a fit with as many contributors as the plan asks for.

    No data are read: they are of made-up records in which every variable is spread evenly over its public
    range, whatever the others and the response are. Real columns that vary less, or together, are estimated
    less precisely.

    Parameters
    ----------
    plan : Plan
    reach : float
        R of ``logit``, where the response is a flag; else coefficients are those of ``ols``.

    Returns
    -------
    DataFrame
        ``term``, ``privacy`` and ``sampling``: parts of the standard error of each coefficient. The input
        scheme has more error where coefficients are not 0.
    """
    generator = np.random.default_rng(0)
    made = {name: _even(plan.schema[name], generator) for name in plan.design.variables}
    (columns,) = open_rows(made, plan.schema, plan.design.variables).blocks()
    block = plan.design.read(columns)
    logistic = isinstance(plan.schema.get(plan.design.response.text), Flag | Event)
    slope = 4 * approximation(reach) if logistic else None
    of = _expected_of_input if plan.method == "input" else _of_statistics
    privacy, sampling = of(plan, block, slope)
    return pd.DataFrame({"term": plan.design.names, "privacy": privacy, "sampling": sampling})


def _of_statistics(plan: Plan, block: Block, slope: float | None) -> tuple[np.ndarray, np.ndarray]:
    n = plan.contributors
    sums = exact(plan, block).mean(axis=0) * n
    solution = linear_moments(Totals(n, sums, np.zeros((0, 0)), Rejected()), plan, slope).solve()
    privacy = np.diag(solution.cov_privacy)
    return np.sqrt(privacy), np.sqrt(np.maximum(np.diag(solution.cov) - privacy, 0.0))


def _expected_of_input(plan: Plan, block: Block, slope: float | None) -> tuple[np.ndarray, np.ndarray]:
    n, d = plan.contributors, len(plan.design.names)
    row, product = plan.parts
    entries = exact(plan, block)
    q, size = entries[:, :d], float(np.mean(entries[:, d:] ** 2) / np.mean(entries[:, :d] ** 2))
    gram = q.T @ q / len(q) * n
    inverse = np.linalg.inv(gram + (n * row.sd**2 + plan.ridge) * np.eye(d))
    unit = plan.response[1] if slope is None else 1 / slope
    back = plan.rows.to_user @ inverse * unit
    privacy = np.einsum("ij,ij->i", back, back) * n * product.sd**2
    sampling = np.einsum("ij,jk,ik->i", back, gram, back) * size
    return np.sqrt(privacy), np.sqrt(sampling)


def _even(variable: Variable, generator: np.random.Generator) -> Any:
    """Values spread evenly over what is declared."""
    if isinstance(variable, Levels):
        return generator.choice(np.array(variable.levels), _ROWS)
    if isinstance(variable, Flag | Event):
        return generator.choice(np.array(variable.codes), _ROWS)
    low, high = variable.bounds
    return generator.uniform(low, high, _ROWS)
