"""``dpstats fit --model``: the models, and the options that only some of them have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpstats.errors import SpecificationError
from dpstats.families import DISTS
from dpstats.models import LinearModel, Survreg, ols, ridge, survreg
from dpstats.moments import PublicMoments
from dpstats.schema import Schema

MODELS: dict[str, Callable[..., Survreg | LinearModel]] = {"survreg": survreg, "ols": ols, "ridge": ridge}
# Options of the models, by their names without --; an option that was not given is None.
_TAKES = {
    "survreg": ("dist",),
    "ols": ("public", "weights"),
    "ridge": ("alpha", "public", "weights"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--model`` and what its choices take."""
    parser.add_argument("--model", choices=MODELS, default="survreg", help="default: %(default)s")
    parser.add_argument("--dist", choices=tuple(DISTS), help="of survreg; default: weibull")
    parser.add_argument("--alpha", type=float, help="of ridge, which needs it: the penalty")
    parser.add_argument(
        "--public", type=Path, metavar="FILE",
        help="of ols and ridge: a table of public rows, or their moments (.json)",
    )  # fmt: skip
    parser.add_argument("--weights", metavar="EXPRESSION", help="of ols and ridge: the rows' weights")


def described(options: argparse.Namespace, schema: Schema) -> Survreg | LinearModel:
    """The model that the options describe; nothing is spent.

    Raises
    ------
    SpecificationError
        For an option of another model, a lacking one, and whatever the model finds wrong.
    """
    takes = _TAKES[options.model]
    given = {}
    for name in ("dist", "alpha", "public", "weights"):
        value = getattr(options, name)
        if value is None:
            continue
        if name not in takes:
            models = ", ".join(model for model in MODELS if name in _TAKES[model])
            raise SpecificationError(f"--{name} is for --model {models}, not {options.model}")
        given[name] = _public(value) if name == "public" else value
    if "alpha" in takes and "alpha" not in given:
        raise SpecificationError(f"--model {options.model} needs --alpha, its penalty: --alpha 0.1")
    return MODELS[options.model](options.formula, options.data, schema, **given)


def _public(path: Path) -> Any:
    return PublicMoments.load(path) if path.suffix.lower() == ".json" else path
