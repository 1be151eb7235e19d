"""``survreg(...).fit(..., method="functional")``: uncensored times under pure epsilon."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.errors import BudgetError, SpecificationError
from dpstats.estimators.functional import fit_functional
from dpstats.estimators.published.functional import as_published, fit_quadratic
from dpstats.estimators.row_scale import Box
from dpstats.families import Dist
from dpstats.formula import Design, NumericResponse
from dpstats.ledger import Ledger
from dpstats.models.skeleton import pay, publish
from dpstats.results import SurvivalFit
from dpstats.results.record import MOVED

METHOD, PAPER_METHOD = "functional mechanism (pure epsilon)", "functional mechanism, as published"
_WHAT = "weights of a quadratic likelihood"


def fit_by_functional(
    curator: Curator,
    design: Design,
    dist: Dist,
    box: Box,
    budget: Budget,
    ledger: Ledger | str | Path | None,
    compat: str | None,
) -> SurvivalFit:
    """Check, pay, release once and publish; `survreg` has the words for users.

    Raises
    ------
    SpecificationError
        If rows may be censored; nothing is spent then.
    BudgetError
        If the budget is not pure or exceeds what the ledger has left; nothing is spent then.
    """
    epsilon = _checked(design, budget)
    method = PAPER_METHOD if compat else METHOD
    facts = pay(curator, design, budget, ledger, method, {_WHAT: epsilon}, f"survreg {dist.name}")
    found = (fit_quadratic if compat else fit_functional)(curator, box, dist.log, dist.family, epsilon)
    return publish(
        SurvivalFit,
        facts,
        design,
        replace(found, problems=(*found.problems, *["published"] * bool(compat))),
        (_WHAT,),
        names=(*design.names, "Log(scale)"),
        model="survreg",
        dist=dist.name,
        settings=_settings(None if compat else as_published(found, box, dist.family)),
    )


def _checked(design: Design, budget: Budget) -> float:
    """Epsilon, if the method can use the budget on these rows."""
    if not budget.pure:
        raise BudgetError(
            "method='functional' adds Laplace noise, which is for a budget of pure epsilon; give pure(...), "
            "or use method='newton', which makes more of zcdp, gdp and approx"
        )
    if not isinstance(design.response, NumericResponse) and not design.response.all_failed:
        raise SpecificationError(
            "method='functional' cannot tell a censored time from a failure: its quadratic likelihood is one "
            "of failures, and censored rows bias slopes, scale and intercept by an amount that no number of "
            "rows and no budget makes smaller. Use method='newton', which handles censoring; or, if every "
            "row is a failure, say so: Surv(time) in place of Surv(time, event)"
        )
    if design.delayed:
        raise SpecificationError(
            "method='functional' takes every row as watched from its start, so that an entry would be left "
            "out and survivors would make life look long. Use method='newton', which handles entries"
        )
    return budget.epsilon


def _settings(published: np.ndarray | None) -> dict[str, str | float]:
    """What the record says of a fit, beside the paper's estimate unless this is it."""
    if published is None:
        return {"line": "as published", **MOVED}
    intercept, sigma = float(published[0]), math.exp(published[-1])
    return {"line": "least squares", **MOVED, "published sigma": sigma, "published intercept": intercept}
