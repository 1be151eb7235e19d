"""``dpstats fit`` and ``dpstats show``: the models, and the options that only some of them have."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any

from dpstats import models
from dpstats.budget import parse_budget
from dpstats.cli.options import MODELS
from dpstats.cli.output import JSON, new_file, save
from dpstats.cli.tables import data, table
from dpstats.errors import SpecificationError
from dpstats.ledger import Ledger
from dpstats.models import GlmModel, LinearModel, Survreg, Svm
from dpstats.moments import PublicMoments
from dpstats.results import Description, Fit, load
from dpstats.results.description import is_description
from dpstats.schema import Schema

Model = Survreg | LinearModel | GlmModel | Svm

# Options of models, by their names without --, with an example where a model needs one; an option that was
# not given is None.
_OPTIONS = {
    "dist": "",
    "known_scale": "",
    "alpha": "its penalty: --alpha 0.1, or --alpha auto",
    "public": "",
    "family": "for example --family poisson",
    "exposure": "",
    "weights": "",
    "subset": "",
}
_ARGUMENTS = {"known_scale": "scale"}  # of options whose name is taken by a plan
_UNUSED = {"logit": "public", "glm": "public"}  # but by a method that is not the default


def run(options: argparse.Namespace) -> None:
    """Everything that can be wrong is found before the budget is spent; the file is reserved first."""
    budget = parse_budget(options.budget)
    schema = Schema.load(options.schema)
    model = described(options, schema)
    book = Ledger(options.ledger) if options.ledger else None
    with new_file(options.out, JSON):
        if isinstance(model, Svm):  # which takes any budget
            fit: Fit = model.fit(budget, ledger=book, reuse=options.reuse)
        else:
            fit = model.fit(budget, ledger=book, force=options.force, reuse=options.reuse)
        save(fit, options.out)
    print(fit.summary())


def show(options: argparse.Namespace) -> None:
    """Print the table of a saved fit."""
    print(read(options.fit).summary())


def read(path: Path) -> Fit | Description:
    """A saved fit, or a saved description."""
    return Description.load(path) if is_description(path) else load(path)


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
        value = getattr(options, name)
        if value is None:
            continue
        if name not in takes:
            able = ", ".join(model for model in MODELS if name in _taken(model))
            raise SpecificationError(f"--{_flag(name)} is for --model {able}, not {options.model}")
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
    arguments = {name: _ARGUMENTS.get(name, name) for name in _OPTIONS if _UNUSED.get(model) != name}
    return {name: known[argument] for name, argument in arguments.items() if argument in known}


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _public(path: Path, options: argparse.Namespace) -> Any:
    return PublicMoments.load(path) if path.suffix.lower() == ".json" else table(path, options)
