"""New data for predictions. No message quotes a cell of them: they may be rows that are not public, too."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import alike, spelt_as
from dpstats._private import protected
from dpstats.errors import SpecificationError
from dpstats.rows import MISSING_TEXTS, open_rows
from dpstats.schema import Event, Flag, Levels, Schema, Variable, usable

_WORDS = frozenset(text.casefold() for text in MISSING_TEXTS)
_ROUNDING = 1e-12  # by which a row of a length as declared may seem longer


@dataclass(frozen=True)
class NewRows:
    """Rows of a design that were made from new, public data.

    Attributes
    ----------
    exog : array of shape (m, p)
    offset : array of shape (m,)
    values : dict of array
        The numbers they were made from, by variable: moved to their bounds if that was asked for.
    stratum : int array of shape (m,)
        The number of each row's stratum; zeros without strata.
    outside : bool array of shape (m,)
        Which rows came with a value outside its public bounds, or longer than a declared norm.
    whole : bool array
        Which of the rows that were given these are: all, or those that lack no value.
    """

    exog: np.ndarray
    offset: np.ndarray
    values: dict[str, np.ndarray]
    stratum: np.ndarray
    outside: np.ndarray
    whole: np.ndarray


class RowError(SpecificationError):
    """A row of new data is not usable.

    Its arguments are the name of the table that was given, the row's place in it, from 0, and what is wrong,
    in words that follow its place: who knows where the row stands elsewhere may say so instead. A fourth says
    how rows are counted, where a table could be read in another way, and a fifth what may be meant.
    """

    def __str__(self) -> str:
        asked, row, what, counted, meant = (*self.args, "", "")[:5]
        return f"{asked} row {row}{counted}{what}{meant}"


def covariate_block(
    newdata: Any, schema: Schema, names: Sequence[str], asked: str, gaps: bool, free: Collection[str]
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The covariates of new data, which of its rows they are, and which of these are outside public bounds.

    `asked` is the name of the argument that has them. With `gaps` the rows that lack a value are left out;
    else they are refused. Variables that are `free` are outside nowhere.

    Raises
    ------
    SpecificationError
        If a covariate is missing or a value is not usable; of a row, a `RowError`.
    """
    frame = frame_of(newdata, names, asked)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        given = newdata if isinstance(newdata, Mapping) else frame.columns
        like = ", ".join(map(repr, alike(missing, [str(one) for one in given if one not in names])))
        raise SpecificationError(
            f"{asked} lacks {', '.join(map(repr, missing))}; the formula needs {', '.join(names)}"
            + (f"; is it {like} there?" if like else "")
        )
    if not names:
        return {}, np.ones(len(frame), dtype=bool), np.zeros(len(frame), dtype=bool)
    # new data are public: they need no unit of privacy
    block = next(open_rows(frame, Schema(schema.variables), names).blocks(max(1, len(frame))), None)
    if block is None:
        raise SpecificationError(f"{asked} have no rows")
    outside = np.zeros(len(frame), dtype=bool)
    bad = {name: ~usable(values, schema[name]) for name, values in block.items()}
    empty = {name: _empty(frame[name], where) for name, where in bad.items()}
    whole = ~np.any([*empty.values()], axis=0) | (not gaps)
    if wrong := {int(np.argmax(where & whole)): name for name, where in bad.items() if np.any(where & whole)}:
        row = min(wrong)
        name = wrong[row]
        # by no label of an index, which may be a name
        iloc = " (as .iloc counts)" * (not frame.index.equals(pd.RangeIndex(len(frame))))
        lacks = f" lacks a value of {name!r}; each row needs {', '.join(names)}"
        if empty[name][row]:
            raise RowError(asked, row, lacks, iloc)
        meant = _meant(frame[name].iloc[row], schema[name])
        raise RowError(asked, row, f": {name} must be {expected(schema[name])}", iloc, meant)
    for name, values in block.items():
        variable = schema[name]
        if not isinstance(variable, Levels) and name not in free:
            outside |= (values < variable.bounds[0]) | (values > variable.bounds[1])
    for norm in schema.norms:
        if norm.read(names):
            outside |= norm.stretch(block, names) > 1 + _ROUNDING
    return {name: values[whole] for name, values in block.items()}, whole, outside[whole]


def _empty(cells: pd.Series, bad: np.ndarray) -> np.ndarray:
    """Which of the cells that are not usable hold nothing, or a word for it, as rows of a fit may."""
    empty = np.zeros(len(bad), dtype=bool)
    empty[bad] = [_is_nothing(cells, row) for row in np.flatnonzero(bad).tolist()]
    return empty


def _is_nothing(cells: pd.Series, row: int) -> bool:
    try:
        cell = cells.iloc[row]
    except ValueError:  # of Arrow, for bytes that are no text, which is missing to a fit as well
        return True
    if isinstance(cell, str):
        return str.strip(cell).casefold() in _WORDS  # never by code of a class that a cell is of
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def _meant(cell: object, variable: Variable) -> str:
    """What a cell that is not usable may be, without its text."""
    if not isinstance(cell, str):
        return ""
    if variable.all:
        meant = spelt_as(cell, variable.all)
        return "" if meant is None else f"; it is {meant!r} in another spelling"
    return "; with a decimal comma it is a text: write a point" if re.search(r"\d,\d", cell) else ""


def coded(cells: Any, variable: Variable) -> Any:
    """The numbers 1 and 0 of texts that are codes of a flag or event, NaN of others; all else as it is."""
    several = isinstance(cells, list | tuple | pd.Series) or (
        isinstance(cells, np.ndarray) and cells.ndim == 1
    )
    texts = several and len(cells) > 0 and all(isinstance(cell, str) for cell in cells)
    if not texts or not isinstance(variable, Flag | Event):
        return cells
    frame, schema = pd.DataFrame({"y": list(cells)}), Schema(y=variable)
    return next(open_rows(frame, schema, ["y"]).blocks(len(frame)))["y"]


def expected(variable: Variable) -> str:
    """What a usable cell of a variable is, in words."""
    if isinstance(variable, Levels):
        return f"one of the levels {', '.join(variable.all)}"
    if isinstance(variable, Flag | Event):
        return f"one of the codes {' and '.join(variable.codes)}"
    return "a finite number"


def frame_of(newdata: Any, names: Sequence[str] = (), asked: str = "newdata") -> pd.DataFrame:
    """New data as a frame; of a dict of columns, these alone if any is named. Errors name `asked`.

    Raises
    ------
    SpecificationError
        If it is no table.
    """
    if isinstance(newdata, pd.DataFrame):
        return newdata
    if hasattr(newdata, "to_pandas"):
        failure = SpecificationError(f"{asked} cannot be read as a table: are all of its texts UTF-8?")
        return protected(lambda: pd.DataFrame(newdata.to_pandas()), failure)
    try:
        if isinstance(newdata, Mapping):
            columns = {name: newdata[name] for name in newdata if name in names} if names else dict(newdata)
            single = all(np.ndim(value) == 0 for value in columns.values())
            return pd.DataFrame(columns, index=[0]) if single else pd.DataFrame(columns)
        if isinstance(newdata, Sequence) and all(isinstance(row, Mapping) for row in newdata):
            return pd.DataFrame(list(newdata))
    except ValueError:
        raise SpecificationError(
            f"{asked} cannot be read as a table: give columns of one length, or single values beside them"
        ) from None
    raise SpecificationError(
        f"{asked} must be a frame, such as pandas.read_csv gives, a dict of values or columns, or a list of "
        f"dicts, not {type(newdata).__name__}"
    )
