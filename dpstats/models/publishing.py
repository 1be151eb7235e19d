"""Facts that every model publishes beside its estimate, in the words of a record."""

from __future__ import annotations

from typing import Any

from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.formula import Design

__all__ = ["public_facts"]


def public_facts(
    curator: Curator, design: Design, budget: Budget, method: str, ledger: str | None
) -> dict[str, Any]:
    """Facts of a release: what was asked, of how many rows, whose privacy it is, and what it cost.

    Parameters
    ----------
    curator : Curator
        Which made the release.
    design : Design
    budget : Budget
    method : str
    ledger : str or None
        What the ledger said when it was charged.
    """
    return {
        "formula": design.formula,
        "nobs": curator.n,
        "budget": budget,
        "method": method,
        "adjacency": curator.unit.adjacency,
        "unit": str(curator.unit),
        "ledger": ledger,
        "not_private": curator.not_private,
    }
