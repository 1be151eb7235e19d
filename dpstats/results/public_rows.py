"""Public rows against a fit: residuals of given responses, and responses that the fit would make.

Neither touches the training rows; both are functions of released numbers and of rows that the user has.
"""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._arguments import among, numbers, shown
from dpstats.errors import SpecificationError
from dpstats.formula.newdata import coded
from dpstats.results.fit import Fit
from dpstats.results.intervals import root
from dpstats.results.marginal_effects import EffectsFit
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.notreleased import refusal
from dpstats.results.prediction import linear_predictor, prediction
from dpstats.results.record import Record, given
from dpstats.results.released import method_where

OF_MEAN = ("response", "pearson", "deviance")
MOST_SIMULATED = 10_000
_LEAST_DISPERSION = 1e-12  # noise may have made it negative


def public_responses(
    record: Record, newdata: NewData | None, y: ArrayLike | None, type: str, kinds: Sequence[str]
) -> tuple[Points, np.ndarray]:
    """Return the points of public rows and their responses, (m,), for residuals of one of `kinds`.

    Raises
    ------
    NotReleased
        Without `newdata` and `y`: residuals of training rows would reveal them.
    SpecificationError
        If the lengths differ, or for another kind.
    """
    if newdata is None or y is None:
        raise refusal(
            "residuals",
            "of the training rows would reveal them",
            "Give public rows and their responses: residuals(newdata, y).",
        )
    if not among(type, kinds):
        raise SpecificationError(f"type must be one of {', '.join(kinds)}; got {shown(type)}")
    if isinstance(y, str):
        raise SpecificationError(
            f"y is the responses themselves, such as rows[{shown(y)}], and not their name"
        )
    at, response = points(record, newdata, "residuals"), record.design.response.measured.name
    values = coded(y, record.schema[response]) if response else y
    return at, finite_numbers("y", values, len(at.exog), flags=not record.is_survival)


def finite_numbers(name: str, values: ArrayLike, m: int, *, flags: bool = True) -> np.ndarray:
    """Return an argument that is a number for each of m rows, or a boolean if `flags`.

    Raises
    ------
    SpecificationError
        If it is not.
    """
    array = numbers(name, values, flags=flags)
    if array.shape != (m,) or not np.isfinite(array).all():
        raise SpecificationError(
            f"{name} must be {m} finite number{'s' * (m != 1)}, one for each row of newdata"
        )
    return array


def has_sd(record: Record) -> bool:
    """Whether the sd of a response about its mean is known, and is the same for all.

    Where rows have weights, the spread of a new response depends on a weight it does not have.
    """
    released = record.dispersion is not None and record.family.constant_variance
    return record.weights is None and (released or record.linear is not None)


def has_law(record: Record) -> bool:
    """Whether all parameters of the law of a response were released."""
    if record.is_survival:
        return True
    family = record.family
    if family.constant_variance:
        return has_sd(record)
    return not family.free_dispersion or record.dispersion is not None


def _refuse_lost(record: Record, at: Points) -> None:
    """Refuse rows whose law rests on a coefficient that is not estimable, the scale of a time too."""
    rests = np.zeros((len(at.exog), len(record.names)), bool)
    rests[:, : record.n_location] = at.exog != 0
    if record.is_survival:
        rests[np.arange(len(rests)), record.n_location + at.stratum] = True
    rests &= np.isinf(np.diagonal(record.cov)) & (record.no_errors is None)
    if rests.any():
        row, names = int(rests.any(axis=1).argmax()), ", ".join(np.array(record.names)[rests.any(axis=0)])
        raise SpecificationError(
            f"simulate: row {row} of newdata rests on {names}, not estimable, so that what it would "
            "draw is unknown; leave out such rows"
        )


class LawFit(Fit):
    """A fit of a response whose law is known up to what was released."""

    __slots__ = ()
    _refused = {
        "simulate": (
            "needs the sd of the error, which this fit does not have",
            "Use fit.predict(newdata).",
        )
    }

    @abstractmethod
    def _draw(self, eta: np.ndarray, at: Points, rng: np.random.Generator) -> np.ndarray:
        """Draw responses with these linear predictors, several for each point."""

    @method_where(has_law)
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
            Without `newdata`.
        SpecificationError
            Unless `nsim` is from 1 to 10000; or if a row rests on a coefficient that is not estimable.

        Examples
        --------
        >>> list(fit.simulate(point, nsim=2, seed=1).columns)
        ['sim_1', 'sim_2']
        """
        if not isinstance(nsim, int) or not 1 <= nsim <= MOST_SIMULATED:
            raise SpecificationError(f"nsim must be a number from 1 to {MOST_SIMULATED}, got {shown(nsim)}")
        at = points(self.record, newdata, "simulate")
        eta, _ = linear_predictor(self.record, at)
        if seed is not None and not (isinstance(seed, int | np.integer) and seed >= 0):
            raise SpecificationError(f"seed must be a whole number from 0, or None, got {shown(seed)}")
        _refuse_lost(self.record, at)
        drawn = self._draw(np.repeat(eta[:, None], nsim, axis=1), at, np.random.default_rng(seed))
        return pd.DataFrame(drawn, columns=[f"sim_{i + 1}" for i in range(nsim)])


class MeanFit(EffectsFit, LawFit):
    """A fit of the mean of a response, whose law is of a family."""

    __slots__ = ()

    def _sd_obs(self) -> float | None:
        record = self.record
        if not has_sd(record):
            return None
        if record.linear is not None:
            return record.linear.residual_sd(record.alpha or 0.0)
        return root(given(record.dispersion)).value

    def residuals(
        self, newdata: NewData | None = None, y: ArrayLike | None = None, type: str = "response"
    ) -> pd.Series:
        """Return residuals of public rows, such as a test set of your own.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        y : array of m numbers
            Responses as the left side of the formula has them: values, or 1 and 0, or their codes.
        type : {"response", "pearson", "deviance"}
            "response" is y less the prediction; the others as in statsmodels.

        Returns
        -------
        Series of m values

        Raises
        ------
        NotReleased
            Without `newdata` and `y`: residuals of training rows would reveal them.
        SpecificationError
            If the lengths differ, or for an unknown `type`.

        Examples
        --------
        >>> fit.residuals(point, y=[452.0], type="pearson").shape
        (1,)
        """
        record = self.record
        at, values = public_responses(record, newdata, y, type, OF_MEAN)
        mean = record.link.inverse(prediction(record, at, None).linear)
        found = values - mean
        if type == "pearson":
            found = found / np.sqrt(record.family.variance(mean))
        elif type == "deviance":
            found = np.sign(found) * np.sqrt(record.family.deviance(values, mean))
        return pd.Series(found, name="residual")

    def _draw(self, eta: np.ndarray, at: Points, rng: np.random.Generator) -> np.ndarray:
        record = self.record
        phi = record.dispersion.value if record.dispersion is not None else (self._sd_obs() or 0.0) ** 2
        return record.family.draw(record.link.inverse(eta), max(phi, _LEAST_DISPERSION), rng)
