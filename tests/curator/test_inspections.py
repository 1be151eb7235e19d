"""Counts of failures by the residuals between which they lie."""

import numpy as np
import pytest

from dpstats.curator.blocks import Scratch
from dpstats.curator.lattice import LatticeSum
from dpstats.curator.statistics.interval_counts import InspectionCounts
from dpstats.families import SEV
from tests.made import MadeBlock, MadeDesign, vector

PUBLIC = dict(center=np.zeros(0), scale=np.ones(0), y_center=0.0, y_scale=1.0, log=False, gamma=np.zeros(1))


def test_every_failure_counts_in_its_cell_and_nothing_else_does():
    """Between two times, seen, before the first edge, not failed, and not valid."""
    lower = np.array([-0.5, 0.5, -np.inf, -np.inf, 0.5, -2.0, 2.0, 0.5])
    upper = np.array([0.5, 0.5, -1.5, 0.2, np.inf, 2.0, 2.0, 0.7])
    ok = np.array([True] * 7 + [False])
    event = np.isfinite(upper) * 1.0
    block = MadeBlock(np.ones((8, 1)), np.zeros(8), event, ok, None, (lower, upper))
    design = MadeDesign(0, intervals=True)
    statistic = InspectionCounts(design, family=SEV, sigma=1.0, edges=(-1.0, 0.0, 1.0), **PUBLIC)
    lattice = LatticeSum(statistic.parts)
    with np.errstate(all="ignore"):
        lattice.add(statistic.factors(block, Scratch()), ok)
    found = np.zeros((4, 4))
    found[np.triu_indices(4)] = statistic.unpack(vector(lattice))[0]
    expected = np.zeros((4, 4))
    for first, last in ((1, 2), (2, 2), (0, 0), (0, 2), (0, 3), (3, 3)):
        expected[first, last] += 1
    np.testing.assert_array_equal(found, expected)


def test_two_failures_in_different_cells_attain_its_sensitivity():
    design = MadeDesign(0, intervals=True)
    statistic = InspectionCounts(design, family=SEV, sigma=1.0, edges=(-1.0, 1.0), **PUBLIC)
    assert (statistic.sensitivity, statistic.sensitivity_l1) == (np.sqrt(2), 2)
    with pytest.raises(ValueError, match="intervals"):
        InspectionCounts(MadeDesign(0), family=SEV, sigma=1.0, edges=(-1.0, 1.0), **PUBLIC)
