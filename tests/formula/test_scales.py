"""The wider design of a scale for each stratum: its columns, and those of the formula as sums of them."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula import build_design, scales_of

SCHEMA = dps.Schema(
    days=dps.bounded(0, 100),
    failed=dps.event(),
    age=dps.bounded(20, 80),
    new=dps.flag(),
    site=dps.levels("a", "b", "c"),
    kind=dps.levels("x", "y"),
)
ROWS = {
    "days": [3.0] * 6,
    "failed": [1] * 6,
    "age": [30.0, 40.0, 50.0, 60.0, 70.0, 80.0],
    "new": [0, 1, 0, 1, 0, 1],
    "site": ["a", "b", "c", "a", "b", "c"],
    "kind": ["x", "x", "y", "y", "x", "y"],
}


@pytest.mark.parametrize(
    ("right", "groups"),
    [
        ("age + strata(site)", 3),
        ("age + site + strata(site)", 3),
        ("age + new + strata(new)", 2),
        ("C(new) + age + strata(new)", 2),
        ("site + kind + age + strata(site, kind)", 6),
        ("site + age:kind + kind + strata(site) + strata(kind)", 6),
        ("site * age + offset(0.1 * age) + strata(site)", 3),
        ("age + strata(cut(age, [40, 60]))", 3),
        ("kind + site + strata(site)", 3),
    ],
)
def test_coefficients_of_the_formula_give_the_same_lines_by_the_wider_columns(
    right: str, groups: int
) -> None:
    design = build_design(f"Surv(days, failed) ~ {right}", SCHEMA, scales=True)
    scales = scales_of(design)
    coefficients = np.random.default_rng(0).normal(size=len(design.names))
    narrow, wide = (each.new_rows(ROWS, clip=True) for each in (design, scales.design))
    assert np.allclose(narrow.exog @ coefficients, wide.exog @ scales.tied @ coefficients)
    assert np.array_equal(narrow.stratum, wide.stratum) and np.array_equal(narrow.offset, wide.offset)
    assert scales.inside.shape[0] == design.strata == groups
    assert np.allclose(wide.exog @ scales.inside.T, np.eye(groups)[wide.stratum])


@pytest.mark.parametrize(
    ("right", "says"),
    [
        ("age + C(site, levels=['c', 'b', 'a']) + strata(site)", "has other levels than"),
        ("kind + kind:site + strata(site)", r"need them, too: write site \+"),
    ],
)
def test_levels_that_are_coded_otherwise_are_refused(right: str, says: str) -> None:
    with pytest.raises(dps.FormulaError, match=says):
        dps.survreg(f"Surv(days, failed) ~ {right}", None, SCHEMA, dist="sev")
