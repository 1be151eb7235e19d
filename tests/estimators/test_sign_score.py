"""Without noise a fit by signs ends at the root of its scores, as far from the truth as they vary.

The budget is public and would choose Newton here; the fit is made to go by signs, at one whose noise would be
small beside what rows vary by, so that nothing is shrunk.
"""

import importlib
import math
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator, Release
from dpstats.estimators.location_scale import driver
from dpstats.families import DISTS
from dpstats.families.signs import signs
from dpstats.models.survreg import SIGNS_METHOD
from dpstats.testing import NoNoise, noise

TRUTH = np.array([1.0, 0.5, -0.4, 0.3, math.log(0.7)])
ROWS = 20_000
SCHEMA = dps.Schema(
    y=dps.bounded(-15, 15), failed=dps.event(), **{f"x{j}": dps.bounded(-4, 4) for j in range(3)}
)
# inverse information of a slope, over sigma^2, where no row is censored
LEAST = {"sev": 1.0, "gaussian": 1.0, "logistic": 3.0}


class Watching(Curator):
    """Keeps the public parameters of the last score of the slopes."""

    last: dict[str, Any]

    def release(self, name: str, cost: float, **public: Any) -> Release:
        if name == "sign_score":
            Watching.last = public
        return super().release(name, cost, **public)


def rows(dist: str, censored: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(int(10 * censored))
    x = np.clip(generator.normal(size=(ROWS, 3)), -4, 4)
    error = DISTS[dist].family.quantile(generator.uniform(size=ROWS))
    y = TRUTH[0] + x @ TRUTH[1:4] + math.exp(TRUTH[-1]) * error
    limit = np.inf
    if censored:
        limit = np.quantile(y, 1 - censored) + generator.normal(0, 0.5, ROWS)
    return x, np.minimum(y, limit), (y <= limit).astype(float)


@pytest.mark.parametrize("dist", ["sev", "logistic", "gaussian"])
@pytest.mark.parametrize("censored", [0.0, 0.3])
def test_the_scores_are_solved(dist: str, censored: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_NEWTON", math.inf)
    monkeypatch.setattr(importlib.import_module("dpstats.models.survreg"), "Curator", Watching)
    x, y, event = rows(dist, censored)
    data = {f"x{j}": x[:, j] for j in range(3)} | {"y": y, "failed": event}
    with noise(NoNoise()):
        fit = dps.survreg("Surv(y, failed) ~ x0 + x1 + x2", data, SCHEMA, dist).fit(dps.gdp(1.0))
    assert fit.record.method == SIGNS_METHOD
    params, bse = fit.params.to_numpy(), fit.bse.to_numpy()
    assert (np.abs(params - TRUTH) < 4 * bse).all()
    best = math.exp(TRUTH[-1]) * math.sqrt(LEAST[dist] / ROWS)
    assert (bse[1:4] > best).all() and (bse[1:4] < 1.8 * best).all()

    score = signs(DISTS[dist].family, (y - params[0] - x @ params[1:4]) / math.exp(params[-1]), event).score
    public = Watching.last
    white = (x - public["center"]) / public["scale"] @ public["whitening"][:, 1:].T
    white *= np.minimum(1, public["radius"] / np.linalg.norm(white, axis=1))[:, None] * score[:, None]
    assert np.abs(white.sum(axis=0) / np.sqrt((white**2).sum(axis=0))).max() < 0.1
