"""Scores of a regression of hazards: their values, and pairs of rows that attain their sensitivity."""

import math

import numpy as np
import pytest

from dpstats.budget import gdp
from dpstats.curator import Curator
from dpstats.curator.statistics import REGISTRY
from dpstats.families.hazard_bounds import hazard_bounds
from dpstats.testing import NoNoise, noise
from tests.made import MadeDesign, MadeRows
from tests.privacy.test_worst_case import contributions

EDGES, HAZARDS, PIECES = (1.0, 10.0, 20.0, 50.0, 100.0), (0.3, 0.2, 0.8, 1.1), (0, 0, 1, 2)
CENTER, SCALE, BETA = np.array([0.1, -0.2]), np.array([0.5, 2.0]), np.array([0.4, -0.9])
WHITENING, C, RADIUS, SHARE = np.array([[1.2, 0.3], [0.3, 0.8]]), 1.2, 1.1, 0.5


def data(n: int = 200) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(5)
    time = draw.uniform(1, 100, n)
    columns = {"x": draw.uniform(-1, 1, (n, 2)), "time": time, "entry": time * draw.uniform(-1, 1, n)}
    return columns | {"event": (draw.uniform(size=n) < 0.6) * 1.0}


def one(row: dict[str, np.ndarray], i: int, delayed: bool) -> tuple[np.ndarray, ...]:
    """What row i gives, piece by piece and by the definition."""
    x = (row["x"][i] - CENTER) / SCALE
    risk, x = math.exp(BETA @ x), WHITENING @ x
    since = max(row["entry"][i], 1.0) if delayed else 1.0
    left, hazards, failed = C, np.zeros(3), row["event"][i] > 0
    for low, high, rate, piece in zip(EDGES[:-1], EDGES[1:], HAZARDS, PIECES, strict=True):
        spent = risk * rate * max(min(row["time"][i], high) - max(since, low), 0.0) / (high - low)
        failed = failed and spent <= left
        hazards[piece] += min(spent, left)
        left -= min(spent, left)
    at = np.eye(3)[PIECES[np.searchsorted(EDGES[1:-1], row["time"][i])]] * failed
    weight = min(1.0, RADIUS**2 / (x @ x))
    return (
        weight * (at - hazards),
        weight * x * (failed - hazards.sum()),
        np.array([weight * failed]),
        weight * np.outer(at, x),
        weight * np.outer(x, x) * failed,
    )


@pytest.mark.parametrize("delayed", [False, True])
def test_scores_and_information_are_those_of_the_definition(delayed: bool) -> None:
    row = data()
    public = dict(
        center=CENTER,
        scale=SCALE,
        beta=BETA,
        edges=EDGES,
        hazards=HAZARDS,
        pieces=PIECES,
        c=C,
        whitening=WHITENING,
        radius=RADIUS,
        matrix_share=SHARE,
    )
    with noise(NoNoise()):
        found = Curator(MadeRows(row), MadeDesign(2, delayed=delayed), gdp(2)).release(
            "hazard_score", 1, **public
        )
    expected = [
        np.sum(parts, axis=0) for parts in zip(*(one(row, i, delayed) for i in range(200)), strict=True)
    ]
    tau = hazard_bounds(C, RADIUS, SHARE).matrix_weight
    for value, exact, times in zip(found.values, expected, (1, 1, tau, tau, tau), strict=True):
        np.testing.assert_allclose(value, times * exact, rtol=1e-6, atol=1e-7)
    events = int(row["event"].sum())
    assert 0 < found.values[2][0] / tau < events  # some stop being observed before they fail


@pytest.mark.parametrize(
    ("c", "radius", "share"),
    [
        (2.0, 2.0, 0.5),
        (6.0, 4.0, 0.5),
        (1.0, 0.5, 1e-4),
        (1.5, 0.3, 1e-4),
        (20.0, 0.1, 1e-4),
        (1.0, 4.0, 99.0),
    ],
)
def test_a_pair_attains_the_sensitivity(c: float, radius: float, share: float) -> None:
    """The second and the fourth of five pieces hold a hazard of c each, up to rounding; x has length R.

    Two failures count one event each, so that their informations are not quite at a right angle.
    """
    full = c * (1 - 1e-9)
    public = dict(
        center=np.zeros(2),
        scale=np.ones(2),
        beta=np.zeros(2),
        edges=np.arange(6.0),
        hazards=(1e-13, full, 1e-13, full, 1e-13),
        pieces=range(5),
        c=c,
        whitening=np.eye(2),
        radius=radius,
        matrix_share=share,
    )
    statistic = REGISTRY["hazard_score"](MadeDesign(2, delayed=True), **public)
    spans = [(1.0, 2.0), (1.0, 3.0), (1.0, 3 + 1e-12), (3.0, 4.0), (3.0, 5.0), (3.0, 3 + 1e-12), (0.0, 1e-12)]
    covariates = [(radius, 0.0), (-radius, 0.0), (0.0, radius)]
    rows = [
        (*x, until, until - since, event, 1) for x in covariates for since, until in spans for event in (0, 1)
    ]
    values = contributions(statistic, np.array(rows))
    found = np.linalg.norm(values[:, None] - values, axis=2).max()
    assert found == pytest.approx(statistic.sensitivity, rel=0.005 if share > 1 else 1e-6)
    assert found <= statistic.sensitivity * (1 + 1e-12)


@pytest.mark.parametrize(("c", "middle"), [(1.5, 0.4), (4.0, 0.5), (1.0, 0.05), (1.2, 0.9)])
def test_a_pair_attains_the_sensitivity_of_a_trend(c: float, middle: float) -> None:
    """Rows of any hazard up to c, seen to fail or not."""
    radius = 0.7
    row = dict(center=np.zeros(1), scale=np.ones(1), beta=np.zeros(1), whitening=np.eye(1), radius=radius)
    grid = dict(edges=(0.0, 1.0), hazards=(c,), pieces=(0,), c=c, middle=middle)
    statistic = REGISTRY["hazard_trend"](MadeDesign(1), **row, **grid)
    until = np.linspace(1e-9, 1.0, 1001)
    rows = [(x, time, time, event, 1) for x in (-radius, radius) for time in until for event in (0, 1)]
    found = np.ptp(contributions(statistic, np.array(rows)))
    assert found == pytest.approx(statistic.sensitivity, rel=1e-5)
    assert found <= statistic.sensitivity * (1 + 1e-12)


def overshot() -> tuple[tuple[float, ...], tuple[float, float, float]]:
    """Edges of two cells, and an entry and a time in the first at which its clock is full, and overfull.

    The cell ends near 0, where floats lie close; last comes by how much the clock exceeds what it adds.
    """
    times = 1e-6 * (1 - np.logspace(-15.5, -4, 200))
    for start in -np.linspace(1, 9, 4000):
        edges = (float(start), 1e-6, 9.0)
        clock = np.interp(times, edges, (0.0, 1.2, 2.4))
        full = times[clock == 1.2]
        if (clock > 1.2).any() and len(full) and full.min() < times[clock > 1.2].max():
            time = times[clock > 1.2].max()
            return edges, (
                float(full.min()),
                float(time),
                float(np.interp(time, edges, (0.0, 1.2, 2.4)) - 1.2),
            )
    raise AssertionError("no clock is overfull")


def test_the_last_bit_of_the_clock_gives_no_hazard_on_a_later_piece() -> None:
    """At a risk of e^35 it would be a hazard of c, on a piece after that of the failure."""
    edges, (entry, time, last_bit), c = *overshot(), 1.0
    slope = 100 * math.log(c / last_bit * (1 - 1e-9))
    public = dict(center=np.zeros(2), scale=np.ones(2), beta=np.array([slope, 0.0]), edges=edges, c=c)
    grid = dict(hazards=(1.2, 1.2), pieces=(0, 1), whitening=np.eye(2), radius=0.5)
    statistic = REGISTRY["hazard_score"](MadeDesign(2, delayed=True), **public, **grid, matrix_share=0.5)
    even = math.log(c / 1.2 * (1 - 1e-9)) / slope  # of rows whose hazard is c over one cell
    spans = [(edges[0], edges[1]), (edges[0], np.nextafter(edges[1], 1)), edges[1:]]
    watched = [(0.01, entry, time), *((even, since, until) for since, until in spans)]
    rows = [
        (x, sign * math.sqrt(0.25 - x**2), until, until - since, event, 1)
        for sign in (-1, 1)
        for x, since, until in watched
        for event in (0, 1)
    ]
    values = contributions(statistic, np.array(rows))
    found = np.linalg.norm(values[:, None] - values, axis=2).max()
    assert 0.85 * statistic.sensitivity < found <= statistic.sensitivity * (1 + 1e-9)


def test_a_trend_is_that_of_the_definition() -> None:
    row, middle = data(), 0.3
    public = dict(center=CENTER, scale=SCALE, beta=BETA, edges=EDGES, hazards=HAZARDS, pieces=PIECES, c=C)
    with noise(NoNoise()):
        curator = Curator(MadeRows(row), MadeDesign(2, delayed=True), gdp(2))
        found = curator.release(
            "hazard_trend", 1, **public, whitening=WHITENING, radius=RADIUS, middle=middle
        ).values[0]
    expected = np.zeros(2)
    for i in range(200):
        x = WHITENING @ ((row["x"][i] - CENTER) / SCALE)
        weight = min(1.0, RADIUS**2 / (x @ x))
        scores, _, failed, _, _ = one(row, i, True)
        hazard = (failed.item() - scores.sum()) / weight
        until = np.linspace(0, hazard, 2001)
        effect = 1 - np.exp(-until) - middle
        expected += x * (failed.item() * effect[-1] - weight * np.trapezoid(effect, until))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_more_pieces_bring_no_larger_distance() -> None:
    """Four pieces hold all cases of two rows."""
    draw = np.random.default_rng(3)
    edges, most = np.arange(9.0), 0.0
    for _ in range(20):
        public = dict(
            center=np.zeros(1),
            scale=np.ones(1),
            beta=np.full(1, draw.uniform(-3, 3)),
            edges=edges,
            hazards=np.exp(draw.normal(0, 3, 8)),
            pieces=range(8),
            c=1.3,
            whitening=np.eye(1),
            radius=0.4,
            matrix_share=1.0,
        )
        statistic = REGISTRY["hazard_score"](MadeDesign(1, delayed=True), **public)
        time = draw.uniform(0, 8, 400)
        stay = time * draw.uniform(0, 1, 400)
        rows = np.column_stack(
            [draw.choice([-0.4, 0.4], 400), time, stay, draw.integers(0, 2, 400), np.ones(400)]
        )
        values = contributions(statistic, rows)
        most = max(most, np.linalg.norm(values[:, None] - values, axis=2).max() / statistic.sensitivity)
    assert 0.7 < most <= 1


def test_a_bend_is_that_of_the_definition_and_a_pair_attains_its_sensitivity() -> None:
    row, ways, level, tilt = (
        data(),
        np.array([[1.5, -0.8], [0.0, 2.0]]),
        np.array([0.9, 1.1]),
        np.array([0.2, -0.4]),
    )
    curves = dict(ways=ways, level=level, tilt=tilt, edge=1.5, span=1.2)
    public = dict(center=CENTER, scale=SCALE, beta=BETA, edges=EDGES, hazards=HAZARDS, pieces=PIECES, c=C)
    with noise(NoNoise()):
        curator = Curator(MadeRows(row), MadeDesign(2, delayed=True), gdp(2))
        found = curator.release("hazard_bend", 1, **public, curves=curves).values
    x = (row["x"] - CENTER) / SCALE
    weight = np.minimum(1, RADIUS**2 / np.sum((x @ WHITENING.T) ** 2, axis=1))
    psi = np.array([one(row, i, True)[0].sum() for i in range(200)]) / weight
    t = np.clip(x @ ways.T, -1.5, 1.5)
    q = t**2 - level - tilt * t
    v = psi[:, None] * q * np.minimum(1, 1.2 / np.linalg.norm(q, axis=1))[:, None]
    kappa = math.sqrt(11) / (2 * 1.2 * C)
    np.testing.assert_allclose(found[0].ravel(), v.sum(axis=0), rtol=1e-6)
    assert found[1].item() == pytest.approx(kappa * (v**2).sum(), rel=1e-6)

    curve = dict(ways=np.ones((1, 1)), level=[1.0], tilt=[0.0], edge=1.5, span=1.0)
    times = dict(edges=np.arange(3.0), hazards=(C, C), pieces=(0, 1), c=C, curves=curve)
    row = dict(center=np.zeros(1), scale=np.ones(1), beta=np.zeros(1))
    statistic = REGISTRY["hazard_bend"](MadeDesign(1), **row, **times)
    values = contributions(statistic, np.array([[0.0, 2.0, 2.0, 0, 1], [1.5, 2.0, 2.0, 0, 1]]))
    assert np.linalg.norm(values[0] - values[1]) == pytest.approx(statistic.sensitivity, rel=1e-9)
