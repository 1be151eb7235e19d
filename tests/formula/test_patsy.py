"""Names and values equal patsy's where the formula means the same."""

import warnings

import numpy as np
import patsy
from hypothesis import HealthCheck, assume, given, settings

from dpstats.errors import FormulaError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from tests.formula.strategies import SCHEMA, SHARED_FACTORS, inside, right_sides

FRAME = inside(60, 3)
BLOCK = next(open_rows(FRAME, SCHEMA, list(SCHEMA)).blocks())


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(right_sides(SHARED_FACTORS))
def test_names_and_values_are_those_of_patsy(right):
    try:
        design = build_design(f"y ~ {right}", SCHEMA)
    except FormulaError:
        assume(False)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs = patsy.dmatrix(right, FRAME)
    except patsy.PatsyError as error:  # a factor without a variable has one row in patsy and is refused there
        assume("Number of rows mismatch" not in str(error))
        raise
    ours = design.read(BLOCK)
    assert ours.ok.all()
    assert list(design.names) == theirs.design_info.column_names
    np.testing.assert_allclose(ours.exog, np.asarray(theirs), rtol=1e-9, atol=1e-9 * design.radius)
