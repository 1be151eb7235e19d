"""Points of new data: the rows of a design that a user supplies, with the words to name them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dpstats.results.format import plain
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record

NewData: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]] | pd.DataFrame


@dataclass(frozen=True, slots=True)
class Points:
    """Public rows: `exog` (m, p) and `offset` (m,), and the values they were made from, a frame of m rows."""

    exog: np.ndarray
    offset: np.ndarray
    frame: pd.DataFrame
    names: tuple[str, ...]

    @property
    def covariates(self) -> pd.DataFrame:
        """The columns of `frame` that the model uses."""
        return self.frame[list(self.names)]

    def label(self, row: int) -> str:
        """Return ``"voltage = 200, temperature = 170"``; empty for a model without covariates."""
        values = ((name, self.frame[name].iloc[row]) for name in self.names)
        return ", ".join(f"{name} = {_plain(value)}" for name, value in values)

    def repeated(self, times: int) -> Points:
        """Return every row `times` times, one after the other."""
        return self.rows(np.repeat(np.arange(len(self.exog)), times))

    def rows(self, rows: np.ndarray) -> Points:
        """Return these rows, in this order."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return Points(self.exog[rows], self.offset[rows], frame, self.names)


def _plain(value: object) -> str:
    return plain(float(value)) if isinstance(value, int | float | np.number) else str(value)


def points(record: Record, newdata: NewData | None, asked: str) -> Points:
    """Build the design for `newdata`, saying how many of its rows were outside the public bounds.

    Parameters
    ----------
    record : Record
    newdata : dict, list of dict, DataFrame, or None
        None is enough for a model without covariates.
    asked : str
        The method asked for, named in errors.

    Raises
    ------
    NotReleased
        If `newdata` is missing: predictions for the training rows would reveal them.
    """
    design = record.design
    if newdata is None and set(design.names) <= {"Intercept"} and design.offset is None:
        newdata = [{}]
    if newdata is None:
        raise refusal(
            asked,
            "for the training rows would reveal them",
            f"Pass newdata: values of {', '.join(record.covariates)}.",
        )
    exog, clipped = design.exog(newdata)
    if clipped:
        warnings.warn(
            f"{clipped} row(s) of newdata had values outside the public bounds, which were moved to them",
            stacklevel=3,
        )
    table = _frame(newdata)
    named = tuple(name for name in table if name in record.covariates)
    return Points(np.asarray(exog, dtype=float), design.offset_values(newdata), table, named)


def beside(at: Points, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the covariates of each point beside what was computed there."""
    return pd.concat([at.covariates.reset_index(drop=True), frame], axis=1)


def _frame(newdata: NewData) -> pd.DataFrame:
    if isinstance(newdata, pd.DataFrame):
        return newdata.reset_index(drop=True)
    if hasattr(newdata, "to_pandas"):
        return pd.DataFrame(newdata.to_pandas())
    if isinstance(newdata, Mapping):
        if all(np.ndim(value) == 0 for value in newdata.values()):
            newdata = [newdata]
        else:
            return pd.DataFrame(dict(newdata))
    return pd.DataFrame([dict(row) for row in newdata], index=range(len(newdata)))
