"""What the codes of an estimator mean, in words for the table, and what that follows from a fit they touch.

See docs/theory/intervals.md#cautions.
"""

import re
from collections.abc import Sequence

import numpy as np

from dpstats._codes import (
    ALL_LOST,
    APART,
    BENDS,
    BESIDE,
    BURST,
    CHANGING,
    CONSTANT,
    EVEN,
    FAR_RESPONSES,
    LAW,
    LOST,
    NOISY,
    OPEN_ENDED,
    PUBLISHED,
    RANGE,
    SEPARATED,
    SHAPE,
    STRAIGHT,
    TAIL,
    UNSETTLED,
    UNUSABLE,
    WEAK,
    places_of,
    problems_at,
)
from dpstats.formula import Design, NumericResponse
from dpstats.moments import Solution
from dpstats.results.intervals import SURELY, law_in_doubt, off_the_law
from dpstats.results.record import Record, is_scale

MORE = "more rows or budget"
OF_SOLUTION = (LOST, BESIDE, WEAK)  # of a linear model
# by which codes users see what has another one among the problems of an estimate
SHOWN = {NOISY: "below_budget", ALL_LOST: LOST, STRAIGHT: WEAK, EVEN: WEAK}
_ALL = (
    "nothing is estimable: privacy noise outweighs what these data say; use {more}. It is the "
    "same where almost no row can be read, or most values lie beyond their bounds: dps.check(data, schema, "
    "formula) shows which, to you alone"
)
_WHOLE = {
    NOISY: "privacy noise hides a part of what covariates or sigma say: take intervals as rough; use {more}",
    ALL_LOST: _ALL,
    CONSTANT: (
        "nearly all failures seem to come at one time, of which no covariate can tell, as where the bounds "
        "are in another unit than the times, or far too wide (for coxph with strata by twelve decades, as "
        "floats tell no more on the axis of time that strata share): dps.check(data, schema) counts times "
        "beyond them, to you alone"
    ),
    UNSETTLED: "the averaged steps scatter more than their noise explains; intervals were widened for it",
    LAW: (
        "failures come at other times than this distribution says: the scale and quantiles such as B10 rest "
        "on it and depend on the bounds of the score (see Estimand); try another dist, or, if units fail in "
        "several ways, such as by seals and by bearings, fit each as an event of its own: no dist is that of "
        "a mixture; where groups, such as sites, may wear out in different ways, add strata(site)"
    ),
    BURST: (
        "very many failures come within a short stretch of the time, in which hazards are taken for even: "
        "coefficients may be wrong by more than their intervals, which are widened for it; declare bounds of "
        "the time nearer to where units fail, so that longer times are censored and none is below the lower "
        "bound, or name times= within the stretch"
    ),
    CHANGING: (
        "hazards are not proportional: effects change as time goes by (see fit.proportional_test()), so that "
        "coefficients are means over time, which depend on how long units are watched; follow a shorter "
        "time, or split it and fit each part"
    ),
    BENDS: (
        "the response bends: it does not follow the linear predictor alone, so that coefficients depend on "
        "which rows count in full (see Estimand), and intervals are widened for it; try a term such as "
        "I(x**2), np.log or bs of a covariate"
    ),
    SHAPE: (
        "noise hides how covariates are correlated: standard errors take those for uncorrelated that do not "
        "stand out, and may be half of what they should be for any that nearly repeat another"
    ),
    STRAIGHT: (
        "covariates tell the labels so weakly that the loss is straight where the minimum may lie: intervals "
        "reach as far on the other side of 0, and nothing is known of effects; h=1 has no straight part"
    ),
    EVEN: (
        "at a level, on a side of a flag or in a cell of several, labels are so nearly half and half that "
        "the loss is straight where the minimum may lie: intervals reach to where its sign is the other one, "
        "those of all other levels, too, if it is the reference; h=1 has no straight part"
    ),
    SEPARATED: (
        "covariates nearly tell the response: where no row contradicts them their effects have no upper "
        "limit, and intervals may be too short; drop the covariate that says what the response says"
    ),
    PUBLISHED: (
        "estimate and noise are as published, for reproduction only: sigma and intercept are not those of "
        "the model, and a penalty shrinks the slopes; without compat they are corrected"
    ),
    APART: (
        "a few rows lie 30 sds or more from all others, where declared bounds reach so far: coefficients may "
        "describe the others or be drawn towards these few; if they are codes such as 9999 (dps.check shows "
        "them, to you alone), empty these cells, or leave the rows out by subset='x < 9999'"
    ),
    FAR_RESPONSES: (
        "responses far above the fit, where they are clipped (see Estimand), hold more than the family's law "
        "allows: coefficients describe the bulk, and means of all may be larger; fit the far ones apart, or "
        "their share by logit"
    ),
    TAIL: (
        "far counts, which are clipped (see Estimand), hold more than any negative binomial law allows: "
        "coefficients may describe the bulk, and intervals are widened for it; fit by logit which counts are "
        "above 0, or take {more}"
    ),
}
_NAMED = {
    LOST: (
        "not estimable, as privacy noise outweighs what the data say: {}; use {more}. Neither "
        "helps where nearly all rows have one value, or most values lie beyond their bounds: "
        "dps.check(data, schema) counts those, to you alone"
    ),
    BESIDE: (
        "a covariate is not estimable, so that this is a fit without it: {} may take up part of its effect, "
        "where they are correlated with it, and their intervals do not count that"
    ),
    BENDS: (
        "the response bends along {}: coefficients depend on which rows count in full (see Estimand), and "
        "intervals are widened for it; add a square such as I(x**2) of it, or take np.log or bs of it, or, "
        "if it acts otherwise in a group, or as another covariate grows, add its product with that"
    ),
    WEAK: "privacy noise hides most of what the data say about {}; {} on a wide guess",
    OPEN_ENDED: (
        "noise does not exclude that rows of a level have no events, next to no amount, or one answer alone: "
        "of {} {} on how far any effect goes. Other noise may leave a short one; use {more}, or join the "
        "level with another"
    ),
    RANGE: (
        "most of the spread of {} lies in long rows on one side, beyond the row norm, which count less: if "
        "its effect bends, the estimate describes the bulk; np.log1p of it helps"
    ),
}


_SPLINES = (
    ". Lives rest on Log(scale), and are as wide: columns of a spline cancel each other, and those of "
    "ns(x, df=2), or x + I(x**2), do so less"
)


_SWAPPED = (
    f"{_ALL}. Rows whose first end is the larger weigh nothing: the order is Surv(lower, upper, "
    "type='interval2')"
)


_UNUSABLE = (
    "about {} % of the rows that no subset or max_rows leaves out have no weight: a cell is missing, or "
    "codes and levels are not spelt as in the data; "
    "dps.check(data, schema, formula) shows which, to you alone"
)


def of_whole_table(problems: Sequence[str], design: Design) -> tuple[str, ...]:
    """Problems without what may be meant: rows of little weight, outside a subset or of long units.

    Of those last two survival models do not count any.
    """
    left_out = design.subset is not None or bool(design.schema.privacy_unit.column)
    meant = design.weights is not None or (isinstance(design.response, NumericResponse) and left_out)
    return tuple(one for one in problems if not (meant and one.split(":")[0] == UNUSABLE))


def advised(of: Design | Record) -> str:
    """What makes noise smaller beside the data: units where more rows of the same would not count."""
    unit, more = of.schema.privacy_unit, MORE
    if unit.column is not None:
        more = f"more of {unit.column} (of each at most {unit.max_rows} row(s) count), or more budget"
    return more + (f", or an upper bound of the weights, {of.weights}, nearer to them" if of.weights else "")


def beside(design: Design, cov: np.ndarray) -> tuple[str, ...]:
    """Problems of coefficients that may show the effect of a number of which none is estimable."""
    lost = np.isinf(np.diag(cov))
    overlooked = design.overlooks(lost[: len(design.names)])
    return problems_at(BESIDE, np.flatnonzero(~lost)) if overlooked else ()


def cautions(
    problems: Sequence[str], names: Sequence[str], between: bool = False, more: str = MORE
) -> tuple[tuple[str, str], ...]:
    """Codes with their messages; the coefficients that one concerns stand in one.

    `between` says that the response is an interval, whose ends may stand in the wrong order in all rows;
    `more` is what is `advised`.
    """
    whole = _WHOLE | {ALL_LOST: _SWAPPED} if between else _WHOLE
    lost = set(problems_at(LOST, range(len(names))))
    if lost and lost <= set(problems):  # each of all is lost in its own way, or all at once
        problems = [*(problem for problem in problems if problem not in lost), ALL_LOST]
    said = [code for code in whole if code in problems]
    found = [(SHOWN.get(code, code), whole[code].format(more=more)) for code in said]
    if ALL_LOST not in problems:
        found += [(UNUSABLE, _UNUSABLE.format(share)) for share in places_of(UNUSABLE, problems)]
    for code, words in _NAMED.items():
        which = [names[j] for j in places_of(code, problems)]
        if which:
            named = "all coefficients" if 1 < len(which) == len(names) else ", ".join(which)
            rests = "its interval rests" if len(which) == 1 else "their intervals rest"
            splined = any(map(is_scale, which)) and any(name.startswith(("bs(", "ns(")) for name in which)
            beside = _SPLINES if code == WEAK and splined else ""
            found.append((code, words.format(named, rests, more=more) + beside))
    return tuple(found)


def problems_of(solution: Solution) -> tuple[str, ...]:
    """Of a solution of a linear model."""
    lost = np.flatnonzero(np.isinf(np.diagonal(solution.cov)))
    weak = [j for j in solution.weak if j not in lost]
    return problems_at(LOST, lost) + problems_at(WEAK, weak)


_OF_LAW = (
    "life",
    "mttf",
    "eta",
    "parameters",
    "reliability",
    "conditional_reliability",
    "hazard",
    "forecast",
)
_RATIOS = ("time_ratios", "hazard_ratios", "odds_ratios", "rate_ratios", "mean_ratios")
_OF_LINE = (
    "coefficients",
    *_OF_LAW,
    *_RATIOS,
    *("acceleration_factors", "activation_energy", "survival", "cumulative_hazard", "marginal_effects"),
)
# codes of what no interval holds: what follows from a fit, by the method that has it, and `coefficients`
_TOUCHES = {
    LAW: _OF_LAW,
    **dict.fromkeys(
        (CONSTANT, BURST, CHANGING, BENDS, RANGE, SEPARATED, APART, FAR_RESPONSES, TAIL), _OF_LINE
    ),
}


def touching(record: Record, asked: str) -> tuple[str, ...]:
    """Return what has to be said below what a method of a fit, `asked`, returns: a line for each caution.

    What widens intervals alone is in them; a caution of the law, the line or the tails is not.
    """
    said = [
        f"Caution ({code}): {re.split('[:;]', message)[0]}; see the summary of the fit."
        for code, message in record.flags
        if asked in _TOUCHES.get(code, ())
    ]
    doubt = doubtful_law(record) if asked in _OF_LAW else ""
    return (*said, *[doubt] * bool(doubt))


def doubtful_law(record: Record) -> str:
    """Return what was found of the law, if that is doubtful, and no caution says so."""
    if LAW in dict(record.flags) or not law_in_doubt(record):
        return ""
    found = off_the_law(record, SURELY)
    share, *ends = (f"{100 * value:.3g}" for value in (found.estimate, found.conf_low, found.conf_high))
    return (
        f"The law is in doubt (fit.law): {share} % of the failures, {' to '.join(ends)} at "
        f"{100 * SURELY:.0f} %, come at other times than it says; B lives rest on it: try another dist."
    )
