"""``dpstats ledger create | show | export``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dpstats.budget import parse_budget
from dpstats.cli.output import new_file
from dpstats.errors import LedgerError
from dpstats.ledger import Ledger

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_Parser = TypeVar("_Parser", bound=argparse.ArgumentParser)

ABOUT = """\
examples:
  dpstats ledger create fleet.ledger --total "approx(3, 1e-6)"
  dpstats fit ... --budget "approx(1, 1e-6)" --ledger fleet.ledger
  dpstats ledger show fleet.ledger
  dpstats ledger export fleet.ledger --format csv --out fleet.csv

Keep one ledger for each data set, on a disk of the machine that fits. Every fit with --ledger is charged
before its first release, and refused when it would exceed the total. There is no refund."""


def add(commands: _SubParsersAction[_Parser]) -> None:
    """Add the command and its actions."""
    top = commands.add_parser(
        "ledger",
        help="keep a total budget for a data set: create, show, export",
        description="Keep a total budget for a data set.",
        epilog=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = top.add_subparsers(title="actions", metavar="ACTION", required=True)

    create = actions.add_parser("create", help="start a ledger; a file that is there is left alone")
    create.set_defaults(run=run_create)
    create.add_argument("path", type=Path, help="a new file")
    create.add_argument("--total", required=True, help='most that may ever be spent, e.g. "approx(3, 1e-6)"')
    create.add_argument("--dataset", help="name of the data set; default: the file's name")

    show = actions.add_parser("show", help="print what was spent, on what, and what is left")
    show.set_defaults(run=run_show)
    show.add_argument("path", type=Path, help="a ledger")

    export = actions.add_parser("export", help="write all charges as JSON or CSV")
    export.set_defaults(run=run_export)
    export.add_argument("path", type=Path, help="a ledger")
    export.add_argument("--format", choices=("json", "csv"), default="json", help="default: %(default)s")
    export.add_argument("--out", type=Path, help="write this new file; default: the screen")


def run_create(options: argparse.Namespace) -> None:
    total = parse_budget(options.total)
    if options.path.exists():
        raise LedgerError(f"{options.path} exists; see what it is with dpstats ledger show {options.path}")
    ledger = Ledger(options.path, total=total, dataset=options.dataset)
    print(f"{options.path}: {ledger.line()} ({ledger.total})")


def run_show(options: argparse.Namespace) -> None:
    print(Ledger(options.path).report())


def run_export(options: argparse.Namespace) -> None:
    report = Ledger(options.path).report()
    text = report.frame.to_csv() if options.format == "csv" else json.dumps(report.to_dict(), indent=1) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        with new_file(options.out, (f".{options.format}",)):
            options.out.write_text(text, encoding="utf-8", newline="")
