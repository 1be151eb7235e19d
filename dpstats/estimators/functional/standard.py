"""What the functional mechanism needs to know of a family.

See docs/theory/functional.md#released-statistic-and-sensitivity.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Standard(NamedTuple):
    """Constants of the standard variable W of a family.

    Attributes
    ----------
    curvature : float
        Minus the second derivative of the log density at 0, as the paper's Taylor expansion has it; there the
        first derivative is 0 for every family.
    sd, skewness, kurtosis : float
        Of W; the kurtosis is that in excess of a normal one.
    """

    curvature: float
    sd: float
    skewness: float
    kurtosis: float


# skewness of the smallest extreme value: -12 sqrt6 zeta(3) / pi^3
STANDARDS = {
    "sev": Standard(1.0, math.pi / math.sqrt(6), -1.1395470994046486, 2.4),
    "logistic": Standard(0.5, math.pi / math.sqrt(3), 0.0, 1.2),
    # the likelihood is of second order as it is: the functional mechanism of linear regression
    "gaussian": Standard(1.0, 1.0, 0.0, 0.0),
}
"""By the name of the family."""
