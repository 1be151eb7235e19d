"""Last looks at a fit: does the response follow the line, do covariates tell it, are rows apart?"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dpstats._codes import ALL_LOST, APART, BENDS, SEPARATED
from dpstats.curator import Curator, Release
from dpstats.estimators.apart import Apart
from dpstats.estimators.bends import (
    FAR,
    NEAR,
    WIDE,
    ReleasedLine,
    bend_public,
    judged,
    standardised,
)
from dpstats.estimators.engine.finish import E, Estimate
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE
from dpstats.families import LOG
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import CERTAIN, GlmFamily
from dpstats.moments.roots import variance_along
from dpstats.moments.spread import Z95

# of the limit of scores where bends are looked for; nearer, and the dispersion would have to be known better
_NEARER = 0.5
# share of the rows whose yes or no contradicts the line, if predictors are spread evenly: where it is less,
# these are so few that noise may hide them. Under a logit the linear predictor has
# an sd of 4.5 then; of real sets 6 of 6 above that were separated, or far off
_CONTRADICT = 0.123
# no log-likelihood of a row is lower, when it is asked how much covariates explain; and the share of what it
# is without any that they leave at least
_LOWEST, _UNEXPLAINED = -2.0, 0.2
# what a normal predictor leaves of the log-likelihood, of rows no lower, that so few rows contradict: .34 to
# .36, or .31 to .39 of a complementary log-log link where one answer is rarer
NEARLY_TOLD = 0.35
# Octaves take squares of their rows for 7 / 12 of the largest, which may be 1 / 4 of it: what they tell of a
# column's square is surely more than rows that were weighted have by this factor
BY_OCTAVES = 7 / 3


@dataclass(frozen=True)
class Read:
    """How a fit has read its rows.

    Attributes
    ----------
    whitening : array, shape (k, k)
        Of standardised rows, symmetric, about.
    lost : float
        Share of the rows' weight that long rows, or rows of large means, have lost.
    score : BoundedScore, optional
        By default that of the family, unclipped.
    phi, phi_sd : float
        Dispersion of the responses, and its error.
    radius : float
        No whitened row counts as longer.
    information : array, shape (k, k)
        Per row, whitened.
    unlike : sequence of array, shape (k,)
        What levels whose amounts scatter more than others make of a mean score.
    """

    whitening: np.ndarray
    lost: float
    score: BoundedScore | None = None
    phi: float = 1.0
    phi_sd: float = 0.0
    radius: float = math.inf
    information: np.ndarray = field(default_factory=lambda: np.eye(0))
    unlike: Sequence[np.ndarray] = ()

    @property
    def curvature(self) -> float:
        """Per row, of the level of rows at the middle of the columns."""
        row = np.linalg.solve(self.whitening, np.eye(len(self.whitening))[0])
        return float(row @ self.information @ row)

    def looked(self, family: GlmFamily, share: float) -> BoundedScore:
        """Scores of a look at the fit: of counts and amounts to such a share of their limit."""
        score = self.score or BoundedScore.unclipped(family)
        share = 1.0 if family.two_valued else share
        return replace(score, limit=share * score.limit, spread=share * score.spread)


Asked = tuple[str, float, dict[str, Any]]
"""A release: its name, its cost and its public parameters."""
Check = Generator[Asked, tuple[Release, E], E]
"""A last look at a fit: it yields what it asks for, or nothing, is sent the release and the fit that checks
before it have left, and returns that fit with what it tells. What it asks follows from no other check."""


def by_one_pass(curator: Curator, checks: Iterable[Check[E]], found: E) -> E:
    """A fit after all checks, for which the rows are read once."""
    waiting = [(check, asked) for check in checks if (asked := next(check, None)) is not None]
    releases = curator.release_together(*(asked for _, asked in waiting)) if waiting else ()
    for (check, _), release in zip(waiting, releases, strict=True):
        try:
            check.send((release, found))
        except StopIteration as end:
            found = end.value
    return found


class Left(NamedTuple):
    """Share of the log-likelihood that covariates leave, and the sd of its noise.

    Where rows have weights of less than 1, it lies nearer to `NEARLY_TOLD`, and on the same side.
    """

    share: float
    sd: float


def level_variance(back: np.ndarray, cov: np.ndarray) -> float:
    """Variance of the linear predictor at the middle of the columns; infinite with any of a coefficient."""
    return variance_along(cov, back[0]) if np.isfinite(cov).all() else math.inf


def checked(cost: float, problem: Problem, located: Located, read: Read, found: E) -> Check[E]:
    """A fit that tells by the caution "bends" if responses surely do, and counts what they may as error.

    Rows that are long, or of large means, count less than in the fit without privacy. Where the formula
    holds, both have one estimand; where responses bend, they differ by about the coefficient of the square,
    or, if no row is long, by what weights of their means make of a square. Without an intercept, or where no
    row counts less than another, nothing is asked.
    """
    if not cost:
        return found
    forth = located.to_user(problem.intercept)
    back, line = np.linalg.inv(forth), released_line(located, read, found)
    share, score = FAR * line.unheard * bool(read.lost), read.looked(problem.family, _NEARER)
    if read.score:
        ends = located.ends(line.beta, problem, read.score)
        share += read.score.square_moves(line.middle + located.offset, line.some_spread, ends)
    square = WIDE if problem.family.two_valued else NEAR
    release, found = yield "predictor_bend", cost, bend_public(line, score, square)
    cov, cov_privacy = standardised(back, found.cov, found.cov_privacy)
    line = replace(line, cov=cov, cov_privacy=cov_privacy, levels=tuple(problem.levels))
    bend = judged(release, line, score.limit, square, min(share, 1.0))
    return found.doubted(bend.square * forth @ _moved(line, problem) @ forth.T, *(BENDS,) * bend.told)


def _moved(line: ReleasedLine, problem: Problem) -> np.ndarray:
    """What a bend moves a line by in all: that of counts and amounts as a product of numbers may, too.

    A product of two that the formula leaves out moves each as far as an effect of the other would; any two
    are as likely.
    """
    moved, numbers = line.moved, 1 + np.flatnonzero(~problem.usual)
    if not problem.family.two_valued and len(numbers) > 1:
        variances = np.diag(line.moments)[numbers] / line.moments[0, 0]
        each = line.slopes[numbers] ** 2 * variances / max(line.spread, 1e-9) ** 2
        pairs = math.comb(len(numbers), 2)
        moved[numbers, numbers] += (each.sum() - each) / variances / pairs
    return moved


def released_line(located: Located, read: Read, found: Estimate) -> ReleasedLine:
    """Of a fit with an intercept."""
    back = np.linalg.inv(located.to_user(True))
    moments = np.linalg.matrix_power(np.linalg.inv(read.whitening), 2)
    heard = np.diag(moments) / moments[0, 0]
    return ReleasedLine(
        located.center,
        located.scale,
        back @ found.params,
        moments,
        *standardised(back, found.cov, found.cov_privacy),
        located.offset,
        read.phi,
        read.lost,
        np.where(located.squares > BY_OCTAVES * heard, located.squares, heard),
        skewed=located.skewed,
    )


def explained(
    cost: float,
    problem: Problem,
    located: Located,
    read: Read,
    found: E,
    reaches: Callable[[E, Left], tuple[np.ndarray, bool]],
) -> Check[E]:
    """A fit that tells by the caution "separated" if covariates leave next to nothing of a yes or no.

    Where a covariate tells the response, its effect has no limit, and the log-likelihood of the rows rises
    towards 0: it is compared with what it is where no covariate has an effect, row by row, so that weights
    count in both alike. Large effects tell it, too. `reaches` takes the fit before all checks, and what is
    left, to what its covariance lacks, and whether to say so.
    """
    if not problem.family.two_valued:
        return found
    tells = problem.intercept and separated(problem.family, released_line(located, read, found))
    chances = np.clip([located.mean, 1 - located.mean], *CERTAIN)
    whole = float(chances @ np.maximum(np.log(chances), _LOWEST))
    usual, before = NEARLY_TOLD * whole, found
    public = dict(low=_LOWEST - usual, high=-usual, usual=usual, family=problem.family)
    release, found = yield "log_likelihood", cost, public | {"params": found.params}
    (more,), (sd,) = release.values[0].tolist(), release.sds[0].tolist()
    rows = release.n * located.usable
    left = Left((more / rows + usual) / whole, sd / rows / abs(whole))
    longer, endless = reaches(before, left)
    told = tells or endless or left.share + SURE * left.sd < _UNEXPLAINED
    told &= ALL_LOST not in found.problems
    return found.noisier(longer, *(SEPARATED,) * told)


def set_apart(cost: float, problem: Problem, located: Located, found: E) -> Check[E]:
    """A fit that tells by the caution "apart" if a few rows lie far from all others, and how many may."""
    where = located.found(problem)
    if not where.loose.any():
        return found
    # where means differ by factors, that of a row tells how far its response may lie
    line = (
        dict(line=found.params, usual=max(located.mean, CERTAIN[0]))
        if problem.family.link_name == LOG.name
        else {}
    )
    release, found = yield "rows_apart", cost, where.public(apart=True) | line
    apart = Apart.of(release, release.n * located.usable, where.reach)
    settings = found.settings | {"apart": apart.most}
    return replace(found.saying(*(APART,) * apart.told), settings=settings)


def separated(family: GlmFamily, line: ReleasedLine) -> bool:
    """Whether covariates tell a yes or no, by effects that stand out from their errors.

    An interval that holds 0 says itself how little is known; a coefficient that is not estimable may be so
    because its effect has no limit. Near its middle a normal predictor of a large sd s is spread evenly, with
    1 / (sqrt(2 pi) s) of the rows to a unit.
    """
    errors = Z95 * np.sqrt(np.diag(line.cov))
    stand_out = (np.abs(line.slopes) > errors) | np.isinf(errors)
    spread = replace(line, beta=stand_out * line.slopes).whole_spread
    return tell(family, spread)


def tell(family: GlmFamily, spread: float) -> bool:
    """Whether next to no rows contradict a linear predictor of this sd."""
    return family.contradicted < _CONTRADICT * math.sqrt(2 * math.pi) * spread
