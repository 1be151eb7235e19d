"""T5, a slice: what a whole linear fit spends stays below the claim, and with halved noise does not.

Two rows that lie opposite each other attain the sensitivity of the score, and all but a few percent of that
of the second moments, at every such release of a fit with public moments. Their residuals are of one size, so
that counts of these, 3 to 7 % of the budget, are the same (their worst pair is searched in test_worst_case).
All other rows are switched off.

Gaussian noise: a sampled lower bound on mu, from the event that the privacy loss, summed over the releases,
is in favour of the first row. Pure epsilon: three releases compose, and losses near epsilon are too rare to
be told by counting; the summed loss itself, by the density of what was drawn, may never exceed epsilon.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.curator.law import Law
from dpstats.testing import NoNoise, Recording, SeededNoise, noise

GAUSSIAN, PURE = dps.gdp(2), dps.pure(1)
RUNS, MISS = {GAUSSIAN: 120, PURE: 60}, 1e-3
SCHEMA = dps.Schema(x=dps.bounded(-9, 9), y=dps.bounded(-600, 600))
GENERATOR = np.random.default_rng(0)
NORMAL = {"x": GENERATOR.normal(size=300), "y": GENERATOR.normal(size=300)}
# which coordinates change their signs between the rows (8, 600) and (-8, 600), which are far
CROSS = {"residual_moments": (1, 8, 9, 10), "residual_score": (0,)}


class Sound(SeededNoise):
    size = 1.0


class Halved(SeededNoise):
    size = 0.5

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        return super().gaussian(value, sensitivity / 2, mu)

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        return super().pure(value, law, axes / 2, epsilon)


def model(side: int) -> Any:
    x = np.append(8.0 * side, np.full(199, np.nan))
    return dps.ols("y ~ 0 + x", {"x": x, "y": np.full(200, 600.0)}, SCHEMA, public=NORMAL)


def mirrored(name: str, exact: np.ndarray) -> np.ndarray:
    """The exact sums of the other row."""
    other = exact.copy()
    for each in CROSS.get(name, ()):
        other[each : each + 1] *= -1  # pilots have no sums of far rows
    return other


def loss(law: Law, answer: np.ndarray, exact: np.ndarray, other: np.ndarray) -> float:
    """Log of the ratio of densities of an answer, exact ones to other ones."""
    near, far = law.distance(answer - exact), law.distance(answer - other)
    return law.cost**2 * (far**2 - near**2) / 2 if law.name == "gaussian" else law.cost * (far - near)


def losses(side: int, budget: Any, source: Any) -> np.ndarray:
    """In favour of the first row, of runs on the row of this side."""
    fitted, found = model(side), []
    for _ in range(RUNS[budget]):
        recording = Recording(source)
        with noise(recording):
            fitted.fit(budget)
        found.append(
            sum(
                side
                * loss(
                    replace(record.law, axes=record.law.axes * source.size),
                    answer,
                    record.exact,
                    mirrored(record.name, record.exact),
                )
                for record, answer in zip(recording.records, recording.answers, strict=True)
            )
        )
    return np.array(found)


def spent(budget: Any, source: type[Sound] | type[Halved]) -> float:
    """The largest loss; or the mu that the runs refute, right with probability 1 - MISS."""
    first, second = (losses(side, budget, source(side + 12)) for side in (1, -1))
    if budget is PURE:
        return float(max(first.max(), -second.min()))
    events, others, runs = (first > 0).sum(), (second > 0).sum(), RUNS[budget]
    at_least = stats.beta.ppf(MISS / 2, events, runs - events + 1)
    at_most = stats.beta.isf(MISS / 2, others + 1, runs - others)
    return float(stats.norm.ppf(at_least) - stats.norm.ppf(at_most))


@pytest.mark.parametrize("budget", [GAUSSIAN, PURE], ids=str)
def test_the_pair_attains_the_sensitivity_at_every_release(budget: Any) -> None:
    sides = []
    for side in (1, -1):
        with noise(recording := Recording(NoNoise())):
            model(side).fit(budget)
        sides.append(recording.records)
    assert len(sides[0]) == (5 if budget is GAUSSIAN else 6)
    # of the first release about a line, which is the same
    first, second = (next(record for record in side if record.name in CROSS) for side in sides)
    assert second.exact == pytest.approx(mirrored(first.name, first.exact), abs=1e-3)
    for first, second in zip(*sides, strict=True):
        if first.name not in CROSS:
            assert (second.exact == first.exact).all() and first.exact.sum() == pytest.approx(1)
            continue
        assert 0.96 < first.law.distance(first.exact - mirrored(first.name, first.exact)) <= 1


@pytest.mark.parametrize(("budget", "claim"), [(GAUSSIAN, 2), (PURE, 1)], ids=str)
def test_no_more_is_spent_than_claimed(budget: Any, claim: float) -> None:
    assert 0.4 * claim < spent(budget, Sound) <= claim  # about as much as 120 runs tell


@pytest.mark.parametrize(("budget", "claim"), [(GAUSSIAN, 2), (PURE, 1)], ids=str)
def test_halved_noise_is_caught(budget: Any, claim: float) -> None:
    assert spent(budget, Halved) > claim
