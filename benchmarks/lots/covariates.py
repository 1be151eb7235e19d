"""Covariates drawn at random, with public bounds that a user might have declared."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

import dpstats as dps

Array = np.ndarray
KINDS = {
    "normal": 0.3,
    "skewed": 0.15,
    "bounded": 0.15,
    "counts": 0.1,
    "heavy": 0.05,
    "amounts": 0.05,
    "flag": 0.12,
    "factor": 0.1,
    "calendar": 0.03,
}
# levels of which rows have about as many: weekdays, months, regions, hours, days and weeks
EVEN = (7, 12, 16, 24, 31, 52)
FARTHEST = 3.3  # sds of the latent normal within which bounds of looseness 1 lie
POSITIVE = ("skewed", "counts", "amounts")


def pick(rng: np.random.Generator, shares: dict[str, float]) -> str:
    """One of the keys, as often as its share."""
    weights = np.array(list(shares.values()))
    return str(rng.choice(list(shares), p=weights / weights.sum()))


@dataclass(frozen=True)
class Column:
    """One variable.

    Attributes
    ----------
    name, kind : str
    shape : float
        Of its law: sd of a log, mean of counts, degrees of freedom, share of amounts that are not 0.
    place, size : float
        It is place + size times a draw of the law.
    looseness : float
        Width of the declared bounds over that of the rows.
    where : float
        From 0 to 1, where in the declared bounds the rows lie.
    shares : array
        Of the levels of a factor.
    """

    name: str
    kind: str
    shape: float
    place: float
    size: float
    looseness: float
    where: float
    shares: Array = field(default_factory=lambda: np.ones(1))

    @property
    def coded(self) -> bool:
        """Whether it has levels, and no bounds."""
        return self.kind in ("flag", "factor", "calendar")

    def values(self, latent: Array) -> Array:
        """Of a standard normal number for each row."""
        if self.coded:
            cuts = stats.norm.ppf(np.cumsum(self.shares)[:-1])
            codes = np.searchsorted(cuts, latent)
            return codes if self.kind == "flag" else np.array(self.levels)[codes]
        return self.place + self.size * self._standard(latent)

    def _standard(self, latent: Array) -> Array:
        if self.kind == "skewed":
            return np.exp(self.shape * latent)
        if self.kind == "bounded":
            return stats.norm.cdf(latent)
        if self.kind == "counts":
            shares = special.pdtr(np.arange(self.shape + 40 * self.shape**0.5 + 40), self.shape)
            return np.searchsorted(shares, special.ndtr(latent)).astype(float)
        if self.kind == "amounts":
            above = np.minimum(stats.norm.sf(latent) / self.shape, 1.0)
            return -np.log(above)  # exponential
        if self.kind == "heavy":
            return stats.t.ppf(stats.norm.cdf(latent), self.shape)
        return latent

    @property
    def levels(self) -> list[str]:
        return [f"l{j}" for j in range(len(self.shares))]

    @property
    def bounds(self) -> tuple[float, float]:
        """Rows of FARTHEST sds fit in."""
        low, high = self.values(np.array([-FARTHEST, FARTHEST]))
        width = max(high - low, abs(self.size))
        if self.kind in POSITIVE and self.place == 0 and self.where < 0.5:
            return 0.0, low + width * self.looseness
        below = self.where * (self.looseness - 1) * width
        return low - below, low - below + self.looseness * width

    @property
    def declared(self) -> Any:
        if self.kind == "flag":
            return dps.flag()
        return dps.levels(*self.levels) if self.coded else dps.bounded(*self.bounds)


def draw_column(
    rng: np.random.Generator,
    name: str,
    looseness: tuple[float, float],
    kinds: dict[str, float] = KINDS,
    least: tuple[float, float] = (0.01, 0.3),
) -> Column:
    """One of these kinds; `least` are the ends of the share of the rarest level."""
    kind = pick(rng, kinds)
    shape = {
        "skewed": rng.uniform(0.3, 1.3),
        "counts": 10 ** rng.uniform(-0.5, 1.5),
        "heavy": rng.uniform(3, 8),
        "amounts": 10 ** rng.uniform(-1.5, -0.5),
    }.get(kind, 1.0)
    size = 1.0 if kind == "counts" else 10 ** rng.uniform(-2, 4)
    place = size * rng.normal() * 10 ** rng.uniform(-1, 2)
    if kind in ("counts", "amounts") or (kind == "skewed" and rng.uniform() < 0.7):
        place = 0.0
    rarest, count = (
        10 ** rng.uniform(np.log10(least[0]), np.log10(least[1])),
        2 if kind == "flag" else int(rng.integers(3, 7)),
    )
    shares = np.append(rng.dirichlet(np.full(count - 1, 4.0)) * (1 - rarest), rarest)
    if kind == "calendar":
        even = int(rng.choice(EVEN))
        shares = np.full(even, 1 / even)
    tight, loose = looseness
    wide = tight * (loose / tight) ** rng.uniform()
    return Column(name, kind, shape, place, size, wide, rng.uniform(), shares)


@dataclass(frozen=True)
class Covariates:
    """All columns, and how they hang together.

    Attributes
    ----------
    columns : tuple of Column
    correlation : float
        Of the latent normal numbers.
    paired : bool
        Of neighbours only, else of all.
    """

    columns: tuple[Column, ...]
    correlation: float
    paired: bool

    def draw(self, rng: np.random.Generator, n: int) -> pd.DataFrame:
        """Rows as a user has them, moved into their bounds."""
        d, rho = len(self.columns), self.correlation
        latent = rng.normal(size=(n, d))
        if self.paired:
            latent[:, 1::2] = rho * latent[:, : d - d % 2 : 2] + np.sqrt(1 - rho**2) * latent[:, 1::2]
        else:
            latent = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * latent
        found = {}
        for column, numbers in zip(self.columns, latent.T, strict=True):
            values = column.values(numbers)
            found[column.name] = values if column.coded else np.clip(values, *column.bounds)
        return pd.DataFrame(found, index=range(n))


def draw_covariates(rng: np.random.Generator, d: int) -> Covariates:
    """d columns."""
    looseness = 10 ** (rng.uniform(0, 3) if rng.uniform() < 0.6 else rng.uniform(0, 0.6))
    columns = tuple(draw_column(rng, f"x{j}", (1.0, looseness)) for j in range(d))
    rho = (0.0, rng.uniform(0, 0.9), rng.uniform(0.9, 0.98))[rng.choice(3, p=[0.35, 0.45, 0.2])]
    return Covariates(columns, rho if d > 1 else 0.0, bool(rng.uniform() < 0.5))
