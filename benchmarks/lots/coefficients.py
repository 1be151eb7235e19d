"""How often intervals of coefficients hold, by groups of them."""

from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

Z95 = 1.96
HEADS = ("coefficients", "number", "covered %", "rms", "confidently wrong %")


def table(groups: dict[str, pd.DataFrame]) -> str:
    """One line for each group of estimable coefficients.

    `z` are errors in standard errors, and `cautions` text that is empty where the fit has none. Confidently
    wrong is what is beyond two half-lengths of the interval in a fit without a caution.
    """
    return tabulate([[name, *_line(group)] for name, group in groups.items()], HEADS)


def _line(group: pd.DataFrame) -> list[Any]:
    if not len(group):
        return [0, "", "", ""]
    sizes = group["z"].abs()
    wrong = (sizes > 2 * Z95) & (group["cautions"] == "")
    rms = np.sqrt((sizes**2).mean())
    return [len(group), f"{100 * (sizes < Z95).mean():.1f}", f"{rms:.2f}", f"{100 * wrong.mean():.2f}"]
