"""How long a row may be: what rare values, noise and the number of rows make of it."""

import math

import numpy as np

from dpstats.estimators.newton.bounds import Chooser
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL

K = 11
FAR = np.full(K, 30.0)
# a level that one row in a hundred has, and where it is: four sds of the others away
LEVEL = (np.array([0.99, 0.01]), np.array([0.0, 16.0]))


def length(n: int, mu: float, rare: int = 0, thinnest: float = 1.0) -> float:
    """Square length of the longest row, over k."""
    problem = Problem(BINOMIAL, -FAR[1:], FAR[1:], (0.0, 1.0))
    located = Located(
        np.zeros(K),
        np.ones(K),
        np.zeros(K),
        -FAR,
        FAR,
        squares=np.array([thinnest, *np.ones(K - 1)]),
        rare=(LEVEL,) * rare,
        mean=0.5,
        sd=0.5,
        offset=0.0,
        noise=0.0,
        prior=np.zeros(K),
        dim=np.zeros(K, dtype=bool),
    )
    bounds = Chooser(problem, located, n, mu).choose(np.eye(K), 0.13, 1.0)
    return bounds.radius**2 / K


def test_rows_grow_with_what_there_is_to_tell() -> None:
    lengths = [length(n, 0.3) for n in (1_000, 10_000, 100_000, 1_000_000)]
    assert lengths == sorted(lengths) and lengths[-1] > lengths[0]


def test_rare_levels_lengthen_rows() -> None:
    """Theirs are long: with short ones they are weighted away."""
    assert length(10_000, 0.3, rare=4) > length(10_000, 0.3)


def test_a_column_that_noise_hides_does_not_shorten_rows() -> None:
    assert length(30_000, 0.2, thinnest=1e-4) == length(30_000, 0.2)
    assert math.isfinite(length(30_000, 0.2, rare=10, thinnest=1e-4))
