"""Counts of rows by the size of their residuals, against numpy."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator.statistics.pilot import ResidualCounts
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, under

D, N = 3, 5000
LINE, EDGES = np.array([0.3, 0.5, -0.2, 0.1]), np.array([0.5, 2.0, 3.0])
MAP = dict(center=np.zeros(D), scale=np.ones(D), y_center=2.0, y_scale=0.5, log=True)


def test_each_row_counts_once_however_large_its_residual() -> None:
    columns = made_columns(N, D)
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(D), dps.gdp(2.0))
    release = curator.release("residual_counts", 1.0, line=LINE, sigma=0.7, edges=EDGES, **MAP)
    y = (np.log(np.clip(columns["time"], 1, 100)) - 2.0) / 0.5
    r = np.abs(y - np.column_stack([np.ones(N), np.clip(columns["x"], -1, 1)]) @ LINE) / 0.7
    cells = np.searchsorted(EDGES, r, side="right")
    np.testing.assert_allclose(release.values[0], np.bincount(cells, minlength=4), atol=1e-4)
    assert release.values[0].sum() == N and (release.values[0] > 0).all()


@pytest.mark.parametrize(
    "wrong",
    [dict(edges=EDGES[::-1]), dict(edges=EDGES[:, None]), dict(line=LINE[:2]), dict(sigma=0.0)],
)
def test_parameters_that_do_not_fit_are_refused(wrong: dict[str, np.ndarray]) -> None:
    public = dict(MAP, line=LINE, sigma=0.7, edges=EDGES)
    with pytest.raises(ValueError, match="edges|line must|sigma must"):
        ResidualCounts(MadeDesign(D), **(public | wrong))  # type: ignore[arg-type]
