"""New, public data for predictions. Here a message may quote a value: these rows are the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpstats.errors import SpecificationError
from dpstats.formula.functions import Array
from dpstats.rows import open_rows
from dpstats.schema import Event, Flag, Levels, Schema, Variable

_ROUNDING = 1e-12  # by which a row of a length as declared may seem longer


def covariate_block(newdata: Any, schema: Schema, names: Sequence[str]) -> tuple[dict[str, Array], int, int]:
    """The covariates of new data, their number of rows, and how many rows are outside the public bounds.

    Raises
    ------
    SpecificationError
        If a covariate is missing or a value is not usable.
    """
    frame = _frame(newdata, names)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise SpecificationError(
            f"newdata lacks {', '.join(map(repr, missing))}; the formula needs {', '.join(names)}"
        )
    if not names:
        return {}, len(frame), 0
    variables = Schema(dict(schema))  # new data are public: they need no unit of privacy
    block = next(open_rows(frame, variables, names).blocks(max(1, len(frame))), None)
    if block is None:
        raise SpecificationError("newdata have no rows")
    outside = np.zeros(len(frame), dtype=bool)
    for name, values in block.items():
        variable = schema[name]
        bad = values < 0 if isinstance(variable, Levels) else ~np.isfinite(values)
        if np.any(bad):
            row = int(np.argmax(bad))
            cell = frame[name].iloc[row]
            shown = cell.item() if isinstance(cell, np.generic) else cell
            raise SpecificationError(f"newdata row {row}: {name} = {shown!r} is not {expected(variable)}")
        if not isinstance(variable, Levels):
            outside |= (values < variable.bounds[0]) | (values > variable.bounds[1])
    for norm in schema.norms:
        if norm.read(names):
            outside |= norm.stretch(block, names) > 1 + _ROUNDING
    return block, len(frame), int(outside.sum())


def expected(variable: Variable) -> str:
    """What a usable cell of a variable is, in words."""
    if isinstance(variable, Levels):
        return f"one of the levels {', '.join(variable.all)}"
    if isinstance(variable, Flag | Event):
        return f"one of the codes {' and '.join(variable.codes)}"
    return "a finite number"


def _frame(newdata: Any, names: Sequence[str]) -> pd.DataFrame:
    if isinstance(newdata, pd.DataFrame):
        return newdata
    if hasattr(newdata, "to_pandas"):
        return pd.DataFrame(newdata.to_pandas())
    try:
        if isinstance(newdata, Mapping):
            columns = {name: newdata[name] for name in newdata if name in names} if names else dict(newdata)
            single = all(np.ndim(value) == 0 for value in columns.values())
            return pd.DataFrame(columns, index=[0]) if single else pd.DataFrame(columns)
        if isinstance(newdata, Sequence) and all(isinstance(row, Mapping) for row in newdata):
            return pd.DataFrame(list(newdata))
    except ValueError as error:
        raise SpecificationError(f"newdata cannot be read as a table: {error}") from None
    raise SpecificationError(
        "newdata must be a frame, a dict of values or columns, or a list of dicts, "
        f"not {type(newdata).__name__}"
    )
