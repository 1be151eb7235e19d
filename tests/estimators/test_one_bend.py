"""Effects that bend once: their mean scores, the lines through them, and what a sum says of them."""

import numpy as np
import pytest
from scipy import optimize

from dpstats.estimators.one_bend import Bends, MeanScore
from dpstats.families import LOGISTIC, NORMAL, SEV, Family
from dpstats.families.martingale import taper
from dpstats.families.quantiles import even_shares

AT = np.array([-1.0, -0.5, 0.0, 0.6, 1.5, 4.0])
SHARES = np.array([0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
OFF = np.linspace(-2, 0.5, 6)


def likelihood(family: Family, fraction: float) -> MeanScore:
    return MeanScore.of(family, taper(family, 64.0, -9.0), fraction)


@pytest.mark.parametrize(
    ("family", "scores"),
    [(SEV, np.expm1(OFF)), (NORMAL, OFF), (LOGISTIC, None)],
    ids=lambda each: str(each)[:9],
)
def test_mean_scores_are_those_of_the_likelihood(family: Family, scores: np.ndarray | None) -> None:
    found = likelihood(family, 1.0)
    if scores is None:  # E tanh((W + off) / 2) over its slope at 0
        w = family.quantile(even_shares(4000))
        scores = 3 * np.tanh((OFF[:, None] + w) / 2).mean(axis=1)
    assert found(OFF) == pytest.approx(scores, abs=0.04)
    assert found.slope(np.zeros(1)) == pytest.approx((found(0.05) - found(-0.05)) / 0.1, rel=0.05)


def test_censored_rows_say_less_of_how_late_they_would_fail() -> None:
    whole, half = (likelihood(SEV, fraction) for fraction in (1.0, 0.5))
    assert half(2.0) < 0.4 * whole(2.0)


@pytest.mark.parametrize("fraction", [0.2, 0.9])
def test_scores_of_log_hazards_are_those_of_weibull_times(fraction: float) -> None:
    found, times = MeanScore.of_hazards(fraction), likelihood(SEV, fraction)
    assert found(OFF) == pytest.approx(-times(-OFF), abs=0.02)


@pytest.mark.parametrize("family", [SEV, NORMAL, LOGISTIC])
def test_the_line_is_that_of_maximum_likelihood(family: Family) -> None:
    """Of 4,000 rows at each point, with sigma known."""
    effects = np.array([-1.2 * np.maximum(AT - 0.6, 0), 0.7 * AT + 0.1, np.minimum(AT, 0)])
    found = likelihood(family, 1.0).line(AT, SHARES, effects)
    w = family.quantile(even_shares(4000))

    def loss(line: np.ndarray, effect: np.ndarray) -> float:
        z = (effect - line[0] - line[1] * AT)[:, None] + w
        log_density = family.log_hazard(z) - family.cumulative_hazard(z)
        return -float(SHARES @ log_density.mean(axis=1))

    for line, effect in zip(found, effects, strict=True):
        best = optimize.minimize(loss, np.zeros(2), (effect,), method="Nelder-Mead", options={"xatol": 1e-5})
        assert line == pytest.approx(best.x, abs=0.03)
    assert found[1] == pytest.approx([0.1, 0.7], abs=0.03)


def some_bends() -> Bends:
    weights = np.minimum(1.0, 0.7 / np.maximum(np.abs(AT), 1e-9))
    curve = np.minimum(AT**2 - 1, 1.2)
    return Bends.of(AT, SHARES, weights, curve, MeanScore.of(SEV, taper(SEV, 1.5), 0.9), likelihood(SEV, 0.9))


def test_of_a_sum_that_is_all_noise_half_of_what_a_bend_may_do_is_left() -> None:
    bends = some_bends()
    mean, square = bends.told(0.3, 1e6)
    assert square == pytest.approx(bends.moves.T @ bends.moves / len(bends.moves) / 2, rel=1e-3)
    assert np.abs(mean) == pytest.approx(np.abs(bends.moves.mean(axis=0)) / 2, rel=1e-3)


def test_a_sum_of_nothing_excludes_what_it_would_have_seen() -> None:
    bends = some_bends()
    sizes = [bends.told(0.0, sd).square[1, 1] for sd in (1e-4, 0.01, 0.1, 1e6)]
    assert (np.diff(sizes) > 0).all() and sizes[0] < 0.01 * sizes[-1]


@pytest.mark.parametrize("which", [10, 40, 75, 100, 140])
def test_a_sum_that_is_seen_is_told_with_what_bends_of_other_shapes_make_of_it(which: int) -> None:
    bends = some_bends()
    mean, square = bends.told(bends.sums[which], 1e-3)
    sds = np.sqrt(np.diag(square - np.outer(mean, mean)))
    assert (np.abs(mean - bends.moves[which]) < 2.5 * sds + 0.01).all()


def test_bends_lie_towards_the_long_rows() -> None:
    one = some_bends()
    weights = np.minimum(1.0, 0.7 / np.maximum(np.abs(AT), 1e-9))
    other = Bends.of(
        -AT,
        SHARES,
        weights,
        np.minimum(AT**2 - 1, 1.2),
        MeanScore.of(SEV, taper(SEV, 1.5), 0.9),
        likelihood(SEV, 0.9),
    )
    assert other.sums == pytest.approx(one.sums) and other.moves == pytest.approx(one.moves * [1, -1])
