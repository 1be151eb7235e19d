"""The curator takes enough off each cost for the lattice of Gaussian noise, or refuses."""

import math

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats._conversions import delta_of_mu
from dpstats.curator import Curator, curator
from dpstats.curator.account import GUARD
from dpstats.curator.law import LEAST_MU, MOST_GAUSSIAN
from dpstats.curator.unit_rows import UnitRows
from dpstats.errors import BudgetError
from dpstats.families import LOGISTIC_LOSS, MarginLoss, huber_hinge
from dpstats.testing import NoNoise, noise
from tests.margin import TINY, Labelled, labelled, unit_map

LOSSES = [LOGISTIC_LOSS, huber_hinge(0.1), huber_hinge(1.0), huber_hinge(5.0)]


def grown(a: float, m: int, mu: float) -> float:
    """By how much, at most, a delta grows on the lattice, over c f(a); of the module on mechanisms."""
    return 2 * a + 5.1 * m + 2 * mu + 1.3 * mu**2 if a >= 0 else mu + 5.1 * m


@pytest.mark.parametrize("steps", [3, 20, 64, 200])
def test_a_delta_grows_by_no_more_than_is_said(steps: int) -> None:
    """On a coarse lattice, 64 points to an sd, where it shows."""
    g = 1 / 64
    mu, x = steps * g, np.arange(-64 * 16, 64 * 16 + 1) * g
    p = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()
    grew = []
    for a in np.linspace(-mu / 2, 8, 300):
        epsilon = mu * (a + mu / 2)
        # the ratio of p to its neighbour, which is shifted by mu
        delta = float(np.sum(p * np.maximum(-np.expm1(epsilon - (mu * x + mu**2 / 2)), 0.0)))
        grew.append((delta - delta_of_mu(mu, epsilon)) / (g**2 / 24 * stats.norm.pdf(a) * grown(a, 1, mu)))
    assert 0.001 < max(grew) <= 1


def test_the_guard_pays_for_it() -> None:
    for mu in np.geomspace(LEAST_MU, 1e4, 200):
        assert 0.9 * GUARD * mu >= 2**-84.5 * grown(1e6, MOST_GAUSSIAN, mu)


def test_noise_that_is_not_proved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    private = Curator(labelled(*TINY), Labelled(2), dps.gdp(1))
    about = dict(loss=LOGISTIC_LOSS, params=np.zeros(2), **unit_map(2))
    private.release("margin_curvature", LEAST_MU, **about)
    with pytest.raises(BudgetError, match="at least 1e-08"):
        private.release("margin_curvature", LEAST_MU * 0.999, **about)
    with pytest.raises(BudgetError, match="at least 1e-08"):  # the noise on a minimum gets a share
        private.minimise(LEAST_MU * 2, loss=LOGISTIC_LOSS, ridge=1e12, **unit_map(2))
    with noise(NoNoise()):
        Curator(labelled(*TINY), Labelled(2), dps.gdp(1)).release("margin_curvature", 1e-9, **about)
    monkeypatch.setattr(curator, "MOST_GAUSSIAN", 2)
    with pytest.raises(BudgetError, match="at most 2 numbers"):
        private.release("margin_curvature", 0.5, **about)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.title)
def test_the_slope_of_long_rows_is_bounded_with_their_weight(loss: MarginLoss) -> None:
    """w |a| (-f'), also of rows longer than `longest`, whose slope alone may be larger."""
    reach = np.linspace(0, 40, 4001)
    slopes = np.array([loss.pulled(r) for r in reach])
    assert (np.diff(slopes, 2) <= 1e-12).all() and slopes[0] >= 0, "concave"
    draw = np.random.default_rng(1)
    for longest in (1.0, 1.5):
        design, share = Labelled(3, 3.0), []
        design.offset_bounds = (-0.4, 0.4)
        place = unit_map(3) | dict(longest=longest, reach=np.full(3, 3.0))
        rows = UnitRows(design, **place)
        for size in (0.1, 1.0, 5.0):
            params = draw.normal(size=3)
            params *= size / np.linalg.norm(params)
            bound = rows.pulled(loss, params)
            for length in [longest, *np.geomspace(0.2, 3.0, 40)]:
                a = params / size * length
                weight = min(1.0, 1 / length, longest / length**2)
                slope = loss.derivatives(np.array([-(a @ params) - 0.4]))[0][0]
                share.append(weight * length * slope / bound)
        assert 0.99 < max(share) <= 1
        assert math.isfinite(bound)
