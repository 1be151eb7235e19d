"""Strata: rows of each level lie on a stretch of time of their own, and formulas that have none."""

from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula.response import Observed
from dpstats.formula.strata import Axis, split_strata
from dpstats.schema import Schema

SCHEMA = dps.Schema(
    days=dps.bounded(1, 100),
    since=dps.bounded(0, 100),
    failed=dps.event(),
    age=dps.bounded(0, 100),
    site=dps.levels("x", "y", "z"),
    new=dps.flag(),
)


def axis(*codes: str, start: float = 0.0, schema: Schema = SCHEMA) -> Axis:
    strata = split_strata(tuple((code,) for code in codes), schema)[1]
    assert strata is not None
    return Axis(strata, start, 100.0)


def leaves(**values: Any) -> dict[str, np.ndarray]:
    return {name: np.asarray(value, dtype=float) for name, value in values.items()}


@pytest.mark.parametrize("start", [0.0, -0.099, 1e-300])
def test_a_row_is_watched_in_its_own_stratum_alone(start: float) -> None:
    """Also one that leaves with the last bit after the beginning, or that enters before it."""
    draw, n = np.random.default_rng(1), 600
    site, new = draw.integers(0, 3, n), draw.integers(0, 2, n)
    time = np.where(draw.uniform(size=n) < 0.3, np.nextafter(start, 1), draw.uniform(1, 100, n))
    time[:50] = 100.0
    entry = np.where(draw.uniform(size=n) < 0.5, -np.inf, time * draw.uniform(size=n))
    laid, ok = axis("strata(site, new)", start=start), np.ones(n, dtype=bool)
    found = laid.laid(Observed(time, np.ones(n), entry), laid.strata.codes(leaves(site=site, new=new), ok))
    ends = laid.edges(np.array([10.0, 100.0])).reshape(-1)
    number = site * 2 + new
    assert ok.all() and (np.diff(ends) > 0).all() and len(ends) == 13
    assert (found.value > ends[2 * number]).all() and (found.value <= ends[2 * number + 2]).all()
    assert (found.entry > ends[2 * number]).all()
    late = entry > 1
    np.testing.assert_allclose(found.value[late] - found.entry[late], (time - entry)[late], atol=1e-9)


def test_a_row_without_a_declared_level_counts_nothing() -> None:
    ok = np.ones(3, dtype=bool)
    number = axis("strata(site)").strata.codes(leaves(site=[-1, 2, 3]), ok)
    assert ok.tolist() == [False, True, False] and ((number >= 0) & (number < 3)).all()


def test_several_terms_and_cuts_are_all_combinations() -> None:
    strata = axis("strata(site)", "strata(cut(age, [40, 60]), new)").strata
    assert strata.count == 18 and strata.variables == {"site", "age", "new"}


@pytest.mark.parametrize(
    ("right", "says"),
    [
        (
            "age + strata(age)",
            r"'strata\(age\)' needs categories with public levels: declare age with levels",
        ),
        ("age * strata(site)", r"strata have no coefficients; write \+ strata\(site\), as a term of its own"),
        ("age + strata()", r"'strata\(\)' takes categories and nothing else, such as strata\(maker, site\)"),
        ("age + strata(site, sep='=')", "takes categories and nothing else"),
        (
            "age + strata(new) + strata(new, site)",
            r"'strata\(new\) \+ strata\(new, site\)' has a category twice.*: write strata\(C\(new\), site\)",
        ),
        ("age + strata(site, site)", r"has a category twice, .* write strata\(site\)"),
        ("strata(site)", "has no column on the right of ~"),
        ("age + strata(nowhere)", "nowhere"),
    ],
)
def test_what_are_no_strata_is_refused(right: str, says: str) -> None:
    with pytest.raises(dps.FormulaError, match=says):
        dps.coxph(f"Surv(days, failed) ~ {right}", {}, SCHEMA)


@pytest.mark.parametrize("right", ["strata(site) + strata(site, new)", "age + strata(site, site)"])
def test_a_scale_of_a_category_named_twice_is_refused(right: str) -> None:
    with pytest.raises(
        dps.FormulaError, match="has a category twice, and no row has two levels of it: write"
    ):
        dps.survreg(f"Surv(days, failed) ~ {right}", {}, SCHEMA)


def test_other_models_have_none() -> None:
    with pytest.raises(dps.FormulaError, match=r"'strata\(site\)' is for coxph and survreg; write the var"):
        dps.kaplan_meier("Surv(days, failed) ~ age + strata(site)", {}, SCHEMA)
