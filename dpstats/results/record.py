"""Record of one fit: the released numbers, which are all that a fit is made of.

An allowlist: every field is a short text, a public declaration, or an array of one or two axes as long as the
coefficient vector. Nothing here can hold a row (docs/theory/results.md#what-a-fit-holds).
As plain values for JSON it is exact to the last bit.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from dpstats._arguments import count, frozen, near, shown
from dpstats._stored import plain_number, plain_numbers, text
from dpstats.budget import from_dict as budget_from_dict
from dpstats.errors import SpecificationError
from dpstats.families import DISTS, FAMILIES, IDENTITY, LINKS, LOG, Dist, GlmFamily, Link, family_of
from dpstats.formula import Design, build_design, unit_of
from dpstats.moments.baseline import Baseline, Trend
from dpstats.moments.design import DesignMoments
from dpstats.moments.linear import LinearMoments, Quantity
from dpstats.moments.mixture import Tails
from dpstats.results.table import Facts
from dpstats.schema import Schema

LOG_SCALE = "Log(scale)"
"""The last coefficient of a survival model; with strata, that of stratum a is ``"Log(scale)[a]"``."""

_TIMES = re.compile(r":(?![^\[]*\])(?![^(]*\))")  # between factors, not in a level such as 06:00 or a name
_ALIKE = 1e-6  # in correlations: more than rounding leaves apart of a covariance and its root
T = TypeVar("T")
Setting = str | float | int | bool

INSPECTIONS = "inspections"
"""What a fit of failures between two times releases besides."""
MOVED = {"times beyond": "moved to the bounds"}
"""The setting of a survival fit that takes a time beyond its bounds for one at them, and not for censored."""

PROJECTED = (
    "cov_projected",
    "the released covariance was not positive semi-definite; it was replaced by the nearest one that is",
)


def scale_names(strata: Sequence[str]) -> tuple[str, ...]:
    """Names of the log sigmas of a survival model, in the order of its strata, if any."""
    return tuple(f"{LOG_SCALE}[{label}]" for label in strata) or (LOG_SCALE,)


def factors_of(name: str) -> list[str]:
    """The factors of a column that is a product, such as ``g[T.06:00]:x``; of another, the column alone."""
    return _TIMES.split(name)


def is_scale(name: object = None) -> bool:
    """Whether a coefficient is a log sigma."""
    return name == LOG_SCALE or str(name).startswith(f"{LOG_SCALE}[")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record(Facts):
    """Released numbers of a fit, and the public facts needed to use them.

    Parameters
    ----------
    model, dist : str
        Name of the model function and of its distribution or family, e.g. ``"survreg"`` and ``"weibull"``.
    formula : str
    schema : Schema
        With `formula`, enough to rebuild the design on new data.
    names : tuple of str, length k
        Columns of the design; a survival model adds ``"Log(scale)"`` as the last.
    params : array, shape (k,)
        Estimates on the user's scale (of log time where the distribution is of log time; of the linear
        predictor of a GLM).
    cov, cov_privacy : array, shape (k, k)
        Covariance of `params`, and the part of it due to privacy noise. A coefficient that could not be
        estimated has an infinite variance.
    nobs : int or None
        Number of rows where it is public.
    budget : Budget
    method : str
        The algorithm in words.
    released : tuple of str
        What was released with noise.
    adjacency, unit : str
        What neighbouring data sets differ in, and whose privacy that is.
    settings : mapping of str to str, float, int or bool
        Constants that are part of the estimand, printed beside the fit.
    flags, notes : tuple of (code, message)
        Cautions found from released numbers, and what intervals say themselves: a note below the table.
    title : str, optional
        Heading of the summary, without the word "Private".
    ledger : str, optional
        What the ledger said when the fit was charged.
    not_private : bool
        True for fits made without, or with known, noise.
    weights : str, optional
        The expression of the rows' weights.
    subset : str, optional
        The condition for a row to weigh.
    linear : LinearMoments, optional
        The released moments of a linear fit, as long as the coefficients: sigma, R-squared and the estimates
        under any ridge penalty follow from them.
    alpha : float, optional
        Ridge penalty of the coefficients; a linear fit without has 0.
    charged_alpha : float, optional
        Where another penalty than `alpha` was asked for when the release was paid: that one.
    charged_formula : str, optional
        Where terms were taken out of a fit: its formula when the release was paid.
    dispersion : Quantity, or (value, se, se_privacy), optional
        Of a GLM, where it was released: phi of Var(y) = phi V(mean). Standard errors of a Poisson fit
        allow for it; they need no phi of 1.
    excess : Quantity, optional
        Of a negative binomial fit: alpha of Var(y) = m + alpha m^2, as its scores scatter.
    loglik : Quantity, optional
        Log-likelihood of the estimates, where it was asked for: of a time, or of its logarithm where that is
        modelled.
    nevents : Quantity, optional
        Number of rows that fail, where it was released.
    law : Quantity, optional
        Share of the failures that come at other times than the distribution says, where it was released.
    target : str, optional
        What the coefficients are, in words, where they are penalised ones.
    tails : Tails, optional
        Law of privacy noise that is not normal; intervals of coefficients and their p-values follow from it.
    guarantees : tuple of (whose, what), optional
        Of a fit from contributions: what is guaranteed of the model and of one message, in words.
    messages : mapping of str to int, optional
        Of such a fit: how many messages were accepted, and rejected for which reason.
    rivals : tuple of (name, difference, sd), optional
        Of other distributions, where they were asked for: by how much the log-likelihood under each is above
        that under `dist`, rows clipped, and the sd of its noise.
    baseline : Baseline, optional
        Of a regression of hazards: what they are where all covariates are 0.
    trend : Trend, optional
        Of a regression of hazards: by what its coefficients change as time goes by, as far as is known.
    columns : DesignMoments, optional
        Means and sds of the columns after the intercept, where a release told where they lie; those of a
        linear fit follow from `linear`.
    bias : array, shape (k,), optional
        The part of the variances that is what responses may do that do not follow the model; not in fits
        that were saved before it was kept apart.
    root : array, shape (k, r), optional
        With root root' = cov where that is finite, to more digits of what cancels in sums of coefficients:
        of fits with products or powers, not in files of before it was kept. One of another `cov` is left out.
    no_errors : str, optional
        Why there are no standard errors, where there are none; all variances are infinite then.

    Raises
    ------
    SpecificationError
        If the parts do not fit together.
    """

    model: str
    dist: str
    schema: Schema
    names: tuple[str, ...]
    params: np.ndarray
    cov: np.ndarray
    cov_privacy: np.ndarray
    released: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)
    flags: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    title: str | None = None
    weights: str | None = None
    linear: LinearMoments | None = None
    alpha: float | None = None
    charged_alpha: float | None = None
    charged_formula: str | None = None
    dispersion: Quantity | None = None
    excess: Quantity | None = None
    loglik: Quantity | None = None
    nevents: Quantity | None = None
    law: Quantity | None = None
    target: str | None = None
    tails: Tails | None = None
    guarantees: tuple[tuple[str, str], ...] = ()
    messages: Mapping[str, int] | None = None
    rivals: tuple[tuple[str, float, float], ...] = ()
    no_errors: str | None = None
    baseline: Baseline | None = None
    trend: Trend | None = None
    columns: DesignMoments | None = None
    bias: np.ndarray | None = None
    root: np.ndarray | None = None

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if len(set(names)) != len(names):
            raise SpecificationError(f"names must differ from each other, got {names}")
        if self.is_survival and (self.dist not in DISTS or not is_scale(*names[-1:])):
            raise SpecificationError(
                f"a {self.model} fit has a distribution of {', '.join(DISTS)} and {LOG_SCALE!r} as its last "
                f"coefficient, got {shown(self.dist)} and {names[-1:]}"
            )
        if self.is_glm and family_of(self.dist) is None:
            raise SpecificationError(
                f"a {self.model} fit has a family of {', '.join(FAMILIES)}, got {shown(self.dist)}"
            )
        k = len(names)
        if self.is_hazards != (self.baseline is not None) or (
            self.baseline is not None and len(self.baseline.cov) != len(self.baseline.log_hazards) + k
        ):
            raise SpecificationError(f"a {self.model} fit of {k} coefficients has not the baseline it needs")
        for what, found in (
            ("the trend is", None if self.trend is None else self.trend.change),
            ("the moments are", None if self.linear is None else self.linear.frame.origin),
            ("tails are", None if self.tails is None else self.tails.variances),
        ):
            if found is not None and found.shape != (k,):
                raise SpecificationError(f"{what} of {found.shape} coefficients, not {k}")
        if self.columns is not None and len(self.columns.mean) != len(self.column_names):
            raise SpecificationError(
                f"moments are of {len(self.columns.mean)} columns, not {len(self.column_names)}"
            )
        cov, projected = _covariance("cov", self.cov, k)
        cov_privacy, _ = _covariance("cov_privacy", self.cov_privacy, k)
        root = self.root
        if root is not None:
            root = _root(_frozen("root", root, (k, np.shape(root)[-1])), cov)
        flags = _pairs(self.flags)
        flags += (PROJECTED,) * (projected and PROJECTED not in flags)
        for name, value in (
            ("names", names),
            ("params", _frozen("params", self.params, (k,))),
            ("cov", cov),
            ("cov_privacy", cov_privacy),
            ("bias", None if self.bias is None else _frozen("bias", self.bias, (k,))),
            ("root", root),
            ("nobs", None if self.nobs is None else count("nobs", self.nobs)),
            ("released", tuple(str(item) for item in self.released)),
            ("settings", _settings(self.settings)),
            ("guarantees", _pairs(self.guarantees)),
            ("messages", None if self.messages is None else _counts(self.messages)),
            ("rivals", tuple((str(name), float(value), float(sd)) for name, value, sd in self.rivals)),
            ("flags", flags),
            ("notes", _pairs(self.notes)),
            ("alpha", self._penalty()),
            ("charged_alpha", None if self.charged_alpha is None else penalty(self.charged_alpha)),
            ("loglik", None if self.loglik is None else Quantity(*map(float, self.loglik))),
            ("nevents", None if self.nevents is None else _quantity("nevents", self.nevents)),
            ("law", None if self.law is None else Quantity(*map(float, self.law))),
            ("dispersion", None if self.dispersion is None else _quantity("dispersion", self.dispersion)),
            ("excess", None if self.excess is None else _quantity("excess", self.excess)),
        ):
            object.__setattr__(self, name, value)

    @property
    def rooted(self) -> np.ndarray | None:
        """`root`, or what the moments of a linear fit without a penalty tell of it."""
        if self.root is not None or self.alpha or (moments := self.moments) is None:
            return self.root
        return moments.root

    @property
    def moments(self) -> LinearMoments | None:
        """`linear`, which tells nothing of what may show effects of coefficients that this penalty loses."""
        if self.linear is None:
            return None
        return self.linear.beside(self.design.partners, self.alpha or 0.0)

    def _penalty(self) -> float | None:
        if self.alpha is None:
            return None if self.linear is None else 0.0
        return penalty(self.alpha)

    @property
    def is_survival(self) -> bool:
        """Whether the response is a time to failure with a location-scale distribution."""
        return self.model == "survreg"

    @property
    def is_hazards(self) -> bool:
        """Whether the fit is a regression of hazards, with a baseline in the place of the intercept."""
        return self.model == "coxph"

    @property
    def scale_known(self) -> bool:
        """Whether sigma of a time to failure was known, and so has no error."""
        return self.is_survival and bool(np.diagonal(self.cov)[-1] == 0)

    @property
    def n_estimated(self) -> int:
        """Number of coefficients that were estimated."""
        return len(self.names) - self.scale_known

    @property
    def is_glm(self) -> bool:
        """Whether the fit is of a generalised linear model, whose family is `dist`."""
        return self.model in ("logit", "glm")

    @property
    def family(self) -> GlmFamily:
        """Family of the response, of a generalised linear model or another model of a mean."""
        return given(family_of(self.dist))

    @property
    def distribution(self) -> Dist:
        """Distribution of a time to failure."""
        return DISTS[self.dist]

    @property
    def link(self) -> Link:
        """Link that makes the linear predictor a prediction on the scale of the response."""
        if self.is_glm:
            return LINKS[self.family.link_name]
        return LOG if self.is_hazards or (self.is_survival and self.distribution.log) else IDENTITY

    @property
    def asked(self) -> Design:
        """What formula, schema, weights and subset ask for, whatever the columns of the fit are called."""
        text = self.formula, self.schema, self.weights, self.subset
        return build_design(*text, baseline=self.is_hazards, scales=self.is_survival)

    @property
    def design(self) -> Design:
        """The data-free design, rebuilt from the formula, the schema, the weights and the subset.

        Raises
        ------
        SpecificationError
            If its columns differ from those of the fit, as they might after reading a file of another
            version: predictions would pair coefficients with the wrong columns.
        """
        design, expected = self.asked, self.names[: self.n_location]
        if tuple(design.names) != expected:
            raise SpecificationError(
                f"the formula now gives the columns {tuple(design.names)}, but the fit has {expected}; "
                "use the version of dpstats that made the fit"
            )
        return design

    @property
    def widest(self) -> float:
        """The largest sigma of a line that the declared bounds of the response allow.

        Residuals about a line with an intercept spread by half the width of these at most, and about another
        by their largest size; rows of the largest weight by its root more.
        """
        design = self.design
        low, high = np.subtract(design.numeric.bounds, design.offset_bounds[::-1])
        most = (high - low) / 2 if design.has_intercept else max(-low, high)
        return float(most) * math.sqrt(1.0 if design.weights is None else design.max_weight)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns after the intercept, if there is one."""
        return tuple(name for name in self.names[: self.n_location] if name != "Intercept")

    @property
    def n_location(self) -> int:
        """Number of columns of the design; the coefficients after them are of the scale."""
        return sum(not is_scale(name) for name in self.names)

    @property
    def scale_labels(self) -> tuple[str, ...]:
        """Names of the strata that have a sigma each; none where there is one for all rows."""
        return tuple(name[len(LOG_SCALE) + 1 : -1] for name in self.names[self.n_location :] if "[" in name)

    @property
    def variables(self) -> tuple[str, ...]:
        """Declared variables that the formula, the weights or the subset read."""
        return self.asked.variables

    @property
    def covariates(self) -> tuple[str, ...]:
        """Declared variables that the right-hand side of the formula reads."""
        return self.asked.covariates

    @property
    def time_unit(self) -> str:
        """Declared unit of the response; empty where there is none, or the formula makes another of it."""
        return unit_of(self.asked.response.measured, self.schema)


def penalty(alpha: object, *words: str) -> float:
    """Return a ridge penalty as a number; in its place `words` stand elsewhere.

    Raises
    ------
    SpecificationError
        Unless it is finite and at least 0.
    """
    if not isinstance(alpha, int | float | np.number) or not 0 <= alpha < math.inf:
        meant = near(alpha, words) or (f", or {words[0]!r}" if words and isinstance(alpha, str) else "")
        raise SpecificationError(f"alpha must be a finite number of at least 0, got {shown(alpha)}{meant}")
    return float(alpha)


def _quantity(name: str, value: tuple[float, ...]) -> Quantity:
    numbers = tuple(float(number) for number in value)
    if len(numbers) != 3 or not 0 <= numbers[0] < math.inf or not min(numbers[1:]) >= 0:
        raise SpecificationError(
            f"{name} must be a finite value, its standard error and the part due to privacy, none of them "
            f"negative; got {shown(value)}"
        )
    return Quantity(*numbers)


def given(value: T | None) -> T:
    """Return what a fit that has it released."""
    assert value is not None
    return value


def _frozen(name: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    array = frozen(value)
    if array.shape != shape:
        raise SpecificationError(f"{name} must have shape {shape} to match names, got {array.shape}")
    return array


def _settings(settings: Mapping[str, Setting]) -> Mapping[str, Setting]:
    plain: dict[str, Setting] = {}
    for name, value in settings.items():
        item = value.item() if isinstance(value, np.generic) else value
        if not isinstance(item, str | float | int | bool):
            raise SpecificationError(
                f"setting {name!r} must be a text or a number, got {type(item).__name__}"
            )
        plain[str(name)] = item
    return MappingProxyType(plain)


def _pairs(told: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(of), str(what)) for of, what in told)


def _counts(messages: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType({str(name): count(str(name), number) for name, number in messages.items()})


def _covariance(name: str, value: object, k: int) -> tuple[np.ndarray, bool]:
    """Return the matrix symmetric and positive semi-definite, and whether it had to be changed for that.

    A variance that is NaN, infinite or negative means "not estimable": infinite, with no covariances.
    The projection works on the scale of correlations, so that the units of the coefficients do not matter.
    """
    cov = np.array(_frozen(name, value, (k, k)))
    variances = np.diagonal(cov)
    estimable = np.isfinite(variances) & (variances >= 0)
    inner = np.ix_(estimable, estimable)
    block = np.where(np.isfinite(cov[inner]), cov[inner], 0.0)
    block, changed = (block + block.T) / 2, False
    sd = np.sqrt(np.diagonal(block))
    unit = np.where(sd > 0, sd, 1.0)
    values, vectors = np.linalg.eigh(block / np.outer(unit, unit))
    if values.size and values[0] < -1e-8:
        block = (vectors * np.maximum(values, 0)) @ vectors.T * np.outer(unit, unit)
        block, changed = (block + block.T) / 2, True
    cov = np.zeros((k, k))
    cov[inner] = block
    cov[~estimable, ~estimable] = np.inf
    return frozen(cov), changed


def _root(root: np.ndarray, cov: np.ndarray) -> np.ndarray | None:
    """The root, if it is one of what is finite of the covariance."""
    known = np.isfinite(np.diagonal(cov))
    sds = np.sqrt(np.diagonal(cov)[known])
    apart = root[known] @ root[known].T - cov[np.ix_(known, known)]
    return root if (np.abs(apart) <= _ALIKE * np.outer(sds, sds)).all() else None


def _moments(content: Any) -> LinearMoments:
    """Moments from which all follows that the table of a fit shows; those of an edited file may fail here."""
    moments = LinearMoments.from_dict(content)
    moments.solve(), moments.sigma(), moments.rsquared(), moments.residual_sd()
    return moments


ARRAYS, FOUND = ("params", "cov", "cov_privacy"), ("bias", "root")  # of all fits, and of those that have them
PENALTIES, WORDS = ("alpha", "charged_alpha"), ("weights", "subset", "charged_formula", "target", "no_errors")
OPTIONAL = (*PENALTIES, *WORDS)  # kept where set
PAIRS = ("notes", "guarantees")  # of texts, kept where there are any
PARTS: Mapping[str, Callable[[Any], Any]] = {
    "linear": _moments,
    "tails": Tails.from_dict,
    "baseline": Baseline.from_dict,
    "columns": DesignMoments.from_dict,
    "trend": Trend.from_dict,
}
QUANTITIES = ("dispersion", "excess", "loglik", "nevents", "law")
TEXTS = ("model", "dist", "formula", "method", "adjacency", "unit", "title", "ledger")
MAY_LACK = ("title", "ledger")
REQUIRED = (
    *TEXTS,
    "schema",
    "names",
    *ARRAYS,
    "nobs",
    "budget",
    "released",
    "settings",
    "flags",
    "not_private",
)


def described_record(record: Record) -> dict[str, Any]:
    """Return `record` as plain values; infinities and NaN as the texts "inf", "-inf" and "nan"."""
    return {
        **{name: getattr(record, name) for name in TEXTS},
        "schema": record.schema.to_dict(),
        "names": list(record.names),
        **{name: plain_numbers(getattr(record, name)) for name in ARRAYS},
        "nobs": record.nobs,
        "budget": record.budget.to_dict(),
        "released": list(record.released),
        "settings": {name: plain_number(value) for name, value in record.settings.items()},
        "flags": [list(flag) for flag in record.flags],
        "not_private": record.not_private,
        **{name: value for name in OPTIONAL if (value := getattr(record, name)) is not None},
        **{
            name: list(map(plain_number, quantity))
            for name in QUANTITIES
            if (quantity := getattr(record, name)) is not None
        },
        **{name: part.to_dict() for name in PARTS if (part := getattr(record, name)) is not None},
        **{name: plain_numbers(found) for name in FOUND if (found := getattr(record, name)) is not None},
        **{name: [*map(list, pairs)] for name in PAIRS if (pairs := getattr(record, name))},
        **(
            {"rivals": [[name, *map(plain_number, found)] for name, *found in record.rivals]}
            if record.rivals
            else {}
        ),
        **({"messages": dict(record.messages)} if record.messages is not None else {}),
    }


def record_of(content: Mapping[str, Any]) -> Record:
    """Return the record that `described_record` described, every value as what it must be.

    Raises
    ------
    SpecificationError
        If `content` is incomplete, or its parts do not fit together.
    """
    lacking = next((name for name in REQUIRED if name not in content), None)
    if lacking:
        raise SpecificationError(f"the saved fit lacks {lacking!r}; it is incomplete or was edited")
    fields: dict[str, Any] = {
        **{name: text(content[name]) if name in MAY_LACK else str(content[name]) for name in TEXTS},
        **{name: np.array(content[name], dtype=float) for name in ARRAYS},
        **{name: content.get(name) for name in PENALTIES},
        **{name: text(content.get(name)) for name in WORDS},
        **{
            name: _if_there(content.get(name), lambda found: Quantity(*map(float, found)))
            for name in QUANTITIES
        },
        "schema": Schema.from_dict(content["schema"]),
        "names": tuple(map(str, content["names"])),
        "nobs": content["nobs"],
        "budget": budget_from_dict(content["budget"]),
        "released": tuple(content["released"]),
        "settings": {name: _setting(value) for name, value in content["settings"].items()},
        "flags": tuple((code, message) for code, message in content["flags"]),
        "not_private": bool(content["not_private"]),
        **{name: _if_there(content.get(name), read) for name, read in PARTS.items()},
        **{name: _if_there(content.get(name), partial(np.array, dtype=float)) for name in FOUND},
        **{name: tuple((one, other) for one, other in content.get(name, ())) for name in PAIRS},
        "rivals": tuple((name, float(value), float(sd)) for name, value, sd in content.get("rivals", ())),
        "messages": content.get("messages"),
    }
    return Record(**fields)


def _if_there(content: Any, build: Callable[[Any], T]) -> T | None:
    return None if content is None else build(content)


def _setting(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value
