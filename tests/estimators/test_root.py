"""With bounds on, the iteration ends at the root of the bounded, weighted equation, computed from rows."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from dpstats import datasets
from dpstats.budget import gdp
from dpstats.curator import Curator, Release
from dpstats.estimators.location_scale import fit_location_scale, make_plan
from dpstats.families.martingale import integrands
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, noise
from tests.estimators.test_exact import FITS, name, problem

pytestmark = pytest.mark.long

# patients' death times are neither Weibull, log-logistic nor log-normal, so that bounds move the root
MODELS = [fit for fit in FITS if fit["model"] == "rotterdam_8"]
BUDGET = gdp(1.0)
# the estimate averages the tail, so that what is left of the way to the root falls as 1 / its length
EARLY, TAIL = 10, 1000


class Watching(Curator):
    """Keeps the public parameters of the last scores asked for."""

    last: dict[str, Any]

    def release(self, name: str, cost: float, **public: Any) -> Release:
        if name == "martingale_score":
            self.last = public
        return super().release(name, cost, **public)


class Fitted(NamedTuple):
    params: np.ndarray
    public: dict[str, Any]
    exog: np.ndarray
    y: np.ndarray
    event: np.ndarray


def fitted(golden: dict[str, Any]) -> Fitted:
    """Where the iteration ends, without what is then moved for effects that bend: those of nodes do."""
    loaded = datasets.load(golden["data"])
    design = build_design(golden["formula"], loaded.schema)
    rows = open_rows(loaded.data, loaded.schema, design.variables)
    with (
        noise(NoNoise()),
        patch("dpstats.estimators.location_scale.gaussian.straightened", lambda *asked: asked[-1]),
    ):
        curator = Watching(rows, design, BUDGET)
        plan = make_plan(BUDGET.mu, early_steps=EARLY, tail_steps=TAIL)
        estimate = fit_location_scale(curator, problem(design, golden["dist"]), plan)
    blocks = [design.read(block) for block in rows.blocks()]
    on = np.concatenate([block.ok for block in blocks])
    exog, time, event = (
        np.concatenate([getattr(block, part) for block in blocks])[on] for part in ("exog", "time", "event")
    )
    return Fitted(estimate.params, curator.last, exog, np.log(time), event)


def equation(fit: Fitted, params: np.ndarray) -> np.ndarray:
    """Sums of the weighted scores at `params`, each over the square root of its sum of squares."""
    public = fit.public
    where, sigma = public["where"], np.exp(params[-1])
    z = (fit.y - fit.exog @ params[:-1]) / sigma
    x = np.column_stack([np.ones(len(z)), (fit.exog[:, 1:] - public["center"]) / public["scale"]])
    pivot = np.clip(x @ public["pivot"], *where.pivots)
    pieces = integrands(where.cut, z, pivot, *where.limits)
    white = x @ public["whitening"]
    weight = np.minimum(1, public["radius"] ** 2 / (white**2).sum(axis=1))
    held = fit.event * pieces.taper
    psi = pieces.location_compensator - held * pieces.location
    chi = pieces.log_sigma_compensator - held * pieces.log_sigma
    scores = np.column_stack([white * (weight * psi)[:, None], weight * chi])
    return scores.sum(axis=0) / np.sqrt((scores**2).sum(axis=0))


@pytest.mark.parametrize("golden", MODELS, ids=name)
def test_the_bounded_equation_is_solved(golden: dict[str, Any]) -> None:
    """Sums of scores at the estimate against their sampling sds; at R's estimate they are far from 0."""
    fit = fitted(golden)
    assert np.abs(equation(fit, fit.params)).max() < 0.01
    assert np.abs(equation(fit, np.array(golden["params"]))).max() > 0.3
