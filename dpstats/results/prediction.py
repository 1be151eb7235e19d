"""Predictions at new data, on the scale of the response, with their errors and limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats._arguments import truth
from dpstats._private import forgetful
from dpstats.families import Link
from dpstats.results.intervals import refuse_alpha, standard_errors, transformed
from dpstats.results.newdata import Points
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record


@forgetful
@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted values on the scale of the response, with limits from the scale of the linear predictor.

    `link` leads from one to the other. `sd_obs` is the sd of a response about the prediction, where it was
    released and the error is normal. Values and limits are moved to the public `bounds` of the response,
    where the model does not keep them there by itself.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.zcdp(0.5))
    >>> prediction = fit.get_prediction({"AT": [10, 20]})
    >>> prediction.predicted_mean.shape
    (2,)
    """

    linear: np.ndarray
    se_linear: np.ndarray
    link: Link
    sd_obs: float | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)

    @property
    def predicted_mean(self) -> np.ndarray:
        """Predicted values, shape (m,)."""
        return np.clip(self.link.inverse(self.linear), *self.bounds)

    @property
    def outside(self) -> int:
        """Number of predicted values that were moved to the bounds."""
        return int(np.sum(self.predicted_mean != self.link.inverse(self.linear)))

    @property
    def se_mean(self) -> np.ndarray:
        """Standard errors on the scale of the response, by the delta method, shape (m,)."""
        known = np.isfinite(self.se_linear)
        return np.where(known, self.link.slope(self.linear) * np.where(known, self.se_linear, 0.0), np.inf)

    def conf_int(self, level: float = 0.95, obs: bool = False) -> np.ndarray:
        """Return limits of the mean, or of one new response.

        Parameters
        ----------
        level : float
        obs : bool
            Of one new response.

        Returns
        -------
        array, shape (m, 2)

        Raises
        ------
        NotReleased
            If `obs`, and the fit did not release how far responses scatter about a mean.

        Examples
        --------
        >>> prediction.conf_int(level=0.9, obs=True).shape
        (2, 2)
        """
        refuse_alpha(level)
        se = self.se_linear
        if truth("obs", obs):
            if self.sd_obs is None:
                raise refusal("obs", "needs the sd of a linear fit's error", "Use conf_int() of the mean.")
            se = np.hypot(se, self.sd_obs)
        _, low, high = transformed(self.linear, se, level, self.link.inverse)
        return np.clip(np.column_stack([low, high]), *self.bounds)

    def summary_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return statsmodels' columns: mean, mean_se, mean_ci_lower, mean_ci_upper.

        Linear fits without weights of rows add obs_ci_lower and obs_ci_upper, where one new response lies.

        Parameters
        ----------
        level : float

        Returns
        -------
        DataFrame of m rows

        Examples
        --------
        >>> prediction.summary_frame().columns.tolist()[:4]
        ['mean', 'mean_se', 'mean_ci_lower', 'mean_ci_upper']
        """
        columns = {"mean": self.predicted_mean, "mean_se": self.se_mean}
        columns["mean_ci_lower"], columns["mean_ci_upper"] = self.conf_int(level).T
        if self.sd_obs is not None:
            columns["obs_ci_lower"], columns["obs_ci_upper"] = self.conf_int(level, obs=True).T
        return pd.DataFrame(columns)


def linear_predictor(record: Record, at: Points) -> tuple[np.ndarray, np.ndarray]:
    """Return x'b, the offset included, with its gradient of shape (m, k)."""
    p = record.n_location
    gradient = np.zeros((len(at.exog), len(record.names)))
    gradient[:, :p] = at.exog
    return at.exog @ record.params[:p] + at.offset, gradient


def prediction(record: Record, at: Points, sd_obs: float | None) -> Prediction:
    """Predict at new data; `sd_obs` is the sd of a response about its mean, where that is known."""
    linear, gradient = linear_predictor(record, at)
    return Prediction(linear, standard_errors(gradient, record.cov), record.link, sd_obs)
