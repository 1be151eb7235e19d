"""The commands that use fits, which cost nothing: show, table, life, plot, compare, predict and forecast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpstats.cli import texts
from dpstats.cli.parser import FORMATS, Parser, add_csv_options, command

if TYPE_CHECKING:
    from argparse import _SubParsersAction

FIT = "a file of dpstats fit, or - for the standard input"


def _show(commands: _SubParsersAction[Parser]) -> None:
    show = command(commands, "show", "results.show", "print the table of a fit")
    show.add_argument("fit", type=Path, help=FIT)
    show.add_argument(
        "--units", nargs="+", metavar="NAME=NUMBER", help="of how many units coefficients are: balance=1000"
    )
    show.add_argument("--width", type=int, help="of the text in characters, from 40 to 1000")
    _add_table_options(show)


def _table(commands: _SubParsersAction[Parser]) -> None:
    does = "print whatever else a fit has: tests, ratios, lives, predictions, quantiles"
    table = command(commands, "table", "results.table", does, texts.TABLE)
    table.add_argument("fit", type=Path, help=FIT)
    table.add_argument("what", nargs="?", help="as in Python, such as wald_test; left out: what there is")
    _add_points(table)
    _add_arguments(table)
    _add_table_options(table)
    add_csv_options(table)


def _life(commands: _SubParsersAction[Parser]) -> None:
    does = "print the times by which fractions of new units fail, with limits"
    life = command(commands, "life", "results.life", does, texts.LIFE)
    life.add_argument("fit", type=Path, help=FIT)
    _add_points(life)
    life.add_argument(
        "--failed", type=float, nargs="+", metavar="P", help="failed fractions; default: 0.01 0.1 0.5"
    )
    _add_table_options(life)
    add_csv_options(life)


def _plot(commands: _SubParsersAction[Parser]) -> None:
    plot = command(commands, "plot", "results.plot", "draw a fit, or a curve", texts.PLOT)
    plot.add_argument("fit", type=Path, help=FIT)
    plot.add_argument(
        "kind", nargs="?", help="coef, life, reliability, hazard or ridge_path; default: what suits"
    )
    _add_points(plot)
    _add_arguments(plot)
    plot.add_argument("--level", type=float, help="of intervals and bands; default: 0.95")
    plot.add_argument("--style", help="of matplotlib, such as dpstats.paper")
    plot.add_argument("--out", type=Path, required=True, help="this new .png, .pdf or .svg file")
    add_csv_options(plot)


def _compare(commands: _SubParsersAction[Parser]) -> None:
    compare = command(commands, "compare", "results.compared", "print fits side by side")
    compare.add_argument("fits", type=Path, nargs="+", metavar="fit", help="files of dpstats fit")
    compare.add_argument(
        "--names", nargs="+", metavar="NAME", help="heads of their columns; default: (1) ..."
    )
    _add_table_options(compare)


def _add_points(command: Parser) -> None:
    command.add_argument(
        "--at",
        action="append",
        metavar="NAME=VALUE,...",
        help="a new unit, such as temp=30,maker=HGST; may stand several times",
    )
    command.add_argument("--new", type=Path, metavar="FILE", help="a table with a row for each new unit")
    command.add_argument(
        "--clip", action="store_true", default=None, help="move values to their public bounds"
    )


def _add_arguments(command: Parser) -> None:
    command.add_argument(
        "--with", dest="arguments", nargs="+", metavar="NAME=VALUE", help="arguments as in Python, see below"
    )


def _add_table_options(command: Parser) -> None:
    command.add_argument("--level", type=float, help="of intervals; default: 0.95")
    command.add_argument("--format", choices=tuple(FORMATS), default="text", help="default: %(default)s")
    command.add_argument("--out", type=Path, help="write this new file; default: the screen")


def _predict(commands: _SubParsersAction[Parser]) -> None:
    does = "predict for new units from a fit"
    predict = command(commands, "predict", "predict.run", does, texts.PREDICT)
    predict.add_argument("fit", type=Path, help=FIT)
    predict.add_argument("new", type=Path, help="a .csv or .parquet file with a row for each new unit")
    predict.add_argument(
        "--type",
        help="response (default), lp; of times to failure quantile (default with --p), median, survival, "
        "hazard or cumhaz",
    )
    predict.add_argument("--p", type=float, help="failed fraction of a quantile, between 0 and 1")
    predict.add_argument(
        "--times", type=float, nargs="+", metavar="TIME", help="of survival, hazard and cumhaz"
    )
    predict.add_argument(
        "--clip",
        action="store_true",
        help="move values to their public bounds; else it extrapolates",
    )
    predict.add_argument("--out", type=Path, help="write this new .csv file; default: the screen")
    add_csv_options(predict)


def _forecast(commands: _SubParsersAction[Parser]) -> None:
    does = "forecast the failures of a fleet from a fit of a time to failure"
    forecast = command(commands, "forecast", "forecast.run", does, texts.FORECAST)
    forecast.add_argument("fit", type=Path, help=FIT)
    forecast.add_argument(
        "fleet", type=Path, help="a .csv or .parquet file with a row for each unit, and its age"
    )
    forecast.add_argument(
        "--horizon",
        type=float,
        nargs="+",
        required=True,
        metavar="TIME",
        help="how far from now, or the ends of periods",
    )
    forecast.add_argument("--periods", type=int, default=12, help="of one horizon; default: %(default)s")
    forecast.add_argument("--age", default="age", metavar="COLUMN", help="of ages; default: %(default)s")
    forecast.add_argument("--units", metavar="COLUMN", help="how many units a row stands for; default: one")
    forecast.add_argument("--level", type=float, default=0.95, help="of limits; default: %(default)s")
    forecast.add_argument("--clip", action="store_true", help="move values to their public bounds")
    forecast.add_argument("--out", type=Path, help="write the numbers to this new .csv file, too")
    add_csv_options(forecast)


COMMANDS = (_show, _table, _life, _plot, _compare, _predict, _forecast)
