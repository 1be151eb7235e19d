"""Least squares where noise is about as large as what it hides: no error that the noise does not explain."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.results import LinearFit
from dpstats.testing import SeededNoise, noise


def error_of_sixty_rows(seed: int) -> float:
    """Mean square error of a line of 60 rows at epsilon .1, over that of the line 0."""
    rng = np.random.default_rng([seed, 18])
    x = rng.normal(size=(60, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.clip(0.4 * x[:, 0] + 0.2 * rng.normal(size=60), -1, 1)
    unit = dps.bounded(-1, 1)
    schema = dps.Schema(a=unit, b=unit, c=unit, y=unit).norm("a", "b", "c", radius=1)
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ a + b + c - 1", dict(zip("abc", x.T, strict=True)) | {"y": y}, schema).fit(
            dps.approx(0.1, 1e-6)
        )
    return float(np.mean((y - x @ fit.params.to_numpy()) ** 2) / np.mean(y**2))


def test_a_line_of_noise_alone_errs_no_more_than_no_line() -> None:
    """As many rows as noise hid were taken to lie at three sds, which was more than all: 1.12, now 1.02."""
    assert np.mean([error_of_sixty_rows(seed) for seed in range(120)]) < 1.06


def test_a_column_whose_values_noise_hides_and_whose_middle_it_has_moved_has_no_slope() -> None:
    """It spreads by a twentieth of its bounds: a slope of -1.5 was .64 or .73, 3 and 2.1 half-lengths off."""
    schema = dps.Schema(x=dps.bounded(8, 25), z=dps.bounded(0, 300), y=dps.bounded(0, 30))
    for seed in (13, 145):
        rng = np.random.default_rng([seed, 77])
        x, z, error = 15.5 + 0.8 * rng.normal(size=400), rng.uniform(0, 200, 400), rng.normal(size=400)
        rows = {"x": x, "z": z, "y": 10 - 1.5 * (x - 15.5) + 0.02 * z + error}
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z", rows, schema).fit(dps.approx(1, 1e-6))
        assert np.isinf(fit.bse["x"])


def pair(kind: str, apart: float, seed: int) -> tuple[LinearFit, float]:
    """Gross and net weights, whose difference has an effect of .4 an sd; and the slope of the second."""
    schema = dps.Schema(
        g=dps.bounded(0, 1000), net=dps.bounded(0, 1000), x=dps.flag(), y=dps.bounded(-100, 1000)
    )
    rng = np.random.default_rng([9, seed])
    g, less = rng.gamma(3, 10, 4000), np.abs(apart * rng.normal(size=4000))
    net, x = np.clip(g - less, 0, 1000), (rng.random(4000) < 0.2).astype(int)
    slope = -0.4 / float(less.std())
    y = 3 + 0.02 * g + slope * (net - g) + 0.5 * x + rng.normal(size=4000)
    with noise(SeededNoise(seed)):
        fit = dps.ols(f"y ~ g + net + x{kind}", {"g": g, "net": net, "x": x, "y": y}, schema).fit(
            dps.approx(1, 1e-6)
        )
    return fit, slope


@pytest.mark.parametrize("kind", [" + g:x", " + I(g ** 2)"])
def test_a_pair_that_nearly_repeats_itself_is_no_short_interval_about_0(kind: str) -> None:
    """A prior for each number alone was too sure of their difference: of ten 6 and 2 were silently off."""
    for seed in range(10):
        fit, slope = pair(kind, 0.2, seed)
        low, high = fit.conf_int().loc["net"]
        assert np.isinf(high) or fit.flags or abs(fit.params["net"] - slope) < high - low


def test_a_pair_whose_difference_is_seen_keeps_its_slopes() -> None:
    """Only a difference that noise may have made is lost."""
    for seed in range(6):
        fit, slope = pair("", 1.5, seed)
        low, high = fit.conf_int().loc["net"]
        assert abs(fit.params["net"] - slope) < high - low < -2 * slope


@pytest.mark.parametrize("kind", [" + g:x", " + I(g ** 2)"])
def test_a_penalty_under_which_a_pair_is_known_knows_what_goes_along_with_it(kind: str) -> None:
    """Intercept and product were lost under any penalty where they are without one."""
    free, _ = pair(kind, 0.2, 0)
    found = free.at_alpha(1)
    assert np.isinf(free.bse[["Intercept", "g", "net"]]).all() and np.isfinite(found.bse).all()
    again, path = found.at_alpha(0), free.ridge_path([0, 1])
    assert np.array_equal(again.bse, free.bse) and again.flags == free.flags
    assert np.array_equal(path.frame["std_error"], [*free.bse, *found.bse])
