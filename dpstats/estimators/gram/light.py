"""Rows that were shortened to less than half of their weight: what they alone say of a line.

Where effects bend, or differ in a few rows far out on both sides, least squares follows long rows and a line
of weighted rows the others. The last release sums the scores of rows that count less than half by themselves,
as it does those of far rows, and no noise is larger for it.

See docs/theory/linear.md#rows-that-count-less-than-half.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpstats.curator import Release
from dpstats.estimators.apart import FALSE
from dpstats.estimators.bends import WORTH, sure_of_each
from dpstats.estimators.gram.bounds import MEAT, Bounds
from dpstats.estimators.gram.far import KEPT, FarRows
from dpstats.estimators.gram.lengths import LongRows
from dpstats.estimators.row_scale import SURE
from dpstats.moments import LinearMoments

# radius over length of such a row, which is at most the root of 1/2
_SHORTER = 0.6
# What it would add to a score at full length beyond what it does, over what is told of it, where no count
# tells: 2 - 1/2 if it is twice as long as the radius.
_BEYOND = 1.5
_OTHER_LENGTHS = 0.5  # what is not known of how far they move a line, as a share


@dataclass(frozen=True)
class LightRows:
    """What was released of them, but of those whose residuals are beyond the limit.

    Attributes
    ----------
    side : array, shape (k,)
        Mean over all rows of a, shortened, times r, as large as it is up to the limit; 0 for other rows.
    side_sd : float
        Noise of each entry.
    square, square_sd : float
        The same of r^2.
    law : str
        Of noise.
    radius : float
        To which rows are shortened.
    """

    side: np.ndarray
    side_sd: float
    square: float
    square_sd: float
    law: str
    radius: float

    @classmethod
    def of(cls, release: Release, bounds: Bounds, n: int) -> "LightRows":
        """From what a release says of n rows that count."""
        lost, found = 1 - KEPT**2, release.values[4][:, -1]
        along = n * bounds.radius * math.sqrt(2 * lost) / bounds.limit
        one = n * bounds.radius**2 * math.sqrt(lost * (2 / (1 + MEAT**2) - lost)) / bounds.limit**2
        return cls(
            found[:-1] / along,
            release.sd / along,
            found[-1] / one,
            release.sd / one,
            release.law,
            bounds.radius,
        )

    def heard(self, moments: LinearMoments) -> LinearMoments:
        """Moments in whose score these count as others do, as far as noise does not explain what they say."""
        told, noise = moments.released, len(self.side) * self.side_sd**2
        trust = max(1 - noise / max(float(self.side @ self.side), noise), 0.0)
        rest, lost = (1 - KEPT) * _SHORTER, (1 - KEPT**2) * _SHORTER**2
        told = replace(
            told,
            cross=told.cross + rest * trust * self.side,
            noise_cross=math.hypot(told.noise_cross, rest * math.sqrt(trust) * self.side_sd),
            square=told.square + lost * self.square,
            noise_square=math.hypot(told.noise_square, lost * self.square_sd),
        )
        return replace(moments, released=told)

    def unseen(self, far: FarRows, limit: float, long: LongRows, prior: np.ndarray) -> float:
        """Share of rows beyond the radius, from 0 to 1, whose residuals may be of any size.

        As many as there surely are beyond the limit, and as long ones at it, that neither normal errors nor
        that of the line before explain, whose covariance is `prior`.
        """
        share, squares = long.longer(self.radius)
        usual = share + float(squares @ np.diag(long.axes.T @ prior @ long.axes))
        at = self.square - SURE * self.square_sd - usual
        beyond = float(far.shares.sum()) - SURE * far.share_sd * math.sqrt(len(far.shares))
        found = max(at, 0.0) / limit**2 + max(beyond - 2 * special.ndtr(-limit), 0.0)
        return min(found / share, 1.0) if share else 0.0

    def bending(
        self, moments: LinearMoments, long: LongRows, axes: np.ndarray
    ) -> tuple[np.ndarray, LinearMoments]:
        """Which of some axes they surely say another line along, and moments of the line that they move.

        Their sums are surely not what the step from the pilot's line makes of them, by noise, sampling and
        that step; and a coefficient moves by more than its error.
        """
        ways, found = long.axes[:, axes], moments.normal_equations()
        moved = self.radius**2 * long.light(self.radius, _SHORTER)[axes] * (found.delta @ ways)
        sides, square = self.side @ ways - moved, max(self.square, 0.0) + self.square_sd
        sds = np.sqrt(self.side_sd**2 + self.radius**2 * square / moments.released.n + moved**2)
        sure = sure_of_each(self.law, self.side_sd, sds, FALSE)
        more = np.maximum(long.more_at_full_length(self.radius)[axes], _BEYOND)
        whole = moments.positive_gram + long.lost_squares(self.radius)
        by = np.linalg.solve(whole, ways * (more * sides))
        errors = WORTH * np.sqrt(np.diag(moments.solve().cov))[:, None]
        told = (np.abs(moments.frame.map @ by) > errors).any(axis=0) & (np.abs(sides) > sure)
        by = by[:, told]
        return axes[told], moments.moved(by.sum(axis=1)).bending(_OTHER_LENGTHS**2 * by @ by.T)
