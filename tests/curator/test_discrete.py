"""Discrete Gaussian integers have their exact probabilities, also where floats cannot tell.

Samples are not seeded: each test of a law rejects a sound sampler with probability 1e-6 at most.
"""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpstats.curator import discrete

ALPHA = 1e-6
SCALES = (1.0, 1.69, 1.7, 3.39, 40.0)  # with 1.69 and 3.39 an octave is hardly longer than it must be
WIDE = 1.3 * 2.0**44


def told(monkeypatch: pytest.MonkeyPatch, *words: list[int]) -> None:
    """The system's randomness are these words of 64 bits, one list for each time that it is asked."""
    coming = iter(words)
    monkeypatch.setattr(discrete, "token_bytes", lambda _: np.array(next(coming), dtype=np.uint64).tobytes())


def seeded(seed: int) -> Callable[[int], bytes]:
    return np.random.default_rng(seed).bytes


@pytest.mark.parametrize("scale", SCALES)
def test_integers_have_their_exact_probabilities(scale: float) -> None:
    count, reach = 400_000, math.ceil(12 * scale)
    points = np.arange(-reach, reach + 1)
    expected = np.exp(-(points**2) / 2 / scale**2)
    expected *= count / expected.sum()
    seen = np.bincount(discrete.draw(count, scale) + reach, minlength=len(points))
    common = expected >= 10
    seen, expected = (np.append(row[common], row[~common].sum()) for row in (seen, expected))
    assert stats.chisquare(seen, expected).pvalue > ALPHA


@pytest.mark.parametrize("scale", [*SCALES, WIDE, 2.0**49])
def test_decimals_decide_as_floats_do(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete, "token_bytes", seeded(1))
    by_floats = discrete.draw(2000, scale)
    monkeypatch.setattr(discrete, "token_bytes", seeded(1))
    monkeypatch.setattr(discrete, "_CLOSE", 2.0)
    assert np.array_equal(by_floats, discrete.draw(2000, scale))


@pytest.mark.parametrize("octave", [0, 1, 2, 5])
@pytest.mark.parametrize("place", [2**40 + 1, 2**43 + 12345, 2**45 - 1])
def test_what_floats_cannot_tell_is_decided_exactly(
    octave: int, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A uniform number whose first digits are a unit of the 64th below the chance, or above it."""
    with mpmath.workdps(80):
        size = octave * 2**45 + place
        chance = 2**octave * mpmath.exp(-((mpmath.mpf(size) / WIDE) ** 2) / 2)
        at = int(chance * 2**64)
    told(monkeypatch, [place] * 2, [at - 1, at + 1], [2**octave] * 2)
    assert discrete._kept(2, 45, WIDE).tolist() == [size]


def test_more_digits_are_drawn_where_64_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first 64 digits of the number are those of the chance; what follows decides."""
    with mpmath.workdps(80):
        chance = mpmath.exp(-((mpmath.mpf(2**44) / WIDE) ** 2) / 2) * 2**64
        known, rest = int(chance), int((chance - int(chance)) * 2**64)
    for more, below in ((rest - 9, True), (rest + 9, False)):
        monkeypatch.setattr(discrete, "randbits", lambda bits, more=more: more)
        assert discrete._below(known, 0, 2**44, WIDE) is below


def test_octaves_are_zeros_before_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, [1, 8, 0, 2**63, 12], [2])
    assert discrete._octaves(5).tolist() == [0, 3, 65, 63, 2]


def test_zero_has_one_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, [0, 2**63, 7, 2**63 + 7], [0] * 4, [1] * 4)
    assert discrete._kept(4, 45, WIDE).tolist() == [0, 7, -7]


def test_numbers_far_out_are_nothing_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, [5], [2**30], [0], [2**63])
    with np.errstate(all="raise"):
        assert discrete._kept(1, 45, WIDE).tolist() == []


def test_exp_errs_by_far_less_than_what_floats_leave_undecided() -> None:
    points = np.linspace(-40, 0, 4001)
    with mpmath.workdps(40):
        errors = [
            abs(mpmath.exp(float(x)) - float(found)) for x, found in zip(points, np.exp(points), strict=True)
        ]
    assert max(errors) < 2.0**-50 < discrete._CLOSE / 2**8
