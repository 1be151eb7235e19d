"""Every fit that a user can reach: each model, law, method, kind of budget and option, small and cheap.

What there is comes from the package: its models from ``dpstats.models``, their laws from the tables of
families, methods from what a model says when it is given none of them, kinds of budget from the subclasses of
``Budget``, options from the signatures. `refused` says which combinations a user is refused. The others are
`CASES`, on which the tables ``test_every_*`` run, and ``test_every_case`` fails where package and catalogue
disagree.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats import models
from dpstats.families import DISTS, FAMILIES

Data = Mapping[str, Any]

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100),
    start=dps.bounded(0, 60),
    failed=dps.event(),
    good=dps.flag(),
    visits=dps.count(40),
    cost=dps.bounded(1, 500),
    temp=dps.bounded(10, 50),
    load=dps.bounded(0, 1),
    months=dps.bounded(1, 24),
    after=dps.bounded(1, 100),
    before=dps.bounded(1, 100),
    maker=dps.levels("A", "B", other=True),
)
UNIT = SCHEMA.unit("serial", max_rows=2)
ROWS = 211  # prime, and unlike any number of coefficients; enough for the published penalty
# the third is so little that some fits take another route
BUDGETS = {"pure": dps.pure(9), "zcdp": dps.zcdp(8), "gdp": dps.gdp(0.5), "approx": dps.approx(2, 1e-3)}


def made(n: int = ROWS, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of n plausible rows; three in a row have one serial number."""
    draw = np.random.default_rng([seed, n])
    temp, load, months = draw.uniform(12, 48, n), draw.beta(2, 2, n), draw.uniform(6, 24, n)
    maker = draw.choice(np.array(["A", "B", "Z"], dtype=object), n, p=[0.5, 0.3, 0.2])
    line = 0.03 * (temp - 30) + load - 0.4 * (maker == "B")
    time, start = np.exp(3 - line + 0.5 * np.log(draw.exponential(size=n))), draw.uniform(0, 30, n)
    after, seen = 8 * np.floor(time / 8), np.random.default_rng([seed, n, 1]).choice([True, False], n)
    return {
        "time": np.clip(start * (draw.uniform(size=n) < 0.5) + time, 1, 60),
        "start": start,
        "failed": (draw.uniform(size=n) < 0.7) * 1.0,
        "good": (draw.normal(size=n) < line) * 1.0,
        "visits": draw.poisson(np.exp(1 + line)) * 1.0,
        "cost": np.clip(np.exp(3 + line) * draw.gamma(2, 0.5, n), 1, 500),
        "temp": temp,
        "load": load,
        "months": months,
        "after": np.where(seen, time, np.where(after > 0, after, np.nan)),
        "before": np.where(time > 40, np.nan, np.where(seen, time, after + 8)),
        "maker": maker,
        "serial": np.array([f"s{i // 3}" for i in range(n)], dtype=object),
    }


PUBLIC = {name: column for name, column in made(200, 99).items() if name != "serial"}

RIGHT = "temp + load + maker"
LEFT = {
    "survreg": "Surv(time, failed)",
    "coxph": "Surv(time, failed)",
    "kaplan_meier": "Surv(time, failed)",
    "ols": "cost",
    "ridge": "cost",
    "logit": "good",
    "svm": "good",
    **{family.name: "good" for family in FAMILIES.values() if family.two_valued},
    "poisson": "visits",
    "negativebinomial": "visits",
    "gamma": "cost",
    "gaussian": "cost",
}
# option -> what it changes: a side of the formula, or an argument of the model or of its fit
OPTIONS: dict[str, dict[str, Any]] = {
    "constant": dict(right="1"),
    "no intercept": dict(right="0 + temp + maker"),
    "numbers": dict(right="temp + load"),
    "offset": dict(right="temp + maker + offset(0.5 * load)"),
    "factor": dict(right="maker"),
    "products": dict(right="temp*maker + I(temp**2)"),
    "all fail": dict(left="Surv(time)"),
    "strata": dict(right="temp + load + strata(maker)"),
    "delayed": dict(left="Surv(start, time, failed)"),
    "inspected": dict(left="Surv(after, before, type='interval2')"),
    "left": dict(left="Surv(time, failed, type='left')"),
    "public rows": dict(public=PUBLIC),
    "public moments": dict(public="moments"),
    "weights": dict(weights="months"),
    "subset": dict(subset="temp > 20 or maker == 'A'"),
    "exposure": dict(exposure="months"),
    "loglik": dict(release=["loglik"]),
    "known scale": dict(scale=0.5),
    "dist": dict(release=["dist"]),
    "robust": dict(robust=True),
    "link": dict(link="cloglog"),
    "c": dict(c=0.5),
    "h": dict(h=0.4),
    "times": dict(times=[10.0, 50.0]),
}
REQUIRED = {"ridge": dict(alpha=0.1)}
SIDES = ("left", "right")
MARGIN = ("objective", "output")


# two that change the same side of the formula
JOINED = {
    "no intercept + offset": "0 + temp + maker + offset(0.5 * load)",
    "all fail + delayed": "Surv(time, entry=start)",
}


def changed(options: list[str]) -> dict[str, Any]:
    """What options change together."""
    changes = [change for name in options for change in OPTIONS[name].items()]
    return {name: JOINED.get(" + ".join(options), value) for name, value in changes}


@dataclass(frozen=True)
class Case:
    """One combination.

    Attributes
    ----------
    model : str
    law : str or None
        ``dist`` of survreg, ``family`` of glm.
    method, compat : str or None
    budget : str
        A key of `BUDGETS`.
    option : str or None
        A key of `OPTIONS`, or two of them, ``one + other``.
    """

    model: str
    law: str | None
    method: str | None
    compat: str | None
    budget: str
    option: str | None

    def __str__(self) -> str:
        return "-".join(filter(None, vars(self).values()))

    @property
    def options(self) -> list[str]:
        """None, one or two."""
        return self.option.split(" + ") if self.option else []

    @property
    def changes(self) -> dict[str, Any]:
        changes = changed(self.options)
        if self.method == "pmt":
            changes.setdefault("public", PUBLIC)
        if self.method == "functional":
            changes.setdefault("left", "Surv(time)")
        if self.model == "kaplan_meier":
            changes.setdefault("right", "1")
        return changes

    @property
    def formula(self) -> str:
        left = self.changes.get("left", LEFT[self.law if self.model == "glm" else self.model])
        return f"{left} ~ {self.changes.get('right', RIGHT)}"

    def model_of(self, data: Any, schema: dps.Schema = SCHEMA) -> Any:
        """The model on these rows, not fitted."""
        build = self.building
        if self.formula.startswith("Surv(time") and "failed" not in self.formula:
            tables = schema.to_dict()  # a declared event would be told to be forgotten
            del tables["failed"]
            schema = dps.Schema.from_dict(tables)
        if build.get("public") == "moments":
            build["public"] = dps.public_moments(self.formula, PUBLIC, SCHEMA, build.get("weights"))
        return maker(self.model)(self.formula, data, schema, **build)

    @property
    def building(self) -> dict[str, Any]:
        """Arguments of the model besides formula, data and schema."""
        build = REQUIRED.get(self.model, {}) | arguments(self.changes, maker(self.model))
        known = parameters(maker(self.model))
        return build | {name: self.law for name in ("dist", "family") if name in known}

    def fit(self, data: Any, schema: dps.Schema = SCHEMA, **more: Any) -> Any:
        """The fit of these rows."""
        return self.fit_of(self.model_of(data, schema), **more)

    def fit_of(self, model: Any, **more: Any) -> Any:
        """The fit of such a model."""
        return model.fit(BUDGETS[self.budget], **self.fitting(model) | more)

    def fitting(self, model: Any) -> dict[str, Any]:
        """Arguments of the fit of such a model besides the budget."""
        how = {"method": self.method, "compat": self.compat}
        forced = arguments({"force": True}, model.fit)  # rows are few, and cheap
        return {k: v for k, v in how.items() if v is not None} | forced | arguments(self.changes, model.fit)


def maker(model: str) -> Callable[..., Any]:
    made: Callable[..., Any] = getattr(dps, model)
    return made


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def arguments(changes: dict[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if name in parameters(function)}


def model_names() -> list[str]:
    """Functions of ``dpstats.models`` that describe a model; `describe` is in test_describe."""
    functions = {name for name in models.__all__ if inspect.isfunction(getattr(models, name))}
    return sorted(functions - {"describe", "public_moments"})


def laws(model: str) -> list[str | None]:
    """From the package's tables."""
    tables: dict[str, list[str | None]] = {"survreg": [*DISTS], "glm": [*FAMILIES]}
    return tables.get(model, [None])


def described(model: str, law: str | None) -> Any:
    return Case(model, law, None, None, "zcdp", None).model_of(made())


def methods(model: str, law: str | None) -> list[str | None]:
    """Those that a model names when it is asked for another."""
    fitted = described(model, law)
    if "method" not in parameters(fitted.fit):
        return [None]
    try:
        fitted.fit(dps.zcdp(1), method="?")
    except dps.SpecificationError as error:
        return [name for name in re.findall(r"'(\w+)'", str(error)) if name != "?"]
    raise AssertionError(f"{model} takes any method")


def options(model: str, law: str | None) -> list[str | None]:
    """Those that change the formula, or an argument that the model has."""
    known = {*SIDES, *parameters(maker(model)), *parameters(described(model, law).fit)}
    return [None, *(name for name, changes in OPTIONS.items() if known >= set(changes))]


def combinations() -> Iterator[Case]:
    """Everything that can be asked for: an option at a time, besides what a method cannot do without."""
    for model in model_names():
        for law in laws(model):
            compats = [None, "paper"] if "compat" in parameters(described(model, law).fit) else [None]
            asked = product(methods(model, law), compats, BUDGETS, options(model, law))
            for method, compat, budget, option in asked:
                yield Case(model, law, method, compat, budget, option)


def refused(case: Case) -> bool:
    """Whether the package has to refuse it, by its documents."""
    if case.option == "strata":
        if case.model == "survreg":
            return case.budget == "pure" or case.law == "exponential" or _survreg_refuses(case)
        return case.model != "coxph" or case.budget == "pure"
    if case.model == "survreg":
        return _survreg_refuses(case)
    if case.model == "kaplan_meier":
        return case.option in (
            "no intercept",
            "numbers",
            "products",
            "offset",
            "delayed",
            "inspected",
            "left",
        )
    if case.model == "coxph":
        return case.budget == "pure" or case.option in ("constant", "no intercept", "inspected", "left")
    if case.option in ("all fail", "delayed", "inspected", "left", "dist"):
        return True
    cloglog = case.law in ("binomial", "binomial(cloglog)") and case.method in ("auto", "newton")
    if case.option == "link" and not cloglog:
        return True
    if case.option == "exposure" and case.law not in ("poisson", "gamma", "negativebinomial"):
        return True
    if case.model == "svm":
        return _margin_refuses(case)
    if case.model in ("ols", "ridge") or case.law == "gaussian":
        return _linear_refuses(case)
    if case.model == "logit" or case.law == "binomial":
        pure = case.method == "auto" and case.budget == "pure" and case.option != "link"
        margin = case.method in MARGIN or pure
        return (_margin_refuses if margin else _glm_refuses)(case)
    return _glm_refuses(case)


def _survreg_refuses(case: Case) -> bool:
    pure, functional = case.budget == "pure", case.method == "functional"
    if case.option == "no intercept" or (case.compat and not functional) or (functional and not pure):
        return True
    exponential, known = case.law == "exponential", case.option == "known scale"
    if (exponential and known) or (functional and (exponential or known or case.option == "weights")):
        return True
    return case.option in ("loglik", "dist", "delayed", "inspected", "left") and pure


def _linear_refuses(case: Case) -> bool:
    return case.budget == "pure" if case.method == "pmt" else case.compat is not None


def _margin_refuses(case: Case) -> bool:
    """Without noise of the paper for a budget, and what debiasing has no place for."""
    unpenalised = case.model != "svm" and case.method == "auto"
    if case.compat and (unpenalised or case.budget not in ("pure", "zcdp")):
        return True
    return case.option in ("weights", "loglik") or (unpenalised and case.option == "c")


def _glm_refuses(case: Case) -> bool:
    binomial, newton = case.law in (None, "binomial"), case.method in ("auto", "newton")
    return (
        case.budget == "pure"
        or (case.option == "link" and case.compat is not None)
        or case.option == "c"
        or (case.compat is not None and (newton or case.law == "gamma"))
        or (case.option == "robust" and not (binomial and newton))
        or (case.option == "loglik" and (case.law in ("gamma", "negativebinomial") or not newton))
        or (case.option == "constant" and case.method == "pmt")
    )


# laws of survreg whose rows are those of another, but for the logarithm of the time
TWINS = ("sev", "logistic", "gaussian")
PLAIN = ("weibull", "poisson", "logit", "ols", "svm", "kaplan_meier", "coxph")
# options that need nothing of an estimator, or of rows of times, that the same on other models does not try
COMMON = {
    "poisson": ("constant", "no intercept", "products", "public rows", "public moments", "weights", "subset"),
    "weibull": ("numbers", "subset"),
    "coxph": ("subset", "all fail"),
}


def repeats(case: Case) -> bool:
    """Whether another case takes nearly the same path, so that it is among the long tests."""
    law = str(case.law or case.model)
    plain, alone = law in PLAIN, case.model == "logit" and case.budget == "pure"
    if str(case) == "glm-gamma-newton-zcdp-weights":  # alone asks for the means of weights
        return False
    if case.method == "auto" and not alone:
        return not plain or case.budget != "approx" or case.option is not None
    if case.budget in ("gdp", "approx"):  # noise as under zcdp; so little makes survreg go by signs
        return case.law != "weibull" or case.budget == "approx" or case.option not in (None, "numbers")
    if case.option is None:
        other = (case.method, case.budget) in (("newton", "pure"), ("functional", "pure"))
        return law in ("ridge", *TWINS, "binomial") or (other and law in ("lognormal", "loglogistic"))
    return (
        not plain
        or _noise_alone(case)
        or case.option in COMMON.get(law, ())
        or case.compat is not None
        or (case.option == "numbers" and case.model != "survreg")
        or (case.option == "all fail" and case.budget == "pure" and case.model == "survreg")
        or (case.option == "products" and case.method in (*MARGIN, "pmt", "functional"))
        or (case.option == "factor" and case.model != "kaplan_meier")
        or (case.model == "svm" and case.option not in ("c", "h", "no intercept"))
        or (case.method in MARGIN and case.option in ("public rows", "public moments", "robust"))
    )


def _noise_alone(case: Case) -> bool:
    """Whether an option is tried under noise of another law, or by another model, which it does not touch."""
    if case.method in MARGIN:  # that of svm with objective perturbation has all that options touch
        return (case.model, case.method, case.budget) != ("svm", "objective", "pure")
    if case.model == "kaplan_meier":
        return case.budget == "zcdp"
    if case.model == "ols" and case.budget == "pure":
        return case.option in ("no intercept", "offset", "public rows", "public moments", "subset")
    return case.model == "logit" and case.method == "pmt"  # as glm and ols do


CASES = tuple(case for case in combinations() if not refused(case))
# of each model one under pure noise and one under Gaussian
QUICK = {
    (case.model, case.budget == "pure"): case
    for case in reversed(CASES)
    if case.option is case.compat is None
    and case.method != "auto"
    and (case.law or case.model) in (*PLAIN, "ridge")
}.values()


def _param(case: Case) -> Any:
    marks = [pytest.mark.long] * repeats(case) + [pytest.mark.quick] * (case in QUICK)
    return pytest.param(case, id=str(case), marks=marks)


SHORT = [_param(case) for case in CASES if not repeats(case)]
TABLE = SHORT + [_param(case) for case in CASES if repeats(case)]
"""The cases as parameters of a test: those that differ much, those that repeat them, and all."""


def unless(elsewhere: Callable[[Case], bool], params: Iterable[Any]) -> list[Any]:
    """The parameters, of which those that another test tells of are among the long ones, too."""
    return [
        pytest.param(*each.values, id=each.id, marks=pytest.mark.long) if elsewhere(each.values[0]) else each
        for each in params
    ]


def has_option(case: Case) -> bool:
    return case.option is not None
