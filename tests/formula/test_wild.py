"""No value of any frame gives an exception, a warning, a log line or another shape of the design."""

import logging
import warnings

import numpy as np
import pytest

from dpstats.errors import DataError, SpecificationError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from tests.formula.strategies import SCHEMA, inside, wild

FORMULAS = (
    "Surv(t, e) ~ x + g + h + z",
    "Surv(np.log(t), censored=f) ~ x * g + bs(z, df=5) + cut(w, [3, 5])",
    "np.sqrt(z) ~ np.log(t) + I(1 / w) + c + f + C(h, Sum):x + I(x > 0)",
    "I(t / w) ~ I(x - x ** 2) + scale(t, center=5, scale=2) + C(f) + np.exp(x) - 1",
)
DESIGNS = [
    *(build_design(formula, SCHEMA) for formula in FORMULAS),
    build_design("y ~ g + offset(np.log(t)) + offset(z)", SCHEMA, weights="w - 1"),
]


def test_wild_frames_say_nothing(caplog, capsys):
    rng = np.random.default_rng(0)
    switched_on = 0
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(300):
            frame, design = wild(30, seed), DESIGNS[seed % len(DESIGNS)]
            if seed % 3 == 0:  # usable columns beside one wild one
                column = design.variables[rng.integers(len(design.variables))]
                frame = inside(30, seed).astype({column: object}).assign(**{column: frame[column]})
            raw = next(open_rows(frame, SCHEMA, design.variables).blocks())
            block = design.read(raw)
            usable = [
                values >= 0 if SCHEMA[name].kind == "levels" else np.isfinite(values)
                for name, values in raw.items()
            ]
            np.testing.assert_array_equal(block.ok, np.all(usable, axis=0))
            assert block.exog.shape == (30, len(design.names)) and block.exog.flags.f_contiguous
            assert block.endog.shape == block.event.shape == block.ok.shape == (30,)
            for part in (block.exog, block.endog, block.event, block.offset, block.weight):
                assert part.dtype == np.float64 and np.all(np.isfinite(part))
            assert not np.any(block.exog[~block.ok])
            switched_on += int(block.ok.sum())
    assert switched_on > 300  # the frames are not all hopeless
    assert not caplog.records and capsys.readouterr() == ("", "")


def test_no_rows_of_a_level_and_no_rows_at_all():
    design = build_design("Surv(t, e) ~ g * h", SCHEMA)
    only_a = inside(20, 0).assign(g="a", h="u")
    names = {len(design.names)}
    for frame in (only_a, only_a.iloc[:1]):
        names.add(design.read(next(open_rows(frame, SCHEMA, design.variables).blocks())).exog.shape[1])
    assert len(names) == 1
    assert list(open_rows(only_a.iloc[:0], SCHEMA, design.variables).blocks()) == []


def test_a_missing_column_is_named_with_its_remedy():
    design = DESIGNS[0]
    with pytest.raises(DataError, match="no column 'g'.*Rename the column"):
        open_rows(inside(5, 0).drop(columns="g"), SCHEMA, design.variables)
    with pytest.raises(SpecificationError, match="'age' has no public bounds: declare it in the schema"):
        build_design("Surv(t, e) ~ age", SCHEMA)
