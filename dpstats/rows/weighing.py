"""Which rows weigh, if a unit of privacy has several: a choice among the unit's own rows, by their cells.

A row without an id weighs nothing, and neither does one whose id is no whole number of 64 bits and no text.
Of a unit's rows those weigh whose hashes are least. The hash is of the id, of the cells that the fit reads,
as they are coded, and of how many equal rows of the unit came before, with a public key. So the choice does
not depend on other units, nor on where rows stand: equal rows change places and nothing else. And it is like
one by lot: without the id some cells would win in all units, and without the count equal rows would have one
chance together, so that what rows say would decide which of them are heard. Fits that read other variables
may choose other rows. Each fit by itself is bounded, and their costs add up, whichever rows they read.
"""

from collections.abc import Callable, Mapping

import numpy as np

from dpstats.rows.encode import as_one

_ROWS = 8192  # hashed at a time, in a core's cache
# keys of the two halves of a row's hash, and constants of its mixing: Steele, Lea & Flood (2014), splitmix64
_KEYS = np.array([0x243F6A8885A308D3, 0x13198A2E03707344], dtype=np.uint64)  # digits of pi
_STEP, _FIRST, _SECOND = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_NAN = np.array(np.nan).view(np.uint64)


def weighing(ids: np.ndarray, columns: Mapping[str, np.ndarray], max_rows: int) -> np.ndarray:
    """Which rows weigh.

    Parameters
    ----------
    ids : array of shape (n, 2)
        See `dpstats.rows.encode.Ids`.
    columns : mapping to arrays of shape (n,)
        The coded cells of each row.
    max_rows : int
        How many rows of a unit weigh.

    Returns
    -------
    bool array of shape (n,)
    """
    return chosen(
        ids, lambda rows: row_hashes({name: values[rows] for name, values in columns.items()}), max_rows
    )


def chosen(ids: np.ndarray, hashes: Callable[[np.ndarray], np.ndarray], max_rows: int) -> np.ndarray:
    """The same by what gives the hashes of some of the rows, as `row_hashes` does."""
    weighs = np.asarray(ids.any(axis=1))
    order, rank, size = _ranked(ids)
    crowded = np.sort(order[size > max_rows])
    crowded = crowded[weighs[crowded]]
    if not len(crowded):
        return weighs
    order, rank, _ = _ranked(np.hstack([ids[crowded], _lots(ids[crowded], hashes(crowded))]))
    weighs[crowded[order]] = rank < max_rows
    return weighs


def _lots(ids: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Hashes of rows with their ids and their numbers among equal rows of the unit, shape (n, 2).

    An integer and the text that spells it have the same, so that files that store ids as texts have the rows
    of those that store numbers.
    """
    words = np.hstack([ids, hashes])
    order = np.lexsort(words.T)
    equal = np.append(False, (words[order[1:]] == words[order[:-1]]).all(axis=1))
    places = np.arange(len(order))
    number = np.empty(len(order), dtype=np.uint64)
    number[order] = places - np.maximum.accumulate(np.where(equal, 0, places))
    out = hashes.copy()
    for word in (*as_one(ids).T, number):
        out = _mixed(out ^ word[:, None])
    return out


def _ranked(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An order by unit, then by hash; in this order, a row's rank in its unit and the unit's number of rows.

    Rows with the same words keep their order.
    """
    order = np.lexsort(words.T[::-1])
    units = words[order, :2]
    first = np.append(True, (units[1:] != units[:-1]).any(axis=1))[: len(order)]
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(order))
    return order, np.arange(len(order)) - np.repeat(starts, sizes), np.repeat(sizes, sizes)


def spread(ids: np.ndarray) -> np.ndarray:
    """A hash of each id of 64 bits, by which units are parted into shares of about as many."""
    return _mixed(_mixed(ids[:, 0]) ^ ids[:, 1])


def row_hashes(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """A hash of 128 bits of each row's coded cells, shape (n, 2).

    Variables are taken in alphabetical order. All cells count as float64, bit by bit, and all that are not
    finite as one. A person who wants two rows with one hash may make them: then the order of the data decides
    which of the two weighs, and both are that person's.
    """
    n = len(next(iter(columns.values())))
    out = np.empty((n, 2), dtype=np.uint64)
    for start in range(0, n, _ROWS):
        part = slice(start, start + _ROWS)
        words = [_words(columns[name][part]) for name in sorted(columns)]
        for half, key in enumerate(_KEYS):
            mixed = np.full(len(words[0]), key)
            for word in words:
                mixed = _mixed(mixed ^ word)
            out[part, half] = mixed
    return out


def _words(values: np.ndarray) -> np.ndarray:
    numbers = values.astype(np.float64)  # whatever the type, which a missing cell may have changed
    return np.where(np.isfinite(numbers), numbers.view(np.uint64), _NAN)


def _mixed(word: np.ndarray) -> np.ndarray:
    word = word + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return np.asarray(word ^ (word >> np.uint64(31)))
