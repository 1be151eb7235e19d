"""What the rounding of a tilt to the lattice of its noise moves a minimum by is in tau."""

import math

import numpy as np
import pytest

from dpstats._conversions import UNIT_ROUNDOFF
from dpstats.budget import Gdp
from dpstats.curator.account import guarded
from dpstats.curator.mechanisms import gaussian
from dpstats.curator.objective import Objective
from dpstats.families import LOGISTIC_LOSS
from tests.made import MadeDesign

K = 4


def lattice_of(numbers: np.ndarray) -> float:
    """The largest power of two of which all are multiples."""
    parts = [number.as_integer_ratio() for number in numbers[numbers != 0].tolist()]
    return min((top & -top) / bottom for top, bottom in parts)


@pytest.mark.parametrize("mu", [1e-4, 1e-3, 1e-2, 1.0])
def test_tau_counts_the_cells_of_the_lattice_however_little_a_tilt_costs(mu: float) -> None:
    ridge = 10 * 0.25 * 2 / mu
    public = dict(center=np.zeros(K), scale=np.ones(K), radius=2.0, longest=1.0, reach=np.ones(K))
    objective = Objective(MadeDesign(K - 1), loss=LOGISTIC_LOSS, ridge=ridge, **public)
    tilt = objective.planned(guarded(Gdp(mu)), 1000, 1).tilt
    assert tilt is not None
    noise = np.concatenate([gaussian(np.zeros(K), float(tilt.axes[0]), tilt.cost) for _ in range(30)])
    farthest = objective.farthest(1000, tilt)
    solved = 1.02 * objective.tolerance(1000).of_answer(farthest) + 4 * UNIT_ROUNDOFF * ridge * farthest
    assert objective.tau(1000, tilt) - solved >= math.sqrt(K) * lattice_of(noise) * (1 - 1e-6)
