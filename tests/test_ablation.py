"""benchmarks/ablation.py varies one number at a time, wherever it is used, and puts it back."""

import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from ablation import FACTORS, ablated, compared, found, numbers_of, varied  # noqa: E402

from dpstats.estimators.newton import bounds, located  # noqa: E402

SEED = 17  # a gamma regression of 854 rows


def test_one_number_of_a_constant_varies_and_keeps_its_kind() -> None:
    value = ((4000.0, 12, (0.05, 0.11)), "name", True, 0.0)
    assert list(numbers_of(value)) == [4000.0, 12, 0.05, 0.11]
    assert varied(value, 1, 0.5) == ((4000.0, 6, (0.05, 0.11)), "name", True, 0.0)
    assert varied(value, 3, 2.0) == ((4000.0, 12, (0.05, 0.22)), "name", True, 0.0)
    assert varied(3, 0, 0.1) == 1


def test_a_number_is_varied_in_every_module_that_has_it_and_put_back() -> None:
    numbers = {str(number): number for number in found("estimators/newton")}
    first, inert = numbers["newton.located.FIRST_LENGTH[0]"], numbers["newton.plan._FEW[0]"]
    usual, others = ablated(SEED, [first, inert])
    assert bounds.FIRST_LENGTH == located.FIRST_LENGTH == first.value
    assert len(others) == 2 * len(FACTORS)
    assert others[0] != usual and others[2:] == [usual, usual]
    fits, changed, *ratios = compared([(usual, others[0]), (usual, others[2])])
    assert (fits, changed) == (2, 1) and all(map(math.isfinite, ratios))


def test_a_longer_interval_and_a_larger_error_are_told() -> None:
    usual = {"errors": [1.0, -1.0, None], "widths": [1.0, 2.0, None], "halves": [0.5, 0.9, None], "flags": []}
    wide = {
        "errors": [2.0, -2.0, 1.0],
        "widths": [3.0, 6.0, 1.0],
        "halves": [0.5, 1.9, 0.1],
        "flags": ["law"],
    }
    fits, changed, error, length, held, flags = compared([(usual, wide)])
    assert (fits, changed, held, flags) == (1, 1, -50.0, 1)
    assert (error, length) == pytest.approx((2.0, 3.0))
