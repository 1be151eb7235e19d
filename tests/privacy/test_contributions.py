"""What a message and a sum of messages may tell: sensitivity, its worst case, law and lattice of noise."""

import math
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.contributors import Plan, contribute_rows
from dpstats.contributors.law import RESPONSE
from dpstats.contributors.message import exact
from dpstats.estimators.contributed import minimum
from dpstats.formula import Block
from tests.contributors.people import people, plan, silent

Array = np.ndarray


def blocks(rows: Array, response: Array, ok: Array) -> Block:
    flat = np.zeros(len(rows))
    return Block(rows, response, event=flat + 1, entry=flat - np.inf, ok=ok, offset=flat, weight=flat + 1)


def raw(of: Plan, q: Array, y: Array) -> Block:
    """A block whose rows are mapped to q and y, inside the public bounds or not."""
    middle, half = of.response
    exog = q * of.rows.scale * of.rows.radius + of.rows.center
    return blocks(exog, middle + half * y, np.ones(len(q), dtype=bool))


def distances(messages: Array) -> Array:
    squares = (messages**2).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * messages @ messages.T, 0))


@pytest.mark.parametrize("method", ["statistics", "input"])
def test_no_two_records_are_farther_apart_than_the_sensitivity(method: str) -> None:
    """Whatever the map of rows does: rows of any length, responses of any size, no row at all."""
    of, draw = plan(method=method), np.random.default_rng(0)
    d = len(of.design.names)
    q = draw.normal(size=(1500, d))
    q *= (draw.choice([0.3, 0.9, 1.0, 1.0, 50.0], 1500) / np.linalg.norm(q, axis=1))[:, None]
    y = draw.choice([-1.0, 1.0, 0.4, 300.0], 1500)
    found = exact(of, raw(of, q, y))
    found = np.vstack([found, np.zeros(found.shape[1])])
    start = 0
    for part in of.parts:
        assert distances(found[:, start : start + part.size]).max() <= part.sensitivity
        start += part.size


def test_the_sensitivity_of_statistics_is_attained() -> None:
    """Rows of length 1 that meet at a cosine of -1/2, with the same response at a bound; D^2 = 4.5."""
    of = plan()
    q = np.zeros((2, len(of.design.names)))
    q[0, 0], q[1, :2] = 1.0, (-0.5, math.sqrt(0.75))
    first, second = exact(of, raw(of, q, np.ones(2)))
    assert np.sum((first - second) ** 2) == pytest.approx(4.5, rel=1e-12)
    assert of.parts[0].sensitivity == pytest.approx(math.sqrt(4.5), rel=2e-9)


@pytest.mark.parametrize("weight", [0.3, RESPONSE, 1.0])
def test_the_square_of_the_response_is_free(weight: float) -> None:
    """D^2 = 2 (1 + c^2)^2 with it and without: 2 + 2 w^2 + w^4 / 2 of the page, w^2 = 2 c^2."""
    w = math.sqrt(2) * weight
    assert 2 * (1 + weight**2) ** 2 == pytest.approx(2 + 2 * w**2 + w**4 / 2)
    q = np.array([[1.0, 0.0], [-(weight**2), math.sqrt(1 - weight**4)]])
    apart = np.outer(q[0], q[0]) - np.outer(q[1], q[1])
    without = np.sum(apart**2) + w**2 * np.sum((q[0] - q[1]) ** 2)
    assert without == pytest.approx(2 * (1 + weight**2) ** 2)


def test_the_sensitivity_of_the_input_scheme_is_attained() -> None:
    of = plan(method="input")
    q = np.zeros((2, len(of.design.names)))
    q[0, 0], q[1, 0] = 1.0, -1.0
    first, second = exact(of, raw(of, q, np.ones(2)))
    for part in (slice(0, 5), slice(5, 10)):
        assert np.linalg.norm(first[part] - second[part]) == pytest.approx(2, rel=1e-12)


def test_noise_is_asked_for_with_sensitivity_and_cost_of_the_plan() -> None:
    """And per message: a recorder between message and sampler sees each part of it once."""
    asked: list[tuple[int, float, float]] = []

    class Spy(testing.NoNoise):
        def gaussian(self, value: Array, sensitivity: float, mu: float) -> Array:
            asked.append((len(value), sensitivity, mu))
            return value.copy()

    for more in (dict(), dict(method="input"), dict(method="input", compat="paper")):
        of: Any = plan(**more)
        asked.clear()
        with testing.noise(Spy()):
            list(contribute_rows(people(3), of))
        want = [(part.size, part.sensitivity, part.sensitivity / part.sd) for part in of.parts]
        assert asked == want * 3
        assert math.hypot(*(mu for *_, mu in want)) == pytest.approx(of.local[0])


@pytest.fixture(scope="module")
def secure() -> tuple[Plan, Array, Array]:
    """Noisy and exact values of 600 messages by the sampler of every real message."""
    of, data = plan(600), people(600)
    noisy = np.array([message.values for message in contribute_rows(data, of)])
    return of, noisy, np.array([message.values for message in silent(data, of)])


def test_secure_noise_is_on_one_lattice(secure: tuple[Plan, Array, Array]) -> None:
    """All numbers of all contributors are multiples of the same power of 2, at most 2^-40 sd: no digit tells
    of the record (docs/theory/privacy.md#noise-of-pure-epsilon), and the sum of k messages is a sum of draws
    on that lattice."""
    of, noisy, values = secure
    lattice = 2.0 ** math.floor(math.log2(of.sds[0]) - 40)
    steps = noisy / lattice
    assert np.array_equal(steps, np.rint(steps))
    assert lattice <= of.sds[0] * 2.0**-40
    assert not np.array_equal(values / lattice, np.rint(values / lattice))


def test_sums_of_secure_noise_have_the_law_of_the_central_guarantee(
    secure: tuple[Plan, Array, Array],
) -> None:
    from scipy import stats

    of, noisy, values = secure
    noise = noisy - values
    assert stats.kstest(noise.ravel() / of.sds[0], "norm").pvalue > 3e-7
    sums = noise.reshape(30, 20, -1).sum(axis=1) / (math.sqrt(20) * of.sds[0])
    assert stats.kstest(sums.ravel(), "norm").pvalue > 3e-7
    seen = np.corrcoef(noise[:-1].ravel(), noise[1:].ravel())[0, 1]
    assert abs(seen) < stats.norm.isf(1.5e-7) / math.sqrt(noise[1:].size)


def test_the_divergence_of_a_sum_of_discrete_gaussians_is_negligible() -> None:
    """On a lattice as coarse as the sd, where it can be seen, the bound of Kairouz et al. holds."""
    grid, sd = np.arange(-60, 61), 1.0
    one = np.exp(-(grid**2) / (2 * sd**2))
    one /= one.sum()
    two = np.convolve(one, one)
    wide = np.arange(-120, 121)
    law = np.exp(-(wide**2) / (4 * sd**2))
    law /= law.sum()
    middle = np.abs(wide) < 12
    seen = np.abs(np.log(two[middle] / law[middle])).max()
    bound = 10 * math.exp(-2 * math.pi**2 * sd**2 / 2)
    assert 0 < seen <= bound
    # at sd 2^40 steps its exponent alone is beyond any float
    assert -(math.pi**2) * 2.0**80 < -1e24


def test_audit_of_the_sum() -> None:
    """Worst neighbours through the public path: what is seen of a sum of n messages stays below mu, and noise
    that is halved does not."""
    n, runs = 40, 3000
    of = dps.plan_contributions(
        "y ~ x", dps.Schema(y=dps.bounded(-1, 1), x=dps.bounded(-1, 1)), dps.gdp(1.0), n
    )
    # rows (1, x) / sqrt 2 at x = 1 and -1 are orthogonal; a cosine of -1/2 is out of reach of this formula
    first, second = (silent({"y": [1.0], "x": [x]}, of)[0].values for x in (1.0, -1.0))
    direction = (first - second) / np.linalg.norm(first - second)
    assert np.linalg.norm(first - second) <= of.parts[0].sensitivity
    with testing.noise(testing.SeededNoise(3)):
        rows = {"y": np.zeros(n * runs), "x": np.full(n * runs, np.nan)}
        noise = np.array([message.values @ direction for message in contribute_rows(rows, of)])
    sums = noise.reshape(runs, n).sum(axis=1)
    reached = np.linalg.norm(first - second) / sums.std()
    assert 0.8 < reached < 1.0 + 3 / math.sqrt(2 * runs)
    assert 2 * reached > 1.2  # half the noise would be seen


def test_the_published_claim_fails_on_its_counterexample() -> None:
    """All rows e1, w = e1; 2 / epsilon is missed in about half the draws.

    See docs/theory/contributions.md#what-is-wrong-with-the-published-proof.
    """
    n, draw = 1000, np.random.default_rng(0)
    s = math.sqrt(4.399187 / n)
    missed = 0
    for _ in range(2000):
        u = s * draw.normal(size=n)  # the first column of U is all that w sees
        missed += u @ u + 2 * u.sum() < 2
    assert missed / 2000 == pytest.approx(0.281, abs=0.04)


def test_the_minimum_of_the_input_scheme_is_one() -> None:
    """Its gradient vanishes inside the ball; on the sphere it points outwards along w."""
    draw = np.random.default_rng(0)
    for scale in (0.1, 1e4):
        rows = draw.normal(size=(50, 4))
        gram, product = rows.T @ rows, scale * draw.normal(size=4)
        params, left = minimum(gram, product, 0.5, 2.0)
        gradient = gram @ params + 0.5 * params - product
        assert left < 1e-9 * scale and np.linalg.norm(params) <= 2 + 1e-9
        along = gradient @ params / np.linalg.norm(params)
        assert np.linalg.norm(gradient - along * params / np.linalg.norm(params)) < 1e-8 * scale
        assert along <= 1e-8 and (along < -1) == (scale > 1)
