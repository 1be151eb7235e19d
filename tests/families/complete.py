"""What a family must be able to do: its functions are tried at a few points, and compared with each other."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpstats.families.glm import GlmFamily
from dpstats.families.links import LINKS
from dpstats.families.location_scale import CutRates, Family
from dpstats.families.martingale import has_sound_taper

_Z, _AT_0 = np.linspace(-5.0, 2.0, 15), np.zeros(1)
_FAR = np.array([-np.inf, -800.0, -40.0, 40.0, 800.0])  # the first of time 0, whose logarithm it is
_SIGMA = np.array([0.1, 0.4, 0.8])
_ETA = np.linspace(-3.0, 3.0, 13)
_SHARES = np.array([0.1, 0.5, 0.9])
_STEP, _NEAR = 1e-5, 1e-6  # of a difference, whose error is about 1e-10; of what must agree
_ONE = np.ones(1)  # responses
_LIMIT, _DISPERSION = 2.0, 0.7


@functools.lru_cache(maxsize=32)
def faults_of_family(family: Family) -> tuple[str, ...]:
    """Names of the functions that a location-scale family lacks, or that contradict the others."""
    return tuple(_failing(_tests_of_family(family)))


@functools.lru_cache(maxsize=32)
def faults_of_glm_family(family: GlmFamily) -> tuple[str, ...]:
    """The same of a family of a generalised linear model."""
    return tuple(_failing(_tests_of_glm_family(family)))


def _failing(tests: dict[str, Callable[[], bool]]) -> Iterator[str]:
    for name, holds in tests.items():
        try:
            with np.errstate(all="ignore"):
                fine = bool(holds())
        except Exception:
            fine = False
        if not fine:
            yield name


def _agree(values: Any, others: Any) -> bool:
    values, others = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    return values.shape == others.shape and bool(np.allclose(values, others, rtol=_NEAR, atol=_NEAR))


def _known_far(of: Callable[[np.ndarray], np.ndarray]) -> bool:
    values = of(_FAR)
    return math.exp(values[0]) == 0 and not np.isnan(values).any()


def _slope(function: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    return (np.asarray(function(at + _STEP)) - np.asarray(function(at - _STEP))) / (2 * _STEP)


def _tests_of_family(f: Family) -> dict[str, Callable[[], bool]]:
    def log_survival(z: np.ndarray) -> np.ndarray:
        return np.log(f.sf(z))

    def log_cumulative_hazard(z: np.ndarray) -> np.ndarray:
        cdf = f.cdf(z)  # where few have failed, it has the digits that the rounding of 1 - cdf lost
        return np.log(np.where(cdf < 0.5, -np.log1p(-cdf), -log_survival(z)))

    def density_slope(z: np.ndarray) -> np.ndarray:
        return np.asarray(f.log_hazard_slope(z) - f.hazard(z))

    def of_the_mean_factor() -> bool:
        """Where it is finite: a heavy tail has no mean at a large sigma, or at any."""
        sigma = _SIGMA[np.isfinite(f.mean_factor(_SIGMA + _STEP))]
        slope = _slope(lambda at: np.log(f.mean_factor(at)), sigma)
        return _agree(f.log_mean_factor_slope(sigma), slope)

    return {
        "name": lambda: bool(f.name and f.title),
        "cdf": lambda: bool((np.diff(f.cdf(_Z)) > 0).all()) and f.cdf(_Z).shape == _Z.shape,
        "sf": lambda: _agree(f.cdf(_Z) + f.sf(_Z), np.ones_like(_Z)),
        "quantile": lambda: _agree(f.quantile(f.cdf(_Z)), _Z),
        "log_cumulative_hazard": lambda: _agree(f.log_cumulative_hazard(_Z), log_cumulative_hazard(_Z)),
        "log_hazard": lambda: _agree(f.hazard(_Z), -_slope(log_survival, _Z)),
        "hazards far away": lambda: _known_far(f.log_cumulative_hazard) and _known_far(f.log_hazard),
        "log_hazard_slope": lambda: _agree(f.log_hazard_slope(_Z), _slope(f.log_hazard, _Z)),
        "mean": lambda: math.isfinite(f.mean),
        "sd": lambda: 0 < f.sd < math.inf,
        "skewness": lambda: math.isfinite(f.skewness),
        "kurtosis": lambda: f.skewness**2 - 2 <= f.kurtosis < math.inf,
        "curvature": lambda: _agree(
            [density_slope(_AT_0)[0], f.curvature], [0.0, -_slope(density_slope, _AT_0)[0]]
        ),
        "mean_factor": lambda: bool((np.asarray(f.mean_factor(_SIGMA)) > 0).all()),
        "log_mean_factor_slope": of_the_mean_factor,
        "interval_scale": lambda: bool(f.interval_scale),
        "taper": lambda: has_sound_taper(f),
        "cut": lambda: isinstance(f.cut, CutRates) and all(0 < each < math.inf for each in f.cut),
    }


def _tests_of_glm_family(f: GlmFamily) -> dict[str, Callable[[], bool]]:
    def mean_at(eta: np.ndarray) -> np.ndarray:
        return np.asarray(f.mean(eta), dtype=float)

    def of_clipped_square() -> bool:
        found = f.clipped_square and f.clipped_square(_LIMIT, _DISPERSION)
        return found is not None and 0 < found < _LIMIT**2

    def of_quantile() -> bool:
        return f.quantile is not None and bool((np.diff(f.quantile(_SHARES, _DISPERSION)) > 0).all())

    def of_clipped_mean() -> bool:
        found = np.asarray(f.clipped_mean(_ETA, np.full_like(_ETA, _LIMIT), _DISPERSION))
        return found.shape == _ETA.shape and bool((np.abs(found) <= _LIMIT).all())

    def of_log_likelihood() -> bool:
        likelihood = f.log_likelihood
        if free or likelihood is None:
            return free and likelihood is None
        found = _slope(lambda eta: likelihood(_ONE, eta), _ETA)
        return _agree(found, f.score(_ONE, _ETA)) and bool((likelihood(_ONE, _ETA) <= 0).all())

    free = f.free_dispersion  # only then are clipped_square and quantile asked
    return {
        "name": lambda: bool(f.name and f.title),
        "mean": lambda: bool((np.diff(mean_at(_ETA)) > 0).all()),
        "link": lambda: _agree(f.link(mean_at(_ETA)), _ETA),
        "link_name": lambda: _agree(LINKS[f.link_name].inverse(_ETA), mean_at(_ETA)),
        "score": lambda: _agree(f.score(mean_at(_ETA), _ETA), np.zeros_like(_ETA)),
        "curvature": lambda: (
            _agree(f.curvature(_ETA), -_slope(lambda eta: f.score(mean_at(_ETA), eta), _ETA))
            and bool((f.curvature(_ETA) <= f.most_curved).all())
        ),
        "variance": lambda: _agree(
            f.curvature(_ETA), _slope(mean_at, _ETA) ** 2 / np.asarray(f.variance(mean_at(_ETA)))
        ),
        "score_variance": lambda: bool((f.score_variance(_ETA, _DISPERSION) > 0).all()),
        "clipped_mean": of_clipped_mean,
        "clipped_square": lambda: not free or of_clipped_square(),
        "quantile": lambda: not free or of_quantile(),
        "free_dispersion": lambda: not free or _of_one_law(f),
        "support": lambda: f.support[0] < f.support[1],
        "largest_score": lambda: f.unlimited or _agree(f.score(_ONE, _ETA), 1 - mean_at(_ETA)),
        "longer_tail": lambda: 1 <= f.longer_tail < math.inf,
        "log_likelihood": of_log_likelihood,
        "stalls": lambda: not f.two_valued or f.stalls == (_shortest_step(f) < 0.1),
    }


def _shortest_step(f: GlmFamily) -> float:
    """The shorter Newton step of a yes at 4 and a no at -4: 1 of a logit, .23 of a probit."""
    answers, eta = np.array([1.0, 0.0]), np.array([4.0, -4.0])
    return float(np.abs(f.score(answers, eta) / f.curvature(eta)).min())


def _of_one_law(f: GlmFamily) -> bool:
    """Whether curvatures are 1, and scores have one law at every eta, of which the quantiles are."""

    def of_draws(eta: float) -> bool:
        assert f.quantile is not None
        mean = np.broadcast_to(f.mean(np.array([eta])), 4000)
        score = f.score(f.draw(mean, _DISPERSION, np.random.default_rng(1)), np.full(4000, eta))
        below = score[:, None] <= f.quantile(_SHARES, _DISPERSION)
        return bool((np.abs(below.mean(axis=0) - _SHARES) < 5 * np.sqrt(_SHARES / 4000)).all())

    spread = f.score_variance(_ETA, _DISPERSION)
    level = f.clipped_mean(_ETA, np.full_like(_ETA, _LIMIT), _DISPERSION)
    return (
        _agree(f.curvature(_ETA), np.ones_like(_ETA))
        and _agree(spread, np.full_like(_ETA, _DISPERSION))
        and _agree(level, np.full_like(_ETA, level[0]))
        and all(map(of_draws, _ETA))
    )
