"""Fits of generalised linear models: ratios, each under the name of its family, and the dispersion."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpstats.results.document import Estimates
from dpstats.results.intervals import Estimate, positive, root
from dpstats.results.public_rows import MeanFit
from dpstats.results.record import Record, given
from dpstats.results.released import method_where, value_where
from dpstats.results.summary import ratio_rows, table_of_ratios, table_of_scatter
from dpstats.results.survival_tables import ratios
from dpstats.results.table import Table
from dpstats.results.units import Units
from dpstats.schema import Event, Flag

OF_MEAN = {
    "logit": "log odds",
    "log": "log mean",
    "identity": "mean",
    "probit": "normal quantile of the probability",
    "cloglog": "log cumulative hazard",
}


def named(name: str) -> Callable[[Record], bool]:
    """Return whether exp of a coefficient of a fit has this name."""
    return lambda record: record.family.ratio_name == name


class GlmFit(MeanFit, models=("logit", "glm")):
    """A generalised linear model.

    Of ``odds_ratios``, ``rate_ratios``, ``mean_ratios`` and ``hazard_ratios`` a fit has the one that means
    something for its family and link.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.logit("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> fit.predict({"education": 12})  # a probability
    0    0...
    Name: predicted, dtype: float64
    """

    __slots__ = ()
    _bounds = {
        "R": "rows beyond {} sds count less",
        "C": "scores clipped at {}",
        "alpha": "rows weigh as by a negative binomial law with alpha = {}",
        "S": "rows with scores beyond {} count less",
        "apart": "at most {} rows are 30 sds from the others",
    }
    _needs = ("needs a generalised linear model, and this is {model}", "Use fit.params.")
    _refused = {
        "odds_ratios": ("needs a model with logit link, and this is {model} ({dist})", "Use {own}."),
        "rate_ratios": ("needs a model of counts, and this is {model} ({dist})", "Use {own}."),
        "alpha": ("needs a negative binomial model, and this is {model} ({dist})", "Use fit.dispersion."),
        "hazard_ratios": (
            "needs a binomial model with cloglog link, and this is {model} ({dist})",
            "Use {own}.",
        ),
        "mean_ratios": ("needs a gamma model with log link, and this is {model} ({dist})", "Use {own}."),
    }

    @property
    def _title(self) -> str:
        return f"{self.record.family.title} regression"

    @property
    def _response(self) -> str:
        return OF_MEAN[self.record.link.name]

    @property
    def _ratio(self) -> str:
        return self.record.family.ratio_name

    def _words(self) -> dict[str, str]:
        own = f"fit.{self._ratio.replace(' ', '_')}s()" if self._ratio else "fit.params"
        return super()._words() | {"own": own}

    def _facts(self) -> dict[str, object]:
        record = self.record
        dispersion = np.nan if record.dispersion is None else record.dispersion.value
        return {"family": record.family.kind, "link": record.link.name, "dispersion": dispersion}

    def _remark(self) -> str:
        """Sentences about what the coefficients add up to, and the scale of intervals."""
        record, name, design = self.record, self._ratio, self.record.asked
        response, variable = design.response.text, record.schema.get(design.response.measured.name or "")
        if isinstance(variable, Flag | Event):
            response += f" being {variable.codes[0]}"
        text = f" {self._response} of {response} = coef'x{' + offset' if design.offset else ''}."
        has_ratios = bool(name) and set(record.names) != {"Intercept"}
        own = [f"{name}s"] * has_ratios + ["phi"] * (record.dispersion is not None and record.excess is None)
        return text + (f" Intervals of {' and '.join(own)} are on the log scale." if own else "")

    def _tables(self, level: float, scaled: Record) -> list[Table]:
        record, name = self.record, self._ratio
        if record.no_errors:
            return []
        tables = table_of_ratios(ratio_rows(scaled, name.capitalize(), level) if name else [], level)
        if record.excess is not None:
            tables.append(table_of_scatter({"Variance m + alpha m^2": self._alpha(level)}, level))
        elif record.dispersion is not None:
            tables.append(table_of_scatter({"Dispersion": positive("phi", record.dispersion, level)}, level))
        return tables

    @value_where(lambda record: record.dispersion is not None)
    def dispersion(self) -> Estimate:
        """Dispersion phi, statsmodels' ``scale``; 95 % interval on the log scale.

        With weights it is the one that statsmodels has with ``freq_weights``: of a response, whatever its
        weight. R's, and that of ``var_weights``, is of a row of weight 1, if others vary as 1 / weight.

        Of a negative binomial fit, about the law by which its rows weigh: `alpha` says how counts scatter.
        """
        return positive("phi", given(self.record.dispersion))

    @value_where(lambda record: record.excess is not None)
    def alpha(self) -> Estimate:
        """alpha of a negative binomial variance m + alpha m^2; 1 / theta of R's glm.nb.

        It rises evenly with phi, of whose interval its own follows: 0 for counts that may be Poisson.
        """
        return self._alpha(0.95)

    def _alpha(self, level: float) -> Estimate:
        alpha, phi = given(self.record.excess), given(self.record.dispersion)
        found, of_phi = positive("alpha", alpha, level), positive("phi", phi, level)
        if not 0 < phi.se < np.inf:
            return found
        low, high = (
            alpha.value + (end - phi.value) * alpha.se / phi.se for end in (of_phi.conf_low, of_phi.conf_high)
        )
        return replace(found, conf_low=max(low, 0.0), conf_high=high)

    @value_where(lambda record: record.dispersion is not None and record.family.constant_variance)
    def sigma(self) -> Estimate:
        """Scale of the error; 95 % interval on the log scale."""
        return positive("sigma", root(given(self.record.dispersion)))

    @method_where(named("odds ratio"))
    def odds_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef) of a logistic model: the factor by which one unit of a column multiplies the odds.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates
            In ``.frame``: ``term``, ``estimate``, ``conf_low``, ``conf_high``; intervals on the log scale.

        Examples
        --------
        >>> fit.odds_ratios().frame["term"].tolist()
        ['education']
        """
        return ratios(self.record, "Odds ratio", level, units)

    @method_where(named("rate ratio"))
    def rate_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef) of counts: the factor by which one unit of a column multiplies the rate.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates
            The same as of `odds_ratios`.

        Examples
        --------
        >>> cars = dps.datasets.load("datacar")
        >>> counts = dps.glm("numclaims ~ veh_value", cars.data, cars.schema, "poisson", exposure="exposure")
        >>> counts.fit(dps.gdp(1)).rate_ratios().frame["term"].tolist()
        ['veh_value']
        """
        return ratios(self.record, "Rate ratio", level, units)

    @method_where(named("mean ratio"))
    def mean_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef) of a gamma model: the factor by which one unit of a column multiplies the mean.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates
            The same as of `odds_ratios`.

        Examples
        --------
        >>> amounts = dps.glm("wage ~ education", cps.data, cps.schema, "gamma")
        >>> amounts.fit(dps.gdp(1)).mean_ratios().frame["term"].tolist()
        ['education']
        """
        return ratios(self.record, "Mean ratio", level, units)

    @method_where(named("hazard ratio"))
    def hazard_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef) of a cloglog model: the factor of one unit of a column on the hazard.

        Rows are intervals in which a unit is watched, and the response is whether it fails in one.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates
            The same as of `odds_ratios`.

        Examples
        --------
        >>> hazards = dps.glm("parttime ~ education", cps.data, cps.schema, "binomial", link="cloglog")
        >>> hazards.fit(dps.gdp(1)).hazard_ratios().frame["term"].tolist()
        ['education']
        """
        return ratios(self.record, "Hazard ratio", level, units)
