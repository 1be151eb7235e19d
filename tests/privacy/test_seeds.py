"""Noise does not come again, as that of a generator with a short seed does."""

import random
import secrets

import pytest

from dpstats.curator import knorm
from tests.privacy.catalogue import Case, made

OUTPUT = Case("svm", None, "output", None, "pure", None)


@pytest.mark.parametrize("planted", [False, True])
def test_noise_does_not_come_again(planted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte of seed (AMP's reference code) repeats itself in 100 fits, but for once in 10^8 runs."""
    draw = knorm.draw

    def seeded(law: str, m: int, rate: object) -> list[int]:
        generator = random.Random(secrets.randbelow(256))
        monkeypatch.setattr(knorm, "randbelow", generator.randrange)
        return draw(law, m, rate)

    if planted:
        monkeypatch.setattr(knorm, "draw", seeded)
    data = made()
    answers = {tuple(OUTPUT.fit(data).params) for _ in range(100)}
    assert (len(answers) < 100) == planted
