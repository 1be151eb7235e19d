"""Residuals against curves of columns, against numpy."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator.statistics.bends import ColumnBends
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, under

D, N = 3, 5000
LINE = np.array([0.3, 0.5, -0.2, 0.4])
MAP = dict(center=np.zeros(D), scale=np.full(D, 0.7), y_center=2.0, y_scale=0.5, log=True)
CURVES = dict(
    chosen=np.array([0, 2]),
    unit=np.array([0.6, 0.8]),
    level=np.array([0.9, 1.1]),
    tilt=np.array([0.2, -0.4]),
    edge=1.5,
    span=1.2,
    limit=1.7,
    line=LINE,
    sigma=0.7,
)


def test_residuals_times_bounded_squares_of_columns() -> None:
    columns = made_columns(N, D)
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(D), dps.gdp(2.0))
    release = curator.release("column_bends", 1.0, **CURVES, **MAP)
    x = np.clip(columns["x"], -1, 1) / 0.7
    y = (np.log(np.clip(columns["time"], 1, 100)) - 2.0) / 0.5
    r = np.clip((y - np.column_stack([np.ones(N), x]) @ LINE) / 0.7, -1.7, 1.7)
    t = np.clip(x[:, [0, 2]] / [0.6, 0.8], -1.5, 1.5)
    q = t**2 - [0.9, 1.1] - t * [0.2, -0.4]
    q *= np.minimum(1, 1.2 / np.linalg.norm(q, axis=1))[:, None]
    v = q * r[:, None]
    np.testing.assert_allclose(release.values[0], v.sum(axis=0), atol=1e-3)
    np.testing.assert_allclose(release.values[1], (v**2).sum(axis=0) / (2 * 1.2 * 1.7), atol=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [dict(unit=np.zeros(2)), dict(unit=np.ones(3)), dict(line=LINE[1:]), dict(span=0.0), dict(edge=np.inf)],
)
def test_parameters_that_do_not_fit_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="hold a number for each|positive"):
        ColumnBends(MadeDesign(D), **(MAP | CURVES | wrong))  # type: ignore[arg-type]
