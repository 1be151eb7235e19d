"""What is expected of the information of a survival model beside what is released."""

import numpy as np
import pytest

from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.information import Known, estimated
from dpstats.estimators.location_scale.whitening import Whitening

K, FRACTION, RELEASED = 3, 0.1, 0.03
SHARE = 0.1**2 / (0.1**2 + RELEASED**2)  # of the releases, where the structure errs by a tenth


def events(noise: float, slope: float = 2.0, lowered: float = 1.0) -> Events:
    """A line of slopes 2, and the moments of one direction as noise may have lowered them."""
    square = FRACTION * np.diag([1.0, 1.0, lowered])
    line = np.array([0.0, slope, slope])
    return Events(FRACTION, square, square, noise, line, 0.05, 0.1, np.ones(K))


def crossed(events: Events, pivot_error: float, stretch: float = 1.0) -> float:
    """Entry of the last direction with log sigma, where .8 is released with a small error, in its units."""
    matrix = np.diag(np.full(K + 1, FRACTION))
    matrix[-1, -1] *= 4
    matrix[K - 1, K] = matrix[K, K - 1] = 0.8 * FRACTION
    known = Known(matrix, np.eye(K + 1), np.full((K + 1, K + 1), RELEASED * FRACTION))
    w = np.diag([1.0, 1.0, stretch])
    found = estimated(known, events, Whitening(w, w), FRACTION, 1.0, pivot_error)
    return float(found.matrix[K - 1, K] / FRACTION)


def test_no_correlation_with_log_sigma_is_believed_where_noise_made_moments_small() -> None:
    """Steps were a fifth of the way, and intervals six times too short."""
    assert crossed(events(0.05, lowered=-0.5), 0.0, stretch=4.0) == pytest.approx(0.8 * SHARE)


def test_the_pivot_errs_along_what_is_stretched() -> None:
    """It has the noise of the line, over sigma."""
    told = [crossed(events(1e-9), error, stretch=5.0) for error in (0.0, 0.1, 1.0)]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(0.8, rel=0.01)


def test_a_pivot_without_error_takes_the_correlation_away() -> None:
    assert crossed(events(1e-9), 0.0) == pytest.approx(0.8 * SHARE)
