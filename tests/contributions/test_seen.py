"""Ids met before, exactly, whatever their order, their number and what an attacker makes of them."""

import numpy as np

from dpstats.contributions.seen import ID, Seen


def test_only_the_first_of_each_id_is_new() -> None:
    draw, met, seen = np.random.default_rng(0), set(), Seen()
    for size in (1, 300, 0, 700, 64, 1000):
        # a few thousand ids in all, many of them near 0, some of them the same but for trailing zeros
        ids = np.array([draw.bytes(draw.integers(1, 3)).ljust(16, b"\0") for _ in range(size)], dtype=ID)
        want = []
        for item in ids.tolist():
            want.append(item not in met)
            met.add(item)
        assert seen.add(ids).tolist() == want
    assert not seen.add(np.array(sorted(met), dtype=ID)).any()


def test_an_id_takes_16_bytes_and_few_runs_are_looked_through() -> None:
    draw, seen = np.random.default_rng(0), Seen()
    for size in (500, 1, 0, 7, 500, 3) * 20:
        seen.add(np.frombuffer(draw.bytes(16 * size), ID))
        lengths = [len(run) for run in seen._runs]
        assert all(longer > 2 * shorter > 0 for longer, shorter in zip(lengths, lengths[1:], strict=False))
    assert sum(run.nbytes for run in seen._runs) == 16 * 20 * 1011
    assert all((run[1:] > run[:-1]).all() for run in seen._runs)
