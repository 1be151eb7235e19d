"""The dispersion of gamma and Poisson fits: Pearson's without noise, and with it as far off as it says."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

import dpstats as dps
from dpstats.estimators.newton.dispersion import (
    SeenScatter,
    _counts,
    _of_counts,
    _shares,
    overdispersion,
)
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import POISSON
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.luck import most

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), z=dps.bounded(-4, 4), y=dps.bounded(0, 1000))
N = 5000


def sample(family: str, phi: float, seed: int, n: int = N) -> dict[str, np.ndarray]:
    """Gamma responses, or counts of a negative binomial law whose variance is phi times the mean."""
    generator = np.random.default_rng([seed, n])
    x, z = np.clip(generator.normal(size=(2, n)), -4, 4)
    mean = np.exp(1 + 0.3 * x - 0.2 * z)
    if family == "gamma":
        y = mean * generator.gamma(1 / phi, phi, n)
    else:
        y = generator.poisson(mean) if phi == 1 else generator.negative_binomial(mean / (phi - 1), 1 / phi)
    return {"x": x, "z": z, "y": y.astype(float)}


def fitted(family: str, data: dict[str, np.ndarray], mu: float, source: object) -> dps.Fit:
    with noise(source):
        return dps.glm("y ~ x + z", data, SCHEMA, family).fit(dps.gdp(mu))


CASES = [("gamma", 0.2), ("gamma", 0.5), ("gamma", 1.0), ("poisson", 1.0), ("poisson", 1.5), ("poisson", 2.5)]


@pytest.mark.parametrize(("family", "phi"), CASES)
def test_without_noise_it_is_that_of_pearson(family: str, phi: float) -> None:
    data = sample(family, phi, 1)
    law = sm.families.Gamma(sm.families.links.Log()) if family == "gamma" else sm.families.Poisson()
    model = sm.GLM(data["y"], np.column_stack([np.ones(N), data["x"], data["z"]]), family=law)
    wanted = model.fit(scale="X2").scale
    found = fitted(family, data, 1e9, NoNoise()).record.dispersion
    assert found.value == pytest.approx(wanted, rel=0.01 if family == "gamma" else 0.03)
    assert found.se_privacy < 1e-3 * found.se
    # of a mean of squares of 5000 scores, kurtosis k: phi sqrt((k - 1) / n)
    mean = model.fit().fittedvalues
    score = (data["y"] - mean) / mean ** (1 if family == "gamma" else 0.5)
    kurtosis = np.mean(score**4) / np.mean(score**2) ** 2
    assert found.se == pytest.approx(phi * np.sqrt((kurtosis - 1) / N), rel=0.35)


NOISY = [
    ("gamma", 0.5, 1.0),
    pytest.param("gamma", 1.0, 4.0, marks=pytest.mark.long),
    pytest.param("poisson", 1.0, 1.0, marks=pytest.mark.long),
    ("poisson", 2.5, 4.0),
]


@pytest.mark.parametrize(("family", "phi", "mu"), NOISY)
def test_it_errs_as_much_as_it_says(family: str, phi: float, mu: float) -> None:
    """The root mean square of 20 standard normal numbers lies within .5 and 1.5 but once in 2000 times."""
    fits = [fitted(family, sample(family, phi, seed), mu, SeededNoise(seed)) for seed in range(20)]
    told = np.array([fit.record.dispersion for fit in fits])
    errors = (told[:, 0] - phi) / told[:, 1]
    assert np.isfinite(told).all() and (told[:, 2] <= told[:, 1]).all()
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.5
    assert np.median(told[:, 1]) < 0.5 * phi


@pytest.mark.parametrize(("mean", "phi"), [(3, 1), (200, 30), (1e6, 1), (1e8, 1e6), (1e11, 50), (0.1, 300)])
def test_runs_of_counts_have_the_moments_of_their_law(mean: float, phi: float) -> None:
    """A mean of 1e9 once asked for as many numbers."""
    counts, widths = _counts(mean, phi)
    shares = widths * _shares(counts, mean, phi)
    assert len(counts) < 10_000
    assert shares.sum() == pytest.approx(1, rel=1e-3)
    shares /= shares.sum()
    assert shares @ counts == pytest.approx(mean, rel=1e-5)
    assert shares @ (counts - shares @ counts) ** 2 == pytest.approx(phi * mean, rel=1e-3)


def test_it_is_printed_and_kept(tmp_path) -> None:
    fit = fitted("poisson", sample("poisson", 2.5, 3), 4.0, SeededNoise(1))
    fit.save(tmp_path / "fit.json")
    assert dps.load(tmp_path / "fit.json").record.dispersion == fit.record.dispersion
    assert f"{fit.record.dispersion.value:.3f}" in str(fit.summary()) and "Dispersion" in str(fit.summary())


def test_a_logit_has_none() -> None:
    schema = dps.Schema({**SCHEMA, "yes": dps.flag()})
    data = sample("poisson", 1.0, 1)
    with noise(SeededNoise(1)):
        fit = dps.logit("yes ~ x", data | {"yes": (data["y"] > 2).astype(int)}, schema).fit(dps.gdp(1))
    assert fit.record.dispersion is None


@pytest.mark.parametrize("family", ["gamma", "poisson"])
def test_where_noise_drowns_it_its_error_says_so(family: str) -> None:
    for seed in range(5):
        found = fitted(family, sample(family, 1.0, seed, 200), 0.05, SeededNoise(seed)).record.dispersion
        assert found.value >= 0 and found.se > 0.5 * found.value


@pytest.mark.parametrize("phi", [1.1, 1.5])
def test_rare_counts_have_one_too(phi: float) -> None:
    """Clipped squares of counts of mean 1/12 fall again beyond phi of about 2."""
    score = BoundedScore(POISSON, limit=2.0, curvature_limit=1.0, predictors=(-12.0, 3.0))
    counts, mean = np.arange(60), 1 / 12
    psi, curvature = score(counts.astype(float), np.full(60, np.log(mean)))
    law = stats.nbinom(mean / (phi - 1), 1 / phi).pmf(counts)
    ratio = float(law @ psi**2) / float(curvature[0])
    found = overdispersion(SeenScatter(ratio, 0.05, 0.0, mean, 60_000.0), score)
    assert found.value == pytest.approx(phi, rel=1e-6) and 0.04 < found.se_privacy < 0.5


def test_laws_are_tried_once_and_no_farther_than_the_scatter_that_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[float] = []

    def of_counts(score: BoundedScore, mean: float, phi: float) -> tuple[float, float]:
        tried.append(phi)
        return _of_counts(score, mean, phi)

    monkeypatch.setattr("dpstats.estimators.newton.dispersion._of_counts", of_counts)
    score = BoundedScore(POISSON, limit=8.0, curvature_limit=4.0, predictors=(-12.0, 3.0))
    found = overdispersion(SeenScatter(1.5, 0.05, 0.0, 2.0, 10_000.0), score)
    assert 1.4 < found.value < 2 and max(tried) < 1.2 * found.value
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("law", ["gamma", "lognormal"])
def test_counts_whose_scatter_a_law_explains_have_intervals_that_hold_and_no_caution(law: str) -> None:
    """What is put back for clipping counts as error as far as phi is not known."""
    held, told = [], 0
    for seed in range(12):
        generator = np.random.default_rng([seed, 41])
        x, z = np.clip(generator.normal(size=(2, 10_000)), -4, 4)
        times = generator.gamma(1, 1, 10_000) if law == "gamma" else np.exp(generator.normal(-0.5, 1, 10_000))
        data = {
            "x": x,
            "z": z,
            "y": 1.0 * generator.poisson(np.exp(1 + 0.3 * x - 0.2 * z) * times).clip(0, 1000),
        }
        fit = fitted("poisson", data, 0.5, SeededNoise(seed))
        told += "tail" in dict(fit.flags)
        held += list(np.abs(fit.params - [1, 0.3, -0.2]) < 1.96 * fit.bse)
        assert fit.record.dispersion.value > 1.5 and np.isfinite(fit.record.dispersion.se)
    assert told == 0 and np.mean(held) > 0.85


def test_slopes_count_what_clipping_may_take_of_counts_whose_scatter_is_not_known_well() -> None:
    """Three of these fits had a slope two to three half-lengths off, and all a caution; 10 of 130 have."""
    told, off, n = 0, [], 3000
    for seed in range(10):
        generator = np.random.default_rng([seed, 42])
        x, z = np.clip(generator.normal(size=(2, n)), -4, 4)
        times = np.exp(generator.normal(-0.72, 1.2, n))
        counts = generator.poisson(np.exp(1.8 + 0.5 * x - 0.3 * z) * times).clip(0, 1000)
        fit = fitted("poisson", {"x": x, "z": z, "y": 1.0 * counts}, 0.25, SeededNoise(seed))
        told += bool(fit.flags)
        off += list(np.abs(fit.params - [1.8, 0.5, -0.3]) / fit.bse)
    assert told <= most(10, 0.08) and max(off) < 2 * 1.96 and np.mean(np.array(off) < 1.96) > 0.75


def mostly_none(share: float, mean: float, n: int, seed: int) -> dict[str, np.ndarray]:
    """Counts of about this mean in a share of the rows, geometric, and 0 in the others."""
    generator = np.random.default_rng([seed, n, 7])
    x, z = np.clip(generator.normal(size=(2, n)), -4, 4)
    counts = generator.geometric(1 / (1 + mean * np.exp(0.4 * x - 0.3 * z)), n) - 1
    counts *= generator.uniform(size=n) < share
    return {"x": x, "z": z, "y": counts.clip(0, 1000).astype(float)}


def test_counts_beyond_any_negative_binomial_law_carry_a_caution() -> None:
    """So many rows are 0 and the others so large that no phi is found; slopes were 3 half-lengths off.

    Under the caution 7 of 39 still are two half-lengths off and more.
    """
    off = []
    for seed in range(6):
        fit = fitted("poisson", mostly_none(0.03, 100.0, 30_000, seed), 0.5, SeededNoise(seed))
        assert not np.isfinite(fit.record.dispersion.se)
        assert "tail" in dict(fit.flags), fit.settings
        off.append((np.abs(fit.params - [np.log(3), 0.4, -0.3]) > 2 * 1.96 * fit.bse)[1:].any())
    assert sum(off) <= most(6, 0.18)


@pytest.mark.parametrize("alpha", [0.0, 1.4])
def test_counts_that_are_mostly_none_or_scatter_about_large_means_carry_none_where_little_is_clipped(
    alpha: float,
) -> None:
    """Noise hid a law that explains them, or phi was sought up to 50 alone; all intervals held."""
    for seed in range(3):
        generator = np.random.default_rng([seed, 43])
        x, z = np.clip(generator.normal(size=(2, 8000)), -4, 4)
        times = generator.gamma(1 / alpha, alpha, 8000) if alpha else 5 * (generator.uniform(size=8000) < 0.2)
        mean = np.exp((4 if alpha else 1) + 0.3 * x - 0.2 * z)
        data = {"x": x, "z": z, "y": generator.poisson(mean * times).clip(0, 1000).astype(float)}
        fit = fitted("poisson", data, 1.0, SeededNoise(seed))
        assert not fit.flags
        assert not alpha or abs(fit.record.dispersion.value - 85) < 3 * fit.record.dispersion.se < 85


@pytest.mark.parametrize("seed", range(3))
def test_rare_counts_of_a_poisson_law_carry_none(seed: int) -> None:
    generator = np.random.default_rng([seed, 8])
    data = mostly_none(0.5, 1.0, 40_000, seed) | {"y": generator.poisson(0.05, 40_000).astype(float)}
    assert "tail" not in dict(fitted("poisson", data, 0.5, SeededNoise(seed)).flags)
