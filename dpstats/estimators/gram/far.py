"""Rows whose residuals lie beyond the limit: what they move a line by, told from a release of them alone.

A limit takes from a line what such rows would make of it, and nobody knows beforehand along which covariates.
Where the final release tells how many there are and where they lie, the line is moved by what they are
likely to hold, and intervals count what is not known of it.

See docs/theory/linear.md#far-rows.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.gram.bounds import MEAT, Bounds, moved_share
from dpstats.moments import LinearMoments

# Share of the limit that a far row keeps in the score of the line. The noise of rows at 1 / KEPT limits is
# then least; rows that noise hides lose the rest.
KEPT = 0.7
# The mean of |r| of far rows, in limits, and the sd of what is not known of it, as a share. If a share y^-2
# of them is farther than y limits it is 2, for exponential errors 1.2.
_MEAN, _DOUBT = 1.75, 0.5


@dataclass(frozen=True)
class FarRows:
    """What was released of rows beyond the limit.

    Attributes
    ----------
    share : float
        Of the rows, beyond what noise explains by James and Stein's rule.
    share_sd : float
        Noise of it.
    sides : array, shape (k,)
        Mean over all rows of a times the sign of r, and 0 for other rows.
    sides_sd : float
        Noise of each entry.
    """

    share: float
    share_sd: float
    sides: np.ndarray
    sides_sd: float

    @classmethod
    def of(cls, release: Release, bounds: Bounds, n: int) -> "FarRows":
        """From what a release says of n rows that count."""
        lost = 1 - KEPT**2
        along = n * bounds.radius * math.sqrt(2 * lost)
        one = n * bounds.radius**2 * math.sqrt(lost * (2 / (1 + MEAT**2) - lost))
        *sides, count = release.values[4][:, 0]
        noise, told = release.sd / one, max(float(count) / one, release.sd / one)
        share = min(told - noise**2 / told, 1.0)
        return cls(share, noise * share / told, np.array(sides) / along, release.sd / along)

    def clipped(self, moments: LinearMoments, limit: float) -> LinearMoments:
        """Moments in whose score these rows are at the limit."""
        rest = (1 - KEPT) * limit
        return replace(
            moments,
            cross=moments.cross + rest * self.sides,
            noise_cross=math.hypot(moments.noise_cross, rest * self.sides_sd),
        )

    def heard(self, moments: LinearMoments, limit: float) -> LinearMoments:
        """Moments in whose score these rows count as far as it was told where they lie.

        Sides are taken to be those of so many rows that all lie on one side and move two of the k entries of
        a line, as far as noise does not tell: any direction may be one of these, with a chance of 2 / k.
        """
        gram = moments.positive_gram
        prior = moved_share(len(gram)) * self.share**2 * gram
        trust = np.linalg.solve(prior + self.sides_sd**2 * np.eye(len(gram)), prior)
        told = trust @ self.sides
        missing, reach = (_MEAN - KEPT) * limit, _MEAN * limit
        unknown = missing**2 * self.sides_sd**2 * trust + (_DOUBT * reach) ** 2 * np.outer(told, told)
        # so many rows have residuals of that size, where sampling was reckoned with those at the limit
        sampling = (reach**2 - limit**2) * self.share / moments.n * trust @ gram @ trust
        lost = (1 - KEPT**2) * limit**2
        found = replace(
            moments,
            cross=moments.cross + missing * told,
            square=moments.square + lost * self.share,
            noise_square=math.hypot(moments.noise_square, lost * self.share_sd),
        )
        inverse = found.normal_equations().inverse
        return found.bending(inverse @ (unknown + sampling) @ inverse)
