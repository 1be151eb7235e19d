"""Private linear and ridge regression."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._arguments import among
from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget
from dpstats.contributors import Plan as ContributionPlan
from dpstats.curator import Curator
from dpstats.errors import FormulaError
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram import Box, fit_gram, make_plan
from dpstats.estimators.pmt import costs, fit_pmt
from dpstats.estimators.published.truncated import fit_truncated_ridge
from dpstats.formula import Design, NumericResponse, build_design, told_apart
from dpstats.ledger import Ledger
from dpstats.models.contributed import fit_linear
from dpstats.models.public import as_public, check_apart, stated
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import (
    LINEAR,
    PMT_METHOD,
    PURE,
    Plannable,
    about_middles,
    check_budget,
    check_gaussian,
    check_method,
    check_worth,
    costs_of_middles,
    of_moments,
    pay,
    rows_of,
    share_of_middles,
)
from dpstats.results import LinearFit
from dpstats.results.cautions import advised
from dpstats.results.linear import fields_of
from dpstats.results.record import penalty
from dpstats.schema import Schema

METHOD = "noisy second moments (Gaussian)"
PMT_RELEASED = ("second moments", "cross moments")
PURE_METHOD = "noisy moments and scores (pure epsilon)"
AUTO = "auto"


@forgetting
def ols(
    formula: str,
    data: Any,
    schema: Schema,
    public: Any = None,
    weights: str | None = None,
    subset: str | None = None,
) -> "LinearModel":
    """Describe a linear regression, as R's lm and statsmodels' ols do.

    Parameters
    ----------
    formula : str
        Such as ``"quality ~ alcohol + np.log(sugar)"``, with ``offset()`` terms if need be; see
        docs/formula.md.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file. None where
        the model is fitted from messages of contributors.
    schema : Schema
        What is public about each variable.
    public : PublicMoments or public data, optional
        Moments of public rows of the same kind (:func:`dpstats.public_moments`) or such rows. Privacy does
        not rest on them; precision gains if they resemble the private rows.
    weights : str, optional
        The weights of rows: an expression such as ``"w"`` with bounds from 0 to a public maximum.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).

    Returns
    -------
    LinearModel
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, weights, public moments or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> model = dps.ols("PE ~ AT + V", plant.data, plant.schema)
    >>> model.fit(dps.approx(epsilon=1, delta=1e-6))
    Private linear regression: PE ~ AT + V
    noisy second moments (Gaussian); n = 9568 rows (public)
    Privacy: epsilon = 1, delta = 1e-06; neighbours replace one row; unit one row
    Intercept ..., AT ..., V ...
    summary() for more...
    """
    return LinearModel("ols", build_design(formula, schema, weights, subset), data, 0.0, public)


@forgetting
def ridge(
    formula: str,
    data: Any,
    schema: Schema,
    alpha: float | str,
    public: Any = None,
    weights: str | None = None,
    subset: str | None = None,
) -> "LinearModel":
    """Describe a ridge regression: half the mean squared error plus alpha / 2 times the squared coefficients.

    The normalisation is that of statsmodels' ``fit_regularized(L1_wt=0)``, but the intercept is not
    penalised. Intervals are for the penalised coefficients; ``fit.at_alpha`` gives any other penalty from
    the same release.

    Parameters
    ----------
    formula, data, schema, public, weights, subset
        As in :func:`ols`.
    alpha : float or "auto"
        Penalty, not negative, in the units of the response squared over those of the covariates squared.
        "auto" shrinks each direction as far as the noise of the release asks for, as :func:`ols` does, whose
        fit it is; intervals are for coefficients without a penalty.

    Returns
    -------
    LinearModel

    Raises
    ------
    SpecificationError
        As in :func:`ols`, and if alpha is negative or not finite.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ridge("PE ~ AT + V", plant.data, plant.schema, alpha=10).fit(dps.zcdp(0.5))
    >>> free = fit.at_alpha(0)  # from the same release; nothing more is spent
    >>> bool(abs(fit.params["AT"]) < abs(free.params["AT"]))
    True
    """
    chosen = 0.0 if among(alpha, (AUTO,)) else penalty(alpha, AUTO)
    return LinearModel("ridge", build_design(formula, schema, weights, subset), data, chosen, public)


@forgetful
class LinearModel(Plannable):
    """A model that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    alpha : float
        Ridge penalty, 0 for ols.
    """

    def __init__(self, name: str, design: Design, data: Any, alpha: float, public: Any) -> None:
        self._name, self.alpha, self.design = name, alpha, design
        if not isinstance(design.response, NumericResponse):
            raise FormulaError(f"{name} needs a number left of ~; for a time to failure use survreg")
        if not alpha:
            told_apart(design)
        check_apart(public, data)
        self._public = None if public is None else as_public(public, self.design)
        self._rows = rows_of(data, self.design)

    @reusable(LinearFit)
    def fit(
        self,
        budget: Budget,
        method: str = "auto",
        *,
        ledger: Ledger | str | Path | None = None,
        compat: str | None = None,
        force: bool = False,
        reuse: bool | str = False,
    ) -> LinearFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``zcdp(rho)``, ``gdp(mu)``, ``approx(epsilon, delta)`` or ``pure(epsilon)``. It is spent whatever
            comes out.
        method : {"auto", "gram", "pmt"}
            Noisy second moments, or truncation by public moments, a published method that needs `public` and
            Gaussian noise (docs/published.md).
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        compat : {None, "paper"}
            With method "pmt", follow the paper where it is private (:mod:`dpstats.estimators.published`).
        force : bool
            Fit even where rows and budget are so few that hardly a coefficient would be estimable, which
            is refused otherwise (docs/planning.md).
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing, of which a warning tells; a text is the version of the data that you declare
            (docs/ledger.md).

        Returns
        -------
        LinearFit

        Raises
        ------
        BudgetError
            If the budget is of a kind that the method cannot use, exceeds what the ledger has left, or is
            too small for any coefficient to be estimable. Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> plant = dps.datasets.load("ccpp")
        >>> fit = dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.pure(1))
        >>> list(fit.params.index)
        ['Intercept', 'AT']
        """
        check_method(method, ("auto", "gram", "pmt"), compat, self._public)
        check_budget(budget, self._rows.n)
        if pmt := method == "pmt":
            check_gaussian(budget, "method='pmt'")
        curator = Curator(self._rows, self.design, budget)
        plan = make_plan(
            budget, self._rows.n, len(self.design.names), self._public is not None, self.design.has_intercept
        )
        named = PMT_METHOD if pmt else PURE_METHOD if plan.pure else METHOD
        moves = not pmt and self._public is None  # by public moments, coordinates are white from the start
        if moves:
            check_worth(curator, budget, len(self.design.names), PURE if plan.pure else LINEAR, force)
            plan = plan.after(share_of_middles(self.design))
        first = costs_of_middles(self.design, budget) if moves else {}
        released = dict(zip(PMT_RELEASED, costs(budget.mu), strict=True)) if pmt else first | plan.costs
        facts = pay(curator, self.design, budget, ledger, named, released, self._name)
        curator, design = about_middles(curator, self.design, budget) if moves else (curator, self.design)
        estimate, unasked = (
            (self._pmt(curator, budget.mu, compat), ()) if pmt else self._gram(curator, design, plan)
        )
        return LinearFit(
            model=self._name,
            dist="gaussian",
            schema=self.design.schema,
            weights=self.design.weights,
            names=self.design.names,
            released=tuple(name for name in released if name not in unasked),
            alpha=self.alpha,
            **estimate,
            **facts,
        )

    def fit_contributions(self, messages: Any, plan: ContributionPlan) -> LinearFit:
        """Estimate from messages that contributors have made private themselves; the model needs no data.

        Parameters
        ----------
        messages
            The path of a .parquet or .jsonl file, a list of paths, or an iterable of
            :class:`dpstats.contributors.Message`. It is read once, in memory that does not grow with it.
        plan : Plan
            A plan of this formula and schema.

        Returns
        -------
        LinearFit
            ``fit.messages`` counts what was accepted and rejected; ``fit.guarantees`` has both guarantees.

        Raises
        ------
        SpecificationError
            If the plan is of another model, or fewer messages are accepted than it asks for.

        Examples
        --------
        >>> import dpstats as dps
        >>> schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
        >>> plan = dps.plan_contributions("y ~ x", schema, dps.gdp(1), contributors=50)
        >>> messages = [dps.contribute({"x": i / 50, "y": i / 50}, plan) for i in range(50)]
        >>> fit = dps.ols("y ~ x", None, schema).fit_contributions(messages, plan)
        >>> fit.messages["accepted"]
        50
        """
        return fit_linear(self._name, self.design, self.alpha, messages, plan)

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"name": self._name, "alpha": self.alpha, "public": stated(self._public)}

    def _gram(self, curator: Curator, design: Design, plan: Plan) -> tuple[dict[str, Any], frozenset[str]]:
        """What the record says of the estimate, and what was not asked for it."""
        most = None if design.weights is None else design.max_weight
        box = replace(_box(design), times_levels=self.design.times_levels)
        result = fit_gram(curator, box, design.has_intercept, plan, self._public, most)
        return (
            of_moments(design, result.moments.of_columns(design.way), self.alpha, result.problems)
            | _rounded(result.settings),
            result.unasked,
        )

    def _pmt(self, curator: Curator, mu: float, compat: str | None) -> dict[str, Any]:
        assert self._public is not None
        result = (fit_truncated_ridge if compat else fit_pmt)(
            curator, self._public, self.design.has_intercept, self.alpha, mu
        )
        fields = fields_of(result.solution, self.design.names, advised(self.design))
        return fields | _rounded(result.settings)

    @always_shown
    def __repr__(self) -> str:
        return f"{self._name}: {self.design!r}"


def _rounded(settings: dict[str, float]) -> dict[str, Any]:
    return {"settings": {name: round(value, 4) for name, value in settings.items()}}


def _box(design: Design) -> Box:
    """Declared bounds of the covariates and of the response less the offset, and where most rows lie."""
    first = int(design.has_intercept)
    (low, high), offset = design.numeric.bounds, design.offset_bounds
    _, least, most = dict(design.middles).get(design.response.text, (0.0, low, high))
    lower, upper = np.vstack([design.bounds[first:], [low - offset[1], high - offset[0]]]).T
    likely = np.vstack([design.likely[first:], [least - offset[1], most - offset[0]]])
    return Box(
        lower,
        upper,
        binary=design.binary[first:],
        norms=tuple((tuple(j - first for j in group), radius) for group, radius in design.norms),
        levels=design.levels[:, first:],
        alike=design.alike,
        within=np.maximum(design.within[first:] - first, -1),
        splines=design.splines[first:],
        heights=design.heights[:, first:],
        likely=likely,
    )
