"""Made-up rows and a small design, for tests of the curator that should not depend on the formula engine."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from dpstats.budget import Budget, gdp
from dpstats.curator import Curator
from dpstats.curator.blocks import PublicDesign, RowSource
from dpstats.curator.lattice import LatticeSum, coordinates
from dpstats.curator.noise import NoiseSource
from dpstats.families import SEV
from dpstats.families.score_bounds import Truncation
from dpstats.formula.block import Block
from dpstats.schema import ROW, Unit
from dpstats.testing import NoNoise, Recording, noise


@dataclass
class MadeRows:
    """A dict of columns: "x" (n, d), "time" (n,), "event" (n,)."""

    columns: dict[str, np.ndarray]
    unit: Unit = ROW

    @property
    def n(self) -> int:
        return len(self.columns["time"])

    def parts(self) -> tuple[()]:
        return ()

    def hold(self) -> None:
        pass

    def blocks(self, size: int = 2**14) -> Iterator[dict[str, np.ndarray]]:
        for start in range(0, self.n, size):
            yield {name: column[start : start + size] for name, column in self.columns.items()}


@dataclass
class MadeBlock:
    exog: np.ndarray
    time: np.ndarray
    event: np.ndarray
    ok: np.ndarray
    entry: np.ndarray | None = None
    ends: tuple[np.ndarray, np.ndarray] | None = None
    weight: np.ndarray | None = None
    stratum: np.ndarray | None = None
    kept: np.ndarray | None = None
    offset: np.ndarray | None = None
    span = Block.span


@dataclass
class MadeDesign:
    """``1 + x1 + ... + xd`` with x in [-bound, bound] and time in [1, 100]."""

    d: int
    bound: float = 1.0
    has_intercept: bool = True
    offset_bounds: tuple[float, float] = (0.0, 0.0)
    weights: str | None = None
    delayed: bool = False
    intervals: bool = False
    strata: int = 1
    subset: str | None = None

    @property
    def counts_units(self) -> bool:
        return self.weights is not None

    @property
    def names(self) -> tuple[str, ...]:
        return ("Intercept",) * self.has_intercept + tuple(f"x{j}" for j in range(self.d))

    def read(self, block: dict[str, np.ndarray], memory: object = None) -> MadeBlock:
        x, time, event = (np.asarray(block[name], dtype=float) for name in ("x", "time", "event"))
        ok = np.isfinite(x).all(axis=1) & np.isfinite(time) & np.isin(event, (0.0, 1.0))
        columns = [np.clip(x, -self.bound, self.bound)]
        if self.has_intercept:
            columns.insert(0, np.ones((len(x), 1)))
        exog = np.asfortranarray(np.hstack(columns))
        entry = np.asarray(block["entry"], dtype=float) if self.delayed else np.full(len(x), -np.inf)
        ok &= entry < np.clip(time, 1.0, 100.0)
        exog[~ok] = 0.0
        values = (np.where(ok, values, 0.0) for values in (np.clip(time, 1.0, 100.0), event))
        return MadeBlock(exog, *values, ok, entry)


def made_columns(n: int, d: int, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        "x": generator.uniform(-1.2, 1.2, (n, d)),
        "time": np.exp(generator.normal(2, 1, n)),
        "event": (generator.uniform(size=n) < 0.5).astype(float),
    }


def public_parameters(d: int) -> dict[str, dict[str, object]]:
    """Public parameters for each registered statistic on the made design."""
    middle, gamma = float(np.log(10)), np.linspace(0.5, -0.5, d + 1)
    shape = dict(center=np.zeros(d), scale=np.full(d, 0.5), y_center=middle, y_scale=0.5, log=True)
    slopes = np.column_stack([np.zeros(d), np.eye(d) + 0.2])
    signs = dict(shape, family=SEV, gamma=gamma, sigma=0.8, whitening=slopes, radius=1.0)
    return {
        "event_moments": dict(center=np.r_[np.zeros(d), middle], half=np.r_[np.ones(d), middle], log=True),
        "event_matrix": dict(shape, radius=2.0, limit=3.0),
        "location_score": dict(shape, family=SEV, c=3.0, gamma=gamma, sigma=0.8),
        "martingale_score": dict(
            shape,
            where=Truncation(SEV, 3.0, (-1.0, 2.0), (-4.0, 1.0)),
            gamma=gamma,
            sigma=0.8,
            pivot=np.linspace(1.0, -0.5, d + 1),
            whitening=np.eye(d + 1) + 0.2,
            radius=2.0,
            matrix_share=0.7,
        ),
        "sign_score": signs,
        "sign_sizes": dict(signs, longest=1.5),
    }


def under(
    source: NoiseSource | None,
    rows: RowSource,
    design: PublicDesign,
    budget: Budget,
    block_rows: int | None = None,
) -> Curator:
    """A curator under noise of tests, or that of its context; it may read fewer rows at a time."""
    kind = Curator if block_rows is None else type("Small", (Curator,), {"block_rows": block_rows})
    with noise(source) if source else nullcontext():
        return kind(rows, design, budget)


def vector(lattice: LatticeSum) -> np.ndarray:
    """The sums so far."""
    return coordinates(lattice._parts, lattice.total)


def exact(columns: dict[str, np.ndarray], name: str, block_rows: int = 2**14, **public: object) -> np.ndarray:
    """What the curator would noise."""
    recording = Recording(NoNoise())
    with noise(recording):
        design = MadeDesign(columns["x"].shape[1])
        under(None, MadeRows(columns), design, gdp(2.0), block_rows).release(name, 1.0, **public)
    return recording.records[0].exact
