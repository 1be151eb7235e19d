"""Record and replay (spec/privacy.md 3.3, T1) for any fit.

A fit runs on a data set with its exact releases recorded, then on a neighbour with the same noisy answers
replayed. Whatever it asks the curator must then be the same question, and what the curator would have noised
must not differ by more than the sensitivity.
"""

import warnings
from collections.abc import Callable
from typing import Any

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
COVARIATES = len(DESIGN.names) - 1
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
SIGNS = dict(MAP, family=SEV, gamma=LINE, sigma=0.7, whitening=(np.eye(4) + 0.2)[1:], radius=1.2)
PUBLIC: dict[str, dict[str, Any]] = {
    "event_moments": dict(center=np.r_[MAP["center"], 2.3], half=np.r_[MAP["scale"], 2.3], log=True),
    "event_matrix": dict(MAP, radius=2.0, limit=3.0),
    "hazard_zones": dict(MAP, family=SEV, gamma=LINE, sigma=0.7, edges=[0.1, 0.5, 2.0]),
    "location_score": dict(MAP, family=LOGISTIC, c=2.0, gamma=LINE, sigma=0.7),
    "martingale_score": dict(SCORE, matrix_share=0.7),
    "score_alone": SCORE,
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


def trace(
    fit: Callable[[Data], Any], data: Data, source: Any
) -> tuple[list[Record], list[np.ndarray], list[str]]:
    """What a fit asked, what it was answered, and what it said in warnings or by an exception."""
    recording, said = Recording(source), []
    with warnings.catch_warnings(record=True) as caught, noise(recording):
        warnings.simplefilter("always")
        try:
            fit(data)
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    return recording.records, recording.answers, said + [str(warning.message) for warning in caught]


def violation(fit: Callable[[Data], Any], data: Data, neighbour: Data) -> str | None:
    """What tells the neighbours apart beyond the claim, or None."""
    asked, answers, said = trace(fit, data, SeededNoise(0))
    asked_again, _, said_again = trace(fit, neighbour, Replay(answers))
    if said or said_again:
        return f"said {said} and {said_again}"
    if len(asked) != len(asked_again):
        return f"asked {len(asked)} and {len(asked_again)} times"
    for first, second in zip(asked, asked_again, strict=True):
        if (first.name, first.sensitivity, first.cost) != (second.name, second.sensitivity, second.cost):
            return f"asked for {first.name} and {second.name} at other costs"
        if first.exact.shape != second.exact.shape:
            return f"{first.name} has another shape"
        if first.law.name != second.law.name or (first.law.axes != second.law.axes).any():
            return f"{first.name} has noise of another law"
        if first.law.distance(first.exact - second.exact) > 1:
            return f"{first.name} moved beyond its sensitivity"
    return None
