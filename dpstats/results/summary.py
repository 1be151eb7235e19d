"""Summary of a fit, and its five-line print (docs/theory/results.md#how-numbers-are-printed).

Below the coefficients stand ratios, how far responses scatter, and notes on what the numbers mean and what is
public about the variables.
"""

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from dpstats._codes import LAW, LOST
from dpstats.formula import SurvResponse
from dpstats.formula.factor_reader import category
from dpstats.formula.reader import variable_in
from dpstats.moments.noisy import SEEN
from dpstats.results.document import (
    FIXED,
    NOT_ESTIMABLE,
    WIDTH,
    interval_cells,
    limit_columns,
    point_columns,
    too_far,
)
from dpstats.results.intervals import (
    Estimate,
    bias_share,
    bse,
    criterion,
    failures,
    limits,
    log_estimate,
    off_the_law,
    p_values,
    privacy_share,
    says_nothing,
    standard_errors,
    z_values,
)
from dpstats.results.record import INSPECTIONS, MOVED, Record, Setting, factors_of
from dpstats.results.survival_tables import line_of
from dpstats.results.table import (
    Column,
    Pair,
    Table,
    asked_and_paid,
    figures,
    heading,
    one_of,
    p_value,
    penalty_text,
    percent,
    plain,
    titled,
    weighing,
    z_value,
)
from dpstats.schema import ROW, Event, Flag, Levels, Unit, Variable

LONGEST_REFERENCE = 20  # characters of a level that is named beside a ratio
LABELS = (Column("", "l"), Column("", "l"))


def ratio_row(kind: str, value: Estimate, words: str) -> tuple[str, ...]:
    """Return the row of one estimate with its limits, and what it means in words."""
    found = value.estimate, value.conf_low, value.conf_high
    hidden = np.isinf(value.std_error) and not value.conf_low == np.inf
    numbers = interval_cells(*found, not (hidden or says_nothing(*found)))
    return kind, value.name, *numbers, *[words] * (len(numbers) > 1)


def ratio_rows(
    record: Record, kind: str, level: float, without: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """Return a row for exp of each location coefficient but the intercept; the first says what they are."""
    rows: list[tuple[str, ...]] = []
    for name, value, se in zip(record.names[: record.n_location], record.params, bse(record), strict=False):
        if name != "Intercept" and name not in without:
            ratio = log_estimate(name, float(value), float(se), level)
            words = _compared(record, name) + _where(record, name)
            rows.append(ratio_row("" if rows else kind, ratio, words))
    return rows


def table_of_ratios(rows: list[tuple[str, ...]], level: float) -> list[Table]:
    """Return a table of such rows, none without."""
    heads = (*LABELS, *point_columns("estimate"), *limit_columns(level), Column("", "l"))
    return [Table(heads, tuple(rows), labels=2)] if rows else []


def table_of_scatter(quantities: dict[str, Estimate], level: float) -> Table:
    """Return sigma and R-squared, or the dispersion."""
    rows: list[tuple[str, ...]] = []
    for kind, value in quantities.items():
        name, label, estimate, *limits = ratio_row(kind, value, "")
        share = [percent(value.privacy_share)] if limits else []
        rows.append((name, label, estimate, *share, *limits[:2]))
    heads = (*LABELS, *point_columns("estimate"), Column("privacy"), *limit_columns(level))
    return Table(heads, tuple(rows), labels=2)


def reference_of(record: Record, name: str) -> tuple[str, str] | None:
    """Return the factor of a coefficient such as ``maker[T.WDC]``, and the level that it is compared with."""
    code, bracket, level = name.partition("[T.")
    factor = category(code, record.schema) if bracket else None
    if factor is None or level[:-1] not in map(str, factor.levels):
        return None  # the name of a product, too, goes on behind its first level
    return code, factor.reference


def _variable(record: Record, text: str) -> Variable | None:
    """Return the variable that a formula has as `text`, quoted or not."""
    return record.schema.get(variable_in(text) or "")


def _compared(record: Record, name: str) -> str:
    """Return what a ratio compares, in words: two levels, or two values a unit apart."""
    if (found := reference_of(record, name)) and len(found[1]) <= LONGEST_REFERENCE:
        return f"v {found[1]}"
    variable = _variable(record, name)
    if variable is None and "[" in name:
        treated = "vs reference" if "[T." in name else ""
        return _of_product(record, name) if len(factors_of(name)) > 1 else treated
    if variable is None and "(per " in name:
        return ""
    if isinstance(variable, Flag | Event):
        return " v ".join(variable.codes)
    unit = getattr(variable, "unit", None)
    return f"per {one_of(unit) if unit else 'unit'}"


def _of_product(record: Record, name: str) -> str:
    """Return what the ratio of a product of two categories compares, and nothing of another product."""
    parts = factors_of(name)
    found = [reference_of(record, part) for part in parts]
    if len(parts) != 2 or not any(found):
        return ""
    if all(found):
        return "ratio of ratios"  # that of one at a level of the other to that at its reference
    (compared,) = filter(None, found)
    factor, _, level = parts[found.index(None)].partition("[")
    variable = _variable(record, factor)
    if not isinstance(variable, Levels) or level[:-1] not in variable.all:
        return ""
    return f"v {compared[1]} at {factor} = {level[:-1]}"


def _where(record: Record, name: str) -> str:
    """Return where the variables stand with which the columns of a coefficient are multiplied in others."""
    own, held = set(map(_factor, factors_of(name))), dict[str, str]()
    for each in record.names:
        parts = {_factor(part): part for part in factors_of(each)}
        held |= {factor: part for factor, part in parts.items() if own < set(parts) and factor not in own}
    said = ", ".join(f"{factor} = {_reference(record, part)}" for factor, part in held.items())
    return f" at {said}" if said else ""


def _factor(part: str) -> str:
    """Return the text of a factor without its level, and without the units in which it is told."""
    return re.sub(r"(?<=[\w)])\[.*\]$", "", part).partition(" (per ")[
        0
    ]  # the text may have a list of its own


def _reference(record: Record, part: str) -> str:
    """Return what a factor is where its column is 0."""
    variable = _variable(record, part)
    if isinstance(variable, Flag | Event):
        return variable.codes[1]
    if found := reference_of(record, part):
        return found[1]
    return "its reference" if "[T." in part else "0"


SHOWN_LEVELS = 8
COUNTED = "std err counts sampling and privacy noise; 'privacy' is the share of its square due to privacy."
FOR_BENDS = "check for bends"  # what a fit releases whose standard errors count them
BENT = f" std err also counts what a bend may do ('{FOR_BENDS}'), no part of which is privacy."
BIASED = (
    " std err also counts the bias that is possible where rows do not follow the model, no part of which is "
    "privacy: of its square {}. Budget lessens it as well as rows do."
)
WORTH_TELLING, MOST_TOLD = 0.1, 4  # share of a variance; coefficients
NOT_NORMAL = " Noise is not normal: intervals and P>|z| follow its law, and z alone says less."
UNTESTED = (
    " No z and no P>|z|: the penalised coefficient of a covariate that tells nothing need not be 0, as the "
    "penalty moves the intercept and the others."
)
BY_LAW = " Noise is not normal: intervals follow its law."
LOST_ALONE = f" '{NOT_ESTIMABLE}': privacy noise outweighs what the data say about the coefficient."
LOST_BESIDE = (
    f" '{NOT_ESTIMABLE}': privacy noise outweighs what the data say about it; more rows or budget tell it."
)
RARE = (
    " These data say little of the reference {1}, so that all contrasts with it are wide: "
    "t_test_pairwise({0!r}) compares the other levels at no cost; a fit with C({0}, Treatment({2!r})), or "
    "with levels() that begin with {2}, has shorter intervals."
)
PUBLIC = (
    "Public: {}. Values outside bounds were clipped; rows with missing or undeclared values have no weight."
)


def notes(record: Record, remark: str, last: str, tables: Sequence[Table]) -> list[str]:
    """Return what the numbers mean and what intervals rest on, then what was declared public.

    Parameters
    ----------
    record : Record
    remark, last : str
        What a kind of fit says besides, before and after what is said of the noise.
    tables : sequence of Table
        That stand above, and may say that something is not estimable.
    """
    counted = f"No standard errors: {record.no_errors}." if record.no_errors else COUNTED + _biased(record)
    lost = np.isinf(bse(record)).any() and not record.no_errors
    beside = not lost and any(NOT_ESTIMABLE in row for table in tables for row in table.rows)
    law = (NOT_NORMAL if record.target is None else BY_LAW) if record.tails is not None else ""
    untested = UNTESTED if record.target and not record.no_errors else ""
    far = f" {too_far(tables)}".rstrip()
    said = (remark, law, untested, last, LOST_ALONE if lost else LOST_BESIDE if beside else "", far)
    noise = counted + "".join((*said, *_rare_references(record)))
    beyond = _beyond(record)
    public = "; ".join(_public(name, record.schema[name], beyond.get(name, "")) for name in record.variables)
    norms = [
        f"The {norm} of a row is public too: at most {plain(norm.radius)}; longer rows were shortened."
        for norm in record.schema.norms
        if norm.read(record.covariates)
    ]
    whose = record.schema.privacy_unit
    if INSPECTIONS in record.released:
        public = f"{public}; an end that is missing is open"
    units = [_of_units(record, whose)] if whose.column else []
    units += [STRETCHES] if record.unit == ROW.short and "entry" in record.settings else []
    noted = [f"{message[:1].upper()}{message[1:]}." for _, message in record.notes]
    return [noise, *noted, *([PUBLIC.format(public)] if public else []), *norms, *units]


def _rare_references(record: Record) -> Iterator[str]:
    """Say of which factors contrasts have twice the errors that such between other levels have."""
    names = record.names[: 0 if record.no_errors else record.n_location]
    alike = groupby(range(len(names)), lambda j: reference_of(record, names[j]))
    for found, own in ((found, list(places)) for found, places in alike if found is not None):
        rows = np.eye(len(record.names))[own]
        errors, others = np.split(
            standard_errors(np.vstack([rows, np.diff(rows, axis=0)]), record), [len(own)]
        )
        if len(others) and np.median(others) < np.median(errors) / 2:
            yield RARE.format(*found, names[own[np.argmin(errors)]].partition("[T.")[2][:-1])


def _biased(record: Record) -> str:
    """Return which standard errors are in good part a possible bias; of old fits, that they may be."""
    if record.bias is None:
        return BENT if FOR_BENDS in record.released else ""
    shares = np.nan_to_num(bias_share(record))
    worst = [j for j in np.argsort(-shares, kind="stable") if shares[j] > WORTH_TELLING]
    said = [f"{percent(float(shares[j]))} of {record.names[j]}" for j in worst[:MOST_TOLD]]
    others = [f"less of {len(worst) - MOST_TOLD} more"] * (len(worst) > MOST_TOLD)
    return BIASED.format(", ".join(said + others)) if said else ""


def _of_units(record: Record, whose: Unit) -> str:
    text = weighing(whose)
    # stretches of time, or a yes or no in each period
    yes = record.is_glm and record.family.two_valued
    if "entry" in record.settings or yes:
        text += f" Where a {'yes' if yes else 'failure'} ends the rows of a unit, this holds only if none has"
        text += " more: of long ones rows are lost, of those that fail early none. dps.check(data, schema)"
        text += " counts the lost."
    return text if whose.max_rows == 1 else text + " std err takes the rows of one as independent."


def _public(name: str, variable: Variable, beyond: str) -> str:
    if isinstance(variable, Levels):
        if len(variable.all) > SHOWN_LEVELS:
            return f"{name} {len(variable.all)} levels ({variable.all[0]} first)"
        return f"{name} {{{', '.join(variable.all)}}}"
    if isinstance(variable, Event):
        return f"{name} ({variable.codes[0]} = failed, {variable.codes[1]} = censored)"
    if isinstance(variable, Flag):
        return f"{name} {{{variable.codes[1]}, {variable.codes[0]}}}"
    low, high = variable.bounds
    unit = f" {variable.unit}" if variable.unit else ""
    return f"{name} [{plain(low)}, {plain(high)}]{unit}{beyond}"


def _beyond(record: Record) -> dict[str, str]:
    """Say of each time what it becomes above its bounds."""
    if not record.is_survival:
        return {}
    response, entry = record.asked.response, " (later = no weight)"
    entries = response.entry.variables if response.entry else ()
    if INSPECTIONS in record.released:
        usual = " (beyond = kept)"
    else:
        usual = "" if MOVED.keys() <= record.settings.keys() else " (longer = censored)"
    return {name: entry if name in entries else usual for name in response.variables}


UNSEEN = (
    ". There may be no failure at all: does the code of the event say what failed, and are the bounds in the "
    "unit of the times? A time above them is censored there"
)
SEVERAL = (
    ". Noise hides {1} rows of one {0}, so that it is {1} times that for a row. Lower max_rows where how "
    "many rows each {0} has says nothing of its response; where a failure ends them, give each {0} fewer "
    "rows first, such as one if no covariate changes in its time"
)
STRETCHES = (
    "One row is protected, not a unit: if units have several rows, such as stretches of a life, declare "
    "schema.unit(column, max_rows=) to protect all rows of one."
)
Words: TypeAlias = str | Callable[[float], str]
"""How to say what a setting bounds: a text with a place for it, or a function of it."""

TARGET = (
    "coefficients penalised with alpha = {}; intervals are for the penalised coefficients, not the "
    "unpenalised ones"
)
NOTHING = "nothing is estimable: privacy noise outweighs what these data say"
OF_DEAD = ("Messages", "Failures", "Caution")  # what is told of a fit of which nothing is
LEFT_OUT = "release and budget of the fit of {}: nothing more was spent"
SHARED = "release and budget of the fit with alpha = {}: nothing more was spent"


def short(record: Record, title: str) -> str:
    """Return the five lines a fit prints as."""
    rows = f"n = {record.nobs} rows (public)" if record.nobs is not None else "number of rows not public"
    unit = record.unit  # of several rows, it says more than the neighbours, and both have no room
    neighbours = f"; neighbours {record.adjacency}" if unit == str(ROW) else ""
    privacy = f"Privacy: {record.budget}{neighbours}; unit {unit}"
    estimates = (
        f"{name} {figures(value) if np.isfinite(se) or record.no_errors else NOT_ESTIMABLE}"
        for name, value, se in zip(record.names, record.params, bse(record), strict=True)
    )
    codes = ", ".join(code for code, _ in record.flags)
    shared = record.charged_alpha
    more = "" if shared is None else f"; release and budget shared with alpha = {penalty_text(shared)}"
    more += f"; flags: {codes}" if codes else ""
    lines = (
        f"{heading(record, title)}: {record.formula}",
        f"{record.method}; {rows}",
        titled(privacy, record.not_private),
        NOTHING if dead(record) else ", ".join(estimates),
        "summary() for more" + more,
    )
    return "\n".join(textwrap.shorten(line, WIDTH, placeholder=" ...") for line in lines)


def dead(record: Record) -> bool:
    """Whether no coefficient is estimable."""
    return not record.no_errors and bool(np.isinf(bse(record)).all())


_Numbers: TypeAlias = tuple[Column, np.ndarray, Callable[[float], str] | None]
"""A head, numbers below it, and how they are written; None where they have the digits of their errors."""


def coefficient_table(record: Record, level: float) -> Table:
    """Return the coefficient table, levels under the name of their factor."""
    names = Column("", "l"), Column("penalised" if record.target else "coef", ".")
    if record.no_errors:
        return Table(names, tuple(zip(record.names, map(figures, record.params), strict=True)))
    tests: list[_Numbers] = [
        (Column("z"), z_values(record), z_value),
        (Column("P>|z|"), p_values(record), p_value),
    ]
    numbers: list[_Numbers] = [
        (names[1], record.params, None),
        (Column("std err", "."), bse(record), None),
        (Column("privacy"), privacy_share(record), percent),
        *(tests if record.target is None else []),
        *((head, end, None) for head, end in zip(limit_columns(level), limits(record, level), strict=True)),
    ]
    heads, columns, written = zip(*numbers, strict=True)
    rows: list[tuple[str, ...]] = []
    for name, *values in zip(record.names, *columns, strict=True):
        usual = partial(figures, error=float(values[1]))
        own = ((write or usual)(float(value)) for write, value in zip(written, values, strict=True))
        rows.append((name, *own) if np.isfinite(values[1]) else (name, NOT_ESTIMABLE))
    if record.scale_known:
        rows[-1] = (*rows[-1][:2], FIXED)
    return Table((names[0], *heads), tuple(_grouped(record, rows)))


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


def lines_of(record: Record, said: str) -> tuple[tuple[Pair, ...], ...]:
    """Return what was asked, its price and its cautions, in pairs; `said` is of the estimand.

    Of a fit of which nothing is estimable no more than why nothing came of it, once.
    """
    lost = [message for code, message in record.flags if code == LOST] or [NOTHING]
    flags = ((LOST, lost[0]),) if dead(record) else record.flags
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
        *(("Caution", message + _more(code, record)) for code, message in flags),
    )
    lines = asked_and_paid(record, record.weights, record.guarantees)
    return (*lines, *((pair,) for pair in more if pair[1] and (pair[0] in OF_DEAD or not dead(record))))


def _counted(messages: Mapping[str, int]) -> str:
    """Say how many messages were accepted, and how many were not and why."""
    rejected = [f"{count} {name.replace('_', ' ')}" for name, count in messages.items() if count]
    accepted = rejected.pop(0) if messages.get("accepted") else "0 accepted"
    return accepted + ("; rejected: " + ", ".join(rejected) if rejected else ", none rejected")


def bounding(record: Record) -> Mapping[str, Any]:
    """Settings without the longest row, where all rows are as long as that of the intercept."""
    return {name: value for name, value in record.settings.items() if name != "R" or record.covariates}


def estimand(record: Record, bounds: Mapping[str, Words]) -> str:
    """Say in words what bounds the score or a row, then any other constant by its name."""
    settings = bounding(record)
    said = [
        words.format(setting_text(value)) if isinstance(words, str) else words(float(value))
        for name, words in bounds.items()
        if (value := settings.get(name)) is not None
    ]
    others = [f"{name} = {setting_text(v)}" for name, v in settings.items() if name not in bounds]
    return "; ".join(filter(None, (", ".join(said), ", ".join(others))))


_BEYOND = (
    "more than all failures: are the bounds in the unit of the times? dps.check counts times beyond them"
)


def _more(code: str, record: Record) -> str:
    """Say what a caution goes by, where it was released, and what rows of a unit cost where noise is all."""
    unit = record.schema.privacy_unit
    if code == LOST and unit.max_rows > 1:
        return SEVERAL.format(unit.column, unit.max_rows)
    if code == LOST and record.nevents is not None and record.nevents.value < SEEN * record.nevents.se:
        return UNSEEN
    if code != LAW or record.law is None:
        return ""
    found = off_the_law(record)
    share, errors = abs(found.estimate), abs(found.estimate) / found.std_error
    said = f"{100 * share:.1f} % of the failures{_coded(record)}" if share < 1 else _BEYOND
    return f" ({errors:.1f} standard errors off, {said})"


def _coded(record: Record) -> str:
    """Say which code the event has: under another, as of 1 and 2, other rows are failures."""
    response = record.design.response
    if not isinstance(response, SurvResponse) or response.event is None:
        return ""
    name, failed = response.event
    return f"; see first by dps.check that a failure is {name} = {record.schema[name].all[int(failed)]}"


def _failures(record: Record) -> str:
    found, response = failures(record), record.design.response
    every = isinstance(response, SurvResponse) and not response.event
    said = f"; {response.text} takes every row for a failure" if every else ""
    if found.conf_low <= 0:
        return f"noise hides how many: at most {found.conf_high:.0f} (95 % interval from 0){said}"
    return f"about {found.estimate:.0f}, 95 % interval {found.conf_low:.0f} to {found.conf_high:.0f}{said}"


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
