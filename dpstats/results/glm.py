"""Ratios of generalised linear models: exp of a coefficient, under the name it has in each family."""

from __future__ import annotations

from dpstats.families import FAMILIES
from dpstats.results import reports
from dpstats.results.base import Released
from dpstats.results.estimates import Estimates
from dpstats.results.notreleased import refusal
from dpstats.results.record import Record

_NEEDS = {
    "odds ratio": "a model with logit link",
    "rate ratio": "a Poisson model with log link",
    "mean ratio": "a gamma model with log link",
}


def ratio_name(record: Record) -> str:
    """Return what exp of a coefficient of a GLM is called; empty where it has no meaning, and for others."""
    return FAMILIES[record.dist].ratio_name if record.is_glm else ""


def ratios(record: Record, name: str, level: float) -> Estimates:
    """Return ratios under the name `name`.

    Raises
    ------
    NotReleased
        If the coefficients of the fit are no logarithms of such ratios.
    """
    own = ratio_name(record)
    if own != name:
        kind = f"{record.model} ({record.dist})" if record.is_glm else record.model
        other = f"fit.{_method(own)}()" if own else "fit.params"
        raise refusal(_method(name), f"needs {_NEEDS[name]}, and this is {kind}", f"Use {other}.")
    return reports.ratios(record, own.capitalize(), *reports.location(record), level)


def _method(name: str) -> str:
    return name.replace(" ", "_") + "s"


class Ratios(Released):
    """Odds, rate and mean ratios; each is refused for families where it means nothing."""

    __slots__ = ()

    def odds_ratios(self, level: float = 0.95) -> Estimates:
        """Return exp(coef) of a logistic model: the factor by which one unit of a column multiplies the odds.

        Parameters
        ----------
        level : float

        Returns
        -------
        Estimates
            In ``.frame``: ``term``, ``estimate``, ``conf_low``, ``conf_high``; intervals on the log scale.

        Raises
        ------
        NotReleased
            For other families.
        """
        return ratios(self.record, "odds ratio", level)

    def rate_ratios(self, level: float = 0.95) -> Estimates:
        """Return exp(coef) of a Poisson model: the factor by which one unit of a column multiplies the rate.

        Parameters
        ----------
        level : float

        Raises
        ------
        NotReleased
            For other families.
        """
        return ratios(self.record, "rate ratio", level)

    def mean_ratios(self, level: float = 0.95) -> Estimates:
        """Return exp(coef) of a gamma model: the factor by which one unit of a column multiplies the mean.

        Parameters
        ----------
        level : float

        Raises
        ------
        NotReleased
            For other families.
        """
        return ratios(self.record, "mean ratio", level)
