"""T2: types and containers change no bit of what is noised; order and blocks no more than its slack."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.budget import gdp
from dpstats.curator.lattice import slack
from dpstats.curator.statistics import REGISTRY
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, Recording
from tests.made import under
from tests.privacy.harness import DESIGN, PUBLIC, SCHEMA


def made(n, seed):
    generator = np.random.default_rng(seed)
    return {
        "time": np.round(generator.uniform(0, 120, n) * 8) / 8,  # exact in float32 too
        "failed": (generator.uniform(size=n) < 0.6).astype(float),
        "temp": np.round(generator.uniform(5, 55, n)),
        "maker": generator.choice(np.array(["A", "B", "Z"], dtype=object), n),
    }


def exact(data, block_rows=8192):
    vectors = []
    for name in sorted(PUBLIC):
        recording = Recording(NoNoise())
        rows = open_rows(data, SCHEMA, DESIGN.variables)
        curator = under(recording, rows, DESIGN, gdp(2), block_rows)
        curator.release(name.split()[0], 1.0, **PUBLIC[name])
        vectors.append(recording.records[0].exact)
    return np.concatenate(vectors)


def apart(first, second, n):
    """The largest difference, in units of the slack that sensitivities have for it."""
    allowed = [slack(REGISTRY[name.split()[0]](DESIGN, **PUBLIC[name]).parts, n) for name in sorted(PUBLIC)]
    return (np.abs(first - second) / np.concatenate(allowed)).max()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(1, 301))
def test_order_of_rows_and_blocks(seed, n, block_rows):
    data = made(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = {name: column[order] for name, column in data.items()}
    assert apart(exact(data), exact(shuffled, block_rows), n) <= 1


def to_integers(data):
    return {**data, "failed": data["failed"].astype(np.int8), "temp": data["temp"].astype(np.int32)}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {name: c.astype(np.float32) if c.dtype == float else c for name, c in data.items()},
        lambda data: {name: column.astype(object) for name, column in data.items()},
        to_integers,
        lambda data: {**data, "failed": data["failed"].astype(bool)},
        pd.DataFrame,
        lambda data: pd.DataFrame(data).astype({"maker": "category"}),
        lambda data: {name: np.repeat(column, 2)[::2] for name, column in data.items()},
    ],
    ids=["float32", "object", "integers", "bool", "frame", "category", "strided"],
)
def test_types_and_containers(change):
    data = made(500, 5)
    assert exact(change(data)).tobytes() == exact(data).tobytes()


def test_a_frame_that_is_read_backwards():
    data = made(500, 5)
    assert apart(exact(pd.DataFrame(data).iloc[::-1]), exact(data), 500) <= 1
