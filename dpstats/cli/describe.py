"""``dpstats describe``: a private first look at a table."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from dpstats.budget import parse_budget
from dpstats.cli.engine import engine
from dpstats.cli.output import JSON, SCHEMAS, new_file, save
from dpstats.cli.tables import data
from dpstats.ledger import Ledger
from dpstats.models import describe
from dpstats.schema import Schema


def run(options: argparse.Namespace) -> None:
    """Files are reserved before the budget is spent."""
    budget, schema = parse_budget(options.budget), Schema.load(options.schema)
    rows = data(options.data, options)
    book = Ledger(options.ledger) if options.ledger else None
    with ExitStack() as files, engine(options):
        for path, suffixes in ((options.out, JSON), (options.suggest, SCHEMAS)):
            if path:
                files.enter_context(new_file(path, suffixes))
        how = dict(ledger=book, force=options.force, subset=options.subset)
        found = describe(rows, schema, budget, options.columns, **how)
        if options.suggest:
            schema.suggest(found).save(options.suggest)
        if options.out:
            save(found, options.out)
    if not options.out:
        print(found)
