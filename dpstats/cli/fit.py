"""``dpstats fit`` and ``dpstats show``: the models, and the options that only some of them have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpstats.budget import parse_budget
from dpstats.cli.output import JSON, new_file, save
from dpstats.cli.tables import table
from dpstats.errors import SpecificationError
from dpstats.ledger import Ledger
from dpstats.models import GlmModel, LinearModel, Survreg, Svm, glm, logit, ols, ridge, survreg, svm
from dpstats.moments import PublicMoments
from dpstats.results import load
from dpstats.schema import Schema

Model = Survreg | LinearModel | GlmModel | Svm

MODELS: dict[str, Callable[..., Model]] = {
    "survreg": survreg,
    "ols": ols,
    "ridge": ridge,
    "logit": logit,
    "glm": glm,
    "svm": svm,
}
# Options of the models, by their names without --; an option that was not given is None.
_TAKES = {
    "survreg": ("dist",),
    "ols": ("public", "weights"),
    "ridge": ("alpha", "public", "weights"),
    "logit": ("weights",),
    "glm": ("family", "exposure", "weights"),
    "svm": (),
}
_NEEDS = {
    "ridge": ("alpha", "its penalty: --alpha 0.1, or --alpha auto"),
    "glm": ("family", "for example --family poisson"),
}


def run(options: argparse.Namespace) -> None:
    """Everything that can be wrong is found before the budget is spent; the file is reserved first."""
    budget = parse_budget(options.budget)
    schema = Schema.load(options.schema)
    model = described(options, schema)
    book = Ledger(options.ledger) if options.ledger else None
    with new_file(options.out, JSON):
        fit = model.fit(budget, ledger=book)
        save(fit, options.out)
    print(fit.summary())


def show(options: argparse.Namespace) -> None:
    """Print the table of a saved fit."""
    print(load(options.fit).summary())


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
    takes = _TAKES[options.model]
    given = {}
    for name in ("dist", "alpha", "public", "family", "exposure", "weights"):
        value = getattr(options, name)
        if value is None:
            continue
        if name not in takes:
            models = ", ".join(model for model in MODELS if name in _TAKES[model])
            raise SpecificationError(f"--{name} is for --model {models}, not {options.model}")
        given[name] = _public(value, options) if name == "public" else value
    needed, example = _NEEDS.get(options.model, ("", ""))
    if needed and needed not in given:
        raise SpecificationError(f"--model {options.model} needs --{needed}, {example}")
    data = None if options.data is None else table(options.data, options)
    return MODELS[options.model](options.formula, data, schema, **given)


def _public(path: Path, options: argparse.Namespace) -> Any:
    return PublicMoments.load(path) if path.suffix.lower() == ".json" else table(path, options)
