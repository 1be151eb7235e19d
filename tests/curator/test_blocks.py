"""Blocks: a small design is read once, a large one at every pass, and no release tells the difference."""

import platform
import subprocess
import sys

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import gdp
from dpstats.curator import blocks
from dpstats.curator.products import RowProducts
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, public_parameters, under

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
    curator = under(NoNoise(), MadeRows(COLUMNS), design, gdp(100), 20)
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


def design_and_rows():
    design = build_design("time ~ x", dps.Schema(time=dps.bounded(1, 100), x=dps.bounded(-1, 1)))
    columns = {"time": COLUMNS["time"], "x": COLUMNS["x"][:, 0]}
    return design, open_rows(columns, design.schema, ("time", "x"))


def other_centre(name):
    public = PUBLIC[name]
    return dict(public, center=np.asarray(public["center"]) + 0.25)


def release_of(curator, name, public):
    return np.concatenate([value.ravel() for value in curator.release(name, 1.0, **public).values])


@pytest.mark.parametrize("name", ["martingale_score", "event_matrix", "sign_score"])
def test_rows_that_are_kept_are_those_of_the_centre_asked_for(name, monkeypatch):
    """Of one centre, another, and the first again; rows that each pass makes anew give the same."""

    def three():
        curator = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(2), gdp(100), 20)
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

    def counted(products, columns, scratch, span):
        asked.append(columns)
        return rounded(products, columns, scratch, span)

    monkeypatch.setattr(RowProducts, "rounded", counted)
    curator = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(2), gdp(100), 20)
    for _ in range(2):
        release_of(curator, name, PUBLIC[name])
    assert len(asked) == 3


def test_rows_that_are_kept_cannot_be_changed():
    every = list(blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20))
    scratch = blocks.Scratch(blocks.Standing(0))
    made = [scratch.kept("double", block, "key", lambda memory: memory("out", 3)) for block in every]
    assert len({id(array) for array in made}) == 3
    for array in (made[0], scratch.kept("fresh", every[0], "key", lambda memory: np.zeros(3))):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def full(memory, value):
    out = memory("out", 3)
    out[:] = value
    return out


def test_what_is_made_for_another_key_is_written_where_it_was_made_before():
    """Memory does not grow with the steps of a fit."""
    every = list(blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20))
    scratch = blocks.Scratch(blocks.Standing(0))

    def written(block, key):
        return scratch.kept("rows", block, key, lambda memory: full(memory, key))

    first = [written(block, 1.0).ctypes.data for block in every]
    again = [written(block, 2.0) for block in every]
    assert [array.ctypes.data for array in again] == first and len(set(first)) == 3
    assert all((array == 2.0).all() for array in again)
    with pytest.raises(ValueError, match="read-only"):
        again[0][:] = 0.0


def test_what_is_written_over_when_a_pass_is_interrupted_is_made_again():
    (block,), scratch = (
        blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 50),
        blocks.Scratch(blocks.Standing(0)),
    )

    def interrupted(memory):
        full(memory, 2.0)
        raise KeyboardInterrupt

    for _ in range(2):
        kept = scratch.kept("rows", block, "key", lambda memory: full(memory, 1.0))
        assert (kept == 1.0).all()
        with pytest.raises(KeyboardInterrupt):
            scratch.kept("rows", block, "other", interrupted)


def test_rows_of_a_pass_that_was_interrupted_are_forgotten():
    """Memory of its blocks may be that of other ones by now."""
    every, made = blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20), []
    block, scratch = next(iter(every)), blocks.Scratch(every.standing)
    for _ in range(2):
        scratch.kept("rows", block, "key", made.append)
    assert len(made) == 1
    list(every)
    scratch.kept("rows", block, "key", made.append)
    assert len(made) == 2


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


def test_blocks_that_stay_lie_one_after_the_other_in_one_piece_of_memory():
    """Each begins at a cache line, and so does what is kept of it, which lies in another piece."""
    design, rows = design_and_rows()
    every = blocks.Blocks(rows, design, 16)
    scratch = blocks.Scratch(every.standing)
    read = [block.exog.T for block in every]
    kept = [scratch.kept("rows", block, "key", lambda memory: memory("out", 2, 16)) for block in every]
    for arrays in (read, kept):
        places = [array.ctypes.data for array in arrays]
        assert places[0] % 64 == 0
        assert list(np.diff(places)) == [array.nbytes for array in arrays[:-1]]


def test_a_design_that_is_read_at_every_pass_writes_to_the_same_memory():
    """Each block holds until the next is asked for, the last, of 10 rows, too."""
    seen = [block.exog.copy() for block in blocks.Blocks(MadeRows(COLUMNS), MadeDesign(2), 20)]
    design, rows = design_and_rows()
    places = {block.exog.ctypes.data for block in blocks.passed(design, rows.blocks(20))}
    assert len(places) == 1
    found = np.vstack([block.exog.copy() for block in blocks.passed(design, rows.blocks(20))])
    assert (found[:, 1] == np.vstack(seen)[:, 1]).all()


_FREED = """
from pathlib import Path
import numpy as np
from dpstats.curator import blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

before = resident()
arrays = [np.ones(blocks._PIECE_BYTES - 2**12, dtype=np.uint8) for _ in range(3)]
del arrays
print((resident() - before) / blocks._PIECE_BYTES)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_memory_that_a_fit_gave_back_is_there_for_the_next() -> None:
    """Else a system clears three pieces page by page, as for the first fit."""
    command = [sys.executable, "-c", _FREED]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 2.5 < float(run.stdout) < 3.5
