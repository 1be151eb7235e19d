"""The command line: ``dpstats fit | show | predict | ledger | schema check | demo``, and contributions."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import pandas as pd

from dpstats import datasets
from dpstats._version import __version__
from dpstats.budget import approx, parse_budget
from dpstats.cli import contributions, ledger, models, predict
from dpstats.cli.output import JSON, new_file, save
from dpstats.cli.predict import predicted
from dpstats.cli.tables import add_csv_options, table
from dpstats.errors import NotReleased, SpecificationError
from dpstats.ledger import Ledger
from dpstats.models.survreg import survreg
from dpstats.results import load
from dpstats.rows import CsvFile, column_names, open_rows
from dpstats.schema import Schema

DEMO = "Surv(time, status) ~ temp + rsc + rer + psc"
DEMO_DRIVES = {
    "at 25 C without warnings": {"temp": 25, "rsc": 0, "rer": 0, "psc": 0},
    "at 25 C with reallocated sectors": {"temp": 25, "rsc": 1, "rer": 0, "psc": 0},
}

ABOUT = """\
Differentially private regression from the command line.

  1. Write down what everyone may know about each variable:   drives.toml
       time   = {kind = "bounded", lower = 1, upper = 4000, unit = "days"}
       failed = {kind = "event", failed = 1, censored = 0}
       temp   = {kind = "bounded", lower = 10, upper = 50, unit = "C"}
  2. Check it; no value is read:
       dpstats schema check drives.toml drives.csv
  3. Fit. This spends the budget, once for each call:
       dpstats fit "Surv(time, failed) ~ temp" drives.csv --schema drives.toml --budget "approx(1, 1e-6)" \\
               --out drives.fit.json
  4. Use the result as often as you like; it holds released numbers only:
       dpstats show drives.fit.json
       dpstats predict drives.fit.json new.csv --type quantile --p 0.1

To see it work first: dpstats demo
If nobody may hold the records: dpstats plan-contributions --help"""

FIT = """\
example:
  dpstats fit "Surv(time, failed) ~ temp + maker" drives.parquet --schema drives.toml --model survreg \\
          --dist weibull --budget "approx(1, 1e-6)" --out drives.fit.json
  dpstats fit "power ~ temp + np.log(load)" plant.csv --schema plant.toml --model ridge --alpha 0.1 \\
          --public last_year.csv --budget "approx(1, 1e-6)" --out plant.fit.json

budgets:
  approx(EPSILON, DELTA)   for example approx(1, 1e-6); delta well below 1 / number of rows
  zcdp(RHO)                for example zcdp(0.1)
  gdp(MU)                  for example gdp(0.25)
  pure(EPSILON)            for example pure(1)

Each call spends its budget. With --ledger the cost is written down first, and a fit that would exceed the
total of the data set is refused: see dpstats ledger --help."""

NEXT = """
What to try next
  {:34} {}
  dpstats fit --help                 the same with your own data
  dpstats schema check drives.toml   your own schema, before any budget is spent"""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        sys.stdout.flush()  # of a help text
        super().exit(status, message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; default ``sys.argv[1:]``.

    Returns
    -------
    int
        0, or 2 after one line on standard error about what the user has to change.
    """
    if any("\0" in word for word in arguments or ()):
        return refuse("no word of a command can hold a null character")
    try:
        options = parser().parse_args(arguments)
        with plain_warnings():
            options.run(options)
        sys.stdout.flush()  # now, while a reader who has left can be told from a mistake
    except BrokenPipeError:
        leave_quietly()
    except (SpecificationError, NotReleased) as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


def leave_quietly() -> None:
    """Who reads the output has seen enough, as ``head`` has: what is left of it goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show our own warnings as one line each; those of numpy and others may depend on values."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"dpstats: note: {message}", file=sys.stderr)


def refuse(message: str) -> int:
    print("dpstats: " + " ".join(message.split()), file=sys.stderr)
    return 2


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = Parser(prog="dpstats", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"dpstats {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], None], does: str, more: str = "") -> Parser:
        made: Parser = commands.add_parser(
            name,
            help=does,
            description=does[0].upper() + does[1:] + ".",
            epilog=more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run)
        return made

    fit = command("fit", run_fit, "fit a model, spend its budget, and keep the result in a file", FIT)
    fit.add_argument("formula", help="R's formula, in quotes")
    fit.add_argument("data", type=Path, help="a .csv or .tsv (also compressed), .parquet or .arrow file")
    fit.add_argument("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
    models.add_options(fit)
    fit.add_argument("--budget", required=True, help='for example "approx(1, 1e-6)"')
    fit.add_argument("--ledger", type=Path, help="charge the budget to this ledger")
    fit.add_argument("--out", type=Path, required=True, help="keep the fit in this new .json file")
    add_csv_options(fit)

    show = command("show", run_show, "print the table of a fit; it costs nothing")
    show.add_argument("fit", type=Path, help="a file written by dpstats fit")

    predict.add(commands)
    ledger.add(commands)
    contributions.add(commands)

    schema = command("schema", run_schema, "check a schema, and the column names of a table against it")
    schema.add_argument("action", choices=["check"])
    schema.add_argument("schema", type=Path, help="a .toml or .json file")
    schema.add_argument("data", type=Path, nargs="?", help="a table; no value of it is read")
    add_csv_options(schema)

    demo = command("demo", run_demo, "fit real data on 52,422 hard drives and print the table")
    demo.add_argument("--out", type=Path, help="keep the fit in this new .json file")
    return top


def run_fit(options: argparse.Namespace) -> None:
    """Everything that can be wrong is found before the budget is spent; the file is reserved first."""
    budget = parse_budget(options.budget)
    schema = Schema.load(options.schema)
    model = models.described(options, schema)
    book = Ledger(options.ledger) if options.ledger else None
    with new_file(options.out, JSON):
        fit = model.fit(budget, ledger=book)
        save(fit, options.out)
    print(fit.summary())


def run_show(options: argparse.Namespace) -> None:
    print(load(options.fit).summary())


def run_schema(options: argparse.Namespace) -> None:
    """A header is refused where a fit refuses it, by the same code."""
    schema = Schema.load(options.schema)
    unused = undeclared(table(options.data, options), schema) if options.data else []
    print(schema)
    if options.data:
        print(f"\n{options.data} has every declared column. No value was read.")
    if unused:
        print(f"Not declared, so not usable in a formula: {', '.join(unused)}")


def undeclared(data: CsvFile | Path, schema: Schema) -> list[str]:
    """The columns of a table that suits the schema, without those that are declared.

    Raises
    ------
    DataError
        If a fit that reads all declared variables would refuse the table's header.
    """
    open_rows(data, schema, list(schema))
    present = data.names if isinstance(data, CsvFile) else column_names(data)
    return [name for name in present if name not in schema and name != schema.privacy_unit.column]


def run_demo(options: argparse.Namespace) -> None:
    drives = datasets.load("hdfail")
    model = survreg(DEMO, drives.data, drives.schema, dist="weibull")
    with new_file(options.out, JSON) if options.out else nullcontext():
        print(textwrap.fill(f"{drives.description} Source: {drives.source}.", 79), end="\n\n")
        fit = model.fit(approx(epsilon=1, delta=1e-6))
        if options.out:
            save(fit, options.out)
    print(fit.summary())
    print("\nB10 life, by which a tenth has failed, in days of power-on time")
    for words, new in DEMO_DRIVES.items():
        columns = predicted(fit, pd.DataFrame([new]), "quantile", 0.1)
        days, low, high = (float(column[0]) for column in columns.values())
        print(f"  {words:36}{days:8,.0f}  [{low:,.0f}, {high:,.0f}]")
    first = ("dpstats demo --out demo.fit.json", "keep the fit in a file")
    if options.out:
        first = (f"dpstats show {options.out}", "this table again, at no cost")
    print(NEXT.format(*first))
