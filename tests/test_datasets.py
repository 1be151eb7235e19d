"""The data sets that ship: complete, with terms, and declared without a look at their extremes."""

import numpy as np
import pandas as pd
import pytest

from dpstats import datasets
from dpstats.errors import DataError
from dpstats.schema import Event
from dpstats.schema.variables import level_text

ROWS = {
    "hdfail": 52_422,
    "cmapss_engines": 200,
    "cmapss_signals": 131,
    "rotterdam": 2_982,
    "lung": 228,
    "veteran": 137,
    "capacitor": 64,
    "genfan": 70,
    "imotor": 40,
    "shockabsorber": 38,
    "fan": 70,
    "bearingcage": 1_703,
    "wine": 4_898,
    "ccpp": 9_568,
    "cps1988": 28_155,
    "adult": 30_162,
    "datacar": 67_856,
    "randhie": 20_190,
}
EVENTS = {
    "hdfail": ("status", 2_885),
    "cmapss_engines": ("failed", 100),
    "rotterdam": ("death", 1_272),
    "lung": ("status", 165),
    "bearingcage": ("failed", 6),
}


def test_every_data_set_is_tested_here() -> None:
    assert set(datasets.names()) == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_table_schema_and_terms_are_there(name: str) -> None:
    loaded = datasets.load(name)
    assert len(loaded.data) == ROWS[name]
    assert set(loaded.schema) <= set(loaded.data.columns)
    assert loaded.source and loaded.licence and loaded.description
    assert f"{name}: {ROWS[name]} rows" in repr(loaded)


@pytest.mark.parametrize("name", ROWS)
def test_declared_codes_and_ranges_fit_the_data(name: str) -> None:
    loaded = datasets.load(name)
    for column, variable in loaded.schema.items():
        values = loaded.data[column].dropna()
        if variable.kind == "levels":
            assert {level_text(value) for value in values.unique().tolist()} <= set(variable.levels)
        elif variable.kind in ("flag", "event"):
            assert {level_text(value) for value in values.unique().tolist()} <= set(variable.codes)
        else:
            lower, upper = variable.bounds
            assert values.between(lower, upper).mean() > 0.99, column


@pytest.mark.parametrize(
    ("name", "column", "mean"),
    [
        ("wine", "quality", 5.877909),
        ("ccpp", "PE", 454.365009),
        ("cps1988", "wage", 603.726846),
        ("datacar", "exposure", 0.468651),
        ("randhie", "mdvis", 2.860426),
    ],
)
def test_mean_of_the_response(name: str, column: str, mean: float) -> None:
    assert datasets.load(name).data[column].mean() == pytest.approx(mean, abs=1e-6)


def test_adult_holds_the_complete_rows() -> None:
    loaded = datasets.load("adult")
    assert (loaded.data["income"] == ">50K").sum() == 7_508
    assert not loaded.data.isin(["?", ""]).any(axis=None)


def test_claims_of_datacar() -> None:
    claims = datasets.load("datacar").data["numclaims"]
    assert (claims.sum(), (claims > 0).sum()) == (4_937, 4_624)


@pytest.mark.parametrize("name", EVENTS)
def test_number_of_events(name: str) -> None:
    loaded = datasets.load(name)
    column, count = EVENTS[name]
    event = loaded.schema[column]
    assert isinstance(event, Event)
    assert int((loaded.data[column] == event.failed).sum()) == count


def test_hdfail_bounds_are_the_documented_ones() -> None:
    schema = datasets.load("hdfail").schema
    assert [schema[name].bounds for name in ("time", "temp")] == [(1, 12_000), (10, 50)]


def test_each_call_gives_a_table_of_its_own() -> None:
    first = datasets.load("fan").data
    first["hours"] = np.nan
    assert pd.notna(datasets.load("fan").data["hours"]).all()


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DataError, match="no data set 'hdfial'; choose one of hdfail, "):
        datasets.load("hdfial")
