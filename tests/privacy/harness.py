"""Record and replay for any fit.

A fit runs on a data set with its exact releases recorded, then on a neighbour with the same noisy answers
replayed. Whatever it asks the curator must then be the same question, what the curator would have noised must
not differ by more than the sensitivity, and the results must be the same to the bit.
"""

import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import Curator
from dpstats.families import LOGISTIC, SEV
from dpstats.families.score_bounds import Truncation
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import Record, Recording, Replay, SeededNoise, noise

Data = dict[str, list[Any]]

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100),
    failed=dps.event(),
    temp=dps.bounded(10, 50),
    maker=dps.levels("A", "B", other=True),
)
DESIGN = build_design("Surv(time, failed) ~ temp + maker", SCHEMA)  # Intercept, two makers, temp
TOTAL = dps.gdp(10)
MAP = dict(center=np.r_[0.5, 0.5, 30.0], scale=np.r_[0.5, 0.5, 20.0], y_center=2.3, y_scale=0.6, log=True)
LINE = np.r_[0.5, 0.2, -0.2, 0.1]
PILOT = dict(MAP, whitening=np.eye(4) + 0.2, line=LINE, sigma=0.7, radius=2.5, limit=3.0)
SCORE = dict(
    MAP,
    where=Truncation(SEV, 3.0, (-1.0, 2.0), (-6.0, 1.5)),
    gamma=LINE,
    sigma=0.7,
    pivot=np.r_[0.8, 0.5, -0.5, 0.2],
    whitening=np.eye(4) + 0.2,
    radius=2.5,
)
KNOWN = SCORE | dict(where=Truncation(SEV, 3.0, (0.0, 0.0), (0.0, 0.0), known_scale=True))
SIGNS = dict(MAP, family=SEV, gamma=LINE, sigma=0.7, whitening=(np.eye(4) + 0.2)[1:], radius=1.2)
PUBLIC: dict[str, dict[str, Any]] = {
    "event_moments": dict(center=np.r_[MAP["center"], 2.3], half=np.r_[MAP["scale"], 2.3], log=True),
    "event_matrix": dict(MAP, radius=2.0, limit=3.0),
    "hazard_contrasts": dict(
        MAP,
        family=SEV,
        gamma=LINE,
        sigma=0.7,
        edges=[0.1, 0.5, 2.0],
        contrasts=[[1.0, -0.8, 0.4], [-0.6, 1.0, -0.9]],
    ),
    "location_score": dict(MAP, family=LOGISTIC, c=2.0, gamma=LINE, sigma=0.7),
    "martingale_score": dict(SCORE, matrix_share=0.7),
    "score_alone": SCORE,
    "martingale_score of a known sigma": dict(KNOWN, matrix_share=0.7),
    "score_alone of a known sigma": KNOWN,
    "information_sizes of a known sigma": KNOWN,
    "information_sizes": SCORE,
    "sign_score": SIGNS,
    "sign_sizes": dict(SIGNS, longest=2.5),
    "truncated_gram": PILOT,
    "truncated_triangle": PILOT,
    "truncated_cross": PILOT | dict(whole=False),
}

wild = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 10.0, 50.0, 100.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 2.0**53, "x", None]
) | st.floats(-200, 200)
rows = st.fixed_dictionaries(
    {
        "time": wild,
        "failed": st.sampled_from([0, 1]) | wild,
        "temp": wild,
        "maker": st.sampled_from(["A", "B", "Z", "", None, 3.5, np.nan]),
    }
)


def table(records: list[dict[str, Any]]) -> Data:
    return {name: [record[name] for record in records] for name in SCHEMA}


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Data, Data]:
    """Two tables of 1 to 6 wild rows that differ in one row."""
    records = draw(st.lists(rows, min_size=1, max_size=6))
    changed = list(records)
    changed[draw(st.integers(0, len(records) - 1))] = draw(rows)
    return table(records), table(changed)


def curator(data: Data, budget: dps.budget.Budget = TOTAL) -> Curator:
    columns = {name: np.array(values, dtype=object) for name, values in data.items()}
    return Curator(open_rows(columns, SCHEMA, DESIGN.variables), DESIGN, budget)


def release_everything(asking: Curator) -> None:
    """Each registered statistic, and one whose public parameters come from an earlier release."""
    for name in sorted(PUBLIC):
        asking.release(name.split()[0], 1.0, **PUBLIC[name])
    moments = asking.release("event_moments", 1.0, **PUBLIC["event_moments"])
    adapted = {**MAP, "y_center": float(np.clip(moments.values[0][-1], -5, 5))}
    asking.release("event_matrix", 1.0, radius=2.0, limit=3.0, **adapted)


class Run(NamedTuple):
    """What a fit asked, what it was answered, what it said in warnings or by an exception, what it gave."""

    asked: list[Record]
    answers: list[np.ndarray]
    said: list[str]
    shown: dict[str, Any]


def shown(result: Any) -> dict[str, Any]:
    """All that a user can see, store or send of a result."""
    if not hasattr(result, "to_dict"):
        return {}
    found = {"dict": json.dumps(result.to_dict()), "repr": repr(result), "pickle": pickle.dumps(result)}
    table = result.summary() if hasattr(result, "summary") else result
    return found | {"text": str(table), "html": table.as_html(), "flags": getattr(result, "flags", ())}


def run(fit: Callable[[Any], Any], data: Any, source: Any) -> Run:
    """A fit with its exact sums recorded; `source` answers."""
    recording, said, seen = Recording(source), [], {}
    with warnings.catch_warnings(record=True) as caught, noise(recording):
        warnings.simplefilter("always")
        try:
            seen = shown(fit(data))
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    said += [str(warning.message) for warning in caught]
    return Run(recording.records, recording.answers, said, seen)


def trace(
    fit: Callable[[Data], Any], data: Data, source: Any
) -> tuple[list[Record], list[np.ndarray], list[str]]:
    """What a fit asked, what it was answered, and what it said in warnings or by an exception."""
    return run(fit, data, source)[:3]


def difference(first: Run, second: Run) -> str | None:
    """What tells two fits apart that were given the same answers, beyond the claim, or None."""
    if first.said or second.said:
        return f"said {first.said} and {second.said}"
    if len(first.asked) != len(second.asked):
        return f"asked {len(first.asked)} and {len(second.asked)} times"
    for one, other in zip(first.asked, second.asked, strict=True):
        if (one.name, one.sensitivity, one.cost) != (other.name, other.sensitivity, other.cost):
            return f"asked for {one.name} and {other.name} at other costs"
        if one.exact.shape != other.exact.shape:
            return f"{one.name} has another shape"
        if one.law.name != other.law.name or (one.law.axes != other.law.axes).any():
            return f"{one.name} has noise of another law"
        if one.law.distance(one.exact - other.exact) > 1:
            return f"{one.name} moved beyond its sensitivity"
    different = [name for name in first.shown if first.shown[name] != second.shown[name]]
    return f"shows another {', '.join(different)}" if different else None


def violation(fit: Callable[[Any], Any], data: Any, *neighbours: Any) -> str | None:
    """What tells the data and a neighbour apart beyond the claim, or None."""
    first = run(fit, data, SeededNoise(0))
    found = (difference(first, run(fit, other, Replay(first.answers))) for other in neighbours)
    return next(filter(None, found), None)
