"""A reference level of few rows, or among many: all contrasts rest on its rows, which were weighted away."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise


def test_contrasts_against_a_rare_reference_level_are_right() -> None:
    """Of the first five, two were two half-lengths off without a caution, and intervals 2.3 times as long."""
    rng, n, found = np.random.default_rng(3), 40_000, []
    codes, x, z = rng.choice(3, n, p=[0.003, 0.6, 0.397]), rng.normal(size=n), rng.normal(size=n)
    life = np.exp(6 + 0.67 * (0.5 * (codes > 0) + 0.4 * x - 0.3 * z + np.log(rng.exponential(size=n))))
    end = float(np.quantile(life, 0.9))
    data = {
        "t": np.minimum(life, end),
        "ev": (life <= end).astype(int),
        "f": np.array(["r", "a", "b"])[codes],
    }
    schema = dps.Schema(
        x=dps.bounded(-50, 50),
        z=dps.bounded(-50, 50),
        t=dps.bounded(float(life.min()) / 10, 10 * end),
        ev=dps.event(),
        f=dps.levels("r", "a", "b"),
    )
    for seed in range(10):
        with noise(SeededNoise(seed)):
            model = dps.survreg("Surv(t, ev) ~ x + z + f", data | dict(x=x, z=z), schema, dist="weibull")
            fit = model.fit(dps.approx(6, 1e-6))
        low, high = fit.conf_int().loc["f[T.a]"]
        found.append((abs(fit.params["f[T.a]"] - 0.335), (high - low) / 2))
    error, half = np.transpose(found)
    assert np.median(error) < 0.15
    assert np.median(half) < 0.4
    assert (error < 2 * half).all()


@pytest.mark.long
def test_of_many_levels_under_pure_epsilon_the_reference_is_counted_as_well_as_others() -> None:
    """By subtraction of 39 others alone it had any number of failures, and all intervals were without end."""
    n, names, longer, far = 30_000, [f"l{j}" for j in range(40)], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes, effects = rng.integers(0, 40, n), np.append(0.0, rng.normal(size=39) / 5)
        life = np.exp(6 + effects[codes] + 0.5 * np.log(rng.exponential(size=n)))
        end = float(np.quantile(life, 0.6))
        data = dict(t=np.minimum(life, end), ev=(life <= end) * 1, f=np.array(names)[codes])
        schema = dps.Schema(t=dps.bounded(1.0, 10 * end), ev=dps.event(), f=dps.levels(*names))
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(t, ev) ~ f", data, schema, dist="weibull").fit(dps.pure(4))
        low, high = fit.conf_int().iloc[1:40].to_numpy().T
        usual = 1.96 * 0.5 * np.sqrt(2 / (0.6 * n / 40))
        longer.append(np.median(high - low) / 2 / usual)
        far.append(np.abs(fit.params.iloc[1:40] - effects[1:]) > high - low)
    assert np.median(longer) < 2
    assert np.mean(far) < 0.01


def test_a_fit_under_pure_epsilon_of_very_many_columns_is_given() -> None:
    """So many that no table says which products are the same: it ended after it had been paid for."""
    rng, n, names = np.random.default_rng(0), 2_000, [f"l{j}" for j in range(40)]
    life = np.exp(2 + 0.5 * np.log(rng.exponential(size=n)))
    data = dict(x=rng.uniform(-1, 2, n), f=rng.choice(names, n), t=np.clip(life, 1, 100), ev=(life < 100) * 1)
    schema = dps.Schema(x=dps.bounded(-1, 2), f=dps.levels(*names), t=dps.bounded(1, 200), ev=dps.event())
    with noise(SeededNoise(0)):
        fit = dps.survreg("Surv(t, ev) ~ x * f", data, schema, dist="weibull").fit(dps.pure(4), force=True)
    assert len(fit.params) == 81 and "not_estimable" in dict(fit.flags)
