"""Bounds and radius hold on random formulas, whatever the rows; a design row depends on its own row alone."""

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpstats.errors import FormulaError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from tests.formula.strategies import (
    OFFSETS,
    OWN_FACTORS,
    SCHEMA,
    SHARED_FACTORS,
    WEIGHTS,
    inside,
    right_sides,
    wild,
)

N = 40
TABLES = [open_rows(make(N, seed), SCHEMA, list(SCHEMA)) for seed in range(8) for make in (inside, wild)]
BLOCKS = [next(rows.blocks()) for rows in TABLES]
FORMULAS = right_sides(SHARED_FACTORS | OWN_FACTORS)
LEFT = st.sampled_from(("y", "I(y ** 3)", "np.exp(y)", "Surv(t, e)", "Surv(t / 24 + 1, censored=f)"))


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(LEFT, FORMULAS, st.integers(0, len(BLOCKS) - 2), st.integers(0, 2**16))
def test_columns_stay_in_their_bounds_and_rows_in_the_radius(left, right, first, seed):
    try:
        design = build_design(f"{left} ~ {right}", SCHEMA)
    except FormulaError:
        assume(False)
    lower, upper = design.bounds.T
    for raw in BLOCKS[first : first + 2]:
        block = design.read(raw)
        on = block.exog[block.ok]
        assert np.all(np.isfinite(block.exog)) and not np.any(block.exog[~block.ok])
        assert np.all(on >= lower) and np.all(on <= upper)
        assert np.all(np.linalg.norm(block.exog, axis=1) <= design.radius)
        low, high = getattr(design.response, "time_bounds", None) or design.response.bounds
        assert np.all((block.endog >= low) & (block.endog <= high)) and set(block.event) <= {0.0, 1.0}

        order = np.random.default_rng(seed).permutation(N)
        mixed = design.read({name: values[order] for name, values in raw.items()})
        for ours, theirs in zip(
            (block.exog, block.endog, block.event, block.ok),
            (mixed.exog, mixed.endog, mixed.event, mixed.ok),
            strict=True,
        ):
            np.testing.assert_array_equal(ours[order], theirs)


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(
    FORMULAS,
    st.lists(OFFSETS, max_size=3),
    st.none() | WEIGHTS,
    st.integers(0, len(BLOCKS) - 2),
    st.integers(0, 2**16),
)
def test_offsets_and_weights_stay_in_their_bounds(right, offsets, weights, first, seed):
    try:
        design = build_design(f"y ~ {' + '.join([right, *offsets])}", SCHEMA, weights)
        plain = build_design(f"y ~ {right}", SCHEMA)
    except FormulaError:
        assume(False)
    assert (design.names, design.radius) == (plain.names, plain.radius)
    lower, upper = design.offset_bounds
    for raw in BLOCKS[first : first + 2]:
        block = design.read(raw)
        assert block.offset.shape == block.weight.shape == (N,)
        assert np.all((block.offset >= lower) & (block.offset <= upper))
        assert np.all((block.weight >= 0) & (block.weight <= 1)) and np.all(block.weight[block.ok] > 0)
        assert not np.any(block.ok & ~plain.read(raw).ok) and not np.any(block.exog[~block.ok])
        order = np.random.default_rng(seed).permutation(N)
        mixed = design.read({name: values[order] for name, values in raw.items()})
        for name in ("offset", "weight", "ok"):
            np.testing.assert_array_equal(getattr(block, name)[order], getattr(mixed, name))


def test_rows_inside_the_bounds_are_all_on():
    rows = open_rows(inside(N, 1), SCHEMA, list(SCHEMA))
    design = build_design("Surv(t, e) ~ x * g + h + bs(z, df=5) + cut(z, [30, 60]) + np.exp(x)", SCHEMA)
    assert all(design.read(block).ok.all() for block in rows.blocks())
