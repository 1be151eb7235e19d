"""Whatever noise makes of the releases, a fit that was paid for is given, and can be shown."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise
from tests.privacy.catalogue import SHORT, TABLE, Case, made

DATA = made()


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


def given(case: Case, seed: int) -> None:
    """A fit under wild answers, which is shown."""
    with noise(Wild(seed)):
        fit = case.fit(DATA)
    assert str(fit.summary() if isinstance(fit, dps.Fit) else fit)


@pytest.mark.parametrize("case", SHORT)
def test_a_fit_that_was_paid_for_is_given_whatever_noise_answers(case: Case) -> None:
    given(case, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("case", TABLE)
def test_a_fit_that_was_paid_for_is_given_however_often_noise_answers(case: Case, seed: int) -> None:
    given(case, seed)
