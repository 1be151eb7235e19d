"""Declared bounds as large as a formula takes: what was paid for is printed, saved and read again."""

from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula.reader import LARGEST

N = 300


@pytest.mark.parametrize("large", ["x", "y", "both"])
def test_a_fit_within_the_largest_bounds_is_printed_and_read_again(large: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = {"x": rng.random(N), "y": rng.random(N)}
    upper = {name: LARGEST if large in (name, "both") else 1.0 for name in data}
    schema = dps.Schema(**{name: dps.bounded(0, upper[name]) for name in data})
    fit = dps.ols("y ~ x", data, schema).fit(dps.gdp(5))
    fit.save(tmp_path / "fit.json")
    assert str(dps.load(tmp_path / "fit.json").summary()) == str(fit.summary())


@pytest.mark.parametrize("name", ["x", "y"])
def test_larger_ones_are_refused_before_a_row_is_read(name: str) -> None:
    bounds = {"x": 1.0, "y": 1.0} | {name: 10 * LARGEST}
    schema = dps.Schema(**{each: dps.bounded(0, upper) for each, upper in bounds.items()})
    with pytest.raises(dps.FormulaError, match=f"'{name}' has bounds .* up to 1e\\+40; narrow"):
        dps.ols("y ~ x", "no such file.csv", schema)
