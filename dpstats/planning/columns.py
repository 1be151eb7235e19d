"""What moments of a design's columns say of its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.errors import SpecificationError
from dpstats.formula import Design
from dpstats.moments import PublicMoments
from dpstats.results.column_moments import ColumnMoments
from dpstats.schema import Bounded, Count, Levels, Schema, Variable

Array = np.ndarray
_LEAST_SHARE = 0.001  # of a flag, which a plan wants strictly between 0 and 1


def cells(name: str, variable: Variable) -> list[str]:
    """Names of the levels of a category, as columns of a design have them."""
    assert isinstance(variable, Levels)
    return [f"{name}[T.{level}]" for level in variable.all]


def of_public(moments: PublicMoments, design: Design) -> dict[Any, Any]:
    """Means, sds, shares and correlations of public rows, as ``covariates=`` of a plan takes them.

    Raises
    ------
    SpecificationError
        If the moments are of other columns, or columns are not variables or levels of one.
    """
    if moments.names != design.names:
        raise SpecificationError(
            "covariates= has public moments of other columns than the model's; compute them by "
            f"public_moments({design.formula!r}, ...)"
        )
    if not design.has_intercept:
        raise SpecificationError("public moments say no means without an intercept; give a public frame")
    mean = moments.xx[0]
    cov = moments.xx - np.outer(mean, mean)
    sd = np.sqrt(np.maximum(np.diag(cov), 0.0))
    with np.errstate(all="ignore"):
        corr = np.nan_to_num(cov / np.outer(sd, sd))
    return of_columns(design.schema, design.names[1:], mean[1:], sd[1:], corr[1:, 1:])


def of_fit(moments: ColumnMoments) -> dict[Any, Any]:
    """The same of a fit's columns.

    Raises
    ------
    SpecificationError
        If they are of failures alone, or columns are not variables or levels of one.
    """
    if moments.of != "rows":
        raise SpecificationError(
            "covariates= has the moments of a fit of times, which are of the rows that fail, and a plan "
            "needs those of all rows; give means and sds, or what dps.describe returned"
        )
    names, corr, schema = moments.names, moments.matrix, moments.design.schema
    pairs = np.eye(len(names)) if corr is None else corr.to_numpy()
    told = of_columns(schema, names, moments.means.to_numpy(), moments.sds.to_numpy(), pairs)
    hidden = {name for name, sd in moments.sds.items() if np.isnan(sd)}
    return {
        key: value
        for key, value in told.items()
        if not hidden.intersection(key if isinstance(key, tuple) else (key,))
    }


def of_columns(schema: Schema, columns: Sequence[str], mean: Array, sd: Array, corr: Array) -> dict[Any, Any]:
    """The same of the columns after the intercept."""
    told: dict[Any, Any] = {}
    owner: dict[str, str] = {}  # of each column whose correlations can be told
    for j, column in enumerate(columns):
        name, level = _level_of(column)
        variable = schema[name] if name in schema else None
        if variable is None or isinstance(variable, Levels) != (level is not None):
            raise SpecificationError(
                "moments tell of columns, and a plan needs variables: give a public frame, or means and sds "
                "of variables, where the formula transforms or multiplies them"
            )
        if isinstance(variable, Levels):
            told.setdefault(name, {})[level] = float(mean[j])
            if level != variable.all[0]:
                owner[column] = name
        else:
            if isinstance(variable, Bounded | Count):
                told[name] = _inside(variable, float(mean[j]), float(sd[j]))
            else:
                told[name] = float(np.clip(mean[j], _LEAST_SHARE, 1 - _LEAST_SHARE))
            owner[column] = name
    for name, shares in told.items():
        if isinstance(shares, dict):
            factor = schema[name]
            assert isinstance(factor, Levels)
            missing = [level for level in factor.all if level not in shares]
            shares.update(dict.fromkeys(missing, max(1 - sum(shares.values()), 0.0) / max(len(missing), 1)))
    for i, first in enumerate(columns):
        for j, other in enumerate(columns[i + 1 :], i + 1):
            if first in owner and other in owner and owner[first] != owner[other]:
                told[first, other] = float(np.clip(corr[i, j], -0.999, 0.999))
    return told


def _inside(variable: Bounded | Count, mean: float, sd: float) -> tuple[float, float]:
    """Mean and sd that the bounds allow, from noisy ones."""
    low, high = variable.bounds
    inner = 1e-9 * (high - low)
    mean = min(max(mean, low + inner), high - inner)
    return mean, min(max(sd, inner), 0.99 * ((mean - low) * (high - mean)) ** 0.5)


def _level_of(column: str) -> tuple[str, str | None]:
    """Of ``maker[T.WDC]`` the variable and the level; of another column itself."""
    name, _, rest = column.partition("[T.")
    return (name, rest.removesuffix("]")) if rest else (name, None)
