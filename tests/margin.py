"""Made rows with labels, for losses of a margin."""

import numpy as np

from dpstats.curator.blocks import Blocks
from dpstats.curator.objective import Objective, Slopes
from tests.made import MadeBlock, MadeDesign, MadeRows

TINY = np.array([[0.6, 0.8], [1, 0], [0, -0.5], [0.3, -0.4]]), np.array([1.0, -1.0, 1.0, -1.0])


class Labelled(MadeDesign):
    """d covariates without a constant; the response is 1 or 0."""

    def __init__(self, d: int, bound: float = 1.0) -> None:
        super().__init__(d, bound, has_intercept=False)

    def read(self, block: dict[str, np.ndarray], memory: object = None) -> MadeBlock:
        read = super().read(block)
        read.time = np.where(read.ok, block["event"], 0.0)
        return read


def labelled(x: np.ndarray, y: np.ndarray) -> MadeRows:
    labels = (np.asarray(y) > 0).astype(float)
    return MadeRows({"x": np.asarray(x, dtype=float), "time": np.ones(len(x)), "event": labels})


def unit_map(d: int) -> dict[str, object]:
    """Rows as they are, in the unit ball."""
    return dict(center=np.zeros(d), scale=np.ones(d), radius=1.0, longest=1.0, reach=np.ones(d))


def slopes_of(problem: Objective, rows: MadeRows, size: int = 8192) -> Slopes:
    """Of all rows at a point, in blocks of this size."""
    blocks = Blocks(rows, Labelled(problem.k), size)
    return lambda params: problem.slope(params, blocks)
