"""``dpstats ledger create | charge | show | export``."""

import argparse
import json

from dpstats.budget import parse_budget
from dpstats.cli.files import write
from dpstats.errors import LedgerError
from dpstats.ledger import Ledger


def create(options: argparse.Namespace) -> None:
    """Start a ledger with a total, for ``dpstats ledger create``."""
    total = parse_budget(options.total)
    if options.path.exists():
        raise LedgerError(f"{options.path} exists; see what it is with dpstats ledger show {options.path}")
    ledger = Ledger(options.path, total=total, dataset=options.dataset)
    print(f"{options.path}: {ledger.line()} ({ledger.total})")


def charge(options: argparse.Namespace) -> None:
    """Write down a cost of something else than a fit, before it is released."""
    ledger = Ledger(options.path)
    entry = ledger.charge(
        parse_budget(options.budget),
        formula=options.formula,
        method=options.method,
        released=options.released,
        gaussian=options.gaussian,
        unit=options.unit,
    )
    print(f"{options.path}: {ledger.line(entry)}")


def show(options: argparse.Namespace) -> None:
    """Print the report of a ledger, for ``dpstats ledger show``."""
    print(Ledger(options.path).report())


def export(options: argparse.Namespace) -> None:
    """Write all charges of a ledger to a file, for ``dpstats ledger export``."""
    report = Ledger(options.path).report()
    text = report.frame.to_csv() if options.format == "csv" else json.dumps(report.to_dict(), indent=1) + "\n"
    write(text, options.out, (f".{options.format}",))
