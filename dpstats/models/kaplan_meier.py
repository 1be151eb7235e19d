"""Private survival curves without a model."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget, measure
from dpstats.curator import Curator
from dpstats.errors import FormulaError
from dpstats.estimators.exit_times import ExitLook
from dpstats.formula import Design, SurvResponse, build_design, unit_of
from dpstats.ledger import Ledger
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    Unfitted,
    check_budget,
    check_enough,
    pay,
    times_within,
    warn_of_forgotten_event,
)
from dpstats.moments.interval_counts import FEWEST, how_many
from dpstats.results import CurveFit
from dpstats.rows import open_rows
from dpstats.schema import Flag, Levels, Schema

# of the budget, for the first look by which times are chosen: of mu squared, or of pure epsilon
LOOK = 0.1


@forgetting
def kaplan_meier(
    formula: str,
    data: Any,
    schema: Schema,
    times: Sequence[float] | None = None,
    subset: str | None = None,
    weights: str | None = None,
) -> "KaplanMeier":
    """Describe Kaplan-Meier curves at public times, as R's survfit does.

    Parameters
    ----------
    formula : str
        ``"Surv(time, failed) ~ 1"``, or ``"Surv(time, failed) ~ maker"`` for a curve of each level of a
        factor, or of each code of a flag.
    data
        The same as in :func:`dpstats.survreg`.
    schema : Schema
    times : sequence of float, optional
        Where the curve is wanted, in the unit of the time. They are public: choose them without looking at
        the data. Rows are counted at these times and, as hazards change between them, at up to 40 others
        until the last, between which about as many rows leave as far as noise lets it be told, and which are
        even where it does not: a first look at these costs a tenth of the budget. Limits at other times are
        wider: name all that you will ask for. More of them cost precision, and few rows cannot pay for
        many. Where many rows are censored at once there should be one. Default: those found alone.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).
    weights : str, optional
        How many units a row stands for, an expression such as ``"units"`` with bounds from 0 to a public
        maximum: R's case weights. One row is what is protected, whatever it weighs, so that noise grows with
        the maximum.

    Returns
    -------
    KaplanMeier
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, times, weights or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> model = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema, times=[500, 1000])
    >>> curve = model.fit(dps.zcdp(0.5))
    >>> curve.table()["time"].tolist()
    [500.0, 1000.0]
    """
    return KaplanMeier(build_design(formula, schema, weights, subset), data, times)


@forgetful
class KaplanMeier(Unfitted):
    """Curves that have not been released.

    Attributes
    ----------
    design : Design
    times : array, shape (J,), or None
        None where they are to be found.
    groups : tuple of str
    """

    def __init__(self, design: Design, data: Any, times: Sequence[float] | None) -> None:
        self.design = design
        self.groups = _groups(self.design)
        self.times = None if times is None else times_within(times, *design.time_bounds)
        warn_of_forgotten_event(design)
        self._rows = open_rows(data, design.schema, design.variables)

    @reusable(CurveFit)
    def fit(
        self,
        budget: Budget,
        *,
        ledger: Ledger | str | Path | None = None,
        force: bool = False,
        reuse: bool | str = False,
    ) -> CurveFit:
        """Spend a budget on the counts of exits.

        Parameters
        ----------
        budget : Budget
            A budget of any kind. It is spent whatever comes out.
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        force : bool
            Spend the budget even where noise would hide groups of equal size that nobody has left.
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        CurveFit

        Raises
        ------
        BudgetError
            If it buys too little for so few rows, or exceeds what the ledger has left. Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> drives = dps.datasets.load("hdfail")
        >>> curve = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema).fit(dps.pure(1))
        >>> curve.groups
        ('',)
        """
        check_budget(budget, self._rows.n)
        pure = budget.pure
        method = f"noisy counts of exits ({'pure epsilon' if pure else 'Gaussian'})"
        curator = Curator(self._rows, self.design, budget)
        shares = {"times": LOOK, "exit counts": 1 - LOOK}
        costs = {
            name: measure(budget) * (share if pure else math.sqrt(share)) for name, share in shares.items()
        }
        sd = self._noise(curator, budget, costs["exit counts"], force)
        facts = pay(curator, self.design, budget, ledger, method, costs, "kaplan_meier")
        times = self._found(curator, costs, sd)
        release = curator.release("exit_counts", costs["exit counts"], edges=times, groups=len(self.groups))
        most = self.design.max_weight
        return CurveFit(
            times=times,
            named=self.times,
            groups=self.groups,
            counts=most * release.values[0],
            sds=most * release.sds[0],
            weights=self.design.weights,
            time_unit=unit_of(self.design.response.measured, self.design.schema),
            **facts,
        )

    def _noise(self, curator: Curator, budget: Budget, cost: float, force: bool) -> float:
        """Return the sd of the noise of a count.

        Raises
        ------
        BudgetError
            Of groups of equal size that could not be told at their first time if nobody had left by then: of
            3 J counts of J times all but two are of rows at risk after the first.
        """
        groups, named = len(self.groups), [self.design.time_bounds[1]] if self.times is None else self.times
        _, (sds,) = curator.noise("exit_counts", cost, edges=named, groups=groups)
        sd = float(sds.max())
        times = how_many(curator.n / groups, sd) if self.times is None else len(self.times)
        rows = groups * FEWEST * sd * math.sqrt(3 * times - 2)
        what = f"{groups} curve{'s' * (groups > 1)} of {times} time{'s' * (times > 1)}"
        check_enough(curator, budget, rows * measure(budget), what, force)
        return sd

    def _found(self, curator: Curator, costs: Mapping[str, float], sd: float) -> np.ndarray:
        """Times that were named and those between them, or all, by a first look."""
        groups, (low, high) = len(self.groups), self.design.time_bounds
        named = np.array([high]) if self.times is None else self.times
        look = ExitLook.of(curator, costs["times"], groups, low, float(named[-1]))
        if self.times is None:
            return look.times(named, [how_many(look.rows / groups, sd)])
        return look.times(named, look.parts(named, groups, sd))

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"times": None if self.times is None else self.times.tolist()}

    @always_shown
    def __repr__(self) -> str:
        at = "times to be found" if self.times is None else f"{len(self.times)} times"
        return f"kaplan_meier at {at}: {self.design!r}"


def _groups(design: Design) -> tuple[str, ...]:
    if design.intervals:
        raise FormulaError(
            f"kaplan_meier counts failures at the times when they happen, and {design.response.text} may say "
            "only between which times; fit survreg, whose plot_life() and predict() show the curves, or "
            "write Surv(time, event) if the times are known"
        )
    if not isinstance(design.response, SurvResponse):
        raise FormulaError("kaplan_meier needs Surv(time, event) left of ~, such as 'Surv(t, failed) ~ 1'")
    if design.delayed:
        raise FormulaError(
            f"kaplan_meier counts exits only and cannot use the entry of {design.response.text}: survivors "
            "would make life look long. Leave the entry out if all are watched from the start, or fit survreg"
        )
    if design.names == ("Intercept",) and design.offset is None:
        return ("",)
    for name in design.covariates:
        variable = design.schema[name]
        levels = variable.all[1:] if isinstance(variable, Levels) else (None,)
        if design.alone == (None, *((name, level) for level in levels)) and design.offset is None:
            if isinstance(variable, Levels):
                return tuple(variable.all)
            if isinstance(variable, Flag):
                return tuple(f"{name} = {code}" for code in (variable.false, variable.true))
    raise FormulaError(
        "kaplan_meier takes '~ 1' or '~ factor', of one variable declared by levels() or flag(), and not "
        f"'~ {design.formula.partition('~')[2].strip()}'; for groups by numbers or by several variables add "
        "a column to the data that names the group, and declare it by levels()"
    )
