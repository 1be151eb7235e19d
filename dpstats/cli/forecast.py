"""``dpstats forecast``: failures to come of a public fleet, from a saved fit."""

from __future__ import annotations

import argparse

from dpstats.cli.output import CSV, write
from dpstats.cli.streams import DASH
from dpstats.cli.tables import public_table
from dpstats.errors import SpecificationError
from dpstats.results import SurvivalFit, load


def run(options: argparse.Namespace) -> None:
    """Print the forecast, and write its frame where a file is named."""
    fit = load(options.fit)
    if not isinstance(fit, SurvivalFit):
        raise SpecificationError(f"{options.fit} is no fit of a time to failure, and failures are forecast")
    horizon = options.horizon[0] if len(options.horizon) == 1 else options.horizon
    found = fit.forecast(
        public_table(options.fleet, options),
        horizon,
        options.periods,
        options.age,
        options.units,
        options.level,
        clip=options.clip,
    )
    if options.out is not None:
        write(found.frame.to_csv(index=False), options.out, CSV)
    if options.out != DASH:
        print(found)
