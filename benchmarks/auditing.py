"""What a whole fit tells of one row: a lower bound on its epsilon and mu (docs/audit.md).

A model is fitted again and again, through the public API and with the noise of every real fit, to one and
to the other of two inputs that differ in one row. Two things are kept of each run: all numbers of the
published fit, and the privacy loss of what was drawn, as an attacker computes it who knows both inputs. For
the loss the answers are replayed on the other input, and each answer is compared with both exact sums.

An event, such as "the loss exceeds .7", is chosen on one half of the runs. Its probabilities on the two
inputs are bounded on the other half (Clopper & Pearson), and with them what the fit spends at least. The
law that the package names for its noise enters the choice of the event alone: the bound also sees noise of
another law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from dpstats.curator.law import Law
from dpstats.curator.noise import NoiseSource
from dpstats.testing import Replay, noise

__all__ = ["Bounds", "Run", "lower_bounds", "observe", "stacked"]

Array = np.ndarray
MOST = 1e9  # stands for an infinite variance among published numbers
DELTA = 0.01  # at which epsilon is bounded where noise is Gaussian
Measure = Callable[[float, float], float]  # of an event: at least so likely here, at most so likely there
CUTS = np.unique(np.concatenate([np.geomspace(1e-3, 0.5, 40), 1 - np.geomspace(1e-3, 0.5, 40)]))


class Draw(NamedTuple):
    """One answer, the sum it was drawn around, and the law of the noise."""

    exact: Array
    answer: Array
    law: Law

    def loss(self, other: Array) -> float:
        """Log of the ratio of the answer's densities, around its own sum and around the other one."""
        near, far = self.law.distance(self.answer - self.exact), self.law.distance(self.answer - other)
        if self.law.name == "gaussian":
            return float(self.law.cost**2 * (far**2 - near**2) / 2)
        return float(self.law.cost * (far - near))


@dataclass
class Seen:
    """A noise source that keeps what it was asked and what it answered, and the recorder of the curator.

    A minimum takes two draws, a tilt and the noise that hides where the solver stopped, of which one thing is
    released. The recorder is told which tilts would have led to this minimum; they stand for both draws.
    """

    source: NoiseSource
    answers: list[Array] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)

    def gaussian(self, value: Array, sensitivity: float, mu: float) -> Array:
        law = Law("gaussian", np.full(len(value), sensitivity), mu)
        return self._kept(value, self.source.gaussian(value, sensitivity, mu), law)

    def pure(self, value: Array, law: str, axes: Array, epsilon: float) -> Array:
        return self._kept(value, self.source.pure(value, law, axes, epsilon), Law(law, axes, epsilon))

    def coins(self, count: int) -> bytes:
        return self.source.coins(count)

    def _kept(self, exact: Array, answer: Array, law: Law) -> Array:
        self.answers.append(answer.copy())
        self.draws.append(Draw(exact.copy(), answer.copy(), law))
        return answer

    def record(self, name: str, exact: Array, sensitivity: float, law: Law) -> None:
        """Of a tilted minimum; the curator reports other releases before they are drawn."""
        if name == "minimum" and not np.array_equal(self.draws[-1].exact, exact):
            self.draws[-2:] = [Draw(exact.copy(), np.zeros(len(exact)), law)]


class Run(NamedTuple):
    """What is kept of one run.

    Attributes
    ----------
    loss : float
        In favour of the first input, summed over the releases.
    share : float
        How far apart the two inputs were in it: epsilon, or mu where all noise is Gaussian.
    published : array
    """

    loss: float
    share: float
    published: Array


def observe(fits: tuple[Callable[[], Any], Callable[[], Any]], side: int, source: NoiseSource) -> Run:
    """Fit to the input of this side, and replay the answers on the other."""
    seen = Seen(source)
    with noise(seen, seen.record):
        published = fits[side]()
    other = Seen(Replay(seen.answers))
    with noise(other, other.record):
        fits[1 - side]()
    pairs = list(zip(seen.draws, other.draws, strict=True))
    loss = sum(draw.loss(far.exact) for draw, far in pairs) * (1 - 2 * side)
    apart = np.array([draw.law.cost * draw.law.distance(draw.exact - far.exact) for draw, far in pairs])
    gaussian = all(draw.law.name == "gaussian" for draw, _ in pairs)
    return Run(loss, float(np.linalg.norm(apart, 2 if gaussian else 1)), numbers(published))


def numbers(published: Any) -> Array:
    """All that a published fit says in numbers, on a scale that tames the large ones; its flags by count."""
    found: list[float] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                walk(value[key])
        elif isinstance(value, list | tuple | np.ndarray):
            for item in value:
                walk(item)
        elif value == "inf" or isinstance(value, int | float | np.number):
            found.append(float(value))

    record = published if isinstance(published, dict) else published.to_dict()
    flags = len(record.get("flags", ()))
    walk({key: value for key, value in record.items() if key not in ("flags", "schema", "budget")})
    return np.arcsinh(np.nan_to_num(np.array([*found, flags]), nan=-MOST, posinf=MOST, neginf=-MOST))


def stacked(runs: list[Run], columns: int | None = None) -> Array:
    """A row a run: loss, share, published numbers, as many as there are columns, or as the first run had."""
    width = len(runs[0].published) if columns is None else columns - 2
    rows = [np.append(run.published, np.zeros(width))[:width] for run in runs]
    return np.column_stack([[run.loss for run in runs], [run.share for run in runs], np.array(rows)])


class Bounds(NamedTuple):
    """Lower bounds, each right with the probability that was asked for."""

    mu: float
    epsilon: float


def lower_bounds(first: Array, second: Array, delta: float, miss: float) -> Bounds:
    """From as many runs of each side; each bound fails with probability at most `miss`.

    Numbers beyond those that the first run of either side published are left out.
    """
    first, second = (side[:, : min(first.shape[1], second.shape[1])] for side in (first, second))
    half = min(len(first), len(second)) // 2
    train, test = (first[:half], second[:half]), (first[half:], second[half:])

    def epsilon(at_least: float, at_most: float) -> float:
        return max(0.0, math.log(max(at_least - delta, 1e-12) / at_most))

    return Bounds(_bound(train, test, _mu, miss), _bound(train, test, epsilon, miss))


def _bound(train: tuple[Array, Array], test: tuple[Array, Array], measure: Measure, miss: float) -> float:
    """By the event that bounds most on `train`: a score, or its negative, beyond a cut on either side."""
    direction = _discriminant(*(side[:, 2:] for side in train))

    def values(sides: tuple[Array, Array], kind: int, sign: int) -> list[Array]:
        return [sign * (side[:, 0] if kind == 0 else side[:, 2:] @ direction) for side in sides[::sign]]

    def found(scores: list[Array], cut: float) -> float:
        return measure(*_rates(scores[0] > cut, scores[1] > cut, miss))

    candidates = [
        (found(scores, cut), kind, sign, cut)
        for kind in (0, 1)
        for sign in (1, -1)
        for scores in [values(train, kind, sign)]
        for cut in np.quantile(np.concatenate(scores), CUTS)
    ]
    _, kind, sign, cut = max(candidates)
    return found(values(test, kind, sign), cut)


def _discriminant(first: Array, second: Array) -> Array:
    """Fisher's, with a small ridge; columns without spread do not count."""
    both = np.vstack([first, second])
    spread = both.std(axis=0)
    usable = spread > 1e-12
    a, b = (side[:, usable] / spread[usable] for side in (first, second))
    within = (np.cov(a.T) + np.cov(b.T)).reshape(usable.sum(), -1) + 1e-6 * np.eye(usable.sum())
    found = np.zeros(both.shape[1])
    found[usable] = np.linalg.solve(within, a.mean(axis=0) - b.mean(axis=0)) / spread[usable]
    return found


def _rates(events: Array, others: Array, miss: float) -> tuple[float, float]:
    """At least so likely on one side, and at most so likely on the other; both right but for `miss`."""
    hits, runs, false, rest = int(events.sum()), len(events), int(others.sum()), len(others)
    at_least = float(stats.beta.ppf(miss / 2, hits, runs - hits + 1)) if hits else 0.0
    at_most = float(stats.beta.isf(miss / 2, false + 1, rest - false)) if false < rest else 1.0
    return at_least, at_most


def _mu(at_least: float, at_most: float) -> float:
    """Of the Gaussian mechanism with such an event; no smaller mu allows it."""
    if not 0 < at_least or not at_most < 1:
        return 0.0
    return max(0.0, float(stats.norm.ppf(at_least) - stats.norm.ppf(at_most)))
