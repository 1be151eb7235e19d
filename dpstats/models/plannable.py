"""What a model offers before its budget is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.models.checks import NO_ROWS
from dpstats.models.unfitted import Unfitted
from dpstats.rows import Rows

if TYPE_CHECKING:
    from dpstats.planning import FitPlan


class Plannable(Unfitted):
    """A model whose fits can be planned."""

    _rows: Rows

    def plan(  # noqa: PLR0913 - what a user may know; public
        self,
        budget: Budget,
        n: int | None = None,
        covariates: Any = None,
        coef: Mapping[str, float] | None = None,
        scale: float | None = None,
        events: float | None = None,
        inspections: float | Sequence[float] | None = None,
        watches: str = "even",
    ) -> FitPlan:
        """Say what a fit will be worth, before its budget is spent; no row is read.

        Parameters
        ----------
        budget : Budget
            The budget of the fit to come.
        n : int, optional
            The number of its rows. Default: that of the model's data, which is public.
        covariates, coef, scale, events, inspections, watches : optional
            What is known, as :func:`dpstats.plan` takes it.

        Returns
        -------
        FitPlan

        Raises
        ------
        SpecificationError
            If the model has no data and `n` is not given, and as :func:`dpstats.plan` raises it.

        Examples
        --------
        >>> import dpstats as dps
        >>> plant = dps.datasets.load("ccpp")
        >>> model = dps.ols("PE ~ AT", plant.data, plant.schema)
        >>> ahead = model.plan(dps.zcdp(0.5), covariates={"AT": (20, 7)}, scale=5)
        >>> ahead.n
        9568
        """
        from dpstats.planning import plan  # which runs the estimators of models

        if n is None and self._rows is NO_ROWS:
            raise SpecificationError("n must be given, the number of rows of the fit: the model has no data")
        rows = self._rows.n if n is None else n
        return plan(self, budget, rows, covariates, coef, scale, events, inspections, watches)
