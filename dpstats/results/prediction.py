"""Predictions at new data, on the scale of the response, with their errors and limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from dpstats._arguments import truth, warn
from dpstats._private import always_shown, forgetful
from dpstats.families import IDENTITY, Link
from dpstats.results.document import marked
from dpstats.results.intervals import by_slope, standard_errors, transformed
from dpstats.results.newdata import Points
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record, given
from dpstats.results.table import Marked

# places on the way along the gradient of a mean, whose ends are not its extremes where it falls and rises
_ALONG = np.linspace(-1.0, 1.0, 17)
TIMES_ONLY = ("needs a time-to-failure model, and this is {model}", "Fit dps.survreg(...).")


@partial(forgetful, change=marked)
@dataclass(frozen=True, slots=True)
class Prediction(Marked):
    """Predicted values on the scale of the response, with limits from the scale of the linear predictor.

    What rests on a coefficient that is not estimable is NaN, with an infinite standard error and limits that
    exclude nothing.
    `link` leads from one to the other. `sd_obs` is the sd of a response about the prediction, where it was
    released and the error is normal. Values and limits are moved to the public `bounds` of the response,
    where the model does not keep them there by itself. Limits that both lie beyond one of them say that the
    line is wrong there, and become both bounds.

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

    @always_shown
    def __repr__(self) -> str:
        return "\n".join([*[self.banner] * self.not_private, self.summary_frame().to_string(max_rows=20)])

    @property
    def predicted_mean(self) -> np.ndarray:
        """Predicted values, shape (m,)."""
        return np.clip(self.link.inverse(self.linear), *self.bounds)

    @property
    def outside(self) -> int:
        """Number of predicted values that were moved to the bounds."""
        return int(np.sum(np.abs(self.predicted_mean - self.link.inverse(self.linear)) > 0))

    @property
    def se_mean(self) -> np.ndarray:
        """Standard errors on the scale of the response, by the delta method, shape (m,)."""
        return by_slope(self.link.slope(self.linear), self.se_linear)

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
        se = self.se_linear
        if truth("obs", obs):
            if self.sd_obs is None:
                raise refusal("obs", "needs the sd of a linear fit's error", "Use conf_int() of the mean.")
            se = np.hypot(se, self.sd_obs)
        _, low, high = transformed(self.linear, se, level, self.link.inverse)
        refuted = (high < self.bounds[0]) | (low > self.bounds[1])
        limits = np.clip(np.column_stack([low, high]), *self.bounds)
        return np.where(refuted[:, None], self.bounds, limits)

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
    se = errors_of_means(record, gradient)
    return Prediction(where_estimable(record, linear, se), se, record.link, sd_obs)


def errors_of_means(record: Record, gradient: np.ndarray) -> np.ndarray:
    """Return standard errors of linear predictors, also where they are known and not all of their terms.

    A linear fit keeps what a release says of all directions: of splines, means where values are may be known
    where coefficients are not.
    """
    se, lost = standard_errors(gradient, record), np.isinf(np.diagonal(record.cov))
    asked = np.isinf(se)
    if record.linear is None or record.alpha or not asked.any():
        return se
    if lost.all() and not given(record.moments).told:
        return se
    if not (record.design.splines | (np.array(record.names) == "Intercept"))[lost].all():
        return se
    se[asked] = given(record.moments).errors_of_sums(gradient[asked])
    return se


def where_estimable(record: Record, values: np.ndarray, se: np.ndarray) -> np.ndarray:
    """Return predictions, shape (m,) or (m, q), NaN where their errors say not estimable; a warning says so.

    R and statsmodels leave such coefficients out, or say NA. A fit without any errors keeps its values.
    """
    lost = np.isinf(se) & (record.no_errors is None)
    warn_of_lost(lost.any(axis=tuple(range(1, lost.ndim))))
    return np.where(lost, np.nan, values)


Errors = tuple[np.ndarray, np.ndarray]  # predictions of m points, and their standard errors


def predicted(
    record: Record, one: Callable[[float], Errors], asked: np.ndarray, scalar: bool, se_fit: bool
) -> pd.Series | pd.DataFrame:
    """Return what `one` gives for each of `asked`, NaN where not estimable, and if `se_fit` its errors."""
    found = [one(float(each)) for each in asked]
    values, errors = (
        pd.DataFrame(dict(zip(asked.tolist(), parts, strict=True))) for parts in zip(*found, strict=True)
    )
    values[:] = where_estimable(record, values.to_numpy(), errors.to_numpy())
    if scalar:
        values, errors = values.iloc[:, 0].rename("predicted"), errors.iloc[:, 0]
    return pd.concat({"predicted": values, "se_fit": errors}, axis=1) if truth("se_fit", se_fit) else values


def warn_of_lost(rows: np.ndarray, so: str = "where predictions are missing", name: str = "newdata") -> None:
    """Say how many of m rows have a prediction that is not estimable, if any has, and what becomes of it."""
    if rows.any():
        warn(
            f"{int(rows.sum())} row(s) of {name} rest on what is not estimable, {so}: "
            "privacy noise outweighs what the data say there; the summary names such coefficients"
        )


def averaged(record: Record, at: Points) -> Prediction:
    """Predict the mean of the response over all of m points.

    Of independent rows of one population it is what R's marginaleffects calls an average prediction. Limits
    on a curved link are those of `_mean_limit` (docs/theory/results.md#effects-at-public-points).
    """
    linear, gradient = linear_predictor(record, at)
    link = record.link
    whole = (link.slope(linear)[:, None] * gradient).mean(axis=0)
    se, errors = errors_of_means(record, whole[None]), errors_of_means(record, gradient)
    lost = not np.isfinite(np.append(errors, se)).all()
    if lost or link is IDENTITY:
        se = np.where(lost, np.inf, se)
        mean = where_estimable(record, link.inverse(linear).mean(keepdims=True), se)
        return Prediction(mean, se, IDENTITY, bounds=link.bounds)
    along = np.where(np.isinf(record.cov), 0.0, record.cov) @ whole / np.maximum(se, np.finfo(float).tiny)
    back = partial(_mean_limit, link, linear, gradient @ along, errors)
    curve = replace(link, inverse=back, slope=partial(np.full_like, fill_value=float(se[0])))
    return Prediction(np.zeros(1), np.ones(1), curve, bounds=link.bounds)


def _mean_limit(
    link: Link, linear: np.ndarray, moves: np.ndarray, errors: np.ndarray, by: np.ndarray
) -> np.ndarray:
    """Return a limit of the mean of m points, `by` standard errors from it; itself at 0.

    It is as far away as the mean comes while coefficients move along its gradient, up to there and back, and,
    by squares, as the middles of the limits of single points, where these lie beyond the points: where a
    point is badly known, errors of any direction move its prediction to where the link is flat less than
    to where it is steep. No limit is beyond the mean of those of all points.

    Parameters
    ----------
    link : Link
    linear, moves, errors : array, shape (m,)
        Linear predictors, what a standard error of the mean moves them by, and their standard errors.
    by : array, shape (1,)
    """
    side, each = float(np.sign(by[0])), link.inverse(linear)
    outer, inner = (link.inverse(linear + errors * end) for end in (by, -by))
    with np.errstate(invalid="ignore"):
        means = [link.inverse(linear + moves * by * share).mean() for share in _ALONG]
        bent = np.maximum(side * (each - (outer + inner) / 2), 0.0).mean()
        limit = each.mean() + side * np.hypot(np.max(side * (np.array(means) - each.mean())), bent)
    return np.array([(np.fmin if side > 0 else np.fmax)(outer.mean(), limit)])
