"""Which storage types cannot be read as what is declared. Types are public; no value is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats.schema import Event, Flag, Levels, Variable

_KNOWN = (
    np.dtype,
    pd.DatetimeTZDtype,
    pd.BooleanDtype,
    pd.Float32Dtype,
    pd.Float64Dtype,
    pd.Int8Dtype,
    pd.Int16Dtype,
    pd.Int32Dtype,
    pd.Int64Dtype,
    pd.UInt8Dtype,
    pd.UInt16Dtype,
    pd.UInt32Dtype,
    pd.UInt64Dtype,
)
_REMEDY = {
    "dates": ", which have no unit; give days since one origin, (data[{0!r}] - origin) / pd.Timedelta('1D')",
    "durations": ", which have no unit; give their number, such as data[{0!r}] / pd.Timedelta('1D')",
    "complex numbers": "; give real ones",
    "bytes": "; give texts",
}


def mistake(name: str, dtype: Any, variable: Variable | None) -> str | None:
    """Why a column of this type cannot be what is declared, or None.

    Parameters
    ----------
    name : str
    dtype : numpy, pandas or Arrow type
    variable : Variable or None
        None for the column that names the unit of privacy.
    """
    kind = held(dtype)
    if variable is None:
        if kind in ("integers", "texts", "objects", "booleans"):
            return None
        return (
            f"the column {name!r} names the unit of privacy and holds {kind}; give whole numbers or "
            f"texts, such as data[{name!r}].astype('Int64')"
        )
    if kind in ("integers", "texts", "objects", "booleans", "floats"):
        return None
    if isinstance(variable, Levels | Flag | Event):
        return f"{name!r} is declared as {variable.kind}, and the column holds {kind}; give texts or numbers"
    remedy = _REMEDY.get(kind, "; give numbers").format(name)
    return f"{name!r} is declared as {variable.kind}, a number, and the column holds {kind}{remedy}"


def held(dtype: Any) -> str:
    """In a word, what a column of this type holds."""
    if isinstance(dtype, pa.DataType):
        return _held_by_arrow(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return held(dtype.categories.dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return _held_by_arrow(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.SparseDtype):
        return held(dtype.subtype)
    if isinstance(dtype, _KNOWN):
        return _KINDS.get(dtype.kind, "bytes")
    return _OF_PANDAS.get(type(dtype), f"values of the type {type(dtype).__name__}")


_OF_PANDAS = {pd.StringDtype: "texts", pd.PeriodDtype: "periods", pd.IntervalDtype: "intervals"}


_KINDS = {
    "f": "floats",
    "i": "integers",
    "u": "integers",
    "b": "booleans",
    "O": "objects",
    "U": "texts",
    "T": "texts",
    "M": "dates",
    "m": "durations",
    "c": "complex numbers",
}


def _held_by_arrow(dtype: pa.DataType) -> str:
    if isinstance(dtype, pa.OpaqueType):  # such as numbers in digits of Postgres
        return _held_by_arrow(dtype.storage_type)
    if pa.types.is_dictionary(dtype):
        return _held_by_arrow(dtype.value_type)
    for held, tests in _ARROW.items():
        if any(test(dtype) for test in tests):
            return held
    return f"values of the type {dtype}"


_ARROW = {
    "booleans": (pa.types.is_boolean,),
    "integers": (pa.types.is_integer,),
    "floats": (pa.types.is_floating, pa.types.is_decimal),
    "texts": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null),
    "durations": (pa.types.is_duration,),
    "dates": (pa.types.is_temporal,),
    "bytes": (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_fixed_size_binary,
        pa.types.is_binary_view,
    ),
}
