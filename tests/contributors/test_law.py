"""The arithmetic of guarantees, against numbers that other code computed."""

import math

import numpy as np
import pytest

import dpstats as dps
from dpstats.contributors.law import TAIL, corrected, final_mu, honest_count, local_mu, parts, published
from tests.contributors.people import plan

PAPER = dict(delta=0.01, columns=14, ball=3.0)


@pytest.mark.parametrize(
    ("epsilon", "n", "variance"), [(1, 1000, 4.399187), (1, 10_000, 2.536776), (0.1, 10_000, 22.316220)]
)
def test_published_noise_of_rows(epsilon: float, n: int, variance: float) -> None:
    law = published(epsilon, n=n, **PAPER)
    assert law.row**2 == pytest.approx(variance, abs=1e-6)
    assert (law.ridge, law.curvature) == (0, 0)


@pytest.mark.parametrize(("epsilon", "variance"), [(1, 830.9075), (0.1, 77330.7462)])
def test_published_noise_of_products(epsilon: float, variance: float) -> None:
    assert published(epsilon, n=10_000, **PAPER).product ** 2 == pytest.approx(variance, abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "n", "curvature", "ridge", "product"),
    [
        (1, 10_000, 2.18094, 0, 44.8915),
        (1, 1000, 2.57238, 0.79393, 67.0207),
        (0.1, 10_000, 19.185945, 15.85058, 570.64),
    ],
)
def test_corrected_theorem(epsilon: float, n: int, curvature: float, ridge: float, product: float) -> None:
    law = corrected(epsilon, n=n, **PAPER)
    # the last digits pay for the lattice: a millionth of the length of rows and of the curvature
    assert law.curvature == pytest.approx(curvature, rel=5e-6)
    assert law.ridge == pytest.approx(ridge, rel=5e-5)
    assert law.product == pytest.approx(product, rel=1e-5)


def test_curvature_of_the_theorem_holds() -> None:
    """Rows that all point one way leave the least: with the noise of rows, the least eigenvalue is below the
    bound in far fewer than delta / 4 of 2,000 draws."""
    law, n, d = corrected(1.0, 0.01, 400, 4, 3.0), 400, 4
    draw, low = np.random.default_rng(0), 0
    for _ in range(2000):
        rows = law.row / math.sqrt(n) * draw.normal(size=(n - 1, d))
        rows[:, 0] += 1
        low += np.linalg.eigvalsh(rows.T @ rows)[0] < law.curvature
    assert law.curvature > 0 and low <= 5


def test_too_few_contributors_for_the_paper() -> None:
    with pytest.raises(dps.SpecificationError, match="too few for 5 columns"):
        plan(20, method="input", compat="paper")


def test_statistics_at_the_budgets_of_the_page() -> None:
    """mu .10480 and .53252, local ones 3.3, 10.5, 105 and 16.8, 53, 533 for 1e3, 1e4 and 1e6 contributors."""
    cases = ((0.1, 0.10480, (3.31, 10.48, 104.8)), (1, 0.53252, (16.84, 53.25, 532.5)))
    for epsilon, central, local in cases:
        budget = dps.approx(epsilon, 0.01)
        assert budget.mu == pytest.approx(central, abs=1e-5)
        for n, mu in zip((1000, 10_000, 1_000_000), local, strict=True):
            (part,) = parts(14, budget, n, "statistics", None, 3.0)
            assert part.size == 120
            assert part.sensitivity == pytest.approx(math.sqrt(4.5), rel=1e-8)
            assert local_mu((part,)) == pytest.approx(mu, abs=0.06 * mu / 10)
            # the sum of the noise of n messages hides one of them at the central mu
            assert part.sensitivity / (part.sd * math.sqrt(n)) < budget.mu
            assert part.sensitivity / (part.sd * math.sqrt(n)) == pytest.approx(budget.mu, rel=1e-8)


def test_local_guarantee_of_the_input_scheme() -> None:
    """sqrt(n (4 / s_u^2 + 4 / s_b^2)), 126 of the paper at epsilon = 1 and n = 1e4."""
    of = parts(14, dps.approx(1, 0.01), 10_000, "input", "paper", 3.0)
    law = published(1, n=10_000, **PAPER)
    assert local_mu(of) == pytest.approx(100 * math.hypot(2 / law.row, 2 / law.product), rel=1e-7)
    assert local_mu(of) == pytest.approx(126, abs=0.5)


def test_half_honest_means_sqrt_two_times_the_noise() -> None:
    whole, half = plan(1000), plan(1000, honest=0.5)
    assert half.honest_count == 500 and honest_count(1000, 0.3) == 300
    assert half.sds[0] == pytest.approx(whole.sds[0] * math.sqrt(2))
    assert half.local[0] == pytest.approx(whole.local[0] / math.sqrt(2))
    assert half.central == whole.central


def test_noise_for_the_final_step_is_paid() -> None:
    budget = dps.approx(1, 1e-5)
    rest = dps.approx(0.01, 0.5e-7)
    assert final_mu(budget) < rest.mu
    asked = corrected(0.99, 0.99e-5, 1000, 5, 3.0)
    assert plan(1000, method="input").sds[1] == pytest.approx(asked.product / math.sqrt(1000), rel=1e-7)


def test_honest_messages_are_within_range() -> None:
    assert 2 * math.exp(-(TAIL**2) / 2) * 1000 < 1e-27
