"""Differentially private regression with R's formulas and tables."""

from dpstats import datasets
from dpstats._version import __version__
from dpstats.budget.making import approx, gdp, parse_budget, pure, zcdp
from dpstats.checking import check
from dpstats.contributors import Plan as ContributionPlan
from dpstats.contributors import contribute, plan_contributions
from dpstats.errors import (
    BudgetError,
    DataError,
    FormulaError,
    LedgerError,
    NotReleased,
    SchemaError,
    SpecificationError,
)
from dpstats.ledger import Ledger, use_ledger
from dpstats.models import (
    coxph,
    describe,
    glm,
    kaplan_meier,
    logit,
    ols,
    public_moments,
    ridge,
    survreg,
    svm,
)
from dpstats.moments import PublicMoments
from dpstats.planning import plan
from dpstats.results import Fit, compare, load
from dpstats.rows import read_csv, read_sql
from dpstats.running import options
from dpstats.schema import Schema, bounded, count, event, flag, levels

_HOMES: dict[str, tuple[str, str]]

__all__ = [
    "BudgetError",
    "ContributionPlan",
    "DataError",
    "Fit",
    "FormulaError",
    "Ledger",
    "LedgerError",
    "NotReleased",
    "PublicMoments",
    "Schema",
    "SchemaError",
    "SpecificationError",
    "__version__",
    "approx",
    "bounded",
    "check",
    "compare",
    "contribute",
    "count",
    "coxph",
    "datasets",
    "describe",
    "event",
    "flag",
    "gdp",
    "glm",
    "kaplan_meier",
    "levels",
    "load",
    "logit",
    "ols",
    "options",
    "parse_budget",
    "plan",
    "plan_contributions",
    "public_moments",
    "pure",
    "read_csv",
    "read_sql",
    "ridge",
    "survreg",
    "svm",
    "use_ledger",
    "zcdp",
]
