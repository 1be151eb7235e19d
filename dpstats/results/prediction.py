"""Predictions at new data, in R's and statsmodels' words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats._arguments import among, numbers, shown, truth
from dpstats._private import forgetful
from dpstats.errors import SpecificationError
from dpstats.families import Link
from dpstats.formula import NumericResponse
from dpstats.results import life
from dpstats.results.base import Released, design_of
from dpstats.results.format import plain
from dpstats.results.intervals import refuse_alpha, standard_errors, transformed
from dpstats.results.margin import labels
from dpstats.results.notreleased import refusal
from dpstats.results.points import NewData, Points, points
from dpstats.results.record import LINEAR_MODELS, MARGIN_MODELS, Record
from dpstats.results.scatter import residual_sd

KINDS = ("response", "lp", "link", "quantile")


def failed_fractions(failed: float | Sequence[float]) -> np.ndarray:
    """Check fractions of failed units.

    Raises
    ------
    SpecificationError
        Unless all are strictly between 0 and 1.
    """
    fractions = np.atleast_1d(numbers("failed", failed))
    if fractions.ndim != 1 or not ((fractions > 0) & (fractions < 1)).all():
        wrong = shown(failed)
        raise SpecificationError(f"failed fractions are between 0 and 1, e.g. 0.1 for B10; got {wrong}")
    return fractions


@forgetful
@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted values on the scale of the response, with limits from the scale of the linear predictor.

    `link` leads from one to the other. `sd_obs` is the sd of a response about the prediction, where it was
    released and the error is normal. Values and limits are moved to the public `bounds` of the response,
    where the model does not keep them there by itself.
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
        """How many predicted values were moved to the bounds."""
        return int(np.sum(self.predicted_mean != self.link.inverse(self.linear)))

    @property
    def se_mean(self) -> np.ndarray:
        """Standard errors on the scale of the response, by the delta method, shape (m,)."""
        known = np.isfinite(self.se_linear)
        return np.where(known, self.link.slope(self.linear) * np.where(known, self.se_linear, 0.0), np.inf)

    def conf_int(self, level: float = 0.95, obs: bool = False) -> np.ndarray:
        """Return limits of the mean, or of one new response, shape (m, 2).

        Raises
        ------
        NotReleased
            If `obs`, and the fit did not release how far responses scatter about a mean.
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
        """
        columns = {"mean": self.predicted_mean, "mean_se": self.se_mean}
        columns["mean_ci_lower"], columns["mean_ci_upper"] = self.conf_int(level).T
        if self.sd_obs is not None:
            columns["obs_ci_lower"], columns["obs_ci_upper"] = self.conf_int(level, obs=True).T
        return pd.DataFrame(columns)


def prediction(record: Record, at: Points) -> Prediction:
    """Predict at new data; of a linear model within the public bounds of its response, and say so."""
    linear, gradient = life.linear_predictor(record, at)
    se = standard_errors(gradient, record.cov)
    if record.model not in LINEAR_MODELS:
        return Prediction(linear, se, record.link, residual_sd(record))
    response = design_of(record).response
    assert isinstance(response, NumericResponse)
    found = Prediction(linear, se, record.link, residual_sd(record), response.bounds)
    if found.outside:
        low, high = map(plain, response.bounds)
        warnings.warn(
            f"{found.outside} prediction(s) lay outside the public bounds of {response.text}, {low} to "
            f"{high}, and were moved to them",
            stacklevel=3,
        )
    return found


class Predictions(Released):
    """Prediction at new data; nothing is predicted for training rows."""

    __slots__ = ()

    def predict(
        self,
        newdata: NewData | None = None,
        type: str = "response",
        p: float | Sequence[float] = (0.1, 0.5, 0.9),
    ) -> pd.Series | pd.DataFrame:
        """Predict at new data.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        type : {"response", "lp", "link", "quantile"}
            As in R: "response" is the linear predictor on the scale of the response (exp of it for log-time
            models: the characteristic life of a Weibull; the mean of a GLM, a probability for logit; the
            label, 1 or 0, of a support vector machine; of a linear model moved to the public bounds of the
            response, which a warning says), "lp" or
            "link" the linear predictor, offset included, "quantile" the time by which a fraction `p` has
            failed.
        p : float or sequence of float
            Failed fractions for ``type="quantile"``; never surviving fractions.

        Returns
        -------
        Series of m values; for several `p` a DataFrame with one column for each.

        Raises
        ------
        NotReleased
            Without `newdata`: predictions for the training rows would reveal them.
        SpecificationError
            For an unknown `type`, or `p` outside (0, 1).
        """
        if not among(type, KINDS):
            raise SpecificationError(f"type must be one of {', '.join(KINDS)}; got {shown(type)}")
        record = self.record
        at = points(record, newdata, "predict")
        if type == "response" and record.model not in MARGIN_MODELS:
            return pd.Series(prediction(record, at).predicted_mean, name="predicted")
        if type != "quantile":
            linear, _ = life.linear_predictor(record, at)
            return labels(linear) if type == "response" else pd.Series(linear, name="predicted")
        if not record.is_survival:
            raise refusal(
                "quantile", f"needs a time-to-failure model, and this is {record.model}", "Use predict()."
            )
        fractions = failed_fractions(p)
        back = record.link.inverse
        columns = {q: back(life.quantile(record, at, np.array(q))[0]) for q in fractions}
        if np.ndim(p) == 0:
            return pd.Series(columns[fractions[0]], name="predicted")
        return pd.DataFrame(columns)

    def get_prediction(self, newdata: NewData | None = None) -> Prediction:
        """Return predictions on the scale of the response with standard errors and limits.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        """
        return prediction(self.record, points(self.record, newdata, "get_prediction"))

    def augment(self, newdata: NewData | None = None, level: float = 0.95) -> pd.DataFrame:
        """Return new data with broom's columns ``.fitted``, ``.se_fit``, ``.lower`` and ``.upper``.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
            Required: broom's ``augment()`` of the training rows would reveal them.
        level : float
        """
        at = points(self.record, newdata, "augment")
        frame = prediction(self.record, at).summary_frame(level).iloc[:, :4]
        frame.columns = pd.Index([".fitted", ".se_fit", ".lower", ".upper"])
        return pd.concat([at.frame, frame], axis=1)
