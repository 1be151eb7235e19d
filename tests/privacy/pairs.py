"""Two options at a time, on the plainest law of each model: one may have to heed what the other changes.

The catalogue varies one option at a time. Here are all pairs that a call can hold, with every method, under
noise of both kinds. `refused` says which of them a user is refused beyond what is refused of one of the two.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import pytest

from tests.privacy import catalogue
from tests.privacy.catalogue import JOINED, OPTIONS, PLAIN, Case, laws, methods, model_names, options

__all__ = ["PAIRS", "SOME", "asked", "refused"]


def _apart(one: str, other: str) -> bool:
    """Whether a call can hold both: they change different arguments, or one in a way that joins them."""
    return not set(OPTIONS[one]) & set(OPTIONS[other]) or f"{one} + {other}" in JOINED


def asked() -> Iterator[Case]:
    """Everything that can be asked for with two options."""
    plain = {name: law for name in model_names() for law in laws(name) if (law or name) in PLAIN}
    for name, law in plain.items():
        two = [pair for pair in combinations(options(name, law)[1:], 2) if _apart(*map(str, pair))]
        for (one, other), method, budget in product(two, methods(name, law), ("zcdp", "pure")):
            if method != "auto" or (name, budget) == ("logit", "pure"):
                yield Case(name, law, method, None, budget, f"{one} + {other}")


def refused(case: Case) -> bool:
    """Whether the package has to refuse it, by its documents."""
    parts = set(case.options)
    if case.method == "pmt" and "constant" in parts and parts & NO_ROWS:
        parts.remove("constant")
    if any(catalogue.refused(replace(case, option=part)) for part in parts):
        return True
    if "strata" in parts and case.model == "survreg" and parts & ONE_SCALE:
        return True
    return parts in BOTH_REFUSED and case.model not in ("ols", "ridge")


# public rows tell of covariates, of which a constant has none; linear models use their response, too
BOTH_REFUSED: tuple[set[str], ...] = (
    {"loglik", "weights"},
    {"dist", "weights"},
    {"loglik", "delayed"},
    {"dist", "delayed"},
    {"constant", "public rows"},
)
# with a scale for each stratum
ONE_SCALE = {"loglik", "dist", "known scale", "inspected", "left"}
# with which a constant needs no covariate, or has one
NO_ROWS = {"public moments", "exposure"}


PAIRS = [case for case in asked() if not refused(case)]
# of each pair of options of a model, one case; those that change rows and their design alone meet options
# where a fit takes no steps
_FIRST = {(case.model, case.option): case for case in reversed(PAIRS)}


def _met(case: Case) -> bool:
    parts = set(case.options)
    return case.model in ("ols", "kaplan_meier") or not parts & {"products", "subset", "numbers", "factor"}


SOME = [
    pytest.param(case, id=str(case), marks=() if case in _FIRST.values() and _met(case) else pytest.mark.long)
    for case in PAIRS
]
