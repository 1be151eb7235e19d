"""What octaves of the distance from a mean, and where it lies, tell of columns."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget, Gdp
from dpstats.curator import Release
from dpstats.estimators.bends import ReleasedLine
from dpstats.estimators.newton import iterate
from dpstats.estimators.newton.located import Located, _cleaned, _response, _with_levels
from dpstats.estimators.newton.looks import OCTAVES
from dpstats.estimators.zoom import unzoomed
from dpstats.testing import SeededNoise, noise
from tests.luck import fewest

ROWS, REST, NO = 10_000, 6, np.array([False])


def octaves(farther: int, others: float = 1_000.0) -> Release:
    """Nine rows in ten of a column in one octave, and the others so many octaves farther out."""
    counts = np.zeros((2, OCTAVES))
    counts[0, REST], counts[0, REST - farther], counts[1, 0] = 9_000.0, others, 9_000.0 + others
    counts = counts[:, ::-1]
    return Release("reach_counts", (counts,), 10.0, 2.0, Gdp(1.0), ROWS, "replace", "gaussian", (counts,))


@pytest.mark.parametrize(("farther", "known"), [(1, False), (2, True), (4, True)])
def test_a_column_varies_where_rows_lie_two_octaves_farther_out(farther: int, known: bool) -> None:
    """In the next octave they prove nothing: a value near an edge falls in both."""
    assert _cleaned(octaves(farther), np.array([0.0, -1.0]), NO).known[0] == known


@pytest.mark.parametrize(("sds", "known"), [(4, False), (8, True)])
def test_a_column_varies_where_noise_does_not_make_the_others(sds: int, known: bool) -> None:
    """A square in loose bounds had a scale by noise of 3.3 sds, and a short interval about 0."""
    found = _cleaned(octaves(4, 10.0 * sds), np.array([0.0, -1.0]), NO)
    assert found.known[0] == known


def test_a_column_varies_that_was_seen_at_two_places() -> None:
    """Though it is as far from its mean at both, as a count of mean .5 is at 0 and 1."""
    assert _cleaned(octaves(1), np.array([0.0, -1.0]), ~NO).known[0]


def test_a_count_of_a_half_has_a_coefficient() -> None:
    rng = np.random.default_rng(4)
    x = rng.poisson(0.5, size=20_000)
    y = (rng.uniform(size=20_000) < 1 / (1 + np.exp(1 - 0.8 * x))).astype(float)
    schema = dps.Schema(x=dps.bounded(0, 100), y=dps.flag())
    for seed in range(4):
        with noise(SeededNoise(seed)):
            fit = dps.logit("y ~ x", {"x": x, "y": y}, schema).fit(dps.approx(1, 1e-6))
        low, high = fit.conf_int().loc["x"]
        assert not fit.flags and high - low < 0.5


@pytest.mark.parametrize(("cells", "varies"), [((5,), False), ((5, 6), False), ((5, 7), True), ((), False)])
def test_cells_that_are_neighbours_prove_nothing(cells: tuple[int, ...], varies: bool) -> None:
    """A value by the edge of one falls in two, or next to any value does."""
    seen = replace(unzoomed(1), shares=np.isin(np.arange(32), cells)[None] / 2)
    assert seen.varies[0] == varies


def test_what_varies_has_the_squares_of_its_octaves_and_no_hidden_rows() -> None:
    spread = _cleaned(octaves(4), np.array([0.0, -1.0]), NO)
    edges = 2.0 * 2.0 ** -np.array([REST, REST - 4])
    assert spread.mean_square[0] == pytest.approx([0.9, 0.1] @ edges**2 * 7 / 12)


@pytest.mark.parametrize(
    ("seen", "noise", "least", "most"), [(0.0, 0.01, 0.006, 0.01), (0.03, 0.01, 0.03, 0.035)]
)
def test_the_mean_of_a_rare_yes_is_what_noise_makes_of_it(
    seen: float, noise: float, least: float, most: float
) -> None:
    """Octaves do not show it, and by these its log odds were 3 below where noise may have hidden it."""
    shares, squares = (
        np.eye(OCTAVES)[-1],
        4.0 ** (1 - np.arange(OCTAVES)) * 7 / 12,
    )
    assert least <= _response(shares, squares, seen, noise)[0] <= most
    assert _response(shares, squares, seen, 1e-9)[0] == pytest.approx(seen, abs=1e-8)


@pytest.mark.parametrize("several", [0, 2, 5])
def test_a_column_may_be_constant_where_noise_hides_the_others_one_by_one(several: int) -> None:
    """Amounts that are 0 in 97 rows of 100: how far these lie is not known."""
    release = octaves(1, 0.0)
    release.values[0][:, ::-1][0, :several] = 25.0  # 2.5 sds each
    release.values[0][1, -1] += 25.0 * several
    assert not _cleaned(release, np.array([0.0, -1.0]), NO).known[0]


@pytest.mark.parametrize(("sds", "known"), [(3.05, False), (4.0, True)])
def test_a_spread_of_which_noise_may_make_most_is_not_known(sds: float, known: bool) -> None:
    """One octave by noise of 3.05 sds made it 10 times as large, and an interval about 0 as short."""
    release = octaves(1)
    release.values[0][0, -1] = 10.0 * sds
    assert _cleaned(release, np.array([0.0, -1.0]), ~NO).known[0] == known


def test_levels_are_spread_as_their_shares_have_it() -> None:
    """A rare one has no fewer rows than noise may hide."""
    coded, shares = np.array([True, False, True]), np.array([0.3, np.nan, -0.01])
    away = (np.array([1.0, 0.0]) - np.array([[0.3], [0.0], [0.0]])) / 0.5
    seen = _cleaned(octaves(4), np.array([0.0, -1.0]), NO)
    spread = _with_levels(seen, coded, shares, away, 0.01)
    assert spread.mean_square[[0, 2]] * 0.25 == pytest.approx([0.3 * 0.7, 0.015])
    assert spread.known.all() and spread.visible.tolist() == [True, True, False, False]
    assert (spread.shares[[1, 3]] == seen.shares).all()


def test_amounts_in_few_rows_are_seen_about_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in 17 has one, in loose bounds: four fits in five see them; about a noisy mean one in four."""
    rng, found, locate = np.random.default_rng(5), [], iterate.locate
    errors = []
    x = np.where(rng.uniform(size=10_000) < 0.06, rng.lognormal(-1.4, 1.0, 10_000), 0.0)
    columns = {"x": x, "y": (rng.uniform(size=10_000) < 0.2).astype(float)}
    schema = dps.Schema(x=dps.bounded(-45, 8), y=dps.flag())

    def seen(*args: object) -> Located:
        found.append(locate(*args))
        return found[-1]

    monkeypatch.setattr(iterate, "locate", seen)
    for seed in range(30):
        with noise(SeededNoise(seed)):
            errors.append(dps.logit("y ~ x", columns, schema).fit(dps.approx(1.6, 1e-6)).bse["x"])
    assert sum(each.center[1] == 0 for each in found) >= fewest(30, 0.8)
    assert np.sum(np.array(errors) < 1) >= fewest(30, 0.8)
    assert 0.2 < np.median([each.scale[1] * np.sqrt(each.squares[1]) / x.std() for each in found]) < 1.0


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)])
def test_amounts_that_are_mostly_0_have_a_coefficient(budget: Budget) -> None:
    """In bounds that are a hundred times as wide as they are."""
    rng = np.random.default_rng(3)
    x = rng.exponential(1.0, 40_000) * (rng.uniform(size=40_000) < 0.15)
    y = (rng.uniform(size=40_000) < 1 / (1 + np.exp(1 - 0.8 * x))).astype(float)
    schema = dps.Schema(x=dps.bounded(0, 500), y=dps.flag())
    with noise(SeededNoise(1)):
        fit = dps.logit("y ~ x", {"x": x, "y": y}, schema).fit(budget)
    assert not [code for code, _ in fit.flags if code == "not_estimable"]
    low, high = fit.conf_int().loc["x"]
    assert low < 0.8 < high


@pytest.mark.parametrize(("least", "most", "skewed"), [(0, 1_000, (1,)), (0, 6, ()), (-1_000, 1_000, ())])
def test_a_column_that_begins_near_its_mean_is_taken_to_be_spread_wider(
    least: float, most: float, skewed: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exponential one does, unless the other end is near, too, or both are far; a flag never."""
    rng, found = np.random.default_rng(2), []
    columns = {"x": rng.exponential(1.0, 20_000), "f": rng.integers(2, size=20_000)}
    columns["y"] = rng.poisson(np.exp(0.2 * columns["x"].clip(0, 5)))
    schema = dps.Schema(x=dps.bounded(least, most), f=dps.flag(), y=dps.count(50))
    locate = iterate.locate

    def seen(*args: object) -> Located:
        found.append(locate(*args))
        return found[-1]

    monkeypatch.setattr(iterate, "locate", seen)
    with noise(SeededNoise(1)):
        dps.glm("y ~ x + f", columns, schema, family="poisson").fit(dps.approx(1, 1e-6))
    assert found[0].skewed == skewed
    raised = found[0].least >= 2 * found[0].squares * (1 - 1e-9)
    assert tuple(np.flatnonzero(raised)) == skewed
    assert found[0].least[2] == pytest.approx(found[0].squares[2])  # of the flag, by its share


@pytest.mark.parametrize(("slopes", "leans"), [((0.3, 0.2), True), ((0.2, 0.3), False)])
def test_a_predictor_leans_that_rests_on_skewed_columns(slopes: tuple[float, float], leans: bool) -> None:
    one, beta = np.eye(3), np.array([1.0, *slopes])
    line = ReleasedLine(np.zeros(3), np.ones(3), beta, one, one, one, None, 1.0, 0.1, np.ones(3), skewed=(1,))
    assert line.leans == leans
