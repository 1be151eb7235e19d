"""Products and powers about middles: the same spans, by columns that do not nearly repeat each other."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.formula import Design, build_design

SCHEMA = dps.Schema(
    y=dps.bounded(0, 1),
    year=dps.bounded(1980, 2030),
    volts=dps.bounded(210, 230),
    x=dps.bounded(-2, 2),
    u=dps.flag(),
    g=dps.levels(*"abc"),
    h=dps.levels(*"pq"),
)
MIDDLES = {"year": 2003.7, "volts": 222.2, "x": 0.3}
MOVED = {
    "g*year": "year",
    "g + g:year + x": "year",
    "year*volts*g": "year volts",
    "x*year - 1 + g": "x year",
    "x*year - 1": "x",  # (x - c) year is spanned, (x - c) (year - d) is not
    "x + x:year": "year",
    "g*year + I(year**2)": "year",
    "year + I(year**2 / 100) + I(year**3)": "year",
    "I(x*year) + x + year": "x year",
    "bs(x, df=5)*year": "year",
    "C(g, Sum)*h*year": "year",
    "x*year + offset(year / 1000)": "x year",
    "np.log(year)*u": "np.log(year)",
    "year*(volts > 220)": "year",
    "(year + volts + g)**2": "year volts",
    "year + volts + g*u": "",  # no product of a number
    "g:year": "",  # lines that meet in the year 0
    "u:year": "",
    "year + I(year**2):u": "",
    "I(year**2)": "",
    "I((x + volts)**2)": "",
}


def drawn(rng: np.random.Generator, n: int, wild: bool = False) -> dict[str, np.ndarray]:
    far = 1e3 if wild else 0.0
    return dict(
        year=rng.uniform(1980, 2030, n) + far * rng.normal(size=n),
        volts=rng.uniform(210, 230, n) + far * rng.normal(size=n),
        x=rng.uniform(-2, 2, n) + far * rng.normal(size=n),
        u=rng.integers(0, 2, n),
        g=rng.choice([*"abc"], n),
        h=rng.choice([*"pq"], n),
    )


def check_same_span(design: Design, middles: dict[str, float]) -> np.ndarray:
    """Rows of a design about middles, which `way` makes of its own."""
    moved = design.about({name: (middles.get(name, 1.7), -1.0, 1.0) for name in design.movable})
    assert moved.names == design.names
    assert pickle.loads(pickle.dumps(moved)) == moved and (moved == design) == (not design.movable)
    for wild in (True, False):
        data = drawn(np.random.default_rng(1), 400, wild)
        ours, theirs = design.new_rows(data, clip=True).exog, moved.new_rows(data, clip=True).exog
        off, p = ours @ moved.way[: len(design.names)] - theirs, len(design.names)
        if design.baseline:
            off += moved.way[p]  # what a baseline takes up
        assert np.abs(off).max() < 1e-12 * np.abs(ours).max() + 1e-12
        assert (theirs >= moved.bounds[:, 0]).all() and (theirs <= moved.bounds[:, 1]).all()
        assert np.linalg.norm(theirs, axis=1).max() <= moved.radius
    return theirs


@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("right", MOVED)
def test_spans_are_the_same_and_bounds_hold(right: str, baseline: bool) -> None:
    if baseline and "- 1" in right:
        return
    design = build_design(f"y ~ {right}", SCHEMA, baseline=baseline)
    theirs = check_same_span(design, MIDDLES)
    if not baseline:
        assert sorted(design.movable) == sorted(MOVED[right].split())
    if MOVED[right] and "x" not in design.movable:  # which is near 0 as it is
        ours = design.new_rows(drawn(np.random.default_rng(1), 400), clip=True).exog
        near = [np.linalg.cond(each / np.linalg.norm(each, axis=0)) for each in (ours, theirs)]
        assert near[1] < near[0]


TERMS = ["year", "volts", "x", "u", "g", "h", "I(year**2)", "I(x**2)", "I(year*x)", "C(g, Sum)", "I(year/10)"]
PRODUCTS = [":".join(pair) for pair in itertools.combinations(TERMS[:6], 2)] + ["year:g:h", "year:volts:u"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TERMS + PRODUCTS), min_size=1, max_size=7, unique=True), st.booleans())
def test_random_formulas_span_the_same(terms: list[str], constant: bool) -> None:
    design = build_design(f"y ~ {' + '.join(terms)}{'' if constant else ' - 1'}", SCHEMA)
    check_same_span(design, MIDDLES)


def test_a_baseline_takes_up_what_an_intercept_would() -> None:
    design = build_design("y ~ year + I(year**2)", SCHEMA, baseline=True)
    moved = design.about({"year": (2000.0, 1990.0, 2010.0)})
    assert np.array_equal(moved.way, [[1, -4000], [0, 1], [0, 4e6]])


def test_where_numbers_lie_their_columns_lie_between_likely_bounds() -> None:
    data = drawn(np.random.default_rng(1), 400)
    places = {"year": (2005.0, 1980.0, 2030.0), "volts": (220.0, 210.0, 230.0), "x": (0.0, -2.0, 2.0)}
    wide = dps.Schema({**SCHEMA, "year": dps.bounded(0, 3000)})
    design = build_design("y ~ year*g + I(year**2) + I(x**2) + x*u + volts + I(volts*x)", wide)
    moved = design.about({name: places[name] for name in design.movable})
    rows, (low, high), (least, most) = moved.new_rows(data, clip=True).exog, moved.likely.T, moved.bounds.T
    assert (low >= least).all() and (high <= most).all() and np.array_equal(design.likely, design.bounds)
    assert (rows >= low).all() and (rows <= high).all()
    square = moved.names.index("I(year ** 2)")
    assert high[square] == 25.0**2 and most[square] == 2005.0**2


def test_columns_that_are_one_number_where_numbers_lie_may_be_anything_declared() -> None:
    """A hinge that begins elsewhere, and all columns of a number whose ends are one float."""
    design = build_design("y ~ x + I(x**2) + np.maximum(x, 1)", SCHEMA)
    hinge = design.names.index("np.maximum(x, 1)")
    assert np.array_equal(design.about({"x": (0.0, -1.0, 0.5)}).likely[hinge], design.bounds[hinge])
    moved = design.about({"x": (0.5, 0.5, 0.5)})
    assert np.array_equal(moved.likely, moved.bounds)


def test_products_that_leave_no_room_for_squares_stay_as_they_are() -> None:
    schema = dps.Schema(y=dps.bounded(0, 1), x=dps.bounded(5e19, 1e20))
    assert build_design("y ~ x + I(x**2)", schema).movable == ()
