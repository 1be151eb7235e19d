"""Fits of made-up rows by the model's own estimator, and what they say of a fit to come."""

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from dpstats.budget import Budget, Gdp, Pure, measure
from dpstats.estimators.halving import halved
from dpstats.estimators.location_scale.plan import make_pure_plan
from dpstats.families import DISTS
from dpstats.families.glm import BINOMIAL, GAUSSIAN
from dpstats.ledger import uncharged
from dpstats.models import Coxph, GlmModel, LinearModel, Survreg
from dpstats.planning.knowledge import Knowledge, drawn_variables
from dpstats.planning.rows import CALIBRATION, Maker
from dpstats.planning.truth import INTERCEPT, AskedLaw, Drawn, MeanLaw, ResponseLaw, TimeLaw
from dpstats.results.record import is_scale, scale_names
from dpstats.rows import Rows, open_rows
from dpstats.running import bar
from dpstats.testing import SeededNoise, noise

Planned = LinearModel | GlmModel | Survreg | Coxph


_bar: ContextVar[Any] = ContextVar("bar", default=None)  # of the call that runs, if it shows one


@contextmanager
def counted() -> Iterator[None]:
    """Show how many fits were made, of a call that takes a while."""
    shown = bar(desc="made-up fits", unit=" fits")
    token = _bar.set(shown)
    with nullcontext() if shown is None else closing(shown):
        try:
            yield
        finally:
            _bar.reset(token)


def with_rows(model: Planned, rows: Rows, **parts: Any) -> Planned:
    """The same model of other rows; of none it leads to no row."""
    other = object.__new__(type(model))
    vars(other).update(vars(model) | {"_rows": rows} | parts)
    return other


Z95 = float(special.ndtri(0.975))

_LARGEST = 1_500_000  # numbers of a made-up design; more rows are told by fewer, at a larger budget
_QUICK_LARGEST = 200_000  # the same where a search asks many times
_SECONDS = 8.0  # of all fits at most, about
_CALLS, _PER_NUMBER = 0.03, 1.5e-7  # seconds of a linear fit, its rows made up
_QUICK, _FEWEST, _MOST = 3, 12, 60  # fits
_KNOWN = 0.05  # error of a median standard error, of itself, that needs no more fits
_SURELY = 6.0  # sds of an estimate beyond the edge of a test, which then finds any
_LEAST_SCATTER = 0.1  # of estimates in standard errors: below, a test would be a step
# fits over linear ones: of a yes or no, counts, times, late entries or looks, hazards; and a step of times
_SLOWER_YES_NO, _SLOWER_GLM, _SLOWER_TIMES, _SLOWER_LATE, _SLOWER_HAZARDS, _STEP = (
    1.2,
    2.2,
    3.0,
    5.0,
    7.0,
    0.5,
)


@dataclass(frozen=True)
class Outlook:
    """What fits of one budget and one number of rows come to, for each of k coefficients.

    Attributes
    ----------
    errors : array, shape (fits, k)
        Standard errors of each fit; infinite of what it could not estimate.
    share : array
        Part of their squares that is privacy noise, in the middle; NaN of what no fit could estimate.
    reach : array
        Half the width of the interval of level .95, in standard errors of a normal law's 1.96.
    corr : array, shape (k, k)
        Correlations of estimates, as fits tell them, in the mean.
    scatter : float
        Sd of estimates in standard errors of their fits: below 1 where intervals are longer than need be.
    """

    errors: np.ndarray
    share: np.ndarray
    reach: np.ndarray
    corr: np.ndarray
    scatter: float

    @property
    def lost(self) -> np.ndarray:
        """Share of fits that could not estimate a coefficient."""
        return np.asarray(1 - np.isfinite(self.errors).mean(axis=0))

    @cached_property
    def error(self) -> np.ndarray:
        """Medians of standard errors."""
        return _median(self.errors)

    @property
    def privacy(self) -> np.ndarray:
        """The part of the standard error that is privacy noise."""
        return np.asarray(self.error * np.sqrt(self.share))

    @property
    def sampling(self) -> np.ndarray:
        """The other part."""
        return np.asarray(self.error * np.sqrt(1 - self.share))

    def rejects(self, effects: np.ndarray) -> np.ndarray:
        """Power of tests of level .05 against effects, shape (k,); what is not estimable is not found."""
        reach = Z95 * np.nan_to_num(self.reach, nan=np.inf)
        z = np.abs(effects) / self.errors
        with np.errstate(invalid="ignore"):
            found = special.ndtr((z - reach) / self.scatter) + special.ndtr((-z - reach) / self.scatter)
        return np.asarray(np.mean(np.where(np.isfinite(self.errors), found, 0.0), axis=0))

    def found_in(self, share: float) -> np.ndarray:
        """Effects that tests of level .05 find in this share of fits; infinite where too few tell it."""
        longest = np.max(np.where(np.isfinite(self.errors), self.errors, 0.0), axis=0)
        low, high = 0.0 * longest, longest * (Z95 * np.nan_to_num(self.reach) + _SURELY * self.scatter)
        found = halved(lambda effects: self.rejects(effects) < share, low, high)
        return np.where(self.lost > 1 - share, np.inf, found)

    @property
    def half_width(self) -> np.ndarray:
        """Of intervals of level .95, as short in half of the fits: of what a fit loses it is infinite."""
        return np.where(self.lost > 0.5, np.inf, Z95 * self.reach * np.median(self.errors, axis=0))

    @property
    def without_noise(self) -> np.ndarray:
        """Half widths that sampling alone leaves; infinite of what most fits lose.

        What a fit adds to an interval where it doubts its model is counted as privacy, and does not vanish
        with the noise: fewer rows at a larger budget have as much of it as themselves, not as all rows.
        """
        return np.where(self.lost > 0.5, np.inf, self.half_width * np.sqrt(1 - self.share))

    def cov(self, errors: np.ndarray) -> np.ndarray:
        """Covariance of estimates with these errors; infinite variances of what most fits lose."""
        lost = self.lost > 0.5
        kept = np.where(lost, 0.0, errors)
        return np.asarray(kept * self.corr * kept[:, None] + np.diag(np.where(lost, np.inf, 0.0)))

    @property
    def unsure(self) -> np.ndarray:
        """Errors of medians of standard errors, of themselves, over fits that estimate them."""
        return np.asarray(_apart(self.errors) / np.sqrt(np.isfinite(self.errors).sum(axis=0)))

    def wanted(self, judged: np.ndarray) -> float:
        """How many fits it takes to know medians of standard errors well enough.

        Of a coefficient that some fits lose, chances have to be known as well, and most fits are made.

        Parameters
        ----------
        judged : array of bool, shape (k,)
            The coefficients that are to be known so well.
        """
        if np.any((self.lost > 0) & (self.lost < 1)):
            return _MOST
        apart = np.where(judged & (self.lost == 0), self.unsure, 0.0)
        return len(self.errors) * float(np.max((apart / _KNOWN) ** 2, initial=0.0))

    def over(self, other: "Outlook") -> np.ndarray:
        """Standard errors over those of as many fits with the same noise; NaN where they do not tell.

        Fits tell it where ratios of pairs of fits agree so that their mean is known as a median should be.
        """
        with np.errstate(all="ignore"):
            logs = np.log(self.errors / other.errors)
            alike = logs.std(axis=0, ddof=1) <= _KNOWN * math.sqrt(len(logs))
            return np.where(alike, np.exp(logs.mean(axis=0)), np.nan)

    @property
    def longest(self) -> np.ndarray:
        """Standard errors that one fit in ten exceeds, over medians; infinite if it estimates none.

        By the precisions of fits, of which lost coefficients have none: as often too large as too small.
        """
        with np.errstate(divide="ignore"):
            return 1 / np.quantile(self.error / self.errors, 0.1, axis=0, method="median_unbiased")


@dataclass(frozen=True)
class Setting:
    """Everything that a trial is made from.

    Attributes
    ----------
    model : LinearModel, GlmModel, Survreg or Coxph
        Without rows.
    known : Knowledge
    asked : AskedLaw
    """

    model: Planned
    known: Knowledge
    asked: AskedLaw

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        design = self.model.design
        return design.names + scale_names(design.strata_labels) * isinstance(self.model, Survreg)

    @property
    def slopes(self) -> np.ndarray:
        """Which coefficients are of covariates, for which plans are made; all if there are none."""
        found = np.array([name != INTERCEPT and not is_scale(name) for name in self.names])
        return found if found.any() else ~found


class Trial:
    """Fits of rows that follow one law.

    Attributes
    ----------
    setting : Setting
    law : ResponseLaw
    params : array, shape (k,)
        The true parameters.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting, self._found = setting, dict[tuple[Budget, int, bool], Outlook]()
        self._made = dict[tuple[Budget, int], list[tuple[np.ndarray, ...]]]()
        design = setting.model.design
        self._maker = Maker(setting.known, design.schema, drawn_variables(design))
        self._of = _law_of(setting.model)
        drawn = self._drawn(np.random.default_rng(0), CALIBRATION)
        law = self._of.settle(setting.asked, drawn)
        self.law: ResponseLaw = replace(law, assumed=(*law.assumed, *self._maker.missed(drawn.columns)))
        last = [np.log(self.law.scale)] * (len(setting.names) - len(design.names))
        coef = self._of.params(self.law) if isinstance(self._of, TimeLaw) else self.law.coef
        self.params = np.append(coef, last)

    def __reduce__(self) -> "tuple[type[Trial], tuple[Setting]]":
        return Trial, (self.setting,)  # functions that it has made are not pickled

    def run(self, budget: Budget, n: int, quick: bool = False) -> Outlook:
        """What fits of n rows come to; a search, which asks many times, takes fewer and smaller ones."""
        asked = budget, n, quick
        if asked not in self._found:
            self._found[asked] = self._run(*asked)
        return self._found[asked]

    def _run(self, budget: Budget, n: int, quick: bool) -> Outlook:
        # what rows take beside their columns is as one more, of hazards as four
        known, beside = self.setting.known, 4 if isinstance(self.setting.model, Coxph) else 1
        columns = len(self.setting.names) + beside
        n = max(int(n * known.inside * (1 - known.lacking[0])), 1)
        slower = _slower(self.setting.model, budget, n)
        affordable = max(_SECONDS / _FEWEST / slower - _CALLS, _CALLS) / _PER_NUMBER  # in the fewest fits
        fewer = max(1.0, n * columns / min(_QUICK_LARGEST if quick else _LARGEST, affordable))
        rows = max(int(n / fewer), 1)
        # the budget at which fewer rows have the noise of all: sums and their noise shrink alike
        spent = budget if fewer == 1 else (Pure if budget.pure else Gdp)(measure(budget) * fewer)
        most = _SECONDS / slower / (_CALLS + _PER_NUMBER * rows * columns)
        most, wanted = (_QUICK, _QUICK) if quick else (int(np.clip(most, _FEWEST, _MOST)), _FEWEST)
        made, read = self._made.setdefault((spent, rows), []), 0
        while read < wanted:
            made += [self._fit(spent, rows, seed) for seed in range(len(made), wanted)]
            read = wanted
            cov, noise, half, params = (np.array(each) for each in zip(*made[:read], strict=True))
            outlook = _summed(cov, noise, half, params, fewer)
            wanted = min(math.ceil(outlook.wanted(self.setting.slopes)), 2 * read, most)
        return outlook

    def _fit(self, budget: Budget, rows: int, seed: int) -> tuple[np.ndarray, ...]:
        """Covariance, its part of privacy, half widths and estimates of a fit, which is not charged."""
        rng, model = np.random.default_rng([1, seed]), self.setting.model
        drawn, schema = self._drawn(rng, rows), model.design.schema
        made = drawn.columns | self._of.columns(self.law, drawn, rng)
        if (unit := schema.privacy_unit).column:
            made[unit.column] = np.arange(rows) // unit.max_rows
        with uncharged(), noise(SeededNoise(seed)):
            fit = with_rows(model, open_rows(made, schema, model.design.variables)).fit(budget)
        assert fit.not_private  # nobody but a plan sees it
        if (shown := _bar.get()) is not None:
            shown.update()
        low, high = fit.conf_int().to_numpy().T
        return fit.record.cov, fit.record.cov_privacy, (high - low) / 2, fit.record.params

    def _drawn(self, rng: np.random.Generator, rows: int) -> Drawn:
        design, columns = self.setting.model.design, self._maker.draw(rng, rows)
        if not design.covariates:
            return Drawn(columns, np.ones((rows, len(design.names))), np.zeros(rows))
        new = design.new_rows(columns, clip=True)
        return Drawn(columns, new.exog, new.offset)


def _slower(model: Planned, budget: Budget, n: int) -> float:
    """How much longer a fit of this model takes than a linear one."""
    if model.design.delayed or model.design.intervals:
        return _SLOWER_LATE
    if isinstance(model, Survreg) and budget.pure:
        plan = make_pure_plan(measure(budget), n, len(model.design.names))
        return _STEP * (1 + len(plan.stages["early"].weights))
    if isinstance(model, Survreg | Coxph):
        return _SLOWER_TIMES if isinstance(model, Survreg) else _SLOWER_HAZARDS
    if not isinstance(model, GlmModel):
        return 1.0
    return _SLOWER_YES_NO if model.family is BINOMIAL else _SLOWER_GLM


def _apart(errors: np.ndarray) -> np.ndarray:
    """By what, over sqrt(m), medians of finite standard errors of m fits err, of themselves.

    It is 1.25 sds, and an sd is .74 of what is between quartiles.
    """
    if not errors.size:
        return np.zeros(errors.shape[1])
    quartiles = pd.DataFrame(np.where(np.isfinite(errors), np.log(np.maximum(errors, 1e-300)), np.nan))
    low, high = quartiles.quantile([0.25, 0.75]).to_numpy()
    return np.asarray(1.25 * 0.74 * (high - low))


def _law_of(model: Planned) -> MeanLaw | TimeLaw:
    if isinstance(model, LinearModel | GlmModel):
        return MeanLaw(model.design, model.family if isinstance(model, GlmModel) else GAUSSIAN)
    if isinstance(model, Coxph):
        proportional = next(dist for dist in DISTS.values() if dist.family.proportional and dist.log)
        return TimeLaw(model.design, proportional, hazards=True)
    return TimeLaw(model.design, DISTS[model.dist], model.scale)


def _scatter(params: np.ndarray, total: np.ndarray) -> float:
    """Sd of estimates about their means, in standard errors; coefficients of one fit differ little in it."""
    known = np.isfinite(total) & (total > 0)
    fits = np.maximum(known.sum(axis=0), 1)
    apart = np.where(known, params, 0.0) - np.sum(np.where(known, params, 0.0), axis=0) / fits
    z = apart[known] / np.sqrt(total[known])
    free = int(np.sum(fits - 1))
    return max(float(np.sqrt(z @ z / free)), _LEAST_SCATTER) if free else 1.0


def _summed(
    cov: np.ndarray, noise: np.ndarray, half: np.ndarray, params: np.ndarray, fewer: float
) -> Outlook:
    """Over fits, the first axis; the sampling variance of all rows is that of fewer, divided."""
    known = np.isfinite(np.diagonal(cov, axis1=1, axis2=2)) & np.isfinite(half)
    with np.errstate(all="ignore"):
        total = np.where(known, np.diagonal(cov, axis1=1, axis2=2), np.inf)
        scatter, reach = _scatter(params, total), half / (Z95 * np.sqrt(total))
        own = np.minimum(np.diagonal(noise, axis1=1, axis2=2), total)
        whole = own + (total - own) / fewer
        corr = np.nan_to_num(cov / np.sqrt(total[:, None] * total[..., None])).mean(axis=0)
        share = np.where(total > 0, own / whole, 0.0)
    errors = np.where(known, np.sqrt(whole), np.inf)
    np.fill_diagonal(corr, 1.0)
    return Outlook(errors, _median(share), _median(np.where(total > 0, reach, 1.0)), corr, scatter)


def _median(values: np.ndarray) -> np.ndarray:
    """Over rows, NaN where there is none."""
    return pd.DataFrame(np.where(np.isfinite(values), values, np.nan)).median().to_numpy()
