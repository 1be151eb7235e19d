"""Where rows are plenty a fit reads them twelve times, and finds columns as well as by more passes."""

from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.newton import looks
from dpstats.testing import SeededNoise, noise
from tests.privacy.harness import violation

N = 20_000
PLENTY = dps.gdp(300.0)  # of so few rows: their noise is that of ten million rows at mu = .6
SCHEMA = dps.Schema(
    x=dps.bounded(-1, 1),
    u=dps.bounded(-1, 1),
    f=dps.flag(),
    g=dps.flag(),
    y=dps.flag(),
    few=dps.count(500_000),
)


def rows(width: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    z, e, f = rng.normal(size=N), rng.exponential(size=N), rng.random(N) < 0.3
    eta = z - 0.5 * f + 0.5 * e - 0.5
    return {
        "x": 0.7 + width * z,
        "u": -0.8 + width * e,
        "f": f.astype(float),
        "g": (rng.random(N) < 0.2).astype(float),
        "y": (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(float),
        "few": rng.poisson(np.exp(eta - 2)).astype(float),
    }


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    swept = Curator._swept

    def counted(self: Curator, task: Any, *others: Any, **options: Any) -> Any:
        found.append(task.name)
        return swept(self, task, *others, **options)

    monkeypatch.setattr(Curator, "_swept", counted)
    return found


def test_a_whole_logit_takes_twelve_passes(passes: list[str]) -> None:
    with noise(SeededNoise(1)):
        dps.logit("y ~ x + u + f", rows(0.1), SCHEMA).fit(PLENTY)
    assert passes[:2] == ["reach_counts and column_means", "column_means and reach_counts"]
    assert len(passes) == 12


def test_with_fewer_rows_each_release_waits_for_the_last(passes: list[str]) -> None:
    with noise(SeededNoise(1)):
        dps.logit("y ~ x + u + f", rows(0.1), SCHEMA).fit(dps.gdp(10.0))
    assert passes[:5] == ["reach_counts", "reach_means", "reach_counts", "column_means", "reach_counts"]


@pytest.mark.parametrize("width", [0.1, 1e-4])
@pytest.mark.parametrize("response", ["y", "few"])
def test_narrow_columns_are_found_where_most_rows_are_outside_the_subset(response: str, width: float) -> None:
    """And counts of about one whose declared bound is half a million."""
    data, stretch = rows(width), np.array([1, width, width, 1])
    family = "binomial" if response == "y" else "poisson"
    with noise(SeededNoise(2)):
        fit = dps.glm(f"{response} ~ x + u + f", data, SCHEMA, family, subset="g > 0.5").fit(PLENTY)
    found, bse = ((each.to_numpy() * stretch)[1:] for each in (fit.params, fit.bse))
    assert np.abs((found - [1, 0.5, -0.5]) / bse).max() < 4 and not fit.flags
    assert (bse < 0.2).all()


def test_estimates_are_those_of_more_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    for sharp in (looks._SHARP, 0.0):
        monkeypatch.setattr(looks, "_SHARP", sharp)
        with noise(SeededNoise(3)):
            fits.append(dps.logit("y ~ x + u + f", rows(0.1), SCHEMA).fit(PLENTY))
    assert np.abs((fits[0].params - fits[1].params) / fits[1].bse).max() < 0.1
    np.testing.assert_allclose(fits[0].bse, fits[1].bse, rtol=0.02)


@pytest.mark.parametrize(("response", "family"), [("y", "binomial"), ("few", "poisson")])
def test_neighbours_ask_the_same_within_the_sensitivities(
    monkeypatch: pytest.MonkeyPatch, response: str, family: str
) -> None:
    monkeypatch.setattr(looks, "_SHARP", np.inf)
    data = {name: column[:300] for name, column in rows(0.1).items()}
    corners = [dict(x=at, u=at, f=at > 0, g=1, y=at > 0, few=at * 5e5) for at in (-1, 1)]
    others = [{name: np.append(row[name], data[name][1:]) for name in data} for row in corners]

    def fit(table: dict[str, np.ndarray]) -> dps.Fit:
        return dps.glm(f"{response} ~ x + u + f", table, SCHEMA, family).fit(dps.gdp(1.0), force=True)

    assert violation(fit, *others, data) is None
