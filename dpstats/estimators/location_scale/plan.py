"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/survival.md#releases-and-shares.
"""

import math

from dpstats.estimators.engine.plan import EARLY_STEPS as SIGN_STEPS
from dpstats.estimators.engine.plan import (
    FAR,
    FAR_BY_EARLY,
    LOOK,
    TAIL_STEPS,
    TIME_CHECK,
    TIME_COLUMNS,
    Plan,
    Stage,
    alike,
    growing,
)
from dpstats.estimators.location_scale.sign_tuning import TUNING

# Shares of mu^2; the averaged steps have what the others leave.
MATRIX, LOCATION, EARLY = 0.10, 0.015, 0.135
EARLY_STEPS, LOCATION_STEPS = 10, 4
# Counts of inspections, at the start, where bounds are chosen, and after the early steps. They tell of the
# information far better than the averaged steps, which pay for them.
INSPECTIONS, INSPECTED = 0.06, 3
# n mu over the root of how many numbers there are, times the root of the columns' share, at which a number is
# found in bounds of ten sds if half of the rows fail; and the most that columns have for it
FOUND, _MOST_COLUMNS = 300.0, 0.2

# Under pure epsilon: multiples of k^1.5 for n epsilon, beyond each of which what comes first is precise
# enough at a smaller share; how many early steps; and shares of columns, matrix, sizes of the information and
# early steps. The last step has what all others leave.
# Then more early steps find their way from a start that many censored rows make bad. With half as much for
# the columns, whose bounds may be a hundred times too wide, 18 and not 7 % of 68 ordinary designs there had
# a caution, and errors were a fifth larger (benchmarks/lottery.py --ordinary). With less, a third of that
# for the columns lost 20 and not 1 % of 105 of them from n epsilon = 10,000 on, whose bounds it could not
# see in. With least, nothing sees into loose bounds: what half sees gave 4 of 50 slopes of exponential
# columns in bounds 150 sds wide a place that is not theirs, at n epsilon of 200 and 340 k^1.5, where all
# are lost instead.
PURE_SHARES = (
    (4000.0, 12, 0.10, 0.10, 0.09, 0.40),
    (1000.0, 6, 0.20, 0.12, 0.06, 0.30),
    (400.0, 2, 0.25, 0.20, 0.05, 0.19),
    (0.0, 2, 0.08, 0.25, 0.06, 0.20),
)
_TO_LAST = 3.0  # times the weight that an early step would have in its place
PURE_LOCATION, PURE_LOCATION_STEPS = 0.01, 2
# Multiples of k^1.5 for failures times epsilon, between which noise of the event matrix, and not that of
# scores, is what lengthens intervals; and shares that matrix, sizes and two early steps then have of what
# they and the last step have together. With fewer failures hardly anything is told.
FEW_FAILURES, _FEW_SHARES, _FEW_STEPS = (60.0, 600.0), (0.41, 0.06, 0.23), 2
PURE_FAR = 0.1  # of what early steps would have without it
PURE_SPREAD = 0.03  # what looks for another spread along rows, off the early steps


def make_plan(
    mu: float,
    early_steps: int = EARLY_STEPS,
    tail_steps: int = TAIL_STEPS,
    intervals: bool = False,
    signal: float = math.inf,
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Parameters
    ----------
    mu : float
        Total, positive.
    early_steps, tail_steps : int
        See :class:`dpstats.estimators.engine.plan.Stage`.
    intervals : bool
        Whether failures may lie between two times.
    signal : float
        n mu over the root of how many covariates are numbers, which have to be found; infinite if none is.
    """
    steps, inspections = "score and information", INSPECTIONS * intervals
    columns = min(max((FOUND / signal) ** 2, TIME_COLUMNS), _MOST_COLUMNS)
    stages = dict(
        columns=Stage(columns, "columns"),
        matrix=Stage(MATRIX, "event matrix"),
        location=Stage(LOCATION, "location score", alike(LOCATION_STEPS)),
        early=Stage(EARLY - FAR_BY_EARLY, steps, growing(early_steps)),
        inspections=Stage(inspections, "inspections", alike(INSPECTED)),
        tail=Stage(
            1 - columns - MATRIX - LOCATION - EARLY - inspections - TIME_CHECK - LOOK - FAR + FAR_BY_EARLY,
            steps,
            alike(tail_steps),
        ),
        check=Stage(TIME_CHECK, "check of the law"),
        bend=Stage(LOOK, "check of the line"),
        far=Stage(FAR, "check of the line"),
    )
    return Plan(mu, False, stages)


def in_fewer_steps(plan: Plan) -> Plan:
    """The same in four early steps and two averaged ones fewer, where their noise is small."""
    return plan.in_steps(early=growing(len(plan["early"]) - 4), tail=alike(len(plan["tail"]) - 2))


def with_few_failures(plan: Plan) -> Plan:
    """The same, of pure epsilon, with more for the event matrix, and two early steps.

    Failures alone tell of the information. Where its matrix is mostly noise, directions are hidden, and steps
    by it lead astray.
    """
    pooled = ("matrix", "sizes", "early", "spread", "last")
    whole, spread = sum(plan.stages[name].share for name in pooled), plan.stages["spread"].share
    matrix, sizes, early = (share * whole for share in _FEW_SHARES)
    shares = dict(matrix=matrix, sizes=sizes, early=early - spread, last=whole - matrix - sizes - early)
    return plan.with_shares(shares).in_steps(sizes=alike(_FEW_STEPS), early=growing(_FEW_STEPS))


def after_columns(plan: Plan) -> float:
    """epsilon, or mu, of all that follows the columns."""
    first = plan.cost("columns")
    return plan.total - first if plan.pure else math.sqrt(max(plan.total**2 - first**2, 0.0))


def make_sign_plan(mu: float, k: int, skewed: bool = False) -> Plan:
    """Split what is left after the columns over the releases of a fit of k coefficients by signs.

    With a look for bends along columns that are `skewed`.

    See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
    """
    own = TUNING.shares
    shape = max(LOOK, min(MATRIX, own.shape / (k - 1))) if k > 2 else LOOK
    bend = dict(bend=Stage(own.bend, "check of the line")) if skewed else {}
    last = 1 - shape - own.early - own.sizes - 2 * LOOK - sum(stage.share for stage in bend.values())
    level = 1 / (1 + own.slopes * math.sqrt(k))
    following, waiting = level * own.following, level * (1 - own.following)
    slopes, both = "signs of residuals", "score and information of intercept and log sigma"
    stages = dict(
        shape=Stage(shape, "event matrix"),
        start=Stage(LOOK, both, alike(LOCATION_STEPS)),
        early=Stage(own.early * (1 - level * own.early_level), slopes, alike(SIGN_STEPS)),
        early_level=Stage(own.early * level * own.early_level, both, alike(SIGN_STEPS)),
        sizes=Stage(own.sizes, slopes),
        last=Stage(last * (1 - level), slopes, alike(TAIL_STEPS)),
        last_level=Stage(last * following, both, alike(TAIL_STEPS)),
        level=Stage(last * waiting, both, alike(LOCATION_STEPS)),
        check=Stage(LOOK, "check of the law"),
    )
    return Plan(mu, False, stages | bend)


def before_last(steps: int) -> tuple[float, ...]:
    """Weights of early steps under pure epsilon, the last of which leads to where the last score is read.

    What is left of the way from there, noise of that step above all, is as uncertain as the matrix it is
    taken by: of ten coefficients it counts by about .4. The sum of both variances is least where this step
    has half of the last one's epsilon.
    """
    *first, last = growing(steps)
    return (*first, _TO_LAST * last)


def make_pure_plan(epsilon: float, n: int, k: int) -> Plan:
    """Split a pure budget over the releases of a fit of n rows and k location coefficients.

    See docs/theory/survival.md#pure-epsilon.
    """
    _, steps, columns, matrix, sizes, early = next(
        plan for plan in PURE_SHARES if n * epsilon >= plan[0] * k**1.5
    )
    spread, far = (PURE_SPREAD, PURE_FAR * early) if k > 1 else (0.0, 0.0)
    stages = dict(
        columns=Stage(columns, "columns"),
        matrix=Stage(matrix, "event matrix"),
        location=Stage(PURE_LOCATION, "location score", alike(PURE_LOCATION_STEPS)),
        sizes=Stage(sizes, "sizes of the information", alike(steps)),
        early=Stage(early - spread - far, "score", before_last(steps)),
        spread=Stage(spread, "check of the law"),
        last=Stage(1 - columns - matrix - sizes - early - PURE_LOCATION - 2 * LOOK, "score"),
        check=Stage(LOOK, "check of the law"),
        bend=Stage(LOOK, "check of the line"),
        far=Stage(far, "check of the line"),
    )
    return Plan(epsilon, True, stages)
