"""Points of new data: the rows of a design that a user supplies, with the words to name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from dpstats._arguments import folded, truth, warn
from dpstats.formula.newdata import frame_of
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record
from dpstats.results.table import plain
from dpstats.schema import Bounded, Count, Levels, Variable

NewData: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]] | pd.DataFrame
Found = TypeVar("Found", pd.Series, pd.DataFrame)


@dataclass(frozen=True, slots=True)
class Points:
    """Public rows: `exog` (m, p) and `offset` (m,), and the values they were made from, a frame of m rows.

    `beyond` has, for each covariate that is a number, how far each row lies above its public bounds or, below
    0, beneath them; `outside` (m,) says which rows have such a value, or are longer than a declared norm.
    `stratum` (m,) has the numbers of their strata, zeros without any. `left` has the rows that were
    given and lack a value, by their places among all that were given.
    """

    exog: np.ndarray
    offset: np.ndarray
    frame: pd.DataFrame
    names: tuple[str, ...]
    beyond: pd.DataFrame
    outside: np.ndarray
    stratum: np.ndarray
    left: pd.DataFrame

    @property
    def covariates(self) -> pd.DataFrame:
        """The columns of `frame` that the model uses, and which rows are extrapolated, if any is."""
        return self.marked(self.frame[list(self.names)])

    def marked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of the m rows with a column `extrapolated`, if any of them is."""
        return frame.assign(extrapolated=self.outside) if self.outside.any() else frame

    def label(self, row: int) -> str:
        """Return ``"voltage = 200, temperature = 170"``; empty for a model without covariates.

        It says how far a value lies from its public bounds.
        """
        return self._named(row, self.names)

    def apart(self, row: int) -> str:
        """Return the same of the variables in which the rows differ, for a legend."""
        return self._named(row, [name for name in self.names if self._differs(name)])

    def alike(self) -> str:
        """Return the same of those that all rows share, for a title."""
        return self._named(0, [name for name in self.names if not self._differs(name)])

    def _differs(self, name: str) -> bool:
        return self.frame[name].nunique(dropna=False) > 1

    def _named(self, row: int, names: Sequence[str]) -> str:
        beyond = self.beyond.iloc[row]
        return ", ".join(
            f"{name} = {_plain(self.frame[name].iloc[row])}{_far(beyond.get(name, 0.0))}" for name in names
        )

    def repeated(self, times: int) -> "Points":
        """Return every row `times` times, one after the other."""
        return self.rows(np.repeat(np.arange(len(self.exog)), times))

    def at_each(self, values: np.ndarray) -> "tuple[Points, np.ndarray]":
        """Return every row at each of several values, such as times, and these."""
        return self.repeated(len(values)), np.tile(values, len(self.exog))

    def rows(self, rows: np.ndarray) -> "Points":
        """Return these rows, in this order."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        beyond = self.beyond.iloc[rows].reset_index(drop=True)
        arrays = {name: getattr(self, name)[rows] for name in ("exog", "offset", "outside", "stratum")}
        return replace(self, frame=frame, beyond=beyond, **arrays)

    def _placed(self, found: Found) -> Found:
        every = pd.RangeIndex(len(found) + len(self.left))
        return found.set_axis(every.difference(self.left.index))

    def among_given(self, found: Found) -> Found:
        """Return what was found at the points for every row that was given, NaN where one lacks a value."""
        return self._placed(found).reindex(range(len(found) + len(self.left)))

    def given(self) -> pd.DataFrame:
        """Return every row that was given, and which are extrapolated, if any is."""
        whole = self.marked(self.frame)
        return pd.concat([self._placed(whole), self.left]).sort_index() if len(self.left) else whole


def _plain(value: object) -> str:
    return plain(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _far(beyond: float) -> str:
    return f" ({_plain(abs(beyond))} {'above' if beyond > 0 else 'below'} its bounds)" if beyond else ""


def points(
    record: Record,
    newdata: NewData | None,
    asked: str,
    clip: bool = False,
    name: str = "newdata",
    *,
    gaps: bool = False,
) -> Points:
    """Build the design for `newdata`, saying how many of its rows are outside the public bounds.

    Parameters
    ----------
    record : Record
    newdata : dict, list of dict, DataFrame, or None
        None is enough for a model without covariates.
    asked : str
        The method asked for, named in errors.
    clip : bool
        Move values to their public bounds; else they are where they are, and the fit is extrapolated.
    name : str
        The argument that has `newdata`, which errors and warnings name.
    gaps : bool
        Leave out rows that lack a value, which a warning says; else they are refused.

    Raises
    ------
    NotReleased
        If `newdata` is missing: predictions for the training rows would reveal them.
    """
    design = record.design
    alone = set(design.names) <= {"Intercept"} and design.offset is None and design.strata == 1
    if newdata is None and alone:
        newdata = [{}]
    if newdata is None:
        raise refusal(
            asked,
            "for the training rows would reveal them",
            f"Pass {name}: values of {', '.join(record.covariates)}.",
        )
    whole = frame_of(newdata, asked=name)  # with columns that the fit does not have, such as ages
    rows = design.new_rows(whole, truth("clip", clip), name, gaps)
    if not rows.whole.all():
        warn(f"{int((~rows.whole).sum())} row(s) of {name} lack a value and have no prediction")
    for each in (one for one in whole if one in design.covariates):
        _warn_of_spelling(whole[rows.whole][each], rows.values[each], record.schema[each], name)
    if rows.outside.any():
        _warn(int(rows.outside.sum()), clip, name)
    table, left = whole[rows.whole].reset_index(drop=True), whole.reset_index(drop=True)[~rows.whole]
    named = tuple(column for column in table if column in record.covariates)
    bounds = {
        column: variable.bounds
        for column in named
        if column not in design.free and isinstance(variable := record.schema[column], Bounded | Count)
    }
    if clip:
        table = table.assign(**{name: rows.values[name] for name in bounds if rows.outside.any()})
    beyond = {
        name: rows.values[name] - np.clip(rows.values[name], *limits) for name, limits in bounds.items()
    }
    outside = rows.outside & (not clip)
    exog = np.asarray(rows.exog, dtype=float)
    far = pd.DataFrame(beyond, index=table.index)
    return Points(exog, rows.offset, table, named, far, outside, rows.stratum, left)


def _warn(count: int, clip: bool, name: str) -> None:
    what = (
        "which were moved to them"
        if clip
        else "where the fit is extrapolated; predict(..., clip=True) moves them to their bounds"
    )
    warn(f"{count} row(s) of {name} have values outside the public bounds, {what}")


def _warn_of_spelling(cells: pd.Series, codes: np.ndarray, variable: Variable, asked: str) -> None:
    """Say which declared levels the catch-all has taken in another spelling; it shows no cell."""
    if not isinstance(variable, Levels) or not variable.other:
        return
    known = {folded(level): level for level in variable.levels}
    others = [folded(str(cell)) for cell in cells[codes == len(variable.levels)]]
    if found := [text for text in others if text in known]:
        levels = ", ".join(repr(known[text]) for text in sorted(set(found)))
        warn(
            f"{len(found)} row(s) of {asked} have {cells.name} in another spelling of {levels}, and are "
            f"taken for {variable.all[-1]!r}"
        )


def beside(at: Points, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the covariates of each point beside what was computed there."""
    return pd.concat([at.covariates.reset_index(drop=True), frame], axis=1)
