"""What a budget will buy, before it is spent; no row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import count, shown
from dpstats._private import forgetting
from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.models.simulated import Planned, check_no_rows, without_rows
from dpstats.models.skeleton import Plannable, check_budget
from dpstats.moments import PublicMoments
from dpstats.planning.fit_plan import FitPlan
from dpstats.planning.knowledge import read_known
from dpstats.planning.trials import Setting
from dpstats.planning.truth import EVEN, read_asked

Array = np.ndarray

_BAND = 1.5  # factor of sds of which nothing is known, either way


@forgetting
def plan(  # noqa: PLR0913 - what a user may know; public
    model: Plannable,
    budget: Budget,
    n: int,
    covariates: Any = None,
    coef: Mapping[str, float] | None = None,
    scale: float | None = None,
    events: float | None = None,
    inspections: float | Sequence[float] | None = None,
    watches: str = EVEN,
) -> FitPlan:
    """Say what a fit will be worth, before its budget is spent.

    The model's own estimator is run a few times, under seeded noise, on made-up rows that follow what is said
    here. No private row is read, nothing is charged to a ledger, and the made-up fits are not kept.

    Parameters
    ----------
    model : LinearModel, GlmModel, Survreg or Coxph
        Such as ``dps.ols("y ~ x", None, schema)``. Its data, if it has any, are not read.
    budget : Budget
        The budget of the fit to come.
    n : int
        The number of its rows.
    covariates : dict, DataFrame or PublicMoments, optional
        What is known of variables: ``{"temp": (25, 6)}`` is mean and sd; of a flag give the share of ones,
        of a category a dict of the shares of its levels. ``("temp", "load"): 0.3`` is a correlation, which
        may be of a level, ``("maker[T.WDC]", "temp")``. The response may be among them, with its mean, or
        mean and sd. A frame of public rows tells all at once.
        A number of which nothing is known is taken as even over its bounds, which is nearly always too
        optimistic; the plan says so, and shows what a smaller and a larger sd do.
    coef : dict, optional
        Coefficients by name; others are 0. The intercept, if it is not among them, follows from the mean of
        the response, or from `events`.
    scale : float, optional
        Sd of residuals of a linear model; R's scale of a time to failure, of coxph that of a Weibull law,
        one over its shape; sd over mean of a gamma response;
        of counts, the root of their dispersion.
    events : float, optional
        Share of failures, or of ones.
    inspections : float or sequence of float, optional
        Of failures between two times: how far apart the looks at a unit are, or their times. The last look
        is at the end of its watch.
    watches : {"even", "equal"}
        Of times to failure, how long units are watched: "even" where they enter service evenly and the watch
        ends for all at one time, so that watches of all lengths are as frequent; "equal" where all are
        watched as long, as in a test that begins together.

    Returns
    -------
    FitPlan
        With ``table()``, ``power``, ``budget_for``, ``n_for`` and ``plot``.

    Raises
    ------
    SpecificationError
        If something is said of a variable that the model does not have, or cannot be; if public rows are
        given and the model has data of its own.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(temp=dps.bounded(0, 60), life=dps.bounded(0, 500))
    >>> model = dps.ols("life ~ temp", None, schema)
    >>> ahead = dps.plan(model, dps.approx(1, 1e-6), n=5000, covariates={"temp": (25, 6)}, scale=40)
    >>> ahead.table()["term"].tolist()
    ['Intercept', 'temp']
    """
    if not isinstance(model, Planned):
        raise SpecificationError(
            f"plan takes a model of ols, ridge, logit, glm, survreg or coxph, not {shown(model)}: curves and "
            "support vectors cannot be planned; for example "
            'dps.plan(dps.ols("y ~ x", None, schema), budget, n=1000)'
        )
    if isinstance(covariates, pd.DataFrame | PublicMoments):
        check_no_rows(model)
    rows, design = count("n", n), model.design
    if rows < 1:
        raise SpecificationError("n must be at least 1, the number of rows of the fit to come")
    check_budget(budget, rows)
    response = design.response.text if design.response.text in design.schema else None
    known = read_known(covariates, design, response)
    spread = known.spreads.get(response or "")
    asked = read_asked(coef, scale, events, inspections, watches, spread, design.names)
    setting = Setting(without_rows(model), known, asked)
    return _planned(setting, budget, rows)


def _planned(setting: Setting, budget: Budget, n: int) -> FitPlan:
    trial = setting.trial()
    found = trial.run(budget, n)
    band: tuple[Array, ...] = ()
    if any(one.assumed for one in setting.known.spreads.values()):
        same = trial.run(budget, n, quick=True).half_width
        others = [replace(setting, known=setting.known.stretched(f)).trial() for f in (_BAND, 1 / _BAND)]
        with np.errstate(all="ignore"):
            band = tuple(
                found.half_width * other.run(budget, n, quick=True).half_width / same for other in others
            )
    return FitPlan(setting, budget, n, trial, found, band)
