"""Generalised linear models by hand: statsmodels' estimates from two hundred regular rows, and a wide one."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpstats as dps
from dpstats.results import Fit

AT = {"age": 40, "hours": 38, "sex": "F", "status": "single", "years": 2.0}
POINTS = [AT, {"age": 61, "hours": 55, "sex": "M", "status": "widowed", "years": 0.25}]
SCHEMA = dps.Schema(
    income=dps.flag(">50K", "<=50K"),
    claims=dps.count(20),
    cost=dps.bounded(1, 10_000, unit="EUR"),
    age=dps.bounded(17, 90, unit="year"),
    hours=dps.bounded(1, 99),
    sex=dps.flag("M", "F"),
    status=dps.levels("married", "single", "widowed"),
    years=dps.bounded(0.01, 3, unit="years"),
    unused=dps.bounded(0, 1),
)
RIGHT = "age + np.log(hours) + sex + status + age:sex"
OFFSET = " + offset(np.log(years))"
RESPONSES = {
    "binomial": "income",
    "poisson": "claims",
    "gamma": "cost",
    "gaussian": "cost",
    "binomial(probit)": "income",
    "binomial(cloglog)": "income",
}
SHARE = 0.4


@cache
def rows() -> pd.DataFrame:
    """Regular rows, coded as a design reads them: flags are 1 and 0."""
    k = np.arange(200)
    frame = pd.DataFrame(
        {
            "age": 45 + 20 * np.sin(1.7 * k),
            "hours": 40 + 15 * np.cos(2.3 * k),
            "sex": (np.sin(3.1 * k) > 0).astype(float),
            "status": np.array(["married", "single", "widowed"])[(k * 7) % 3],
            "years": 1.5 + 1.2 * np.sin(0.7 * k),
        }
    )
    eta = -1 + 0.03 * (frame["age"] - 40) + 0.5 * frame["sex"] - 0.4 * (frame["status"] == "single")
    wave = np.sin(5.3 * k + 0.4)
    frame["income"] = (eta + 1.5 * wave > -0.5).astype(float)
    frame["claims"] = np.floor(frame["years"] * np.exp(eta) * (1 + wave) + 0.5)
    frame["cost"] = 50 * np.exp(eta + 0.8 * wave)
    return frame


@cache
def statsmodels_fit(family: str, offset: bool = False) -> Any:
    """The non-private fit of the same model."""
    families = {
        "binomial": sm.families.Binomial(),
        "poisson": sm.families.Poisson(),
        "gamma": sm.families.Gamma(sm.families.links.Log()),
        "gaussian": sm.families.Gaussian(),
        "binomial(probit)": sm.families.Binomial(sm.families.links.Probit()),
        "binomial(cloglog)": sm.families.Binomial(sm.families.links.CLogLog()),
    }
    more = {"offset": np.log(rows()["years"])} if offset else {}
    return smf.glm(f"{RESPONSES[family]} ~ {RIGHT}", rows(), family=families[family], **more).fit()


def glm(family: str, offset: bool = False, **changes: Any) -> Fit:
    """That fit as a `Fit`; `changes` replace fields of the record."""
    result = statsmodels_fit(family, offset)
    cov = np.asarray(result.cov_params())
    phi = (result.scale, 0.2 * result.scale, 0.1 * result.scale)
    fields: dict[str, Any] = {
        "model": "logit" if family == "binomial" else "glm",
        "dist": family,
        "formula": f"{RESPONSES[family]} ~ {RIGHT}{OFFSET if offset else ''}",
        "schema": SCHEMA,
        "names": tuple(result.params.index),
        "params": result.params.to_numpy().round(10),
        "cov": cov,
        "cov_privacy": SHARE * cov,
        "nobs": 200,
        "budget": dps.approx(1, 1e-6),
        "method": "noisy Newton (Gaussian)",
        "released": ("score", "information"),
        "settings": {"R": 2.5, **({} if family == "binomial" else {"C": 5.0})},
        "dispersion": phi if family in ("gamma", "gaussian") else None,
    }
    return Fit(**{**fields, **changes})


def coded(points: list[dict[str, Any]]) -> pd.DataFrame:
    """Points as `rows` codes them, for statsmodels."""
    frame = pd.DataFrame(points)
    return frame.assign(sex=frame["sex"].map({"M": 1.0, "F": 0.0}))


def wide(**changes: Any) -> Fit:
    """Thirty coefficients, long names of levels, one of them not estimable."""
    levels = [f"{k:02d} district of the {'Upper ' * (k % 3)}Valley of the Winds" for k in range(26)]
    names = ("Intercept", *(f"place[T.{level}]" for level in levels[1:]), "age", "hours", "sex", "age:sex")
    rng = np.random.default_rng(7)
    params = rng.normal(size=len(names)) * 10.0 ** rng.integers(-4, 2, size=len(names))
    sd = np.abs(params) * 10.0 ** rng.uniform(-1.5, 1, size=len(names))
    cov = np.diag(sd**2)
    cov[5, 5] = np.inf
    fields: dict[str, Any] = {
        "model": "logit",
        "dist": "binomial",
        "formula": "income ~ place + age + hours + sex + age:sex",
        "schema": dps.Schema({**SCHEMA, "place": dps.levels(*levels)}),
        "names": names,
        "params": params,
        "cov": cov,
        "cov_privacy": np.where(np.isinf(cov), np.inf, 0.2 * cov),
        "nobs": None,
        "budget": dps.zcdp(0.5),
        "method": "noisy Newton (Gaussian)",
        "flags": (("not_estimable", "some coefficients are not estimable at this budget"),),
    }
    return Fit(**{**fields, **changes})
