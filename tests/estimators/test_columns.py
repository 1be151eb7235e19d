"""The first stage finds centre, scale and kind of columns wherever they lie in their declared bounds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.plan import first_stage
from dpstats.estimators.row_scale import Box, RowScale
from dpstats.estimators.zoom import by_chance
from dpstats.testing import NoNoise, SeededNoise
from tests.made import MadeDesign, MadeRows, under

ROWS = 4000
FIRST = "cells", "means", "octaves", "moments"
GENERATOR = np.random.default_rng(1)
KINDS = {
    "normal": GENERATOR.normal(size=ROWS),
    "lognormal": np.exp(0.7 * GENERATOR.normal(size=ROWS)),
    "counts": GENERATOR.poisson(2.0, ROWS).astype(float),
    "uniform": GENERATOR.uniform(-1, 1, ROWS),
    "often 0": np.where(GENERATOR.uniform(size=ROWS) < 0.7, 0.0, GENERATOR.uniform(1, 2, ROWS)),
}
YES = (GENERATOR.uniform(size=ROWS) < 0.1).astype(float)
Y = GENERATOR.uniform(20, 30, ROWS)


def found(
    x: np.ndarray, box: Box, mu: float, source: Any, constant: bool = True, y: np.ndarray = Y
) -> RowScale:
    """Columns as they are found; no bound of the design is nearer than the box."""
    rows = MadeRows({"x": x, "time": y[: len(x)], "event": np.ones(len(x))})
    design = MadeDesign(x.shape[1], bound=np.inf)
    curator = under(source, rows, design, dps.gdp(10 * mu))
    return find_columns(curator, first_stage(mu, False), box, False, constant)


def boxed(lower: float, upper: float, d: int = 1, **more: Any) -> Box:
    return Box(np.append(np.full(d, lower), 1.0), np.append(np.full(d, upper), 100.0), **more)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(width=st.floats(1, 1e3), place=st.floats(0, 1))
def test_wherever_the_bounds_lie_the_scale_is_that_of_the_rows(kind: str, width: float, place: float) -> None:
    """Up to the clipping of tails that no cell shows."""
    x = KINDS[kind]
    low, high = x.min() - place * width * np.ptp(x), x.max() + (1 - place) * width * np.ptp(x)
    scale = found(x[:, None], boxed(low, high), 2.0, NoNoise())
    assert scale.scale[0] == pytest.approx(x.std(), rel=0.1)
    assert scale.center[0] == pytest.approx(x.mean(), abs=0.05 * x.std())
    assert (scale.y_center, scale.y_scale) == pytest.approx((Y.mean(), Y.std()), rel=0.03)
    assert not scale.binary.any()


def test_a_column_near_an_end_that_noise_hides_is_known_no_better() -> None:
    """Its variance is a square less the square of a noisy mean, which counts more far off."""
    known = []
    for middle in (0.5, 0.9):
        scale = found(0.001 * KINDS["normal"][:, None] + middle, boxed(-1.0, 1.0), 0.006, NoNoise())
        known.append(scale.error[0] * scale.scale[0] ** 2)
    assert known[1] > 0.95 * known[0]


@pytest.mark.parametrize("loose", [1, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_loose_bounds_cost_a_logarithm(kind: str, loose: float) -> None:
    """mu = 0.15 and 4,000 rows; each mean within 0.6 standard deviations, each scale within a factor of 2."""
    x = KINDS[kind]
    box, scales = boxed(x.min() - 0.3 * loose * np.ptp(x), x.max() + 0.7 * loose * np.ptp(x)), []
    for seed in range(20):
        scale = found(x[:, None], box, 0.15, SeededNoise(seed))
        scales.append([scale.scale[0] / x.std(), 1 + abs(scale.center[0] - x.mean()) / x.std()])
    assert np.max(scales) < 1.6 and np.min(scales) > 0.5


def test_only_columns_that_fill_little_of_their_box_are_looked_at_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what is not spent on octaves goes to moments; the response goes along."""
    asked: list[tuple[str, float, dict[str, Any]]] = []
    release = Curator.release

    def kept(self: Curator, name: str, cost: float, **public: Any) -> Any:
        asked.append((name, cost, public))
        return release(self, name, cost, **public)

    monkeypatch.setattr(Curator, "release", kept)
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (ROWS, 2)) * [1.0, 0.01]
    box = Box(np.array([-1.0, -1.0, 20.0]), np.array([1.0, 1.0, 30.0]))
    scale = found(x, box, 0.4, SeededNoise(1))
    assert [name for name, _, _ in asked] == ["reach_counts", "reach_means", "reach_counts", "event_moments"]
    assert asked[2][2]["chosen"].tolist() == [False, True]
    assert scale.scale == pytest.approx(x.std(axis=0), rel=0.1)
    together = asked[-1][1]
    asked.clear()
    scale = found(x[:, :1], boxed(-1.0, 1.0), 0.4, SeededNoise(1))
    assert len(asked) == 4  # the response lies in a tenth of [1, 100]
    asked.clear()
    wide = Box(np.array([-1.0, 20.0]), np.array([1.0, 30.0]))
    scale = found(x[:, :1], wide, 0.4, SeededNoise(1))
    assert [name for name, _, _ in asked] == ["reach_counts", "event_moments"]
    assert asked[-1][1] == pytest.approx(0.4 * 0.88**0.5) and together == pytest.approx(0.4 * 0.5**0.5)
    assert scale.scale[0] == pytest.approx(x[:, 0].std(), rel=0.1)


@pytest.mark.parametrize("mu", [0.2, 0.4])
def test_rows_in_less_than_the_noise_of_their_mean_are_told_from_codes(mu: float) -> None:
    """They seem alike where octaves begin, and are looked at again from near by; else 9999 is their scale."""
    rng = np.random.default_rng(8)
    x = np.where(rng.uniform(size=ROWS) < 0.12, 9999.0, rng.uniform(0, 3, ROWS))
    for seed in range(10):
        assert found(x[:, None], boxed(0.0, 9999.0), mu, SeededNoise(seed)).scale[0] < 5


def test_a_column_of_two_values_is_known_by_its_declaration_or_by_both_its_ends() -> None:
    """And is not stretched until a row of a rare 1 is longer than the longest row."""
    rare, even = YES, (GENERATOR.uniform(size=ROWS) < 0.5).astype(float)
    x = np.column_stack([rare, rare, even])
    box = boxed(0.0, 1.0, 3, binary=np.array([True, False, False]))
    for seed in range(5):
        scale = found(x, box, 0.3, SeededNoise(seed))
        assert scale.binary[[0, 2]].all()
        assert scale.scale[0] == pytest.approx(rare.std(), rel=0.2)
        assert scale.scale[2] == pytest.approx(0.5, rel=0.05)


def test_skewed_columns_are_not_taken_for_rare_values() -> None:
    """A log-normal one near 0 in [0, 60], whose mean square about the middle is nearly that of the ends."""
    x = KINDS["lognormal"][:, None]
    for seed in range(10):
        scale = found(x, boxed(0.0, 60.0), 0.3, SeededNoise(seed))
        assert not scale.binary.any()
        assert scale.scale[0] == pytest.approx(x.std(), rel=0.35)


def test_rare_amounts_are_not_taken_for_one_of_two_values() -> None:
    """Amounts in a tenth of the rows, in a box two thousand times as wide."""
    rng = np.random.default_rng(2)
    x = np.where(rng.uniform(size=ROWS) < 0.1, rng.exponential(5.0, ROWS), 0.0)[:, None]
    for seed in range(10):
        scale = found(x, boxed(0.0, 2e4), 0.5, SeededNoise(seed))
        assert not scale.binary.any()
        assert 0.4 < scale.scale[0] / x.std() < 2.5
    for seed in range(40):  # in a tenth of the box, at little budget, of six such columns one was
        assert not found(x, boxed(0.0, 2e3), 0.15, SeededNoise(seed)).binary.any()


@pytest.mark.parametrize("high", [1.0, 100.0])
def test_a_skewed_column_near_an_end_has_its_mean_there_and_is_not_of_two_values(high: float) -> None:
    """Squares of shares that are mostly next to 0, with a largest one 20 sds away."""
    x = np.random.default_rng(4).beta(0.6, 6.0, ROWS)[:, None] ** 2
    scale = found(x, boxed(0.0, high), 20.0, SeededNoise(1))
    assert not scale.binary.any()
    assert scale.center[0] == pytest.approx(x.mean(), abs=0.1 * x.std())
    assert scale.scale[0] == pytest.approx(x.std(), rel=0.1)


def test_amounts_that_many_octaves_hide_are_found_by_those_side_by_side() -> None:
    """Of amounts in a tenth of the rows, in a wide box, noise hides every octave, but not all of them."""
    rng = np.random.default_rng(2)
    x = np.where(rng.uniform(size=ROWS) < 0.1, rng.exponential(5.0, ROWS), 0.0)[:, None]
    scales = [found(x, boxed(0.0, 2e3), 0.1, SeededNoise(seed)) for seed in range(24)]
    seen = [each.scale[0] / x.std() for each in scales if not each.unknown[0]]
    assert len(seen) >= 6
    assert all(0.25 < each < 4 for each in seen)


@pytest.mark.parametrize("sum_", [0.5, 3.0, 8.0])
def test_chances_of_sums_of_noise_are_exact(sum_: float) -> None:
    """Of one Laplace variate of sd 1, and of two, whose density is a polynomial times an exponential."""
    x = np.sqrt(2) * sum_
    assert by_chance("laplace", np.array([sum_]), 1) == pytest.approx(np.exp(-x) / 2)
    assert by_chance("laplace", np.full(2, sum_ / 2), 2) == pytest.approx(np.exp(-x) * (2 + x) / 4)
    assert by_chance("gaussian", np.full(4, sum_ / 4), 4) == pytest.approx(stats.norm.sf(sum_ / 2))


@pytest.mark.parametrize("seed", range(5))
def test_what_hides_behind_one_value_is_unknown(seed: int) -> None:
    """Of amounts that are too rare to be seen: rows elsewhere may be far, and the rest hardly vary."""
    x = np.where(np.arange(ROWS) < ROWS // 400, 1.0, 0.0)[:, None]
    assert found(x, boxed(0.0, 1e5), 0.1, SeededNoise(seed)).unknown.all()


def test_a_column_that_seems_constant_may_have_rare_values_at_its_far_end() -> None:
    """Noise hides a share of the rows; one of them is then no farther than a few units away."""
    rare = (np.arange(ROWS) < ROWS // 200).astype(float)[:, None]
    for seed in range(10):
        scale = found(rare, boxed(0.0, 1.0), 0.05, SeededNoise(seed))
        assert (1 - scale.center[0]) / scale.scale[0] < 15


@pytest.mark.parametrize("share", [0.2, 0.05])
def test_where_rows_lie_that_do_not_hold_the_value_of_most_is_told_by_cells(share: float) -> None:
    """In sds of the column from its mean, up to the width of an octave; 0 if no value is that of most."""
    rng = np.random.default_rng(5)
    few, x = rng.uniform(size=ROWS) < share, rng.uniform(2, 3, ROWS)
    columns = np.column_stack([np.where(few, x, 0.0), rng.normal(size=ROWS)])
    away = found(columns, boxed(-60.0, 60.0, 2), 2.0, NoNoise()).away
    far = np.sqrt(np.mean((x[few] - columns[:, 0].mean()) ** 2)) / columns[:, 0].std()
    assert away[0] == pytest.approx(far, rel=0.25) and away[1] == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_response_at_an_end_of_its_box_has_its_mean_there(seed: int) -> None:
    """Beside a column that is looked at once more: octaves beyond the end have no width."""
    rng = np.random.default_rng(3)
    x = np.where(rng.uniform(size=ROWS) < 0.05, rng.uniform(2, 3, ROWS), 0.0)[:, None]
    y = np.where(rng.uniform(size=ROWS) < 0.05, rng.uniform(1, 100, ROWS), 100.0)
    scale = found(x, boxed(-60.0, 60.0), 2.0, SeededNoise(seed), y=y)
    assert scale.y_center == pytest.approx(y.mean(), abs=0.2 * y.std())


def test_a_number_in_two_octaves_by_an_edge_is_not_one_value_and_others_far_away() -> None:
    """One of the two holds more than half by chance, and the number spreads over both as usual."""
    assert found(KINDS["normal"][:, None], boxed(-2e4, 2e4), 2.0, NoNoise()).away == 0


def test_unseen_columns_lend_each_other_what_they_share() -> None:
    """Twelve of sd 0.2 in [-1, 1], so much noise that none stands out; bounds three sds wide are expected."""
    x, errors = np.clip(0.1 + 0.2 * GENERATOR.normal(size=(ROWS, 12)), -1, 1), []
    for seed in range(10):
        scale = found(x, boxed(-1.0, 1.0, 12), 0.02, SeededNoise(seed))
        errors.append(np.log(scale.scale / 0.2))
        assert (scale.error > 0.05).all()
    assert np.sqrt(np.mean(np.square(errors))) < 0.6


def test_without_an_intercept_nothing_is_centred() -> None:
    x = 5 + KINDS["normal"][:, None]
    scale = found(x, boxed(0.0, 500.0), 2.0, NoNoise(), constant=False)
    assert scale.center[0] == 0 and scale.scale[0] == pytest.approx(np.sqrt(26), rel=0.03)


def test_noise_alone_gives_a_scale_within_the_box() -> None:
    for seed in range(30):
        x = np.full((5, 12), 1.0)
        scale = found(x, boxed(-1.0, 1.0, 12), 1e-4, SeededNoise(seed))
        assert (np.abs(scale.center) <= 1).all() and ((scale.scale > 0) & (scale.scale <= 3)).all()
        assert np.isfinite([scale.y_center, scale.y_scale, scale.fraction, scale.fraction_sd]).all()


@given(st.floats(1e-6, 1e6))
def test_costs_add_up(cost: float) -> None:
    assert first_stage(cost, True).cost(*FIRST) == pytest.approx(cost, rel=1e-12)
    assert first_stage(cost, False).cost(*FIRST) == pytest.approx(cost, rel=1e-12)
