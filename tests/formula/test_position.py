"""A row of a design is the same to the last bit wherever it stands in a block, beside whatever rows."""

import numpy as np
import pytest

from dpstats.formula import build_design
from dpstats.schema import Schema, bounded, event, levels
from tests.formula.test_functions import TABLE

BANK = 100
SIZES = (*range(1, BANK + 1), 8191, 16384)


def bank(seed):
    """Ordinary numbers, and such as leave the fast way of a vectorised function: huge, tiny, whole, none."""
    draw = np.random.default_rng(seed)
    wild = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-300, 1e300, 1e9, -1e9, 1e5, 710.0, -745.0, 1.0]
    ordinary = draw.normal(size=BANK - 2 * len(wild)) * 10.0 ** draw.uniform(-3, 3, BANK - 2 * len(wild))
    return draw.permutation(np.concatenate([wild, wild, ordinary]))


def same(found, expected):
    return (found.view(np.int64) == expected.view(np.int64)) | np.isnan(expected)


@pytest.mark.parametrize("function, arity", TABLE, ids=[function.name for function, _ in TABLE])
def test_a_function_of_a_row_is_the_same_at_every_place(function, arity):
    """Contiguous and not, in blocks of all sizes."""
    columns = [bank(seed) for seed in range(arity)]
    with np.errstate(all="ignore"):
        alone = np.array(
            [function.array(*(column[[i]] for column in columns))[0] for i in range(BANK)], dtype=float
        )
        for size in SIZES:
            places = np.resize(np.roll(np.random.default_rng(1).permutation(BANK), size), size)
            apart = [np.repeat(column[places], 2)[::2] for column in columns]
            for given in ([column[places] for column in columns], apart):
                found = np.array(function.array(*given), dtype=float)
                assert same(found, alone[places]).all(), size


SCHEMA = Schema(
    time=bounded(0.1, 1e4),
    began=bounded(0, 1e4),
    failed=event(failed=1, censored=0),
    x=bounded(-5, 5),
    w=bounded(0.01, 1e6),
    maker=levels("a", "b", "c", other=True),
    share=bounded(0, 3),
)
FORMULA = (
    "Surv(began, time, failed) ~ maker * np.log(w) + bs(x, knots=[-1, 0.3, 2]) + poly(x, 3) + ns(x, df=4)"
    " + np.sqrt(w):x + I(x ** 2 / (1 + w)) + np.sin(w) + np.exp(x) + offset(np.log1p(w) / 9)"
)


def records(size, places):
    draw = np.random.default_rng(7)
    w = np.where(draw.uniform(size=BANK) < 0.1, np.nan, np.exp(draw.normal(2, 4, BANK)))
    table = dict(
        time=np.exp(draw.normal(3, 3, BANK)),
        began=draw.uniform(0, 9, BANK),
        failed=draw.choice([0.0, 1.0, np.nan], BANK),
        x=draw.normal(size=BANK) * 3,
        w=w,
        maker=draw.integers(-1, 4, BANK),
        share=draw.uniform(-1, 4, BANK),
    )
    return {name: column[places] for name, column in table.items()}


@pytest.mark.parametrize("left", ["Surv(began, time, failed)", "Surv(began, time, type='interval2')"])
def test_a_row_of_a_design_is_the_same_at_every_place(left):
    design = build_design(f"{left} ~ {FORMULA.partition('~')[2]}", SCHEMA, weights="share")

    def read(places):
        found = dict(vars(design.read(records(BANK, places))))
        ends = found.pop("ends")
        return found if ends is None else found | ends._asdict()

    alone = [read([i]) for i in range(BANK)]
    for size in SIZES:
        places = np.resize(np.roll(np.random.default_rng(1).permutation(BANK), size), size)
        for name, found in read(places).items():
            expected = np.concatenate([alone[i][name] for i in places])
            assert (
                np.array_equal(found.view(np.uint8), expected.view(np.uint8))
                if name in ("ok", "kept")
                else same(np.ascontiguousarray(found), expected).all()
            ), (size, name)
