"""The commands and their options; what a command needs is imported when it runs, so that help is quick.

The commands that use fits cost nothing: show, table, life, plot, compare, predict and forecast.
"""

import argparse
from pathlib import Path

import dpstats
from dpstats._version import __version__
from dpstats.cli import texts
from dpstats.cli.parser import FORMATS, Numbers, Parser, command, either, group, option, place, section

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
_FORMULA = option("formula", help="R's formula, in quotes")
_DATA = option(
    "data",
    type=place,
    help="a .csv or .tsv (also compressed), .parquet or .arrow file, a folder, a pattern, - for the standard "
    "input, or postgresql://...",
)
_SCHEMA = option("--schema", type=Path, required=True, help="what is public: a .toml or .json file")
_BUDGET = option("--budget", required=True, help='for example "approx(1, 1e-6)"')
_LEDGER = option("--ledger", type=Path, help="charge the budget to this ledger")
_CHARGED_BY = option("--charged-by", metavar="NAME", help="who charges the ledger, as its report shows it")
_REUSE = option(
    "--reuse",
    metavar="VERSION",
    nargs="?",
    const=True,
    help="where the ledger paid for the same, return that; of the same version of the data, such as 2026-Q1",
)
_EXPOSURE = option(
    "--exposure", metavar="EXPRESSION", help="of glm: what counts or amounts are proportional to"
)
_WEIGHTS = option(
    "--weights",
    metavar="EXPRESSION",
    help="of ols, ridge, logit and glm; of survreg and kaplan_meier how many units a row stands for",
)
_SUBSET = option("--subset", metavar="CONDITION", help="which rows weigh, such as 'temp > 30'")
_QUERY = option("--query", metavar="SELECT", help="of postgresql://..., which needs it: the rows")
_PLAN = option("--plan", type=Path, required=True, help="a file of dpstats plan-contributions")
_FIT = option("fit", type=Path, help="a file of dpstats fit, or - for the standard input")
_UNITS = option(
    "--units", nargs="+", metavar="NAME=NUMBER", help="of how many units coefficients are: balance=1000"
)
_RUNNING = (  # of tables that are elsewhere, or too large for one process
    _QUERY,
    option("--workers", type=int, default=1, help="processes that read a large table; default: %(default)s"),
    option(
        "--cluster", metavar="ADDRESS", help="of a Dask scheduler whose workers read it: tcp://scheduler:8786"
    ),
)
_CSV = section(  # of :func:`dpstats.read_csv`; without effect on Parquet and Arrow files
    "how CSV files are written",
    option(
        "--sep",
        metavar="CHARACTER",
        help="between fields, e.g. ';' or tab; default: a comma, or a tab in .tsv files",
    ),
    option("--decimal", metavar="MARK", help="of numbers, . or ,; default: ."),
    option("--thousands", metavar="MARK", help="between groups of three digits; default: none"),
    option("--encoding", metavar="NAME", help="such as latin-1; default: utf-8"),
)
_ANY, _PLANNED = (
    option("--model", choices=each, default="survreg", help="default: %(default)s")
    for each in (MODELS, tuple(name for name in MODELS if name not in ("kaplan_meier", "svm")))
)
_MODEL = (  # each of these is of some models
    _SCHEMA,
    option(
        "--dist",
        help="of the time, for survreg: weibull (the default), exponential, loglogistic or lognormal; sev, "
        "logistic or gaussian",
    ),
    option("--known-scale", type=float, help="of survreg: sigma, where it is known"),
    option("--alpha", type=penalty, help="of ridge, which needs it: the penalty, or auto"),
    option(
        "--family",
        help="of glm, which needs it: binomial, poisson, negativebinomial, gamma or gaussian",
    ),
    option("--link", help="of a binomial glm: logit (the default), probit or cloglog"),
    _EXPOSURE,
    _WEIGHTS,
    option(
        "--times",
        action=Numbers,
        nargs="+",
        metavar="TIME",
        help="of kaplan_meier: where curves are wanted; of coxph: where the baseline hazard may change",
    ),
    _SUBSET,
)
_POINTS = (
    option(
        "--at",
        action="append",
        metavar="NAME=VALUE,...",
        help="a new unit, such as temp=30,maker=HGST; may stand several times",
    ),
    option("--new", type=Path, metavar="FILE", help="a table with a row for each new unit"),
    option("--clip", action="store_true", default=None, help="move values to their public bounds"),
)
_ARGUMENTS = option(
    "--with", dest="arguments", nargs="+", metavar="NAME=VALUE", help="arguments as in Python, see below"
)
_TABLE = (
    option("--level", type=float, help="of intervals; default: 0.95"),
    option("--format", choices=tuple(FORMATS), help="default: as the name of --out ends, else text"),
    option("--out", type=Path, help="write this new file; default: the screen"),
)

_SPENDING = (
    command(
        "describe",
        "fit.describe_table",
        "print what is missing, means, quantiles and shares of all variables, privately",
        texts.DESCRIBE,
        _DATA,
        _SCHEMA,
        _BUDGET,
        option("--columns", nargs="+", metavar="NAME", help="variables; default: all"),
        _SUBSET,
        _LEDGER,
        _CHARGED_BY,
        _REUSE,
        option("--force", action="store_true", help="even where noise hides nearly everything"),
        option("--out", type=Path, help="keep the released numbers in this new .json file"),
        option(
            "--suggest",
            type=Path,
            metavar="FILE",
            help="write a schema with tighter bounds to this new .toml or .json file",
        ),
        *_RUNNING,
        _CSV,
    ),
    command(
        "fit",
        "fit.run",
        "fit a model, spend its budget, and keep the result in a file",
        texts.FIT,
        _FORMULA,
        _DATA,
        _ANY,
        *_MODEL,
        option("--h", type=float, help="of svm: width of the rounding of its hinge"),
        option("--c", type=float, help="of svm, and of methods objective and output: the penalty"),
        option(
            "--public", type=Path, metavar="FILE", help="a table of public rows, or their moments (.json)"
        ),
        option(
            "--method", help="default: auto; of the model: newton, gram, pmt, objective, output, functional"
        ),
        option("--compat", choices=("paper",), help="follow the paper of the method"),
        option("--release", nargs="+", metavar="WHAT", help="besides: loglik, and for survreg dist"),
        option(
            "--robust",
            action="store_true",
            default=None,
            help="of a logistic regression: if the model is wrong",
        ),
        _BUDGET,
        _LEDGER,
        _CHARGED_BY,
        _REUSE,
        option(
            "--force", action="store_true", default=None, help="fit even where noise hides nearly everything"
        ),
        option(
            "--out", type=Path, required=True, help="keep the fit in this new .json file, or - for the screen"
        ),
        *_RUNNING,
        _CSV,
    ),
    command(
        "plan",
        "fit.plan_fit",
        "say what a fit will be worth; no row is read and nothing is spent",
        texts.FIT_PLAN,
        _FORMULA,
        _PLANNED,
        *_MODEL,
        option("--budget", required=True, help='of the fit to come, for example "approx(1, 1e-6)"'),
        option("--n", type=int, required=True, help="its number of rows"),
        either(
            option("--known", nargs="+", metavar="WORD", help="of variables, see below"),
            option("--like", type=Path, metavar="FILE", help="a table of public rows"),
        ),
        option("--coef", nargs="+", metavar="TERM=VALUE", help="coefficients; default: 0"),
        option("--scale", type=float, help="sd of residuals; of a time to failure, R's scale"),
        option("--events", type=float, help="share of failures, or of ones"),
        option(
            "--inspections",
            type=float,
            nargs="+",
            help="of failures between two times: how far apart looks at a unit are, or all their times",
        ),
        option(
            "--watches",
            nargs="+",
            metavar="LENGTH",
            help="of units: even (the default) where they enter service evenly, equal, or their lengths",
        ),
        option("--power", nargs="+", metavar="TERM=VALUE", help="chance to find these effects"),
        option("--half-width", nargs="+", metavar="TERM=VALUE", help="budget and rows for these"),
        _CSV,
        data=None,
        public=None,
    ),
)
_USING = (
    command(
        "show",
        "results.show",
        "print the table of a fit",
        "",
        _FIT,
        _UNITS,
        option("--width", type=int, help="of the text in characters, from 40 to 1000"),
        *_TABLE,
    ),
    command(
        "table",
        "results.table",
        "print whatever else a fit has: tests, ratios, lives, predictions, quantiles",
        texts.TABLE,
        _FIT,
        option("what", nargs="?", help="as in Python, such as wald_test; left out: what there is"),
        *_POINTS,
        _ARGUMENTS,
        *_TABLE,
        _CSV,
    ),
    command(
        "life",
        "results.life",
        "print the times by which fractions of new units fail, with limits",
        texts.LIFE,
        _FIT,
        *_POINTS,
        option(
            "--failed", type=float, nargs="+", metavar="P", help="failed fractions; default: 0.01 0.1 0.5"
        ),
        *_TABLE,
        _CSV,
    ),
    command(
        "plot",
        "results.plot",
        "draw a fit, or a curve",
        texts.PLOT,
        _FIT,
        option("kind", nargs="?", help="coef, life, reliability, hazard or ridge_path; default: what suits"),
        *_POINTS,
        _ARGUMENTS,
        option("--level", type=float, help="of intervals and bands; default: 0.95"),
        option("--style", help="of matplotlib, such as dpstats.paper"),
        option(
            "--out",
            type=Path,
            required=True,
            help="this .png, .pdf or .svg file; one that is there is replaced",
        ),
        _CSV,
    ),
    command(
        "compare",
        "results.compared",
        "print fits side by side",
        "",
        option("fits", type=Path, nargs="+", metavar="fit", help="files of dpstats fit"),
        option("--names", nargs="+", metavar="NAME", help="heads of their columns; default: (1) ..."),
        _UNITS,
        *_TABLE,
    ),
    command(
        "predict",
        "predict.run",
        "predict for new units from a fit",
        texts.PREDICT,
        _FIT,
        option("new", type=Path, help="a .csv or .parquet file with a row for each new unit"),
        option(
            "--type",
            help="response (default), lp; of times to failure quantile (default with --p), median, survival "
            "(default with --times), hazard or cumhaz",
        ),
        option("--p", type=float, help="failed fraction of a quantile, between 0 and 1"),
        option("--times", action=Numbers, nargs="+", metavar="TIME", help="of survival, hazard and cumhaz"),
        option(
            "--clip",
            action="store_true",
            help="move values to their public bounds; else it extrapolates",
        ),
        option("--out", type=Path, help="write this new .csv file; default: the screen"),
        _CSV,
    ),
    command(
        "forecast",
        "predict.forecast",
        "forecast the failures of a fleet from a fit of a time to failure",
        texts.FORECAST,
        _FIT,
        option("fleet", type=Path, help="a .csv or .parquet file with a row for each unit, and its age"),
        option(
            "--horizon",
            action=Numbers,
            nargs="+",
            required=True,
            metavar="TIME",
            help="how far from now, or the ends of periods",
        ),
        option("--periods", type=int, default=12, help="of one horizon; default: %(default)s"),
        option("--age", default="age", metavar="COLUMN", help="of ages; default: %(default)s"),
        option(
            "--units",
            metavar="COLUMN",
            help="how many units a row stands for; default: one. 1.200 is 1.2 without --thousands .",
        ),
        option("--level", type=float, default=0.95, help="of limits; default: %(default)s"),
        option("--clip", action="store_true", help="move values to their public bounds"),
        option("--out", type=Path, help="write the numbers to this new .csv file, too"),
        _CSV,
    ),
)
_OF_LEDGERS = group(
    "ledger",
    "keep a total budget for a data set",
    texts.LEDGER,
    command(
        "create",
        "ledger.create",
        "start a ledger; a file that is there is left alone",
        "",
        option("path", type=Path, help="a new file"),
        option("--total", required=True, help='most that may ever be spent, e.g. "approx(3, 1e-6)"'),
        option("--dataset", help="name of the data set; default: the file's name"),
    ),
    command(
        "charge",
        "ledger.charge",
        "write down a cost of something else than a fit",
        "",
        option("path", type=Path, help="a ledger"),
        option("--budget", required=True, help='the whole cost, e.g. "zcdp(0.1)"'),
        option("--formula", required=True, metavar="TEXT", help="what it is for"),
        option("--method", required=True, metavar="TEXT", help="what makes it private"),
        option("--released", nargs="+", default=(), metavar="NAME", help="what will be released"),
        option("--gaussian", action="store_true", help="by Gaussian noise alone, of the budget's mu"),
        option("--unit", default="one row", help="who is protected; default: %(default)s"),
    ),
    command(
        "show",
        "ledger.show",
        "print what was spent, on what, and what is left",
        "",
        option("path", type=Path, help="a ledger"),
    ),
    command(
        "export",
        "ledger.export",
        "write all charges as JSON or CSV",
        "",
        option("path", type=Path, help="a ledger"),
        option("--format", choices=("json", "csv"), default="json", help="default: %(default)s"),
        option("--out", type=Path, help="write this new file; default: the screen"),
    ),
)
_OF_CONTRIBUTIONS = (
    command(
        "plan-contributions",
        "contributions.plan",
        "plan a fit to which people send private records",
        texts.PLAN,
        _FORMULA,
        _SCHEMA,
        option("--budget", required=True, help='of the published model, e.g. "approx(1, 1e-6)"'),
        option("--contributors", type=int, required=True, help="with fewer, nothing is published"),
        option("--honest", type=float, default=1.0, help="share of them that keep their noise secret"),
        option("--method", choices=("statistics", "input"), default="statistics"),
        option("--compat", choices=("paper",), help="of method input: the published constants"),
        option("--ball", type=float, default=3.0, help="of method input: longest coefficients"),
        option("--out", type=Path, required=True, help="write the plan to this new .json file"),
    ),
    command(
        "contribute",
        "contributions.contribute",
        "make records private on your own machine",
        texts.CONTRIBUTE,
        option("records", type=Path, help="a .csv or .parquet file, one record a row"),
        _PLAN,
        option("--hash", help="refuse a plan that does not have this hash, or does not begin with it"),
        option("--out", type=Path, required=True, help="write messages to this new .parquet or .jsonl"),
        _CSV,
    ),
    command(
        "fit-contributions",
        "contributions.fit",
        "fit a model from messages of contributors",
        texts.FIT_CONTRIBUTIONS,
        option("messages", type=Path, nargs="+", help=".parquet or .jsonl files"),
        _PLAN,
        option("--model", choices=("ols", "ridge", "logit"), default="ols", help="default: %(default)s"),
        option("--alpha", type=float, help="of ridge, which needs it: the penalty"),
        option("--out", type=Path, required=True, help="keep the fit in this new .json file"),
    ),
)
_OF_SCHEMAS = group(
    "schema",
    "say what is public about each variable",
    texts.SCHEMA,
    command(
        "new",
        "schema.new",
        "write a schema to fill in, from the names of the columns of a table; no value is read",
        "",
        option("data", type=Path, help="a table; types are known of .parquet and .arrow files"),
        option("--out", type=Path, help="write this new .toml file; default: the screen"),
        _CSV,
        query=None,
    ),
    command(
        "check",
        "schema.check",
        "check a schema, and the names of a table against it",
        "",
        option("schema", type=Path, help="a .toml or .json file, or a plan of contributions"),
        option("data", type=place, nargs="?", help="a table; no value is read without --values"),
        _QUERY,
        option("--values", action="store_true", help="say which cells fits cannot use, and why. NOT PRIVATE"),
        option("--formula", help="with --values: look at what a fit of it reads, as it reads it"),
        _EXPOSURE,
        _WEIGHTS,
        _SUBSET,
        _CSV,
    ),
)
_DEMO = command(
    "demo",
    "demo.run",
    "fit real data on 52,422 hard drives and print the table",
    "",
    option("--out", type=Path, help="keep the fit in this new .json file"),
)


def parser() -> Parser:
    """The commands and their options."""
    top = Parser(
        prog="dpstats", description=texts.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"dpstats {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for _, add in (*_SPENDING, *_USING, _OF_LEDGERS, *_OF_CONTRIBUTIONS, _OF_SCHEMAS, _DEMO):
        add(commands)
    return top
