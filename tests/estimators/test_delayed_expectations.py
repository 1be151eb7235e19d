"""What rows that enter late are expected to say, against means over made-up events."""

import numpy as np
import pytest

from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.delayed_expectations import late_information
from dpstats.estimators.location_scale.events import Events, Whitening
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import SurvivalProblem
from dpstats.estimators.row_scale import Box, RowScale
from dpstats.families import DISTS
from dpstats.families.martingale import taper

EVERY = pytest.mark.parametrize("dist", ["sev", "logistic", "gaussian"])
GAMMA, SIGMA, FRACTION, WITHIN = np.array([-0.3, 0.5, -0.4]), 0.5, 0.7, 0.6
POINT = np.append(GAMMA, np.log(SIGMA))
LINE = np.array([0.1, 0.2, 0.1])
MOMENTS = np.array([[1.0, 0.0, 0.2], [0.0, 1.1, 0.3], [0.2, 0.3, 0.9]])
W = np.array([[1.0, 0.1, 0.0], [0.1, 0.8, -0.2], [0.0, -0.2, 1.2]])


def bounding(dist: str) -> Bounding:
    family, ones = DISTS[dist].family, np.ones(3)
    events = Events(
        FRACTION,
        FRACTION * MOMENTS,
        FRACTION * MOMENTS,
        0.0,
        LINE,
        FRACTION * (WITHIN * SIGMA) ** 2,
        0.0,
        way=np.eye(3),
    )
    scale = RowScale(
        log=False,
        center=np.zeros(2),
        scale=np.ones(2),
        y_center=0.0,
        y_scale=1.0,
        lower=-9 * ones,
        upper=9 * ones,
        fraction=FRACTION,
        fraction_sd=0.0,
        binary=np.zeros(2, dtype=bool),
        varies=np.ones(2, dtype=bool),
        ratio=np.ones(2),
        error=np.zeros(2),
        shares=np.zeros((2, 0)),
        places=np.zeros((2, 0)),
        middle_error=np.zeros(2),
    )
    problem = SurvivalProblem(family, False, Box(-9 * ones, 9 * ones), True)
    return Bounding(PlacedByLine(problem, scale, events), 1.0, 10_000)


@EVERY
@pytest.mark.parametrize("c", [1.6, 8.0])
def test_information_of_the_events(dist: str, c: float) -> None:
    """Against half a million events whose covariates, and residuals about the line, are normal."""
    generator = np.random.default_rng(4)
    spread = np.linalg.cholesky(MOMENTS[1:, 1:] - np.outer(MOMENTS[0, 1:], MOMENTS[0, 1:]))
    x = np.ones((3, 500_000))
    x[1:] = MOMENTS[0, 1:, None] + spread @ generator.normal(size=(2, x.shape[1]))
    about = WITHIN * generator.normal(size=x.shape[1])
    found, floor = bounding(dist), -9.0
    late = late_information(found.placement, Whitening(W, W), Choice(c, 3.0, floor, 4.0, 0.0, 0.0), POINT)

    cut, z = taper(found.placement.problem.family, c, floor), (LINE - GAMMA) / SIGMA @ x + about
    g, slope = cut.at(z).g, cut.at(z).slope
    log_sigma = 1 + (about - found.placement.expectations(POINT).offset) * slope
    white = W @ x
    location = (white * g * slope**2) @ white.T / len(z)
    cross = white @ (g * slope * log_sigma) / len(z)
    size = np.sqrt(np.mean(g * slope**2) * np.mean(g * log_sigma**2))
    assert late.share == pytest.approx(np.mean(g * slope**2), rel=0.02)
    expected = late.share * W @ MOMENTS @ W + late.beyond(late.share, 1.0)[:-1, :-1]
    assert expected == pytest.approx(location, abs=0.02 * np.trace(location) / 3)
    assert late.beyond(late.share, 1.0)[-1, :-1] == pytest.approx(cross, abs=0.03 * size)
    assert np.abs(location - late.share * W @ MOMENTS @ W).max() > 0.05 * np.trace(location) or dist == "sev"


@EVERY
def test_a_line_that_is_the_regression_has_nothing_beyond(dist: str) -> None:
    """As it is where rows are watched from the start and none is cut."""
    late = late_information(
        bounding(dist).placement,
        Whitening(W, W),
        Choice(64.0, 3.0, -9.0, 4.0, 0.0, 0.0),
        np.append(LINE, POINT[-1]),
    )
    assert np.abs(late.beyond(late.share, 1.0)).max() < 1e-6
    assert late.error(0.3) == pytest.approx(late.error(0.0), rel=1e-6)
