"""Notes below a summary: what the numbers mean, and what is public about the variables."""

from __future__ import annotations

import numpy as np

from dpstats.results.estimates import NOT_ESTIMABLE
from dpstats.results.format import plain
from dpstats.results.record import INSPECTIONS, MOVED, Record, mentioned
from dpstats.results.standard_errors import bse
from dpstats.schema import Event, Flag, Levels, Unit, Variable

SHOWN_LEVELS = 8
COUNTED = "std err counts sampling and privacy noise; 'privacy' is the share of its square due to privacy."
NOT_NORMAL = " Noise is not normal: intervals and P>|z| follow its law, and z alone says less."
LOST = f" '{NOT_ESTIMABLE}': this budget and these data do not determine the coefficient."
PUBLIC = (
    "Public: {}. Values outside bounds were clipped; rows with missing or undeclared values have no weight."
)


def notes(record: Record, remark: str, last: str) -> list[str]:
    """Return what the numbers mean, then what was declared public.

    Parameters
    ----------
    record : Record
    remark, last : str
        What a kind of fit says besides, before and after what is said of the noise.
    """
    counted = f"No standard errors: {record.no_errors}." if record.no_errors else COUNTED
    lost = np.isinf(bse(record)).any() and not record.no_errors
    noise = (
        counted + remark + (NOT_NORMAL if record.tails is not None else "") + last + (LOST if lost else "")
    )
    public = "; ".join(_public(name, record.schema[name], record) for name in record.variables)
    norms = [
        f"The {norm} of a row is public too: at most {plain(norm.radius)}; longer rows were shortened."
        for norm in record.schema.norms
        if norm.read(record.covariates)
    ]
    whose = record.schema.privacy_unit
    if INSPECTIONS in record.released:
        public = f"{public}; an end that is missing is open"
    units = [_of_units(whose, _may_end(record))] if whose.column else []
    return [noise, *([PUBLIC.format(public)] if public else []), *norms, *units]


def _may_end(record: Record) -> bool:
    """Whether a failure may end the rows of a unit: stretches of time, or a yes or no in each period."""
    return "entry" in record.settings or (record.is_glm and record.family.two_valued)


def _of_units(whose: Unit, may_end: bool) -> str:
    some = "one row has" if whose.max_rows == 1 else f"{whose.max_rows} rows have"
    text = f"Of each {whose.column} at most {some} weight, chosen by a hash; rows without one have none."
    if may_end:
        text += " Where a failure ends the rows of a unit, this holds only if none has more: of long"
        text += " ones rows are lost, of those that fail early none. dps.check(data, schema) counts the lost."
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
    return f"{name} [{plain(low)}, {plain(high)}]{unit}{_beyond(name, record)}"


def _beyond(name: str, record: Record) -> str:
    """Say what a time above its bounds becomes."""
    if not record.is_survival or name not in record.response_variables:
        return ""
    if name in mentioned(record.schema, str(record.settings.get("entry", ""))):
        return " (later = no weight)"
    if INSPECTIONS in record.released:
        return " (beyond = kept)"
    return "" if MOVED.keys() <= record.settings.keys() else " (longer = censored)"
