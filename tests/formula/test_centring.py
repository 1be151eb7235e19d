"""Products of numbers far from 0: the same lines, by columns that are not nearly the same."""

import pickle

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula import build_design, centred

SCHEMA = dps.Schema(
    y=dps.bounded(0, 1),
    year=dps.bounded(1980, 2030),
    volts=dps.bounded(210, 230),
    x=dps.bounded(-2, 2),
    g=dps.levels(*"abc"),
)
LINES = {
    "y ~ g*year": 1,
    "y ~ g + g:year + x": 1,
    "y ~ year*volts*g": 2,
    "y ~ x*year - 1 + g": 1,
    "y ~ g*x + year": 0,  # no product of it
    "y ~ g:year": 0,  # lines with a jump are no lines without
    "y ~ x*year - 1": 0,
    "y ~ g*year + I(year**2)": 0,
    "y ~ x*year + offset(year / 1000)": 0,
}


def drawn(rng: np.random.Generator, n: int, wild: bool = False) -> dict[str, np.ndarray]:
    far = 1e3 if wild else 0.0
    return dict(
        year=rng.uniform(1980, 2030, n) + far * rng.normal(size=n),
        volts=rng.uniform(210, 230, n) + far * rng.normal(size=n),
        x=rng.uniform(-2, 2, n),
        g=rng.choice([*"abc"], n),
    )


@pytest.mark.parametrize("formula", LINES)
def test_lines_are_the_same_and_bounds_hold(formula: str) -> None:
    rng, design = np.random.default_rng(1), build_design(formula, SCHEMA)
    moved, way = centred(design)
    assert len(moved._about) == LINES[formula]
    for wild in (False, True):
        data = drawn(rng, 300, wild)
        ours, theirs = design.exog(data)[0], moved.exog(data)[0]
        assert np.abs(ours @ way - theirs).max() < 1e-6
        assert (theirs >= moved.bounds[:, 0]).all() and (theirs <= moved.bounds[:, 1]).all()
    assert moved.names == design.names
    assert pickle.loads(pickle.dumps(moved)) == moved and (moved == design) == (not LINES[formula])
    if LINES[formula]:
        assert np.linalg.cond(theirs / np.abs(theirs).max(axis=0)) < 50
