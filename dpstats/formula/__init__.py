"""Formulas in patsy's language, without patsy's evaluation: text and schema -> Design, before any row."""

from dpstats.formula.aliased import told_apart
from dpstats.formula.beside import Offset, with_exposure
from dpstats.formula.block import Block
from dpstats.formula.design import Design, build_design
from dpstats.formula.response import (
    IntervalResponse,
    NumericResponse,
    SurvResponse,
    read_response,
    unit_of,
)
from dpstats.formula.scales import Scales, scales_of

__all__ = [
    "Block",
    "Design",
    "IntervalResponse",
    "NumericResponse",
    "Offset",
    "Scales",
    "SurvResponse",
    "build_design",
    "read_response",
    "scales_of",
    "told_apart",
    "unit_of",
    "with_exposure",
]
