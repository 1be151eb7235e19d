"""A record in other units, such as per 1,000 of a balance: the same fit.

A column that is the variable itself, or the variable times other factors, is divided by the number of units,
and its coefficient is multiplied by it, with its errors. Intervals and tests follow; nothing else changes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dpstats._arguments import among, near, number, shown, word
from dpstats.errors import SpecificationError
from dpstats.formula.reader import variable_in
from dpstats.results.record import Record, factors_of
from dpstats.results.table import one_of, plain
from dpstats.schema import Bounded, Count

Units: TypeAlias = Mapping[str, float]


def in_units(record: Record, units: Units | None) -> Record:
    """Return the record with coefficients per so many units, under names that say so.

    Only tables are made of it: its columns are no longer those of the formula.

    Parameters
    ----------
    record : Record
    units : dict, optional
        Of some variables, how many units a coefficient is of: ``{"balance": 1000}``.

    Raises
    ------
    SpecificationError
        For a variable of which no coefficient is per unit, or a number that is not positive.
    """
    if units is None:
        return record
    if not isinstance(units, Mapping):
        raise SpecificationError(f"units must be a dict such as {{'balance': 1000}}, got {shown(units)}")
    parts = [factors_of(name) for name in record.names]
    scale = np.ones(len(parts))
    for variable, count in units.items():
        many = _many(record, variable, count)
        scale *= many ** np.array([sum(variable_in(each) == variable for each in part) for part in parts])
        label = _label(record, variable, many)
        parts = [[label if variable_in(each) == variable else each for each in part] for part in parts]
    squares = np.outer(scale, scale)
    tails = record.tails
    return replace(
        record,
        names=tuple(":".join(part) for part in parts),
        params=record.params * scale,
        cov=record.cov * squares,
        root=None if record.rooted is None else scale[:, None] * record.rooted,
        cov_privacy=record.cov_privacy * squares,
        bias=None if record.bias is None else record.bias * scale**2,
        tails=None if tails is None else replace(tails, variances=tails.variances * scale**2),
    )


def units_of_each(records: Sequence[Record], units: Units | None) -> list[Units | None]:
    """Of each record the units of what it has per unit, and of what none has, which it then refuses."""
    if not isinstance(units, Mapping):
        return [units] * len(records)
    told = [_per_unit(record) for record in records]
    unknown = units.keys() - set().union(*told)
    return [{name: units[name] for name in units if name in own or name in unknown} for own in told]


def per_unit(record: Record, name: str) -> str:
    """Return the name of a coefficient with what it is per, where that is a number that was declared."""
    variable = variable_in(name) or ""
    return _label(record, variable) if _is_number(record, variable) else name


def _many(record: Record, variable: object, given: object) -> float:
    """The number of units of a variable, both checked."""
    known = _per_unit(record)
    if not among(variable, known):
        public = [part for column in record.names for part in factors_of(column)]
        named = shown(variable) if among(variable, public) else word(variable)  # what is not may be a cell
        raise SpecificationError(
            f"units takes numbers that stand alone in the formula ({', '.join(known) or 'it has none'}), got "
            f"{named}; the coefficient of a function of a variable is per unit of the function"
            f"{near(variable, known)}"
        )
    many = number(f"units[{variable!r}]", given)
    if not 0 < many < math.inf:
        raise SpecificationError(f"units[{variable!r}] must be a positive number")
    return many


def _per_unit(record: Record) -> list[str]:
    """The numbers of which a coefficient is per unit."""
    columns = {variable_in(part) for column in record.names for part in factors_of(column)}
    return [name for name in record.covariates if name in columns and _is_number(record, name)]


def _is_number(record: Record, name: str) -> bool:
    return isinstance(record.schema.get(name), Bounded | Count)


def _label(record: Record, variable: str, many: float = 1.0) -> str:
    unit = getattr(record.schema[variable], "unit", None)
    unit = one_of(unit) if unit and many == 1 else unit
    return f"{variable} (per {plain(many)}{f' {unit}' if unit else ''})"
