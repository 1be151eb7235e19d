"""``dpstats fit``: the models, and the options that only some of them and of their fits have."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any

from dpstats import models
from dpstats.budget import parse_budget
from dpstats.cli.engine import engine
from dpstats.cli.options import MODELS
from dpstats.cli.output import JSON, new_file, save
from dpstats.cli.tables import data, table
from dpstats.errors import SpecificationError
from dpstats.ledger import Ledger
from dpstats.models import Coxph, GlmModel, KaplanMeier, LinearModel, Survreg, Svm
from dpstats.moments import PublicMoments
from dpstats.schema import Schema

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
    schema = Schema.load(options.schema)
    model = described(options, schema)
    book = Ledger(options.ledger) if options.ledger else None
    given = _asked(options, model)
    with new_file(options.out, JSON), engine(options):
        save(model.fit(budget, ledger=book, **given), options.out)


def _asked(options: argparse.Namespace, model: Model) -> dict[str, Any]:
    """What a fit is asked for.

    Raises
    ------
    SpecificationError
        For an option that this model's fits do not have.
    """
    known, found = inspect.signature(model.fit).parameters, {}
    for name in _OF_FITS:
        value = getattr(options, name)
        if value is None or name in _taken(options.model):
            continue
        if name not in known:
            raise _not_of(name, options.model)
        found[name] = value
    return found


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
    function, takes, given = getattr(models, options.model), _taken(options.model), {}
    for name in _OPTIONS:
        value = getattr(options, name, None)
        if value is None:
            continue
        if name not in takes:
            if name in _OF_FITS:
                continue
            raise _not_of(name, options.model)
        given[_ARGUMENTS.get(name, name)] = _public(value, options) if name == "public" else value
    for name, parameter in takes.items():
        if parameter.default is parameter.empty and name not in given:
            raise SpecificationError(f"--model {options.model} needs --{name}, {_OPTIONS[name]}")
    rows = None if options.data is None else data(options.data, options)
    made: Model = function(options.formula, rows, schema, **given)
    return made


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
