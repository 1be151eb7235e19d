"""A model with other rows, and a fit of made-up ones: for plans, which read no private row."""

from __future__ import annotations

from typing import Any

from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.ledger import uncharged
from dpstats.models.coxph import Coxph
from dpstats.models.glm import GlmModel
from dpstats.models.linear import LinearModel
from dpstats.models.skeleton import NO_ROWS
from dpstats.models.survreg import Survreg
from dpstats.results import Fit
from dpstats.rows import Rows, open_rows
from dpstats.testing import SeededNoise, noise

Planned = LinearModel | GlmModel | Survreg | Coxph


def check_no_rows(model: Planned) -> None:
    """Refuse a model with data beside a table of public rows, which nothing protects: they may be one.

    Raises
    ------
    SpecificationError
    """
    if model._rows is not NO_ROWS:
        raise SpecificationError(
            "covariates= is a table, whose rows nothing protects, and the model has data of its own; plan a "
            "model without data, such as dps.ols(formula, None, schema), and give a table of public rows"
        )


def without_rows(model: Planned) -> Planned:
    """The same model, which leads to no row."""
    return _with(model, NO_ROWS)


def fit_made(model: Planned, made: dict[str, Any], budget: Budget, seed: int) -> Fit:
    """Fit made-up rows as the model would fit private ones, under seeded noise and with no ledger.

    The fit says that it is not private; nobody but a plan sees it.
    """
    made_model = _with(model, open_rows(made, model.design.schema, model.design.variables))
    with uncharged(), noise(SeededNoise(seed)):
        return made_model.fit(budget)


def _with(model: Planned, rows: Rows) -> Planned:
    other = object.__new__(type(model))
    vars(other).update(vars(model) | {"_rows": rows})
    return other
