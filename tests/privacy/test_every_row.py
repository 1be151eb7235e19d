"""T1, T2 and T9 on every fit.

Order of rows and size of blocks change only last bits, other rows with the same answers change nothing, and
wild rows say nothing.
"""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import curator as chokepoint
from dpstats.testing import Replay, SeededNoise
from tests.privacy.catalogue import ROWS, SCHEMA, SHORT, Case, made
from tests.privacy.harness import run
from tests.privacy.test_every_replay import WILD, wild_row, with_rows
from tests.silent import silence

DATA = made(seed=2)
LAST_BITS = 1e-10  # in units of the sensitivity: a few hundred sums of a few hundred rows
ORDER = np.random.default_rng(0).permutation(ROWS)
SHUFFLED = {name: column[ORDER] for name, column in DATA.items()}
OTHER = {name: column[::-1] for name, column in made(seed=4).items()} | {"time": made(seed=3)["time"] / 3}


@pytest.mark.parametrize("case", SHORT)
def test_order_and_blocks_and_other_data(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noised moves by last bits, which its noise hides; the same answers give the same fit.

    They do so if all rows are others, too: nothing but the answers is in a result.
    """
    first = run(case.fit, DATA, SeededNoise(1))
    others = run(case.fit, OTHER, Replay(first.answers))
    assert not (first.said or others.said) and first.shown == others.shown
    blocks = chokepoint.Blocks
    monkeypatch.setattr(chokepoint, "Blocks", lambda rows, design, size: blocks(rows, design, 37))
    second = run(case.fit, SHUFFLED, Replay(first.answers))
    moved = [
        one.law.distance(one.exact - other.exact)
        for one, other in zip(first.asked, second.asked, strict=True)
    ]
    assert max(moved) <= LAST_BITS and first.shown == second.shown


@pytest.mark.parametrize("case", SHORT)
def test_wild_rows_neither_raise_nor_speak(case: Case) -> None:
    """All rows wild; without an option a column of one wild cell and no usable row, too; noise of users."""
    draw = np.random.default_rng(1)
    tables = [with_rows([wild_row(draw) for _ in range(ROWS)], list(range(ROWS)))]
    if case.option is None:
        tables += [with_rows([dict.fromkeys(SCHEMA, WILD[3])] * ROWS, list(range(ROWS))), with_rows([], [])]
        for name, cell in zip(SCHEMA, WILD[4:], strict=False):
            tables[-1][name][draw.integers(ROWS)] = cell
    with silence():
        for table in tables:
            fit = case.fit(table)
            assert repr(fit) and str(fit) and fit.to_dict() and fit.nobs == ROWS
            if isinstance(fit, dps.Fit):
                assert np.isfinite(fit.params).all() and not np.isnan(fit.bse).any() and str(fit.summary())
                told = {"not_estimable", "hopeless", "weak", *dict(fit.flags)} & set(dict(fit.flags))
                assert np.isfinite(fit.bse).all() or told
