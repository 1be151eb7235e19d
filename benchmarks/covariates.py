"""Covariates of simulated regressions, and what is public about their ranges.

"cond1" and "cond1000" are those of the first prototypes: x ~ N(m, Psi) with m ~ N(0, I) and Psi = I, or
Psi = Q D Q' with D from 10 to .01; m and Q are drawn anew in each replication. "erm" is half
uniform, half binary, "corr9" is normal with correlations of .9; other designs have independent columns.
Values beyond their public bounds are moved to them before a response is drawn, so that coefficients are the
truth.
"""

import zlib
from typing import Any

import numpy as np
from scipy.special import ndtr

import dpstats as dps

Array = np.ndarray
SHARES = {"binary": (0.5, 0.1, 0.02)}
RARE = 0.01  # share of ones, in every second column of "rare"; the others are normal
FIXED = {"binary": (0.0, 1.0), "lognormal": (-1.06, 8.0), "erm": (-1.0, 1.0)}  # bounds that are not in sds
ERM_CORRELATION, ERM_SHARE = 0.3, 0.3
CORRELATION = 0.9
PILOT = 50_000
TIGHT = 4  # half-width of public bounds in sds
HEAVY = 8  # of a response that is not normal


class Covariates:
    """One population of p covariates.

    Parameters
    ----------
    design : str
    half : int
        Half-width of public bounds in sds. If TIGHT, about the mean; else their centre is up to half of it
        away.
    p : int
    rng : Generator
        Draws the population now, its bounds in `settle`, and rows after that.

    Attributes
    ----------
    bounds : array, shape (p, 2)
    moment : array, shape (p + 1, p + 1)
        E xx' with the intercept. Both are there after `settle`.
    """

    bounds: Array
    moment: Array

    def __init__(self, design: str, half: int, p: int, rng: np.random.Generator) -> None:
        self.design, self.half, self.p, self.rng = design, half, p, rng
        self.mean, self.root = np.zeros(p), np.eye(p)
        if design.startswith("cond"):
            self.mean = rng.normal(size=p)
        if design == "cond1000":
            turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
            self.root = turn * np.sqrt(np.logspace(1, -2, p))
        if design in ("corr9", "erm"):
            correlation = CORRELATION if design == "corr9" else ERM_CORRELATION
            self.root = np.linalg.cholesky(np.full((p, p), correlation) + (1 - correlation) * np.eye(p))

    def settle(self) -> Array:
        """Choose the public bounds, and return many rows, with the constant, within them."""
        raw = self._raw(PILOT)
        self.bounds = self._bounds(raw)
        pilot = with_constant(np.clip(raw, *self.bounds.T))
        self.moment = pilot.T @ pilot / PILOT
        if self.design.startswith("cond") and self.half >= TIGHT:
            self.moment = _moment(self.mean, self.root)
        return pilot

    def draw(self, n: int) -> Array:
        return np.clip(self._raw(n), *self.bounds.T)

    def range(self, mean: float, spread: float, half: int) -> tuple[float, float]:
        """Public bounds; if neither TIGHT nor HEAVY, the mean is up to half of the way off their centre."""
        off = 0.0 if half in (TIGHT, HEAVY) else self.rng.uniform(-0.5, 0.5)
        centre = mean + off * half * spread
        return float(centre - half * spread), float(centre + half * spread)

    def _raw(self, n: int) -> Array:
        p, design = self.p, self.design
        if design == "binary":
            return (self.rng.random((n, p)) < np.resize(SHARES[design], p)).astype(float)
        if design == "t4":
            return self.rng.standard_t(4, size=(n, p)) / np.sqrt(2)
        normal = self.rng.normal(size=(n, p))
        if design == "lognormal":
            return (np.exp(0.8 * normal) - 1.377) / 1.3
        if design == "rare":
            normal[:, ::2] = ndtr(normal[:, ::2]) < RARE
            return normal
        if design == "erm":
            uniform = ndtr(normal @ self.root.T)
            signs = np.where(uniform < ERM_SHARE, 1.0, -1.0)
            return np.where(np.arange(p) < (p + 1) // 2, 2 * uniform - 1, signs)
        return self.mean + normal @ self.root.T

    def _bounds(self, raw: Array) -> Array:
        if self.design in FIXED:
            return np.tile(FIXED[self.design], (self.p, 1))
        spread = np.sqrt(np.sum(self.root**2, axis=1))
        bounds = [self.range(*pair, self.half) for pair in zip(self.mean, spread, strict=True)]
        if self.design == "rare":
            bounds[::2] = [(0.0, 1.0)] * len(bounds[::2])
        return np.array(bounds)


def with_constant(exog: Array) -> Array:
    return np.column_stack([np.ones(len(exog)), exog])


def _moment(mean: Array, root: Array) -> Array:
    with_one = np.append(1.0, mean)
    moment = np.outer(with_one, with_one)
    moment[1:, 1:] += root @ root.T
    return moment


class Simulated:
    """A regression of y on covariates x1, x2, ..., of which cells say more; d counts the intercept, too."""

    name: str
    n: int
    d: int

    @property
    def names(self) -> list[str]:
        return [f"x{j}" for j in range(1, self.d)]

    @property
    def formula(self) -> str:
        return "y ~ " + " + ".join(self.names)

    def ranges(self, x: Covariates) -> dict[str, Any]:
        """Public bounds by name."""
        return {name: dps.bounded(*pair) for name, pair in zip(self.names, x.bounds, strict=True)}

    def population(self, rng: np.random.Generator) -> Any:
        """What `draw(n)` draws rows from."""
        raise NotImplementedError

    def sample(self, family: str, rep: int, public: int = 0) -> tuple[Any, Any]:
        """One replication, the same for every budget, and `public` more rows of its population, or None."""
        rng = np.random.default_rng([zlib.crc32(f"{family} {self.name}".encode()), rep])
        population = self.population(rng)
        return population.draw(self.n), population.draw(public) if public else None
