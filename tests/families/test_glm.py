"""Families of generalised linear models: derivatives against likelihoods, clipped moments against laws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import (
    BINOMIAL,
    CLOGLOG,
    FAMILIES,
    GAMMA,
    GAUSSIAN,
    POISSON,
    PROBIT,
    GlmFamily,
    RowsOf,
)

ETAS = np.linspace(-2.5, 2.5, 11)
PHI, ALPHA = 0.7, 1.0
COUNTS = np.arange(0, 2000)
LIKELIHOODS = {
    "binomial": lambda y, mean: stats.bernoulli.logpmf(y, mean),
    "poisson": lambda y, mean: stats.poisson.logpmf(y, mean),
    "negativebinomial": lambda y, mean: stats.nbinom.logpmf(y, 1 / ALPHA, 1 / (1 + ALPHA * mean)),
    "gamma": lambda y, mean: PHI * stats.gamma.logpdf(y, 1 / PHI, scale=mean * PHI),
    "gaussian": lambda y, mean: PHI * stats.norm.logpdf(y, mean, math.sqrt(PHI)),
}
RESPONSES = {
    "binomial": (0.0, 1.0),
    "poisson": (0.0, 3.0, 11.0),
    "negativebinomial": (0.0, 3.0, 11.0),
    "gamma": (0.2, 4.0),
    "gaussian": (-3.0, 2.0),
}


@pytest.fixture(params=FAMILIES.values(), ids=FAMILIES)
def family(request) -> GlmFamily:
    return request.param


def slope(function, at: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Central difference of fourth order."""
    near, far = (function(at + k * step) - function(at - k * step) for k in (1, 2))
    return (8 * near - far) / (12 * step)


def test_the_score_is_the_derivative_of_the_likelihood(family):
    for y in RESPONSES[family.kind]:
        numeric = slope(lambda eta, y=y: LIKELIHOODS[family.kind](y, family.mean(eta)), ETAS)
        np.testing.assert_allclose(family.score(y, ETAS), numeric, rtol=1e-7, atol=1e-7)


def test_the_deviance_is_twice_what_the_likelihood_falls_short(family):
    for y in RESPONSES[family.kind]:
        numeric = slope(lambda mean, y=y: LIKELIHOODS[family.kind](y, mean), family.mean(ETAS), 1e-5)
        found = slope(lambda mean, y=y: family.deviance(np.array(y), mean), family.mean(ETAS), 1e-5)
        np.testing.assert_allclose(found, -2 * numeric, rtol=1e-5, atol=1e-6)
    mean = family.mean(ETAS)
    np.testing.assert_allclose(family.deviance(mean, mean), 0, atol=1e-12)


def test_draws_have_the_mean_and_the_variance_of_the_family(family):
    n, mean = 200_000, float(family.mean(np.array(0.4)))
    phi = PHI if family.free_dispersion else 1.0
    drawn = family.draw(np.full(n, mean), phi, np.random.default_rng(2))
    variance = phi * float(family.variance(np.array(mean)))
    assert drawn.shape == (n,) and drawn.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / n))
    assert drawn.var() == pytest.approx(variance, rel=0.03)


def test_the_curvature_is_the_expected_slope_of_the_score(family):
    """The score is linear in y, so that its expected slope is its slope at y = mean."""
    for eta in ETAS:
        mean = family.mean(np.array([eta]))
        numeric = slope(lambda at, mean=mean: family.score(mean, at), np.array([eta]))
        np.testing.assert_allclose(family.curvature(np.array([eta])), -numeric, rtol=1e-7)
    assert (family.curvature(np.linspace(-40, 40, 1001)) <= family.most_curved).all()


def test_the_variance_of_the_score_is_phi_times_the_curvature(family):
    """With V the variance function: psi = (y - mean) mean' / V, and h = mean'^2 / V."""
    mean = family.mean(ETAS)
    expected = slope(family.mean, ETAS) ** 2 / family.variance(mean)
    np.testing.assert_allclose(family.curvature(ETAS), expected, rtol=1e-7)
    np.testing.assert_allclose(family.link(mean), ETAS, atol=1e-12)


def test_extreme_predictors_give_numbers(family):
    eta = np.array([-1e6, -800.0, 800.0, 1e6])
    with np.errstate(all="raise"):
        for values in (family.mean(eta[:1]), family.curvature(eta), family.score(np.ones(4), eta)):
            assert not np.isnan(values).any()


@pytest.mark.parametrize(
    ("mean", "limit", "expected"),
    [(3, 5, -0.0052895751), (3, 2, -0.0848334879), (0.5, 2, -0.0091328103), (20, 5, -0.0804167211)],
)
def test_clipped_poisson_residuals_of_the_specification(mean, limit, expected):
    found = POISSON.clipped_mean(np.log([mean]), np.array(limit), 0.0)
    np.testing.assert_allclose(found, expected, atol=5e-11)


@pytest.mark.parametrize("excess", [0.3, 2.0])
@pytest.mark.parametrize("limit", [0.7, 3.0, 11.5])
def test_clipped_residuals_of_overdispersed_counts(excess, limit):
    for mean in (0.2, 3.0, 14.0):
        law = stats.nbinom(1 / excess, 1 / (1 + excess * mean))
        expected = float(law.pmf(COUNTS) @ np.clip(COUNTS - mean, -limit, limit))
        found = POISSON.clipped_mean(np.log([mean]), np.array([limit]), excess)
        np.testing.assert_allclose(found, expected, atol=1e-10)
        variance = POISSON.score_variance(np.log([mean]), excess)
        np.testing.assert_allclose(variance, law.var(), rtol=1e-12)


@pytest.mark.parametrize("limit", [0.6, 1.7, 5.0])
def test_clipped_moments_of_gamma_and_gaussian_scores(limit):
    law = stats.gamma(1 / PHI, scale=PHI)

    def moment(power: int) -> float:
        def value(ratio: float) -> float:
            return float(np.clip(ratio - 1, -limit, limit)) ** power * law.pdf(ratio)

        edges = [1e-12, max(1 - limit, 1e-12), 1 + limit, 60]
        return sum(integrate.quad(value, *ends, limit=200)[0] for ends in zip(edges, edges[1:], strict=False))

    mean = moment(1)
    np.testing.assert_allclose(GAMMA.clipped_mean(np.array([1.3]), np.array(limit), PHI), mean, atol=1e-6)
    assert GAMMA.clipped_square(limit, PHI) == pytest.approx(moment(2) - mean**2, abs=1e-5)
    normal = stats.norm(scale=math.sqrt(PHI))
    square = normal.expect(lambda z: np.clip(z, -limit, limit) ** 2)
    assert GAUSSIAN.clipped_square(limit, PHI) == pytest.approx(square, abs=1e-6)


@pytest.mark.parametrize("excess", [0.0, 0.5])
def test_bounded_scores_of_counts_have_mean_zero_and_keep_their_limits(excess):
    """At the law they are made for, however narrow the limits; up to what clipping the sum again takes."""
    score = BoundedScore(POISSON, 4.0, 5.0, 3.0, excess, (-12.0, 6.0))
    for eta in (-2.0, 0.5, 1.5, 3.0):
        mean = math.exp(eta)
        law = stats.nbinom(1 / excess, 1 / (1 + excess * mean)) if excess else stats.poisson(mean)
        psi, curvature = score(COUNTS.astype(float), np.full(len(COUNTS), eta))
        assert np.abs(psi).max() <= 4.0
        assert curvature.max() <= 5.0
        assert abs(float(law.pmf(COUNTS) @ psi)) < 2e-3
    psi, curvature = score(np.array([0.0, 1e9, np.inf]), np.array([500.0, -500.0, 0.0]))
    assert np.abs(psi).max() <= 4.0
    assert curvature.max() <= 5.0


def test_wide_limits_change_nothing(family):
    """But for rounding: the correction of the mean is a difference of numbers as large as the limit."""
    limit = 1e6
    rounding = limit * np.finfo(float).eps
    wide = BoundedScore(family, limit, max(family.curvature(ETAS).max(), 1.0), dispersion=0.5)
    for y in RESPONSES[family.kind]:
        psi, curvature = wide(np.full(len(ETAS), y), ETAS)
        np.testing.assert_allclose(psi, family.score(y, ETAS), rtol=1e-12, atol=rounding)
        np.testing.assert_allclose(curvature, family.curvature(ETAS), rtol=1e-12)


@pytest.mark.parametrize("family", [PROBIT, CLOGLOG], ids=lambda family: family.name)
@pytest.mark.parametrize("limit", [0.5, 1.0, 4.0])
def test_weights_keep_both_scores_of_a_yes_or_no_below_a_limit(family, limit):
    """Their mean under the law stays 0 to rounding, and their expected slope is the curvature returned."""
    score, at = BoundedScore(family, limit, 0.4), np.linspace(-6.0, 3.0, 91)
    one, curvature = score(np.ones(91), at)
    none, _ = score(np.zeros(91), at)
    mean, weight = family.mean(at), score.weight(at)
    assert np.maximum(one, -none).max() == pytest.approx(limit, rel=1e-12) or limit == 4.0
    assert max(one.max(), -none.min()) <= limit
    np.testing.assert_allclose(mean * one + (1 - mean) * none, 0, atol=1e-12)
    np.testing.assert_allclose(curvature, weight * family.curvature(at), rtol=1e-12)
    assert curvature.max() <= 0.4
    assert (weight[np.abs(at) < 0.1] > 0.4 * min(limit, 1)).all()


def test_rows_have_what_their_family_makes_of_each(family):
    for y in RESPONSES[family.kind]:
        rows = RowsOf(family, np.full(len(ETAS), y), ETAS)
        for _ in range(2):
            assert (rows.score == family.score(np.full(len(ETAS), y), ETAS)).all()
            assert (rows.curvature == family.curvature(ETAS)).all()
            assert (rows.score_variance(PHI) == family.score_variance(ETAS, PHI)).all()


@pytest.mark.parametrize(
    "other", [dict(limit=4.0), dict(limit=4.0, spread=6.0), dict(curvature_limit=1.0)], ids=str
)
@pytest.mark.parametrize("family", [POISSON, PROBIT], ids=lambda family: family.name)
def test_scores_of_rows_do_not_depend_on_who_asked_before(family, other):
    """Limits twice as wide in twice as many sds weigh rows alike, others do not."""
    eta = np.linspace(-2.0, 3.0, 40)
    y = np.arange(40.0) % 2
    score = BoundedScore(family, 2.0, 0.5, 3.0)
    rows = RowsOf(family, y, eta)
    for each in (score, replace(score, **other), score):
        assert (each.of(rows) == each(y, eta)[0]).all()


def test_limits_are_checked():
    with pytest.raises(ValueError, match="positive and finite"):
        BoundedScore(BINOMIAL, math.inf, 0.25)
