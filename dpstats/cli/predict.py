"""``dpstats predict``: new units, which are public, and a saved fit."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from dpstats.cli.output import CSV, new_file
from dpstats.cli.tables import public_table
from dpstats.errors import SpecificationError
from dpstats.results import Fit, SurvivalFit, load


def run(options: argparse.Namespace) -> None:
    """Write the table with its predictions."""
    if options.new.suffix.lower() == ".json":
        raise SpecificationError(
            f"{options.new} is no table of new units; the order is: dpstats predict "
            "FIT NEW, first the file of the fit"
        )
    fit, new = load(options.fit), public_table(options.new, options)
    if options.out is None:
        print(_table(fit, new, options).to_csv(index=False), end="")
        return
    with new_file(options.out, CSV):
        _table(fit, new, options).to_csv(options.out, index=False)


def _table(fit: Fit, new: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    return new.assign(**predicted(fit, new, options.type, options.p, options.clip))


def predicted(
    fit: Fit, new: pd.DataFrame, kind: str | None, p: float | None, clip: bool = False
) -> dict[str, np.ndarray]:
    """New columns: the prediction, with its limits on the scale of the response; which are extrapolated."""
    kind = kind or ("quantile" if isinstance(fit, SurvivalFit) else "response")
    if kind == "quantile" and isinstance(fit, SurvivalFit):
        if p is None:
            raise SpecificationError("a quantile needs --p, the failed fraction: --p 0.1 for the B10 life")
        life = fit.life(new, failed=[p], clip=clip).frame
        life = life[life["quantity"] == life["quantity"].iloc[0]]  # it has eta and the mean, too
        return _columns(life, {"estimate": kind, "conf_low": "conf_low", "conf_high": "conf_high"})
    if kind != "response":
        return {kind: fit.predict(new, type=kind, clip=clip).to_numpy()}
    found = fit.augment(new, clip=clip)
    return _columns(found, {".fitted": kind, ".lower": "conf_low", ".upper": "conf_high"})


def _columns(found: pd.DataFrame, names: dict[str, str]) -> dict[str, np.ndarray]:
    names = names | {"extrapolated": "extrapolated"}  # a column that is there if any row is
    return {new: found[old].to_numpy() for old, new in names.items() if old in found}
