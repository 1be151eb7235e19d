"""Survival quantities as functions of (coefficients, log sigma), with gradients, and predictions of them.

Notation: b the location coefficients, s = log sigma the coefficient after them, that of the point's stratum
where each has its own, z = (y - x'b) / sigma, where y is log t for distributions of log time and t otherwise,
and x'b includes the offset. Every function of N points and N values returns a centre of shape (N,) with its
gradient of shape (N, k), for the delta method. Standard errors of predictions are on the scale predicted
(docs/theory/results.md#survival-tables).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpstats._arguments import numbers, shown
from dpstats.errors import SpecificationError
from dpstats.families import IDENTITY, LOG, Family, Link
from dpstats.results.intervals import by_slope, critical, doubted_share, known_params, standard_errors
from dpstats.results.newdata import Points
from dpstats.results.prediction import Errors, linear_predictor
from dpstats.results.record import Record

Linear = tuple[np.ndarray, np.ndarray]

_NOTHING = 2.0**-50  # a quantile below is 0 but for rounding, as that of eta, and sigma has no part in it


def check_times(
    times: float | Sequence[float], asked: str, positive: bool = False, link: Link = LOG
) -> np.ndarray:
    """Return `times` as an array, refusing negative ones (and 0, where the quantity has no value there).

    Of a response that is modelled as it is, and not by its logarithm, any will do, as its `link` says.
    """
    if isinstance(times, Mapping):
        raise SpecificationError(f"{asked} takes newdata first and times after it, and times are a dict here")
    values = np.atleast_1d(numbers("times", times))
    if not values.size:
        raise SpecificationError(f"{asked} needs finite times, such as times=[100, 500]")
    allowed = (link is IDENTITY) | ((values > 0) if positive else (values >= 0))
    if values.ndim != 1 or not (allowed & np.isfinite(values)).all():
        least = "above" if positive else "of at least"
        raise SpecificationError(f"{asked} needs finite times {least} 0; got {shown(times)}")
    return values


def failed_fractions(failed: float | Sequence[float]) -> np.ndarray:
    """Check fractions of failed units.

    Raises
    ------
    SpecificationError
        Unless all are strictly between 0 and 1.
    """
    fractions = np.atleast_1d(numbers("failed", failed))
    bad = ~((fractions > 0) & (fractions < 1))
    if fractions.ndim != 1 or bad.any():
        # not the number, which may be a cell of a table
        which = f", whose item {int(np.argmax(bad)) + 1} is none" * (np.ndim(failed) == 1 and bool(bad.any()))
        raise SpecificationError(
            f"failed fractions are between 0 and 1, where 10 % is 0.1, as for B10; got {shown(failed)}{which}"
        )
    return fractions


def sigma_at(record: Record, at: Points) -> np.ndarray:
    """Return sigma = exp(Log(scale)) of each point, that of its stratum, and 1 where it is not estimable."""
    return np.exp(known_params(record)[_own(record, at)])


def _own(record: Record, at: Points) -> np.ndarray:
    """Return which coefficient is the log sigma of each point."""
    return record.n_location + at.stratum


def _along_log_sigma(record: Record, at: Points, gradient: np.ndarray, slope: np.ndarray | float) -> None:
    """Add to a gradient, shape (N, k), what moves with the log sigma of each point."""
    gradient[np.arange(len(gradient)), _own(record, at)] += slope


def _line(record: Record, at: Points) -> Linear:
    """Return x'b with its gradient, b where gradients are taken."""
    return linear_predictor(replace(record, params=known_params(record)), at)


def hidden(record: Record, at: Points) -> np.ndarray:
    """Return which points rest on a coefficient or log sigma that is not estimable."""
    _, used = linear_predictor(record, at)
    _along_log_sigma(record, at, used, 1.0)
    return np.isinf(standard_errors(used, record))


def quantile(record: Record, at: Points, failed: np.ndarray) -> Linear:
    """Return x'b + sigma q(failed): the quantile of y."""
    centre, gradient = _line(record, at)
    q = record.distribution.family.quantile(failed)
    q = np.where(np.abs(q) < _NOTHING, 0.0, q)
    spread = sigma_at(record, at) * q
    _along_log_sigma(record, at, gradient, spread)
    return centre + spread, _with_doubt(record, gradient, q, sigma_at(record, at))


def _with_doubt(record: Record, gradient: np.ndarray, z: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Append to a gradient, where the law is in doubt, how far it may be off at residuals z, times `scale`.

    By z so many units more or fewer have failed as come at other times than the law says: limits of 95 % are
    those by which no more have failed than twice that.
    """
    half = critical(0.95)
    share = half * doubted_share(record)
    if not share:
        return gradient
    family = record.distribution.family
    failed = family.cdf(z)
    other = np.clip(failed + np.where(failed < 0.5, share, -share), _NOTHING, 1 - _NOTHING)
    inside = np.isfinite(z) & (z != 0.0)  # at 0 is eta, which is the line's
    moved = np.where(inside, np.abs(family.quantile(other) - np.where(inside, z, 0.0)), 0.0)
    return np.column_stack([gradient, scale * moved / half])


def standardized(record: Record, at: Points, times: np.ndarray) -> Linear:
    """Return z at `times`; minus infinity, with certainty, at time 0 of a log-time distribution."""
    location, gradient = _line(record, at)
    sigma = sigma_at(record, at)
    with np.errstate(divide="ignore"):
        y = np.log(times) if record.distribution.log else np.asarray(times, dtype=float)
    z = (y - location) / sigma
    gradient = -gradient / sigma[:, None]
    _along_log_sigma(record, at, gradient, -z)
    gradient[np.isinf(z)] = 0.0
    return z, _with_doubt(record, gradient, z, np.ones(len(z)))


def log_hazard(record: Record, at: Points, times: np.ndarray) -> Linear:
    """Return log of the hazard per unit of time: log h0(z) - s, minus log t for log-time distributions."""
    dist = record.distribution
    z, gradient = standardized(record, at, times)
    centre = dist.family.log_hazard(z) - np.log(sigma_at(record, at)) - (np.log(times) if dist.log else 0.0)
    gradient = gradient * dist.family.log_hazard_slope(z)[:, None]
    _along_log_sigma(record, at, gradient, -1.0)
    return centre, gradient


def log_conditional_hazard(record: Record, at: Points, age: np.ndarray, times: np.ndarray) -> Linear:
    """Return log(H(age + t) - H(age)), so that exp(-exp(.)) is the chance to survive t more."""
    family = record.distribution.family
    young, young_gradient = standardized(record, at, age)
    old, old_gradient = standardized(record, at, age + times)
    log_young, log_old = family.log_cumulative_hazard(young), family.log_cumulative_hazard(old)
    more = (age + times > age) & (log_old > -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(more, log_old + np.log(-np.expm1(log_young - log_old)), -np.inf)
        rate = np.exp(family.log_hazard(old) - centre)[:, None] * old_gradient
        rate -= np.exp(family.log_hazard(young) - centre)[:, None] * young_gradient
    return centre, np.where(np.isfinite(centre)[:, None], rate, 0.0)


def mean(record: Record, at: Points) -> Linear:
    """Return log E[T] for log-time distributions, E[T] otherwise; infinite where the mean does not exist."""
    dist, sigma = record.distribution, sigma_at(record, at)
    centre, gradient = _line(record, at)
    if not dist.log:
        _along_log_sigma(record, at, gradient, sigma * dist.family.mean)
        return centre + sigma * dist.family.mean, gradient
    factor = np.array([float(dist.family.mean_factor(each)) for each in sigma])
    slopes = [
        each * float(dist.family.log_mean_factor_slope(each)) if np.isfinite(size) else 0.0
        for each, size in zip(sigma, factor, strict=True)
    ]
    _along_log_sigma(record, at, gradient, np.array(slopes))
    return centre + np.log(factor), gradient


def log_hazard_ratio(record: Record) -> Linear:
    """Return -b / sigma for every location coefficient: log hazard ratios of a Weibull model of one sigma."""
    p, params = record.n_location, known_params(record)
    sigma = float(np.exp(params[-1]))
    centre = -params[:p] / sigma
    gradient = np.zeros((p, len(record.names)))
    gradient[:, :p] = -np.eye(p) / sigma
    gradient[:, -1] = -centre
    return centre, gradient


AT_TIMES = ("survival", "hazard", "cumhaz")  # kinds of prediction that are of a time
OF_QUANTILES = ("quantile", "median")
USUAL = (0.1, 0.5, 0.9)  # failed fractions


def kind_asked(
    kind: str | None, default: str, p: object = None, times: object = None, of_times: Sequence[str] = AT_TIMES
) -> str:
    """Return the kind of prediction that is asked for: without a name that which `p` or `times` are of.

    Raises
    ------
    SpecificationError
        If fractions or times are given for a kind that has none, or both.
    """
    kinds = {"p": OF_QUANTILES[:1], "times": of_times}
    given = [name for name, value in (("p", p), ("times", times)) if value is not None]
    asked = kind or (kinds[given[0]][0] if given else default)
    for name in given:
        if asked not in kinds[name]:
            of = " or ".join(f"type={one!r}" for one in kinds[name])
            raise SpecificationError(f"{name}= is of {of}, and what is asked for is type={asked!r}")
    return asked


def predictions(
    record: Record,
    at: Points,
    kind: str,
    p: float | Sequence[float] | None,
    times: float | Sequence[float] | None,
) -> tuple[Callable[[float], Errors], np.ndarray, bool]:
    """Return what predicts m points with their errors at times or fractions, at which, and whether at one.

    Raises
    ------
    SpecificationError
        If times or fractions are asked for that there are not.
    """
    if kind in AT_TIMES:
        times = () if times is None else times
        asked = check_times(times, f"type={kind!r}", kind == "hazard", record.link)
        return lambda time: _at_time(record, at, kind, time), asked, np.ndim(times) == 0
    p = 0.5 if kind == "median" else USUAL if p is None else p
    return (
        lambda q: _transformed(record, quantile(record, at, np.array(q)), record.link),
        failed_fractions(p),
        np.ndim(p) == 0,
    )


def _at_time(record: Record, at: Points, kind: str, time: float) -> Errors:
    """Return survival, hazard or cumulative hazard at a time; of log time, nothing has failed at 0."""
    asked = np.full(len(at.exog), time)
    if kind == "hazard":
        return _transformed(record, log_hazard(record, at, asked), LOG)
    z, gradient = standardized(record, at, asked)
    value, slope = _of_residual(record.distribution.family, kind, z)
    return value, by_slope(slope, standard_errors(gradient, record))


def _transformed(record: Record, linear: Linear, back: Link) -> Errors:
    centre, gradient = linear
    return back.inverse(centre), by_slope(back.slope(centre), standard_errors(gradient, record))


def _of_residual(family: Family, kind: str, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return survival or cumulative hazard at z, with the size of its derivative."""
    begun = np.isfinite(z)
    inside = np.where(begun, z, 0.0)
    slope = np.where(begun, family.hazard(inside), 0.0)
    if kind == "survival":
        return family.sf(z), slope * family.sf(z)
    return np.where(begun, np.exp(family.log_cumulative_hazard(inside)), 0.0), slope
