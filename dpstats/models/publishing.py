"""Paying for a fit, and publishing what came of it: the two ends of every model's page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dpstats.budget import Budget, Gdp, Pure
from dpstats.curator import Curator
from dpstats.estimators.engine.finish import Estimate
from dpstats.formula import Design, IntervalResponse
from dpstats.formula.variables import VariableColumns
from dpstats.ledger import Ledger
from dpstats.results import Fit
from dpstats.results.cautions import cautions

K = TypeVar("K", bound=Fit)


def pay(
    curator: Curator,
    design: Design | VariableColumns,
    budget: Budget,
    ledger: Ledger | str | Path | None,
    method: str,
    costs: Mapping[str, float | Pure | Gdp],
) -> dict[str, Any]:
    """Charge the whole budget of a fit; return what its record says of that, beside its estimate.

    Parameters
    ----------
    curator : Curator
        Which makes the releases.
    design : Design or VariableColumns
    budget : Budget
    ledger : Ledger or path, optional
        As of the models' ``fit``.
    method : str
        The algorithm in words.
    costs : mapping of str to cost
        Of each kind of release.

    Raises
    ------
    BudgetError
        If the budget exceeds what the ledger has left; nothing is spent then.
    """
    rows = ((name, getattr(design, name)) for name in ("weights", "subset"))
    asked = ", ".join([design.formula, *(f"{name}={text!r}" for name, text in rows if text)])
    line = curator.pay(ledger, formula=asked, method=method, costs=costs)
    return {
        "formula": design.formula,
        "subset": design.subset,
        "nobs": curator.n,
        "budget": budget,
        "method": method,
        "adjacency": curator.unit.adjacency,
        "unit": str(curator.unit),
        "ledger": line,
        "not_private": curator.not_private,
    }


def publish(
    kind: type[K],
    facts: Mapping[str, Any],
    design: Design,
    result: Estimate,
    released: Iterable[str],
    names: tuple[str, ...] | None = None,
    **more: Any,
) -> K:
    """Show an estimate as the fit of its kind.

    Parameters
    ----------
    kind : type
    facts : mapping
        As :func:`pay` returned them.
    design : Design
    result : Estimate
    released : iterable of str
        What was released with noise.
    names : tuple of str, optional
        Of the coefficients; default those of the design's columns.
    **more
        Of a :class:`dpstats.results.record.Record`.
    """
    names = design.names if names is None else names
    return kind(
        schema=design.schema,
        weights=design.weights,
        names=names,
        params=result.params,
        cov=result.cov,
        cov_privacy=result.cov_privacy,
        released=tuple(released),
        columns=result.columns,
        flags=cautions(result.problems, names, isinstance(design.response, IntervalResponse)),
        **facts,
        **more,
    )
