"""What a classifier by margin predicts: on which side of a line a row lies, and how far from it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpstats.results import life
from dpstats.results.base import Released
from dpstats.results.notreleased import refusal
from dpstats.results.points import NewData, points
from dpstats.results.record import MARGIN_MODELS


def labels(decision: np.ndarray) -> pd.Series:
    """Return 1 where the decision function is not negative, else 0."""
    return pd.Series((decision >= 0).astype(int), name="predicted")


class Margin(Released):
    """The decision function of a support vector machine."""

    __slots__ = ()

    def decision_function(self, newdata: NewData | None = None) -> pd.Series:
        """Return x'coef at new data: its sign is the label, and it is 1 or -1 at the margins.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows

        Raises
        ------
        NotReleased
            Without `newdata`, and if the fit is not of a support vector machine.
        """
        record = self.record
        if record.model not in MARGIN_MODELS:
            raise refusal(
                "decision_function", f"needs a support vector machine, and this is {record.model}",
                "Use predict(newdata, type='link').",
            )  # fmt: skip
        linear, _ = life.linear_predictor(record, points(record, newdata, "decision_function"))
        return pd.Series(linear, name="decision")
