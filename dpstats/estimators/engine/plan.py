"""How a fit shares its budget among its releases, as data: public before any row is read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

# Of the first stage. On random designs a larger whole brought nothing more where n epsilon is large.
_SHARES = (0.12, 0.08, 0.3, 0.5)
EARLY_STEPS, TAIL_STEPS = 8, 8  # towards the root, and averaged
# Share of one look at where something is, or whether it is: an answer in a few numbers. Of models of times,
# shares of mu^2 of where the columns are, and of the check.
LOOK, TIME_COLUMNS, TIME_CHECK = 0.03, 0.09, 0.05
# Of models of times: what rows far out say, and what of it early steps pay, which only lead to the root.
FAR, FAR_BY_EARLY = 0.04, 0.03


class Stage(NamedTuple):
    """A part of a fit, of one release or more.

    Attributes
    ----------
    share : float
        Of epsilon under pure epsilon, else of mu squared.
    what : str
        Is released, in words for a ledger.
    weights : tuple of float
        Of the shares of its releases, against one another.
    """

    share: float
    what: str
    weights: tuple[float, ...] = (1.0,)


def alike(steps: int) -> tuple[float, ...]:
    """Weights of steps that are averaged."""
    return (1.0,) * steps


def growing(steps: int) -> tuple[float, ...]:
    """Weights of steps towards the root, of which the first need less.

    See docs/theory/survival.md#releases-and-shares.
    """
    return ((1.0, 1.0, 2.0, 2.0) + (3.0,) * steps)[:steps]


def left(total: float, share: float, pure: bool = False) -> float:
    """What is left of epsilon if `pure`, else of mu, when a share of it, or of its square, is spent first."""
    return total * (1 - share if pure else math.sqrt(1 - share))


@dataclass(frozen=True)
class Plan:
    """Stages of a fit in order, and what is spent on them.

    Attributes
    ----------
    total : float
        Epsilon, costs of which add up, if `pure`; else mu, whose squares do.
    pure : bool
    stages : dict of Stage
        By name, such as "columns", where the columns lie, or "check", at the end.
    """

    total: float
    pure: bool
    stages: dict[str, Stage]

    def __getitem__(self, name: str) -> tuple[float, ...]:
        """Cost of each step of a stage."""
        stage = self.stages[name]
        whole = sum(stage.weights)
        if self.pure:
            return tuple(self.total * stage.share * weight / whole for weight in stage.weights)
        return tuple(self.total * math.sqrt(stage.share * weight / whole) for weight in stage.weights)

    def cost(self, *names: str) -> float:
        """Cost of stages together."""
        costs = [cost for name in names for cost in self[name]]
        return sum(costs) if self.pure else math.hypot(*costs)

    def given(self, name: str, to: str) -> "Plan":
        """With the share of one stage, which is not needed, in another."""
        return self.with_shares({name: 0.0, to: self.stages[to].share + self.stages[name].share})

    def lent(self, name: str, to: str, cost: float) -> "Plan":
        """With a release of this cost, for which another stage pays what it lacks."""
        share = cost / self.total if self.pure else (cost / self.total) ** 2
        return self.with_shares({name: self.stages[name].share + self.stages[to].share - share, to: share})

    def with_shares(self, shares: Mapping[str, float]) -> "Plan":
        """With other shares of some stages."""
        moved = {name: self.stages[name]._replace(share=share) for name, share in shares.items()}
        return replace(self, stages=self.stages | moved)

    def in_steps(self, **weights: tuple[float, ...]) -> "Plan":
        """With other releases of some stages, which cost the same together."""
        moved = {name: self.stages[name]._replace(weights=each) for name, each in weights.items()}
        return replace(self, stages=self.stages | moved)

    def after(self, share: float) -> "Plan":
        """The same stages of what is left when a share of the total is spent first."""
        return replace(self, total=left(self.total, share, self.pure))

    @property
    def columns(self) -> "Plan":
        """Of where the columns lie."""
        return first_stage(self.cost("columns"), self.pure)

    @property
    def costs(self) -> dict[str, float]:
        """Of all releases of each kind together, by what they are of."""
        kinds: dict[str, list[str]] = {}
        for name, stage in self.stages.items():
            if stage.share:
                kinds.setdefault(stage.what, []).append(name)
        return {what: self.cost(*names) for what, names in kinds.items()}

    @property
    def unasked(self) -> frozenset[str]:
        """What is not released, as other stages have its share."""
        return frozenset(stage.what for stage in self.stages.values()) - set(self.costs)


def first_stage(total: float, pure: bool, skipped: int = 0) -> Plan:
    """Plan of the first stage, or of what follows so many of its releases: cells, means, octaves, moments."""
    names, whole = ("cells", "means", "octaves", "moments"), 1 - sum(_SHARES[:skipped])
    shares = [share / whole for share in _SHARES[skipped:]]
    stages = {name: Stage(share, name) for name, share in zip(names[skipped:], shares, strict=True)}
    return Plan(total, pure, stages)
