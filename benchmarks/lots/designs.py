"""A design drawn from a seed: model, budget, rows, bounds and law; everything else follows from it."""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpstats as dps
from dpstats.budget import Budget
from lots.covariates import KINDS as KINDS_OF_COLUMNS
from lots.covariates import Column, Covariates, draw_column, draw_covariates, pick

MODELS = {"survreg": 0.32, "ols": 0.2, "logit": 0.2, "poisson": 0.12, "gamma": 0.08, "kaplan_meier": 0.08}
DISTS = {"weibull": 0.5, "loglogistic": 0.2, "lognormal": 0.3}
LAWS = {
    "ols": {"right": 0.4, "heavy": 0.15, "skewed": 0.2, "heteroskedastic": 0.15, "clustered": 0.1},
    "logit": {"right": 0.85, "bent": 0.15},
    "poisson": {"right": 0.55, "overdispersed": 0.25, "bounded": 0.2},
    "gamma": {"right": 0.7, "lognormal": 0.3},
    "survreg": {"right": 0.7, "other": 0.15, "heteroskedastic": 0.15},
    "kaplan_meier": {"right": 1.0},
}
# counts by a negative binomial law, by one of log-normal means, and by that of a Poisson
SCATTERED = {"scattered": 0.6, "mixed": 0.2, "poisson": 0.2}
KNOWN = {("survreg", "other"), ("survreg", "heteroskedastic"), ("logit", "bent"), ("poisson", "bounded")}
CENSORING = {"end": 0.2, "lumps": 0.25, "staggered": 0.25, "random": 0.15, "informative": 0.15}
# once, at a time of its own; at 2 to 4, or 5 to 30 even times; at growing ones; half of the rows watched all
# the time; or failures seen, but those before a row was found
INSPECTED = {"once": 0.25, "few": 0.2, "many": 0.2, "growing": 0.15, "mixed": 0.1, "left": 0.1}
KINDS = {"approx": 0.5, "pure": 0.3, "zcdp": 0.2}
NUMBERS = 3_000_000  # of an exog matrix at most
DELTA = 1e-6


@dataclass(frozen=True)
class Design:
    """What a seed has drawn.

    Attributes
    ----------
    seed : int
    model, dist, law, kind, censoring : str
        `dist` of a survival model; `kind` of the budget.
    n : int
    epsilon : float
        Of a zcdp budget, what it is worth with DELTA, about.
    covariates : Covariates
    signal : float
        Share of the variance of an ols response, or sd of the linear predictor, of a survival model in
        sigmas.
    level : float
        Share of ones, mean count, shape of a gamma law, sigma of a survival model.
    censored : float
    extra : str
        "", "interaction", "spline", "offset", "weights" or "units".
    looseness : float
        Of the bounds of the response.
    known_scale : bool
        Whether the fit of a survival model is told its sigma.
    alpha : float
        Of the variance m + alpha m^2 of counts that scatter more than a Poisson law's.
    inspected : str
        How failures of a survival model are seen: "" at once, else a key of INSPECTED.
    """

    seed: int
    model: str
    dist: str
    law: str
    kind: str
    n: int
    epsilon: float
    covariates: Covariates
    signal: float
    level: float
    censoring: str
    censored: float
    extra: str
    looseness: float
    known_scale: bool = False
    inspected: str = ""
    alpha: float = 0.5

    @property
    def reference(self) -> str:
        """The model that is fitted without privacy: of counts that scatter, by their own law."""
        if self.law in ("scattered", "mixed"):
            return f"negativebinomial(alpha={self.alpha})"
        return "poisson" if self.law == "poisson" else self.model

    @property
    def known(self) -> bool:
        """Whether the estimand is the true parameter; else it is what very many rows would give."""
        return (self.model, self.law) not in KNOWN and not self.own

    @property
    def own(self) -> bool:
        """Whether the estimand is the fit without privacy to the same rows."""
        return self.law == "saturating"

    @property
    def budget(self) -> Budget:
        return budget_of(self.kind, self.epsilon)

    @property
    def route(self) -> str:
        return f"{self.model} {'pure' if self.kind == 'pure' else 'gaussian'}"

    def described(self) -> dict[str, Any]:
        """Every dimension as a plain value."""
        columns = self.covariates.columns
        rare = [float(min(c.shares)) for c in columns if c.coded]
        return {
            "seed": self.seed,
            "model": self.model,
            "route": self.route,
            "dist": self.dist,
            "law": self.law,
            "kind": self.kind,
            "n": self.n,
            "epsilon": round(self.epsilon, 3),
            "d": len(columns),
            "n epsilon": self.n * self.epsilon,
            "looseness": max([c.looseness for c in columns if not c.coded], default=1.0),
            "response looseness": self.looseness,
            "correlation": self.covariates.correlation,
            "rarest level": min(rare, default=0.5),
            "skewed": any(c.kind in ("skewed", "heavy") for c in columns),
            "signal": self.signal,
            "level": self.level,
            "censoring": self.censoring,
            "censored": self.censored,
            "inspected": self.inspected,
            "extra": self.extra,
        }


def draw_design(seed: int) -> Design:
    """The design of a seed."""
    rng = np.random.default_rng(seed)
    model = pick(rng, MODELS)
    n = int(10 ** rng.uniform(np.log10(300), np.log10(200_000)))
    d = int(np.clip(round(10 ** rng.uniform(0, np.log10(30))), 1, NUMBERS // n))
    covariates = draw_covariates(rng, 1 if model == "kaplan_meier" else d)
    survival = model in ("survreg", "kaplan_meier")
    return Design(
        seed,
        model,
        pick(rng, DISTS) if survival else "",
        pick(rng, LAWS[model]),
        draw_kind(rng, model),
        n,
        10 ** rng.uniform(np.log10(0.2), 1),
        covariates,
        _signal(rng, model),
        _level(rng, model),
        pick(rng, CENSORING) if survival else "",
        _censored(rng) if survival else 0.0,
        _extra(rng, model, covariates),
        10 ** (rng.uniform(0, 3) if rng.uniform() < 0.5 else 0.3),
    )


# sds of a normal and of an extreme value, over that of a logistic law
LATENT = {"probit": math.sqrt(3) / math.pi, "cloglog": math.sqrt(0.5)}
ORDINARY = {"normal": 1.0, "skewed": 1.0, "counts": 1.0, "flag": 1.0, "heavy": 1.0}


def draw_ordinary(seed: int) -> Design:
    """A design as people write them: a few hundred to 30,000 rows, up to 8 independent covariates of any
    shape, bounds 2 to 200 times too wide and anywhere, the right law and nothing else that is special."""
    rng = np.random.default_rng(seed)
    model = pick(rng, {"survreg": 1.0, "ols": 1.0, "logit": 1.0, "poisson": 1.0})
    columns = tuple(
        draw_column(rng, f"x{j}", (2.0, 200.0), ORDINARY, (0.1, 0.5)) for j in range(rng.integers(1, 9))
    )
    return Design(
        seed,
        model,
        pick(rng, DISTS) if model == "survreg" else "",
        "right",
        draw_kind(rng, model),
        int(10 ** rng.uniform(math.log10(500), math.log10(30_000))),
        10 ** rng.uniform(math.log10(0.3), 1),
        Covariates(columns, 0.0, False),
        _signal(rng, model),
        _level(rng, model),
        "staggered" if model == "survreg" else "",
        rng.uniform(0, 0.8) if model == "survreg" else 0.0,
        "",
        10 ** rng.uniform(math.log10(2), math.log10(200)),
    )


def draw_alike(design: Design, ordinary: bool, rng: np.random.Generator) -> Design:
    """Another design whose public numbers are those of this one; what its rows decide is drawn anew.

    Model, formula, rows, budget, and of each column whether it is a number or how many levels it has, stay.
    """
    wide, model = 10 ** (rng.uniform(0, 3) if rng.uniform() < 0.6 else rng.uniform(0, 0.6)), design.model
    how = ((2.0, 200.0), ORDINARY, (0.1, 0.5)) if ordinary else ((1.0, wide), KINDS_OF_COLUMNS, (0.01, 0.3))
    columns = tuple(_alike(rng, column, *how) for column in design.covariates.columns)
    other = replace(
        design,
        seed=int(rng.integers(2**50)),
        covariates=Covariates(columns, 0.0, False),
        signal=_signal(rng, model),
        level=_level(rng, model),
        censored=rng.uniform(0, 0.8) if model == "survreg" else 0.0,
        looseness=10 ** rng.uniform(math.log10(2), math.log10(200)),
    )
    if ordinary:
        return other
    rho = (0.0, rng.uniform(0, 0.9), rng.uniform(0.9, 0.98))[rng.choice(3, p=[0.35, 0.45, 0.2])]
    return replace(
        other,
        covariates=Covariates(columns, rho if len(columns) > 1 else 0.0, bool(rng.uniform() < 0.5)),
        law=pick(rng, LAWS[model]),
        censoring=pick(rng, CENSORING) if model == "survreg" else "",
        censored=_censored(rng) if model == "survreg" else 0.0,
        looseness=10 ** (rng.uniform(0, 3) if rng.uniform() < 0.5 else 0.3),
    )


def _alike(rng: np.random.Generator, column: Column, *how: Any) -> Column:
    """Another column that is declared as this one is, its bounds aside."""
    if column.kind == "calendar":
        return column
    drawn = (draw_column(rng, column.name, *how) for _ in itertools.count())
    return next(
        each for each in drawn if len(each.shares) == len(column.shares) and each.coded == column.coded
    )


def draw_saturating(seed: int) -> Design:
    """An ordinary design of a generalised linear model whose covariates have effects that level off."""
    rng = np.random.default_rng([seed, 4])
    ordinary = draw_ordinary(seed)
    model = pick(rng, {"logit": 1.0, "poisson": 2.0, "gamma": 1.0})
    return replace(
        ordinary,
        model=model,
        law="saturating",
        dist="",
        censoring="",
        censored=0.0,
        kind=draw_kind(rng, model),
        n=int(10 ** rng.uniform(3.3, 5)),
        signal=_signal(rng, model),
        level=_level(rng, model),
    )


def draw_links(seed: int) -> Design:
    """A yes or no under a probit or complementary log-log link, with up to 8 covariates.

    Linear predictors have the sds of logistic models, in sds of the law whose distribution function the link
    is of.
    """
    rng = np.random.default_rng([seed, 5])
    model = pick(rng, {name: 1.0 for name in LATENT})
    return replace(
        draw_ordinary(seed),
        model=model,
        dist="",
        censoring="",
        censored=0.0,
        kind=draw_kind(rng, model),
        n=int(10 ** rng.uniform(3, math.log10(50_000))),
        epsilon=10 ** rng.uniform(math.log10(0.5), math.log10(8)),
        covariates=draw_covariates(rng, int(rng.integers(1, 9))),
        signal=_signal(rng, "logit") * LATENT[model],
        level=_level(rng, "logit"),
    )


def draw_scattered(seed: int, model: str = "negativebinomial") -> Design:
    """An ordinary design of counts, most of which scatter more than a Poisson law's, fitted by a model."""
    rng = np.random.default_rng([seed, 6])
    ordinary = draw_ordinary(seed)
    return replace(
        ordinary,
        model=model,
        law=pick(rng, SCATTERED),
        dist="",
        censoring="",
        censored=0.0,
        kind=draw_kind(rng, model),
        n=int(10 ** rng.uniform(3, 5)),
        signal=_signal(rng, "poisson"),
        level=_level(rng, "poisson"),
        alpha=10 ** rng.uniform(-1, 0.5),
    )


def draw_known_scale(seed: int) -> Design:
    """The first survival model of the right law that this seed and those after it draw, its sigma known."""
    designs = (draw_design(later) for later in itertools.count(seed))
    found = next(design for design in designs if (design.model, design.law) == ("survreg", "right"))
    return replace(found, known_scale=True)


def draw_inspected(seed: int) -> Design:
    """The first survival model of the right law and no pure epsilon from this seed on, its rows inspected."""
    designs = (draw_design(later) for later in itertools.count(seed))
    wanted = ("survreg", "right")
    found = next(each for each in designs if (each.model, each.law) == wanted and each.kind != "pure")
    return replace(found, inspected=pick(np.random.default_rng([found.seed, 2]), INSPECTED))


def draw_kind(rng: np.random.Generator, model: str) -> str:
    """Of the budget: counts and amounts take no pure epsilon."""
    gaussian = {kind: share for kind, share in KINDS.items() if kind != "pure"}
    return pick(rng, gaussian if model in ("poisson", "negativebinomial", "gamma", *LATENT) else KINDS)


def budget_of(kind: str, epsilon: float) -> Budget:
    """A zcdp budget is worth about this epsilon with DELTA."""
    if kind == "pure":
        return dps.pure(epsilon)
    if kind == "approx":
        return dps.approx(epsilon, DELTA)
    return dps.zcdp(epsilon**2 / (4 * np.log(1 / DELTA) + 4 * epsilon))


def _signal(rng: np.random.Generator, model: str) -> float:
    if rng.uniform() < 0.1:
        return 0.0
    strong = rng.uniform() < 0.2
    if model == "ols":
        return float(rng.uniform(0.9, 0.99) if strong else rng.uniform(0, 0.9))
    if model == "survreg":
        return float(10 ** (rng.uniform(0.3, 1.1) if strong else rng.uniform(-1, 0.3)))
    return float(rng.uniform(1, 4 if model == "logit" else 1.5) if strong else rng.uniform(0, 1))


def _level(rng: np.random.Generator, model: str) -> float:
    if model == "logit":
        share = 10 ** rng.uniform(-2, np.log10(0.5))
        return float(share if rng.uniform() < 0.7 else 1 - share)
    if model == "poisson":
        return float(10 ** rng.uniform(-1, 1.5))
    return float(10 ** rng.uniform(-1, 0.3)) if model != "gamma" else float(rng.uniform(0.5, 5))


def _censored(rng: np.random.Generator) -> float:
    return float((0.0, rng.uniform(0, 0.9), rng.uniform(0.9, 0.97))[rng.choice(3, p=[0.15, 0.65, 0.2])])


def _extra(rng: np.random.Generator, model: str, covariates: Covariates) -> str:
    if model == "kaplan_meier":
        return str(rng.choice(["", "units"], p=[0.9, 0.1]))
    extra = str(
        rng.choice(
            ["", "interaction", "spline", "offset", "weights", "units"], p=[0.6, 0.08, 0.08, 0.08, 0.06, 0.1]
        )
    )
    first = covariates.columns[0]
    tight = not first.coded and first.looseness < 3  # else most of the basis is 0
    if (extra == "interaction" and len(covariates.columns) < 2) or (extra == "spline" and not tight):
        return ""
    if extra == "weights" and model in ("survreg", "logit"):
        return ""
    return "" if extra == "offset" and model in ("ols", "survreg") else extra
