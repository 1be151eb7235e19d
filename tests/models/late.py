"""Made-up units that are watched late, for the tests of left-truncated fits."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats.families import DISTS

SCHEMA = dps.Schema(
    start=dps.bounded(0, 4000),
    time=dps.bounded(0.1, 5000),
    failed=dps.event(),
    x=dps.bounded(-4, 4),
    y=dps.bounded(-4, 4),
)
FORMULA = "Surv(start, time, failed) ~ x + y"
TRUTH = np.array([4.0, 0.4, -0.3, np.log(0.5)])


def late(
    n: int, seed: int = 0, dist: str = "weibull", entry: float = 3.5, at_once: float = 0.3
) -> dict[str, Any]:
    """Columns of n units that lived until their entry, at e^entry in the middle; about 30% are censored.

    Entry and censoring depend on x. A share `at_once` has no delay: half of them enter at 0.
    """
    generator = np.random.default_rng(3000 + seed)
    pool = 12 * n
    x, y = np.clip(generator.normal(size=(2, pool)), -4, 4)
    error = DISTS[dist].family.quantile(generator.uniform(size=pool))
    life = np.column_stack([np.ones(pool), x, y]) @ TRUTH[:-1] + np.exp(TRUTH[-1]) * error
    start = entry + 0.3 * x + generator.normal(0, 0.5, pool)
    start[generator.uniform(size=pool) < at_once] = -np.inf
    limit = np.where(np.isfinite(start), start, 3.4) + generator.exponential(1.4, pool) + 0.1 * x
    seen = np.flatnonzero(np.minimum(life, limit) > start)[:n]
    assert len(seen) == n
    columns = dict(start=np.exp(start), time=np.exp(np.minimum(life, limit)), failed=(life <= limit) * 1.0)
    return {name: column[seen] for name, column in dict(columns, x=x, y=y).items()}


def log_likelihood(data: dict[str, Any], dist: str, params: np.ndarray) -> float:
    """Of (Intercept, x, y, log sigma), given that units lived until their entry."""
    family, sigma = DISTS[dist].family, np.exp(params[-1])
    location = params[0] + params[1] * data["x"] + params[2] * data["y"]
    with np.errstate(divide="ignore"):
        z, entry = ((np.log(data[name]) - location) / sigma for name in ("time", "start"))
    hazard, before = (np.exp(family.log_cumulative_hazard(at)) for at in (z, np.maximum(entry, -500)))
    return float(np.sum(data["failed"] * (family.log_hazard(z) - params[-1]) - hazard + before))


SURVIVORS = "Surv(start, time, failed) ~ a + b + c + d"
SURVIVORS_SCHEMA = dps.Schema(
    start=dps.bounded(-8, 8),
    time=dps.bounded(-8, 8),
    failed=dps.event(),
    a=dps.bounded(-4, 4),
    b=dps.bounded(-4, 4),
    c=dps.bounded(-4, 4),
    d=dps.bounded(-4, 4),
)
SURVIVORS_TRUTH = np.array([0.0, 0.5, -0.5, 0.5, -0.5, np.log(0.5)])


def survivors(n: int, seed: int, dist: str) -> dict[str, Any]:
    """Columns of n units, all watched so late that four of five are never seen, and until they fail."""
    generator, pool = np.random.default_rng(seed), 16 * n
    x = np.clip(generator.normal(size=(4, pool)), -4, 4)
    life = SURVIVORS_TRUTH[1:-1] @ x + 0.5 * DISTS[dist].family.quantile(generator.uniform(size=pool))
    start = 1.0 + 0.5 * generator.normal(size=pool)
    seen = np.flatnonzero(life > start)[:n]
    assert len(seen) == n
    columns = dict(start=start[seen], time=life[seen], failed=np.ones(n))
    return columns | dict(zip("abcd", x[:, seen], strict=True))


def survivors_errors(data: dict[str, Any], dist: str) -> np.ndarray:
    """Standard errors of maximum likelihood at the truth, by second differences of the log-likelihood."""
    family, step = DISTS[dist].family, 1e-3 * np.eye(6)

    def value(params: np.ndarray) -> float:
        location = params[0] + params[1:-1] @ np.array([data[name] for name in "abcd"])
        z, entry = ((data[name] - location) / np.exp(params[-1]) for name in ("time", "start"))
        hazard, before = (np.exp(family.log_cumulative_hazard(at)) for at in (z, entry))
        return float(np.sum(family.log_hazard(z) - params[-1] - hazard + before))

    def second(i: int, j: int) -> float:
        at = SURVIVORS_TRUTH
        both = value(at + step[i] + step[j]) + value(at - step[i] - step[j])
        return (value(at + step[i] - step[j]) + value(at - step[i] + step[j]) - both) / 4e-6

    return np.sqrt(np.diag(np.linalg.inv([[second(i, j) for j in range(6)] for i in range(6)])))
