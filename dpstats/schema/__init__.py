"""What everyone may know about each variable: its bounds, its levels, the meaning of its codes.

A formula is bounded by these declarations and by nothing else, so a schema must come from knowledge about
the process (the range of a sensor, the catalogue of makers), never from a look at the rows to be protected.
Every mistake is reported when the schema is written, before any row is read.
"""

from dpstats.schema.schema import Schema, as_schema
from dpstats.schema.variables import (
    ROW,
    WEIGHS,
    Bounded,
    Count,
    Event,
    Flag,
    Levels,
    Norm,
    Unit,
    Variable,
    bounded,
    count,
    event,
    flag,
    level_text,
    levels,
    usable,
)

__all__ = [
    "ROW",
    "WEIGHS",
    "Bounded",
    "Count",
    "Event",
    "Flag",
    "Levels",
    "Norm",
    "Schema",
    "Unit",
    "Variable",
    "as_schema",
    "bounded",
    "count",
    "event",
    "flag",
    "level_text",
    "levels",
    "usable",
]
