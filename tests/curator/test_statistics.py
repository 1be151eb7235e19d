"""What each statistic sums, against plain numpy; and the pairs of rows that attain its sensitivity."""

import math

import numpy as np
import pytest

from dpstats.curator import Curator
from dpstats.testing import NoNoise, Recording
from tests.made import MADE_RADII, MadeDesign, MadeRows, made_columns, public_parameters

D = 2
COLUMNS = made_columns(300, D, seed=4)
COLUMNS["event"][:5] = np.nan
COLUMNS["x"][7, 1] = np.inf
PUBLIC = public_parameters(D)
BLOCK = MadeDesign(D).read(COLUMNS)
EVENT = BLOCK.event[:, None]
Y = np.where(BLOCK.ok, np.log(np.where(BLOCK.ok, BLOCK.time, 1)), 0)[:, None]
TOLERANCE = dict(rel=1e-4, abs=300 * 2e-5)  # the grid of the lattice, for scales up to 10


def values(name, columns=COLUMNS, d=D, **changes):
    curator = Curator(MadeRows(columns), MadeDesign(d), 2.0, noise=NoNoise())
    return curator.release(name, 1.0, **(public_parameters(d)[name] | changes)).values


def distance(name, d, row, other, **changes):
    """Distance of the exact vectors of two one-row data sets, in released coordinates."""
    exact = []
    for x, time, event in (row, other):
        columns = {"x": np.array([x]), "time": np.array([time]), "event": np.array([event])}
        recording = Recording(NoNoise())
        curator = Curator(MadeRows(columns), MadeDesign(d, bound=10.0), 2.0, recording, recording.record)
        curator.release(name, 1.0, **(public_parameters(d)[name] | changes))
        exact.append(recording.records[0].exact)
    return np.linalg.norm(exact[0] - exact[1])


def test_event_moments():
    first, second, count = values("event_moments")
    a = np.clip(np.hstack([BLOCK.exog[:, 1:], Y / math.log(10) - 1]), -1, 1) * EVENT
    assert first == pytest.approx(a.sum(axis=0), **TOLERANCE)
    assert second == pytest.approx(1.6 * (a**2).sum(axis=0), **TOLERANCE)
    assert count == pytest.approx(1.5 * EVENT.sum(), **TOLERANCE)


def test_event_moments_of_time_itself():
    first, _, _ = values("event_moments", center=[0, 0, 50.0], half=[1, 1, 50.0], log=False)
    assert first[2] == pytest.approx((EVENT[:, 0] * np.clip(BLOCK.time / 50 - 1, -1, 1)).sum(), **TOLERANCE)


def test_event_matrix():
    (matrix,) = values("event_matrix")
    x = np.hstack([np.ones((300, 1)), BLOCK.exog[:, 1:] / 0.5])
    weight = np.minimum(1, 2 / np.linalg.norm(x, axis=1, keepdims=True)) * EVENT
    rows = weight * np.hstack([x, np.clip((Y - math.log(10)) / 0.5, -4, 4)])
    rows *= np.minimum(1, 3 / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
    assert matrix == pytest.approx(rows.T @ rows, **TOLERANCE)


@pytest.mark.parametrize("events", [False, True])
def test_row_weight_shares(events):
    (shares,) = values("row_weight_shares", whitening=np.diag([1.0, 9.0, 8.0]), events=events)
    x = np.hstack([np.ones((300, 1)), BLOCK.exog[:, 1:] / 0.5]) * [1, 9, 8]
    share = 1 - np.minimum(1, MADE_RADII / (x**2).sum(axis=1, keepdims=True))
    counted = EVENT if events else BLOCK.ok[:, None]
    assert 0 < shares[-1] < shares[0]
    assert shares == pytest.approx((share * counted).sum(axis=0), **TOLERANCE)


def test_designs_without_an_intercept_use_all_their_columns():
    columns = {**COLUMNS, "x": COLUMNS["x"][:, :1]}
    with_one = Curator(MadeRows(columns), MadeDesign(1), 2.0, noise=NoNoise())
    without = Curator(MadeRows(columns), MadeDesign(1, has_intercept=False), 2.0, noise=NoNoise())
    public = public_parameters(1)["event_matrix"]
    released = [curator.release("event_matrix", 1.0, **public).values[0] for curator in (with_one, without)]
    assert (released[0] == released[1]).all()


BIG_TIME, SMALL_TIME = 100.0, 1.0  # their logs are the ends of the box of the made response


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_event_moments_attain_their_sensitivity(d):
    """Opposite corners from k = 6 on (4 k > 3.56 k + 2.25), a corner against a censored row before."""
    k, corner = d + 1, (np.ones(d), BIG_TIME, 1.0)
    opposite, censored = (-np.ones(d), SMALL_TIME, 1.0), (np.ones(d), BIG_TIME, 0.0)
    attained = distance("event_moments", d, corner, opposite if 4 * k > 3.56 * k + 2.25 else censored)
    assert attained == pytest.approx(math.sqrt(max(4 * k, 3.56 * k + 2.25)), rel=1e-5)


def test_event_matrix_attains_its_sensitivity():
    """x~ = (1, u) with |x~| >= R1 and y~ = 4, against a row orthogonal to it of the same length."""
    middle = math.log(10)
    public = dict(radius=4.0, limit=3.0, scale=[1.0], center=[0.0], y_center=middle, y_scale=middle / 4)
    attained = distance("event_matrix", 1, ([3.0], BIG_TIME, 1.0), ([5.0], SMALL_TIME, 1.0), **public)
    assert attained == pytest.approx(math.sqrt(2) * 9, rel=1e-3)  # (1, 3, 4).(1, 5, -4) = 0, up to the weight


def test_row_weight_shares_come_near_their_sensitivity():
    short = dict(center=[0.0], scale=[1e-4], whitening=np.eye(2))
    attained = distance("row_weight_shares", 1, ([10.0], 5.0, 1.0), ([0.0], 5.0, 0.0), **short)
    assert attained == pytest.approx(math.sqrt(7), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("event_moments", dict(half=[1.0, 1.0, 0.0]), "must be positive"),
        ("event_moments", dict(center=[0.0, 0.0]), "one for each covariate"),
        ("event_matrix", dict(limit=math.inf), "positive and finite"),
        ("event_matrix", dict(scale=[1.0, math.nan]), "2 finite numbers"),
        ("row_weight_shares", dict(whitening=np.eye(2)), "order 3"),
        ("row_weight_shares", dict(squared_radii=[0.0]), "positive and finite"),
    ],
)
def test_public_parameters_are_checked(name, change, message):
    with pytest.raises(ValueError, match=message):
        values(name, **change)
