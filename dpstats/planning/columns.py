"""What moments of a design's columns say of its variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.errors import SpecificationError
from dpstats.formula import Design
from dpstats.moments import PublicMoments
from dpstats.schema import Event, Flag, Levels, Variable

Array = np.ndarray


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
    return of_columns(design, mean[1:], sd[1:], corr[1:, 1:])


def of_columns(design: Design, mean: Array, sd: Array, corr: Array) -> dict[Any, Any]:
    """The same of the columns after the intercept."""
    columns, schema = design.names[1:], design.schema
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
            two = isinstance(variable, Flag | Event)
            told[name] = float(mean[j]) if two else (float(mean[j]), float(sd[j]))
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


def _level_of(column: str) -> tuple[str, str | None]:
    """Of ``maker[T.WDC]`` the variable and the level; of another column itself."""
    name, _, rest = column.partition("[T.")
    return (name, rest.removesuffix("]")) if rest else (name, None)
