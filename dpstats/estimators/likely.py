"""Intervals that hold 95 % of what is likely, where most moves of a line are small and few are far.

A variance over all of them would be made by the few. See docs/theory/survival.md#whether-times-bend.
"""

import math

import numpy as np
from scipy.special import ndtr

from dpstats.estimators.halving import rooted
from dpstats.estimators.matrices import ROUNDING
from dpstats.families.quantiles import even_shares
from dpstats.moments.spread import Z95

# Where a law of moves is reckoned, in sds of errors near 0 and as a share far off; what of it lies below and
# above 95 %; and lengths that are taken for one
_SPACE, _NEARLY = 0.1, 1.01
_RARE = 1e-5  # a chance of one of some 600 moves that is left out
_SHARES = 0.05 * even_shares(51) + np.array([[0.0], [0.95]])


def shortest(moves: np.ndarray, chances: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles of the shortest intervals that hold 95 % of moves (m, c), and mean squares, (c, c).

    With errors of what is moved, of these sds, which are not in the mean squares.
    """
    moves, chances = moves[chances > _RARE], chances[chances > _RARE] / chances[chances > _RARE].sum()
    each = [_interval(own / error, chances) for own, error in zip(moves.T, errors, strict=True)]
    middle, half = np.transpose(each) * errors
    off = moves - middle
    square = (off.T * chances) @ off
    needed = np.maximum(half**2 - errors**2, 0.0)
    less = np.sqrt(needed / np.maximum(np.diag(square), 1e-300))
    return middle, square * np.outer(less, less) + np.outer(middle, middle)


def _interval(moves: np.ndarray, chances: np.ndarray) -> tuple[float, float]:
    """Middle of the shortest interval that holds 95 % of moves with errors, and its length over theirs.

    Moves are in sds of errors. Of intervals that are nearly as short it is the one whose middle is nearest 0.
    """
    most = math.asinh(np.abs(moves).max() + 5)
    at = np.sinh(np.linspace(-most, most, 2 * math.ceil(most / _SPACE) + 1))
    laws = ndtr(at), ndtr(at[:, None] - moves) @ chances
    usual, (first, last) = (np.array([np.interp(share, law, at) for share in _SHARES]) for law in laws)
    lengths, middles = last - first, (first + last) / 2
    nearest = np.argmin(np.where(lengths <= _NEARLY * lengths.min(), np.abs(middles), math.inf))
    return middles[nearest], lengths[nearest] / np.diff(usual, axis=0).min()


def beside_errors(moves: np.ndarray, chances: np.ndarray) -> float:
    """Mean square beside that of errors with which an interval about 0 holds 95 % of moves with errors.

    Moves are in sds of errors.
    """

    def off(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        above, below = half - moves, -half - moves
        slope = chances @ (np.exp(-(above**2) / 2) + np.exp(-(below**2) / 2)) / math.sqrt(2 * math.pi)
        return chances @ (ndtr(above) - ndtr(below)) - 0.95, slope

    far = Z95 + np.abs(moves).max(keepdims=True)
    half = rooted(off, far, np.zeros(1), far, ROUNDING)
    return max(float((half.item() / Z95) ** 2) - 1, 0.0)
