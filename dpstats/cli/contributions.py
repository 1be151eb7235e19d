"""``dpstats plan-contributions | contribute | fit-contributions``."""

import argparse
import warnings
from typing import Any

from tabulate import tabulate

from dpstats.budget import parse_budget
from dpstats.checking import check
from dpstats.cli.files import JSON, MESSAGES, new_file, save, table
from dpstats.contributors import Plan, contribute_rows, plan_contributions, write_messages
from dpstats.errors import DataError, SpecificationError
from dpstats.models import logit, ols, ridge
from dpstats.models.contributed import expected_precision
from dpstats.schema import Schema

SHOWS_WHY = (
    "dpstats schema check PLAN RECORDS --values shows which cells and why, to you alone: correct them, or "
    "leave out those that are no record, and contribute again before you send"
)


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
    print(
        "Of a column with half that spread the part of sampling is twice as large, and that of privacy four "
        "times: declare\nbounds no wider than need be"
    )


def contribute(options: argparse.Namespace) -> None:
    """Write a message for each record."""
    plan = Plan.load(options.plan)
    if options.hash is not None and not (len(options.hash) >= 8 and plan.hash.startswith(options.hash)):
        raise SpecificationError(
            f"the plan has the hash {plan.hash}, not {options.hash}: it is not the one that was announced. "
            "Send nothing"
        )
    records = table(options.records, options)
    noise = check(records, plan.schema, plan.formula).unusable_rows
    with new_file(options.out, MESSAGES):
        count = write_messages(contribute_rows(records, plan), options.out)
        if noise == count:
            raise DataError(f"{options.records} holds no record that can be used. {SHOWS_WHY}")
    if noise:
        warnings.warn(
            f"{noise} of {count} messages are noise and nothing else, as those records cannot be used. "
            f"{SHOWS_WHY}",
            UserWarning,
            stacklevel=1,
        )
    print(f"{options.out}: {count} private message{'s' * (count != 1)} for the plan {plan.hash[:12]}")
    for label, text in plan.guarantees:
        print(f"{label:8}{text}")


def fit(options: argparse.Namespace) -> None:
    """Fit a model of messages."""
    plan = Plan.load(options.plan)
    if (options.alpha is None) == (options.model == "ridge"):
        raise SpecificationError("--alpha is the penalty of --model ridge, which needs it")
    given = (plan.formula, None, plan.schema, *[options.alpha] * (options.model == "ridge"))
    model: Any = {"ridge": ridge, "logit": logit, "ols": ols}[options.model]
    with new_file(options.out, JSON):
        found = model(*given).fit_contributions(options.messages, plan)
    save(found, options.out)
