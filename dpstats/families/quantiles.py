"""Laws by their quantiles at the middles of equal shares."""

import numpy as np

MOST_FAILED = 0.999  # of rows that are all watched as long, as the last of them may live for ever
EARLIEST = -14.0  # residual at which hardly any row has failed


def even_shares(count: int) -> np.ndarray:
    """Return the middles of so many equal shares of a law: its quantiles there stand for it."""
    return (np.arange(count) + 0.5) / count
