"""Rows of a design, its schema and formula, and the parameters that made them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats
from scipy.special import expit

import dpstats as dps
from dpstats.families import DISTS
from dpstats.families.glm import BINOMIAL
from dpstats.formula import build_design
from lots.designs import Design
from lots.exact import LINKS

Array = np.ndarray
MANY = 200_000  # rows that say what very many would, where the law is another one
GRID = 8  # of a survival curve


@dataclass(frozen=True)
class Sample:
    """What a fit needs, and what it is to find.

    Attributes
    ----------
    formula : str
    schema : Schema
    rows : DataFrame
        The first n rows are the data; the others, if any, say what very many rows would give.
    exog : array
        Of all of them.
    truth : array or None
        Parameters, where these are the estimand.
    fields : dict
        Response, offset and weights of all rows, as arrays; "log_time" and "event" of a survival model.
    """

    formula: str
    schema: dps.Schema
    rows: pd.DataFrame
    exog: Array
    truth: Array | None
    fields: dict[str, Any]


def sample(design: Design) -> Sample:
    """Rows of a regression."""
    rng = np.random.default_rng([design.seed, 1])
    n = design.n + (0 if design.known or design.own else MANY)
    rows = design.covariates.draw(rng, n)
    declared, right, fields = _extras(design, rows, rng)
    blank = dps.Schema(y=dps.flag(), **declared)
    exog = build_design(f"y ~ {right}", blank).new_rows(rows, clip=True).exog
    params = _params(design, exog, rng)
    eta = (_levelled(exog, rng) if design.law == "saturating" else exog) @ params
    response = _RESPONSES[design.model](design, rows, eta, fields, rng)
    params[0] += response.moved
    truth = np.append(params, np.log(design.level)) if design.model == "survreg" else params
    schema = dps.Schema(**declared, **response.declared)
    if design.extra == "units":
        rows["unit"] = np.arange(n) // 3
        schema = schema.unit("unit", max_rows=3)
    rows = rows.assign(**response.columns)
    return Sample(
        f"{response.left} ~ {right}{' + offset(o)' * ('o' in rows)}",
        schema,
        rows,
        exog,
        truth if design.known else None,
        fields | response.fields,
    )


def _extras(
    design: Design, rows: pd.DataFrame, rng: np.random.Generator
) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Declarations of covariates, the right side, and offset and weights, which are put into `rows`."""
    columns = design.covariates.columns
    declared = {column.name: column.declared for column in columns}
    right, fields = [column.name for column in columns], {"offset": 0.0, "weights": None}
    if design.extra == "interaction":
        right.append(f"{columns[0].name}:{columns[1].name}")
    if design.extra == "spline":
        right[0] = f"bs({columns[0].name}, df=4)"
    if design.extra == "offset":
        declared["o"], rows["o"] = dps.bounded(-2, 2), np.clip(rng.normal(0, 0.5, len(rows)), -2, 2)
        fields["offset"] = rows["o"].to_numpy()
    if design.extra == "weights":
        declared["w"], rows["w"] = dps.bounded(0, 2), rng.choice([0.5, 1.0, 2.0], len(rows))
        fields["weights"] = rows["w"].to_numpy()
    return declared, " + ".join(right), fields


def _params(design: Design, exog: Array, rng: np.random.Generator) -> Array:
    """Of a linear predictor with the sd of the design, and an intercept of 0."""
    spread = exog[:, 1:].std(axis=0)
    drawn = rng.normal(size=len(spread)) * (rng.uniform(size=len(spread)) < 0.7)
    slopes = np.divide(drawn, spread, out=np.zeros_like(drawn), where=spread > 1e-9)
    sd = (exog[:, 1:] @ slopes).std()
    wanted = design.signal
    if design.model == "ols":
        wanted = np.sqrt(design.signal / (1 - design.signal))
    elif design.model == "survreg":
        wanted = design.signal * design.level
    slopes = slopes * (wanted / sd if sd > 1e-12 else 0.0)
    return np.append(-exog[:, 1:].mean(axis=0) @ slopes, slopes)


def _levelled(exog: Array, rng: np.random.Generator) -> Array:
    """Columns whose far values count no more than nearer ones, or hardly more; flags as they are."""
    found = exog.copy()
    for j in range(1, exog.shape[1]):
        low, spread = exog[:, j].min(), exog[:, j].std() + 1e-12
        reach, kind = 10 ** rng.uniform(-0.5, 0.5), rng.integers(4)  # in sds; one in four stays a line
        above = (exog[:, j] - low) / spread
        shapes = (above, np.minimum(above, reach + np.median(above)), reach * np.log1p(above / reach))
        bent = shapes[kind] if kind < 3 else reach * np.tanh((above - above.mean()) / reach)
        found[:, j] = low + spread * bent
    return found


@dataclass(frozen=True)
class Response:
    """Columns of the response, their declarations, and by how much the intercept was moved."""

    left: str
    columns: dict[str, Array]
    declared: dict[str, Any]
    fields: dict[str, Any]
    moved: float = 0.0


def _bounds(values: Array, looseness: float, rng: np.random.Generator) -> tuple[float, float]:
    low, width = float(values.min()), max(float(np.ptp(values)), 1e-9)
    low -= rng.uniform() * (looseness - 1) * width
    return low, low + looseness * width


def _ols(design: Design, rows: pd.DataFrame, eta: Array, fields: Any, rng: np.random.Generator) -> Response:
    n = len(eta)
    draws = {
        "right": lambda: rng.normal(size=n),
        "heavy": lambda: rng.standard_t(3.5, n),
        "skewed": lambda: np.exp(0.8 * rng.normal(size=n)) - np.exp(0.32),
        "heteroskedastic": lambda: rng.normal(size=n) * np.exp(0.6 * _standard(eta, rows)),
        "clustered": lambda: (
            np.sqrt(0.8) * rng.normal(size=n) + np.sqrt(0.2) * np.repeat(rng.normal(size=n // 3 + 1), 3)[:n]
        ),
    }
    place = rng.normal() * 10 ** rng.uniform(-1, 2)
    y = place + eta + draws[design.law]()
    return Response("y", {"y": y}, {"y": dps.bounded(*_bounds(y, design.looseness, rng))}, {"y": y}, place)


def _standard(eta: Array, rows: pd.DataFrame) -> Array:
    """The linear predictor, or a covariate, in sds; at most 3."""
    numeric = [rows[name].to_numpy() for name in rows if rows[name].dtype.kind == "f"]
    values = eta if np.std(eta) > 0 else (numeric or [np.zeros(len(eta))])[0]
    return np.clip((values - values.mean()) / (values.std() + 1e-12), -3, 3)


def _logit(design: Design, rows: pd.DataFrame, eta: Array, fields: Any, rng: np.random.Generator) -> Response:
    odds = eta + fields["offset"] + (0.4 * _standard(eta, rows) ** 2 if design.law == "bent" else 0.0)
    mean = (LINKS.get(design.model) or BINOMIAL).mean
    moved = optimize.brentq(lambda a: mean(a + odds).mean() - design.level, -60, 60)
    y = (rng.uniform(size=len(eta)) < mean(moved + odds)).astype(int)
    return Response("y", {"y": y}, {"y": dps.flag()}, {"y": y}, moved)


def _counts(
    design: Design, rows: pd.DataFrame, eta: Array, fields: Any, rng: np.random.Generator
) -> Response:
    log_mean = eta + fields["offset"]
    moved = np.log(design.level / np.exp(log_mean).mean())
    mean = np.minimum(np.exp(log_mean + moved), 1e5)
    if design.law == "bounded":
        y = rng.binomial(52, np.clip(expit(log_mean + rng.normal(0, 1.5, len(eta))), 0, 1))
        return Response("y", {"y": y}, {"y": dps.count(52)}, {"y": y})
    y = rng.poisson(mean * _factor(design, len(eta), rng))
    most = int(np.ceil(max(y.max(), 1) * design.looseness))
    return Response("y", {"y": y}, {"y": dps.count(most)}, {"y": y}, moved)


def _factor(design: Design, n: int, rng: np.random.Generator) -> Array | float:
    """Of mean 1 and variance alpha, what means are times that scatter more than covariates say."""
    if design.law == "mixed":
        return rng.lognormal(-np.log1p(design.alpha) / 2, np.sqrt(np.log1p(design.alpha)), n)
    if design.law in ("overdispersed", "scattered"):
        return rng.gamma(1 / design.alpha, design.alpha, n)
    return 1.0


def _gamma(design: Design, rows: pd.DataFrame, eta: Array, fields: Any, rng: np.random.Generator) -> Response:
    moved, shape = rng.uniform(-3, 6), design.level
    mean = np.exp(eta + fields["offset"] + moved)
    if design.law == "right":
        y = mean * rng.gamma(shape, 1 / shape, len(eta))
    else:
        sd = np.sqrt(np.log1p(1 / shape))
        y = mean * np.exp(sd * rng.normal(size=len(eta)) - sd**2 / 2)
    y = np.maximum(y, 1e-9)
    bounds = (float(y.min()), float(y.max()) * design.looseness)
    return Response("y", {"y": y}, {"y": dps.bounded(*bounds)}, {"y": y}, moved)


def _times(design: Design, rows: pd.DataFrame, eta: Array, fields: Any, rng: np.random.Generator) -> Response:
    n, family = len(eta), DISTS[design.dist].family
    noise = family.quantile(rng.uniform(1e-12, 1, n))
    if design.law == "other":
        noise = {"weibull": rng.normal(size=n), "lognormal": rng.standard_t(4, n)}.get(
            design.dist, stats.gumbel_l.ppf(rng.uniform(size=n))
        )
    if design.law == "heteroskedastic":
        noise = noise * np.exp(0.4 * _standard(eta, rows))
    place = rng.uniform(-2, 8)
    log_life = place + eta + design.level * np.clip(noise, -25, 25)
    log_end = _censoring(design, log_life, _standard(eta, rows), rng)
    log_time, event = np.minimum(log_life, log_end), (log_life <= log_end).astype(int)
    low, high = float(log_time.min()), float(log_time.max())
    if design.inspected:
        return _inspected(design, log_life, log_end, place, rng)
    loose = np.log(design.looseness) * 1.5
    bounds = (np.exp(low - loose * rng.uniform()) * 0.999, np.exp(high + loose * rng.uniform()) * 1.001)
    return Response(
        "Surv(time, failed)",
        {"time": np.exp(log_time), "failed": event},
        {"time": dps.bounded(*bounds), "failed": dps.event()},
        {"log_time": log_time, "event": event},
        place,
    )


def _inspected(
    design: Design, log_life: Array, log_end: Array, place: float, rng: np.random.Generator
) -> Response:
    """The ends between which rows failed, of rows that are inspected until they are censored.

    Errors and lengths are measured against a fit that sees the failures.
    """
    n, spread = len(log_life), max(float(log_life.std()), 0.1)
    last = np.minimum(log_end, np.quantile(log_life, 0.98))
    life, end = np.exp(log_life), np.exp(last)
    if design.inspected in ("once", "left"):
        at = np.exp(np.minimum(last, np.median(log_life) + 0.7 * spread * rng.normal(size=n)))
        before, after = np.where(life <= at, np.nan, at), np.where(life <= at, at, np.nan)
        seen = (life > at) & (life <= end) if design.inspected == "left" else np.zeros(n, dtype=bool)
    else:
        count = {"few": rng.integers(2, 5), "mixed": rng.integers(2, 8)}.get(
            design.inspected, rng.integers(5, 31)
        )
        times = np.linspace(0, 1, count + 1) if design.inspected != "growing" else 2.0 ** np.arange(-count, 1)
        grid = times * end[:, None]
        place_of = (grid < life[:, None]).sum(axis=1)
        rows = np.arange(n)
        before = grid[rows, np.maximum(place_of - 1, 0)]
        after = np.where(place_of > count, np.nan, grid[rows, np.minimum(place_of, count)])
        before = np.where(place_of == 0, 0.0, before)
        seen = (
            (rng.uniform(size=n) < 0.5) & (life <= end)
            if design.inspected == "mixed"
            else np.zeros(n, dtype=bool)
        )
    if design.inspected == "left":  # those that had not failed when they were found are watched to their end
        before, after = np.where(life > at, end, before), np.where(life > at, np.nan, after)
    before, after = np.where(seen, life, before), np.where(seen, life, after)
    ends = np.concatenate([before[before > 0], after[after > 0]])
    loose = design.looseness**1.5
    bounds = dps.bounded(float(ends.min()) * 0.999 / loose, float(ends.max()) * 1.001 * loose)
    time = np.where(np.isfinite(after), np.minimum(log_life, last), last)
    return Response(
        'Surv(before, after, type="interval2")',
        {"before": before, "after": after},
        {"before": bounds, "after": bounds},
        {"log_time": time, "event": np.isfinite(after).astype(int)},
        place,
    )


def _censoring(design: Design, log_life: Array, where: Array, rng: np.random.Generator) -> Array:
    """Log censoring times such that the share of the design is censored."""
    n = len(log_life)
    if design.censored < 0.01:
        return np.full(n, np.inf)
    spread = max(float(log_life.std()), 0.1)
    shapes = {
        "end": lambda: np.zeros(n),
        "lumps": lambda: rng.choice([-0.7, 0.0, 0.7], n) * spread,
        "staggered": lambda: np.log(rng.uniform(1e-3, 1, n)),
        "random": lambda: np.log(rng.exponential(size=n) + 1e-9),
        "informative": lambda: spread * (0.7 * where + 0.5 * rng.normal(size=n)),
    }
    ends = shapes[design.censoring]()
    apart = np.sort(log_life - ends)
    return ends + apart[min(int((1 - design.censored) * n), n - 1)]


_RESPONSES = {
    "ols": _ols,
    "logit": _logit,
    **dict.fromkeys(LINKS, _logit),
    **dict.fromkeys(("poisson", "negativebinomial"), _counts),
    "gamma": _gamma,
    "survreg": _times,
}


@dataclass(frozen=True)
class Curves:
    """Rows of survival curves without a model, and the true curves at the grid."""

    formula: str
    schema: dps.Schema
    rows: pd.DataFrame
    times: Array
    truth: dict[str, Array]


def curves(design: Design) -> Curves:
    """One curve, or one for each level of a factor; lumps are censored at times of the grid."""
    rng = np.random.default_rng([design.seed, 1])
    n, family, sigma = design.n, DISTS[design.dist].family, design.level
    column = design.covariates.columns[0]
    groups = column.levels if column.kind == "factor" else [""]
    group = column.values(rng.normal(size=n)) if column.kind == "factor" else np.repeat("", n)
    places = {name: float(rng.normal() * design.signal * sigma) for name in groups}
    life = np.array([places[name] for name in group]) + sigma * family.quantile(rng.uniform(size=n))
    end = _censoring(design, life, np.zeros(n), rng)
    log_time, event = np.minimum(life, end), (life <= end).astype(int)
    grid = np.unique(np.round(np.quantile(np.exp(log_time), np.linspace(0.1, 0.98, GRID)), 6))
    if design.censoring in ("lumps", "end"):  # ends are times of the grid, as the documentation advises
        lumps = np.exp(np.unique(end[np.isfinite(end)]))
        grid = np.unique(np.append(grid, lumps[lumps <= np.exp(log_time.max())]))
    time = np.exp(log_time)
    low, high = min(time.min(), grid[0]), max(time.max(), grid[-1])
    schema = dps.Schema(
        time=dps.bounded(low / design.looseness, high * design.looseness),
        failed=dps.event(),
        **({"g": dps.levels(*groups)} if len(groups) > 1 else {}),
    )
    rows = pd.DataFrame({"time": time, "failed": event, "g": group})
    if design.extra == "units":
        rows["unit"] = np.arange(n) // 3
        schema = schema.unit("unit", max_rows=3)
    truth = {name: family.sf((np.log(grid) - places[name]) / sigma) for name in groups}
    return Curves(f"Surv(time, failed) ~ {'g' if len(groups) > 1 else '1'}", schema, rows, grid, truth)
