"""Why a cell that a fit cannot use is none: by its text, and what is declared."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from dpstats.rows.grammar import MISSING_TEXTS
from dpstats.schema import Event, Flag, Levels, Variable

MISSING = "missing"
_ABSENT = {"", "na", "nil", "none", "null", "missing", "unknown", "notavailable", "nodata"}
_GROUPED = re.compile(r"[+-]?\d{1,3}([,.' ])\d{3}(?:\1\d{3})*(?:[.,]\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
_WITH_UNIT = re.compile(
    r"(?=.*[^\d\s.,+-])[€$£¥<>~]?\s*[+-]?\d[\d.,]*\s*[^\d\s.,]{0,6}[23]?"
)  # € 12,50, 15 %, 3 m2


def reason(cell: Any, variable: Variable) -> str:
    """In a few words, of a cell that cannot be used as what is declared."""
    if not isinstance(cell, str):
        return MISSING if bool(pd.api.types.is_scalar(cell) and pd.isna(cell)) else _of_object(cell, variable)
    text = cell.strip()
    if text in MISSING_TEXTS:
        return MISSING
    if isinstance(variable, Levels | Flag | Event):
        declared = variable.all if isinstance(variable, Levels) else variable.codes
        alike = [one for one in declared if _folded(one) == _folded(text)]
        return f"{alike[0]!r} in another spelling" if alike else "not declared"
    if grouped := _GROUPED.fullmatch(text):
        comma = "decimal=',', " if grouped[1] == "." or (grouped[1] != "," and "," in text) else ""
        return f"digits in groups: dps.read_csv(path, {comma}thousands={grouped[1]!r})"
    if _COMMA.fullmatch(text):
        return "a decimal comma: dps.read_csv(path, decimal=',')"
    if _DATE.fullmatch(text):
        return "a date"
    if _folded(text) in _ABSENT:
        return "a text that may mean missing, and weighs nothing as such"
    return "a number with a sign or unit: keep the number alone" if _WITH_UNIT.fullmatch(text) else "a text"


def _of_object(cell: Any, variable: Variable) -> str:
    if isinstance(variable, Levels | Flag | Event) and isinstance(cell, int | float):
        return "not declared"
    return f"of type {type(cell).__name__}"


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
