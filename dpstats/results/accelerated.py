"""Accelerated life: activation energies, powers of stress, and how much faster units fail than in use.

See docs/survreg.md#accelerated-tests.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import shown
from dpstats.errors import SpecificationError
from dpstats.families import DISTS
from dpstats.results import survival_tables as tables
from dpstats.results.document import Document, Estimates, cells, limit_columns, point_columns, with_limits
from dpstats.results.fit import Fit
from dpstats.results.in_units import Units
from dpstats.results.intervals import Estimate, bse, limits
from dpstats.results.newdata import NewData, beside, points
from dpstats.results.prediction import linear_predictor
from dpstats.results.record import Record, mentioned
from dpstats.results.released import method_where
from dpstats.results.summary import ratio_row
from dpstats.results.table import Column, Table
from dpstats.schema import Bounded, Count

TERM = re.compile(r"(arrhenius|power|inverse_power)\((?!.*\):).*\)")  # alone, not in a product
MEANING = {"arrhenius": ("Activation energy", "eV"), "power": ("Power", ""), "inverse_power": ("Power", "")}


def stress_terms(record: Record) -> dict[str, str]:
    """Return the coefficients that are of a stress, by name, with the function that each is of."""
    if not (record.is_survival and DISTS[record.dist].log):
        return {}
    found = ((name, TERM.fullmatch(name)) for name in record.names[: record.n_location])
    return {name: match[1] for name, match in found if match}


def stress_rows(record: Record, level: float) -> list[tuple[str, ...]]:
    """Return rows of a summary: what the coefficient of each stress means."""
    (low, high), se, rows = limits(record, level), bse(record), []
    for name, function in stress_terms(record).items():
        j, (kind, unit) = record.names.index(name), MEANING[function]
        value, error, least, most = (float(each[j]) for each in (record.params, se, low, high))
        rows.append(ratio_row(kind, Estimate(name, value, error, least, most, level), unit))
    return rows


def _farthest(record: Record, use: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a use level with its stresses at the farther of their bounds, one by one and all of them."""
    stressed = " + ".join(stress_terms(record)) or record.formula.partition("~")[2]
    moved = {}
    for name in mentioned(record.schema, stressed):
        variable = record.schema[name]
        if isinstance(variable, Bounded | Count) and name in use:
            low, high = variable.bounds
            moved[name] = low if float(use[name]) - low > high - float(use[name]) else high
    single = [use | {name: bound} for name, bound in moved.items()]
    return [*single, use | moved] if len(single) > 1 else single or [use]


class AcceleratedLife(Fit):
    """What a model of log time says of stress."""

    __slots__ = ()
    _refused = {
        "activation_energy": (
            "needs a term arrhenius(temperature) of a distribution of log time",
            "Write arrhenius(tempC) in the formula; of others fit.acceleration(use, stress).",
        ),
        "acceleration_factors": (
            "needs a distribution of log time, and {dist!r} is one of time itself",
            "Use dist='weibull', 'loglogistic' or 'lognormal'; fit.params are differences of time.",
        ),
    }

    @method_where(lambda record: "arrhenius" in stress_terms(record).values())
    def activation_energy(self, level: float = 0.95) -> Estimates:
        """Return the activation energy of each Arrhenius term, in electronvolts.

        Parameters
        ----------
        level : float

        Returns
        -------
        Estimates

        Examples
        --------
        >>> hot = dps.survreg("Surv(time, status) ~ arrhenius(temp)", drives.data, drives.schema)
        >>> hot.fit(dps.zcdp(0.5)).activation_energy().frame["term"].tolist()
        ['arrhenius(temp)']
        """
        record = self.record
        names = [name for name, function in stress_terms(record).items() if function == "arrhenius"]
        where = [record.names.index(name) for name in names]
        gradient = np.eye(len(record.names))[where]
        columns = with_limits(record.params[where], gradient, record.cov, level, np.array)
        return tables.terms("Activation energy, eV", names, columns, bse(record)[where], level)

    @method_where(lambda record: DISTS[record.dist].log)
    def acceleration_factors(
        self,
        use: NewData | None = None,
        stress: NewData | None = None,
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return how many times longer units live at a use level than at each of several stress levels.

        Parameters
        ----------
        use : dict
            One point.
        stress : dict, list of dict, or DataFrame, optional
            Default: the use level with each number of the formula at the public bound that is farther from
            it, one by one, and then all of them.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Raises
        ------
        NotReleased
            Without `use`.
        SpecificationError
            If `use` is not one point.

        Examples
        --------
        >>> fit.acceleration_factors({"temp": 25}, [{"temp": 35}, {"temp": 45}]).frame["temp"].tolist()
        [35, 45]
        """
        record = self.record
        base = points(record, use, "acceleration_factors", clip, "use")
        if len(base.exog) != 1:
            raise SpecificationError(f"use must be one point, such as {{'tempC': 55}}; got {shown(use)}")
        given = _farthest(record, base.frame.iloc[0].to_dict()) if stress is None else stress
        at = points(record, given, "acceleration_factors", clip, "stress")
        (centre, gradient), (other, its_gradient) = (linear_predictor(record, each) for each in (base, at))
        columns = with_limits(centre - other, gradient - its_gradient, record.cov, level, np.exp)
        known = np.isfinite(columns["conf_high"])

        def layout() -> Document:
            written = zip(known, *columns.values(), strict=True)
            rows = [(at.label(i), *cells(values, sure)) for i, (sure, *values) in enumerate(written)]
            heads = (Column("", "l"), *point_columns("factor"), *limit_columns(level))
            title = f"Acceleration from {base.label(0)}"
            return Document(tables=(Table(heads, tuple(rows), title=title),))

        return Estimates(beside(at, pd.DataFrame(columns)), layout)

    def summary(
        self,
        level: float = 0.95,
        use: NewData | None = None,
        *,
        units: Units | None = None,
        width: int | None = None,
    ) -> Document:
        """Return the full table; ``print`` it, or see it as HTML in a notebook.

        Parameters
        ----------
        level : float
            Confidence level of all intervals.
        use : dict, optional
            A use level, of an accelerated test: adds `acceleration_factors` from it.
        units, width
            As in the summary of any fit: ``{"balance": 1000}``, and the longest line of the text.

        Returns
        -------
        Document
            With ``as_text()``, ``as_html()``, ``as_latex()``, ``as_markdown()`` and ``as_csv()``.

        Examples
        --------
        >>> print(fit.summary(use={"temp": 25}).as_text(width=72))
        Private Weibull regression for time to failure...
        """
        document = super().summary(level, units=units, width=width)
        if use is None:
            return document
        more = self.acceleration_factors(use, level=level).document.tables
        return replace(document, tables=(*document.tables, *more))
