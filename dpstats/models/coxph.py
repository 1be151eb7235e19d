"""Private regression of hazards without a distribution of the time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.exit_times import public_times
from dpstats.estimators.hazards import Problem, fit_hazards, make_plan
from dpstats.estimators.row_scale import Box
from dpstats.formula import Design, SurvResponse, build_design, told_apart
from dpstats.ledger import Ledger
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    HAZARDS,
    NEWTON_METHOD,
    Plannable,
    about_middles,
    check_budget,
    check_offset,
    check_worth,
    costs_of_middles,
    of_formula,
    pay,
    publish,
    rows_of,
    share_of_middles,
    times_within,
)
from dpstats.results import HazardFit
from dpstats.schema import Schema

EVEN = 25  # steps of the baseline, beside those of the logarithm
# of a stratum's length: times that are closer, with strata, are one time in floats
_FLOATS = 2.0**-40


@forgetting
def coxph(
    formula: str,
    data: Any,
    schema: Schema,
    times: Sequence[float] | None = None,
    subset: str | None = None,
) -> "Coxph":
    """Describe a regression of hazards, as R's coxph does: no distribution of the time is assumed.

    Parameters
    ----------
    formula : str
        Such as ``"Surv(time, failed) ~ temp + maker"``, or ``"Surv(entry, time, failed) ~ temp"`` where units
        are watched from a later time on. The baseline hazard stands in the place of the intercept. With
        ``strata(maker)`` each level has a baseline of its own, and all share the coefficients.
    data
        The same as in :func:`dpstats.survreg`.
    schema : Schema
        What is public about each variable.
    times : sequence of float, optional
        Where the baseline hazard may change, within the bounds of the time. They are public: choose them
        without looking at the data. The fit takes as many of them as the budget lets it. Default: 25 even
        steps between the bounds, 36 of the logarithm, over six decades at most, and two a decade over the
        twelve below; with ``strata()`` over twelve in all.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).

    Returns
    -------
    Coxph
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, times or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> fit = dps.coxph("Surv(time, status) ~ temp", drives.data, drives.schema).fit(dps.zcdp(0.5))
    >>> fit.hazard_ratios().frame["term"].tolist()
    ['temp']

    References
    ----------
    Cox, D. R. (1972). Regression models and life-tables. Journal of the Royal Statistical Society B 34,
    187-202. Friedman, M. (1982). Piecewise exponential models for survival data with covariates. Annals of
    Statistics 10, 101-113.
    """
    return Coxph(build_design(formula, schema, subset=subset, baseline=True), data, times)


@forgetful
class Coxph(Plannable):
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    times : array, shape (F,)
        Where the baseline hazard may change; the last is the upper bound of the time.
    """

    def __init__(self, design: Design, data: Any, times: Sequence[float] | None) -> None:
        self.design = told_apart(design)
        low, high = _response(design).time_bounds
        check_offset(design)
        inner = public_times(low, high, EVEN) if times is None else times_within(times, low, high)
        # with both bounds: shorter times are moved to the lower, where all are at risk
        self.times = _told_apart(np.unique([low, *inner, high]), design, times is not None)
        self._rows = rows_of(data, design)

    @reusable(HazardFit)
    def fit(
        self,
        budget: Budget,
        *,
        ledger: Ledger | str | Path | None = None,
        force: bool = False,
        reuse: bool | str = False,
    ) -> HazardFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``. It is spent whatever comes out.
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        force : bool
            Fit even where rows and budget are so few that hardly a coefficient would be estimable, which
            is refused otherwise (docs/planning.md).
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        HazardFit

        Raises
        ------
        BudgetError
            If the budget is of pure epsilon, exceeds what the ledger has left, or is too small for any
            coefficient to be estimable. Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> drives = dps.datasets.load("hdfail")
        >>> model = dps.coxph("Surv(time, status) ~ temp + rsc", drives.data, drives.schema)
        >>> model.fit(dps.approx(epsilon=2, delta=1e-6)).nobs
        52422
        """
        check_budget(budget, self._rows.n)
        if budget.pure:
            raise BudgetError(
                "coxph adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx, or fit "
                "survreg, whose Weibull law has proportional hazards and a method of pure epsilon"
            )
        curator = Curator(self._rows, self.design, budget)
        check_worth(curator, budget, len(self.design.names), HAZARDS, force)
        plan = make_plan(budget.mu, delayed=_response(self.design).delayed).after(
            share_of_middles(self.design)
        )
        costs = costs_of_middles(self.design, budget) | plan.costs
        facts = pay(curator, self.design, budget, ledger, NEWTON_METHOD, costs, "coxph")
        curator, design = about_middles(curator, self.design, budget)
        result = of_formula(fit_hazards(curator, _problem(design, self.times), plan), design)
        entry = _response(self.design).entry
        return publish(
            HazardFit,
            facts,
            self.design,
            result,
            costs,
            model="coxph",
            dist="piecewise constant",
            settings=result.settings if entry is None else {**result.settings, "entry": entry.text},
            nevents=result.events,
            baseline=result.baseline,
            trend=result.trend,
        )

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"model": "coxph", "times": self.times.tolist()}

    @always_shown
    def __repr__(self) -> str:
        return f"coxph, baseline hazard at {len(self.times)} times: {self.design!r}"


def _response(design: Design) -> SurvResponse:
    response = design.response
    if design.intervals:
        raise FormulaError(
            f"coxph needs the times of failures, and {response.text} may say only between which times they "
            "are; fit survreg, or write Surv(time, event) if the times are known"
        )
    if not isinstance(response, SurvResponse):
        raise FormulaError(
            "coxph needs Surv(time, event) left of ~, for example 'Surv(time, failed) ~ temp', or Surv(time) "
            "if every row is a failure"
        )
    return response


def _told_apart(grid: np.ndarray, design: Design, given: bool) -> np.ndarray:
    """The times that floats tell apart on the axis that strata share; given ones must all be.

    Raises
    ------
    SpecificationError
    """
    if design.strata == 1:
        return grid
    start, high = _response(design).start, grid[-1]
    least = _FLOATS * design.strata * (high - start)
    near = np.diff(grid, prepend=start) <= least
    if given and near.any():
        raise SpecificationError(
            f"times must be further apart than {least:.2g}, and than that from the beginning of a "
            f"stratum: {design.strata} strata share one axis of time"
        )
    return np.append(grid[~near][:-1], high)


def _problem(design: Design, times: np.ndarray) -> Problem:
    """Public facts in the estimator's terms."""
    response = _response(design)
    edges = design.edges(response.start, times)
    ends = (response.time_bounds[0], edges[-1])
    lower, upper = np.vstack([design.bounds, ends]).T
    likely = np.vstack([design.likely, ends])
    box = Box(
        lower,
        upper,
        binary=design.binary,
        norms=design.norms,
        levels=design.levels,
        alike=design.alike,
        likely=likely,
        slopes_within=design.slopes_within,
    )
    return Problem(box, edges, design.strata, response.delayed)
