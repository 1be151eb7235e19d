"""Records of fits as plain values for JSON: public and released numbers only, exact to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dpstats._stored import check_format, described, plain_number, plain_numbers, restored, text
from dpstats.budget import from_dict as budget_from_dict
from dpstats.errors import SpecificationError
from dpstats.moments.baseline import Baseline, Trend
from dpstats.moments.design import DesignMoments
from dpstats.moments.linear import LinearMoments, Quantity
from dpstats.moments.mixture import Tails
from dpstats.results.record import Record
from dpstats.schema import Schema

T = TypeVar("T")

FORMAT = "dpstats.fit/1"
ARRAYS = ("params", "cov", "cov_privacy")
PENALTIES, WORDS = ("alpha", "charged_alpha"), ("weights", "subset", "charged_formula", "target", "no_errors")
OPTIONAL = (*PENALTIES, *WORDS)  # kept where set
QUANTITIES = ("dispersion", "excess", "loglik", "nevents", "law")
TEXTS = ("model", "dist", "formula", "method", "adjacency", "unit", "title", "ledger")
MAY_LACK = ("title", "ledger")
REQUIRED = (
    *TEXTS,
    "schema",
    "names",
    *ARRAYS,
    "nobs",
    "budget",
    "released",
    "settings",
    "flags",
    "not_private",
)


def described_record(record: Record) -> dict[str, Any]:
    """Return `record` as plain values; infinities and NaN as the texts "inf", "-inf" and "nan"."""
    return {
        "format": FORMAT,
        **{name: getattr(record, name) for name in TEXTS},
        "schema": record.schema.to_dict(),
        "names": list(record.names),
        **{name: plain_numbers(getattr(record, name)) for name in ARRAYS},
        "nobs": record.nobs,
        "budget": record.budget.to_dict(),
        "released": list(record.released),
        "settings": {name: plain_number(value) for name, value in record.settings.items()},
        "flags": [list(flag) for flag in record.flags],
        "not_private": record.not_private,
        **{name: value for name in OPTIONAL if (value := getattr(record, name)) is not None},
        **({"linear": record.linear.to_dict()} if record.linear is not None else {}),
        **{
            name: list(map(plain_number, quantity))
            for name in QUANTITIES
            if (quantity := getattr(record, name)) is not None
        },
        **({"tails": record.tails.to_dict()} if record.tails is not None else {}),
        **({"baseline": record.baseline.to_dict()} if record.baseline is not None else {}),
        **({"columns": record.columns.to_dict()} if record.columns is not None else {}),
        **({"bias": plain_numbers(record.bias)} if record.bias is not None else {}),
        **({"trend": record.trend.to_dict()} if record.trend is not None else {}),
        **({"guarantees": [list(pair) for pair in record.guarantees]} if record.guarantees else {}),
        **(
            {"rivals": [[name, *map(plain_number, found)] for name, *found in record.rivals]}
            if record.rivals
            else {}
        ),
        **({"messages": dict(record.messages)} if record.messages is not None else {}),
    }


def record_of(content: Mapping[str, Any]) -> Record:
    """Return the record that `described_record` described.

    Raises
    ------
    SpecificationError
        If `content` is not a fit, was written by a newer version, or is incomplete.
    """
    check_format(described(content, "a fit").get("format"), FORMAT, "a saved fit")
    lacking = next((name for name in REQUIRED if name not in content), None)
    if lacking:
        raise SpecificationError(f"the saved fit lacks {lacking!r}; it is incomplete or was edited")
    return restored(_record, described_record, content, "the saved fit is incomplete or was edited")


def _record(content: Mapping[str, Any]) -> Record:
    """Return the record, every value as what it must be; the record checks how they fit together."""
    fields: dict[str, Any] = {
        **{name: text(content[name]) if name in MAY_LACK else str(content[name]) for name in TEXTS},
        **{name: np.array(content[name], dtype=float) for name in ARRAYS},
        **{name: content.get(name) for name in PENALTIES},
        **{name: text(content.get(name)) for name in WORDS},
        **{name: _if_there(content.get(name), _quantity) for name in QUANTITIES},
        "schema": Schema.from_dict(content["schema"]),
        "names": tuple(map(str, content["names"])),
        "nobs": content["nobs"],
        "budget": budget_from_dict(content["budget"]),
        "released": tuple(content["released"]),
        "settings": {name: _setting(value) for name, value in content["settings"].items()},
        "flags": tuple((code, message) for code, message in content["flags"]),
        "not_private": bool(content["not_private"]),
        "linear": _if_there(content.get("linear"), _moments),
        "tails": _if_there(content.get("tails"), Tails.from_dict),
        "baseline": _if_there(content.get("baseline"), Baseline.from_dict),
        "columns": _if_there(content.get("columns"), DesignMoments.from_dict),
        "bias": _if_there(content.get("bias"), partial(np.array, dtype=float)),
        "trend": _if_there(content.get("trend"), Trend.from_dict),
        "guarantees": tuple((whose, what) for whose, what in content.get("guarantees", ())),
        "rivals": tuple((name, float(value), float(sd)) for name, value, sd in content.get("rivals", ())),
        "messages": content.get("messages"),
    }
    return Record(**fields)


def _moments(content: Any) -> LinearMoments:
    """Moments from which all follows that the table of a fit shows; those of an edited file may fail here."""
    moments = LinearMoments.from_dict(content)
    moments.solve(), moments.sigma(), moments.rsquared(), moments.residual_sd()
    return moments


def _if_there(content: Any, build: Callable[[Any], T]) -> T | None:
    return None if content is None else build(content)


def _quantity(content: Any) -> Quantity:
    return Quantity(*map(float, content))


def _setting(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value
