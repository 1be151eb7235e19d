"""T1 on public moment truncation: what one wild row can change is noise, with fixed public moments."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.blocks import PublicDesign
from dpstats.curator.statistics import REGISTRY
from dpstats.curator.statistics.truncated import TruncatedCross, TruncatedGram
from dpstats.estimators.pmt import fit_pmt
from dpstats.formula import build_design
from dpstats.rows import open_rows
from tests.privacy.harness import SCHEMA, Data, neighbours, violation

DESIGN = build_design("time ~ temp + maker", SCHEMA)
GENERATOR = np.random.default_rng(0)
MOMENTS = dps.public_moments(
    DESIGN.formula,
    {
        "time": GENERATOR.uniform(1, 20, 200),
        "temp": GENERATOR.uniform(25, 30, 200),  # narrower than private rows may be, so that these are cut
        "maker": GENERATOR.choice(["A", "B", "C"], 200, p=[0.94, 0.03, 0.03]),
    },
    SCHEMA,
)


def fitting(compat: str | None) -> Callable[[Data], Any]:
    def fit(data: Data) -> Any:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        curator = Curator(open_rows(columns, SCHEMA, DESIGN.variables), DESIGN, dps.gdp(1))
        return fit_pmt(curator, MOMENTS, True, 0.1, 1.0, compat)

    return fit


@pytest.mark.parametrize("compat", [None, "paper"])
@settings(max_examples=60, deadline=None)
@given(pair=neighbours())
def test_neighbours_with_wild_values_stay_within_the_claim(
    pair: tuple[Data, Data], compat: str | None
) -> None:
    assert violation(fitting(compat), *pair) is None


class Loose(TruncatedGram):
    """The radius squared as sensitivity: as if one row could only add to the sum, not replace another."""

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        super().__init__(design, **pilot)
        self.sensitivity /= np.sqrt(2)


class OneSign(TruncatedCross):
    """As if all responses had one sign."""

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        super().__init__(design, **pilot)
        self.sensitivity /= 2


def row(temp: float, maker: str) -> Data:
    return {"time": [100], "failed": [1], "temp": [temp], "maker": [maker]}


@pytest.mark.parametrize(
    ("fault", "other"), [(Loose, row(27.5, "B")), (OneSign, row(10, "A"))], ids=["square", "angle"]
)
def test_sensitivities_that_are_too_small_are_caught(
    fault: Any, other: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hot row against one of a rare maker, at a right angle when whitened, and against a cold one."""
    pair = row(50, "A"), other
    assert violation(fitting(None), *pair) is None
    monkeypatch.setitem(REGISTRY, fault.name, fault)
    assert violation(fitting(None), *pair) == f"{fault.name} moved beyond its sensitivity"
