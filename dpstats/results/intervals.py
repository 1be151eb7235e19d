"""The deterministic delta method: functions of the coefficients with standard errors, intervals and tests.

Intervals are built on a scale where the range is unbounded and then transformed
(docs/theory/intervals.md#scales), so that times and ratios stay positive and probabilities stay inside
[0, 1]. Nothing is simulated: the same fit always prints the same interval.

Limits that hold for several quantities at once (multcomp's and emmeans' adjustments) are a critical value
times standard errors. The supremum of correlated normals is found on Sobol's points
(docs/theory/intervals.md#joint-intervals).

Of a record, standard errors of the coefficients give tests, limits and shares of privacy.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NoReturn, TypeAlias

import numpy as np
import scipy
from scipy import special

from dpstats._arguments import among, shown
from dpstats._codes import LAW
from dpstats.errors import SpecificationError
from dpstats.moments.linear import Quantity
from dpstats.moments.mixture import Tails
from dpstats.moments.roots import rounding
from dpstats.results.record import Record, given
from dpstats.results.table import Marked, bracket, figures, level_percent, titled

Joint: TypeAlias = bool | Literal["bonferroni", "sup-t"] | None

METHODS = ("bonferroni", "sup-t")
POINTS = 2**15 - 1
LEAST_LEVEL = 0.5  # an interval that more likely misses is no one's wish, but an alpha by mistake


def critical(level: float) -> float:
    """Return the normal quantile of a two-sided interval.

    Raises
    ------
    SpecificationError
        As `check_level`.
    """
    check_level(level)
    return float(special.ndtri(0.5 + level / 2))


def check_level(level: object) -> None:
    """Refuse what is no confidence level.

    Raises
    ------
    SpecificationError
        Unless `level` is a number strictly between 0 and 1.
    """
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise SpecificationError(f"level must be between 0 and 1, e.g. level=0.95; {_got(level)}")


def _got(value: object) -> str:
    """What was given in the place of a level, and what it is if it is in percent."""
    if isinstance(value, int | float | np.number) and 1 < value < 100:
        return f"got {shown(value)}; {value:g} % is {value / 100:g}"
    if isinstance(value, Mapping):
        return f"got {shown(value)}; how many units of a variable are meant says units="
    return f"got {shown(value)}" + "; all coefficients are given, .loc[name] of them is one" * isinstance(
        value, str
    )


def refuse_alpha(level: float) -> None:
    """Refuse an alpha of statsmodels, which is 1 less the level, in the place of the level.

    Raises
    ------
    SpecificationError
        If `level` is below 0.5, and as `check_level`.
    """
    check_level(level)
    if level < LEAST_LEVEL:
        raise SpecificationError(
            f"level is the confidence of an interval, e.g. level=0.95, and at least {LEAST_LEVEL}; got "
            f"{shown(level)}. An alpha, such as statsmodels takes, is 1 - level"
        )


def level_of(alpha: float | None, level: float) -> float:
    """Return the level that is asked for by `level`, or by statsmodels' `alpha`, where that is given.

    Raises
    ------
    SpecificationError
        If `alpha` is not strictly between 0 and 1.
    """
    if alpha is None:
        return level
    if not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
        raise SpecificationError(f"alpha must be between 0 and 1, or use level=0.95; {_got(alpha)}")
    return alpha if alpha >= LEAST_LEVEL else 1 - alpha


def by_slope(slope: np.ndarray, se: np.ndarray) -> np.ndarray:
    """Return slope * se; what is not estimable stays infinite, also where the slope is 0."""
    known = ~np.isinf(se)
    return np.where(known, slope * np.where(known, se, 0.0), np.inf)


def standard_errors(gradient: np.ndarray, record: Record) -> np.ndarray:
    """Return sqrt(g' cov g) of the coefficients of a record, for each row g of `gradient`.

    Parameters
    ----------
    gradient : array, shape (m, k), or (m, k + 1) with an error of its own in each row
    record : Record
    """
    k = len(record.cov)
    of_coefficients = errors_of_sums(gradient[:, :k], record.cov, record.rooted)
    return np.asarray(np.hypot(of_coefficients, gradient[:, k:].sum(axis=1)))


def known_params(record: Record) -> np.ndarray:
    """Return the coefficients of a record, with 0 in the place of those that are not estimable.

    Gradients are taken there. At what noise makes of a lost coefficient, such as a log sigma of 1000, they
    underflow to 0, and what rests on it would seem to be certain.
    """
    lost = np.isinf(np.diagonal(record.cov)) & (not record.no_errors)
    return np.where(lost, 0.0, record.params)


def errors_of_sums(gradient: np.ndarray, cov: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """Return sqrt(g' cov g) for each row g of `gradient`.

    A coefficient with infinite variance makes every quantity that depends on it not estimable (infinite),
    and leaves the others alone. Terms that cancel, as those of a cube of a number far from 0 do, leave no
    error below the rounding of their sizes; in a root they cancel before they are squared.

    Parameters
    ----------
    gradient : array, shape (m, k)
    cov : array, shape (k, k)
        With covariances of zero beside an infinite variance, as in `Record`.
    root : array, shape (k, r), optional
        With root root' = cov where variances are finite.

    Returns
    -------
    array, shape (m,)
    """
    lost = np.isinf(np.diagonal(cov))
    known = np.where(np.isinf(cov), 0.0, cov)
    least = rounding(gradient, known)
    variance = (
        np.maximum(np.einsum("mi,ij,mj->m", gradient, known, gradient), least)
        if root is None
        else np.sum((gradient @ root) ** 2, axis=1) + np.finfo(float).eps * least
    )
    return np.where((gradient[:, lost] != 0).any(axis=1), np.inf, np.sqrt(variance))


@dataclass(frozen=True, slots=True)
class Estimate(Marked):
    """A number computed from a fit, with its interval.

    Attributes
    ----------
    name : str
    estimate, std_error, conf_low, conf_high, level : float
        `std_error` is on the scale of the estimate; the interval need not be symmetric about it.
    privacy_share : float
        Share of the variance due to privacy noise, where it is reported; else NaN.
    """

    name: str
    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    level: float = 0.95
    privacy_share: float = math.nan

    def __getattr__(self, name: str) -> NoReturn:
        own = "; its limits are .conf_low and .conf_high, of .level" * (name == "conf_int")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{own}")

    def __float__(self) -> float:
        return self.estimate

    def __round__(self, ndigits: int | None = None) -> float | int:
        return round(self.estimate, ndigits)

    def __format__(self, spec: str) -> str:
        return format(self.estimate, spec) if spec else repr(self)

    def __repr__(self) -> str:
        if math.isinf(self.std_error):
            return titled(f"{self.name}: not estimable", self.not_private)
        limits = f"{bracket(self.conf_low, self.conf_high)} ({level_percent(self.level)} interval)"
        return titled(f"{self.name} {figures(self.estimate)} {limits}", self.not_private)


Transform = Callable[[np.ndarray], np.ndarray]


def transformed(
    centre: np.ndarray, se: np.ndarray, level: float, back: Transform
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate, lower and upper limit of back(centre), for a monotone `back`.

    Limits that overflow are infinite: an interval may say that nothing is known.

    Raises
    ------
    SpecificationError
        As `refuse_alpha`.
    """
    refuse_alpha(level)
    half = critical(level) * se
    middle = np.where(np.isinf(half), 0.0, centre)  # the whole line, also where the centre is infinite
    with np.errstate(over="ignore"):
        estimate, one, other = back(centre), back(middle - half), back(middle + half)
    return estimate, np.minimum(one, other), np.maximum(one, other)


def with_limits(
    linear: tuple[np.ndarray, np.ndarray], record: Record, level: float, back: Transform
) -> dict[str, np.ndarray]:
    """Return columns ``estimate``, NaN if not estimable, ``conf_low`` and ``conf_high`` of back(centre).

    `linear` has centres and their gradients.
    """
    centre, se = linear[0], standard_errors(linear[1], record)
    estimate, low, high = transformed(centre, se, level, back)
    return {"estimate": np.where(np.isinf(se), np.nan, estimate), "conf_low": low, "conf_high": high}


_FAR = 1e10  # so many times an estimate is beyond any time, scale or ratio that could be true of it


def says_nothing(estimate: float, low: float, high: float) -> bool:
    """Whether limits exclude nothing: the whole line, all positive numbers, or twenty decades about 1."""
    far = 0 < low * _FAR < estimate < high / _FAR and low < 1 < high
    return far or (low in (0.0, -np.inf) and high == np.inf)


def log_estimate(
    name: str, log_value: float, se: float, level: float, privacy_share: float = math.nan
) -> Estimate:
    """Return exp(log_value) with an interval on the log scale."""
    value, low, high = transformed(np.array(log_value), np.array(se), level, np.exp)
    std_error = float(value) * se if math.isfinite(se) else math.inf
    return Estimate(name, float(value), std_error, float(low), float(high), level, privacy_share)


def estimable_within(found: Estimate, most: float) -> Estimate:
    """Return what lies from 0 to `most`: not estimable where its interval is all that, to three decimals."""
    excludes = round((found.conf_high - found.conf_low) / most, 3) < 1
    return found if excludes else replace(found, estimate=math.nan, std_error=math.inf)


def rsquared(found: Quantity, level: float = 0.95) -> Estimate:
    """Return R-squared, with an interval on the scale of log(1 - R-squared), kept inside [0, 1]."""
    low, high = (1 - left for left in _log_limits(1 - found.value, found.se, level)[::-1])
    value = min(max(found.value, 0.0), 1.0)
    low, high = max(min(low, value), 0.0), min(max(high, value), 1.0)  # 1 - (1 - x) may miss x by a bit
    return estimable_within(Estimate("R-squared", value, found.se, low, high, level, _share(found)), 1.0)


def positive(name: str, found: Quantity, level: float = 0.95, most: float = math.inf) -> Estimate:
    """Return a positive quantity, with an interval on the log scale that ends at `most` at the latest."""
    low, high = _log_limits(found.value, found.se, level)
    high = max(min(high, most), found.value)
    return Estimate(name, found.value, found.se, low, high, level, _share(found))


def least_root(found: Quantity, level: float) -> float:
    """Return the lower limit of the root of a variance, of which noise, which is added to it, may be all.

    Of the variance: distances from the estimate to its limits, by sampling on the log scale and by noise on
    its own, are added in squares (Zou and Donner 2008).
    """
    sampling = math.sqrt(max(found.se**2 - found.se_privacy**2, 0.0)) if math.isfinite(found.se) else 0.0
    by_sampling = found.value**2 - _log_limits(found.value, sampling, level)[0] ** 2
    by_noise = 2 * critical(level) * found.value * found.se_privacy
    return math.sqrt(max(found.value**2 - math.hypot(by_sampling, by_noise), 0.0))


def root(found: Quantity) -> Quantity:
    """Return the square root, errors by the delta method; not estimable where it is 0."""
    root = math.sqrt(found.value)
    slope = 0.5 / root if root > 0 else math.inf
    return Quantity(root, *(slope * se if se > 0 else 0.0 for se in found[1:]))


def _log_limits(value: float, se: float, level: float) -> tuple[float, float]:
    """Return limits of a positive number from the log scale; of 0, for which there is none, from its own."""
    half = critical(level) * se
    if not value > 0:
        return 0.0, max(value + half, 0.0)
    with np.errstate(over="ignore"):
        factor = float(np.exp(half / value))
    return value / factor, value * factor


def _share(found: Quantity) -> float:
    usable = math.isfinite(found.se) and found.se > 0
    return (found.se_privacy / found.se) ** 2 if usable else math.nan


def half_widths(level: float, cov: np.ndarray, joint: Joint, tails: Tails | None) -> np.ndarray:
    """Return half-widths of intervals for m quantities with covariance `cov`, shape (m,).

    Parameters
    ----------
    level : float
    cov : array, shape (m, m)
        Infinite variances are of quantities that are not estimable; they need no share of the error.
    joint : {None, False, True, "bonferroni", "sup-t"}
        None or False: each interval holds by itself. True is "bonferroni", which holds for any noise;
        "sup-t" is the shortest of one critical value (multcomp's single step).
    tails : Tails, optional
        Law of noise that is not normal, for the m quantities.

    Raises
    ------
    SpecificationError
        For an unknown `joint`, or one that needs normal noise where it is not.
    """
    check_level(level)
    if not among(joint, (None, True, False, *METHODS)):
        wrong = shown(joint)
        raise SpecificationError(f"joint must be one of {', '.join(METHODS)}, True or None; got {wrong}")
    variances = np.diagonal(cov)
    used = np.isfinite(variances) & (variances > 0)
    method = "bonferroni" if joint is True else joint or ""
    single = 1 - (1 - level) / max(int(used.sum()), 1) if method else level
    if tails is not None:
        if method == "sup-t":
            raise SpecificationError(f"joint={joint!r} needs normal noise; use joint='bonferroni' here")
        return tails.half_widths(single, cov)
    factor = critical(single)
    if method == "sup-t" and used.any():
        sd = np.sqrt(variances[used])
        factor = _sup_t(level, cov[np.ix_(used, used)] / np.outer(sd, sd), factor)
    return np.asarray(factor * np.sqrt(variances))


def _sup_t(level: float, correlation: np.ndarray, most: float) -> float:
    """Return the quantile of max |z_j|; it lies between that of one z and Bonferroni's."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without the point 0, which has no normal quantile, 2^15 - 1 remain
        sobol = scipy.stats.qmc.Sobol(len(correlation), scramble=False)
        points = special.ndtri(sobol.fast_forward(1).random(POINTS))
    largest = np.abs(points @ root.T).max(axis=1)
    return float(np.clip(np.quantile(largest, level), critical(level), most))


def bse(record: Record) -> np.ndarray:
    """Return standard errors, infinite where a coefficient is not estimable; shape (k,)."""
    return np.sqrt(np.diagonal(record.cov))


def privacy_share(record: Record) -> np.ndarray:
    """Return the share of each variance that is privacy noise, NaN where that is undefined; shape (k,)."""
    return quotients(np.diagonal(record.cov_privacy), np.diagonal(record.cov))


def bias_share(record: Record) -> np.ndarray:
    """Return the share that is a possible bias, NaN where that is undefined or not kept; shape (k,)."""
    bias = np.full(len(record.names), np.nan) if record.bias is None else record.bias
    return quotients(bias, np.diagonal(record.cov))


def quotients(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return values over sizes such as errors, NaN where one of these is 0 or infinite."""
    usable = np.isfinite(sizes) & (sizes > 0)
    return np.divide(values, sizes, out=np.full(len(sizes), np.nan), where=usable)


def z_values(record: Record) -> np.ndarray:
    """Return estimate / standard error, NaN where a coefficient is not estimable; shape (k,)."""
    return quotients(record.params, bse(record))


def limits(record: Record, level: float, joint: Joint = None) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits of the coefficients, each of shape (k,)."""
    half = half_widths(level, record.cov, joint, record.tails)
    return record.params - half, record.params + half


def p_values(record: Record) -> np.ndarray:
    """Return two-sided p-values, NaN where a coefficient is not estimable; shape (k,)."""
    return two_sided(z_values(record), record.tails, record.params, record.cov)


def two_sided(z: np.ndarray, tails: Tails | None, effect: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """Return p-values of effects, normal or by the law of the noise, NaN where z is."""
    normal = np.asarray(2 * special.ndtr(-np.abs(z)))
    return normal if tails is None else np.where(np.isnan(z), np.nan, tails.two_sided(effect, cov))


def criterion(record: Record, name: str) -> Estimate:
    """Return the log-likelihood "llf", "aic" or "bic", where it was released; limits are of the noise.

    See docs/theory/intervals.md#log-likelihood.
    """
    loglik, k = given(record.loglik), record.n_estimated
    penalties = {"llf": 0.0, "aic": 2.0 * k, "bic": math.log(record.nobs or 1) * k}
    factor, penalty = 1.0 if name == "llf" else -2.0, penalties[name]
    value, sd = factor * loglik.value + penalty, abs(factor) * loglik.se
    half = critical(0.95) * sd
    return Estimate(name, value, sd, value - half, value + half, 0.95, 1.0)


def off_the_law(record: Record, level: float = 0.95) -> Estimate:
    """Return the share of failures at other times than the distribution says, where it was released.

    It is that of the clearest of three contrasts, and limits allow for all.
    """
    found = given(record.law)
    half = critical((2 + level) / 3) * found.se
    share = (found.se_privacy / found.se) ** 2
    return Estimate("law", found.value, found.se, found.value - half, found.value + half, level, share)


SURELY = 0.99  # level at which an interval of what is off the law excludes 0, for a fit to say so


def law_in_doubt(record: Record) -> bool:
    """Whether a fit says that failures come at other times than its distribution has them."""
    if record.law is None:
        return False
    found = off_the_law(record, SURELY)
    return LAW in dict(record.flags) or not found.conf_low <= 0 <= found.conf_high


def doubted_share(record: Record) -> float:
    """Return the share of all units that fail at other times than the distribution says; 0 without doubt."""
    return abs(off_the_law(record).estimate) * _failing(record) if law_in_doubt(record) else 0.0


def unseen_share(record: Record) -> float:
    """Return the share of all units that may fail at other times without doubt of the law; 0 under doubt."""
    if record.law is None or law_in_doubt(record):
        return 0.0
    found = off_the_law(record)
    return min(max(-found.conf_low, found.conf_high), 1.0) * _failing(record)


def _failing(record: Record) -> float:
    """Return the most of the units that are seen to fail; all where that is not known."""
    return min(failures(record).conf_high / given(record.nobs), 1.0) if failing_known(record) else 1.0


def failing_known(record: Record) -> bool:
    """Whether a fit tells the share of the units that fail: rows may have no weight, or several."""
    left_out = record.subset or record.weights or record.schema.privacy_unit.column
    return not left_out and record.nevents is not None and bool(record.nobs)


def failures(record: Record) -> Estimate:
    """Return the number of failures, where it was released; limits are of the noise.

    A fit takes no number of failures to be below two sds of its noise: at that, there may be none. What noise
    puts beyond all rows is there, and limits are as far from it.
    """
    found = given(record.nevents)
    half = max(critical(0.95) * found.se, found.value if found.value <= 2 * found.se else 0.0)
    most = math.inf if record.nobs is None else record.nobs * record.design.max_weight
    value = min(found.value, most)
    low, high = max(value - half, 0.0), min(value + half, most)
    return Estimate("nevents", value, found.se, low, high, 0.95, 1.0)
