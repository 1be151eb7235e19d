"""R's fits, seen through our own reading of schema, formula and rows.

At R's estimates our rows must give R's log likelihood, a score of zero and R's covariance. So the goldens
are what they claim to be, and we read the data as R does, clipping and missing values included.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from dpstats import datasets
from dpstats.formula import build_design
from dpstats.rows import open_rows

FITS = json.loads((Path(__file__).parent / "goldens" / "survreg.json").read_text())["fits"]


def read(fit: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Design (n, p), log time (n,) and event (n,) of the rows that are switched on."""
    loaded = datasets.load(fit["data"])
    design = build_design(fit["formula"], loaded.schema)
    rows = open_rows(loaded.data, loaded.schema, design.variables)
    assert rows.n == fit["rows"]
    assert [*design.names, "Log(scale)"] == fit["names"]
    blocks = [design.read(block) for block in rows.blocks()]
    on = np.concatenate([block.ok for block in blocks])
    exog, time, event = (
        np.concatenate([getattr(block, name) for block in blocks])[on] for name in ("exog", "time", "event")
    )
    return exog, np.log(time), event


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: f"{fit['model']}-{fit['dist']}")
def test_rows_give_the_likelihood_of_r(fit: dict[str, Any]) -> None:
    exog, y, event = read(fit)
    assert (len(y), event.sum()) == (fit["used"], fit["events"])
    params, log_scale = np.array(fit["params"][:-1]), fit["params"][-1]
    cov, scale = np.array(fit["cov"]), np.exp(log_scale)
    z = (y - exog @ params) / scale
    if fit["dist"] == "weibull":
        terms, psi, curvature = event * z - np.exp(z), np.exp(z) - event, np.exp(z)
    elif fit["dist"] == "lognormal":
        hazard = np.exp(norm.logpdf(z) - norm.logsf(z))
        terms = np.where(event == 1, norm.logpdf(z), norm.logsf(z))
        psi, curvature = np.where(event == 1, z, hazard), np.where(event == 1, 1.0, hazard * (hazard - z))
    else:
        terms = event * z - (1 + event) * np.logaddexp(0, z)
        psi, curvature = (1 + event) * expit(z) - event, (1 + event) * expit(z) * expit(-z)
    loglik = np.sum(terms - event * (y + log_scale))
    assert loglik == pytest.approx(fit["loglik"], rel=1e-11)

    rows = np.column_stack([exog / scale, z])  # derivatives of -z; log scale last
    score = rows.T @ psi
    score[-1] -= event.sum()
    assert score @ cov @ score < 1e-16
    information = (rows * curvature[:, None]).T @ rows
    information[-1, -1] += event.sum()
    assert np.linalg.inv(information) == pytest.approx(cov, rel=1e-5)
