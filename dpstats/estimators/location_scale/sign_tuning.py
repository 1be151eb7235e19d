"""Tuned numbers of slopes by the signs of residuals: what they are, and why.

Effects of half and of twice a number are those of benchmarks/results/ablation-survreg-signs.txt, six fits
that go by signs; where none is stated, no change was beyond its Monte Carlo error.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shares:
    """Shares of what the columns leave of mu^2, beside those of looks; the last steps get what these leave.

    Attributes
    ----------
    early, sizes : float
        The steps towards the root; the sizes of the score.
    shape : float
        The event matrix tells of few covariates how they are correlated, and nothing of one or many: its
        share is this over their number, from that of a look to that of the matrix of other routes.
    slopes : float
        Of the last steps' share, slopes get this times sqrt k of what intercept and log sigma get: their
        noise is then about the same in sampling sds.
    early_level, following : float
        Of what intercept and log sigma so get, the parts that follow the slopes, of early and of last steps;
        the rest waits for the average of the slopes.
    bend : float
        Where columns are skewed, whether times bend along them: of 20 fits to the nodes of rotterdam, which
        level off, 4 have the caution, with .06 3, and with .15 7 (2,000 rows, epsilon 1), where intervals of
        log sigma are 4 % longer.
    """

    early: float
    sizes: float
    shape: float
    slopes: float
    early_level: float
    following: float
    bend: float


@dataclass(frozen=True)
class Tuning:
    """What the route was tuned by; ``benchmarks/ablation.py --route "survreg gaussian"`` varies each.

    Attributes
    ----------
    shares : Shares
    radius : float
        Squared length of rows, against their number of covariates: almost all are shortened to it, and then
        a score is a sum of directions, of which noise hides least.
    longest : float
        Squared length, so counted, from which on rows add no more to the sizes of the information.
    least_eigenvalue, least_trace, least_size : float
        The least that is believed of an eigenvalue of the covariates' correlations, of their trace and of the
        sizes of the score, against what is expected. No fit of the six reaches the first and the last; they
        keep a matrix that noise has made from being inverted.
    size_sd : float
        Relative sd of what the family says of the sizes.
    early : float
        Of a full early step, beside what noise shrinks: full early steps, and all of them averaged, left
        twice as many fits unsettled.
    kept : int
        Early steps that are averaged too, the last ones: the first are on the way.
    prior, last_prior, drift : float
        sds of the shift, in sigmas, and of the change of log sigma that a step expects: on the way, at the
        first of the last steps, and at each of them where those before leave no doubt. One prior of .5 for
        all steps had 4.6 +- 2.3 % more error.
    structure : float
        Relative error of the information, by direction: twice it makes intervals 16 +- 10 % longer.
    selection : float
        Of the variance that events may lose along the prediction: between none, where censoring goes with
        the prediction, and all, where rows are censored at one time.
    largest_bias : float
        Of log sigma, by noise in the slopes; beyond it nothing can be estimated.
    hidden_square : float
        Variance of the linear predictor, in event variances, where nothing of it is seen.
    slopes_usable, log_sigma_usable, count_usable : float
        Noise of all slopes together in sigmas, of log sigma, and relative of the number of events, from which
        intervals widen. At half of the last two they are 2.5 +- 2.0 and 4.7 +- 3.2 % longer.
    level_structure : float
        sd of what is expected of the information on intercept and log sigma, against its size.
    least_level : float
        The least that is believed of an eigenvalue of it; none of the six reaches it.
    """

    shares: Shares
    radius: float
    longest: float
    least_eigenvalue: float
    least_trace: float
    least_size: float
    size_sd: float
    early: float
    kept: int
    prior: float
    last_prior: float
    drift: float
    structure: float
    selection: float
    largest_bias: float
    hidden_square: float
    slopes_usable: float
    log_sigma_usable: float
    count_usable: float
    level_structure: float
    least_level: float


TUNING = Tuning(
    Shares(early=0.38, sizes=0.01, shape=0.4, slopes=0.55, early_level=0.5, following=0.3, bend=0.1),
    radius=0.5,
    longest=4.0,
    least_eigenvalue=0.02,
    least_trace=0.8,
    least_size=0.3,
    size_sd=0.2,
    early=0.65,
    kept=6,
    prior=1.0,
    last_prior=0.3,
    drift=0.1,
    structure=0.15,
    selection=0.5,
    largest_bias=0.5,
    hidden_square=0.25,
    slopes_usable=0.5,
    log_sigma_usable=0.2,
    count_usable=0.08,
    level_structure=0.3,
    least_level=0.25,
)
