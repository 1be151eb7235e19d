"""Means, sds and correlations of a design's columns, from what a fit released to find them.

See docs/theory/results.md#moments.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from dpstats._private import forgetful
from dpstats.formula import Design
from dpstats.moments.design import DesignMoments, of_linear
from dpstats.results.document import Document, Result, marked, pairs_frame, pairs_table, privacy_table
from dpstats.results.intervals import critical
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record, given

_OF = {
    "rows": "of all usable rows, as they weigh",
    "failures": "of the rows that fail, where a fit of times looks for its columns, and not of all rows",
}
_PAIRS = (
    "was not released by this {model} fit, which told the spread of each column alone",
    "A linear fit has them, and so has dps.describe.",
)


def has_columns(record: Record) -> bool:
    """Whether it was released where the columns lie, with noise that leaves that to be told."""
    linear = (
        record.linear is not None and record.linear.frame.constant is not None and not record.charged_formula
    )
    return not record.budget.pure and (linear or record.columns is not None) and bool(record.column_names)


def moments_of(record: Record) -> "ColumnMoments":
    """Return the moments of the columns of a fit that has them."""
    found = given(record.columns if record.linear is None else of_linear(record.linear))
    weighing = min(found.count / record.nobs, 1.0) if record.nobs and not record.weights else None
    return ColumnMoments(record.design, record.model, found, _response(record, found), weighing)


def _response(record: Record, found: DesignMoments) -> tuple[float, float] | None:
    """Mean and sd of the response of a line of which no coefficient is lost."""
    if record.linear is None or record.design.offset or not np.isfinite(record.cov).all():
        return None
    slopes, sigma = found.sd * record.params[1:], record.linear.sigma(record.widest).value
    explained = slopes @ (np.eye(len(slopes)) if found.corr is None else found.corr) @ slopes
    return float(record.params @ np.append(1.0, found.mean)), float(np.hypot(explained**0.5, sigma))


@partial(forgetful, change=marked)
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ColumnMoments(Result):
    """Private means, sds and correlations of the columns of a design, with intervals: ``fit.moments``.

    They were paid for with the fit. :func:`dpstats.plan` takes them as ``covariates=``.

    Attributes
    ----------
    design : Design
        The design that has these columns.
    response : (float, float) or None
        Mean and sd of the response, where a linear fit tells them.
    weighing : float or None
        Share of the rows that these are, where each weighs as much and their number is public.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT + V", plant.data, plant.schema).fit(dps.zcdp(0.5)).moments
    >>> fit.frame[["term", "quantity"]].values.tolist()
    [['AT', 'mean'], ['AT', 'sd'], ['V', 'mean'], ['V', 'sd']]
    """

    design: Design
    _model: str
    _found: DesignMoments
    response: tuple[float, float] | None = None
    weighing: float | None = None

    @property
    def subset(self) -> str | None:
        """The condition of the rows that weigh, if any."""
        return self.design.subset

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns whose moments these are, without the intercept."""
        return tuple(name for name in self.design.names if name != "Intercept")

    @property
    def of(self) -> str:
        """Which rows they are of: "rows", all that weigh, or "failures"."""
        return self._found.of

    @property
    def means(self) -> pd.Series:
        """Means by column."""
        return pd.Series(self._found.mean, self.names, name="mean")

    @property
    def sds(self) -> pd.Series:
        """Standard deviations by column, NaN where noise hides them."""
        return pd.Series(np.where(self._found.unknown, np.nan, self._found.sd), self.names, name="sd")

    @property
    def matrix(self) -> pd.DataFrame | None:
        """Correlations by pairs of columns; None where none was released."""
        corr = self._found.corr
        return None if corr is None else pd.DataFrame(corr, self.names, self.names)

    @property
    def frame(self) -> pd.DataFrame:
        """Table of means and sds with 95 % limits; see :meth:`tidy`."""
        return self.tidy()

    def tidy(self, level: float = 0.95) -> pd.DataFrame:
        """Return a mean and an sd of each column.

        Parameters
        ----------
        level : float
            Of the limits; those of an sd are on the log scale.

        Returns
        -------
        DataFrame
            ``term``, ``quantity``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high`` and
            ``privacy_share``, the share of the variance that is privacy noise or stands for values far out,
            which count less. An sd that noise hides is NaN, with limits from 0 on.

        Examples
        --------
        >>> fit.tidy(level=0.9).columns.tolist()[:4]
        ['term', 'quantity', 'estimate', 'std_error']
        """
        z, found = critical(level), self._found
        mean, sd, error = found.mean, found.sd, found.mean_error
        factor = np.exp(z * found.sd_error)
        low, high = self.design.bounds[-len(mean) :].T
        widest = np.maximum((high - low) / 2, sd)  # of two values at the ends
        means = {
            "estimate": mean,
            "std_error": error,
            "conf_low": np.clip(mean - z * error, low, high),
            "conf_high": np.clip(mean + z * error, low, high),
            "privacy_share": (found.mean_noise / error) ** 2,
        }
        sds = {
            "estimate": np.where(found.unknown, np.nan, sd),
            "std_error": sd * found.sd_error,
            "conf_low": sd / factor,
            "conf_high": np.minimum(sd * factor, widest),
            "privacy_share": np.where(found.unknown, np.nan, (found.sd_noise / found.sd_error) ** 2),
        }
        tables = [pd.DataFrame({"term": self.names, "quantity": head}) for head in ("mean", "sd")]
        tables = [table.assign(**each) for table, each in zip(tables, (means, sds), strict=True)]
        return pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)

    def correlations(self, level: float = 0.95) -> pd.DataFrame:
        """Return the correlation of each pair of columns.

        Parameters
        ----------
        level : float
            Of the limits.

        Returns
        -------
        DataFrame
            ``first``, ``second``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high`` and
            ``privacy_share``.

        Raises
        ------
        NotReleased
            If the fit released no second moments of its rows, as those of generalised linear models.

        Examples
        --------
        >>> fit.correlations()[["first", "second"]].values.tolist()
        [['AT', 'V']]
        """
        found, z = self._found, critical(level)
        if found.corr is None or found.corr_noise is None or found.corr_error is None:
            raise refusal("correlations", _PAIRS[0].format(model=self._model), _PAIRS[1])
        corr, noises, errors = found.corr, found.corr_noise, found.corr_error

        def of_pair(i: int, j: int) -> tuple[float, ...]:
            rho, error = float(corr[i, j]), float(errors[i, j])
            if not np.isfinite(error):
                return np.nan, error, -1.0, 1.0, np.nan
            share = float(noises[i, j] / error) ** 2 if error else 0.0
            return rho, error, max(rho - z * error, -1.0), min(rho + z * error, 1.0), share

        return pairs_frame(self.names, of_pair)

    def _page(self) -> Document:
        of_columns = [(f"{row.quantity} of {row.term}", row) for row in self.frame.itertuples()]
        pairs = [] if self._found.corr is None else pairs_table(self.correlations())
        note = (
            f"Numbers are {_OF[self.of]}. They were released with the fit, at no further cost. Values "
            "far from the others count less, so that sds of columns with long tails are too small; 'privacy' "
            "is the share of the variance that is privacy noise or stands for that."
        )
        return Document(
            title=f"Columns of {self.design.formula}",
            head=((("Subset", self.subset),),) if self.subset else (),
            tables=(privacy_table("Means and sds", of_columns), *pairs),
            notes=(note,),
        )
