"""What is public about a regression of hazards (docs/theory/coxph.md#model)."""

from dataclasses import dataclass

import numpy as np

from dpstats.estimators.row_scale import Box


@dataclass(frozen=True)
class Problem:
    """Public facts of a regression of hazards with d covariates.

    Attributes
    ----------
    box : Box
        Of the covariates and, last, of the time.
    edges : array, shape (G F + 1,)
        Where hazards begin, and where they may change: F times of the first stratum, of which the last is the
        upper bound of the time, then those of the next on the same axis (docs/theory/coxph.md#strata).
    strata : int
        G.
    delayed : bool
        Whether rows may enter late in their stratum.
    """

    box: Box
    edges: np.ndarray
    strata: int = 1
    delayed: bool = False

    @property
    def d(self) -> int:
        return len(self.box.lower) - 1


def by_stratum(numbers: np.ndarray, stratum: np.ndarray) -> list[np.ndarray]:
    """Numbers that stand in the order of their strata, those of each stratum."""
    return np.split(numbers, np.flatnonzero(np.diff(stratum)) + 1)
