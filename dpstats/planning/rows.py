"""Made-up rows: variables with the spreads and correlations that a user knows, inside the public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from dpstats.planning.knowledge import Known, Spread
from dpstats.schema import Event, Flag, Levels, Schema, Variable

Array = np.ndarray

_CALIBRATION = 20_000  # rows; the error of a correlation among them is below .01
_ROUNDS = 4  # of pulling correlations of normals until those of the variables are right
_STRAIGHT = 0.01  # a skewness that nobody sees
_NODES = 2001  # of a quantile function, which is interpolated between them


class Maker:
    """Draws covariates.

    A number follows a beta law between its bounds, which has any mean and sd that bounds allow: it is nearly
    normal far from the bounds, and skewed near one. One whose skewness is told follows a shifted log-normal
    law. Normals with a copula's correlations tie numbers and
    flags together. Levels are drawn for themselves.

    Parameters
    ----------
    known : Known
    schema : Schema
    names : sequence of str
        The variables to draw.
    """

    def __init__(self, known: Known, schema: Schema, names: tuple[str, ...]) -> None:
        self._known, self._schema = known, schema
        self._names = [name for name in names if name in known.spreads]
        self._levels = [name for name in names if name in known.shares]
        self._quantiles = {name: _quantiles(schema[name], known.spreads[name]) for name in self._names}
        self._root = self._latent_root()

    def draw(self, rng: np.random.Generator, n: int) -> dict[str, Any]:
        """Columns of n rows by name."""
        if self._known.frame is not None:
            frame = self._known.frame
            return dict(frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True).items())
        numbers = self._numbers(rng.normal(size=(n, len(self._names))) @ self._root.T)
        columns: dict[str, Any] = {}
        for name, values in zip(self._names, numbers.T, strict=True):
            variable = self._schema[name]
            columns[name] = coded(variable, values) if isinstance(variable, Flag | Event) else values
        for name in self._levels:
            variable = self._schema[name]
            assert isinstance(variable, Levels)
            codes = rng.choice(len(variable.all), n, p=self._known.shares[name])
            columns[name] = pd.Categorical.from_codes(codes, list(variable.all))
        return columns

    def _numbers(self, latent: Array) -> Array:
        found = np.empty_like(latent)
        for j, name in enumerate(self._names):
            at, values = self._quantiles[name]
            if isinstance(self._schema[name], Flag | Event):
                found[:, j] = latent[:, j] > special.ndtri(1 - self._known.spreads[name].mean)
            else:
                found[:, j] = np.interp(latent[:, j], at, values)
        return found

    def _latent_root(self) -> Array:
        """Root of the normals' correlations, for which those of the variables are as told."""
        d, place = len(self._names), {name: j for j, name in enumerate(self._names)}
        wanted = np.eye(d)
        for (first, second), rho in self._known.correlations.items():
            if first in place and second in place:
                wanted[place[first], place[second]] = wanted[place[second], place[first]] = rho
        if np.array_equal(wanted, np.eye(d)):
            return wanted
        latent, normal = wanted.copy(), np.random.default_rng(0).normal(size=(_CALIBRATION, d))
        told = ~np.eye(d, dtype=bool) & (wanted != 0)
        for _ in range(_ROUNDS):
            found = np.corrcoef(self._numbers(normal @ _root(latent).T), rowvar=False)
            latent[told] = np.clip((latent + wanted - found)[told], -0.999, 0.999)
        return _root(latent)


def coded(variable: Flag | Event, ones: Array) -> pd.Categorical:
    """Codes of a flag or an event."""
    true, false = variable.codes
    return pd.Categorical.from_codes(np.asarray(ones, dtype=int), [false, true])


def _root(correlations: Array) -> Array:
    """Symmetric root of the nearest correlations that are possible."""
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 1e-6))
    return root / np.linalg.norm(root, axis=1)[:, None]


def _quantiles(variable: Variable, spread: Spread) -> tuple[Array, Array]:
    """Normal deviates, and the values of a variable that are as frequent."""
    at = np.linspace(-5, 5, _NODES)
    if isinstance(variable, Flag | Event | Levels):
        return at, at
    low, high = variable.bounds
    if spread.skewness is not None:
        return at, np.clip(spread.mean + spread.sd * _skewed(at, spread.skewness), low, high)
    mean, sd = (spread.mean - low) / (high - low), spread.sd / (high - low)
    size = mean * (1 - mean) / sd**2 - 1
    values = stats.beta.ppf(special.ndtr(at), mean * size, (1 - mean) * size)
    return at, low + (high - low) * values


def _skewed(at: Array, skewness: float) -> Array:
    """Quantiles of a shifted log-normal law of mean 0 and sd 1; a normal one without skewness.

    With w = exp(s^2), the skewness of exp(s Z) is (w + 2) sqrt(w - 1), the root of w^3 + 3 w^2 - 4 = skew^2.
    """
    if abs(skewness) < _STRAIGHT:
        return at
    w = optimize.brentq(lambda w: (w + 2) ** 2 * (w - 1) - skewness**2, 1.0, 2.0 + skewness**2)
    s = np.log(w) ** 0.5
    values = (np.exp(s * np.sign(skewness) * at) - w**0.5) / (w * (w - 1)) ** 0.5
    return np.asarray(np.sign(skewness) * values)
