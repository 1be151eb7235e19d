"""``dpstats fit``, ``dpstats describe`` and ``dpstats plan``: the commands that spend a budget, or plan to.

Models and fits have options that only some of them have. The rows of a command are summed by this process, by
several of this machine, or by the workers of a Dask cluster.
"""

import argparse
import inspect
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dpstats import models
from dpstats._arguments import number, shown
from dpstats.budget import parse_budget
from dpstats.cli.files import JSON, SCHEMAS, data, new_file, public_table, save, table
from dpstats.cli.options import MODELS
from dpstats.errors import BudgetError, SpecificationError
from dpstats.ledger import Ledger
from dpstats.models import Coxph, GlmModel, KaplanMeier, LinearModel, Survreg, Svm, describe
from dpstats.moments import PublicMoments
from dpstats.planning import plan
from dpstats.planning.truth import EVEN
from dpstats.running import options as running
from dpstats.schema import Schema

_WAIT = 30  # seconds for a scheduler to answer


@contextmanager
def engine(options: argparse.Namespace) -> Iterator[None]:
    """What `add_running` asks for holds in here.

    Raises
    ------
    SpecificationError
        If no scheduler answers, Dask is not installed, or both workers and a cluster are asked for.
    """
    if options.cluster is None:
        with running(workers=options.workers):
            yield
        return
    if options.workers != 1:
        raise SpecificationError("--workers are processes of this machine; give them, or --cluster")
    with _client(options.cluster) as client, running(client=client):
        yield


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise SpecificationError("--cluster needs Dask: pip install dpstats[dask]") from None
    try:
        return Client(address, set_as_default=False, timeout=_WAIT)
    except (OSError, ValueError):
        raise SpecificationError(
            f"no scheduler of Dask answers at {shown(address)}; give an address such as tcp://scheduler:8786"
        ) from None


Model = Survreg | Coxph | LinearModel | GlmModel | Svm | KaplanMeier

# Options of models and of their fits, by their names without --, with an example where a model needs one; an
# option that was not given is None.
_OPTIONS = {
    "dist": "",
    "known_scale": "",
    "alpha": "its penalty: --alpha 0.1, or --alpha auto",
    "public": "",
    "family": "for example --family poisson",
    "link": "",
    "exposure": "",
    "weights": "",
    "subset": "",
    "times": "",
    "h": "",
    "c": "",
}
_OF_FITS = ("method", "compat", "release", "robust", "c", "force", "reuse")
_ARGUMENTS = {"known_scale": "scale"}  # of options whose name is taken by a plan


def run(options: argparse.Namespace) -> None:
    """Everything that can be wrong is found before the budget is spent; the file is reserved first."""
    budget = parse_budget(options.budget)
    model = described(options, Schema.load(options.schema))
    book = ledger_of(options)
    given = _asked(options, model)
    with engine(options):
        with new_file(options.out, JSON):
            fit = model.fit(budget, ledger=book, **given)
        save(fit, options.out)  # whatever happens to the workers then


def ledger_of(options: argparse.Namespace) -> Ledger | None:
    """The ledger that is charged, if one is named."""
    if options.ledger:
        return Ledger(options.ledger, charged_by=options.charged_by)
    if options.charged_by:
        raise SpecificationError("--charged-by says who charges a ledger; name that by --ledger")
    return None


def _asked(options: argparse.Namespace, model: Model) -> dict[str, Any]:
    """What a fit is asked for.

    Raises
    ------
    SpecificationError
        For an option that this model's fits do not have.
    """
    known, taken = inspect.signature(model.fit).parameters, _taken(options.model)
    asked = {name: value for name in _OF_FITS if (value := getattr(options, name)) is not None}
    if wrong := [name for name in asked if name not in taken and name not in known]:
        raise _not_of(wrong[0], options.model)
    return {name: value for name, value in asked.items() if name not in taken}


def described(options: argparse.Namespace, schema: Schema) -> Model:
    """The model that the options describe, without rows where none are named; nothing is spent.

    Raises
    ------
    SpecificationError
        For an option of another model, a lacking one, and whatever the model finds wrong.
    """
    if "~" not in options.formula and "~" in str(options.data):
        raise SpecificationError(
            "a formula stands in the place of the file; the order is: dpstats fit FORMULA DATA"
        )
    function, takes = getattr(models, options.model), _taken(options.model)
    asked = {name: value for name in _OPTIONS if (value := getattr(options, name, None)) is not None}
    if wrong := [name for name in asked if name not in takes and name not in _OF_FITS]:
        raise _not_of(wrong[0], options.model)
    given = {_ARGUMENTS.get(name, name): value for name, value in asked.items() if name in takes}
    if "public" in given:
        given["public"] = _public(given["public"], options)
    for name, parameter in takes.items():
        if parameter.default is parameter.empty and name not in given:
            raise SpecificationError(f"--model {options.model} needs --{name}, {_OPTIONS[name]}")
    rows = None if options.data is None else data(options.data, options)
    return function(options.formula, rows, schema, **given)


def _taken(model: str) -> dict[str, inspect.Parameter]:
    """Options that a model has, by its function's parameters."""
    known = inspect.signature(getattr(models, model)).parameters
    arguments = {name: _ARGUMENTS.get(name, name) for name in _OPTIONS}
    return {name: known[argument] for name, argument in arguments.items() if argument in known}


def _of_fit(model: str) -> tuple[str, ...]:
    """Options that the fits of a model have."""
    kind = str(inspect.signature(getattr(models, model)).return_annotation).partition(" ")[0]
    return tuple(inspect.signature(getattr(models, kind).fit).parameters)


def _not_of(name: str, model: str) -> SpecificationError:
    able = [each for each in MODELS if name in _taken(each) or name in _of_fit(each)]
    others = ", ".join(each for each in able if each != model) or "another family"
    return SpecificationError(f"--{name.replace('_', '-')} is for --model {others}, not {model}")


def _public(path: Path, options: argparse.Namespace) -> Any:
    return PublicMoments.load(path) if path.suffix.lower() == ".json" else table(path, options)


def plan_fit(options: argparse.Namespace) -> None:
    """Print the table, and what was asked beside it."""
    model: Any = described(options, Schema.load(options.schema))
    like = options.like
    known: Any = public_table(like, options, model.design.schema) if like else _known(options.known or ())
    budget = parse_budget(options.budget)
    law = options.scale, options.events, options.inspections, options.watches or EVEN
    ahead = plan(model, budget, options.n, known, _values("--coef", options.coef or ()), *law)
    print(ahead.summary())
    if options.power:
        for term, power in ahead.power(_values("--power", options.power)).items():
            print(f"Power for {term}: {power:.2f}")
    if options.half_width:
        wanted = _values("--half-width", options.half_width)
        try:
            print(f"Budget for these half widths: {ahead.budget_for(wanted)}")
        except BudgetError as error:
            print(f"Budget for these half widths: {error}")
        print(f"Rows for them with {budget}: {ahead.n_for(wanted)}")


def _known(words: Sequence[str]) -> dict[Any, Any]:
    """Words such as ``temp=25,6``, ``g=A:0.7,B:0.3`` and ``temp:load=0.3`` as ``covariates=`` has them."""
    found: dict[Any, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        parts = text.split(",")
        if not equals:
            raise SpecificationError(f"--known takes words such as temp=25,6, not {word!r}")
        if ":" in text:
            found[name] = dict(_pair("--known", part, ":") for part in parts)
        elif ":" in name:
            found[tuple(name.split(":"))] = text
        else:
            found[name] = tuple(parts) if len(parts) > 1 else text
    return found


def _values(option: str, words: Sequence[str]) -> dict[str, float]:
    return dict(_pair(option, word, "=") for word in words)


def _pair(option: str, word: str, mark: str) -> tuple[str, float]:
    """Of a name and a number; the name may hold the mark."""
    name, found, text = word.rpartition(mark)
    if not found:
        raise SpecificationError(f"{option} takes names with numbers, such as name{mark}0.5, not {word!r}")
    return name, number(f"{option} {name}", text)


def describe_table(options: argparse.Namespace) -> None:
    """Files are reserved before the budget is spent; what is described is kept, whatever else fails."""
    budget, schema = parse_budget(options.budget), Schema.load(options.schema)
    rows, book = data(options.data, options), ledger_of(options)
    how = dict(ledger=book, force=options.force, subset=options.subset, reuse=options.reuse or False)
    with engine(options), ExitStack() as paid, new_file(options.suggest, SCHEMAS):
        with new_file(options.out, JSON):
            found = describe(rows, schema, budget, options.columns, **how)
        paid.callback(save, found, options.out)
        if options.suggest:
            schema.suggest(found).save(options.suggest)
