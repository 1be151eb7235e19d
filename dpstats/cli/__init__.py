"""The command line: ``dpstats fit | show | predict | ledger | schema check | demo``, and contributions."""

from __future__ import annotations

import argparse
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd

from dpstats import datasets
from dpstats._version import __version__
from dpstats.budget import approx, parse_budget
from dpstats.cli import contributions, ledger, models
from dpstats.errors import DataError, NotReleased, SpecificationError
from dpstats.ledger import Ledger
from dpstats.models.survreg import survreg
from dpstats.results import Fit, load
from dpstats.rows import column_names
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

PREDICT = """\
example:
  dpstats predict drives.fit.json new.csv --type quantile --p 0.1 --out b10.csv

adds to each row of new.csv the time by which a tenth of such units has failed, with a 95 % interval.
--p is the failed fraction. --type response adds the mean, --type lp the linear predictor.
Predictions are computed from the released numbers and cost nothing."""

NEXT = """
What to try next
  {:34} {}
  dpstats fit --help                 the same with your own data
  dpstats schema check drives.toml   your own schema, before any budget is spent"""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


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
    options = parser().parse_args(arguments)
    try:
        with plain_warnings():
            options.run(options)
    except (SpecificationError, NotReleased) as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


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
    fit.add_argument("--out", type=Path, required=True, help="keep the fit in this new file")

    show = command("show", run_show, "print the table of a fit; it costs nothing")
    show.add_argument("fit", type=Path, help="a file written by dpstats fit")

    predict = command("predict", run_predict, "predict for new units from a fit", PREDICT)
    predict.add_argument("fit", type=Path, help="a file written by dpstats fit")
    predict.add_argument("new", type=Path, help="a .csv or .parquet file with a row for each new unit")
    predict.add_argument("--type", help="quantile (default for times to failure), response (for others), lp")
    predict.add_argument("--p", type=float, help="failed fraction of a quantile, between 0 and 1")
    predict.add_argument("--out", type=Path, help="write here; default: the screen")

    ledger.add(commands)
    contributions.add(commands, reserved)

    schema = command("schema", run_schema, "check a schema, and the column names of a table against it")
    schema.add_argument("action", choices=["check"])
    schema.add_argument("schema", type=Path, help="a .toml or .json file")
    schema.add_argument("data", type=Path, nargs="?", help="a table; only its column names are read")

    demo = command("demo", run_demo, "fit real data on 52,422 hard drives and print the table")
    demo.add_argument("--out", type=Path, help="keep the fit in this new file")
    return top


def run_fit(options: argparse.Namespace) -> None:
    """Everything that can be wrong is found before the budget is spent; the file is reserved first."""
    budget = parse_budget(options.budget)
    schema = Schema.load(options.schema)
    model = models.described(options, schema)
    book = Ledger(options.ledger) if options.ledger else None
    with reserved(options.out):
        fit = model.fit(budget, ledger=book)
        fit.save(options.out)
    print(fit.summary())


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Create `path` before the budget is spent: a fit that cannot be kept must cost nothing."""
    if path.exists():
        raise DataError(f"{path} exists; it may hold something that was paid for. Choose another name")
    path.touch()
    try:
        yield
    finally:
        if path.stat().st_size == 0:
            path.unlink()


def run_show(options: argparse.Namespace) -> None:
    print(load(options.fit).summary())


def run_predict(options: argparse.Namespace) -> None:
    new = read_public(options.new).reset_index(drop=True)
    table = new.assign(**predicted(load(options.fit), new, options.type, options.p))
    if options.out is None:
        print(table.to_csv(index=False), end="")
    else:
        table.to_csv(options.out, index=False)


def predicted(fit: Fit, new: pd.DataFrame, kind: str | None, p: float | None) -> dict[str, np.ndarray]:
    """New columns: the prediction, with its limits on the scale of the response."""
    survival = fit.record.is_survival
    kind = kind or ("quantile" if survival else "response")
    if kind == "quantile" and survival:
        if p is None:
            raise SpecificationError("a quantile needs --p, the failed fraction: --p 0.1 for the B10 life")
        life = fit.life(new, failed=[p]).frame
        life = life[life["quantity"] == life["quantity"].iloc[0]]  # it has eta and the mean, too
        low, high = life[["conf_low", "conf_high"]].to_numpy().T
        return {kind: life["estimate"].to_numpy(), "conf_low": low, "conf_high": high}
    values = fit.predict(new, type=kind)
    if kind != "response":
        return {kind: values.to_numpy()}
    low, high = fit.get_prediction(new).conf_int().T
    return {kind: values.to_numpy(), "conf_low": low, "conf_high": high}


def run_schema(options: argparse.Namespace) -> None:
    schema = Schema.load(options.schema)
    unit = schema.privacy_unit.column
    declared = [*schema, unit] if unit else list(schema)
    present = column_names(options.data, schema) if options.data else declared
    print(schema)
    if options.data:
        print(f"\n{options.data} has every declared column. No value was read.")
    unused = [name for name in present if name not in declared]
    if unused:
        print(f"Not declared, so not usable in a formula: {', '.join(unused)}")


def run_demo(options: argparse.Namespace) -> None:
    drives = datasets.load("hdfail")
    print(textwrap.fill(f"{drives.description} Source: {drives.source}.", 79), end="\n\n")
    model = survreg(DEMO, drives.data, drives.schema, dist="weibull")
    with reserved(options.out) if options.out else nullcontext():
        fit = model.fit(approx(epsilon=1, delta=1e-6))
        if options.out:
            fit.save(options.out)
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


def read_public(path: Path) -> pd.DataFrame:
    """A table of new units, which is public; errors may say anything."""
    try:
        is_parquet = path.suffix.lower() in (".parquet", ".pq")
        return pd.read_parquet(path) if is_parquet else pd.read_csv(path)
    except (ValueError, ImportError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
