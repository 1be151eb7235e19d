"""How a budget is split, and how strong the penalty is: public numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.budget import Budget, Pure
from dpstats.families import MarginLoss

# Shares of epsilon, or of mu squared. Of the paper's experiments: 0.5, 0.25 and 0.25 of epsilon, and
# rho = epsilon^2 / 2 of each.
MINIMUM_PURE, MINIMUM = 0.5, 2 / 3
# spec/erm.md E4
DEBIASED_PURE, DEBIASED = 0.7, 0.7
# Share of the minimum's cost that the slack of the determinants takes, and the most it takes: they set the
# penalty.
SLACK, MOST_SLACK = 0.05, 0.5
PUBLISHED_PENALTY = 0.001


@dataclass(frozen=True)
class Plan:
    """Cost of the minimum and of the matrices after it, in epsilon if `pure`, else in mu."""

    pure: bool
    minimum: float
    matrices: float

    def costs(self, matrices: str) -> dict[str, str]:
        """What is paid for, in words, for a ledger."""
        unit = "epsilon" if self.pure else "mu"
        return {"minimum": f"{unit} = {self.minimum:.4g}", matrices: f"{unit} = {self.matrices:.4g}"}


def make_plan(budget: Budget, debiased: bool = False) -> Plan:
    """Split a budget between the minimum and what says how it errs."""
    if isinstance(budget, Pure):
        share = DEBIASED_PURE if debiased else MINIMUM_PURE
        return Plan(True, budget.epsilon * share, budget.epsilon * (1 - share))
    share = DEBIASED if debiased else MINIMUM
    return Plan(False, budget.mu * math.sqrt(share), budget.mu * math.sqrt(1 - share))


def least_ridge(loss: MarginLoss, longest: float, cost: float) -> float:
    """The ridge, on the scale of the sum of losses, whose slack takes its share of a row's `cost`.

    It does not grow with the number of rows, so that the bias it makes falls as 1 / n (spec/erm.md C).
    """
    return loss.steepest * longest / math.expm1(min(SLACK * cost, MOST_SLACK))
