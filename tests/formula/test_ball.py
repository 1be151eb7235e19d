"""The map of rows into the unit ball, and the two that take coefficients there and back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpstats.formula.ball import UnitBall


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_coefficients_go_there_and_back(constant: bool, turned: bool) -> None:
    """A row times its coefficients is the same number in both coordinates."""
    draw = np.random.default_rng(4)
    lower = draw.normal(size=4)
    bounds = np.column_stack([lower, lower + draw.uniform(0.5, 3, 4)])
    if constant:
        bounds[0] = 1.0
    ball = UnitBall.of_box(bounds, constant)
    if turned:
        whitening = np.eye(4)
        whitening[constant:, constant:] = stats.ortho_group(4 - constant, seed=2).rvs()
        ball = replace(ball, whitening=whitening)
    np.testing.assert_allclose(ball.to_user @ ball.from_user, np.eye(4), atol=1e-12)
    x, params = draw.uniform(*bounds.T, (20, 4)), draw.normal(size=4)
    rows = (x - ball.center) / (ball.scale * ball.radius) @ ball.turned.T
    np.testing.assert_allclose(rows @ params, x @ (ball.to_user @ params), atol=1e-12)
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12
    assert (np.abs(rows @ ball.turned) <= ball.reach + 1e-12).all()
