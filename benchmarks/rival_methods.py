"""Published private regressions, written down plainly; what ours are compared with.

All get rows of length at most B and responses within 1, or 0 and 1, spend mu in Gaussian differential privacy
where neighbours replace one row, and return lines, one for each setting tried. Where there are several
settings the comparison takes the one that is best for the set, an oracle that costs them nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

import dpstats as dps

Array = np.ndarray
Lines = dict[str, Array]
DELTA = 1e-6
LIMITS = (0.01, 0.03, 0.1, 0.3, 1.0)  # of residuals
STEPS = ((10, 1.8), (30, 1.0), (30, 1.8), (100, 1.0), (100, 1.8), (300, 1.0))  # of descents, and their size
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
    """Tang et al. 2023: AdaSSP's matrix once, then scores of clipped residuals, round by round.

    Rows are shortened to a share of the length that they may have.
    """
    lines, sd = {}, math.sqrt(3) / mu
    for share in (0.5, 1.0):
        most = share * length
        short = rows * np.minimum(1.0, most / np.linalg.norm(rows, axis=1))[:, None]
        gram, k = short.T @ short, rows.shape[1]
        for rounds, limit in itertools.product((1, 3, 10, 30), LIMITS):
            penalty = _penalty(gram, most, sd, rng)
            noisy = gram + _symmetric(k, math.sqrt(2) * sd * most**2, rng) + penalty * np.eye(k)
            line = np.zeros(k)
            for _ in range(rounds):
                cross = short.T @ np.clip(endog - short @ line, -limit, limit)
                cross += rng.normal(scale=2 * limit * most * sd * math.sqrt(rounds), size=k)
                line = line + np.linalg.solve(noisy, cross)
            lines[f"{rounds} rounds, limit {limit}, length {share}"] = line
    return lines


def descent(
    rows: Array,
    endog: Array,
    length: float,
    mu: float,
    rng: np.random.Generator,
    mean: Callable[[Array], Array] = np.asarray,
    curvature: float = 1.0,
) -> Lines:
    """Gradient descent with clipped gradients, for a mean of which the slope is at most `curvature`.

    Steps are in units of the longest that is sure not to diverge, by the rows' own moments.
    """
    n, k, lines = *rows.shape, {}
    steepest = curvature * float(np.linalg.eigvalsh(rows.T @ rows)[-1]) / n
    norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-12)
    rows, endog, norms = (np.asfortranarray(part, dtype=np.float32) for part in (rows, endog, norms))
    for limit, (steps, size) in itertools.product(LIMITS, STEPS):
        line, most = np.zeros(k), limit * length
        for noise in rng.normal(scale=2 * most * math.sqrt(steps) / (n * mu), size=(steps, k)):
            residual = endog - mean(rows @ line.astype(np.float32))
            kept = np.clip(residual, -most / norms, most / norms)
            line = line + size / steepest * (rows.T @ kept / n + noise)
        lines[f"{steps} steps of {size}, limit {limit}"] = line
    return lines


def logit_descent(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """The same for a logistic regression."""
    return descent(rows, endog, length, mu, rng, expit, 0.25)


def objective(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Kifer, Smith and Thakurta 2012: minimise the logistic loss + penalty |line|^2 / 2 + tilt'line.

    A share of the epsilon that mu is at DELTA pays for the Hessian, to which a row adds at most B^2 / 4 and
    which asks for a penalty, and the rest for a gradient that replacing a row moves by at most 2 B. The shift
    is taken for a constant, which is generous: it depends on the minimum.
    """
    epsilon, lines = dps.gdp(mu).to_approx(DELTA).epsilon, {}
    for share in (0.03, 0.1, 0.25, 0.5):
        penalty = length**2 / 4 / math.expm1(share * epsilon)
        sd = 2 * length / dps.approx((1 - share) * epsilon, DELTA).mu
        tilt = rng.normal(scale=sd, size=rows.shape[1])
        lines[f"share {share}"] = _minimum(rows, endog, penalty, tilt)
    return lines


def _minimum(rows: Array, endog: Array, penalty: float, tilt: Array) -> Array:
    """By Newton steps, the predictor moving by at most 2 in each."""
    line = np.zeros(rows.shape[1])
    for _ in range(50):
        share = expit(rows @ line)
        gradient = rows.T @ (share - endog) + penalty * line + tilt
        hessian = (rows * (share * (1 - share))[:, None]).T @ rows + penalty * np.eye(len(line))
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = float(np.abs(rows @ step).max())
        line = line - step * min(1.0, 2 / max(size, 1e-12))
        if size < 1e-8:
            break
    return line


def tukey(rows: Array, endog: Array, length: float, mu: float, rng: np.random.Generator) -> Lines:
    """Amin et al. 2022, simplified: a line of great depth, coordinate by coordinate, among those of parts.

    Half of the epsilon that mu is at DELTA checks that such a line exists, and the line is 0 where it is not
    known to. Taken from the paper are the check, the depth of a quarter, and the depth by coordinates.
    """
    n, k, lines = *rows.shape, {}
    epsilon = dps.gdp(mu).to_approx(DELTA).epsilon / 2
    for size in (k + 1, 2 * k, 4 * k):
        parts, line = n // size, np.zeros(k)
        if parts >= 8:
            order = rng.permutation(n)[: parts * size].reshape(parts, size)
            found = np.array([np.linalg.lstsq(rows[part], endog[part], rcond=None)[0] for part in order])
            line = _deep(np.sort(found, axis=0), epsilon, rng)
        lines[f"{size} rows a part"] = line
    return lines


def _deep(found: Array, epsilon: float, rng: np.random.Generator) -> Array:
    """A point of a box of depth at least a quarter, its depth drawn by the exponential mechanism."""
    m = len(found)
    depths = np.arange(m // 2)
    volumes = np.log(np.maximum(found[m - 1 - depths] - found[depths], 1e-300)).sum(axis=1)
    if _distance(volumes, m // 4, epsilon) + rng.laplace(scale=1 / epsilon) < math.log(0.5 / DELTA) / epsilon:
        return np.zeros(found.shape[1])
    deep = depths[m // 4 :]
    depth = int(deep[np.argmax(volumes[m // 4 :] + epsilon * deep / 2 + rng.gumbel(size=len(deep)))])
    return np.asarray(rng.uniform(found[depth], found[m - 1 - depth]))


def _distance(volumes: Array, depth: int, epsilon: float) -> int:
    """A lower bound of how many rows must change before few deep points are left (their Algorithm 2)."""
    for rows in range(depth - 1, -1, -1):
        further = np.arange(depth + rows + 2, len(volumes))
        left = volumes[depth - rows - 1] - volumes[further] - epsilon * (further - depth - rows - 1) / 2
        if len(left) and left.min() <= math.log(DELTA):
            return rows
    return -1


Method = Callable[[Array, Array, float, float, np.random.Generator], Lines]
RIVALS: dict[str, Method] = {
    "least squares": least_squares,
    "AdaSSP": adassp,
    "boosted AdaSSP": boosted,
    "DP-GD": descent,
    "TukeyEM": tukey,
}
LOGIT_RIVALS: dict[str, Method] = {"objective": objective, "DP-GD": logit_descent}
