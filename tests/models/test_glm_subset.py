"""A fit of half of the rows, by subset=, is as sharp as one of a table that holds no others."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.newton import iterate
from dpstats.estimators.newton.located import locate
from dpstats.testing import NoNoise, SeededNoise, noise

N = 10_000
SCHEMA = dps.Schema(
    x=dps.bounded(-4, 4),
    g=dps.bounded(0, 1),
    amount=dps.bounded(0, 60),
    claims=dps.count(60),
    rare=dps.flag(),
)


def rows(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, 12])
    x = rng.normal(size=2 * N)
    mean = np.exp(0.5 + 0.4 * x)
    return {
        "x": x,
        "g": np.repeat([0.25, 0.75], N),
        "amount": mean * rng.gamma(2, 0.5, 2 * N),
        "claims": rng.poisson(mean).astype(float),
        "rare": (rng.uniform(size=2 * N) < 0.1).astype(float),
    }


@pytest.mark.parametrize(("family", "response"), [("gamma", "amount"), ("poisson", "claims")])
def test_rows_outside_a_subset_lengthen_no_interval(family: str, response: str) -> None:
    """They are at the middle of the box where means are taken; noise of as many rows more is less.

    Noise in the looks for bends makes errors of a fit up to 1.7 times those of another, so medians count.
    """
    ratios = []
    for seed in range(7):
        data = rows(seed)
        half = {name: column[:N] for name, column in data.items()}
        with noise(SeededNoise(seed)):
            alone = dps.glm(f"{response} ~ x", half, SCHEMA, family).fit(dps.approx(1, 1e-6))
            within = dps.glm(f"{response} ~ x", data, SCHEMA, family, subset="g < 0.5").fit(
                dps.approx(1, 1e-6)
            )
        ratios.append(within.bse / alone.bse)
    usual = np.median(ratios, axis=0)
    assert (usual < 1.2).all()
    assert (usual > 0.6).all()


def test_columns_are_located_where_the_rows_that_can_be_used_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The share of a level decides how many events it may have: a tenth, and not half of it."""
    found = []
    monkeypatch.setattr(iterate, "locate", lambda *args: found.append(locate(*args)) or found[-1])
    with noise(NoNoise()):
        dps.glm("amount ~ x + rare", rows(0), SCHEMA, "gamma", subset="g < 0.5").fit(dps.approx(2, 1e-6))
    (located,) = found
    assert located.usable == pytest.approx(0.5, abs=1e-3)
    assert located.center[2] == pytest.approx(0.1, abs=0.01)
    assert located.mean == pytest.approx(np.exp(0.5 + 0.4**2 / 2), rel=0.03)
