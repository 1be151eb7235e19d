"""The summary of a fit, and its five-line print (spec/results.md 3.3)."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np

from dpstats.results import inference, life, scatter
from dpstats.results.estimates import limit_heads
from dpstats.results.format import figures, p_value, penalty_text, percent, plain, z_value
from dpstats.results.intervals import Estimate, log_estimate
from dpstats.results.record import LINEAR_MODELS, MARGIN_MODELS, Record, Setting
from dpstats.results.reports import NOT_ESTIMABLE
from dpstats.results.ridge import at_alpha
from dpstats.results.table import WIDTH, Column, Document, Pair, Table
from dpstats.schema import ROW, Bounded, Count, Event, Flag, Levels, Unit, Variable

BANNER = "NOT PRIVATE: fitted without noise, or with known noise"
SHOWN_LEVELS = 8
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
BOUNDS_OF_SCORE = {"cut c": "H <= {}", "z_l": "early residual >= {}", "R": "row norm <= {}"}


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
    if record.not_private:
        return title[:1].upper() + title[1:]
    return f"Private {title}"


def summary(record: Record, level: float = 0.95, unpenalised: bool = False) -> Document:
    """Lay out the whole fit: what was asked, its price, the coefficients, and what to be careful about.

    With `unpenalised`, the coefficients of a ridge fit are followed by those without penalty.
    """
    tables = [coefficients(record, level)]
    if unpenalised:
        without = at_alpha(record, 0.0)
        tables += [replace(coefficients(without, level), title=UNPENALISED)] if record.alpha else []
    if record.is_survival:
        tables.append(_scale_and_ratios(record, level))
    if record.linear is not None:
        tables.append(_scatter(record, level))
    return Document(
        title=heading(record),
        banner=BANNER if record.not_private else "",
        head=_head(record),
        tables=tuple(tables),
        notes=tuple(_notes(record)),
    )


def short(record: Record) -> str:
    """Return the five lines a fit prints as."""
    rows = f"n = {record.nobs} rows (public)" if record.nobs is not None else "number of rows not public"
    unit = record.unit  # of several rows, it says more than the neighbours, and both have no room
    neighbours = f"; neighbours {record.adjacency}" if unit == str(ROW) else ""
    privacy = f"Privacy: {record.budget}{neighbours}; unit {unit}"
    estimates = [
        f"{name} {figures(value) if np.isfinite(se) else NOT_ESTIMABLE}"
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
    low, high = inference.limits(record, level)
    z, chances = inference.z_values(record), inference.p_values(record)
    columns = (
        Column("", "l"),
        Column("penalised" if record.target else "coef", "."),
        Column("std err", "."),
        Column("privacy"),
        Column("z"),
        Column("P>|z|"),
        *(Column(head, ".") for head in limit_heads(level)),
    )
    rows: list[tuple[str, ...]] = []
    for j, (name, se, share) in enumerate(
        zip(record.names, inference.bse(record), inference.privacy_share(record), strict=True)
    ):
        if np.isinf(se):
            rows.append((name, NOT_ESTIMABLE))
            continue
        p = p_value(float(chances[j]))
        rows.append(
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
    return Table(columns, tuple(rows))


def _head(record: Record) -> tuple[tuple[Pair, ...], ...]:
    size = "not public" if record.nobs is None else f"{record.nobs} (public)"
    lines: list[tuple[Pair, ...]] = [
        (("Formula", record.formula),),
        *([(("Weights", record.weights),)] if record.weights else []),
        (("Method", record.method), ("Rows", size)),
        (("Privacy", str(record.budget)), ("Neighbours", record.adjacency)),
    ]
    unit: Pair = ("Unit", record.unit)
    lines.append((("Ledger", record.ledger), unit) if record.ledger else (unit,))
    if record.released:
        lines.append((("Released", ", ".join(record.released)),))
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


def _estimand(record: Record) -> str:
    """Say in words what bounds the score or a row, then any other constant by its name."""
    settings, linear = record.settings, record.model in LINEAR_MODELS
    bounds = BOUNDS_OF_ROWS if linear else BOUNDS_OF_SCORE
    bounded = [words.format(_short(settings[name])) for name, words in bounds.items() if name in settings]
    parts = [("" if linear else "score bounded: ") + ", ".join(bounded)] if bounded else []
    others = [f"{name} = {_short(v)}" for name, v in settings.items() if name not in bounds]
    return "; ".join(parts + ([", ".join(others)] if others else []))


def _short(value: Setting) -> str:
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.4g}"
    return text + ".0" if text.lstrip("-").isdigit() else text


def _scale_and_ratios(record: Record, level: float) -> Table:
    """Return sigma, the shape in words, and the time ratios of the covariates."""
    dist = life.dist_of(record)
    log_sigma, se = float(record.params[-1]), float(inference.bse(record)[-1])
    family = dist.family.title[:1].upper() + dist.family.title[1:]
    rows = [_estimate(f"{family} scale", log_estimate("sigma", log_sigma, se, level), "")]
    if dist.log:
        shape = log_estimate("beta=1/sigma", -log_sigma, se, level)
        words = wear(shape) if dist.name == "weibull" else ""
        rows.append(_estimate(f"{dist.title} shape", shape, words))
        first = "Time ratio"
        for j, name in enumerate(record.names[: record.n_location]):
            if name != "Intercept":
                ratio = log_estimate(name, float(record.params[j]), float(inference.bse(record)[j]), level)
                rows.append(_estimate(first, ratio, _per(record, name)))
                first = ""
    columns = (
        Column("", "l"),
        Column("", "l"),
        Column("estimate", "."),
        *(Column(head, ".") for head in limit_heads(level)),
        Column("", "l"),
    )
    return Table(columns, tuple(rows), labels=2)


def _estimate(kind: str, value: Estimate, words: str) -> tuple[str, ...]:
    if np.isinf(value.std_error):
        return kind, value.name, NOT_ESTIMABLE
    return kind, value.name, *(figures(v) for v in (value.estimate, value.conf_low, value.conf_high)), words


def _scatter(record: Record, level: float) -> Table:
    """Return sigma and R-squared."""
    rows: list[tuple[str, ...]] = []
    for kind, value in (
        ("Residual sd", scatter.sigma(record, level)),
        ("Explained", scatter.rsquared(record, level)),
    ):
        if np.isinf(value.std_error):
            rows.append((kind, value.name, NOT_ESTIMABLE))
            continue
        share, low, high = percent(value.privacy_share), figures(value.conf_low), figures(value.conf_high)
        rows.append((kind, value.name, figures(value.estimate), share, low, high))
    heads = (Column("", "l"), Column("", "l"), Column("estimate", "."), Column("privacy"))
    return Table((*heads, *(Column(head, ".") for head in limit_heads(level))), tuple(rows), labels=2)


def wear(shape: Estimate) -> str:
    """Say what a Weibull shape means, if its interval excludes 1."""
    if shape.conf_low > 1:
        return "wear-out (beta > 1)"
    if shape.conf_high < 1:
        return "infant mortality (beta < 1)"
    return "beta = 1 not excluded"


def _per(record: Record, name: str) -> str:
    if "[" in name:
        return "vs reference" if "[T." in name and ":" not in name else ""
    variable = record.schema.get(name)
    unit = variable.unit if isinstance(variable, Bounded | Count) else None
    return f"per {unit}" if unit else "per unit"


def _notes(record: Record) -> list[str]:
    noise = "std err counts sampling and privacy noise; 'privacy' is the share of its square due to privacy."
    if record.is_survival:
        dist = life.dist_of(record)
        response = "log(time)" if dist.log else "time"
        noise += f" {response} = coef'x + sigma * (standard {dist.family.title} error)."
        noise += " Intervals of sigma" + (", shape and ratios" if dist.log else "") + " are on the log scale."
    if record.linear is not None:
        noise += " Intervals of sigma and 1 - R-squared are on the log scale."
        noise += " Both are of the fit without penalty." if record.alpha else ""
        of_weighted = "R" in record.settings and record.linear is not None and record.linear.total is None
        noise += " R-squared is of the weighted rows." if of_weighted else ""
    if record.tails is not None:
        noise += " Noise is not normal: intervals and P>|z| follow its law, and z alone says less."
    if record.model in MARGIN_MODELS:
        noise += " The sign of x'coef is the label; there are no probabilities."
    if np.isinf(inference.bse(record)).any():
        noise += f" '{NOT_ESTIMABLE}': this budget and these data do not determine the coefficient."
    notes = [noise]
    public = "; ".join(_public(name, record.schema[name], record) for name in record.variables)
    if public:
        notes.append(
            f"Public: {public}. Values outside bounds were clipped; rows with missing or undeclared values "
            "have no weight."
        )
    whose = record.schema.privacy_unit
    if whose.column:
        notes.append(_of_units(whose))
    return notes


def _of_units(whose: Unit) -> str:
    first = "first row has" if whose.max_rows == 1 else f"first {whose.max_rows} rows have"
    text = f"Of each {whose.column} only the {first} weight, in the order of the data; rows without one have "
    text += "none."
    return text if whose.max_rows == 1 else text + " std err takes the rows of one as independent."


def _public(name: str, variable: Variable, record: Record) -> str:
    if isinstance(variable, Levels):
        if len(variable.all) > SHOWN_LEVELS:
            return f"{name} {len(variable.all)} levels, reference {variable.all[0]}"
        return f"{name} {{{', '.join(variable.all)}}}"
    if isinstance(variable, Event):
        return f"{name} ({variable.codes[0]} = failed, {variable.codes[1]} = censored)"
    if isinstance(variable, Flag):
        return f"{name} {{{variable.codes[1]}, {variable.codes[0]}}}"
    low, high = variable.bounds
    unit = f" {variable.unit}" if variable.unit else ""
    censored = " (longer = censored)" if record.is_survival and name in record.response_variables else ""
    return f"{name} [{plain(low)}, {plain(high)}]{unit}{censored}"
