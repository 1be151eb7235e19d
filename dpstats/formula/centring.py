"""A design of the same lines whose products are of numbers about the middle of their bounds.

A year near 2000 and its product with a region are all but the region's level, two thousand times: noise of a
size that hides nothing of either hides what tells them apart. The product with the year less 2000 does not
have that, and has the same lines. Which number is taken off follows from declared bounds alone.

See docs/theory/linear.md#products-of-numbers-far-from-0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.formula.design import Design
from dpstats.schema import Bounded, Levels

# A number is taken from the middle of its bounds where that is so many of their half-widths from 0: it is
# then nearer to the middle than to 0 wherever it lies.
_FAR = 2.0
_SAME = 1e-7  # share of a column by which public rows may differ, by rounding
_ROWS = 8  # for each column


def centred(design: Design) -> tuple[Design, np.ndarray]:
    """Such a design, and the matrix that takes its coefficients to those of `design`.

    Where a formula lacks a term, as the region's in ``y ~ region:year``, its lines are no lines of the other,
    and it stays as it is.
    """
    same = np.eye(len(design.names))
    middles = {
        name: sum(bounds) / 2
        for name, bounds in design.multiplied.items()
        if abs(sum(bounds)) >= _FAR * (bounds[1] - bounds[0])
    }
    if not middles:
        return design, same
    moved, rows = design.about(middles), _public_rows(design)
    ours, theirs = (each.exog(rows)[0] for each in (design, moved))
    size = np.maximum(np.abs(ours).max(axis=0), np.finfo(float).tiny)
    way, _, rank, _ = np.linalg.lstsq(ours / size, theirs, rcond=None)
    most = _SAME * np.abs(theirs).max(axis=0)
    if rank < len(same) or (np.abs(ours / size @ way - theirs).max(axis=0) > most).any():
        return design, same
    return moved, np.where(np.abs(way) > most, way, 0.0) / size[:, None]


def _public_rows(design: Design) -> dict[str, Any]:
    """Rows that nobody has, all over the declared bounds."""
    draw, count = np.random.default_rng(0), _ROWS * len(design.names)
    found: dict[str, Any] = {}
    for name in design.covariates:
        variable = design.schema[name]
        if isinstance(variable, Levels):
            found[name] = np.array(variable.all)[draw.integers(0, len(variable.all), count)]
        else:
            found[name] = draw.uniform(*variable.bounds, count)
            if not isinstance(variable, Bounded):
                found[name] = np.rint(found[name])
    return found
