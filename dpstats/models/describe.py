"""The private first look at a table: what people otherwise see by ``frame.describe()``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._arguments import among, listed, near, shown
from dpstats._private import HoldsRows, forgetting
from dpstats.budget import Budget, measure
from dpstats.curator import Curator
from dpstats.errors import SchemaError, SpecificationError
from dpstats.estimators.description import Wanted, describe_columns, make_plan
from dpstats.formula.beside import read_subset
from dpstats.formula.reader import LARGEST, NARROWEST
from dpstats.formula.variables import VariableColumns
from dpstats.ledger import Ledger
from dpstats.models.reuse import reusable
from dpstats.models.skeleton import check_budget, check_enough, pay
from dpstats.results import Description
from dpstats.rows import Rows, open_rows
from dpstats.schema import Count, Schema, Variable, as_schema

_MOST = 0.25  # half-width of a share by noise alone, beyond which nothing is told


@forgetting
def describe(  # noqa: PLR0913 - what a user may say; public
    data: Any,
    schema: Schema,
    budget: Budget,
    columns: Sequence[str] | None = None,
    *,
    ledger: Ledger | str | Path | None = None,
    force: bool = False,
    subset: str | None = None,
    reuse: bool | str = False,
) -> Description:
    """Describe variables privately: what is missing, means, sds, quantiles, shares, correlations.

    Every number has an interval that counts sampling and privacy noise. Where in its declared bounds a
    variable lies is found at a cost that grows with the logarithm of their width.

    Parameters
    ----------
    data
        The same as in :func:`dpstats.survreg`.
    schema : Schema
    budget : Budget
        A budget of any kind. It is spent whatever comes out, and all variables share it: describe few of
        them where rows are few.
    columns : sequence of str, optional
        Variables of the schema. Default: all.
    ledger : Ledger or path, optional
        The ledger that is charged with the whole budget before anything is released. Default: that of
        :func:`dpstats.use_ledger`, if any.
    force : bool
        Whether to spend the budget where public numbers show that noise hides nearly everything.
    subset : str, optional
        The condition under which a row weighs, as in a model. How many rows weigh is then a private number.
    reuse : bool or str
        Return the description that was kept beside the ledger when the same was asked of the same data
        before, and spend nothing; a text is the version of the data that you declare (docs/ledger.md).

    Returns
    -------
    Description

    Raises
    ------
    SpecificationError
        For a mistake in schema, columns or subset, or of the data's columns.
    BudgetError
        If the budget exceeds what the ledger has left, or buys next to nothing. Nothing is spent then.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> found = dps.describe(plant.data, plant.schema, dps.zcdp(0.5), columns=["AT", "PE"])
    >>> found.frame["variable"].unique().tolist()
    ['AT', 'PE']
    """
    schema = as_schema(schema)
    names = _names(schema, columns)
    design = VariableColumns(schema, names, None if subset is None else read_subset(subset, schema))
    return _Look(design, open_rows(data, schema, design.variables)).fit(
        budget, ledger=ledger, force=force, reuse=reuse
    )


@dataclass(repr=False, eq=False)
class _Look(HoldsRows):
    """A description that nothing was spent on yet, as a model is a fit of which there is none."""

    design: VariableColumns
    _rows: Rows

    def _stated(self) -> dict[str, Any]:
        """The names, where commas or blanks in them hide which are asked; :mod:`dpstats.models.reuse`."""
        joined = {"".join(name.split()) for name in self.design.schema}
        hidden = len(joined) < len(self.design.schema) or "," in "".join(joined)
        return {"columns": self.design.names} if hidden else {}

    @reusable(Description)
    def fit(
        self, budget: Budget, *, ledger: Ledger | str | Path | None, force: bool, reuse: bool | str
    ) -> Description:
        """Spend a budget on it."""
        design, rows, schema, names = self.design, self._rows, self.design.schema, self.design.names
        check_budget(budget, rows.n)
        curator = Curator(rows, design, budget)
        asked = [_asked(name, schema[name]) for name in names]
        plan = make_plan(sum(isinstance(one, Wanted) for one in asked), measure(budget), budget.pure)
        _, sds = curator.noise(
            "cell_counts",
            plan["counts"][0],
            chosen=np.ones(len(names)),
            edges=[np.zeros(0)] * len(names),
        )
        check_enough(
            curator,
            budget,
            2 * float(sds[0][0]) / _MOST * measure(budget),
            f"{len(names)} variable{'s' * (len(names) > 1)}",
            force,
            "; fewer variables need less",
        )
        facts = pay(
            curator,
            design,
            budget,
            ledger,
            f"noisy counts and moments ({'pure epsilon' if budget.pure else 'Gaussian'})",
            plan.costs,
            "describe",
        )
        known = design.inside is None and rows.unit.column is None
        found, products = describe_columns(curator, plan, asked, rows.n if known else None)
        return Description(schema=schema, names=names, columns=found, products=products, **facts)


def _names(schema: Schema, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The variables to describe, in the order in which they are asked for.

    Raises
    ------
    SpecificationError
    """
    names = tuple(schema) if columns is None else listed(columns)
    unknown = [name for name in names if not among(name, tuple(schema))]
    if not names or unknown or len(set(names)) < len(names):
        raise SpecificationError(
            f"columns must be different variables of the schema ({', '.join(schema) or 'none'}), such as "
            f"['temp', 'load'], got {shown(columns)}{near(unknown, schema)}"
        )
    return names


def _asked(name: str, variable: Variable) -> Wanted | int:
    """Bounds of a number, or how many levels there are.

    Raises
    ------
    SchemaError
    """
    if not variable.all:
        if max(map(abs, variable.bounds)) > LARGEST:
            raise SchemaError(
                f"{name!r} may be beyond {LARGEST:g} by its public bounds, too large for its moments: "
                f"declare bounds that it can reach, or measure it in a larger unit"
            )
        if variable.bounds[1] - variable.bounds[0] < NARROWEST:
            raise SchemaError(
                f"{name!r} has public bounds less than {NARROWEST:g} apart, too narrow for its moments: "
                f"measure it in a smaller unit"
            )
        return Wanted(*variable.bounds, isinstance(variable, Count))
    return len(variable.all)
