"""Where the effect of a skewed number may end, though long rows do not say so.

See docs/theory/glm.md#what-long-rows-say.
"""

import math

import numpy as np

from dpstats.estimators.newton.check import Read
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.slopes import placed
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import GlmFamily

# of an octave, the middles of its halves over its root mean square
_HALVES = np.exp2([0.25, 0.75]) / math.sqrt(7 / 3)
_STEPS = 30  # Newton steps to a line, none of which changes a predictor by more than 1


def lost_by_ends(
    j: int,
    located: Located,
    line: np.ndarray,
    read: Read,
    look: tuple[BoundedScore, float, tuple[float, ...]],
    most: np.ndarray,
) -> float:
    """How much nearer to 0 the line of all rows may lie, if the effect of a column ends where noise hides it.

    Rows lie where the first stage saw them, and in the octave beyond. Of all places at which an effect may
    end, those count where no sum of the look at long rows would be more than it may be.

    Parameters
    ----------
    j : int
        A column whose long rows lie on one side.
    located : Located
    line : array, shape (k,)
        On standardised columns, an intercept the first.
    read : Read
    look : tuple
        The scores of the look, how far a row reaches in it, and the lengths at which its m sums begin.
    most : array, shape (m,)
        What steps towards 0 by these sums may be.
    """
    (heard, reach, begins), below, above = look, -located.lower[j], located.upper[j]
    shares, squares = located.tails[j - 1]
    x, shares = placed(_one_farther(shares), np.sqrt(squares), below, above)
    seen = shares > 0
    x, shares = np.multiply.outer(_HALVES, x[seen]).ravel(), np.tile(shares[seen] / 2, 2)
    # what other columns make of log means, these normal
    others = float(np.sum(np.delete(line**2 * located.squares, [0, j]))) / 2
    eta = np.clip(line[0] + located.offset + others + line[j] * x, *heard.predictors)
    out = x if above > below else -x
    past = np.maximum(out - np.unique(np.maximum(out, 0.0))[:-1, None], 0.0)
    truth = heard.family.mean(eta - line[j] * np.sign(above - below) * past)
    length = np.sqrt((read.whitening[j, j] * x) ** 2 + len(line) - 1)
    weight = np.minimum(1.0, (read.radius / length) ** 2)
    score = read.looked(heard.family, 1.0)
    whole, _ = _line(heard.family, x, eta, truth, shares)
    near, at = _line(heard.family, x, eta, truth, shares * weight * score.weight(eta))
    psi = np.clip(heard.weight(at) * heard.family.score(truth, at), -heard.limit, heard.limit)
    lost = shares * psi * (1 - weight) * np.minimum(1.0, reach / length)
    own = (read.whitening @ np.linalg.pinv(read.information) @ read.whitening)[j]
    steps = lost * (own[0] + own[j] * x)
    apart = np.searchsorted(begins, length, side="right") - 1 == np.arange(len(begins))[:, None]
    toward = -np.sign(line[j]) * (apart @ steps.T)
    hidden = np.all(toward <= most[:, None], axis=0)
    return float(np.max(-np.sign(line[j]) * (whole - near), where=hidden, initial=0.0))


def _line(
    family: GlmFamily, x: np.ndarray, eta: np.ndarray, truth: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What slopes change by to the root of scores, for each row of such means, and the predictors there."""
    slopes, at = np.zeros((len(truth), 1)), np.tile(eta, (len(truth), 1))
    for _ in range(_STEPS):
        weights, scores = shares * family.curvature(at), shares * family.score(truth, at)
        total = weights.sum(axis=1, keepdims=True)
        far = x - (weights @ x)[:, None] / total
        spread = np.maximum(np.sum(weights * far**2, axis=1, keepdims=True), 1e-300)
        slope = np.sum(scores * far, axis=1, keepdims=True) / spread
        change = scores.sum(axis=1, keepdims=True) / total + slope * far
        short = 1 / np.maximum(np.abs(change).max(axis=1, keepdims=True), 1.0)
        slopes, at = slopes + short * slope, at + short * change
    return slopes[:, 0], at


def _one_farther(shares: np.ndarray) -> np.ndarray:
    """Shares of the rows by octave, farthest first, with the one beyond those seen, as of a log-normal law.

    From one octave to the next shares fall by a factor that falls by a factor; neither is above 1.
    """
    first, more = int(np.argmax(shares > 0)), shares.copy()
    near = shares[first : first + 3]
    if first and len(near) == 3 and near.all():
        fall = min(near[0] / near[1], 1.0)
        more[first - 1] = near[0] * fall * min(fall / (near[1] / near[2]), 1.0)
    return more
