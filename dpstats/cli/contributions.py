"""``dpstats plan-contributions | contribute | fit-contributions``."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tabulate import tabulate

from dpstats.budget import parse_budget
from dpstats.cli.output import JSON, MESSAGES, new_file, save
from dpstats.cli.tables import add_csv_options, table
from dpstats.contributors import OwnFile, Plan, plan_contributions, write_messages
from dpstats.errors import SpecificationError
from dpstats.models import logit, ols, ridge
from dpstats.models.expected import expected_precision
from dpstats.results import Fit
from dpstats.schema import Schema

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_Parser = TypeVar("_Parser", bound=argparse.ArgumentParser)

PLAN = """\
example:
  dpstats plan-contributions "income ~ age + educ" --schema people.toml --budget "approx(1, 1e-6)" \\
          --contributors 50000 --out plan.json

Publish the file, and its hash where contributors can compare it. The budget is what the model may tell of one
contributor; what one message tells whoever sees it is much more, and is printed beside it."""

CONTRIBUTE = """\
example, on the machine of the person whom the record is about:
  dpstats contribute me.csv --plan plan.json --hash 3f1a... --out message.jsonl

Each record of the table becomes one message: noise is added to every number that is derived from it, and the
record itself is written nowhere. Contribute a record once: a second message tells as much again.

A line that is blank, or has another number of fields than the first line, is no record and makes no message.
A record with a cell that cannot be used makes a message of noise alone. You are told which lines these are,
here and nowhere else; correct them, and contribute again before you send anything."""

FIT = """\
example:
  dpstats fit-contributions monday.parquet tuesday.jsonl --plan plan.json --model ols --out income.fit.json

Messages that are malformed, of another plan, out of range or repeated are counted and left out."""


def add(commands: _SubParsersAction[_Parser]) -> None:
    """Add the commands."""
    plan = _command(commands, "plan-contributions", "plan a fit to which people send private records", PLAN)
    plan.set_defaults(run=run_plan)
    plan.add_argument("formula", help="R's formula, in quotes")
    plan.add_argument("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
    plan.add_argument("--budget", required=True, help='of the published model, e.g. "approx(1, 1e-6)"')
    plan.add_argument("--contributors", type=int, required=True, help="with fewer, nothing is published")
    plan.add_argument("--honest", type=float, default=1.0, help="share of them that keep their noise secret")
    plan.add_argument("--method", choices=("statistics", "input"), default="statistics")
    plan.add_argument("--compat", choices=("paper",), help="of method input: the published constants")
    plan.add_argument("--ball", type=float, default=3.0, help="of method input: longest coefficients")
    plan.add_argument("--out", type=Path, required=True, help="write the plan to this new .json file")

    send = _command(commands, "contribute", "make records private on your own machine", CONTRIBUTE)
    send.set_defaults(run=run_contribute)
    send.add_argument("records", type=Path, help="a .csv or .parquet file, one record a row")
    send.add_argument("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
    send.add_argument("--hash", help="refuse a plan that does not have this hash, or does not begin with it")
    send.add_argument("--out", type=Path, required=True, help="write messages to this new .parquet or .jsonl")
    add_csv_options(send)

    fit = _command(commands, "fit-contributions", "fit a model from messages of contributors", FIT)
    fit.set_defaults(run=run_fit)
    fit.add_argument("messages", type=Path, nargs="+", help=".parquet or .jsonl files")
    fit.add_argument("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
    fit.add_argument("--model", choices=("ols", "ridge", "logit"), default="ols", help="default: %(default)s")
    fit.add_argument("--alpha", type=float, help="of ridge, which needs it: the penalty")
    fit.add_argument("--out", type=Path, required=True, help="keep the fit in this new .json file")


def _command(commands: _SubParsersAction[_Parser], name: str, does: str, more: str) -> _Parser:
    return commands.add_parser(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run_plan(options: argparse.Namespace) -> None:
    with new_file(options.out, JSON):
        plan = plan_contributions(
            options.formula,
            Schema.load(options.schema),
            parse_budget(options.budget),
            options.contributors,
            honest=options.honest,
            method=options.method,
            compat=options.compat,
            ball=options.ball,
        )
        plan.save(options.out, overwrite=True)
    print(plan)
    print("\nStandard errors to expect, if every variable is spread evenly over its public range")
    expected = expected_precision(plan)
    print(tabulate(expected, headers=("", "privacy", "sampling"), floatfmt=".3g", showindex=False))


def run_contribute(options: argparse.Namespace) -> None:
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


def run_fit(options: argparse.Namespace) -> None:
    plan = Plan.load(options.plan)
    if (options.alpha is None) == (options.model == "ridge"):
        raise SpecificationError("--alpha is the penalty of --model ridge, which needs it")
    with new_file(options.out, JSON):
        fit = _fitted(options, plan)
        save(fit, options.out)
    print(fit.summary())


def _fitted(options: argparse.Namespace, plan: Plan) -> Fit:
    if options.model == "ridge":
        model = ridge(plan.formula, None, plan.schema, options.alpha)
        return model.fit_contributions(options.messages, plan)
    if options.model == "logit":
        return logit(plan.formula, None, plan.schema).fit_contributions(options.messages, plan)
    return ols(plan.formula, None, plan.schema).fit_contributions(options.messages, plan)
