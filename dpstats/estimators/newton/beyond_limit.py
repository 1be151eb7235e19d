"""Do counts and amounts have beyond the limit of scores what their law says?

See docs/theory/glm.md#what-lies-beyond-the-limit.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from dpstats._codes import FAR_RESPONSES, TAIL
from dpstats.curator import Release
from dpstats.estimators.apart import FALSE
from dpstats.estimators.bends import WORTH, by_chance
from dpstats.estimators.engine.finish import E
from dpstats.estimators.newton.bounds import LEAST_DISPERSED, MOST_DISPERSED
from dpstats.estimators.newton.check import Check, Read, level_variance
from dpstats.estimators.newton.located import Located
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import CERTAIN

# times the limit of scores, for what may lie beyond: the farther, the noisier; of a row that lies farther
# still as much is seen
_WIDER, _WIDER_COUNTS = 2.0, 8.0


def tailed(cost: float, located: Located, read: Read, found: E) -> Check[E]:
    """A fit that tells by the caution "far" if scores surely hold more beyond their limit than the law says.

    What is put back for clipping is that of the family. A few responses of many times the mean, as a code for
    what is not known, move the intercept by what the wider limit adds to the mean score, at least: to that of
    amounts it is given back, unless it surely lies in some levels, and it counts as error. So does what is
    put back under a dispersion that is not known well. Of counts, whose larger means lose more, slopes are as
    much too small, as a share; of those whose scatter no law explains the caution is "tail".
    """
    score = read.score
    if not cost or score is None or score.limit >= score.top:
        return found
    # wider alone: of the same rows, weighted as they are
    times = _WIDER_COUNTS if score.family.counts else _WIDER
    wider = replace(score, limit=times * score.limit, spread=times * score.spread)
    back = np.linalg.inv(located.to_user(True))
    public = dict(**located.public(), beta=back @ found.params, score=score, wider=wider)
    release, found = yield "score_tails", cost, public
    rows = release.n * located.usable * located.weights.mean
    law = _Tail.of(score, wider, read.curvature / located.usable, located.mean)
    added = _Added.of(release, rows, law, read)
    worth = WORTH * rows * law.curvature * math.sqrt(level_variance(back, found.cov))
    lawful, counts = math.isfinite(read.phi_sd), score.family.counts
    told = bool(added.total > max(added.sure, worth)) and (lawful or counts)
    for group in read.unlike:
        moved = (abs(added.total) + added.usual) / rows * group
        found = found.doubted(np.outer(moved, moved))
    first, beyond = located.to_user(True)[:, 0], max(added.total**2 - added.usual**2, 0.0) / rows**2
    variance = added.drift**2 + beyond
    if score.family.free_dispersion and not read.unlike:
        mean, sd = added.total / rows, added.sd / rows
        missing, variance = _given_back(mean, sd, times, added.drift**2, beyond)
        found = replace(found, params=found.params + missing / law.curvature * first)
    slopes = counts * (found.params - first * float(back[0] @ found.params))
    moved = variance / law.curvature**2 * (np.outer(first, first) + np.outer(slopes, slopes))
    return found.doubted(moved, *(FAR_RESPONSES if lawful else TAIL,) * told)


def _given_back(added: float, sd: float, times: float, drift: float, beyond: float) -> tuple[float, float]:
    """What the mean of scores lacks, and its variance, if limits so many times as wide add so much to it.

    What lies beyond the wider ones is in proportion as under a Pareto law whose variance just exists, give or
    take as much. All of it is believed as far as noise is less than what may be missing: by a law whose phi
    is not known, the square of `drift`, and by what is surely `beyond` it.
    """
    more = 1 / (times - 1)
    noise, usual = ((1 + more) * sd) ** 2, drift + (1 + more) ** 2 * beyond
    trust = usual / max(usual + noise, 1e-300)
    moved = trust * (1 + more) * added
    return moved, trust * noise + (trust * more * added) ** 2


@dataclass(frozen=True)
class _Tail:
    """Of scores at the mean curvature, what their law has between two limits.

    Attributes
    ----------
    score, wider : BoundedScore
    curvature : float
        Of a row that can be used.
    eta : float
        Where it is that.
    """

    score: BoundedScore
    wider: BoundedScore
    curvature: float
    eta: float

    @classmethod
    def of(cls, score: BoundedScore, wider: BoundedScore, curvature: float, mean: float) -> Self:
        """`mean` is that of all responses, about."""
        if score.family.free_dispersion:
            return cls(score, wider, 1.0, float(score.family.link(np.array(max(mean, CERTAIN[0])))))
        return cls(score, wider, curvature, math.log(score.family.mean_at(curvature, score.predictors)))

    def put_back(self, phi: float) -> tuple[float, float]:
        """Sizes of the mean of a score, and of what the wider limit adds, if phi is not what was assumed."""
        if not self.score.family.free_dispersion:
            phi = max((phi - 1) / self.curvature, 0.0)
        mean = self.score.put_back(phi, self.eta)
        return abs(mean), abs(self.wider.put_back(phi, self.eta) - mean)

    def variance(self, phi: float, added: float) -> float:
        """Of what the wider limit adds to a score, at most, if it adds so much in the mean.

        Of one law: both scores grow with the response, and what is between varies no more than their
        variances differ. Of counts it lies between two ends, in the mean as far from one as law and rows say.
        """
        squares = self.score.family.clipped_square
        if squares is not None:
            return max(squares(self.wider.limit, phi) - squares(self.score.limit, phi), 0.0)
        at = np.array([self.eta])
        usual = float((self.wider.correction(at) - self.score.correction(at))[0])
        return (self.wider.limit - self.score.limit) * (added + max(usual, 0.0))


class _Added(NamedTuple):
    """What the wider limit adds to the scores of all rows.

    Attributes
    ----------
    total, sd : float
        As released, and by sampling and noise.
    sure, usual : float
        What chance and the law add to it once in so many fits, as :func:`dpstats.estimators.bends.by_chance`
        has them.
    drift : float
        What may be wrong in the mean of a score, as its dispersion is not known.
    """

    total: float
    sd: float
    sure: float
    usual: float
    drift: float

    @classmethod
    def of(cls, release: Release, rows: float, law: _Tail, read: Read) -> Self:
        (total,), (noise,) = release.values[0].tolist(), release.sds[0].tolist()
        drift, more = np.max([law.put_back(phi) for phi in _plausible(read)], axis=0)
        sd = math.sqrt(noise**2 + rows * law.variance(read.phi, abs(total) / rows))
        sure, usual = (each + rows * more for each in by_chance(release.law, noise, sd, doubtful=2 * FALSE))
        return cls(total, sd, sure, usual, drift)


def _plausible(read: Read) -> tuple[float, ...]:
    """Dispersions that there may be: two sds to either side, or any on its side of what can be told."""
    if math.isinf(read.phi_sd):
        assumed = read.score.dispersion if read.score and read.score.family.free_dispersion else 0.0
        return (read.phi, max(read.phi, MOST_DISPERSED) if read.phi > assumed else LEAST_DISPERSED)
    return tuple(max(read.phi + sds * read.phi_sd, LEAST_DISPERSED) for sds in (-2, 0, 2))
