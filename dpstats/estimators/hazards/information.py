"""What is known of the information of pieces and slopes, released step by step.

In coordinates where log hazards of pieces are divided by the root of their share of the events and covariates
are whitened, it is nearly the share of rows that fail, times 1. The block of the pieces is that: their shares
are known from counts. The block of the slopes is released, and so is what lies between the two: the means of
covariates where rows fail, which change slowly as time goes by. Of these a polynomial in the share of the
events that have happened is used, as far as it stands out from its noise. See docs/theory/coxph.md#steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpstats.estimators.engine.information import FORGET, Accumulator, Information
from dpstats.estimators.hazards.problem import by_stratum
from dpstats.estimators.matrices import ROUNDING, SMALLEST, symmetric_power
from dpstats.estimators.newton.information import floored
from dpstats.moments.solution import not_noise

# of what is expected of the block of slopes, a relative sd that one more number in it would have
_UNLIKE = 0.5
_TERMS = 5  # of a polynomial of the fourth degree


@dataclass
class Known:
    """Releases of the matrix of v v', v = (unit vector of the piece, whitened covariates), per row."""

    expected: np.ndarray  # second moments of standardised columns, by the shares of levels
    error: np.ndarray  # relative sds of their variances, (d,)
    slopes: Accumulator = field(default_factory=Accumulator)
    cross: np.ndarray = field(
        default_factory=lambda: np.zeros((1, 1))
    )  # (J, d), of standardised columns, times
    precision: np.ndarray = field(default_factory=lambda: np.zeros((1, 1)))  # (d, d), of each row of it
    count: float = 0.0  # of events that are seen, per row
    weight: float = 0.0

    def add(self, parts: Sequence[np.ndarray], sd: float, whitening: np.ndarray) -> None:
        """Add a release of the trace of pieces, (1,), the block between, (J, d), and that of slopes, (d, d).

        `sd` is of the noise of the first and of the diagonal of the last; other entries have half its square.
        """
        count, slopes = float(parts[0][0]), parts[2]
        self.slopes.add(slopes, sd, whitening)
        new = sd**-2
        self.cross = self.cross + 2 * new * parts[1] @ whitening
        self.precision = self.precision + 2 * new * whitening.T @ whitening
        self.count += new / (new + self.weight) * (count - self.count)
        self.weight += new

    @cached_property
    def own(self) -> np.ndarray:
        """Whitening by what is expected: noise of releases is about alike in all directions of it."""
        return symmetric_power(self.expected, -0.5, SMALLEST)

    def forget(self) -> None:
        """Trust what is there less."""
        self.slopes.forget(FORGET)
        self.cross, self.precision = self.cross * FORGET, self.precision * FORGET
        self.weight *= FORGET

    @property
    def level(self) -> float:
        """Events that are seen, per row; no fewer than noise would hide."""
        return max(self.count, 2 / math.sqrt(self.weight))

    def surely(self, ways: np.ndarray) -> np.ndarray:
        """Mean squares per row of these sums of standardised columns at failures, less two sds of noise.

        By releases alone: what is expected says no more of a rare level than the first stage knew of it.
        """
        seen = floored(self.slopes, self.own)
        parts = (seen.vectors.T @ np.linalg.solve(self.own, ways)) ** 2
        return np.asarray(seen.values @ parts - 2 * np.sqrt(seen.sds**2 @ parts**2))

    @property
    def drawn(self) -> Accumulator:
        """Releases of the block of slopes, and what is expected of it as one more.

        Its noise is by how much more the releases differ from it than theirs explains, in coordinates in
        which it is the same in all directions; empirical Bayes. Of a column whose variance the first stage
        did not tell it says the less.
        """
        d, own = len(self.expected), self.own
        numbers = d * (d + 1) / 2
        apart = self.slopes.mean(own) / self.level - np.eye(d)
        noise = float(np.mean(self.slopes.sds(own, np.eye(d)) ** 2)) / self.level**2
        between = (max(float(np.sum(apart**2)) - numbers * noise, 0.0) + _UNLIKE**2) / (numbers + 1)
        drawn = Accumulator(list(self.slopes.releases))
        told = math.sqrt(between) / np.hypot(math.sqrt(between), self.error)
        drawn.add(self.level * np.diag(told), self.level * math.sqrt(between), np.sqrt(told)[:, None] * own)
        return drawn

    def _between(self, shares: np.ndarray, stratum: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The block of pieces and columns, shape (J, d), and what noise leaves unknown of it.

        Columns are turned by the root of `precision`, so that noise is the same in all of them.
        Each stratum has a polynomial of its own, and each column of it the part that noise does not explain.
        The noise of a column of the block is E z, z standard normal, with E of shape (J, terms).
        """
        cross = self.cross @ symmetric_power(self.precision, -0.5) / np.sqrt(shares)[:, None]
        block, errors = np.zeros_like(cross), []
        for own in by_stratum(np.arange(len(shares)), stratum):
            axes, noise = self._terms(shares[own])
            terms = axes.T @ cross[own]
            block[own] = axes @ terms * [not_noise(float(column @ column), noise.sum()) for column in terms.T]
            errors.append(np.zeros((len(shares), len(noise))))
            errors[-1][own] = axes * np.sqrt(noise)
        return block, np.hstack(errors)

    def _terms(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Orthonormal polynomials on the pieces of one stratum, (J, T), and variances of their noise."""
        middle = (np.cumsum(shares) - shares / 2) / shares.sum()
        powers = np.vander(middle, min(_TERMS, len(shares))) * np.sqrt(shares)[:, None]
        axes = np.linalg.qr(powers)[0]
        return axes, np.sum(axes**2 / shares[:, None], axis=0)

    def information(self, shares: np.ndarray, stratum: np.ndarray, whitening: np.ndarray) -> Information:
        """All of it, for pieces with these shares of the events, of these strata.

        sds along an eigenvector are those of the block of the slopes, as far as it lies there, and of what
        lies between: a column off its centre has information only beyond what pieces explain.
        """
        j, d = len(shares), len(whitening)
        block, errors = self._between(shares, stratum)
        turn = symmetric_power(self.precision, -0.5) @ whitening.T
        cross = block @ turn
        drawn = self.drawn
        slopes = drawn.mean(whitening)
        matrix = np.block([[self.level * np.eye(j), cross], [cross.T, slopes]])
        values, vectors = np.linalg.eigh(matrix)
        part = vectors[j:]
        lengths = np.linalg.norm(part, axis=0)
        along = np.where(lengths > ROUNDING, part / np.maximum(lengths, ROUNDING), np.eye(d)[0][:, None])
        # pieces explain the square of what lies between: its error counts to the first order and beyond
        columns = np.sum((turn @ part) ** 2, axis=0)
        first = 2 * np.sqrt(columns) * np.linalg.norm(errors.T @ vectors[:j], axis=0)
        beyond = columns * float(np.sum(errors**2)) / self.level
        sds = np.sqrt((drawn.sds(whitening, along) * lengths**2) ** 2 + first**2 + beyond**2)
        return Information.of(values, vectors, sds)
