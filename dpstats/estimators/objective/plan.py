"""How a budget is split, and how strong the penalty is: public numbers only."""

import math
from dataclasses import dataclass

from scipy import special

from dpstats.budget import Budget, Gdp, Pure
from dpstats.estimators.engine.plan import Plan, Stage, left
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.families import MarginLoss

# Shares of epsilon, or of mu squared. Of the paper's experiments: 0.5, 0.25 and 0.25 of epsilon, and
# rho = epsilon^2 / 2 of each.
MINIMUM_PURE, MINIMUM = 0.5, 2 / 3
# Share of the minimum's cost that the slack of the determinants takes, and the most it takes: they set the
# penalty. A fit without penalty has its own (`Tuning`).
SLACK, MOST_SLACK = 0.05, 0.5


@dataclass(frozen=True)
class MinimumPlan:
    """Cost of a penalised minimum and of the matrices after it, each of the measure of its noise."""

    minimum: Pure | Gdp
    matrices: Pure | Gdp

    @property
    def costs(self) -> dict[str, Pure | Gdp]:
        """Of each kind of release, by name."""
        return {"minimum": self.minimum, "curvature and scores": self.matrices}


def make_plan(budget: Budget, pure_tilt: bool = False) -> MinimumPlan:
    """Split a budget between the minimum and what says how it errs.

    Parameters
    ----------
    budget : Budget
    pure_tilt : bool
        Have the minimum perturbed by noise of pure epsilon whatever the budget: of epsilon = mu, whose rho is
        that of mu.
    """
    if budget.pure:
        return MinimumPlan(
            Pure(budget.epsilon * MINIMUM_PURE), Pure(left(budget.epsilon, MINIMUM_PURE, True))
        )
    mu = budget.mu * math.sqrt(MINIMUM)
    return MinimumPlan(Pure(mu) if pure_tilt else Gdp(mu), Gdp(left(budget.mu, MINIMUM)))


def make_debiased_plan(
    epsilon: float, robust: bool = False, constant: bool = True, tuning: Tuning = TUNING
) -> Plan:
    """Split a pure budget for a fit without penalty.

    Parameters
    ----------
    epsilon : float
    robust : bool
        With squared scores beside the curvature.
    constant : bool
        Whether the model has an intercept; without one no bend is looked for.
    tuning : Tuning
    """
    shares = tuning.shares
    stages = dict(
        columns=Stage(shares.columns, "column means"),
        octaves=Stage(shares.octaves, "column octaves"),
        minimum=Stage(shares.minimum + shares.check * (not constant), "minimum"),
        matrices=Stage(shares.matrices, "curvature and scores" if robust else "curvature"),
        far=Stage(shares.far, "check of long rows"),
        check=Stage(shares.check * constant, "check for bends"),
        told=Stage(shares.told, "check for separation"),
    )
    return Plan(epsilon, True, stages)


def least_ridge(
    loss: MarginLoss, longest: float, cost: float, share: float = SLACK, most: float = MOST_SLACK
) -> float:
    """The ridge, on the scale of the sum of losses, whose slack takes a `share` of a row's `cost`.

    It does not grow with the number of rows, so that the bias it makes falls as 1 / n
    (docs/theory/objective.md#the-penalised-fit).
    """
    return loss.steepest * longest / float(special.expm1(min(share * cost, most)))
