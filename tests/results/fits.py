"""Fits for the tests of results: R's on the capacitor data, and a made-up one that strains the layout."""

from collections.abc import Callable
from typing import Any

import numpy as np

import dpstats as dps
from dpstats.models.survreg import SIGNS_METHOD, SIGNS_RELEASED
from dpstats.results import Fit
from dpstats.results.cautions import cautions

USE = {"voltage": 200, "temperature": 170}
STRESS = {"voltage": 350, "temperature": 180}

# R 4.2, survival: survreg(Surv(time, status) ~ voltage + temperature, capacitor); tests/goldens/survreg.R
CAPACITOR_PARAMS = [13.407016880764505, -0.0059108195038672009, -0.028904662689178181, -1.0111257768219364]
CAPACITOR_COV = [
    [5.2708711272622075, -0.00045564380993412881, -0.029365353059518599, 0.015354345743025726],
    [-0.00045564380993412881, 1.0811688299285773e-06, 9.0071649743408229e-07, -4.2873885788654505e-06],
    [-0.029365353059518599, 9.0071649743408229e-07, 0.00016633138582788272, -5.9442624956931255e-05],
    [0.015354345743025726, -4.2873885788654505e-06, -5.9442624956931255e-05, 0.023207772609285072],
]
SHARES = np.sqrt([0.41, 0.38, 0.45, 0.52])  # invented, to show the layout


def slopes(params: np.ndarray, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Central differences of a function of coefficients in each of them, shape (k, m)."""
    rows = []
    for j, value in enumerate(params):
        step = np.zeros(len(params))
        step[j] = 1e-6 * max(abs(value), 1e-2)
        rows.append((of(params + step) - of(params - step)) / (2 * step[j]))
    return np.array(rows)


def capacitor(**changes: Any) -> Fit:
    """R's fit of its capacitors, without privacy; `changes` replace fields of the record."""
    cov = np.array(CAPACITOR_COV)
    fields: dict[str, Any] = {
        "model": "survreg",
        "dist": "weibull",
        "formula": "Surv(time, failed) ~ voltage + temperature",
        "schema": dps.Schema(
            time=dps.bounded(10, 2000, unit="hours"),
            failed=dps.event(),
            voltage=dps.bounded(200, 350, unit="V"),
            temperature=dps.bounded(170, 180),
            unused=dps.bounded(0, 1),
        ),
        "names": ("Intercept", "voltage", "temperature", "Log(scale)"),
        "params": CAPACITOR_PARAMS,
        "cov": cov,
        "cov_privacy": cov * np.outer(SHARES, SHARES),
        "nobs": 64,
        "budget": dps.approx(1, 1e-6),
        "method": "noisy Newton (Gaussian)",
        "released": ("score", "information"),
        "settings": {"cut c": 2.0, "z_l": -6.1, "R": 3.5},
        "ledger": "1.00 of 3.00 spent on 'capacitors'",
    }
    return Fit(**{**fields, **changes})


def by_signs() -> Fit:
    """The same, with slopes by the signs of residuals."""
    return capacitor(
        method=SIGNS_METHOD,
        released=SIGNS_RELEASED,
        flags=cautions(("shape",), ()),
        settings={"cut c": 2.0, "z_l": -6.1, "slopes": "signs of residuals"},
    )


def of_serials() -> Fit:
    """The same, of units of two rows."""
    schema = capacitor().record.schema.unit("serial", max_rows=2)
    unit = schema.privacy_unit
    return capacitor(schema=schema, unit=str(unit), adjacency=unit.adjacency)


def wide() -> Fit:
    """Thirty coefficients, long names of levels, one of them not estimable, two cautions."""
    levels = [
        f"{k:02d} manufacturer of hard disk drives in {'Northern ' * (k % 3)}Ruritania" for k in range(24)
    ]
    names = (
        "Intercept",
        *(f"maker[T.{level}]" for level in levels[1:]),
        "temp",
        "load",
        "temp:load",
        "age",
        "runs",
        "Log(scale)",
    )
    rng = np.random.default_rng(5)
    params = rng.normal(size=len(names)) * 10.0 ** rng.integers(-6, 4, size=len(names))
    sd = np.abs(params) * 10.0 ** rng.uniform(-1.5, 1, size=len(names))
    params[-1], sd[-1] = 0.2, 0.01
    cov = np.diag(sd**2)
    cov[7, 7] = np.inf
    share = np.where(np.isinf(cov), np.inf, 0.3 * cov)
    return Fit(
        model="survreg",
        dist="weibull",
        formula="Surv(time, failed) ~ maker + temp * load + age + runs",
        schema=dps.Schema(
            time=dps.bounded(1, 4000, unit="days"),
            failed=dps.event(failed="yes", censored="no"),
            maker=dps.levels(*levels),
            temp=dps.bounded(10, 50, unit="C"),
            load=dps.flag("high", "low"),
            age=dps.bounded(0, 10),
            runs=dps.count(1000),
        ),
        names=names,
        params=params,
        cov=cov,
        cov_privacy=share,
        nobs=None,
        budget=dps.zcdp(0.5),
        method="noisy Newton on a bounded score (Gaussian), 12 + 8 steps, covariance released",
        released=("event moments", "event matrix", "score, 20 times"),
        settings={"cut c": 1.0, "z_l": -3.0, "R": 2.5, "steps": 20},
        flags=(
            ("not_estimable", "some coefficients are not estimable at this budget"),
            ("below_budget", "below usable budget; intervals unreliable or deliberately wide"),
        ),
    )
