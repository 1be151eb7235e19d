"""Losses of a margin: derivatives by finite differences, and every bound that privacy rests on."""

import numpy as np
import pytest

from dpstats.errors import SpecificationError
from dpstats.families import LOGISTIC_LOSS, huber_hinge

LOSSES = [LOGISTIC_LOSS, *map(huber_hinge, (0.01, 0.5, 1.0, 10.0))]
MARGINS = np.concatenate([np.linspace(-40, 40, 20001), np.linspace(-700, 700, 1001), [1e4, -1e4]])


def value(loss, m):
    """log(1 + e^-m), or a parabola of width 2 h between 0 and a line."""
    if loss is LOGISTIC_LOSS:
        return np.logaddexp(0, -m)
    h = 1 / (2 * loss.steepest)
    return np.where(np.abs(1 - m) <= h, (1 + h - m) ** 2 / (4 * h), np.maximum(0, 1 - m))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.title)
def test_derivatives_are_those_of_the_loss(loss):
    m = np.random.default_rng(0).uniform(-12, 12, 2000)
    step = 1e-6
    low, high = loss.derivatives(m - step), loss.derivatives(m + step)
    slope, curvature = loss.derivatives(m)
    smooth = np.abs(low[1] - high[1]) < 0.01  # not across the corner of the Huber hinge's slope
    first = (value(loss, m - step) - value(loss, m + step)) / (2 * step)
    assert first == pytest.approx(slope, abs=1e-4 * loss.steepest + 1e-8)
    second = (low[0] - high[0]) / (2 * step)
    assert second[smooth] == pytest.approx(curvature[smooth], abs=1e-7 * (1 + loss.steepest))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.title)
def test_bounds_hold_everywhere_and_are_attained(loss):
    margins = np.concatenate([MARGINS, 1 + np.linspace(-1, 1, 20011) / (2 * loss.steepest), [0.3, -0.3]])
    slope, curvature = loss.derivatives(margins)
    assert (slope >= 0).all() and (slope <= 1).all() and slope.max() == 1
    assert (curvature >= 0).all() and curvature.max() == pytest.approx(loss.steepest, rel=1e-6)
    assert curvature.max() <= loss.steepest
    assert (slope * margins).max() <= loss.pull * (1 + 1e-12) <= (slope * margins).max() + 1e-3
    joint = slope**4 + (loss.together * curvature) ** 2
    assert 0.97 * loss.joint <= joint.max() <= loss.joint
    if loss.straight:  # what slopes have lost costs nothing beside them
        assert (joint + (1 - slope) ** 2).max() <= loss.joint
    for reach in (0.0, 0.3, 3.0):
        within = slope[np.abs(margins) <= reach]
        assert within.max() <= loss.pulled(reach) <= within.max() + 1e-3


def test_losses_of_the_page():
    margins = np.array([-0.5, -0.5, 0.5, -0.55])
    slope, curvature = LOGISTIC_LOSS.derivatives(margins)
    assert value(LOGISTIC_LOSS, margins) == pytest.approx(
        [0.9740769842, 0.9740769842, 0.4740769842, 1.0054924815], abs=5e-11
    )
    assert slope == pytest.approx([0.6224593312, 0.6224593312, 0.3775406688, 0.634135591], abs=5e-11)
    assert curvature == pytest.approx([0.2350037122, 0.2350037122, 0.2350037122, 0.2320076432], abs=5e-11)
    slope, curvature = huber_hinge(1.0).derivatives(margins)
    assert value(huber_hinge(1.0), margins).tolist() == pytest.approx([1.5, 1.5, 0.5625, 1.55])
    assert slope.tolist() == [1, 1, 0.75, 1] and curvature.tolist() == [0, 0, 0.5, 0]


@pytest.mark.parametrize("h", [0, -1, 0.001, 11, np.nan, np.inf, "1"])
def test_h_must_be_a_width(h):
    with pytest.raises(SpecificationError, match="h must be"):
        huber_hinge(h)
