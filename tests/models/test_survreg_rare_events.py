"""Where one unit in a hundred fails last steps are long, and log sigma is known as they leave it."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

TRUTH, CENSORED = np.log(0.8), 36.0
SCHEMA = dps.Schema(
    t=dps.bounded(0.01, 40),
    ev=dps.event(),
    pack=dps.bounded(0, 200),
    bmi=dps.bounded(10, 80),
    fam=dps.flag(),
    sex=dps.levels("f", "m"),
)


def fitted(seed: int) -> dps.Fit:
    """A Weibull fit to 20,000 rows of which 1.2 % fail, at pure(4)."""
    rng, n = np.random.default_rng(seed), 20_000
    pack = np.where(rng.random(n) < 0.6, 0, rng.gamma(1.5, 12, n)).clip(0, 150)
    bmi = (18.4 + rng.standard_gamma(3, n) * 5 / 3**0.5).clip(12, 70)
    fam, sex = (rng.random(n) < 0.06) * 1, rng.choice(["f", "m"], n)
    eta = 7.6 - 0.02 * pack - 0.015 * bmi - 0.7 * fam - 0.3 * (sex == "m")
    t = np.exp(eta + 0.8 * np.log(rng.exponential(size=n)))
    end = rng.uniform(6, CENSORED, n)
    rows = dict(t=np.minimum(t, end).clip(0.01), ev=(t <= end) * 1, pack=pack, bmi=bmi, fam=fam, sex=sex)
    with noise(SeededNoise(seed)):
        return dps.survreg("Surv(t, ev) ~ pack + bmi + fam + sex", rows, SCHEMA).fit(dps.pure(4), force=True)


@pytest.mark.parametrize("seed", [11, 16, 21])
def test_log_sigma_is_told_no_better_than_the_last_step_leaves_it(seed: int) -> None:
    fit = fitted(seed)
    assert abs(fit.params.iloc[-1] - TRUTH) < 2 * 1.96 * fit.bse.iloc[-1]


def test_a_scale_that_may_be_any_is_not_told_nor_what_rests_on_it() -> None:
    fit = fitted(3)
    assert np.isinf(fit.bse.iloc[-1]) and "not_estimable" in dict(fit.flags)
    at = dict(pack=0, bmi=25, fam=0, sex="f")
    assert np.array_equal(fit.reliability(at, 10).frame[["conf_low", "conf_high"]], [[0, 1]])
