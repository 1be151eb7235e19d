"""A family is one record and one row of a table: a geometric law that the package does not know is fitted."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

import dpstats as dps
from dpstats.families import FAMILIES
from dpstats.families.glm import PROBIT, GlmFamily
from dpstats.formula import build_design
from dpstats.models.glm import GlmModel
from dpstats.testing import NoNoise, SeededNoise, noise

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), y=dps.count(200))


def clipped_mean(eta: np.ndarray, limit: np.ndarray, dispersion: float) -> np.ndarray:
    """Of (Y - m) / (1 + m), by the sum over all counts that matter."""
    mean, counts = np.exp(np.minimum(eta, 4.0))[:, None], np.arange(800)
    chances = np.exp(counts * np.log(mean / (1 + mean)) - np.log1p(mean))
    scores, limits = (counts - mean) / (1 + mean), np.broadcast_to(limit, np.shape(eta))[:, None]
    return np.asarray(np.sum(chances * (np.clip(scores, -limits, limits) - scores), axis=1))


GEOMETRIC = GlmFamily(
    name="geometric",
    title="Geometric",
    link_name="log",
    mean=np.exp,
    link=np.log,
    score=lambda y, eta: (y - np.exp(eta)) / (1 + np.exp(eta)),
    curvature=special.expit,
    variance=lambda mean: mean + mean**2,
    score_variance=lambda eta, dispersion: special.expit(eta),
    clipped_mean=clipped_mean,
    clipped_square=None,
    quantile=None,
    support=(0.0, np.inf),
    most_curved=1.0,
    free_dispersion=False,
    longer_tail=1.0,
    ratio_name="rate ratio",
    deviance=lambda y, mean: 2 * (special.xlogy(y, y / mean) - (1 + y) * np.log((1 + y) / (1 + mean))),
    draw=lambda mean, phi, rng: rng.geometric(1 / (1 + mean)) - 1.0,
    log_likelihood=lambda y, eta: y * eta - (1 + y) * np.logaddexp(0, eta),
)


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the points of the tabulated correction: the sum is slow."""
    monkeypatch.setattr("dpstats.families.bounded_score._POINTS", 400)


def model(monkeypatch: pytest.MonkeyPatch, n: int) -> tuple[GlmModel, np.ndarray]:
    monkeypatch.setitem(FAMILIES, "geometric", GEOMETRIC)
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    y = np.minimum(rng.geometric(1 / (1 + np.exp(0.5 + 0.4 * x))) - 1, 200).astype(float)
    law = sm.families.NegativeBinomial(alpha=1.0)
    exact = sm.GLM(y, sm.add_constant(x), family=law).fit().params
    design = build_design("y ~ x", SCHEMA)
    return GlmModel("glm", GEOMETRIC, design, {"x": x, "y": y}, None), exact


def test_without_noise_it_finds_the_maximum_of_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    known, exact = model(monkeypatch, 5000)
    with noise(NoNoise()):
        fit = known.fit(dps.gdp(1e6))
    assert fit.params.to_numpy() == pytest.approx(exact, abs=2e-3)
    assert "Geometric regression" in str(fit.summary()) and "Rate ratio" in str(fit.summary())


def test_with_noise_its_intervals_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three standard errors, of ten fits: by chance once in 20."""
    known, exact = model(monkeypatch, 20_000)
    for seed in range(5):
        with noise(SeededNoise(seed)):
            fit = known.fit(dps.gdp(0.5))
        assert (np.abs(fit.params - [0.5, 0.4]) < 4.5 * fit.bse).all()
        assert not fit.flags


def test_bounded_scores_of_a_yes_or_no_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a cauchit are at most .72; what is released of those of a logit, at most 1, is another fit."""

    def sizes(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        density = stats.cauchy.pdf(eta)
        return density / stats.cauchy.cdf(eta), density / stats.cauchy.sf(eta)

    cauchit = replace(
        PROBIT,
        name="binomial(cauchit)",
        title="cauchit",
        link_name="cauchit",
        mean=stats.cauchy.cdf,
        link=stats.cauchy.ppf,
        score=lambda y, eta: y * sizes(eta)[0] - (1 - y) * sizes(eta)[1],
        curvature=lambda eta: np.prod(sizes(eta), axis=0),
        score_variance=lambda eta, dispersion: np.prod(sizes(eta), axis=0),
        most_curved=4 / np.pi**2 + 1e-9,
        log_likelihood=lambda y, eta: np.log(np.where(y > 0, stats.cauchy.cdf(eta), stats.cauchy.sf(eta))),
    )
    monkeypatch.setitem(FAMILIES, cauchit.name, cauchit)
    rng = np.random.default_rng(1)
    x = rng.normal(size=5000).clip(-4, 4)
    y = (rng.random(5000) < cauchit.mean(0.3 + 0.8 * x)) * 1.0
    law = sm.families.Binomial(sm.families.links.Cauchy())
    design = build_design("y ~ x", dps.Schema(x=dps.bounded(-4, 4), y=dps.flag()))
    with noise(NoNoise()):
        fit = GlmModel("glm", cauchit, design, {"x": x, "y": y}, None).fit(dps.gdp(1e6))
    assert fit.params.to_numpy() == pytest.approx(
        sm.GLM(y, sm.add_constant(x), family=law).fit().params, abs=2e-3
    )
