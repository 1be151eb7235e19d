"""What a newcomer wrote, and what the message must say to write instead."""

from collections.abc import Callable

import numpy as np
import pytest

import dpstats as dps

SCHEMA = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1), t=dps.bounded(1, 9), make=dps.levels("A", "B"))
LIVES = SCHEMA | {"d": dps.event(), "end": dps.bounded(0, 20)}
DATA = {"x": [0.1], "y": [0.2], "t": [2.0], "make": ["A"]}


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda: dps.ridge("y ~ x", DATA, SCHEMA, alpha="cv"), "got 'cv', or 'auto'"),
        (lambda: dps.survreg("Surv(t) ~ x", DATA, SCHEMA, strata="make"), r"\+ strata\(maker\)"),
        (lambda: dps.coxph("Surv(t) ~ x", DATA, SCHEMA, strata="make"), r"\+ strata\(maker\)"),
        (lambda: dps.ols("y ~ C(make, ref='B')", DATA, SCHEMA), r"write C\(make, Treatment\('B'\)\)"),
        (
            lambda: dps.ols("y ~ log(t - 1)", DATA, SCHEMA),
            r"bounds of t - 1 are \[0, 8\]. Declare narrower bounds of t in the schema",
        ),
        (
            lambda: dps.ols("y ~ log(x)", DATA, SCHEMA.replace(x=dps.bounded(0, 9))),
            r"such as bounded\(1, 9\)",
        ),
        (lambda: dps.survreg("Surv(t, end, d) ~ make", DATA, LIVES), "the entry comes first, Surv"),
        (lambda: dps.glm("y ~ x", DATA, SCHEMA, "poisson", exposure="np.log(t)"), "give exposure='t'"),
        (lambda: dps.survreg("Surv(t) ~ x", DATA, SCHEMA).fit(dps.gdp(1), release=["law"]), "got 'law'"),
        (
            lambda: dps.kaplan_meier("Surv(t) ~ 1", DATA, SCHEMA, times=["1,000"]),
            "a list of 1 item, of which an item is no number; 1,000 is written 1000",
        ),
    ],
)
def test_a_message_says_what_to_write(write: Callable[[], object], words: str) -> None:
    with pytest.raises((dps.SpecificationError, TypeError), match=words):
        write()


@pytest.mark.parametrize("several", [np.array([0.1, 0.2]), [0.1, 0.2], np.array([0.1])])
def test_a_record_holds_one_value_of_each_variable(several: object) -> None:
    plan = dps.plan_contributions("y ~ x", SCHEMA, dps.gdp(1), contributors=1000)
    with pytest.raises(dps.DataError, match="one value for each variable, and 'x' holds several"):
        dps.contribute({"x": several, "y": 0.3}, plan)
    assert len(dps.contribute({"x": np.array(0.1), "y": np.float64(0.3)}, plan).values) == 6


@pytest.mark.parametrize("count", [1, 10**6, 10**12])
def test_no_more_contributors_are_honest_than_there_are(count: int) -> None:
    plan = dps.plan_contributions("y ~ x", SCHEMA, dps.gdp(1), contributors=count)
    assert plan.honest_count == count
