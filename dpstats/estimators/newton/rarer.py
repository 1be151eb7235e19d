"""A yes or no of which one answer is so rare that noise of an early step hides all rows that give it.

See docs/theory/glm.md#few-rarer-answers.
"""

import math

import numpy as np
from scipy.special import ndtri

from dpstats.estimators.halving import halved
from dpstats.estimators.newton.located import Located
from dpstats.estimators.row_scale import SURE
from dpstats.families.glm import EVENLY, GlmFamily
from dpstats.families.quantiles import even_shares

_PREDICTORS = ndtri(even_shares(100))  # normal ones


def expecting_no_more(point: np.ndarray, located: Located, family: GlmFamily) -> np.ndarray:
    """A point at which no more rows are expected to give the rarer answer than surely do at most.

    A step that makes slopes steeper and leaves the intercept where it is makes the rarer answer a common one.
    Information there is many times what it is at the root, and scores along all slopes point back.

    Parameters
    ----------
    point : array, shape (k,)
        Coefficients of standardised columns, the intercept the first.
    located : Located
    family : GlmFamily
        Of a yes or no.
    """
    spread = math.sqrt(float(point[1:] ** 2 @ located.squares[1:]))
    eta, yes = point[0] + located.offset + spread * _PREDICTORS, located.mean < 0.5
    most = min(located.mean, 1 - located.mean) + SURE * located.noise / 2

    def more(shift: np.ndarray) -> np.ndarray:
        means = family.mean(eta - shift if yes else eta + shift)
        return np.array(np.mean(means if yes else 1 - means) > most)

    shift = float(halved(more, np.array(0.0), np.array(EVENLY)))
    return point - (shift if yes else -shift) * np.eye(len(point))[0]
