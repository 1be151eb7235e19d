"""The summary of a fit, and its five-line print (docs/theory/results.md#how-numbers-are-printed)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpstats._arguments import truth
from dpstats.results import inference, life
from dpstats.results.below import tables_below
from dpstats.results.estimates import NOT_ESTIMABLE, limit_heads
from dpstats.results.format import figures, p_value, penalty_text, percent, z_value
from dpstats.results.loglik import sentence
from dpstats.results.notes import notes
from dpstats.results.record import LINEAR_MODELS, MARGIN_MODELS, Record, Setting
from dpstats.results.ridge import at_alpha
from dpstats.results.table import WIDTH, Column, Document, Pair, Table
from dpstats.schema import ROW

BANNER = "NOT PRIVATE: fitted without noise, or with known noise"
TARGET = (
    "coefficients penalised with alpha = {}; intervals are for the penalised coefficients, not the "
    "unpenalised ones"
)
SHARED = "release and budget of the fit with alpha = {}: nothing more was spent"
UNPENALISED = "Without penalty (alpha = 0), from the same release"
BOUNDS_OF_ROWS = {
    "R": "rows beyond {} sds count less",
    "residual": "residuals clipped at {} sds",
    "response": "responses clipped at {} sds",
}
BOUNDS_OF_GLM = {"R": "rows beyond {} sds count less", "C": "scores clipped at {}"}
BOUNDS_OF_SCORE = {
    "cut c": "H <= {}",
    "z_l": "early residual >= {}",
    "floor": "z >= {}",
    "R": "row norm <= {}",
}

FAMILY_TITLES = {"binomial": "logistic", "poisson": "Poisson", "gamma": "gamma", "gaussian": "Gaussian"}


def heading(record: Record) -> str:
    """Return the title; a fit without secret noise is never called private."""
    title = record.title or record.model
    if record.title is None and record.is_survival:
        title = f"{life.dist_of(record).title} regression for time to failure"
    elif record.title is None and record.model in MARGIN_MODELS:
        title = "support vector machine, Huber hinge"
    elif record.title is None and record.model in LINEAR_MODELS:
        title = "linear regression"
        if record.alpha:
            title = f"ridge regression, alpha = {penalty_text(record.alpha)}"
    elif record.title is None and record.is_glm:
        title = f"{FAMILY_TITLES[record.dist]} regression"
    if record.not_private:
        return title[:1].upper() + title[1:]
    return f"Private {title}"


def summary(record: Record, level: float = 0.95, unpenalised: bool = False) -> Document:
    """Lay out the whole fit: what was asked, its price, the coefficients, and what to be careful about.

    With `unpenalised`, the coefficients of a ridge fit are followed by those without penalty.
    """
    tables = [coefficients(record, level)]
    if truth("unpenalised", unpenalised):
        without = at_alpha(record, 0.0)
        tables += [replace(coefficients(without, level), title=UNPENALISED)] if record.alpha else []
    return Document(
        title=heading(record),
        banner=BANNER if record.not_private else "",
        head=_head(record),
        tables=(*tables, *tables_below(record, level)),
        notes=tuple(notes(record)),
    )


def short(record: Record) -> str:
    """Return the five lines a fit prints as."""
    rows = f"n = {record.nobs} rows (public)" if record.nobs is not None else "number of rows not public"
    unit = record.unit  # of several rows, it says more than the neighbours, and both have no room
    neighbours = f"; neighbours {record.adjacency}" if unit == str(ROW) else ""
    privacy = f"Privacy: {record.budget}{neighbours}; unit {unit}"
    estimates = [
        f"{name} {figures(value) if np.isfinite(se) or record.no_errors else NOT_ESTIMABLE}"
        for name, value, se in zip(record.names, record.params, inference.bse(record), strict=True)
    ]
    codes = ", ".join(code for code, _ in record.flags)
    shared = record.charged_alpha
    more = "" if shared is None else f"; release and budget shared with alpha = {penalty_text(shared)}"
    more += f"; flags: {codes}" if codes else ""
    lines = (
        f"{heading(record)}: {record.formula}",
        f"{record.method}; {rows}",
        f"NOT PRIVATE. {privacy}" if record.not_private else privacy,
        ", ".join(estimates),
        "summary() for more" + more,
    )
    return "\n".join(textwrap.shorten(line, WIDTH, placeholder=" ...") for line in lines)


def coefficients(record: Record, level: float) -> Table:
    """Return the coefficient table."""
    if record.no_errors:
        rows = [(name, figures(value)) for name, value in zip(record.names, record.params, strict=True)]
        return Table((Column("", "l"), _coefficient_head(record)), tuple(rows))
    low, high = inference.limits(record, level)
    z, chances = inference.z_values(record), inference.p_values(record)
    columns = (
        Column("", "l"),
        _coefficient_head(record),
        Column("std err", "."),
        Column("privacy"),
        Column("z"),
        Column("P>|z|"),
        *(Column(head, ".") for head in limit_heads(level)),
    )
    lines: list[tuple[str, ...]] = []
    for j, (name, se, share) in enumerate(
        zip(record.names, inference.bse(record), inference.privacy_share(record), strict=True)
    ):
        if np.isinf(se):
            lines.append((name, NOT_ESTIMABLE))
            continue
        p = p_value(float(chances[j]))
        lines.append(
            (
                name,
                figures(record.params[j]),
                figures(se),
                percent(share),
                z_value(z[j]),
                p,
                figures(low[j]),
                figures(high[j]),
            )
        )
    return Table(columns, tuple(lines))


def _coefficient_head(record: Record) -> Column:
    return Column("penalised" if record.target else "coef", ".")


def _head(record: Record) -> tuple[tuple[Pair, ...], ...]:
    size = "not public" if record.nobs is None else f"{record.nobs} (public)"
    neighbours: Pair = ("Neighbours", record.adjacency)
    privacy: list[tuple[Pair, ...]] = [(("Privacy", str(record.budget)), neighbours)]
    if record.guarantees:
        privacy = [*((pair,) for pair in record.guarantees), (neighbours,)]
    lines: list[tuple[Pair, ...]] = [
        (("Formula", record.formula),),
        *([(("Weights", record.weights),)] if record.weights else []),
        (("Method", record.method), ("Rows", size)),
        *privacy,
    ]
    unit: Pair = ("Unit", record.unit)
    lines.append((("Ledger", record.ledger), unit) if record.ledger else (unit,))
    if record.messages is not None:
        lines.append((("Messages", _counted(record.messages)),))
    if record.released:
        lines.append((("Released", ", ".join(record.released)),))
    if record.loglik is not None:
        lines.append((("Loglik", sentence(record)),))
    if record.settings:
        lines.append((("Estimand", _estimand(record)),))
    if record.alpha:
        lines.append((("Target", TARGET.format(penalty_text(record.alpha))),))
    if record.target:
        lines.append((("Target", record.target),))
    if record.charged_alpha is not None:
        lines.append((("Shared", SHARED.format(penalty_text(record.charged_alpha))),))
    lines += [(("Caution", message),) for _, message in record.flags]
    return tuple(lines)


def _counted(messages: Mapping[str, int]) -> str:
    """Say how many messages were accepted, and how many were not and why."""
    rejected = [f"{count} {name.replace('_', ' ')}" for name, count in messages.items() if count]
    accepted = rejected.pop(0) if messages.get("accepted") else "0 accepted"
    return accepted + ("; rejected: " + ", ".join(rejected) if rejected else ", none rejected")


def _estimand(record: Record) -> str:
    """Say in words what bounds the score or a row, then any other constant by its name."""
    settings, of_rows = record.settings, record.is_glm or record.model in LINEAR_MODELS
    bounds = BOUNDS_OF_GLM if record.is_glm else BOUNDS_OF_ROWS if of_rows else BOUNDS_OF_SCORE
    bounded = [words.format(_short(settings[name])) for name, words in bounds.items() if name in settings]
    parts = [("" if of_rows else "score bounded: ") + ", ".join(bounded)] if bounded else []
    others = [f"{name} = {_short(v)}" for name, v in settings.items() if name not in bounds]
    return "; ".join(parts + ([", ".join(others)] if others else []))


def _short(value: Setting) -> str:
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.4g}"
    return text + ".0" if text.lstrip("-").isdigit() else text
