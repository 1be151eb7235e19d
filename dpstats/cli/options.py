"""The commands and their options; what a command needs is imported when it runs, so that help is quick.

The commands that use fits cost nothing: show, table, life, plot, compare, predict and forecast.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import dpstats
from dpstats._version import __version__
from dpstats.cli import texts
from dpstats.cli.parser import FORMATS, Parser, add_csv_options, add_running, command, group, later, place

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
    forecast = command(commands, "forecast", "predict.forecast", does, texts.FORECAST)
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

# of what is at home among the models, descriptions and public moments are no models to fit here
MODELS = tuple(
    name
    for name, (module, _) in dpstats._HOMES.items()
    if module == "dpstats.models" and name not in ("describe", "public_moments")
)
AUTO = "auto"
_DATA = (
    "a .csv or .tsv (also compressed), .parquet or .arrow file, a folder, a pattern, - for the standard "
    "input, or postgresql://..."
)


def parser() -> Parser:
    """The commands and their options."""
    top = Parser(
        prog="dpstats", description=texts.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"dpstats {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_describe, _fit, _plan, *COMMANDS, _ledger, _contributions, _schema, _demo):
        add(commands)
    return top


def _describe(commands: _SubParsersAction[Parser]) -> None:
    does = "print what is missing, means, quantiles and shares of all variables, privately"
    describe = command(commands, "describe", "fit.describe_table", does, texts.DESCRIBE)
    describe.add_argument("data", type=place, help=_DATA)
    describe.add_argument("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
    describe.add_argument("--budget", required=True, help='for example "approx(1, 1e-6)"')
    describe.add_argument("--columns", nargs="+", metavar="NAME", help="variables; default: all")
    describe.add_argument("--subset", metavar="CONDITION", help="which rows weigh, such as 'temp > 30'")
    describe.add_argument("--ledger", type=Path, help="charge the budget to this ledger")
    describe.add_argument("--force", action="store_true", help="even where noise hides nearly everything")
    describe.add_argument("--out", type=Path, help="keep the released numbers in this new .json file")
    describe.add_argument(
        "--suggest",
        type=Path,
        metavar="FILE",
        help="write a schema with tighter bounds to this new .toml or .json file",
    )
    add_running(describe)
    add_csv_options(describe)


def _fit(commands: _SubParsersAction[Parser]) -> None:
    does = "fit a model, spend its budget, and keep the result in a file"
    fit = command(commands, "fit", "fit.run", does, texts.FIT)
    fit.add_argument("formula", help="R's formula, in quotes")
    fit.add_argument("data", type=place, help=_DATA)
    _add_model_options(fit)
    fit.add_argument(
        "--public", type=Path, metavar="FILE", help="a table of public rows, or their moments (.json)"
    )
    fit.add_argument(
        "--method", help="default: auto; of the model: newton, gram, pmt, objective, output, functional"
    )
    fit.add_argument("--compat", choices=("paper",), help="follow the paper of the method")
    fit.add_argument("--release", nargs="+", metavar="WHAT", help="besides: loglik, and for survreg dist")
    fit.add_argument(
        "--robust", action="store_true", default=None, help="of a logistic regression: if the model is wrong"
    )
    fit.add_argument("--budget", required=True, help='for example "approx(1, 1e-6)"')
    fit.add_argument("--ledger", type=Path, help="charge the budget to this ledger")
    fit.add_argument(
        "--reuse", action="store_true", default=None, help="where the ledger paid for this fit, return that"
    )
    fit.add_argument(
        "--force", action="store_true", default=None, help="fit even where noise hides nearly everything"
    )
    fit.add_argument(
        "--out", type=Path, required=True, help="keep the fit in this new .json file, or - for the screen"
    )
    add_running(fit)
    add_csv_options(fit)


def _add_model_options(command: Parser) -> None:
    """Add the options that say which model it is; each is of some models."""
    command.add_argument("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
    command.add_argument("--model", choices=MODELS, default="survreg", help="default: %(default)s")
    command.add_argument(
        "--dist",
        help="of the time, for survreg: weibull (the default), exponential, loglogistic or lognormal; sev, "
        "logistic or gaussian",
    )
    command.add_argument("--known-scale", type=float, help="of survreg: sigma, where it is known")
    command.add_argument("--alpha", type=penalty, help="of ridge, which needs it: the penalty, or auto")
    command.add_argument(
        "--family",
        help="of glm, which needs it: binomial, poisson, negativebinomial, gamma or gaussian",
    )
    command.add_argument("--link", help="of a binomial glm: logit (the default), probit or cloglog")
    command.add_argument(
        "--exposure", metavar="EXPRESSION", help="of glm: what counts or amounts are proportional to"
    )
    command.add_argument(
        "--weights",
        metavar="EXPRESSION",
        help="of ols, ridge, logit and glm; of survreg and kaplan_meier how many units a row stands for",
    )
    command.add_argument(
        "--times",
        type=float,
        nargs="+",
        metavar="TIME",
        help="of kaplan_meier: where curves are wanted; of coxph: where the baseline hazard may change",
    )
    command.add_argument("--h", type=float, help="of svm: width of the rounding of its hinge")
    command.add_argument("--c", type=float, help="of svm, and of methods objective and output: the penalty")
    command.add_argument("--subset", metavar="CONDITION", help="which rows weigh, such as 'temp > 30'")


def penalty(text: str) -> float | str:
    """What ``--alpha`` takes."""
    return text if text == AUTO else float(text)


def _plan(commands: _SubParsersAction[Parser]) -> None:
    does = "say what a fit will be worth; no row is read and nothing is spent"
    plan = command(commands, "plan", "fit.plan_fit", does, texts.FIT_PLAN)
    plan.set_defaults(data=None, public=None)
    plan.add_argument("formula", help="R's formula, in quotes")
    _add_model_options(plan)
    plan.add_argument("--budget", required=True, help='of the fit to come, for example "approx(1, 1e-6)"')
    plan.add_argument("--n", type=int, required=True, help="its number of rows")
    known = plan.add_mutually_exclusive_group()
    known.add_argument("--known", nargs="+", metavar="WORD", help="of variables, see below")
    known.add_argument("--like", type=Path, metavar="FILE", help="a table of public rows")
    plan.add_argument("--coef", nargs="+", metavar="TERM=VALUE", help="coefficients; default: 0")
    plan.add_argument("--scale", type=float, help="sd of residuals; of a time to failure, R's scale")
    plan.add_argument("--events", type=float, help="share of failures, or of ones")
    plan.add_argument(
        "--inspections",
        type=float,
        nargs="+",
        help="of failures between two times: how far apart looks at a unit are, or all their times",
    )
    plan.add_argument(
        "--watches",
        choices=("even", "equal"),
        default="even",
        help="whether units enter service evenly (the default), or all are watched as long",
    )
    plan.add_argument("--power", nargs="+", metavar="TERM=VALUE", help="chance to find these effects")
    plan.add_argument("--half-width", nargs="+", metavar="TERM=VALUE", help="budget and rows for these")
    add_csv_options(plan)


def _ledger(commands: _SubParsersAction[Parser]) -> None:
    does = "keep a total budget for a data set"
    actions = group(commands, "ledger", does, "create, charge, show, export", texts.LEDGER)

    create = actions.add_parser("create", help="start a ledger; a file that is there is left alone")
    create.set_defaults(run=later("ledger.create"))
    create.add_argument("path", type=Path, help="a new file")
    create.add_argument("--total", required=True, help='most that may ever be spent, e.g. "approx(3, 1e-6)"')
    create.add_argument("--dataset", help="name of the data set; default: the file's name")

    charge = actions.add_parser("charge", help="write down a cost of something else than a fit")
    charge.set_defaults(run=later("ledger.charge"))
    charge.add_argument("path", type=Path, help="a ledger")
    charge.add_argument("--budget", required=True, help='the whole cost, e.g. "zcdp(0.1)"')
    charge.add_argument("--formula", required=True, metavar="TEXT", help="what it is for")
    charge.add_argument("--method", required=True, metavar="TEXT", help="what makes it private")
    charge.add_argument("--released", nargs="+", default=(), metavar="NAME", help="what will be released")
    charge.add_argument("--gaussian", action="store_true", help="by Gaussian noise alone, of the budget's mu")
    charge.add_argument("--unit", default="one row", help="who is protected; default: %(default)s")

    show = actions.add_parser("show", help="print what was spent, on what, and what is left")
    show.set_defaults(run=later("ledger.show"))
    show.add_argument("path", type=Path, help="a ledger")

    export = actions.add_parser("export", help="write all charges as JSON or CSV")
    export.set_defaults(run=later("ledger.export"))
    export.add_argument("path", type=Path, help="a ledger")
    export.add_argument("--format", choices=("json", "csv"), default="json", help="default: %(default)s")
    export.add_argument("--out", type=Path, help="write this new file; default: the screen")


def _contributions(commands: _SubParsersAction[Parser]) -> None:
    does = "plan a fit to which people send private records"
    plan = command(commands, "plan-contributions", "contributions.plan", does, texts.PLAN)
    plan.add_argument("formula", help="R's formula, in quotes")
    plan.add_argument("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
    plan.add_argument("--budget", required=True, help='of the published model, e.g. "approx(1, 1e-6)"')
    plan.add_argument("--contributors", type=int, required=True, help="with fewer, nothing is published")
    plan.add_argument("--honest", type=float, default=1.0, help="share of them that keep their noise secret")
    plan.add_argument("--method", choices=("statistics", "input"), default="statistics")
    plan.add_argument("--compat", choices=("paper",), help="of method input: the published constants")
    plan.add_argument("--ball", type=float, default=3.0, help="of method input: longest coefficients")
    plan.add_argument("--out", type=Path, required=True, help="write the plan to this new .json file")

    does = "make records private on your own machine"
    send = command(commands, "contribute", "contributions.contribute", does, texts.CONTRIBUTE)
    send.add_argument("records", type=Path, help="a .csv or .parquet file, one record a row")
    send.add_argument("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
    send.add_argument("--hash", help="refuse a plan that does not have this hash, or does not begin with it")
    send.add_argument("--out", type=Path, required=True, help="write messages to this new .parquet or .jsonl")
    add_csv_options(send)

    does = "fit a model from messages of contributors"
    fit = command(commands, "fit-contributions", "contributions.fit", does, texts.FIT_CONTRIBUTIONS)
    fit.add_argument("messages", type=Path, nargs="+", help=".parquet or .jsonl files")
    fit.add_argument("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
    fit.add_argument("--model", choices=("ols", "ridge", "logit"), default="ols", help="default: %(default)s")
    fit.add_argument("--alpha", type=float, help="of ridge, which needs it: the penalty")
    fit.add_argument("--out", type=Path, required=True, help="keep the fit in this new .json file")


def _schema(commands: _SubParsersAction[Parser]) -> None:
    does = "say what is public about each variable"
    actions = group(commands, "schema", does, "new, check", texts.SCHEMA)
    does = "write a schema to fill in, from the names of the columns of a table; no value is read"
    new = command(actions, "new", "schema.new", does)
    new.add_argument("data", type=Path, help="a table; types are known of .parquet and .arrow files")
    new.add_argument(
        "--peek", action="store_true", help="tell numbers from texts by 100 records of a .csv. NOT PRIVATE"
    )
    new.set_defaults(query=None)
    new.add_argument("--out", type=Path, help="write this new .toml file; default: the screen")
    add_csv_options(new)
    check = command(actions, "check", "schema.check", "check a schema, and the names of a table against it")
    check.add_argument("schema", type=Path, help="a .toml or .json file")
    check.add_argument("data", type=place, nargs="?", help="a table; no value is read without --values")
    check.add_argument("--query", metavar="SELECT", help="of postgresql://..., which needs it: the rows")
    check.add_argument(
        "--values", action="store_true", help="say which cells fits cannot use, and why. NOT PRIVATE"
    )
    check.add_argument("--formula", help="with --values: look at what a fit of it reads, as it reads it")
    add_csv_options(check)


def _demo(commands: _SubParsersAction[Parser]) -> None:
    demo = command(commands, "demo", "demo.run", "fit real data on 52,422 hard drives and print the table")
    demo.add_argument("--out", type=Path, help="keep the fit in this new .json file")
