"""Tuned numbers of a logistic regression under pure epsilon, without penalty: what they are, and why."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shares:
    """Shares of epsilon, which add up to 1.

    Attributes
    ----------
    columns, octaves : float
        Where the columns are, and how far they spread. Noise of pure epsilon hides octaves first, and these
        are of use where columns were looked for in their boxes: with .05 and .15 a fifth of ordinary fits of
        the lottery where n epsilon is 10,000 or more had a coefficient that was lost, with .12 and .08 a
        fourteenth.
    minimum, matrices : float
        The minimum, and its curvature with squared scores if those are asked for.
    far, check, told : float
        Whether long rows say something else, whether responses bend, and whether covariates tell them.
    """

    columns: float
    octaves: float
    minimum: float
    matrices: float
    far: float
    check: float
    told: float


@dataclass(frozen=True)
class Tuning:
    """What the route was tuned by; ``benchmarks/ablation.py --route "logit pure"`` varies each.

    Attributes
    ----------
    shares : Shares
    slack : float
        Share of the minimum's cost that the slack of the determinants takes, which sets the penalty. Where
        the penalty is taken off, what that leaves falls with its square, so that more slack is worth its
        noise: slopes of 3 sds of log odds cover .49 at .05 and .93 at .2 (n = 10,000, epsilon = 1).
    least_ridge : float
        Penalty per row: four times what the condition of the Hessian needs.
    usual : float
        Noise of a coefficient, in sampling sds, for which columns are scaled.
    level : float
        Curvature of a row where as many answers are yes as no, about: that of a logistic law between even
        odds, .25, and odds of 1 to 3, .19. Where one is rarer it is as much less as the variance of answers.
    kept : float
        Share of the curvature of normal log odds that is left where larger ones are cut.
    resolved : float
        Error of the curvature that counts as much as sampling: of two columns a correlation of .95
        leaves .05.
    of_lost : float
        Bias of a coefficient over the share of its column's square that is lost. Of 221 coefficients of real
        sets, at lengths from 1.25 to 9: in the median .03 to .16, in one of ten .7 to 1.8.
    far : float
        Sds of its noise by which an eigenvalue may be off.
    resting : float
        Share of a variance, of what the correction may lack, from which on a coefficient is weak: where no
        row contradicts a covariate the penalty alone holds it. Of 91 fits of random designs 1 has more.
    """

    shares: Shares
    slack: float
    least_ridge: float
    usual: float
    level: float
    kept: float
    resolved: float
    of_lost: float
    far: float
    resting: float


TUNING = Tuning(
    Shares(columns=0.12, octaves=0.08, minimum=0.44, matrices=0.21, far=0.1, check=0.03, told=0.02),
    slack=0.2,
    least_ridge=1e-9,
    usual=1.0,
    level=0.2,
    kept=0.95,
    resolved=0.03,
    of_lost=0.3,
    far=2.0,
    resting=0.2,
)
