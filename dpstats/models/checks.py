"""What every model asks of a budget before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpstats._arguments import among, shown
from dpstats.budget import Budget, as_budget, delta_of
from dpstats.errors import BudgetError, SpecificationError
from dpstats.families import Dist, GlmFamily
from dpstats.families.complete import faults_of_family, faults_of_glm_family
from dpstats.formula import Design
from dpstats.ledger import Ledger
from dpstats.rows import Rows, open_rows
from dpstats.schema import Schema

NO_ROWS = Rows(None, Schema(), ())

PMT_METHOD = "public moment truncation (Gaussian)"


def rows_of(data: Any, design: Design) -> Rows:
    """The rows of a model, none for a model that is given messages of contributors instead.

    Raises
    ------
    SpecificationError
        As :func:`dpstats.rows.open_rows`.
    """
    return NO_ROWS if data is None else open_rows(data, design.schema, design.variables)


def check_dist(dist: Dist) -> None:
    """Refuse a distribution whose family cannot do what a fit asks of it.

    Raises
    ------
    SpecificationError
    """
    _refuse(f"dist={dist.name!r}", faults_of_family(dist.family))


def check_family(family: GlmFamily) -> None:
    """The same of the family of a generalised linear model."""
    _refuse(f"family={family.name!r}", faults_of_glm_family(family))


def _refuse(what: str, faults: Sequence[str]) -> None:
    if faults:
        raise SpecificationError(
            f"{what} is not complete: it lacks, or has in contradiction to the rest, {', '.join(faults)}; "
            "complete the record of its family, or use another"
        )


def check_budget(budget: object, n: int) -> None:
    """Refuse what is no budget, a delta that lets a row leak whole, and data without rows.

    Raises
    ------
    SpecificationError
        BudgetError where it is about the budget.
    """
    budget = as_budget("budget", budget)
    if n < 1:
        raise SpecificationError(
            "the data have no rows; give the table that holds them. Messages of "
            "contributors go to fit_contributions instead"
        )
    if (delta := delta_of(budget)) is not None and delta > 1 / n:
        raise BudgetError(
            f"delta = {delta:g} must not exceed 1/n = {1 / n:g}, or one row in n may leak whole"
        )


def check_method(method: object, known: Sequence[str], compat: object, public: object) -> None:
    """Refuse a method that there is not, and one that needs what the model was not given.

    Raises
    ------
    SpecificationError
    """
    check_named(method, known)
    check_compat(compat)
    if compat and method != "pmt":
        raise SpecificationError("compat='paper' goes with method='pmt'")
    if method == "pmt" and public is None:
        raise SpecificationError("method='pmt' needs public=, moments of public rows or such rows")


def check_compat(compat: object) -> None:
    """Refuse what names no published algorithm."""
    if not among(compat, (None, "paper")):
        raise SpecificationError(f"compat must be None or 'paper', got {shown(compat)}")


def check_named(method: object, known: Sequence[str]) -> None:
    """Refuse a method that there is not, and a ledger in its place.

    Raises
    ------
    SpecificationError
    """
    if isinstance(method, Ledger | Path) or (isinstance(method, str) and Path(method).suffix):
        raise SpecificationError("a ledger is given by its name here: fit(budget, ledger=ledger)")
    if not among(method, known):
        listed = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
        raise SpecificationError(f"method must be {listed}, got {shown(method)}")


def check_gaussian(budget: Budget, what: str) -> None:
    """Refuse a budget of pure epsilon.

    Raises
    ------
    BudgetError
    """
    if budget.pure:
        raise BudgetError(f"{what} adds Gaussian noise, which has no pure epsilon; give zcdp, gdp or approx")
