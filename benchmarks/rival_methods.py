"""Published private linear regressions, written down plainly; what ours are compared with.

All get rows of length at most B and responses within 1, spend mu in Gaussian differential privacy where
neighbours replace one row, and return lines, one for each setting tried. Where there are several settings the
comparison takes the one that is best for the set, an oracle that costs them nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import dpstats as dps

Array = np.ndarray
Lines = dict[str, Array]
DELTA = 1e-6
_LOG = math.log(6 / DELTA)


def least_squares(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Without privacy."""
    return {"": np.linalg.lstsq(rows, endog, rcond=None)[0]}


def _symmetric(k: int, sd: float, rng: np.random.Generator) -> Array:
    upper = np.triu(rng.normal(scale=sd, size=(k, k)))
    return np.asarray(upper + np.triu(upper, 1).T)


def _penalty(gram: Array, length: float, sd: float, rng: np.random.Generator) -> float:
    """That of AdaSSP, for noise of this sd: what the noise of the matrix asks for beyond its own spectrum."""
    k, square = len(gram), length**2
    least = float(np.linalg.eigvalsh(gram)[0]) + sd * square * (rng.normal() - math.sqrt(_LOG))
    return max(0.0, math.sqrt(k * math.log(2 * k**2 / 0.05)) * sd * square - max(least, 0.0))


def adassp(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Wang 2018. With B = 1 replacing a row moves (xx', xy) by at most sqrt 4.5 (two rows at 60 degrees with
    responses 1 and -1) and the least eigenvalue by 1, so noise of sd sqrt(5.5) / mu spends mu."""
    sd, gram, k = math.sqrt(5.5) / mu, rows.T @ rows, rows.shape[1]
    penalty = _penalty(gram, length, sd, rng)
    noisy = gram + _symmetric(k, sd * length**2, rng) + penalty * np.eye(k)
    cross = rows.T @ endog + rng.normal(scale=sd * length, size=k)
    return {"": np.linalg.solve(noisy, cross)}


def boosted(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Tang et al. 2023: AdaSSP's matrix once, then scores of clipped residuals, round by round."""
    gram, k, lines = rows.T @ rows, rows.shape[1], {}
    for rounds in (1, 3, 10, 30):
        for limit in (0.1, 0.3, 1.0):
            sd = math.sqrt(3) / mu
            penalty = _penalty(gram, length, sd, rng)
            noisy = gram + _symmetric(k, math.sqrt(2) * sd * length**2, rng) + penalty * np.eye(k)
            line = np.zeros(k)
            for _ in range(rounds):
                cross = rows.T @ np.clip(endog - rows @ line, -limit, limit)
                cross += rng.normal(scale=2 * limit * length * sd * math.sqrt(rounds), size=k)
                line = line + np.linalg.solve(noisy, cross)
            lines[f"{rounds} rounds, limit {limit}"] = line
    return lines


def descent(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Gradient descent with clipped gradients."""
    n, k, lines = *rows.shape, {}
    steepest = float(np.linalg.eigvalsh(rows.T @ rows)[-1]) / n  # looks at the rows: an oracle's step
    norms = np.linalg.norm(rows, axis=1)
    for steps in (1, 3, 10, 30):
        for limit in (0.1, 0.3, 1.0):
            for rate in (0.3, 1.0, 3.0):
                line = np.zeros(k)
                for _ in range(steps):
                    residual = endog - rows @ line
                    size = np.abs(residual) * norms
                    most = limit * length
                    kept = residual * np.minimum(1.0, most / np.maximum(size, 1e-12))
                    noise = rng.normal(scale=2 * most * math.sqrt(steps) / (n * mu), size=k)
                    line = line + rate / steepest / math.sqrt(steps) * (rows.T @ kept / n + noise)
                lines[f"{steps} steps, limit {limit}, rate {rate}"] = line
    return lines


def tukey(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Amin et al. 2022, simplified: a line of great depth, coordinate by coordinate, among those of parts.

    The check that such a line exists, which costs the published method half its budget, is left out, and
    the exponential mechanism gets the epsilon of mu at DELTA. Both are in the rival's favour.
    """
    n, k, lines = *rows.shape, {}
    epsilon = dps.gdp(mu).to_approx(DELTA).epsilon
    for size in (k + 1, 2 * k, 4 * k):
        parts = n // size
        if parts < 8:
            lines[f"{size} rows a part"] = np.zeros(k)
            continue
        order = rng.permutation(n)[: parts * size].reshape(parts, size)
        lists = [np.linalg.lstsq(rows[part], endog[part], rcond=None)[0] for part in order]
        lines[f"{size} rows a part"] = _deep(np.sort(np.array(lists), axis=0), epsilon, rng)
    return lines


def _deep(found: Array, epsilon: float, rng: np.random.Generator) -> Array:
    """A point of a box of depth at least a quarter, its depth drawn by the exponential mechanism."""
    m = len(found)
    depths = np.arange(m // 4, m // 2)
    widths = np.maximum(found[m - 1 - depths] - found[depths], 1e-300)
    weights = np.log(widths).sum(axis=1) + epsilon * depths / 2
    depth = int(depths[np.argmax(weights + rng.gumbel(size=len(depths)))])
    return rng.uniform(found[depth], found[m - 1 - depth])


RIVALS: dict[str, Callable[[Array, Array, float, float, np.random.Generator], Lines]] = {
    "least squares": least_squares, "AdaSSP": adassp, "boosted AdaSSP": boosted, "DP-GD": descent,
    "TukeyEM": tukey,
}  # fmt: skip
