"""A schema to fill in, from the names and storage types of the columns of a table. No value is read.

Of a CSV file the first line is read, which names the columns and tells no type.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from dpstats._arguments import path_of, shown
from dpstats._private import protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.files import column_names, type_of_columns
from dpstats.rows.sources import held
from dpstats.schema.comments import key_of

_NUMBER = '{kind = "bounded", lower = "?", upper = "?", unit = ""}'
_LEVELS = '{kind = "levels", levels = ["?"], other = true}'
_UNTYPED, _NULLS = '{kind = "?"}', "nulls alone, of no type"
# what a storage type holds -> what it may be declared as; of what it holds otherwise nothing can be declared
_DECLARED = {
    "floats": _NUMBER,
    "integers": _NUMBER,
    "booleans": '{kind = "flag", true = true, false = false}',
    "texts": _LEVELS,
    "objects": _LEVELS,
    _NULLS: _UNTYPED,
}
_HEAD = """\
# What everyone may know about each variable. No value was read to write this file.
# Replace each ? by what is known without a look at the rows, and delete the variables that no formula uses:
#   {kind = "bounded", lower = 10, upper = 50, unit = "C"}      a number
#   {kind = "count", upper = 20}                                a number from 0 on
#   {kind = "flag", true = "yes", false = "no"}                 a yes or no
#   {kind = "levels", levels = ["a", "b"], other = true}        a category; the first level is the reference
#   {kind = "event", failed = 1, censored = 0}                  whether a time is a failure
#   {kind = "unit", max_rows = 1}                               names a person with several rows
"""


def template(data: Any) -> str:
    """A schema in TOML, with a question mark for everything that has to be known.

    Parameters
    ----------
    data
        A frame of pandas, polars or Arrow, a dict of columns, or the path of a file.

    Raises
    ------
    DataError
        If it has no columns with names.
    """
    failure = DataError(f"the names of the columns of this {type(data).__name__} cannot be read")
    types = protected(lambda: kinds_of(data), failure, (SpecificationError,))
    lines = [_line(str(name), kind) for name, kind in types.items() if str(name).strip()]
    if not lines:
        raise DataError("the data have no columns with names")
    return _HEAD + "\n" + "\n".join(lines) + "\n"


def _line(name: str, kind: str | None) -> str:
    key = key_of(name)
    if kind is None:
        return f"{key} = {_UNTYPED}"
    declared = _DECLARED.get(kind)
    return (
        f"{key} = {declared}  # {kind}"
        if declared
        else f"# {key} holds {kind}: give numbers, such as days since one origin, or texts"
    )


def kinds_of(data: Any) -> dict[Any, str | None]:
    """What each column holds, by its name; None where that cannot be known without reading."""
    if isinstance(data, str | os.PathLike):
        path = path_of("data", data, DataError)
        known = type_of_columns(path)
        return _names(column_names(path)) if known is None else _of_arrow(known)
    if isinstance(data, CsvFile):
        return _names(data.names, data.sep)
    if isinstance(data, pd.DataFrame):
        return {name: held(kind) for name, kind in zip(data.columns, data.dtypes, strict=True)}
    if isinstance(data, Mapping):
        kinds = {name: getattr(column, "dtype", None) for name, column in data.items()}
        return {name: None if kind is None else held(kind) for name, kind in kinds.items()}
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _of_arrow(data.schema)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_arrow(pa.RecordBatchReader.from_stream(data).schema)
    raise DataError(f"a template needs a frame, a dict of columns or the path of a file, not {shown(data)}")


def _of_arrow(schema: pa.Schema) -> dict[Any, str | None]:
    """Without the index that pandas writes beside the columns."""
    own = [field for field in schema if not re.fullmatch(r"__index_level_\d+__", field.name)]
    return {field.name: _NULLS if pa.types.is_null(field.type) else held(field.type) for field in own}


def _names(names: list[str], told: str = ",") -> dict[Any, str | None]:
    """The names of a CSV file; where one begins as a number does, its first line may be a record."""
    alone = [name for name in names if name.strip()]
    if len(alone) == 1 and (len(names) > 1 or re.search(r"[;\s|]", alone[0].strip())):
        sep = r"\t" if "\t" in alone[0] else ";"
        raise DataError(
            "the first line of the file holds one name alone: take out all lines above the names of the "
            "columns" + f", or say what separates them, with dps.read_csv(path, sep='{sep}')" * (told != sep)
        )
    if any(re.match(r"[-+.,$€£\s]*\d", name) for name in names):
        raise DataError(
            "the first line of the file holds numbers, so it may be a record: put the names of the columns "
            "above it, each beginning with a letter, or say how the file is written, with "
            "dps.read_csv(path, sep=';')"
        )
    if len(set(alone)) < len(alone):
        raise DataError(
            "the first line of the file holds a name twice; give each column a name of its own, such as cost "
            "and cost_2"
        )
    return dict.fromkeys(names)
