"""Fits of made-up rows by the model's own estimator, and what they say of a fit to come."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from dpstats.budget import Budget, Gdp, Pure, measure
from dpstats.errors import SpecificationError
from dpstats.families import DISTS
from dpstats.families.glm import GAUSSIAN
from dpstats.ledger import uncharged
from dpstats.models import Coxph, GlmModel, LinearModel, Survreg
from dpstats.models.skeleton import NO_ROWS
from dpstats.planning.knowledge import Known, drawn_variables
from dpstats.planning.rows import CALIBRATION, Maker
from dpstats.planning.truth import Asked, Drawn, Law, MeanLaw, TimeLaw
from dpstats.results import Fit
from dpstats.results.record import scale_names
from dpstats.rows import Rows, open_rows
from dpstats.testing import SeededNoise, noise

Planned = LinearModel | GlmModel | Survreg | Coxph


def check_no_rows(model: Planned) -> None:
    """Refuse a model with data beside a table of public rows, which nothing protects: they may be one.

    Raises
    ------
    SpecificationError
    """
    if model._rows is not NO_ROWS:
        raise SpecificationError(
            "covariates= is a table, whose rows nothing protects, and the model has data of its own; plan a "
            "model without data, such as dps.ols(formula, None, schema), and give a table of public rows"
        )


def without_rows(model: Planned) -> Planned:
    """The same model, which leads to no row."""
    return _with(model, NO_ROWS)


def fit_made(model: Planned, made: dict[str, Any], budget: Budget, seed: int) -> Fit:
    """Fit made-up rows as the model would fit private ones, under seeded noise and with no ledger.

    The fit says that it is not private; nobody but a plan sees it.
    """
    made_model = _with(model, open_rows(made, model.design.schema, model.design.variables))
    with uncharged(), noise(SeededNoise(seed)):
        return made_model.fit(budget)


def _with(model: Planned, rows: Rows) -> Planned:
    other = object.__new__(type(model))
    vars(other).update(vars(model) | {"_rows": rows})
    return other


Z95 = float(special.ndtri(0.975))

_LARGEST = 1_500_000  # numbers of a made-up design; more rows are told by fewer, at a larger budget
_QUICK_LARGEST = 400_000  # the same where a search asks many times
_PROPORTIONAL = "weibull"  # the law of made-up times whose hazards are proportional
_SECONDS = 6.0  # of all fits at most, about
_CALLS, _PER_NUMBER = 0.035, 4e-7  # seconds of a linear fit, its rows made up
_QUICK, _FEWEST, _MOST = 3, 9, 150  # fits
_KNOWN = 0.03  # error of a median standard error, of itself, that needs no more fits
_SURELY, _HALVINGS = (
    6.0,
    40,
)  # sds of an estimate beyond the edge of a test, which then finds any; of a search
_LEAST_SCATTER = 0.1  # of estimates in standard errors: below, a test would be a step
# fits over linear ones: of GLMs, of times to failure, under pure epsilon, and of late entries or looks
_SLOWER_GLM, _SLOWER_TIMES, _SLOWER_PURE, _SLOWER_LATE = 1.5, 4.0, 5.0, 5.0


@dataclass(frozen=True)
class Outlook:
    """What fits of one budget and one number of rows come to, for each coefficient; shape (k,).

    Attributes
    ----------
    sampling, privacy : array
        Parts of the standard error; NaN of a coefficient that no fit could estimate.
    reach : array
        Half the width of the interval of level .95, in standard errors of a normal law's 1.96.
    lost : array
        Share of fits that could not estimate it.
    errors : array, shape (fits, k)
        Standard errors of each fit; infinite of what it could not estimate.
    scatter : float
        Sd of estimates in standard errors of their fits: below 1 where intervals are longer than need be.
    """

    sampling: np.ndarray
    privacy: np.ndarray
    reach: np.ndarray
    lost: np.ndarray
    errors: np.ndarray
    scatter: float

    @property
    def error(self) -> np.ndarray:
        """Standard errors."""
        return np.hypot(self.sampling, self.privacy)

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
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            short = self.rejects(middle) < share
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.where(self.lost > 1 - share, np.inf, high)

    @property
    def half_width(self) -> np.ndarray:
        """Of intervals of level .95; infinite where most fits estimate nothing."""
        return np.where(self.lost > 0.5, np.inf, Z95 * self.reach * self.error)

    @property
    def unsure(self) -> np.ndarray:
        """Errors of medians of standard errors, of themselves, over fits that estimate them."""
        return np.asarray(_apart(self.errors) / np.sqrt(np.isfinite(self.errors).sum(axis=0)))

    @property
    def longest(self) -> np.ndarray:
        """Standard errors that one fit in ten exceeds, over medians; infinite if it estimates none."""
        return np.asarray(np.quantile(self.errors, 0.9, axis=0, method="inverted_cdf") / self.error)


@dataclass(frozen=True)
class Setting:
    """Everything that a trial is made from.

    Attributes
    ----------
    model : LinearModel, GlmModel, Survreg or Coxph
        Without rows.
    known : Known
    asked : Asked
    """

    model: Planned
    known: Known
    asked: Asked

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        design = self.model.design
        scaled = isinstance(self.model, Survreg)
        return (*design.names, *scale_names(design.strata_labels)) if scaled else design.names


class Trial:
    """Fits of rows that follow one law.

    Attributes
    ----------
    setting : Setting
    law : Law
    params : array, shape (k,)
        The true parameters.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting, self._found = setting, dict[tuple[Budget, int, bool], Outlook]()
        design = setting.model.design
        self._maker = Maker(setting.known, design.schema, drawn_variables(design))
        self._of = _law_of(setting.model)
        self.law: Law = self._of.settle(setting.asked, self._drawn(np.random.default_rng(0), CALIBRATION))
        last = [np.log(self.law.scale)] * (len(setting.names) - len(design.names))
        coef = self._of.params(self.law) if isinstance(self._of, TimeLaw) else self.law.coef
        self.params = np.append(coef, last)

    def __reduce__(self) -> tuple[type[Trial], tuple[Setting]]:
        return Trial, (self.setting,)  # functions that it has made are not pickled

    def run(self, budget: Budget, n: int, quick: bool = False) -> Outlook:
        """What fits of n rows come to; a search, which asks many times, takes fewer and smaller ones."""
        asked = budget, n, quick
        if asked not in self._found:
            self._found[asked] = self._run(*asked)
        return self._found[asked]

    def _run(self, budget: Budget, n: int, quick: bool) -> Outlook:
        n, columns = max(int(n * self.setting.known.usable), 1), len(self.setting.names)
        slower = _slower(self.setting.model, budget)
        fewer = max(1.0, n * columns / min(_QUICK_LARGEST if quick else _LARGEST, _affordable(slower)))
        rows = max(int(n / fewer), 1)
        # the budget at which fewer rows have the noise of all: sums and their noise shrink alike
        spent = budget if fewer == 1 else (Pure if budget.pure else Gdp)(measure(budget) * fewer)
        most = _QUICK if quick else int(np.clip(_SECONDS / slower / _seconds(rows * columns), _FEWEST, _MOST))
        found = [self._fit(spent, rows, seed) for seed in range(_QUICK if quick else _FEWEST)]
        while len(found) < most:
            wanted = min(_wanted(np.array([total for total, *_ in found])), 2 * len(found), most)
            if wanted <= len(found):
                break
            found += [self._fit(spent, rows, seed) for seed in range(len(found), wanted)]
        total, noise, half, params = (np.array(each) for each in zip(*found, strict=True))
        return _summed(total, noise, half, fewer, _scatter(params, total))

    def _fit(
        self, budget: Budget, rows: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Variances, their parts of privacy, half widths and estimates."""
        rng = np.random.default_rng([1, seed])
        drawn = self._drawn(rng, rows)
        made = drawn.columns | self._of.columns(self.law, drawn, rng)
        unit = self.setting.model.design.schema.privacy_unit
        if unit.column:
            made[unit.column] = np.arange(rows) // unit.max_rows
        fit = fit_made(self.setting.model, made, budget, seed)
        assert fit.not_private
        low, high = fit.conf_int().to_numpy().T
        record = fit.record
        return np.diag(record.cov), np.diag(record.cov_privacy), (high - low) / 2, record.params

    def _drawn(self, rng: np.random.Generator, rows: int) -> Drawn:
        design, columns = self.setting.model.design, self._maker.draw(rng, rows)
        if not design.covariates:
            return Drawn(columns, np.ones((rows, len(design.names))), np.zeros(rows))
        new = design.new_rows(columns, clip=True)
        return Drawn(columns, new.exog, new.offset)


def _seconds(numbers: float) -> float:
    """What a linear fit of a design of so many numbers takes on one core of today, about."""
    return _CALLS + _PER_NUMBER * numbers


def _affordable(slower: float) -> float:
    """Numbers of a design of which as few fits as there may be take no longer than all may."""
    return (_SECONDS / _FEWEST / slower - _CALLS) / _PER_NUMBER


def _slower(model: Planned, budget: Budget) -> float:
    """How much longer a fit of this model takes than a linear one."""
    if model.design.delayed or model.design.intervals:
        return _SLOWER_LATE
    if isinstance(model, Survreg | Coxph):
        return _SLOWER_PURE if budget.pure else _SLOWER_TIMES
    return _SLOWER_GLM if isinstance(model, GlmModel) else 1.0


def _wanted(total: np.ndarray) -> int:
    """How many fits it takes to know medians of standard errors well enough: of variances, shape (fits, k).

    Of a coefficient that some fits lose, chances have to be known as well, and most fits are made.
    """
    known = np.isfinite(total)
    if (known.any(axis=0) != known.all(axis=0)).any():
        return _MOST
    apart = _apart(np.sqrt(total[:, known.all(axis=0)]))
    return math.ceil(float(np.max((apart / _KNOWN) ** 2, initial=0.0)))


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
    if isinstance(model, LinearModel):
        return MeanLaw(model.design, GAUSSIAN)
    if isinstance(model, GlmModel):
        return MeanLaw(model.design, model.family)
    if isinstance(model, Coxph):
        return TimeLaw(model.design, DISTS[_PROPORTIONAL], hazards=True)
    return TimeLaw(model.design, DISTS[model.dist], model.scale)


def _scatter(params: np.ndarray, total: np.ndarray) -> float:
    """Sd of estimates about their means, in standard errors; coefficients of one fit differ little in it."""
    known = np.isfinite(total) & (total > 0)
    fits = np.maximum(known.sum(axis=0), 1)
    apart = np.where(known, params, 0.0) - np.sum(np.where(known, params, 0.0), axis=0) / fits
    z = apart[known] / np.sqrt(total[known])
    free = int(np.sum(fits - 1))
    return max(float(np.sqrt(z @ z / free)), _LEAST_SCATTER) if free else 1.0


def _summed(total: np.ndarray, noise: np.ndarray, half: np.ndarray, fewer: float, scatter: float) -> Outlook:
    """Medians over fits; the sampling variance of all rows is that of fewer, divided."""
    known = np.isfinite(total) & np.isfinite(half)
    lost = 1 - known.mean(axis=0)
    with np.errstate(all="ignore"):
        reach = np.where(known, half / (Z95 * np.sqrt(total)), np.nan)
        sampling = np.where(known, np.maximum(total - noise, 0.0) / fewer, np.nan)
        privacy = np.where(known, noise, np.nan)
        errors = np.where(known, np.sqrt(sampling + privacy), np.inf)
    middle = np.sqrt(_median(sampling)), np.sqrt(_median(privacy))
    return Outlook(*middle, _median(reach), lost, errors, scatter)


def _median(values: np.ndarray) -> np.ndarray:
    """Over rows, NaN where there is none."""
    return pd.DataFrame(np.where(np.isfinite(values), values, np.nan)).median().to_numpy()
