"""What an error says of an argument that was not given, or that a function does not have."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

__all__ = ["say_what_is_lacking"]

_FORGOTTEN = {
    "budget": "the privacy that is spent, such as dps.approx(epsilon=1, delta=1e-6)",
    "epsilon": "the privacy that is spent, such as 1",
    "delta": "far below 1 / number of rows, such as 1e-6",
    "schema": "what is public: a dps.Schema, a dict of declarations, or the path of its .toml file",
    "family": "'binomial', 'poisson', 'gamma' or 'gaussian'",
    "alpha": "the penalty, or 'auto'",
    "upper": "the public upper bound, known without a look at the rows",
    "n": "the number of rows",
    "until": "the end of the time that is averaged over, such as until=1000",
}
_RENAMED = {
    **dict.fromkeys(("min", "low", "lo", "lb", "minimum"), ("lower",)),
    **dict.fromkeys(("max", "high", "hi", "ub", "maximum"), ("upper",)),
    **dict.fromkeys(("lam", "lambda_", "penalizer", "penalty", "l2"), ("alpha",)),
    **dict.fromkeys(("alpha", "conf_level", "confidence", "ci", "CI"), ("level",)),
    **dict.fromkeys(("se", "std_err"), ("se_fit",)),
    **dict.fromkeys(("exog", "X", "x", "at", "df", "data"), ("newdata",)),
    **dict.fromkeys(("delimiter", "separator"), ("sep",)),
    **dict.fromkeys(("distribution", "law", "family"), ("dist",)),
    **dict.fromkeys(("p", "q", "percentile", "quantile", "failed"), ("p", "failed")),
    **dict.fromkeys(("dead", "died", "observed", "event"), ("failed",)),
    **dict.fromkeys(("cens", "alive", "right"), ("censored",)),
    **dict.fromkeys(("time", "t"), ("times",)),
}
"""What an argument of another package may be called here, for the functions that have it."""
_ELSEWHERE = {
    **dict.fromkeys(
        ("epsilon", "eps", "delta", "rho", "mu"),
        "a budget is one argument, such as dps.approx(epsilon=1, delta=1e-6)",
    ),
    "link": "each family has one link: binomial logit, poisson and gamma log, gaussian identity",
    "weights": "this model takes no weights",
    "subset": "this model takes no subset",
    **dict.fromkeys(
        ("seed", "random_state", "rng"),
        "whoever knows the seed of the noise can subtract it, so none is taken",
    ),
    **dict.fromkeys(
        ("robust", "cov_type", "vcov_type", "cluster"),
        "standard errors count privacy noise, and are robust where the release allows",
    ),
    **dict.fromkeys(
        ("missing", "na_action", "dropna"),
        "a row with a missing value weighs nothing and counts in n, so that nothing is dropped",
    ),
    **dict.fromkeys(
        ("maxiter", "max_iter", "tol", "control", "start_params", "init", "disp"),
        "the number of steps follows from the budget and from public numbers",
    ),
    "ties": "failures at one time count as in Breslow's method",
    "offset": "write it in the formula, as y ~ x + offset(log(w))",
    **dict.fromkeys(("reference", "ref", "baseline"), "the level that is named first is the reference"),
    **dict.fromkeys(
        ("duration_col", "event_col", "entry_col"), "columns are named in the formula, Surv(time, event) ~ x"
    ),
}
"""What stands here for an argument that no function, or only another, has."""


def say_what_is_lacking(error: BaseException, function: Callable[..., Any]) -> None:
    """Add to an error about an argument that was not given what it may be, or what stands for it here."""
    if type(error) is not TypeError or len(error.args) != 1:
        return
    forgotten = re.search(r"missing .* required .*argument.*: '(\w+)'", str(error))
    unknown = re.search(r"^(.*)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    if forgotten and forgotten[1] in _FORGOTTEN:
        error.args = (f"{error}; {forgotten[1]} is {_FORGOTTEN[forgotten[1]]}",)
    if unknown and unknown[1] == function.__qualname__:
        error.args = (f"{error}; {_instead(unknown[2], function)}",)


def _instead(name: str, function: Callable[..., Any]) -> str:
    has = [argument for argument in signature(function).parameters if argument not in ("self", "cls")]
    renamed = [other for other in _RENAMED.get(name, ()) if other in has]
    if renamed:
        return f"it is {renamed[0]}= here"
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    close = get_close_matches(name, has, 1)
    meant = f"did you mean {close[0]}=? " if close else ""
    return f"{meant}{function.__name__} takes {', '.join(has)}"
