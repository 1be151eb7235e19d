"""Noise-free, seeded, recorded and replayed releases, for tests and studies only.

Anything fitted inside :func:`noise` carries ``not_private=True`` and prints NOT PRIVATE.

>>> import dpstats.testing
>>> with dpstats.testing.noise(dpstats.testing.NoNoise()):
...     pass  # model.fit(...) here gives what an unlimited budget would
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.curator.lattice import order_of, triangle
from dpstats.curator.law import Law
from dpstats.curator.noise import NoiseSetting, NoiseSource, Recorder, setting

__all__ = ["NoNoise", "Record", "Recording", "Replay", "SeededNoise", "noise"]


class _Coins:
    """The same coins every time, so that the same rows are drawn of tables of as many."""

    def coins(self, count: int) -> bytes:
        """So many bytes."""
        return np.random.default_rng(0).bytes(count)


class NoNoise(_Coins):
    """Noise of size 0: releases are the sums themselves."""

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """A copy of `value`."""
        return value.copy()

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        """A copy of `value`."""
        return value.copy()


class SeededNoise(_Coins):
    """Reproducible numpy noise of the declared sd: right on average, and safe against nobody.

    Parameters
    ----------
    seed : int
        Every release of the context takes the next draws of one generator.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """`value` plus independent normal draws of sd ``sensitivity / mu``."""
        return value + self._generator.normal(scale=sensitivity / mu, size=value.shape)

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        """`value` plus a draw of the law whose norm has the units `axes`, see :mod:`dpstats.curator.law`."""
        draw, m = self._generator, len(value)
        if law == "laplace":
            noise = draw.laplace(size=m)
        elif law == "linf":
            noise = draw.gamma(m + 1) * draw.uniform(-1, 1, m)
        elif law == "cylinder":
            direction = draw.normal(size=m - 1)
            ball = direction / np.linalg.norm(direction) * draw.uniform() ** (1 / (m - 1))
            noise = draw.gamma(m + 1) * np.append(ball, draw.uniform(-1, 1))
        elif law == "wishart":
            k = order_of(m)
            plus, minus = draw.normal(size=(2, k, k + 1))
            noise = (plus @ plus.T - minus @ minus.T).ravel()[triangle(k)] / 2
        else:
            direction = draw.normal(size=m)
            noise = draw.gamma(m) * direction / np.linalg.norm(direction)
        return value + axes / epsilon * noise


class Replay(_Coins):
    """Answers recorded releases again, whatever the data.

    With it an estimator takes the same path on a neighbouring data set, so that what it asked for can be
    compared.

    Parameters
    ----------
    answers : sequence of ndarray
        Noisy vectors in order, as :attr:`Recording.answers` has them.
    """

    def __init__(self, answers: Sequence[np.ndarray]) -> None:
        self._answers = iter(answers)

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """The next recorded answer; StopIteration when there is none."""
        return next(self._answers).copy()

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        """The next recorded answer; StopIteration when there is none."""
        return next(self._answers).copy()


class Record(NamedTuple):
    """One release before noise."""

    name: str
    exact: np.ndarray
    sensitivity: float
    law: Law

    @property
    def cost(self) -> float:
        """What was spent: mu of a Gaussian law, epsilon of another."""
        return self.law.cost


@dataclass
class Recording:
    """Keeps the exact value of every release, and what the noise source answered.

    Parameters
    ----------
    source : NoiseSource
        Where the noise comes from.

    Attributes
    ----------
    records : list of Record
    answers : list of ndarray
    """

    source: NoiseSource
    records: list[Record] = field(default_factory=list)
    answers: list[np.ndarray] = field(default_factory=list)

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """The answer of `source`, kept."""
        return self._kept(self.source.gaussian(value, sensitivity, mu))

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        """The answer of `source`, kept."""
        return self._kept(self.source.pure(value, law, axes, epsilon))

    def coins(self, count: int) -> bytes:
        """Those of `source`."""
        return self.source.coins(count)

    def _kept(self, answer: np.ndarray) -> np.ndarray:
        self.answers.append(answer.copy())
        return answer

    def record(self, name: str, exact: np.ndarray, sensitivity: float, law: Law) -> None:
        """Called by the curator before noise is drawn."""
        self.records.append(Record(name, exact, sensitivity, law))


@contextmanager
def noise(source: NoiseSource, recorder: Recorder | None = None) -> Iterator[None]:
    """Use `source` for every curator made in this context.

    Parameters
    ----------
    source : NoiseSource
        :class:`NoNoise`, :class:`SeededNoise`, :class:`Replay` or :class:`Recording`. A Recording also
        receives the exact values, unless `recorder` takes them.
    recorder : callable, optional
        Called with name, exact value, L2 sensitivity and law of each release.
    """
    if recorder is None and isinstance(source, Recording):
        recorder = source.record
    token = setting.set(NoiseSetting(source, recorder))
    try:
        yield
    finally:
        setting.reset(token)
