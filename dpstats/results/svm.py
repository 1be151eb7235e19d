"""Fits of support vector machines: on which side of a line a row lies, and how far from it."""

import numpy as np
import pandas as pd

from dpstats.results.marginal_effects import EffectsFit
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.prediction import prediction


class SvmFit(EffectsFit, models=("svm",)):
    """A support vector machine, with its decision function.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.svm("parttime ~ education", cps.data, cps.schema).fit(dps.pure(1))
    >>> fit.predict({"education": 12})[0] in (0, 1)
    True
    """

    __slots__ = ()
    _title = "support vector machine, Huber hinge"
    _response = "decision function"
    _ratio = ""
    _last_remark = " The sign of x'coef is the label; there are no probabilities."
    _needs = (
        "needs a support vector machine, and this is {model}",
        "Use predict(newdata, type='link').",
    )
    _refused = {
        "residuals": (
            "needs a model of the mean, and this is {model}",
            "Use fit.decision_function(newdata).",
        ),
        "simulate": ("needs a law of the response, and a margin has none", "Fit dps.logit(...)."),
    }

    def _predicted(self, at: Points, link: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return labels: 1 where the decision function is not negative, else 0; they have no errors."""
        linear, se = super()._predicted(at, link=True)
        if link:
            return linear, se
        lost = np.isnan(linear)
        labels = np.where(lost, np.nan, linear >= 0) if lost.any() else (linear >= 0).astype(int)
        return labels, np.full(len(linear), np.nan)

    def decision_function(self, newdata: NewData | None = None) -> pd.Series:
        """Return x'coef at new data: its sign is the label, and it is 1 or -1 at the margins.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows

        Returns
        -------
        Series of m values

        Raises
        ------
        NotReleased
            Without `newdata`.

        Examples
        --------
        >>> fit.decision_function({"education": [8, 12]})
        0   ...
        1   ...
        Name: decision, dtype: float64
        """
        at = points(self.record, newdata, "decision_function", gaps=True)
        return at.among_given(pd.Series(prediction(self.record, at, None).linear, name="decision"))
