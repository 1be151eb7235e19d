"""A person's own file, on the person's own machine: here, and nowhere else, the reader may name a cell.

What is said is for the person whom the records are about. It names lines and variables, and no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from dpstats._private import HoldsRows
from dpstats.contributors.message import Message, messages
from dpstats.contributors.plan import Plan
from dpstats.errors import DataError
from dpstats.formula.newdata import expected
from dpstats.rows import CsvFile, open_rows
from dpstats.schema import Levels, Schema

_TOLD = 5  # lines that are named; of a longer list the rest is counted


class OwnFile(HoldsRows):
    """The records of a file, of which each becomes a message.

    A line of a CSV file that is blank, or that cannot be cut into the fields that the header names, holds no
    record. Who is about to send a message is told, and may correct it. For the curator such a line is a
    record, because there the number of rows may not depend on what one person's line holds. Here nobody else
    has a line in the file, and that a message was sent is known to who receives it anyway. A record with a
    missing or unreadable value makes a message of noise, so that the message does not tell that it had one.

    Parameters
    ----------
    data : CsvFile or Path
    plan : Plan

    Raises
    ------
    DataError
        If the file cannot be opened, lacks a variable, or holds no record.
    """

    def __init__(self, data: CsvFile | Path, plan: Plan) -> None:
        self._plan = plan
        self._rows = open_rows(data, plan.schema, plan.design.variables)
        n = self._rows.n
        self._whys = _whys(data) if isinstance(data, CsvFile) else [None] * n
        self._line = "line {}" if isinstance(data, CsvFile) else "record {}"
        self._first = 2 if isinstance(data, CsvFile) else 1  # the header is line 1
        self._is_record = np.array([why is None for why in self._whys], dtype=bool)
        if not self._is_record.any():
            path = data.path if isinstance(data, CsvFile) else data
            raise DataError(f"{path} holds no record. {'; '.join(self.notes) or 'It is empty'}")

    def messages(self) -> Iterator[Message]:
        """One message for each record."""
        for start, columns in self._blocks():
            kept = self._is_record[start : start + len(next(iter(columns.values())))]
            yield from messages({name: values[kept] for name, values in columns.items()}, self._plan)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the person should know: lines that make no message, and records whose message is noise."""
        broken = [f"{self._named(i)} {why}" for i, why in enumerate(self._whys) if why]
        noise = [
            f"{self._named(start + int(i))}: {wrong}"
            for start, columns in self._blocks()
            for i, wrong in _unusable(columns, self._plan)
            if self._is_record[start + i]
        ]
        notes = []
        if broken:
            notes.append(
                f"no message is made of what is no record: {_listed(broken)}. Is the separator "
                "right, and is a decimal comma in quotation marks?"
            )
        if noise:
            notes.append(
                "a message is noise and nothing else, because a cell cannot be used: "
                f"{_listed(noise)}. Correct it and contribute again, before you send"
            )
        return tuple(notes)

    def _named(self, i: int) -> str:
        return self._line.format(i + self._first)

    def _blocks(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        start = 0
        for columns in self._rows.blocks():
            yield start, columns
            start += len(next(iter(columns.values())))


def _listed(told: list[str]) -> str:
    more = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
    return "; ".join(told[:_TOLD] + more)


def _unusable(columns: dict[str, np.ndarray], plan: Plan) -> Iterator[tuple[int, str]]:
    """The rows that are switched off, and which of their cells do it."""
    for i in np.flatnonzero(~plan.design.read(columns).ok):
        wrong = [name for name, values in columns.items() if not _is_usable(values[i], plan.schema, name)]
        told = ", ".join(f"{name} is not {expected(plan.schema[name])}" for name in wrong)
        yield int(i), told or "the formula has no value there"


def _is_usable(value: float, schema: Schema, name: str) -> bool:
    return value >= 0 if isinstance(schema[name], Levels) else bool(np.isfinite(value))


def _whys(file: CsvFile) -> list[str | None]:
    """Of each line why it holds no record; None where it holds one, and nothing to say of a blank one."""
    records = map(file.record, file.lines())
    return [record if isinstance(record, str) else None for record in records]
