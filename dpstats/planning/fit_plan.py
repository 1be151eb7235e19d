"""What a budget will buy, before it is spent: tables, power, budgets and rows that reach a precision."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, among, count, near, number, shown
from dpstats._private import forgetful, forgetting
from dpstats.budget import Budget, delta_of, measure, scaled
from dpstats.errors import BudgetError, SpecificationError
from dpstats.models import LinearModel, Survreg
from dpstats.models.skeleton import NO_ROWS, Plannable, check_budget
from dpstats.moments import PublicMoments
from dpstats.planning.knowledge import of_subset, read_known, told_of
from dpstats.planning.printed import BUDGET, MOST_DRAWN, ROWS, document, draw
from dpstats.planning.trials import Z95, Outlook, Planned, Setting, Trial, counted, with_rows
from dpstats.planning.truth import EVEN, read_asked
from dpstats.results import SurvivalFit
from dpstats.results.document import Document, Estimates, Shown, marked
from dpstats.results.intervals import Estimate
from dpstats.results.newdata import NewData
from dpstats.results.record import is_scale
from dpstats.results.reliability import B_LIVES


def rounded_up(value: float) -> float:
    """To two significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.4g}")


Fitted: TypeAlias = Callable[[float], tuple[Budget, int]]  # what is fitted, at a factor
# factor at which two parts come to an error
Step: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

_NO_NOISE = 1000.0  # epsilon, or mu, at which noise is nothing
_MOST_EPSILON = 100.0  # epsilon, or mu: a budget beyond promises nothing
_MOST_ROWS = 1e9
_FAR = 4.0  # factor of a budget or rows by which to go on where fits do not say how far
_WALK = 6  # such steps, each by a few fits, from a plan to where more fits are worth their time
_NEAR = 1.25  # factor within which errors shrink as is known to 4 %


@partial(forgetful, change=marked)
@dataclass(frozen=True, eq=False, repr=False)
class FitPlan(Shown):
    """What a fit will be worth; :func:`dpstats.plan` makes one.

    Attributes
    ----------
    budget : Budget
    n : int

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(x=dps.bounded(0, 1), sick=dps.flag())
    >>> model = dps.logit("sick ~ x", None, schema)
    >>> ahead = dps.plan(model, dps.zcdp(0.5), 2000, covariates={"x": (0.4, 0.2)}, events=0.3)
    """

    _setting: Setting
    budget: Budget
    n: int
    _trial: Trial
    _found: Outlook
    _band: tuple[np.ndarray, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return self._setting.names

    @property
    def not_private(self) -> bool:
        """True if what is known of covariates was found without, or with known, noise."""
        return self._setting.known.not_private

    def table(self) -> pd.DataFrame:
        """Return what to expect of each coefficient.

        Returns
        -------
        DataFrame
            ``term``; ``coef``, the coefficient that was planned with; ``sampling`` and ``privacy``, parts of
            the standard error; ``std_error``; ``privacy_share`` of its square; ``half_width``, which half of
            the intervals of level .95 have, where those of lost coefficients are infinite; ``found_80``, the
            effect that a test of level .05 finds in 80 % of fits; ``not_estimable``, the chance that the fit
            says so; ``unsure``, the error of the standard error, of itself, as it is a median over made-up
            fits; and ``longest``, the standard error that one fit in ten exceeds, over that median, as a
            dozen fits or more tell it, and infinite if such a fit loses the coefficient. Where a spread is
            not known, ``half_low``, ``half_high`` and ``half_tied``: half widths with sds 1.5 times as large,
            and as small, and, where no correlation is told, with such of .5.

        Examples
        --------
        >>> ahead.table().columns[:4].tolist()
        ['term', 'coef', 'sampling', 'privacy']
        """
        found = self._found
        columns: dict[str, Any] = {
            "term": self.names,
            "coef": self._trial.params,
            "sampling": found.sampling,
            "privacy": found.privacy,
            "std_error": found.error,
            "privacy_share": (found.privacy / found.error) ** 2,
            "half_width": found.half_width,
            "found_80": found.found_in(0.8),
            "not_estimable": found.lost,
            "unsure": found.unsure,
            "longest": found.longest,
        }
        if self._band:
            columns |= dict(zip(("half_low", "half_high", "half_tied"), self._band, strict=False))
        return pd.DataFrame(columns)

    def summary(self) -> Document:
        """Return the table to be read, with what was assumed.

        Returns
        -------
        Document

        Examples
        --------
        >>> "No private row was read" in ahead.summary().as_text()
        True
        """
        return self.document

    @property
    def document(self) -> Document:
        """The printed table."""
        model, known = self._setting.model, self._setting.known
        penalised = isinstance(model, LinearModel) and model.alpha > 0
        return document(model.design, self.budget, self.n, self.table(), known, self._trial.law, penalised)

    @counted()
    def power(self, effects: Mapping[str, float]) -> pd.Series:
        """Return the chance that a test of level .05 finds each effect, where all of them are there together.

        Parameters
        ----------
        effects : dict
            Coefficients by name, in the place of those that were planned with.

        Returns
        -------
        Series
            By name.

        Examples
        --------
        >>> bool(0 < ahead.power({"x": 2.0})["x"] <= 1)
        True
        """
        wanted = self._targets("effects", effects)
        if scales := [name for name in wanted if is_scale(name)]:
            raise SpecificationError(f"effects= are of covariates; {scales[0]} is never tested against 0")
        asked = replace(self._setting.asked, coef={**self._setting.asked.coef, **wanted})
        trial = Trial(replace(self._setting, asked=asked))
        powers = self._under(trial, [self.names.index(name) for name in wanted]).rejects(trial.params)
        return pd.Series({name: powers[self.names.index(name)] for name in wanted}, name="power")

    @counted()
    def budget_for(self, half_width: Mapping[str, float]) -> Budget:
        """Return the smallest budget of this kind at which intervals are as short as is asked.

        Parameters
        ----------
        half_width : dict
            Half the width of the interval of level .95, by coefficient.

        Returns
        -------
        Budget
            Rounded up to two digits. Its delta is that of the plan.

        Raises
        ------
        BudgetError
            If no budget reaches it, because the rows are too few even without noise.

        Examples
        --------
        >>> ahead.budget_for({"x": 0.9})
        Zcdp(rho=...)
        """
        wanted = self._targets("half_width", half_width, positive=True)
        floor = max(
            self._noiseless.without_noise[self.names.index(name)] / value for name, value in wanted.items()
        )
        most, fitted = _MOST_EPSILON / measure(self.budget), lambda f: (scaled(self.budget, f), self.n)
        factor = self._factor(wanted, fitted, _of_budget, most) if floor < 1 else None
        if factor is None:
            why = (
                f"without noise it is {floor:.3g} times as wide"
                if floor >= 1
                else f"only one with epsilon or mu above {_MOST_EPSILON:g} would, which promises nothing"
            )
            raise BudgetError(
                f"no budget reaches this half width with n = {self.n}: {why}; n_for says how many rows would "
                "do with this budget"
            )
        found = scaled(self.budget, factor)
        return scaled(found, rounded_up(found.amount) / found.amount)

    @counted()
    def n_for(self, half_width: Mapping[str, float]) -> int:
        """Return the smallest number of rows at which intervals are as short as is asked, with this budget.

        Parameters
        ----------
        half_width : dict
            The same as in `budget_for`.

        Returns
        -------
        int
            Rounded up to two digits. Where the schema declares a unit, it is of rows that weigh.

        Raises
        ------
        BudgetError
            If more than a billion rows are needed, or delta is too large for so many.

        Examples
        --------
        >>> ahead.n_for({"x": 0.5}) > 2000
        True
        """
        wanted = self._targets("half_width", half_width, positive=True)
        delta = delta_of(self.budget)
        most = _MOST_ROWS if delta is None else min(_MOST_ROWS, 1 / delta)
        factor = self._factor(
            wanted, lambda f: (self.budget, max(int(self.n * f), 1)), _of_rows, most / self.n
        )
        if factor is None and delta is not None and most < _MOST_ROWS:
            raise BudgetError(
                f"this half width needs more than {most:.0f} rows with this budget, for which delta = "
                f"{delta:g} is too large; plan with a smaller delta, such as {delta / 100:.0e}"
            )
        if factor is None:
            raise BudgetError("this half width needs more than a billion rows with this budget")
        return min(int(rounded_up(self.n * factor)), int(most))

    def life(
        self, newdata: NewData | None = None, failed: float | Sequence[float] = B_LIVES, level: float = 0.95
    ) -> Estimates:
        """Return B-lives of the law that was planned with, and the intervals that a fit will have.

        Parameters
        ----------
        newdata, failed, level : optional
            As in `SurvivalFit.life`.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> schema = dps.Schema(time=dps.bounded(1, 4000), temp=dps.bounded(10, 50))
        >>> drives = dps.survreg("Surv(time) ~ temp", None, schema)
        >>> lives = dps.plan(drives, dps.zcdp(1), 5000, {"temp": (30, 5)}).life({"temp": 25}, failed=0.1)
        >>> lives.frame["quantity"].tolist()
        ['B10', 'eta', 'mean']
        """
        return self._middle.life(newdata, failed, level)

    @property
    def shape(self) -> Estimate:
        """The shape that was planned with, one over the scale, and the interval that a fit will have."""
        return self._middle.shape

    @property
    def _middle(self) -> SurvivalFit:
        """The law that was planned with, as a fit in the middle of all would tell it."""
        model, found = self._setting.model, self._found
        if not isinstance(model, Survreg):
            raise SpecificationError("lives and their shape are told by plans of survreg")
        return SurvivalFit(
            model="survreg",
            dist=model.dist,
            formula=model.design.formula,
            schema=model.design.schema,
            names=self.names,
            params=self._trial.params,
            cov=found.cov(found.error),
            cov_privacy=found.cov(found.privacy),
            nobs=self.n,
            budget=self.budget,
            method="plan",
            not_private=self.not_private,
        )

    @counted()
    def plot(self, terms: Any = None, ax: Axes | None = None, against: str = "budget") -> Axes:
        """Draw half widths against the budget or the rows, each with the one that remains without noise.

        Needs matplotlib.

        Parameters
        ----------
        terms : sequence of str, optional
            Default: all but the intercept and ``Log(scale)``; of more than ten, the ten with the widest
            intervals.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure.
        against : {"budget", "rows"}

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ahead.plot().get_xlabel()
        'rho'
        """
        if not among(against, (BUDGET, ROWS)):
            raise SpecificationError(f"against= is {BUDGET!r} or {ROWS!r}, not {shown(against)}")
        asked = [
            one for one in (terms if isinstance(terms, list | tuple) else [terms]) if isinstance(one, str)
        ]
        chosen = self._widest if terms is None else list(self._targets("terms", dict.fromkeys(asked, 1.0)))
        places = [self.names.index(name) for name in chosen]
        factors = 2.0 ** np.arange(-3, 4)
        tried = [
            (self.budget, max(int(self.n * f), 1)) if against == ROWS else (scaled(self.budget, f), self.n)
            for f in factors
        ]
        half = np.array([self._quick(*each)[places] for each in tried])
        floors = self._floors[places] / np.sqrt(factors)[:, None] ** (against == ROWS)
        at = [n if against == ROWS else budget.amount for budget, n in tried]
        return draw(
            chosen,
            np.array(at),
            np.maximum(half, floors),  # a few fits err, and no interval is shorter than without noise
            floors * np.ones_like(half),
            ROWS if against == ROWS else self.budget.unit,
            ax,
            len(self._slopes()) if terms is None else len(chosen),
        )

    @property
    def _widest(self) -> list[str]:
        """Names of at most ten coefficients of covariates, those with the widest intervals."""
        half, slopes = dict(zip(self.names, self._found.half_width, strict=True)), self._slopes()
        widest = sorted(slopes, key=half.__getitem__, reverse=True)[:MOST_DRAWN]
        return [name for name in slopes if name in widest]

    def _slopes(self) -> list[str]:
        """Names of the coefficients of covariates; of all if there are none."""
        return [name for name, kept in zip(self.names, self._setting.slopes, strict=True) if kept]

    def _targets(self, argument: str, given: Any, positive: bool = False) -> dict[str, float]:
        if not isinstance(given, Mapping) or not given or not set(given) <= set(self.names):
            raise SpecificationError(
                f"{argument}= names coefficients of the model, {', '.join(self.names)}, such as "
                f"{{{self._slopes()[-1]!r}: 0.1}}{near(given, self.names)}"
            )
        wanted = {name: number(f"{argument}[{name!r}]", value) for name, value in given.items()}
        if positive and not all(0 < value < np.inf for value in wanted.values()):
            raise SpecificationError(f"{argument}= must be positive numbers")
        return wanted

    def _factor(self, wanted: Mapping[str, float], fit: Fitted, step: Step, most: float) -> float | None:
        """The factor at which fits reach what is asked; None if it is above `most`.

        Errors shrink as `step` says of their parts, from the plan on, and then from as many fits where that
        led. Where most fits estimate nothing, a few fits tell whether to go on. Two things follow no such
        law. An error that only what is usual bounds stays until fits tell the coefficient, and then falls at
        once: a step that brought nothing is followed by a long one, and the fall lies between two factors
        that were tried. So does how many lose a coefficient: where some do, or a few fits would where a last
        step leads, or have far longer intervals there, the factor is one at which fits reached what is asked.
        """
        places = [self.names.index(name) for name in wanted]
        asked, found = np.array(list(wanted.values())), self._found
        factor, low, high, short = 1.0, 0.0, math.inf, math.inf
        while factor <= most:
            half = found.half_width[places]
            before, short = short, float(np.max(half / asked))
            known, losing = math.isfinite(short), bool(found.lost[places].any())
            low, high = (low, factor) if short <= 1 else (factor, high)
            parts = found.sampling[places], found.privacy[places], found.error[places] * asked / half
            move = float(np.max(step(*parts))) if known else _FAR
            near = max(move, 1 / move) < _NEAR
            if known and not losing and near:
                there = min(factor * move, high)
                few = Z95 * self._trial.run(*fit(there), quick=True).errors[:, places]
                if move >= 1 or (there > low and (few < _FAR * asked).all()):
                    return there if there <= most else None
                low = max(low, there)
            if high <= low * _NEAR or (losing and high == factor and near):
                break
            begun = factor == 1.0 and known and not losing and not near
            factor *= max(move, _FAR if 1 < before < short * _NEAR else _NEAR) if low == factor else move
            if begun and low < (walked := self._walked(factor, places, asked, fit, step)) < min(high, most):
                factor = walked
            factor = factor if low < factor < high else math.sqrt(low * high)
            tried = fit(min(factor, most))
            found = self._trial.run(*tried, quick=not known)
            if not known and np.isfinite(found.half_width[places]).all():
                found = self._trial.run(*tried)
        return high if high <= most else None

    def _walked(self, factor: float, places: list[int], asked: np.ndarray, fit: Fitted, step: Step) -> float:
        """A factor nearer to what is asked, by a few fits at a time; 0 where these lose a coefficient."""
        for _ in range(_WALK):
            few = self._trial.run(*fit(factor), quick=True)
            if few.lost[places].any():
                return 0.0
            error = few.error[places] * asked / few.half_width[places]
            move = float(np.max(step(few.sampling[places], few.privacy[places], error)))
            factor *= move
            if max(move, 1 / move) < _NEAR:
                break
        return factor

    def _under(self, trial: Trial, places: list[int]) -> Outlook:
        """What fits under another law come to: errors of the plan's, by what a few fits under both say.

        Where these do not tell the errors of some coefficients, as many fits do as a plan takes.
        """
        few, same = (one.run(self.budget, self.n, quick=True) for one in (trial, self._trial))
        ratio = few.over(same)
        if not np.isfinite(ratio[places]).all():
            return trial.run(self.budget, self.n)
        return replace(self._found, errors=self._found.errors * ratio)

    def _quick(self, budget: Budget, n: int) -> np.ndarray:
        """Half widths by a few fits, corrected by what more fits say where the plan is."""
        few = self._trial.run(self.budget, self.n, quick=True)
        widths = self._trial.run(budget, n, quick=True).half_width
        return widths * _corrected(self._found.half_width, few.half_width)

    @property
    def _floors(self) -> np.ndarray:
        """Half widths without noise by a few fits, corrected in the same way by their part of sampling."""
        few = self._trial.run(self.budget, self.n, quick=True)
        return self._noiseless.without_noise * _corrected(self._found.without_noise, few.without_noise)

    @property
    def _noiseless(self) -> Outlook:
        """What a few fits come to under a noise that is nothing."""
        return self._trial.run(scaled(self.budget, _NO_NOISE / measure(self.budget)), self.n, quick=True)


def _corrected(more: np.ndarray, few: np.ndarray) -> np.ndarray:
    """What the plan's fits say over what a few do; 1 where either has no interval."""
    with np.errstate(all="ignore"):
        ratio = more / few
    return np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)


def _of_rows(sampling: np.ndarray, privacy: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Sampling variance is that of a row over n, and that of noise, over the square of n."""
    return np.asarray((sampling**2 + np.hypot(sampling**2, 2 * error * privacy)) / (2 * error**2))


def _of_budget(sampling: np.ndarray, privacy: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The sd of noise is that of a unit of epsilon or mu over them.

    What noise costs beside, as bounds that clip more, is in the other part: no step is over fourfold.
    """
    left = np.sqrt(np.maximum(error**2 - sampling**2, 0.0))
    return privacy / np.maximum(left, privacy / _FAR)


_BAND = 1.5  # factor of sds of which nothing is known, either way
_TIED = 0.5  # correlations of which nothing is known


@forgetting
@counted()
def plan(  # noqa: PLR0913 - what a user may know; public
    model: Plannable,
    budget: Budget,
    n: int,
    covariates: Any = None,
    coef: Mapping[str, float] | None = None,
    scale: float | None = None,
    events: float | None = None,
    inspections: float | Sequence[float] | None = None,
    watches: str | float | Sequence[float] = EVEN,
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
        The number of its rows; where the schema declares a unit, of those that weigh: at most max_rows for
        each.
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
        Sd of residuals of a linear model, with weights of a row of weight 1, as sigma of a fit is;
        R's scale of a time to failure, of coxph that of a Weibull law,
        one over its shape; sd over mean of a gamma response;
        of counts, the root of their dispersion, which of a negative binomial family whose alpha is sought
        follows from the sd of the response, if that is told, and else is 1.
    events : float, optional
        Share of failures, or of ones.
    inspections : float or sequence of float, optional
        Of failures between two times: how far apart the looks at a unit are, or their times. The last look
        is at the end of its watch.
    watches : {"even", "equal"}, float or sequence of float
        Of times to failure, how long units are watched: "even" where they enter service evenly and the watch
        ends for all at one time, so that watches of all lengths are as frequent; "equal" where all are
        watched as long, as in a test that begins together; or lengths that are as frequent as each other.

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
    if isinstance(covariates, pd.DataFrame | PublicMoments) and model._rows is not NO_ROWS:
        raise SpecificationError(
            "covariates= is a table, whose rows nothing protects, and the model has data of its own; plan a "
            "model without data, such as dps.ols(formula, None, schema), and give a table of public rows"
        )
    rows, design = count("n", n), model.design
    if rows < 1:
        raise SpecificationError("n must be at least 1, the number of rows of the fit to come")
    check_budget(budget, rows)
    if inside := of_subset(covariates, design):
        design = replace(design, subset=None, _subset=None)
    told, failure = told_of(design.response)
    known = read_known(covariates, design, told if told in design.schema else None, inside)
    if events is None and known.response and failure is not None:
        events = known.response.mean if failure else 1 - known.response.mean
    asked = read_asked(coef, scale, events, inspections, watches, known.response, design.names)
    return _planned(Setting(with_rows(model, NO_ROWS, design=design), known, asked), budget, rows)


def _planned(setting: Setting, budget: Budget, n: int) -> FitPlan:
    trial = Trial(setting)
    found = trial.run(budget, n)
    band: tuple[np.ndarray, ...] = ()
    if any(one.assumed for one in setting.known.spreads.values()):
        same = trial.run(budget, n, quick=True).half_width
        known = setting.known
        others = [known.stretched(_BAND), known.stretched(1 / _BAND)] + [
            known.tied(_TIED)
        ] * known.may_be_tied
        trials = [Trial(replace(setting, known=other)) for other in others]
        with np.errstate(all="ignore"):
            band = tuple(
                found.half_width * one.run(budget, n, quick=True).half_width / same for one in trials
            )
    return FitPlan(setting, budget, n, trial, found, band)
