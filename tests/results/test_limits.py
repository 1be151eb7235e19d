"""Every interval is an estimate, or what a scale makes of it, plus and minus quantiles of its stated error.

The methods are all public ones that take a level, of fits of every kind and of what fits return.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import special

import dpstats as dps
from dpstats.moments.linear import Quantity
from dpstats.moments.mixture import LAWS, Tails
from dpstats.results.document import Document
from dpstats.results.intervals import Estimate, positive, rsquared
from dpstats.results.record import given
from dpstats.results.survival_tables import contenders
from dpstats.testing import SeededNoise, noise
from tests.results.every import EVERY, MARGIN_AT, hazards, svm
from tests.results.fits import USE, capacitor
from tests.results.glms import glm
from tests.results.linear import linear

LEVELS = 0.6, 0.8  # of limits that hardly ever end at a bound
NEAR = 1e-6
NAMES = {
    "estimate": ("estimate", "coef", "mean", ".fitted", "expected"),
    "se": ("std_error", "std err", "mean_se", ".se_fit"),
    "low": ("conf_low", "mean_ci_lower", ".lower", 0),
    "high": ("conf_high", "mean_ci_upper", ".upper", 1),
}
SCALES: tuple[Callable[[float], float], ...] = (
    lambda x: x,
    math.log,
    lambda x: -math.log(1 - x),
    lambda x: -math.log(-math.log(x)),
    lambda x: math.log(x / (1 - x)),
    lambda x: float(special.ndtri(x)),
)
# effects on curved means, whose limits are the ends of a curve, lie about as far from the estimate
CURVED, ABOUT = ("logit", "glm-poisson", "glm-gamma"), 0.1


def critical(level: float) -> float:
    """The quantile of a normal law that limits of this level are away, in standard errors."""
    return float(special.ndtri((1 + level) / 2))


class Row(NamedTuple):
    """An estimate, its standard error, NaN where none is stated, and its limits."""

    estimate: float
    se: float
    low: float
    high: float

    @property
    def limits(self) -> tuple[float, float]:
        return self.low, self.high


def _holders() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    for name, (fit, at) in EVERY.items():
        yield name, fit, at
        yield f"{name} predicted", fit.get_prediction(at), at
        yield f"{name} tested", fit.t_test(f"{fit.names[1]} = 0"), at
    yield "rivals", capacitor(rivals=(("lognormal", -3.0, 1.2), ("loglogistic", 2.0, 0.7))), USE
    yield "moments", linear().moments, {}


def _asked(method: Callable[..., Any], at: dict[str, Any]) -> dict[str, Any]:
    """Good arguments for those that a method needs."""
    fit = getattr(method, "__self__", None)
    time = 7.0 if getattr(fit, "dist", None) in ("sev", "logistic", "gaussian") else 300.0
    stress = {name: value * 1.01 for name, value in at.items() if not isinstance(value, str)}
    known = {"newdata": at, "use": at, "stress": stress, "times": time, "age": time / 6, "conf_int": True}
    return {name: each for name, each in known.items() if name in inspect.signature(method).parameters}


def tables(owner: Any, at: dict[str, Any]) -> dict[str, Callable[[float], Any]]:
    """Tables of a holder by their level, but forecasts, whose numbers have a law of their own."""
    found = {}
    for name in dir(type(owner)):
        method = None if name.startswith(("_", "plot", "forecast")) else getattr(owner, name, None)
        if callable(method) and "level" in inspect.signature(method).parameters:
            asked = _asked(method, at)
            found[name] = lambda level, method=method, asked=asked: method(**asked, level=level)
    return found


def _cases() -> Iterator[Any]:
    """Those of all holders whose limits are quantiles of a normal law."""
    for holder, owner, at in _holders():
        for name, table in tables(owner, at).items():
            if holder not in CURVED or name != "marginal_effects":
                yield pytest.param(table, id=f"{holder} {name}")
    found = Quantity(0.4, 0.03, 0.02)
    yield pytest.param(lambda level: rsquared(found, level), id="rsquared")
    yield pytest.param(lambda level: positive("", found, level), id="positive")


def rows(table: Any) -> list[Row]:
    """Of a table in any form; none of a page, which prints the tables."""
    table = getattr(table, "frame", table)
    if isinstance(table, Document):
        return []
    if isinstance(table, Estimate):
        return [Row(table.estimate, table.std_error, table.conf_low, table.conf_high)]
    frame = pd.DataFrame(table)
    chosen = {
        part: next((frame[name] for name in names if name in frame), np.nan) for part, names in NAMES.items()
    }
    return [Row(*map(float, row)) for row in pd.DataFrame(chosen, frame.index).itertuples(index=False)]


def halves(row: Row, scale: Callable[[float], float], level: float) -> np.ndarray:
    """Standard errors on this scale as the stated one and the lower and the upper limit have them; NaN where
    there is none."""
    try:
        low, high = scale(row.low), scale(row.high)
        middle = (low + high) / 2 if math.isnan(row.estimate) else scale(row.estimate)
    except ValueError:
        return np.full(3, np.nan)
    step = NEAR * abs(row.estimate)
    stated = math.nan
    if not math.isnan(row.se):
        stated = abs(scale(row.estimate + step) - scale(row.estimate - step)) / (2 * step) * row.se
    return np.array([stated, (middle - low) / critical(level), (high - middle) / critical(level)])


def agreed(both: Sequence[Row]) -> bool:
    """Whether there is a scale on which two limits, at each of two levels, have one standard error."""
    for scale in SCALES:
        found = np.array([halves(row, scale, level) for row, level in zip(both, LEVELS, strict=True)])
        told = found[~np.isnan(found)]
        if len(told) >= 4 and np.ptp(told) <= NEAR * told.max():
            return True
    return False


@pytest.mark.parametrize("table", list(_cases()))
def test_limits_are_quantiles_of_the_stated_error(table: Callable[[float], Any]) -> None:
    for both in zip(*(rows(table(level)) for level in LEVELS), strict=True):
        if np.isfinite([row.limits for row in both]).all() and both[0].low < both[0].high:
            assert agreed(both), both


# what was released beside coefficients; alpha follows phi, whose errors are so small that it has one scale
RELEASED = {
    "survreg": capacitor(
        law=Quantity(0.1, 0.02, 0.01), loglik=Quantity(-400.0, 3.0, 3.0), nevents=Quantity(30.0, 4.0, 4.0)
    ),
    "negative binomial": glm(
        "poisson",
        dist="negativebinomial(alpha=0.4)",
        excess=Quantity(0.4, 1e-7, 1e-8),
        dispersion=Quantity(1.5, 2e-7, 1e-8),
    ),
}
OF_THREE = {"law": (2 + 0.95) / 3}  # of the clearest of three contrasts, each at a third of what is left
# noise may be all of it: its lower limit is that of the variance (tests/results/test_linear.py)
OWN = {"ols sigma", "ridge sigma"}


def _numbers() -> Iterator[Any]:
    """Those that a fit has without being asked for a level, 0.95, found by inspection."""
    for holder, fit in {**{name: fit for name, (fit, _) in EVERY.items()}, **RELEASED}.items():
        for name in dir(fit):
            found = None if name.startswith("_") else getattr(fit, name)
            if isinstance(found, Estimate) and f"{holder} {name}" not in OWN:
                yield pytest.param(found, OF_THREE.get(name, 0.95), id=f"{holder} {name}")


@pytest.mark.parametrize(("found", "level"), list(_numbers()))
def test_limits_of_a_number_are_quantiles_of_its_stated_error(found: Estimate, level: float) -> None:
    (row,) = rows(found)
    told = np.array([halves(row, scale, level) for scale in SCALES])
    assert found.level == 0.95 and row.low < row.high
    assert np.nanmin(np.ptp(told, axis=1) / told.max(axis=1)) <= NEAR


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(("far", "left"), [(0.99, ["lognormal", "loglogistic"]), (1.01, ["lognormal"])])
def test_laws_as_far_apart_as_limits_of_their_noise_are_told_apart(
    level: float, far: float, left: list[str]
) -> None:
    """Of noise of .6 and .8 in two likelihoods the difference has 1."""
    rivals = (("lognormal", 5.0, 0.6), ("loglogistic", 5.0 - far * critical(level), 0.8))
    assert contenders(capacitor(rivals=rivals).record, level) == left


def test_all_numbers_that_are_released_have_limits() -> None:
    names = {str(case.id).split()[-1] for case in _numbers()}
    assert names >= {
        "law",
        "llf",
        "aic",
        "bic",
        "nevents",
        "shape",
        "sigma",
        "dispersion",
        "alpha",
        "rsquared",
    }


LEFT = 0.7  # of the variances, where the others have noise


def _less(make: Callable[..., dps.Fit], **changes: Any) -> dps.Fit:
    cov = make().record.cov
    return make(cov=LEFT * cov, cov_privacy=0 * cov, **changes)


def _less_of_hazards() -> dps.Fit:
    record = hazards().record
    baseline, trend = given(record.baseline), given(record.trend)
    left = replace(baseline, cov=LEFT * baseline.cov, cov_privacy=0 * baseline.cov)
    return _less(hazards, baseline=left, trend=replace(trend, cov=LEFT * trend.cov))


def _less_of_moments() -> Any:
    moments = linear().moments
    found = moments._found
    names = ("mean_noise", "sd_noise", "corr_noise")
    return replace(moments, _found=replace(found, **{name: 0 * getattr(found, name) for name in names}))


@pytest.mark.parametrize(
    "name, owner, less",
    [
        ("survreg-weibull", capacitor(), _less(capacitor)),
        ("svm", svm(), _less(svm)),
        ("coxph", hazards(), _less_of_hazards()),
        ("ols", linear().moments, _less_of_moments()),
    ],
    ids=["survreg", "svm", "coxph", "moments"],
)
def test_noise_widens_all_limits(name: str, owner: Any, less: Any) -> None:
    at = EVERY[name][1]
    with_noise, without = tables(owner, at), tables(less, at)
    assert set(with_noise) == set(without)
    for table in with_noise:
        both = zip(rows(with_noise[table](0.8)), rows(without[table](0.8)), strict=True)
        known = [(row, other) for row, other in both if np.isfinite(row.limits).all()]
        assert all(row.high - row.low > other.high - other.low for row, other in known), table


@pytest.mark.parametrize("name", CURVED)
def test_limits_of_effects_on_a_curve_are_about_as_wide(name: str) -> None:
    fit, at = EVERY[name]
    for level in LEVELS:
        for row in rows(fit.marginal_effects(at, level=level)):
            assert row.low < row.estimate < row.high
            assert abs((row.high - row.low) / (2 * critical(level) * row.se) - 1) < ABOUT


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """A curve and a description, whose limits have laws of their own, and a forecast."""
    rng = np.random.default_rng(1)
    time = rng.exponential(30, 2000)
    failed, x = (time < 60).astype(int), rng.normal(size=2000)
    data = pd.DataFrame({"time": time.clip(1, 60), "failed": failed, "x": x})
    schema = dps.Schema(time=dps.bounded(1, 60), failed=dps.event(), x=dps.bounded(-5, 5))
    with noise(SeededNoise(2)):
        curve = dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema).fit(dps.zcdp(0.5))
        look = dps.describe(data, schema, dps.zcdp(0.5))
    return {
        "median": curve.median,
        "quantile": lambda level: curve.quantile(level=level),
        "rmst": lambda level: curve.rmst(40, level),
        "predict": lambda level: curve.predict([10, 30], level),
        "table": curve.table,
        "tidy": look.tidy,
        "correlations": look.correlations,
        "forecast": lambda level: capacitor().forecast(USE | {"age": 50.0}, 300.0, age="age", level=level),
    }


@pytest.mark.parametrize(
    "name", ["median", "quantile", "rmst", "predict", "table", "tidy", "correlations", "forecast"]
)
def test_limits_widen_with_the_level(name: str, described: dict[str, Any]) -> None:
    """And hold those of a smaller one."""
    fewer, more = (rows(described[name](level)) for level in LEVELS)
    known = [(less, row) for less, row in zip(fewer, more, strict=True) if np.isfinite(less.limits).all()]
    assert all(row.low <= less.low and less.high <= row.high for less, row in known)
    assert any(row.low < less.low and less.high < row.high for less, row in known)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variance", [1e-4, 1e-2, 1.0])
def test_limits_of_hazards_hold_what_noise_of_the_clock_may_be(level: float, variance: float) -> None:
    """It may have made up all failures, or hide as many, where its error is several times what was seen."""
    fit = hazards(baseline=replace(given(hazards().record.baseline), variances=np.full(3, variance)))
    baseline, time = given(fit.record.baseline).levelled[1], np.array([100.0])
    error, whole = baseline.clock_variances(time, np.array([0])) ** 0.5, baseline.hazards(time, np.array([0]))
    moved = critical(level) * float(error[0] / whole.sum())
    (row,) = rows(fit.cumulative_hazard(MARGIN_AT, times=time, level=level))
    assert row.low <= row.estimate * max(1 - moved, NEAR) * (1 + NEAR)
    assert row.high >= row.estimate * (1 + moved) * (1 - NEAR)
    (row,) = rows(fit.survival(MARGIN_AT, times=time, level=level))
    assert row.low <= row.estimate ** (1 + moved) * (1 + NEAR)
    assert row.high >= row.estimate ** max(1 - moved, NEAR) * (1 - NEAR)


@pytest.mark.parametrize("law", LAWS)
def test_of_noise_of_no_normal_law_what_is_known_has_no_width_and_what_is_lost_has_no_end(law: str) -> None:
    cov = np.diag([0.0, 0.04, np.inf])
    tails = Tails(law, 3, np.array([0.0, 0.03, np.inf]))
    width = tails.half_widths(0.95, cov)
    assert width[0] == 0 and 0.2 < width[1] < 1 and width[2] == np.inf
    assert tails.two_sided(width, cov)[1] == pytest.approx(0.05) and tails.two_sided(width, cov)[2] == 1
