"""What all models have in common before they are fitted, and what they offer before a budget is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from dpstats._private import HoldsRows
from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.models.checks import NO_ROWS
from dpstats.rows import Rows

if TYPE_CHECKING:
    from dpstats.planning import FitPlan


class Unfitted(HoldsRows):
    """A model, of which nothing is released yet."""

    __slots__ = ()
    _rows: Rows

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A model without data holds nothing private."""
        if self._rows is not NO_ROWS:
            return super().__reduce_ex__(protocol)
        return object.__reduce_ex__(self, protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _rows=NO_ROWS)

    def __getattr__(self, name: str) -> NoReturn:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text)
        if name == "plan":
            raise AttributeError(
                f"{text}: only fits of ols, ridge, logit, glm, survreg and coxph can be planned"
            )
        raise AttributeError(f"{text}; what is estimated is asked of its fit: fit = model.fit(budget)")


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
