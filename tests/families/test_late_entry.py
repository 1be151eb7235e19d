"""Scores of rows that enter late: compensators since the entry, and means of 0, for every family."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.curator.geometry import NEVER
from dpstats.families import SEV, Family
from dpstats.families.martingale import integrands, taper
from tests.families.test_martingale import EVERY, FAMILIES, quadrature

pytestmark = pytest.mark.long


@settings(max_examples=40, deadline=None)
@given(
    EVERY,
    st.floats(1.34, 64),
    st.floats(-60, -1.2),
    st.floats(0, 40),
    st.floats(-5, 5),
    st.floats(-15, 6),
    st.floats(0, 12),
)
def test_compensators_since_the_entry(
    kind: tuple[Family, float], c: float, low: float, high: float, pivot: float, above: float, watched: float
) -> None:
    """Those from the start less those at the entry: an integral over what was watched."""
    family, cut = kind[0], taper(kind[0], c, kind[1])
    z, entry, m = np.array([above]), np.array([above - watched]), np.array([pivot])
    pieces = integrands(cut, z, m, low, high, entry)
    before = integrands(cut, entry, m, low, high)
    whole = integrands(cut, z, m, low, high)
    until, unwatched = (quadrature(cut, family, lambda u: cut.at(u).slope, end) for end in (above, entry[0]))
    location = until - unwatched
    assert pieces.location_compensator[0] == pytest.approx(location, rel=1e-8, abs=1e-9)
    since = whole.log_sigma_compensator - before.log_sigma_compensator
    assert pieces.log_sigma_compensator == pytest.approx(since, rel=1e-12, abs=1e-12)
    assert (pieces.taper, pieces.location, pieces.log_sigma) == (whole.taper, whole.location, whole.log_sigma)


@FAMILIES
def test_a_row_that_enters_after_its_cut_says_nothing_and_one_without_delay_all(
    family: Family, floor: float
) -> None:
    cut, z, pivot = taper(family, 2.0, floor), np.array([3.0, 3.0, 0.5]), np.zeros(3)
    late = integrands(cut, z, pivot, -4.0, 1.0, np.array([cut.stop, 2.9, NEVER]))
    whole = integrands(cut, z, pivot, -4.0, 1.0)
    for name in ("location_compensator", "log_sigma_compensator"):
        values = getattr(late, name)
        assert (np.abs(values[:2]) < 1e-12).all() and values[2] == getattr(whole, name)[2]
    assert (late.taper[:2] < 1e-12).all()


def test_scores_of_the_specification() -> None:
    """The closed form of the bound, where nothing tapers: SEV, pivot 0, rho at least -3.

    There a row is cut at e^z = 2 at once; here c is far above, so only rows below that cut are compared.
    """
    rows = [
        (-1, 0.5, 1, 0.280842, -0.307760),
        (-1, 0.5, 0, 1.280842, 1.192240),
        (-0.5, 0.2, 1, -0.385128, -0.652454),
    ]
    entry, z, event, psi, chi = np.array(rows).T
    pieces = integrands(taper(SEV, 64.0), z, np.zeros(3), -3.0, 10.0, entry)
    found = pieces.location_compensator - event * pieces.taper * pieces.location
    assert found == pytest.approx(psi, abs=1e-6)
    found = pieces.log_sigma_compensator - event * pieces.taper * pieces.log_sigma
    assert found == pytest.approx(chi, abs=1e-6)


@FAMILIES
@pytest.mark.parametrize("censored", [0.0, 0.5, 0.8])
@pytest.mark.parametrize(("c", "pivot", "limits"), [(1.34, 1.0, (-2.0, 0.5)), (5.0, -0.5, (-6.0, 3.0))])
def test_late_entries_leave_scores_with_mean_zero(
    family: Family, floor: float, censored: float, c: float, pivot: float, limits: tuple[float, float]
) -> None:
    """Of 200,000 rows that lived until their entry, which three in ten have at once, 28 to 45 % of all did
    not; entry and censoring go together. And without the entries the scores are far from 0.

    Eighteen cases with 2 + 4 means each, as above.
    """
    generator = np.random.default_rng(int(1000 * censored + 10 * c))
    life = family.quantile(generator.uniform(size=500_000))
    common = generator.normal(0, 0.5, life.size)
    entry = -0.3 + common + generator.normal(0, 0.7, life.size)
    entry[generator.uniform(size=life.size) < 0.3] = NEVER
    limits_of_rows = (np.inf if censored == 0 else family.quantile(1 - censored) + 0.6) + common
    seen = np.flatnonzero(np.minimum(life, limits_of_rows) > entry)[:200_000]
    assert len(seen) == 200_000
    life, limits_of_rows, entry = life[seen], limits_of_rows[seen], entry[seen]
    z, event = np.minimum(life, limits_of_rows), life <= limits_of_rows
    cut, m = taper(family, c, floor), np.full(len(z), pivot)

    def scores(since: np.ndarray | None, location: float = 0.0, log_sigma: float = 0.0) -> np.ndarray:
        stretch = np.exp(log_sigma)
        began = None if since is None else (since - location) / stretch
        pieces = integrands(cut, (z - location) / stretch, m, *limits, began)
        held = event * pieces.taper
        return np.stack(
            [
                pieces.location_compensator - held * pieces.location,
                pieces.log_sigma_compensator - held * pieces.log_sigma,
            ]
        )

    def far(rows: np.ndarray) -> float:
        return abs(rows.mean()) / (rows.std() / np.sqrt(len(z)))

    assert max(far(score) for score in scores(entry)) < 4.5
    assert far(scores(None)[0]) > 30
    here, step = integrands(cut, z, m, *limits), 1e-3
    bounded = np.stack([here.location, here.log_sigma])
    whole = np.stack([family.log_hazard_slope(z), 1 + z * family.log_hazard_slope(z)])
    expected = (event * here.taper) * bounded[:, None] * whole
    for j, direction in enumerate(np.eye(2)):
        change = (scores(entry, *(-step * direction)) - scores(entry, *(step * direction))) / (2 * step)
        for i in range(2):
            assert far(change[i] - expected[i, j]) < 4.5
