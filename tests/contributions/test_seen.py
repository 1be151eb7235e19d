"""Ids met before, exactly, whatever their order, their number and what an attacker makes of them."""

import os
from pathlib import Path

import numpy as np
import pytest

from dpstats.contributions.seen import ID, Seen


@pytest.mark.parametrize("sizes", [{}, dict(in_memory=500, step=64), dict(in_memory=0, step=1)])
def test_only_the_first_of_each_id_is_new(sizes: dict[str, int]) -> None:
    draw, met = np.random.default_rng(0), set()
    with Seen(**sizes) as seen:
        for size in (1, 300, 0, 700, 64, 1000):
            # a few thousand ids in all, many of them near 0, some of them the same but for trailing zeros
            ids = np.array([draw.bytes(draw.integers(1, 3)).ljust(16, b"\0") for _ in range(size)], dtype=ID)
            want = []
            for item in ids.tolist():
                want.append(item not in met)
                met.add(item)
            assert seen.add(ids).tolist() == want
        assert not seen.add(np.array(sorted(met), dtype=ID)).any()


def test_files_are_removed_and_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    draw = np.random.default_rng(0)
    with Seen(in_memory=1000, step=200) as seen:
        for _ in range(64):
            seen.add(np.frombuffer(draw.bytes(16 * 500), ID))
        kept = [run for run in seen._runs if not isinstance(run, np.memmap)]
        assert sum(map(len, kept)) <= 2000
        (folder,) = tmp_path.iterdir()
        assert sum(path.stat().st_size for path in folder.iterdir()) == 16 * (64 * 500 - sum(map(len, kept)))
    assert not os.listdir(tmp_path)
