"""Private parametric regression for right-, interval- and left-censored time to failure."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._arguments import near, number, shown
from dpstats._codes import PUBLISHED
from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.functional import fit_functional
from dpstats.estimators.location_scale import (
    ScaleGroups,
    SurvivalEstimate,
    SurvivalProblem,
    after_columns,
    fit_location_scale,
    make_plan,
    make_pure_plan,
)
from dpstats.estimators.location_scale.problem import told_alike
from dpstats.estimators.published.functional import as_published, fit_quadratic
from dpstats.estimators.row_scale import Box
from dpstats.families import DISTS, Dist
from dpstats.formula import (
    Design,
    IntervalResponse,
    NumericResponse,
    Scales,
    SurvResponse,
    build_design,
    scales_of,
    told_apart,
)
from dpstats.ledger import Ledger
from dpstats.models.loglik import (
    DIST_SHARE,
    LOGLIK,
    NAME,
    SHARE,
    check_release,
    contest,
    contest_costs,
    cost,
    log_likelihood,
)
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    NEWTON_METHOD,
    NOTED,
    PURE_TIMES,
    TIMES,
    Plannable,
    about_middles,
    check_budget,
    check_compat,
    check_complete,
    check_named,
    check_offset,
    check_worth,
    costs_of_middles,
    found_middles,
    of_formula,
    pay,
    publish,
    rows_of,
    share_of_middles,
)
from dpstats.results import SurvivalFit
from dpstats.results.record import INSPECTIONS, MOVED, scale_names
from dpstats.schema import Schema

PURE_METHOD = "noisy Newton (pure epsilon)"
COLUMNS = "columns"
RELEASED = (COLUMNS, "event matrix", "score", "information", "check of the law", "check of the line")
PURE_RELEASED = (*RELEASED[:3], "sizes of the information", *RELEASED[4:])
# How failures share what the columns leave, these decide.
PURE_LATER = ", ".join(PURE_RELEASED[1:])
SIGNS_METHOD = "signs of residuals (Gaussian)"
SIGNS_RELEASED = (
    COLUMNS,
    "event matrix",
    "signs of residuals",
    "score and information of intercept and log sigma",
    "check of the law",
    "check of the line",
)
# The columns decide which of the two routes a fit takes; a ledger, charged before, names both.
ROUTES = f"{NEWTON_METHOD} or {SIGNS_METHOD}"
DIST = "dist"
SHARES = {NAME: SHARE, DIST: DIST_SHARE}
"""Of mu^2, of what a user may ask for besides."""
LATER = f"{', '.join(RELEASED[1:])}; or {', '.join(SIGNS_RELEASED[1:])}"
FUNCTIONAL_METHOD = "functional mechanism (pure epsilon)"
PAPER_METHOD, WEIGHTS = "functional mechanism, as published", "weights of a quadratic likelihood"
# of failures between two times, for which there is one route
INSPECTED = (COLUMNS, "event matrix", INSPECTIONS, *RELEASED[2:])


@forgetting
def survreg(
    formula: str,
    data: Any,
    schema: Schema,
    dist: str = "weibull",
    subset: str | None = None,
    scale: float | None = None,
    weights: str | None = None,
) -> "Survreg":
    """Describe a location-scale regression of a censored time, as R's survreg does.

    Parameters
    ----------
    formula : str
        Such as ``"Surv(time, failed) ~ temp + maker"``; ``"Surv(time) ~ temp"`` if every row is a failure, or
        ``"Surv(entry, time, failed) ~ temp"`` where units are watched from a later time on (left truncation).
        Failures that inspections found are ``"Surv(lower, upper, type='interval2') ~ temp"``, and those that
        had happened before ``"Surv(time, failed, type='left') ~ temp"``; see docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file. None where
        the model is only planned (:func:`dpstats.plan`).
    schema : Schema
        What is public about each variable.
    dist : {"weibull", "exponential", "loglogistic", "lognormal", "sev", "logistic", "gaussian"}
        The distribution of the time, in whatever case. The last three are the distributions of the
        logarithms of the others.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).
    scale : float, optional
        Sigma, where it is known, as R's survreg has it: 1 / shape of a Weibull, whose fit engineers then call
        Weibayes. It is that of log time, or of the response where the distribution is not of a logarithm.
        No budget goes to it. Default: it is estimated; that of the exponential is 1.
    weights : str, optional
        How many units a row stands for, which are watched alike and leave at the same time: an expression
        such as ``"units"`` with bounds from 0 to a public maximum, R's case weights. One row is what is
        protected, whatever it weighs, so that noise grows with the maximum.

    Returns
    -------
    Survreg
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, dist, scale or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> model = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema, dist="weibull")
    >>> fit = model.fit(dps.approx(epsilon=3, delta=1e-6))
    >>> list(fit.params.index)
    ['Intercept', 'temp', 'Log(scale)']
    >>> known = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema, scale=1.2)
    >>> float(known.fit(dps.approx(epsilon=3, delta=1e-6)).bse["Log(scale)"])
    0.0

    References
    ----------
    Nelson, W. (1985). Weibull analysis of reliability data with few or no failures. Journal of Quality
    Technology 17, 140-146: a known shape.
    """
    return Survreg(formula, data, schema, dist, subset, scale, weights)


@forgetful
class Survreg(Plannable):
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    dist : str
    scale : float or None
        Sigma, if it is known.
    """

    def __init__(  # noqa: PLR0913 - those of the function that makes it
        self,
        formula: str,
        data: Any,
        schema: Schema,
        dist: str,
        subset: str | None = None,
        scale: float | None = None,
        weights: str | None = None,
    ) -> None:
        law = dist_named(dist)
        check_complete(f"dist={law.name!r}", law.family)
        self.dist, self.scale = law.name, _known(scale, law)
        self.design: Design = build_design(formula, schema, weights, subset, scales=True)
        _check(self.design, law)
        check_offset(self.design, law.log)
        self._scales = _scales(self.design, self.scale)
        self._rows = rows_of(data, self.design)

    @reusable(SurvivalFit)
    def fit(  # noqa: PLR0913 - what a fit may be asked for; public
        self,
        budget: Budget,
        method: str = "auto",
        *,
        ledger: Ledger | str | Path | None = None,
        compat: str | None = None,
        release: Sequence[str] = (),
        force: bool = False,
        reuse: bool | str = False,
    ) -> SurvivalFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)``, ``approx(epsilon, delta)`` or ``pure(epsilon)``; "functional" needs
            the last. It is spent whatever comes out.
        method : {"auto", "newton", "functional"}
            Noisy Newton on bounded martingale scores ("auto" is the same), or the functional mechanism, for
            times of which none is censored: ``Surv(time)`` (docs/published.md).
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        compat : {None, "paper"}
            With method "functional", noise and estimate as published, for reproduction only.
        release : sequence of str
            ``"loglik"`` spends a tenth of the budget (of mu^2) on the log-likelihood, for ``fit.llf`` and
            ``fit.aic``, both with the size of their noise. ``"dist"`` spends a fifth of it on which
            distribution the data prefer, for ``fit.compare_dists()``
            (docs/survreg.md#which-distribution). Ask for one or both.
        force : bool
            Fit even where rows and budget are so few that hardly a coefficient would be estimable, which
            is refused otherwise (docs/planning.md).
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        SurvivalFit

        Raises
        ------
        BudgetError
            If the budget is of a kind that this method cannot use, exceeds what the ledger has left, or is
            too small for any coefficient to be estimable. Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> drives = dps.datasets.load("hdfail")
        >>> model = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema)
        >>> fit = model.fit(dps.zcdp(0.5), release=["loglik"])  # a tenth of mu^2 for the log-likelihood
        >>> fit.nobs
        52422
        """
        check_named(method, ("auto", "newton", "functional"))
        check_compat(compat, method, "functional")
        check_budget(budget, self._rows.n)
        asked = check_release(release, *self._has_log_likelihood(budget, method), known=(NAME, DIST))
        if self._scales:
            _check_strata(self.design, budget, method, asked)
            return self._fit_strata(self._scales, budget, ledger, force)
        curator = Curator(self._rows, self.design, budget)
        if method == "functional":
            _check_functional(self.design, self.scale, budget)
            return self._fit_functional(curator, budget, ledger, compat)
        if budget.pure:
            return self._fit_pure(curator, budget, ledger, force)
        return self._fit_gaussian(curator, budget, ledger, force, asked)

    def _fit_pure(
        self, curator: Curator, budget: Budget, ledger: Ledger | str | Path | None, force: bool
    ) -> SurvivalFit:
        """Under pure epsilon."""
        _check_pure(self.design)
        k, first = len(self.design.names), costs_of_middles(self.design, budget)
        check_worth(curator, budget, k + (self.scale is None), PURE_TIMES, force)
        plan = make_pure_plan(budget.epsilon, curator.n, k).after(share_of_middles(self.design))
        costs = {**first, COLUMNS: plan.cost("columns"), PURE_LATER: after_columns(plan)}
        facts = pay(curator, self.design, budget, ledger, PURE_METHOD, costs, self._named)
        curator, design = about_middles(curator, self.design, budget)
        result = fit_location_scale(curator, self._problem(design), plan)
        return self._publish(facts, of_formula(result, design), (*first, *PURE_RELEASED))

    def _fit_gaussian(
        self,
        curator: Curator,
        budget: Budget,
        ledger: Ledger | str | Path | None,
        force: bool,
        asked: frozenset[str],
    ) -> SurvivalFit:
        """By Newton's steps or, where rows leave no line, by signs; with what is `asked` for besides."""
        k, first = len(self.design.names) + (self.scale is None), costs_of_middles(self.design, budget)
        check_worth(curator, budget, k, TIMES, force)
        more = {LOGLIK: cost(budget.mu)} if NAME in asked else {}
        more |= contest_costs(budget.mu) if DIST in asked else {}
        before = sum(SHARES[name] for name in asked) + share_of_middles(self.design)
        inspected, signal = self.design.intervals, _signal(curator, self.design, budget.mu)
        plan = make_plan(budget.mu, intervals=inspected, signal=signal).after(before)
        newton: tuple[str, ...] = INSPECTED if inspected else RELEASED
        routes, later = (NEWTON_METHOD, ", ".join(INSPECTED[1:])) if inspected else (ROUTES, LATER)
        costs = {**first, COLUMNS: plan.cost("columns"), later: after_columns(plan), **more}
        facts = pay(curator, self.design, budget, ledger, routes, costs, self._named)
        curator, design = about_middles(curator, self.design, budget)
        result = fit_location_scale(curator, self._problem(design), plan)
        # by signs the line is asked about where columns are skewed
        by_signs = SIGNS_RELEASED if result.looked else SIGNS_RELEASED[:-1]
        facts["method"], released = (SIGNS_METHOD, by_signs) if result.by_signs else (NEWTON_METHOD, newton)
        asked_for = self._asked_for(curator, design, budget.mu, result.params, asked)
        asked_for |= {} if result.by_signs else {"noted": NOTED}  # signs take what they do not see for seen
        return self._publish(facts, of_formula(result, design), (*first, *released, *more), **asked_for)

    def _fit_strata(
        self, scales: Scales, budget: Budget, ledger: Ledger | str | Path | None, force: bool
    ) -> SurvivalFit:
        """With a sigma for each stratum."""
        curator, first = Curator(self._rows, scales.design, budget), costs_of_middles(self.design, budget)
        check_worth(curator, budget, len(scales.design.names) + len(scales.inside), TIMES, force)
        plan = make_plan(budget.mu, signal=_signal(curator, scales.design, budget.mu)).after(
            share_of_middles(self.design)
        )
        costs = {COLUMNS: plan.cost("columns"), ", ".join(RELEASED[1:]): after_columns(plan)}
        facts = pay(curator, self.design, budget, ledger, NEWTON_METHOD, first | costs, self._named)
        middles = found_middles(curator, self.design, budget) if first else {}
        moved, wide = self.design.about(middles), scales.design.about(middles)
        problem = replace(self._problem(wide), strata=_strata(scales, moved, wide))
        result = fit_location_scale(curator.reading(wide), problem, plan)
        return self._publish(facts, of_formula(result, moved), (*first, *RELEASED), noted=NOTED)

    def _fit_functional(
        self, curator: Curator, budget: Budget, ledger: Ledger | str | Path | None, compat: str | None
    ) -> SurvivalFit:
        """Pay, release once and publish: uncensored times under pure epsilon."""
        design, dist, box = self.design, DISTS[self.dist], self._problem(self.design).box
        how = PAPER_METHOD if compat else FUNCTIONAL_METHOD
        facts = pay(curator, design, budget, ledger, how, {WEIGHTS: budget.epsilon}, self._named)
        fitted = fit_quadratic if compat else fit_functional
        found = fitted(curator, box, dist.log, dist.family, budget.epsilon)
        return publish(
            SurvivalFit,
            facts,
            design,
            found.saying(*[PUBLISHED] * bool(compat)),
            (WEIGHTS,),
            names=(*design.names, *scale_names(())),
            model="survreg",
            dist=dist.name,
            settings=_settings(None if compat else as_published(found, box, dist.family)),
        )

    def _problem(self, design: Design) -> SurvivalProblem:
        """Public facts in the estimator's terms; the intercept is its own."""
        dist, times, offset = DISTS[self.dist], np.asarray(_times(design).time_bounds), design.offset_bounds
        response = (np.log(times) if dist.log else times) - offset[::-1]  # what rows give: y - offset
        lower, upper = np.vstack([design.bounds[1:], response]).T
        return SurvivalProblem(
            dist.family,
            dist.log,
            Box(
                lower,
                upper,
                binary=design.binary[1:],
                levels=design.levels[:, 1:],
                alike=told_alike(design.alike),
                likely=np.vstack([design.likely[1:], response]),
                slopes_within=design.slopes_within,
            ),
            design.delayed,
            design.own[1:],
            self.scale,
            design.intervals,
            design.max_weight,
        )

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"dist": self.dist, **({} if self.scale is None else {"scale": self.scale})}

    def _has_log_likelihood(self, budget: Budget, method: str) -> tuple[bool, str, str]:
        """Whether there is a bounded one; without one what to call the fit, and what else may help."""
        if method == "functional":
            return False, "survreg by the functional mechanism", ""
        if budget.pure:
            return False, "survreg under pure epsilon", ""
        if self.design.weights is not None:
            return False, "survreg with weights", ""
        entry = _times(self.design).entry
        if entry is None:
            return True, "", ""
        text = f"subset={f'{entry.text} <= 0'!r}"
        way_out = f", or fit units that are watched from new alone, by {text} and Surv without its entry"
        return False, "survreg with late entries", way_out

    def _asked_for(
        self, curator: Curator, design: Design, mu: float, params: np.ndarray, asked: frozenset[str]
    ) -> dict[str, Any]:
        """Fields of the record for what was asked for besides, of coefficients of a design."""
        dist, found = DISTS[self.dist], dict[str, Any]()
        if NAME in asked:
            line, log_sigma = params[:-1], float(params[-1])
            found["loglik"] = log_likelihood(curator, mu, line, dist.family, log_sigma, dist.log)
        if DIST in asked:
            found["rivals"] = contest(curator, mu, design, dist, params, self.scale is not None)
        return found

    @property
    def _named(self) -> str:
        """What a ledger is told that a fit is of."""
        return f"survreg {self.dist}"

    def _publish(
        self, facts: dict[str, Any], result: SurvivalEstimate, released: tuple[str, ...], **more: Any
    ) -> SurvivalFit:
        entry = _times(self.design).entry
        names = (*self.design.names, *scale_names(self.design.strata_labels))
        settings = result.settings if entry is None else {**result.settings, "entry": entry.text}
        more |= {"nevents": result.events, "law": result.law, "model": "survreg", "dist": self.dist}
        return publish(SurvivalFit, facts, self.design, result, released, names, settings=settings, **more)

    @always_shown
    def __repr__(self) -> str:
        known = "" if self.scale is None else f", scale = {self.scale:g}"
        return f"survreg, dist = {self.dist!r}{known}: {self.design!r}"


def dist_named(given: object) -> Dist:
    """A distribution of a time by its name, in whatever case.

    Raises
    ------
    SpecificationError
    """
    if not isinstance(given, str) or given.lower() not in DISTS:
        name = given.lower() if isinstance(given, str) else ""
        said = [each.remark or f"it is {each.name!r} here" for each in DISTS.values() if name in each.aka]
        meant = f"; {said[0]}" if said else near(name, DISTS)
        raise SpecificationError(f"dist must be one of {', '.join(DISTS)}, got {shown(given)}{meant}")
    return DISTS[given.lower()]


def _signal(curator: Curator, design: Design, mu: float) -> float:
    """n mu, of a unit's rows, over the root of how many columns are numbers."""
    return curator.n * curator.cost_per_row(mu) / math.sqrt(max(float(np.sum(~design.binary[1:])), 1e-9))


def _check(design: Design, dist: Dist) -> None:
    told_apart(design)
    response = _times(design)
    if not design.has_intercept:
        raise FormulaError("survreg always fits an intercept; take '- 1' or '+ 0' out of the formula")
    lower, entered = response.time_bounds[0], response.entry_bounds
    if dist.log and not lower > 0:
        if entered is not None and entered[0] > 0:
            raise FormulaError(
                f"{response.text} has a time that may be {lower:g} by its public bounds and an entry that is "
                f"{entered[0]:g} or more: the entry comes first, Surv(entry, time, event)"
            )
        raise FormulaError(
            f"dist={dist.name!r} needs times above 0, but {response.text} may be {lower:g} by its public "
            "bounds; declare the shortest time that is told apart, for example bounded(1, ...)"
            + (
                ", with which a lower end of 0 in the data says that the failure came before the upper end"
                if design.intervals
                else ", write a difference as np.maximum(t - start, 1), and add one half to whole months in "
                "service, which begin at 0"
            )
            + "; give times, not their logarithms"
        )


def _check_pure(design: Design) -> None:
    entry = _times(design).entry
    if design.intervals:
        raise BudgetError(
            "survreg has no method of pure epsilon for failures that are known between two times alone; give "
            "approx, zcdp or gdp"
        )
    if entry is not None:
        raise BudgetError(
            f"survreg has no method of pure epsilon for units that are watched from {entry.text!r} on; give "
            "approx, zcdp or gdp"
        )


def _known(scale: float | None, dist: Dist) -> float | None:
    """Sigma, where it is known."""
    if scale is None:
        return dist.scale
    if isinstance(scale, bool) or not 0 < (value := number("scale", scale)) < math.inf:
        raise SpecificationError(
            f"scale is sigma where it is known, a positive number, got {shown(scale)}; without it, sigma is "
            "estimated"
        )
    if dist.scale not in (None, value):
        raise SpecificationError(
            f"dist={dist.name!r} has a scale of {dist.scale:g}, got scale={value:g}; dist='weibull' takes any"
        )
    return value


def _scales(design: Design, scale: float | None) -> Scales | None:
    """The columns of a fit with a sigma for each stratum, if the formula has strata."""
    if design.strata == 1:
        return None
    if scale is not None:
        raise SpecificationError(
            "strata() in the formula estimate a scale for each level, and this model knows its scale; take "
            "strata() out, or scale= (the exponential has one of 1: take dist='weibull')"
        )
    if design.intervals:
        raise FormulaError(
            "survreg estimates one scale for all rows where failures are known between two times alone; take "
            "strata() out, or fit each level with subset=\"g == 'a'\""
        )
    return scales_of(design)


def _check_strata(design: Design, budget: Budget, method: str, asked: frozenset[str]) -> None:
    remedy = f"; take {' + '.join(design.strata_terms)} as terms of one scale, or fit each level with subset="
    if method == "functional":
        raise SpecificationError("method='functional' estimates one scale for all strata" + remedy)
    if budget.pure:
        raise BudgetError(
            "survreg estimates the scales of strata() with Gaussian noise, which has no pure epsilon; give "
            "approx, zcdp or gdp" + remedy
        )
    if asked:
        raise SpecificationError(
            f"release={sorted(asked)} is of fits with one scale for all rows; leave it out" + remedy
        )


def _check_functional(design: Design, scale: float | None, budget: Budget) -> None:
    """Refuse what the method knows nothing of, before anything is spent."""
    if scale is not None:
        raise SpecificationError(
            "method='functional' estimates the scale, and this model knows it; take the default method"
        )
    if design.weights is not None:
        raise SpecificationError("method='functional' takes no weights; take the default method")
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


def _settings(published: np.ndarray | None) -> dict[str, str | float]:
    """What the record says of a fit, beside the paper's estimate unless this is it."""
    if published is None:
        return {"line": "as published", **MOVED}
    intercept, sigma = float(published[0]), math.exp(published[-1])
    return {"line": "least squares", **MOVED, "published sigma": sigma, "published intercept": intercept}


def _strata(scales: Scales, moved: Design, wide: Design) -> ScaleGroups:
    """Strata in columns about middles, of the formula and of the design with their levels."""
    inside = np.linalg.solve(wide.way, scales.inside.T).T
    return ScaleGroups(inside, np.linalg.solve(wide.way, scales.tied @ moved.way))


def _times(design: Design) -> SurvResponse | IntervalResponse:
    if isinstance(design.response, NumericResponse):
        raise FormulaError(
            "survreg needs Surv(time, event) left of ~, for example 'Surv(time, failed) ~ temp', or "
            "Surv(time) if every row is a failure. For a number take dps.ols, for a yes or no dps.logit; "
            "on the command line --model ols or --model logit"
        )
    return design.response
