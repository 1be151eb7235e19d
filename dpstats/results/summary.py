"""Summary of a fit, and its five-line print (docs/theory/results.md#how-numbers-are-printed)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import TypeAlias

import numpy as np

from dpstats.results.document import WIDTH
from dpstats.results.estimates import FIXED, NOT_ESTIMABLE, limit_columns
from dpstats.results.facts import asked_and_paid, heading
from dpstats.results.format import figures, p_value, penalty_text, percent, z_value
from dpstats.results.record import Record, Setting
from dpstats.results.rivals import line_of
from dpstats.results.standard_errors import (
    bse,
    criterion,
    failures,
    limits,
    off_the_law,
    p_values,
    privacy_share,
    z_values,
)
from dpstats.results.summary_tables import reference_of
from dpstats.results.table import Column, Pair, Table
from dpstats.schema import ROW

Words: TypeAlias = str | Callable[[float], str]
"""How to say what a setting bounds: a text with a place for it, or a function of it."""

TARGET = (
    "coefficients penalised with alpha = {}; intervals are for the penalised coefficients, not the "
    "unpenalised ones"
)
LOST_ALL = "not_estimable"
NOTHING = "nothing is estimable with this budget and these data"
LEFT_OUT = "release and budget of the fit of {}: nothing more was spent"
SHARED = "release and budget of the fit with alpha = {}: nothing more was spent"


def short(record: Record, title: str) -> str:
    """Return the five lines a fit prints as."""
    rows = f"n = {record.nobs} rows (public)" if record.nobs is not None else "number of rows not public"
    unit = record.unit  # of several rows, it says more than the neighbours, and both have no room
    neighbours = f"; neighbours {record.adjacency}" if unit == str(ROW) else ""
    privacy = f"Privacy: {record.budget}{neighbours}; unit {unit}"
    estimates = [
        f"{name} {figures(value) if np.isfinite(se) or record.no_errors else NOT_ESTIMABLE}"
        for name, value, se in zip(record.names, record.params, bse(record), strict=True)
    ]
    if dead(record):
        estimates = [NOTHING]
    codes = ", ".join(code for code, _ in record.flags)
    shared = record.charged_alpha
    more = "" if shared is None else f"; release and budget shared with alpha = {penalty_text(shared)}"
    more += f"; flags: {codes}" if codes else ""
    lines = (
        f"{heading(record, title)}: {record.formula}",
        f"{record.method}; {rows}",
        f"NOT PRIVATE. {privacy}" if record.not_private else privacy,
        ", ".join(estimates),
        "summary() for more" + more,
    )
    return "\n".join(textwrap.shorten(line, WIDTH, placeholder=" ...") for line in lines)


def dead(record: Record) -> bool:
    """Whether no coefficient is estimable."""
    return not record.no_errors and bool(np.isinf(bse(record)).all())


def lines_of_dead(record: Record) -> tuple[tuple[Pair, ...], ...]:
    """Return what was asked, its price, and why nothing came of it, once."""
    said = [message for code, message in record.flags if code == LOST_ALL] or [NOTHING]
    counted = [(("Messages", _counted(record.messages)),)] if record.messages is not None else []
    asked = asked_and_paid(record, record.weights, record.guarantees)
    return (*asked, *counted, (("Caution", said[0]),))


def coefficient_table(record: Record, level: float) -> Table:
    """Return the coefficient table, levels under the name of their factor."""
    if record.no_errors:
        rows: list[tuple[str, ...]] = [
            (name, figures(value)) for name, value in zip(record.names, record.params, strict=True)
        ]
        return Table((Column("", "l"), _coefficient_head(record)), tuple(rows))
    heads = (Column("std err", "."), Column("privacy"), Column("z"), Column("P>|z|"), *limit_columns(level))
    (low, high), se = limits(record, level), bse(record)
    columns = (record.params, se, privacy_share(record), z_values(record), p_values(record), low, high)
    written: list[Callable[[float], str]] = [figures, figures, percent, z_value, p_value, figures, figures]
    rows = [
        (name, *(write(float(value)) for write, value in zip(written, values, strict=True)))
        if np.isfinite(values[1])
        else (name, NOT_ESTIMABLE)
        for name, *values in zip(record.names, *columns, strict=True)
    ]
    if record.scale_known:
        rows[-1] = (*rows[-1][:2], FIXED)
    return Table((Column("", "l"), _coefficient_head(record), *heads), tuple(_grouped(record, rows)))


def _grouped(record: Record, rows: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Return the rows, those of several levels below a row that names their factor and its reference."""
    for factor, found in groupby(rows, lambda row: reference_of(record, row[0])):
        block = list(found)
        if factor is None or len(block) == 1:
            yield from block
            continue
        name, reference = factor
        yield name, f"against {reference}"
        yield from ((f"  {label.removeprefix(name)}", *cells) for label, *cells in block)


def _coefficient_head(record: Record) -> Column:
    return Column("penalised" if record.target else "coef", ".")


def lines_of(record: Record, said: str) -> tuple[tuple[Pair, ...], ...]:
    """Return what was asked, its price and its cautions, in pairs; `said` is of the estimand."""
    shared = "" if record.charged_alpha is None else SHARED.format(penalty_text(record.charged_alpha))
    more = (
        ("Messages", _counted(record.messages) if record.messages is not None else ""),
        ("Released", ", ".join(record.released)),
        ("Failures", _failures(record) if record.nevents is not None else ""),
        ("Loglik", _likelihood(record) if record.loglik is not None else ""),
        ("Preferred", line_of(record) if record.rivals else ""),
        ("Estimand", said),
        ("Target", TARGET.format(penalty_text(record.alpha)) if record.alpha else ""),
        ("Target", record.target or ""),
        ("Shared", shared),
        ("Shared", LEFT_OUT.format(record.charged_formula) if record.charged_formula else ""),
        *(("Caution", message + _how_far(code, record)) for code, message in record.flags),
    )
    lines = asked_and_paid(record, record.weights, record.guarantees)
    return (*lines, *((pair,) for pair in more if pair[1]))


def _counted(messages: Mapping[str, int]) -> str:
    """Say how many messages were accepted, and how many were not and why."""
    rejected = [f"{count} {name.replace('_', ' ')}" for name, count in messages.items() if count]
    accepted = rejected.pop(0) if messages.get("accepted") else "0 accepted"
    return accepted + ("; rejected: " + ", ".join(rejected) if rejected else ", none rejected")


def estimand(record: Record, bounds: Mapping[str, Words]) -> str:
    """Say in words what bounds the score or a row, then any other constant by its name."""
    settings = record.settings
    said = [
        words.format(setting_text(value)) if isinstance(words, str) else words(float(value))
        for name, words in bounds.items()
        if (value := settings.get(name)) is not None
    ]
    others = [f"{name} = {setting_text(v)}" for name, v in settings.items() if name not in bounds]
    return "; ".join(filter(None, (", ".join(said), ", ".join(others))))


def _how_far(code: str, record: Record) -> str:
    """Say what a caution goes by, where it was released."""
    if code != "law" or record.law is None:
        return ""
    found = off_the_law(record)
    errors = abs(found.estimate) / found.std_error
    return f" ({errors:.1f} standard errors off, {100 * abs(found.estimate):.1f} % of the failures)"


def _failures(record: Record) -> str:
    found = failures(record)
    return f"about {found.estimate:.0f}, 95 % interval {found.conf_low:.0f} to {found.conf_high:.0f}"


def _likelihood(record: Record) -> str:
    value, found = criterion(record, "llf"), criterion(record, "aic")
    return (
        f"about {value.estimate:.0f} (sd of noise {figures(value.std_error)}), AIC about "
        f"{found.estimate:.0f} ({figures(found.std_error)}); rows clipped"
    )


def setting_text(value: Setting) -> str:
    """Write a constant of a fit."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.4g}"
    return text + ".0" if text.lstrip("-").isdigit() else text
