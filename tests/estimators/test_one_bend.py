"""Effects that bend once: their mean scores, the lines through them, and what a sum says of them."""

import numpy as np
import pytest
from scipy import optimize, special

from dpstats.estimators.likely import shortest
from dpstats.estimators.one_bend import Bends, MeanScore, bends_of_long_rows
from dpstats.families import LOGISTIC, NORMAL, SEV, Family
from dpstats.families.martingale import taper
from dpstats.families.quantiles import even_shares

AT = np.array([-1.0, -0.5, 0.0, 0.6, 1.5, 4.0])
SHARES = np.array([0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
OFF = np.linspace(-2, 0.5, 6)


LATE = np.full(6, 8.0)  # all rows fail before


def likelihood(family: Family) -> MeanScore:
    return MeanScore.of(family, taper(family, 64.0, -9.0))


@pytest.mark.parametrize(
    ("family", "scores"),
    [(SEV, np.expm1(OFF)), (NORMAL, OFF), (LOGISTIC, None)],
    ids=lambda each: str(each)[:9],
)
def test_mean_scores_are_those_of_the_likelihood(family: Family, scores: np.ndarray | None) -> None:
    if scores is None:  # E tanh((W + off) / 2)
        w = family.quantile(even_shares(4000))
        scores = np.tanh((OFF[:, None] + w) / 2).mean(axis=1)
    assert likelihood(family)(OFF, LATE) == pytest.approx(scores, abs=0.04)


def test_censored_rows_say_less_of_how_late_they_would_fail() -> None:
    whole, half = likelihood(SEV)(np.full(2, 2.0), np.array([8.0, SEV.quantile(0.5)]))
    assert half < 0.25 * whole


@pytest.mark.parametrize("end", [-1.5, 0.8])
def test_scores_of_log_hazards_are_those_of_weibull_times(end: float) -> None:
    """Hazards are bounded at the end of the watch, and times where they fail."""
    found, ends = MeanScore.of_hazards()(OFF, np.full(6, end)), np.full(6, end)
    assert found == pytest.approx(-likelihood(SEV)(-OFF, ends), abs=0.02)


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("family", [SEV, NORMAL, LOGISTIC])
def test_the_line_is_that_of_maximum_likelihood(family: Family, late: bool) -> None:
    """Of 400 rows at each point, all watched to about one time, with sigma known."""
    effects = np.array([-1.2 * np.maximum(AT - 0.6, 0), 0.7 * AT + 0.1, np.minimum(AT, 0), -2.0 * (AT > 3)])
    ends = LATE if late else 0.7 - 0.8 * AT
    found = likelihood(family).line(AT, SHARES, effects, ends, moves=True)
    w = family.quantile(even_shares(400))[:, None]
    watched = ends[:, None, None] + family.sd * special.ndtri(even_shares(41))

    def loss(line: np.ndarray, effect: np.ndarray) -> float:
        fails = effect[:, None, None] + w <= watched
        z = np.minimum(effect[:, None, None] + w, watched) - (line[0] + line[1] * AT)[:, None, None]
        logs = fails * family.log_hazard(z) - family.cumulative_hazard(z)
        return -float(SHARES @ logs.mean(axis=(1, 2)))

    for line, effect in zip(found, effects, strict=True):
        best = optimize.minimize(loss, np.zeros(2), (effect,), method="Nelder-Mead", options={"xatol": 1e-4})
        assert line == pytest.approx(best.x, abs=0.04)
    assert found[1] == pytest.approx([0.1, 0.7], abs=0.03)


@pytest.mark.parametrize("size", [-2.0, 2.0])
@pytest.mark.parametrize("family", [SEV, NORMAL, LOGISTIC])
def test_a_line_is_found_where_a_few_rows_lie_far_away(family: Family, size: float) -> None:
    """Steps that moved no row by more than a sigma had not arrived where one lies 60 sds away."""
    at, shares = np.append(AT, 60.0), np.append(0.999 * SHARES, 0.001)
    score, ends, effects = likelihood(family), np.full(7, 8.0), size * np.maximum(at - 0.6, 0)[None]
    line = score.line(at, shares, effects, ends)
    left = score(effects - line[:, :1] - line[:, 1:] * at, ends) * shares
    assert np.abs(left.sum()) < 1e-3 and np.abs(left @ at) < 1e-3


@pytest.mark.parametrize("score", [likelihood(NORMAL), MeanScore.of_hazards()], ids=["times", "hazards"])
def test_rows_are_watched_to_one_time_by_which_as_many_fail_as_do(score: MeanScore) -> None:
    rise = 1.5
    ends = score.ends(0.6, AT, SHARES, rise)
    assert ends - ends[0] == pytest.approx(score.up * rise * (AT - AT[0]))
    usual = ends[:, None] + score.family.sd * special.ndtri(even_shares(400))
    assert SHARES @ score.family.cdf(usual).mean(axis=1) == pytest.approx(0.6, abs=0.01)


def some_bends(side: int = 1, rise: float = 0.0) -> Bends:
    weights = np.minimum(1.0, 0.7 / np.maximum(np.abs(AT), 1e-9))
    curve, heard = np.minimum(AT**2 - 1, 1.2), MeanScore.of(SEV, taper(SEV, 1.5))
    scores, ends = (heard, likelihood(SEV), heard), heard.ends(0.9, AT, SHARES, rise)
    effects = bends_of_long_rows(side * AT, SHARES, rise)
    return Bends.of(effects, side * AT, SHARES, weights, curve, scores, ends)


def test_of_a_sum_that_is_all_noise_half_of_what_a_bend_may_do_is_left() -> None:
    bends = some_bends()
    mean, square, _ = bends.told(0.3, 1e6)
    assert square == pytest.approx(bends.moves.T @ bends.moves / len(bends.moves) / 2, rel=1e-3)
    assert np.abs(mean) == pytest.approx(np.abs(bends.moves.mean(axis=0)) / 2, rel=1e-3)


def test_a_sum_of_nothing_excludes_what_it_would_have_seen() -> None:
    bends = some_bends()
    sizes = [bends.told(0.0, sd).square[1, 1] for sd in (1e-4, 0.01, 0.1, 1e6)]
    assert (np.diff(sizes) > 0).all() and sizes[0] < 0.01 * sizes[-1]


@pytest.mark.parametrize("which", [10, 40, 75, 100, 140])
def test_a_sum_that_is_seen_is_told_with_what_bends_of_other_shapes_make_of_it(which: int) -> None:
    bends = some_bends()
    mean, square, _ = bends.told(bends.sums[which], 1e-3)
    sds = np.sqrt(np.diag(square - np.outer(mean, mean)))
    assert (np.abs(mean - bends.moves[which]) < 2.5 * sds + 0.01).all()


def test_rows_lie_off_the_line_of_all_rows_by_what_it_leaves_of_an_effect() -> None:
    """So that no sum of squares about a line is less than by least squares, and a line leaves nothing."""
    heard = MeanScore.of(SEV, taper(SEV, 1.5))
    effects, ends = np.array([np.abs(AT), 0.3 * AT - 1]), heard.ends(0.9, AT, SHARES, 0.0)
    bends = Bends.of(effects, AT, SHARES, np.ones_like(AT), AT, (heard, likelihood(SEV), heard), ends)
    rows = np.column_stack([np.ones_like(AT), AT]) * np.sqrt(SHARES)[:, None]
    least = np.linalg.lstsq(rows, np.abs(AT) * np.sqrt(SHARES))[1].item()
    assert least <= bends.spreads[0] < 2 * least
    assert bends.spreads[1] == pytest.approx(0.0, abs=1e-4)


def test_bends_lie_towards_the_long_rows() -> None:
    one, other = some_bends(), some_bends(-1)
    assert other.sums == pytest.approx(one.sums) and other.moves == pytest.approx(one.moves * [1, -1])


@pytest.mark.parametrize(("rise", "more"), [(2.0, 2.0), (-2.0, 10.0)])
def test_the_steeper_a_line_the_more_of_its_effect_may_end(rise: float, more: float) -> None:
    """An effect of 5 sigmas that ended at a quantile of .7 was beyond all bends of a usual size."""
    flat, steep = (some_bends(rise=each).told(0.0, 1e6).square[1, 1] for each in (0.0, rise))
    assert steep > more * flat


@pytest.mark.parametrize("chance", [0.0, 0.03, 0.3, 0.8])
def test_intervals_of_what_is_likely_hold_95_per_cent_of_it_and_no_more(chance: float) -> None:
    """Whatever is not likely moves no line, and what errors of the line explain widens none."""
    draw, error = np.random.default_rng(7), 0.1
    moves = 1 + draw.standard_t(2, size=(400, 2))
    chances = np.append(np.full(400, chance / 400), 1 - chance)
    middle, square = shortest(np.vstack([moves, np.zeros(2)]), chances, np.full(2, error))
    which = draw.choice(401, size=40_000, p=chances)
    drawn = np.vstack([moves, np.zeros(2)])[which] + draw.normal(0, error, size=(40_000, 2))
    half = 1.96 * np.sqrt(np.diag(square) - middle**2 + error**2)
    held = (np.abs(drawn - middle) < half).mean(axis=0)
    assert held == pytest.approx(0.95, abs=0.01)
    assert (half < 1.1 * np.diff(np.quantile(drawn, [0.025, 0.975], axis=0), axis=0)[0] / 2).all()
    if not chance:
        assert np.abs(middle) == pytest.approx(0, abs=0.01) and (half < 1.05 * 1.96 * error).all()
