"""A fit of every model and distribution, made by hand: what one of them must do, all of them must."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats.families import DISTS
from dpstats.moments.baseline import Baseline, Trend
from dpstats.results import Fit
from tests.results import fits, glms, linear

MARGIN_AT = {"x": 2.0, "z": "b"}
# methods of survival fits alone
OF_TIME = (
    "parameters",
    "eta",
    "life",
    "reliability",
    "conditional_reliability",
    "hazard",
    "mttf",
    "time_ratios",
    "hazard_ratios",
)


def svm(**changes: Any) -> Fit:
    """A support vector machine; `changes` replace fields of the record."""
    cov = np.diag([0.04, 0.02, 0.01])
    fields: dict[str, Any] = {
        "model": "svm",
        "dist": "huber",
        "formula": "good ~ z + x",
        "schema": dps.Schema(x=dps.bounded(0, 10), z=dps.levels("a", "b"), good=dps.flag()),
        "names": ("Intercept", "z[T.b]", "x"),
        "params": [-2.0, 0.5, 0.4],
        "cov": cov,
        "cov_privacy": 0.3 * cov,
        "nobs": 500,
        "budget": dps.pure(1),
        "method": "objective perturbation",
    }
    return Fit(**{**fields, **changes})


def hazards(**changes: Any) -> Fit:
    """A regression of hazards; `changes` replace fields of the record."""
    cov = np.diag([0.04, 0.05, 0.02, 0.01, 0.001])
    cov[1, 3] = cov[3, 1] = -0.005
    baseline = Baseline(
        edges=np.array([1.0, 100.0, 300.0, 1000.0]),
        clock=np.array([0.0, 0.1, 0.2, 0.6]),
        variances=np.array([1e-4, 1e-4, 4e-4]),
        pieces=np.array([0, 0, 1]),
        log_hazards=np.array([-0.3, 0.2]),
        cov=cov,
        cov_privacy=0.3 * cov,
    )
    fields: dict[str, Any] = {
        "model": "coxph",
        "dist": "piecewise constant",
        "formula": "Surv(hours, failed) ~ z + x + I(x ** 2)",
        "schema": dps.Schema(
            hours=dps.bounded(1, 1000), failed=dps.event(), x=dps.bounded(0, 10), z=dps.levels("a", "b")
        ),
        "names": ("z[T.b]", "x", "I(x ** 2)"),
        "params": [0.5, 0.4, -0.02],
        "cov": cov[2:, 2:],
        "cov_privacy": 0.3 * cov[2:, 2:],
        "nobs": 500,
        "budget": dps.zcdp(1),
        "method": "noisy Newton (Gaussian)",
        "settings": {"cut c": 2.0, "R": 2.5, "pieces": 2},
        "baseline": baseline,
        "trend": Trend(np.array([0.3, -0.2, 0.01]), np.diag([0.09, 0.04, 1e-4])),
    }
    return Fit(**{**fields, **changes})


# name -> a fit and a point
EVERY: dict[str, tuple[Fit, dict[str, Any]]] = {
    **{f"survreg-{dist}": (fits.capacitor(dist=dist), fits.USE) for dist in DISTS},
    "ols": (linear.linear(), linear.AT),
    "ridge": (linear.linear(0.1), linear.AT),
    "logit": (glms.glm("binomial"), glms.AT),
    **{f"glm-{family}": (glms.glm(family), glms.AT) for family in ("poisson", "gamma", "gaussian")},
    "svm": (svm(), MARGIN_AT),
    "coxph": (hazards(), MARGIN_AT),
}
