"""Coded rows that an engine brings together by their units, so that nothing but numbers moves.

They are columns of numbers: of each variable under its number, and two words of the id before, or whether the
row weighs afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dpstats.rows.encode import Batch, Encoder
from dpstats.rows.parts import as_block, as_codes
from dpstats.rows.sources import Asked
from dpstats.rows.units import as_one, chosen, row_hashes
from dpstats.schema import WEIGHS

WORDS = ("first word", "second word")
WEIGHING = "weighs"


def numbered(asked: Asked) -> list[str]:
    """The names of the columns of variables."""
    return [str(place) for place, _ in enumerate(asked.names)]


def _named(asked: Asked) -> Iterator[tuple[str, str]]:
    return zip(numbered(asked), asked.names, strict=True)


def coded_rows(batch: Batch, asked: Asked) -> dict[str, np.ndarray]:
    """Rows as they are moved: ids that mean one unit are equal, in whatever part they are."""
    columns = Encoder(asked.schema, asked.names)(batch)
    words = as_one(columns.pop(WEIGHS)).T.view(np.int64)
    block = as_block(columns, asked.levels)
    found = {place: block[name] for place, name in _named(asked)}
    return found | dict(zip(WORDS, words, strict=True))


def ids_of(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The ids of units that are moved, shape (n, 2)."""
    return np.stack([columns[word] for word in WORDS], axis=1).view(np.uint64)


def marked_rows(columns: Mapping[str, np.ndarray], asked: Asked) -> dict[str, np.ndarray]:
    """All rows of some units, and which of them weigh, in an order that does not depend on who was faster."""
    ids, hashes = ids_of(columns), row_hashes({name: columns[place] for place, name in _named(asked)})
    weighs = chosen(ids, lambda rows: hashes[rows], asked.schema.privacy_unit.max_rows)
    order = np.lexsort(np.hstack([ids, hashes]).T)
    return {place: columns[place][order] for place in numbered(asked)} | {WEIGHING: weighs[order]}


def columns_of(marked: Mapping[str, np.ndarray], asked: Asked) -> dict[str, np.ndarray]:
    """Marked rows as a part has them, under the names of variables, and `WEIGHS`."""
    found = {name: marked[place] for place, name in _named(asked)}
    return as_codes(found, asked) | {WEIGHS: np.asarray(marked[WEIGHING], dtype=bool)}
