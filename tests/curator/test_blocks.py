"""Blocks: a small design is read once, a large one at every pass, and no release tells the difference."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import gdp
from dpstats.curator import Curator, blocks
from dpstats.curator.products import RowProducts
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


def other_centre(name):
    public = PUBLIC[name]
    return dict(public, center=np.asarray(public["center"]) + 0.25)


def release_of(curator, name, public):
    return np.concatenate([value.ravel() for value in curator.release(name, 1.0, **public).values])


@pytest.mark.parametrize("name", ["martingale_score", "event_matrix", "sign_score"])
def test_rows_that_are_kept_are_those_of_the_centre_asked_for(name, monkeypatch):
    """Of one centre, another, and the first again; rows that each pass makes anew give the same."""

    def three():
        curator = Curator(MadeRows(COLUMNS), MadeDesign(2), gdp(100), noise=NoNoise(), block_rows=20)
        return [release_of(curator, name, public) for public in (PUBLIC[name], other_centre(name)) * 2]

    kept = three()
    monkeypatch.setattr(blocks, "_KEPT_BYTES", 50 * 8 * (3 + 5))  # room for the design alone
    for same, again in zip(kept, three(), strict=True):
        assert (same == again).all()
    assert (kept[0] != kept[1]).any() and (kept[0] == kept[2]).all()


@pytest.mark.parametrize("name", ["martingale_score", "sign_score"])
def test_rows_that_are_kept_are_rounded_once(name, monkeypatch):
    """Those of three blocks, by the first of two steps."""
    rounded, asked = RowProducts.rounded, []

    def counted(products, columns, scratch):
        asked.append(columns)
        return rounded(products, columns, scratch)

    monkeypatch.setattr(RowProducts, "rounded", counted)
    curator = Curator(MadeRows(COLUMNS), MadeDesign(2), gdp(100), noise=NoNoise(), block_rows=20)
    for _ in range(2):
        release_of(curator, name, PUBLIC[name])
    assert len(asked) == 3


def test_rows_that_are_kept_cannot_be_changed():
    scratch, every = blocks.Scratch({}), list(blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20))
    made = [scratch.kept("double", block, "key", lambda memory: memory("out", 3)) for block in every]
    assert len({id(array) for array in made}) == 3
    for array in (made[0], scratch.kept("fresh", every[0], "key", lambda memory: np.zeros(3))):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def test_rows_of_a_pass_that_was_interrupted_are_forgotten():
    """Memory of its blocks may be that of other ones by now."""
    every = blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20)
    blocks.Scratch(every.standing).kept("rows", next(iter(every)), "key", lambda memory: memory("out", 3))
    assert len(every.standing) == 1
    list(every)
    assert not every.standing


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
