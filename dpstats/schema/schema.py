"""A schema: the declarations of all variables, in Python, TOML or JSON."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tabulate import tabulate

from dpstats.errors import SchemaError
from dpstats.schema.variables import KINDS, Levels, Variable


class Schema(Mapping[str, Variable]):
    """The declarations of all variables, by name.

    Parameters
    ----------
    variables
        A mapping from names to declarations (`bounded`, `count`, `flag`, `event`, `levels`) or to plain
        tables such as ``{"kind": "bounded", "lower": 0, "upper": 100}``. Keywords do the same.

    Raises
    ------
    SchemaError
        If a declaration is missing, misspelt or impossible; the message names the variable.
    """

    __slots__ = ("_variables",)

    def __init__(self, variables: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        if variables is not None and not isinstance(variables, Mapping):
            raise SchemaError(f"a schema maps names to declarations; got a {type(variables).__name__}")
        declared = dict(variables or {})
        for name in keywords:
            if name in declared:
                raise SchemaError(f"variable {name!r} is declared twice")
        declared.update(keywords)
        self._variables = {name: _variable(name, value) for name, value in declared.items()}

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __hash__(self) -> int:
        return hash(frozenset(self._variables.items()))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The schema as plain tables, fit for JSON or TOML."""
        return {name: _plain(variable) for name, variable in self.items()}

    def to_json(self, path: str | Path) -> None:
        """Write the schema to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Schema:
        """Make a schema from plain tables; the opposite of `to_dict`."""
        return cls(tables)

    @classmethod
    def from_json(cls, path: str | Path) -> Schema:
        """Read a schema from a JSON file."""
        return cls(_parse(path, json.loads))

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Read a schema from a TOML file, one table for each variable."""
        return cls(_parse(path, tomllib.loads))

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from a ``.toml`` or ``.json`` file."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".toml", ".json"):
            raise SchemaError(f"a schema file ends in .toml or .json, not {suffix!r}: {path}")
        return cls.from_toml(path) if suffix == ".toml" else cls.from_json(path)

    def _table(self, form: str) -> str:
        rows = [(name, variable.kind, _describe(variable)) for name, variable in self.items()]
        return tabulate(rows, headers=("variable", "kind", "public"), tablefmt=form, disable_numparse=True)

    def __repr__(self) -> str:
        return self._table("simple") if self else "Schema()"

    def _repr_html_(self) -> str:
        return self._table("html")


def _parse(path: str | Path, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaError(f"the schema file {path} cannot be opened: {error.strerror}") from None
    except ValueError as error:
        raise SchemaError(f"the schema file {path} cannot be read: {error}") from None


def _variable(name: object, value: Any) -> Variable:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"the name of a variable must be a text, not {name!r}")
    try:
        if isinstance(value, Mapping):
            return _from_table(value)
        if isinstance(value, Variable):
            return value
        raise SchemaError(f"use {_remedy(value)}, not {value!r}")
    except SchemaError as error:
        raise SchemaError(f"variable {name!r}: {error}") from None


def _remedy(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        inside = ", ".join(repr(item) for item in value)
        return f"levels({inside})" if isinstance(value[0], str) else f"bounded({inside})"
    return "bounded(), count(), flag(), levels() or event()"


def _from_table(table: Mapping[str, Any]) -> Variable:
    given = dict(table)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    fields = {f.name: f for f in dataclasses.fields(KINDS[kind])}
    for key in given:
        if key not in fields:
            close = difflib.get_close_matches(str(key), fields, 1)
            raise SchemaError(f"{kind} has no {key!r}; did you mean {close[0]!r}?" if close else
                              f"{kind} has no {key!r}, only {', '.join(fields)}")
    for key, item in fields.items():
        if key not in given and item.default is dataclasses.MISSING:
            raise SchemaError(f"{kind} needs {key!r}")
    return KINDS[kind](**given)


def _plain(variable: Variable) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": variable.kind}
    for item in dataclasses.fields(variable):
        value = getattr(variable, item.name)
        if value is not None:
            table[item.name] = list(value) if isinstance(value, tuple) else value
    return table


def _describe(variable: Variable) -> str:
    if isinstance(variable, Levels):
        return ", ".join(variable.levels) + (", all others" if variable.other else "")
    if variable.kind in ("flag", "event"):
        return ", ".join(f"{f.name} = {getattr(variable, f.name)!r}" for f in dataclasses.fields(variable))
    unit = getattr(variable, "unit", None)
    lower, upper = variable.bounds
    return f"{lower:g} to {upper:g}" + (f" {unit}" if unit else "")
