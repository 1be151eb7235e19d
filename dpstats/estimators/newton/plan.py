"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/glm.md#plan.
"""

import math

from dpstats.estimators.engine.plan import EARLY_STEPS, LOOK, TAIL_STEPS, Plan, Stage, alike, growing

# Shares of mu^2, beside those of looks; the averaged steps have what the others leave, and that of rows
# apart where the declared bounds are too near for any.
EARLY, FAR = 0.24, 0.06
# The same where a column is skewed: early steps pay for the first, and of a yes or no averaged ones for the
# second.
_HEARD, _HEARD_BY_ALL = 0.15, 0.18
# Rows times mu from which it is released how counts scatter: of fewer, noise hides what it would be good for
MANY = 3000.0
TOLD = 0.01  # whether covariates tell a yes or no
# Early and averaged steps where n mu / k^1.5 is more: the less noisy a step, the fewer converge, as those of
# Newton's method do without noise. With fewer rows more steps lose fewer intervals.
_STEPS = ((3000.0, (6, 3)), (60.0, (6, 4)))


def count_steps(n: int, mu: float, k: int) -> tuple[int, int]:
    """Early and averaged steps of a fit of k coefficients to n rows; `mu` is the cost per row."""
    return next((steps for least, steps in _STEPS if n * mu / k**1.5 > least), (EARLY_STEPS, TAIL_STEPS))


def make_plan(
    mu: float,
    early_steps: int = EARLY_STEPS,
    tail_steps: int = TAIL_STEPS,
    constant: bool = True,
    two_valued: bool = False,
    laws: bool = False,
    apart: bool = True,
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Without an intercept no bend is looked for, nor what lies in the tail of counts and amounts. Of a yes or
    no it is asked instead whether covariates tell it; whether scores of the others bend, which have wider
    limits, has two shares. `laws`: whether it is asked how counts scatter.
    `apart`: whether rows may be, of columns that have more than two values.
    """
    tails, steps = LOOK * (constant and not two_valued), "score and information"
    check, told = LOOK * constant * (1 if two_valued else 2), TOLD * two_valued
    rest = 1 - LOOK * (2 + apart + laws) - EARLY - FAR - check - tails - told
    stages = dict(
        columns=Stage(LOOK, "column means"),
        octaves=Stage(LOOK, "column octaves"),
        early=Stage(EARLY, steps, growing(early_steps)),
        tail=Stage(rest, steps, alike(tail_steps)),
        laws=Stage(LOOK * laws, "scatter of counts"),
        far=Stage(FAR, "check of long rows"),
        check=Stage(check, "check for bends"),
        beyond=Stage(tails, "check of the tail"),
        told=Stage(told, "check for separation"),
        apart=Stage(LOOK * apart, "rows apart in loose bounds"),
    )
    return Plan(mu, False, stages)


def stepping(plan: Plan) -> Plan:
    """The plan with as many steps as few rows have, which cost the same together."""
    return plan.in_steps(early=growing(EARLY_STEPS), tail=alike(TAIL_STEPS))


def hearing_more(plan: Plan, two_valued: bool) -> Plan:
    """The plan of a fit with a skewed column, whose long rows are few and lie far out.

    Intervals of counts and amounts are as short as averaged steps are exact, and these keep what they have.
    """
    plan = plan.lent("early", "far", plan.total * math.sqrt(_HEARD))
    return plan.lent("tail", "far", plan.total * math.sqrt(_HEARD_BY_ALL)) if two_valued else plan
