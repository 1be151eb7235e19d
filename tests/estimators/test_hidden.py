"""Effects along directions that noise hides, by those that columns have along the others."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

import dpstats as dps
from dpstats.estimators.engine.information import Information
from dpstats.estimators.newton.hidden import hidden
from dpstats.estimators.newton.level_coefficients import moved_alone
from dpstats.estimators.newton.located import Located, usual_effects
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL
from dpstats.results.record import Record
from dpstats.testing import SeededNoise, noise

PRIOR = 4.0


def known(k: int, center: np.ndarray | None = None, categories: tuple[np.ndarray, ...] = ()) -> tuple:
    one = np.ones(k)
    center = 0 * one if center is None else center
    scale = np.where(center > 0, np.sqrt(center * (1 - center)), 1.0)
    prior = PRIOR * one
    for own in categories:
        prior[own] = usual_effects(scale[own]) ** 2
    located = Located(center, scale, 0 * one, -one, one, one, (), 0.5, 0.5, 0.0, 1e-3, prior, one < 0)
    return Problem(BINOMIAL, -one[1:], one[1:], (0.0, 1.0), categories=categories), located


def priced(direction: np.ndarray, effects: np.ndarray, *about: object, most: float = 1.0) -> float:
    """Variance along a direction that is not seen, of which a fit has no effect.

    A change of 1 along it makes a linear predictor of this sd at most, as along all others.
    """
    unit = direction / np.linalg.norm(direction)
    values, vectors = np.linalg.eigh(np.eye(len(unit)) - np.outer(unit, unit))
    seen = np.round(values)
    information = Information(values, vectors, np.maximum(values, 0.1), 0.01 + 0 * seen, seen, 1 + 0 * seen)
    own, larger = hidden(information, np.eye(len(unit)), effects, np.where(seen > 0, 1.0, most), *about)
    return float(unit @ (own + larger) @ unit)


@pytest.mark.parametrize("k", [10, 40])
def test_an_effect_along_a_direction_of_many_columns_is_of_their_size(k: int) -> None:
    rng, about, sd = np.random.default_rng([k, 5]), known(k), 0.2
    missed = []
    for _ in range(400):
        direction, effects = rng.normal(size=k), rng.normal(0, sd, k)
        direction /= np.linalg.norm(direction)
        missed.append((direction @ effects) / np.sqrt(priced(direction, effects, *about)))
    assert np.mean(np.abs(missed) < 1.96) > 0.91
    assert np.sqrt(np.median(np.square(missed))) > 0.45  # of a normal law .67: it is not far too long


def test_of_two_columns_that_repeat_each_other_nothing_is_taken_for_known() -> None:
    effects = np.array([0.1, 1.5, -1.5, 0.2, -0.1])
    difference = np.array([0.0, 1.0, -1.0, 0.0, 0.0])
    assert priced(difference, effects, *known(5)) == pytest.approx(PRIOR)


def test_of_one_column_nothing_is_taken_for_known() -> None:
    for most in (0.1, 1.0):
        assert priced(np.eye(5)[3], 0.1 * np.ones(5), *known(5), most=most) == pytest.approx(PRIOR)


@pytest.mark.parametrize("coded", [(), (1,), (1, 2)])
def test_columns_that_cancel_each_other_have_effects_as_large_as_the_information_allows(
    coded: tuple[int, ...],
) -> None:
    """A number may cancel a level, as a dose that only the treated have does; those of levels have a size."""
    problem, located = known(5)
    problem = replace(problem, coded=np.isin(np.arange(1, 5), coded))
    found = priced(np.array([0.0, 1.0, -1.0, 0.0, 0.0]), np.zeros(5), problem, located, most=0.1)
    assert found == pytest.approx(PRIOR + 100 * (len(coded) < 2))


TREATED = np.array(
    [[1.0, 0.1, 10.0, 0.0], [0.1, 0.1, 10.0, 0.0], [10.0, 10.0, 1e3, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


def test_a_level_has_rows_with_what_goes_along_with_it() -> None:
    one = np.ones(3)
    flag = Problem(BINOMIAL, 0 * one, 100 * one, (0.0, 1.0), coded=np.array([True, False, False]))
    ((row, alone),) = moved_alone(flag, TREATED)
    assert (row == [0.0, 1.0, 100.0, 0.0]).all() and (alone == np.eye(4)[1]).all()
    (reference, _), (level, _) = moved_alone(replace(flag, categories=(np.array([1]),)), TREATED)
    assert (level == [1.0, 1.0, 100.0, 0.0]).all() and (reference == [1.0, 0.0, 0.0, 0.0]).all()


@pytest.mark.parametrize("level", [1, 2])
def test_noise_of_the_share_of_a_level_takes_its_rows_no_farther_than_their_own_square_allows(
    level: int,
) -> None:
    """Of 82 of 5,180 rows a flag had a mean of 290, and another one -144: the level was told as -415 (22)."""
    share, one = 0.02, np.ones(3)
    moments = np.diag([1.0, share, share, 1.0])
    moments[0, 1:3] = moments[1:3, 0] = share
    moments[level, 3] = moments[3, level] = 0.1 * share
    problem = Problem(BINOMIAL, -one, one, (0.0, 1.0), categories=(np.array([1, 2]),))
    exact = [row for row, _ in moved_alone(problem, moments)]
    assert exact[level][3] == pytest.approx(0.1)
    moments[0, level] = moments[level, 0] = 1e-4 * share
    noisy = [row for row, _ in moved_alone(problem, moments)]
    assert noisy[level][0] == 1 and noisy[level][3] == pytest.approx(0.1)


def treated(kind: str, seed: int) -> tuple[Record, np.ndarray, np.ndarray]:
    """What a fit says, and errors and half-lengths of all coefficients and of the effect of the mean dose."""
    rng, n = np.random.default_rng([seed, 31]), 10_000
    g, z = 1 * (rng.random(n) < 0.15), rng.normal(size=n).clip(-5, 5)
    x = 100 * g * (1 + 0.02 * rng.normal(size=n))
    line = 0.2 - 19.5 * g + 0.2 * x + 0.3 * z
    y = {"poisson": rng.poisson, "gamma": lambda m: m * rng.gamma(2, 0.5, n) + 1e-6}
    response = (
        dps.count(60) if kind == "poisson" else dps.bounded(1e-6, 60) if kind == "gamma" else dps.flag()
    )
    yes = 1 * (rng.random(n) < special.expit(line))
    data = dict(g=g, x=x, z=z, y=y[kind](np.exp(line)) if kind in y else yes)
    schema = dps.Schema(g=dps.flag(), x=dps.bounded(0, 300), z=dps.bounded(-6, 6), y=response)
    with noise(SeededNoise(seed)):
        model = dps.glm("y ~ g + x + z", data, schema, kind if kind in y else "binomial")
        fit = model.fit(dps.pure(6) if kind == "pure" else dps.gdp(1))
    ways = np.vstack([np.eye(4), [0, 1, 100, 0]])
    half = 1.96 * np.sqrt(np.sum(ways @ fit.cov_params().to_numpy() * ways, axis=1))
    return fit.record, np.abs(ways @ (fit.params - [0.2, -19.5, 0.2, 0.3])), half


@pytest.mark.parametrize("kind", ["binomial", "poisson", "gamma", "pure"])
def test_a_dose_that_only_the_treated_have_is_not_told_from_the_treatment(kind: str) -> None:
    """Both were confidently wrong, by up to 8 half-lengths, and what the mean dose does known to 15 only."""
    for seed in range(3):
        record, errors, half = treated(kind, seed)
        cautions, notes = ([code for code, _ in each] for each in (record.flags, record.notes))
        assert (cautions, notes) == (([], ["weak"]) if kind == "binomial" else (["weak"], []))
        assert np.all(errors < 2 * half)
        assert half[-1] < 3.0


def test_a_large_effect_is_priced_in_every_column_of_its_direction() -> None:
    k = 20
    large = np.where(np.arange(k) == 7, 1.8, 0.05)
    usual = priced(np.ones(k), 0.05 * np.ones(k), *known(k))
    assert priced(np.ones(k), large, *known(k)) > 1.5**2 / k > 20 * usual


def test_the_effect_of_a_reference_level_is_one_effect() -> None:
    """Its direction is that of all contrasts and of the intercept, whose other effects say nothing of it."""
    levels = 12
    center = np.append(0.0, np.full(levels - 1, 1 / levels))
    about = known(levels, center, (np.arange(1, levels),))
    reference = np.append(1.0, np.full(levels - 1, -1.0)) * np.append(1.0, about[1].scale[1:])
    reference[0] -= (levels - 1) / levels  # standardised columns are centred
    found = np.append(0.0, 0.1 * np.where(np.arange(levels - 1) % 2, 1, -1))
    none, contrast = priced(reference, found, *about), np.where(np.arange(levels) % 2, 1.0, -1.0)
    contrast[0] = 0.0
    assert none > 1.0 > 10 * priced(contrast + 0.5 * np.arange(levels) % 3, found, *about)


def test_the_effect_of_a_rare_level_is_no_larger_for_its_rarity() -> None:
    """An sd of 4.5 on log odds, where that of whitened units is 30 for a level of one row in a thousand."""
    share, axis = 1e-3, np.array([0.0, 1.0, 0.0])
    problem, located = known(3, np.array([0.0, share, 0.3]), (np.array([1, 2]),))
    problem = replace(problem, coded=np.ones(2, dtype=bool))
    found = priced(axis, np.zeros(3), problem, located) / located.scale[1] ** 2
    assert found == pytest.approx(4.5**2, rel=0.05)


def test_what_a_point_lacks_along_one_direction_is_an_error_of_others() -> None:
    rng, values, sds = np.random.default_rng(3), np.array([0.0, 1.0, 2.0]), np.full(3, 0.05)
    seen = np.array([0.0, 1.0, 1.0])
    information = Information(values, np.eye(3), np.maximum(values, 0.1), sds, seen, np.ones(3))
    lacks = rng.normal(0, 1.5, 4000)
    errors = rng.normal(0, 0.05 / np.sqrt(2), (4000, 2)) * lacks[:, None] / values[1:]
    found = information.error_beside(np.diag([1.5**2, 0.0, 0.0]))
    assert np.var(errors, axis=0) == pytest.approx(np.diag(found)[1:], rel=0.1)
    assert found[0, 0] == pytest.approx(0.0)
