"""What every model asks of a budget before anything is charged."""

from __future__ import annotations

from dpstats.budget import Approx, Budget
from dpstats.errors import BudgetError, SpecificationError


def check_budget(budget: object, n: int) -> None:
    """Refuse what is no budget, a delta that lets a row leak whole, and data without rows.

    Raises
    ------
    SpecificationError
        BudgetError where it is about the budget.
    """
    if not isinstance(budget, Budget):
        raise BudgetError(f"budget must be a budget such as approx(1, 1e-6) or zcdp(0.5), got {budget!r}")
    if n < 1:
        raise SpecificationError("the data have no rows")
    if isinstance(budget, Approx) and budget.delta > 1 / n:
        raise BudgetError(
            f"delta = {budget.delta:g} must not exceed 1/n = {1 / n:g}, or one row in n may leak whole"
        )
