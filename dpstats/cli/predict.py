"""``dpstats predict`` and ``dpstats forecast``: new units and fleets, which are public, and a saved fit."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats._arguments import shown, warn
from dpstats._private import protected
from dpstats.cli.files import CSV, as_read, table, write, written
from dpstats.cli.streams import DASH
from dpstats.errors import DataError, SpecificationError
from dpstats.formula.newdata import RowError
from dpstats.results import Fit, HazardFit, SurvivalFit, load
from dpstats.results.forecast import warn_of_groups
from dpstats.results.prediction import warn_of_lost
from dpstats.results.survival_hazards import CURVES
from dpstats.results.survival_quantities import AT_TIMES, OF_QUANTILES, kind_asked
from dpstats.results.table import plain
from dpstats.rows import CsvFile


def run(options: argparse.Namespace) -> None:
    """Write the table with its predictions."""
    if options.new.suffix.lower() == ".json":
        raise SpecificationError(
            f"{options.new} is no table of new units; the order is: dpstats predict "
            "FIT NEW, first the file of the fit"
        )
    fit = load(options.fit)
    rows = written(options.new, options)
    new = as_read(rows, table(options.new, options), fit.schema)
    if response := [
        name for name in new if name in fit.design.variables and name not in fit.record.covariates
    ]:
        warn(f"{options.new} has {', '.join(response)}: if it holds private rows, so does what is written")
    found = rows.assign(**_beside(fit, new, options))
    failure = DataError(f"{options.new} has texts that are not UTF-8")
    write(protected(lambda: found.to_csv(index=False), failure), options.out, CSV)


def _beside(fit: Fit, new: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Covariates as they are read, and predictions, which are empty where a row lacks a value."""
    lacking = _lacking(new, fit.record.covariates, "have no prediction")
    whole = new[~lacking]
    with rows_of(options.new, whole):
        columns = predicted(fit, whole, options.type, options.p, options.times, options.clip)
    read = new[[name for name in fit.record.covariates if name in new]]
    return read.assign(**pd.DataFrame(columns, index=whole.index).reindex(new.index))


@contextmanager
def rows_of(path: Path, kept: pd.DataFrame) -> Iterator[None]:
    """Let errors name a row by its place in the file: a fit counts from 0 the rows that it was given."""
    try:
        yield
    except RowError as error:
        _, row, what, *_ = error.args
        if what.endswith("a finite number"):
            commas = kept.iloc[row].astype(str).str.contains(r"\d,\d").any()
            of_commas = "of a file with decimal commas say --decimal ','"
            what += f"; {of_commas if commas else 'a value that is not known is an empty cell'}"
        raise SpecificationError(f"{path} row {kept.index[row] + 1} below the header{what}") from None


def _lacking(new: pd.DataFrame, names: Sequence[str], they: str) -> pd.Series:
    """Which rows lack a value, with a warning of what that means; none if all do, which is refused."""
    needed = [name for name in names if name in new]
    lacking = new[needed].isna().any(axis=1)
    if lacking.all():
        lacking[:] = False  # that of a row is named by the fit
    if lacking.any():
        empty = [name for name in needed if new.loc[lacking, name].isna().any()]
        warn(f"{int(lacking.sum())} row(s) lack a value of {', '.join(empty)}, and {they}")
    return lacking


def predicted(
    fit: Fit,
    new: pd.DataFrame,
    kind: str | None,
    p: float | None = None,
    times: Sequence[float] | None = None,
    clip: bool = False,
) -> dict[str, np.ndarray]:
    """New columns: the prediction, with its limits on the scale of the response; which are extrapolated."""
    kind = kind_asked(kind, "response", p, times)
    found: dict[str, np.ndarray] = {}
    if isinstance(fit, SurvivalFit) and kind in OF_QUANTILES:
        found = _quantile(fit, new, kind, 0.5 if kind == "median" else p, clip)
    elif (isinstance(fit, SurvivalFit) and kind in AT_TIMES) or (
        isinstance(fit, HazardFit) and kind in CURVES
    ):
        found = _at_times(fit, new, kind, times, clip)
    if found:
        warn_of_lost(pd.DataFrame(found).isna().any(axis=1).to_numpy())
        return found
    if kind != "response":
        return {kind: np.asarray(fit.predict(new, type=kind, clip=clip))}
    return _columns(
        fit.augment(new, clip=clip), {".fitted": kind, ".lower": "conf_low", ".upper": "conf_high"}
    )


def _quantile(
    fit: SurvivalFit, new: pd.DataFrame, kind: str, p: float | None, clip: bool
) -> dict[str, np.ndarray]:
    if p is None:
        raise SpecificationError("a quantile needs --p, the failed fraction: --p 0.1 for the B10 life")
    life = fit.life(new, failed=[p], clip=clip).frame
    life = life[life["quantity"] == life["quantity"].iloc[0]]  # it has eta and the mean, too
    return _columns(life, {"estimate": kind, "conf_low": "conf_low", "conf_high": "conf_high"})


def _at_times(
    fit: SurvivalFit | HazardFit,
    new: pd.DataFrame,
    kind: str,
    times: Sequence[float] | None,
    clip: bool,
) -> dict[str, np.ndarray]:
    """Return three columns for each time; of several times their names have the time in them."""
    if not times:
        raise SpecificationError(f"--type {kind} needs --times, such as --times 500 1000")
    columns: dict[str, np.ndarray] = {}
    if isinstance(fit, HazardFit):
        method = fit.survival
    else:
        method = fit.hazard if kind == "hazard" else fit.reliability
    for time in times:
        found = method(new, times=time, clip=clip).frame
        if kind == "cumhaz":
            with np.errstate(divide="ignore"):
                logs = 0.0 - np.log(found[["estimate", "conf_high", "conf_low"]].to_numpy())
            found[["estimate", "conf_low", "conf_high"]] = logs
        at = f"_{plain(time)}" if len(times) > 1 else ""
        names = {"estimate": f"{kind}{at}", "conf_low": f"conf_low{at}", "conf_high": f"conf_high{at}"}
        columns |= _columns(found, names)
    return columns


def _columns(found: pd.DataFrame, names: dict[str, str]) -> dict[str, np.ndarray]:
    names = names | {"extrapolated": "extrapolated"}  # a column that is there if any row is
    return {new: found[old].to_numpy() for old, new in names.items() if old in found}


def forecast(options: argparse.Namespace) -> None:
    """Print the forecast, and write its frame where a file is named."""
    fit = load(options.fit)
    if not isinstance(fit, SurvivalFit):
        raise SpecificationError(f"{options.fit} is no fit of a time to failure, and failures are forecast")
    horizon = options.horizon[0] if len(options.horizon) == 1 else options.horizon
    given, texts = table(options.fleet, options), written(options.fleet, options)
    own = {name: option for option, name in (("--age", options.age), ("--units", options.units)) if name}
    fleet = as_read(texts, given, fit.schema, own)
    for name, option in own.items():
        if name not in fleet:
            raise SpecificationError(f"{options.fleet} has no column {shown(name)}; name it, {option} COLUMN")
    needed = [*fit.record.covariates, *own]
    whole = fleet[~_lacking(fleet, needed, "are left out: their failures are not counted")]
    with rows_of(options.fleet, whole):
        found = fit.forecast(
            whole,
            horizon,
            options.periods,
            options.age,
            options.units,
            options.level,
            clip=options.clip,
        )
    for name in own if isinstance(given, CsvFile) and not given.thousands else ():
        warn_of_groups(name, texts[name])
    if options.out is not None:
        write(found.frame.to_csv(index=False), options.out, CSV)
    if options.out != DASH:
        print(found)
