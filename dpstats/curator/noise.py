"""Which noise a new curator uses: secure noise, unless a test or a study asked otherwise."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpstats.curator.law import Law
from dpstats.curator.mechanisms import SecureNoise


class NoiseSource(Protocol):
    """Adds noise to a vector: Gaussian of sd ``sensitivity / mu``, or of a law of pure epsilon.

    What `law` and `axes` mean is said in :mod:`dpstats.curator.law`. Coins are random bytes.
    """

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray: ...
    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray: ...
    def coins(self, count: int) -> bytes: ...


Recorder = Callable[[str, np.ndarray, float, Law], None]
"""Called with name, exact value, L2 sensitivity and law before noise is drawn."""


@dataclass(frozen=True)
class NoiseSetting:
    """A noise source and, for tests, a recorder of exact values."""

    noise: NoiseSource
    recorder: Recorder | None = None

    @property
    def private(self) -> bool:
        """Whether releases under this setting are private: OpenDP's noise and nobody looking."""
        return type(self.noise) is SecureNoise and self.recorder is None


setting: ContextVar[NoiseSetting | None] = ContextVar("dpstats_noise", default=None)


def current() -> NoiseSetting:
    """The setting of this context, set by :func:`dpstats.testing.noise` only."""
    return setting.get() or NoiseSetting(SecureNoise())
