"""A schema: the declarations of all variables, in Python, TOML or JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Callable, Iterator, KeysView, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize

from tabulate import tabulate

from dpstats._arguments import UNSHOWN, among, by_type, near, path_of, shown, truth, warn, word
from dpstats._private import always_shown, forgetful
from dpstats._stored import write_text
from dpstats.errors import SchemaError
from dpstats.schema.comments import rewritten, toml_text
from dpstats.schema.variables import KINDS, ROW, Levels, Norm, Unit, Variable, check_norms, narrowed

UNFILLED = "?"  # what a template has in the place of everything that has to be known


class _Undeclared(SchemaError, KeyError):
    """A schema has no variable of a name; its arguments are the name, and those that there are."""

    def __str__(self) -> str:
        name, known = self.args
        meant = near(name, known) or f"; declared are {', '.join(known) or 'none'}"
        return f"the schema has no variable {shown(name)}{meant}"


@forgetful
class Schema(Mapping[str, Variable]):
    """The declarations of all variables, by name.

    Parameters
    ----------
    variables
        A mapping from names to declarations (`bounded`, `count`, `flag`, `event`, `levels`) or to plain
        tables such as ``{"kind": "bounded", "lower": 0, "upper": 100}``. Keywords do the same. The table
        ``{"kind": "unit", "max_rows": 2}`` says that its column names the unit of privacy, as `unit` does;
        ``{"kind": "norm", "columns": ["x", "z"], "radius": 1}``, under any name, is what `norm` declares.

    Raises
    ------
    SchemaError
        If a declaration is missing, misspelt or impossible; the message names the variable.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(age=dps.bounded(18, 90, unit="years"), smokes=dps.flag("yes", "no"))
    >>> schema
    variable    kind     public
    ----------  -------  --------------------------
    age         bounded  18 to 90 years
    smokes      flag     true = 'yes', false = 'no'
    >>> schema.unit("person", max_rows=2).privacy_unit.adjacency
    'replace one person'
    """

    __slots__ = ("_norms", "_unit", "_variables")
    __array_ufunc__ = None  # numpy leaves | to the schema

    def __init__(self, variables: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        if variables is not None and not isinstance(variables, Mapping):
            raise SchemaError(
                f"a schema maps names to declarations; got {shown(variables)}; write "
                "Schema(x=bounded(0, 1), ...)"
            )
        declared = dict(variables or {})
        for name in keywords:
            if name in declared:
                raise SchemaError(f"variable {name!r} is declared twice")
        declared.update(keywords)
        self._unit = _unit_of(declared)
        self._norms = tuple(_norms_of(declared))
        self._variables = {name: _variable(name, value) for name, value in declared.items()}
        _check_unit_and_texts(self._unit, self._variables)
        check_norms(self._norms, self._variables)

    @property
    def privacy_unit(self) -> Unit:
        """Whose privacy a fit protects: one row, unless `unit` says otherwise."""
        return self._unit

    def unit(self, column: str, max_rows: int) -> Schema:
        """The same schema, protecting all rows of a unit instead of one row.

        Of each unit at most `max_rows` rows weigh. A hash of the id and of their cells chooses them, as if by
        lot, so that neither other units nor the order of the data matter. The unit's other rows, and rows
        without a unit, weigh nothing. Noise grows in proportion to `max_rows`.

        Parameters
        ----------
        column : str
            Column of the data that names the unit of each row (a person, a machine), by whole numbers or
            texts. It is not a variable.
        max_rows : int
            From 1. Public: choose it without a look at the rows, but as many as any unit has where a failure
            ends its rows, as with a row for each period or stretch of time: estimates would be wrong
            otherwise, without a caution, as units that fail early lose no rows (docs/schema.md).

        Raises
        ------
        SchemaError
            If the column is declared as a variable, or `max_rows` is not a whole number from 1.
        """
        unit = Unit(column, max_rows)
        if unit.column is None:
            raise SchemaError("the column of a unit must be a text such as 'serial', not None")
        return self._with(unit, self._norms)

    @property
    def norms(self) -> tuple[Norm, ...]:
        """What is known of several variables together, as `norm` says."""
        return self._norms

    def norm(self, *columns: str, radius: float) -> Schema:
        """The same schema, with a public bound of the length of several variables of a row.

        A row whose covariates among them are longer together, as the root of their sum of squares, is
        shortened to the radius when it is read. A fit with many columns needs less noise for it.

        Parameters
        ----------
        *columns : str
            Two variables or more, declared by `bounded` or `count` with bounds that hold 0.
        radius : float
            Positive, in the variables' own units. Public: choose it without a look at the rows.

        Raises
        ------
        SchemaError
            If a variable is not declared, is no number, cannot be 0, or has a norm already.
        """
        return self._with(self._unit, (*self._norms, Norm(columns, radius)))

    def replace(self, variables: Mapping[str, Any] | None = None, /, **keywords: Any) -> Schema:
        """The same schema with other declarations of some of its variables; its unit and norms stay.

        Parameters
        ----------
        variables
            A mapping from names of declared variables to their new declarations. Keywords do the same.

        Returns
        -------
        Schema

        Raises
        ------
        SchemaError
            If a variable is not declared, or a new declaration is not one that the unit or a norm allows.

        Examples
        --------
        >>> import dpstats as dps
        >>> schema = dps.Schema(age=dps.bounded(18, 90), oil=dps.flag()).unit("serial", max_rows=2)
        >>> schema.replace(oil=dps.levels("mineral", "synthetic"))
        variable    kind     public
        ----------  -------  ---------------------
        age         bounded  18 to 90
        oil         levels   mineral, synthetic
        serial      unit     at most 2 rows weigh
        """
        changed = Schema(variables, **keywords)
        if changed._together():
            raise SchemaError("replace is of variables alone; schema.unit and schema.norm declare the others")
        for name in changed:
            if name not in self:
                unknown = _Undeclared(name, tuple(self._variables))
                raise SchemaError(f"{unknown}; schema | {{...}} adds a variable")
        return Schema({**self._variables, **changed._variables})._with(self._unit, self._norms)

    def suggest(self, described: Any) -> Schema:
        """The same schema with bounds as tight as a private description says that the values are.

        It uses released numbers alone and costs nothing. A warning names the new bounds: fits move values
        beyond them to the nearer one, and tell of such values nothing else.

        Parameters
        ----------
        described : Description
            What :func:`dpstats.describe` returned. Variables that it does not have, or that are in a norm,
            keep their bounds.

        Returns
        -------
        Schema

        Raises
        ------
        SchemaError
            If it is no description, or one that is not private: a schema cannot bear its mark.

        Examples
        --------
        >>> import dpstats as dps
        >>> plant = dps.datasets.load("ccpp")
        >>> wide = dps.Schema(AT=dps.bounded(-1000, 1000, unit="C"))
        >>> tight = wide.suggest(dps.describe(plant.data, wide, dps.zcdp(0.5)))
        >>> wide["AT"].bounds != tight["AT"].bounds
        True
        """
        reach = getattr(described, "reach", None)
        if not isinstance(reach, Mapping):
            raise SchemaError(f"suggest needs what dps.describe returned, not {shown(described)}")
        if described.not_private:
            raise SchemaError(
                "the description is NOT PRIVATE: it was made without noise, or with known noise, and nothing "
                "would say so of a schema with its bounds. Describe the rows with secret noise, or declare "
                "the bounds yourself"
            )
        changed = {
            name: narrowed(self._variables[name], *reach[name])
            for name in self
            if name in reach and not any(name in norm.columns for norm in self._norms)
        }
        new = self.replace(changed)
        told = [f"{name} {_describe(new[name])}" for name in new if new[name] != self[name]]
        if told:
            of = (
                f" of the rows with {described.subset}, beyond which others may lie,"
                if described.subset
                else ""
            )
            warn(
                f"the suggested bounds{of} are {'; '.join(told)}. Values beyond them will be moved to the "
                "nearer bound in every fit of this schema, except ends of intervals, entries and times, "
                "which have rules of their own"
            )
        return new

    def _with(self, unit: Unit, norms: tuple[Norm, ...]) -> Schema:
        declared: dict[Any, Any] = {**self._variables, **dict(enumerate((unit, *norms)))}
        return Schema(declared)

    @property
    def variables(self) -> dict[str, Variable]:
        """The declarations of the variables alone, without the unit and the norms."""
        return dict(self._variables)

    def _together(self) -> dict[str, Any]:
        """The unit and the norms as plain tables, the unit by its column."""
        unit = self.privacy_unit
        tables = {unit.column: {"kind": unit.kind, "max_rows": unit.max_rows}} if unit.column else {}
        for norm in self.norms:
            name = str(norm)
            while name in self._variables or name in tables:
                name += "'"
            tables[name] = {"kind": norm.kind, "columns": list(norm.columns), "radius": norm.radius}
        return tables

    def _named(self) -> dict[str, Any]:
        """The variables, and the unit and the norms by names that no column has."""
        parts = (*([self._unit] if self._unit.column else []), *self._norms)
        return self._variables | {repr(part): part for part in parts}

    def keys(self) -> KeysView[str]:
        """The names of the variables, and of the unit and the norms, so that ``{**schema}`` keeps them.

        The unit's is not that of its column: a dict that declares this as a variable, too, is refused. A loop
        over the schema, ``in``, ``len`` and ``items()`` are of the variables alone.
        """
        return self._named().keys()

    def __getitem__(self, name: str) -> Variable:
        if name in self._variables:
            return self._variables[name]
        named = self._together() | self._named()
        if name not in named:
            raise _Undeclared(name, tuple(self._variables))
        return named[name]

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __eq__(self, other: object) -> bool:
        shared = (other.privacy_unit, other.norms) if isinstance(other, Schema) else (ROW, ())
        return (self.privacy_unit, self.norms) == shared and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((frozenset(self._variables.items()), self.privacy_unit, self.norms))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The schema as plain tables, fit for JSON or TOML."""
        return {name: _plain(variable) for name, variable in self.items()} | self._together()

    def to_toml(self) -> str:
        """Return the schema as TOML.

        Examples
        --------
        >>> import dpstats as dps
        >>> print(dps.Schema(age=dps.bounded(18, 90, unit="year")).to_toml())
        [age]
        kind = "bounded"
        lower = 18.0
        upper = 90.0
        unit = "year"
        <BLANKLINE>
        """
        return toml_text(self.to_dict())

    def save(self, path: str | Path, overwrite: bool = True) -> None:
        """Write the schema to a ``.toml`` or ``.json`` file, in the place of one that exists.

        Comments of a TOML file are kept.

        Parameters
        ----------
        path : str or Path
        overwrite : bool
            With False, refuse to replace a file.

        Examples
        --------
        >>> import dpstats as dps
        >>> schema = dps.Schema(age=dps.bounded(18, 90), smokes=dps.flag())
        >>> schema.save("people.toml")
        >>> dps.Schema.load("people.toml") == schema
        True
        """
        found, suffix = path_of("path", path), _suffix(path)
        if not truth("overwrite", overwrite) and found.exists():
            raise SchemaError(f"{path} exists; write overwrite=True to replace it")
        text = (
            rewritten(found, self.to_dict(), lambda old: Schema(old).to_dict())
            if suffix == ".toml"
            else json.dumps(self.to_dict(), indent=2)
        )
        write_text(found, text, overwrite=True, suffix=suffix)

    def __or__(self, other: object) -> Schema:
        """The declarations of both; a variable of both must be declared alike.

        Examples
        --------
        >>> import dpstats as dps
        >>> list(dps.Schema(age=dps.bounded(18, 90)) | {"smokes": dps.flag()})
        ['age', 'smokes']
        """
        if not isinstance(other, Mapping):
            raise SchemaError(f"a schema is joined by | with a schema or a dict, not with {shown(other)}")
        added = as_schema(other)
        for name in self:
            if added.get(name, self[name]) != self[name]:
                raise SchemaError(
                    f"variable {name!r} is declared in two ways; keep one of them: | does not replace "
                    "what the first schema says, schema.replace does"
                )
        if ROW not in (self.privacy_unit, added.privacy_unit) and self.privacy_unit != added.privacy_unit:
            raise SchemaError("the two schemas protect different units; keep one of them")
        unit = added.privacy_unit if self.privacy_unit == ROW else self.privacy_unit
        norms = self.norms + tuple(norm for norm in added.norms if norm not in self.norms)
        return Schema(self.variables | added.variables)._with(unit, norms)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Schema:
        """Make a schema from plain tables; the opposite of `to_dict`."""
        return cls(tables)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from a ``.toml`` or ``.json`` file."""
        return cls(_parse(path, tomllib.loads if _suffix(path) == ".toml" else _json))

    @staticmethod
    def template(data: Any) -> str:
        """Write a schema to fill in, from the names and storage types of the columns of a table alone.

        No value is read, and of a CSV file only the line that names the columns, which tells no type.

        Parameters
        ----------
        data
            A frame of pandas, polars or Arrow, a dict of columns, what :func:`dpstats.read_csv` returned, or
            the path of a file.

        Returns
        -------
        str
            TOML, with a question mark for everything that has to be known without a look at the rows.

        Raises
        ------
        DataError
            If the data have no names of columns.

        Examples
        --------
        >>> import dpstats as dps
        >>> plant = dps.datasets.load("ccpp")
        >>> print(dps.Schema.template(plant.data).splitlines()[-1])
        PE = {kind = "bounded", lower = "?", upper = "?", unit = ""}  # floats
        """
        from dpstats.rows.template import template

        return template(data)

    def _table(self, form: str) -> str:
        rows = [(name, variable.kind, _describe(variable)) for name, variable in self.items()]
        unit = self.privacy_unit
        if unit.column:
            rows.append((unit.column, unit.kind, f"{unit.limit} weigh{'s' * (unit.max_rows == 1)}"))
        rows += [(", ".join(norm.columns), norm.kind, f"at most {norm.radius:g}") for norm in self.norms]
        return tabulate(rows, headers=("variable", "kind", "public"), tablefmt=form, disable_numparse=True)

    @always_shown
    def __repr__(self) -> str:
        return self._table("simple") if self or self.privacy_unit.column else "Schema()"

    def _repr_html_(self) -> str:
        return self._table("html")


def as_schema(given: object) -> Schema:
    """A schema, the declarations of one, or the file of one.

    Raises
    ------
    SchemaError
        If it is none of them.
    """
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping):
        return Schema(given)
    if isinstance(given, str | Path):
        _suffix(given, "; data come before the schema")
        return Schema.load(given)
    raise SchemaError(
        f"a schema is a dps.Schema, a dict of declarations or the path of a .toml or .json file, not "
        f"{shown(given)}; data come before the schema: dps.ols(formula, data, schema), dps.describe(data, "
        "schema, budget)"
    )


def _suffix(path: str | Path, more: str = "; the schema comes before the data") -> str:
    suffix = path_of("path", path, SchemaError).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise SchemaError(f"a schema file ends in .toml or .json, not {suffix!r}: {path}{more}")
    return suffix


def _json(text: str) -> Any:
    """What JSON says, if no object names anything twice: of two declarations a parser keeps the last."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        named = dict[str, Any]()
        for name, value in pairs:
            if name in named:
                raise ValueError(f"{shown(name)} is there twice; keep one")
            named[name] = value
        return named

    return json.loads(text, object_pairs_hook=once)


def _in_quotes(error: ValueError, text: str) -> str:
    """Which name TOML has twice; or what to do about one that another sign than a letter of ASCII ends."""
    if place := re.search(r"overwrite a value \(at (?:line (\d+)|end)", str(error)):
        line = text.rstrip().split("\n")[int(place[1] or 0) - 1]
        return f"; {shown(line.split('=')[0].strip())} is there twice; keep one"
    of_a_name = any(part in str(error) for part in (" after a key", "a table declaration"))
    return '; a name with a blank or another letter is put in quotes, as "unit price" = {...}' * of_a_name


def _parse(path: str | Path, parse: Callable[[str], Any]) -> Any:
    found = path_of("path", path, SchemaError)
    text = ""
    try:
        text = found.read_text(encoding="utf-8-sig")
        return parse(text)
    except OSError as error:
        raise SchemaError(f"the schema file {path} cannot be opened: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SchemaError(f"the schema file {path} is not in UTF-8; save it in that encoding") from None
    except ValueError as error:
        raise SchemaError(
            f"the schema file {path} cannot be read: {error}{_in_quotes(error, text)}"
        ) from None
    except RecursionError:
        raise SchemaError(f"the schema file {path} cannot be read: it is nested too deeply") from None


def _names_of(kind: type[Unit] | type[Norm], declared: Mapping[str, Any]) -> list[str]:
    """The names of what is declared as a unit, or as a norm."""
    return [
        name
        for name, value in declared.items()
        if isinstance(value, kind) or (isinstance(value, Mapping) and among(value.get("kind"), (kind.kind,)))
    ]


def _table_of(declared: dict[str, Any], name: str, needs: tuple[str, ...], what: str) -> dict[str, Any]:
    """The table of a unit or norm among the declarations, which lose it, without its kind."""
    table = {key: value for key, value in declared.pop(name).items() if key != "kind"}
    if set(table) != set(needs):
        needed, given = " and ".join(map(repr, needs)), ", ".join(map(shown, table))
        raise SchemaError(
            f"{what} needs {needed} and nothing else, {f'not {given}' if given else 'and has none'}"
        )
    return table


def _unit_of(declared: dict[str, Any]) -> Unit:
    """The unit of privacy among the declarations, which lose it; else one row."""
    names = _names_of(Unit, declared)
    if len(names) > 1:
        raise SchemaError(f"{' and '.join(map(repr, names))} are both declared as unit; keep one")
    unit = ROW
    for name in names:
        if isinstance(declared[name], Unit):
            return declared.pop(name)
        unit = Unit(name, **_table_of(declared, name, ("max_rows",), f"variable {name!r}: a unit"))
    return unit


def _norms_of(declared: dict[str, Any]) -> Iterator[Norm]:
    """The norms among the declarations, which lose them."""
    for name in _names_of(Norm, declared):
        if isinstance(declared[name], Norm):
            yield declared.pop(name)
        else:
            yield Norm(**_table_of(declared, name, ("columns", "radius"), f"{name!r}: a norm"))


def _check_unit_and_texts(unit: Unit, variables: Mapping[str, Variable]) -> None:
    tables: dict[str, Any] = ({} if unit.column is None else {unit.column: {}}) | {
        name: _plain(variable) for name, variable in variables.items()
    }
    spelt = dict[str, str]()
    for name, table in tables.items():
        if (first := spelt.setdefault(normalize("NFKC", name), name)) != name:
            raise SchemaError(f"{ascii(first)} and {ascii(name)} are two spellings of one name; keep one")
        parts = (value if isinstance(value, list) else [value] for value in table.values())
        if UNSHOWN.search("".join(map(str, (name, *chain.from_iterable(parts))))):
            raise SchemaError(
                f"{shown(name)}: its name, unit, codes or levels have a character that no file can hold, or "
                "that no line can show, such as a line break; write others, and read the data, in UTF-8"
            )
    if unit.column is not None and unit.column in variables:
        raise SchemaError(
            f"{unit.column!r} is declared as {variables[unit.column].kind}, so it cannot name "
            "the unit of privacy; a column is one or the other"
        )


def _variable(name: object, value: Any) -> Variable:
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"the name of a variable must be a text, not {by_type(name) if name else 'an empty one'}"
        )
    if isinstance(value, Variable):
        return value
    if not isinstance(value, Mapping):
        raise SchemaError(f"variable {word(name)}: use {_remedy(value)}, not {by_type(value)}")
    try:
        return _from_table(value)
    except SchemaError as error:
        named = repr(name) if isinstance(value.get("kind"), str) else word(name)
        raise SchemaError(f"variable {named}: {error}") from None


def _remedy(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        return "levels(*names)" if isinstance(value[0], str) else "bounded(lower, upper)"
    return "bounded(), count(), flag(), levels() or event()"


def _from_table(table: Mapping[str, Any]) -> Variable:
    given = dict(table)
    kind = given.pop("kind", None)
    if _unfilled(kind):
        raise SchemaError(
            f"kind is still {UNFILLED!r}; declare the variable, or delete it if no formula uses it"
        )
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join([*KINDS, Norm.kind])
        raise SchemaError(f"kind must be one of {known} or {Unit.kind}, not {shown(kind)}")
    fields = {f.name: f for f in dataclasses.fields(KINDS[kind])}
    for key in given:
        if key not in fields:
            raise SchemaError(
                f"{kind} has no {shown(key)}" + (near(key, fields) or f", only {', '.join(fields)}")
            )
    for key, item in fields.items():
        if key not in given and item.default is dataclasses.MISSING:
            raise SchemaError(f"{kind} needs {key!r}")
        if key in ("lower", "upper", "levels") and _unfilled(given.get(key)):
            raise SchemaError(
                f"{key} is still {UNFILLED!r}; write what is known of it without a look at the rows"
            )
    return KINDS[kind](**given)


def _unfilled(value: Any) -> bool:
    return isinstance(value, str | list) and value in (UNFILLED, [UNFILLED])


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
    return "{:g} to {:g}".format(*variable.bounds) + (f" {unit}" if unit else "")
