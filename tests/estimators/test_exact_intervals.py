"""Without noise and bounds, fits of failures between two times are R's, for all kinds of rows together."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.location_scale import fit_location_scale, make_plan
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, noise
from tests.estimators.test_exact import problem

GOLDENS = Path(__file__).parents[1] / "goldens"
FITS = json.loads((GOLDENS / "intervals.json").read_text())["fits"]
STEPS = {"rotterdam": ("dtime", 365), "lung": ("time", 90)}
UNLIMITED = dps.gdp(1e12)
EARLY, TAIL = 100, 8


def inspected(name: str) -> tuple[pd.DataFrame, dps.Schema]:
    """The rows as ``intervals.R`` has them: looked at after each step, each fourth row all the time."""
    loaded = dps.datasets.load(name)
    frame = loaded.data if isinstance(loaded.data, pd.DataFrame) else pd.DataFrame(loaded.data)
    if name not in STEPS:
        return frame, loaded.schema
    column, step = STEPS[name]
    event, horizon = {"rotterdam": ("death", 7300), "lung": ("status", 1100)}[name]
    time, failed = frame[column], frame[event] == (2 if name == "lung" else 1)
    before, seen = np.floor(time / step) * step, np.arange(1, len(frame) + 1) % 4 == 0
    lower = np.where(failed & ~seen, np.where(before > 0, before, np.nan), time)
    upper = np.where(failed, np.where(seen, time, before + step), np.nan)
    ends = {end: dps.bounded(1, 2 * horizon) for end in ("lower", "upper")}
    return frame.assign(lower=lower, upper=upper), dps.Schema(**dict(loaded.schema), **ends)


def name(golden: dict[str, Any]) -> str:
    return f"{golden['data']}-{golden['dist']}"


def fitted(golden: dict[str, Any]) -> np.ndarray:
    frame, schema = inspected(golden["data"])
    design = build_design(golden["formula"], schema)
    rows = open_rows(frame, schema, design.variables)
    block = next(iter(rows.blocks(2**13)))
    read = design.read(block)
    lower, upper = (end[read.ok] for end in read.ends)
    kinds = {"seen": lower == upper, "before": np.isneginf(lower)}
    assert (rows.n, read.ok.sum()) == (golden["rows"], golden["used"])
    assert {kind: of.sum() for kind, of in kinds.items()} == {kind: golden[kind] for kind in kinds}
    scale = 1.0 if golden["dist"] == "exponential" else None
    known = problem(design, golden["dist"], scale)
    with noise(NoNoise()):
        return fit_location_scale(
            Curator(rows, design, UNLIMITED), known, make_plan(UNLIMITED.mu, EARLY, TAIL, True)
        ).params


OF_MANY_ROWS = [
    pytest.param(fit, id=name(fit), marks=[pytest.mark.long] * (fit["data"] == "rotterdam")) for fit in FITS
]


@pytest.mark.parametrize("golden", OF_MANY_ROWS)
def test_the_iteration_ends_at_the_estimates_of_r(golden: dict[str, Any]) -> None:
    error = np.abs(fitted(golden) - golden["params"])[: len(golden["params"])]
    sds = np.sqrt(np.diag(golden["cov"]))
    assert (error <= 1e-6 * np.where(sds > 0, sds, math.inf)).all(), error / sds
