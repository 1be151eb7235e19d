"""Roots of many increasing functions at once."""

import numpy as np
import pytest

from dpstats.estimators.halving import rooted

ROOTS = np.array([-2.5, 0.0, 0.75, 3.0])


@pytest.mark.parametrize(("steep", "most"), [(1.0, 8), (40.0, 30)])
def test_roots_are_found_in_few_steps_where_functions_are_flat_far_off_too(steep: float, most: int) -> None:
    """A step from where a function is flat would lead beyond its ends; halving alone takes 60 steps."""
    asked = []

    def off(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(at)
        value = np.tanh(steep * (at - ROOTS))
        return value, steep * (1 - value**2)

    found = rooted(off, np.full(4, 0.2), np.full(4, -5.0), np.full(4, 5.0), 1e-14)
    assert found == pytest.approx(ROOTS, abs=1e-13) and len(asked) <= most
