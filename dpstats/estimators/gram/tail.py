"""Rows whose residuals lie beyond the bulk of all, and what limits take of them."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.moments.parts import Clipping

# least mean square of the other residuals, as a share; mean of r^4 in a cell over the square of that of r^2,
# of which a cell of half an octave holds any
_LEAST_REST, _UNEVEN = 0.1, 1.1
# of the mean square of residuals: where less is in the tail, a pilot may clip it
MOST_SQUARE = 0.5
_AS_FAR = 2.0  # limits that hidden rows may lie beyond one


@dataclass(frozen=True)
class Tail:
    """Rows beyond the bulk of residuals r that are surely there.

    Attributes
    ----------
    shares : array, shape (m,)
        Of the rows, in cells that hold some for sure.
    lower, upper : array, shape (m,)
        Of these cells.
    hidden : float
        A share of the rows that noise may hide beyond.
    about : array, shape (k,)
        The line from which residuals were counted.
    guessed : bool
        Whether none was seen, of a response that seems constant: these stand for what noise may hide.
    """

    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    hidden: float
    about: np.ndarray
    guessed: bool = False

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(len(self.shares))

    @property
    def square(self) -> float:
        """What these rows alone make of the mean of r^2."""
        return self.beyond(0.0)

    def clipped(self, square: float, error: float, limit: float, told: tuple[float, float]) -> "Tail":
        """The tail, once a limit has left `square` of a mean square of 1, which residuals are told to have.

        If that is less than half, and surely less than they have, `told` first, the rest lies between the
        limit and how far they were seen. The next limit would be told from what is left, and leave less.
        A limit beyond all of the tail that leaves less than half of it shows that the line explains it.
        """
        sure, far = told
        if (
            not self.guessed
            and limit >= np.max(self.upper, initial=0.0)
            and square + error < MOST_SQUARE * self.square
        ):
            return replace(self, shares=NO_TAIL.shares, lower=NO_TAIL.lower, upper=NO_TAIL.upper)
        if square >= MOST_SQUARE or max(square + error, 0.0) >= sure or limit >= far:
            return self
        share = np.array([(1 - square) / (limit * (far - limit))])
        return replace(self, shares=share, lower=np.array([limit]), upper=np.array([far]))

    def over(self, unit: float) -> "Tail":
        """In another unit."""
        return replace(self, lower=self.lower / unit, upper=self.upper / unit)

    def beyond(self, limit: float) -> float:
        """What a limit takes of the mean of r^2."""
        return float(np.sum(self.shares * np.maximum(self.lower * self.upper - limit**2, 0.0)))

    def lost(self, limits: np.ndarray) -> np.ndarray:
        """What limits take of the mean of |r| at most."""
        return np.asarray(self.shares @ np.maximum(self.upper[:, None] - limits, 0.0))

    def kurtosis(self, limit: float) -> float:
        """Of residuals of mean square 1 that are normal but for these rows, clipped at a limit."""
        squares = np.minimum(self.lower * self.upper, limit**2)
        rest = max(1 - float(np.sum(self.shares * squares)), _LEAST_REST)
        square = rest + float(np.sum(self.shares * squares))
        return (3 * rest**2 + _UNEVEN * float(np.sum(self.shares * squares**2))) / square**2

    def known(self, limit: float) -> Clipping:
        """What is assumed of residuals clipped at a limit: rows may be hidden as far as it reaches."""
        if not self.any:
            return Clipping(limit)
        return Clipping(
            limit,
            usual=self.kurtosis(limit),
            most_lost=float(self.lost(np.array([limit]))[0]) + _AS_FAR * self.hidden * limit,
            beyond=self.beyond(limit) + self.hidden * limit**2,
            guessed=self.guessed,
        )


NO_TAIL = Tail(np.zeros(0), np.zeros(0), np.zeros(0), 0.0, np.zeros(0))
