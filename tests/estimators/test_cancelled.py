"""What noise hides of columns that cancel each other: how far slopes may go, and when that is told."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpstats.estimators.engine.information import Information
from dpstats.estimators.location_scale.estimate import _CANCELLED, unseen

HALF = np.sqrt(0.5)
DIFFERENCE = np.array([[0, 1, 0, 0], [HALF, 0, HALF, 0], [-HALF, 0, HALF, 0], [0, 0, 0, 1]])


def guess(used: float, other: float, binary: bool = False) -> tuple[float, float]:
    """Variances of a step along the hidden difference of two columns, in all, and of what is told.

    Their difference and their sum have this much information.
    """
    values, seen = np.array([used, 1.0, other, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    information = Information(values, DIFFERENCE, values, 0.01 * values, seen, np.ones(4))
    scale = SimpleNamespace(scale=np.ones(2), ratio=np.ones(2))
    problem = SimpleNamespace(binary=np.array([False, binary]), upper=np.ones(3), lower=-np.ones(3))
    bounding = SimpleNamespace(placement=SimpleNamespace(scale=scale, problem=problem), k=3)
    found = unseen(information, np.eye(4), bounding, 1.0)  # type: ignore[arg-type]
    whole, told = (float(DIFFERENCE[:, 0] @ part @ DIFFERENCE[:, 0]) for part in found)
    return whole, told


@pytest.mark.parametrize("binary", [False, True])
def test_columns_that_cancel_go_as_far_as_any_that_do_not_nearly_repeat_each_other(binary: bool) -> None:
    for used in (0.49, 0.1, 1.01 * _CANCELLED**-2):
        whole, told = guess(used, 2 - used, binary)
        assert whole == pytest.approx(_CANCELLED**2) and told == 0
    nearly = 0.5 * _CANCELLED**-2
    whole, told = guess(nearly, 2 - nearly, binary)
    assert whole == told == pytest.approx(2 * _CANCELLED**2)


def test_columns_that_do_not_cancel_go_as_far_as_one_that_explains_the_response() -> None:
    assert guess(0.51, 1.49) == pytest.approx((2, 0))


def test_columns_of_little_information_are_not_such_as_cancel_each_other() -> None:
    assert guess(0.1, 0.1) == pytest.approx((2, 0))
