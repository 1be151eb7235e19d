"""Means and counts of columns in their boxes, against numpy."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.statistics.reach import ReachCounts
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns

D, N = 3, 5000
CHOSEN = np.array([True, False, True])
BOX = dict(center=np.array([0.0, 0, 0.5, 2.0]), half=np.array([1.0, 1, 0.5, 3.0]), log=True, chosen=CHOSEN)
EDGES = np.array([[-0.5, 0.0, 0.5], [-0.5, -0.5, 0.1], [-1.0, 0.2, 1.0]])


def released(name: str, columns: dict[str, np.ndarray], **public: object) -> np.ndarray:
    curator = Curator(MadeRows(columns), MadeDesign(D), dps.gdp(2.0), noise=NoNoise())
    return curator.release(name, 1.0, **public).values[0]


def boxed(columns: dict[str, np.ndarray]) -> np.ndarray:
    rows = np.column_stack([np.clip(columns["x"], -1, 1), np.log(np.clip(columns["time"], 1, 100))])
    return np.clip((rows - BOX["center"]) / BOX["half"], -1, 1)[:, [0, 2, 3]]


def test_means_are_over_rows_and_those_of_the_response_over_events() -> None:
    columns = made_columns(N, D)
    rows = boxed(columns)
    rows[:, -1] *= columns["event"]
    np.testing.assert_allclose(released("reach_means", columns, **BOX), rows.sum(axis=0), atol=1e-4)


def test_each_row_counts_in_one_cell_of_a_column_and_a_censored_one_in_none_of_the_response() -> None:
    columns = made_columns(N, D)
    counts, rows = released("reach_counts", columns, edges=EDGES, **BOX), boxed(columns)
    weighing = (np.ones(N), np.ones(N), columns["event"])
    for column, edges, count, weights in zip(rows.T, EDGES, counts, weighing, strict=True):
        cells = np.searchsorted(edges, column, side="right")
        np.testing.assert_allclose(count, np.bincount(cells, weights, minlength=4))
    assert (counts[:2].sum(axis=1) == N).all() and counts[2].sum() == columns["event"].sum()


@pytest.mark.parametrize(
    "wrong", [dict(edges=EDGES[:2]), dict(edges=EDGES[:, ::-1]), dict(edges=np.zeros((3, 256)))]
)
def test_edges_that_do_not_fit_are_refused(wrong: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="edges"):
        ReachCounts(MadeDesign(D), **BOX, **wrong)
