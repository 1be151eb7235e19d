"""Words of R's formulas, and of other packages', that there are not here, and what is written instead."""

from __future__ import annotations

import re

_CATEGORY = (
    "is not needed: declare the variable with levels(...) and write its name, or C(name) for a "
    "flag, or C(name, Sum) for another contrast"
)
_NUMBER = "is not needed: declare the variable with bounded(lower, upper) and write its name"
_SPLINE = (
    "takes its knots from the private data; write ns(x, df=4) or bs(x, df=4), whose knots are on the public "
    "range of x"
)
_RANDOM = "is a random effect, and none is fitted; write the variable as a term, with public levels"
_INSTEAD = {
    ".": "does not stand for all other variables; name them, such as x + z",
    **dict.fromkeys(("factor", "as.factor", "ordered", "as.ordered"), _CATEGORY),
    **dict.fromkeys(("as.numeric", "as.integer", "as.double"), _NUMBER),
    **dict.fromkeys(("cr", "cc", "te", "s", "rcs", "pspline"), _SPLINE),
    **dict.fromkeys(("|", "frailty"), _RANDOM),
    "strata": "is for coxph and survreg; write the variable as a term, or fit each level with "
    "subset=\"g == 'a'\", which leaves the number of its rows private",
    "cluster": "is not available: standard errors take all rows as independent; schema.unit(column, "
    "max_rows=k) bounds how many rows of a person or machine weigh",
    "TRUE": "is R's; write 1 for an intercept, and True in the arguments of a function",
    "FALSE": "is R's; write 0 for no intercept, and False in the arguments of a function",
    "relevel": "is not needed: write C(name, Treatment('b')), or declare that level first",
    **dict.fromkeys(
        ("lag", "lead", "diff"), "reads other rows, and each row stands by itself; make it a column"
    ),
    "tt": "is a coefficient that changes in time, and none is fitted; cut the time, and fit each part",
    "%": "has an operator of R's that is none here; write x:z for a product, or I(x > 0.5) for a comparison",
    "cbind": "makes several responses; fit a model of each",
    "ifelse": "is not available; write a comparison as a number, 1 * (x > 0.5)",
    "pmin": "is not available; write minimum(x, a)",
    "pmax": "is not available; write maximum(x, a)",
    "weights": "is not a term; weights are an argument of the model, weights='w'",
    "weight": "is not a term; weights are an argument of the model, weights='w'",
}


def instead(word: str) -> str | None:
    """Why a word is not available and what to write, to follow the term that has it; None of other words."""
    return _INSTEAD.get(word)


def instead_in(code: str) -> str | None:
    """The same of a text that is no Python: of a dot, or of the first word with dots that is known."""
    words = [code.strip(), *re.findall(r"[A-Za-z]+\.[A-Za-z]+|%", code)]
    return next((said for said in map(instead, words) if said), None)
