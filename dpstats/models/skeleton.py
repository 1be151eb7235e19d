"""What the pages of all models share: a model before it is fitted, checks of a budget, paying and publishing.

A page checks, plans, pays, estimates and publishes. What a model offers before its budget is spent, what it
asks of one before anything is charged, and the two ends of a fit stand here. Fits of which public numbers
show that they are hopeless are refused before they spend (docs/theory/intervals.md#refusals).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from dpstats._arguments import among, near, numbers, shown, truth, warn
from dpstats._codes import OPEN_ENDED, WEAK
from dpstats._conversions import bisected
from dpstats._private import HoldsRows
from dpstats.budget import MOST, Budget, Gdp, Pure, as_budget, delta_of, measure, scaled, stated_delta
from dpstats.curator import Curator
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.columns import middles
from dpstats.estimators.engine.finish import E, Estimate
from dpstats.estimators.engine.plan import LOOK
from dpstats.families import Family, GlmFamily
from dpstats.families.martingale import has_sound_taper
from dpstats.formula import Design, IntervalResponse, NumericResponse, SurvResponse
from dpstats.formula.reader import LARGEST
from dpstats.formula.variables import VariableColumns
from dpstats.ledger import Ledger
from dpstats.moments import LinearMoments
from dpstats.results import Fit
from dpstats.results.cautions import advised, beside, cautions, of_whole_table
from dpstats.results.linear import fields_of
from dpstats.rows import Rows, open_rows
from dpstats.schema import Event, Schema

if TYPE_CHECKING:
    from dpstats.planning import FitPlan

NO_ROWS = Rows(None, Schema(), ())
MIDDLES = "middles of products"
NOTED = (WEAK,)  # of times and of a yes or no, under Gaussian noise: intervals say it themselves

NEWTON_METHOD, PMT_METHOD = "noisy Newton (Gaussian)", "public moment truncation (Gaussian)"


def rows_of(data: Any, design: Design) -> Rows:
    """The rows of a model, none for a model that is given messages of contributors instead.

    Raises
    ------
    SpecificationError
        As :func:`dpstats.rows.open_rows`.
    """
    warn_of_forgotten_event(design)
    return NO_ROWS if data is None else open_rows(data, design.schema, design.variables)


def warn_of_forgotten_event(design: Design) -> None:
    """Tell that every row will count as a failure although the schema, which is public, declares an event."""
    if not isinstance(design.response, SurvResponse) or design.response.event:
        return
    if unread := [
        n for n, one in design.schema.items() if isinstance(one, Event) and n not in design.variables
    ]:
        warn(
            f"{design.response.text} takes every row for a failure, and the event {unread[0]!r} is not used: "
            f"is it Surv(time, {unread[0]})? If every row is a failure, leave the event out of the schema"
        )


def check_offset(design: Design, multiplies: bool = True) -> None:
    """Refuse an offset of which the exponential multiplies by more than any number which a fit takes.

    Raises
    ------
    FormulaError
    """
    low, high = design.offset_bounds
    if multiplies and design.offset and high - low > math.log(LARGEST):
        raise FormulaError(
            f"{design.offset.text!r} adds {low:g} to {high:g} to the linear predictor by its public bounds, "
            f"which is on a log scale: a factor of e^{high - low:.0f} between rows. Write the logarithm, "
            "as in offset(np.log(hours)), or narrow the bounds in the schema"
        )


def check_complete(what: str, family: Family | GlmFamily) -> None:
    """Refuse an argument whose family lacks what a fit asks of it, which would show after it has paid.

    One of survival whose taper is not as the sensitivity of its scores takes it to be is refused, too. That
    all its functions agree with each other is asked by tests (tests/families/complete.py).

    Raises
    ------
    SpecificationError
    """
    if lacking := [
        field.name
        for field in fields(family)
        if getattr(family, field.name) is None and "None" not in str(field.type)
    ]:
        raise SpecificationError(
            f"{what} is not complete: it lacks {', '.join(lacking)}; complete the record of its family, or "
            "use another"
        )
    if isinstance(family, Family) and not has_sound_taper(family):
        raise SpecificationError(
            f"{what} has a taper by which its scores have no proven bound: h1* must be positive, at most "
            "`steepest`, and never rise, and the integrals must be those of it; use another"
        )


def check_budget(budget: object, n: int) -> None:
    """Refuse what is no budget, a delta that lets a row leak whole, and data without rows.

    Raises
    ------
    SpecificationError
        BudgetError where it is about the budget.
    """
    budget = as_budget("budget", budget)
    if n < 1:
        raise SpecificationError(
            "the data have no rows; give the table that holds them. An iterator is read once: one that was "
            "read to its end, as by dps.check, is made anew. Messages of contributors go to fit_contributions"
        )
    if (delta := delta_of(budget)) is not None and delta > 1 / n:
        raise BudgetError(
            f"delta = {delta:g} must not exceed 1/n = {1 / n:g}, or one row in n may leak whole"
        )
    try:
        budget.to_approx(stated_delta(budget))
    except BudgetError:
        raise BudgetError(
            f"{budget} comes to an epsilon over {MOST:g}, which no table can tell, and protects nothing: "
            "give a smaller budget"
        ) from None


def check_method(method: object, known: Sequence[str], compat: object, public: object) -> None:
    """Refuse a method that there is not, and one that needs what the model was not given.

    Raises
    ------
    SpecificationError
    """
    check_named(method, known)
    check_compat(compat, method, "pmt")
    if method == "pmt" and public is None:
        raise SpecificationError("method='pmt' needs public=, moments of public rows or such rows")


def check_compat(compat: object, method: object, *published: str) -> None:
    """Refuse what names no published algorithm, and one of a method that has none."""
    if not among(compat, (None, "paper")):
        raise SpecificationError(f"compat must be None or 'paper', got {shown(compat)}")
    if compat and method not in published:
        raise SpecificationError(f"compat='paper' goes with method={published[0]!r}")


def check_named(method: object, known: Sequence[str]) -> None:
    """Refuse a method that there is not, and a ledger in its place.

    Raises
    ------
    SpecificationError
    """
    if isinstance(method, Ledger | Path) or (isinstance(method, str) and Path(method).suffix):
        raise SpecificationError("a ledger is given by its name here: fit(budget, ledger=ledger)")
    if not among(method, known):
        listed = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
        raise SpecificationError(f"method must be {listed}, got {shown(method)}{near(method, known)}")


def times_within(times: Sequence[float], low: float, high: float) -> np.ndarray:
    """Public times that a user gives, as an array.

    Raises
    ------
    SpecificationError
        If they do not increase, or lie beyond the public bounds of the time.
    """
    grid = numbers("times", times)
    if grid.ndim != 1 or not len(grid) or not ((np.diff(grid) > 0).all() and np.isfinite(grid).all()):
        raise SpecificationError("times must be finite numbers that increase, such as [100, 200, 500]")
    if grid[0] < low or grid[-1] > high:
        raise SpecificationError(f"times must lie within the public bounds of the time, {low:g} to {high:g}")
    return grid


def check_gaussian(budget: Budget, what: str) -> None:
    """Refuse a budget of pure epsilon.

    Raises
    ------
    BudgetError
    """
    if budget.pure:
        raise BudgetError(f"{what} adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx")


class Unfitted(HoldsRows):
    """A model, of which nothing is released yet."""

    design: Design
    _rows: Rows

    def _stated(self) -> dict[str, Any]:
        """What it was given besides formula, data, schema and weights, in values of JSON."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A model without data holds nothing private."""
        if self._rows is not NO_ROWS:
            return super().__reduce_ex__(protocol)
        return object.__reduce_ex__(self, protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _rows=NO_ROWS)

    def __getattr__(self, name: str) -> NoReturn:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text)
        if name == "plan":
            raise AttributeError(
                f"{text}: only fits of ols, ridge, logit, glm, survreg and coxph can be planned"
            )
        raise AttributeError(f"{text}; what is estimated is asked of its fit: fit = model.fit(budget)")


class Plannable(Unfitted):
    """A model whose fits can be planned."""

    def plan(  # noqa: PLR0913 - what a user may know; public
        self,
        budget: Budget,
        n: int | None = None,
        covariates: Any = None,
        coef: Mapping[str, float] | None = None,
        scale: float | None = None,
        events: float | None = None,
        inspections: float | Sequence[float] | None = None,
        watches: str | float | Sequence[float] = "even",
    ) -> "FitPlan":
        """Say what a fit will be worth, before its budget is spent; no row is read.

        Parameters
        ----------
        budget : Budget
            The budget of the fit to come.
        n : int, optional
            The number of its rows. Default: that of the model's data, which is public; of a table whose units
            have more rows than weigh, give how many weigh.
        covariates, coef, scale, events, inspections, watches : optional
            What is known, as :func:`dpstats.plan` takes it.

        Returns
        -------
        FitPlan

        Raises
        ------
        SpecificationError
            If the model has no data and `n` is not given, and as :func:`dpstats.plan` raises it.

        Examples
        --------
        >>> import dpstats as dps
        >>> plant = dps.datasets.load("ccpp")
        >>> model = dps.ols("PE ~ AT", plant.data, plant.schema)
        >>> ahead = model.plan(dps.zcdp(0.5), covariates={"AT": (20, 7)}, scale=5)
        >>> ahead.n
        9568
        """
        from dpstats.planning import plan  # which runs the estimators of models

        if n is None and self._rows is NO_ROWS:
            raise SpecificationError("n must be given, the number of rows of the fit: the model has no data")
        return plan(
            self,
            budget,
            self._rows.n if n is None else n,
            covariates,
            coef,
            scale,
            events,
            inspections,
            watches,
        )


K = TypeVar("K", bound=Fit)


def pay(
    curator: Curator,
    design: Design | VariableColumns,
    budget: Budget,
    ledger: Ledger | str | Path | None,
    method: str,
    costs: Mapping[str, float | Pure | Gdp],
    model: str,
) -> dict[str, Any]:
    """Charge the whole budget of a fit; return what its record says of that, beside its estimate.

    Parameters
    ----------
    curator : Curator
        Which makes the releases.
    design : Design or VariableColumns
    budget : Budget
    ledger : Ledger or path, optional
        As of the models' ``fit``.
    method : str
        The algorithm in words.
    costs : mapping of str to cost
        Of each kind of release.
    model : str
        The model and its family or distribution in words, which the ledger keeps beside the method.

    Raises
    ------
    BudgetError
        If the budget exceeds what the ledger has left; nothing is spent then.
    """
    rows = ((name, getattr(design, name)) for name in ("weights", "subset"))
    asked = ", ".join([design.formula, *(f"{name}={text!r}" for name, text in rows if text)])
    line = curator.pay(ledger, formula=asked, method=f"{model}, {method}", costs=costs)
    return {
        "formula": design.formula,
        "subset": design.subset,
        "nobs": curator.n,
        "budget": budget,
        "method": method,
        "adjacency": curator.unit.adjacency,
        "unit": str(curator.unit),
        "ledger": line,
        "not_private": curator.not_private,
    }


def of_formula(result: E, design: Design) -> E:
    """The estimate of a formula's coefficients, by that of the columns of a design about middles."""
    return result.through(design.way).beside(design.partners)


def of_moments(
    design: Design, moments: LinearMoments, alpha: float, problems: Sequence[str] = ()
) -> dict[str, Any]:
    """Fields of the record of a line by moments of a design's columns; `problems` are the estimate's.

    What may show the effect of a lost number is lost with it, or named (docs/theory/intervals.md).
    """
    more = advised(design)
    fields = fields_of(moments.solve_beside(design.partners, alpha), design.names, more)
    found = (*of_whole_table(problems, design), *beside(design, fields["cov"]))
    flags = (*cautions(found, design.names, more=more), *fields["flags"])
    return fields | {"linear": moments, "flags": flags}


def publish(
    kind: type[K],
    facts: Mapping[str, Any],
    design: Design,
    result: Estimate,
    released: Iterable[str],
    names: tuple[str, ...] | None = None,
    noted: tuple[str, ...] = (),
    **more: Any,
) -> K:
    """Show an estimate as the fit of its kind.

    Parameters
    ----------
    kind : type
    facts : mapping
        As :func:`pay` returned them.
    design : Design
    result : Estimate
    released : iterable of str
        What was planned to be released with noise.
    names : tuple of str, optional
        Of the coefficients; default those of the design's columns.
    noted : tuple of str
        Codes of what intervals say themselves, as open ends do: notes below the table, and no cautions.
    **more
        Of a :class:`dpstats.results.record.Record`.
    """
    names = design.names if names is None else names
    problems = (*of_whole_table(result.problems, design), *beside(design, result.cov))
    between = isinstance(design.response, IntervalResponse)
    told, noted = cautions(problems, names, between, advised(design)), (*noted, OPEN_ENDED)
    return kind(
        schema=design.schema,
        weights=design.weights,
        names=names,
        params=result.params,
        cov=result.cov,
        cov_privacy=result.cov_privacy,
        root=result.root,
        bias=result.possible_bias,
        released=tuple(name for name in released if name not in result.unasked),
        columns=result.columns,
        flags=tuple(one for one in told if one[0] not in noted),
        notes=tuple(one for one in told if one[0] in noted),
        **facts,
        **more,
    )


def share_of_middles(design: Design) -> float:
    """Return what share of the budget the middles take; none where nothing can be told about any."""
    return LOOK if design.movable else 0.0


def costs_of_middles(design: Design, budget: Budget) -> dict[str, float]:
    """Return what they cost, by name, in epsilon or mu."""
    share = share_of_middles(design)
    cost = measure(budget) * (share if budget.pure else math.sqrt(share))
    return {MIDDLES: cost} if share else {}


def found_middles(curator: Curator, design: Design, budget: Budget) -> dict[str, tuple[float, float, float]]:
    """Release where the numbers in products and the response lie, by their texts."""
    alone, response = design.of_movable, design.response
    ends = response.bounds if isinstance(response, NumericResponse) else response.time_bounds
    cost = costs_of_middles(design, budget)[MIDDLES]
    found = middles(curator.reading(alone), cost, budget.pure, np.vstack([alone.bounds[1:], ends]))
    return dict(zip((*design.movable, response.text), found, strict=True))


def about_middles(curator: Curator, design: Design, budget: Budget) -> tuple[Curator, Design]:
    """Return the same rows through the design whose products are of numbers about their middles."""
    if not design.movable:
        return curator, design
    moved = design.about(found_middles(curator, design, budget))
    return curator.reading(moved), moved


@dataclass(frozen=True)
class Least:
    """Where a route begins to estimate anything: at n mu = multiple * k^power, of k coefficients.

    Under pure epsilon it is n epsilon. Where the unit of privacy has several rows, it is so many times that.

    Attributes
    ----------
    multiple, power : float
    well : float
        Times that, with which most fits of ordinary designs have all of their intervals; with it nine in ten
        coefficients are lost (docs/theory/intervals.md#refusals).
    """

    multiple: float
    power: float
    well: float = 8.0

    def needed(self, k: int) -> float:
        """n mu, or n epsilon, for k coefficients."""
        return self.multiple * k**self.power


# Gaussian noise on k x k sums has a spectral norm that grows as k^1.5 / mu, and what it hides grows as n. But
# the more coefficients there are, the likelier one of them has an interval: powers are smaller. Chosen on
# random designs, and looked at where rows are even over tight bounds, see the theory.
LINEAR, TIMES = Least(18.0, 1.0), Least(10.0, 1.25)
# Scores of a yes or no hold at most a quarter of what those of counts do; the clock of hazards takes its part
# however few coefficients there are
YES_NO, SCORES, HAZARDS = Least(45.0, 0.65), Least(110.0, 0.33), Least(70.0, 0.5)
PURE, PURE_YES_NO, PURE_TIMES = Least(50.0, 1.75, 16.0), Least(62.0, 1.75), Least(80.0, 1.0, 16.0)


def check_worth(curator: Curator, budget: Budget, k: int, least: Least, force: bool) -> None:
    """Refuse a fit of k coefficients of which hardly one would be estimable under bounds as most are.

    Raises
    ------
    BudgetError
        As :func:`check_enough`.
    """
    check_enough(
        curator,
        budget,
        least.needed(k) * curator.unit.max_rows,
        f"{k} coefficient{'s' * (k > 1)}",
        force,
        "; fewer terms need less",
        least.well,
    )


def check_enough(
    curator: Curator, budget: Budget, wanted: float, what: str, force: bool, more: str = "", well: float = 0.0
) -> None:
    """Refuse a fit of which n mu, under pure epsilon n epsilon, is less than what is wanted.

    Where `well` times that is needed for most fits to be of use, it is said, and what the least gives.

    Rows, budget and what is asked for decide, which are public. A fit under the noise of
    :mod:`dpstats.testing` spends nothing, and is not refused.

    Raises
    ------
    BudgetError
        Unless `force`; it says how many rows or how large a budget may do.
    """
    if truth("force", force) or curator.not_private or curator.n * measure(budget) >= wanted:
        return
    least, most = (
        f"{_enough(budget, each / curator.n)}, or n = {math.ceil(each / measure(budget))},"
        for each in (wanted, max(well, 1.0) * wanted)
    )
    enough = (
        f"is not refused, but nine in ten coefficients are lost there; with {most} most fits have all "
        "under bounds as most are, and dps.plan(model, budget, n, covariates=...) tells it for yours"
        if well
        else "may do"
    )
    raise BudgetError(
        f"{budget} buys too little for {what} from n = {curator.n} rows: noise would hide nearly all of "
        f"it. At the least {least} {enough}{more}; force=True (--force) spends the budget all the same"
    )


def _enough(budget: Budget, wanted: float) -> Budget:
    """A budget of the same kind that measures what is wanted, rounded up to three digits."""
    factor = bisected(lambda times: measure(scaled(budget, times)) >= wanted, MOST / budget.amount, 1.0)
    return scaled(budget, factor * 1.005, digits=3)
