"""Whatever noise makes of the releases, a fit that was paid for is given, and can be shown."""

from collections.abc import Iterable

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise
from tests.privacy.catalogue import ROWS, SHORT, TABLE, Case, has_option, made, unless

DATA = made()
TRIED = [
    *(pytest.param(*case.values, (1,), id=f"{case.id}-1", marks=case.marks) for case in SHORT),
    *(
        pytest.param(*case.values, range(2, 12), id=f"{case.id}-2-11", marks=pytest.mark.long)
        for case in TABLE
    ),
]
"""Cases and seeds of one test, so that a part of the long ones is a part of these."""


class Wild(SeededNoise):
    """Nothing, the opposite, or up to a million sds; many a fit gets mostly one kind."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._often = self._generator.dirichlet(np.full(5, 0.3))

    def _wild(self, value: np.ndarray, sds: np.ndarray) -> np.ndarray:
        size, draw = 10.0 ** self._generator.uniform(-2, 6), self._generator
        answers = (
            value + sds * draw.normal(size=value.shape),
            value * draw.choice((0.0, -1.0)),
            size * sds * draw.normal(size=value.shape),
            np.abs(value) + size * sds,
            -np.abs(value) - size * sds,
        )
        return answers[draw.choice(len(answers), p=self._often)]

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        return self._wild(value, np.full(value.shape, sensitivity / mu))

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        return self._wild(value, axes / epsilon)


@pytest.mark.parametrize(("case", "seeds"), TRIED)
def test_a_fit_that_was_paid_for_is_given_whatever_noise_answers(case: Case, seeds: Iterable[int]) -> None:
    for seed in seeds:
        with noise(Wild(seed)):
            fit = case.fit(DATA)
        assert str(fit.summary() if isinstance(fit, dps.Fit) else fit), seed


def test_a_curvature_that_noise_made_huge_hides_no_other() -> None:
    """Eigenvalues of 1e21 and 1e-4: found again in the matrix, the small ones were negative."""
    case = Case("glm", "gamma", "auto", None, "approx", "no intercept")
    with noise(Wild(6)):
        fit = case.fit(DATA)
    assert np.all(np.diag(fit.cov_params()) > 0)


@pytest.mark.parametrize(
    ("name", "seed"), [("coxph-zcdp-strata", 590898), ("survreg-gaussian-auto-zcdp-strata", 348037)]
)
def test_a_matrix_that_noise_made_singular_ends_no_fit(name: str, seed: int) -> None:
    """The covariance of trends, and what moves log sigmas: both fits failed after they were paid for."""
    [case] = [each.values[0] for each in TABLE if each.id == name]
    with noise(Wild(seed)):
        assert str(case.fit(DATA).summary())


def test_a_scale_that_noise_made_nothing_is_looked_at() -> None:
    """A log sigma of -9,800: the look for a bend divided by a sigma of 0."""
    with noise(Wild(7)):
        fit = Case("survreg", "sev", "auto", None, "gdp", "strata").fit(DATA)
    assert str(fit.summary())


# what models explain, and its bounds
BOUNDS = {
    "time": (1, 100),
    "after": (1, 100),
    "before": (1, 100),
    "good": (0, 1),
    "visits": (0, 40),
    "cost": (1, 500),
}


@pytest.mark.parametrize("case", unless(has_option, SHORT))
def test_a_fit_is_given_where_most_responses_lie_at_a_bound(case: Case) -> None:
    """At the lower or the upper one all but every twentieth."""
    others = np.arange(ROWS) % 20 == 0
    for side in (0, 1):
        at_bound = {name: np.where(others, DATA[name], ends[side]) for name, ends in BOUNDS.items()}
        with noise(SeededNoise(side)):
            fit = case.fit(DATA | at_bound)
        assert str(fit.summary() if isinstance(fit, dps.Fit) else fit), side
