"""Counts of rows by their length and direction, against numpy."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator.statistics.pilot import RowReach
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, under

D, N = 3, 5000
WHITENING, EDGES = np.eye(D + 1) + 0.2 * np.triu(np.ones((D + 1, D + 1)), 1), np.array([0.9, 1.3, 1.7])
MAP = dict(center=np.zeros(D), scale=np.full(D, 0.7), y_center=2.0, y_scale=0.5, log=True)


def test_long_rows_count_once_shared_out_among_their_coordinates() -> None:
    columns = made_columns(N, D)
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(D), dps.gdp(2.0))
    release = curator.release("row_reach", 1.0, whitening=WHITENING, edges=EDGES, **MAP)
    a = np.column_stack([np.ones(N), np.clip(columns["x"], -1, 1) / 0.7]) @ WHITENING
    lengths = np.linalg.norm(a, axis=1)
    cells = np.searchsorted(EDGES, lengths, side="right")
    shares = (a / lengths[:, None]) ** 2
    expected = [shares[cells == cell].sum(axis=0) for cell in (1, 2, 3)]
    np.testing.assert_allclose(release.values[0], np.transpose(expected), atol=1e-3)
    assert release.values[0].sum() == pytest.approx(np.sum(lengths >= EDGES[0]), abs=1e-2)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(edges=EDGES[::-1]),
        dict(edges=EDGES[:, None]),
        dict(edges=EDGES - 0.9),
        dict(edges=EDGES * 1e-160),
        dict(whitening=np.eye(D)),
    ],
)
def test_parameters_that_do_not_fit_are_refused(wrong: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="edges|whitening must"):
        RowReach(MadeDesign(D), **(dict(MAP, whitening=WHITENING, edges=EDGES) | wrong))  # type: ignore[arg-type]
