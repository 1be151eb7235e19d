"""How long a row and how large a score may be: from public numbers and releases.

Privacy noise grows with both. Each choice minimises

    (noise / sampling sd)^2 + lost information + (error of the information)^2 + n (assumed bias)^2,

noise below `FREE` sampling sds not counted, so that bounds widen to nothing as the budget grows. The bias is
what clipped scores leave where the family is only roughly true, and weighted rows where predictors are not
quite linear. See docs/theory/glm.md#choice-of-bounds.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from dpstats.estimators.engine.bounds import FREE, LENGTHS, NEARLY_ALL, NOTHING, ladder, of_weighting
from dpstats.estimators.matrices import longest_image
from dpstats.estimators.newton.dispersion import Uneven
from dpstats.estimators.newton.located import Located, weighted_square
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import CERTAIN
from dpstats.families.quantiles import even_shares

SPREADS, STEEPEST = ladder(2.5, 30.0), ladder(1.0, 20.0)
# of the information of a row, what is taken for able to tell of a bend: few events tell of none
_TOLD = 1 / 8
# overdispersed counts leave room for rows of a larger mean, up to this multiple
_HEAVY = 2.0
# least curvature: of events in one row of a thousand
_LEAST_LEVEL = 1e-3
# of the variance of all counts over that at their mean, what is taken for their dispersion before it is told
_SCATTER = 1 / 32
# dispersions that amounts of which few are 0 may have, before any release: they differ by .00001
LEAST_DISPERSED, MOST_DISPERSED = 1e-10, 4.0
# of the scores of a 0 or 1 under another link than the logit
LIMITS = ladder(0.8, 16.0)
# linear predictors that are assumed for the choice among these, about that of the mean response
_PREDICTORS = ndtri(even_shares(32))
# sds of a score beyond which no row lies
_FARTHEST = 36.0


@dataclass(frozen=True)
class Bounds:
    """Limits of one row.

    Attributes
    ----------
    radius : float
    score : BoundedScore, optional
        None for a logistic regression, whose scores are bounded by themselves, but a robust one.
    """

    radius: float
    score: BoundedScore | None


@dataclass(frozen=True)
class Chooser:
    """Everything a choice depends on that does not change in a fit.

    Attributes
    ----------
    problem : Problem
    located : Located
    n : int
    tail_mu : float
        mu of the averaged steps, per row.
    uneven : Uneven, optional
        How the scatter of counts differs along the columns, where it was released.
    """

    problem: Problem
    located: Located
    n: int
    tail_mu: float
    uneven: Uneven | None = None

    def first(self, whitening: np.ndarray) -> Bounds:
        """Narrow bounds for the first steps, where noise and the start are worse than any bias."""
        radius = self._radius(LENGTHS[0], whitening)
        if not self.problem.family.unlimited:
            return Bounds(radius, self._unclipped)
        level = self.start_level
        if self.problem.family.two_valued:
            return Bounds(radius, self._weighted(radius, level)[0])
        return Bounds(radius, self._score(NEARLY_ALL, level, self._first_dispersion(radius, level)))

    def _first_dispersion(self, radius: float, level: float) -> float:
        """Of what lies about the start: counts differ as their means do, as far as noise leaves room for it.

        Under a negative binomial law scores do not grow with the means.
        """
        family = self.problem.family
        if family.free_dispersion or family.alpha is not None:
            return self.start_dispersion
        noise = self._noise(radius, self._score(NEARLY_ALL, level, 1.0).limit, level) / math.sqrt(
            self.n * level
        )
        return max(min(self._of_responses, (NOTHING / noise) ** 2), 1.0)

    @property
    def _of_responses(self) -> float:
        """Variance of all counts over that at their mean: phi, and what their means differ by."""
        variance = float(self.problem.family.variance(np.array(self.located.mean)))
        return self.located.sd**2 / max(variance, _LEAST_LEVEL)

    @property
    def _alone(self) -> bool:
        """Whether no squared scores are released beside score and information."""
        return not (self.problem.family.unlimited or self.problem.robust)

    @property
    def _unclipped(self) -> BoundedScore | None:
        """Of a family with bounded scores, if their squares are released."""
        return BoundedScore.unclipped(self.problem.family) if self.problem.robust else None

    @property
    def start_level(self) -> float:
        """Curvature at the mean response, per row."""
        family, mean, usable = self.problem.family, self.located.mean, self.located.usable
        if family.free_dispersion:
            return usable * self.located.weights.mean
        return max(usable * family.level_at(mean), self.least_level)

    @property
    def least_level(self) -> float:
        """The least curvature that is believed, per row."""
        return self.located.usable * _LEAST_LEVEL

    @property
    def start_dispersion(self) -> float:
        """What the spread of the response says of phi; of counts, whose means vary too, a small share of it.

        Of amounts that are mostly 0, phi of a gamma law is as large as one over the share of the others. phi
        of amounts under a Poisson law is in their unit: 100,000 in a small one. A negative binomial law has
        its own alpha.
        """
        family, located = self.problem.family, self.located
        if not family.free_dispersion:
            return max(1.0, _SCATTER * self._of_responses) if family.steepens else 1.0
        return max(located.sd**2 / float(family.variance(np.array(located.mean))), LEAST_DISPERSED)

    def _least_dispersion(self, level: float) -> float:
        """Of counts that scatter as a Poisson law's, at this curvature."""
        family = self.problem.family
        if not family.counts:
            return 1.0
        mean = family.mean_at(level / self.located.usable, self._predictors())
        return mean / float(family.variance(np.array(mean)))

    def sought(self, level: float, dispersion: float) -> "tuple[Chooser, float]":
        """The chooser for the family that the scatter of counts tells, and the level in its terms."""
        family, usable = self.problem.family, self.located.usable
        if family.seek is None:
            return self, level
        found = family.seek(dispersion, level / usable)
        eta = np.log(family.mean_at(level / usable, self._predictors()))
        level = usable * float(found.curvature(eta))
        return replace(self, problem=replace(self.problem, family=found)), level

    def choose(self, whitening: np.ndarray, level: float, dispersion: float, told: bool = True) -> Bounds:
        """Bounds at this level of curvature and this dispersion.

        That of counts which differ much is not `told` by squares far from the root: there is room for what
        either the law or the responses say.
        """
        widest = self._radius(math.inf, whitening)
        family = self.problem.family
        if not family.unlimited:
            if self._noise(widest, family.largest_score, level) < NOTHING:
                return Bounds(widest, self._unclipped)
            length = self._length(whitening, level, family.largest_score, family.most_curved, level)
            return Bounds(self._radius(length, whitening), self._unclipped)
        # weights and clipping take from both what the family has
        if not family.free_dispersion:
            level, dispersion = max(level, self.start_level), max(dispersion, self._least_dispersion(level))
        if family.two_valued:
            dispersion = 1.0
        variance = level * dispersion * self.located.weights.own
        score = self._unbounded(level, dispersion)
        if self._noise(widest, score.limit, variance) < NOTHING:
            return Bounds(widest, score)
        radius = self._radius(LENGTHS[0], whitening)
        if family.two_valued:
            score, variance = self._weighted(radius, level)
        else:
            score = self._chosen(radius, level, dispersion)
            if not told and family.counts and (start := self.start_dispersion) > 1:
                both = self._chosen(radius, level, 1.0), self._score(NEARLY_ALL, level, start)
                score = max(both, key=lambda each: each.limit)
        length = self._length(whitening, level, score.limit, score.curvature_limit, variance)
        return Bounds(self._radius(length, whitening), score)

    def _radius(self, length: float, whitening: np.ndarray) -> float:
        box = longest_image(whitening, self.located.lower, self.located.upper)
        return math.sqrt(min(length * self.problem.k, box))

    def _noise(self, radius: float, limit: float, variance: float) -> float:
        constant = 2.0 if self._alone else math.sqrt(4.5)
        return constant * radius * limit / (self.tail_mu * math.sqrt(self.n * variance))

    def _matrix_noise(self, radius: float, curvature_limit: float, level: float) -> float:
        """Size of the error of the information against what there is on a column of mean square 1."""
        constant = 8 / math.sqrt(6) * curvature_limit / 2 if self._alone else 3 * curvature_limit
        size = constant * radius**2 / (self.n * self.tail_mu) * math.sqrt(2 * self.problem.k)
        return size / level

    def _length(
        self, whitening: np.ndarray, level: float, limit: float, curvature_limit: float, variance: float
    ) -> float:
        """Length of least loss, in the mean over the columns."""
        best, k = (math.inf, LENGTHS[0]), self.problem.k
        for length in LENGTHS:
            radius = self._radius(length, whitening)
            noise = self._noise(radius, limit, variance)
            plain = max(noise, FREE) ** 2 + of_weighting(length, self.n * min(level, _TOLD))
            rare = self._rare(length)
            value = (k - len(rare)) * plain + sum(
                max(noise * math.sqrt(full) / left, FREE) ** 2 + full / left - 1 for full, left in rare
            )
            error = self._matrix_noise(radius, curvature_limit, level) / min([1.0, *(r[1] for r in rare)])
            best = min(best, (value / k + error**2, length))
        return best[1]

    def _rare(
        self, length: float, more: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    ) -> list[tuple[float, float]]:
        """Of each column with rare long values, its mean square and what rows of this length leave of it.

        Rare values that noise hides are not among them: nothing chosen could show these. Nor are, but for
        `more`, columns that hold one value in most rows, as whitening stretches these with the radius.
        """
        k, columns = self.problem.k, self.located.rare + more
        full = [float(shares @ squares) for shares, squares in columns]
        typical = k + sum(full) - len(full)  # square length of a row
        return [
            (f, float(weighted_square(shares, squares, length * k, typical - f)))
            for f, (shares, squares) in zip(full, columns, strict=True)
        ]

    def _spread(self, radius: float, level: float, dispersion: float) -> float:
        """Sds of scores that are kept: of least loss, in the mean over the columns."""
        best, rare = (math.inf, SPREADS[0]), self._rare(LENGTHS[0], self.located.few)
        plain = (1 - len(rare) / self.problem.k, 1.0)
        weights = [plain, *((1 / self.problem.k, math.sqrt(full) / left) for full, left in rare)]
        for spread in SPREADS:
            score = self._score(spread, level, dispersion)
            noise = self._noise(radius, score.limit, level * dispersion * self.located.weights.own)
            value = sum(share * max(noise * times, FREE) ** 2 for share, times in weights)
            value += self.n * float(np.sum(self.left(score, level) ** 2)) * level / dispersion
            value += self.n * (0.3 * math.exp(-1.5 * spread)) ** 2 + 2 * math.exp(-1.2 * spread)
            best = min(best, (value, spread))
        return best[1]

    def _chosen(self, radius: float, level: float, dispersion: float) -> BoundedScore:
        """Scores of counts and amounts, with the room that is of least loss."""
        return self._score(self._spread(radius, level, dispersion), level, dispersion)

    def left(self, score: BoundedScore | None, level: float) -> np.ndarray:
        """What clipping may move coefficients of standardised columns by, where counts scatter unevenly."""
        if self.uneven is None or score is None:
            return np.zeros(self.problem.k)
        curvature = level / self.located.usable
        return self.uneven.moved(score, curvature) / curvature * self.uneven.direction

    def _score(self, spread: float, level: float, dispersion: float) -> BoundedScore:
        """Scores limited to `spread` sds of a row that says much."""
        family, top = self.problem.family, self.problem.response[1]
        predictors = self._predictors()
        if not family.free_dispersion:
            limit = min(1.0 + spread * math.sqrt(level * np.clip(dispersion, 1, _HEAVY) * dispersion), top)
            steepest = min(self._steepest(level), top, family.most_curved)
            excess = (dispersion - 1) * self.located.usable / level
            excess = excess if abs(excess) > 1e-3 else 0.0
            return BoundedScore(family, limit, steepest, NEARLY_ALL, excess, predictors, top)
        # amounts that are 0 in most rows have others of about phi times the mean, and not its root
        limit = spread * math.sqrt(dispersion * max(dispersion / MOST_DISPERSED, 1.0)) * family.longer_tail
        return BoundedScore(family, limit, 1.0, 0.0, dispersion, predictors, top)

    def _weighted(self, radius: float, level: float) -> tuple[BoundedScore, float]:
        """Scores of a 0 or 1 that a weight holds below a limit, of least loss for normal linear predictors.

        And the variance of scores whose coefficients noise would reach as it does those of weighted ones.
        """
        family, best = self.problem.family, (math.inf, 0.0, 0.0)
        steepest = min(self._steepest(level), family.most_curved)
        eta = family.link(np.clip(self.located.mean, *CERTAIN)) + _PREDICTORS
        curvature = family.curvature(eta)
        whole = float(np.mean(curvature))
        for limit in LIMITS:
            kept = BoundedScore(family, limit, steepest).weight(eta)
            left = float(np.mean(kept * curvature)) / whole
            variance = level * left**2
            lost = float(np.mean(kept**2 * curvature)) / whole / left**2 - 1
            noise = self._noise(radius, limit, variance)
            best = min(best, (max(noise, FREE) ** 2 + lost, limit, variance))
        return BoundedScore(family, best[1], steepest), best[2]

    def _steepest(self, level: float) -> float:
        """Largest curvature: rows beyond count less, and the error of the information grows with it."""
        radius = math.sqrt(LENGTHS[0] * self.problem.k)
        multiples = np.array(STEEPEST)
        errors = self._matrix_noise(radius, level, level) / self.located.thinnest * multiples
        return STEEPEST[np.argmin(4 * errors**2 + 0.4 * np.exp(-multiples))] * level

    def _unbounded(self, level: float, dispersion: float) -> BoundedScore:
        """Limits that no row near the fit reaches."""
        family, high = self.problem.family, self.problem.response[1]
        if family.two_valued:
            return BoundedScore(family, _FARTHEST, family.most_curved)
        if not family.free_dispersion:
            return BoundedScore(
                family, high, min(high, family.most_curved), 0.0, 0.0, self._predictors(), high
            )
        return self._score(_FARTHEST, level, dispersion)

    def _predictors(self) -> tuple[float, float]:
        return (-12.0, math.log(max(self.problem.response[1], 1.0)) + 1.0)
