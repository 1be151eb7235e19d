"""What a noisy release says of a line, given what was known before."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.moments.parts import Expected, Released
from dpstats.moments.posterior import denoised, posterior
from dpstats.moments.solution import HOPELESS, Before, believed, judged
from dpstats.moments.tails import grown_kurtosis, tail_mean, tail_rate
from dpstats.testing import SeededNoise, noise


def _noise(k: int, sd: float, rng: np.random.Generator) -> np.ndarray:
    """Rotation invariant: sd on the diagonal, sd / sqrt 2 beside it."""
    upper = np.triu(rng.normal(size=(k, k)) * sd / np.sqrt(2), 1)
    return upper + upper.T + np.diag(rng.normal(size=k) * sd)


def _moments(k: int, rng: np.random.Generator) -> np.ndarray:
    rows = rng.normal(size=(4 * k, k)) * rng.uniform(0.3, 1.5, k)
    return rows.T @ rows / len(rows)


def _released(gram: np.ndarray, noise_gram: float, cross: np.ndarray, noise_cross: float) -> Released:
    """Of residuals whose mean square is 1."""
    return Released(1, gram, cross, 1.0, noise_gram, noise_cross, 0.0)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_without_noise_it_is_least_squares(k: int) -> None:
    rng = np.random.default_rng(k)
    gram, delta = _moments(k, rng), rng.normal(size=k)
    told = posterior(_released(gram, 0.0, gram @ delta, 0.0), 0.01 * np.eye(k), Expected())
    assert told.gain @ gram @ delta == pytest.approx(delta, rel=1e-8)
    assert told.gain == pytest.approx(np.linalg.inv(gram), rel=1e-8)
    assert np.abs(told.left).max() < 1e-12


@pytest.mark.parametrize("sd", [0.02, 0.3, 3.0])
def test_a_matrix_without_its_noise_is_nearer_and_positive(sd: float) -> None:
    rng = np.random.default_rng(1)
    before, after = [], []
    for _ in range(200):
        gram = _moments(6, rng)
        noisy = gram + _noise(6, sd, rng)
        better, trust = denoised(noisy, sd)
        assert np.linalg.eigvalsh(better)[0] > -1e-12 and 0 <= trust <= 1
        before.append(np.sum((noisy - gram) ** 2))
        after.append(np.sum((better - gram) ** 2))
    assert np.mean(after) < np.mean(before)


def test_a_small_eigenvalue_that_was_expected_is_not_raised() -> None:
    rng, gram, found = np.random.default_rng(4), np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.1]), []
    for _ in range(200):
        noisy = gram + _noise(6, 0.1, rng)
        found.append([denoised(noisy, 0.1, expected)[0][-1, -1] for expected in (2 * gram, None)])
    expected, usual = np.mean(found, axis=0)
    assert expected == pytest.approx(0.1, abs=0.02) and usual > 0.12
    assert denoised(noisy, 0.1, np.eye(6))[0] == pytest.approx(denoised(noisy, 0.1)[0])


@pytest.mark.parametrize("level", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_intervals_hold_and_the_line_is_better_than_least_squares_and_than_none(
    level: float, strength: float
) -> None:
    """Noise from a tenth of the prior's size to ten times as much; that size wrong by up to 4 times."""
    rng = np.random.default_rng(2)
    k, errors, none, raw, covered = 8, [], [], [], []
    for _ in range(300):
        gram, delta = _moments(k, rng), rng.normal(size=k) * strength * 0.1
        sd = 0.1 * level
        noisy, cross = gram + _noise(k, sd / 2, rng), gram @ delta + sd * rng.normal(size=k)
        told = posterior(_released(noisy, sd / 2, cross, sd), 0.01 * np.eye(k), Expected())
        found = told.gain @ cross
        even = sd**2 + (sd / 2) ** 2 / 2 * float(found @ found)
        variance = np.diag(even * told.gain @ told.gain.T + told.left)
        errors.append((found - delta) @ gram @ (found - delta))
        none.append(delta @ gram @ delta)
        away = np.linalg.pinv(noisy) @ cross - delta
        raw.append(away @ gram @ away)
        covered.append(np.mean((found - delta) ** 2 <= 1.96**2 * variance))
    assert np.mean(errors) < 1.1 * min(max(np.mean(none), np.mean(none) / strength**2), np.mean(raw))
    if strength <= 1:
        assert np.mean(covered) > 0.92
    elif level < 10:  # beyond, noise hides that the prior is too small
        assert np.mean(covered) > 0.9


def test_errors_of_known_size_are_no_smaller_where_all_else_is() -> None:
    """Half of the directions were told up to an error, of the others a prior has 30 times their size.

    With one factor for both errors of the former were taken for a tenth of what they are, and intervals that
    were left beside levels that noise hid did not hold.
    """
    rng, k, sd = np.random.default_rng(8), 16, 0.01
    told = np.diag([1.0] * (k // 2) + [0.0] * (k // 2))
    errors = 0.01**2 * told
    prior, off, told_off = errors + 0.3**2 * (np.eye(k) - told), [], []
    for _ in range(100):
        gram = _moments(k, rng)
        delta = 0.01 * rng.normal(size=k)
        cross = gram @ delta + sd * rng.normal(size=k)
        found = posterior(_released(gram, 0.0, cross, sd), prior, Expected(gram), errors)
        variance = np.diag(sd**2 * found.gain @ found.gain.T + found.left)
        off.append((found.gain @ cross - delta)[: k // 2])
        told_off.append(np.sqrt(variance[: k // 2]))
    assert np.mean(np.abs(off) < 1.96 * np.array(told_off)) > 0.93
    assert np.mean(told_off) < 2 * np.sqrt(np.mean(np.square(off)))
    assert np.linalg.eigvalsh(found.left - found.errors)[0] > -1e-12


def test_one_effect_far_larger_than_the_others_is_held() -> None:
    """Of eight, along a direction of which noise hides most: it was taken for as small as the others."""
    rng = np.random.default_rng(5)
    gram, delta, covered = np.diag([1.0] * 7 + [0.1]), np.array([0.0] * 7 + [0.6]), []
    for _ in range(300):
        noisy, cross = gram + _noise(8, 0.005, rng), gram @ delta + 0.01 * rng.normal(size=8)
        told = posterior(_released(noisy, 0.005, cross, 0.01), 0.01 * np.eye(8), Expected(gram))
        error = told.gain @ cross - delta
        variance = np.diag(0.01**2 * told.gain @ told.gain.T + told.left)
        covered.append(abs(error[-1]) < 1.96 * np.sqrt(variance[-1]))
    assert np.mean(covered) > 0.9


SHAPE = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 9.0])


def test_noise_that_has_a_shape_is_taken_off_as_where_it_has_none() -> None:
    """With the same numbers in coordinates in which it is even; as it is there, it is nearer."""
    rng, back, usual, shaped = np.random.default_rng(6), np.diag(np.diag(SHAPE) ** -0.5), [], []
    for _ in range(200):
        noisy = np.eye(6) + SHAPE**0.5 @ _noise(6, 0.1, rng) @ SHAPE**0.5
        found, trust = denoised(noisy, 0.1, np.eye(6), None, SHAPE)
        even, told = denoised(back @ noisy @ back, 0.1, back @ back)
        assert trust == pytest.approx(told) and back @ found @ back == pytest.approx(even)
        shaped.append(np.sum((found - np.eye(6)) ** 2))
        usual.append(np.sum((denoised(noisy, 0.1 * np.mean(np.diag(SHAPE)))[0] - np.eye(6)) ** 2))
    assert np.mean(shaped) < np.mean(usual)


@pytest.mark.parametrize("value", [0.001, 1.0])
def test_where_noise_may_have_made_an_eigenvalue_all_that_was_open_still_is(value: float) -> None:
    """Next to nothing of a large effect is heard there, as if there were none."""
    rng = np.random.default_rng(7)
    gram, delta = np.diag([1.0] * 5 + [value]), np.array([0.0] * 5 + [0.5])
    cross = gram @ delta + 0.01 * rng.normal(size=6)
    noisy = gram + np.diag([0.0] * 5 + [0.25 * (value < 1)])
    others = _noise(6, 0.02, rng) + 0.2 * (1 - np.eye(6))  # by which the release is believed
    known = Expected(np.eye(6), None, SHAPE)
    told = posterior(_released(noisy + others, 0.02, cross, 0.01), 0.01 * np.eye(6), known)
    assert told.unseen is not None
    share = told.left[-1, -1] / told.before[-1, -1]
    assert (share > 0.9 and told.unseen.rel.max() > HOPELESS) if value < 1 else share < 0.3


def test_of_noise_that_is_shrunk_its_share_is_left() -> None:
    """Of its variance t, where t of what the matrix and the expected one differ by is kept."""
    rng, k, sd = np.random.default_rng(8), 8, 0.1
    noisy, shape = np.eye(k) + _noise(k, sd, rng) + 0.05 * (1 - np.eye(k)), np.eye(k)
    trust = denoised(noisy, sd, np.eye(k), None, shape)[1]
    assert 0.1 < trust < 0.8
    told = posterior(_released(noisy, sd, np.zeros(k), 0.01), shape, Expected(np.eye(k), None, shape))
    values = np.linalg.eigvalsh(told.gram)
    assert told.unseen is not None
    assert told.unseen.rel * values == pytest.approx(1.25 * HOPELESS * believed(np.sqrt(trust) * sd))


def test_clipping_moves_no_mean_of_normal_residuals_and_more_with_heavier_tails() -> None:
    _, normal = tail_rate(3.0)
    assert tail_mean(3.0, normal) == 0 and tail_mean(3.0, 1.0) == 0
    sizes = [tail_mean(3.0, normal + excess) for excess in (0.5, 1.0, 2.0, 4.0)]
    assert sizes == sorted(sizes) and sizes[0] > 0
    assert tail_mean(6.0, normal + 2) < tail_mean(3.0, normal + 2)


@pytest.mark.parametrize("limit", [4.0, 5.0, 6.0])
def test_what_clipping_moves_exponential_errors_by_is_told(limit: float) -> None:
    """Their mean beyond L is e^-(L + 1); clipped about a line that moved with it, up to twice as much."""
    errors = np.random.default_rng(3).exponential(size=400_000) - 1
    clipped = np.clip(errors, -limit, limit)
    size, kurtosis = clipped.std(), float(np.mean(clipped**4) / np.mean(clipped**2) ** 2)
    told = size * tail_mean(limit / size, kurtosis)
    assert 0.5 < told / np.exp(-(limit + 1)) < 2


def _grown(errors: np.ndarray, limit: float) -> tuple[float, float, float]:
    """Kurtosis of errors clipped at `limit` sds that clipping at 3 has left: told, its own, a normal's."""
    size = errors.std()
    for _ in range(30):
        size = float(np.sqrt(np.mean(np.clip(errors, -3 * size, 3 * size) ** 2)))
    clipped = np.clip(errors / size, -limit, limit)
    growth = float(np.mean(clipped**2))
    told, slope = grown_kurtosis(limit, 3.0, growth)
    assert told == pytest.approx(grown_kurtosis(limit, 3.0, 1.0)[0] + slope * max(growth - 1, 0), rel=0.02)
    return told, float(np.mean(clipped**4)) / growth**2, tail_rate(limit / np.sqrt(growth))[1]


@pytest.mark.parametrize("limit", [4.0, 5.0, 7.0])
def test_what_a_wider_limit_adds_tells_the_kurtosis(limit: float) -> None:
    rng = np.random.default_rng(4)
    told, own, _ = _grown(rng.exponential(size=400_000) - 1, limit)
    assert told == pytest.approx(own, rel=0.1)
    told, own, normal = _grown(rng.normal(size=400_000), limit)
    assert told == pytest.approx(own, abs=0.4) and own == pytest.approx(normal, abs=0.1)
    told, own, normal = _grown(rng.standard_t(4, 400_000), limit)
    assert (told - normal) / (own - normal) == pytest.approx(1, abs=0.35)


def test_a_limit_that_is_hardly_wider_tells_nothing() -> None:
    assert grown_kurtosis(3.05, 3.0, 1.2)[1] == np.inf
    for before in (12.0, 40.0, 1e6):  # where nothing is clipped there is no root to find
        assert grown_kurtosis(3.0, before, 1.2)[1] == grown_kurtosis(1e3, before, 1.2)[1] == np.inf


@pytest.mark.parametrize("before", [1e-6, 0.5, 1.0, 1.5, 1.999, 2.0, 2.5, 3.0, 20.0])
def test_whatever_bounds_allow_a_kurtosis_is_told_or_not(before: float) -> None:
    for limit in (1e-6, 0.7, 2.0, 4.0, 1e6):
        told, slope = grown_kurtosis(limit, before, 1.5)
        assert told >= 1 and slope > 0


WINE = dps.datasets.load("wine")
FORMULA = "quality ~ alcohol + density + pH + sulphates + residual_sugar + volatile_acidity"


def _errors(data: object, budget: object, seeds: range) -> float:
    """Mean square distance of predictions to those of least squares, on the rows themselves."""
    frame = WINE.data if data is None else data
    model = dps.ols(FORMULA, frame, WINE.schema)
    rows = model.design.new_rows(frame, clip=True).exog
    exact = rows @ np.linalg.lstsq(rows, frame["quality"].to_numpy(float), rcond=None)[0]
    found = []
    for seed in seeds:
        with noise(SeededNoise(seed)):
            fit = model.fit(budget)
        found.append(np.mean((rows @ fit.params.to_numpy() - exact) ** 2))
    return float(np.mean(found)) / float(np.var(exact))


@pytest.mark.parametrize("n", [300, pytest.param(4898, marks=pytest.mark.long)])
def test_a_larger_budget_never_makes_a_worse_line(n: int) -> None:
    """A tenth and Monte Carlo error aside; at last it is least squares."""
    data = WINE.data.iloc[:: len(WINE.data) // n].head(n)
    epsilons = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
    errors = [_errors(data, dps.approx(epsilon, 1e-6), range(8)) for epsilon in epsilons]
    for before, after in zip(errors, errors[1:], strict=False):
        assert after < 1.1 * before + 0.02
    assert errors[-1] < 0.01


@pytest.mark.parametrize(("rel", "told"), [(0.02, ()), (1.2, ()), (2.9, (0, 1)), (3.1, (0, 1))])
@pytest.mark.parametrize("size", [0.8, 4.0])
def test_what_rests_on_earlier_releases_stands_where_all_directions_are_seen(
    rel: float, told: tuple[int, ...], size: float
) -> None:
    """It is a caution where one is hidden; where one surely is, what rests on it by over 85 % is lost."""
    before = 10 * np.eye(2)
    found = judged(np.zeros(2), 0.02 * np.eye(2), 0.28 * np.eye(2), size * np.eye(2), rel, Before(before))
    lost = size > 1 and rel > 3
    assert np.isinf(np.diag(found.cov)).all() == lost and found.weak == (() if lost else told)


@pytest.mark.parametrize("left", [0.04, 4.0])
def test_what_is_known_far_better_than_before_any_release_stands_whatever_it_rests_on(left: float) -> None:
    """With a caution; what is as open as it was at first is lost."""
    found = judged(
        np.zeros(2), 0.001 * np.eye(2), 0 * np.eye(2), left * np.eye(2), 9.0, Before(5 * np.eye(2), 1.0)
    )
    assert np.isinf(np.diag(found.cov)).all() == (left > 1) and found.weak == (() if left > 1 else (0, 1))


@pytest.mark.parametrize(("unused", "lost"), [(0.0, False), (1.9, True)])
def test_errors_that_the_estimate_has_not_keep_no_coefficient_that_rests_on_what_was_open(
    unused: float, lost: bool
) -> None:
    """Along what noise hides, a raised eigenvalue makes errors of rows that no estimate rests on."""
    one = np.eye(2)
    found = judged(np.zeros(2), 2 * one, 0 * one, one, 9.0, Before(1.1 * one, unused=unused * one))
    assert np.isinf(np.diag(found.cov)).all() == lost
