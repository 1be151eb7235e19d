"""Which columns times are looked at along, and by what the look moves a line."""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpstats.estimators.bends import EDGE, ReleasedLine
from dpstats.estimators.bent_times import (
    Bent,
    ColumnLook,
    FarLook,
    SquareLook,
    WeightedRows,
    any_skewed,
    looking,
)
from dpstats.estimators.column_law import ColumnLaw
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.location_scale.plan import make_plan, make_pure_plan
from dpstats.estimators.one_bend import MeanScore
from dpstats.estimators.row_scale import RowScale
from dpstats.families import NORMAL as NORMAL_TIMES
from dpstats.families import SEV, Family
from dpstats.families.martingale import taper

EVENTS, RADIUS = 1e6, 2.0
ENDS = np.array([-4, -2, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12])
SKEWED, NORMAL, EVEN = stats.expon(-1), stats.norm(), stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))


def scores(family: Family = NORMAL_TIMES, c: float = 2.0) -> tuple[MeanScore, MeanScore, MeanScore]:
    """Of a fit with this cut of rows that all fail, of maximum likelihood, and of the sums of the fit."""
    fit, whole = (MeanScore.of(family, taper(family, each, -9.0)) for each in (c, 64.0))
    return fit, whole, fit


def scale(  # noqa: PLR0913 - a column, and what is known of it
    law: Any,
    low: float = -1.0,
    high: float = 30.0,
    missed: float = 0.0,
    beyond: float = 12.0,
    side: int = 1,
) -> RowScale:
    """One column of sd 1, whose rows were counted in cells up to `beyond`, or as far on the other side."""
    ends = ENDS[ENDS <= beyond]
    shares = np.diff(law.cdf(ends))
    within = [(ends[:-1], ends[1:])]
    places = [np.sign(a + b) * np.sqrt((a * a + a * b + b * b) / 3) for a, b in within][0]
    none = np.zeros(1)
    return RowScale(
        center=none,
        scale=none + 1,
        y_center=0.0,
        y_scale=1.0,
        log=True,
        fraction=1.0,
        fraction_sd=0.0,
        binary=none > 0,
        lower=np.array([low, -1.0]),
        upper=np.array([high, 1.0]),
        ratio=none + 1,
        error=none,
        shares=shares[None, ::side],
        places=side * places[None, ::side],
        varies=none == 0,
        missed=none + missed,
    )


def look(
    where: RowScale,
    slope: float = 1.0,
    heard: float = 1.0,
    radius: float = RADIUS,
    kind: type[ColumnLook] = SquareLook,
) -> ColumnLook:
    one, none = np.ones(2), np.zeros(2)
    beta, error = np.array([0.0, slope]), 1e-9 * np.eye(2)
    line = ReleasedLine(none, one, beta, np.diag([1.0, heard]), error, error, None, 1.0, 0.1, one)
    rows = WeightedRows(beta, line.moments, (error, error), where, EVENTS, 1.0, 1.0, radius)
    return replace(kind.along(rows, scores()), line=line)


def told(by: ColumnLook, found: float, noise: float = 1.0) -> Bent:
    """What a sum of scores says."""
    sds = np.array([[noise]]), np.array([[noise]])
    release: Any = SimpleNamespace(values=(np.array([[found]]), np.zeros((1, 1))), sds=sds, law="gaussian")
    return by.judged(release, 2.0)


def rows() -> tuple[np.ndarray, float, np.ndarray]:
    """Of an exponential column; the share of its variance that weighted rows have, and their weights."""
    t, heard = SKEWED.ppf((np.arange(200_000) + 0.5) / 200_000), 1.0
    for _ in range(50):
        weights = np.minimum(1.0, RADIUS**2 / (1 + t**2 / heard))
        heard = float(np.average(t**2, weights=weights))
    return t, heard, weights


def ends(t: np.ndarray) -> np.ndarray:
    """An effect that ends an sd from the mean."""
    return np.clip(t, -1.0, 1.0)


def lines(effect: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Of weighted rows and of all rows, and the mean product with the curve of what the first leaves."""
    t, heard, weights = rows()
    fitted, whole = (np.polyfit(t, effect, 1, w=np.sqrt(w))[::-1] for w in (weights, np.ones_like(t)))
    public = look(scale(SKEWED), 1.0, heard).public()
    clipped = np.clip(t, -EDGE, EDGE)
    q = clipped**2 - public["level"] - public["tilt"] * clipped
    q *= np.minimum(1.0, public["span"] / np.abs(q))
    return fitted, whole, float(np.mean(q * (effect - fitted[0] - fitted[1] * t)))


def test_the_more_a_sum_stands_out_the_more_of_it_moves_a_line() -> None:
    by = look(scale(SKEWED), slope=1e-3)
    usual = by._sds(1.0, 0.0)[0]
    moves = np.array([told(by, -size * usual).shift[1] / size for size in (1.0, 2.0, 3.0, 5.0, 8.0)])
    assert (np.abs(moves[:3]) < 0.1 * abs(moves[3])).all()
    assert 0 > moves[3] > moves[4]


def test_a_look_that_tells_nothing_leaves_odds_of_a_third_or_even_ones_by_signs() -> None:
    """So that a line bends with a chance of a quarter, or a half, and may lie farther off by signs."""
    one, none = look(scale(SKEWED)), np.zeros(1, dtype=bool)
    one = replace(one, line=replace(one.line, lost=0.0))
    by_signs = replace(one, by_signs=True)
    assert one.odds(none, none) == [1 / 3] and by_signs.odds(none, none) == [1]
    left, farther = (np.sqrt(told(by, 0.0, noise=1e12).cov[1, 1]) for by in (one, by_signs))
    assert 0 < left < farther


def test_what_a_look_cannot_exclude_is_in_the_interval_and_what_it_excludes_is_not() -> None:
    """An effect that ends may lack a quarter of its slope: noise hides it, or it would show."""
    t = rows()[0]
    fitted, whole, _ = lines(ends(t))
    lost, by = 1 - whole[1] / fitted[1], look(scale(SKEWED), heard=rows()[1])
    hidden, seen = (np.sqrt(told(by, -by._sds(noise, 0.0)[0], noise).cov[1, 1]) for noise in (1e6, 1e3))
    assert 4 * hidden > lost > 0.2
    assert seen < 0.002 * lost


def test_rows_that_noise_may_hide_move_a_line_where_bounds_leave_room_for_them() -> None:
    sizes = []
    for missed, high in ((0.0, 30.0), (0.01, 30.0), (0.01, 5.0)):
        by = look(scale(SKEWED, high=high, missed=missed, beyond=6.0))
        sizes.append(told(by, -1e5).shift[1])
    assert sizes[1] < 1.3 * sizes[0] < 0
    assert sizes[0] <= sizes[2] < 0.95 * sizes[0]


def test_lengths_are_those_of_rows_whitened_as_they_were_weighted() -> None:
    """A column whose long rows weigh less is shorter than it seems, and its long rows weigh less still."""
    whole, half = (told(look(scale(SKEWED), heard=heard), -1e5).shift[1] for heard in (1.0, 0.5))
    assert half < 1.3 * whole < 0


def test_a_line_is_not_moved_where_bounds_allow_no_longer_row() -> None:
    """And maximum likelihood has the scores of the fit."""
    by = replace(look(scale(SKEWED, high=12.0), radius=12.1), scores=scores(c=64.0))
    assert not told(by, -1e5).shift.any()


@pytest.mark.parametrize("side", [1, -1])
def test_what_is_not_seen_of_a_column_has_a_gamma_law_from_its_near_end(side: int) -> None:
    low, high = np.sort([-side, 30 * side])
    one = look(scale(SKEWED, low=low, high=high, beyond=-0.5, side=side), slope=side)
    known = told(look(scale(SKEWED, low=low, high=high, side=side), slope=side), -1e5)
    assert (side * one.law.mean(one.law.at**3) > 1).all()
    assert told(one, -1e5).shift[1] == pytest.approx(known.shift[1], rel=0.3)


def test_a_column_that_is_skewed_the_other_way_moves_a_line_as_far() -> None:
    one = told(look(scale(SKEWED, missed=0.01)), -1e5)
    other = told(look(scale(SKEWED, low=-30.0, high=1.0, missed=0.01, side=-1), slope=-1.0), -1e5)
    assert other.shift == pytest.approx(one.shift * [1, -1])


@pytest.mark.parametrize(
    ("where", "looked_at"),
    [
        (scale(SKEWED, low=-300.0, high=300.0), True),
        (scale(NORMAL, low=-300.0, high=300.0), False),
        (scale(NORMAL, low=-300.0, high=300.0, missed=0.02, beyond=3.0), False),
        # what was seen is as long on both sides, or next to nothing, and bounds tell
        (scale(EVEN, low=-1.8), True),
        (scale(EVEN, low=-1.8, high=6.0), False),
        (scale(SKEWED, beyond=-0.5), True),
        (scale(NORMAL, low=-3.0, high=30.0, beyond=3.0), True),
        (scale(SKEWED, low=-3.0, high=6.0, beyond=-0.5), False),
        (scale(SKEWED, high=3.0, beyond=-0.5), False),
    ],
)
def test_columns_are_looked_at_that_are_skewed_by_counts_or_bounds(where: RowScale, looked_at: bool) -> None:
    assert (look(where).chosen == [0] * looked_at).all() and len(look(where).chosen) == looked_at


@pytest.mark.parametrize(
    ("where", "looked_at"),
    [
        (scale(SKEWED, low=-300.0, high=300.0), True),
        (scale(SKEWED, beyond=-0.5), True),
        (scale(NORMAL, low=-2.0, high=30.0, beyond=3.0), True),
        (scale(NORMAL, low=-5.0, high=100.0, beyond=3.0), True),
        # bounds begin where no law of so far an end is skewed, or what was seen may be noise
        (scale(NORMAL, low=-5.0, high=30.0, beyond=3.0), False),
        (scale(stats.gamma(4, -2, scale=0.5), low=-30.0, high=30.0), False),
    ],
)
def test_by_signs_ordinary_columns_pay_for_no_look(where: RowScale, looked_at: bool) -> None:
    assert any_skewed(where) == looked_at
    assert len(replace(look(where), by_signs=True).chosen) >= looked_at


def test_by_signs_a_column_is_looked_at_that_may_hold_one_value_alone() -> None:
    """Slopes are given there, too; in 5 of 40 fits whose effect levelled off nothing else was known."""
    where = replace(scale(SKEWED), varies=np.zeros(1, dtype=bool))
    assert any_skewed(where) and not len(look(where).chosen)


def test_by_signs_rows_are_shortened_once() -> None:
    by = replace(look(scale(SKEWED)), by_signs=True)
    lengths = np.maximum(np.abs(by.law.at), 1e-9)
    assert by.weights(by.law) == pytest.approx(np.minimum(1.0, RADIUS / lengths))


def test_rows_are_as_long_as_their_distance_from_the_middle_of_those_that_fail() -> None:
    """Where failures lie far from the middle of all rows, these are longer than by their squares."""
    by, moments = look(scale(SKEWED), radius=1.8), np.array([[0.9, -0.5], [-0.5, 0.6]])
    by = replace(by, line=replace(by.line, moments=moments))
    rows = np.column_stack([np.ones_like(by.law.at[0]), by.law.at[0]])
    whitened = rows @ np.linalg.cholesky(np.linalg.inv(moments))
    assert by.weights(by.law)[0] == pytest.approx(np.minimum(1.0, 1.8**2 / np.sum(whitened**2, axis=1)))


def test_a_column_that_surely_varies_is_looked_at_though_failures_do_not_tell_how_far() -> None:
    """In sds of those that weigh; half of the fits of a capped dose that all rows vary along were not."""
    where = replace(scale(SKEWED), error=np.full(1, 2.0))
    by = look(where, heard=1.7)
    assert (by.chosen == [0]).all() and by.law.at == pytest.approx(look(scale(SKEWED)).law.at / 1.7**0.5)


class Surely(SquareLook):
    """A look at a line that bends, by whatever little a sum says."""

    def odds(self, seen: np.ndarray, known: np.ndarray) -> np.ndarray:
        return np.full(len(seen), np.inf)


def bending_once(
    at: float, size: float, family: Family, by_signs: bool
) -> tuple[Bent, np.ndarray, np.ndarray]:
    """What a look says of such an effect, how far the line of all rows lies, and sds of that where noise
    hides all but that it bends."""
    by = replace(look(scale(SKEWED), slope=1e-9), scores=scores(family), by_signs=by_signs)
    law, (bounded, likelihood, _) = by.law, by.scores
    effect = size * np.maximum(law.at - at, 0)
    ends = bounded.ends(1.0, law.at[0], law.shares[0], 0.0)
    fitted, whole = (
        score.line(law.at[0], law.shares[0] * weights, effect, ends)
        for score, weights in ((bounded, by.weights(law)[0]), (likelihood, 1.0))
    )
    off = effect[0] - fitted[0, 0] - fitted[0, 1] * law.at[0]
    found = EVENTS * float(law.mean(by.shortened(law) * bounded(off, ends))[0])
    surely = Surely(**{each.name: getattr(by, each.name) for each in fields(by)})
    hidden, clear = (np.sqrt(np.diag(told(by, 0.0, noise).cov)) for noise in (1e9, 1.0))
    assert (clear < 0.02 * hidden).all()
    hidden = np.sqrt(np.diag(told(surely, 0.0, 1e9).cov))
    return told(by, found), (whole - fitted)[0], hidden


@pytest.mark.parametrize("by_signs", [False, True])
@pytest.mark.parametrize("family", [NORMAL_TIMES, SEV])
@pytest.mark.parametrize(("at", "size"), [(0.0, 0.8), (1.0, -1.0), (2.0, 0.9)])
def test_a_line_is_moved_to_that_of_all_rows_wherever_an_effect_bends(
    family: Family, at: float, size: float, by_signs: bool
) -> None:
    """What noise hides is in the interval, what it leaves moves the line, and a straight one stays."""
    found, far, hidden = bending_once(at, size, family, by_signs)
    left, sds = np.abs(found.shift - far), np.sqrt(np.diag(found.cov))
    assert found.told == (1,)
    assert (left < 2 * sds).all()
    # bends that rows in all octaves beyond make as likely may move a line half as far again
    assert (sds < 1.5 * hidden).all() and (np.abs(far) < 3.5 * hidden).all()


def test_what_is_not_seen_lies_where_bounds_leave_room_for_it() -> None:
    """Cells that were seen are skewed to the near end, as those of the long rows are hidden."""
    where = scale(stats.norm(), low=-3.0, high=60.0, missed=0.02, beyond=1.0)
    by = look(where)
    assert (by.chosen == [0]).all()
    for law, farthest in ((by.law, 1.5), (by.tail, 30.0)):
        assert law.at[law.shares > 0].max() > farthest


@pytest.mark.parametrize("digits", [-1e-13, 1e-13])
def test_last_digits_do_not_decide_whether_rows_lie_beyond_the_declared_end(digits: float) -> None:
    """Cells end there: far from 0 one row in 70 was taken to lie at it, in kelvins and not in degrees."""
    last = scale(SKEWED, beyond=6.0).places.max()
    by = look(scale(SKEWED, high=last * (1 + digits), missed=0.01, beyond=6.0))
    assert by.law.shares[0, -1] < 0.005 < look(scale(SKEWED, missed=0.01, beyond=6.0)).law.shares[0, -1]


@pytest.mark.parametrize("plan", [make_plan(1.0), make_pure_plan(1.0, 10_000, 2)])
def test_a_look_takes_more_of_the_budget_where_columns_are_skewed_and_noise_hides_bends(plan: Plan) -> None:
    last = "last" if plan.pure else "tail"
    costs = {}
    for n in (100, 10_000_000):
        given = looking(plan, last, scale(SKEWED), n)
        assert sum(stage.share for stage in given.stages.values()) == pytest.approx(1.0)
        costs[n] = given.cost("bend") / plan.cost("bend")
    assert costs == {100: pytest.approx(2.0), 10_000_000: pytest.approx(1.0)}
    assert looking(plan, last, scale(NORMAL, low=-300.0, high=300.0), 100) is plan


def test_a_column_that_noise_leaves_in_one_place_has_no_square_to_tell() -> None:
    """No line is determined there, and a fit that was paid for does not end in an error."""
    law = ColumnLaw(np.full((1, 4), 0.5), np.full((1, 4), 0.25))
    assert law.curved(*law.curve()) == pytest.approx(np.zeros((1, 4)))


FEW_SPREAD = stats.t(3, scale=3**-0.5)  # more rows far out, on both sides, than a normal column has


def far_look(law: Any = FEW_SPREAD, **known: float) -> ColumnLook:
    where = replace(scale(law, low=-30.0), places=np.sort(np.append(-PLACES, PLACES))[None])
    shares = np.diff(law.cdf(np.sort(np.append(-FAR_ENDS[1:], FAR_ENDS))))
    return look(
        replace(where, shares=shares[None], **{k: np.full(1, v) for k, v in known.items()}), kind=FarLook
    )


FAR_ENDS = np.array([0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12])
PLACES = np.sqrt((FAR_ENDS[1:] ** 2 + FAR_ENDS[1:] * FAR_ENDS[:-1] + FAR_ENDS[:-1] ** 2) / 3)


def test_a_line_is_moved_to_that_of_all_rows_where_effects_end_on_both_sides() -> None:
    """As they do where rows far out are those of a group on which the covariate does not act."""
    by = far_look()
    law, (bounded, likelihood, _) = by.law, by.scores
    effect = -np.sign(law.at) * np.maximum(np.abs(law.at) - 1.5, 0)
    ends = bounded.ends(1.0, law.at[0], law.shares[0], 0.0)
    fitted, whole = (
        score.line(law.at[0], law.shares[0] * weights, effect, ends)[0]
        for score, weights in ((bounded, by.weights(law)[0]), (likelihood, 1.0))
    )
    off = effect[0] - fitted[0] - fitted[1] * law.at[0]
    found = told(by, EVENTS * float(law.mean(by.shortened(law) * bounded(off, ends))[0]))
    assert found.told == (1,) and whole[1] - fitted[1] < -0.05
    assert abs(found.shift[1] - (whole - fitted)[1]) < 2 * np.sqrt(found.cov[1, 1])
    assert np.sqrt(found.cov[1, 1]) < abs(found.shift[1])


def far_told(sds: float, known: tuple[int, ...] = (), by: ColumnLook | None = None) -> Bent:
    """What a sum of so many sds says, much of which is noise."""
    by = by or far_look()
    found, noise = sds * by._sds(1e5, 0.0)[0], np.full((1, 1), 1e5)
    values = (np.full((1, 1), found), np.zeros((1, 1)))
    release: Any = SimpleNamespace(values=values, sds=(noise, noise), law="gaussian")
    return by.judged(release, 2.0, known)


def test_rows_far_out_whose_sum_may_be_chance_move_a_line_as_likely_as_it_bends() -> None:
    """A sum of three sds is no news for a caution, but a slope that rests on it is not known."""
    none, three, more = (far_told(sds) for sds in (0.0, -3.0, -5.0))
    assert not none.told and not three.told and more.told == (1,)
    assert abs(none.shift[1]) < 0.1 * abs(three.shift[1]) and max(more.shift[1], three.shift[1]) < 0
    assert none.cov[1, 1] < three.cov[1, 1] / 2
    # log sigma is moved by what surely is there alone
    assert none.spread == three.spread == 0 < more.spread


@pytest.mark.parametrize(("sds", "stays"), [(-3.0, True), (-5.0, False)])
def test_a_column_whose_bounds_leave_no_room_far_out_on_one_side_is_moved_by_sure_sums_alone(
    sds: float, stays: bool
) -> None:
    by = far_look()
    by = replace(by, scale=replace(by.scale, lower=np.array([-2.0, -1.0]), upper=np.array([30.0, 1.0])))
    found = far_told(sds, by=by)
    assert stays == (not found.shift.any() and not found.cov.any())


def test_a_column_that_surely_bends_along_its_square_does_so_on_both_sides_as_likely_as_not() -> None:
    """The interval reaches both what that look says and what this one does, and nothing is told twice."""
    alone, beside = far_told(-5.0), far_told(-5.0, known=(1,))
    assert not beside.told and beside.shift == pytest.approx(alone.shift / 2)
    assert np.sqrt(beside.cov[1, 1]) > abs(alone.shift[1]) / 2
    assert beside.spread == pytest.approx(alone.spread / 2)
    # how little the sum says by itself is no reason to leave it
    assert far_told(-2.0, known=(1,)).shift[1] < -abs(far_told(0.0, known=(1,)).shift[1])
