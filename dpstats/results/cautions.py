"""Cautions about a noisy solution of a linear model, in words for the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats.moments import Solution

WEAK = "privacy noise hides most of what the data say about {}; its interval rests on a wide guess"
CODES = ("not_estimable", "weak")
ALL = (
    "privacy noise outweighs these data: nothing can be estimated; use more rows or budget. It is the same "
    "where almost no row can be read: dps.check(data, schema, formula) shows which cannot, to you alone"
)
SOME = "privacy noise outweighs what the data say about {}; use more rows or budget"


def cautions(solution: Solution, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Codes with their messages; the coefficients that one concerns stand in one.

    Parameters
    ----------
    solution : Solution
    names : sequence of str, length d
    """
    lost = np.isinf(np.diagonal(solution.cov))
    gone = [name for name, is_lost in zip(names, lost, strict=True) if is_lost]
    weak = [names[j] for j in solution.weak if not lost[j]]
    found = []
    if gone:
        found.append(("not_estimable", ALL if lost.all() else SOME.format(", ".join(gone))))
    if weak:
        found.append(("weak", WEAK.format(", ".join(weak))))
    return tuple(found)
