"""Pairs of inputs that differ in one record: files and tables of every kind, whose cells are anything.

What conditions of a subset say of a row counts as a cell of it.

`search` writes a table, then replaces one record after another. Between two readings every other row must be
the same to the bit, the number of rows too, and nothing may be raised, warned, printed or logged.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpstats.formula.beside import read_subset
from dpstats.rows import open_rows, sizes
from dpstats.rows import rows as opening
from dpstats.schema import WEIGHS
from tests.rows.kinds import KINDS, NAMES, ROWS, SCHEMA, UNIT, Random, Record, one
from tests.silent import silence

CONDITIONS = [
    read_subset(text, SCHEMA)
    for text in (
        "x > 0",
        "k == 3 or k != 9",
        "x * k <= 2",
        "not f or e",
        "g != 'a' and x < 5",
        "r in ('1', '2')",
    )
]


class Reading(NamedTuple):
    """The bytes of each row's cells, shape (n, bytes), each row's id, and whether it weighs."""

    cells: np.ndarray
    ids: np.ndarray
    weighs: np.ndarray


def read(data: Any, max_rows: int) -> Reading:
    seen, usual = [], opening.weighing
    opening.weighing = lambda ids, *others: seen.append(ids) or usual(ids, *others)
    try:
        blocks = list(open_rows(data, SCHEMA.unit(UNIT, max_rows), NAMES).blocks(7))
    finally:
        opening.weighing = usual
    columns = [np.concatenate([block[name] for block in blocks]) for name in NAMES]
    columns += [np.concatenate([one.holds(block, SCHEMA) for block in blocks]) for one in CONDITIONS]
    cells = [np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1) for column in columns]
    return Reading(np.hstack(cells), seen[0], np.concatenate([block[WEIGHS] for block in blocks]))


def compare(before: Reading, after: Reading, place: int) -> None:
    """Raise AssertionError if more than one row differs."""
    assert len(before.cells) == len(after.cells), "another number of rows"
    others = np.arange(len(before.cells)) != place
    differ = (before.cells != after.cells).any(axis=1) | (before.ids != after.ids).any(axis=1)
    assert not differ[others].any(), f"rows {np.flatnonzero(differ & others)} changed with row {place}"
    for mine in (before.ids[place], after.ids[place]):
        others &= (before.ids != mine).any(axis=1)
    assert (before.weighs == after.weighs)[others].all(), f"other units weigh differently with row {place}"


def search(kind: str, seed: int, folder: Path) -> int:
    """Compare pairs of one kind of input; the number of pairs."""
    rng = np.random.default_rng(seed)
    drawn = KINDS[kind](rng, folder)
    max_rows = int(rng.integers(1, 4))
    records = [drawn.record() for _ in range(ROWS)]
    with silence_of(drawn.table) as table, pieces(rng):
        before = read(table(records), max_rows)
        for place in rng.permutation(ROWS):
            records[place] = drawn.record()
            after = read(table(records), max_rows)
            compare(before, after, int(place))
            before = after
    return ROWS


@contextlib.contextmanager
def pieces(rng: Random) -> Iterator[None]:
    """Small pieces of what is read at a time, so that a short table has several, and lines too long."""
    usual = sizes.SIZES
    longest = int(rng.integers(40, 200))
    part = int(rng.integers(1, 900))
    small = replace(usual, part=part, chunk=400, line=longest, objects=7, texts=4, text_bytes=64)
    sizes.SIZES = one(rng, [small, usual, usual])
    try:
        yield
    finally:
        sizes.SIZES = usual


@contextlib.contextmanager
def silence_of(table: Callable[[list[Record]], Any]) -> Iterator[Callable[[list[Record]], Any]]:
    """Silence around readings, not around what pandas says while a test makes its table."""

    def made(records: list[Record]) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return table(records)

    with silence():
        yield made
