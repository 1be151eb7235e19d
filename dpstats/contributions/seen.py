"""Which ids have come before, exactly.

Ids are kept as sorted runs, 16 bytes for each. A new batch is looked up in each run, and runs of about the
same length are merged, so that n ids make at most log2 n runs and each is moved log2 n times at most.
"""

import numpy as np

ID = np.dtype("S16")


class Seen:
    """A set of ids of 16 bytes."""

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def add(self, ids: np.ndarray) -> np.ndarray:
        """Return which of the ids are new, of those that come several times the first, and keep these."""
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        new = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, ids), len(run) - 1)
            new &= run[at] != ids
        self._keep(ids[new])
        found = np.empty(len(ids), dtype=bool)
        found[order] = new
        return found

    def _keep(self, run: np.ndarray) -> None:
        while self._runs and 0 < len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs += [run] * bool(len(run))
