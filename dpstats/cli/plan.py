"""``dpstats plan``: what a fit will be worth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dpstats._arguments import number
from dpstats.budget import parse_budget
from dpstats.cli.fit import described
from dpstats.cli.tables import public_table
from dpstats.errors import BudgetError, SpecificationError
from dpstats.models import KaplanMeier, Svm
from dpstats.planning import plan
from dpstats.schema import Schema


def run(options: argparse.Namespace) -> None:
    """Print the table, and what was asked beside it."""
    model = described(options, Schema.load(options.schema))
    known: Any = public_table(options.like, options) if options.like else _known(options.known or ())
    coef = _values("--coef", options.coef or ())
    budget = parse_budget(options.budget)
    if isinstance(model, Svm | KaplanMeier):
        raise SpecificationError("plan knows the models survreg, coxph, ols, ridge, logit and glm")
    law = (coef, options.scale, options.events, options.inspections, options.watches)
    ahead = plan(model, budget, options.n, known, *law)
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
