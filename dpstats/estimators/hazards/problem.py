"""What is public about a regression of hazards (docs/theory/coxph.md#model)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpstats.estimators.row_scale import Box

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """Public facts of a regression of hazards with d covariates.

    Attributes
    ----------
    box : Box
        Of the covariates and, last, of the time.
    times : array, shape (F,)
        Where the baseline hazard may change; the last is the upper bound of the time.
    start : float
        Where hazards begin, below all of them.
    delayed : bool
        Whether rows may enter late.
    """

    box: Box
    times: Array
    start: float
    delayed: bool = False

    @property
    def d(self) -> int:
        return len(self.box.lower) - 1
