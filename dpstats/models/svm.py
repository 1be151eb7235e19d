"""A private support vector machine with intervals: the Huber hinge loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Budget
from dpstats.families import huber_hinge
from dpstats.formula import Design, build_design
from dpstats.ledger import Ledger
from dpstats.models.margin import MarginModel, check_labels, fit_margin
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import Unfitted, check_named
from dpstats.results import SvmFit
from dpstats.rows import open_rows
from dpstats.schema import Schema


@forgetting
def svm(
    formula: str,
    data: Any,
    schema: Schema,
    h: float = 0.5,
    c: float | None = None,
    subset: str | None = None,
) -> Svm:
    """Describe a linear support vector machine whose hinge is rounded, so that it has standard errors.

    Parameters
    ----------
    formula : str
        Such as ``"rich ~ age + education"``; the left side is a variable declared as ``flag()``.
    data
        A pandas, polars or Arrow table, a dict of columns, or the path of a CSV or Parquet file.
    schema : Schema
        What is public about each variable.
    h : float
        Width of the rounding, public: the loss is the hinge where the margin is farther than h from 1.
    c : float, optional
        Penalty, public. The fit minimises the mean loss + ``c |theta|^2``, theta being the coefficients over
        half the public ranges. Default: as small as the budget allows.
    subset : str, optional
        The condition under which a row weighs, such as ``"maker == 'WDC' and temp > 30"``. Other rows stay
        in n: to leave them out beforehand would make a private count public (docs/formula.md).

    Returns
    -------
    Svm
        It has ``.design``, the dry run, and ``.fit(budget)``. No budget is spent yet.

    Raises
    ------
    SpecificationError
        For a mistake in formula, schema, h, c or the columns of the data.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.svm("parttime ~ education", cps.data, cps.schema).fit(dps.pure(1))
    >>> fit.predict({"education": 12})[0] in (0, 1)
    True
    """
    return Svm(build_design(formula, schema, subset=subset), data, h, c)


@forgetful
class Svm(Unfitted):
    """A support vector machine that has not been fitted.

    Attributes
    ----------
    design : Design
        Columns, bounds and radius, known before any row is read.
    """

    def __init__(self, design: Design, data: Any, h: float, c: float | None) -> None:
        self._h, self._loss, self._c = h, huber_hinge(h), c
        self.design = design
        check_labels(self.design, "svm")
        self._rows = open_rows(data, design.schema, design.variables)

    @reusable(SvmFit)
    def fit(
        self,
        budget: Budget,
        method: str = "auto",
        *,
        ledger: Ledger | str | Path | None = None,
        compat: str | None = None,
        reuse: bool | str = False,
    ) -> SvmFit:
        """Spend a budget and estimate.

        Parameters
        ----------
        budget : Budget
            ``pure(epsilon)``, ``zcdp(rho)``, ``gdp(mu)`` or ``approx(epsilon, delta)``. It is spent
            whatever comes out.
        method : {"auto", "objective", "output"}
            Noise on the objective, which is the default, or on its minimum (docs/erm.md).
        ledger : Ledger or path, optional
            The ledger that is charged with the whole budget before anything is released. Default: that of
            :func:`dpstats.use_ledger`, if any.
        compat : {None, "paper"}
            Follow the paper: its noise, its constants and its floors (docs/erm.md).
        reuse : bool or str
            Return the fit that was kept beside the ledger when the same was asked of the same data before,
            and spend nothing; a text is the version of the data that you declare (docs/ledger.md).

        Returns
        -------
        SvmFit
            With ``decision_function(newdata)``, and ``predict(newdata)`` for labels.

        Raises
        ------
        BudgetError
            If the penalty is too small for the budget, or the budget exceeds what the ledger has left.
            Nothing is spent then.

        Examples
        --------
        >>> import dpstats as dps
        >>> cps = dps.datasets.load("cps1988")
        >>> fit = dps.svm("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5), method="output")
        >>> list(fit.params.index)
        ['Intercept', 'education']
        """
        check_named(method, ("auto", "objective", "output"))
        method = "objective" if method == "auto" else method
        asked = MarginModel(self.design, self._rows, self._loss, "svm", "huber")
        return fit_margin(SvmFit, asked, budget, method, self._c, ledger, compat)

    def _stated(self) -> dict[str, Any]:
        """What else it was given, for :mod:`dpstats.models.reuse`."""
        return {"h": self._h, "c": self._c}

    @always_shown
    def __repr__(self) -> str:
        return f"svm, {self._loss.title}: {self.design!r}"
