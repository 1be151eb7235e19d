"""The commands and their options; what a command needs is imported when it runs, so that help is quick.

The commands that use fits cost nothing: show, table, life, plot, compare, predict and forecast.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dpstats
from dpstats._version import __version__
from dpstats.cli import texts
from dpstats.cli.parser import FORMATS, Command, Either, Group, Option, Parser, Section, place

# of what is at home among the models, descriptions and public moments are no models to fit here
MODELS = tuple(
    name
    for name, (module, _) in dpstats._HOMES.items()
    if module == "dpstats.models" and name not in ("describe", "public_moments")
)
AUTO = "auto"


def penalty(text: str) -> float | str:
    """What ``--alpha`` takes."""
    return text if text == AUTO else float(text)


# What several commands take.
_FORMULA = Option("formula", help="R's formula, in quotes")
_DATA = Option(
    "data",
    type=place,
    help="a .csv or .tsv (also compressed), .parquet or .arrow file, a folder, a pattern, - for the standard "
    "input, or postgresql://...",
)
_SCHEMA = Option("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
_BUDGET = Option("--budget", required=True, help='for example "approx(1, 1e-6)"')
_LEDGER = Option("--ledger", type=Path, help="charge the budget to this ledger")
_SUBSET = Option("--subset", metavar="CONDITION", help="which rows weigh, such as 'temp > 30'")
_QUERY = Option("--query", metavar="SELECT", help="of postgresql://..., which needs it: the rows")
_PLAN = Option("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
_FIT = Option("fit", type=Path, help="a file of dpstats fit, or - for the standard input")
_RUNNING = (  # of tables that are elsewhere, or too large for one process
    _QUERY,
    Option("--workers", type=int, default=1, help="processes that read a large table; default: %(default)s"),
    Option(
        "--cluster", metavar="ADDRESS", help="of a Dask scheduler whose workers read it: tcp://scheduler:8786"
    ),
)
_CSV = Section(  # of :func:`dpstats.read_csv`; without effect on Parquet and Arrow files
    "how CSV files are written",
    Option(
        "--sep",
        metavar="CHARACTER",
        help="between fields, e.g. ';' or tab; default: a comma, or a tab in .tsv files",
    ),
    Option("--decimal", metavar="MARK", help="of numbers, . or ,; default: ."),
    Option("--thousands", metavar="MARK", help="between groups of three digits; default: none"),
    Option("--encoding", metavar="NAME", help="such as latin-1; default: utf-8"),
)
_MODEL = (  # which model it is; each of these is of some models
    _SCHEMA,
    Option("--model", choices=MODELS, default="survreg", help="default: %(default)s"),
    Option(
        "--dist",
        help="of the time, for survreg: weibull (the default), exponential, loglogistic or lognormal; sev, "
        "logistic or gaussian",
    ),
    Option("--known-scale", type=float, help="of survreg: sigma, where it is known"),
    Option("--alpha", type=penalty, help="of ridge, which needs it: the penalty, or auto"),
    Option(
        "--family",
        help="of glm, which needs it: binomial, poisson, negativebinomial, gamma or gaussian",
    ),
    Option("--link", help="of a binomial glm: logit (the default), probit or cloglog"),
    Option("--exposure", metavar="EXPRESSION", help="of glm: what counts or amounts are proportional to"),
    Option(
        "--weights",
        metavar="EXPRESSION",
        help="of ols, ridge, logit and glm; of survreg and kaplan_meier how many units a row stands for",
    ),
    Option(
        "--times",
        type=float,
        nargs="+",
        metavar="TIME",
        help="of kaplan_meier: where curves are wanted; of coxph: where the baseline hazard may change",
    ),
    Option("--h", type=float, help="of svm: width of the rounding of its hinge"),
    Option("--c", type=float, help="of svm, and of methods objective and output: the penalty"),
    _SUBSET,
)
_POINTS = (
    Option(
        "--at",
        action="append",
        metavar="NAME=VALUE,...",
        help="a new unit, such as temp=30,maker=HGST; may stand several times",
    ),
    Option("--new", type=Path, metavar="FILE", help="a table with a row for each new unit"),
    Option("--clip", action="store_true", default=None, help="move values to their public bounds"),
)
_ARGUMENTS = Option(
    "--with", dest="arguments", nargs="+", metavar="NAME=VALUE", help="arguments as in Python, see below"
)
_TABLE = (
    Option("--level", type=float, help="of intervals; default: 0.95"),
    Option("--format", choices=tuple(FORMATS), default="text", help="default: %(default)s"),
    Option("--out", type=Path, help="write this new file; default: the screen"),
)

_SPENDING = (
    Command(
        "describe",
        "fit.describe_table",
        "print what is missing, means, quantiles and shares of all variables, privately",
        texts.DESCRIBE,
        _DATA,
        _SCHEMA,
        _BUDGET,
        Option("--columns", nargs="+", metavar="NAME", help="variables; default: all"),
        _SUBSET,
        _LEDGER,
        Option("--force", action="store_true", help="even where noise hides nearly everything"),
        Option("--out", type=Path, help="keep the released numbers in this new .json file"),
        Option(
            "--suggest",
            type=Path,
            metavar="FILE",
            help="write a schema with tighter bounds to this new .toml or .json file",
        ),
        *_RUNNING,
        _CSV,
    ),
    Command(
        "fit",
        "fit.run",
        "fit a model, spend its budget, and keep the result in a file",
        texts.FIT,
        _FORMULA,
        _DATA,
        *_MODEL,
        Option(
            "--public", type=Path, metavar="FILE", help="a table of public rows, or their moments (.json)"
        ),
        Option(
            "--method", help="default: auto; of the model: newton, gram, pmt, objective, output, functional"
        ),
        Option("--compat", choices=("paper",), help="follow the paper of the method"),
        Option("--release", nargs="+", metavar="WHAT", help="besides: loglik, and for survreg dist"),
        Option(
            "--robust",
            action="store_true",
            default=None,
            help="of a logistic regression: if the model is wrong",
        ),
        _BUDGET,
        _LEDGER,
        Option(
            "--reuse",
            action="store_true",
            default=None,
            help="where the ledger paid for this fit, return that",
        ),
        Option(
            "--force", action="store_true", default=None, help="fit even where noise hides nearly everything"
        ),
        Option(
            "--out", type=Path, required=True, help="keep the fit in this new .json file, or - for the screen"
        ),
        *_RUNNING,
        _CSV,
    ),
    Command(
        "plan",
        "fit.plan_fit",
        "say what a fit will be worth; no row is read and nothing is spent",
        texts.FIT_PLAN,
        _FORMULA,
        *_MODEL,
        Option("--budget", required=True, help='of the fit to come, for example "approx(1, 1e-6)"'),
        Option("--n", type=int, required=True, help="its number of rows"),
        Either(
            Option("--known", nargs="+", metavar="WORD", help="of variables, see below"),
            Option("--like", type=Path, metavar="FILE", help="a table of public rows"),
        ),
        Option("--coef", nargs="+", metavar="TERM=VALUE", help="coefficients; default: 0"),
        Option("--scale", type=float, help="sd of residuals; of a time to failure, R's scale"),
        Option("--events", type=float, help="share of failures, or of ones"),
        Option(
            "--inspections",
            type=float,
            nargs="+",
            help="of failures between two times: how far apart looks at a unit are, or all their times",
        ),
        Option(
            "--watches",
            choices=("even", "equal"),
            default="even",
            help="whether units enter service evenly (the default), or all are watched as long",
        ),
        Option("--power", nargs="+", metavar="TERM=VALUE", help="chance to find these effects"),
        Option("--half-width", nargs="+", metavar="TERM=VALUE", help="budget and rows for these"),
        _CSV,
        data=None,
        public=None,
    ),
)
_USING = (
    Command(
        "show",
        "results.show",
        "print the table of a fit",
        "",
        _FIT,
        Option(
            "--units",
            nargs="+",
            metavar="NAME=NUMBER",
            help="of how many units coefficients are: balance=1000",
        ),
        Option("--width", type=int, help="of the text in characters, from 40 to 1000"),
        *_TABLE,
    ),
    Command(
        "table",
        "results.table",
        "print whatever else a fit has: tests, ratios, lives, predictions, quantiles",
        texts.TABLE,
        _FIT,
        Option("what", nargs="?", help="as in Python, such as wald_test; left out: what there is"),
        *_POINTS,
        _ARGUMENTS,
        *_TABLE,
        _CSV,
    ),
    Command(
        "life",
        "results.life",
        "print the times by which fractions of new units fail, with limits",
        texts.LIFE,
        _FIT,
        *_POINTS,
        Option(
            "--failed", type=float, nargs="+", metavar="P", help="failed fractions; default: 0.01 0.1 0.5"
        ),
        *_TABLE,
        _CSV,
    ),
    Command(
        "plot",
        "results.plot",
        "draw a fit, or a curve",
        texts.PLOT,
        _FIT,
        Option("kind", nargs="?", help="coef, life, reliability, hazard or ridge_path; default: what suits"),
        *_POINTS,
        _ARGUMENTS,
        Option("--level", type=float, help="of intervals and bands; default: 0.95"),
        Option("--style", help="of matplotlib, such as dpstats.paper"),
        Option("--out", type=Path, required=True, help="this new .png, .pdf or .svg file"),
        _CSV,
    ),
    Command(
        "compare",
        "results.compared",
        "print fits side by side",
        "",
        Option("fits", type=Path, nargs="+", metavar="fit", help="files of dpstats fit"),
        Option("--names", nargs="+", metavar="NAME", help="heads of their columns; default: (1) ..."),
        *_TABLE,
    ),
    Command(
        "predict",
        "predict.run",
        "predict for new units from a fit",
        texts.PREDICT,
        _FIT,
        Option("new", type=Path, help="a .csv or .parquet file with a row for each new unit"),
        Option(
            "--type",
            help="response (default), lp; of times to failure quantile (default with --p), median, survival, "
            "hazard or cumhaz",
        ),
        Option("--p", type=float, help="failed fraction of a quantile, between 0 and 1"),
        Option("--times", type=float, nargs="+", metavar="TIME", help="of survival, hazard and cumhaz"),
        Option(
            "--clip",
            action="store_true",
            help="move values to their public bounds; else it extrapolates",
        ),
        Option("--out", type=Path, help="write this new .csv file; default: the screen"),
        _CSV,
    ),
    Command(
        "forecast",
        "predict.forecast",
        "forecast the failures of a fleet from a fit of a time to failure",
        texts.FORECAST,
        _FIT,
        Option("fleet", type=Path, help="a .csv or .parquet file with a row for each unit, and its age"),
        Option(
            "--horizon",
            type=float,
            nargs="+",
            required=True,
            metavar="TIME",
            help="how far from now, or the ends of periods",
        ),
        Option("--periods", type=int, default=12, help="of one horizon; default: %(default)s"),
        Option("--age", default="age", metavar="COLUMN", help="of ages; default: %(default)s"),
        Option("--units", metavar="COLUMN", help="how many units a row stands for; default: one"),
        Option("--level", type=float, default=0.95, help="of limits; default: %(default)s"),
        Option("--clip", action="store_true", help="move values to their public bounds"),
        Option("--out", type=Path, help="write the numbers to this new .csv file, too"),
        _CSV,
    ),
)
_OF_LEDGERS = Group(
    "ledger",
    "keep a total budget for a data set",
    texts.LEDGER,
    Command(
        "create",
        "ledger.create",
        "start a ledger; a file that is there is left alone",
        "",
        Option("path", type=Path, help="a new file"),
        Option("--total", required=True, help='most that may ever be spent, e.g. "approx(3, 1e-6)"'),
        Option("--dataset", help="name of the data set; default: the file's name"),
    ),
    Command(
        "charge",
        "ledger.charge",
        "write down a cost of something else than a fit",
        "",
        Option("path", type=Path, help="a ledger"),
        Option("--budget", required=True, help='the whole cost, e.g. "zcdp(0.1)"'),
        Option("--formula", required=True, metavar="TEXT", help="what it is for"),
        Option("--method", required=True, metavar="TEXT", help="what makes it private"),
        Option("--released", nargs="+", default=(), metavar="NAME", help="what will be released"),
        Option("--gaussian", action="store_true", help="by Gaussian noise alone, of the budget's mu"),
        Option("--unit", default="one row", help="who is protected; default: %(default)s"),
    ),
    Command(
        "show",
        "ledger.show",
        "print what was spent, on what, and what is left",
        "",
        Option("path", type=Path, help="a ledger"),
    ),
    Command(
        "export",
        "ledger.export",
        "write all charges as JSON or CSV",
        "",
        Option("path", type=Path, help="a ledger"),
        Option("--format", choices=("json", "csv"), default="json", help="default: %(default)s"),
        Option("--out", type=Path, help="write this new file; default: the screen"),
    ),
)
_OF_CONTRIBUTIONS = (
    Command(
        "plan-contributions",
        "contributions.plan",
        "plan a fit to which people send private records",
        texts.PLAN,
        _FORMULA,
        _SCHEMA,
        Option("--budget", required=True, help='of the published model, e.g. "approx(1, 1e-6)"'),
        Option("--contributors", type=int, required=True, help="with fewer, nothing is published"),
        Option("--honest", type=float, default=1.0, help="share of them that keep their noise secret"),
        Option("--method", choices=("statistics", "input"), default="statistics"),
        Option("--compat", choices=("paper",), help="of method input: the published constants"),
        Option("--ball", type=float, default=3.0, help="of method input: longest coefficients"),
        Option("--out", type=Path, required=True, help="write the plan to this new .json file"),
    ),
    Command(
        "contribute",
        "contributions.contribute",
        "make records private on your own machine",
        texts.CONTRIBUTE,
        Option("records", type=Path, help="a .csv or .parquet file, one record a row"),
        _PLAN,
        Option("--hash", help="refuse a plan that does not have this hash, or does not begin with it"),
        Option("--out", type=Path, required=True, help="write messages to this new .parquet or .jsonl"),
        _CSV,
    ),
    Command(
        "fit-contributions",
        "contributions.fit",
        "fit a model from messages of contributors",
        texts.FIT_CONTRIBUTIONS,
        Option("messages", type=Path, nargs="+", help=".parquet or .jsonl files"),
        _PLAN,
        Option("--model", choices=("ols", "ridge", "logit"), default="ols", help="default: %(default)s"),
        Option("--alpha", type=float, help="of ridge, which needs it: the penalty"),
        Option("--out", type=Path, required=True, help="keep the fit in this new .json file"),
    ),
)
_OF_SCHEMAS = Group(
    "schema",
    "say what is public about each variable",
    texts.SCHEMA,
    Command(
        "new",
        "schema.new",
        "write a schema to fill in, from the names of the columns of a table; no value is read",
        "",
        Option("data", type=Path, help="a table; types are known of .parquet and .arrow files"),
        Option("--out", type=Path, help="write this new .toml file; default: the screen"),
        _CSV,
        query=None,
    ),
    Command(
        "check",
        "schema.check",
        "check a schema, and the names of a table against it",
        "",
        Option("schema", type=Path, help="a .toml or .json file, or a plan of contributions"),
        Option("data", type=place, nargs="?", help="a table; no value is read without --values"),
        _QUERY,
        Option("--values", action="store_true", help="say which cells fits cannot use, and why. NOT PRIVATE"),
        Option("--formula", help="with --values: look at what a fit of it reads, as it reads it"),
        _CSV,
    ),
)
_DEMO = Command(
    "demo",
    "demo.run",
    "fit real data on 52,422 hard drives and print the table",
    "",
    Option("--out", type=Path, help="keep the fit in this new .json file"),
)


def parser() -> Parser:
    """The commands and their options."""
    top = Parser(
        prog="dpstats", description=texts.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"dpstats {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for each in (*_SPENDING, *_USING, _OF_LEDGERS, *_OF_CONTRIBUTIONS, _OF_SCHEMAS, _DEMO):
        each.add(commands)
    return top
