"""The sum of all messages that are accepted, in one pass (docs/theory/contributions.md#statistics-scheme).

A message is accepted if it is one, carries the hash of the plan, holds finite numbers within the range of
honest ones, and has an id that was not accepted before. Whatever else arrives changes the count of rejected
messages and nothing more. An honest message is out of range with a chance below 1e-28 for each 1,000 numbers
(:mod:`dpstats.contributors.law`), so that this moves nothing that is estimated.

Messages are read from files or a program, as batches of arrays; those in Parquet files are read without a
Python object for each. What is no message is counted and left out.

A message within the range may still be false. It then moves a sum by no more than the range, 1 + 12 sd.

A minimum of the sum has noise of its own, for what a proof takes as exact and a computer does not find
exactly.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats._arguments import path_of, shown, told
from dpstats.contributions.seen import ID, Seen
from dpstats.contributors.law import mark
from dpstats.contributors.plan import Plan
from dpstats.curator.noise import current
from dpstats.errors import DataError

COLUMNS = ("plan", "id", "values")


def parquet_batches(path: Path, plan: str, size: int, rows: int) -> "Iterator[Batch]":
    """The messages of a Parquet file."""
    import pyarrow.parquet as pq

    try:
        # pages are read as they are needed, and no more is kept than a batch
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        names = file.schema_arrow.names
    except Exception:
        raise DataError(f"{path} cannot be read as a Parquet file: is it complete?") from None
    with file:
        if not set(COLUMNS) <= set(names):
            raise DataError(f"{path} holds no messages: they have the columns {', '.join(COLUMNS)}")
        source = file.iter_batches(batch_size=rows, columns=list(COLUMNS), use_threads=False)
        while (found := _next(source, path)) is not None:
            yield _read_group(found, plan, size)


def _next(source: Iterator[Any], path: Path) -> Any:
    try:
        return next(source, None)
    except Exception:
        raise DataError(f"{path} cannot be read to its end: is it complete?") from None


def _read_group(found: Any, plan: str, size: int) -> "Batch":
    kinds = {field.name: field.type for field in found.schema}
    text = kinds["plan"].value_type if pa.types.is_dictionary(kinds["plan"]) else kinds["plan"]
    if found.num_columns > len(kinds) or not (
        text in _TEXTS and all(_is_bytes(kinds[name]) for name in ("id", "values"))
    ):
        return Batch(len(found), 0, np.empty(0, ID), np.empty((0, size)))
    plans, ids, values = map(found.column, COLUMNS)
    if pa.types.is_dictionary(plans.type):
        plans = plans.dictionary_decode()
    whole = _has_width(ids, ID.itemsize) & _has_width(values, 8 * size) & np.asarray(plans.is_valid())
    same = np.asarray(pc.fill_null(pc.equal(plans, plan), False))
    kept = whole & same
    if not kept.all():
        ids, values = ids.filter(pa.array(kept)), values.filter(pa.array(kept))
    count = int(kept.sum())
    rows = np.frombuffer(_bytes(values, count), "<f8").reshape(count, size)
    lost = int((~whole).sum()), int((whole & ~same).sum())
    return Batch(*lost, np.frombuffer(_bytes(ids, count), ID), rows)


_TEXTS = (pa.string(), pa.large_string())


def _is_bytes(kind: pa.DataType) -> bool:
    return pa.types.is_fixed_size_binary(kind) or kind in (pa.binary(), pa.large_binary())


def _has_width(column: Any, width: int) -> np.ndarray:
    """Which entries have so many bytes."""
    return np.asarray(pc.fill_null(pc.equal(pc.binary_length(column), width), False))


def _bytes(column: Any, count: int) -> memoryview:
    """The bytes of all entries in order, none of which is missing; no copy."""
    if not count:
        return memoryview(b"")
    buffers, start = column.buffers(), column.offset
    if pa.types.is_fixed_size_binary(column.type):
        width = column.type.byte_width
        return memoryview(buffers[1])[start * width : (start + count) * width]
    wide = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    ends = np.frombuffer(buffers[1], wide)[start : start + count + 1]
    return memoryview(buffers[2])[int(ends[0]) : int(ends[-1])]


_BATCH_BYTES = 1 << 25
_MOST, _LEAST = 1 << 16, 1 << 8
_NUMBER_CHARS = 32  # of a number in JSON, at most; a line that is longer than its numbers may be is malformed


@dataclass(frozen=True)
class Batch:
    """Some messages.

    Attributes
    ----------
    malformed, wrong_plan : int
        How many were left out because they are no messages of this length, or of another plan.
    ids : ndarray of 16 bytes, shape (B,)
    values : ndarray, shape (B, m)
        Any numbers, infinite ones and NaN too.
    """

    malformed: int
    wrong_plan: int
    ids: np.ndarray
    values: np.ndarray


def batches(messages: Any, plan: str, size: int) -> Iterator[Batch]:
    """Read messages a batch at a time, at most 32 MB of numbers.

    Parameters
    ----------
    messages
        Path of a .parquet or .jsonl file, a list of such paths, or an iterable of messages: objects with
        ``plan``, ``id`` and ``values``, or mappings with these keys (the id as bytes or as hexadecimal
        digits).
    plan : str
        What a message must carry.
    size : int
        Numbers in a message.

    Raises
    ------
    DataError
        If a file cannot be opened or does not hold messages at all.
    """
    rows = max(min(_BATCH_BYTES // (8 * size), _MOST), _LEAST)
    if isinstance(messages, str | os.PathLike):
        return _of_file(path_of("messages", messages, DataError), plan, size, rows)
    if isinstance(messages, list | tuple) and all(isinstance(item, str | os.PathLike) for item in messages):
        paths = [path_of("messages", path, DataError) for path in messages]
        return (batch for path in paths for batch in _of_file(path, plan, size, rows))
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        raise DataError(
            f"messages must be the path of a .parquet or .jsonl file, or messages, not {shown(messages)}"
        )
    return _of_items(messages, plan, size, rows)


def _of_file(path: Path, plan: str, size: int, rows: int) -> Iterator[Batch]:
    if not path.is_file():
        raise DataError(f"there is no file {told(path, ('.parquet', '.pq', '.jsonl'))}")
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        yield from parquet_batches(path, plan, size, rows)
    elif suffix == ".jsonl":
        yield from _of_items(_lines(path, _NUMBER_CHARS * size + 1024), plan, size, rows)
    else:
        raise DataError(f"files of messages end in .parquet or .jsonl: {path}")


def _lines(path: Path, longest: int) -> Iterator[Any]:
    """What each line holds, None where it is no JSON; a line that is too long is skipped, not kept."""
    with path.open("rb") as file:
        while line := file.readline(longest):
            whole = line.endswith(b"\n") or len(line) < longest
            while not whole:
                rest = file.readline(longest)
                whole = rest.endswith(b"\n") or len(rest) < longest
                line = b""
            if line.strip() or not line:
                yield _parsed(line)


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _of_items(items: Iterable[Any], plan: str, size: int, rows: int) -> Iterator[Batch]:
    malformed = wrong = 0
    ids: list[bytes] = []
    values = np.empty((rows, size))
    for item in items:
        found = _read(item, values[len(ids)])
        if found is None:
            malformed += 1
        elif found[0] != plan:
            wrong += 1
        else:
            ids.append(found[1])
        if len(ids) == rows or malformed + wrong >= rows:
            yield Batch(malformed, wrong, np.array(ids, dtype=ID), values[: len(ids)])
            malformed = wrong = 0
            ids, values = [], np.empty((rows, size))
    yield Batch(malformed, wrong, np.array(ids, dtype=ID), values[: len(ids)])


def _read(item: Any, out: np.ndarray) -> tuple[Any, bytes] | None:
    """Plan and id of a message, whose numbers go into `out`; None if it is none."""
    try:
        if isinstance(item, Mapping):
            plan, identity, numbers = item["plan"], item["id"], item["values"]
        else:
            plan, identity, numbers = item.plan, item.id, item.values
        if isinstance(identity, str):
            identity = bytes.fromhex(identity)
        # their own letters and bytes: a class derived from these may say that it has others
        plan, identity = str.__str__(plan), bytes.__getitem__(identity, slice(None))
        if len(identity) != ID.itemsize:
            return None
        row = np.asarray(numbers)
        if row.shape != out.shape or row.dtype.kind not in "fiu":
            return None
        out[:] = row
    except Exception:  # a hostile object may raise anything
        return None
    return plan, identity


@dataclass
class Rejected:
    """How many messages were not counted, by the first reason."""

    malformed: int = 0
    wrong_plan: int = 0
    out_of_range: int = 0
    duplicate: int = 0


@dataclass(frozen=True)
class Totals:
    """Sums over accepted messages.

    Attributes
    ----------
    n : int
        Their number.
    sums : ndarray, shape (m,)
    gram : ndarray, shape (d, d)
        Of the input scheme: sum of the outer squares of noisy rows; else of shape (0, 0). No term of its sums
        and products goes through more than 64 roundings.
    rejected : Rejected
    not_private : bool
        Whether the noise of messages was not secure, as under :mod:`dpstats.testing`.
    """

    n: int
    sums: np.ndarray
    gram: np.ndarray
    rejected: Rejected
    not_private: bool = False


def total(messages: Any, plan: Plan) -> Totals:
    """Add up messages, one pass, memory that does not grow with their number.

    Parameters
    ----------
    messages
        See :func:`dpstats.contributions.totals.batches`.
    plan : Plan

    Raises
    ------
    DataError
        If fewer messages are accepted than the plan asks for: less noise than was promised would be on
        their sum. Also if a file cannot be read.
    """
    columns = plan.parts[0].size if plan.method == "input" else 0
    limits = np.repeat([part.limit for part in plan.parts], [part.size for part in plan.parts])
    rejected, count, expected = Rejected(), 0, mark(plan.hash)
    sums, gram = _Sum((plan.size,)), _Sum((columns, columns))
    with Seen() as seen:
        for batch in batches(messages, expected, plan.size):
            values = _accepted(batch, limits, seen, rejected)
            count += len(values)
            if columns:
                sums.add(_folded(values))
                gram.add(_folded_gram(values[:, :columns]))
            else:
                sums.add(values.sum(axis=0))
    if count < plan.contributors:
        raise DataError(
            f"{count} messages were accepted and the plan asks for at least {plan.contributors}, without "
            f"whose noise its guarantee does not hold ({_listed(rejected)}); collect more"
        )
    return Totals(count, sums.value, gram.value, rejected, not_private=expected != plan.hash)


class _Sum:
    """A sum of arrays that keeps the rounding errors of its additions (Knuth's two-sum)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._high, self._low = np.zeros(shape), np.zeros(shape)

    def add(self, value: np.ndarray) -> None:
        total = self._high + value
        part = total - self._high
        self._low += (self._high - (total - part)) + (value - part)
        self._high = total

    @property
    def value(self) -> np.ndarray:
        return self._high + self._low


def _folded(values: np.ndarray) -> np.ndarray:
    """Sum over the first axis by halves, so that a term goes through log2 as many roundings as there are."""
    while len(values) > 1:
        half = len(values) // 2
        odd = values[2 * half :]
        values = np.concatenate([values[:half] + values[half : 2 * half], odd])
    return values.sum(axis=0)


def _folded_gram(rows: np.ndarray) -> np.ndarray:
    """Sum of outer squares, 16 rows at a time and then by halves."""
    padded = np.zeros((-(-len(rows) // 16) * 16, rows.shape[1]))
    padded[: len(rows)] = rows
    blocks = padded.reshape(-1, 16, rows.shape[1])
    return _folded(np.matmul(blocks.transpose(0, 2, 1), blocks))


def _accepted(batch: Batch, limits: np.ndarray, seen: Seen, rejected: Rejected) -> np.ndarray:
    rejected.malformed += batch.malformed
    rejected.wrong_plan += batch.wrong_plan
    ids, values = batch.ids, batch.values
    if not _all_within(values, limits):
        within = (np.abs(values) <= limits).all(axis=1)
        rejected.out_of_range += int((~within).sum())
        ids, values = ids[within], values[within]
    new = seen.add(ids)
    if not new.all():
        rejected.duplicate += int((~new).sum())
        values = values[new]
    return values


def _all_within(values: np.ndarray, limits: np.ndarray) -> bool:
    """Whether no number is out of range or NaN, which both comparisons would make False."""
    if not len(values):
        return True
    return bool((values.max(axis=0) <= limits).all() and (values.min(axis=0) >= -limits).all())


def _listed(rejected: Rejected) -> str:
    found = [f"{count} {name.replace('_', ' ')}" for name, count in asdict(rejected).items() if count]
    return "rejected: " + (", ".join(found) or "none")


def hidden_minimum(params: np.ndarray, distance: float, mu: float) -> np.ndarray:
    """A minimum with Gaussian noise at mu-GDP for a shift of `distance`.

    See docs/theory/objective.md#the-minimum-is-not-exact.

    The exact minimum being private already, the one that was computed is a second release whose sensitivity
    is twice its distance from the exact one.
    """
    return current().noise.gaussian(params, distance, mu)
