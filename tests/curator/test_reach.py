"""Means and counts of columns in their boxes, against numpy."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator.statistics.columns import ReachCounts, RowsApart
from dpstats.testing import NoNoise
from tests.made import MadeBlock, MadeDesign, MadeRows, made_columns, under

D, N = 3, 5000
CHOSEN = np.array([True, False, True])
BOX = dict(center=np.array([0.0, 0, 0.5, 2.0]), half=np.array([1.0, 1, 0.5, 3.0]), log=True, chosen=CHOSEN)
ORIGIN = np.array([np.nan, 0.3, -1.0])


def released(name: str, columns: dict[str, np.ndarray], **public: object) -> np.ndarray:
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(D), dps.gdp(2.0))
    return curator.release(name, 1.0, **public).values[0]


def boxed(columns: dict[str, np.ndarray]) -> np.ndarray:
    rows = np.column_stack([np.clip(columns["x"], -1, 1), np.log(np.clip(columns["time"], 1, 100))])
    return np.clip((rows - BOX["center"]) / BOX["half"], -1, 1)[:, [0, 2, 3]]


def test_means_are_over_rows_and_those_of_the_response_over_events() -> None:
    columns = made_columns(N, D)
    rows = boxed(columns)
    rows[:, -1] *= columns["event"]
    np.testing.assert_allclose(released("reach_means", columns, **BOX), rows.sum(axis=0), atol=1e-4)


def test_rows_at_an_end_of_a_box_and_near_one_are_counted_once() -> None:
    columns = made_columns(N, D)
    columns["x"][:3] = [[-1.0, 0, 1.0], [0, 1.0, 0.5], [0, 0, 0.96]]
    farthest = np.abs(boxed(columns)).max(axis=1)
    far, near = farthest == 1, (farthest >= 0.9) & (farthest < 1)
    assert far[0] and not far[1] and near[2]  # the second column is not looked at
    counts = released("rows_apart", columns, near=0.9, **BOX)
    np.testing.assert_allclose(counts, [far.sum(), near.sum() / 2], atol=1e-6)
    with pytest.raises(ValueError, match="near must lie"):
        RowsApart(MadeDesign(D), near=1.5, **BOX)


def test_boxes_of_responses_are_wider_where_the_line_says_so() -> None:
    columns, line = made_columns(N, D), np.array([0.5, 1.0, 0.0, -2.0])
    eta = line[0] + np.clip(columns["x"], -1, 1) @ line[1:]
    rows = boxed(columns)
    wide = BOX | dict(half=BOX["half"] / 4)
    y = np.clip(
        (np.log(np.clip(columns["time"], 1, 100)) - 2.0) / 0.75 / np.maximum(np.exp(eta) / 1.5, 1), -1, 1
    )
    farthest = np.abs(np.column_stack([np.clip(4 * rows[:, :2], -1, 1), y])).max(axis=1)
    for given, chosen in ((farthest, CHOSEN), (np.abs(y), 0 * CHOSEN)):
        public = wide | dict(chosen=chosen.astype(bool))
        counts = released("rows_apart", columns, near=0.5, line=line, usual=1.5, **public)
        far, near = given == 1, (given >= 0.5) & (given < 1)
        np.testing.assert_allclose(counts, [far.sum(), near.sum() / 2], atol=1e-6)
    with pytest.raises(ValueError, match="a number a column"):
        RowsApart(MadeDesign(D), near=0.5, line=np.ones(D), **BOX)


def cell_of(column: np.ndarray, origin: float, cells: int) -> np.ndarray:
    if np.isnan(origin):
        return np.searchsorted(np.linspace(-1, 1, cells + 1)[1:-1], column, side="right")
    half = cells // 2
    octave = np.searchsorted(2.0 ** np.arange(2 - half, 1), np.abs(column - origin), side="right")
    at = np.where(column >= origin, half + octave, half - 1 - octave)
    return np.where(column == 1, cells - 1, at)


@pytest.mark.parametrize("cells", [2, 6, 32])
@pytest.mark.parametrize("origin", [ORIGIN, np.full(3, np.nan), np.array([0.0, 0.25, 1.0])])
def test_each_row_counts_in_one_cell_of_a_column_and_a_censored_one_in_none_of_the_response(
    cells: int, origin: np.ndarray
) -> None:
    columns = made_columns(N, D)
    columns["x"][:9, 0] = [0.0, 0.25, -0.25, 1.0, -1.0, 0.5, -0.5, 0.75, -0.0]  # at ends of cells
    counts, rows = released("reach_counts", columns, cells=cells, origin=origin, **BOX), boxed(columns)
    weighing = (np.ones(N), np.ones(N), columns["event"])
    for column, start, count, weights in zip(rows.T, origin, counts, weighing, strict=True):
        at = cell_of(column, start, cells)
        np.testing.assert_allclose(count, np.bincount(at, weights, minlength=cells))
    assert (counts[:2].sum(axis=1) == N).all() and counts[2].sum() == columns["event"].sum()


def test_rows_that_cannot_be_used_count_by_themselves_and_those_left_out_nowhere() -> None:
    columns = made_columns(N, D)
    columns["x"][:700, 1] = np.nan
    columns["event"][500:1500] = 2.0
    events, usable = columns["event"] == 1.0, (np.arange(N) >= 1500)
    for kept in (np.ones(N, dtype=bool), np.arange(N) % 3 > 0):
        design = KeepingSome(D)
        rows = MadeRows(columns | {"kept": kept})
        curator = under(NoNoise(), rows, design, dps.gdp(2.0))
        release = curator.release("reach_counts", 1.0, cells=6, origin=ORIGIN, lost=True, **BOX)
        lost = [(kept & usable & ~events).sum(), (kept & ~usable).sum()]
        np.testing.assert_allclose(release.values[1], lost, atol=1e-6)
        sums = [(kept & usable).sum()] * 2 + [(kept & usable & events).sum()]
        np.testing.assert_allclose(release.values[0].sum(axis=1), sums, atol=1e-6)


class KeepingSome(MadeDesign):
    """Of rows that are not `kept` none counts."""

    def read(self, block: dict[str, np.ndarray], memory: object = None) -> MadeBlock:
        made = super().read(block)
        return replace(made, ok=made.ok & block["kept"], kept=block["kept"])


@pytest.mark.parametrize(
    "wrong",
    [
        dict(origin=ORIGIN[:2]),
        dict(origin=ORIGIN[::-1]),
        dict(origin=np.array([np.nan, 0.0, 1.1])),
        dict(cells=5),
        dict(cells=0),
        dict(cells=128),
    ],
)
def test_cells_that_are_none_are_refused(wrong: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"cells|origin"):
        ReachCounts(MadeDesign(D), **BOX, **dict(cells=4, origin=ORIGIN) | wrong)
