"""Blocks: a small design is read once, a large one at every pass, and no release tells the difference."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import gdp
from dpstats.curator import Curator, blocks
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, public_parameters

COLUMNS = made_columns(50, 2)
PUBLIC = public_parameters(2)


class Counting(MadeDesign):
    reads = 0
    fails_at = 0

    def read(self, block, memory=None):
        self.reads += 1
        if self.reads == self.fails_at:
            raise KeyboardInterrupt
        return super().read(block)


def releases(design):
    """Each statistic twice, in blocks of 20, 20 and 10 rows."""
    curator = Curator(MadeRows(COLUMNS), design, gdp(100), noise=NoNoise(), block_rows=20)
    found = [curator.release(name, 1.0, **public).values for name, public in [*PUBLIC.items()] * 2]
    return [np.concatenate([value.ravel() for value in values]) for values in found]


def test_a_small_design_is_read_once_for_the_same_releases(monkeypatch):
    once, each_time = Counting(2), Counting(2)
    kept = releases(once)
    monkeypatch.setattr(blocks, "_KEPT_BYTES", 50 * 8 * (3 + 5) - 1)
    read = releases(each_time)
    assert (once.reads, each_time.reads) == (3, 3 * 2 * len(PUBLIC))
    for same, again in zip(kept, read, strict=True):
        assert (same == again).all()


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_an_interrupted_pass_keeps_nothing(fails_at):
    design = Counting(2)
    design.fails_at = fails_at
    every = blocks.Blocks(MadeRows(COLUMNS), design, 20)
    with pytest.raises(KeyboardInterrupt):
        list(every)
    for _ in range(2):
        assert [len(block.ok) for block in every] == [20, 20, 10]
    assert design.reads == fails_at + 3


def test_a_pass_that_stops_early_keeps_nothing():
    every = blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20)
    next(iter(every))
    assert [len(block.ok) for block in every] == [20, 20, 10]


def test_a_design_that_is_read_at_every_pass_writes_to_the_same_memory():
    """Each block holds until the next is asked for, the last, of 10 rows, too."""
    seen = [block.exog.copy() for block in blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20)]
    design = build_design("time ~ x", dps.Schema(time=dps.bounded(1, 100), x=dps.bounded(-1, 1)))
    rows = open_rows({"time": COLUMNS["time"], "x": COLUMNS["x"][:, 0]}, design.schema, ("time", "x"))
    places = {block.exog.ctypes.data for block in blocks.passed(design, rows.blocks(20))}
    assert len(places) == 1
    found = np.vstack([block.exog.copy() for block in blocks.passed(design, rows.blocks(20))])
    assert (found[:, 1] == np.vstack(seen)[:, 1]).all()
