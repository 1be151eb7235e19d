"""The negative binomial family: moments against the law, the alpha that a fit finds, and what it is worth."""

import pickle

import numpy as np
import pytest
import statsmodels.formula.api as smf
from scipy import stats

import dpstats as dps
from dpstats.estimators.newton.dispersion import ALPHAS, told_alpha
from dpstats.families import GlmFamily, family_of
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import EXCESSES, NEGATIVE_BINOMIAL, POISSON, negative_binomial, sought
from dpstats.results import load
from dpstats.testing import NoNoise, SeededNoise, noise

COUNTS = np.arange(0, 4000)
SCHEMA = dps.Schema(x=dps.bounded(-4, 4), z=dps.bounded(-4, 4), y=dps.count(1000))
TRUTH, ALPHA = np.array([2.0, 0.7, -0.4]), 0.6


def law_of(mean: float, alpha: float) -> stats.distributions.rv_frozen:
    return stats.nbinom(1 / alpha, 1 / (1 + alpha * mean)) if alpha else stats.poisson(mean)


@pytest.mark.parametrize(("alpha", "more"), [(0.4, 0.0), (0.4, 1.1), (2.0, -1.5), (0.5, -0.5), (0.5, -2.0)])
def test_clipped_scores_have_the_moments_of_the_law(alpha: float, more: float) -> None:
    """That of alpha + more, and no less than a Poisson law's."""
    family, total = negative_binomial(alpha), max(alpha + more, 0.0)
    for mean in (0.2, 3.0, 14.0):
        law, eta = law_of(mean, total), np.log([mean])
        psi = (COUNTS - mean) / (1 + alpha * mean)
        for limit in (0.4, 1.5, 6.0):
            expected = float(law.pmf(COUNTS) @ np.clip(psi, -limit, limit))
            found = family.clipped_mean(eta, np.array([limit]), more)
            np.testing.assert_allclose(found, expected, atol=1e-9)
        variance = law.var() / (1 + alpha * mean) ** 2
        np.testing.assert_allclose(family.score_variance(eta, more), variance, rtol=1e-9)


@pytest.mark.parametrize("more", [0.0, 0.8, -0.4])
def test_bounded_scores_have_mean_zero_and_keep_their_limits(more: float) -> None:
    score = BoundedScore(negative_binomial(0.5), 1.5, 1.2, 3.0, more, (-12.0, 6.0))
    for eta in (-2.0, 0.5, 1.5, 3.0):
        psi, curvature = score(COUNTS.astype(float), np.full(len(COUNTS), eta))
        assert np.abs(psi).max() <= 1.5 and curvature.max() <= 1.2
        assert abs(float(law_of(np.exp(eta), 0.5 + more).pmf(COUNTS) @ psi)) < 2e-3
    psi, curvature = score(np.array([0.0, 1e9, np.inf]), np.array([500.0, -500.0, 0.0]))
    assert np.abs(psi).max() <= 1.5 and curvature.max() <= 1.2


@pytest.mark.parametrize("alpha", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("family", [POISSON, negative_binomial(0.5)])
def test_squares_of_bounded_scores_are_those_of_the_law(family: GlmFamily, alpha: float) -> None:
    """At tabulated means, of counts up to a declared end."""
    score = BoundedScore(family, 1.5, 1.2, 3.0, 0.1, (-3.0, 3.0), 3000.0)
    squares = score.squares(alpha)
    for at in (0, 1500, 2700, 4095):
        eta = np.linspace(-3.0, 3.0, len(squares))[at]
        psi, _ = score(COUNTS.astype(float), np.full(len(COUNTS), eta))
        assert squares[at] == pytest.approx(float(law_of(np.exp(eta), alpha).pmf(COUNTS) @ psi**2), rel=5e-3)


def test_counts_that_scatter_less_than_any_law_have_scores_of_a_poisson_law() -> None:
    of_law, less = (
        BoundedScore(POISSON, 1.5, 1.2, 3.0, excess, (-3.0, 6.0), 3000.0) for excess in (0.0, -0.4)
    )
    np.testing.assert_array_equal(less.squares(0.3), of_law.squares(0.3))


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.5, 5.0])
def test_released_squares_tell_alpha(alpha: float) -> None:
    """Of means that vary, with noise of a size that it knows; the law is exact, no row is drawn."""
    score = BoundedScore(POISSON, 5.0, 8.0, 3.0, 0.0, (-3.0, 3.0), 3000.0)
    laws = np.array([score.squares(each).mean() for each in (alpha, *ALPHAS)])
    generator, off = np.random.default_rng(1), []
    for noise_sd in (0.0, *[0.1] * 30):
        sds = np.full(len(laws), noise_sd)
        found, error = told_alpha(laws + generator.normal(0, sds), sds)
        if noise_sd:
            off.append((found - alpha) / error)
        else:
            assert found == pytest.approx(alpha, rel=0.04, abs=1e-3) and error == 0
    assert 0.4 < np.sqrt(np.mean(np.square(off))) < 1.5


@pytest.mark.parametrize(("family", "farthest"), [("negativebinomial", 0.4), ("poisson", 0.8)])
def test_a_skewed_covariate_does_not_hide_how_counts_scatter(family: str, farthest: float) -> None:
    """Rows that scatter most weigh least, so that slopes were 2 half-lengths off, of very many rows."""
    generator, n = np.random.default_rng(5), 200_000
    x = np.minimum(generator.exponential(8.0, n), 60.0)
    mean = np.exp(0.06 * x - 1)
    y = np.minimum(generator.poisson(mean * generator.gamma(2.0, 0.5, n)), 2000.0)
    schema = dps.Schema(x=dps.bounded(0, 60), y=dps.count(2000))
    with noise(NoNoise()):
        fit = dps.glm("y ~ x", {"x": x, "y": y}, schema, family).fit(dps.approx(1.0, 1e-6))
    low, high = fit.conf_int().loc["x"]
    assert abs(fit.params["x"] - 0.06) < farthest * (high - low) / 2
    if family == "negativebinomial":
        assert fit.record.settings["alpha"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("wanted", [0.05, 0.6, 3.0])
def test_scatter_tells_the_alpha(wanted: float) -> None:
    """At one mean exactly, whatever that was."""
    assert NEGATIVE_BINOMIAL.seek is not None
    for mean in (0.3, 5.0):
        curvature = float(NEGATIVE_BINOMIAL.curvature(np.log(mean)))
        scatter = law_of(mean, wanted).var() / float(NEGATIVE_BINOMIAL.variance(np.array(mean)))
        found = NEGATIVE_BINOMIAL.seek(scatter, curvature)
        assert found.alpha == pytest.approx(wanted) and found.seek is not None
        assert found.seek(1.0, 0.7).alpha == pytest.approx(wanted)
    assert NEGATIVE_BINOMIAL.seek(0.0, 0.5).alpha == EXCESSES[0]
    assert NEGATIVE_BINOMIAL.seek(1e9, 0.5).alpha == EXCESSES[1]


def test_means_are_told_by_their_curvature() -> None:
    for family in (POISSON, negative_binomial(2.0)):
        level = float(family.curvature(np.log(3.0)))
        assert family.mean_at(level, (-10.0, 6.0)) == pytest.approx(3.0)
        assert family.mean_at(0.0, (-10.0, 6.0)) == pytest.approx(np.exp(-10.0))
    assert negative_binomial(2.0).mean_at(0.51, (-10.0, 6.0)) == pytest.approx(np.exp(6.0))  # above 1 / alpha


def test_a_name_says_its_alpha() -> None:
    assert family_of(negative_binomial(0.25).name).alpha == 0.25
    assert family_of("negativebinomial") is NEGATIVE_BINOMIAL and family_of("poisson") is POISSON
    assert family_of("negativebinomial(alpha=x)") is None and family_of("weibull") is None


def test_processes_get_the_same_family() -> None:
    for family in (negative_binomial(1 / 3), sought(1 / 3), NEGATIVE_BINOMIAL):
        again = pickle.loads(pickle.dumps(family))
        assert (again.name, again.alpha, again.seek is None) == (
            family.name,
            family.alpha,
            family.seek is None,
        )


def sample(seed: int, n: int = 8000, alpha: float = ALPHA) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, n])
    x, z = np.clip(rng.normal(size=(2, n)), -4, 4)
    mean = np.exp(TRUTH @ [np.ones(n), x, z])
    y = rng.poisson(mean * rng.gamma(1 / alpha, alpha, n) if alpha else mean)
    return {"x": x, "z": z, "y": np.minimum(y, 1000).astype(float)}


def fitted(seed: int, family: str = "negativebinomial", mu: float = 1.0, **more: float) -> dps.Fit:
    with noise(SeededNoise(seed)):
        return dps.glm("y ~ x + z", sample(seed, **more), SCHEMA, family).fit(dps.gdp(mu))


def test_without_noise_it_is_the_fit_of_maximum_likelihood() -> None:
    """But for alpha, which is that of the moments here: coefficients hardly depend on it."""
    data = sample(3)
    theirs = smf.negativebinomial("y ~ x + z", data).fit(disp=0)
    with noise(NoNoise()):
        fit = dps.glm("y ~ x + z", data, SCHEMA, "glm.nb").fit(dps.gdp(1e9))
    errors = (fit.params - theirs.params[:3]) / theirs.bse[:3]
    assert np.abs(errors).max() < 0.02
    assert float(fit.alpha) == pytest.approx(theirs.params["alpha"], abs=3 * theirs.bse["alpha"])
    assert fit.bse.to_numpy() == pytest.approx(theirs.bse[:3].to_numpy(), rel=0.05)


def test_alpha_errs_as_much_as_it_says() -> None:
    """The root mean square of 20 standard normal numbers lies within .5 and 1.5 but once in 2000 times."""
    told = np.array([fitted(seed).record.excess for seed in range(20)])
    errors = (told[:, 0] - ALPHA) / told[:, 1]
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.5
    assert (told[:, 2] <= told[:, 1]).all() and np.median(told[:, 1]) < 0.3 * ALPHA


@pytest.mark.long
def test_intervals_of_counts_that_scatter_hold_under_both_families() -> None:
    """Sixty intervals, of which 48 hold but once in 10^5 times; and errors are .87 as long in 120."""
    off, far = [], []
    for seed in range(20):
        both = fitted(seed, mu=0.5), fitted(seed, "poisson", mu=0.5)
        off.append([(fit.params - TRUTH) / fit.bse for fit in both])
        far.append([fit.params - TRUTH for fit in both])
        assert not any("tail" in dict(fit.flags) for fit in both)
    assert (np.abs(off) < 1.96).sum(axis=(0, 2)).min() >= 48
    ours, poisson = np.sqrt(np.mean(np.square(far), axis=(0, 2)))
    assert ours < poisson


def test_poisson_counts_lose_little() -> None:
    fit, poisson = fitted(1, alpha=0.0), fitted(1, "poisson", alpha=0.0)
    assert float(fit.alpha) < 0.05 and (fit.bse < 1.1 * poisson.bse).all()


def test_a_fit_says_and_keeps_its_alpha(tmp_path) -> None:
    fit, told = fitted(2), fitted(2, "negativebinomial(alpha=0.5)")
    assert told.record.dist == "negativebinomial(alpha=0.5)" and told.settings["alpha"] == 0.5
    assert fit.record.dist == f"negativebinomial(alpha={fit.record.family.alpha:.6g})"
    text = str(fit.summary())
    assert "Negative binomial regression" in text and f"{float(fit.alpha):.4f}" in text
    assert "rows weigh as by a negative binomial law with alpha" in " ".join(text.split())
    fit.save(tmp_path / "fit.json")
    assert load(tmp_path / "fit.json").to_dict() == fit.to_dict()
    drawn = fit.simulate({"x": 0, "z": 0}, nsim=10_000, seed=1).to_numpy()
    mean, alpha = float(fit.predict({"x": 0, "z": 0}).iloc[0]), fit.record.family.alpha
    assert drawn.mean() == pytest.approx(mean, rel=0.05)
    assert drawn.var() == pytest.approx(mean + alpha * mean**2, rel=0.1)
    assert list(fit.rate_ratios().frame["term"]) == ["x", "z"]
    with pytest.raises(dps.NotReleased, match="needs a negative binomial model"):
        _ = fitted(2, "poisson").alpha


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_alpha_follows_from_that_of_phi(seed: int) -> None:
    """On a log scale of its own an alpha near 0 had limits of 1e-9 and 1e5, or left 0 out."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4000).clip(-4, 4)
    data, schema = {"x": x, "y": rng.poisson(2 + 0 * x)}, dps.Schema(x=dps.bounded(-4, 4), y=dps.count(40))
    with noise(SeededNoise(seed)):
        fit = dps.glm("y ~ x", data, schema, "negativebinomial").fit(dps.approx(8, 1e-6))
    alpha, phi = fit.alpha, fit.dispersion
    assert alpha.conf_low == 0.0 and alpha.estimate <= alpha.conf_high < 0.3
    rises = (phi.conf_high - phi.estimate) * alpha.std_error / phi.std_error
    assert alpha.conf_high == pytest.approx(alpha.estimate + rises)
