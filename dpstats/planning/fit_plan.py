"""A plan: tables, power, and the budgets and rows that reach a precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from dpstats._arguments import number
from dpstats._private import forgetful
from dpstats.budget import Budget, delta_of, measure, scaled
from dpstats.errors import BudgetError, SpecificationError
from dpstats.planning.drawing import draw
from dpstats.planning.printed import document
from dpstats.planning.search import rounded_up, smallest
from dpstats.planning.trials import Z95, Outlook, Setting, Trial
from dpstats.planning.truth import INTERCEPT, moved
from dpstats.results.document import Document, Shown
from dpstats.results.record import is_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = np.ndarray
Fitted: TypeAlias = Callable[[float], tuple[Budget, int]]  # what is fitted, at a factor

_NO_NOISE = 1000.0  # epsilon, or mu, at which noise is nothing
_MOST_EPSILON = 100.0  # epsilon, or mu: a budget beyond promises nothing
_MOST_ROWS = 1e9
_SAME = 0.05  # log of a factor at which a correction is that of the plan itself
_FACTORS = np.geomspace(1e-3, 1e3, 121)  # of budgets and rows, for a first guess


@forgetful
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
    _band: tuple[Array, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return self._setting.names

    def table(self) -> pd.DataFrame:
        """Return what to expect of each coefficient.

        Returns
        -------
        DataFrame
            ``term``; ``coef``, the coefficient that was planned with; ``sampling`` and ``privacy``, parts of
            the standard error; ``std_error``; ``privacy_share`` of its square; ``half_width`` of the interval
            of level .95; ``found_80``, the effect that a test of level .05 finds in 80 % of fits; and
            ``not_estimable``, the chance that the fit says so. Where a spread is not known, ``half_low`` and
            ``half_high``: half widths with sds 1.5 times as large, and as small.

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
        }
        if self._band:
            columns |= {"half_low": self._band[0], "half_high": self._band[1]}
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
        return document(model.design.formula, self.budget, self.n, self.table(), known, self._trial.law)

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
        trial = replace(self._setting, asked=moved(self._setting.asked, wanted)).trial()
        powers = trial.run(self.budget, self.n).rejects(trial.params)
        return pd.Series({name: powers[self.names.index(name)] for name in wanted}, name="power")

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
        floor = self._ratio(wanted, self._quick(self._noiseless(), self.n))
        factor = None
        if floor < 1:
            start = self._guess(wanted, lambda f: np.hypot(self._found.sampling, self._found.privacy / f))
            factor = self._smallest(wanted, lambda f: (scaled(self.budget, f), self.n), start)
        if factor is None or measure(found := scaled(self.budget, factor)) > _MOST_EPSILON:
            raise BudgetError(
                f"no budget reaches this half width with n = {self.n}: without noise it is {floor:.3g} times "
                "as wide; n_for says how many rows would do with this budget"
            )
        return _rounded(found)

    def n_for(self, half_width: Mapping[str, float]) -> int:
        """Return the smallest number of rows at which intervals are as short as is asked, with this budget.

        Parameters
        ----------
        half_width : dict
            The same as in `budget_for`.

        Returns
        -------
        int
            Rounded up to two digits.

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
        found = self._found
        start = self._guess(wanted, lambda f: np.hypot(found.sampling / f**0.5, found.privacy / f))
        factor = self._smallest(wanted, lambda f: (self.budget, max(int(self.n * f), 1)), start)
        if factor is None or self.n * factor > _MOST_ROWS:
            raise BudgetError("this half width needs more than a billion rows with this budget")
        rows = int(rounded_up(self.n * factor))
        if (delta := delta_of(self.budget)) is not None and delta > 1 / rows:
            raise BudgetError(
                f"about {rows} rows are needed, for which delta = {delta:g} is too large; plan "
                f"with a delta below {1 / rows:.1g}"
            )
        return rows

    def plot(self, terms: Any = None, ax: Axes | None = None) -> Axes:
        """Draw half widths against the budget, each with the one that remains without noise.

        Needs matplotlib.

        Parameters
        ----------
        terms : sequence of str, optional
            Default: all but the intercept and ``Log(scale)``.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ahead.plot().get_xlabel()
        'rho'
        """
        chosen = (
            self._slopes()
            if terms is None
            else list(self._targets("terms", dict.fromkeys(_texts(terms), 1.0)))
        )
        places = [self.names.index(name) for name in chosen]
        budgets = [scaled(self.budget, 2.0**step) for step in range(-3, 4)]
        found = [self._quick(one, self.n)[places] for one in budgets]
        floor = self._quick(self._noiseless(), self.n)[places]
        return draw(chosen, budgets, np.array(found), floor, self.budget, ax)

    def _slopes(self) -> list[str]:
        """Names of the coefficients of covariates; of all if there are none."""
        kept = [name for name in self.names if name != INTERCEPT and not is_scale(name)]
        return kept or list(self.names)

    def _targets(self, argument: str, given: Any, positive: bool = False) -> dict[str, float]:
        if not isinstance(given, Mapping) or not given or not set(given) <= set(self.names):
            raise SpecificationError(
                f"{argument}= names coefficients of the model, {', '.join(self.names)}, such as "
                f"{{{self._slopes()[-1]!r}: 0.1}}"
            )
        wanted = {name: number(f"{argument}[{name!r}]", value) for name, value in given.items()}
        if positive and not all(0 < value < np.inf for value in wanted.values()):
            raise SpecificationError(f"{argument}= must be positive numbers")
        return wanted

    def _ratio(self, wanted: Mapping[str, float], half: Array) -> float:
        """The worst half width over what is asked."""
        return float(max(half[self.names.index(name)] / value for name, value in wanted.items()))

    def _smallest(self, wanted: Mapping[str, float], fit: Fitted, start: float) -> float | None:
        """The factor at which fits reach what is asked, searched by few fits.

        What they come to is corrected by more fits: where the plan is, and then where that search has ended.
        """
        found = smallest(partial(self._reached, wanted, fit, self._correction), start)
        if found is None or abs(math.log(found)) < _SAME:
            return found
        return smallest(partial(self._reached, wanted, fit, self._corrected(*fit(found))), found)

    def _reached(self, wanted: Mapping[str, float], fit: Fitted, correction: Array, factor: float) -> float:
        return self._ratio(wanted, self._trial.run(*fit(factor), quick=True).half_width * correction)

    def _quick(self, budget: Budget, n: int) -> Array:
        """Half widths by a few fits, corrected by what more fits say where the plan is."""
        return self._trial.run(budget, n, quick=True).half_width * self._correction

    @cached_property
    def _correction(self) -> Array:
        return self._corrected(self.budget, self.n, self._found)

    def _corrected(self, budget: Budget, n: int, found: Outlook | None = None) -> Array:
        """What more fits say over what a few do; 1 where either has no interval."""
        with np.errstate(all="ignore"):
            more = (found or self._trial.run(budget, n)).half_width
            ratio = more / self._trial.run(budget, n, quick=True).half_width
        return np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)

    def _guess(self, wanted: Mapping[str, float], error: Callable[[float], Array]) -> float:
        """The factor at which errors that shrink so would be small enough; 1 if that says nothing."""
        places = [self.names.index(name) for name in wanted]
        asked = np.array(list(wanted.values()))
        with np.errstate(all="ignore"):
            for factor in _FACTORS:
                if bool((Z95 * error(factor)[places] <= asked).all()):
                    return float(factor)
        return 1.0

    def _noiseless(self) -> Budget:
        return scaled(self.budget, _NO_NOISE / measure(self.budget))


def _texts(terms: Any) -> list[str]:
    several = isinstance(terms, list | tuple)
    return [one for one in (terms if several else [terms]) if isinstance(one, str)]


def _rounded(budget: Budget) -> Budget:
    return scaled(budget, rounded_up(budget.amount) / budget.amount)
