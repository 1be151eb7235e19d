"""Fits as JSON: public and released numbers only, exact to the last bit, never a pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpstats.budget import from_dict as budget_from_dict
from dpstats.errors import SpecificationError
from dpstats.moments.linear import LinearMoments, Quantity
from dpstats.moments.mixture import Tails
from dpstats.results.record import Record
from dpstats.schema import Schema

NAME, VERSION = "dpstats.fit", 1
FORMAT = f"{NAME}/{VERSION}"
ARRAYS = ("params", "cov", "cov_privacy")
OPTIONAL = ("alpha", "charged_alpha", "weights", "target", "no_errors")  # kept where set
QUANTITIES = ("dispersion", "loglik")
TEXTS = ("model", "dist", "formula", "method", "adjacency", "unit", "title", "ledger")


def to_dict(record: Record) -> dict[str, Any]:
    """Return `record` as plain values; infinities and NaN as the texts "inf", "-inf" and "nan"."""
    return {
        "format": FORMAT,
        **{name: getattr(record, name) for name in TEXTS},
        "schema": record.schema.to_dict(),
        "names": list(record.names),
        **{name: _numbers(getattr(record, name)) for name in ARRAYS},
        "nobs": record.nobs,
        "budget": record.budget.to_dict(),
        "released": list(record.released),
        "settings": {name: _number(value) for name, value in record.settings.items()},
        "flags": [list(flag) for flag in record.flags],
        "not_private": record.not_private,
        **{name: value for name in OPTIONAL if (value := getattr(record, name)) is not None},
        **({"linear": record.linear.to_dict()} if record.linear is not None else {}),
        **{
            name: list(map(_number, quantity))
            for name in QUANTITIES
            if (quantity := getattr(record, name)) is not None
        },
        **({"tails": record.tails.to_dict()} if record.tails is not None else {}),
        **({"guarantees": [list(pair) for pair in record.guarantees]} if record.guarantees else {}),
        **({"messages": dict(record.messages)} if record.messages is not None else {}),
    }


def from_dict(content: Mapping[str, Any]) -> Record:
    """Return the record that `to_dict` described.

    Raises
    ------
    SpecificationError
        If `content` is not a fit, was written by a newer version, or is incomplete.
    """
    _check_format(content.get("format"))
    try:
        fields: dict[str, Any] = {
            **{name: content[name] for name in TEXTS},
            "schema": Schema.from_dict(content["schema"]),
            "names": tuple(content["names"]),
            **{name: np.array(content[name], dtype=float) for name in ARRAYS},
            "nobs": content["nobs"],
            "budget": budget_from_dict(content["budget"]),
            "released": tuple(content["released"]),
            "settings": {name: _setting(value) for name, value in content["settings"].items()},
            "flags": tuple((code, message) for code, message in content["flags"]),
            "not_private": bool(content["not_private"]),
            **{name: content.get(name) for name in OPTIONAL},
            "linear": _moments(content.get("linear")),
            **{name: _quantity(content.get(name)) for name in QUANTITIES},
            "tails": _tails(content.get("tails")),
            "guarantees": tuple((whose, what) for whose, what in content.get("guarantees", ())),
            "messages": content.get("messages"),
        }
        return Record(**fields)
    except KeyError as error:
        raise SpecificationError(
            f"the saved fit lacks {error.args[0]!r}; it is incomplete or was edited"
        ) from None


def write(record: Record, path: str | Path) -> None:
    """Write `record` as JSON, numbers in their shortest exact form."""
    text = json.dumps(to_dict(record), indent=1, allow_nan=False, ensure_ascii=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read(path: str | Path) -> Record:
    """Read what `write` wrote.

    Raises
    ------
    SpecificationError
        If the file is not a saved fit of this or an earlier version.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise SpecificationError(
            f"{path} is not JSON; dps.load reads files written by fit.save(path)"
        ) from None
    if not isinstance(content, dict):
        raise SpecificationError(f"{path} is not a saved fit; dps.load reads files written by fit.save(path)")
    return from_dict(content)


def _check_format(found: object) -> None:
    name, _, version = str(found).partition("/")
    if name != NAME or not version.isdigit():
        raise SpecificationError(f"not a saved fit: its format is {found!r}, not {FORMAT!r}")
    if int(version) > VERSION:
        raise SpecificationError(
            f"the fit has format {found!r}, newer than {FORMAT!r}; upgrade dpstats to read it"
        )


def _moments(content: Any) -> LinearMoments | None:
    return None if content is None else LinearMoments.from_dict(content)


def _quantity(content: Any) -> Quantity | None:
    return None if content is None else Quantity(*map(float, content))


def _tails(content: Any) -> Tails | None:
    return None if content is None else Tails.from_dict(content)


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _setting(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value


def _numbers(array: np.ndarray) -> list[Any]:
    return [_numbers(item) if np.ndim(item) else _number(float(item)) for item in array]
