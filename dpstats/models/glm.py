"""Private logistic regression and generalised linear models, and which options go with which family."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._arguments import among, folded, near, number, shown
from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget, as_budget
from dpstats.contributors import Plan as ContributionPlan
from dpstats.curator import Curator
from dpstats.errors import FormulaError, SpecificationError
from dpstats.estimators.engine.plan import Plan, left
from dpstats.estimators.newton import MANY, GlmEstimate, Problem, count_steps, fit_newton, make_plan
from dpstats.estimators.pmt import fit_pmt_glm, glm_costs
from dpstats.estimators.published.truncated import PUBLISHED, fit_truncated_glm, truncated_glm_costs
from dpstats.families import FAMILIES, IDENTITY, LOGISTIC_LOSS
from dpstats.families.glm import (
    BINOMIAL,
    EXCESSES,
    GAUSSIAN,
    NEGATIVE_BINOMIAL_NAME,
    GlmFamily,
    negative_binomial,
)
from dpstats.formula import Design, NumericResponse, build_design, told_apart, with_exposure
from dpstats.ledger import Ledger
from dpstats.models.contributed import fit_logistic
from dpstats.models.linear import LinearModel, ols
from dpstats.models.loglik import LOGLIK, SHARE, check_release, cost, log_likelihood
from dpstats.models.public import as_columns, check_apart, stated
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    NEWTON_METHOD,
    NOTED,
    PMT_METHOD,
    PURE_YES_NO,
    SCORES,
    YES_NO,
    Plannable,
    about_middles,
    check_budget,
    check_complete,
    check_gaussian,
    check_method,
    check_offset,
    check_worth,
    costs_of_middles,
    of_formula,
    pay,
    publish,
    rows_of,
    share_of_middles,
)
from dpstats.models.svm import METHODS, fit_debiased_logit, fit_margin, said
from dpstats.moments import Quantity
from dpstats.results import GlmFit
from dpstats.schema import Count, Event, Flag, Schema

_STATSMODELS = "statsmodels.genmod.families"
_WITH_EXCESS = re.compile(r"(.*\w)\s*\(\s*(?:(alpha|theta|size)\s*=\s*)?([0-9.e+-]+)\s*\)")
_WITH_LINK = re.compile(r"(\w+)\s*\(\s*(?:link\s*=\s*)?['\"]?(\w+)['\"]?\s*\)")
_OTHERS = {
    "inversegaussian": "; inverse Gaussian is none of them: 'gamma' is of positive amounts as well, and its "
    "standard errors do not rest on its law",
    "tweedie": "; Tweedie is none of them: 'gamma' takes amounts of which many are 0, too, and its standard "
    "errors do not rest on its law",
}
_NEGATIVE_BINOMIAL = re.compile(r"neg(ative)?[ _.]?bin(om)?(ial)?|n[ _.]?b(2|inom)?|(glm[ _.])?nb")


def family_named(given: object, link: object = None) -> GlmFamily:
    """A family by its name, in whatever case and with its link or without, or by that of statsmodels.

    A negative binomial one may say its alpha, or R's theta, which is 1 / alpha; else a fit finds it.

    Raises
    ------
    SpecificationError
        If there is no such family, or it has not this link.
    """
    alpha = _excess(given)
    kind, own = _read(given if alpha is None else NEGATIVE_BINOMIAL_NAME)
    if kind in ("quasibinomial", "quasi binomial"):
        raise SpecificationError(
            f"family={shown(given)} is 'binomial' here, fitted with robust=True: its standard errors then do "
            "not rest on the law, as in dps.logit(formula, data, schema).fit(budget, robust=True)"
        )
    of_kind = {family.link_name: family for family in FAMILIES.values() if family.kind == kind}
    if not of_kind:
        kinds = dict.fromkeys(family.kind for family in FAMILIES.values())
        listed = ", ".join(kinds)
        others = (words for name, words in _OTHERS.items() if folded(kind).startswith(name))
        instead = next(others, near(kind, kinds))
        raise SpecificationError(f"family must be one of {listed}, got {shown(given)}{instead}")
    named = own if link is None else _link_named(link)
    if isinstance(given, str) and own not in (None, named):
        raise SpecificationError(
            f"family={shown(given)} has the link {own!r}, and link= says {shown(named)}: say one of them"
        )
    usual = next(iter(of_kind))
    asked = named or usual
    if asked not in of_kind:
        listed = " or ".join(map(repr, of_kind))
        instead = dict(of_kind[usual].instead).get(asked, f"write family={kind!r}, link={usual!r}")
        raise SpecificationError(f"family {kind} has the link {listed} here, not {shown(asked)}; {instead}")
    return of_kind[asked] if alpha is None else negative_binomial(alpha)


def _excess(given: object) -> float | None:
    """The alpha of a negative binomial family that says one."""
    if type(given).__module__.startswith(_STATSMODELS):
        return _checked_excess(given, getattr(given, "alpha", None))
    found = _WITH_EXCESS.fullmatch(given.strip().lower()) if isinstance(given, str) else None
    if found is None or not _NEGATIVE_BINOMIAL.fullmatch(found[1]):
        return None
    if found[2] is None:
        raise SpecificationError(
            f"family={shown(given)} does not say what its number is: write 'negativebinomial(alpha=0.5)', of "
            "a variance m + alpha m^2 as in statsmodels, or R's theta, 1 / alpha, as in "
            "'negativebinomial(theta=2)'"
        )
    value = number("alpha of family=", found[3])
    return _checked_excess(given, value if found[2] == "alpha" else 1 / value if value else math.inf)


def _checked_excess(given: object, alpha: float | None) -> float | None:
    if alpha is None or EXCESSES[0] <= alpha <= EXCESSES[1]:
        return alpha
    raise SpecificationError(
        f"family={shown(given)}: alpha is from {EXCESSES[0]:g}, which is Poisson, to {EXCESSES[1]:g}"
    )


def _read(given: object) -> tuple[str, str | None]:
    """The name of a family in small letters, and of its link if there is one."""
    if type(given).__module__.startswith(_STATSMODELS):
        return type(given).__name__.lower(), _link_named(getattr(given, "link", None))
    name = given.strip().lower() if isinstance(given, str) else ""
    found = _WITH_LINK.fullmatch(name)
    kind, own = found.groups() if found else (name.removesuffix("()"), None)
    if _NEGATIVE_BINOMIAL.fullmatch(kind):
        return NEGATIVE_BINOMIAL_NAME, own
    return next((family.kind for family in FAMILIES.values() if kind in family.aka), kind), own


def _link_named(given: object) -> str:
    if isinstance(given, str):
        return given.strip().lower()
    own = given if isinstance(given, type) else type(given)
    return own.__name__.lower() if own.__module__.startswith(_STATSMODELS) else shown(given)


def check_options(
    family: GlmFamily, public: object, method: str, compat: str | None, c: float | None, robust: bool
) -> None:
    """Refuse options of other methods than those of objective or output perturbation.

    Raises
    ------
    SpecificationError
    """
    own = family.seek is not None or (family.two_valued and family is not BINOMIAL)
    known = ("auto", "newton") + ("pmt",) * (not own) + (tuple(METHODS) if family is BINOMIAL else ())
    check_method(method, known, compat, public)
    if c is not None:
        raise SpecificationError("c goes with method='objective' or 'output'; leave it out")
    if robust and (family is not BINOMIAL or method not in ("auto", "newton")):
        raise SpecificationError(
            "robust goes with logistic regression by the default method; leave it out (standard errors "
            "of other families and links do not rest on the law of the response)"
        )
    if compat and family not in PUBLISHED:
        covered = " and ".join(each.name for each in PUBLISHED)
        raise SpecificationError(
            f"compat='paper' covers {covered}: the paper's algorithm for {family.name} is not "
            "private; leave compat out"
        )


def problem_of(design: Design, family: GlmFamily, model: str) -> Problem:
    """Public facts in the estimator's terms."""
    response = design.response
    if not isinstance(response, NumericResponse):
        raise FormulaError(f"{model} needs a number left of ~; for a time to failure use survreg")
    variable = design.schema.get(response.measured.name or "")
    if family.two_valued and not response.yes_or_no:
        raise FormulaError(
            f"the response {response.text!r} must be a yes or no; declare it as flag(true=..., false=...), "
            "or write a condition, such as I(score >= 4)"
        )
    check_offset(design, family.link_name != IDENTITY.name)
    low, high = family.support
    if response.bounds[0] < low or response.bounds[1] > high:
        raise FormulaError(
            f"responses of the family {family.name} are at least {low:g}, but {response.text!r} may be "
            f"{response.bounds[0]:g} by its public bounds; declare the bounds that it can have"
        )
    amount = family.free_dispersion and low >= 0
    if amount and isinstance(variable, Count):
        raise FormulaError(
            f"a {family.kind} response is above 0, and the count {response.text!r} may be 0; fit "
            "family='negativebinomial' or 'poisson', whose standard errors hold for any scatter"
        )
    first = int(design.has_intercept)
    lower, upper = design.bounds[first:].T
    referred = tuple(  # columns of levels beside a reference level whose rows have 0 in all of them
        start + np.arange(levels.shape[1])
        for start, levels in design.categories
        if np.isin(levels, (0.0, 1.0)).all() and not levels.any(axis=1).all()
    )
    return Problem(
        family,
        lower,
        upper,
        response.bounds,
        design.offset_bounds,
        design.has_intercept,
        coded=_coded(design)[first:],
        categories=referred if first else (),
        likely=design.likely[first:],
        alike=design.alike,
        crossed=design.crossed() if first else (),
        slopes_within=design.slopes_within if first else np.zeros((0, 2, 0)),
        weighted=design.weights is not None and family.free_dispersion,
        splines=design.splines[first:],
        curves=design.curves if first else (),
    )


def _coded(design: Design) -> np.ndarray:
    """Which columns are 0 or 1 by the schema: flags, and levels of a category that stands alone."""
    coded = np.array([isinstance(design.schema.get(name), Flag | Event) for name in design.names])
    for first, levels in design.categories:
        coded[first : first + levels.shape[1]] = np.isin(levels, (0.0, 1.0)).all()
    return coded


def plan_of(curator: Curator, problem: Problem, mu: float) -> Plan:
    """How a fit by noisy Newton spends a mu: what is asked follows from public numbers."""
    family, cost = problem.family, curator.cost_per_row(mu)
    return make_plan(
        mu,
        *count_steps(curator.n, cost, problem.k),
        constant=problem.intercept,
        two_valued=family.two_valued,
        laws=family.counts and curator.n * cost >= MANY,
        apart=not (family.two_valued and problem.zero_or_one.all()),
    )


@forgetting
def logit(
    formula: str,
    data: Any,
    schema: Schema,
    public: Any = None,
    weights: str | None = None,
    subset: str | None = None,
) -> "GlmModel":
    """Describe a logistic regression, as statsmodels' logit and R's glm(family = binomial) do.

    Parameters
    ----------
    formula : str
        With a yes or no on the left, declared as flag(): ``"bought ~ age + np.log(income)"``, or a condition
        on declared variables, as ``"I(score >= 4) ~ age"``; with ``offset()`` terms if need be; see
        docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file. None where
        the model is fitted from messages of contributors.
    schema : Schema
        What is public about each variable.
    public : PublicMoments or public data, optional
        Moments of public rows with the same columns (:func:`dpstats.public_moments`) or such rows, which need
        no response. Only ``method="pmt"`` uses them. Privacy does not rest on them; precision gains if they
        resemble the private rows.
    weights : str, optional
        The weights of rows: an expression such as ``"w"`` with bounds from 0 to a public maximum.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).

    Returns
    -------
    GlmModel
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, weights, public moments or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.logit("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> list(fit.params.index)
    ['Intercept', 'education']
    """
    return GlmModel("logit", BINOMIAL, build_design(formula, schema, weights, subset), data, public)


@forgetting
def glm(  # noqa: PLR0913 - what a model may be given; public
    formula: str,
    data: Any,
    schema: Schema,
    family: str,
    exposure: str | None = None,
    public: Any = None,
    weights: str | None = None,
    subset: str | None = None,
    link: str | None = None,
) -> "GlmModel | LinearModel":
    """Describe a generalised linear model.

    Parameters
    ----------
    formula, data, schema, public, weights, subset
        As in :func:`logit`. Counts and amounts have bounds in the schema; a narrow upper bound costs nothing
        but what lies beyond it.
    family : {"binomial", "poisson", "negativebinomial", "gamma", "gaussian"}
        The family, in whatever case; also as R writes it, ``"binomial(probit)"``, or as statsmodels does,
        ``sm.families.Poisson()``. With "gaussian" the model is :func:`dpstats.ols`. A negative binomial fit
        finds its alpha, as R's ``glm.nb`` does, unless it is said: ``"negativebinomial(alpha=0.5)"``.
    exposure : str, optional
        For rates: an expression, positive by its bounds, whose logarithm is an offset; as in statsmodels.
    link : {"logit", "probit", "cloglog", "log", "identity"}, optional
        That of the family; only "binomial" has several. Default: logit, log, log and identity. With
        "cloglog" and a row for each unit and interval in which it is watched, exp of a coefficient is a
        ratio of hazards (docs/glm.md).

    Returns
    -------
    GlmModel or LinearModel

    Raises
    ------
    SpecificationError
        As in :func:`logit`, and for an unknown family or an exposure that does not suit it.

    Examples
    --------
    >>> import dpstats as dps
    >>> cars = dps.datasets.load("datacar")
    >>> model = dps.glm("numclaims ~ veh_value", cars.data, cars.schema, "poisson", exposure="exposure")
    >>> fit = model.fit(dps.approx(epsilon=2, delta=1e-6))
    >>> fit.glance()[["family", "link", "nobs"]].values.tolist()
    [['poisson', 'log', 67856]]
    """
    law = family_named(family, link)
    if exposure is not None:
        if law.link_name != "log":
            raise SpecificationError(
                f"exposure= goes with a log link, and that of {law.name} is another; leave it out, or write "
                "what enters the linear predictor as y ~ x + offset(np.log(days))"
            )
        formula = with_exposure(formula, exposure)
    if law is GAUSSIAN:
        return ols(formula, data, schema, public, weights, subset)
    return GlmModel("glm", law, build_design(formula, schema, weights, subset), data, public)


@forgetful
class GlmModel(Plannable):
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    family : GlmFamily
    """

    def __init__(self, name: str, family: GlmFamily, design: Design, data: Any, public: Any) -> None:
        check_complete(f"family={family.name!r}", family)
        self._name, self.family, self.design = name, family, design
        self._problem = problem_of(told_apart(design), family, name)
        check_apart(public, data)
        self._public = None if public is None else as_columns(public, self.design)
        self._rows = rows_of(data, self.design)

    @reusable(GlmFit)
    def fit(  # noqa: PLR0913 - what a fit may be asked for; public
        self,
        budget: Budget,
        method: str = "auto",
        *,
        ledger: Ledger | str | Path | None = None,
        compat: str | None = None,
        c: float | None = None,
        robust: bool = False,
        release: Sequence[str] = (),
        force: bool = False,
        reuse: bool | str = False,
    ) -> GlmFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``, for logistic regression
            ``pure(epsilon)`` too. It is spent whatever comes out.
        method : {"auto", "newton", "pmt", "objective", "output"}
            Noisy Newton, or truncation by public moments, a published method that needs `public`
            (docs/published.md). Logistic regression also has objective and output perturbation, whose
            coefficients are penalised (docs/erm.md). Under pure epsilon "auto" is objective perturbation
            with its bias removed.
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        compat : {None, "paper"}
            With the methods of papers, follow them where they are private.
        c : float, optional
            The penalty of the methods "objective" and "output". Default: as small as the budget allows.
        robust : bool
            Whether a logistic regression releases squared scores too, for standard errors that hold where
            the model is wrong; it costs some precision (docs/glm.md). The standard errors of other
            families, and of the methods "objective" and "output", always hold so.
        release : sequence of str
            ``["loglik"]`` spends a tenth of the budget (of mu^2) on the log-likelihood of a binomial or
            Poisson family, for ``fit.llf`` and ``fit.aic``, both with the size of their noise. For the
            default method, without weights.
        force : bool
            Fit even where rows and budget are so few that hardly a coefficient would be estimable, which
            is refused otherwise (docs/planning.md).
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        GlmFit

        Raises
        ------
        BudgetError
            If the budget is of a kind that the method cannot use, exceeds what the ledger has left, or is
            too small for any coefficient to be estimable. Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> cps = dps.datasets.load("cps1988")
        >>> model = dps.logit("parttime ~ education", cps.data, cps.schema)
        >>> fit = model.fit(dps.zcdp(0.5), robust=True)
        >>> fit.record.settings["standard errors"]
        'robust'
        """
        if not isinstance(robust, bool):
            raise SpecificationError(f"robust must be True or False, got {shown(robust)}")
        newton = among(method, ("auto", "newton")) and not as_budget("budget", budget).pure
        has_likelihood = self.family.log_likelihood is not None and self.family.seek is None
        able = newton and has_likelihood and self.design.weights is None
        asked = bool(check_release(release, able, f"{self._name} ({self._law}, method={shown(method)})"))
        if self.family is BINOMIAL and among(method, METHODS):
            of = (self._name, self.family.name)
            return fit_margin(GlmFit, self, LOGISTIC_LOSS, of, c, budget, method, ledger, compat, force)
        check_options(self.family, self._public, method, compat, c, robust)
        check_budget(budget, self._rows.n)
        if self.family is BINOMIAL and method == "auto" and budget.pure:
            curator = Curator(self._rows, self.design, budget)
            check_worth(curator, budget, self._problem.k, PURE_YES_NO, force)
            return fit_debiased_logit(
                self.design, self._rows, budget, self._problem, model=self._name, robust=robust, ledger=ledger
            )
        check_gaussian(budget, self._name)
        curator = Curator(self._rows, self.design, budget)
        if compat or method == "pmt":
            return self._fit_truncated(curator, budget, ledger, compat)
        return self._fit_newton(curator, budget, ledger, force, robust, asked)

    def _fit_newton(
        self,
        curator: Curator,
        budget: Budget,
        ledger: Ledger | str | Path | None,
        force: bool,
        robust: bool,
        asked: bool,
    ) -> GlmFit:
        """By noisy steps, about the middles of columns; with the log-likelihood, if it is `asked` for."""
        plan = plan_of(curator, self._problem, left(budget.mu, SHARE * asked + share_of_middles(self.design)))
        costs = plan.costs | ({LOGLIK: cost(budget.mu)} if asked else {})
        costs |= costs_of_middles(self.design, budget)
        check_worth(curator, budget, self._problem.k, YES_NO if self.family.two_valued else SCORES, force)
        facts = pay(curator, self.design, budget, ledger, NEWTON_METHOD, costs, self._named)
        curator, design = about_middles(curator, self.design, budget)
        problem = replace(problem_of(design, self.family, self._name), robust=robust)
        result = fit_newton(curator, problem, plan)
        loglik = log_likelihood(curator, budget.mu, result.params, self.family) if asked else None
        return self._publish(facts, of_formula(result, design), costs, robust, loglik)

    def _fit_truncated(
        self, curator: Curator, budget: Budget, ledger: Ledger | str | Path | None, compat: str | None
    ) -> GlmFit:
        """By public moments, beyond which rows are truncated; as published, or corrected."""
        assert self._public is not None
        costs = truncated_glm_costs(budget.mu) if compat else glm_costs(budget.mu, self._problem)
        facts = pay(curator, self.design, budget, ledger, PMT_METHOD, costs, self._named)
        fitted = fit_truncated_glm if compat else fit_pmt_glm
        problem = problem_of(self.design, self.family, self._name)
        result = fitted(curator, problem, self._public, budget.mu)
        return self._publish(facts, of_formula(result, self.design), costs)

    def _publish(
        self,
        facts: dict[str, Any],
        result: GlmEstimate,
        costs: dict[str, float],
        robust: bool = False,
        loglik: Quantity | None = None,
    ) -> GlmFit:
        return publish(
            GlmFit,
            facts,
            self.design,
            result,
            costs,
            noted=NOTED if self.family.two_valued else (),
            model=self._name,
            dist=(result.family or self.family).name,
            dispersion=result.dispersion,
            excess=result.excess,
            loglik=loglik,
            settings={name: round(value, 4) for name, value in result.settings.items()} | said(robust),
        )

    def fit_contributions(self, messages: Any, plan: ContributionPlan, reach: float = 2.0) -> GlmFit:
        """Estimate from messages that contributors have made private themselves; the model needs no data.

        Parameters
        ----------
        messages
            The path of a .parquet or .jsonl file, a list of paths, or an iterable of
            :class:`dpstats.contributors.Message`. It is read once, in memory that does not grow with it.
        plan : Plan
            A plan of this formula and schema.
        reach : float
            R: the loss is replaced by a quadratic function that is closest to it for ``|x'coef| <= R``.

        Returns
        -------
        GlmFit
            ``fit.messages`` counts what was accepted and rejected; ``fit.guarantees`` has both guarantees.

        Raises
        ------
        SpecificationError
            If the plan is of another model, or fewer messages are accepted than it asks for.

        Examples
        --------
        >>> import dpstats as dps
        >>> schema = dps.Schema(x=dps.bounded(0, 1), sick=dps.flag())
        >>> plan = dps.plan_contributions("sick ~ x", schema, dps.gdp(1), contributors=50)
        >>> messages = [dps.contribute({"x": i / 50, "sick": i % 2}, plan) for i in range(50)]
        >>> fit = dps.logit("sick ~ x", None, schema).fit_contributions(messages, plan)
        >>> fit.messages["accepted"]
        50
        """
        if self.family is not BINOMIAL:
            raise SpecificationError("contributions give ols, ridge and logit; other families need data")
        return fit_logistic(self._name, self.design, messages, plan, reach)

    @property
    def _named(self) -> str:
        """What a ledger is told that a fit is of."""
        return f"{self._name} {self.family.name}"

    @property
    def _law(self) -> str:
        """The name of the family, and what it does not say."""
        return f"{self.family.name}{', whose alpha is sought' if self.family.seek else ''}"

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        family = {"family": self.family.name, "alpha": self.family.alpha}
        return {"name": self._name, **family, "public": stated(self._public)}

    @always_shown
    def __repr__(self) -> str:
        return f"{self._name}, family = {self.family.name!r}: {self.design!r}"
