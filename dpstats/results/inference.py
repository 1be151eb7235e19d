"""Coefficients and what follows from them: standard errors, tests, intervals, tidy tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import special

from dpstats._arguments import truth
from dpstats.errors import SpecificationError
from dpstats.families import LOG
from dpstats.results.base import Released
from dpstats.results.glm import ratio_name
from dpstats.results.intervals import level_of
from dpstats.results.joint import Joint, half_widths
from dpstats.results.record import Record
from dpstats.results.wald import ContrastTest, Hypothesis, WaldTest, t_test, wald_test


def bse(record: Record) -> np.ndarray:
    """Return standard errors, infinite where a coefficient is not estimable; shape (k,)."""
    return np.sqrt(np.diagonal(record.cov))


def privacy_share(record: Record) -> np.ndarray:
    """Return the share of each variance that is privacy noise, NaN where that is undefined; shape (k,)."""
    total, noise = np.diagonal(record.cov), np.diagonal(record.cov_privacy)
    defined = np.isfinite(total) & (total > 0)
    return np.divide(noise, total, out=np.full(len(total), np.nan), where=defined)


def z_values(record: Record) -> np.ndarray:
    """Return estimate / standard error, NaN where a coefficient is not estimable; shape (k,)."""
    se = bse(record)
    usable = np.isfinite(se) & (se > 0)
    return np.divide(record.params, se, out=np.full(len(se), np.nan), where=usable)


def limits(record: Record, level: float, joint: Joint = None) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits of the coefficients, each of shape (k,)."""
    half = half_widths(level, record.cov, joint, record.tails)
    return record.params - half, record.params + half


def p_values(record: Record) -> np.ndarray:
    """Return two-sided p-values, NaN where a coefficient is not estimable; shape (k,)."""
    z = z_values(record)
    if record.tails is None:
        return np.asarray(2 * special.ndtr(-np.abs(z)))
    return np.where(np.isnan(z), np.nan, record.tails.two_sided(record.params, record.cov))


def ratios_are_meaningful(record: Record) -> bool:
    """Whether exponentiated coefficients are ratios: not where the response itself is location-scale."""
    if record.is_glm:
        return bool(ratio_name(record))
    return not record.is_survival or record.link is LOG


def _likelihood(record: Record) -> dict[str, list[object]]:
    """Columns of `glance` where the log-likelihood was released."""
    if record.loglik is None:
        return {}
    value, sd, _ = record.loglik
    return {"loglik": [value], "loglik_error": [sd], "aic": [2 * len(record.names) - 2 * value]}


def _of_kind(record: Record) -> dict[str, list[object]]:
    """Columns of `glance` that only some models have."""
    if record.is_glm:
        dispersion = np.nan if record.dispersion is None else record.dispersion.value
        return {"family": [record.dist], "link": [record.link.name], "dispersion": [dispersion]}
    if record.linear is None:
        return {}
    found = {"sigma": record.linear.sigma(), "rsquared": record.linear.rsquared()}
    return {"alpha": [record.alpha], **{name: [quantity.value] for name, quantity in found.items()}}


def tidy(
    record: Record, conf_int: bool = False, level: float = 0.95, exponentiate: bool = False
) -> pd.DataFrame:
    """Return one row per coefficient; see `Inference.tidy`."""
    if truth("exponentiate", exponentiate) and not ratios_are_meaningful(record):
        raise SpecificationError(
            f"exponentiate=True needs a link of log or logit, or a model of log time; {record.dist!r} "
            f"models {'time' if record.is_survival else 'the mean'} itself"
        )
    back = np.exp if exponentiate else np.array
    with np.errstate(over="ignore"):
        columns: dict[str, object] = {
            "term": list(record.names),
            "estimate": back(record.params),
            "std_error": bse(record),
            "statistic": z_values(record),
            "p_value": p_values(record),
        }
        if truth("conf_int", conf_int):
            columns["conf_low"], columns["conf_high"] = map(back, limits(record, level))
    columns["privacy_share"] = privacy_share(record)
    columns["component"] = ["location"] * record.n_location + ["scale"] * (
        len(record.names) - record.n_location
    )
    return pd.DataFrame(columns)


class Inference(Released):
    """Statsmodels' names for the coefficient table, and broom's verbs."""

    __slots__ = ()

    def _series(self, values: np.ndarray, name: str) -> pd.Series:
        return pd.Series(np.array(values), index=list(self.record.names), name=name)

    @property
    def params(self) -> pd.Series:
        """Estimates by name, including ``Log(scale)`` for a survival model."""
        return self._series(self.record.params, "params")

    @property
    def bse(self) -> pd.Series:
        """Standard errors: sampling and privacy noise together; infinite if not estimable."""
        return self._series(bse(self.record), "bse")

    @property
    def bse_privacy(self) -> pd.Series:
        """The part of the standard errors that is due to privacy noise alone."""
        return self._series(np.sqrt(np.diagonal(self.record.cov_privacy)), "bse_privacy")

    @property
    def privacy_share(self) -> pd.Series:
        """Share of each variance due to privacy noise, from 0 to 1."""
        return self._series(privacy_share(self.record), "privacy_share")

    @property
    def tvalues(self) -> pd.Series:
        """Estimate / standard error, to be compared with the normal distribution."""
        return self._series(z_values(self.record), "tvalues")

    @property
    def pvalues(self) -> pd.Series:
        """Two-sided p-values: normal, or by the law of the noise where that is not."""
        return self._series(p_values(self.record), "pvalues")

    @property
    def use_t(self) -> bool:
        """False: the reference is the normal distribution, or the law of the noise."""
        return False

    @property
    def df_model(self) -> int:
        """Number of location coefficients besides the intercept."""
        return self.record.n_location - ("Intercept" in self.record.names)

    @property
    def df_resid(self) -> int | None:
        """Number of rows less that of coefficients, where the former is public."""
        return None if self.record.nobs is None else self.record.nobs - len(self.record.names)

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance of the coefficients: sampling and privacy noise."""
        names = list(self.record.names)
        return pd.DataFrame(np.array(self.record.cov), index=names, columns=names)

    def conf_int(
        self, alpha: float | None = None, joint: Joint = None, level: float = 0.95
    ) -> pd.DataFrame:
        """Return intervals of the coefficients: Wald's, or by the law of the noise where that is not normal.

        Parameters
        ----------
        alpha : float, optional
            One less the level, as statsmodels' functions give it. A number from 0.5 on is the level itself:
            ``conf_int(0.05)``, ``conf_int(0.95)`` and ``conf_int(level=0.95)`` are the same.
        joint : {None, True, "bonferroni", "scheffe", "sup-t"}
            Let all intervals hold at once, with confidence `level`. "bonferroni" (True) holds for any noise;
            "sup-t" is a little shorter and needs normal noise; "scheffe" holds for every linear combination
            of the coefficients.
        level : float
            Confidence level (R's and broom's word), by name.

        Returns
        -------
        DataFrame, columns 0 (lower) and 1 (upper)

        Raises
        ------
        SpecificationError
            For an unknown `joint`, or one that needs normal noise where it is not.
        """
        low, high = limits(self.record, level_of(alpha, level), joint)
        return pd.DataFrame({0: low, 1: high}, index=list(self.record.names))

    def tidy(self, conf_int: bool = False, level: float = 0.95, exponentiate: bool = False) -> pd.DataFrame:
        """Return one row per coefficient, in broom's columns.

        Parameters
        ----------
        conf_int : bool
            Add ``conf_low`` and ``conf_high``.
        level : float
        exponentiate : bool
            Report exp(estimate) and exp(limits): time ratios of a log-time model, odds ratios of a logistic
            one, rate or mean ratios where the link is log. ``std_error`` stays on the scale of the
            coefficient, as in broom.

        Raises
        ------
        SpecificationError
            If exponentiated coefficients have no meaning for this distribution.
        """
        return tidy(self.record, conf_int, level, exponentiate)

    def glance(self) -> pd.DataFrame:
        """Return one row about the whole fit: model, size, budget, neighbours, flags.

        That of a linear fit has ``alpha``, ``sigma`` and ``rsquared``, too; of a GLM ``family``, ``link`` and
        ``dispersion``; where the log-likelihood was released, ``loglik``, its ``loglik_error`` and ``aic``.
        """
        record = self.record
        spent: Mapping[str, object] = record.budget.to_dict()
        return pd.DataFrame(
            {
                "model": [record.model],
                "dist": [record.dist],
                "nobs": [record.nobs],
                "df": [len(record.names)],
                **_of_kind(record),
                **_likelihood(record),
                "method": [record.method],
                **{unit: [spent.get(unit, np.nan)] for unit in ("epsilon", "delta", "rho", "mu")},
                "adjacency": [record.adjacency],
                "unit": [record.unit],
                "flags": [", ".join(code for code, _ in record.flags)],
                "not_private": [record.not_private],
            }
        )

    def t_test(self, hypothesis: Hypothesis) -> ContrastTest:
        """Test each row of a linear hypothesis by itself.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (r, k)
            ``"maker[T.WDC] = 0"``, ``"temp = 2 * volt, Log(scale) = 0"``, or contrast rows tested against 0.
        """
        return t_test(self.record, hypothesis)

    def wald_test(self, hypothesis: Hypothesis) -> WaldTest:
        """Test all rows of a linear hypothesis together by a Wald chi-square statistic.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (r, k)
            As in `t_test`.
        """
        return wald_test(self.record, hypothesis)

    linear_hypothesis = wald_test  # the name in R's car
