"""Names and values equal patsy's where the formula means the same."""

import warnings

import numpy as np
import patsy
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpstats.errors import FormulaError
from dpstats.formula import build_design
from dpstats.formula.grammar import parse_formula
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded
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


_SUMS = st.recursive(  # of terms and of what patsy says an intercept with, in brackets or not
    st.sampled_from(["a", "b", "a:b", "a * c", "0", "1"]),
    lambda sides: st.tuples(sides, st.sampled_from("++-"), sides, st.sampled_from(["{}", "({})"])).map(
        lambda sum_: sum_[3].format(" ".join(sum_[:3]))
    ),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(_SUMS)
def test_sums_have_the_terms_that_they_have_in_patsy(right):
    theirs = patsy.ModelDesc.from_formula(f"y ~ {right}").rhs_termlist
    assert parse_formula(f"y ~ {right}")[1] == tuple(
        tuple(one.code for one in term.factors) for term in theirs
    )


def test_a_formula_may_have_thousands_of_terms():
    names = [f"x{j}" for j in range(2_000)]
    schema = Schema(y=bounded(0, 1), **dict.fromkeys(names, bounded(0, 1)))
    right = " + ".join(names)
    assert build_design(f"y ~ {right}", schema).names == ("Intercept", *names)
    assert build_design(f"y ~ {right} - x7", schema).names == ("Intercept", *names[:7], *names[8:])
    with pytest.raises(FormulaError, match=r"stands in I\(\.\.\.\)"):
        parse_formula(f"y ~ {right} + 2 * x7")
