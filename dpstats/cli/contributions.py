"""``dpstats plan-contributions | contribute | fit-contributions``."""

from __future__ import annotations

import argparse
import warnings

from tabulate import tabulate

from dpstats.budget import parse_budget
from dpstats.cli.files import JSON, MESSAGES, new_file, save, table
from dpstats.contributors import OwnFile, Plan, plan_contributions, write_messages
from dpstats.errors import SpecificationError
from dpstats.models import logit, ols, ridge
from dpstats.models.expected_precision import expected_precision
from dpstats.results import Fit
from dpstats.schema import Schema


def plan(options: argparse.Namespace) -> None:
    """Write a plan, and print what it will buy."""
    with new_file(options.out, JSON):
        made = plan_contributions(
            options.formula,
            Schema.load(options.schema),
            parse_budget(options.budget),
            options.contributors,
            honest=options.honest,
            method=options.method,
            compat=options.compat,
            ball=options.ball,
        )
        made.save(options.out, overwrite=True)
    print(made)
    print("\nStandard errors to expect, if every variable is spread evenly over its public range")
    expected = expected_precision(made)
    print(tabulate(expected, headers=("", "privacy", "sampling"), floatfmt=".3g", showindex=False))


def contribute(options: argparse.Namespace) -> None:
    """Write a message for each record."""
    plan = Plan.load(options.plan)
    if options.hash is not None and not (len(options.hash) >= 8 and plan.hash.startswith(options.hash)):
        raise SpecificationError(
            f"the plan has the hash {plan.hash}, not {options.hash}: it is not the one that was announced. "
            "Send nothing"
        )
    own = OwnFile(table(options.records, options), plan)
    with new_file(options.out, MESSAGES):
        count = write_messages(own.messages(), options.out)
    for note in own.notes:
        warnings.warn(note, UserWarning, stacklevel=1)
    print(f"{options.out}: {count} private message{'s' * (count != 1)} for the plan {plan.hash[:12]}")
    for label, text in plan.guarantees:
        print(f"{label:8}{text}")


def fit(options: argparse.Namespace) -> None:
    """Fit a model of messages."""
    plan = Plan.load(options.plan)
    if (options.alpha is None) == (options.model == "ridge"):
        raise SpecificationError("--alpha is the penalty of --model ridge, which needs it")
    with new_file(options.out, JSON):
        fit = _fitted(options, plan)
        save(fit, options.out)


def _fitted(options: argparse.Namespace, plan: Plan) -> Fit:
    if options.model == "ridge":
        model = ridge(plan.formula, None, plan.schema, options.alpha)
        return model.fit_contributions(options.messages, plan)
    if options.model == "logit":
        return logit(plan.formula, None, plan.schema).fit_contributions(options.messages, plan)
    return ols(plan.formula, None, plan.schema).fit_contributions(options.messages, plan)
