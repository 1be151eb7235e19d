"""Noise on a minimum, for what a proof takes as exact and a computer does not find exactly."""

from __future__ import annotations

import numpy as np

from dpstats.curator.noise import current


def hidden_minimum(params: np.ndarray, distance: float, mu: float) -> np.ndarray:
    """A minimum with Gaussian noise at mu-GDP for a shift of `distance`.

    See docs/theory/objective.md#the-minimum-is-not-exact.

    The exact minimum being private already, the one that was computed is a second release whose sensitivity
    is twice its distance from the exact one.
    """
    return current().noise.gaussian(params, distance, mu)
