"""One contributor's message: what the record says, exactly, then noise on every number of it.

Messages stand in files of Parquet, or of one line of JSON each.
"""

import itertools
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import path_of
from dpstats._private import forgetting, forgetting_each, protected
from dpstats.contributors.law import RESPONSE, mark
from dpstats.contributors.plan import Plan, checked
from dpstats.curator.noise import current
from dpstats.errors import DataError
from dpstats.formula import Block
from dpstats.rows import open_rows
from dpstats.rows.sources import HIDDEN


@dataclass(frozen=True, eq=False)
class Message:
    """What leaves a contributor.

    Attributes
    ----------
    plan : str
        Hash of the plan.
    id : bytes
        16 random bytes, by which a message that comes twice is counted once. They say nothing of anyone.
    values : ndarray, shape (m,)
        The noisy numbers.
    """

    plan: str
    id: bytes
    values: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"plan": self.plan, "id": self.id.hex(), "values": self.values.tolist()}

    def to_json(self) -> str:
        """The message as one line of JSON."""
        return json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False)

    def __repr__(self) -> str:
        return f"Message({self.id.hex()}, {len(self.values)} noisy numbers)"


_SEVERAL = (list, tuple, set, frozenset, dict, pd.Series, pd.Index)


@forgetting
def contribute(record: Mapping[str, Any], plan: Plan) -> Message:
    """Make one record private, on the machine of the person whom it is about.

    Parameters
    ----------
    record : mapping
        A value for each variable of the plan's formula. A value outside its public bounds is moved to the
        nearest; with one that is missing or not declared, the message is noise and nothing else.
    plan : Plan
        Read from a file, it was checked against itself. Compare its hash with the one that was announced.

    Returns
    -------
    Message
        Its noise is drawn from the system's source of randomness, once. A second message on the same record
        tells as much again.

    Raises
    ------
    SpecificationError
        If the record lacks a variable.
    DataError
        If it is no mapping, has several values of a variable, or cannot be read.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
    >>> plan = dps.plan_contributions("y ~ x", schema, dps.gdp(1), contributors=1000)
    >>> message = dps.contribute({"x": 0.2, "y": 0.7}, plan)
    >>> len(message.values)
    6
    """
    if not isinstance(record, Mapping):
        raise DataError(f"a record maps variables to values, not {type(record).__name__}")
    names = checked(plan).design.variables
    failure = DataError(f"the record cannot be read. {HIDDEN}; make a dict of it")
    single = protected(lambda: {name: [record[name]] for name in names if name in record}, failure)
    several = [name for name, (value,) in single.items() if _holds_several(value)]
    if several:
        raise DataError(
            f"a record has one value for each variable, and {several[0]!r} holds several; "
            "contribute_rows takes a table"
        )
    return next(contribute_rows(single, plan))


def _holds_several(value: object) -> bool:
    """By its type alone, for a cell may come with code of its own."""
    return type(value) in _SEVERAL or (type(value) is np.ndarray and value.ndim > 0)


@forgetting_each
def contribute_rows(data: Any, plan: Plan) -> Iterator[Message]:
    """Make each row of a table private by itself, one message a row.

    Parameters
    ----------
    data
        A table as models take, or the path of one.
    plan : Plan

    Raises
    ------
    SpecificationError
        If the table cannot be opened or lacks a variable, or the plan is none.
    """
    blocks = open_rows(data, checked(plan).schema, plan.design.variables).blocks()
    return (message for columns in blocks for message in messages(columns, plan))


def messages(columns: Mapping[str, np.ndarray], plan: Plan) -> Iterator[Message]:
    """One message for each row of a block; see :meth:`dpstats.rows.Rows.blocks`."""
    for values in exact(plan, plan.design.read(columns)):
        yield Message(mark(plan.hash), secrets.token_bytes(16), _noisy(plan, values))


def exact(plan: Plan, block: Block) -> np.ndarray:
    """What messages would hold without noise, shape (rows, m).

    Whatever the public map of rows does, a row longer than 1 is shortened and a response beyond 1 clipped:
    sensitivity rests on nothing else.
    """
    ball, (middle, half) = plan.rows, plan.response
    with np.errstate(all="ignore"):
        q = (block.exog - ball.center) / (ball.scale * ball.radius)
        q = np.where(block.ok[:, None], q, 0.0)
        q /= np.maximum(np.sqrt((q**2).sum(axis=1)), 1.0)[:, None]
        y = np.clip((block.endog - block.offset - middle) / half, -1.0, 1.0)
        y = np.where(block.ok, y, 0.0)
    if plan.method == "input":
        return np.hstack([q, y[:, None] * q])
    z = np.column_stack([q, RESPONSE * y])
    i, j = np.triu_indices(z.shape[1])
    return np.asarray(z[:, i] * z[:, j] * np.where(i == j, 1.0, np.sqrt(2.0)))


def _noisy(plan: Plan, values: np.ndarray) -> np.ndarray:
    noise, start, noisy = current().noise, 0, []
    for part in plan.parts:
        noisy.append(noise.gaussian(values[start : start + part.size], part.sensitivity, part.mu))
        start += part.size
    return np.concatenate(noisy)


_GROUP = 8192  # messages in a row group; a server reads group by group


@forgetting
def write_messages(messages: Iterable[Message], path: str | Path) -> int:
    """Write messages to a file that ends in .parquet or .jsonl; returns how many.

    Parquet has the columns ``plan`` (text), ``id`` (16 bytes) and ``values``, the noisy numbers as
    little-endian float64. JSON lines are what ``Message.to_json`` gives.
    """
    file = path_of("path", path)
    suffix, checked = file.suffix.lower(), map(_message, messages)
    if suffix == ".jsonl":
        count = 0
        with file.open("w", encoding="utf-8") as out:
            for message in checked:
                out.write(message.to_json() + "\n")
                count += 1
        return count
    if suffix in (".parquet", ".pq"):
        return _write_parquet(checked, file)
    raise DataError("files of messages end in .parquet or .jsonl; this one does not")


def _message(given: object) -> Message:
    if not isinstance(given, Message):
        raise DataError(f"messages are what contribute() gives, not {type(given).__name__}")
    return given


def _write_parquet(messages: Iterator[Message], path: Path) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("plan", pa.string()), ("id", pa.binary(16)), ("values", pa.binary())])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["plan"]) as out:
        while group := list(itertools.islice(messages, _GROUP)):
            columns: list[list[Any]] = [
                [message.plan for message in group],
                [message.id for message in group],
                [np.asarray(message.values, "<f8").tobytes() for message in group],
            ]
            out.write_table(pa.table(columns, schema=schema))
            count += len(group)
    return count
