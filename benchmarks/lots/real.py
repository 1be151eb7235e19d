"""Lots of real rows: set, response, covariates and bounds at random, against the fit without privacy."""

import functools
import keyword
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpstats as dps
from dpstats.formula import build_design
from lots.designs import NUMBERS, budget_of, draw_kind
from lots.rows import Sample
from lots.score import exact, fitted, scored_or_not

DATA = Path(__file__).parents[3] / "shared" / "data"
FEWEST, MOST_LEVELS, WORST = 300, 12, 1e4  # rows, levels, and condition of standardised covariates
# time, event and the code of an event
LIVES = {
    "hdfail": ("time", "status", 1),
    "rotterdam": ("dtime", "death", 1),
    "lung": ("time", "status", 2),
    "rossi": ("week", "arrest", 1),
    "gbsg2": ("time", "cens", 1),
    "veteran": ("time", "status", 1),
}
SURVIVAL = 0.25  # share of lots


@dataclass(frozen=True)
class Lot:
    """What a seed has drawn."""

    seed: int
    name: str
    model: str
    dist: str
    kind: str
    epsilon: float
    looseness: float
    response: tuple[str, ...]
    covariates: tuple[str, ...]

    @property
    def route(self) -> str:
        return f"{self.model} {'pure' if self.kind == 'pure' else 'gaussian'}"


@functools.cache
def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Complete rows of all sets that there are; those of the package come first."""
    found = {name: dps.datasets.load(name).data for name in dps.datasets.names()}
    paths = sorted(folder.rglob("*.csv*")) if folder.exists() else []
    if not paths:
        print(f"no tables in the folder of --data: {len(found)} sets of the package alone")
    for path in paths:
        frame = pd.read_csv(path, keep_default_na=True, na_values=["?"], skipinitialspace=True)
        found.setdefault(path.name.split(".")[0], frame)
    return {name: rows for name, frame in found.items() if len(rows := _complete(frame)) >= FEWEST}


def _complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers, codes 0 and 1 for what has two values, and texts of few levels; no missing values."""
    kept = {}
    for name in frame.columns:
        column, plain = frame[name], str(name).replace(".", "_").replace(" ", "_").replace("-", "_")
        values = column.dropna().unique()
        plain += "_" * keyword.iskeyword(plain)
        if len(values) < 2 or not plain.isidentifier() or column.isna().mean() > 0.2:
            continue
        numeric = pd.api.types.is_numeric_dtype(column)
        if len(values) == 2:
            kept[plain] = column.map({value: float(j) for j, value in enumerate(sorted(values, key=str))})
        elif numeric:
            kept[plain] = column.astype(float)
        elif len(values) <= MOST_LEVELS:
            kept[plain] = column.astype(str).where(column.notna())
    return pd.DataFrame(kept).dropna().reset_index(drop=True)


def draw_lot(seed: int, folder: Path) -> Lot:
    """The lot of a seed."""
    rng, known = np.random.default_rng([seed, 2]), tables(folder)
    lives = [name for name in known if name in LIVES and set(LIVES[name][:2]) <= set(known[name])]
    survival = bool(lives) and rng.uniform() < SURVIVAL
    name = str(rng.choice(lives if survival else list(known)))
    rows = known[name]
    if survival:
        response, model = LIVES[name][:2], "survreg"
    else:
        numeric = [column for column in rows if rows[column].dtype.kind == "f"]
        response = (str(rng.choice(numeric)),)
        model = _model(rows[response[0]], rng)
    others = [column for column in rows if column not in response]
    most = max(1, min(len(others), 30, NUMBERS // len(rows)))
    chosen = rng.permutation(others)[: int(round(most ** rng.uniform()))]
    dist = str(rng.choice(["weibull", "loglogistic", "lognormal"])) if survival else ""
    return Lot(
        seed,
        name,
        model,
        dist,
        draw_kind(rng, model),
        10 ** rng.uniform(np.log10(0.2), 1),
        10 ** rng.uniform(0, 2),
        tuple(response),
        tuple(map(str, chosen)),
    )


def _model(response: pd.Series, rng: np.random.Generator) -> str:
    values = response.to_numpy()
    counts = (values >= 0).all() and (values == np.rint(values)).all() and values.max() < 1000
    if set(np.unique(values)) == {0.0, 1.0}:
        return "logit"
    if counts and rng.uniform() < 0.6:
        return "poisson"
    return "gamma" if (values > 0).all() and rng.uniform() < 0.2 else "ols"


def real_lot(seed: int, folder: Path) -> dict[str, Any]:
    """The record of a lot, or that it was refused."""
    lot = draw_lot(seed, folder)
    rows, began = tables(folder)[lot.name], time.process_time()
    drawn, names = sample(lot, rows), lot.covariates
    while np.linalg.cond(_standard(drawn.exog)) > WORST and len(names) > 1:
        names = names[: len(names) // 2]
        drawn = sample(replace(lot, covariates=names), rows)
    record = {
        "seed": seed,
        "model": lot.model,
        "dist": lot.dist,
        "law": lot.name,
        "kind": lot.kind,
        "route": lot.route,
        "n": len(rows),
        "epsilon": round(lot.epsilon, 3),
        "n epsilon": len(rows) * lot.epsilon,
        "d": len(names),
        "looseness": lot.looseness,
        "formula": drawn.formula,
    }
    record |= scored_or_not(lambda: _fitted(lot, drawn))
    return record | {"seconds": round(time.process_time() - began, 2)}


def _standard(exog: np.ndarray) -> np.ndarray:
    rest = exog[:, 1:] - exog[:, 1:].mean(axis=0)
    return rest / np.maximum(rest.std(axis=0), 1e-12) + 0.0


def _fitted(lot: Lot, drawn: Sample) -> dict[str, Any]:
    truth, cov = exact(lot.model, lot.dist, drawn, slice(None))
    if lot.model == "survreg":
        model: Any = dps.survreg(drawn.formula, drawn.rows, drawn.schema, dist=lot.dist)
    elif lot.model in ("ols", "logit"):
        model = getattr(dps, lot.model)(drawn.formula, drawn.rows, drawn.schema)
    else:
        model = dps.glm(drawn.formula, drawn.rows, drawn.schema, family=lot.model)
    return fitted(model, budget_of(lot.kind, lot.epsilon), lot.seed, truth, np.zeros(len(truth)), cov)


def sample(lot: Lot, rows: pd.DataFrame) -> Sample:
    """Rows with the declarations of a user who knows the ranges more or less."""
    rng = np.random.default_rng([lot.seed, 3])
    declared = {name: _declared(rows[name], lot.looseness ** rng.uniform(), rng) for name in lot.covariates}
    right = " + ".join(lot.covariates)
    exog = build_design(f"y_ ~ {right}", dps.Schema(y_=dps.flag(), **declared)).new_rows(rows, clip=True).exog
    fields: dict[str, Any] = {"offset": 0.0, "weights": None}
    if lot.model == "survreg":
        time_name, event_name, code = LIVES[lot.name]
        times, coded = np.maximum(rows[time_name].to_numpy(), 0.5), rows[event_name].to_numpy()
        event = (coded == (code if coded.max() > 1 else 1)).astype(int)
        data = rows.assign(time_=times, event_=event)
        span = (times.min() / lot.looseness ** rng.uniform(), times.max() * lot.looseness ** rng.uniform())
        declared |= {"time_": dps.bounded(*span), "event_": dps.event()}
        fields |= {"log_time": np.log(times), "event": event}
        return Sample(f"Surv(time_, event_) ~ {right}", dps.Schema(**declared), data, exog, None, fields)
    (name,) = lot.response
    y = rows[name].to_numpy()
    fields["y"] = y
    low, high = float(y.min()), float(y.max())
    if lot.model == "logit":
        declared[name], data = dps.flag(), rows.assign(**{name: y.astype(int)})
    elif lot.model == "poisson":
        declared[name] = dps.count(int(np.ceil(high * lot.looseness ** rng.uniform())))
        data = rows.assign(**{name: y.astype(int)})
    elif lot.model == "gamma":
        declared[name], data = dps.bounded(low, high * lot.looseness ** rng.uniform()), rows
    else:
        declared[name], data = _declared(rows[name], lot.looseness ** rng.uniform(), rng), rows
    return Sample(f"{name} ~ {right}", dps.Schema(**declared), data, exog, None, fields)


def _declared(column: pd.Series, looseness: float, rng: np.random.Generator) -> Any:
    if column.dtype.kind != "f":
        return dps.levels(*sorted(column.unique()))
    low, width = float(column.min()), float(np.ptp(column))
    if set(column.unique()) == {0.0, 1.0}:
        return dps.flag()
    below = rng.uniform() * (looseness - 1) * width
    return dps.bounded(low - below, low - below + looseness * width)
