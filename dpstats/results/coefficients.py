"""Coefficients and what follows from them: standard errors, tests, intervals, tidy tables."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import truth
from dpstats.budget import stated_delta
from dpstats.errors import SpecificationError
from dpstats.families import IDENTITY
from dpstats.results.document import Estimates
from dpstats.results.intervals import (
    Estimate,
    Joint,
    bias_share,
    bse,
    criterion,
    failures,
    level_of,
    limits,
    p_values,
    privacy_share,
    z_values,
)
from dpstats.results.newdata import NewData
from dpstats.results.record import Record
from dpstats.results.released import Released, value_where
from dpstats.results.units import Units, in_units
from dpstats.results.wald import (
    ContrastTest,
    Hypothesis,
    PairwiseTest,
    WaldTest,
    constraint,
    contrasts,
    jointly,
    pairwise,
    wald_test_terms,
)


def _likelihood(record: Record) -> dict[str, object]:
    """Return the columns of `glance` of a fit that released its log-likelihood."""
    if record.loglik is None:
        return {}
    return {
        "loglik": record.loglik.value,
        "loglik_error": record.loglik.se,
        "aic": criterion(record, "aic").estimate,
    }


def by_name(name: str, of: Callable[[Record], np.ndarray], says: str) -> Any:
    """A property of a fit: a number of each coefficient."""

    def values(fit: "Coefficients") -> pd.Series:
        return pd.Series(np.array(of(fit.record)), index=list(fit.record.names), name=name)

    values.__doc__ = says
    return property(values)


class Coefficients(Released):
    """Coefficient table under statsmodels' names, and broom's verbs."""

    __slots__ = ()

    def _facts(self) -> dict[str, object]:
        """Columns of `glance` that only this kind of fit has."""
        return {}

    params: pd.Series = by_name(
        "params",
        lambda record: record.params,
        "Estimates by name, including ``Log(scale)``; where `bse` is infinite, they say nothing.",
    )
    bse: pd.Series = by_name(
        "bse", bse, "Standard errors: sampling and privacy noise together; infinite if not estimable."
    )
    bse_privacy: pd.Series = by_name(
        "bse_privacy",
        lambda record: np.sqrt(np.diagonal(record.cov_privacy)),
        "The part of the standard errors that is due to privacy noise alone.",
    )
    privacy_share: pd.Series = by_name(
        "privacy_share", privacy_share, "Share of each variance due to privacy noise, from 0 to 1."
    )
    bias_share: pd.Series = by_name(
        "bias_share",
        bias_share,
        """Share of each variance that is a possible bias: what rows may do that do not follow the model.

        Checks tell how much that is, and tell more with rows and budget; NaN in a fit of an earlier version.
        """,
    )
    tvalues: pd.Series = by_name(
        "tvalues", z_values, "Estimate / standard error, to be compared with the normal distribution."
    )
    pvalues: pd.Series = by_name(
        "pvalues", p_values, "Two-sided p-values: normal, or by the law of the noise where that is not."
    )

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
        return None if self.record.nobs is None else self.record.nobs - self.record.n_estimated

    @property
    def _response(self) -> str:
        """Name of the quantity of which a coefficient is a change."""
        return "mean"

    @property
    def _ratio(self) -> str:
        """What exp of a coefficient is called; empty where it means nothing."""
        return "exp(coefficient)"

    @value_where(lambda record: record.nevents is not None)
    def nevents(self) -> Estimate:
        """Number of rows that fail, as released; limits are of the noise."""
        return failures(self.record)

    @value_where(lambda record: record.loglik is not None)
    def llf(self) -> Estimate:
        """Log-likelihood of the estimates, of log time where that is modelled; rows clipped."""
        return criterion(self.record, "llf")

    @value_where(lambda record: record.loglik is not None)
    def aic(self) -> Estimate:
        """-2 log-likelihood + 2 coefficients."""
        return criterion(self.record, "aic")

    @value_where(lambda record: record.loglik is not None and bool(record.nobs))
    def bic(self) -> Estimate:
        """-2 log-likelihood + log(rows) coefficients."""
        return criterion(self.record, "bic")

    def cov_params(self) -> pd.DataFrame:
        """Return the covariance of the coefficients: sampling and privacy noise.

        Returns
        -------
        DataFrame of shape (k, k)

        Examples
        --------
        >>> fit.cov_params().shape
        (5, 5)
        """
        names = list(self.record.names)
        return pd.DataFrame(np.array(self.record.cov), index=names, columns=names)

    def conf_int(
        self,
        alpha: float | None = None,
        joint: Joint = None,
        level: float = 0.95,
        *,
        units: Units | None = None,
    ) -> pd.DataFrame:
        """Return intervals of the coefficients: Wald's, or by the law of the noise where that is not normal.

        Parameters
        ----------
        alpha : float, optional
            One less the level, as statsmodels' functions give it. A number from 0.5 on is the level itself:
            ``conf_int(0.05)``, ``conf_int(0.95)`` and ``conf_int(level=0.95)`` are the same.
        joint : {None, True, "bonferroni", "sup-t"}
            Let all intervals hold at once, with confidence `level`. "bonferroni" (True) holds for any noise;
            "sup-t" is a little shorter and needs normal noise.
        level : float
            Confidence level (R's and broom's word), by name.
        units : dict, optional
            As in `summary`.

        Returns
        -------
        DataFrame, columns 0 (lower) and 1 (upper)

        Raises
        ------
        SpecificationError
            For an unknown `joint`, or one that needs normal noise where it is not.

        Examples
        --------
        >>> wider = fit.conf_int(joint=True)
        >>> bool((wider[1] > fit.conf_int()[1]).all())
        True
        """
        record = in_units(self.record, units)
        low, high = limits(record, level_of(alpha, level), joint)
        return pd.DataFrame({0: low, 1: high}, index=list(record.names))

    def tidy(
        self,
        conf_int: bool = False,
        level: float = 0.95,
        exponentiate: bool = False,
        *,
        units: Units | None = None,
    ) -> pd.DataFrame:
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
        units : dict, optional
            Of some covariates, how many units a row is of: ``{"balance": 1000}``. Terms say so.

        Returns
        -------
        DataFrame
            Columns ``term``, ``estimate``, ``std_error``, ``statistic``, ``p_value``, those of `conf_int`,
            ``privacy_share`` and ``component``.

        Raises
        ------
        SpecificationError
            If exponentiated coefficients have no meaning for this distribution.

        Examples
        --------
        >>> fit.tidy(conf_int=True, level=0.9)[["term", "estimate", "conf_low", "conf_high"]]
                        term  estimate  conf_low  conf_high
        0          Intercept ...
        ...
        """
        record = in_units(self.record, units)
        back = np.exp if self._ratio_if(exponentiate) else np.array
        columns: dict[str, object] = {
            "term": list(record.names),
            "estimate": back(record.params),
            "std_error": bse(record),
            "statistic": z_values(record),
            "p_value": p_values(record),
        }
        if truth("conf_int", conf_int):
            columns["conf_low"], columns["conf_high"] = map(back, limits(record, level))
        p = record.n_location
        columns["privacy_share"] = privacy_share(record)
        columns["component"] = ["location"] * p + ["scale"] * (len(record.names) - p)
        return pd.DataFrame(columns)

    def _check_ratios(self) -> None:
        """Refuse to take exp of coefficients where that means nothing."""
        record = self.record
        if not self._ratio:
            own = (
                f"{record.dist!r} models the {self._response} itself"
                if record.link is IDENTITY
                else f"exp of a coefficient means nothing under a link of {record.link.name}"
            )
            raise SpecificationError(
                f"exponentiate=True needs a link of log, logit or cloglog, or a model of log time; {own}"
            )

    def glance(self) -> pd.DataFrame:
        """Return one row about the whole fit: model, size, budget, neighbours, flags.

        Of a budget in rho or mu, ``epsilon`` is what it comes to at ``delta``, one in a million.

        That of a linear fit has ``alpha``, ``sigma`` and ``rsquared``, too; of a GLM ``family``, ``link`` and
        ``dispersion``; where the log-likelihood was released, ``loglik``, its ``loglik_error`` and ``aic``.

        Returns
        -------
        DataFrame of one row

        Examples
        --------
        >>> fit.glance()[["model", "nobs", "rho"]].values.tolist()
        [['ols', 28155, 0.5]]
        """
        record = self.record
        spent = record.budget.to_dict()
        implied = {} if "epsilon" in spent else record.budget.to_approx(stated_delta(record.budget)).to_dict()
        facts = {
            "model": record.model,
            "dist": record.dist,
            "nobs": record.nobs,
            "df": record.n_estimated,
            **self._facts(),
            **_likelihood(record),
            "method": record.method,
            **{unit: (implied | spent).get(unit, np.nan) for unit in ("epsilon", "delta", "rho", "mu")},
            "adjacency": record.adjacency,
            "unit": record.unit,
            "flags": ", ".join(code for code, _ in record.flags),
            "not_private": record.not_private,
        }
        return pd.DataFrame({name: [value] for name, value in facts.items()})

    def t_test(self, hypothesis: Hypothesis, *, exponentiate: bool = False) -> ContrastTest:
        """Test each row of a linear hypothesis by itself.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (r, k)
            ``"maker[T.WDC] = 0"``, ``"temp = 2 * volt, Log(scale) = 0"``, or contrast rows tested against 0.
        exponentiate : bool
            Report ratios, such as odds ratios, and their limits; ``sd`` stays on the scale of coefficients.

        Returns
        -------
        ContrastTest
            With ``effect``, ``sd``, ``pvalue``, ``conf_int()`` and ``summary_frame()``.

        Raises
        ------
        SpecificationError
            If the hypothesis cannot be read, or ratios mean nothing in this model.

        Examples
        --------
        >>> fit.t_test("education = 0.1, region[T.south] = region[T.west]").null
        ('education = 0.1', 'region[T.south] - region[T.west] = 0')
        """
        test = contrasts(self.record, *constraint(self.record, hypothesis))
        return replace(test, ratio=self._ratio_if(exponentiate))

    def wald_test(self, hypothesis: Hypothesis) -> WaldTest:
        """Test all rows of a linear hypothesis together by a Wald chi-square statistic.

        Parameters
        ----------
        hypothesis : str, list of str, or array of shape (r, k)
            As in `t_test`.

        Returns
        -------
        WaldTest
            With ``statistic``, ``df`` and ``pvalue``.

        Examples
        --------
        >>> fit.wald_test("region[T.south] = 0, region[T.west] = 0")
        Wald test of region[T.south] = 0, region[T.west] = 0: chi2(2) = ..., p ...
        """
        matrix, value, null = constraint(self.record, hypothesis)
        return jointly(self.record, matrix, value, ", ".join(null))

    linear_hypothesis = wald_test  # the name in R's car

    def wald_test_terms(self) -> Estimates:
        """Test each term of the formula by a Wald chi-square statistic, all its coefficients together.

        The others stay in the model, as in R's ``car::Anova(type = 3)``. Where a factor interacts, the test
        of the factor alone depends on its coding, and ``C(x, Sum)`` makes it one of an average.

        Returns
        -------
        Estimates
            In ``.frame``: ``term``, ``statistic``, ``df`` and ``p_value``; NaN where a term has a
            coefficient that is not estimable.

        Examples
        --------
        >>> fit.wald_test_terms().frame["term"].tolist()
        ['Intercept', 'region', 'education']
        """
        return wald_test_terms(self.record)

    def t_test_pairwise(
        self,
        term: str,
        newdata: NewData | None = None,
        method: str = "hs",
        *,
        exponentiate: bool = False,
    ) -> PairwiseTest:
        """Test the difference between any two levels of a factor.

        Parameters
        ----------
        term : str
            A covariate with levels, ``"maker"`` or ``"C(maker)"``.
        newdata : dict, list of dict, or DataFrame, optional
            Where the other variables are held; of several points the mean, as in contrasts of marginal
            means. Needed if the factor interacts with them, because the differences then depend on where
            that is.
        method : str
            Adjustment of the p-values, a name of statsmodels' ``multipletests``: ``"hs"`` is Holm-Sidak.
        exponentiate : bool
            As in `t_test`.

        Returns
        -------
        PairwiseTest
            With ``result_frame``, and ``conf_int(level, joint="sup-t")`` for intervals that hold at once.

        Raises
        ------
        SpecificationError
            If `term` has no levels, or interacts with variables that `newdata` does not give.

        Examples
        --------
        >>> fit.t_test_pairwise("region").result_frame.shape[0]  # of four levels
        6
        """
        return replace(pairwise(self.record, term, newdata, method), ratio=self._ratio_if(exponentiate))

    def _ratio_if(self, exponentiate: bool) -> str:
        """What exp of a coefficient is called, if that is asked for and means something."""
        if truth("exponentiate", exponentiate):
            self._check_ratios()
        return self._ratio if exponentiate else ""
