"""Notes below a summary: what the numbers mean, and what is public about the variables."""

from __future__ import annotations

import re

import numpy as np

from dpstats.results import below, inference, life
from dpstats.results.estimates import NOT_ESTIMABLE
from dpstats.results.format import plain
from dpstats.results.glm import ratio_name
from dpstats.results.record import MARGIN_MODELS, MOVED, Record, mentioned
from dpstats.schema import Event, Flag, Levels, Unit, Variable

SHOWN_LEVELS = 8


def notes(record: Record) -> list[str]:
    """Return what the numbers mean, then what was declared public."""
    noise = "std err counts sampling and privacy noise; 'privacy' is the share of its square due to privacy."
    if record.no_errors:
        noise = f"No standard errors: {record.no_errors}."
    if record.is_survival:
        dist = life.dist_of(record)
        response = "log(time)" if dist.log else "time"
        noise += f" {response} = coef'x + sigma * (standard {dist.family.title} error)."
        noise += " Intervals of sigma"
        noise += ", shape and ratios" if below.has_shape(dist) else " and ratios" if dist.log else ""
        noise += " are on the log scale."
    if record.linear is not None:
        noise += " Intervals of sigma and 1 - R-squared are on the log scale."
        noise += " Both are of the fit without penalty." if record.alpha else ""
        of_weighted = "R" in record.settings and record.linear is not None and record.linear.total is None
        noise += " R-squared is of the weighted rows." if of_weighted else ""
    noise += _of_glm(record)
    if record.tails is not None:
        noise += " Noise is not normal: intervals and P>|z| follow its law, and z alone says less."
    if record.model in MARGIN_MODELS:
        noise += " The sign of x'coef is the label; there are no probabilities."
    if np.isinf(inference.bse(record)).any() and not record.no_errors:
        noise += f" '{NOT_ESTIMABLE}': this budget and these data do not determine the coefficient."
    texts = [noise]
    public = "; ".join(_public(name, record.schema[name], record) for name in record.variables)
    if public:
        texts.append(
            f"Public: {public}. Values outside bounds were clipped; rows with missing or undeclared values "
            "have no weight."
        )
    texts += [
        f"The {norm} of a row is public too: at most {plain(norm.radius)}; longer rows were shortened."
        for norm in record.schema.norms
        if norm.read(record.covariates)
    ]
    whose = record.schema.privacy_unit
    if whose.column:
        texts.append(_of_units(whose))
    return texts


def _of_glm(record: Record) -> str:
    """Say what the coefficients of a GLM add up to, and on what scale its intervals were made."""
    if not record.is_glm:
        return ""
    response, _, right = (part.strip() for part in record.formula.partition("~"))
    offset = " + offset" if re.search(r"(?<![\w.])offset\(", right) else ""
    variable = record.schema.get(response)
    of_mean = {"logit": "log odds", "log": "log mean", "identity": "mean"}[record.link.name]
    if isinstance(variable, Flag | Event) and record.dist == "binomial":
        response += f" being {variable.codes[0]}"
    text = f" {of_mean} of {response} = coef'x{offset}."
    has_ratios = bool(ratio_name(record)) and set(record.names) != {"Intercept"}
    own = [f"{ratio_name(record)}s"] * has_ratios + ["phi"] * (record.dispersion is not None)
    return text + (f" Intervals of {' and '.join(own)} are on the log scale." if own else "")


def _of_units(whose: Unit) -> str:
    some = "one row has" if whose.max_rows == 1 else f"{whose.max_rows} rows have"
    text = f"Of each {whose.column} at most {some} weight, chosen by a hash; rows without one have none."
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
    return "" if MOVED.keys() <= record.settings.keys() else " (longer = censored)"
