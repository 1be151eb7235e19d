"""Laws by their quantiles at the middles of equal shares."""

import numpy as np
from scipy import special


def even_shares(count: int) -> np.ndarray:
    """Return the middles of so many equal shares of a law: its quantiles there stand for it."""
    return (np.arange(count) + 0.5) / count


def normal_squares(k: float, count: int) -> np.ndarray:
    """Return squared lengths of normal rows of `k` numbers, each as likely as the others."""
    return np.asarray(2 * special.gammaincinv(k / 2, even_shares(count)))
