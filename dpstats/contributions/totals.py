"""The sum of all messages that are accepted, in one pass (spec/input_perturbation.md D2).

A message is accepted if it is one, carries the hash of the plan, holds finite numbers within the range of
honest ones, and has an id that was not accepted before. Whatever else arrives changes the count of rejected
messages and nothing more. An honest message is out of range with a chance below 1e-28 for each 1,000 numbers
(:mod:`dpstats.contributors.law`), so that this moves nothing that is estimated.

A message within the range may still be false. It then moves a sum by no more than the range, 1 + 12 sd.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpstats.contributions.reading import Batch, batches
from dpstats.contributions.seen import Seen
from dpstats.contributors.mark import mark
from dpstats.contributors.plan import Plan
from dpstats.errors import DataError

__all__ = ["Rejected", "Totals", "total"]

Array = np.ndarray


@dataclass
class Rejected:
    """How many messages were not counted, by the first reason."""

    malformed: int = 0
    wrong_plan: int = 0
    out_of_range: int = 0
    duplicate: int = 0

    def to_dict(self) -> dict[str, int]:
        """By reason."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True)
class Totals:
    """Sums over accepted messages.

    Attributes
    ----------
    n : int
        Their number.
    sums : ndarray, shape (m,)
    gram : ndarray, shape (d, d)
        Of the input scheme: sum of the outer squares of noisy rows; else of shape (0, 0).
    rejected : Rejected
    """

    n: int
    sums: Array
    gram: Array
    rejected: Rejected


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
    rejected, count = Rejected(), 0
    sums, gram = np.zeros(plan.size), np.zeros((columns, columns))
    with Seen() as seen:
        for batch in batches(messages, mark(plan.hash), plan.size):
            values = _accepted(batch, limits, seen, rejected)
            count += len(values)
            sums += values.sum(axis=0)
            gram += values[:, :columns].T @ values[:, :columns]
    if count < plan.contributors:
        raise DataError(
            f"{count} messages were accepted and the plan asks for at least {plan.contributors}, without whose "
            f"noise its guarantee does not hold; {_listed(rejected)}. Nothing is published; collect more"
        )
    return Totals(count, sums, gram, rejected)


def _accepted(batch: Batch, limits: Array, seen: Seen, rejected: Rejected) -> Array:
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


def _all_within(values: Array, limits: Array) -> bool:
    """Whether no number is out of range or NaN, which both comparisons would make False."""
    if not len(values):
        return True
    return bool((values.max(axis=0) <= limits).all() and (values.min(axis=0) >= -limits).all())


def _listed(rejected: Rejected) -> str:
    found = [f"{count} {name.replace('_', ' ')}" for name, count in rejected.to_dict().items() if count]
    return "rejected: " + (", ".join(found) or "none")
