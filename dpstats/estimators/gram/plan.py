"""How a linear fit spends its budget: public before any row is read (docs/theory/linear.md#coordinates)."""

from dpstats.budget import Budget
from dpstats.estimators.engine.plan import LOOK, Plan, Stage

# Shares of mu^2, or of epsilon, beside those of looks; the last release has what the others leave, and that
# of rows apart where the declared bounds are too near for any.
COLUMNS, APART = 0.08, 0.05
# Whether columns bend before the last release, and along the line after it.
BENDS = 0.02
# Each pilot whitens what the noise of the one before hid, of half its share, and is the prior of the next.
# With n mu beyond this multiple of k^1.5 there is less to hide, and two passes over the rows do for three.
# Public moments may be wrong; one pilot finds out, before residuals are clipped about their line.
PUBLIC_PILOT = 0.15
PILOT, _FEW = 0.2, 400.0
PURE_COLUMNS, PURE_PILOTS, PURE_LENGTHS = 0.26, (0.05, 0.08), 0.08
# Of the matrix, whose noise as an operator grows as k^2 / (n epsilon): the second where the number of rows
# times epsilon is at least so many k^2, as noise of the last score then is what is left to make less.
PURE_MATRIX = 0.21, 0.14
_CLEAR = 1600.0


def make_plan(budget: Budget, n: int, k: int, public: bool = False, constant: bool = True) -> Plan:
    """Split a budget; public moments stand in for all but the last stages.

    Parameters
    ----------
    budget : Budget
        Costs of a pure budget add up to its epsilon, the squares of others to its mu squared.
    n, k : int
        Number of rows and of coefficients.
    public : bool
        Whether there are public moments.
    constant : bool
        Whether the model has an intercept; without one no bend is looked for.
    """
    check = BENDS * constant
    if budget.pure:
        matrix = PURE_MATRIX[n * budget.epsilon >= _CLEAR * k**2]
        left = 1 - (PURE_COLUMNS + matrix) * public
        rest = 1 - PURE_COLUMNS - matrix - sum(PURE_PILOTS) - PURE_LENGTHS - 2 * LOOK - 2 * check
        first = {"columns": Stage(PURE_COLUMNS, "columns"), "matrix": Stage(matrix, "matrix")}
        later = dict(
            pilots=Stage(sum(PURE_PILOTS) / left, "pilot score", PURE_PILOTS),
            reach=Stage(LOOK / left, "reach of residuals"),
            lengths=Stage(PURE_LENGTHS / left, "lengths of rows"),
            curves=Stage(check / left, "columns that bend"),
            apart=Stage(LOOK / left, "rows apart in loose bounds"),
            final=Stage(rest / left, "score"),
            check=Stage(check / left, "check for bends"),
        )
        return Plan(budget.epsilon, True, later if public else first | later)
    mu = budget.mu
    usual = tuple(PILOT / 2**later for later in range(3 - (n * mu >= _FEW * k**1.5)))[::-1]
    columns, pilots = (0.0, (PUBLIC_PILOT,)) if public else (COLUMNS, usual)
    stages = dict(
        columns=Stage(columns, "columns"),
        pilots=Stage(sum(pilots), "pilot second moments", pilots),
        reach=Stage(LOOK, "reach of residuals"),
        lengths=Stage(LOOK, "lengths of rows"),
        curves=Stage(check, "columns that bend"),
        apart=Stage(APART, "rows apart in loose bounds"),
        final=Stage(1 - columns - 2 * check - 2 * LOOK - APART - sum(pilots), "second moments"),
        check=Stage(check, "check for bends"),
    )
    return Plan(mu, False, stages)
