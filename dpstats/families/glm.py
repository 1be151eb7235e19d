"""Families of a generalised linear model: a response with mean g(eta), one record for each.

A record holds functions of the linear predictor eta, per unit of the dispersion phi
(docs/theory/glm.md): the score psi = d loglik / d eta and the curvature h = E[-d psi / d eta], which is
also Var(psi) / phi. Nothing of a record depends on data.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy
from scipy import special

from dpstats.families.links import logistic_slope, softplus

Function = Callable[[np.ndarray], np.ndarray]
T = TypeVar("T")

# exp() of a linear predictor beyond this says nothing more, and its square still is a number
LARGEST_EXPONENT = 300.0
# linear predictors beyond which there is no rarer answer
EVENLY = 40.0
# the ends of a share of ones that has a linear predictor
CERTAIN = (1e-6, 1 - 1e-6)
# a dispersion so near to 0 is Poisson
_NEARLY_POISSON = 1e-6
# alpha of a negative binomial law where none is told yet, as in statsmodels; and the least, which is Poisson,
# and the most, by which all rows with a mean above 1/100 weigh alike
USUAL_EXCESS, EXCESSES = 1.0, (1e-4, 100.0)
NEGATIVE_BINOMIAL_NAME = "negativebinomial"


@dataclass(frozen=True, slots=True)
class Of:
    """A function of y, eta or a dispersion by way of what eta gives `first`, as its mean.

    Functions of a family that have the same `first` share it where they are asked for the same rows
    (:class:`RowsOf`).
    """

    first: Callable[[np.ndarray], Any]
    then: Callable[..., np.ndarray]
    place: int = 0  # of eta among the arguments

    def __call__(self, *given: Any) -> np.ndarray:
        before, eta, after = given[: self.place], given[self.place], given[self.place + 1 :]
        return self.then(*before, self.first(eta), *after)


class RowsOf:
    """Responses and linear predictors of some rows, and what a family makes of them, each thing once."""

    def __init__(self, family: "GlmFamily", y: np.ndarray, eta: np.ndarray) -> None:
        self.family, self.y, self.eta = family, y, eta
        self._made: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """What is made for a key; not to be changed."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    @property
    def score(self) -> np.ndarray:
        """psi."""
        return self.once("score", lambda: self._told(self.family.score, self.y))

    @property
    def curvature(self) -> np.ndarray:
        """h."""
        return self.once("curvature", lambda: self._told(self.family.curvature))

    @property
    def largest_score(self) -> np.ndarray:
        """The larger of the two scores that a row of a 0 or 1 may have, without its sign."""
        ends = (np.full_like(self.eta, end) for end in (1.0, 0.0))
        return np.maximum(*(abs(self._told(self.family.score, end)) for end in ends))

    def score_variance(self, dispersion: float) -> np.ndarray:
        """Var(psi)."""
        return self._told(self.family.score_variance, after=(dispersion,))

    def _told(
        self, function: Callable[..., np.ndarray], *before: np.ndarray, after: tuple[float, ...] = ()
    ) -> np.ndarray:
        if not isinstance(function, Of):
            return function(*before, self.eta, *after)
        first = function.first
        return function.then(*before, self.once(first, lambda: first(self.eta)), *after)


@dataclass(frozen=True, slots=True)
class GlmFamily:
    """A family with its link.

    Attributes
    ----------
    name, title, link_name : str
        The name ends in that of the link, as R writes it, "binomial(probit)", where another family of the
        same kind has the usual one. The title is that of a regression, as in "Poisson regression".
    mean : callable
        Inverse link: eta to the mean.
    link : callable
        Mean to eta, for starting values.
    score : callable
        psi of (y, eta), per unit of dispersion.
    curvature : callable
        h of eta, at most `most_curved`.
    variance : callable
        V of the mean: Var(y) = phi V(mean).
    score_variance : callable
        Var(psi) of (eta, dispersion) under the law that bounds are made for. `dispersion` is phi, for counts
        how much the alpha of a negative binomial law with variance m + alpha m^2 exceeds that of the family
        (a Poisson law has 0).
    clipped_mean : callable
        E clip(psi, -limit, limit) of (eta, limit, dispersion) under that law, in closed form.
    clipped_square : callable
        Mean square, less the squared mean, of clip(psi, -limit, limit); of (limit, phi), for families whose
        curvature is 1.
    quantile : callable
        Of psi; of (share, phi), for the same families.
    support : tuple of float
        Range in which responses must be declared.
    most_curved : float
        Upper bound of the curvature, infinite if there is none.
    free_dispersion : bool
        Whether phi is estimated, as in statsmodels; it is 1 otherwise. Such a family has a curvature of 1
        everywhere, and a score whose law is the same for every eta.
    longer_tail : float
        How much farther than a normal law's its scores reach, if clipping is to cost as little: of a family
        with a free dispersion.
    ratio_name : str
        What exp of a coefficient is called, or empty.
    deviance : callable
        Unit deviance of (y, mean).
    draw : callable
        Responses of (mean, phi, generator), of the shape of the mean.
    log_likelihood : callable or None
        Of (y, eta), at most 0; None with a free dispersion.
    alpha : float or None
        Of the variance m + alpha m^2 of a negative binomial family.
    seek : callable or None
        Of (dispersion, curvature) as they are released, of counts whose alpha a fit is to find: the family
        with the alpha that these tell.
    aka : tuple of str
        What others call its kind, in small letters.
    instead : tuple of (str, str)
        Links that its kind has elsewhere and not here, and what has their coefficients.
    stalls : bool
        Whether a Newton step towards a slope without end, where all rows far out have one response, is
        shorter than any power of their linear predictors.
    """

    name: str
    title: str
    link_name: str
    mean: Function
    link: Function
    score: Callable[[np.ndarray, np.ndarray], np.ndarray]
    curvature: Function
    variance: Function
    score_variance: Callable[[np.ndarray, float], np.ndarray]
    clipped_mean: Callable[[np.ndarray, np.ndarray, float], np.ndarray]
    clipped_square: Callable[[float, float], float] | None
    quantile: Callable[[np.ndarray, float], np.ndarray] | None
    support: tuple[float, float]
    most_curved: float
    free_dispersion: bool
    longer_tail: float
    ratio_name: str
    deviance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    draw: Callable[[np.ndarray, float, np.random.Generator], np.ndarray]
    log_likelihood: Callable[[np.ndarray, np.ndarray], np.ndarray] | None
    alpha: float | None = None
    seek: "Callable[[float, float], GlmFamily] | None" = None
    aka: tuple[str, ...] = ()
    instead: tuple[tuple[str, str], ...] = ()
    stalls: bool = False

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By its name or its alpha, as functions that have no name are not pickled."""
        if FAMILIES.get(self.name) is self:
            return _named, (self.name,)
        if self.alpha is not None:
            return (sought if self.seek else negative_binomial), (self.alpha,)
        return object.__reduce_ex__(self, protocol)

    @property
    def kind(self) -> str:
        """The name without that of the link."""
        return self.name.partition("(")[0]

    @property
    def steepens(self) -> bool:
        """Whether its rows, of counts, have a curvature that grows with their mean without end."""
        return self.counts and self.alpha is None

    @property
    def two_valued(self) -> bool:
        """Whether a response is 0 or 1, so that two scores are all that a row may have."""
        return self.support == (0.0, 1.0)

    @property
    def contradicted(self) -> float:
        """Of a 0 or 1, rows with the rarer answer, if one lies at each unit of the linear predictor."""
        mean = self.mean(np.linspace(-EVENLY, EVENLY, 100 * int(EVENLY) + 1))
        return float(np.minimum(mean, 1 - mean).sum()) / 50

    @property
    def constant_variance(self) -> bool:
        """Whether Var(y) is the same for every mean."""
        low, high = self.variance(np.array([0.25, 0.5]))
        return bool(low == high)

    def level_at(self, mean: float) -> float:
        """Curvature where this is the mean; of the usual link, the variance of a response."""
        least, most = CERTAIN if self.two_valued else (CERTAIN[0], math.inf)
        return float(self.curvature(self.link(np.clip(mean, least, most))))

    @property
    def counts(self) -> bool:
        """Whether a response is a count: a family with more than two values and no dispersion of its own."""
        return not (self.two_valued or self.free_dispersion)

    def mean_at(self, curvature: float, ends: tuple[float, float]) -> float:
        """The mean of counts whose rows have this curvature, which grows with it; eta is between two ends."""

        def beyond(eta: float) -> float:
            return float(self.curvature(np.array(eta))) - curvature

        low, high = map(beyond, ends)
        eta = ends[low < 0] if low * high >= 0 else scipy.optimize.brentq(beyond, *ends, xtol=1e-12)
        return float(self.mean(np.array(eta)))

    @property
    def unlimited(self) -> bool:
        """Whether fits bound the scores of the family; those y - mean of a logit are released as they are."""
        return not (self.two_valued and self.link_name == "logit")

    @property
    def largest_score(self) -> float:
        """Bound of a score that no fit limits."""
        return math.inf if self.unlimited else 1.0


def _exp(eta: np.ndarray) -> np.ndarray:
    return np.exp(np.clip(eta, -LARGEST_EXPONENT, LARGEST_EXPONENT))


def _count_clipped_mean(eta: np.ndarray, limit: np.ndarray, dispersion: float) -> np.ndarray:
    """E clip(Y - m) of a Poisson count, or of a negative binomial one with variance m + dispersion m^2.

    With f and F the law's probabilities and cdf, l = ceil(m - limit) - 1 and u = floor(m + limit): m (1 +
    dispersion l) f(l) - m (1 + dispersion u) f(u) - limit F(l) + limit (1 - F(u)). The first two terms are
    E[Y - m; l < Y <= u], because y f(y) = m g(y - 1) for a law g whose cdf at y - 1 is F(y) - (1 +
    dispersion y) f(y).
    """
    mean = np.asarray(_exp(eta), dtype=float)
    least, below = _count_at(np.ceil(mean - limit) - 1, mean, dispersion)
    most, up_to = _count_at(np.floor(mean + limit), mean, dispersion)
    return np.asarray(least - most + limit * (1 - up_to - below))


def _count_at(count: np.ndarray, mean: np.ndarray, dispersion: float) -> np.ndarray:
    """m (1 + dispersion count) f(count), and F(count)."""
    some, found = count >= 0, np.zeros((2, *count.shape))
    inside, m = count[some], mean[some]
    if dispersion < _NEARLY_POISSON:
        log = special.xlogy(inside, m) - m - special.gammaln(inside + 1)
        longer, below = np.ones_like(inside), special.pdtr(inside, m)
    else:
        shape, more = 1 / dispersion, dispersion * m
        log = special.xlogy(inside, more / (1 + more)) - shape * np.log1p(more)
        log -= np.log(inside + shape) + special.betaln(shape, inside + 1)
        longer, below = 1 + dispersion * inside, special.betainc(shape, inside + 1, 1 / (1 + more))
    found[:, some] = m * longer * np.exp(log), below
    return found


def count_clipped_square(mean: np.ndarray, below: np.ndarray, above: np.ndarray, alpha: float) -> np.ndarray:
    """E clip(Y - m, -below, above)^2 of a count Y with mean m and variance m + alpha m^2.

    E[(Y - m)^2; Y <= u] = (m + alpha m^2) F(u) - m (1 + alpha u) f(u) (u + 1 - (1 - alpha) m), by what
    `_count_clipped_mean` says of y f(y), for E[Y; Y <= u] and once more for E[Y (Y - 1); Y <= u].
    """

    def up_to(most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E[(Y - m)^2; Y <= most], and how likely that is."""
        edge, chance = _count_at(most, mean, alpha)
        return mean * (1 + alpha * mean) * chance - edge * (most + 1 - (1 - alpha) * mean), chance

    (least, under), (most, until) = up_to(np.ceil(mean - below) - 1), up_to(np.floor(mean + above))
    return np.asarray(most - least + below**2 * under + above**2 * (1 - until))


def _count_variance(mean: np.ndarray, alpha: float) -> np.ndarray:
    """Of counts; those that scatter less than a Poisson law are taken for it."""
    return mean * (1 + alpha * mean) if alpha > 0 else mean


def _gamma_clipped_mean(eta: np.ndarray, limit: np.ndarray, dispersion: float) -> np.ndarray:
    """E clip(Y / m - 1), Y / m gamma with mean 1 and variance phi; the same for every eta."""
    shape = 1 / dispersion
    lower, upper = np.maximum(1 - np.asarray(limit, dtype=float), 0.0), 1 + np.asarray(limit, dtype=float)

    def below(value: np.ndarray, more: float) -> np.ndarray:
        return special.gammainc(shape + more, value * shape)

    within = below(upper, 1.0) - below(lower, 1.0) - below(upper, 0.0) + below(lower, 0.0)
    result = within - limit * below(lower, 0.0) + limit * (1 - below(upper, 0.0))
    return np.broadcast_to(result, np.shape(eta)).copy()


def _gamma_clipped_square(limit: float, dispersion: float) -> float:
    """Variance of clip(Y / m - 1): its mean is taken off the scores."""
    shape, (lower, upper) = 1 / dispersion, (max(1 - limit, 0.0), 1 + limit)

    def moment(power: int) -> float:
        """E[X^power; lower < X <= upper]."""
        factor = (1.0, 1.0, 1 + dispersion)[power]
        ends = special.gammainc(shape + power, np.array([lower, upper]) * shape)
        return float(factor * (ends[1] - ends[0]))

    inside = moment(2) - 2 * moment(1) + moment(0)
    mean = float(_gamma_clipped_mean(np.zeros(1), np.array(limit), dispersion)[0])
    return inside + limit**2 * (1 - moment(0)) - mean**2


def _gaussian_clipped_square(limit: float, dispersion: float) -> float:
    """E clip(Z)^2, Z normal with variance phi."""
    end = limit / math.sqrt(dispersion)
    density = math.exp(-(end**2) / 2) / math.sqrt(2 * math.pi)
    beyond = 2 * float(special.ndtr(-end))
    return dispersion * (1 - beyond - 2 * end * density) + limit**2 * beyond


def _no_clipped_mean(eta: np.ndarray, limit: np.ndarray, dispersion: float) -> np.ndarray:
    """Nothing is clipped, or as much on one side as on the other."""
    return np.zeros(np.shape(eta))


BINOMIAL = GlmFamily(
    name="binomial",
    title="logistic",
    link_name="logit",
    mean=special.expit,
    link=special.logit,
    score=lambda y, eta: y - special.expit(eta),
    curvature=logistic_slope,
    variance=lambda mean: mean * (1 - mean),
    score_variance=lambda eta, dispersion: logistic_slope(eta),
    clipped_mean=_no_clipped_mean,
    clipped_square=None,
    quantile=None,
    support=(0.0, 1.0),
    most_curved=0.25,
    free_dispersion=False,
    longer_tail=1.0,
    ratio_name="odds ratio",
    deviance=lambda y, mean: 2 * (special.rel_entr(y, mean) + special.rel_entr(1 - y, 1 - mean)),
    draw=lambda mean, phi, rng: rng.binomial(1, mean).astype(float),
    log_likelihood=lambda y, eta: y * eta - softplus(eta),
    aka=("bernoulli", "logistic"),
    instead=(
        (
            "log",
            "ratios of risks are the rate ratios of family='poisson', whose standard errors hold for 0 "
            "and 1, too",
        ),
        ("identity", "differences of risks are the coefficients of dps.ols(formula, data, schema)"),
        ("cauchit", "link='probit' and 'logit' are the nearest"),
    ),
)


def _probit_one(eta: np.ndarray) -> np.ndarray:
    """Score of a 1 under a probit link: the normal density over its distribution function."""
    return math.sqrt(2 / math.pi) / special.erfcx(-np.asarray(eta) / math.sqrt(2))


def _probit_both(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the scores of a 1 and of a 0."""
    return _probit_one(eta), _probit_one(-np.asarray(eta))


PROBIT = replace(
    BINOMIAL,
    name="binomial(probit)",
    title="probit",
    link_name="probit",
    mean=special.ndtr,
    link=special.ndtri,
    score=Of(_probit_both, lambda y, both: y * both[0] - (1 - y) * both[1], 1),
    curvature=Of(_probit_both, lambda both: both[0] * both[1]),
    score_variance=Of(_probit_both, lambda both, dispersion: both[0] * both[1]),
    most_curved=2 / math.pi,
    ratio_name="",
    log_likelihood=lambda y, eta: y * special.log_ndtr(eta) + (1 - y) * special.log_ndtr(-np.asarray(eta)),
)


def _cloglog_both(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same under a complementary log-log link: x / (exp(x) - 1) and x = exp(eta)."""
    x = _exp(eta)
    return 1 / special.exprel(x), x


CLOGLOG = replace(
    BINOMIAL,
    name="binomial(cloglog)",
    title="complementary log-log",
    link_name="cloglog",
    mean=lambda eta: -np.expm1(-_exp(eta)),
    link=lambda mean: np.log(-np.log1p(-np.asarray(mean))),
    score=Of(_cloglog_both, lambda y, both: y * both[0] - (1 - y) * both[1], 1),
    curvature=Of(_cloglog_both, lambda both: both[1] * both[0]),
    score_variance=Of(_cloglog_both, lambda both, dispersion: both[1] * both[0]),
    most_curved=0.6477,  # x^2 / (exp(x) - 1) has its maximum at x = 1.594
    ratio_name="hazard ratio",
    log_likelihood=lambda y, eta: y * np.log(-np.expm1(-_exp(eta))) - (1 - y) * _exp(eta),
    stalls=True,
)

POISSON = GlmFamily(
    name="poisson",
    title="Poisson",
    link_name="log",
    mean=_exp,
    link=np.log,
    score=Of(_exp, lambda y, mean: y - mean, 1),
    curvature=Of(_exp, lambda mean: mean),
    variance=lambda mean: mean,
    score_variance=Of(_exp, _count_variance),
    clipped_mean=_count_clipped_mean,
    clipped_square=None,
    quantile=None,
    support=(0.0, np.inf),
    most_curved=np.inf,
    free_dispersion=False,
    longer_tail=1.0,
    ratio_name="rate ratio",
    deviance=lambda y, mean: 2 * special.kl_div(y, mean),
    draw=lambda mean, phi, rng: rng.poisson(mean).astype(float),
    log_likelihood=lambda y, eta: y * eta - _exp(eta) - special.gammaln(y + 1),
    aka=("quasipoisson", "quasi poisson"),  # which has its standard errors here
)


def _binomial_log_likelihood(y: np.ndarray, eta: np.ndarray, alpha: float) -> np.ndarray:
    """Of a negative binomial count, by the logarithms of its parts."""
    more, shape = alpha * _exp(eta), 1 / alpha
    chosen = -np.log(y + shape) - special.betaln(shape, y + 1)
    return np.asarray(chosen - special.xlogy(y, 1 + 1 / more) - shape * np.log1p(more))


def _binomial_deviance(y: np.ndarray, mean: np.ndarray, alpha: float) -> np.ndarray:
    tail = (y + 1 / alpha) * (np.log1p(alpha * y) - np.log1p(alpha * mean))
    return np.asarray(2 * (special.xlogy(y, y / mean) - tail))


def negative_binomial(alpha: float) -> GlmFamily:
    """Counts with variance m + alpha m^2; alpha is statsmodels' word, and 1 / theta of R's MASS.

    Their score is (y - m) / (1 + alpha m): that of a Poisson law times a weight that falls with the mean.
    """

    def both(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean, and what it divides scores by."""
        mean = _exp(eta)
        return mean, 1 + alpha * mean

    def fall(eta: np.ndarray) -> np.ndarray:
        return both(eta)[1]

    return replace(
        POISSON,
        name=f"{NEGATIVE_BINOMIAL_NAME}(alpha={alpha:.6g})",
        title="negative binomial",
        score=Of(both, lambda y, both: (y - both[0]) / both[1], 1),
        curvature=Of(both, lambda both: both[0] / both[1]),
        variance=lambda mean: mean + alpha * mean**2,
        score_variance=Of(both, lambda both, more: _count_variance(both[0], alpha + more) / both[1] ** 2),
        clipped_mean=lambda eta, limit, more: (
            _count_clipped_mean(eta, limit * fall(eta), max(alpha + more, 0.0)) / fall(eta)
        ),
        most_curved=1 / alpha,
        deviance=lambda y, mean: _binomial_deviance(y, mean, alpha),
        draw=lambda mean, phi, rng: rng.poisson(rng.gamma(1 / alpha, alpha * mean)).astype(float),
        log_likelihood=lambda y, eta: _binomial_log_likelihood(y, eta, alpha),
        alpha=alpha,
        aka=(),
    )


def sought(alpha: float) -> GlmFamily:
    """The same with an alpha that a fit is to find, as MASS's glm.nb does; this one is where it begins."""

    def seek(dispersion: float, curvature: float) -> GlmFamily:
        """Var(psi) / h = 1 + (true alpha - alpha) h, for any h."""
        return sought(float(np.clip(alpha + (dispersion - 1) / curvature, *EXCESSES)))

    return replace(negative_binomial(alpha), seek=seek)


GAMMA = GlmFamily(
    name="gamma",
    title="gamma",
    link_name="log",
    mean=_exp,
    link=np.log,
    score=lambda y, eta: y * _exp(-eta) - 1,
    curvature=lambda eta: np.ones_like(eta),
    variance=lambda mean: mean**2,
    score_variance=lambda eta, dispersion: np.full_like(eta, dispersion),
    clipped_mean=_gamma_clipped_mean,
    clipped_square=_gamma_clipped_square,
    quantile=lambda share, phi: special.gammaincinv(1 / phi, share) * phi - 1,
    support=(0.0, np.inf),
    most_curved=1.0,
    free_dispersion=True,
    longer_tail=5 / 3,
    ratio_name="mean ratio",
    deviance=lambda y, mean: 2 * ((y - mean) / mean - np.log(y / mean)),
    draw=lambda mean, phi, rng: mean * rng.gamma(1 / phi, phi, size=np.shape(mean)),
    log_likelihood=None,
)

GAUSSIAN = GlmFamily(
    name="gaussian",
    title="Gaussian",
    link_name="identity",
    mean=lambda eta: np.asarray(eta, dtype=float),
    link=lambda mean: np.asarray(mean, dtype=float),
    score=lambda y, eta: y - eta,
    curvature=lambda eta: np.ones_like(eta),
    variance=lambda mean: np.ones_like(mean),
    score_variance=lambda eta, dispersion: np.full_like(eta, dispersion),
    clipped_mean=_no_clipped_mean,
    clipped_square=_gaussian_clipped_square,
    quantile=lambda share, phi: math.sqrt(phi) * special.ndtri(share),
    support=(-np.inf, np.inf),
    most_curved=1.0,
    free_dispersion=True,
    longer_tail=1.0,
    ratio_name="",
    deviance=lambda y, mean: (y - mean) ** 2,
    draw=lambda mean, phi, rng: mean + math.sqrt(phi) * rng.standard_normal(np.shape(mean)),
    log_likelihood=None,
    aka=("normal",),
    instead=(("log", "family='gamma' has this link, and standard errors that do not rest on its law"),),
)

NEGATIVE_BINOMIAL = replace(sought(USUAL_EXCESS), name=NEGATIVE_BINOMIAL_NAME)

FAMILIES = {
    family.name: family for family in (BINOMIAL, POISSON, GAMMA, GAUSSIAN, PROBIT, CLOGLOG, NEGATIVE_BINOMIAL)
}
_WITH_ALPHA = re.compile(rf"{NEGATIVE_BINOMIAL_NAME}\(alpha=([0-9.e+-]+)\)")


def _named(name: str) -> GlmFamily:
    return FAMILIES[name]


def family_of(name: str) -> GlmFamily | None:
    """The family of this name, which may have an alpha in it; None if there is none."""
    found = _WITH_ALPHA.fullmatch(name)
    return negative_binomial(float(found[1])) if found else FAMILIES.get(name)
