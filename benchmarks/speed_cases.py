"""What benchmarks/speed.py times: made-up frames, our fit of each with its table, and a peer's fit of it.

Two interpreters run the module, ours and that of the peers, so that a package is imported where it is used.
It measures one fit: ``python benchmarks/speed_cases.py CASE ours``.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

LEVELS = ("low", "middle", "high")
BUDGET = (1.0, 1e-6)
WARM = 10_000  # rows of the fit before the one that is measured; fewer may be too few for the budget
Frame = pd.DataFrame
Fit = Callable[[Frame], object]


@dataclass(frozen=True)
class Case:
    """One fit, ours and a peer's.

    Attributes
    ----------
    rows : int
    columns : int
        Of the design, without the intercept.
    make : callable
        A number of rows to a frame.
    ours : callable
    peer : str
        Its name.
    theirs : callable
    goal : float
        Of the ratio of processor times.
    elsewhere : bool
        Whether the peer lives in an environment of its own.
    """

    rows: int
    columns: int
    make: Callable[[int], Frame]
    ours: Fit
    peer: str
    theirs: Fit
    goal: float
    elsewhere: bool = False


def numbers(d: int) -> list[str]:
    return [f"x{j}" for j in range(1, d - 1)]


def frame(response: str, d: int, kind: str, n: int) -> Frame:
    """Numbers between -1 and 1 and a factor of three levels, a category or texts, and a response of a law."""
    rng, names = np.random.default_rng(n), numbers(d)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(n, len(names))), columns=names)
    codes = rng.integers(3, size=n)
    predictor = data.to_numpy() @ np.linspace(-1, 1, len(names)) * np.sqrt(8 / len(names)) + 0.3 * codes
    grades = pd.Categorical.from_codes(codes, categories=list(LEVELS))
    data["grade"] = grades if kind == "category" else grades.astype(str).to_numpy()
    if response == "normal":
        return data.assign(y=predictor + rng.normal(scale=0.5, size=n))
    if response == "flag":
        return data.assign(y=(rng.random(n) < 1 / (1 + np.exp(-predictor))).astype(float))
    if response == "count":
        return data.assign(y=rng.poisson(np.exp(predictor)))
    time = np.exp(6 + 0.5 * predictor + 0.5 * np.log(rng.exponential(size=n)))
    limit = rng.uniform(100, 2000, size=n)
    return data.assign(time=np.clip(np.minimum(time, limit), 1, 2000), failed=(time <= limit).astype(int))


def formula(d: int, left: str = "y") -> str:
    return f"{left} ~ " + " + ".join([*numbers(d), "grade"])


def shown(fit: object) -> None:
    print(fit.summary(), file=io.StringIO())  # type: ignore[attr-defined]


def by_dpstats(model: str, d: int, data: Frame, pure: bool = False, **options: object) -> None:
    """One fit of a model of dpstats, its table printed."""
    import dpstats as dps

    responses = {"ols": dps.bounded(-8, 8), "glm": dps.count(50)}
    schema = dps.Schema(
        y=responses.get(model, dps.flag()),
        time=dps.bounded(1, 2000),
        failed=dps.event(),
        grade=dps.levels(*LEVELS),
        **{name: dps.bounded(-1, 1) for name in numbers(d)},
    )
    budget = dps.pure(BUDGET[0]) if pure else dps.approx(*BUDGET)
    if model == "kaplan_meier":
        return print(dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema).fit(budget), file=io.StringIO())
    if model == "survreg":
        left = "Surv(time, failed)"
        return shown(dps.survreg(formula(d, left), data, schema, dist=str(options["dist"])).fit(budget))
    if model == "glm":
        return shown(dps.glm(formula(d), data, schema, "poisson").fit(budget))
    fit = getattr(dps, model)(formula(d), data, schema)
    return shown(fit.fit(budget, **options))


def by_statsmodels(model: str, d: int, data: Frame) -> None:
    from statsmodels.formula import api

    if model == "ols":
        api.ols(formula(d), data).fit()
    elif model == "logit":
        api.logit(formula(d), data).fit(disp=False)
    else:
        import statsmodels.api as sm

        api.glm(formula(d), data, family=sm.families.Poisson()).fit()


def by_lifelines(fitter: str, d: int, data: Frame) -> None:
    import lifelines

    if fitter == "KaplanMeierFitter":
        lifelines.KaplanMeierFitter().fit(data["time"], data["failed"])
    else:
        right = formula(d).partition("~")[2]
        getattr(lifelines, fitter)().fit(data, "time", "failed", formula=right)


def by_sklearn(d: int, data: Frame) -> None:
    import patsy
    from sklearn.linear_model import LogisticRegression

    y, exog = patsy.dmatrices(formula(d), data)
    LogisticRegression(fit_intercept=False).fit(np.asarray(exog), np.ravel(y))


def _table(model: str, response: str, n: int, d: int, goals: dict[str, float]) -> dict[str, Case]:
    return {
        f"{model}, {kind}, {n:.0e}, d = {d}": Case(
            n,
            d,
            partial(frame, response, d, kind),
            partial(by_dpstats, "glm" if model == "poisson" else model, d),
            "statsmodels",
            partial(by_statsmodels, model, d),
            goal,
        )
        for kind, goal in goals.items()
    }


def _pure_logit(n: int) -> dict[str, Case]:
    """No goal was set; that of a fit with Gaussian noise stands in."""
    ours = partial(by_dpstats, "logit", 10, pure=True)
    made = partial(frame, "flag", 10, "category")
    theirs = partial(by_statsmodels, "logit", 10)
    return {f"logit under pure epsilon, {n:.0e}": Case(n, 10, made, ours, "statsmodels", theirs, 0.8)}


def _survival(dist: str, fitter: str, n: int) -> dict[str, Case]:
    ours = partial(by_dpstats, "survreg", 10, dist=dist)
    theirs = partial(by_lifelines, fitter, 10)
    made = partial(frame, "time", 10, "category")
    return {f"survreg, {dist}, {n:.0e}": Case(n, 10, made, ours, "lifelines", theirs, 0.15, True)}


def _margin(name: str, model: str, **options: object) -> dict[str, Case]:
    ours = partial(by_dpstats, model, 10, **options)
    made = partial(frame, "flag", 10, "category")
    return {
        f"{name}, 1e+05": Case(100_000, 10, made, ours, "scikit-learn", partial(by_sklearn, 10), 1.0, True)
    }


def _kaplan_meier() -> dict[str, Case]:
    ours, theirs = partial(by_dpstats, "kaplan_meier", 10), partial(by_lifelines, "KaplanMeierFitter", 10)
    made = partial(frame, "time", 10, "category")
    return {"kaplan_meier, 1e+06": Case(1_000_000, 1, made, ours, "lifelines", theirs, 0.2, True)}


CASES: dict[str, Case] = {
    **_table("ols", "normal", 10_000, 10, {"category": 0.8, "text": 0.5}),
    **_table("logit", "flag", 10_000, 10, {"category": 1.0, "text": 1.0}),
    **_table("poisson", "count", 10_000, 10, {"category": 1.5, "text": 1.5}),
    **_table("ols", "normal", 100_000, 10, {"category": 0.5, "text": 0.12}),
    **_table("logit", "flag", 100_000, 10, {"category": 0.8, "text": 0.3}),
    **_table("poisson", "count", 100_000, 10, {"category": 0.6, "text": 0.4}),
    **_table("ols", "normal", 1_000_000, 10, {"category": 0.2, "text": 0.07}),
    **_table("logit", "flag", 1_000_000, 10, {"category": 0.4, "text": 0.18}),
    **_table("poisson", "count", 1_000_000, 10, {"category": 0.25, "text": 0.17}),
    **_table("ols", "normal", 100_000, 30, {"category": 0.6, "text": 0.25}),
    **_table("logit", "flag", 100_000, 30, {"category": 0.7}),
    **_table("poisson", "count", 100_000, 30, {"category": 0.6}),
    **_pure_logit(100_000),
    **_survival("weibull", "WeibullAFTFitter", 50_000),
    **_survival("weibull", "WeibullAFTFitter", 100_000),
    **_survival("loglogistic", "LogLogisticAFTFitter", 100_000),
    **_survival("lognormal", "LogNormalAFTFitter", 100_000),
    **_margin("objective perturbation", "logit", method="objective"),
    **_margin("svm", "svm"),
    **_kaplan_meier(),
}


def measure(name: str, engine: str) -> None:
    case = CASES[name]
    fit = case.ours if engine == "ours" else case.theirs
    fit(case.make(WARM))
    data = case.make(case.rows)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts here
    before = status("VmRSS")
    fit(data)
    peak = status("VmHWM") - before
    cpu = time.process_time()
    fit(data)
    print(time.process_time() - cpu, peak)


def status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    measure(*sys.argv[1:])
