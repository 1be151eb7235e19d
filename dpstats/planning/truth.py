"""The law that made-up responses follow: coefficients, an intercept, a scale and a share of events.

And what is written down of a response: values of the variable that is measured, and of a life when it ended
or its watch did, or between which looks at the unit.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import optimize

from dpstats._arguments import among, near, number, numbers, shown
from dpstats.errors import SpecificationError
from dpstats.estimators.halving import halved
from dpstats.families import Dist, GlmFamily
from dpstats.families.glm import POISSON
from dpstats.formula import Design, IntervalResponse, SurvResponse, build_design
from dpstats.formula.expressions import Expression
from dpstats.formula.reader import is_comparison
from dpstats.planning.knowledge import Spread
from dpstats.planning.rows import coded
from dpstats.schema import Schema

_GRID = 1000  # values at which a transformed response is seen to rise or fall


def undone(measured: Expression, schema: Schema) -> tuple[str, Callable[[np.ndarray], np.ndarray]]:
    """The variable that is measured, and how its values follow from those of the response."""
    if len(measured.variables) != 1:
        raise SpecificationError(
            f"plan makes up responses of one variable, and {measured.text!r} reads several; plan with one "
            "variable in their place"
        )
    if is_comparison(measured):
        raise SpecificationError(
            f"plan makes up no values of which {measured.text!r} is told; plan with a flag() in its place"
        )
    (name,) = measured.variables
    low, high = schema[name].bounds
    grid = np.asarray(measured.values({name: np.linspace(low, high, _GRID)}))
    steps = np.diff(grid)
    if not (steps >= 0).all() and not (steps <= 0).all():
        raise SpecificationError(
            f"plan needs a response that rises or falls with its variable, and {measured.text!r} does both"
        )
    rising = bool(grid[-1] > grid[0])

    def undo(target: np.ndarray) -> np.ndarray:
        ends = np.full(len(target), low), np.full(len(target), high)
        return halved(lambda at: (np.asarray(measured.values({name: at})) < target) == rising, *ends)

    return name, (lambda target: target) if measured.text == name else undo


NO_INSPECTIONS = (
    "inspections= is of Surv(lower, upper, type='interval2'), which needs it: how far apart the looks at a "
    "unit are, such as 500, or their times, [100, 500, 2000]"
)
_MOST = 10_000  # looks at a unit


def looks_until(times: np.ndarray, last: float) -> np.ndarray:
    """Times at which units are looked at, up to some time; one alone is how far they are apart.

    Raises
    ------
    SpecificationError
        If they are too many.
    """
    if len(times) > 1:
        return times
    step = float(times[0])
    if last > _MOST * step:
        raise SpecificationError(
            f"inspections= {step:g} apart are more than {_MOST} in a life of up to {last:.4g}; give a "
            "longer step, or plan the model with Surv(time, event)"
        )
    return np.arange(step, last + step, step)


See: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None], dict[str, Any]]
"""Columns of (when a life or its watch ended, end of the watch, whether it failed, inspections)."""


def read_inspections(given: Any) -> np.ndarray | None:
    """Read ``inspections=``.

    Raises
    ------
    SpecificationError
    """
    if given is None:
        return None
    times = np.atleast_1d(numbers("inspections", given))
    increasing = times.ndim == 1 and len(times) and bool((np.diff(times, prepend=0.0) > 0).all())
    if not increasing or not np.isfinite(times).all():
        raise SpecificationError(
            f"inspections= is how far apart the looks at a unit are, such as 500, or their times, which are "
            f"positive and increase; got {shown(given)}"
        )
    return times


def _until(response: SurvResponse, schema: Schema) -> See:
    variable, undo = undone(response.measured, schema)

    def columns(
        time: np.ndarray, watch: np.ndarray, failed: np.ndarray, inspections: np.ndarray | None
    ) -> dict[str, Any]:
        found: dict[str, Any] = {variable: undo(time)}
        if response.event is not None:
            name, one = response.event
            found[name] = coded(schema[name], failed == (one == 1))
        return found

    return columns


def _between(response: IntervalResponse, schema: Schema) -> See:
    if response.left:
        raise SpecificationError("plan knows no type='left'; plan the model with Surv(time, event)")
    (before, undo_before), (after, undo_after) = (
        undone(end, schema) for end in (response.began, response.measured)
    )
    if before == after:
        raise SpecificationError("plan needs two variables in Surv(lower, upper, type='interval2')")

    def columns(
        time: np.ndarray, watch: np.ndarray, failed: np.ndarray, inspections: np.ndarray | None
    ) -> dict[str, Any]:
        assert inspections is not None
        looks = looks_until(inspections, float(time.max()))
        place = np.searchsorted(looks, time)
        low = np.where(place > 0, looks[np.maximum(place - 1, 0)], np.nan)
        high = np.minimum(np.append(looks, np.inf)[place], watch)  # the last look is at the end of the watch
        seen = failed & np.isfinite(high)
        lower, upper = np.where(failed, low, time), np.where(seen, high, np.nan)
        return {before: _kept(undo_before, lower), after: _kept(undo_after, upper)}

    return columns


def _kept(undo: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """With open ends open."""
    return np.where(np.isnan(values), np.nan, undo(np.nan_to_num(values)))


INTERCEPT = "Intercept"

# lengths of watches over the longest: all as frequent, as of units that enter service evenly; or one
EVEN, EQUAL = "even", "equal"
_EVENLY = np.linspace(1e-3, 1, 10_000)
_NO_WATCHES = "watches= is of times to failure, with fits of survreg and coxph; leave it out"
_SURELY = 3.0  # sds of sampling that a share is below what was asked, to be surely less
_FARTHEST = 25.0  # sds or log-times of a standard residual: no float is lost beyond


@dataclass(frozen=True)
class AskedLaw:
    """What the user says of the law; None where nothing is said.

    Attributes
    ----------
    coef : dict of float
        Slopes, and the intercept, by the names of the design's columns.
    scale : float or None
        Of residuals, as an sd.
    events : float or None
        Share of failures or of ones.
    response : Spread or None
        Mean and sd of a response.
    inspections : array or None
        When units are looked at.
    watches : array
        How long they are watched, over the longest; None of units that enter service evenly.
    longest : float
        The longest watch; NaN where it is not said.
    """

    coef: Mapping[str, float]
    scale: float | None
    events: float | None
    response: Spread | None
    inspections: np.ndarray | None = None
    watches: np.ndarray | None = None
    longest: float = math.nan


@dataclass(frozen=True)
class Drawn:
    """Made-up rows without their response.

    Attributes
    ----------
    columns : dict
        By variable.
    exog : array, shape (n, p)
    offset : array, shape (n,)
    """

    columns: dict[str, Any]
    exog: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class ResponseLaw:
    """How responses are drawn.

    Attributes
    ----------
    coef : array, shape (p,)
        Of the design's columns, the intercept included; of a regression of hazards those of log times.
    level : float
        What is added to them.
    inspections : array or None
        When units are looked at, where that is how failures are found.
    watches : array
        Ends of watches less that of the longest; of late entries their lengths over the longest.
    by_weight : bool
        Whether the scale is that of a row of weight 1, and residuals of others over the root of theirs.
    scale : float
        Sd of residuals, of a gamma law the coefficient of variation, of times R's scale.
    end : float
        Of times: the logarithm of the longest watch, or its end; infinite if all rows fail.
    assumed : tuple of str
        What was not said, in words.
    """

    coef: np.ndarray
    scale: float
    end: float
    assumed: tuple[str, ...]
    level: float = 0.0
    inspections: np.ndarray | None = None
    watches: np.ndarray = field(default_factory=lambda: np.zeros(1))
    by_weight: bool = False


def read_asked(
    coef: Any,
    scale: Any,
    events: Any,
    inspections: Any,
    watches: Any,
    response: Spread | None,
    names: tuple[str, ...],
) -> AskedLaw:
    """Read ``coef=``, ``scale=``, ``events=``, ``inspections=`` and ``watches=``.

    Raises
    ------
    SpecificationError
    """
    if coef is not None and not isinstance(coef, Mapping):
        raise SpecificationError(f"coef= is a dict such as {{{names[-1]!r}: 0.02}}, not {shown(coef)}")
    slopes = dict(coef or {})
    if not set(slopes) <= set(names):
        raise SpecificationError(
            f"coef= names no coefficient of the model; it has {', '.join(names)}{near(slopes, names)}"
        )
    slopes = {name: _finite(f"coef[{name!r}]", value) for name, value in slopes.items()}
    if scale is not None and not 0 < (scale := _finite("scale", scale)):
        raise SpecificationError(f"scale must be positive, got {scale:g}")
    if events is not None and not 0 < (events := _finite("events", events)) <= 1:
        raise SpecificationError(f"events is the share of failures or of ones, up to 1; got {events:g}")
    return AskedLaw(slopes, scale, events, response, read_inspections(inspections), *_read_watches(watches))


def _read_watches(given: Any) -> tuple[np.ndarray | None, float]:
    """Lengths over the longest, and the longest, which words do not say."""
    (word,) = given if isinstance(given, list) and len(given) == 1 else [given]
    if among(word, (EVEN, EQUAL)):
        return (None if word == EVEN else np.ones(1)), math.nan
    lengths = np.zeros(1)
    with suppress(SpecificationError):
        lengths = np.atleast_1d(numbers("watches", given))
    if lengths.ndim != 1 or not len(lengths) or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise SpecificationError(
            f"watches= is {EVEN!r}, where units enter service evenly, {EQUAL!r}, where all are watched as "
            "long, or lengths of watches that are as frequent as each other, such as [365, 730]; got "
            f"{shown(given)}"
        )
    return lengths / lengths.max(), float(lengths.max())


def _finite(name: str, value: Any) -> float:
    found = number(name, value)
    if not math.isfinite(found):
        raise SpecificationError(f"{name} must be finite, got {found:g}")
    return found


class MeanLaw:
    """Of a response with a mean: linear and generalised linear models.

    Counts whose alpha a fit is to find are Poisson, whose means follow a gamma law where they scatter more.

    Parameters
    ----------
    design : Design
    family : GlmFamily
    """

    def __init__(self, design: Design, family: GlmFamily) -> None:
        self._design, self._response, self._sought = design, design.numeric, family.seek is not None
        self._family = POISSON if self._sought else family
        self._variable, self._undo = undone(self._response.measured, design.schema)
        self._weighted = design.weights is not None and family.constant_variance

    def settle(self, asked: AskedLaw, rows: Drawn) -> ResponseLaw:
        """Fill in what was not said, for rows such as these."""
        if asked.inspections is not None:
            raise SpecificationError(NO_INSPECTIONS)
        if asked.watches is not None:
            raise SpecificationError(_NO_WATCHES)
        coef, given = _coefficients(self._design, asked)
        eta, assumed = rows.exog @ coef + rows.offset, []
        mean = self._mean(asked)
        if self._design.has_intercept and not given:
            if mean is None:
                mean = sum(self._response.bounds) / 2
                assumed.append(f"a mean response of {mean:.4g}, the middle of its bounds")
            coef[0] = self._level(mean, eta)
        eta = rows.exog @ coef + rows.offset
        scale, by_weight = self._scale(asked, self._family.mean(eta), assumed), asked.scale is not None
        if self._weighted:
            assumed.append(
                "residuals with an sd of scale= over the root of their weight, as sigma of a fit tells it"
                if by_weight
                else "residuals that scatter alike, whatever their weight; where weights are inverse "
                "variances, intervals are shorter: give scale=, the sd of a row of weight 1"
            )
        return ResponseLaw(coef, scale, math.inf, tuple(assumed), by_weight=self._weighted and by_weight)

    def columns(self, law: ResponseLaw, rows: Drawn, rng: np.random.Generator) -> dict[str, Any]:
        """The response of each row."""
        mean, phi = self._family.mean(rows.exog @ law.coef + rows.offset), law.scale**2
        variable = self._design.schema[self._variable]
        if variable.all:
            return {self._variable: coded(variable, rng.uniform(size=len(mean)) < mean)}
        if not self._family.free_dispersion and phi > 1:
            shape = np.maximum(mean.mean() if self._sought else mean, 1e-12) / (phi - 1)
            mean, phi = rng.gamma(shape, mean / shape), 1.0
        drawn = self._family.draw(mean, phi, rng)
        if law.by_weight:
            weighing = build_design(
                f"{self._response.text} ~ offset({self._design.weights})", self._design.schema
            )
            weights = weighing.new_rows(rows.columns, clip=True).offset
            drawn = mean + (drawn - mean) / np.sqrt(np.maximum(weights, 1e-300))
        return {self._variable: self._undo(drawn)}

    def _mean(self, asked: AskedLaw) -> float | None:
        if asked.events is not None:
            if not self._design.schema[self._variable].all:
                raise SpecificationError("events= is of times to failure and of yes or no; leave it out")
            if asked.events == 1:
                raise SpecificationError("events must be below 1: else nothing is left to explain")
            return asked.events
        return asked.response.mean if asked.response else None

    def _level(self, mean: float, eta: np.ndarray) -> float:
        """The intercept for which responses have this mean."""
        middle = float(self._family.link(np.array(mean)))
        ends = middle - float(eta.max()), middle - float(eta.min())
        if ends[0] == ends[1]:
            return ends[0]
        return float(optimize.brentq(lambda a: float(self._family.mean(a + eta).mean()) - mean, *ends))

    def _scale(self, asked: AskedLaw, means: np.ndarray, assumed: list[str]) -> float:
        if self._design.schema[self._variable].all:
            return 1.0
        sd, explained = asked.response.sd if asked.response else math.nan, float(means.var())
        if asked.scale is not None:
            if not self._family.free_dispersion and asked.scale < 1:
                raise SpecificationError("scale= of counts is at least 1, the root of their dispersion")
            return asked.scale
        if not self._family.free_dispersion:
            assumed += [
                "counts that scatter as under a Poisson law; where they scatter more, intervals are "
                "longer: give scale=, the root of their dispersion"
            ] * (self._sought and math.isnan(sd))
            # Var(y) = E(m + alpha m^2) + Var(m)
            alpha = (sd**2 - explained - means.mean()) / np.mean(means**2) if self._sought else 0.0
            return math.sqrt(1 + np.fmax(alpha, 0.0) * means.mean())
        if not self._family.constant_variance:
            assumed.append("a scale (sd over mean) of 1")
            return 1.0
        if math.isnan(sd):
            sd = (self._response.bounds[1] - self._response.bounds[0]) / 12**0.5
            assumed.append(f"an sd of the response of {sd:.4g}, as if it were even over its bounds")
        if not sd**2 > explained:
            raise SpecificationError(
                f"coef= explains a response with an sd of {explained**0.5:.4g}, all of the sd that it has, "
                f"{sd:.4g}; give scale=, the sd of residuals, or smaller coefficients"
            )
        return math.sqrt(sd**2 - explained)


class TimeLaw:
    """Of a time to failure that is censored when a unit's watch ends.

    Units enter service evenly, so that watches of all lengths up to the longest are as frequent, unless all
    are watched as long or lengths are said; times of distributions that are not of logarithms end together,
    unless they are. A unit that enters late lives at least until then, and its watch begins there.

    Parameters
    ----------
    design : Design
    dist : Dist
    known : float, optional
        The scale, where the model knows it.
    hazards : bool
        Whether coefficients are of log hazards, which are those of log times over minus the scale.
    """

    def __init__(self, design: Design, dist: Dist, known: float | None = None, hazards: bool = False) -> None:
        assert isinstance(design.response, SurvResponse | IntervalResponse)
        self._design, self._dist, self._known, self._response = design, dist, known, design.response
        entry = design.response.entry
        self._hazards, self._entry = hazards, (entry.name or "") if entry else ""
        if hazards and design.strata_terms:
            raise SpecificationError(
                "plan knows no strata() of coxph; plan the model with "
                f"{' and '.join(design.strata_terms)} among the covariates in its place, and expect the fit "
                "with strata() to be less certain"
            )
        if design.delayed and (hazards or not self._entry):
            raise SpecificationError(
                "plan knows late entries of survreg, where the entry is a variable as it stands; plan the "
                "model without the entry"
            )
        seen: Callable[..., See] = _between if design.intervals else _until
        self._see = seen(design.response, design.schema)

    def settle(self, asked: AskedLaw, rows: Drawn) -> ResponseLaw:
        """Fill in what was not said, for rows such as these."""
        coef, given = _coefficients(self._design, asked)
        asked = replace(asked, events=1.0 if self._response.all_failed else asked.events)
        self._check(asked, given)
        known = asked.scale if self._known is None else self._known
        scale, assumed = (1.0, ("a scale of 1",)) if known is None else (known, ())
        parts = _EVENLY if asked.watches is None else asked.watches
        coef = coef * self._of_time(scale)
        law = ResponseLaw(coef, scale, math.inf, assumed, 0.0, asked.inspections, parts)
        return (self._watched_late if self._entry else self._watched)(law, asked, given, rows)

    def _check(self, asked: AskedLaw, given: bool) -> None:
        """Refuse what does not go with the model, or with what else was said."""
        last, told = self._response.time_bounds[1], math.isfinite(asked.longest)
        if self._known is not None and asked.scale is not None:
            raise SpecificationError(
                f"the model knows its scale, {self._known:g}; leave scale= out of the plan"
            )
        if (asked.inspections is None) == self._design.intervals:
            raise SpecificationError(NO_INSPECTIONS)
        if told and asked.longest > last:
            raise SpecificationError(f"watches= are at most the upper bound of the time, {last:g}")
        if told and given and asked.events is not None:
            raise SpecificationError(
                "the share of failures follows from lengths in watches= and the Intercept in coef=; leave "
                "events= or one of them out"
            )

    def _watched(self, law: ResponseLaw, asked: AskedLaw, given: bool, rows: Drawn) -> ResponseLaw:
        """Until when units are watched, or at which level they live, so that so many fail."""
        (first, last), events, assumed = self._response.time_bounds, asked.events, law.assumed
        told = math.isfinite(asked.longest)
        ends, parts = np.array([first, asked.longest if told else last]), law.watches
        low, high = np.log(ends) if self._dist.log else ends
        watches = np.log(parts) if self._dist.log else (parts - 1) * asked.longest if told else np.zeros(1)
        rng, level = np.random.default_rng(1), 0.0
        life = self._lives(law, rows, rng)
        over = life - rng.choice(watches, len(life))
        if events is None and not given:
            events, assumed = 0.5, (*assumed, "failures of half of the rows")
        if events is None:
            assumed += (f"watches up to {ends[1]:.4g}",) * (not told)
            return replace(law, end=high, assumed=assumed, watches=watches)
        if not given:
            level = float((low + high) / 2 - life.mean() if events == 1 else high - np.quantile(over, events))
            over = over + level
        elif events < 1:
            self._check_reached(events, over <= high)
        end = math.inf if events == 1 else float(np.quantile(over, events))
        return replace(law, end=end, assumed=assumed, level=level, watches=watches)

    def _watched_late(self, law: ResponseLaw, asked: AskedLaw, given: bool, rows: Drawn) -> ResponseLaw:
        """The longest watch, from the entry on, at which so many fail."""
        events = asked.events
        if not given or (events is None and math.isnan(asked.longest)):
            usual = float(np.median(rows.exog @ law.coef)) - asked.coef.get(INTERCEPT, 0.0)
            raise SpecificationError(
                "a plan of rows that enter late needs the Intercept in coef=, which is about the "
                f"{'log of the ' if self._dist.log else ''}typical life"
                f"{f', less the {usual:.4g} that the other columns of coef= add to it' if usual else ''}, "
                "and events=, the share of failures, or lengths in watches=; it has "
                f"{'the Intercept alone' if given else 'no Intercept'}"
            )
        if events is None or events == 1:
            return replace(law, end=asked.longest if events is None else law.end)
        rng, begun = np.random.default_rng(1), self._begun(rows)
        lives = self._lives(law, rows, rng)
        self._check_reached(events, lives <= self._response.time_bounds[1])
        spent = (lives - begun) / rng.choice(law.watches, len(begun))
        return replace(law, end=float(np.quantile(spent, events)))

    def _check_reached(self, events: float, failing: np.ndarray) -> None:
        """Refuse more failures than come within the bounds of the time, of made-up rows.

        Raises
        ------
        SpecificationError
        """
        reached = float(failing.mean())
        if reached < events - _SURELY * math.sqrt(events * (1 - events) / len(failing)):
            raise SpecificationError(
                f"events={events:g} cannot be reached: with this Intercept in coef= a share of {reached:.2g} "
                f"fails within the upper bound of the time, {self._response.time_bounds[1]:g}; give fewer "
                "failures or another Intercept, leave one of both out, or declare a longer time"
            )

    def columns(self, law: ResponseLaw, rows: Drawn, rng: np.random.Generator) -> dict[str, Any]:
        """Time and event of each row."""
        life, n = self._lives(law, rows, rng), len(rows.exog)
        if not self._entry:
            watch = law.end + rng.choice(law.watches, n)
        else:
            begun = self._begun(rows)
            watch = begun + law.end * rng.choice(law.watches, n)
            life, watch = (np.log(life), np.log(watch)) if self._dist.log else (life, watch)
        failed, time = life <= watch, np.minimum(life, watch)
        if self._dist.log:
            time, watch = np.exp(time), np.exp(watch)
        return self._see(time, watch, failed, law.inspections)

    def params(self, law: ResponseLaw) -> np.ndarray:
        """Coefficients as a fit has them, its scale aside."""
        level = law.level * (np.array(self._design.names) == INTERCEPT)
        return law.coef / self._of_time(law.scale) if self._hazards else law.coef + level

    def _of_time(self, scale: float) -> float:
        """What a coefficient of the model is multiplied with to be one of log times."""
        return -scale if self._hazards else 1.0

    def _lives(self, law: ResponseLaw, rows: Drawn, rng: np.random.Generator) -> np.ndarray:
        """When units fail: on the scale of coefficients, or the time itself where they enter late."""
        middle = rows.exog @ law.coef + law.level + self._of_time(law.scale) * rows.offset
        even = rng.uniform(1e-12, 1, len(middle))
        if not self._entry:
            return np.asarray(middle + law.scale * self._residuals(even))
        begun = self._begun(rows)
        with np.errstate(divide="ignore"):
            z = ((np.log(begun) if self._dist.log else begun) - middle) / law.scale
            lived = np.exp(-np.exp(self._dist.family.log_cumulative_hazard(np.maximum(z, -_FARTHEST))))
        life = middle + law.scale * self._residuals(np.minimum(1 - lived * (1 - even), 1 - 1e-16))
        return np.maximum(np.exp(life) if self._dist.log else life, begun * (1 + 1e-9))

    def _begun(self, rows: Drawn) -> np.ndarray:
        """When units enter."""
        return np.asarray(rows.columns[self._entry], dtype=float)

    def _residuals(self, even: np.ndarray) -> np.ndarray:
        """Of a number from 0 to 1 for each row."""
        return np.clip(self._dist.family.quantile(even), -_FARTHEST, _FARTHEST)


def _coefficients(design: Design, asked: AskedLaw) -> tuple[np.ndarray, bool]:
    """Coefficients of the columns, and whether the intercept is among those that were given."""
    return np.array([asked.coef.get(name, 0.0) for name in design.names]), INTERCEPT in asked.coef
