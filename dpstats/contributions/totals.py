"""The sum of all messages that are accepted, in one pass (docs/theory/contributions.md#statistics-scheme).

A message is accepted if it is one, carries the hash of the plan, holds finite numbers within the range of
honest ones, and has an id that was not accepted before. Whatever else arrives changes the count of rejected
messages and nothing more. An honest message is out of range with a chance below 1e-28 for each 1,000 numbers
(:mod:`dpstats.contributors.law`), so that this moves nothing that is estimated.

A message within the range may still be false. It then moves a sum by no more than the range, 1 + 12 sd.

A minimum of the sum has noise of its own, for what a proof takes as exact and a computer does not find
exactly.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpstats.contributions.reading import Batch, batches
from dpstats.contributions.seen import Seen
from dpstats.contributors.law import mark
from dpstats.contributors.plan import Plan
from dpstats.curator.noise import current
from dpstats.errors import DataError


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
        See :func:`dpstats.contributions.reading.batches`.
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
