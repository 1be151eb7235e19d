"""Public moment truncation of GLMs: maximum likelihood without noise, the noise of the spec, coverage."""

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

import dpstats as dps
from dpstats.estimators.pmt import ETA
from dpstats.estimators.pmt.glm import STEPS
from dpstats.estimators.published.truncated import published_frame
from dpstats.models.public import as_columns
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.models.visits import HOW, PUBLIC, SCHEMA, WAYS, model, truth, visits

N = 4000
DATA = visits(N, 3)
FAMILIES = {
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(sm.families.links.Log()),
}
RESPONSE = {"binomial": "ill", "poisson": "visits", "gamma": "cost"}
PMT = [way for way in WAYS if way[1] != "newton" and way != ("poisson", "paper")]


def exog(data: dict[str, Any]) -> np.ndarray:
    levels = [data["region"] == "south", data["region"] == "Zadar"]
    return np.column_stack([np.ones(len(data["age"])), *levels, data["age"], data["income"]]).astype(float)


def likelihood(family: str) -> Any:
    return sm.GLM(DATA[RESPONSE[family]], exog(DATA), family=FAMILIES[family]).fit(tol=1e-13)


def fitted(way: tuple[str, str], source: Any, mu: float, data: Any = DATA, public: Any = PUBLIC) -> dps.Fit:
    with noise(source):
        return model(way[0], data, public=public).fit(dps.gdp(mu), **HOW[way[1]])


@pytest.mark.usefixtures("floats")
@pytest.mark.parametrize("way", [("binomial", "pmt"), ("binomial", "paper")], ids=str)
def test_without_noise_a_logit_is_maximum_likelihood(way: Any) -> None:
    """No row is so long that it counts less; 8 steps of Newton's method from 0 are enough."""
    wanted = likelihood("binomial")
    fit = fitted(way, NoNoise(), 1e9)
    assert fit.params.to_numpy() == pytest.approx(wanted.params, abs=1e-8)
    assert fit.bse.to_numpy() == pytest.approx(wanted.bse, rel=1e-3)


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_without_noise_bounded_scores_are_near_maximum_likelihood(family: str) -> None:
    """They are weighted and clipped, and their root stays at the truth, not at the estimate."""
    wanted = likelihood(family)
    fit = fitted((family, "pmt"), NoNoise(), 1e9)
    assert (np.abs(fit.params.to_numpy() - wanted.params) / wanted.bse).max() < 0.5
    assert fit.bse.to_numpy() == pytest.approx(wanted.bse, rel=0.1)


def test_the_noise_is_that_of_the_spec() -> None:
    """Tight: 2 R on scores and R^2 / sqrt 6 on the information, both for mu / sqrt T. Published: each for
    mu / sqrt(2 T), 2 R on scores and R^2 / 2 on every entry of the triangle (A1, A2, C2)."""
    square = 5 * (1 + math.log(2 * N / ETA))
    recording = Recording(NoNoise())
    fit = fitted(("binomial", "pmt"), recording, 0.8)
    assert fit.settings["R"] == pytest.approx(math.sqrt(square), rel=1e-4)
    assert [record.name for record in recording.records] == ["logistic_score"] * STEPS
    step = 0.8 / math.sqrt(STEPS)
    for record in recording.records:
        assert record.law.sds == pytest.approx(2 * math.sqrt(square) / step, rel=1e-5)
    recording = Recording(NoNoise())
    fitted(("binomial", "paper"), recording, 0.8)
    both = ["truncated_score", "truncated_information"]
    assert [record.name for record in recording.records] == both * STEPS
    step = 0.8 / math.sqrt(2 * STEPS)
    for score, information in zip(recording.records[::2], recording.records[1::2], strict=True):
        assert score.law.sds == pytest.approx(2 * math.sqrt(square) / step, rel=1e-5)
        assert information.law.sds == pytest.approx(square / 2 / step, rel=1e-5)


def test_published_scores_and_information_are_those_of_shortened_rows() -> None:
    """At the start, where every probability is one half; in the paper's coordinates."""
    near = PUBLIC | {"income": 4 + 0.2 * (PUBLIC["income"] - 4)}
    public = exog(near)
    values, vectors = np.linalg.eigh(public.T @ public / len(public))
    root = (vectors / np.sqrt(values)) @ vectors.T
    where = published_frame(as_columns(near, model("binomial", DATA).design), True)
    assert where.map == pytest.approx(root, rel=1e-6)
    rows, radius = exog(DATA) @ root, math.sqrt(5 * (1 + math.log(2 * N / ETA)))
    share = np.minimum(1, radius / np.linalg.norm(rows, axis=1))
    assert 0.05 < np.mean(share < 1) < 0.5
    rows *= share[:, None]
    recording = Recording(NoNoise())
    fitted(("binomial", "paper"), recording, 1.0, public=near)
    score, information = (record.exact for record in recording.records[:2])
    assert score == pytest.approx(rows.T @ (DATA["ill"] - 0.5), abs=0.05)
    assert information == pytest.approx((rows.T @ rows / 4)[np.triu_indices(5)], rel=1e-3, abs=0.1)


def test_the_poisson_constants_of_the_paper_leave_nothing() -> None:
    """Its ball keeps iterates, so that no response and no row moves more than the constants say."""
    fit = fitted(("poisson", "paper"), SeededNoise(1), 10.0)
    assert np.isinf(fit.bse).all() and dict(fit.flags).keys() == {"not_estimable"}
    assert fit.settings["R_beta"] == pytest.approx(math.log(40), abs=1e-4)
    public = exog(PUBLIC)
    moments = public.T @ public / len(public)
    assert math.sqrt(fit.params @ moments @ fit.params) <= math.log(40) * (1 + 1e-6)


RUNS, SURE = 20, 1 / 2000


@pytest.mark.parametrize("way", PMT, ids=str)
def test_intervals_cover_and_standard_errors_are_the_scatter(way: tuple[str, str]) -> None:
    """A sound interval fails this once in 2000 runs; 100 errors give their size to 7 percent."""
    mu = {"binomial": 2.0, "poisson": 8.0, "gamma": 4.0}[way[0]]
    fits = [fitted(way, SeededNoise(seed), mu, visits(20_000, 500 + seed)) for seed in range(RUNS)]
    errors = np.array([fit.params.to_numpy() - truth(way[0]) for fit in fits])
    bse = np.array([fit.bse.to_numpy() for fit in fits])
    assert np.isfinite(bse).all()
    hits = np.abs(errors) < 1.96 * bse
    assert hits.sum() >= stats.binom.ppf(SURE, hits.size, 0.95)
    assert 0.7 < math.sqrt(np.mean((errors / bse) ** 2)) < 1.3
    assert (np.abs(errors) < 4 * 1.96 * bse).all()


@pytest.mark.parametrize("way", PMT, ids=str)
def test_what_noise_drowns_is_said_to_be_lost_and_is_no_error(way: tuple[str, str]) -> None:
    data = DATA | {RESPONSE[way[0]]: np.full(N, np.nan)}
    for rows in (DATA, data):
        fit = fitted(way, SeededNoise(3), 0.02, rows)
        assert np.isfinite(fit.params).all() and np.isinf(fit.bse).any()
        assert "not_estimable" in dict(fit.flags) and SCHEMA == fit.schema
