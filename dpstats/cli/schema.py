"""``dpstats schema new | check``: a schema, and the header of a table that it is to describe."""

import argparse
from pathlib import Path

from dpstats.checking import check as data_check
from dpstats.cli.files import data, write
from dpstats.contributors import Plan
from dpstats.errors import SpecificationError
from dpstats.rows import CsvFile, SqlQuery, column_names, open_rows
from dpstats.schema import Schema
from dpstats.schema.comments import key_of


def new(options: argparse.Namespace) -> None:
    """Write a schema to fill in."""
    given = data(options.data, options)
    write(Schema.template(given[0] if isinstance(given, list) else given), options.out, (".toml",))


def check(options: argparse.Namespace) -> None:
    """A header is refused where a fit refuses it, by the same code; a plan of contributions has a schema."""
    try:
        plan = Plan.load(options.schema)
        schema, formula = plan.schema, options.formula or plan.formula
    except SpecificationError:
        schema, formula = Schema.load(options.schema), options.formula
    table = data(options.data, options) if options.data else None
    unused = [] if table is None else undeclared(table, schema)
    print(schema)
    if table is not None:
        print(f"\n{options.data} has every declared column.{'' if options.values else ' No value was read.'}")
    beside = {name: getattr(options, name) for name in ("exposure", "weights", "subset")}
    if options.values or options.formula or any(beside.values()):
        if table is None or not options.values:
            raise SpecificationError(
                "--values needs a table, and --formula both: dpstats schema check "
                'SCHEMA DATA --values --formula "y ~ x"'
            )
        found = str(data_check(table, schema, formula, **beside))
        print(f"\n{found}")
        if "dps.read_csv" in found:
            print(
                "Here decimal=',' of dps.read_csv is --decimal ',', and so are its other arguments options."
            )
    if unused:
        names = [key_of(name) if name.strip() else "a column without a name" for name in unused]
        print(f"Not declared, so not usable in a formula: {', '.join(names)}")


def undeclared(table: SqlQuery | CsvFile | Path | list[CsvFile | Path], schema: Schema) -> list[str]:
    """The columns of a table that suits the schema, without those that are declared; none of a query.

    Raises
    ------
    DataError
        If a fit that reads all declared variables would refuse the table's header.
    """
    open_rows(table, schema, list(schema))
    if isinstance(table, SqlQuery):
        return []
    first = table[0] if isinstance(table, list) else table
    present = first.names if isinstance(first, CsvFile) else column_names(first)
    return [name for name in present if name not in schema and name != schema.privacy_unit.column]
