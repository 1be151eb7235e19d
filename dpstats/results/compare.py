"""Table of several fits side by side, with what each cost (R's modelsummary, statsmodels' summary_col)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from dpstats._arguments import shown
from dpstats._private import forgetting
from dpstats.errors import SpecificationError
from dpstats.results.document import NOT_ESTIMABLE, WIDTH, Document, Estimates, exposed
from dpstats.results.fit import Fit
from dpstats.results.intervals import bse, privacy_share
from dpstats.results.record import Record
from dpstats.results.table import Column, Table, figures, heading, percent, price

BESIDE = 4  # fits in one table; more follow below
LABEL, GAP = 22, 2
NOTE = (
    "Standard errors, in parentheses, count sampling and privacy noise; 'privacy' is the median share "
    "of their squares due to privacy. Fits of the same rows add up: a ledger knows their total."
)


@forgetting
def compare(*fits: Fit, names: Sequence[str] | None = None, level: float = 0.95) -> Estimates:
    """Lay out fits side by side: coefficients, standard errors in parentheses, and budgets.

    Parameters
    ----------
    *fits : Fit
        Fits of any models.
    names : sequence of str, optional
        The heads of their columns; default: (1), (2), ...
    level : float
        The level of the limits in ``.frame``.

    Returns
    -------
    Estimates
        In ``.frame``, the rows of `Fit.tidy` of all fits, with a column ``fit``.

    Raises
    ------
    SpecificationError
        If there is nothing to compare, or names and fits differ in number.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fits = [dps.ols(f"PE ~ {x}", plant.data, plant.schema).fit(dps.gdp(1)) for x in ("AT", "V")]
    >>> dps.compare(*fits, names=["temperature", "vacuum"]).frame["fit"].unique().tolist()
    ['temperature', 'vacuum']
    """
    if not fits or not all(isinstance(fit, Fit) for fit in fits):
        raise SpecificationError(
            "compare(a, b, ...) takes fits, as model.fit(budget) returns them; of a list compare(*fits)"
        )
    given = [f"({i + 1})" for i in range(len(fits))] if names is None else names
    heads = list(map(str, given)) if isinstance(given, list | tuple) else []
    if len(heads) != len(fits) or len(set(heads)) != len(heads):
        wrong = shown(names)
        raise SpecificationError(f"names must be {len(fits)} different texts, one for each fit, got {wrong}")
    frames = [
        fit.tidy(conf_int=True, level=level).assign(fit=head) for fit, head in zip(fits, heads, strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True)
    found = Estimates(frame[["fit", *frames[0].columns.drop("fit")]], lambda: _document(fits, heads))
    if any(fit.record.not_private for fit in fits):
        found = exposed(found)
    return found


def _document(fits: Sequence[Fit], heads: list[str]) -> Document:
    records = [fit.record for fit in fits]
    terms = list(dict.fromkeys(name for record in records for name in record.names))
    tables = [
        _table(records[start : start + BESIDE], heads[start : start + BESIDE], terms)
        for start in range(0, len(records), BESIDE)
    ]
    lines = tuple(((head, _about(fit)),) for head, fit in zip(heads, fits, strict=True))
    return Document(title="Fits side by side", head=lines, tables=tuple(tables), notes=(NOTE,))


def _about(fit: Fit) -> str:
    record = fit.record
    shared = "" if record.charged_alpha is None else ", shared with another penalty"
    codes = ", ".join(code for code, _ in record.flags)
    return (
        f"{heading(record, fit._heading)}: {fit.formula}. {record.method}. {price(record)}{shared}; unit "
        f"{record.unit}" + (f". Caution: {codes} (see its summary)" if codes else "")
    )


def _table(records: list[Record], heads: list[str], terms: list[str]) -> Table:
    """Return two lines for each term that one of the fits has, then facts."""
    rows: list[tuple[str, ...]] = []
    for term in terms:
        cells = [_cells(record, term) for record in records]
        if any(first for first, _ in cells):
            rows += [(term, *(first for first, _ in cells)), ("", *(second for _, second in cells))]
    width = (WIDTH - LABEL) // len(records) - GAP
    rows += [(label, *(value[:width] for value in values)) for label, values in _facts(records)]
    return Table((Column("", "l"), *(Column(head[:width]) for head in heads)), tuple(rows))


def _cells(record: Record, term: str) -> tuple[str, str]:
    if term not in record.names:
        return "", ""
    j = record.names.index(term)
    se = float(bse(record)[j])
    if math.isinf(se):
        return NOT_ESTIMABLE, ""
    return figures(float(record.params[j])), f"({figures(se)})"


def _facts(records: list[Record]) -> list[tuple[str, list[str]]]:
    spent = [record.budget.to_dict() for record in records]
    shares = [pd.Series(privacy_share(record)).median() for record in records]
    facts = [
        ("Model", [record.model for record in records]),
        ("Family", [record.dist for record in records]),
        ("Rows", ["not public" if record.nobs is None else str(record.nobs) for record in records]),
        ("privacy", [percent(share) for share in shares]),
    ]
    for unit in ("epsilon", "delta", "rho", "mu"):
        if any(unit in budget for budget in spent):
            facts.append((unit, [f"{budget[unit]:g}" if unit in budget else "" for budget in spent]))
    return facts
