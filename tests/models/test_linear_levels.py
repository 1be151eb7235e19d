"""Linear models with factors: what a level has few rows of is known as well wherever it stands."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SHARES = {"a": 0.006, "b": 0.3, "c": 0.3, "d": 0.394}


def test_a_rare_reference_level_is_no_worse_than_any_other() -> None:
    """Its rows were weighted away, where all columns are 0: no level was estimable, nor the intercept."""
    rng = np.random.default_rng(1)
    n, names = 40_000, list(SHARES)
    level = rng.choice(names, n, p=list(SHARES.values()))
    x = rng.normal(size=n)
    data = {"f": level, "x": x, "y": x + 0.5 * (level == "b") + rng.normal(size=n)}
    errors = {}
    for first in (names, names[::-1]):
        schema = dps.Schema(f=dps.levels(*first), x=dps.bounded(-6, 6), y=dps.bounded(-12, 12))
        model = dps.ols("y ~ f + x", data, schema)
        exact = np.linalg.lstsq(model.design.new_rows(data, clip=True).exog, data["y"], rcond=None)[0]
        found = []
        for seed in range(4):
            with noise(SeededNoise(seed)):
                fit = model.fit(dps.approx(3, 1e-6))
            assert fit.flags == ()
            assert (abs(fit.params - exact) < 2 * 1.96 * fit.bse).all()
            found.append(fit.bse["f[T.b]" if first == names else "f[T.a]"])
        errors[first[0]] = np.median(found)
    assert errors["a"] < 1.5 * errors["d"]  # b less a, or a less d


def test_many_even_levels_and_their_reference_are_held() -> None:
    """All contrasts were off by many standard errors at once, as the mean of the reference level was."""
    count, n = 20, 10_000
    names, effects = [f"m{j:02d}" for j in range(count)], 1.5 * np.cos(2 * np.pi * np.arange(count) / count)
    off, lengths = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, count, n)
        data = {"m": np.array(names)[codes], "y": effects[codes] + rng.normal(size=n)}
        model = dps.ols("y ~ m", data, dps.Schema(m=dps.levels(*names), y=dps.bounded(-12, 12)))
        means = np.array([data["y"][codes == level].mean() for level in range(count)])
        exact = np.append(means[0], means[1:] - means[0])
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(2, 1e-6))
        assert fit.flags == ()
        off.append(np.abs(fit.params.to_numpy() - exact) / fit.bse.to_numpy())
        lengths.append(np.median(fit.bse) / np.sqrt(2 * count / n))
    assert np.mean(np.array(off) > 1.96) < 0.08 and np.max(off) < 2 * 1.96
    assert np.median(lengths) < 2.5


def test_a_penalty_pulls_many_levels_as_far_as_it_does_without_privacy() -> None:
    """Shares that were each told by itself left the reference level with another share than it has."""
    count, n, alpha = 20, 10_000, 0.004
    names, off = [f"m{j:02d}" for j in range(count)], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes, effects = rng.integers(0, count, n), 1.5 * np.cos(2 * np.pi * np.arange(count) / count + seed)
        data = {"m": np.array(names)[codes], "y": effects[codes] + rng.normal(size=n)}
        model = dps.ridge(
            "y ~ m", data, dps.Schema(m=dps.levels(*names), y=dps.bounded(-12, 12)), alpha=alpha
        )
        rows = model.design.new_rows(data, clip=True).exog[:, 1:]
        apart, mean = rows - rows.mean(axis=0), data["y"].mean()
        penalised = apart.T @ apart / n + alpha * np.eye(count - 1)
        slopes = np.linalg.solve(penalised, apart.T @ (data["y"] - mean) / n)
        exact = np.append(mean - rows.mean(axis=0) @ slopes, slopes)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(2, 1e-6))
        assert fit.flags == ()
        off.append(np.abs(fit.params.to_numpy() - exact) / fit.bse.to_numpy())
    # its noise is that of one line, and what it is drawn to is known far better
    assert np.sqrt(np.mean(np.square(off))) < 0.5 and np.max(off) < 1.96


def test_under_pure_epsilon_levels_are_told_though_noise_hides_directions_of_their_matrix() -> None:
    """The matrix was taken as noise left it: of 23 coefficients 7 were not estimable, in the mean."""
    count, n, lost, off, lengths = 20, 20_000, [], [], []
    names = [f"m{j:02d}" for j in range(count)]
    bounds = {name: dps.bounded(-4, 4) for name in ("u", "v", "w")}
    schema = dps.Schema(m=dps.levels(*names), y=dps.bounded(-15, 15), **bounds)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        codes, numbers = rng.integers(0, count, n), np.clip(rng.normal(size=(n, 3)), -4, 4)
        effects, slopes = rng.normal(size=count), np.array([1.0, -1.0, 0.0])
        y = effects[codes] + numbers @ slopes + rng.normal(size=n)
        data = {"m": np.array(names)[codes], "y": y} | dict(zip(bounds, numbers.T, strict=True))
        truth = np.concatenate([effects[:1], effects[1:] - effects[0], slopes])
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ m + u + v + w", data, schema).fit(dps.pure(1))
        bse = fit.bse.to_numpy()
        lost.append(np.isinf(bse).sum())
        off.append(np.abs(fit.params.to_numpy() - truth) / bse)
        lengths.append(np.median(bse))
        moments = fit.record.linear
        levels = (moments.back.T @ moments.released.gram @ moments.back)[1:count, 1:count]
        assert levels - np.diag(np.diag(levels)) == pytest.approx(0, abs=1e-3)  # nobody has two
    assert np.mean(lost) < 1 and np.median(lengths) < 0.4  # .30, where it was 1.1
    assert np.mean(np.array(off) > 1.96) < 0.08 and np.max(off) < 2 * 1.96
