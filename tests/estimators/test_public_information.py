"""What is public of the information of a generalised linear model: levels exclude one another."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.engine.information import Accumulator
from dpstats.estimators.level_scores import OPEN, LevelScores
from dpstats.estimators.newton.information import Public, floored
from dpstats.estimators.newton.level_coefficients import level_moments, read_levels, stretched_no_further
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL, POISSON
from dpstats.formula import build_design
from dpstats.testing import SeededNoise, noise
from tests.luck import fewest

SHARES = np.array([0.25, 0.4, 0.25, 0.1])  # of the reference level first
N, NOISE = 500, 0.02
# a category of four levels, and a number
ALIKE = np.array([[0, 1, 2, 3, 4], [1, 1, -1, -1, 5], [2, -1, 2, -1, 6], [3, -1, -1, 3, 7], [4, 5, 6, 7, 8]])


def rows(rng: np.random.Generator) -> np.ndarray:
    level = rng.choice(4, N, p=SHARES)
    return np.column_stack([np.ones(N), level[:, None] == [1, 2, 3], rng.normal(3.0, 2.0, N)])


def known(center: np.ndarray, scale: np.ndarray, alike: np.ndarray = ALIKE) -> Public:
    one = np.ones(len(alike))
    located = Located(center, scale, 0 * one, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, 4 * one, one < 0)
    found = Public.of(Problem(POISSON, -one[1:], one[1:], (0.0, 9.0), alike=alike), located)
    assert found is not None
    return found


def test_information_of_rows_stays_whatever_they_weigh() -> None:
    rng = np.random.default_rng(1)
    drawn, center, scale = rows(rng), np.array([0.0, 0.3, 0.2, 0.1, 2.5]), np.array([1.0, 0.4, 0.6, 0.3, 2.0])
    whitening = np.eye(5) + 0.2 * rng.normal(size=(5, 5))
    whitened = (drawn - center) / scale @ whitening.T
    information = (whitened.T * rng.exponential(size=N)) @ whitened / N
    np.testing.assert_allclose(known(center, scale).nearest(information, whitening), information, atol=1e-6)


def test_noise_has_the_sd_that_is_said() -> None:
    rng = np.random.default_rng(2)
    public = known(
        np.append(np.append(0.0, SHARES[1:]), 3.0), np.append(np.append(1.0, 0.4 * np.ones(3)), 2.0)
    )
    released, errors = Accumulator(), []
    released.add(np.eye(5), NOISE, np.eye(5))
    found = floored(released, np.eye(5), public)
    for _ in range(400):
        drawn = rng.normal(size=(5, 5)) * NOISE
        made = public.nearest((drawn + drawn.T) / 2, np.eye(5))
        errors.append(np.sum(found.vectors * (made @ found.vectors), axis=0))
    np.testing.assert_allclose(np.std(errors, axis=0), found.sds, rtol=0.12)
    assert np.median(found.sds) < 0.7 * NOISE


def test_noise_that_is_left_of_a_product_has_the_covariance_that_is_said() -> None:
    rng = np.random.default_rng(3)
    public = known(np.append(np.append(0.0, SHARES[1:]), 3.0), np.array([1.0, 0.4, 0.6, 0.3, 2.0]))
    whitening, vector = np.eye(5) + 0.2 * rng.normal(size=(5, 5)), rng.normal(size=5)
    drawn = rng.normal(size=(2_000, 5, 5))
    noisy = (drawn + drawn.transpose(0, 2, 1)) / 2  # 1 on the diagonal, and along any direction
    made = np.array([public.nearest(one, whitening) @ vector for one in noisy])
    left = public.noise(whitening)
    said = left.of_product(np.outer(vector, vector))
    root = np.linalg.cholesky(np.linalg.inv(said))
    np.testing.assert_allclose(root.T @ np.cov(made.T) @ root, np.eye(5), atol=0.15)
    unit = vector / np.linalg.norm(vector)
    along = left.along(unit[:, None])[0]
    assert along == pytest.approx(unit @ left.of_product(np.outer(unit, unit)) @ unit)


def test_what_a_level_lacks_is_no_error_of_others() -> None:
    """Noise between them is 0 in public: of one level that it hid intervals of all others were open."""
    shares, k = SHARES[:, None], len(SHARES)
    rows, center = np.eye(k), np.append(0.0, SHARES[1:])
    rows[:, 0] = 1.0
    found = known(center, np.append(1.0, 0.4 * np.ones(3)), ALIKE[:4, :4])
    standardised, released = rows @ found.way.T, Accumulator()
    released.add((shares * standardised).T @ standardised, NOISE, np.eye(k))
    lacks = np.linalg.solve(standardised, np.eye(k)[1])  # the second level is off, and no other
    error = floored(released, np.eye(k), found).error_beside(np.outer(lacks, lacks))
    variances = np.diag(standardised @ error @ standardised.T)
    assert variances[1] > (0.5 * NOISE) ** 2
    assert np.delete(variances, 1) == pytest.approx(0.0, abs=1e-6 * variances[1])


def test_rare_levels_leave_rows_of_a_reference_as_long_as_others() -> None:
    """Each is stretched no further than its scale: as if it had more rows, and no column had."""
    shares = np.array([0.05, *[0.135] * 6, *[0.01] * 14])  # of the reference level first
    k, own, rare = len(shares), np.arange(1, len(shares)), shares[1:] < 0.05
    center, one = np.append(0.0, shares[1:]), np.ones(k)
    scale = np.append(1.0, np.where(rare, 0.2, np.sqrt(shares[1:])))
    least = np.append(0.0, 1.0 * rare)
    located = Located(center, scale, least, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, 4 * one, one < 0)
    located = replace(located, references=(0.0,))
    problem = Problem(BINOMIAL, 0 * one[1:], one[1:], (0.0, 1.0), coded=one[1:] > 0, categories=(own,))
    moments = stretched_no_further(level_moments(problem, located), problem, located, 1.0)
    assert np.diag(moments)[1:][rare] == pytest.approx(1.0, rel=0.05)
    reference = np.append(1.0, -(center / scale)[1:])
    assert reference @ np.linalg.solve(moments, reference) == pytest.approx(1 / shares[0], rel=0.05)


def test_rows_of_a_rare_reference_become_no_longer_than_its_scale_lets_them() -> None:
    """Whatever the information says, which lacks rows that are so long that they hardly count."""
    center, scale, one = np.array([0.0, 0.49, 0.49]), np.array([1.0, 0.5, 0.5]), np.ones(3)
    located = Located(center, scale, 0 * one, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, 4 * one, one < 0)
    located = replace(located, references=(0.3**2,))
    problem = Problem(
        BINOMIAL, 0 * one[1:], one[1:], (0.0, 1.0), coded=one[1:] > 0, categories=(np.array([1, 2]),)
    )
    reference, gone = (
        np.append(1.0, -(center / scale)[1:]),
        np.eye(3) - np.outer(scale * [0, 1, 1], scale * [0, 1, 1]) * 1.99,
    )
    for moments in (level_moments(problem, located), gone):
        found = stretched_no_further(moments, problem, located, 1.0)
        assert reference @ np.linalg.solve(found, reference) == pytest.approx(1 + 0.98**2 / 0.3**2, rel=1e-6)


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x * w"])
@pytest.mark.parametrize(("model", "mean"), [("poisson", 2.0), ("gamma", 8.0), ("binomial", 0.3)])
def test_a_rare_level_is_told_as_well_where_it_is_the_reference(
    model: str, mean: float, formula: str
) -> None:
    """Its rows grew with each step until they did not count, and contrasts with it had half-lengths of 15."""
    rng = np.random.default_rng(7)
    names = np.array(["rare", "one", "two", "three"])
    level = rng.choice(4, 20_000, p=[0.016, 0.328, 0.328, 0.328])
    means = mean * np.array([1.0, 0.7, 1.0, 1.2])[level]
    y = {
        "poisson": rng.poisson,
        "gamma": lambda m: rng.gamma(2, m / 2),
        "binomial": lambda m: 1 * (rng.random(len(m)) < m),
    }
    data = dict(x=names[level], y=y[model](means), w=rng.uniform(-1, 1, len(level)))
    response = {"poisson": dps.count(40), "gamma": dps.bounded(1e-3, 80), "binomial": dps.flag()}[model]
    bse = []
    for order in (names, np.roll(names, -1)):
        schema = dps.Schema(x=dps.levels(*order), y=response, w=dps.bounded(-1, 1))
        with noise(SeededNoise(1)):
            fit = dps.glm(formula, data, schema, model).fit(dps.gdp(2))
        assert fit.flags == ()
        told = fit.bse.filter(like=f"x[T.{order[-1]}]")
        bse.append(told.max())
    assert bse[0] < 1.3 * bse[1] < 0.5


@pytest.mark.parametrize(("noisy", "error", "few"), [(0.01, 1.0, False), (0.4, 1.0, True), (0.01, 6.0, True)])
def test_rows_of_a_level_may_all_say_the_same_where_noise_may_make_up_their_events(
    noisy: float, error: float, few: bool
) -> None:
    """12 events, in 2,000 rows: noise of the point, or of the curvature, may be most of them."""
    one, center = np.ones(3), np.array([0.0, 0.3, 0.3])
    located = Located(center, 0.5 * one, 0 * one, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, one, one < 0)
    problem = Problem(BINOMIAL, 0 * one[1:], one[1:], (0.0, 1.0), categories=(np.array([1, 2]),))
    sampling, params = np.eye(3) / 120, np.array([5.1, 0.0, 0.0])
    cov = sampling + noisy**2 * np.eye(3)
    few_say = dict(curvature=lambda change: (12.0, error), moments=np.eye(3))
    scores = LevelScores(params[None], 0 * one, cov, sampling, **few_say)
    bare = read_levels(problem, located, Estimate(params, cov, cov), replace(scores, curvature=None))
    found = read_levels(problem, located, Estimate(params, cov, cov), scores)
    assert bare.cov[0, 0] < 1.0
    assert (found.cov[0, 0] > 0.999 * OPEN) == few


def test_nothing_is_public_of_numbers() -> None:
    one = np.ones(2)
    located = Located(0 * one, one, 0 * one, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, 4 * one, one < 0)
    problem = Problem(POISSON, -one[1:], one[1:], (0.0, 9.0), alike=np.array([[0, 1], [1, 2]]))
    assert Public.of(problem, located) is None
    assert Public.of(replace(problem, alike=None), located) is None


def test_many_levels_and_a_number_are_told() -> None:
    """Noise hid the reference of 31 levels: standard errors were 8, of coefficients of .3. One in 15 are."""
    assert np.sum([errors_of_many_levels(seed) < 1.0 for seed in range(8)]) >= fewest(8, 0.93)


def errors_of_many_levels(seed: int) -> float:
    """The median of standard errors."""
    rng = np.random.default_rng([seed, 71])
    level, x = rng.integers(0, 31, 1_900), rng.normal(size=1_900)
    y = np.minimum(rng.poisson(np.exp(0.5 + rng.normal(0, 0.3, 31)[level])), 100)
    names = [f"l{j}" for j in range(31)]
    schema = dps.Schema(g=dps.levels(*names), x=dps.bounded(-3, 3), y=dps.count(upper=500))
    with noise(SeededNoise(seed)):
        fit = dps.glm("y ~ g + x", dict(g=np.array(names)[level], x=x, y=y), schema, "poisson").fit(
            dps.approx(4, 1e-6)
        )
    return float(np.median(fit.bse))


def thirty(seed: int) -> tuple[dps.Fit, np.ndarray]:
    """A logistic fit under pure epsilon of 30 levels and a number, and its true coefficients."""
    rng = np.random.default_rng([seed, 72])
    n, names = 60_000, [f"l{j:02}" for j in range(30)]
    level, x = rng.integers(0, 30, n), rng.normal(size=n)
    effects = rng.normal(0, 0.3, 30)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-0.5 - effects[level] - 0.2 * x))) * 1
    schema = dps.Schema(g=dps.levels(*names), x=dps.bounded(-4, 4), y=dps.flag())
    with noise(SeededNoise(seed)):
        fit = dps.logit("y ~ g + x", dict(g=np.array(names)[level], x=x, y=y), schema).fit(dps.pure(4))
    return fit, np.concatenate([[0.5 + effects[0]], effects[1:] - effects[0], [0.2]])


def test_pure_epsilon_tells_a_reference_among_many_levels() -> None:
    """Noise of its curvature hid it: all standard errors were 8, of errors of .15.

    Without noise they are .066, with it .073, and .14 if columns of levels are taken for independent.
    """
    off = []
    for seed in range(2):
        fit, truth = thirty(seed)
        assert np.median(fit.bse) < 0.1
        off += list((fit.params.to_numpy() - truth) / fit.bse.to_numpy())
    assert np.mean(np.abs(off) < 1.96) > 0.85
    assert np.max(np.abs(off)) < 4


def test_a_number_that_has_products_with_levels_is_told_with_them() -> None:
    levels, number = dps.levels("a", "b", "c"), dps.bounded(0, 1)
    design = build_design("y ~ x * w + z", dps.Schema(x=levels, w=number, z=number, y=number))
    (found,) = design.crossed()
    assert design.names[found[0]] == "w"
    assert set(design.names) - {design.names[j] for j in found} == {"z"}
