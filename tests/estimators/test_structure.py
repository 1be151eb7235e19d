"""What is expected of the information of a survival model beside what is released."""

import numpy as np
import pytest

from dpstats.estimators.known.level_shares import of_levels
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.location_scale.events import Events, Whitening, levelled
from dpstats.estimators.location_scale.information import KnownMatrix, estimated
from dpstats.estimators.row_scale import RowScale

K, FRACTION, RELEASED = 3, 0.1, 0.03
SHARE = 0.1**2 / (0.1**2 + RELEASED**2)  # of the releases, where the structure errs by a tenth


def events(noise: float, slope: float = 2.0, lowered: float = 1.0) -> Events:
    """A line of slopes 2, and the moments of one direction as noise may have lowered them."""
    square = FRACTION * np.diag([1.0, 1.0, lowered])
    line = np.array([0.0, slope, slope])
    return Events(FRACTION, square, square, noise, line, 0.05, 0.1, np.eye(K))


def crossed(events: Events, pivot_error: float, stretch: float = 1.0) -> float:
    """Entry of the last direction with log sigma, where .8 is released with a small error, in its units."""
    matrix = np.diag(np.full(K + 1, FRACTION))
    matrix[-1, -1] *= 4
    matrix[K - 1, K] = matrix[K, K - 1] = 0.8 * FRACTION
    known = KnownMatrix(matrix, np.eye(K + 1), np.full((K + 1, K + 1), RELEASED * FRACTION))
    w = np.diag([1.0, 1.0, stretch])
    found = estimated(known, events, Whitening(w, w), FRACTION, 1.0, pivot_error)
    return float(found.matrix[K - 1, K] / FRACTION)


def test_no_correlation_with_log_sigma_is_believed_where_noise_made_moments_small() -> None:
    """Steps were a fifth of the way, and intervals six times too short."""
    assert crossed(events(0.05, lowered=-0.5), 0.0, stretch=4.0) == pytest.approx(0.8 * SHARE)


def test_the_pivot_errs_along_what_is_stretched() -> None:
    """It has the noise of the line, over sigma."""
    told = [crossed(events(1e-9), error, stretch=5.0) for error in (0.0, 0.1, 1.0)]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(0.8, rel=0.01)


def test_a_pivot_without_error_takes_the_correlation_away() -> None:
    assert crossed(events(1e-9), 0.0) == pytest.approx(0.8 * SHARE)


# failures of a category of four levels, of which one is rare; the first has no column
SHARES = np.array([0.3, 0.4, 0.25, 0.05])
ALIKE = np.where(np.eye(4) > 0, np.arange(4), -1)
ALIKE[0] = ALIKE[:, 0] = np.arange(4)


def category(
    first_sd: float, rng: np.random.Generator, shares: np.ndarray = SHARES
) -> tuple[RowScale, np.ndarray]:
    """Its columns as a first stage of this noise finds them, and their moments, x~ whitened about."""
    found = shares[1:] + first_sd * rng.normal(size=3)
    sds, zero = np.sqrt(shares[1:] * (1 - shares[1:])), np.zeros((3, 0))
    ends = np.array([-found / sds, (1 - found) / sds])
    scale = RowScale(
        center=found,
        scale=sds,
        y_center=0.0,
        y_scale=1.0,
        log=False,
        fraction=1.0,
        fraction_sd=0.0,
        binary=np.ones(3, dtype=bool),
        lower=np.append(ends[0], -9.0),
        upper=np.append(ends[1], 9.0),
        ratio=np.ones(3),
        error=np.full(3, 0.3),
        shares=zero,
        places=zero,
        alike=ALIKE,
        middle_error=first_sd / sds,
    )
    own = np.diag(np.append(1.0, shares[1:]))
    own[0] = own[:, 0] = np.append(1.0, shares[1:])
    way = of_levels(scale)
    return scale, way @ own @ way.T


def noise_like(rng: np.random.Generator, k: int, sd: float) -> np.ndarray:
    drawn = rng.normal(size=(k, k)) * sd
    return np.asarray((drawn + drawn.T) / np.sqrt(2) * np.where(np.eye(k) > 0, np.sqrt(0.5), 1 / np.sqrt(2)))


def test_the_information_of_levels_has_the_noise_that_it_is_said_to_have() -> None:
    """Of ten numbers four are free: a rare level is seen where noise of all ten would hide it."""
    rng = np.random.default_rng(1)
    scale, exact = category(0.0, rng)
    turn, whitening = np.linalg.qr(rng.normal(size=(5, 5)))[0], np.diag([1.0, 1.1, 0.9, 1.0])
    turn[4], turn[:, 4] = np.eye(5)[4], np.eye(5)[4]
    turn[:4, :4] = np.linalg.qr(turn[:4, :4])[0]
    whole = np.eye(5)
    whole[:4, :4] = whitening @ exact @ whitening
    found = []
    for _ in range(400):
        known = KnownMatrix(whole + noise_like(rng, 5, 0.1), turn, np.full((5, 5), 0.1))
        told = known.levelled(whitening, scale)
        found.append(np.diag(turn.T @ told.mean @ turn))
        assert told.mean[4] == pytest.approx(known.mean[4])
    assert np.mean(found, axis=0) == pytest.approx(np.diag(turn.T @ whole @ turn), abs=0.02)
    assert told.left is not None
    left = np.append(told.left.along(turn[:4, :4]), 1.0)
    assert np.std(found, axis=0) == pytest.approx(np.diag(told.sds) * np.sqrt(left), rel=0.15)
    assert left[:4].max() < 0.9


def test_shares_of_levels_are_told_by_the_first_stage_too() -> None:
    rng, structure, errors, moments = np.random.default_rng(2), Structure(ALIKE), [], []
    for _ in range(400):
        scale, exact = category(0.03, rng)
        noisy = np.eye(5)
        noisy[:4, :4] = exact + noise_like(rng, 4, 0.1)
        wanted = np.array([True, True, False])
        matrix, ratio = levelled(noisy, 0.1, scale, structure, wanted, 1.0)
        back = np.linalg.inv(of_levels(scale))
        own = back @ matrix[:4, :4] @ back.T
        assert own[ALIKE < 0] == pytest.approx(0, abs=1e-9)
        errors.append(np.append(own[0, 1:], scale.center) - np.tile(SHARES[1:], 2))
        moments.append(np.append(np.diag(matrix)[:4] - np.diag(exact), ratio))
    both, alone = np.sqrt(np.mean(np.square(errors), axis=0)).reshape(2, 3)
    assert (both[:2] < 0.9 * alone[:2]).all()
    off, told = np.split(np.array(moments), 2, axis=1)
    assert (off.std(axis=0) < 0.1 * told.mean(axis=0)).all() and told.max() <= 1


def test_what_the_first_stage_says_of_one_level_makes_none_of_another() -> None:
    """A level has nearly all failures and the reference hardly one, as the matrix alone has it.

    Where the count of the level moved and that of all failures did not, their difference was 6 sds off.
    """
    rng, structure, errors = np.random.default_rng(3), Structure(ALIKE), []
    for _ in range(200):
        scale, exact = category(0.03, rng, np.array([0.005, 0.98, 0.01, 0.005]))
        noisy = np.eye(5)
        noisy[:4, :4] = exact + noise_like(rng, 4, 0.1)
        back = np.linalg.inv(of_levels(scale))
        matrix, _ = levelled(noisy, 0.1, scale, structure, np.ones(3, dtype=bool), 1.0)
        told = (matrix[:4, :4], structure.nearest(noisy[:4, :4], of_levels(scale)))
        counts = [(back @ each @ back.T)[0] for each in told]
        errors.append([count[0] - count[1:].sum() - 0.005 for count in counts])
    led, alone = np.sqrt(np.mean(np.square(errors), axis=0))
    assert led < 1.02 * alone
