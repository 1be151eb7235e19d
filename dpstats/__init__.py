"""Differentially private regression with R's formulas and tables.

A public name is imported when it is first used: ``import dpstats`` and ``dpstats --help`` wait for nothing.
Type checkers read ``__init__.pyi``.
"""

from importlib import import_module
from typing import Any

from dpstats._version import __version__

# Where each public name is at home; "module:name" where it has another name there.
_HOMES = {
    "BudgetError": "errors",
    "ContributionPlan": "contributors:Plan",
    "DataError": "errors",
    "Fit": "results",
    "FormulaError": "errors",
    "Ledger": "ledger",
    "LedgerError": "errors",
    "NotReleased": "errors",
    "PublicMoments": "moments",
    "Schema": "schema",
    "SchemaError": "errors",
    "SpecificationError": "errors",
    "approx": "budget",
    "bounded": "schema",
    "compare": "results",
    "contribute": "contributors",
    "count": "schema",
    "datasets": "datasets",
    "event": "schema",
    "flag": "schema",
    "gdp": "budget",
    "glm": "models",
    "kaplan_meier": "models",
    "levels": "schema",
    "load": "results",
    "logit": "models",
    "ols": "models",
    "parse_budget": "budget",
    "plan": "planning",
    "plan_contributions": "contributors",
    "public_moments": "models",
    "pure": "budget",
    "read_csv": "rows",
    "ridge": "models",
    "survreg": "models",
    "svm": "models",
    "use_ledger": "ledger",
    "zcdp": "budget",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES.values():  # dps.budget, say, as if it had been imported
        return import_module(f"dpstats.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dpstats' has no attribute {name!r}")
    module, _, other = _HOMES[name].partition(":")
    found = getattr(import_module(f"dpstats.{module}"), other or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
