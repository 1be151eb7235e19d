"""Columns that bend: by what the look along them corrects a line, and where their rows are taken to lie."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.gram import estimate
from dpstats.estimators.gram.bounds import Bounds, base_square
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.gram.curves import Curves, Law, look_for_curves
from dpstats.estimators.gram.lengths import LongRows
from dpstats.testing import SeededNoise, noise

Looked = tuple[Coordinates, LongRows, Curves]
SCHEMA = dps.Schema(x=dps.bounded(0, 30), z=dps.bounded(-12, 12), y=dps.bounded(-100, 100))


def usual(n: int, mu: float, k: int, *_: object) -> Bounds:
    """What a small budget would choose."""
    radius = np.sqrt(base_square(k))
    return Bounds(radius, 12.0, 12.0 * radius, 4.0)


def lines(square: float, seed: int) -> tuple[np.ndarray, ...]:
    """With hardly any noise, of short rows: as fitted, uncorrected, of least squares, and errors."""
    rng = np.random.default_rng(seed)
    x, z, e = rng.exponential(2, 20_000), rng.normal(size=20_000), rng.normal(size=20_000)
    columns = {"x": x, "z": z, "y": x - square * x**2 + 0.5 * z + e}
    model, budget = dps.ols("y ~ x + z", columns, SCHEMA), dps.gdp(100)
    with noise(SeededNoise(seed)), mock.patch.object(estimate, "choose_bounds", usual):
        corrected = model.fit(budget)
        with mock.patch.object(Curves, "shift", lambda self, _: np.zeros(3)):
            before = model.fit(budget)
    rows = np.column_stack([np.ones_like(x), x, z])
    found = np.linalg.lstsq(rows, columns["y"], rcond=None)[0]
    return corrected.params.to_numpy(), before.params.to_numpy(), found, corrected.bse.to_numpy()


@pytest.mark.parametrize("square", [0.08, -0.08])
def test_a_line_of_a_column_that_bends_is_moved_to_least_squares(square: float) -> None:
    corrected, before, least, errors = lines(square, 5)
    far, left = np.abs(before - least), np.abs(corrected - least)
    assert (far[:2] > 0.03).all(), "rows that weigh less have moved constant and slope"
    assert (left[:2] < 0.3 * far[:2]).all()
    assert (left < 2 * errors).all()


def test_a_line_that_does_not_bend_is_hardly_moved() -> None:
    """By less than a tenth of what the bent ones are."""
    corrected, before, _, _ = lines(0.0, 6)
    assert (np.abs(corrected - before) < 0.018).all()


@pytest.fixture(scope="module")
def looked() -> Looked:
    """What a fit knew when it looked along a skewed column and a normal one, and what it found."""
    seen = []

    def look(curator: Curator, cost: float, place: Coordinates, long: LongRows) -> Curves:
        seen.append((place, long, look_for_curves(curator, cost, place, long)))
        return seen[-1][-1]

    with mock.patch.object(estimate, "look_for_curves", look):
        lines(0.08, 7)
    return seen[0]


def test_a_line_is_moved_by_the_share_of_a_bend_that_chance_leaves(looked: Looked) -> None:
    curves = looked[-1]
    for error, share in (0.1, 0.99), (0.5, 0.75), (1.0, 0.0), (3.0, 0.0):
        doubtful = replace(curves, error=error * np.abs(curves.found))
        moved = doubtful.moved(2.0).sum(axis=1)
        assert doubtful.shift(2.0) == pytest.approx(share * moved), "of both columns the same share"
        assert np.abs(moved).max() > 0.01


def test_where_noise_leaves_nothing_of_rows_the_law_of_a_column_is_of_numbers(looked: Looked) -> None:
    """They were divided by 0, and a fit of which nothing was estimable ended tests in an error of numpy."""
    place, long, curves = looked
    found = Law.of(replace(place, expected=0 * place.expected), curves.chosen, long)
    assert np.isfinite(found.others).all() and np.isfinite(found.at).all()


def long_rows(share: float) -> LongRows:
    """So many along the second of two axes, between 4 and 8 long, and none elsewhere."""
    shares = np.array([[0.0, 0.0], [0.0, share]])
    lower = np.array([2.0, 4.0])
    return LongRows(np.eye(2), shares, lower, 2 * lower, 0.0, 4.0, 1000, 1.0, 1.0)


def law(at: np.ndarray) -> Law:
    """Of one column beside a constant of length 1, with as many rows at each of these points."""
    shares = np.full((1, len(at)), 1 / len(at))
    return Law(at[None], shares, np.ones(1), np.ones((1, 8)))


def added(known: Law, share: float, ends: tuple[float, float]) -> dict[float, float]:
    """Places of the rows that counts added, and their shares."""
    found = known._with(long_rows(share), np.array([1]), np.array(ends)[:, None])
    assert found.shares.sum() == pytest.approx(1)
    count = known.at.shape[1]
    places, shares = found.at[0, count:], found.shares[0, count:]
    return {round(float(at), 6): float(s) for at, s in zip(places, shares, strict=True) if s}


SKEWED = np.append(np.full(99, -1 / 99), 1.0)  # none of them longer than 2
FAR = round(float(np.sqrt(31)), 6)  # of a row of the cell's middle, of whose square 32 the constant has 1


@pytest.mark.parametrize(
    ("at", "ends", "place"),
    [
        (SKEWED, (-9, 9), FAR),
        (-SKEWED, (-9, 9), -FAR),
        (SKEWED, (-9, 3), -FAR),
        (-SKEWED, (-3, 9), FAR),
        (SKEWED, (-1, 3), 3),
    ],
)
def test_counted_rows_lie_where_the_column_is_skewed_to_and_bounds_leave_room(
    at: np.ndarray, ends: tuple[float, float], place: float
) -> None:
    assert added(law(at), 0.02, ends) == {place: pytest.approx(0.02)}


def test_counted_rows_that_octaves_show_are_not_counted_twice() -> None:
    seen = np.append(np.full(99, -0.05), 5.0)
    assert added(law(seen), 0.01, (-9, 9)) == {}
    assert added(law(seen), 0.03, (-9, 9)) == {FAR: pytest.approx(0.02)}


def test_long_rows_move_the_line_of_a_square() -> None:
    """A line of all rows of the square is steeper by them, and one of shortened rows less so."""
    known = law(SKEWED)
    more = known._with(long_rows(0.02), np.array([1]), np.array([[-9.0], [9.0]]))
    assert more.shortened_line(2.0)[1] - known.shortened_line(2.0)[1] > 0.5
    assert (
        known.shortened_line(np.inf)[1] - known.shortened_line(2.0)[1]
        < 0.1
        < more.shortened_line(np.inf)[1] - more.shortened_line(2.0)[1]
    )


def test_rows_that_a_fit_counted_are_in_the_laws_of_its_columns(looked: Looked) -> None:
    place, long, curves = looked
    none, more = (replace(long, shares=long.shares * by + plus) for by, plus in ((0, 0), (1, 0.01)))
    laws = [Law.of(place, curves.chosen, each) for each in (none, more)]
    squares = [law.mean(law.at**2) for law in laws]
    assert (squares[1] > squares[0] + 0.1).all()
