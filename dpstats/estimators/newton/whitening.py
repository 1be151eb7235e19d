"""Whitening of the columns by the information about their coefficients (docs/theory/glm.md#steps)."""

from __future__ import annotations

import numpy as np

from dpstats.estimators.matrices import SMALLEST, symmetric_power
from dpstats.estimators.newton.located import Located


def rewhitened(whitening: np.ndarray, information: np.ndarray, located: Located) -> np.ndarray:
    """W, symmetric, that also whitens `information`, given in today's coordinates with a level of 1.

    Whitened rows are W times the standardised ones.
    """
    back = np.linalg.inv(whitening)
    moments = back @ information @ back
    moments += np.diag(np.maximum(0.0, located.least - np.diag(moments)))
    return symmetric_power(moments, -0.5, SMALLEST)
