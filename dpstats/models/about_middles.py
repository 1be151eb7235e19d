"""Fits of products and powers of numbers about middles of these, which are released before all else.

See docs/theory/first_stage.md#middles-of-products.
"""

from __future__ import annotations

import math

import numpy as np

from dpstats.budget import Budget, measure
from dpstats.curator import Curator
from dpstats.estimators.middles import SHARE, middles
from dpstats.formula import Design, NumericResponse

RELEASED = "middles of products"


def share_of(design: Design) -> float:
    """Return what share of the budget the middles take; none where nothing can be told about any."""
    return SHARE if design.movable else 0.0


def costs_of(design: Design, budget: Budget) -> dict[str, float]:
    """Return what they cost, by name, in epsilon or mu."""
    share = share_of(design)
    cost = measure(budget) * (share if budget.pure else math.sqrt(share))
    return {RELEASED: cost} if share else {}


def found_middles(curator: Curator, design: Design, budget: Budget) -> dict[str, tuple[float, float, float]]:
    """Release where the numbers in products and the response lie, by their texts."""
    alone, response = design.of_movable, design.response
    ends = response.bounds if isinstance(response, NumericResponse) else response.time_bounds
    cost = costs_of(design, budget)[RELEASED]
    found = middles(curator.reading(alone), cost, budget.pure, np.vstack([alone.bounds[1:], ends]))
    return dict(zip((*design.movable, response.text), found, strict=True))


def about_middles(curator: Curator, design: Design, budget: Budget) -> tuple[Curator, Design]:
    """Return the same rows through the design whose products are of numbers about their middles."""
    if not design.movable:
        return curator, design
    moved = design.about(found_middles(curator, design, budget))
    return curator.reading(moved), moved
