"""Public rows against a fit: residuals of given responses, and responses that the fit would make.

Neither touches the training rows; both are functions of released numbers and of rows that the user has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._arguments import among, numbers, shown
from dpstats.errors import SpecificationError
from dpstats.families import FAMILIES
from dpstats.results import life
from dpstats.results.base import Released
from dpstats.results.notreleased import refusal
from dpstats.results.points import NewData, Points, points
from dpstats.results.record import MARGIN_MODELS, Record
from dpstats.results.scatter import residual_sd

__all__ = ["Outside"]

Array: TypeAlias = np.ndarray
OF_MEAN = ("response", "pearson", "deviance")
OF_TIME = ("response", "standardized", "cox-snell", "martingale")
MOST_SIMULATED = 10_000


def residuals(record: Record, at: Points, y: Array, event: Array, kind: str) -> Array:
    """Return residuals of public rows, shape (m,)."""
    if record.is_survival:
        return _of_time(record, at, y, event, kind)
    mean = record.link.inverse(life.linear_predictor(record, at)[0])
    if kind == "response":
        return np.asarray(y - mean)
    family = FAMILIES[record.dist]
    if kind == "pearson":
        return np.asarray((y - mean) / np.sqrt(family.variance(mean)))
    from statsmodels.genmod import families as sm

    theirs = {
        "binomial": sm.Binomial, "poisson": sm.Poisson, "gamma": sm.Gamma, "gaussian": sm.Gaussian
    }[record.dist]()  # fmt: skip
    return np.asarray(theirs.resid_dev(y, mean))


def _of_time(record: Record, at: Points, y: Array, event: Array, kind: str) -> Array:
    if kind == "response":
        return np.asarray(y - record.link.inverse(life.linear_predictor(record, at)[0]))
    z, _ = life.standardized(record, at, y)
    if kind == "standardized":
        return z
    hazard = np.exp(life.dist_of(record).family.log_cumulative_hazard(z))
    return hazard if kind == "cox-snell" else np.asarray(event - hazard)


def simulator(record: Record) -> Callable[[Array, np.random.Generator], Array]:
    """Return a function of the linear predictor that draws responses under the released parameters.

    Raises
    ------
    NotReleased
        If the fit has no law of a response.
    """
    mean = record.link.inverse
    if record.is_survival:
        quantile, sigma = life.dist_of(record).family.quantile, life.sigma_of(record)
        return lambda eta, rng: mean(eta + sigma * quantile(rng.uniform(size=eta.shape)))
    if record.model in MARGIN_MODELS:
        raise refusal("simulate", "needs a law of the response, and a margin has none", "Fit dps.logit(...).")
    if record.dist == "binomial":
        return lambda eta, rng: rng.binomial(1, mean(eta)).astype(float)
    if record.dist == "poisson":
        return lambda eta, rng: rng.poisson(mean(eta)).astype(float)
    if record.dist == "gamma" and record.dispersion is not None:
        phi = max(record.dispersion.value, 1e-12)
        return lambda eta, rng: mean(eta) * rng.gamma(1 / phi, phi, size=eta.shape)
    sd = residual_sd(record)
    if sd is None:
        raise refusal(
            "simulate", "needs the sd of the error, which this fit does not have", "Use fit.predict(newdata)."
        )
    return lambda eta, rng: mean(eta) + sd * rng.standard_normal(eta.shape)


class Outside(Released):
    """Residuals of, and simulated responses for, public rows."""

    __slots__ = ()

    def residuals(
        self,
        newdata: NewData | None = None,
        y: ArrayLike | None = None,
        event: ArrayLike | None = None,
        type: str = "response",
    ) -> pd.Series:
        """Return residuals of public rows, such as a test set of your own.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        y : array of m numbers
            Responses as the left side of the formula has them: times, values, or 1 and 0.
        event : array of m values 1 or 0, optional
            Of times to failure: which of them ended in a failure; default: all.
        type : str
            "response", y less the prediction. Of a mean also "pearson" and "deviance", statsmodels' names;
            of a time also "standardized" (z), "cox-snell" (the cumulative hazard at y, a unit exponential
            variable under the fit, censored as y is) and "martingale" (event less that).

        Returns
        -------
        Series of m values

        Raises
        ------
        NotReleased
            Without `newdata` and `y`: residuals of training rows would reveal them.
        SpecificationError
            If the lengths differ, or for an unknown `type`.
        """
        record = self.record
        if record.model in MARGIN_MODELS:
            raise refusal(
                "residuals", f"needs a model of the mean, and this is {record.model}",
                "Use fit.decision_function(newdata).",
            )  # fmt: skip
        if newdata is None or y is None:
            raise refusal(
                "residuals", "of the training rows would reveal them",
                "Give public rows and their responses: residuals(newdata, y).",
            )  # fmt: skip
        kinds: Sequence[str] = OF_TIME if record.is_survival else OF_MEAN
        if not among(type, kinds):
            raise SpecificationError(f"type must be one of {', '.join(kinds)}; got {shown(type)}")
        at = points(record, newdata, "residuals")
        values = _numbers("y", y, len(at.exog))
        failed = np.ones(len(values)) if event is None else _numbers("event", event, len(values))
        return pd.Series(residuals(record, at, values, failed, type), name="residual")

    def simulate(
        self, newdata: NewData | None = None, nsim: int = 1, seed: int | None = None
    ) -> pd.DataFrame:
        """Draw responses at new data from the fitted law, as R's simulate does.

        The released estimates are taken as true; times are not censored. The seed has no part in privacy.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        nsim : int
            Draws for each row.
        seed : int, optional

        Returns
        -------
        DataFrame of m rows, columns ``sim_1``, ``sim_2``, ...

        Raises
        ------
        NotReleased
            Without `newdata`, and where the fit has no law of a response.
        SpecificationError
            Unless `nsim` is from 1 to 10000.
        """
        draw = simulator(self.record)
        if not isinstance(nsim, int) or not 1 <= nsim <= MOST_SIMULATED:
            raise SpecificationError(f"nsim must be a number from 1 to {MOST_SIMULATED}, got {shown(nsim)}")
        eta, _ = life.linear_predictor(self.record, points(self.record, newdata, "simulate"))
        if seed is not None and not (isinstance(seed, int | np.integer) and seed >= 0):
            raise SpecificationError(f"seed must be a whole number from 0, or None, got {shown(seed)}")
        drawn = draw(np.repeat(eta[:, None], nsim, axis=1), np.random.default_rng(seed))
        return pd.DataFrame(drawn, columns=[f"sim_{i + 1}" for i in range(nsim)])


def _numbers(name: str, values: ArrayLike, m: int) -> Array:
    array = numbers(name, values)
    if array.shape != (m,) or not np.isfinite(array).all():
        raise SpecificationError(f"{name} must be {m} finite numbers, one for each row of newdata")
    return array
